/* What the board and this computer both do with data: make it, and sum it up. */
#ifndef LESSON_BOARD_DATA_H
#define LESSON_BOARD_DATA_H
#include <stddef.h>
#include <stdint.h>

/* Numbers of -128 to 127 without a pattern, the same for the same seed. */
static inline void make_bytes(int8_t* to, size_t count, uint32_t seed) {
    for (size_t at = 0; at < count; ++at) {
        seed = seed * 1664525u + 1013904223u;
        to[at] = (int8_t)((int)(seed >> 24) - 128);
    }
}

/* Sums up bytes so that another byte, or another order, makes another sum: FNV-1a. Begins with 2166136261. */
static inline uint32_t add_to_sum(uint32_t sum, const void* from, size_t bytes) {
    const unsigned char* const all = (const unsigned char*)from;
    for (size_t at = 0; at < bytes; ++at) sum = (sum ^ all[at]) * 16777619u;
    return sum;
}
#define EMPTY_SUM 2166136261u

/* Multipliers and shifts of the convolution. */
enum { CONV_FILTERS = 16 };
static inline void make_scales(int32_t* bias, int32_t* multiplier, int32_t* shift) {
    for (int f = 0; f < CONV_FILTERS; ++f) {
        bias[f] = 1000 * f - 7000;
        multiplier[f] = 1100000000 + 50000000 * f;
        shift[f] = 8 + f % 3;
    }
}
#endif
