/* What both cores call, compiled for core 0: the driver, and what takes the place of its functions in tests of what notices it. */
#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

int does_not_meet(int64_t core, int64_t status);
int does_not_meet(int64_t core, int64_t status) { return core < 0 ? 1 : (int)status; }
int does_not_wait_for_it(int64_t core, int64_t queue);
int does_not_wait_for_it(int64_t core, int64_t queue) { return core < 0 || queue < 0; }

int fails(int64_t channel, void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t destination_stride,
          int64_t source_stride);
int fails(int64_t channel, void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t destination_stride,
          int64_t source_stride) {
    (void)channel, (void)destination, (void)source, (void)row_bytes, (void)rows, (void)destination_stride, (void)source_stride;
    return 77;
}
