/* The schedule of lesson 07 as plain loops: the bound of one loop is an argument. */
#include <stdint.h>
#include <string.h>

/* clang-format off */
static inline void matmul_by_hand(int rows, const int8_t* A, const int8_t* B, int32_t* C) {
    static int8_t a[64][128], b[128][64];                               /* 16 KiB of spad, whatever `rows` is */
    for (int mo = 0; mo < (rows + 63) / 64; ++mo) {
        const int rows_here = rows - 64 * mo < 64 ? rows - 64 * mo : 64;
        memcpy(a, A + 64 * mo * 128, (size_t)rows_here * 128);
        for (int no = 0; no < 2; ++no) {
            for (int row = 0; row < 128; ++row) memcpy(b[row], B + row * 128 + 64 * no, 64);
            for (int i = 0; i < rows_here; ++i)
                for (int j = 0; j < 64; ++j) {
                    int32_t sum = 0;
                    for (int l = 0; l < 128; ++l) sum += a[i][l] * b[l][j];
                    C[(64 * mo + i) * 128 + 64 * no + j] = sum;
                }
        }
    }
}
