#pragma once
#include <tilewright/program/program_plan.hpp>
#include <tilewright/tilewright.hpp>

#include "../../examples/02_instruction/matmul.hpp"
#include "dma_machine.hpp"

/// Kernels that are traced: lesson 02 on smaller matrices, a program of two of them, and one with asynchronous transfers on channels.
namespace traced {

using namespace tilewright;

// clang-format off
inline constexpr axis m{"m", 64}, n{"n", 64}, k{"k", 64}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
inline constexpr auto matmul_on_npu = schedule(matmul, lesson_matmul::npu)
    .tile(m, n, mo, no, mi, ni, 32, 32).split(k, ko, ki, 32).reorder(mo, no, ko, mi, ni, ki)
    .cache_read(A, lesson_matmul::spad).at(ko).by(lesson_matmul::mvin)
    .cache_read(B, lesson_matmul::spad).at(ko).by(lesson_matmul::mvin)
    .cache_write(C, lesson_matmul::acc).at(no).by(lesson_matmul::mvout)
    .tensorize(mi, ni, ki, lesson_matmul::mac16);

/// Two products with one right side, one after the other.
inline constexpr agent on_npu("npu", lesson_matmul::npu);
inline constexpr tensor<std::int8_t> A2{"A2"};
inline constexpr tensor<std::int32_t> C2{"C2"};
inline constexpr auto both = program("both")
    .input(A, lesson_matmul::dram).input(A2, lesson_matmul::dram).input(B, lesson_matmul::dram)
    .run("product", on_npu, matmul_on_npu).bind(A, A).bind(B, B).bind(C, C)
    .run("again", on_npu, matmul_on_npu).bind(A, A2).bind(B, B).bind(C, C2)
    .output(C, lesson_matmul::dram).output(C2, lesson_matmul::dram);

inline constexpr axis p{"p", 1000}, po{"po"}, pi{"pi"};
inline constexpr tensor<std::int16_t> left{"left"}, right{"right"}, out{"out"};
inline constexpr auto add = out(p) = saturating_cast<std::int16_t>(cast<std::int32_t>(left(p)) + cast<std::int32_t>(right(p)));
inline constexpr auto add_on_dma = schedule(add, bring_up_dma::device)
    .split(p, po, pi, 64)
    .cache_read(left, bring_up_dma::tcm).at(po).by(bring_up_dma::fetch).buffers(2)
    .cache_read(right, bring_up_dma::tcm).at(po).by(bring_up_dma::fetch).buffers(2)
    .cache_write(out, bring_up_dma::tcm).at(po).by(bring_up_dma::store).buffers(2)
    .tensorize(pi, bring_up_dma::add_saturating);
// clang-format on

}  // namespace traced
