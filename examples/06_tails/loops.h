/* The schedule of lesson 06 as plain loops: 100 x 70 x 50 in tiles of 64 x 64 x 32. */
#include <stdint.h>
#include <string.h>

static inline int least(int a, int b) { return a < b ? a : b; }

/* clang-format off */
/* An instruction that is told how much there is. */
static inline void mac_up_to(int rows, int columns, int depth, const int8_t* a, const int8_t* b, int32_t* c) {
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            for (int l = 0; l < depth; ++l)
                c[i * 64 + j] += a[i * 32 + l] * b[l * 64 + j];
}

static inline void matmul_by_hand(const int8_t* A, const int8_t* B, int32_t* C) {
    static int8_t a[64][32], b[32][64];                                         /* room for whole tiles */
    static int32_t c[64][64];
    for (int mo = 0; mo < 2; ++mo)                                              /* 100 / 64, rounded up */
        for (int no = 0; no < 2; ++no) {
            const int rows = least(64, 100 - 64 * mo), columns = least(64, 70 - 64 * no);
            memset(c, 0, sizeof c);
            for (int ko = 0; ko < 2; ++ko) {
                const int depth = least(32, 50 - 32 * ko);
                for (int row = 0; row < rows; ++row) memcpy(a[row], A + (64 * mo + row) * 50 + 32 * ko, (size_t)depth);
                for (int row = 0; row < depth; ++row) memcpy(b[row], B + (32 * ko + row) * 70 + 64 * no, (size_t)columns);
                for (int mi = 0; mi < rows; mi += 16)
                    for (int ni = 0; ni < columns; ni += 16)
                        for (int ki = 0; ki < depth; ki += 16)
                            mac_up_to(least(16, rows - mi), least(16, columns - ni), least(16, depth - ki),
                                      &a[mi][ki], &b[ki][ni], &c[mi][ni]);
            }
            for (int row = 0; row < rows; ++row)
                memcpy(C + (64 * mo + row) * 70 + 64 * no, c[row], (size_t)columns * sizeof(int32_t));
        }
}
