/* Start-up of the MPS3-AN547, which has one core. */
#include "start.h"

extern uint32_t board_stack_0[];

static void begin(void) {
    set_variables();
    run_main();
}
__attribute__((section(".vectors"), used, aligned(512))) static const struct vectors vectors_0 = VECTORS(board_stack_0, begin);
