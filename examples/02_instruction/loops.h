/* The schedule of lesson 02 as plain loops. */
#include <stdint.h>
#include <string.h>

/* clang-format off */
/* What one mac16 computes; rows lie `stride` elements apart in all three tiles. */
static inline void mac16_by_hand(const int8_t* a, const int8_t* b, int32_t* c, int stride) {
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j)
            for (int l = 0; l < 16; ++l)
                c[i * stride + j] += a[i * stride + l] * b[l * stride + j];
}

static inline void matmul_by_hand(const int8_t* A, const int8_t* B, int32_t* C) {
    static int8_t a[64][64], b[64][64];                                                 /* 8 KiB of spad */
    static int32_t c[64][64];                                                           /* 16 KiB of acc */
    for (int mo = 0; mo < 8; ++mo)
        for (int no = 0; no < 8; ++no) {
            memset(c, 0, sizeof c);                                                     /* mul16 needs no such thing */
            for (int ko = 0; ko < 8; ++ko) {
                for (int row = 0; row < 64; ++row) {                                    /* mvin, twice */
                    memcpy(a[row], A + (64 * mo + row) * 512 + 64 * ko, 64);
                    memcpy(b[row], B + (64 * ko + row) * 512 + 64 * no, 64);
                }
                for (int mi = 0; mi < 4; ++mi)
                    for (int ni = 0; ni < 4; ++ni)
                        for (int ki = 0; ki < 4; ++ki)                                  /* 64 calls of 16 x 16 x 16 */
                            mac16_by_hand(&a[16 * mi][16 * ki], &b[16 * ki][16 * ni], &c[16 * mi][16 * ni], 64);
            }
            for (int row = 0; row < 64; ++row)                                          /* mvout */
                memcpy(C + (64 * mo + row) * 512 + 64 * no, c[row], sizeof c[row]);
        }
}
