#pragma once
#include <tilewright/tilewright.hpp>

/// Lesson 00: a copy that is an instruction, into a buffer that is an address.
namespace lesson_copy {

using namespace tilewright;

// The accelerator reads and writes its own memory only. mvin(source, destination, bytes) moves data there from DRAM.
inline constexpr memory dram{.name = "dram"};
inline constexpr memory local{.name = "local", .base = 0x5000'0000, .capacity = 16_KiB, .alignment = 16, .host_visible = false};
inline constexpr auto mvin = transfer("mvin", dram, local).cost({.latency = 20, .bytes_per_cycle = 8});
inline constexpr auto accelerator = machine("accelerator", dram, local, mvin);

// A_buf is A, element by element.
inline constexpr axis i{"i", 4}, j{"j", 4}, k{"k", 1}, l{"l", 8};
inline constexpr tensor<std::uint8_t> A{"A"}, A_buf{"A_buf"};
inline constexpr auto copy = A_buf(i, j, k, l) = A(i, j, k, l);

// It lives in the accelerator's memory, and the copy is that instruction.
inline constexpr auto copy_by_mvin = schedule(copy, accelerator).store_in(A_buf, local).by(mvin);

// Without the instruction, loops would write to a memory that they cannot see. This is refused.
inline constexpr auto copy_by_loops = schedule(copy, accelerator).store_in(A_buf, local);

static_assert(plan<copy_by_mvin>.calls(mvin) == 1 && plan<copy_by_mvin>.bytes(mvin) == 128);
static_assert(plan<copy_by_mvin>.peak(local) == 128);
static_assert(planned<copy_by_loops>::refusal.kind == verdict_kind::host_access);

}  // namespace lesson_copy
