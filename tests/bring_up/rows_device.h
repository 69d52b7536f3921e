#pragma once
#include <stdint.h>

/* The accelerator of tests/kernels/systolic.hpp, whose memories are rows with numbers, with one mistake at a time. */
enum rows_mistake { rows_is_right, rows_keeps_stride, rows_ignores_flag, rows_lets_negative_through, rows_loads_whole_rows, rows_mistakes };

#ifdef __cplusplus
extern "C" {
#endif
extern enum rows_mistake rows_has;
/* 64, 64 and 32 KiB, and what a wrong device reaches behind them. */
extern unsigned char rows_spad[68 * 1024], rows_sums[68 * 1024], rows_tcm[36 * 1024];
int config_ld(int64_t stride);
int npu_config_st(int64_t stride, int64_t seven, int64_t positive, int64_t scale);
int npu_mvin(const void* source, int64_t destination, int64_t row_bytes, int64_t rows, int64_t stride);
int npu_mvout(int64_t source, void* destination, int64_t row_bytes, int64_t rows, int64_t stride);
int npu_zeros(int64_t destination, int64_t row_bytes, int64_t rows, int64_t stride);
int npu_preload(int64_t b, int64_t b_stride, int64_t c, int64_t c_stride);
int npu_compute(int64_t a, int64_t a_stride);
#ifdef __cplusplus
}
#endif
