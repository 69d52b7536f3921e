/* The functions of the machine, compiled once for many kernels. */
#ifndef FOREIGN_FUNCTIONS_H
#define FOREIGN_FUNCTIONS_H
#include <stdint.h>

typedef int product_of_tiles(int64_t rows, int64_t columns, int64_t depth, const void* a, int64_t a_stride, const void* b, int64_t b_stride,
                             void* c, int64_t c_stride, int64_t adds);
extern product_of_tiles once_u8u8, once_s8s8, once_u8s8, once_f32;

#ifndef DEFINES_FUNCTIONS
#ifdef __aarch64__
#define aarch64_dot_u8u8 once_u8u8
#define aarch64_dot_s8s8 once_s8s8
#define aarch64_dot_u8s8 once_u8s8
#else
#define riscv64_v_u8u8 once_u8u8
#define riscv64_v_s8s8 once_s8s8
#define riscv64_v_u8s8 once_u8s8
#define riscv64_v_f32 once_f32
#endif
#endif
#endif
