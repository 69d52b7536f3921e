/* A block of sums of at most 6 x 16 in plain C, such as hand-written kernels of a processor are. */
#include <string.h>

#include "blocked_device.h"
#include "whole_reductions_device.h"

int sgemm_6x16(int64_t extent_0, int64_t extent_1, int64_t extent_2, const void* a, int64_t a_stride_0, const void* b, int64_t b_stride_0,
               void* c, int64_t c_stride_0, int64_t literal_9) {
    float sums[6][16];
    int64_t i, j, l;
    if (extent_0 > 6 || extent_1 > 16) return 1;
    for (i = 0; i < extent_0; ++i) {
        for (j = 0; j < extent_1; ++j) sums[i][j] = literal_9 ? ((const float*)c)[i * c_stride_0 + j] : 0;
    }
    for (l = 0; l < extent_2; ++l) {
        for (i = 0; i < extent_0; ++i) {
            for (j = 0; j < extent_1; ++j) {
                const volatile float product = ((const float*)a)[i * a_stride_0 + l] * ((const float*)b)[l * b_stride_0 + j];
                sums[i][j] += product;
            }
        }
    }
    for (i = 0; i < extent_0; ++i) memcpy((float*)c + i * c_stride_0, sums[i], (size_t)extent_1 * sizeof(float));
    return 0;
}
int pack(const void* source, void* destination, int64_t row_bytes, int64_t extent_1, int64_t source_stride_1,
         int64_t destination_stride_1) {
    int64_t row;
    for (row = 0; row < extent_1; ++row)
        memcpy((char*)destination + row * destination_stride_1, (const char*)source + row * source_stride_1, (size_t)row_bytes);
    return 0;
}
