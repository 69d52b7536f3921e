#pragma once
#include "plan/small_kernels.hpp"

// Machines of several cores, for the tests of what they share.
namespace small_kernels {

/// 1 KiB for each core, and 4 KiB for all.
inline constexpr memory own{.name = "own", .base = 0x2000'0000, .capacity = 1_KiB, .per_core = true},
    common{.name = "common", .base = 0x4000'0000, .capacity = 4_KiB};
inline constexpr engine own_dma{.name = "own_dma", .per_core = true}, dma_of_all{.name = "dma_of_all", .channels = 4};
inline constexpr auto into_own = transfer("into_own", dram, own).on(own_dma).asynchronous().dimensions(2);
inline constexpr auto into_common = transfer("into_common", dram, common).on(dma_of_all).asynchronous().dimensions(2);
inline constexpr core pair_of_cores{.name = "pair", .count = 2, .barrier_cycles = 7, .signal_cycles = 5},
    four_cores{.name = "four", .count = 4, .barrier_cycles = 7};
inline constexpr auto two = machine("two", dram, own, common, own_dma, dma_of_all, into_own, into_common, pair_of_cores);
inline constexpr auto four = machine("four", dram, own, common, own_dma, dma_of_all, into_own, into_common, four_cores);

/// One call for all cores.
inline constexpr auto into_all = transfer("into_all", dram, own).multicast().on(dma_of_all).asynchronous().dimensions(2);
inline constexpr auto four_at_once =
    machine("four_at_once", dram, own, common, own_dma, dma_of_all, into_own, into_common, into_all, four_cores);

inline constexpr tensor<std::int32_t> S{"S"};
inline constexpr axis rows{"rows", 12};
/// Two stages of the same shape; and one that reads three rows of the other.
inline constexpr auto twice = stages(S(m, n) = A(m, n) + 1, C(m, n) = S(m, n) * 2);
inline constexpr auto blur = stages(S(rows, n) = A(rows, n) + 1, C(m, n) = S(m, n) + S(m + 1, n) + S(m + 2, n));

}  // namespace small_kernels
