/* Runs the kernels of lesson 12 on one core and on both, the same in plain C, and two by hand, and prints the instructions of each. */
#include <board.h>
#include <stdio.h>
#include <string.h>
#include <tilewright/targets/mps2_an521.h>

#include "clocks.h"
#include "counted_conv2d.h"
#include "counted_conv2d_on_both.h"
#include "counted_matmul.h"
#include "counted_matmul_on_both.h"
#include "counted_network.h"
#include "counted_network_on_both.h"
#include "data.h"
#include "in_flash.h"

static int8_t a[64 * 64], w[64 * 64], in[16 * 16 * 16], weights[3 * 3 * 16 * 16], image[64];
static int32_t bias[CONV_FILTERS], multiplier[CONV_FILTERS], shift[CONV_FILTERS];
/* What is computed: the first time by plain C, and then beside it. */
static int32_t c[2][64 * 64], scores[2][10];
static int8_t features[2][16 * 16 * 16];
static int wrong = 0;

/* Prints how many instructions a kernel takes that computes `result`, the second of its kind or a later one if `like` is the first. */
static void report(const char* kernel, const char* way, int code, uint32_t instructions, const void* result, const void* like,
                   size_t bytes) {
    if (code != 0 || memcmp(result, like, bytes) != 0) {
        ++wrong;
        printf("%s %s: code %d, DIFFERENT from plain C\n", kernel, way, code);
    }
    printf("%s %s: %lu instructions\n", kernel, way, (unsigned long)instructions);
}
#define MEASURE(kernel, way, statement, result, like)                                           \
    do {                                                                                        \
        memset(result, 0x55, sizeof result);                                                    \
        const uint32_t begin = board_time();                                                    \
        const int code = (statement);                                                           \
        const uint32_t end = board_time();                                                      \
        report(kernel, way, code, board_instructions(begin, end), result, like, sizeof result); \
    } while (0)

/* Instructions until the later core is ready. QEMU interrupts a core for the sake of the other one, whose instructions are then among them:
 * so each share runs several times, and the least counts. */
#define MEASURE_BOTH(kernel, share, result, like)                         \
    do {                                                                  \
        uint32_t least = UINT32_MAX;                                      \
        int code = 0;                                                     \
        for (int times = 0; times < 5 && code == 0; ++times) {            \
            memset(result, 0x55, sizeof result);                          \
            mps2_an521_begin();                                           \
            code = board_run_on_both(share, share, NULL);                 \
            least = last_clock() < least ? last_clock() : least;          \
        }                                                                 \
        report(kernel, "both", code, least, result, like, sizeof result); \
    } while (0)
#define SHARE(name, statement)                            \
    static int name(int32_t core, const void* operands) { \
        (void)operands;                                   \
        begin_clock(core);                                \
        const int code = (statement);                     \
        stop_clock(core);                                 \
        return code;                                      \
    }
SHARE(share_of_matmul, counted_matmul_on_both(core, a, 64, w, 64, c[1], 64))
SHARE(share_of_conv2d, counted_conv2d_on_both(core, in, 256, 16, weights, 768, 256, 16, bias, multiplier, shift, features[1], 256, 16))
static const struct counted_network_on_both_memories memories_of_both = {.code = counted_network_on_both_code_image};
SHARE(share_of_network, counted_network_on_both(core, image, scores[1], &memories_of_both))

int main(void) {
    make_bytes(a, sizeof a, 1);
    make_bytes(w, sizeof w, 2);
    MEASURE("matmul", "plain", (plain_matmul(a, w, c[0]), 0), c[0], c[0]);
    MEASURE("matmul", "hand", (hand_matmul(a, w, c[1]), 0), c[1], c[0]);
    MEASURE("matmul", "ours", counted_matmul(a, 64, w, 64, c[1], 64), c[1], c[0]);
    MEASURE_BOTH("matmul", share_of_matmul, c[1], c[0]);

    make_bytes(in, sizeof in, 3);
    make_bytes(weights, sizeof weights, 4);
    make_scales(bias, multiplier, shift);
    const struct scales by = {bias, multiplier, shift};
    MEASURE("conv2d", "plain", (plain_conv2d(in, weights, &by, features[0]), 0), features[0], features[0]);
    MEASURE("conv2d", "hand", (hand_conv2d(in, weights, &by, features[1]), 0), features[1], features[0]);
    MEASURE("conv2d", "ours", counted_conv2d(in, 256, 16, weights, 768, 256, 16, bias, multiplier, shift, features[1], 256, 16),
            features[1], features[0]);
    MEASURE_BOTH("conv2d", share_of_conv2d, features[1], features[0]);

    const struct counted_network_memories memories = {.code = counted_network_code_image};
    for (int digit = 0; digit < DIGITS; ++digit) {
        memcpy(image, digits_in_flash[digit], sizeof image);
        MEASURE("network", "plain", (plain_network(image, &network_in_flash, scores[0]), 0), scores[0], scores[0]);
        MEASURE("network", "ours", counted_network(image, scores[1], &memories), scores[1], scores[0]);
        MEASURE_BOTH("network", share_of_network, scores[1], scores[0]);
    }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
