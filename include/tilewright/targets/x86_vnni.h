/* The C functions of x86 processors with VNNI that kernels for `targets/x86_vnni.hpp` call: products of bytes with sums of 32 bits, and the
 * packing of their right operand. It stands beside the description of the machines, since the two say the same and change together.
 *
 * Generated C includes it (`C_INCLUDES tilewright/targets/x86_vnni.h`): the functions are inline there. For objects, one C file of the
 * program says `#define X86_VNNI_DEFINE` first, and then holds them for all.
 *
 * The functions are compiled for their instructions, whatever the file is compiled for. Call those of avx512_vnni on processors with
 * AVX-512 F, BW, VL and VNNI, those of avx_vnni on processors with AVX-VNNI; X86_AVX_VNNI_BY_AVX512 makes the latter of the instructions
 * that AVX-512 VL has for vectors of 32 bytes. X86_VNNI_PLAIN_C makes all of them plain C of the same meaning, for any computer.
 */
#ifndef TILEWRIGHT_TARGETS_X86_VNNI_H
#define TILEWRIGHT_TARGETS_X86_VNNI_H
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef X86_VNNI_DEFINE
#define X86_VNNI_FUNCTION int
#else
#define X86_VNNI_FUNCTION static inline int
#endif

/* Which operand has a sign. The other one is bytes without sign, of which those with the sign turned stand for 128 less. */
enum x86_vnni_signed { X86_VNNI_RIGHT_SIGNED, X86_VNNI_LEFT_SIGNED };

/* What a call is told: what is there, and how many elements lie from one to the next. A window has rows of taps; a product has one tap. */
struct x86_vnni_call {
    int64_t tap_rows, taps, rows, columns, groups;
    const uint8_t* left;
    int64_t left_tap_row, left_tap, left_row;
    const uint8_t* right;
    int64_t right_tap_row, right_tap, right_group, right_column;
    int32_t* sums;
    int64_t sums_row;
    int64_t adds;
};

static inline void x86_vnni_product_in_c(enum x86_vnni_signed which, struct x86_vnni_call of) {
    for (int64_t i = 0; i < of.rows; ++i) {
        for (int64_t j = 0; j < of.columns; ++j) {
            uint32_t sum = of.adds ? (uint32_t)of.sums[i * of.sums_row + j] : 0;
            for (int64_t tap = 0; tap < of.tap_rows * of.taps; ++tap) {
                const int64_t r = tap / of.taps, s = tap % of.taps;
                for (int64_t term = 0; term < 4 * of.groups; ++term) {
                    const uint8_t a = of.left[r * of.left_tap_row + s * of.left_tap + i * of.left_row + term];
                    const uint8_t b =
                        of.right[r * of.right_tap_row + s * of.right_tap + term / 4 * of.right_group + j * of.right_column + term % 4];
                    sum += which == X86_VNNI_LEFT_SIGNED ? (uint32_t)((int8_t)a * ((int32_t)b - 128)) : (uint32_t)(a * (int8_t)b);
                }
            }
            of.sums[i * of.sums_row + j] = (int32_t)sum;
        }
    }
}
/* Columns are channels, whose windows see that channel alone; the terms of a group are four rows of taps. */
static inline void x86_vnni_depthwise_in_c(struct x86_vnni_call of) {
    for (int64_t i = 0; i < of.rows; ++i) {
        for (int64_t j = 0; j < of.columns; ++j) {
            uint32_t sum = of.adds ? (uint32_t)of.sums[i * of.sums_row + j] : 0;
            for (int64_t r = 0; r < 4 * of.groups; ++r) {
                for (int64_t s = 0; s < of.taps; ++s) {
                    const uint8_t a = of.left[r * of.left_tap_row + s * of.left_tap + i * of.left_row + j];
                    sum += (uint32_t)(a * (int8_t)of.right[r / 4 * of.right_group + s * of.right_tap + 4 * j + r % 4]);
                }
            }
            of.sums[i * of.sums_row + j] = (int32_t)sum;
        }
    }
}
static inline void x86_vnni_pack_in_c(uint8_t turned, int64_t groups, int64_t columns, const uint8_t* from, int64_t from_row, uint8_t* to,
                                      int64_t to_group, int64_t to_column) {
    for (int64_t l = 0; l < groups; ++l) {
        for (int64_t j = 0; j < columns; ++j) {
            for (int64_t q = 0; q < 4; ++q) to[l * to_group + j * to_column + q] = from[(4 * l + q) * from_row + j] ^ turned;
        }
    }
}

