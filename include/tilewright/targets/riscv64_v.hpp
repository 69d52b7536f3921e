// Machines are read line by line.
// clang-format off
#pragma once
#include <tilewright/targets/dot_products.hpp>

/// One core of a RISC-V processor with vectors (RV64GCV, extension V 1.0), for products of bytes with sums of 32 bits, and of floats. Vectors
/// may have any length from 128 bits on: kernels are the same for all, and so are their results.
///
/// Kernels for it are of the device binding, from C source that includes `tilewright/targets/riscv64_v.h`: that header has every function
/// which is named here. Compile it for `-march=rv64gcv`, with clang 14 or later.
namespace tilewright::targets::riscv64_v {

inline constexpr memory ram{.name = "ram"};
/// Packed blocks that stay in the second-level cache. The caller gives its address.
inline constexpr memory l2{.name = "l2", .capacity = 256_KiB, .alignment = 64};
inline constexpr core cpu{.name = "riscv64_v"};
inline constexpr auto pack = transfer("pack", ram, l2).on(cpu).cost({.bytes_per_cycle = 16});

namespace detail {
using namespace dot_products;
/// Vectors of 128 bits: eight sums in two cycles, after what widens the right bytes for six rows.
template <class Left, class Right>
constexpr intrinsic bytes(ir::label name, ir::label symbol, form which, places const& in) {
    return product<Left, Right, std::int32_t>(name, symbol, which, in, 8, per(i) * per(j).in_units_of(4) * per(l),
                                              4 * per(j).in_units_of(16) * per(l) * per(i).in_units_of(6));
}
using s8 = std::int8_t;
using u8 = std::uint8_t;
constexpr auto mul_u8u8(places const& in) { return bytes<u8, u8>("mul_u8u8", "riscv64_v_u8u8", form::begins, in); }
constexpr auto mac_u8u8(places const& in) { return bytes<u8, u8>("mac_u8u8", "riscv64_v_u8u8", form::goes_on, in); }
constexpr auto mul_s8s8(places const& in) { return bytes<s8, s8>("mul_s8s8", "riscv64_v_s8s8", form::begins, in); }
constexpr auto mac_s8s8(places const& in) { return bytes<s8, s8>("mac_s8s8", "riscv64_v_s8s8", form::goes_on, in); }
constexpr auto mul_u8s8(places const& in) { return bytes<u8, s8>("mul_u8s8", "riscv64_v_u8s8", form::begins, in); }
constexpr auto mac_u8s8(places const& in) { return bytes<u8, s8>("mac_u8s8", "riscv64_v_u8s8", form::goes_on, in); }
constexpr auto floats(ir::label name, form which, places const& in) {
    return product<float, float, float>(name, "riscv64_v_f32", which, in, 8, per(i) * per(j).in_units_of(4) * per(l), 2 * per(j).in_units_of(16) * per(l) * per(i).in_units_of(6));
}
constexpr auto mul_f32(places const& in) { return floats("mul_f32", form::begins, in); }
constexpr auto mac_f32(places const& in) { return floats("mac_f32", form::goes_on, in); }
constexpr auto machine_of(ir::label name, places const& in) {
    return machine(name, ram, l2, cpu, pack, mul_u8u8(in), mac_u8u8(in), mul_s8s8(in), mac_s8s8(in), mul_u8s8(in), mac_u8s8(in),
                   mul_f32(in), mac_f32(in));
}
}  // namespace detail

// Sums that begin, and sums that go on.
inline constexpr auto mul_u8u8 = detail::mul_u8u8({ram, ram, ram}), mac_u8u8 = detail::mac_u8u8({ram, ram, ram});
inline constexpr auto mul_s8s8 = detail::mul_s8s8({ram, ram, ram}), mac_s8s8 = detail::mac_s8s8({ram, ram, ram});
inline constexpr auto mul_u8s8 = detail::mul_u8s8({ram, ram, ram}), mac_u8s8 = detail::mac_u8s8({ram, ram, ram});
inline constexpr auto mul_f32 = detail::mul_f32({ram, ram, ram}), mac_f32 = detail::mac_f32({ram, ram, ram});

/// Operands are read where the caller has them.
inline constexpr auto host = detail::machine_of("riscv64_v", {ram, ram, ram});
/// The same instructions, which read right bytes in blocks that a schedule packs into `l2`; or left ones, such as an image with its border.
inline constexpr auto packs_right = detail::machine_of("riscv64_v_right", {ram, l2, ram}), packs_left = detail::machine_of("riscv64_v_left", {l2, ram, ram});
inline constexpr dot_products::dot_core dots{host, packs_right, packs_left, l2};

}  // namespace tilewright::targets::riscv64_v
