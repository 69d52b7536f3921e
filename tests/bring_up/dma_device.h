#pragma once
#include <stdint.h>

/* The device of dma_machine.hpp, with one mistake at a time. Its memories are those of this program. */
enum dma_mistake {
    dma_is_right,
    dma_waits_for_nothing,
    dma_ignores_channel,
    dma_swaps_planes,
    dma_leaves_border,
    dma_borders_one_row_less,
    dma_widens_without_sign,
    dma_does_not_turn,
    dma_clears_one_less,
    dma_wraps,
    dma_adds_whole_vectors,
    dma_mistakes
};

#ifdef __cplusplus
extern "C" {
#endif
extern enum dma_mistake dma_has;
/* Cycles that have passed. A job takes 10 + bytes / 8 of them on its channel, and is complete 30 later. */
extern uint64_t dma_cycles;
/* Time passes: jobs that are due are carried out. */
void dma_pass(uint64_t cycles);
void dma_reset(void);
int dma_fetch(int64_t channel, int64_t tag, void* destination, const void* source, int64_t row_bytes, int64_t extent_1,
              int64_t source_stride_1, int64_t destination_stride_1, int64_t extent_2, int64_t source_stride_2,
              int64_t destination_stride_2);
int dma_store(int64_t channel, int64_t tag, void* destination, const void* source, int64_t row_bytes, int64_t extent_1,
              int64_t source_stride_1, int64_t destination_stride_1);
int dma_wait(int64_t channel, int64_t tag);
int dma_bordered(void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride,
                 int64_t before, int64_t after, int64_t above, int64_t below, int64_t value);
int widen(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride);
int turn(const void* source, void* destination, int64_t row_bytes, int64_t extent_1, int64_t source_stride_1, int64_t destination_stride_1,
         int64_t extent_2, int64_t source_stride_2, int64_t destination_stride_2);
int clear(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride);
int add_saturating(void* z, const void* x, const void* y, int64_t count);
#ifdef __cplusplus
}
#endif
