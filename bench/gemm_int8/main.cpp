#include <dnnl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <tilewright/kernels/avx2/cycles.hpp>
#include <tilewright/kernels/vnni/gemm.hpp>
#include <tilewright/plan/best_tile.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "at_run_time.hpp"
#include "gemm_int8_kernels.h"
#include "onednn.hpp"
#include "peers.hpp"
#include "products.hpp"
#include "shapes.hpp"

// Products of bytes with sums of 32 bits on one core against oneDNN. Whatever widening and packing a product does is part of its time. With
// AVX2, oneDNN adds two products of bytes in 16 bits, which saturates unless the right operand has 7 bits; the last column says in how many
// elements its result is not the product.
//
//     gemm_int8 [--seed=N] [--core=N] [MxNxK…]

namespace {

using peers::product_shape;
template <class Left>
using product = std::function<void(Left const*, std::int8_t const*, std::int32_t*)>;
/// Finds a product of ours, by trying it on these operands where there is a choice.
template <class Left>
using search = std::function<product<Left>(Left const*, std::int8_t const*, std::int32_t*)>;

/// What is multiplied, beside the type of the left operand. @tparam Left  of it
template <class Left>
struct measured_product {
    char const* types;
    int bits;  ///< of the right operand

    void call(product_shape const& of, Left const* a, std::int8_t const* b, std::int32_t* c) const {
        std::int32_t const no_offset = 0;
        auto const [rows, columns, depth] = of;
        if constexpr (std::is_signed_v<Left>)
            dnnl_gemm_s8s8s32('N', 'N', 'F', rows, columns, depth, 1.f, a, depth, 0, b, columns, 0, 0.f, c, columns, &no_offset);
        else dnnl_gemm_u8s8s32('N', 'N', 'F', rows, columns, depth, 1.f, a, depth, 0, b, columns, 0, 0.f, c, columns, &no_offset);
    }
};
constexpr measured_product<std::uint8_t> u8{"u8s8s32", 8}, u8s7{"u8 x 7 bits", 7};
constexpr measured_product<std::int8_t> s8{"s8s8s32", 8};

/// Checks and measures one shape. @param find  the product of ours
template <class Left>
void run(peers::summary& into, measured_product<Left> const& what, product_shape const& of,
         std::type_identity_t<search<Left>> const& find) {
    int const rows = of.rows, columns = of.columns, depth = of.depth;
    std::size_t const m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns), k = static_cast<std::size_t>(depth);
    auto const a = peers::aligned<Left>(m * k);
    auto const b = peers::aligned<std::int8_t>(k * n);
    auto const c = peers::aligned<std::int32_t>(m * n);
    peers::fill(a.get(), m * k, 1, std::is_signed_v<Left> ? -128 : 0, 256);
    peers::fill(b.get(), k * n, 2, -(1 << (what.bits - 1)), 1 << what.bits);
    std::vector<std::int32_t> expected(m * n, 0);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t l = 0; l < k; ++l) {
            for (std::size_t j = 0; j < n; ++j) expected[i * n + j] += int{a[i * k + l]} * int{b[l * n + j]};
        }
    }
    std::string const shape = std::string(what.types) + " " + text_of(of);
    product<Left> const ours = find(a.get(), b.get(), c.get());
    std::fill_n(c.get(), m * n, -1);
    ours(a.get(), b.get(), c.get());
    if (!std::equal(expected.begin(), expected.end(), c.get())) throw std::runtime_error(shape + " is wrong");
    double const operations = 2.0 * rows * columns * depth;
    auto const call_theirs = [&] { what.call(of, a.get(), b.get(), c.get()); };
    peers::rounds const measured({[&] { ours(a.get(), b.get(), c.get()); }, call_theirs}, operations > 1e10 ? 7 : 21,
                                 std::max(1, static_cast<int>(2e8 / operations)));
    peers::expect_one_thread();
    call_theirs();
    std::size_t saturated = 0;
    for (std::size_t at = 0; at < m * n; ++at) saturated += c[at] != expected[at] ? 1 : 0;
    double const ratio = measured.ratio_to(1);
    std::printf("%-26s%12.1f%12.1f%12.3f%14.1f %%\n", shape.c_str(), operations / measured.seconds(0) * 1e-9,
                operations / measured.seconds(1) * 1e-9, ratio, 100.0 * static_cast<double>(saturated) / static_cast<double>(m * n));
    std::fflush(stdout);
    into.add(ratio);
}

