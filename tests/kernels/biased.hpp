#pragma once
#include <tilewright/tilewright.hpp>

/// An array whose first step can start from a bias: of a row, or of a whole tile.
namespace biased {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x1000'0000, .capacity = 64_KiB, .alignment = 16, .host_visible = false};
inline constexpr memory biases{.name = "biases", .base = 0x2000'0000, .capacity = 16_KiB, .alignment = 16, .host_visible = false};
inline constexpr memory acc{.name = "acc", .base = 0x3000'0000, .capacity = 64_KiB, .alignment = 16, .host_visible = false};
inline constexpr memory l1{.name = "l1", .base = 0x4000'0000, .capacity = 64_KiB, .alignment = 16};
inline constexpr engine array{"array"};

inline constexpr axis i{"i", 8}, j{"j", 4}, l{"l", 8};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"}, A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> c{"c"}, d{"d"}, C{"C"}, bias{"bias"}, other{"other"};
inline constexpr auto term = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
inline constexpr auto mac = intrinsic("mac", c(i, j) += term).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(9);
inline constexpr auto mul = intrinsic("mul", c(i, j) = sum(l, term)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(7);
template <class Start>
constexpr auto form(ir::label name, Start const& start, memory const& from = biases) {
    return intrinsic(name, c(i, j) = start + sum(l, term)).reads(a, spad).reads(b, spad).reads(d, from).writes(c, acc).on(array).cycles(11);
}
inline constexpr auto from_row = form("from_row", d(j)), from_tile = form("from_tile", d(i, j));

template <class... Forms>
constexpr machine machine_with(ir::label name, Forms const&... forms) {
    return machine(name, dram, spad, biases, acc, l1, array, transfer("load", dram, spad).dimensions(2),
                   transfer("load_bias", dram, biases).dimensions(2), transfer("load_sums", dram, acc).dimensions(2),
                   transfer("store", acc, dram).dimensions(2), transfer("fetch", dram, l1).dimensions(2),
                   transfer("write", l1, dram).dimensions(2), transfer("zero", dram, acc, c(i) = 0).dimensions(2),
                   transfer("clear", dram, spad, a(i) = 0).dimensions(2), mac, forms...);
}
inline constexpr machine by_row = machine_with("biased_by_row", mul, from_row),
                         by_both = machine_with("biased_by_both", mul, from_tile, from_row), without = machine_with("without_bias", mul);

inline constexpr axis m{"m", 32}, n{"n", 12}, k{"k", 24}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr auto product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
inline constexpr auto of_row = C(m, n) = bias(n) + sum(k, product);
inline constexpr auto of_tile = C(m, n) = sum(k, product) + bias(m, n);

inline constexpr auto row_on_array =
    schedule(of_row, by_row).cache_read(A, spad).cache_read(B, spad).cache_read(bias, biases).cache_write(C, acc).tensorize(m, n, k, mac);
inline constexpr auto tile_on_array =
    schedule(of_tile, by_both).cache_read(A, spad).cache_read(B, spad).cache_read(bias, biases).cache_write(C, acc).tensorize(m, n, k, mac);
inline constexpr auto row_in_loops = schedule(of_row, by_row)
                                         .split(m, mo, mi, 5)
                                         .split(k, ko, ki, 7)
                                         .reorder(mo, ko, mi, n, ki)
                                         .vectorize(n, 4)
                                         .cache_read(A, l1)
                                         .at(ko)
                                         .cache_read(bias, l1)
                                         .at(ko)
                                         .cache_write(C, l1)
                                         .at(mo);

}  // namespace biased
