/* The C functions of a RISC-V processor with vectors (extension V 1.0) that kernels for `targets/riscv64_v.hpp` call: products of bytes
 * with sums of 32 bits, and of floats. It stands beside the description of the machine, since the two say the same and change together.
 * Generated C includes it
 * (`C_INCLUDES tilewright/targets/riscv64_v.h`).
 *
 * Compile for `-march=rv64gcv`, with clang 14 or later. Vectors may be as long as the processor has them, from 128 bits on. Programs that
 * try the functions on another computer may ask for plain C of the same meaning (RISCV64_V_PLAIN_C). Other compilers find no functions
 * here.
 */
#ifndef TILEWRIGHT_TARGETS_RISCV64_V_H
#define TILEWRIGHT_TARGETS_RISCV64_V_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __riscv_vector
#include <riscv_vector.h>

/* Later compilers put a prefix before each name. */
#ifdef __riscv_v_intrinsic
#define RISCV64_V(name) __riscv_##name
#else
#define RISCV64_V(name) name
#endif
#define RISCV64_V_INLINE static inline __attribute__((always_inline))

/* Which bytes have a sign. */
enum riscv64_v_kind { RISCV64_V_U8U8, RISCV64_V_S8S8, RISCV64_V_U8S8 };

/* Bytes of both kinds fit 16 bits with a sign: from there on, all products are alike. */
RISCV64_V_INLINE vint16m2_t riscv64_v_wide(const enum riscv64_v_kind kind, vint8m1_t bytes, size_t lanes) {
    if (kind != RISCV64_V_U8U8) return RISCV64_V(vsext_vf2_i16m2)(bytes, lanes);
    return RISCV64_V(vreinterpret_v_u16m2_i16m2)(RISCV64_V(vzext_vf2_u16m2)(RISCV64_V(vreinterpret_v_i8m1_u8m1)(bytes), lanes));
}
RISCV64_V_INLINE int16_t riscv64_v_left(const enum riscv64_v_kind kind, const unsigned char* at) {
    return kind == RISCV64_V_S8S8 ? (int16_t)(int8_t)*at : (int16_t)*at;
}

/* The sums of one row go on with one term: a byte of the row, and those of all columns. Vectors have no arrays, so rows are names. */
#define RISCV64_V_ROW(at, term) \
    if (rows > at) sums##at = RISCV64_V(vwmacc_vx_i32m4)(sums##at, riscv64_v_left(kind, a + at * a_stride + term), right, columns)
#define RISCV64_V_TERM(term)                                                                                          \
    do {                                                                                                              \
        const vint16m2_t right = riscv64_v_wide(kind, RISCV64_V(vle8_v_i8m1)(b + term * b_stride, columns), columns); \
        RISCV64_V_ROW(0, term);                                                                                       \
        RISCV64_V_ROW(1, term);                                                                                       \
        RISCV64_V_ROW(2, term);                                                                                       \
        RISCV64_V_ROW(3, term);                                                                                       \
        RISCV64_V_ROW(4, term);                                                                                       \
        RISCV64_V_ROW(5, term);                                                                                       \
    } while (0)
#define RISCV64_V_BEGIN(row)      \
    vint32m4_t sums##row = zeros; \
    if (rows > row && adds) sums##row = RISCV64_V(vle32_v_i32m4)(c + row * c_stride, columns)
