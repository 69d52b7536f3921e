/* The kernels as one writes them down: the natural loops, compiled at -O3. */
#include "kernels.h"

void plain_matmul(const int8_t* restrict a, const int8_t* restrict w, int32_t* restrict c) {
    for (int m = 0; m < 64; ++m)
        for (int n = 0; n < 64; ++n) {
            int32_t sum = 0;
            for (int k = 0; k < 64; ++k) sum += a[64 * m + k] * w[64 * n + k];
            c[64 * m + n] = sum;
        }
}

/* Scaled by multiplier / 2^(31 + shift), rounded to the nearest, and what is below 0 is 0. */
static inline int8_t scaled(int32_t sum, int32_t multiplier, int32_t shift) {
    const int64_t product = (int64_t)sum * multiplier;
    if (product <= 0) return 0;
    const int64_t value = (product + ((int64_t)1 << (30 + shift))) >> (31 + shift);
    return (int8_t)(value < 127 ? value : 127);
}

/* 3 x 3 with a border of zeros, which is not computed. Weights are [row][column][filter][channel]. Inlined, so that extents are numbers. */
static inline __attribute__((always_inline)) void convolve(int side, int channels, int filters, const int8_t* restrict in,
                                                           const int8_t* restrict weights, const struct scales* restrict by,
                                                           int8_t* restrict out) {
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
            for (int f = 0; f < filters; ++f) {
                int32_t sum = by->bias[f];
                for (int r = y > 0 ? 0 : 1; r < (y < side - 1 ? 3 : 2); ++r)
                    for (int s = x > 0 ? 0 : 1; s < (x < side - 1 ? 3 : 2); ++s)
                        for (int c = 0; c < channels; ++c)
                            sum +=
                                in[((y + r - 1) * side + x + s - 1) * channels + c] * weights[((r * 3 + s) * filters + f) * channels + c];
                out[(y * side + x) * filters + f] = scaled(sum, by->multiplier[f], by->shift[f]);
            }
}
void plain_conv2d(const int8_t* restrict in, const int8_t* restrict weights, const struct scales* restrict by, int8_t* restrict out) {
    convolve(16, 16, 16, in, weights, by, out);
}

static inline void pool(int side, int channels, const int8_t* restrict in, int8_t* restrict out) {
    for (int y = 0; y < side / 2; ++y)
        for (int x = 0; x < side / 2; ++x)
            for (int c = 0; c < channels; ++c) {
                int8_t most = INT8_MIN;
                for (int r = 0; r < 2; ++r)
                    for (int s = 0; s < 2; ++s) {
                        const int8_t one = in[((2 * y + r) * side + 2 * x + s) * channels + c];
                        most = one > most ? one : most;
                    }
                out[(y * (side / 2) + x) * channels + c] = most;
            }
}
void plain_network(const int8_t* restrict image, const struct network* restrict of, int32_t* restrict scores) {
    static int8_t features[8 * 8 * 16], pooled[4 * 4 * 16], features2[4 * 4 * 32], pooled2[2 * 2 * 32];
    convolve(8, 1, 16, image, of->weights1, &of->scales1, features);
    pool(8, 16, features, pooled);
    convolve(4, 16, 32, pooled, of->weights2, &of->scales2, features2);
    pool(4, 32, features2, pooled2);
    for (int digit = 0; digit < 10; ++digit) {
        int32_t sum = of->bias3[digit];
        for (int at = 0; at < 2 * 2 * 32; ++at) sum += pooled2[at] * of->weights3[digit * 2 * 2 * 32 + at];
        scores[digit] = sum;
    }
}
