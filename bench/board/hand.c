/* By hand for a Cortex-M33 with DSP instructions: bytes are widened to pairs of 16 bits once, 2 x 2 sums stay in registers, and loops over
 * what is summed up are written out, so that every operand is at a number of bytes behind one of two pointers. All of it is in SRAM. Eight
 * products are two loads of two words for each operand and four SMLAD for each sum: there is nothing else in the loops. */
#include "kernels.h"

#include <arm_acle.h>
#include <string.h>

/* Four bytes become two words of two halves: elements 0 and 2, 1 and 3. Both operands have this order, so sums of products are the same. */
static inline void widen(int32_t* restrict to, const int8_t* restrict from, int count) {
    for (int at = 0; at < count; at += 4) {
        int32_t word;
        memcpy(&word, from + at, sizeof word);
        to[at / 2] = __sxtb16(word);
        to[at / 2 + 1] = __sxtb16((int32_t)((uint32_t)word >> 8 | (uint32_t)word << 24));
    }
}

/* Adds `pairs` products of pairs, an even number, to 2 x 2 sums. */
#define ADD_PRODUCTS(pairs, a0, a1, b0, b1)                                                       \
    _Pragma("GCC unroll 64") for (int at = 0; at < (pairs); at += 2) {                            \
        const int32_t p = (a0)[at], q = (a0)[at + 1], r = (a1)[at], s = (a1)[at + 1];             \
        const int32_t t = (b0)[at], u = (b0)[at + 1];                                             \
        sum00 = __smlad(q, u, __smlad(p, t, sum00)), sum10 = __smlad(s, u, __smlad(r, t, sum10)); \
        const int32_t v = (b1)[at], w = (b1)[at + 1];                                             \
        sum01 = __smlad(q, w, __smlad(p, v, sum01)), sum11 = __smlad(s, w, __smlad(r, v, sum11)); \
    }
/* What the compiler does not see through: it would keep a row in memory that it takes for constant in the loop, word by word. */
#define HIDE(pointer) __asm__("" : "+r"(pointer))

void hand_matmul(const int8_t* restrict a, const int8_t* restrict w, int32_t* restrict c) {
    static int32_t wide_a[64 * 32], wide_w[64 * 32];
    widen(wide_a, a, 64 * 64);
    widen(wide_w, w, 64 * 64);
    for (int m = 0; m < 64; m += 2)
        for (int n = 0; n < 64; n += 2) {
            const int32_t *left = wide_a + 32 * m, *right = wide_w + 32 * n;
            HIDE(left);
            int32_t sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0;
            ADD_PRODUCTS(32, left, left + 32, right, right + 32)
            c[64 * m + n] = sum00;
            c[64 * m + n + 1] = sum01;
            c[64 * m + 64 + n] = sum10;
            c[64 * m + 64 + n + 1] = sum11;
        }
}

/* Scaled by multiplier / 2^(31 + shift) and rounded: of the product only the upper word counts, if the shift is 2 or more. */
static inline int8_t scaled(int32_t sum, int32_t multiplier, int32_t shift) {
    const int32_t high = (int32_t)((int64_t)sum * multiplier >> 32);
    return (int8_t)__usat((high + (1 << (shift - 2))) >> (shift - 1), 7);
}

/* Rows of 18 pixels of 16 channels, in words; weights as [filter][row][column][channel]. */
enum { ROW = 18 * 8, TAPS = 9 * 8 };
void hand_conv2d(const int8_t* restrict in, const int8_t* restrict weights, const struct scales* restrict by, int8_t* restrict out) {
    static int32_t wide_in[18 * ROW], wide_weights[16 * TAPS];
    memset(wide_in, 0, ROW * 4);
    memset(wide_in + 17 * ROW, 0, ROW * 4);
    for (int y = 1; y < 17; ++y) {
        memset(wide_in + y * ROW, 0, 32);
        widen(wide_in + y * ROW + 8, in + (y - 1) * 256, 256);
        memset(wide_in + y * ROW + 17 * 8, 0, 32);
    }
    for (int tap = 0; tap < 9; ++tap)
        for (int f = 0; f < 16; ++f) widen(wide_weights + f * TAPS + tap * 8, weights + (tap * 16 + f) * 16, 16);

    /* A row of sums, and then what becomes of them: there are no registers for both at once. */
    static int32_t sums[16][16];
    for (int y = 0; y < 16; ++y) {
        for (int f = 0; f < 16; f += 2)
            for (int x = 0; x < 16; x += 2) {
                const int32_t *pixels = wide_in + y * ROW + x * 8, *taps = wide_weights + f * TAPS;
                HIDE(taps);
                int32_t sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0;
                ADD_PRODUCTS(24, pixels, pixels + 8, taps, taps + TAPS)
                ADD_PRODUCTS(24, pixels + ROW, pixels + ROW + 8, taps + 24, taps + TAPS + 24)
                ADD_PRODUCTS(24, pixels + 2 * ROW, pixels + 2 * ROW + 8, taps + 48, taps + TAPS + 48)
                sums[f][x] = sum00;
                sums[f + 1][x] = sum01;
                sums[f][x + 1] = sum10;
                sums[f + 1][x + 1] = sum11;
            }
        for (int f = 0; f < 16; ++f) {
            const int32_t bias = by->bias[f], multiplier = by->multiplier[f], shift = by->shift[f];
            _Pragma("GCC unroll 16") for (int x = 0; x < 16; ++x) out[(y * 16 + x) * 16 + f] = scaled(bias + sums[f][x], multiplier, shift);
        }
    }
}
