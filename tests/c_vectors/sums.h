/* What most of the expected results are made of. It is compiled once for a processor, as fast as can be and without sanitizers: what is
 * tested is not in it. */
#include <stdint.h>

/* sums[j] += left[left_step * j] * right[right_step * j], for all j below count */
void add_products_f32(int64_t count, double* sums, const float* left, int64_t left_step, const float* right, int64_t right_step);
void add_products_s8(int64_t count, int32_t* sums, const int8_t* left, int64_t left_step, const int8_t* right, int64_t right_step);
