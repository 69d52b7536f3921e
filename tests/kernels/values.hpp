#pragma once
#include "kernels/scales.hpp"

/// Scales of a channel that calls are given by value, or find in registers which are set for each channel.
namespace values {

using namespace tilewright;
using scales::acc, scales::array, scales::dram, scales::mac, scales::mul, scales::spad, scales::unit;
using scales::by, scales::c, scales::C, scales::q, scales::Q, scales::right, scales::zero;

inline constexpr memory tables{.name = "tables", .base = 0x4000'0000, .capacity = 4_KiB, .alignment = 4};
inline constexpr configuration scale("set_scale", 2);
inline constexpr axis i{"i", 8};
inline constexpr tensor<float> f{"f"}, F{"F"}, x{"x"}, X{"X"}, y{"y"}, Y{"Y"};
/// A column of sums with the multiplier and the shift of its channel in registers, and its zero point as an argument.
inline constexpr auto column = intrinsic("column", q(i) = requantize<std::int8_t, rounding::doubling_high>(c(i), by(), right(), zero()))
                                   .reads(c, acc)
                                   .reads(by, dram)
                                   .reads(right, tables)
                                   .reads(zero, dram)
                                   .writes(q, spad)
                                   .on(unit)
                                   .cycles(4)
                                   .uses(scale, argument::value(right), argument::value(by))
                                   .calls("column", argument::address(c), argument::address(q), argument::value(zero));
inline constexpr auto times = intrinsic("times", y(i) = x(i) * f())
                                  .reads(x, acc)
                                  .reads(f, dram)
                                  .writes(y, acc)
                                  .on(unit)
                                  .calls("times", argument::address(x), argument::address(y), argument::value(f));
inline constexpr auto npu = machine("values_npu", dram, spad, acc, tables, array, unit, scale, transfer("load", dram, acc).dimensions(2),
                                    transfer("look_up", dram, tables), transfer("store", spad, dram).dimensions(2),
                                    transfer("save", acc, dram).dimensions(2), column, times);

inline constexpr axis n{"n", 12}, m{"m", 24};
inline constexpr tensor<std::int32_t> multipliers{"multipliers"}, shifts{"shifts"}, zeros{"zeros"};
inline constexpr auto scaled = Q(n, m) = requantize<std::int8_t, rounding::doubling_high>(C(n, m), multipliers(n), shifts(n), zeros(n));
inline constexpr auto scaled_on_npu =
    schedule(scaled, npu).cache_read(C, acc).cache_read(shifts, tables).cache_write(Q, spad).tensorize(m, column);
inline constexpr auto floats = Y(n, m) = X(n, m) * F(n);
inline constexpr auto floats_on_npu = schedule(floats, npu).cache_read(X, acc).cache_write(Y, acc).tensorize(m, times);

/// The functions of the device, over arrays in the place of its memories.
inline constexpr char const* device = R"(
#ifndef VALUES_DEVICE_H
#define VALUES_DEVICE_H
#include <stdint.h>
static int8_t spad[65536], acc[65536], tables[4096];
static inline int8_t *at(uintptr_t address) {
    return address >= 0x40000000u ? tables + (int64_t)(address - 0x40000000u)
                                  : address >= 0x30000000u ? acc + (int64_t)(address - 0x30000000u) : spad + (int64_t)(address - 0x10000000u);
}
static inline int rows_in(const void *source, void *destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            at((uintptr_t)destination)[row * to + byte] = ((const int8_t *)source)[row * from + byte];
    return 0;
}
static inline int rows_out(const void *source, void *destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            ((int8_t *)destination)[row * to + byte] = at((uintptr_t)source)[row * from + byte];
    return 0;
}
#define load rows_in
#define store rows_out
#define save rows_out
static inline int times(const void *x, void *y, int64_t f_value) {
    union { uint32_t bits; float number; } factor;
    factor.bits = (uint32_t)f_value;
    for (int i = 0; i < 8; ++i) ((float *)(void *)at((uintptr_t)y))[i] = ((const float *)(void *)at((uintptr_t)x))[i] * factor.number;
    return 0;
}
#endif
)";

}  // namespace values
