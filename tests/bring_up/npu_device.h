#pragma once
#include <stdint.h>

/* The accelerator of lesson 02, as somebody might have built it, with one mistake at a time. */
enum npu_mistake {
    npu_is_right,
    npu_ignores_source_stride,
    npu_ignores_destination_stride,
    npu_loses_last_row,
    npu_starts_one_row_late,
    npu_stores_one_row_too_many,
    npu_aligns_addresses,
    npu_saturates_sums,
    npu_adds_always,
    npu_never_adds,
    npu_ignores_stride_of_b,
    npu_fails,
    npu_mistakes
};

#ifdef __cplusplus
extern "C" {
#endif
extern enum npu_mistake npu_has;
/* 256 and 64 KiB, and what a wrong device reaches behind them. */
extern unsigned char npu_spad[260 * 1024], npu_acc[68 * 1024];
/* The array that an address of the device is in; NULL: it is a pointer of this program. */
unsigned char* npu_at(uint64_t address);
int mvin(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride);
int mvout(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride);
int mac16(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride);
int mul16(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride);
#ifdef __cplusplus
}
#endif
