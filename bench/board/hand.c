/* By hand for a Cortex-M33 with DSP instructions, as few of them as there seems to be a way: bytes are widened to pairs of 16 bits once,
 * and laid out so that a load of two words has one pair of two rows. 4 x 2 or 2 x 4 sums, a pair of each of two rows of one operand and of
 * the other, and two pointers are 14 registers, which is what there is. Loops over what is summed up are written out, so that every operand
 * is at a number of bytes behind a pointer: eight products of pairs are three loads and eight SMLAD, and there is nothing else in the
 * loops. */
#include "kernels.h"

#include <arm_acle.h>
#include <string.h>

/* What the compiler does not see through. It would keep what it takes for constant in a loop in memory, word by word, and would give
 * addresses other pointers. */
#define HIDE(pointer) __asm__("" : "+r"(pointer))

/* Bytes 0 and 2 of four, and bytes 1 and 3. SXTB16 rotates what it takes, but the compiler has no function for that. */
static inline int32_t even_bytes(int32_t word) { return __sxtb16(word); }
static inline int32_t odd_bytes(int32_t word) {
    int32_t halves;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(halves) : "r"(word));
    return halves;
}
static inline int32_t load(const int8_t* from) {
    int32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}
/* Widens two rows of `count` bytes, a multiple of 16. Words of both, that is, pairs, lie one behind the other, and the next two are `step`
 * words behind them. Both operands have their pairs in the same order, so sums of products are the same. */
static inline __attribute__((always_inline)) void widen(int32_t* restrict to, const int8_t* restrict first, const int8_t* restrict second,
                                                        int count, int step) {
    const int8_t* const end = first + count;
    do {
        _Pragma("GCC unroll 4") for (int at = 0; at < 4; ++at) {
            const int32_t one = load(first + 4 * at), two = load(second + 4 * at);
            int32_t *const even = to + 2 * at * step, *const odd = even + step;
            const int32_t even_one = even_bytes(one), even_two = even_bytes(two), odd_one = odd_bytes(one), odd_two = odd_bytes(two);
            even[0] = even_one, even[1] = even_two;
            odd[0] = odd_one, odd[1] = odd_two;
        }
        first += 16, second += 16, to += 8 * step;
    } while (first != end);
}

/* Adds products of a pair of two rows by a pair of two rows. */
#define ADD_PRODUCTS(sum0, sum1, sum2, sum3, left0, left1, right)                 \
    {                                                                             \
        const int32_t right0 = (right)[0], right1 = (right)[1];                   \
        sum0 = __smlad(left0, right0, sum0), sum1 = __smlad(left1, right0, sum1); \
        sum2 = __smlad(left0, right1, sum2), sum3 = __smlad(left1, right1, sum3); \
    }

void hand_matmul(const int8_t* restrict a, const int8_t* restrict w, int32_t* restrict c) {
    static int32_t wide_a[64 * 32], wide_w[64 * 32];
    for (int row = 0; row < 64; row += 2) {
        widen(wide_a + 32 * row, a + 64 * row, a + 64 * row + 64, 64, 2);
        widen(wide_w + 32 * row, w + 64 * row, w + 64 * row + 64, 64, 2);
    }
    for (int m = 0; m < 64; m += 4) {
        const int32_t *left = wide_a + 32 * m, *right = wide_w;
        int32_t* sums = c + 64 * m;
        do {
            HIDE(left);
            int32_t sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0, sum20 = 0, sum21 = 0, sum30 = 0, sum31 = 0;
            _Pragma("GCC unroll 32") for (int at = 0; at < 64; at += 2) {
                const int32_t one = right[at], two = right[at + 1];
                ADD_PRODUCTS(sum00, sum01, sum10, sum11, one, two, left + at)
                ADD_PRODUCTS(sum20, sum21, sum30, sum31, one, two, left + 64 + at)
            }
            sums[0] = sum00, sums[1] = sum01;
            sums[64] = sum10, sums[65] = sum11;
            sums[128] = sum20, sums[129] = sum21;
            sums[192] = sum30, sums[193] = sum31;
            sums += 2, right += 2 * 32;
        } while (right != wide_w + 64 * 32);
    }
}

