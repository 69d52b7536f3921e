/* Plain C of the products of tiles that `targets/dot_products.hpp` declares, for programs that try kernels on another computer. */
#ifndef TILEWRIGHT_TARGETS_DOT_PRODUCTS_H
#define TILEWRIGHT_TARGETS_DOT_PRODUCTS_H
#include <stdint.h>

/* Defines a function `name` of bytes with sums of 32 bits. */
#define TILEWRIGHT_DOT_PRODUCT_OF_BYTES(name, Left, Right)                                                                                 \
    static inline int name(int64_t rows, int64_t columns, int64_t depth, const void* a, int64_t a_stride, const void* b, int64_t b_stride, \
                           void* c, int64_t c_stride, int64_t adds) {                                                                      \
        const Left* const left = (const Left*)a;                                                                                           \
        const Right* const right = (const Right*)b;                                                                                        \
        int32_t* const sums = (int32_t*)c;                                                                                                 \
        for (int64_t i = 0; i < rows; ++i) {                                                                                               \
            for (int64_t j = 0; j < columns; ++j) {                                                                                        \
                uint32_t sum = adds ? (uint32_t)sums[i * c_stride + j] : 0;                                                                \
                for (int64_t l = 0; l < depth; ++l) sum += (uint32_t)((int32_t)left[i * a_stride + l] * (int32_t)right[l * b_stride + j]); \
                sums[i * c_stride + j] = (int32_t)sum;                                                                                     \
            }                                                                                                                              \
        }                                                                                                                                  \
        return 0;                                                                                                                          \
    }

#endif
