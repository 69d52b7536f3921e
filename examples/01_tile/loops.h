/* The schedule of lesson 01 as plain loops, with tiles of 32 x 32. */
#include <string.h>

static long bytes_moved;

/* Moves 32 rows of 32 floats. Rows lie `from_stride` and `to_stride` floats apart. */
static inline void move_tile(const float* from, int from_stride, float* to, int to_stride) {
    for (int row = 0; row < 32; ++row) memcpy(to + row * to_stride, from + row * from_stride, 32 * sizeof(float));
    bytes_moved += 32 * 32 * (long)sizeof(float);
}

/* clang-format off */
static inline void matmul_by_hand(const float* A, const float* B, float* C) {
    static float a[32][32], b[32][32], c[32][32];                                       /* 12 KiB of tcm */
    for (int mo = 0; mo < 4; ++mo)
        for (int no = 0; no < 4; ++no) {
            memset(c, 0, sizeof c);
            for (int ko = 0; ko < 4; ++ko) {
                move_tile(A + 32 * mo * 128 + 32 * ko, 128, &a[0][0], 32);              /* cache_read(A, tcm).at(ko) */
                move_tile(B + 32 * ko * 128 + 32 * no, 128, &b[0][0], 32);              /* cache_read(B, tcm).at(ko) */
                for (int mi = 0; mi < 32; ++mi)
                    for (int ki = 0; ki < 32; ++ki)
                        for (int ni = 0; ni < 32; ++ni)
                            c[mi][ni] += a[mi][ki] * b[ki][ni];
            }
            move_tile(&c[0][0], 32, C + 32 * mo * 128 + 32 * no, 128);                  /* cache_write(C, tcm).at(no) */
        }
}
