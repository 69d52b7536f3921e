#pragma once
#include <tilewright/tilewright.hpp>

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 64_KiB, .alignment = 64};
inline constexpr engine loader{"loader"};
inline constexpr auto mvin = transfer("mvin", dram, spad).on(loader).asynchronous().cost({.latency = 64, .bytes_per_cycle = 16});
inline constexpr auto npu = machine("npu", dram, spad, loader, mvin);
// Names that are often global: no header may have them inside.
inline constexpr axis i{"i", 1024}, outer{"outer"}, inner{"inner"};
inline constexpr tensor<float> x{"x"}, y{"y"};
inline constexpr auto twice = y(i) = x(i) + x(i);
inline constexpr auto on_npu = schedule(twice, npu).split(i, outer, inner, 64).cache_read(x, spad).at(outer).by(mvin).double_buffer();
