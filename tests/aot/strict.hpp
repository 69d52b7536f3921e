#pragma once
// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/tilewright.hpp>

/// A kernel whose arguments have every condition that an entry can check, and names that Halide, C or C++ have for other things.
namespace strict {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory near{.name = "t32", .base = 0x1000, .capacity = 16_KiB, .alignment = 64};
// Two dimensions at addresses that are multiples of 16 bytes; and one dimension, so that whole rows must follow each other.
inline constexpr auto aligned = transfer("aligned", dram, near).dimensions(2).alignment(16);
inline constexpr auto contiguous = transfer("contiguous", dram, near);
inline constexpr auto back = transfer("back", near, dram).dimensions(2);
inline constexpr auto where = machine("strict", dram, near, aligned, contiguous, back);

inline constexpr axis y{"lane", 8}, x{"_", 32}, yo{"t33"}, yi{"count"};
inline constexpr tensor<std::int16_t> a{"t31"}, b{"__b"}, sum{"result"};
inline constexpr parameter<std::int16_t> bias{"class"};
inline constexpr auto add = sum(y, x) = a(y, x) + b(y, x) + bias;
inline constexpr auto strict_add = schedule(add, where)
                                       .split(y, yo, yi, 4)
                                       .cache_read(a, near)
                                       .at(yo)
                                       .by(aligned)
                                       .cache_read(b, near)
                                       .at(yo)
                                       .by(contiguous)
                                       .cache_write(sum, near)
                                       .at(yo)
                                       .by(back)
                                       .vectorize(x, 8);

}  // namespace strict
