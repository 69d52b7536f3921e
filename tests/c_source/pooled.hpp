#pragma once
#include <tilewright/tilewright.hpp>

/// Kernels whose caller gives the address of a memory, and lets the result take the place of an input.
namespace pooled {

using namespace tilewright;

constexpr memory dram{.name = "dram"}, act_mem{.name = "act_mem", .capacity = 4_KiB, .alignment = 64};
constexpr core cpu{.name = "cpu"};
constexpr auto copy = transfer("copy", dram, act_mem).on(cpu);
constexpr auto chip = machine("chip", dram, act_mem, cpu, copy);

constexpr axis p{"p", 8}, q{"q", 32};
constexpr tensor<std::int32_t> x{"x"}, shift{"shift"}, y{"y"};
constexpr parameter<std::int32_t> amount{"amount"};

// Every element is read for the last time where it is computed; `shift` is read by all rows.
constexpr auto raised = y(p, q) = x(p, q) + shift(q) + amount;
constexpr auto raise = schedule(raised, chip).cache_read(x, act_mem).at(p);

// An element is read again after its mirror image has been overwritten.
constexpr auto mirrored = y(p, q) = x(p, 31 - q);
constexpr auto mirror = schedule(mirrored, chip);

}  // namespace pooled
