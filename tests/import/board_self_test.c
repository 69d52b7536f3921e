/* The self-test of core 1 as networks have it, on the board. */
#include <board.h>
#include <stdio.h>

#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

#include "core1_self_test.h"

BOARD_FAR static _Alignas(64) unsigned char psram[core1_self_test_psram_BYTES], code[core1_self_test_code_BYTES];

static void letter(char one) { putchar(one); }
static void failed(void* context, const struct core1_self_test_failure* what) {
    (void)context;
    core1_self_test_print(what, letter);
}
int main(void) {
    const struct core1_self_test_setup setup = {.psram = psram, .code = code, .failed = failed};
    const int result = core1_self_test(&setup);
    core1_self_test_print_rows(letter);
    return result != 0;
}
