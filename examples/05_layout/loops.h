/* The schedule of lesson 05 as plain loops: a tile of A is packed into panels when it comes in. */
#include <stdint.h>
#include <string.h>

/* clang-format off */
static inline void pack(const int8_t* A, int8_t (*panels)[4][16][16]) {
    for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q)
            for (int i = 0; i < 16; ++i)
                for (int l = 0; l < 16; ++l)
                    panels[p][q][i][l] = A[(16 * p + i) * 128 + 16 * q + l];
}

/* Rows of a follow each other; those of b and c lie 64 elements apart. */
static inline void mac16_by_hand(int8_t (*a)[16], const int8_t* b, int32_t* c) {
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j)
            for (int l = 0; l < 16; ++l)
                c[i * 64 + j] += a[i][l] * b[l * 64 + j];
}

static inline void matmul_by_hand(const int8_t* A, const int8_t* B, int32_t* C) {
    static int8_t a[4][4][16][16], b[64][64];
    static int32_t c[64][64];
    for (int mo = 0; mo < 2; ++mo)
        for (int no = 0; no < 2; ++no) {
            memset(c, 0, sizeof c);
            for (int ko = 0; ko < 2; ++ko) {
                pack(A + 64 * mo * 128 + 64 * ko, a);
                for (int row = 0; row < 64; ++row) memcpy(b[row], B + (64 * ko + row) * 128 + 64 * no, 64);
                for (int mi = 0; mi < 4; ++mi)
                    for (int ni = 0; ni < 4; ++ni)
                        for (int ki = 0; ki < 4; ++ki)
                            mac16_by_hand(a[mi][ki], &b[16 * ki][16 * ni], &c[16 * mi][16 * ni]);
            }
            for (int row = 0; row < 64; ++row) memcpy(C + (64 * mo + row) * 128 + 64 * no, c[row], sizeof c[row]);
        }
}
