/* The self-test of the MPS2-AN521, on the board. */
#include <board.h>
#include <stdio.h>

#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

#include "board_self_test.h"

BOARD_FAR static _Alignas(64) unsigned char psram[board_self_test_psram_BYTES], code[board_self_test_code_BYTES];

/* What the self-test calls in the place of the driver's functions, where a build asks for it. */
int does_not_wait(int64_t channel);
int does_not_wait(int64_t channel) {
    (void)channel;
    return 0;
}
int starts_late(int64_t channel, void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t destination_stride,
                int64_t source_stride);
int starts_late(int64_t channel, void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t destination_stride,
                int64_t source_stride) {
    const int64_t late = rows > 1 ? source_stride : 0;
    return mps2_an521_dma_start(channel, destination, (const unsigned char*)source + late, row_bytes, rows, destination_stride,
                                source_stride);
}

static void letter(char one) { putchar(one); }
static void failed(void* context, const struct board_self_test_failure* what) {
    (void)context;
    board_self_test_print(what, letter);
}
int main(void) {
    const struct board_self_test_setup setup = {.psram = psram, .code = code, .failed = failed};
    const int result = board_self_test(&setup);
    board_self_test_print_rows(letter);
    printf("result %d\n", result);
    return result != 0;
}
