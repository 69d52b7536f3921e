/* The C functions of an AArch64 processor with dot products that kernels for `targets/aarch64_dot.hpp` call: products of bytes with sums of
 * 32 bits. It stands beside the description of the machine, since the two say the same and change together. Generated C includes it
 * (`C_INCLUDES tilewright/targets/aarch64_dot.h`).
 *
 * Compile for `-march=armv8.2-a+dotprod`. With `+i8mm`, left bytes without sign and right ones with it have an instruction of their own;
 * without, the left ones are moved by 128. Programs that try the functions on another computer may ask for plain C of the same meaning
 * (AARCH64_DOT_PLAIN_C). Other compilers find no functions here.
 */
#ifndef TILEWRIGHT_TARGETS_AARCH64_DOT_H
#define TILEWRIGHT_TARGETS_AARCH64_DOT_H
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

#define AARCH64_DOT_INLINE static inline __attribute__((always_inline))
/* Loops over registers are written out. Clang does so by itself. */
#ifdef __clang__
#define AARCH64_DOT_UNROLL
#else
#define AARCH64_DOT_UNROLL _Pragma("GCC unroll 8")
#endif

/* Which bytes have a sign. */
enum aarch64_dot_kind { AARCH64_DOT_U8U8, AARCH64_DOT_S8S8, AARCH64_DOT_U8S8 };

/* Less than a vector: bytes after the end are zeros, and nobody looks for them in memory. */
AARCH64_DOT_INLINE uint8x16_t aarch64_dot_left(const unsigned char* from, int64_t terms) {
    unsigned char whole[16] = {0};
    memcpy(whole, from, (size_t)terms);
    return vld1q_u8(whole);
}
AARCH64_DOT_INLINE uint8x16_t aarch64_dot_right(const unsigned char* from, int64_t columns) {
    unsigned char whole[8] = {0};
    if (columns == 8) return vcombine_u8(vld1_u8(from), vdup_n_u8(0));
    memcpy(whole, from, (size_t)columns);
    return vcombine_u8(vld1_u8(whole), vdup_n_u8(0));
}
/* Four terms of eight columns: four rows of right bytes, as two vectors in which the terms of a column stand beside each other. */
AARCH64_DOT_INLINE uint8x16x2_t aarch64_dot_group(const unsigned char* b, int64_t b_stride, int64_t terms, int64_t columns) {
    const uint8x16_t none = vdupq_n_u8(0), first = aarch64_dot_right(b, columns),
                     second = terms > 1 ? aarch64_dot_right(b + b_stride, columns) : none,
                     third = terms > 2 ? aarch64_dot_right(b + 2 * b_stride, columns) : none,
                     fourth = terms > 3 ? aarch64_dot_right(b + 3 * b_stride, columns) : none;
    const uint16x8_t low = vreinterpretq_u16_u8(vzip1q_u8(first, second)), high = vreinterpretq_u16_u8(vzip1q_u8(third, fourth));
    uint8x16x2_t made;
    made.val[0] = vreinterpretq_u8_u16(vzip1q_u16(low, high));
    made.val[1] = vreinterpretq_u8_u16(vzip2q_u16(low, high));
    return made;
}

/* Sums of four columns, and four terms of each: those of a row stand in lane `lane` of `left`, for all columns. */
#ifdef __ARM_FEATURE_MATMUL_INT8
#define AARCH64_DOT_MIXED(sums, right, left, lane) vsudotq_laneq_s32(sums, vreinterpretq_s8_u8(right), left, lane)
#else
#define AARCH64_DOT_MIXED(sums, right, left, lane) vdotq_laneq_s32(sums, vreinterpretq_s8_u8(right), vreinterpretq_s8_u8(left), lane)
#define AARCH64_DOT_MOVES_LEFT
#endif
#define AARCH64_DOT_FOUR(kind, sums, right, left, lane)                                                                    \
    ((kind) == AARCH64_DOT_U8U8   ? vreinterpretq_s32_u32(vdotq_laneq_u32(vreinterpretq_u32_s32(sums), right, left, lane)) \
     : (kind) == AARCH64_DOT_S8S8 ? vdotq_laneq_s32(sums, vreinterpretq_s8_u8(right), vreinterpretq_s8_u8(left), lane)     \
                                  : AARCH64_DOT_MIXED(sums, right, left, lane))
/* Four of the sixteen terms in `left`, of which `terms` are there. */
#define AARCH64_DOT_STEP(lane, terms)                                                                          \
    do {                                                                                                       \
        const uint8x16x2_t right = aarch64_dot_group(b, b_stride, terms, columns);                             \
        AARCH64_DOT_UNROLL for (int r = 0; r < rows; ++r) {                                                    \
            sums[r][0] = AARCH64_DOT_FOUR(kind, sums[r][0], right.val[0], left[r], lane);                      \
            sums[r][1] = AARCH64_DOT_FOUR(kind, sums[r][1], right.val[1], left[r], lane);                      \
        }                                                                                                      \
        if (moved) of_columns[0] = vdotq_s32(of_columns[0], vreinterpretq_s8_u8(right.val[0]), vdupq_n_s8(1)); \
        if (moved) of_columns[1] = vdotq_s32(of_columns[1], vreinterpretq_s8_u8(right.val[1]), vdupq_n_s8(1)); \
        b += 4 * b_stride;                                                                                     \
    } while (0)

