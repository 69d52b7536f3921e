/* Start-up of the MPS2-AN521: core 0 wakes core 1, which runs `main`, and sleeps until there is something for both cores. Compiled for
 * core 0: no DSP, no floating point. */
#include "start.h"

#include "board.h"

#define FIRST_CODE_OF_CORE_1 REGISTER(0x50021114u)
#define HALTED_CORES REGISTER(0x50021118u)
/* The message unit: a flag that interrupts core 0. */
#define RING_CORE_0 REGISTER(0x50003004u)
#define QUIET_CORE_0 REGISTER(0x50003008u)
#define RING_INTERRUPT (1u << 6)
#define ENABLED_INTERRUPTS REGISTER(0xe000e100u)
#define NO_PENDING_INTERRUPTS REGISTER(0xe000e280u)

extern uint32_t board_stack_0[], board_stack_1[];

/* What core 0 is to do, and how often it has been asked to, and has done it. */
static board_share* volatile job;
static const void* volatile given;
static volatile uint32_t asked, done;
static volatile int code_of_0;

int board_run_on_both(board_share* of_core0, board_share* of_core1, const void* operands) {
    job = of_core0;
    given = operands;
    __asm__ volatile("dsb sy" ::: "memory");
    asked = asked + 1;
    RING_CORE_0 = 1;
    const int code = of_core1(1, operands);
    while (done != asked) __asm__ volatile("yield"); /* an emulator that runs one core at a time goes on with the other one */
    __asm__ volatile("dsb sy" ::: "memory");
    return code != 0 ? code : code_of_0;
}

__attribute__((section(".vectors.1"), used, aligned(512))) static const struct vectors vectors_1 = VECTORS(board_stack_1, run_main);

static void begin(void) {
    set_variables();
    set_core();
    FIRST_CODE_OF_CORE_1 = (uint32_t)(uintptr_t)&vectors_1;
    HALTED_CORES = 0;
    /* An interrupt that is disabled here, but enabled there, ends `wfi`, and nothing else happens. */
    __asm__ volatile("cpsid i");
    ENABLED_INTERRUPTS = RING_INTERRUPT;
    for (;;) {
        while (done == asked) {
            __asm__ volatile("dsb sy\n\twfi" ::: "memory");
            QUIET_CORE_0 = 1;
            NO_PENDING_INTERRUPTS = RING_INTERRUPT;
        }
        code_of_0 = job(0, given);
        __asm__ volatile("dsb sy" ::: "memory");
        done = done + 1;
    }
}
__attribute__((section(".vectors"), used, aligned(512))) static const struct vectors vectors_0 = VECTORS(board_stack_0, begin);