#ifndef X86_VNNI_PLAIN_C
#include <immintrin.h>

#define X86_VNNI_INLINE(instructions) static inline __attribute__((always_inline, target(instructions)))
#ifdef __clang__ /* which ignores the other spelling without a word */
#define X86_VNNI_UNROLL _Pragma("unroll")
#else
#define X86_VNNI_UNROLL _Pragma("GCC unroll 16")
#endif

#define X86_VNNI_AVX2 "avx2"
/* Four rows of 32 bytes: four bytes of a column come to stand beside each other. */
X86_VNNI_INLINE(X86_VNNI_AVX2) void x86_vnni_pack_group(__m256i turned, const uint8_t* from, int64_t from_row, uint8_t* to) {
    const __m256i a = _mm256_loadu_si256((const __m256i*)from), b = _mm256_loadu_si256((const __m256i*)(from + from_row)),
                  c = _mm256_loadu_si256((const __m256i*)(from + 2 * from_row)),
                  d = _mm256_loadu_si256((const __m256i*)(from + 3 * from_row));
    const __m256i ab = _mm256_xor_si256(_mm256_unpacklo_epi8(a, b), turned), AB = _mm256_xor_si256(_mm256_unpackhi_epi8(a, b), turned),
                  cd = _mm256_xor_si256(_mm256_unpacklo_epi8(c, d), turned), CD = _mm256_xor_si256(_mm256_unpackhi_epi8(c, d), turned);
    /* Columns 0 to 3 and 16 to 19, and so on. */
    const __m256i at_0 = _mm256_unpacklo_epi16(ab, cd), at_4 = _mm256_unpackhi_epi16(ab, cd), at_8 = _mm256_unpacklo_epi16(AB, CD),
                  at_12 = _mm256_unpackhi_epi16(AB, CD);
    _mm256_storeu_si256((__m256i*)to, _mm256_permute2x128_si256(at_0, at_4, 0x20));
    _mm256_storeu_si256((__m256i*)(to + 32), _mm256_permute2x128_si256(at_8, at_12, 0x20));
    _mm256_storeu_si256((__m256i*)(to + 64), _mm256_permute2x128_si256(at_0, at_4, 0x31));
    _mm256_storeu_si256((__m256i*)(to + 96), _mm256_permute2x128_si256(at_8, at_12, 0x31));
}
__attribute__((target(X86_VNNI_AVX2))) static inline void x86_vnni_pack(uint8_t turned, int64_t groups, int64_t columns,
                                                                        const uint8_t* from, int64_t from_row, uint8_t* to,
                                                                        int64_t to_group, int64_t to_column) {
    if (to_column != 4) {
        x86_vnni_pack_in_c(turned, groups, columns, from, from_row, to, to_group, to_column);
        return;
    }
    const int64_t whole = columns / 32 * 32;
    const __m256i by = _mm256_set1_epi8((char)turned);
    for (int64_t l = 0; whole > 0 && l < groups; ++l) {
        for (int64_t j = 0; j < whole; j += 32) x86_vnni_pack_group(by, from + 4 * l * from_row + j, from_row, to + l * to_group + 4 * j);
    }
    for (int64_t l = 0; whole < columns && l < groups; ++l) {
        uint8_t some[4][32], made[128];
        for (int64_t q = 0; q < 4; ++q) memcpy(some[q], from + (4 * l + q) * from_row + whole, (size_t)(columns - whole));
        x86_vnni_pack_group(by, some[0], 32, made);
        memcpy(to + l * to_group + 4 * whole, made, (size_t)(4 * (columns - whole)));
    }
}

