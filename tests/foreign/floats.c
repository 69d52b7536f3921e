/* Runs the product of floats that Halide compiled for AArch64. It must make what plain loops make, bit by bit: the core of the machine
 * rounds each `sum + a * b` once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floats_on_neon.h"

enum { M = 77, N = 53, K = 75 };
static float a[M][K], b[K][N], c[M][N];
static _Alignas(64) unsigned char l2[TILEWRIGHT_floats_on_neon_l2_BYTES + 64];

static struct halide_buffer_t matrix(void* host, struct halide_dimension_t* of, int rows, int columns) {
    struct halide_buffer_t made;
    memset(&made, 0, sizeof made);
    memset(of, 0, 2 * sizeof *of);
    of[0].extent = columns, of[0].stride = 1;
    of[1].extent = rows, of[1].stride = columns;
    made.host = host;
    made.type.code = halide_type_float, made.type.bits = 32, made.type.lanes = 1;
    made.dimensions = 2;
    made.dim = of;
    return made;
}

int main(void) {
    /* Products of these have no room for all their bits: rounding them makes a difference. */
    for (int at = 0; at < M * K; ++at) a[at / K][at % K] = (float)(at * 7919 % 2001 - 1000) / 7.0f;
    for (int at = 0; at < K * N; ++at) b[at / N][at % N] = (float)(at * 104729 % 2001 - 1000) / 3.0f;
    memset(l2, 0x5a, sizeof l2);
    struct halide_dimension_t of_a[2], of_b[2], of_c[2];
    struct halide_buffer_t left = matrix(a, of_a, M, K), right = matrix(b, of_b, K, N), sums = matrix(c, of_c, M, N);
    const int code = floats_on_neon(&left, &right, l2, &sums);
    int wrong = code != 0;
    for (int m = 0; m < M; ++m) {
        for (int n = 0; n < N; ++n) {
            float sum = 0;
            for (int k = 0; k < K; ++k) sum = fmaf(a[m][k], b[k][n], sum);
            wrong += memcmp(&c[m][n], &sum, sizeof sum) != 0;
        }
    }
    for (size_t at = TILEWRIGHT_floats_on_neon_l2_BYTES; at < sizeof l2; ++at) wrong += l2[at] != 0x5a;
    printf("floats: code %d, %d wrong\n", code, wrong);
    return wrong != 0;
}
