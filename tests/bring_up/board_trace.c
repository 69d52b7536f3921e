/* A kernel on the board, traced: what the driver was asked for, and after how many instructions. */
#include <board.h>
#include <stdio.h>

#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

#define TILEWRIGHT_TRACE_STORAGE
#include <tilewright/runtime/trace.h>

#include "traced_on_board.h"

uint64_t tilewright_cycles(void) {
    static uint32_t begin;
    if (begin == 0) begin = board_time();
    return board_instructions(begin, board_time());
}

BOARD_FAR static int8_t A[64 * 64], W[64 * 64];
BOARD_FAR static int32_t C[64 * 64];

static void letter(char one) { putchar(one); }
int main(void) {
    for (int at = 0; at < 64 * 64; ++at) A[at] = 1, W[at] = 2;
    const int code = traced_on_board(A, 64, W, 64, C, 64);
    printf("code %d, %ld\n", code, (long)C[64 * 64 - 1]);
    tilewright_trace_dump(letter);
    return code != 0 || C[64 * 64 - 1] != 128;
}
