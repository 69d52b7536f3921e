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

// The second of two banks, which alone is used.
constexpr memory banked{.name = "banked", .capacity = 4_KiB, .alignment = 64, .banks = 2};
constexpr auto to_bank = transfer("to_bank", dram, banked).on(cpu);
constexpr auto chip_of_banks = machine("chip_of_banks", dram, banked, cpu, to_bank);
constexpr auto in_second = schedule(raised, chip_of_banks).cache_read(x, banked).at(p).in_bank(1);
constexpr auto kept_in_second = schedule(raised, chip_of_banks).store_in(y, banked).in_bank(1);

}  // namespace pooled
