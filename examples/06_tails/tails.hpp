#pragma once
#include "../02_instruction/matmul.hpp"

/// Lesson 06: extents that neither tiles nor instructions divide.
namespace lesson_tails {

using namespace tilewright;

using lesson_matmul::dram, lesson_matmul::spad, lesson_matmul::acc, lesson_matmul::loader, lesson_matmul::storer, lesson_matmul::array;
using lesson_matmul::mac16, lesson_matmul::mul16, lesson_matmul::i, lesson_matmul::j, lesson_matmul::l;
using lesson_matmul::mvin, lesson_matmul::mvout, lesson_matmul::npu;

// A machine that can fill the scratchpad with zeros. Its instructions always take 16 x 16 x 16.
inline constexpr tensor<std::int8_t> z{"z"};
inline constexpr auto zero = transfer("zero", dram, spad, z(i) = 0).on(loader).dimensions(2).cost({.bytes_per_cycle = 64});
inline constexpr auto filling_npu = machine("filling_npu", dram, spad, acc, loader, storer, array, mvin, mvout, zero, mac16, mul16);

// A machine whose instructions are told how much there is. Each row of the result takes a cycle.
inline constexpr auto mac_up_to = intrinsic(mac16).up_to(i, j, l).cycles(0, per(i));
inline constexpr auto mul_up_to = intrinsic(mul16).up_to(i, j, l).cycles(0, per(i));
inline constexpr auto told_npu = machine("told_npu", dram, spad, acc, loader, storer, array, mvin, mvout, mac_up_to, mul_up_to);

inline constexpr axis m{"m", 100}, n{"n", 70}, k{"k", 50};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

// The schedule does not speak of tails.
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
// clang-format off
constexpr schedule tiled(machine const& where) {
    return schedule(matmul, where)
        .tile(m, n, mo, no, mi, ni, 64, 64).split(k, ko, ki, 32).reorder(mo, no, ko, mi, ni, ki)
        .cache_read(A, spad).at(ko).by(mvin)
        .cache_read(B, spad).at(ko).by(mvin)
        .cache_write(C, acc).at(no).by(mvout)
        .tensorize(mi, ni, ki, mac16);
}
// clang-format on
inline constexpr schedule with_fills = tiled(filling_npu), with_extents = tiled(told_npu);

// The machine of lesson 02 can do neither. This is refused.
inline constexpr schedule with_neither = tiled(npu);
static_assert(planned<with_neither>::refusal.kind == verdict_kind::partial_step);

// Only what there is moves, and C goes out once.
static_assert(plan<with_fills>.bytes(mvout) == 100 * 70 * 4 && plan<with_extents>.bytes(mvout) == 100 * 70 * 4);
static_assert(plan<with_extents>.cycles() < plan<with_fills>.cycles());

}  // namespace lesson_tails
