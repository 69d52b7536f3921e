#pragma once
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/kernels/vnni/gemm.hpp>
#include <tilewright/targets/x86_avx512.hpp>
#include <tilewright/tilewright.hpp>

/// A product with schedules for processors with AVX-512, with AVX2, and for any of x86-64.
namespace variants {

using namespace tilewright;
using kernel::gemm_of;
using kernel::gemm_shape;
using kernel::tiled_gemm;

/// Any processor of x86-64: 16 registers of 16 bytes, products and sums that are rounded each.
namespace any {
inline constexpr memory ram{.name = "ram"}, l2{.name = "l2", .capacity = 1_MiB, .alignment = 64};
inline constexpr memory xmm = register_file("xmm", 16, 16);
inline constexpr core cpu{.name = "any"};
inline constexpr auto pack = transfer("pack", ram, l2).on(cpu), unpack = transfer("unpack", l2, ram).on(cpu);
inline constexpr auto load = transfer("load", ram, xmm).on(cpu), store = transfer("store", xmm, ram).on(cpu);
inline constexpr auto load_packed = transfer("load_packed", l2, xmm).on(cpu), store_packed = transfer("store_packed", xmm, l2).on(cpu);
inline constexpr auto host = machine("x86", ram, l2, xmm, cpu, pack, unpack, load, store, load_packed, store_packed);
inline constexpr targets::vector_core vectors{host, l2, xmm};
}  // namespace any

inline constexpr gemm_shape shape{24, 64, 20};
inline constexpr auto on_avx512 =
    tiled_gemm(gemm_of<float, shape>, {.rows = 12, .vectors = 2, .block_rows = 24, .packs_rows = true}, targets::avx512::vectors);
inline constexpr auto on_avx2 =
    tiled_gemm(gemm_of<float, shape>, {.rows = 6, .vectors = 2, .block_rows = 12, .block_columns = 32, .packs_rows = true});
inline constexpr auto on_any =
    tiled_gemm(gemm_of<float, shape>, {.rows = 4, .vectors = 2, .block_rows = 12, .block_columns = 32, .packs_rows = true}, any::vectors);

/// One schedule for several targets.
inline constexpr axis x{"x", 1000};
inline constexpr tensor<float> a{"a"}, b{"b"}, sum{"sum"};
inline constexpr auto add = sum(x) = a(x) + b(x);
inline constexpr memory ram{.name = "ram"};
inline constexpr core cpu{.name = "cpu"};
inline constexpr auto plain = machine("plain", ram, cpu);
inline constexpr axis xo{"xo"}, xi{"xi"};
inline constexpr auto added = schedule(add, plain).split(x, xo, xi, 8).vectorize(xi);

/// Products of bytes whose C functions need VNNI, of AVX-512 or of AVX.
inline constexpr auto bytes_on_avx512 =
    tiled_gemm(kernel::vnni_gemm_of<std::uint8_t, gemm_shape{24, 64, 20}>, {.block_rows = 24, .panel_columns = 32, .block_depth = 20},
               targets::vnni::avx512_products);
inline constexpr auto bytes_on_avx = tiled_gemm(kernel::vnni_gemm_of<std::uint8_t, gemm_shape{24, 64, 20}>,
                                                {.block_rows = 24, .panel_columns = 32, .block_depth = 20}, targets::vnni::avx_products);

}  // namespace variants
