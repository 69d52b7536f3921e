#pragma once
#include <tilewright/targets/mps2_an521.hpp>
#include <tilewright/tilewright.hpp>

/// A kernel for the core that has no DSP instructions: rows come into two banks of SRAM in turns.
namespace firmware {

using namespace tilewright;
namespace board = targets::mps2_an521;

inline constexpr axis y{"y", 20}, x{"x", 37};
inline constexpr tensor<std::uint8_t> in{"in"}, out{"out"};
inline constexpr auto brighten = out(y, x) = cast<std::uint8_t>(min(cast<std::int32_t>(in(y, x)) + 40, 255));
inline constexpr auto brighten_on_board =
    schedule(brighten, board::core0).cache_read(in, board::sram).at(y).double_buffer().cache_write(out, board::sram).at(y).in_bank(2);

}  // namespace firmware
