#ifndef DEVICE_H
#define DEVICE_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int dma_calls, add_calls;

int dma_copy(void* to, const void* from, int64_t bytes);
int dsp_add_s16(void* z, const void* x, const void* y, int64_t count);
int whole_vectors_only(void* z, const void* x, const void* y, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