X86_VNNI_INLINE(X86_VNNI_AVX2) int x86_vnni_is_zero(const uint8_t* from, int64_t bytes) {
    int64_t at = 0;
    for (; at + 128 <= bytes; at += 128) {
        const __m256i* const some = (const __m256i*)(from + at);
        const __m256i all = _mm256_or_si256(_mm256_or_si256(_mm256_loadu_si256(some), _mm256_loadu_si256(some + 1)),
                                            _mm256_or_si256(_mm256_loadu_si256(some + 2), _mm256_loadu_si256(some + 3)));
        if (!_mm256_testz_si256(all, all)) return 0;
    }
    for (; at < bytes; ++at) {
        if (from[at] != 0) return 0;
    }
    return 1;
}
/* Whether a row of taps reads zeros alone. It looks at the bytes that the window reads, and at no others. */
X86_VNNI_INLINE(X86_VNNI_AVX2) int x86_vnni_row_reads_zeros(const struct x86_vnni_call* of, int64_t r) {
    const uint8_t* const left = of->left + r * of->left_tap_row;
    const int64_t bytes = 4 * of->groups, reach = (of->taps - 1) * of->left_tap + bytes;
    /* Without gaps, all are one piece. */
    if ((of->taps == 1 || of->left_tap == bytes) && of->left_row <= reach)
        return x86_vnni_is_zero(left, (of->rows - 1) * of->left_row + reach);
    for (int64_t i = 0; i < of->rows; ++i) {
        for (int64_t s = 0; s < of->taps; ++s) {
            if (!x86_vnni_is_zero(left + i * of->left_row + s * of->left_tap, bytes)) return 0;
        }
    }
    return 1;
}
/* Leaves out rows of taps, from both ends, that read zeros alone. One row stays. */
__attribute__((target(X86_VNNI_AVX2))) static inline void x86_vnni_leave_out_rows(struct x86_vnni_call* of) {
    for (; of->tap_rows > 1 && x86_vnni_row_reads_zeros(of, 0); --of->tap_rows) {
        of->left += of->left_tap_row;
        of->right += of->right_tap_row;
    }
    while (of->tap_rows > 1 && x86_vnni_row_reads_zeros(of, of->tap_rows - 1)) --of->tap_rows;
}
/* Whether leaving out a tap of one position saves more than it costs to take that tap apart: about 100 groups, measured on a Zen 4. */
static inline int x86_vnni_pays_to_leave_out_taps(const struct x86_vnni_call* of) {
    return of->taps > 2 && of->rows > 1 && of->tap_rows * of->groups >= 128;
}
/* Whether a tap reads zeros alone at a position, in all rows of taps. */
__attribute__((target(X86_VNNI_AVX2))) static inline int x86_vnni_tap_reads_zeros(const struct x86_vnni_call* of, int64_t i, int64_t s) {
    for (int64_t r = 0; r < of->tap_rows; ++r) {
        if (!x86_vnni_is_zero(of->left + r * of->left_tap_row + i * of->left_row + s * of->left_tap, 4 * of->groups)) return 0;
    }
    return 1;
}
/* Some positions of a window, from `row` on, and some taps of each row of taps, from `tap` on. */
static inline struct x86_vnni_call x86_vnni_part(struct x86_vnni_call of, int64_t row, int64_t rows, int64_t tap, int64_t taps,
                                                 int64_t adds) {
    of.left += row * of.left_row + tap * of.left_tap;
    of.right += tap * of.right_tap;
    of.sums += row * of.sums_row;
    of.rows = rows, of.taps = taps, of.adds = adds;
    return of;
}

X86_VNNI_INLINE(X86_VNNI_AVX2) int32_t x86_vnni_total(__m128i four) {
    const __m128i two = _mm_hadd_epi32(four, four);
    return _mm_cvtsi128_si32(_mm_hadd_epi32(two, two));
}

/* Fewer bytes than a vector has, and zeros after them. */
X86_VNNI_INLINE(X86_VNNI_AVX2) __m256i x86_vnni_load_bytes(const uint8_t* from, int64_t bytes) {
    uint8_t some[32] = {0};
    memcpy(some, from, (size_t)bytes);
    return _mm256_loadu_si256((const __m256i*)some);
}

