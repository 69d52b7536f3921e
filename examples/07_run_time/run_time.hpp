#pragma once
#include "../02_instruction/matmul.hpp"

/// Lesson 07: the number of rows is known when the kernel is called.
namespace lesson_run_time {

using namespace tilewright;

using lesson_matmul::spad, lesson_matmul::acc, lesson_matmul::mvin, lesson_matmul::mvout, lesson_matmul::mac16, lesson_matmul::npu;

inline constexpr axis m{"m", dynamic}, n{"n", 128}, k{"k", 128};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"};
// clang-format off
inline constexpr auto any_rows = schedule(matmul, npu)
    .tile(m, n, mo, no, mi, ni, 64, 64)
    .cache_read(A, spad).at(mo).by(mvin)
    .cache_read(B, spad).at(no).by(mvin)
    .cache_write(C, acc).at(no).by(mvout)
    .tensorize(mi, ni, k, mac16);

/// All rows of A at once: nobody knows how many bytes that is. This is refused.
inline constexpr auto all_rows = schedule(matmul, npu)
    .tile(m, n, mo, no, mi, ni, 64, 64)
    .cache_read(A, spad).by(mvin)
    .cache_read(B, spad).at(no).by(mvin)
    .cache_write(C, acc).at(no).by(mvout)
    .tensorize(mi, ni, k, mac16);
// clang-format on

// Bytes do not depend on the rows. Cycles do: ask for them at some rows.
static_assert(plan<any_rows>.peak(spad) == 64 * 128 + 128 * 64 && plan<any_rows>.peak(acc) == 64 * 64 * 4);
static_assert(plan<any_rows>.at({{m, 64}}).cycles() < plan<any_rows>.at({{m, 65}}).cycles());
static_assert(planned<all_rows>::refusal.kind == verdict_kind::run_time_box);

}  // namespace lesson_run_time
