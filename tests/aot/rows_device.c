/* The accelerator of tests/kernels/systolic.hpp written by hand. Its memories are arrays in here: all that a call has of them are numbers
   of rows and flags. Registers keep what calls have configured and preloaded; before that they are of no use. */
#include "rows_device.h"

#include <stdint.h>
#include <string.h>

#include "rows_conv_device.h"
#include "rows_matmul_device.h"
#include "rows_pipelined_device.h"
#include "rows_up_to_device.h"

#define SPAD_ROWS 4096
#define SUM_ROWS 1024
#define IS_SUM (INT64_C(1) << 31)
#define ADDS (INT64_C(1) << 30)

int rows_loads, rows_stores, rows_ld_settings, rows_st_settings, rows_steps;
static int8_t spad[SPAD_ROWS][16];
static int32_t sums[SUM_ROWS][16];
static int64_t load_stride = -1, store_stride = -1, store_scale = -1, store_activation = -1;
static int64_t factor_row = -1, factor_stride, sum_row, sum_stride, adds;

void rows_reset(void) {
    memset(spad, 0x55, sizeof spad);
    memset(sums, 0x55, sizeof sums);
    load_stride = store_stride = store_scale = store_activation = factor_row = -1;
    rows_loads = rows_stores = rows_ld_settings = rows_st_settings = rows_steps = 0;
}

int config_ld(int64_t value_0) {
    ++rows_ld_settings;
    load_stride = value_0;
    return 0;
}
int npu_config_st(int64_t value_0, int64_t literal_1, int64_t value_2, int64_t value_1) {
    ++rows_st_settings;
    if (literal_1 != 7) return 11;
    store_stride = value_0, store_scale = value_1, store_activation = value_2;
    return 0;
}
int npu_mvin(const void* source, int64_t destination, int64_t row_bytes, int64_t extent_1, int64_t destination_stride_1) {
    int64_t row;
    ++rows_loads;
    if (load_stride < row_bytes && extent_1 > 1) return 12;
    if (destination < 0 || destination + (extent_1 - 1) * destination_stride_1 >= SPAD_ROWS) return 13;
    for (row = 0; row < extent_1; ++row)
        memcpy(spad[destination + row * destination_stride_1], (const char*)source + row * load_stride, (size_t)row_bytes);
    return 0;
}
int npu_zeros(int64_t destination, int64_t row_bytes, int64_t extent_1, int64_t destination_stride_1) {
    int64_t row;
    if (destination < 0 || destination + (extent_1 - 1) * destination_stride_1 >= SPAD_ROWS) return 14;
    for (row = 0; row < extent_1; ++row) memset(spad[destination + row * destination_stride_1], 0, (size_t)row_bytes);
    return 0;
}
int npu_mvout(int64_t source, void* destination, int64_t row_bytes, int64_t extent_1, int64_t source_stride_1) {
    int64_t row, at;
    ++rows_stores;
    if ((source & IS_SUM) == 0 || (source & ADDS) != 0 || store_scale < 0) return 15;
    source &= ~IS_SUM;
    if (source + (extent_1 - 1) * source_stride_1 >= SUM_ROWS) return 16;
    for (row = 0; row < extent_1; ++row) {
        int32_t* const to = (int32_t*)((char*)destination + row * store_stride);
        const int32_t* const from = sums[source + row * source_stride_1];
        for (at = 0; at < row_bytes / 4; ++at) to[at] = from[at] * (int32_t)store_scale;
    }
    return store_activation == 0 ? 0 : 17;
}
int npu_preload(int64_t b, int64_t b_stride_0, int64_t c, int64_t c_stride_0) {
    if ((c & IS_SUM) == 0 || (b & (IS_SUM | ADDS)) != 0) return 18;
    factor_row = b, factor_stride = b_stride_0;
    adds = (c & ADDS) != 0;
    sum_row = c & ~(IS_SUM | ADDS), sum_stride = c_stride_0;
    return 0;
}
int npu_compute_up_to(int64_t a, int64_t a_stride_0, int64_t extent_0, int64_t extent_1, int64_t extent_2) {
    int64_t i, j, l;
    ++rows_steps;
    if (factor_row < 0) return 19;
    for (i = 0; i < extent_0; ++i) {
        for (j = 0; j < extent_1; ++j) {
            int32_t sum = adds ? sums[sum_row + i * sum_stride][j] : 0;
            for (l = 0; l < extent_2; ++l) sum += spad[a + i * a_stride_0][l] * spad[factor_row + l * factor_stride][j];
            sums[sum_row + i * sum_stride][j] = sum;
        }
    }
    factor_row = -1; /* one preload is for one step */
    return 0;
}
int npu_compute(int64_t a, int64_t a_stride_0) { return npu_compute_up_to(a, a_stride_0, 16, 16, 16); }
int loader_wait(int64_t pending) {
    (void)pending;
    return 0;
}
