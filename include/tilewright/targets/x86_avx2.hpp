#pragma once
#include <tilewright/targets/vector_core.hpp>

/// One core of an x86 processor with AVX2 and FMA, as a machine: memories that its caches hold, 16 vector registers, copies by itself.
///
/// Kernels for it are of the device binding; they call no function. `l2` is a pool: the caller gives its address. Compile them for
/// `x86-64-linux-sse41-avx-avx2-f16c-fma`, or for more.
namespace tilewright::targets::avx2 {

inline constexpr memory ram{.name = "ram", .behind_caches = true};
/// Packed blocks that stay in the second-level cache: half a megabyte of the one that most of these cores have.
inline constexpr memory l2{.name = "l2", .capacity = 1_MiB, .alignment = 64, .behind_caches = true};
inline constexpr memory ymm = register_file("ymm", 16, 32);
/// Bytes of one register.
inline constexpr std::int64_t vector_bytes = 32;
/// Elements of one register.
template <class Element>
inline constexpr std::int64_t lanes_of = vector_bytes / static_cast<std::int64_t>(sizeof(Element));
/// Bytes in [-64, 64], times bytes without sign: the sum of any two such products fits 16 bits.
inline constexpr std::int8_t furthest_reduced = 64;

/// Caches as many of these cores have them.
inline constexpr fixed_array<cache_level, max_cache_levels> caches{{{.bytes = 32_KiB, .ways = 8, .bytes_per_cycle = 32},
                                                                    {.bytes = 512_KiB, .ways = 8, .bytes_per_cycle = 8},
                                                                    {.bytes = 16_MiB, .ways = 16, .bytes_per_cycle = 4}}};
inline constexpr core cpu{.name = "avx2", .fused_multiply_add = true, .caches = caches};
inline constexpr transfer_cost by_loads_and_stores{.bytes_per_cycle = 16};
inline constexpr auto pack = transfer("pack", ram, l2).on(cpu).cost(by_loads_and_stores);
inline constexpr auto unpack = transfer("unpack", l2, ram).on(cpu).cost(by_loads_and_stores);
inline constexpr auto load = transfer("load", ram, ymm).on(cpu).cost(by_loads_and_stores);
inline constexpr auto store = transfer("store", ymm, ram).on(cpu).cost(by_loads_and_stores);
inline constexpr auto load_packed = transfer("load_packed", l2, ymm).on(cpu).cost(by_loads_and_stores);
inline constexpr auto store_packed = transfer("store_packed", ymm, l2).on(cpu).cost(by_loads_and_stores);

inline constexpr auto host = machine("x86_avx2", ram, l2, ymm, cpu, pack, unpack, load, store, load_packed, store_packed);
inline constexpr vector_core vectors{host, l2, ymm};

}  // namespace tilewright::targets::avx2