#define X86_VNNI_TARGET "avx512f,avx512bw,avx512vl,avx512vnni,avx2"
#define X86_VNNI_NAME(what) x86_avx512_vnni_##what
#define X86_VNNI_ROWS 12
#define X86_VNNI_BYTES 64
#define X86_VNNI_VECTOR __m512i
#define X86_VNNI_MASK __mmask16
#define X86_VNNI_MASK_OF(lanes) ((__mmask16)((lanes) >= 16 ? 0xffff : (lanes) <= 0 ? 0 : (1 << (lanes)) - 1))
#define X86_VNNI_ZERO() _mm512_setzero_si512()
#define X86_VNNI_LOAD(from) _mm512_loadu_si512((const void*)(from))
#define X86_VNNI_LOAD_SOME(from, mask) _mm512_maskz_loadu_epi32(mask, from)
#define X86_VNNI_STORE(to, value) _mm512_storeu_si512((void*)(to), value)
#define X86_VNNI_STORE_SOME(to, value, mask) _mm512_mask_storeu_epi32(to, mask, value)
#define X86_VNNI_ADD(a, b) _mm512_add_epi32(a, b)
#define X86_VNNI_SUBTRACT(a, b) _mm512_sub_epi32(a, b)
#define X86_VNNI_OF(value) _mm512_set1_epi32(value)
#define X86_VNNI_TOTAL(sums) _mm512_reduce_add_epi32(sums)
#define X86_VNNI_DOT(sums, without_sign, with_sign) _mm512_dpbusd_epi32(sums, without_sign, with_sign)
#define X86_VNNI_LOAD_BYTES(from, bytes) _mm512_maskz_loadu_epi8(((__mmask64)1 << (bytes)) - 1, from)
#define X86_VNNI_DEAL(value) _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), value)
#define X86_VNNI_LOW_8(a, b) _mm512_unpacklo_epi8(a, b)
#define X86_VNNI_HIGH_8(a, b) _mm512_unpackhi_epi8(a, b)
#define X86_VNNI_LOW_16(a, b) _mm512_unpacklo_epi16(a, b)
#define X86_VNNI_HIGH_16(a, b) _mm512_unpackhi_epi16(a, b)
#include <tilewright/targets/x86_vnni_tile.inc>

