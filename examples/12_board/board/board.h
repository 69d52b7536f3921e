/* What a program on either board can ask of it. */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

/* For arrays in the large memory outside the banks. Nobody clears it. */
#define BOARD_FAR __attribute__((section(".far")))

/* A timer of 20 MHz. QEMU with `-icount shift=7` lets every instruction take 128 ns, so it counts instructions, to the digit. It interrupts
 * a core every 100 ms, for the sake of the other one: with a smaller shift after more instructions, which are counted by dozens then. */
#ifndef BOARD_ICOUNT_SHIFT
#define BOARD_ICOUNT_SHIFT 7
#endif
#ifdef BOARD_MPS3_AN547
#define BOARD_TIMER 0x59302018u
#else
#define BOARD_TIMER 0x50302018u
#endif
static inline uint32_t board_time(void) { return *(volatile uint32_t*)(uintptr_t)BOARD_TIMER; }
/* Instructions executed from one call of board_time to another: less than 1,677 million. */
static inline uint32_t board_instructions(uint32_t from, uint32_t to) {
    return (uint32_t)(((uint64_t)(to - from) * 50 + (1u << BOARD_ICOUNT_SHIFT) / 2) >> BOARD_ICOUNT_SHIFT);
}

#ifndef BOARD_MPS3_AN547 /* which has one core */
/* What a core does of the work for both. That of core 0 is compiled for it. */
typedef int board_share(int32_t core, const void* operands);
/* Runs a share on each core, and returns when both are ready: 0, or a code that is not 0. */
int board_run_on_both(board_share* of_core0, board_share* of_core1, const void* operands);
#endif
#endif
