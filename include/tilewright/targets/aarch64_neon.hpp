#pragma once
#include <tilewright/targets/vector_core.hpp>

/// One core of an AArch64 processor with Advanced SIMD (NEON), as a machine: as `x86_avx2.hpp`, with 32 registers of 16 bytes.
///
/// Kernels for it are of the device binding; they call no function. `l2` is a pool: the caller gives its address. Compile them for
/// `arm-64-linux`, on the machine where the tools run; `NAME_entry.c` is for the compiler of the processor.
namespace tilewright::targets::neon {

inline constexpr memory ram{.name = "ram"};
/// Packed blocks that stay in the second-level cache: half of it, where a core has 512 KiB.
inline constexpr memory l2{.name = "l2", .capacity = 256_KiB, .alignment = 64};
inline constexpr memory v = register_file("v", 32, 16);

inline constexpr core cpu{.name = "neon", .fused_multiply_add = true};
inline constexpr transfer_cost by_loads_and_stores{.bytes_per_cycle = 16};
inline constexpr auto pack = transfer("pack", ram, l2).on(cpu).cost(by_loads_and_stores);
inline constexpr auto unpack = transfer("unpack", l2, ram).on(cpu).cost(by_loads_and_stores);
inline constexpr auto load = transfer("load", ram, v).on(cpu).cost(by_loads_and_stores);
inline constexpr auto store = transfer("store", v, ram).on(cpu).cost(by_loads_and_stores);
inline constexpr auto load_packed = transfer("load_packed", l2, v).on(cpu).cost(by_loads_and_stores);
inline constexpr auto store_packed = transfer("store_packed", v, l2).on(cpu).cost(by_loads_and_stores);

inline constexpr auto host = machine("aarch64_neon", ram, l2, v, cpu, pack, unpack, load, store, load_packed, store_packed);
inline constexpr vector_core vectors{host, l2, v};

}  // namespace tilewright::targets::neon
