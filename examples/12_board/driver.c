/* The functions of the controllers and of the cores, and a clock: both cores call them, so they are compiled for core 0. */
#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

#include "clocks.h"

/* Of each core: when it began or went on, and its clock then. And its clock when it came to this meeting, and to the one before. */
static uint32_t since[2], clocks[2], arrivals[2][2], meetings[2];
/* What a meeting takes a core that need not wait: the least that one has taken. */
static uint32_t passing = UINT32_MAX;

void begin_clock(int32_t core) {
    clocks[core] = 0;
    meetings[core] = 0;
    since[core] = board_time();
}
void stop_clock(int32_t core) { clocks[core] += board_instructions(since[core], board_time()); }
uint32_t last_clock(void) { return clocks[0] > clocks[1] ? clocks[0] : clocks[1]; }

/* The linker gives kernels this barrier (`--wrap`). Cores that QEMU runs by turns then have a clock each, which stands while a core waits.
 * They leave a meeting with the time of the later one, and of what the meeting takes it. */
int __real_mps2_an521_barrier(int64_t core, int64_t status);
int __wrap_mps2_an521_barrier(int64_t core, int64_t status);
int __wrap_mps2_an521_barrier(int64_t core, int64_t status) {
    const uint32_t at = meetings[core]++ % 2;
    stop_clock((int32_t)core);
    arrivals[core][at] = clocks[core];
    const uint32_t begin = board_time();
    const int code = __real_mps2_an521_barrier(core, status);
    const uint32_t took = board_instructions(begin, board_time());
    passing = took < passing ? took : passing;
    /* The other core may be at the next meeting already, but no further. */
    clocks[core] = (arrivals[0][at] > arrivals[1][at] ? arrivals[0][at] : arrivals[1][at]) + passing;
    since[core] = board_time();
    return code;
}