/* Scaled by multiplier / 2^(31 + shift) and rounded: of the product only the upper word counts, if the shift is 2 or more. */
static inline int8_t scaled(int32_t sum, int32_t multiplier, int32_t shift) {
    const int32_t high = (int32_t)((int64_t)sum * multiplier >> 32);
    return (int8_t)__usat((high + (1 << (shift - 2))) >> (shift - 1), 7);
}

/* The image as [row][channels in pairs][column], with a border; weights as [filters in fours][row][column][channels in pairs][filter]. */
enum { COLUMNS = 18, ROW = 8 * COLUMNS, TAP = 8 * 4, TAPS = 9 * TAP };
/* A pair of two pixels by the pair of four filters. */
#define ADD_TAP(pixel0, pixel1, tap)                                       \
    {                                                                      \
        const int32_t* const four = (tap);                                 \
        ADD_PRODUCTS(sum00, sum01, sum10, sum11, pixel0, pixel1, four)     \
        ADD_PRODUCTS(sum20, sum21, sum30, sum31, pixel0, pixel1, four + 2) \
    }
void hand_conv2d(const int8_t* restrict in, const int8_t* restrict weights, const struct scales* restrict by, int8_t* restrict out) {
    static int32_t wide_in[18 * ROW], wide_weights[4 * TAPS];
    memset(wide_in, 0, sizeof wide_in);
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; x += 2) {
            const int8_t* const pixel = in + (y * 16 + x) * 16;
            widen(wide_in + (y + 1) * ROW + x + 1, pixel, pixel + 16, 16, COLUMNS);
        }
    for (int tap = 0; tap < 9; ++tap)
        for (int f = 0; f < 16; f += 2) {
            const int8_t* const filter = weights + (tap * 16 + f) * 16;
            widen(wide_weights + f / 4 * TAPS + tap * TAP + f % 4, filter, filter + 16, 16, 4);
        }

    /* A row of sums, and then what becomes of them: there are no registers for both at once. */
    static int32_t all_sums[16][16];
    for (int y = 0; y < 16; ++y) {
        for (int f = 0; f < 16; f += 4) {
            const int32_t *pixels = wide_in + y * ROW, *taps = wide_weights + f / 4 * TAPS;
            int32_t* sums = all_sums[f];
            const int32_t* const end = sums + 16;
            do {
                int32_t sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0, sum20 = 0, sum21 = 0, sum30 = 0, sum31 = 0;
                _Pragma("GCC unroll 3") for (int r = 0; r < 3; ++r) {
                    /* A load of two words reaches 1020 bytes, which are two rows. */
                    HIDE(pixels);
                    HIDE(taps);
                    _Pragma("GCC unroll 8") for (int c = 0; c < 8; ++c) {
                        const int32_t *const pixel = pixels + c * COLUMNS, *const tap = taps + c * 4;
                        const int32_t pixel0 = pixel[0], pixel1 = pixel[1];
                        ADD_TAP(pixel0, pixel1, tap)
                        const int32_t pixel2 = pixel[2];
                        ADD_TAP(pixel1, pixel2, tap + TAP)
                        const int32_t pixel3 = pixel[3];
                        ADD_TAP(pixel2, pixel3, tap + 2 * TAP)
                    }
                    pixels += ROW, taps += 3 * TAP;
                }
                sums[0] = sum00, sums[1] = sum01;
                sums[16] = sum10, sums[17] = sum11;
                sums[32] = sum20, sums[33] = sum21;
                sums[48] = sum30, sums[49] = sum31;
                sums += 2, pixels += 2 - 3 * ROW, taps -= 9 * TAP;
            } while (sums != end);
        }
        for (int f = 0; f < 16; ++f) {
            const int32_t bias = by->bias[f], multiplier = by->multiplier[f], shift = by->shift[f];
            int8_t* to = out + y * 256 + f;
            HIDE(to);
            _Pragma("GCC unroll 16") for (int x = 0; x < 16; ++x) to[x * 16] = scaled(bias + all_sums[f][x], multiplier, shift);
        }
    }
}
