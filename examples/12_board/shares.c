#include "shares.h"

#include "board_conv2d_on_both.h"
#include "board_matmul_on_both.h"
#include "board_network_on_both.h"
#include "clocks.h"

/* This file is compiled for each core, and so are the kernels: the names of core 0 are other ones. */
#ifdef SHARES_OF_CORE0
#define matmul_share matmul_share_of_core0
#define conv2d_share conv2d_share_of_core0
#define network_share network_share_of_core0
#endif

int matmul_share(int32_t core, const void* operands) {
    const struct matmul_operands* const of = operands;
    begin_clock(core);
    const int code = board_matmul_on_both(core, of->A, 64, of->W, 64, of->C, 64);
    stop_clock(core);
    return code;
}

int conv2d_share(int32_t core, const void* operands) {
    const struct conv2d_operands* const of = operands;
    begin_clock(core);
    const int code = board_conv2d_on_both(core, of->image, 256, 16, of->weights, 768, 256, 16, of->bias, of->multiplier, of->shift,
                                          of->features, 256, 16);
    stop_clock(core);
    return code;
}

int network_share(int32_t core, const void* operands) {
    const struct network_operands* const of = operands;
    begin_clock(core);
    const int code = board_network_on_both(core, of->image, of->scores, of->memories);
    stop_clock(core);
    return code;
}
