/* Stands for the vendor's library. On the device these are its DMA and its vector unit. */
#include "device.h"

#include <string.h>

#include "add_vectors.h" /* the prototypes that the kernel expects: the compiler compares them with these functions */

int dma_calls, add_calls;

/* clang-format off */
int dma_copy(void* to, const void* from, int64_t bytes) {
    ++dma_calls;
    memcpy(to, from, (size_t)bytes);
    return 0;
}

int dsp_add_s16(void* z, const void* x, const void* y, int64_t count) {
    ++add_calls;
    for (int64_t at = 0; at < count; ++at)
        ((int16_t*)z)[at] = (int16_t)(((const int16_t*)x)[at] + ((const int16_t*)y)[at]);
    return 0;
}

/* A mistake that is easy to make: the unit works on 8 lanes, and this forgets what is left. */
int whole_vectors_only(void* z, const void* x, const void* y, int64_t count) {
    return dsp_add_s16(z, x, y, count / 8 * 8);
}
