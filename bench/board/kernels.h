/* What the generated kernels of lesson 12 are measured against: the same functions in plain C, and two of them by hand for this core. */
#ifndef BENCH_BOARD_KERNELS_H
#define BENCH_BOARD_KERNELS_H
#include <stdint.h>

struct scales {
    const int32_t *bias, *multiplier, *shift;
};
struct network {
    const int8_t *weights1, *weights2, *weights3; /* [row][column][filter][channel], and [digit][row][column][channel] */
    struct scales scales1, scales2;
    const int32_t* bias3;
};

void plain_matmul(const int8_t* a, const int8_t* w, int32_t* c);
void plain_conv2d(const int8_t* in, const int8_t* weights, const struct scales* by, int8_t* out);
void plain_network(const int8_t* image, const struct network* of, int32_t* scores);

void hand_matmul(const int8_t* a, const int8_t* w, int32_t* c);
void hand_conv2d(const int8_t* in, const int8_t* weights, const struct scales* by, int8_t* out);
#endif
