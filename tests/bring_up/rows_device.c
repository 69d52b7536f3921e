#include "rows_device.h"

#include <string.h>

enum rows_mistake rows_has;
unsigned char rows_spad[68 * 1024], rows_sums[68 * 1024], rows_tcm[36 * 1024];
static int64_t load_stride, store_stride, store_scale, positive, b_at, b_step, c_at, c_step;
static const int64_t is_sum = INT64_C(1) << 31, adds = INT64_C(1) << 30;

static unsigned char* in_tcm(void* address) {
    const uint64_t at = (uint64_t)(uintptr_t)address;
    return at >= 0x10000000u && at < 0x10000000u + sizeof rows_tcm ? rows_tcm + (at - 0x10000000u) : (unsigned char*)address;
}
int config_ld(int64_t stride) {
    if (rows_has != rows_keeps_stride || load_stride == 0) load_stride = stride;
    return 0;
}
int npu_config_st(int64_t stride, int64_t seven, int64_t is_positive, int64_t scale) {
    store_stride = stride, positive = is_positive, store_scale = scale;
    return seven == 7 ? 0 : 2;
}
int npu_mvin(const void* source, int64_t destination, int64_t row_bytes, int64_t rows, int64_t stride) {
    const size_t bytes = (size_t)(rows_has == rows_loads_whole_rows ? (row_bytes + 15) / 16 * 16 : row_bytes);
    for (int64_t row = 0; row < rows; ++row)
        memcpy(rows_spad + 16 * (destination + row * stride), (const unsigned char*)source + row * load_stride, bytes);
    return 0;
}
int npu_mvout(int64_t source, void* destination, int64_t row_bytes, int64_t rows, int64_t stride) {
    if ((source & is_sum) == 0) return 5;
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t at = 0; at < row_bytes; at += 4) {
            int32_t value;
            memcpy(&value, rows_sums + 64 * ((source & ~is_sum) + row * stride) + at, 4);
            if (positive) value = (int32_t)((uint32_t)value * (uint32_t)store_scale);
            if (positive && value < 0 && rows_has != rows_lets_negative_through) value = 0;
            memcpy(in_tcm(destination) + row * store_stride + at, &value, (size_t)(row_bytes - at < 4 ? row_bytes - at : 4));
        }
    }
    return 0;
}
int npu_zeros(int64_t destination, int64_t row_bytes, int64_t rows, int64_t stride) {
    for (int64_t row = 0; row < rows; ++row) memset(rows_spad + 16 * (destination + row * stride), 0, (size_t)row_bytes);
    return 0;
}
int npu_preload(int64_t b, int64_t b_stride, int64_t c, int64_t c_stride) {
    b_at = b, b_step = b_stride, c_at = c, c_step = c_stride;
    return (c & is_sum) != 0 ? 0 : 9;
}
int npu_compute(int64_t a, int64_t a_stride) {
    const int64_t row_of_sums = c_at & ~(is_sum | adds);
    for (int64_t i = 0; i < 16; ++i) {
        for (int64_t j = 0; j < 16; ++j) {
            unsigned char* const to = rows_sums + 64 * (row_of_sums + i * c_step) + 4 * j;
            int32_t sum;
            memcpy(&sum, to, 4);
            if ((c_at & adds) == 0 || rows_has == rows_ignores_flag) sum = 0;
            for (int64_t l = 0; l < 16; ++l)
                sum += (int8_t)rows_spad[16 * (a + i * a_stride) + l] * (int8_t)rows_spad[16 * (b_at + l * b_step) + j];
            memcpy(to, &sum, 4);
        }
    }
    return 0;
}
