/* The NX1, as its vendor's header has it. Here it is a model in C; on the chip, these functions write its registers. */
#ifndef NX1_H
#define NX1_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start a copy of `rows` rows on the engine that loads, or on the one that stores; return before it is complete. */
int nx_load(int tag, void* to, const void* from, int32_t row_bytes, int32_t rows, int32_t from_stride, int32_t to_stride);
int nx_store(int tag, void* to, const void* from, int32_t row_bytes, int32_t rows, int32_t from_stride, int32_t to_stride);
/* Return when the copy that was started with this tag is complete. */
int nx_wait_load(int tag);
int nx_wait_store(int tag);

/* y[o] = sum of x[d] * w[d][o] over d < 16, for o < outputs <= 32; nx_mac adds that to y[o]. Rows of w are `stride` bytes apart. */
int nx_mul(void* y, const void* x, const void* w, int32_t stride, int32_t outputs);
int nx_mac(void* y, const void* x, const void* w, int32_t stride, int32_t outputs);

/* The debug port: reads and writes the SRAM. */
int nx_peek(uint32_t address, int32_t bytes, void* to);
int nx_poke(uint32_t address, int32_t bytes, const void* from);

/* Of the model: 1, the first silicon, which has an erratum. */
extern int nx_first_silicon;

#ifdef __cplusplus
}
#endif
#endif
