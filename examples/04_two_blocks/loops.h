/* The schedule of lesson 04 as plain loops: step = 8 mo + 4 no + ko, and step t uses version t % 2. */
#include <string.h>

static float block_0[2][4096]; /* at 0xd8000000: version 0 of A and of B */
static float block_1[2][4096]; /* at 0xda000000: version 1 of A and of B */

/* clang-format off */
static inline void load_tiles(int step, const float* A, const float* B, float (*block)[4096]) {
    const int mo = step / 8, no = step / 4 % 2, ko = step % 4;
    for (int row = 0; row < 64; ++row) {
        memcpy(block[0] + 64 * row, A + (64 * mo + row) * 256 + 64 * ko, 64 * sizeof(float));
        memcpy(block[1] + 64 * row, B + (64 * ko + row) * 128 + 64 * no, 64 * sizeof(float));
    }
}

static inline void matmul_by_hand(const float* A, const float* B, float* C) {
    static float c[64][64];
    load_tiles(0, A, B, block_0);
    for (int step = 0; step < 16; ++step) {
        float (*now)[4096] = step % 2 == 0 ? block_0 : block_1;
        float (*next)[4096] = step % 2 == 0 ? block_1 : block_0;
        if (step + 1 < 16) load_tiles(step + 1, A, B, next);            /* uses the port of one block … */
        if (step % 4 == 0) memset(c, 0, sizeof c);
        for (int mi = 0; mi < 64; ++mi)                                 /* … while this uses the port of the other */
            for (int ki = 0; ki < 64; ++ki)
                for (int ni = 0; ni < 64; ++ni)
                    c[mi][ni] += now[0][64 * mi + ki] * now[1][64 * ki + ni];
        if (step % 4 == 3)
            for (int row = 0; row < 64; ++row)
                memcpy(C + (64 * (step / 8) + row) * 128 + 64 * (step / 4 % 2), c[row], sizeof c[row]);
    }
}
