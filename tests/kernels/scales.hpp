#pragma once
#include <tilewright/tilewright.hpp>

/// Instructions that bring sums of int32 back to bytes, with scales in their semantics or beside their operands, as data.
namespace scales {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x1000'0000, .capacity = 64_KiB, .alignment = 16, .host_visible = false};
inline constexpr memory acc{.name = "acc", .base = 0x3000'0000, .capacity = 64_KiB, .alignment = 16, .host_visible = false};
inline constexpr engine array{"array"}, unit{"unit"};

inline constexpr axis i{"i", 8}, j{"j", 16}, l{"l", 8};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"}, q{"q"}, A{"A"}, B{"B"}, Q{"Q"};
inline constexpr tensor<std::int32_t> c{"c"}, by{"by"}, right{"right"}, zero{"zero"}, low{"low"}, high{"high"}, C{"C"},
    multipliers{"multipliers"}, shifts{"shifts"}, zeros{"zeros"}, lows{"lows"}, highs{"highs"};

/// An input as TensorFlow Lite's ADD takes it: less its zero point, with 20 bits more, times its scale.
template <class T>
constexpr auto scaled_input(T const& x, int zero_point, int multiplier, int shift) {
    return rescale<rounding::doubling_high>((cast<std::int32_t>(x) - zero_point) << 20, multiplier, shift);
}
/// The sum of two bytes with three scales and three zero points, within an activation's bounds.
template <class L, class R>
constexpr auto added(L const& x, R const& y) {
    auto const sum = scaled_input(x, 3, 1073741824, 0) + scaled_input(y, -5, 1518500250, 1);
    return cast<std::int8_t>(clamp(rescale<rounding::doubling_high>(sum, 1717986918, 18) + 4, -120, 115));
}
/// A sum as a byte within bounds, all of them given.
template <class Sum, class Multiplier, class Shift, class Zero, class Low, class High>
constexpr auto bounded(Sum const& sum, Multiplier const& multiplier, Shift const& shift, Zero const& zero_point, Low const& lowest,
                       High const& highest) {
    return cast<std::int8_t>(clamp(requantize<std::int16_t, rounding::doubling_high>(sum, multiplier, shift, zero_point),
                                   cast<std::int16_t>(lowest), cast<std::int16_t>(highest)));
}

inline constexpr auto add8 =
    intrinsic("add8", q(i, j) = added(a(i, j), b(i, j))).reads(a, spad).reads(b, spad).writes(q, spad).on(unit).cycles(5);
inline constexpr auto bound8 =
    intrinsic("bound8", q(i, j) = bounded(c(i, j), 1518500250, 9, -6, -100, 100)).reads(c, acc).writes(q, spad).on(unit).cycles(4);
// Everything that a channel has is data: seven operands.
inline constexpr auto scale8 = intrinsic("scale8", q(i, j) = bounded(c(i, j), by(j), right(j), zero(j), low(j), high(j)))
                                   .reads(c, acc)
                                   .reads(by, spad)
                                   .reads(right, spad)
                                   .reads(zero, spad)
                                   .reads(low, spad)
                                   .reads(high, spad)
                                   .writes(q, spad)
                                   .on(unit)
                                   .cycles(6);
inline constexpr auto term = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
inline constexpr auto mac = intrinsic("mac", c(i, j) += term).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(9);
inline constexpr auto mul = intrinsic("mul", c(i, j) = sum(l, term)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(7);
inline constexpr auto npu =
    machine("scales_npu", dram, spad, acc, array, unit, transfer("load", dram, spad).dimensions(2),
            transfer("sums", dram, acc).dimensions(2), transfer("store", spad, dram).dimensions(2), add8, bound8, scale8, mac, mul);

inline constexpr axis m{"m", 24}, n{"n", 48}, k{"k", 32}, mo{"mo"}, mi{"mi"};
inline constexpr auto sum_of_bytes = Q(m, n) = added(A(m, n), B(m, n));
inline constexpr auto add_on_npu =
    schedule(sum_of_bytes, npu).cache_read(A, spad).cache_read(B, spad).cache_write(Q, spad).tensorize(m, n, add8);

inline constexpr auto bytes_of_sums = Q(m, n) = bounded(C(m, n), 1518500250, 9, -6, -100, 100);
inline constexpr auto bounds_on_npu = schedule(bytes_of_sums, npu).cache_read(C, acc).cache_write(Q, spad).tensorize(m, n, bound8);

/// A product of matrices whose epilogue scales each column by numbers of its own, which the caller brings.
inline constexpr auto layer = stages(C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)),
                                     Q(m, n) = bounded(C(m, n), multipliers(n), shifts(n), zeros(n), lows(n), highs(n)));
inline constexpr auto layer_on_npu = schedule(layer, npu)
                                         .split(m, mo, mi, 8)
                                         .reorder(mo, mi, n)
                                         .cache_read(multipliers, spad)
                                         .cache_read(shifts, spad)
                                         .cache_read(zeros, spad)
                                         .cache_read(lows, spad)
                                         .cache_read(highs, spad)
                                         .cache_write(Q, spad)
                                         .at(mo)
                                         .compute_at(C, mo)
                                         .store_in(C, acc)
                                         .tensorize(mi, n, scale8)
                                         .stage(C)
                                         .cache_read(A, spad)
                                         .cache_read(B, spad)
                                         .tensorize(m, n, k, mac);

/// Likewise a convolution, whose epilogue is computed for a row of the image at a time.
inline constexpr axis y{"y", 6}, x{"x", 24}, f{"f", 48}, ch{"ch", 16}, r{"r", 3}, s{"s", 3};
inline constexpr auto convolution = stages(C(y, x, f) += cast<std::int32_t>(A(y + r, x + s, ch)) * cast<std::int32_t>(B(r, s, ch, f)),
                                           Q(y, x, f) = bounded(C(y, x, f), multipliers(f), shifts(f), zeros(f), lows(f), highs(f)));
inline constexpr auto convolution_on_npu = schedule(convolution, npu)
                                               .cache_read(multipliers, spad)
                                               .cache_read(shifts, spad)
                                               .cache_read(zeros, spad)
                                               .cache_read(lows, spad)
                                               .cache_read(highs, spad)
                                               .cache_write(Q, spad)
                                               .at(y)
                                               .compute_at(C, y)
                                               .store_in(C, acc)
                                               .tensorize(x, f, scale8)
                                               .stage(C)
                                               .reorder(y, r, s, x, f, ch)
                                               .cache_read(A, spad)
                                               .at(r)
                                               .cache_read(B, spad)
                                               .at(s)
                                               .tensorize(x, f, ch, mac);

}  // namespace scales
