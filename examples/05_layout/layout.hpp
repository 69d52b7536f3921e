#pragma once
#include "../02_instruction/matmul.hpp"

/// Lesson 05: an array that takes the rows of its left operand only when they follow each other.
namespace lesson_layout {

using namespace tilewright;

using lesson_matmul::dram, lesson_matmul::spad, lesson_matmul::acc, lesson_matmul::loader, lesson_matmul::storer, lesson_matmul::array;
using lesson_matmul::mvin, lesson_matmul::mvout, lesson_matmul::a;

// The instructions of lesson 02, with rows of `a` at most 16 elements apart.
inline constexpr auto mac16 = intrinsic(lesson_matmul::mac16).stride_at_most(a, 16);
inline constexpr auto mul16 = intrinsic(lesson_matmul::mul16).stride_at_most(a, 16);
// mvin moves rows. mvin_4d moves planes of planes of rows by one call.
inline constexpr auto mvin_4d = transfer("mvin_4d", dram, spad).on(loader).dimensions(4).cost({.latency = 64, .bytes_per_cycle = 16});
inline constexpr auto npu = machine("npu", dram, spad, acc, loader, storer, array, mvin, mvin_4d, mvout, mac16, mul16);

inline constexpr axis m{"m", 128}, n{"n", 128}, k{"k", 128};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

// Where the element of row i and column l of a tile is: 16 x 16 panels, one after the other.
inline constexpr auto panels = [](auto i, auto l) { return index_map(i / 16, l / 16, i % 16, l % 16); };
// This map forgets which of 16 columns it is. It is refused.
inline constexpr auto lossy = [](auto i, auto l) { return index_map(i / 16, l / 16, i % 16); };

inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
// clang-format off
constexpr schedule tiled() {
    return schedule(matmul, npu).tile(m, n, mo, no, mi, ni, 64, 64).split(k, ko, ki, 64).reorder(mo, no, ko, mi, ni, ki)
        .cache_read(B, spad).at(ko).by(mvin)
        .cache_write(C, acc).at(no).by(mvout);
}
inline constexpr auto in_rows = tiled()
    .cache_read(A, spad).at(ko).by(mvin)
    .tensorize(mi, ni, ki, mac16);
inline constexpr auto in_panels_by_rows = tiled()
    .cache_read(A, spad).at(ko).by(mvin).layout(panels)
    .tensorize(mi, ni, ki, mac16);
inline constexpr auto in_panels = tiled()
    .cache_read(A, spad).at(ko).by(mvin_4d).layout(panels)
    .tensorize(mi, ni, ki, mac16);
inline constexpr auto in_too_few_places = tiled()
    .cache_read(A, spad).at(ko).by(mvin_4d).layout(lossy)
    .tensorize(mi, ni, ki, mac16);
// clang-format on

static_assert(planned<in_rows>::refusal.kind == verdict_kind::intrinsic_mismatch);
static_assert(planned<in_too_few_places>::refusal.kind == verdict_kind::layout_mismatch);
static_assert(plan<in_panels>.calls(mvin_4d) == 8 && plan<in_panels_by_rows>.calls(mvin) == 8 * 16 + 8);

}  // namespace lesson_layout
