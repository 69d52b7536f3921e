/* The copy of lesson 00 as plain loops. */
#include <stdint.h>

/* clang-format off */
static inline void copy_by_hand(const uint8_t A[4][4][1][8], uint8_t A_buf[4][4][1][8]) {
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            for (int k = 0; k < 1; ++k)
                for (int l = 0; l < 8; ++l)
                    A_buf[i][j][k][l] = A[i][j][k][l];
}
