/* Start-up of the MPS2-AN521: core 0 wakes core 1, which runs `main`, and sleeps. Compiled for core 0: no DSP, no floating point. */
#include "start.h"

#define FIRST_CODE_OF_CORE_1 REGISTER(0x50021114u)
#define HALTED_CORES REGISTER(0x50021118u)

extern uint32_t board_stack_0[], board_stack_1[];

__attribute__((section(".vectors.1"), used, aligned(512))) static const struct vectors vectors_1 = VECTORS(board_stack_1, run_main);

static void begin(void) {
    set_variables();
    FIRST_CODE_OF_CORE_1 = (uint32_t)(uintptr_t)&vectors_1;
    HALTED_CORES = 0;
    for (;;) __asm__ volatile("wfi");
}
__attribute__((section(".vectors"), used, aligned(512))) static const struct vectors vectors_0 = VECTORS(board_stack_0, begin);
