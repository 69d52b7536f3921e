/* What runs on the board. Its numbers are those that this computer finds in main.cpp. */
#include <board.h>
#include <stdio.h>

#include <string.h>
#include <tilewright/targets/mps2_an521.h>

#include "board_conv2d.h"
#include "board_matmul.h"
#include "board_network.h"
#include "board_network_on_both.h"
#include "clocks.h"
#include "data.h"
#include "digits_in_flash.h"
#include "shares.h"

/* Arguments of the kernels, outside the banks. */
BOARD_FAR static int8_t A[64 * 64], W[64 * 64], image[16 * 16 * 16], weights[3 * 3 * 16 * 16], features[16 * 16 * 16];
BOARD_FAR static int32_t C[64 * 64], bias[CONV_FILTERS], multiplier[CONV_FILTERS], shift[CONV_FILTERS], scores[10];

/* Runs a share on each core, and makes `least` the instructions until both are ready, if those are less: QEMU lets the cores take turns,
 * and where it interrupted one in its share, there are those of the other one, too. */
static int run_shares(board_share* of_core0, board_share* of_core1, const void* operands, uint32_t* least) {
    mps2_an521_begin();
    const int code = board_run_on_both(of_core0, of_core1, operands);
    const uint32_t last = last_clock();
    *least = last < *least ? last : *least;
    return code;
}
static int run_on_both(const char* name, board_share* of_core0, board_share* of_core1, const void* operands) {
    uint32_t least = UINT32_MAX;
    for (int times = 0; times < 5; ++times) {
        const int code = run_shares(of_core0, of_core1, operands, &least);
        if (code != 0) return code;
    }
    printf("%s: %lu instructions\n", name, (unsigned long)least);
    return 0;
}
#ifdef BOARD_WITH_DSP_ON_BOTH
#define matmul_share_of_core0 matmul_share
#define conv2d_share_of_core0 conv2d_share
#define network_share_of_core0 network_share
#endif
static int run_matmul_on_both(void) {
    const struct matmul_operands operands = {A, W, C};
    memset(C, 0, sizeof C);
    const int code = run_on_both("matmul on both cores", matmul_share_of_core0, matmul_share, &operands);
    printf("matmul on both cores: code %d, sum %08lx\n", code, (unsigned long)add_to_sum(EMPTY_SUM, C, sizeof C));
    return code;
}
static int run_conv2d_on_both(void) {
    const struct conv2d_operands operands = {image, weights, bias, multiplier, shift, features};
    memset(features, 0, sizeof features);
    const int code = run_on_both("conv2d on both cores", conv2d_share_of_core0, conv2d_share, &operands);
    printf("conv2d on both cores: code %d, sum %08lx\n", code, (unsigned long)add_to_sum(EMPTY_SUM, features, sizeof features));
    return code;
}

static int run_matmul(void) {
    make_bytes(A, sizeof A, 1);
    make_bytes(W, sizeof W, 2);
    const uint32_t begin = board_time();
    const int code = board_matmul(A, 64, W, 64, C, 64);
    const uint32_t end = board_time();
    printf("matmul 64 x 64 x 64: code %d, sum %08lx\n", code, (unsigned long)add_to_sum(EMPTY_SUM, C, sizeof C));
    printf("matmul: %lu instructions\n", (unsigned long)board_instructions(begin, end));
    return code;
}

static int run_conv2d(void) {
    make_bytes(image, sizeof image, 3);
    make_bytes(weights, sizeof weights, 4);
    make_scales(bias, multiplier, shift);
    const uint32_t begin = board_time();
    const int code = board_conv2d(image, 256, 16, weights, 768, 256, 16, bias, multiplier, shift, features, 256, 16);
    const uint32_t end = board_time();
    printf("conv2d 3 x 3, 16 to 16 channels, 16 x 16: code %d, sum %08lx\n", code,
           (unsigned long)add_to_sum(EMPTY_SUM, features, sizeof features));
    printf("conv2d: %lu instructions\n", (unsigned long)board_instructions(begin, end));
    return code;
}

/* Reads all digits. @param on_both  whether by both cores */
static int run_network(int on_both) {
    const struct board_network_memories memories = {.code = board_network_code_image};
    const struct board_network_on_both_memories memories_of_both = {.code = board_network_on_both_code_image};
    const struct network_operands operands = {image, scores, &memories_of_both};
    const char* const name = on_both ? "network on both cores" : "network";
    uint32_t sum = EMPTY_SUM, instructions = UINT32_MAX;
    int right = 0;
    for (int at = 0; at < DIGITS; ++at) {
        int code = 0;
        memcpy(image, digits_in_flash[at], 64);
        memset(scores, 0, sizeof scores);
        if (on_both) {
            code = run_shares(network_share_of_core0, network_share, &operands, &instructions);
        } else {
            const uint32_t begin = board_time();
            code = board_network(image, scores, &memories);
            instructions = board_instructions(begin, board_time());
        }
        if (code != 0) {
            printf("digit %d: code %d\n", at, code);
            return code;
        }
        sum = add_to_sum(sum, scores, sizeof scores);
        int best = 0;
        for (int digit = 1; digit < 10; ++digit) {
            if (scores[digit] > scores[best]) best = digit;
        }
        right += best == digits_in_flash[at][64];
    }
    printf("%s: %d of %d digits read right, sum of the scores %08lx\n", name, right, DIGITS, (unsigned long)sum);
    printf("%s: %lu instructions a digit\n", name, (unsigned long)instructions);
    return 0;
}

int main(void) {
    return run_matmul() != 0 || run_matmul_on_both() != 0 || run_conv2d() != 0 || run_conv2d_on_both() != 0 || run_network(0) != 0 ||
           run_network(1) != 0;
}
