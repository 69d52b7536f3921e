#pragma once
#include <tilewright/targets/vector_core.hpp>

/// One core of an x86 processor with AVX-512, as a machine: as `x86_avx2.hpp`, with 32 registers of 64 bytes.
///
/// Kernels for it are of the device binding; they call no function. `l2` is a pool: the caller gives its address. What is left at the end
/// of a row is copied by vectors with masks. Compile them for `x86-64-linux-sse41-avx-avx2-f16c-fma-avx512-avx512_skylake`, or for more.
/// On processors without AVX-512 F, CD, BW, DQ and VL, such kernels return a code.
namespace tilewright::targets::avx512 {

inline constexpr memory ram{.name = "ram", .behind_caches = true};
/// Packed blocks that stay in the second-level cache: half of it, or more, on processors with these instructions.
inline constexpr memory l2{.name = "l2", .capacity = 1_MiB, .alignment = 64, .behind_caches = true};
inline constexpr memory zmm = register_file("zmm", 32, 64);

/// Caches as many of these cores have them.
inline constexpr fixed_array<cache_level, max_cache_levels> caches{{{.bytes = 32_KiB, .ways = 8, .bytes_per_cycle = 32},
                                                                    {.bytes = 1_MiB, .ways = 8, .bytes_per_cycle = 8},
                                                                    {.bytes = 32_MiB, .ways = 16, .bytes_per_cycle = 4}}};
inline constexpr core cpu{.name = "avx512", .fused_multiply_add = true, .caches = caches};
inline constexpr transfer_cost by_loads_and_stores{.bytes_per_cycle = 32};
inline constexpr auto pack = transfer("pack", ram, l2).on(cpu).cost(by_loads_and_stores);
inline constexpr auto unpack = transfer("unpack", l2, ram).on(cpu).cost(by_loads_and_stores);
inline constexpr auto load = transfer("load", ram, zmm).on(cpu).cost(by_loads_and_stores);
inline constexpr auto store = transfer("store", zmm, ram).on(cpu).cost(by_loads_and_stores);
inline constexpr auto load_packed = transfer("load_packed", l2, zmm).on(cpu).cost(by_loads_and_stores);
inline constexpr auto store_packed = transfer("store_packed", zmm, l2).on(cpu).cost(by_loads_and_stores);

inline constexpr auto host = machine("x86_avx512", ram, l2, zmm, cpu, pack, unpack, load, store, load_packed, store_packed);
inline constexpr vector_core vectors{host, l2, zmm};

}  // namespace tilewright::targets::avx512
