/* What the chip of board.hpp calls: sums of products of bytes by the dual multiply-adds of the core, and what is made of such sums. */
#ifndef LESSON_IMPORT_BOARD_FUNCTIONS_H
#define LESSON_IMPORT_BOARD_FUNCTIONS_H
#include <tilewright/targets/mps2_an521.h>

/* The sums of two rows and two others: four loads, eight SXTB16 and eight SMLAD for 16 products. */
static inline void board_two_by_two(const int8_t* a0, const int8_t* a1, const int8_t* b0, const int8_t* b1, int32_t count, int32_t s[4]) {
    for (int32_t words = count >> 2; words > 0; --words, a0 += 4, a1 += 4, b0 += 4, b1 += 4) {
        const int32_t wa0 = mps2_an521_load(a0), wa1 = mps2_an521_load(a1), wb0 = mps2_an521_load(b0), wb1 = mps2_an521_load(b1);
        const int32_t even0 = mps2_an521_even_bytes(wb0), even1 = mps2_an521_even_bytes(wb1);
        const int32_t odd0 = mps2_an521_odd_bytes(wb0), odd1 = mps2_an521_odd_bytes(wb1);
        const int32_t even_a0 = mps2_an521_even_bytes(wa0), odd_a0 = mps2_an521_odd_bytes(wa0);
        s[0] = mps2_an521_mac2(odd_a0, odd0, mps2_an521_mac2(even_a0, even0, s[0]));
        s[1] = mps2_an521_mac2(odd_a0, odd1, mps2_an521_mac2(even_a0, even1, s[1]));
        const int32_t even_a1 = mps2_an521_even_bytes(wa1), odd_a1 = mps2_an521_odd_bytes(wa1);
        s[2] = mps2_an521_mac2(odd_a1, odd0, mps2_an521_mac2(even_a1, even0, s[2]));
        s[3] = mps2_an521_mac2(odd_a1, odd1, mps2_an521_mac2(even_a1, even1, s[3]));
    }
    for (int32_t rest = count & 3; rest > 0; --rest, ++a0, ++a1, ++b0, ++b1)
        s[0] += *a0 * *b0, s[1] += *a0 * *b1, s[2] += *a1 * *b0, s[3] += *a1 * *b1;
}

/* sums[p][f] of pixels[p][c] * filters[f][c], added to what is there if `adds`. Of an odd number, the last is its own neighbour. */
static inline int board_products(int64_t pixel_count, int64_t filter_count, int64_t channels, const void* pixels, int64_t pixel_step,
                                 const void* filters, int64_t filter_step, void* sums, int64_t sum_step, int64_t adds) {
    for (int32_t p = 0; p < (int32_t)pixel_count; p += 2) {
        const int32_t below = p + 1 < (int32_t)pixel_count;
        const int8_t* const a = (const int8_t*)pixels + p * (int32_t)pixel_step;
        int32_t *const upper = (int32_t*)sums + p * (int32_t)sum_step, *const lower = upper + below * (int32_t)sum_step;
        for (int32_t f = 0; f < (int32_t)filter_count; f += 2) {
            const int32_t next = f + 1 < (int32_t)filter_count;
            const int8_t* const b = (const int8_t*)filters + f * (int32_t)filter_step;
            int32_t s[4] = {0, 0, 0, 0};
            if (adds) s[0] = upper[f], s[1] = upper[f + next], s[2] = lower[f], s[3] = lower[f + next];
            board_two_by_two(a, a + below * (int32_t)pixel_step, b, b + next * (int32_t)filter_step, (int32_t)channels, s);
            upper[f] = s[0], upper[f + next] = s[1], lower[f] = s[2], lower[f + next] = s[3];
        }
    }
    return 0;
}

/* sums[y][x][c] of image[y + r][x + t][c] * taps[r][t][c]. */
static inline int board_window(int64_t tap_rows, int64_t tap_columns, int64_t rows, int64_t columns, int64_t channels, const void* image,
                               int64_t image_row, int64_t image_pixel, const void* taps, int64_t taps_row, int64_t taps_pixel, void* sums,
                               int64_t sums_row, int64_t sums_pixel) {
    for (int32_t y = 0; y < (int32_t)rows; ++y) {
        for (int32_t x = 0; x < (int32_t)columns; ++x) {
            const int8_t* const pixel = (const int8_t*)image + y * (int32_t)image_row + x * (int32_t)image_pixel;
            int32_t* const to = (int32_t*)sums + y * (int32_t)sums_row + x * (int32_t)sums_pixel;
            for (int32_t c = 0; c < (int32_t)channels; ++c) {
                const int8_t *a = pixel + c, *b = (const int8_t*)taps + c;
                int32_t sum = 0;
                for (int32_t r = 0; r < (int32_t)tap_rows; ++r, a += image_row, b += taps_row) {
                    for (int32_t t = 0; t < (int32_t)tap_columns; ++t) sum += a[t * (int32_t)image_pixel] * b[t * (int32_t)taps_pixel];
                }
                to[c] = sum;
            }
        }
    }
    return 0;
}

/* A number times multiplier / 2^(31 + shift). As TensorFlow Lite does, it rounds twice. */
static inline int32_t board_scaled(int32_t number, int32_t multiplier, int32_t shift) {
    const int32_t right = shift > 0 ? shift : 0;
    if (shift < 0) {
        const int32_t moved = (int32_t)((uint32_t)number << -shift);
        number = moved >> -shift == number ? moved : number < 0 ? INT32_MIN : INT32_MAX;
    }
    const int32_t is_beyond = multiplier == INT32_MIN && number == INT32_MIN;
    const int32_t high = (int32_t)(((int64_t)number * multiplier + (1 << 30)) >> 31) ^ -is_beyond;
    const uint32_t mask = (1u << right) - 1;
    return (high >> right) + (((uint32_t)high & mask) > (mask >> 1) + (high < 0));
}

/* Bytes of sums. Each column has its bias and its scale. */
static inline int board_finish(int64_t rows, int64_t columns, const void* sums, int64_t sum_step, const void* bias, const void* multiplier,
                               const void* shift, const void* low, const void* high, const void* zero, void* finished, int64_t step) {
    const int32_t most = *(const int32_t*)high, least = *(const int32_t*)low < most ? *(const int32_t*)low : most;
    const int32_t zero_point = *(const int32_t*)zero;
    for (int32_t f = 0; f < (int32_t)columns; ++f) {
        const uint32_t added = ((const uint32_t*)bias)[f];
        const int32_t by = ((const int32_t*)multiplier)[f], right = ((const int32_t*)shift)[f];
        const uint32_t* from = (const uint32_t*)sums + f;
        int8_t* to = (int8_t*)finished + f;
        for (int32_t p = 0; p < (int32_t)rows; ++p, from += sum_step, to += step) {
            const int32_t scaled = board_scaled((int32_t)(*from + added), by, right);
            *to = (int8_t)((scaled < least ? least : scaled > most ? most : scaled) + zero_point);
        }
    }
    return 0;
}
#endif
