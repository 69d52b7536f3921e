/* Runs the kernel on the board and compares. */
#include <brighten.h>
#include <stdio.h>

#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

__attribute__((section(".far"))) static uint8_t in[20 * 37], out[20 * 37];

int main(void) {
    for (int at = 0; at < 20 * 37; ++at) in[at] = (uint8_t)(at * 7);
    const int code = brighten(in, 37, out, 37);
    int wrong = 0;
    for (int at = 0; at < 20 * 37; ++at) wrong += out[at] != (in[at] + 40 > 255 ? 255 : in[at] + 40);
    printf("code %d, %d of %d elements are wrong\n", code, wrong, 20 * 37);
    return code != 0 || wrong != 0;
}
