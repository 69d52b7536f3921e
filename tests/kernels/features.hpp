#pragma once
// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/tilewright.hpp>

/// Schedules that each use one feature: instructions of other shapes, transfers that do more than copy, types, parameters, ranks.
namespace features {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 64_KiB, .alignment = 64, .host_visible = false};
inline constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 32_KiB, .alignment = 64, .host_visible = false};
inline constexpr memory tcm{.name = "tcm", .base = 0x2000'0000, .capacity = 64_KiB, .alignment = 8};
inline constexpr engine dma{"dma"}, unit{"unit"};

// Instructions. "dots": 8 x 4 dot products of 4 bytes each, the second operand transposed.
inline constexpr axis i8{"i8", 8}, j4{"j4", 4}, k4{"k4", 4}, i4{"i4", 4}, j8{"j8", 8}, v8{"v8", 8};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"};
inline constexpr tensor<std::int32_t> c{"c"};
inline constexpr tensor<float> fa{"fa"}, fb{"fb"}, fc{"fc"};
inline constexpr auto dot_product = cast<std::int32_t>(a(i8, k4)) * cast<std::int32_t>(b(j4, k4));
inline constexpr auto dots = intrinsic("dots", c(i8, j4) += dot_product).reads(a, spad).reads(b, spad).updates(c, acc).on(unit).cycles(4);
inline constexpr auto first_dots =
    intrinsic("first_dots", c(i8, j4) = sum(k4, dot_product)).reads(a, spad).reads(b, spad).writes(c, acc).on(unit).cycles(3);
// "mac": 4 x 8 x 4, with nothing that overwrites: a transfer fills the accumulator.
inline constexpr auto mac = intrinsic("mac", c(i4, j8) += cast<std::int32_t>(a(i4, k4)) * cast<std::int32_t>(b(k4, j8)))
                                .reads(a, spad)
                                .reads(b, spad)
                                .updates(c, acc)
                                .on(unit)
                                .cycles(5);
// "fma8": one scalar times eight lanes, on the core's own memory.
inline constexpr auto fma8 = intrinsic("fma8", fc(v8) += fa() * fb(v8)).reads(fa, tcm).reads(fb, tcm).updates(fc, tcm).cycles(1);
inline constexpr auto first_fma8 = intrinsic("first_fma8", fc(v8) += fa() * fb(v8)).reads(fa, tcm).reads(fb, tcm).writes(fc, tcm).cycles(2);

inline constexpr auto in_spad = transfer("in_spad", dram, spad).on(dma).dimensions(3).cost({.latency = 30, .bytes_per_cycle = 8});
inline constexpr auto out_acc = transfer("out_acc", acc, dram).on(dma).dimensions(3).cost({.latency = 30, .bytes_per_cycle = 8});
inline constexpr axis any{"any", 1}, any2{"any2", 1};
inline constexpr tensor<std::int32_t> d32{"d32"}, d32_source{"d32_source"};
inline constexpr tensor<std::int8_t> s8{"s8"};
inline constexpr auto zero_acc =
    transfer("zero_acc", dram, acc, d32(any) = 0).on(dma).dimensions(2).cost({.setup = 2, .bytes_per_cycle = 32});
inline constexpr auto in_tcm = transfer("in_tcm", dram, tcm).on(dma).cost({.latency = 10, .bytes_per_cycle = 4});
inline constexpr auto out_tcm = transfer("out_tcm", tcm, dram).on(dma).cost({.latency = 10, .bytes_per_cycle = 4});
inline constexpr auto widen = transfer("widen", dram, tcm, d32(any) = cast<std::int32_t>(s8(any)) * 3 - 7)
                                  .on(dma)
                                  .dimensions(2)
                                  .cost({.latency = 10, .bytes_per_cycle = 4});
inline constexpr auto turn =
    transfer("turn", dram, tcm, d32(any, any2) = d32_source(any2, any)).on(dma).dimensions(3).cost({.latency = 10, .bytes_per_cycle = 4});
inline constexpr auto clear_tcm = transfer("clear_tcm", dram, tcm, d32(any) = 5).on(dma).dimensions(2);

inline constexpr auto npu = machine("features_npu", dram, spad, acc, dma, unit, dots, first_dots, mac, in_spad, out_acc, zero_acc);
inline constexpr auto core_with_tcm = machine("core_with_tcm", dram, tcm, dma, in_tcm, out_tcm, widen, turn, clear_tcm, fma8, first_fma8,
                                              core{.name = "core", .costs = {.multiply = 2}});

inline constexpr axis m{"m", 32}, n{"n", 24}, k{"k", 20}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, f{"f"};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr tensor<float> X{"X"}, Y{"Y"}, Z{"Z"};

// The loops are named in another order than the intrinsic's axes, and the factors are written the other way round.
inline constexpr auto matmul_nt = C(m, n) += cast<std::int32_t>(B(n, k)) * cast<std::int32_t>(A(m, k));
inline constexpr auto matmul_by_dots = schedule(matmul_nt, npu)
                                           .tile(m, n, mo, no, mi, ni, 16, 12)
                                           .reorder(no, mo, k, ni, mi)
                                           .cache_read(A, spad)
                                           .at(mo)
                                           .cache_read(B, spad)
                                           .at(no)
                                           .cache_write(C, acc)
                                           .at(mo)
                                           .tensorize(ni, mi, k, dots);

inline constexpr auto matmul_nn = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
inline constexpr auto matmul_by_mac = schedule(matmul_nn, npu)
                                          .split(k, ko, ki, 4)
                                          .split(m, mo, mi, 8)
                                          .reorder(mo, ko, mi, n, ki)
                                          .unroll(ko)
                                          .cache_read(A, spad)
                                          .at(ko)
                                          .cache_read(B, spad)
                                          .cache_write(C, acc)
                                          .at(mo)
                                          .tensorize(mi, n, ki, mac);

// A convolution with stride 2 on the same instruction: rows of the first operand are two pixels apart.
inline constexpr axis y{"y", 5}, x{"x", 8}, q{"q", 16}, r{"r", 3}, s{"s", 2}, ch{"ch", 8};
inline constexpr tensor<std::int8_t> image{"image"}, filters{"filters"};
inline constexpr tensor<std::int32_t> maps{"maps"};
inline constexpr auto conv = maps(y, x, q) += cast<std::int32_t>(image(y + r, 2 * x + s, ch)) * cast<std::int32_t>(filters(r, s, ch, q));
inline constexpr auto conv_by_mac = schedule(conv, npu)
                                        .reorder(y, r, s, x, q, ch)
                                        .cache_read(image, spad)
                                        .at(y)
                                        .cache_read(filters, spad)
                                        .cache_write(maps, acc)
                                        .at(y)
                                        .tensorize(x, q, ch, mac);

inline constexpr auto matmul_float = Z(m, n) += X(m, k) * Y(k, n);
inline constexpr auto matmul_by_fma = schedule(matmul_float, core_with_tcm)
                                          .split(m, mo, mi, 4)
                                          .reorder(mo, k, mi, n)
                                          .cache_read(X, tcm)
                                          .at(mo)
                                          .cache_read(Y, tcm)
                                          .cache_write(Z, tcm)
                                          .at(mo)
                                          .tensorize(n, fma8);

// Transfers with semantics carry stages out.
inline constexpr axis h{"h", 12}, w{"w", 10}, ho{"ho"}, hi{"hi"};
inline constexpr tensor<std::int8_t> bytes{"bytes"};
inline constexpr tensor<std::int32_t> wide{"wide"}, result{"result"}, words{"words"}, turned{"turned"}, filled{"filled"};
inline constexpr auto widened =
    stages(wide(h, w) = cast<std::int32_t>(bytes(h + 1, 2 * w + 1)) * 3 - 7, result(h, w) = wide(h, w) * wide(h, w));
inline constexpr auto widened_by_dma =
    schedule(widened, core_with_tcm).split(h, ho, hi, 4).compute_at(wide, ho).store_in(wide, tcm).by(widen);
inline constexpr auto transposed = stages(turned(h, w) = words(w, h), result(h, w) = turned(h, w) + 1);
inline constexpr auto transposed_by_dma =
    schedule(transposed, core_with_tcm).split(h, ho, hi, 3).compute_at(turned, ho).store_in(turned, tcm).by(turn);
inline constexpr auto constant = stages(filled(h, w) = 5, result(h, w) = filled(h, w) + words(h, w));
inline constexpr auto constant_by_dma = schedule(constant, core_with_tcm).store_in(filled, tcm).by(clear_tcm);

// Scalar parameters, an axis as a value, a negative index, a scalar result, rank 6.
inline constexpr parameter<float> alpha{"alpha"};
inline constexpr parameter<std::int32_t> shift{"shift"};
inline constexpr axis e{"e", 60}, eo{"eo"}, ei{"ei"};
inline constexpr auto scaled = Z(e) = X(e) * alpha + cast<float>(cast<std::int32_t>(e) + shift);
inline constexpr auto scaled_on_core =
    schedule(scaled, core_with_tcm).split(e, eo, ei, 12).vectorize(ei, 4).cache_read(X, tcm).at(eo).cache_write(Z, tcm).at(eo);
inline constexpr auto neighbours = Z(e) = X(e - 1) + X(e) * -X(e + 1);
inline constexpr auto neighbours_on_core = schedule(neighbours, core_with_tcm).split(e, eo, ei, 20).cache_read(X, tcm).at(eo);
inline constexpr tensor<std::int64_t> longs{"longs"}, total{"total"};
inline constexpr auto sum_all = total() += longs(h, w);
inline constexpr auto sum_all_on_core = schedule(sum_all, core_with_tcm).cache_read(longs, tcm).at(h).cache_write(total, tcm);
inline constexpr axis r0{"r0", 2}, r1{"r1", 3}, r2{"r2", 4}, r3{"r3", 3}, r4{"r4", 2}, r5{"r5", 5}, r4o{"r4o"}, r4i{"r4i"};
inline constexpr tensor<double> six{"six"}, six_out{"six_out"};
inline constexpr auto rank_six = six_out(r0, r1, r2, r3, r4, r5) = six(r5, r1, r0, r3, r4, r2) / 3.0;
inline constexpr auto rank_six_on_core =
    schedule(rank_six, core_with_tcm).reorder(r3, r0, r1, r2, r4, r5).cache_read(six, tcm).at(r3).cache_write(six_out, tcm).at(r1);

// Every operation and type once: bool, unsigned, 64 bits, shifts, division.
inline constexpr tensor<std::uint8_t> ub{"ub"}, uc{"uc"};
inline constexpr tensor<std::int16_t> sa{"sa"}, sb{"sb"}, so{"so"};
inline constexpr tensor<bool> flags{"flags"};
inline constexpr tensor<std::uint64_t> ul{"ul"};
inline constexpr auto wrapped = stages(uc(e) = ub(e) * 7 + ub(e) - 9, flags(e) = uc(e) % 3 == 1 || (!(uc(e) <= ub(e)) && ub(e) != 4));
inline constexpr auto wrapped_on_core =
    schedule(wrapped, core_with_tcm).split(e, eo, ei, 6).compute_at(uc, eo).store_in(uc, tcm).vectorize(ei, 3).cache_read(ub, tcm);
inline constexpr auto divided = so(e) = max(sa(e) / sb(e), sa(e) % 7) - clamp(sb(e) >> 2, -20, 30) + min(sa(e), 5 - sb(e)) + (sa(e) << 1);
inline constexpr auto divided_on_core = schedule(divided, core_with_tcm)
                                            .split(e, eo, ei, 12)
                                            .vectorize(ei)
                                            .cache_read(sa, tcm)
                                            .at(eo)
                                            .cache_read(sb, tcm)
                                            .at(eo)
                                            .cache_write(so, tcm)
                                            .at(eo);

// Three stages, two of them read by the last, nested in one another.
inline constexpr axis g{"g", 48}, g1{"g1", 50}, g2{"g2", 52}, go{"go"}, gi{"gi"};
inline constexpr tensor<std::int32_t> p0{"p0"}, p1{"p1"}, p2{"p2"}, p3{"p3"};
inline constexpr auto chain = stages(p1(g2) = p0(g2) * 2, p2(g1) = p1(g1) + p1(g1 + 2), p3(g) = p2(g) - p2(g + 2) * p1(g + 1));
inline constexpr auto chain_on_core = schedule(chain, core_with_tcm)
                                          .split(g, go, gi, 8)
                                          .compute_at(p2, go)
                                          .store_in(p2, tcm)
                                          .compute_at(p1, go)
                                          .store_in(p1, tcm)
                                          .stage(p1)
                                          .cache_read(p0, tcm)
                                          .at(go);

}  // namespace features
