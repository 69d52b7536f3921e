#pragma once
#include <tilewright/tilewright.hpp>

/// An accelerator whose memories have no pointers: a scratchpad of rows of 16 bytes, and an accumulator of rows of 16 sums, both by number.
///
/// A step of its array is two calls, one that preloads the second factor and says where the sums are, and one that computes; whether the
/// sums are added to what is there is a bit of their address. What it loads lies at the stride that was configured last; what it stores,
/// too, and it is scaled and cut off at zero as configured.
namespace systolic {

using namespace tilewright;

inline constexpr std::int64_t is_sum = argument::bit(31), adds = argument::bit(30);

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .capacity = 64_KiB, .alignment = 16, .host_visible = false, .address_unit = 16};
inline constexpr memory sums{.name = "sums",
                             .capacity = 64_KiB,
                             .alignment = 64,
                             .banks = 2,
                             .host_visible = false,
                             .address_unit = 64,
                             .address_flags = static_cast<std::uint64_t>(is_sum)};
inline constexpr memory tcm{.name = "tcm", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16};
inline constexpr engine array{"array"}, loader{.name = "loader", .completes = completion::by_channel};
inline constexpr configuration config_ld("config_ld");
inline constexpr auto config_st =
    configuration("config_st", 3)
        .calls("npu_config_st", argument::setting(0), argument::literal(7), argument::setting(2), argument::setting(1));

inline constexpr axis i{"i", 16}, j{"j", 16}, l{"l", 16}, any{"any", 1};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"}, s8{"s8"};
inline constexpr tensor<std::int32_t> c{"c"}, s32{"s32"}, d32{"d32"};

inline constexpr auto mvin = transfer("mvin", dram, spad)
                                 .dimensions(2)
                                 .uses(config_ld, argument::source_stride(1))
                                 .calls("npu_mvin", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                        argument::destination_stride(1).in_units_of(16));
inline constexpr auto mvout = transfer("mvout", sums, dram)
                                  .dimensions(2)
                                  .calls("npu_mvout", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                         argument::source_stride(1).in_units_of(64))
                                  .uses(config_st, argument::destination_stride(1), argument::literal(1), argument::literal(0));
inline constexpr auto mvout_positive = transfer("mvout_positive", sums, tcm, d32(any) = max(s32(any) * 3, 0))
                                           .dimensions(2)
                                           .calls("npu_mvout", argument::source, argument::destination, argument::row_bytes,
                                                  argument::extent(1), argument::source_stride(1).in_units_of(64))
                                           .uses(config_st, argument::destination_stride(1), argument::literal(3), argument::literal(1));
inline constexpr auto zeros = transfer("zeros", dram, spad, s8(any) = 0)
                                  .dimensions(2)
                                  .calls("npu_zeros", argument::destination, argument::row_bytes, argument::extent(1),
                                         argument::destination_stride(1).in_units_of(16));

inline constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
inline constexpr auto step(ir::label name, ir::direction of_sums, std::int64_t flags) {
    auto made = intrinsic(name, c(i, j) += product).reads(a, spad).reads(b, spad);
    return (of_sums == ir::direction::updates ? made.updates(c, sums) : made.writes(c, sums))
        .on(array)
        .cycles(16)
        .calls("npu_preload", argument::address(b), argument::stride(b, 0).in_units_of(16), argument::address(c).with(flags),
               argument::stride(c, 0).in_units_of(16))
        .then("npu_compute", argument::address(a), argument::stride(a, 0).in_units_of(16));
}
inline constexpr auto multiply = step("multiply", ir::direction::writes, 0);
inline constexpr auto multiply_add = step("multiply_add", ir::direction::updates, adds);
inline constexpr auto npu =
    machine("npu_of_rows", dram, spad, sums, tcm, array, config_ld, config_st, mvin, mvout, mvout_positive, zeros, multiply, multiply_add);

// The same array told how much of a step there is: nothing has to be filled.
inline constexpr auto step_up_to(ir::label name, ir::direction of_sums, std::int64_t flags) {
    auto made = intrinsic(name, c(i, j) += product).reads(a, spad).reads(b, spad);
    return (of_sums == ir::direction::updates ? made.updates(c, sums) : made.writes(c, sums))
        .on(array)
        .cycles(5, per(i) * per(l).in_units_of(4), 2 * per(j, l).in_units_of(16))
        .up_to(i, j, l)
        .calls("npu_preload", argument::address(b), argument::stride(b, 0).in_units_of(16), argument::address(c).with(flags),
               argument::stride(c, 0).in_units_of(16))
        .then("npu_compute_up_to", argument::address(a), argument::stride(a, 0).in_units_of(16), argument::extent(i), argument::extent(j),
              argument::extent(l));
}
inline constexpr auto multiply_up_to = step_up_to("multiply_up_to", ir::direction::writes, 0);
inline constexpr auto multiply_add_up_to = step_up_to("multiply_add_up_to", ir::direction::updates, adds);
inline constexpr auto npu_up_to =
    machine("npu_up_to", dram, spad, sums, array, config_ld, config_st, mvin, mvout, multiply_up_to, multiply_add_up_to);

