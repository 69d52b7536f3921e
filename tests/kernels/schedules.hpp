#pragma once
// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/tilewright.hpp>

/// The computations that the tests run, each with a schedule of another kind. Their references are in tests/reference.
namespace kernels {

using namespace tilewright;

/// A DSP: two levels of scratchpads that its core sees, DMA between neighbours and between the ends.
inline constexpr memory dram{.name = "dram"};
inline constexpr memory l2{.name = "l2", .base = 0x2000'0000, .capacity = 256_KiB, .alignment = 64};
inline constexpr memory l1{.name = "l1", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16};
inline constexpr engine dma{"dma"};
inline constexpr auto dram_l2 = transfer("dram_l2", dram, l2).on(dma).dimensions(2).cost({.latency = 40, .setup = 8, .bytes_per_cycle = 8});
inline constexpr auto l2_dram = transfer("l2_dram", l2, dram).on(dma).dimensions(2).cost({.latency = 40, .setup = 8, .bytes_per_cycle = 8});
inline constexpr auto l2_l1 = transfer("l2_l1", l2, l1).on(dma).dimensions(3).cost({.latency = 4, .bytes_per_cycle = 16});
inline constexpr auto l1_l2 = transfer("l1_l2", l1, l2).on(dma).dimensions(3).cost({.latency = 4, .bytes_per_cycle = 16});
inline constexpr auto dram_l1 = transfer("dram_l1", dram, l1).on(dma).dimensions(4).cost({.latency = 48, .bytes_per_cycle = 8});
inline constexpr auto l1_dram = transfer("l1_dram", l1, dram).on(dma).dimensions(4).cost({.latency = 48, .bytes_per_cycle = 8});
inline constexpr core scalar_core{.name = "scalar",
                                  .costs = {.load = 2, .store = 2, .arithmetic = 1, .multiply = 3, .divide = 12, .convert = 1}};
inline constexpr auto dsp = machine("dsp", dram, l2, l1, dma, dram_l2, l2_dram, l2_l1, l1_l2, dram_l1, l1_dram, scalar_core);

inline constexpr axis m{"m", 24}, n{"n", 40}, k{"k", 36};
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, kii{"kii"}, f{"f"};

template <class Element, class Sum>
struct operands {
    static constexpr tensor<Element> A{"A"}, B{"B"};
    static constexpr tensor<Sum> C{"C"};
};
using int8_operands = operands<std::int8_t, std::int32_t>;
using float_operands = operands<float, float>;

// Four transpositions of matmul, staged in one level, tile bodies vectorised, unrolled, fused.
inline constexpr auto matmul_nn = int8_operands::C(m, n) +=
    cast<std::int32_t>(int8_operands::A(m, k)) * cast<std::int32_t>(int8_operands::B(k, n));
inline constexpr auto matmul_nn_on_dsp = schedule(matmul_nn, dsp)
                                             .tile(m, n, mo, no, mi, ni, 8, 8)
                                             .split(k, ko, ki, 12)
                                             .reorder(mo, no, ko, mi, ki, ni)
                                             .vectorize(ni)
                                             .cache_read(int8_operands::A, l1)
                                             .at(ko)
                                             .by(dram_l1)
                                             .cache_read(int8_operands::B, l1)
                                             .at(ko)
                                             .by(dram_l1)
                                             .cache_write(int8_operands::C, l1)
                                             .at(no)
                                             .by(l1_dram);

inline constexpr auto matmul_nt = int8_operands::C(m, n) +=
    cast<std::int32_t>(int8_operands::A(m, k)) * cast<std::int32_t>(int8_operands::B(n, k));
// Through both scratchpads: a block of rows in l2, tiles of it in l1.
inline constexpr auto matmul_nt_on_dsp = schedule(matmul_nt, dsp)
                                             .tile(m, n, mo, no, mi, ni, 12, 20)
                                             .split(k, ko, ki, 9)
                                             .reorder(mo, no, ko, mi, ni, ki)
                                             .unroll(ki, 3)
                                             .cache_read(int8_operands::A, l2)
                                             .at(mo)
                                             .by(dram_l2)
                                             .cache_read(int8_operands::B, l2)
                                             .by(dram_l2)
                                             .cache_read(int8_operands::A, l1)
                                             .at(ko)
                                             .by(l2_l1)
                                             .cache_read(int8_operands::B, l1)
                                             .at(ko)
                                             .by(l2_l1)
                                             .cache_write(int8_operands::C, l2)
                                             .at(mo)
                                             .by(l2_dram)
                                             .cache_write(int8_operands::C, l1)
                                             .at(no)
                                             .by(l1_l2);

inline constexpr auto matmul_tn = float_operands::C(m, n) += float_operands::A(k, m) * float_operands::B(k, n);
inline constexpr auto matmul_tn_on_dsp = schedule(matmul_tn, dsp)
                                             .split(k, ko, ki, 4)
                                             .reorder(ko, ki, m, n)
                                             .fuse(m, n, f)
                                             .split(f, mo, mi, 8)
                                             .vectorize(mi)
                                             .cache_read(float_operands::A, l1)
                                             .at(ko)
                                             .by(dram_l1)
                                             .cache_read(float_operands::B, l1)
                                             .at(ko)
                                             .by(dram_l1)
                                             .cache_write(float_operands::C, l1)
                                             .by(l1_dram);

inline constexpr auto matmul_tt = float_operands::C(m, n) += float_operands::A(k, m) * float_operands::B(n, k);
// Nothing staged: the whole kernel is one tile body on the caller's memory.
inline constexpr auto matmul_tt_on_dsp = schedule(matmul_tt, dsp).split(n, no, ni, 8).reorder(m, no, k, ni).vectorize(ni).unroll(k, 4);

// Continuing from what the caller left in C.
inline constexpr auto matmul_continuing = int8_operands::C(m, n) =
    int8_operands::C(m, n) + sum(k, cast<std::int32_t>(int8_operands::A(m, k)) * cast<std::int32_t>(int8_operands::B(k, n)));
inline constexpr auto matmul_continuing_on_dsp = schedule(matmul_continuing, dsp)
                                                     .tile(m, n, mo, no, mi, ni, 6, 20)
                                                     .split(k, ko, ki, 18)
                                                     .reorder(mo, no, ko, mi, ni, ki)
                                                     .cache_read(int8_operands::A, l1)
                                                     .at(ko)
                                                     .cache_write(int8_operands::C, l1)
                                                     .at(no);

// conv1d: overlapping boxes.
inline constexpr axis o{"o", 96}, t{"t", 7}, oo{"oo"}, oi{"oi"};
inline constexpr tensor<float> in{"in"}, weights{"weights"}, out{"out"};
inline constexpr auto conv1d = out(o) += in(o + t) * weights(t);
inline constexpr auto conv1d_on_dsp = schedule(conv1d, dsp)
                                          .split(o, oo, oi, 16)
                                          .reorder(oo, t, oi)
                                          .vectorize(oi, 8)
                                          .cache_read(in, l1)
                                          .at(oo)
                                          .by(dram_l1)
                                          .cache_read(weights, l1)
                                          .by(dram_l1)
                                          .cache_write(out, l1)
                                          .at(oo)
                                          .by(l1_dram);

// conv2d, stride 2, dilation 2, height and width and channels in tiles.
inline constexpr axis y{"y", 8}, x{"x", 12}, c{"c", 8}, q{"q", 16}, r{"r", 3}, s{"s", 3};
inline constexpr axis yo{"yo"}, yi{"yi"}, xo{"xo"}, xi{"xi"}, qo{"qo"}, qi{"qi"};
inline constexpr tensor<std::int8_t> image{"image"}, filters{"filters"};
inline constexpr tensor<std::int32_t> features{"features"};
inline constexpr auto conv2d = features(y, x, q) +=
    cast<std::int32_t>(image(2 * y + 2 * r, 2 * x + 2 * s, c)) * cast<std::int32_t>(filters(r, s, c, q));
inline constexpr auto conv2d_on_dsp = schedule(conv2d, dsp)
                                          .tile(y, x, yo, xo, yi, xi, 2, 4)
                                          .split(q, qo, qi, 8)
                                          .reorder(qo, yo, xo, r, s, yi, xi, c, qi)
                                          .vectorize(qi)
                                          .cache_read(filters, l1)
                                          .at(qo)
                                          .by(dram_l1)
                                          .cache_read(image, l1)
                                          .at(xo)
                                          .by(dram_l1)
                                          .cache_write(features, l1)
                                          .at(xo)
                                          .by(l1_dram);

// Two stages: rows of the first are computed where the second needs them, halo included.
inline constexpr axis by{"by", 24}, bx{"bx", 32}, hy{"hy", 26}, hx{"hx", 32}, byo{"byo"}, byi{"byi"}, bxo{"bxo"}, bxi{"bxi"};
inline constexpr tensor<float> picture{"picture"}, blur_x{"blur_x"}, blur_y{"blur_y"};
inline constexpr auto blur = stages(blur_x(hy, hx) = (picture(hy, hx) + picture(hy, hx + 1) + picture(hy, hx + 2)) / 3.0f,
                                    blur_y(by, bx) = (blur_x(by, bx) + blur_x(by + 1, bx) + blur_x(by + 2, bx)) / 3.0f);
inline constexpr auto blur_on_dsp = schedule(blur, dsp)
                                        .tile(by, bx, byo, bxo, byi, bxi, 6, 16)
                                        .vectorize(bxi, 8)
                                        .cache_write(blur_y, l1)
                                        .at(bxo)
                                        .by(l1_dram)
                                        .compute_at(blur_x, bxo)
                                        .store_in(blur_x, l1)
                                        .stage(blur_x)
                                        .vectorize(hx, 8)
                                        .cache_read(picture, l1)
                                        .at(bxo)
                                        .by(dram_l1);
// The same, one stage after the other: what the first has staged is given back before the second stages its result.
inline constexpr auto blur_in_turn =
    schedule(blur, dsp).store_in(blur_x, l2).cache_write(blur_y, l1).by(l1_dram).stage(blur_x).cache_read(picture, l1).by(dram_l1);

inline constexpr axis row{"row", 30}, column{"column", 50}, rowo{"rowo"}, rowi{"rowi"}, columno{"columno"}, columni{"columni"};
inline constexpr tensor<float> table{"table"}, highest{"highest"};
inline constexpr auto row_max = highest(row) = maximum(column, table(row, column));
inline constexpr auto row_max_on_dsp = schedule(row_max, dsp)
                                           .split(row, rowo, rowi, 10)
                                           .split(column, columno, columni, 25)
                                           .reorder(rowo, columno, rowi, columni)
                                           .cache_read(table, l1)
                                           .at(columno)
                                           .by(dram_l1)
                                           .cache_write(highest, l1)
                                           .at(rowo)
                                           .by(l1_dram);
inline constexpr tensor<std::int32_t> numbers{"numbers"}, lowest{"lowest"};
inline constexpr auto row_min = lowest(row) = minimum(column, numbers(row, column));
inline constexpr auto row_min_on_dsp =
    schedule(row_min, dsp).split(row, rowo, rowi, 5).reorder(rowo, column, rowi).vectorize(rowi).cache_read(numbers, l1).at(rowo);

inline constexpr tensor<std::int16_t> u{"u"}, v{"v"};
inline constexpr tensor<std::int32_t> product{"product"};
inline constexpr auto outer_product = product(m, n) = cast<std::int32_t>(u(m)) * cast<std::int32_t>(v(n));
inline constexpr auto outer_product_on_dsp = schedule(outer_product, dsp)
                                                 .tile(m, n, mo, no, mi, ni, 8, 20)
                                                 .reorder(no, mo, mi, ni)
                                                 .cache_read(v, l1)
                                                 .at(no)
                                                 .by(dram_l1)
                                                 .cache_read(u, l2)
                                                 .by(dram_l2)
                                                 .cache_write(product, l1)
                                                 .at(mo)
                                                 .by(l1_dram);

inline constexpr axis ca{"ca", 6}, cb{"cb", 4}, cc{"cc", 10}, cd{"cd", 5}, ce{"ce", 8}, cao{"cao"}, cai{"cai"}, ceo{"ceo"}, cei{"cei"};
inline constexpr tensor<std::int32_t> left{"left"}, right{"right"}, contracted{"contracted"};
inline constexpr auto contraction = contracted(ca, cb, cc) += left(ca, cd, cb, ce) * right(ce, cc, cd);
inline constexpr auto contraction_on_dsp = schedule(contraction, dsp)
                                               .split(ca, cao, cai, 2)
                                               .split(ce, ceo, cei, 4)
                                               .reorder(cao, cb, cd, ceo, cai, cei, cc)
                                               .cache_read(left, l1)
                                               .at(cb)
                                               .by(dram_l1)
                                               .cache_read(right, l1)
                                               .at(ceo)
                                               .by(dram_l1)
                                               .cache_write(contracted, l1)
                                               .at(cb)
                                               .by(l1_dram);

inline constexpr axis e{"e", 120}, eo{"eo"}, ei{"ei"};
inline constexpr tensor<std::int16_t> p{"p"}, w{"w"}, selected{"selected"};
inline constexpr auto select_difference = selected(e) = select(p(e) > w(e), p(e) - w(e), w(e) * 3);
inline constexpr auto select_on_dsp = schedule(select_difference, dsp)
                                          .split(e, eo, ei, 24)
                                          .vectorize(ei, 8)
                                          .cache_read(p, l1)
                                          .at(eo)
                                          .by(dram_l1)
                                          .cache_read(w, l2)
                                          .at(eo)
                                          .by(dram_l2)
                                          .cache_write(selected, l1)
                                          .at(eo)
                                          .by(l1_dram);

}  // namespace kernels
