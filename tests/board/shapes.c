/* Runs kernels of many shapes on the board. Each must make what the oracle has found, which is also what plain loops make, and touch
 * nothing beside its operands and its part of the banks. */
#include <board.h>
#include <stdio.h>
#include <string.h>

#ifdef ON_BOTH
#include "share.h"
#endif

/* What plain loops compare with, and their extents. */
enum kind { MATMUL8, MATMUL16, CONV, COPY };
struct kernel {
    const char* what;
#ifdef ON_BOTH
    board_share* of_core[2];
#else
    int (*call)(void** in, void* out);
#endif
    enum kind kind;
    int extents[11];
    int inputs;
    struct {
        const unsigned char* data;
        uint32_t bytes;
    } in[3];
    const unsigned char* expected;
    uint32_t bytes;
    uint32_t of_bank[4]; /* bytes that the plan uses */
};
#ifdef DSP_ON_CORE0
#define SHARE_OF_CORE0(number) share_##number
#else
#define SHARE_OF_CORE0(number) share_##number##_of_core0
#endif
#include "kernels.h"

#ifdef BOARD_MPS3_AN547
enum { BANKS = 1, BANK_BYTES = 0x40000 };
#else
#ifndef ON_BOTH
#define MPS2_AN521_DMA_DRIVER
#endif
#include <tilewright/targets/mps2_an521.h>
enum { BANKS = 4, BANK_BYTES = 0x8000 };
#endif
enum { GUARD = 64, FAR_BYTES = 1 << 20 };
#define REGISTER(address) (*(volatile uint32_t*)(uintptr_t)(address))
#define BANK(at) ((unsigned char*)(uintptr_t)(0x30000000u + BANK_BYTES * (uint32_t)(at)))

BOARD_FAR static unsigned char far_bytes[FAR_BYTES];
BOARD_FAR static int32_t looped[FAR_BYTES / 4];

/* The protection controllers of the banks refuse blocks of 1 KiB that begin after what the kernel uses. */
static void refuse_rest(const uint32_t* used) {
#ifdef BOARD_MPS3_AN547
    (void)used; /* its memory has no such controller */
#else
    for (uint32_t bank = 0; bank < BANKS; ++bank) {
        const uint32_t controller = 0x50083000u + 0x1000u * bank, blocks = (used[bank] + 1023) / 1024;
        REGISTER(controller) |= 1u << 4; /* by a fault */
        REGISTER(controller + 0x18) = 0;
        REGISTER(controller + 0x1c) = blocks < 32 ? ~0u << blocks : 0;
    }
    __asm__ volatile("dsb" ::: "memory");
#endif
}

static int call(const struct kernel* k, void** in, void* out) {
#ifdef ON_BOTH
    const struct share operands = {in, out};
    mps2_an521_begin();
    return board_run_on_both(k->of_core[0], k->of_core[1], &operands);
#else
    return k->call(in, out);
#endif
}

/* The same in plain C. */
static void by_loops(const struct kernel* k) {
    const int* e = k->extents;
    if (k->kind == MATMUL8 || k->kind == MATMUL16) {
        for (int m = 0; m < e[0]; ++m) {
            for (int n = 0; n < e[1]; ++n) {
                int32_t sum = 0;
                for (int at = 0; at < e[2]; ++at) {
                    const int left = m * e[2] + at, right = n * e[2] + at;
                    if (k->kind == MATMUL8) {
                        sum += (int8_t)k->in[0].data[left] * (int8_t)k->in[1].data[right];
                    } else {
                        int16_t a, b;
                        memcpy(&a, k->in[0].data + 2 * left, 2);
                        memcpy(&b, k->in[1].data + 2 * right, 2);
                        sum += a * b;
                    }
                }
                looped[m * e[1] + n] = sum;
            }
        }
    } else if (k->kind == CONV) {
        const int height = e[2], width = e[3], channels = e[4], filters = e[5];
        int at = 0;
        for (int y = 0; y < e[0]; ++y) {
            for (int x = 0; x < e[1]; ++x) {
                for (int f = 0; f < filters; ++f) {
                    int32_t sum;
                    memcpy(&sum, k->in[0].data + 4 * f, 4);
                    for (int r = 0; r < e[6]; ++r) {
                        for (int s = 0; s < e[7]; ++s) {
                            const int in_y = y * e[8] + r * e[9] - e[10], in_x = x * e[8] + s * e[9] - e[10];
                            if (in_y < 0 || in_y >= height || in_x < 0 || in_x >= width) continue;
                            for (int c = 0; c < channels; ++c)
                                sum += (int8_t)k->in[1].data[(in_y * width + in_x) * channels + c] *
                                       (int8_t)k->in[2].data[((r * e[7] + s) * filters + f) * channels + c];
                        }
                    }
                    looped[at++] = sum;
                }
            }
        }
    } else {
        for (int at = 0; at < e[0]; ++at) {
            int16_t one;
            memcpy(&one, k->in[0].data + 2 * at, 2);
            one = (int16_t)(one + 1);
            memcpy((unsigned char*)looped + 2 * at, &one, 2);
        }
    }
}

