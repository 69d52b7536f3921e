#include <cstdio>
#include <tilewright/tilewright.hpp>

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x1000, .capacity = 4_KiB, .alignment = 16};
inline constexpr engine dma{"dma"};
inline constexpr auto load = transfer("load", dram, spad).on(dma);
inline constexpr auto dsp = machine("dsp", dram, spad, dma, load);

inline constexpr axis i{"i", 1024};
inline constexpr tensor<std::uint8_t> x{"x"}, y{"y"};
inline constexpr auto brighten = y(i) = min(x(i), 245) + 10;
inline constexpr auto on_dsp = schedule(brighten, dsp).split(i, "outer", "inner", 64).cache_read(x, spad).at("outer");

static_assert(plan<on_dsp>.peak(spad) == 64);

int main() { std::printf("tilewright %d.%d.%d\n", TILEWRIGHT_VERSION_MAJOR, TILEWRIGHT_VERSION_MINOR, TILEWRIGHT_VERSION_PATCH); }
