/* The accelerator of lesson 02 written by hand: its memories are where its addresses say, in this process. */
#include "device.h"

#include <string.h>

#include "matmul_device.h"

int mvin_calls, mvout_calls, mac_calls, mul_calls, fail_at_mvout;

static int copy_rows(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride,
                     int64_t destination_stride) {
    int64_t row;
    for (row = 0; row < rows; ++row)
        memcpy((char*)destination + row * destination_stride, (const char*)source + row * source_stride, (size_t)row_bytes);
    return 0;
}

int mvin(const void* source, void* destination, int64_t row_bytes, int64_t extent_1, int64_t source_stride_1,
         int64_t destination_stride_1) {
    ++mvin_calls;
    if ((uintptr_t)destination < 0x50000000u ||
        (uintptr_t)destination + (uintptr_t)(extent_1 * destination_stride_1) > 0x50000000u + 256 * 1024u)
        return 21;
    return copy_rows(source, destination, row_bytes, extent_1, source_stride_1, destination_stride_1);
}

int mvout(const void* source, void* destination, int64_t row_bytes, int64_t extent_1, int64_t source_stride_1,
          int64_t destination_stride_1) {
    ++mvout_calls;
    if (mvout_calls == fail_at_mvout) return 33;
    if ((uintptr_t)source < 0x51000000u || (uintptr_t)source >= 0x51000000u + 64 * 1024u) return 22;
    return copy_rows(source, destination, row_bytes, extent_1, source_stride_1, destination_stride_1);
}

static void multiply(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride, int keep) {
    int i, j, l;
    for (i = 0; i < 16; ++i) {
        for (j = 0; j < 16; ++j) {
            int32_t* const into = (int32_t*)c + i * c_stride + j;
            int32_t sum = keep ? *into : 0;
            for (l = 0; l < 16; ++l) sum += ((const int8_t*)a)[i * a_stride + l] * ((const int8_t*)b)[l * b_stride + j];
            *into = sum;
        }
    }
}

int mac16(const void* a, int64_t a_stride_0, const void* b, int64_t b_stride_0, void* c, int64_t c_stride_0) {
    ++mac_calls;
    multiply(a, a_stride_0, b, b_stride_0, c, c_stride_0, 1);
    return 0;
}

int mul16(const void* a, int64_t a_stride_0, const void* b, int64_t b_stride_0, void* c, int64_t c_stride_0) {
    ++mul_calls;
    multiply(a, a_stride_0, b, b_stride_0, c, c_stride_0, 0);
    return 0;
}
