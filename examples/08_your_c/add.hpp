#pragma once
#include <tilewright/tilewright.hpp>

/// Lesson 08: the kernel is C for your compiler, and calls your functions.
namespace lesson_your_c {

using namespace tilewright;

// tcm has no base: the caller says where it is. Only the functions of the machine touch it.
inline constexpr memory dram{.name = "dram"};
inline constexpr memory tcm{.name = "tcm", .capacity = 4_KiB, .alignment = 16, .host_visible = false};

// clang-format off
// int dma_copy(to, from, bytes), as the vendor's manual has it: the destination comes first.
inline constexpr auto load =
    transfer("load", dram, tcm).calls("dma_copy", argument::destination, argument::source, argument::bytes);
inline constexpr auto store =
    transfer("store", tcm, dram).calls("dma_copy", argument::destination, argument::source, argument::bytes);

// int dsp_add_s16(z, x, y, count): up to 512 elements, modulo 65536.
inline constexpr axis e{"e", 512};
inline constexpr tensor<std::int16_t> x{"x"}, y{"y"}, z{"z"};
inline constexpr auto add = intrinsic("add", z(e) = x(e) + y(e)).reads(x, tcm).reads(y, tcm).writes(z, tcm).up_to(e)
    .calls("dsp_add_s16", argument::address(z), argument::address(x), argument::address(y), argument::extent(e));
inline constexpr auto dsp = machine("dsp", dram, tcm, load, store, add);

inline constexpr axis i{"i", 1024}, io{"io"}, ii{"ii"};
inline constexpr tensor<std::int16_t> left{"left"}, right{"right"}, sum{"sum"};
inline constexpr auto add_vectors = sum(i) = left(i) + right(i);

inline constexpr auto add_on_dsp = schedule(add_vectors, dsp)
    .split(i, io, ii, 256)
    .cache_read(left, tcm).at(io)
    .cache_read(right, tcm).at(io)
    .cache_write(sum, tcm).at(io)
    .tensorize(ii, add);

/// Without the instruction the loop would read tcm itself. This is refused.
inline constexpr auto without_instruction = schedule(add_vectors, dsp)
    .split(i, io, ii, 256)
    .cache_read(left, tcm).at(io)
    .cache_read(right, tcm).at(io)
    .cache_write(sum, tcm).at(io);
// clang-format on

static_assert(plan<add_on_dsp>.calls(add) == 4 && plan<add_on_dsp>.peak(tcm) == 3 * 512);
static_assert(planned<without_instruction>::refusal.kind == verdict_kind::host_access);

}  // namespace lesson_your_c
