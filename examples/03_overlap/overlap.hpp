#pragma once
#include "../02_instruction/matmul.hpp"

/// Lesson 03: the next tiles come in while the array multiplies.
namespace lesson_overlap {

using namespace tilewright;

// The machine of lesson 02, and the same machine with transfers that return before they are complete.
using lesson_matmul::dram, lesson_matmul::spad, lesson_matmul::acc;
using lesson_matmul::loader, lesson_matmul::storer, lesson_matmul::array, lesson_matmul::mac16, lesson_matmul::mul16;
using lesson_matmul::mvin, lesson_matmul::mvout, lesson_matmul::npu;
inline constexpr auto start_mvin = transfer(mvin).asynchronous();
inline constexpr auto start_mvout = transfer(mvout).asynchronous();
inline constexpr auto npu_with_dma = machine("npu_with_dma", dram, spad, acc, loader, storer, array, start_mvin, start_mvout, mac16, mul16);

// Small enough to see all of it on a timeline: 2 x 2 tiles of C with 2 steps each.
inline constexpr axis m{"m", 128}, n{"n", 128}, k{"k", 128};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
// clang-format off
constexpr schedule in_versions(int versions, machine const& where) {
    return schedule(matmul, where)
        .tile(m, n, mo, no, mi, ni, 64, 64).split(k, ko, ki, 64).reorder(mo, no, ko, mi, ni, ki)
        .cache_read(A, spad).at(ko).by(mvin).buffers(versions)
        .cache_read(B, spad).at(ko).by(mvin).buffers(versions)
        .cache_write(C, acc).at(no).by(mvout).buffers(versions)
        .tensorize(mi, ni, ki, mac16);
}
// clang-format on
inline constexpr schedule blocking = in_versions(1, npu), overlapped = in_versions(2, npu_with_dma);

// Two versions are of no use to transfers that block. This is refused.
inline constexpr schedule two_of_blocking = in_versions(2, npu);

static_assert(plan<blocking>.peak(spad) == 8_KiB && plan<overlapped>.peak(spad) == 16_KiB);
static_assert(planned<two_of_blocking>::refusal.kind == verdict_kind::versions_without_use);

}  // namespace lesson_overlap
