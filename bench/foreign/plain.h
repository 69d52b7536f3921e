#ifndef TILEWRIGHT_BENCH_PLAIN_H
#define TILEWRIGHT_BENCH_PLAIN_H
#include <stdint.h>
void square_by_sums(const int8_t* a, const int8_t* b, int32_t* restrict c);
void square_by_rows(const int8_t* a, const int8_t* b, int32_t* restrict c);
void layer_by_sums(const uint8_t* a, const int8_t* b, int32_t* restrict c);
void layer_by_rows(const uint8_t* a, const int8_t* b, int32_t* restrict c);
#endif