#define RISCV64_V_END(row) \
    if (rows > row) RISCV64_V(vse32_v_i32m4)(c + row * c_stride, sums##row, columns)

/* A tile of C in registers, for the whole depth: `rows` by as many columns as four registers have lanes. */
RISCV64_V_INLINE void riscv64_v_tile(const enum riscv64_v_kind kind, const int rows, size_t columns, int64_t depth, const unsigned char* a,
                                     int64_t a_stride, const int8_t* b, int64_t b_stride, int32_t* c, int64_t c_stride, int64_t adds) {
    const vint32m4_t zeros = RISCV64_V(vmv_v_x_i32m4)(0, columns);
    RISCV64_V_BEGIN(0);
    RISCV64_V_BEGIN(1);
    RISCV64_V_BEGIN(2);
    RISCV64_V_BEGIN(3);
    RISCV64_V_BEGIN(4);
    RISCV64_V_BEGIN(5);
    /* Four terms at a time, so that rows move on less often. */
    for (; depth >= 4; depth -= 4, a += 4, b += 4 * b_stride) {
        RISCV64_V_TERM(0);
        RISCV64_V_TERM(1);
        RISCV64_V_TERM(2);
        RISCV64_V_TERM(3);
    }
    for (; depth > 0; --depth, ++a, b += b_stride) RISCV64_V_TERM(0);
    RISCV64_V_END(0);
    RISCV64_V_END(1);
    RISCV64_V_END(2);
    RISCV64_V_END(3);
    RISCV64_V_END(4);
    RISCV64_V_END(5);
}

RISCV64_V_INLINE int riscv64_v_product(const enum riscv64_v_kind kind, int64_t rows, int64_t columns, int64_t depth, const void* a,
                                       int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride, int64_t adds) {
    const unsigned char* const left = (const unsigned char*)a;
    const int8_t* const right = (const int8_t*)b;
    int32_t* const sums = (int32_t*)c;
    for (int64_t j = 0; j < columns;) {
        const size_t lanes = RISCV64_V(vsetvl_e8m1)((size_t)(columns - j));
        int64_t i = 0;
#define RISCV64_V_ROWS(count)                                                                                                            \
    do {                                                                                                                                 \
        riscv64_v_tile(kind, count, lanes, depth, left + i * a_stride, a_stride, right + j, b_stride, sums + i * c_stride + j, c_stride, \
                       adds);                                                                                                            \
        i += count;                                                                                                                      \
    } while (0)
        while (i + 6 <= rows) RISCV64_V_ROWS(6);
        if (i + 4 <= rows) RISCV64_V_ROWS(4);
        if (i + 2 <= rows) RISCV64_V_ROWS(2);
        if (i < rows) RISCV64_V_ROWS(1);
#undef RISCV64_V_ROWS
        j += (int64_t)lanes;
    }
    return 0;
}

#define RISCV64_V_FUNCTION(name, kind)                                                                                                     \
    static inline int name(int64_t rows, int64_t columns, int64_t depth, const void* a, int64_t a_stride, const void* b, int64_t b_stride, \
                           void* c, int64_t c_stride, int64_t adds) {                                                                      \
        return riscv64_v_product(kind, rows, columns, depth, a, a_stride, b, b_stride, c, c_stride, adds);                                 \
    }
RISCV64_V_FUNCTION(riscv64_v_u8u8, RISCV64_V_U8U8)
RISCV64_V_FUNCTION(riscv64_v_s8s8, RISCV64_V_S8S8)
RISCV64_V_FUNCTION(riscv64_v_u8s8, RISCV64_V_U8S8)

/* Floats: products are rounded before they are added, as the declaration says. */
#define RISCV64_V_FLOAT_BEGIN(row)  \
    vfloat32m4_t sums##row = zeros; \
    if (rows > row && adds) sums##row = RISCV64_V(vle32_v_f32m4)(c + row * c_stride, columns)
#define RISCV64_V_FLOAT_ROW(row) \
    if (rows > row) sums##row = RISCV64_V(vfadd_vv_f32m4)(sums##row, RISCV64_V(vfmul_vf_f32m4)(right, a[row * a_stride], columns), columns)
#define RISCV64_V_FLOAT_END(row) \
    if (rows > row) RISCV64_V(vse32_v_f32m4)(c + row * c_stride, sums##row, columns)
RISCV64_V_INLINE void riscv64_v_float_tile(const int rows, size_t columns, int64_t depth, const float* a, int64_t a_stride, const float* b,
                                           int64_t b_stride, float* c, int64_t c_stride, int64_t adds) {
    const vfloat32m4_t zeros = RISCV64_V(vfmv_v_f_f32m4)(0, columns);
    RISCV64_V_FLOAT_BEGIN(0);
    RISCV64_V_FLOAT_BEGIN(1);
    RISCV64_V_FLOAT_BEGIN(2);
    RISCV64_V_FLOAT_BEGIN(3);
    RISCV64_V_FLOAT_BEGIN(4);
    RISCV64_V_FLOAT_BEGIN(5);
    for (; depth > 0; --depth, ++a, b += b_stride) {
        const vfloat32m4_t right = RISCV64_V(vle32_v_f32m4)(b, columns);
        RISCV64_V_FLOAT_ROW(0);
        RISCV64_V_FLOAT_ROW(1);
        RISCV64_V_FLOAT_ROW(2);
        RISCV64_V_FLOAT_ROW(3);
        RISCV64_V_FLOAT_ROW(4);
        RISCV64_V_FLOAT_ROW(5);
    }
    RISCV64_V_FLOAT_END(0);
    RISCV64_V_FLOAT_END(1);
    RISCV64_V_FLOAT_END(2);
    RISCV64_V_FLOAT_END(3);
    RISCV64_V_FLOAT_END(4);
    RISCV64_V_FLOAT_END(5);
}
static inline int riscv64_v_f32(int64_t rows, int64_t columns, int64_t depth, const void* a, int64_t a_stride, const void* b,
                                int64_t b_stride, void* c, int64_t c_stride, int64_t adds) {
    for (int64_t j = 0; j < columns;) {
        const size_t lanes = RISCV64_V(vsetvl_e32m4)((size_t)(columns - j));
        const float *left = (const float*)a, *const right = (const float*)b + j;
        float* sums = (float*)c + j;
        int64_t rest = rows;
#define RISCV64_V_FLOAT_ROWS(count)                                                                       \
    do {                                                                                                  \
        riscv64_v_float_tile(count, lanes, depth, left, a_stride, right, b_stride, sums, c_stride, adds); \
        left += count * a_stride, sums += count * c_stride, rest -= count;                                \
    } while (0)
        while (rest >= 6) RISCV64_V_FLOAT_ROWS(6);
        while (rest >= 2) RISCV64_V_FLOAT_ROWS(2);
        if (rest > 0) RISCV64_V_FLOAT_ROWS(1);
#undef RISCV64_V_FLOAT_ROWS
        j += (int64_t)lanes;
    }
    return 0;
}
#elif defined(RISCV64_V_PLAIN_C)
#include <tilewright/targets/dot_products.h>
TILEWRIGHT_DOT_PRODUCT_OF_BYTES(riscv64_v_u8u8, uint8_t, uint8_t)
TILEWRIGHT_DOT_PRODUCT_OF_BYTES(riscv64_v_s8s8, int8_t, int8_t)
TILEWRIGHT_DOT_PRODUCT_OF_BYTES(riscv64_v_u8s8, uint8_t, int8_t)

static inline int riscv64_v_f32(int64_t rows, int64_t columns, int64_t depth, const void* a, int64_t a_stride, const void* b,
                                int64_t b_stride, void* c, int64_t c_stride, int64_t adds) {
    const float *const left = (const float*)a, *const right = (const float*)b;
    float* const sums = (float*)c;
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
            float sum = adds ? sums[i * c_stride + j] : 0;
            for (int64_t l = 0; l < depth; ++l) {
                const float product = left[i * a_stride + l] * right[l * b_stride + j];
                sum = sum + product;
            }
            sums[i * c_stride + j] = sum;
        }
    }
    return 0;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
