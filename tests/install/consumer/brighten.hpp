#pragma once
#include <tilewright/tilewright.hpp>

namespace consumer {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x1000, .capacity = 4_KiB, .alignment = 16};
inline constexpr engine dma{"dma"};
inline constexpr auto copy_in = transfer("copy_in", dram, spad).on(dma).dimensions(2).cost({.bytes_per_cycle = 8});
inline constexpr auto copy_out = transfer("copy_out", spad, dram).on(dma).dimensions(2).cost({.bytes_per_cycle = 8});
inline constexpr auto dsp = machine("dsp", dram, spad, dma, copy_in, copy_out);

inline constexpr axis row{"row", 32}, column{"column", 64}, row_tile{"row_tile"}, row_in_tile{"row_in_tile"};
inline constexpr tensor<std::uint8_t> dark{"dark"}, bright{"bright"};
inline constexpr auto brighten = bright(row, column) = min(dark(row, column), 245) + 10;

inline constexpr auto brighten_on_dsp =
    schedule(brighten, dsp).split(row, row_tile, row_in_tile, 8).cache_read(dark, spad).at(row_tile).cache_write(bright, spad).at(row_tile);

static_assert(plan<brighten_on_dsp>.peak(spad) == 1_KiB);

}  // namespace consumer
