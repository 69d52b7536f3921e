#pragma once
// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/tilewright.hpp>

/// A buffer of 8,192 elements that is [2][4096]: two blocks of a memory, at two addresses.
namespace blocks {

using namespace tilewright;

inline constexpr memory ddr{.name = "ddr"};
inline constexpr memory vtcm{.name = "vtcm", .capacity = 64_KiB, .alignment = 128, .banks = 2, .bank_bases = {0xd800'0000, 0xda00'0000}};
inline constexpr auto load_block = transfer("load_block", ddr, vtcm).dimensions(2);
inline constexpr auto dsp = machine("blocks_dsp", ddr, vtcm, load_block);

inline constexpr axis i{"t31", 512}, j{"_", 32}, io{"io"}, ii{"ii"};
// In Halide's C++ the descriptor of an argument `x` is `_x_buffer`.
inline constexpr tensor<float> x{"x"}, y{"x_buffer"};
inline constexpr auto twice = y(i, j) = x(i, j) * 2;
inline constexpr auto in_two_blocks =
    schedule(twice, dsp).split(i, io, ii, 256).vectorize(j, 8).cache_read(x, vtcm).at(io).layout([](auto row, auto column) {
        return index_map(row % 2, separator, row / 2, column);
    });

static_assert(plan<in_two_blocks>.peak(vtcm, 0) == 4096 * 4 && plan<in_two_blocks>.peak(vtcm, 1) == 4096 * 4);

}  // namespace blocks
