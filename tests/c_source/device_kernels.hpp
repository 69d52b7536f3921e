#pragma once
// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/tilewright.hpp>

/// A kernel whose transfers run aside, for functions written by hand.
namespace device_kernels {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"}, l1{.name = "l1", .base = 0x4000'0000, .capacity = 4_KiB, .alignment = 16};
inline constexpr engine loader{"loader"}, storer{.name = "storer", .completes = completion::by_channel};
inline constexpr auto load = transfer("load", dram, l1).on(loader).asynchronous();
inline constexpr auto store = transfer("store", l1, dram).on(storer).asynchronous();
inline constexpr auto dsp = machine("dsp", dram, l1, loader, storer, load, store);

inline constexpr axis e{"e", 1000}, eo{"eo"}, ei{"ei"};
inline constexpr tensor<float> x{"x"}, y{"y"};
inline constexpr parameter<float> alpha{"alpha"};
// The last tile of 64 has 40 elements.
inline constexpr auto scaled = y(e) = select(x(e) < 0.0f, x(e) * alpha + 0.5f, x(e) / 3.0f);
inline constexpr auto double_buffered = schedule(scaled, dsp)
                                            .split(e, eo, ei, 64)
                                            .vectorize(ei, 8)
                                            .cache_read(x, l1)
                                            .at(eo)
                                            .double_buffer()
                                            .cache_write(y, l1)
                                            .at(eo)
                                            .double_buffer();

}  // namespace device_kernels
