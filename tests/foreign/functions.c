#define DEFINES_FUNCTIONS
#include "functions.h"
#ifdef __aarch64__
#include <tilewright/targets/aarch64_dot.h>
#define OF_MACHINE(name) aarch64_dot_##name
#else
#include <tilewright/targets/riscv64_v.h>
#define OF_MACHINE(name) riscv64_v_##name
#endif

#define ONCE(name)                                                                                                                  \
    int once_##name(int64_t rows, int64_t columns, int64_t depth, const void* a, int64_t a_stride, const void* b, int64_t b_stride, \
                    void* c, int64_t c_stride, int64_t adds) {                                                                      \
        return OF_MACHINE(name)(rows, columns, depth, a, a_stride, b, b_stride, c, c_stride, adds);                                 \
    }
ONCE(u8u8)
ONCE(s8s8)
ONCE(u8s8)
#ifndef __aarch64__
ONCE(f32)
#endif
