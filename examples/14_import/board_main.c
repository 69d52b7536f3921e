/* Reads the digits on the board. Its results are those that this computer finds in main.cpp. */
#include <board.h>
#include <stdio.h>
#include <string.h>

#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

#include "data.h"
#include "digits_in_flash.h"
#include "digits_on_board.h"

BOARD_FAR static int8_t pixels[64], scores[10];

int main(void) {
    const struct digits_on_board_memories memories = {.code = digits_on_board_code_image};
    uint32_t sum = EMPTY_SUM, instructions = 0;
    int right = 0;
    for (int at = 0; at < DIGITS; ++at) {
        memcpy(pixels, digits_in_flash[at], sizeof pixels);
        memset(scores, 0, sizeof scores);
        const uint32_t begin = board_time();
        const int code = digits_on_board(pixels, scores, &memories);
        instructions = board_instructions(begin, board_time());
        if (code != 0) {
            printf("digit %d: code %d\n", at, code);
            return 1;
        }
        sum = add_to_sum(sum, scores, sizeof scores);
        int best = 0;
        for (int label = 1; label < 10; ++label) best = scores[label] > scores[best] ? label : best;
        right += best == digits_in_flash[at][64];
    }
    printf("%d of %d test digits read right, sum of the scores %08lx\n", right, DIGITS, (unsigned long)sum);
    printf("%lu instructions a digit\n", (unsigned long)instructions);
    return 0;
}
