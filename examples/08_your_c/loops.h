/* The schedule of lesson 08 as plain loops: this is what the generated C does. */
#include "device.h"

/* clang-format off */
static inline int add_by_hand(const int16_t* left, const int16_t* right, unsigned char* tcm, int16_t* sum) {
    for (int io = 0; io < 4; ++io) {
        int code = dma_copy(tcm, left + 256 * io, 512);
        if (code == 0) code = dma_copy(tcm + 512, right + 256 * io, 512);
        if (code == 0) code = dsp_add_s16(tcm + 1024, tcm, tcm + 512, 256);
        if (code == 0) code = dma_copy(sum + 256 * io, tcm + 1024, 512);
        if (code != 0) return code;
    }
    return 0;
}