static int is_filled(const unsigned char* from, const unsigned char* to, unsigned char with) {
    while (from < to && *from == with) ++from;
    return from == to;
}

/* @param guarded  whether what the kernel does not use is refused by hardware, or looked at afterwards, which shows what controllers wrote
 */
static int run(const struct kernel* k, int guarded) {
    static const uint32_t everything[4] = {BANK_BYTES, BANK_BYTES, BANK_BYTES, BANK_BYTES};
    refuse_rest(everything);
    for (int bank = 0; bank < BANKS; ++bank) memset(BANK(bank), 0xa5, BANK_BYTES);

    /* Operands one after the other, with guards between them; elements of bytes begin at any address. */
    void* in[3] = {0, 0, 0};
    const uint32_t odd = k->kind == MATMUL8 || k->kind == CONV ? 1 : 0;
    unsigned char *next = far_bytes, *begin[4], *end[4];
    for (int at = 0; at <= k->inputs; ++at) {
        const uint32_t bytes = at < k->inputs ? k->in[at].bytes : k->bytes;
        const int is_bytes = odd && at < k->inputs && !(k->kind == CONV && at == 0);
        begin[at] = next + GUARD + (is_bytes ? (uint32_t)at + 1 : 0);
        end[at] = begin[at] + bytes;
        if (end[at] + GUARD + 8 > far_bytes + FAR_BYTES) {
            printf("%s: no room\n", k->what);
            return 1;
        }
        memset(next, 0x5a, (size_t)(end[at] - next) + GUARD);
        if (at < k->inputs) {
            memcpy(begin[at], k->in[at].data, bytes);
            in[at] = begin[at];
        }
        next = (unsigned char*)(((uintptr_t)end[at] + 7) & ~(uintptr_t)7);
    }
    if (guarded) refuse_rest(k->of_bank);
    const int code = call(k, in, begin[k->inputs]);
    refuse_rest(everything);
#ifdef FAILS_WITH
    if (code != FAILS_WITH) printf("%s: code %d\n", k->what, code);
    return code != FAILS_WITH;
#endif

    const unsigned char* const result = begin[k->inputs];
    int wrong = 0;
    if (code != 0) printf("%s: code %d\n", k->what, code), wrong = 1;
    by_loops(k);
    if (memcmp(looped, k->expected, k->bytes) != 0) printf("%s: plain loops differ from the oracle\n", k->what), wrong = 1;
    for (uint32_t at = 0; at < k->bytes && !wrong; ++at) {
        if (result[at] != k->expected[at])
            printf("%s: byte %u is %d and should be %d\n", k->what, (unsigned)at, result[at], k->expected[at]), wrong = 1;
    }
    const unsigned char* last = far_bytes;
    for (int at = 0; at <= k->inputs; last = end[at++]) {
        if (!is_filled(last, begin[at], 0x5a)) printf("%s: wrote before operand %d\n", k->what, at), wrong = 1;
        if (at < k->inputs && memcmp(begin[at], k->in[at].data, k->in[at].bytes) != 0)
            printf("%s: wrote operand %d\n", k->what, at), wrong = 1;
    }
    if (!is_filled(last, last + GUARD, 0x5a)) printf("%s: wrote after the result\n", k->what), wrong = 1;
    for (int bank = 0; bank < BANKS; ++bank) {
        if (!is_filled(BANK(bank) + k->of_bank[bank], BANK(bank) + BANK_BYTES, 0xa5))
            printf("%s: wrote beyond its part of bank %d\n", k->what, bank), wrong = 1;
    }
    return wrong;
}

/* In the place of functions that kernels call, in tests of what notices it. */
int does_not_wait(int64_t channel);
int does_not_wait(int64_t channel) { return channel < 0; }

int main(void) {
    int count = (int)(sizeof kernels / sizeof kernels[0]);
#ifdef ONLY
    count = ONLY;
#endif
#ifdef BEYOND_PART
    refuse_rest((const uint32_t[]){2048, 1000, 0, 0});
    *(volatile unsigned char*)BANK(1) = 1;
    *(volatile unsigned char*)(BANK(1) + 1024) = 1;
#endif
#ifdef BEYOND_BANK
    *(volatile unsigned char*)BANK(4) = 1;
#endif
    int wrong = 0;
    for (int at = 0; at < count; ++at) wrong += run(&kernels[at], 1) || run(&kernels[at], 0);
    printf("%d kernels, %d wrong\n", count, wrong);
    return wrong != 0;
}
