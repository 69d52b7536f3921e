/* What compilers make of plain loops: sums one after the other, and rows of sums, which some compilers like better. */
#include "plain.h"

#define PLAIN(name, Left, M, N, K)                                                                         \
    void name##_by_sums(const Left* a, const int8_t* b, int32_t* restrict c) {                             \
        for (int m = 0; m < M; ++m) {                                                                      \
            for (int n = 0; n < N; ++n) {                                                                  \
                int32_t sum = 0;                                                                           \
                for (int k = 0; k < K; ++k) sum += (int32_t)a[m * K + k] * (int32_t)b[k * N + n];          \
                c[m * N + n] = sum;                                                                        \
            }                                                                                              \
        }                                                                                                  \
    }                                                                                                      \
    void name##_by_rows(const Left* a, const int8_t* b, int32_t* restrict c) {                             \
        for (int m = 0; m < M; ++m) {                                                                      \
            for (int n = 0; n < N; ++n) c[m * N + n] = 0;                                                  \
            for (int k = 0; k < K; ++k) {                                                                  \
                for (int n = 0; n < N; ++n) c[m * N + n] += (int32_t)a[m * K + k] * (int32_t)b[k * N + n]; \
            }                                                                                              \
        }                                                                                                  \
    }
PLAIN(square, int8_t, 64, 64, 64)
PLAIN(layer, uint8_t, 196, 150, 300)
