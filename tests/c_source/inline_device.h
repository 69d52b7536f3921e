/* The array of lesson 02 as functions that a compiler puts in the place of their calls. */
#ifndef INLINE_DEVICE_H
#define INLINE_DEVICE_H
#include <stdint.h>

static inline int inline_copy(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride,
                              int64_t destination_stride) {
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t at = 0; at < row_bytes; ++at)
            ((char*)destination)[row * destination_stride + at] = ((const char*)source)[row * source_stride + at];
    }
    return 0;
}
#define mvin inline_copy
#define mvout inline_copy

static inline int mac16(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride) {
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 16; ++j) {
            for (int l = 0; l < 16; ++l)
                ((int32_t*)c)[i * c_stride + j] += ((const int8_t*)a)[i * a_stride + l] * ((const int8_t*)b)[l * b_stride + j];
        }
    }
    return 0;
}
static inline int mul16(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride) {
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 16; ++j) ((int32_t*)c)[i * c_stride + j] = 0;
    }
    return mac16(a, a_stride, b, b_stride, c, c_stride);
}
#endif