// Extents that no tile divides.
inline constexpr axis m{"m", 75}, n{"n", 52}, k{"k", 85};
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
constexpr schedule in_blocks(machine const& on, intrinsic const& by) {
    return schedule(matmul, on)
        .tile(m, n, mo, no, mi, ni, 32, 32)
        .split(k, ko, ki, 48)
        .reorder(mo, no, ko, mi, ni, ki)
        .cache_read(A, spad)
        .at(ko)
        .cache_read(B, spad)
        .at(ko)
        .cache_write(C, sums)
        .at(no)
        .tensorize(mi, ni, ki, by);
}
inline constexpr auto matmul_by_rows = in_blocks(npu, multiply_add), matmul_up_to = in_blocks(npu_up_to, multiply_add_up_to);

// The other factor stays: nothing but rows of A is loaded in the loops.
inline constexpr auto matmul_with_one_stride = schedule(matmul, npu)
                                                   .tile(m, n, mo, no, mi, ni, 32, 32)
                                                   .split(k, ko, ki, 48)
                                                   .reorder(mo, no, ko, mi, ni, ki)
                                                   .cache_read(B, spad)
                                                   .cache_read(A, spad)
                                                   .at(ko)
                                                   .cache_write(C, sums)
                                                   .at(no)
                                                   .tensorize(mi, ni, ki, multiply_add);

// A convolution on the same instruction: rows of its first factor are pixels, two apart.
inline constexpr axis y{"y", 5}, x{"x", 19}, q{"q", 21}, r{"r", 3}, s{"s", 2}, ch{"ch", 32};
inline constexpr tensor<std::int8_t> image{"image"}, filters{"filters"};
inline constexpr tensor<std::int32_t> maps{"maps"};
inline constexpr auto conv = maps(y, x, q) += cast<std::int32_t>(image(y + r, 2 * x + s, ch)) * cast<std::int32_t>(filters(r, s, ch, q));
inline constexpr auto conv_by_rows = schedule(conv, npu)
                                         .reorder(y, r, s, x, q, ch)
                                         .cache_read(image, spad)
                                         .at(y)
                                         .cache_read(filters, spad)
                                         .cache_write(maps, sums)
                                         .at(y)
                                         .tensorize(x, q, ch, multiply_add);

// What is loaded while the array computes, and the same with extents that are left to run time.
inline constexpr auto mvin_aside = [] {
    auto made = mvin;
    return made.on(loader).asynchronous();
}();
inline constexpr auto npu_aside =
    machine("npu_aside", dram, spad, sums, array, loader, config_ld, config_st, mvin_aside, mvout, zeros, multiply, multiply_add);
constexpr schedule pipelined(auto const& what, axis const& rows, axis const& columns, axis const& depth) {
    return schedule(what, npu_aside)
        .tile(rows, columns, mo, no, mi, ni, 32, 32)
        .split(depth, ko, ki, 16)
        .reorder(mo, no, ko, mi, ni, ki)
        .cache_read(A, spad)
        .at(ko)
        .buffers(3)
        .cache_read(B, spad)
        .at(ko)
        .buffers(2)
        .cache_write(C, sums)
        .at(no)
        .tensorize(mi, ni, ki, multiply_add);
}
inline constexpr auto matmul_pipelined = pipelined(matmul, m, n, k);
inline constexpr axis open_m{"open_m", dynamic}, open_n{"open_n", dynamic}, open_k{"open_k", dynamic};
inline constexpr auto open_matmul = C(open_m, open_n) += cast<std::int32_t>(A(open_m, open_k)) * cast<std::int32_t>(B(open_k, open_n));
inline constexpr auto open_pipelined = pipelined(open_matmul, open_m, open_n, open_k);

// Sums that are scaled and cut off on their way out.
inline constexpr tensor<std::int32_t> D{"D"}, E{"E"};
inline constexpr auto positive =
    stages(C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)), D(m, n) = max(C(m, n) * 3, 0), E(m, n) = D(m, n) - 1);
inline constexpr auto positive_by_rows = schedule(positive, npu)
                                             .store_in(D, tcm)
                                             .by(mvout_positive)
                                             .store_in(C, sums)
                                             .stage(C)
                                             .split(m, mo, mi, 32)
                                             .split(k, ko, ki, 48)
                                             .reorder(mo, ko, mi, n, ki)
                                             .cache_read(A, spad)
                                             .at(ko)
                                             .cache_read(B, spad)
                                             .at(ko)
                                             .tensorize(mi, n, ki, multiply_add);

}  // namespace systolic
