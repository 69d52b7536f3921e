/* Runs kernels and plain loops of the same products between marks, which a plugin of QEMU sees, and compares what they make. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "marks.h"
#include "plain.h"
#ifdef __aarch64__
#include "layer_on_aarch64.h"
#include "square_on_aarch64.h"
#define KERNEL(name) name##_on_aarch64
#else
#include "layer_on_riscv64.h"
#include "square_on_riscv64.h"
#define KERNEL(name) name##_on_riscv64
#endif

enum { ROWS = 196, COLUMNS = 150, DEPTH = 300 };
static int8_t a[ROWS * DEPTH], b[DEPTH * COLUMNS];
static int32_t by_kernel[ROWS * COLUMNS], by_loops[ROWS * COLUMNS];
static _Alignas(64) unsigned char l2[256 * 1024];

/* What stands in the output before each count: mark n and mark n + 1 stand around what is named n-th. */
static const char* const names[] = {"square ours", "square by_sums", "square by_rows", "layer ours", "layer by_sums", "layer by_rows"};

#define BETWEEN_MARKS(number, ...)            \
    do {                                      \
        syscall(MARK_CALL, 2 * (number));     \
        __VA_ARGS__;                          \
        syscall(MARK_CALL, 2 * (number) + 1); \
    } while (0)

static int differs(int code, const char* what, size_t elements) {
    if (code == 0 && memcmp(by_kernel, by_loops, elements * sizeof *by_loops) == 0) return 0;
    printf("%s: code %d, or another result\n", what, code);
    return 1;
}

int main(void) {
    for (int at = 0; at < ROWS * DEPTH; ++at) a[at] = (int8_t)(at * 7919 % 256);
    for (int at = 0; at < DEPTH * COLUMNS; ++at) b[at] = (int8_t)(at * 331 % 256);
    const uint8_t* const image = (const uint8_t*)a;
    int wrong = 0, code = 0;
    BETWEEN_MARKS(0, code = KERNEL(square)(a, 64, b, 64, by_kernel, 64));
    BETWEEN_MARKS(1, square_by_sums(a, b, by_loops));
    wrong += differs(code, names[1], 64 * 64);
    BETWEEN_MARKS(2, square_by_rows(a, b, by_loops));
    wrong += differs(code, names[2], 64 * 64);
    BETWEEN_MARKS(3, code = KERNEL(layer)(image, DEPTH, b, COLUMNS, l2, by_kernel, COLUMNS));
    BETWEEN_MARKS(4, layer_by_sums(image, b, by_loops));
    wrong += differs(code, names[4], ROWS * COLUMNS);
    BETWEEN_MARKS(5, layer_by_rows(image, b, by_loops));
    wrong += differs(code, names[5], ROWS * COLUMNS);
    for (int at = 0; at < (int)(sizeof names / sizeof *names); ++at) printf("%d: %s\n", at, names[at]);
    return wrong != 0;
}
