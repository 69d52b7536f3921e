/* Runs kernels of many shapes. Each must make what plain loops make, bit by bit, and touch nothing beside its operands: these begin, and
 * then end, at a page that cannot be touched. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum kind { S8S8, U8S8, U8U8, F32, CONV_S8S8, CONV_U8S8 };
struct kernel {
    enum kind kind;
    int extents[9];
    long pool; /* bytes of l2 */
    int (*call)(const void* a, const void* b, void* l2, void* c, const int64_t* strides);
};
#include "kernels.h"

enum { A, B, C, L2, BLOCKS };
static size_t page, room;
static unsigned char* first_of[BLOCKS]; /* of pages that can be touched, between two that cannot */

/* `bytes` at the beginning of these pages or at their end; what else is there is marked. */
static unsigned char* block(int which, size_t bytes, int at_end) {
    if (bytes > room) abort();
    memset(first_of[which], 0x5a, room);
    return first_of[which] + (at_end ? room - bytes : 0);
}
static int is_marked(int which, const unsigned char* begin, size_t bytes) {
    for (const unsigned char* at = first_of[which]; at < first_of[which] + room; ++at)
        if ((at < begin || at >= begin + bytes) && *at != 0x5a) return 0;
    return 1;
}

static unsigned state = 1;
static unsigned draw(void) { return state = state * 1664525u + 1013904223u, state >> 8; }

static int signed_left(enum kind kind) { return kind == S8S8 || kind == CONV_S8S8; }
static int32_t left_byte(enum kind kind, const unsigned char* at) { return signed_left(kind) ? (int8_t)*at : *at; }
static int32_t right_byte(enum kind kind, const unsigned char* at) { return kind == U8U8 ? *at : (int8_t)*at; }

/* The sum at C(m, n), or out(y, x, filter). Sums of floats are formed in order, and products rounded before they are added. */
static uint32_t plain(const struct kernel* k, const unsigned char* a, const unsigned char* b, const int64_t* strides, int m, int n) {
    const int* e = k->extents;
    uint32_t sum = 0;
    if (k->kind == F32) {
        float total = 0;
        for (int at = 0; at < e[2]; ++at) {
            float left, right;
            memcpy(&left, a + 4 * (m * strides[0] + at), 4);
            memcpy(&right, b + 4 * (at * strides[1] + n), 4);
            volatile float product = left * right;
            total = total + product;
        }
        memcpy(&sum, &total, 4);
    } else if (k->kind < CONV_S8S8) {
        for (int at = 0; at < e[2]; ++at)
            sum += (uint32_t)(left_byte(k->kind, a + m * strides[0] + at) * right_byte(k->kind, b + at * strides[1] + n));
    } else {
        const int y = m / e[1], x = m % e[1], height = e[2], width = e[3], channels = e[4], filters = e[5], taps = e[6];
        for (int r = 0; r < taps; ++r) {
            for (int s = 0; s < taps; ++s) {
                const int in_y = y * e[7] + r - e[8], in_x = x * e[7] + s - e[8];
                if (in_y < 0 || in_y >= height || in_x < 0 || in_x >= width) continue;
                for (int channel = 0; channel < channels; ++channel)
                    sum += (uint32_t)(left_byte(k->kind, a + (in_y * width + in_x) * channels + channel) *
                                      right_byte(k->kind, b + ((r * taps + s) * channels + channel) * filters + n));
            }
        }
    }
    return sum;
}

/* @param gap  elements between rows, where the caller may say how far apart they are */
static int run(int number, const struct kernel* k, int at_end, int gap) {
    const int* e = k->extents;
    const int is_conv = k->kind >= CONV_S8S8, rows = is_conv ? e[0] * e[1] : e[0], columns = is_conv ? e[5] : e[1];
    const int64_t strides[3] = {e[2] + gap, e[1] + 2 * gap, is_conv ? columns : columns + gap};
    const size_t element = k->kind == F32 ? 4 : 1;
    const size_t of_a = element * (size_t)(is_conv ? e[2] * e[3] * e[4] : (e[0] - 1) * strides[0] + e[2]),
                 of_b = element * (size_t)(is_conv ? e[6] * e[6] * e[4] * e[5] : (e[2] - 1) * strides[1] + e[1]),
                 of_c = 4 * (size_t)((rows - 1) * strides[2] + columns);
    unsigned char *const a = block(A, of_a, at_end), *const b = block(B, of_b, at_end), *const c = block(C, of_c, at_end),
                         *const l2 = block(L2, ((size_t)k->pool + 63) / 64 * 64, at_end);
    /* The largest and the smallest values are drawn most. */
    for (size_t at = 0; at < of_a / element + of_b / element; ++at) {
        static const unsigned char ends[4] = {0, 127, 128, 255};
        unsigned char* const to = at < of_a / element ? a + at * element : b + (at - of_a / element) * element;
        const unsigned drawn = draw();
        const float number = (float)((int)(drawn % 2001) - 1000) / 7.0f; /* whose products have no room for all their bits */
        if (k->kind == F32) memcpy(to, &number, 4);
        else *to = drawn % 2 ? ends[drawn / 2 % 4] : (unsigned char)(drawn / 2);
    }
    memset(c, 0x77, of_c);
    unsigned char *const a_before = malloc(of_a), *const b_before = malloc(of_b);
    memcpy(a_before, a, of_a);
    memcpy(b_before, b, of_b);
    const int code = k->call(a, b, l2, c, strides);
    int wrong = code != 0;
    if (wrong) printf("kernel %d: code %d\n", number, code);
    for (int m = 0; m < rows && !wrong; ++m) {
        for (int n = 0; n < columns && !wrong; ++n) {
            const uint32_t should = plain(k, a, b, strides, m, n);
            uint32_t is;
            memcpy(&is, c + 4 * (m * strides[2] + n), 4);
            if (is != should)
                printf("kernel %d of kind %d: [%d, %d] is %d and should be %d\n", number, (int)k->kind, m, n, (int)is, (int)should),
                    wrong = 1;
        }
    }
    for (int m = 0; m + 1 < rows && !wrong; ++m) {
        for (int64_t at = 4 * (m * strides[2] + columns); at < 4 * (m + 1) * strides[2] && !wrong; ++at)
            if (c[at] != 0x77) printf("kernel %d: wrote between rows\n", number), wrong = 1;
    }
    if (memcmp(a, a_before, of_a) != 0 || memcmp(b, b_before, of_b) != 0) printf("kernel %d: wrote an operand\n", number), wrong = 1;
    if (!is_marked(A, a, of_a) || !is_marked(B, b, of_b) || !is_marked(C, c, of_c) || !is_marked(L2, l2, ((size_t)k->pool + 63) / 64 * 64))
        printf("kernel %d: wrote beside its operands\n", number), wrong = 1;
    free(a_before);
    free(b_before);
    return wrong;
}

int main(void) {
    page = (size_t)sysconf(_SC_PAGESIZE);
    room = (65536 + page - 1) / page * page;
    for (int at = 0; at < BLOCKS; ++at) {
        unsigned char* const all = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED || mprotect(all + page, room, PROT_READ | PROT_WRITE) != 0) return 2;
        first_of[at] = all + page;
    }
    const int count = (int)(sizeof kernels / sizeof kernels[0]);
    int wrong = 0;
    for (int at = 0; at < count; ++at) {
        for (int way = 0; way < 4; ++way) wrong += run(at, &kernels[at], way % 2, way / 2 * 3);
    }
    printf("%d kernels, %d wrong\n", count, wrong);
    return wrong != 0;
}
