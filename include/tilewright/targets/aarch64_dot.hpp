// Machines are read line by line.
// clang-format off
#pragma once
#include <tilewright/targets/dot_products.hpp>

/// One core of an AArch64 processor with dot products (Armv8.2-A, FEAT_DotProd), for products of bytes with sums of 32 bits.
///
/// Kernels for it are of the device binding, from C source that includes `tilewright/targets/aarch64_dot.h`: that header has every function
/// which is named here. Compile it for `-march=armv8.2-a+dotprod`, and with `+i8mm` for processors that have it.
namespace tilewright::targets::aarch64_dot {

inline constexpr memory ram{.name = "ram"};
/// Packed blocks that stay in the second-level cache. The caller gives its address.
inline constexpr memory l2{.name = "l2", .capacity = 256_KiB, .alignment = 64};
inline constexpr core cpu{.name = "aarch64_dot", .instructions = "arm_dot_prod"};
inline constexpr auto pack = transfer("pack", ram, l2).on(cpu).cost({.bytes_per_cycle = 16});

namespace detail {
using namespace dot_products;
/// Eight columns of four terms are two instructions for each row, after eight to bring them beside each other.
template <class Left, class Right>
constexpr intrinsic bytes(ir::label name, ir::label symbol, form which, places const& in) {
    return product<Left, Right, std::int32_t>(name, symbol, which, in, 8, per(i) * per(j).in_units_of(4) * per(l).in_units_of(4),
                                              8 * per(j).in_units_of(8) * per(l).in_units_of(4) * per(i).in_units_of(8));
}
using s8 = std::int8_t;
using u8 = std::uint8_t;
constexpr auto mul_u8u8(places const& in) { return bytes<u8, u8>("mul_u8u8", "aarch64_dot_u8u8", form::begins, in); }
constexpr auto mac_u8u8(places const& in) { return bytes<u8, u8>("mac_u8u8", "aarch64_dot_u8u8", form::goes_on, in); }
constexpr auto mul_s8s8(places const& in) { return bytes<s8, s8>("mul_s8s8", "aarch64_dot_s8s8", form::begins, in); }
constexpr auto mac_s8s8(places const& in) { return bytes<s8, s8>("mac_s8s8", "aarch64_dot_s8s8", form::goes_on, in); }
constexpr auto mul_u8s8(places const& in) { return bytes<u8, s8>("mul_u8s8", "aarch64_dot_u8s8", form::begins, in); }
constexpr auto mac_u8s8(places const& in) { return bytes<u8, s8>("mac_u8s8", "aarch64_dot_u8s8", form::goes_on, in); }
constexpr auto machine_of(ir::label name, places const& in) {
    return machine(name, ram, l2, cpu, pack, mul_u8u8(in), mac_u8u8(in), mul_s8s8(in), mac_s8s8(in), mul_u8s8(in), mac_u8s8(in));
}
}  // namespace detail

// Sums that begin, and sums that go on.
inline constexpr auto mul_u8u8 = detail::mul_u8u8({ram, ram, ram}), mac_u8u8 = detail::mac_u8u8({ram, ram, ram});
inline constexpr auto mul_s8s8 = detail::mul_s8s8({ram, ram, ram}), mac_s8s8 = detail::mac_s8s8({ram, ram, ram});
inline constexpr auto mul_u8s8 = detail::mul_u8s8({ram, ram, ram}), mac_u8s8 = detail::mac_u8s8({ram, ram, ram});

/// Operands are read where the caller has them.
inline constexpr auto host = detail::machine_of("aarch64_dot", {ram, ram, ram});
/// The same instructions, which read right bytes in blocks that a schedule packs into `l2`; or left ones, such as an image with its border.
inline constexpr auto packs_right = detail::machine_of("aarch64_dot_right", {ram, l2, ram}), packs_left = detail::machine_of("aarch64_dot_left", {l2, ram, ram});
inline constexpr dot_products::dot_core dots{host, packs_right, packs_left, l2};

}  // namespace tilewright::targets::aarch64_dot
