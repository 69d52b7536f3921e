/* Runs the kernels of lesson 12, the same in plain C, and two by hand, and prints the instructions of each. */
#include <board.h>
#include <stdio.h>
#include <string.h>

#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

#include "bench_conv2d.h"
#include "bench_matmul.h"
#include "bench_network.h"
#include "data.h"
#include "in_flash.h"

static int8_t a[64 * 64], w[64 * 64], in[16 * 16 * 16], weights[3 * 3 * 16 * 16], image[64];
static int32_t bias[CONV_FILTERS], multiplier[CONV_FILTERS], shift[CONV_FILTERS];
/* What is computed: the first time by plain C, and then beside it. */
static int32_t c[2][64 * 64], scores[2][10];
static int8_t features[2][16 * 16 * 16];
static int wrong = 0;

/* Prints how many instructions a statement takes that computes `result`, the second of its kind or a later one if `like` is the first. */
#define MEASURE(kernel, way, statement, result, like)                                                    \
    do {                                                                                                 \
        memset(result, 0x55, sizeof result);                                                             \
        const uint32_t begin = board_time();                                                             \
        const int code = (statement);                                                                    \
        const uint32_t end = board_time();                                                               \
        if (code != 0 || memcmp(result, like, sizeof result) != 0) {                                     \
            ++wrong;                                                                                     \
            printf("%s %s: code %d, DIFFERENT from plain C\n", kernel, way, code);                       \
        }                                                                                                \
        printf("%s %s: %lu instructions\n", kernel, way, (unsigned long)board_instructions(begin, end)); \
    } while (0)

int main(void) {
    make_bytes(a, sizeof a, 1);
    make_bytes(w, sizeof w, 2);
    MEASURE("matmul", "plain", (plain_matmul(a, w, c[0]), 0), c[0], c[0]);
    MEASURE("matmul", "hand", (hand_matmul(a, w, c[1]), 0), c[1], c[0]);
    MEASURE("matmul", "ours", bench_matmul(a, 64, w, 64, c[1], 64), c[1], c[0]);

    make_bytes(in, sizeof in, 3);
    make_bytes(weights, sizeof weights, 4);
    make_scales(bias, multiplier, shift);
    const struct scales by = {bias, multiplier, shift};
    MEASURE("conv2d", "plain", (plain_conv2d(in, weights, &by, features[0]), 0), features[0], features[0]);
    MEASURE("conv2d", "hand", (hand_conv2d(in, weights, &by, features[1]), 0), features[1], features[0]);
    MEASURE("conv2d", "ours", bench_conv2d(in, 256, 16, weights, 768, 256, 16, bias, multiplier, shift, features[1], 256, 16), features[1],
            features[0]);

    const struct bench_network_memories memories = {.code = bench_network_code_image};
    for (int digit = 0; digit < DIGITS; ++digit) {
        memcpy(image, digits_in_flash[digit], sizeof image);
        MEASURE("network", "plain", (plain_network(image, &network_in_flash, scores[0]), 0), scores[0], scores[0]);
        MEASURE("network", "ours", bench_network(image, scores[1], &memories), scores[1], scores[0]);
    }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
