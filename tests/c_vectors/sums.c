#include "sums.h"

/* Loops of their own for steps that are known: compilers make vectors of them. */
#define ADD(left_step, right_step) \
    for (int64_t j = 0; j < count; ++j) sums[j] += PRODUCT(left[(left_step)*j], right[(right_step)*j])
#define ADD_ALL                                            \
    if (left_step == 0 && right_step == 1) ADD(0, 1);      \
    else if (left_step == 1 && right_step == 1) ADD(1, 1); \
    else ADD(left_step, right_step)

#define PRODUCT(a, b) ((double)(a) * (double)(b))
void add_products_f32(int64_t count, double* sums, const float* left, int64_t left_step, const float* right, int64_t right_step) {
    ADD_ALL;
}
#undef PRODUCT
#define PRODUCT(a, b) ((a) * (b))
void add_products_s8(int64_t count, int32_t* sums, const int8_t* left, int64_t left_step, const int8_t* right, int64_t right_step) {
    ADD_ALL;
}
