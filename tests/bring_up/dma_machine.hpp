#pragma once
#include <tilewright/compute/functions.hpp>
#include <tilewright/machine/machine.hpp>

/// A device with a DMA engine of two channels, whose jobs are waited for by tag: boxes with strides, borders that a load writes, transfers
/// that convert and that transpose, and instructions that saturate.
namespace bring_up_dma {

using namespace tilewright;

inline constexpr memory ddr{.name = "ddr"};
inline constexpr memory tcm{.name = "tcm", .capacity = 128_KiB, .alignment = 16, .host_visible = false};
inline constexpr auto dma = engine{.name = "dma", .depth = 4, .channels = 2}.waits("dma_wait", argument::channel, argument::tag);

// clang-format off
inline constexpr auto fetch = transfer("fetch", ddr, tcm).on(dma).asynchronous().dimensions(3).row_limit(512).extent_limit(1, 32)
    .strides_of_source({.most = 2047}).cost({.latency = 30, .setup = 10, .bytes_per_cycle = 8})
    .calls("dma_fetch", argument::channel, argument::tag, argument::destination, argument::source, argument::row_bytes,
           argument::extent(1), argument::source_stride(1), argument::destination_stride(1),
           argument::extent(2), argument::source_stride(2), argument::destination_stride(2));
inline constexpr auto store = transfer("store", tcm, ddr).on(dma).asynchronous().dimensions(2)
    .cost({.latency = 20, .setup = 12, .bytes_per_cycle = 4})
    .calls("dma_store", argument::channel, argument::tag, argument::destination, argument::source, argument::row_bytes, argument::extent(1),
           argument::source_stride(1), argument::destination_stride(1));
inline constexpr auto fetch_bordered = transfer("fetch_bordered", ddr, tcm).dimensions(2).fills_border().pad_limit(3)
    .calls("dma_bordered", argument::destination, argument::source, argument::row_bytes, argument::extent(1), argument::source_stride(1),
           argument::destination_stride(1), argument::pad_before(0), argument::pad_after(0), argument::pad_before(1), argument::pad_after(1),
           argument::pad_value);

inline constexpr axis e{"e", 1}, f{"f", 1};
inline constexpr tensor<std::int8_t> narrow_elements{"narrow_elements"}, s8{"s8"}, d8{"d8"};
inline constexpr tensor<std::int32_t> wide_elements{"wide_elements"}, d32{"d32"};
inline constexpr tensor<std::int16_t> s16{"s16"}, d16{"d16"}, x{"x"}, y{"y"}, z{"z"};
inline constexpr auto widen = transfer("widen", ddr, tcm, d32(e) = cast<std::int32_t>(s8(e)) * 3).dimensions(2);
inline constexpr auto turn = transfer("turn", ddr, tcm, d16(e, f) = s16(f, e)).dimensions(3);
inline constexpr auto clear = transfer("clear", ddr, tcm, d8(e) = 0).dimensions(2);

inline constexpr axis i{"i", 64};
inline constexpr auto add_saturating = intrinsic("add_saturating", z(i) = saturating_cast<std::int16_t>(cast<std::int32_t>(x(i)) + cast<std::int32_t>(y(i))))
    .reads(x, tcm).reads(y, tcm).writes(z, tcm).up_to(i).cycles(6, per(i).in_units_of(8))
    .calls("add_saturating", argument::address(z), argument::address(x), argument::address(y), argument::extent(i));
// clang-format on

inline constexpr auto device = machine("dma_device", ddr, tcm, dma, fetch, store, fetch_bordered, widen, turn, clear, add_saturating);

}  // namespace bring_up_dma
