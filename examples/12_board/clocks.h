/* How many instructions cores execute that work at a time. */
#ifndef LESSON_BOARD_CLOCKS_H
#define LESSON_BOARD_CLOCKS_H
#include <board.h>

void begin_clock(int32_t core);
/* Stops it at the instructions since then on the way to here: of this core and, where it waited for the other one, of that. */
void stop_clock(int32_t core);
/* The time of the core that was ready last. */
uint32_t last_clock(void);
#endif