#ifdef X86_AVX_VNNI_BY_AVX512
#define X86_VNNI_TARGET "avx512f,avx512vl,avx512vnni,avx2"
#define X86_VNNI_DOT(sums, without_sign, with_sign) _mm256_dpbusd_epi32(sums, without_sign, with_sign)
#else
#define X86_VNNI_TARGET "avxvnni,avx2"
#define X86_VNNI_DOT(sums, without_sign, with_sign) _mm256_dpbusd_avx_epi32(sums, without_sign, with_sign)
#endif
#define X86_VNNI_NAME(what) x86_avx_vnni_##what
#define X86_VNNI_ROWS 6
#define X86_VNNI_BYTES 32
#define X86_VNNI_VECTOR __m256i
#define X86_VNNI_MASK __m256i
#define X86_VNNI_MASK_OF(lanes) \
    _mm256_cmpgt_epi32(_mm256_set1_epi32((int)((lanes) > 8 ? 8 : (lanes))), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define X86_VNNI_ZERO() _mm256_setzero_si256()
#define X86_VNNI_LOAD(from) _mm256_loadu_si256((const __m256i*)(from))
#define X86_VNNI_LOAD_SOME(from, mask) _mm256_maskload_epi32((const int*)(from), mask)
#define X86_VNNI_STORE(to, value) _mm256_storeu_si256((__m256i*)(to), value)
#define X86_VNNI_STORE_SOME(to, value, mask) _mm256_maskstore_epi32((int*)(to), mask, value)
#define X86_VNNI_ADD(a, b) _mm256_add_epi32(a, b)
#define X86_VNNI_SUBTRACT(a, b) _mm256_sub_epi32(a, b)
#define X86_VNNI_OF(value) _mm256_set1_epi32(value)
#define X86_VNNI_TOTAL(sums) x86_vnni_total(_mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)))
#define X86_VNNI_LOAD_BYTES(from, bytes) x86_vnni_load_bytes(from, bytes)
#define X86_VNNI_DEAL(value) _mm256_permutevar8x32_epi32(value, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7))
#define X86_VNNI_LOW_8(a, b) _mm256_unpacklo_epi8(a, b)
#define X86_VNNI_HIGH_8(a, b) _mm256_unpackhi_epi8(a, b)
#define X86_VNNI_LOW_16(a, b) _mm256_unpacklo_epi16(a, b)
#define X86_VNNI_HIGH_16(a, b) _mm256_unpackhi_epi16(a, b)
#include <tilewright/targets/x86_vnni_tile.inc>
#else
#define x86_vnni_pack x86_vnni_pack_in_c
#define x86_avx512_vnni_product x86_vnni_product_in_c
#define x86_avx_vnni_product x86_vnni_product_in_c
#define x86_avx512_vnni_convolve(of) x86_vnni_product_in_c(X86_VNNI_RIGHT_SIGNED, of)
#define x86_avx_vnni_convolve(of) x86_vnni_product_in_c(X86_VNNI_RIGHT_SIGNED, of)
#define x86_avx512_vnni_convolve_apart x86_vnni_depthwise_in_c
#define x86_avx_vnni_convolve_apart x86_vnni_depthwise_in_c
#endif

/* sums(i, j) of products of rows of left bytes and columns of packed right ones. @return 0 */
#define X86_VNNI_PRODUCT(name, product, which)                                                                                   \
    X86_VNNI_FUNCTION name(int64_t rows, int64_t columns, int64_t groups, const void* left, int64_t left_row, const void* right, \
                           int64_t right_group, int64_t right_column, void* sums, int64_t sums_row, int64_t adds) {              \
        const struct x86_vnni_call of = {1,                                                                                      \
                                         1,                                                                                      \
                                         rows,                                                                                   \
                                         columns,                                                                                \
                                         groups,                                                                                 \
                                         (const uint8_t*)left,                                                                   \
                                         0,                                                                                      \
                                         0,                                                                                      \
                                         left_row,                                                                               \
                                         (const uint8_t*)right,                                                                  \
                                         0,                                                                                      \
                                         0,                                                                                      \
                                         right_group,                                                                            \
                                         right_column,                                                                           \
                                         (int32_t*)sums,                                                                         \
                                         sums_row,                                                                               \
                                         adds};                                                                                  \
        product(which, of);                                                                                                      \
        return 0;                                                                                                                \
    }
X86_VNNI_PRODUCT(x86_avx512_vnni_u8s8, x86_avx512_vnni_product, X86_VNNI_RIGHT_SIGNED)
X86_VNNI_PRODUCT(x86_avx512_vnni_s8s8, x86_avx512_vnni_product, X86_VNNI_LEFT_SIGNED)
X86_VNNI_PRODUCT(x86_avx_vnni_u8s8, x86_avx_vnni_product, X86_VNNI_RIGHT_SIGNED)
X86_VNNI_PRODUCT(x86_avx_vnni_s8s8, x86_avx_vnni_product, X86_VNNI_LEFT_SIGNED)

/* sums(x, j) of windows over rows of pixels, whose channels are contiguous. @param line  from one row of the image to the next @param pixel
 * from one pixel to the next @return 0 */
#define X86_VNNI_WINDOW(name, convolve)                                                                                                   \
    X86_VNNI_FUNCTION name(int64_t tap_rows, int64_t taps, int64_t rows, int64_t columns, int64_t groups, const void* left, int64_t line, \
                           int64_t pixel, int64_t stride, int64_t dilation_y, int64_t dilation_x, const void* right,                      \
                           int64_t right_tap_row, int64_t right_tap, int64_t right_group, void* sums, int64_t sums_row, int64_t adds) {   \
        const struct x86_vnni_call of = {tap_rows,                                                                                        \
                                         taps,                                                                                            \
                                         rows,                                                                                            \
                                         columns,                                                                                         \
                                         groups,                                                                                          \
                                         (const uint8_t*)left,                                                                            \
                                         dilation_y * line,                                                                               \
                                         dilation_x * pixel,                                                                              \
                                         stride * pixel,                                                                                  \
                                         (const uint8_t*)right,                                                                           \
                                         right_tap_row,                                                                                   \
                                         right_tap,                                                                                       \
                                         right_group,                                                                                     \
                                         4,                                                                                               \
                                         (int32_t*)sums,                                                                                  \
                                         sums_row,                                                                                        \
                                         adds};                                                                                           \
        convolve(of);                                                                                                                     \
        return 0;                                                                                                                         \
    }
X86_VNNI_WINDOW(x86_avx512_vnni_window, x86_avx512_vnni_convolve)
X86_VNNI_WINDOW(x86_avx_vnni_window, x86_avx_vnni_convolve)
/* Likewise, but columns are channels, each with sums of its own. A group is four rows of taps; those that a window has not have weights of
 * 0, and are read. @param tap_rows  1 @param right_tap_row  0 */
X86_VNNI_WINDOW(x86_avx512_vnni_apart, x86_avx512_vnni_convolve_apart)
X86_VNNI_WINDOW(x86_avx_vnni_apart, x86_avx_vnni_convolve_apart)

/* Four rows become rows of groups of four. @param turned  128 where signs are turned, or 0 */
X86_VNNI_FUNCTION x86_vnni_pack_fours(int64_t groups, int64_t columns, const void* from, int64_t from_row, void* to, int64_t to_group,
                                      int64_t to_column, int64_t turned) {
    x86_vnni_pack((uint8_t)turned, groups, columns, (const uint8_t*)from, from_row, (uint8_t*)to, to_group, to_column);
    return 0;
}

#ifdef __cplusplus
}
#endif
#endif