/* A tile of C in registers, for the whole depth: `rows` by up to eight columns. */
AARCH64_DOT_INLINE void aarch64_dot_tile(const enum aarch64_dot_kind kind, const int rows, int64_t columns, int64_t depth,
                                         const unsigned char* a, int64_t a_stride, const unsigned char* b, int64_t b_stride, int32_t* c,
                                         int64_t c_stride, int64_t adds) {
#ifdef AARCH64_DOT_MOVES_LEFT
    const int moved = kind == AARCH64_DOT_U8S8;
#else
    const int moved = 0;
#endif
    int32x4_t sums[8][2], of_columns[2] = {vdupq_n_s32(0), vdupq_n_s32(0)};
    uint8x16_t left[8];
    AARCH64_DOT_UNROLL for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = vdupq_n_s32(0);
    const uint8x16_t by = vdupq_n_u8(moved ? 128 : 0);
    for (; depth >= 16; depth -= 16, a += 16) {
        AARCH64_DOT_UNROLL for (int r = 0; r < rows; ++r) left[r] = veorq_u8(vld1q_u8(a + r * a_stride), by);
        AARCH64_DOT_STEP(0, 4);
        AARCH64_DOT_STEP(1, 4);
        AARCH64_DOT_STEP(2, 4);
        AARCH64_DOT_STEP(3, 4);
    }
    if (depth > 0) {
        AARCH64_DOT_UNROLL for (int r = 0; r < rows; ++r) left[r] = veorq_u8(aarch64_dot_left(a + r * a_stride, depth), by);
        AARCH64_DOT_STEP(0, depth);
        if (depth > 4) AARCH64_DOT_STEP(1, depth - 4);
        if (depth > 8) AARCH64_DOT_STEP(2, depth - 8);
        if (depth > 12) AARCH64_DOT_STEP(3, depth - 12);
    }
    AARCH64_DOT_UNROLL for (int r = 0; r < rows; ++r) {
        int32_t* const to = c + r * c_stride;
        AARCH64_DOT_UNROLL for (int v = 0; v < 2; ++v) if (moved) sums[r][v] = vaddq_s32(sums[r][v], vshlq_n_s32(of_columns[v], 7));
        if (columns == 8) {
            vst1q_s32(to, adds ? vaddq_s32(sums[r][0], vld1q_s32(to)) : sums[r][0]);
            vst1q_s32(to + 4, adds ? vaddq_s32(sums[r][1], vld1q_s32(to + 4)) : sums[r][1]);
        } else {
            int32_t some[8];
            vst1q_s32(some, sums[r][0]);
            vst1q_s32(some + 4, sums[r][1]);
            for (int64_t j = 0; j < columns; ++j) to[j] = (int32_t)((uint32_t)some[j] + (adds ? (uint32_t)to[j] : 0u));
        }
    }
}

AARCH64_DOT_INLINE int aarch64_dot_product(const enum aarch64_dot_kind kind, int64_t rows, int64_t columns, int64_t depth, const void* a,
                                           int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride, int64_t adds) {
    const unsigned char *const left = (const unsigned char*)a, *const right = (const unsigned char*)b;
    int32_t* const sums = (int32_t*)c;
#define AARCH64_DOT_ROWS(count)                                                                                                            \
    do {                                                                                                                                   \
        int64_t j = 0;                                                                                                                     \
        for (; j + 8 <= columns; j += 8)                                                                                                   \
            aarch64_dot_tile(kind, count, 8, depth, left + i * a_stride, a_stride, right + j, b_stride, sums + i * c_stride + j, c_stride, \
                             adds);                                                                                                        \
        if (j < columns)                                                                                                                   \
            aarch64_dot_tile(kind, count, columns - j, depth, left + i * a_stride, a_stride, right + j, b_stride, sums + i * c_stride + j, \
                             c_stride, adds);                                                                                              \
        i += count;                                                                                                                        \
    } while (0)
    int64_t i = 0;
    while (i + 8 <= rows) AARCH64_DOT_ROWS(8);
    if (i + 4 <= rows) AARCH64_DOT_ROWS(4);
    if (i + 2 <= rows) AARCH64_DOT_ROWS(2);
    if (i < rows) AARCH64_DOT_ROWS(1);
#undef AARCH64_DOT_ROWS
    return 0;
}

#define AARCH64_DOT_FUNCTION(name, kind)                                                                                                   \
    static inline int name(int64_t rows, int64_t columns, int64_t depth, const void* a, int64_t a_stride, const void* b, int64_t b_stride, \
                           void* c, int64_t c_stride, int64_t adds) {                                                                      \
        return aarch64_dot_product(kind, rows, columns, depth, a, a_stride, b, b_stride, c, c_stride, adds);                               \
    }
AARCH64_DOT_FUNCTION(aarch64_dot_u8u8, AARCH64_DOT_U8U8)
AARCH64_DOT_FUNCTION(aarch64_dot_s8s8, AARCH64_DOT_S8S8)
AARCH64_DOT_FUNCTION(aarch64_dot_u8s8, AARCH64_DOT_U8S8)
#elif defined(AARCH64_DOT_PLAIN_C)
#include <tilewright/targets/dot_products.h>
TILEWRIGHT_DOT_PRODUCT_OF_BYTES(aarch64_dot_u8u8, uint8_t, uint8_t)
TILEWRIGHT_DOT_PRODUCT_OF_BYTES(aarch64_dot_s8s8, int8_t, int8_t)
TILEWRIGHT_DOT_PRODUCT_OF_BYTES(aarch64_dot_u8s8, uint8_t, int8_t)
#endif

#ifdef __cplusplus
}
#endif
#endif