/// Of a shape that has no kernel yet: the fastest of some tiles, compiled here.
/// @param scheduled  the schedule with a tile @param cost  of a plan
template <class Left>
void compile_and_run(peers::summary& into, measured_product<Left> const& what, product_shape const& of, auto const& tiles,
                     auto const& scheduled, auto const& cost, void* pool) {
    run(into, what, of, [&](Left const* a, std::int8_t const* b, std::int32_t* c) -> product<Left> {
        auto const call = [](peers::compiled_kernel const& one, Left const* left, std::int8_t const* right, std::int32_t* result) {
            one.reads_first("B") ? one({right, left, result}) : one({left, right, result});
        };
        std::shared_ptr<peers::compiled_kernel const> const found =
            peers::fastest_of(tiles, scheduled, cost, pool, peers::halide_target_of(peers::level::same_instructions),
                              [&](peers::compiled_kernel const& one) { call(one, a, b, c); });
        return [=](Left const* left, std::int8_t const* right, std::int32_t* result) { call(*found, left, right, result); };
    });
}
template <class Left>
void run_avx2(peers::summary& into, measured_product<Left> const& what, product_shape const& of, auto const& problem, std::int64_t terms,
              void* pool) {
    using namespace tilewright;
    compile_and_run(
        into, what, of, kernel::bytes_tiles_for({of.rows, of.columns, of.depth}, terms),
        [&](kernel::gemm_bytes_tile const& tile) { return kernel::tiled_gemm(problem, tile); }, targets::avx2::cycles{}, pool);
}
template <class Left>
void run_vnni(peers::summary& into, measured_product<Left> const& what, product_shape const& of, void* pool) {
    using namespace tilewright;
    kernel::gemm_shape const shape{of.rows, of.columns, of.depth};
    auto const compile = [&](auto const& problem) {
        compile_and_run(
            into, what, of, kernel::vnni_tiles_for(shape),
            [&](kernel::vnni_gemm_tile const& tile) { return kernel::tiled_gemm(problem, tile, targets::vnni::avx512_products); },
            by_cycles{}, pool);
    };
    if (of.depth % 4 == 0) compile(kernel::vnni_gemm<Left>(shape));
    else compile(kernel::vnni_gemm<Left, true>(shape));
}
void run_any(peers::summary& into, peers::level at, product_shape const& of, void* pool) {
    using namespace tilewright::kernel;
    if (peers::runs_vnni(at)) {
        run_vnni(into, u8, of, pool), run_vnni(into, s8, of, pool);
        return;
    }
    gemm_shape const shape{of.rows, of.columns, of.depth};
    run_avx2(into, u8, of, gemm_bytes<std::uint8_t, std::int8_t>(shape), 2, pool);
    run_avx2(into, u8s7, of, gemm_reduced_bytes(shape), 4, pool);
    run_avx2(into, s8, of, gemm_bytes<std::int8_t, std::int8_t>(shape), 2, pool);
}

void run_listed(peers::summary& into, peers::level at, void* pool) {
    // A kernel takes what its computation reads first in front of the rest: the right operand where that is reduced.
#define GEMM_OF(kind, rows, columns, depth, first, second)                                            \
    run(into, kind, {rows, columns, depth}, [&](auto const*, std::int8_t const*, std::int32_t*) {     \
        return [=](auto const* a, std::int8_t const* b, std::int32_t* c) {                            \
            peers::expect_run(tilewright::call<gemm_int8_bench::kind##_##rows##x##columns##x##depth>( \
                gemm_##kind##_##rows##x##columns##x##depth, first, second, pool, c));                 \
        };                                                                                            \
    })
    // Kernels with VNNI are compiled here.
#define GEMM(rows, columns, depth)                                             \
    if (peers::runs_vnni(at)) run_any(into, at, {rows, columns, depth}, pool); \
    else {                                                                     \
        GEMM_OF(u8, rows, columns, depth, a, b);                               \
        GEMM_OF(u8s7, rows, columns, depth, b, a);                             \
        GEMM_OF(s8, rows, columns, depth, a, b);                               \
    }
    GEMM(64, 64, 64);
    GEMM(256, 256, 256);
    GEMM(512, 512, 512);
    GEMM(1024, 1024, 1024);
    GEMM(2048, 2048, 2048);
    GEMM(64, 3136, 576);
    GEMM(256, 3136, 64);
    GEMM(256, 196, 2304);
    GEMM(512, 49, 4608);
    GEMM(1, 1024, 1024);
#undef GEMM
#undef GEMM_OF
}

peers::named_figures run_all(peers::request const& asked) {
    auto const pool = peers::aligned<char>(static_cast<std::size_t>(tilewright::targets::avx2::l2.capacity));
    std::printf("tilewright: %s\n%s\n\n", peers::runs_vnni(asked.instructions) ? "AVX-512 VNNI" : "AVX2",
                peers::onednn_runs(asked.instructions).c_str());
    std::printf("%-26s%12s%12s%12s%16s\n", "Gop/s", "tilewright", "oneDNN", "to oneDNN", "oneDNN differs");
    peers::summary listed, random;
    bool const lists = asked.shapes.empty();
    if (lists) run_listed(listed, asked.instructions, pool.get());
    for (product_shape const& of : peers::other_products(asked)) run_any(lists ? random : listed, asked.instructions, of, pool.get());
    peers::named_figures figures{{"geomean", listed.geometric_mean()}, {"min", listed.least}};
    if (lists) figures.emplace_back("random_geomean", random.geometric_mean());
    return figures;
}

}  // namespace

int main(int count, char** arguments) { return peers::compare({"gemm_int8", peers::onednn_asks, run_all}, count, arguments); }
