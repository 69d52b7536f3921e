/* What each core does of a kernel for both. */
#ifndef LESSON_BOARD_SHARES_H
#define LESSON_BOARD_SHARES_H
#include <stdint.h>

struct matmul_operands {
    const int8_t *A, *W;
    int32_t* C;
};
struct conv2d_operands {
    const int8_t *image, *weights;
    const int32_t *bias, *multiplier, *shift;
    int8_t* features;
};
struct board_network_on_both_memories;
struct network_operands {
    const int8_t* image;
    int32_t* scores;
    const struct board_network_on_both_memories* memories;
};
/* Shares of core 1, and those of core 0, which are compiled for it. */
int matmul_share(int32_t core, const void* operands);
int conv2d_share(int32_t core, const void* operands);
int network_share(int32_t core, const void* operands);
int matmul_share_of_core0(int32_t core, const void* operands);
int conv2d_share_of_core0(int32_t core, const void* operands);
int network_share_of_core0(int32_t core, const void* operands);
#endif
