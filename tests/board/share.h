/* What a core is given for its share of a kernel. */
#ifndef TESTS_BOARD_SHARE_H
#define TESTS_BOARD_SHARE_H
#include <board.h>

struct share {
    void** in;
    void* out;
};
#endif
