/* The schedule of lesson 03 as plain loops. Steps run on from one tile of C to the next: step = 4 mo + 2 no + ko. */
#include <stdint.h>
#include <string.h>

/* clang-format off */
static inline void load_tiles(int step, const int8_t* A, const int8_t* B, int8_t (*a)[64], int8_t (*b)[64]) {
    const int mo = step / 4, no = step / 2 % 2, ko = step % 2;
    for (int row = 0; row < 64; ++row) {
        memcpy(a[row], A + (64 * mo + row) * 128 + 64 * ko, 64);
        memcpy(b[row], B + (64 * ko + row) * 128 + 64 * no, 64);
    }
}

static inline void multiply_tiles(int8_t (*a)[64], int8_t (*b)[64], int32_t (*c)[64]) {
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 64; ++j)
            for (int l = 0; l < 64; ++l)
                c[i][j] += a[i][l] * b[l][j];
}

static inline void store_tile(int step, int32_t (*c)[64], int32_t* C) {
    const int mo = step / 4, no = step / 2 % 2;
    for (int row = 0; row < 64; ++row) memcpy(C + (64 * mo + row) * 128 + 64 * no, c[row], sizeof c[row]);
}

static inline void matmul_by_hand(const int8_t* A, const int8_t* B, int32_t* C) {
    static int8_t a[2][64][64], b[2][64][64];                   /* buffers(2): two versions of each tile */
    static int32_t c[2][64][64];
    load_tiles(0, A, B, a[0], b[0]);                            /* nothing is computed beside the first load */
    for (int step = 0; step < 8; ++step) {
        const int now = step % 2, next = (step + 1) % 2, tile = step / 2 % 2;
        if (step + 1 < 8)
            load_tiles(step + 1, A, B, a[next], b[next]);       /* the loader works on one version … */
        if (step % 2 == 0) memset(c[tile], 0, sizeof c[tile]);
        multiply_tiles(a[now], b[now], c[tile]);                /* … while the array works on the other */
        if (step % 2 == 1)
            store_tile(step, c[tile], C);                       /* the storer works while the next tile is computed */
    }
}
