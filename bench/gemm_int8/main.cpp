#include <dnnl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "gemm_int8_kernels.h"
#include "peers.hpp"
#include "shapes.hpp"

// Products of bytes with sums of 32 bits on one core against oneDNN, which runs with AVX2 as well. Whatever widening and packing a product
// does is part of its time. With AVX2, oneDNN adds two products of bytes in 16 bits, which saturates unless the right operand has 7 bits;
// the last column says in how many elements its result is not the product.

namespace {

/// Checks and measures one shape. @param bits  of the right operand
template <class Left, class Kernel, class Peer>
void run(peers::summary& into, char const* types, int bits, int rows, int columns, int depth, Kernel const& ours, Peer const& theirs) {
    std::size_t const m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns), k = static_cast<std::size_t>(depth);
    auto const a = peers::aligned<Left>(m * k);
    auto const b = peers::aligned<std::int8_t>(k * n);
    auto const c = peers::aligned<std::int32_t>(m * n);
    peers::fill(a.get(), m * k, 1, std::is_signed_v<Left> ? -128 : 0, 256), peers::fill(b.get(), k * n, 2, -(1 << (bits - 1)), 1 << bits);
    std::vector<std::int32_t> expected(m * n, 0);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t l = 0; l < k; ++l) {
            for (std::size_t j = 0; j < n; ++j) expected[i * n + j] += int{a[i * k + l]} * int{b[l * n + j]};
        }
    }
    ours(a.get(), b.get(), c.get());
    if (!std::equal(expected.begin(), expected.end(), c.get())) {
        std::printf("%s %dx%dx%d is wrong\n", types, rows, columns, depth);
        std::exit(EXIT_FAILURE);
    }
    double const operations = 2.0 * rows * columns * depth;
    auto const call_theirs = [&] {
        std::int32_t const no_offset = 0;
        theirs('N', 'N', 'F', rows, columns, depth, 1.f, a.get(), depth, 0, b.get(), columns, 0, 0.f, c.get(), columns, &no_offset);
    };
    peers::rounds const measured({[&] { ours(a.get(), b.get(), c.get()); }, call_theirs}, operations > 1e10 ? 7 : 21,
                                 std::max(1, static_cast<int>(2e8 / operations)));
    call_theirs();
    std::size_t saturated = 0;
    for (std::size_t at = 0; at < m * n; ++at) saturated += c[at] != expected[at] ? 1 : 0;
    char shape[40];
    std::snprintf(shape, sizeof shape, "%s %dx%dx%d", types, rows, columns, depth);
    double const ratio = measured.ratio_to(1);
    std::printf("%-26s%12.1f%12.1f%12.3f%14.1f %%\n", shape, operations / measured.seconds(0) * 1e-9,
                operations / measured.seconds(1) * 1e-9, ratio, 100.0 * static_cast<double>(saturated) / static_cast<double>(m * n));
    std::fflush(stdout);
    into.add(ratio);
}

}  // namespace

int main(int count, char** arguments) try {
    peers::start_again_with({{"DNNL_MAX_CPU_ISA", "AVX2"}, {"OMP_NUM_THREADS", "1"}}, arguments);
    peers::pin(count, arguments);
    auto const pool = peers::aligned<char>(static_cast<std::size_t>(tilewright::targets::avx2::l2.capacity));
    peers::summary all;
    std::printf("%-26s%12s%12s%12s%16s\n", "Gop/s", "tilewright", "oneDNN", "to oneDNN", "oneDNN differs");
    // A kernel takes what its computation reads first in front of the rest: the right operand where that is reduced.
#define GEMM_OF(kind, types, bits, type, peer, rows, columns, depth, first, second)                                                   \
    run<type>(                                                                                                                        \
        all, types, bits, rows, columns, depth,                                                                                       \
        [&](type const* a, std::int8_t const* b, std::int32_t* c) {                                                                   \
            tilewright::call<gemm_int8_bench::kind##_##rows##x##columns##x##depth>(gemm_##kind##_##rows##x##columns##x##depth, first, \
                                                                                   second, static_cast<void*>(pool.get()), c);        \
        },                                                                                                                            \
        peer)
#define GEMM(rows, columns, depth)                                                                \
    GEMM_OF(u8, "u8s8s32", 8, std::uint8_t, dnnl_gemm_u8s8s32, rows, columns, depth, a, b);       \
    GEMM_OF(u8s7, "u8 x 7 bits", 7, std::uint8_t, dnnl_gemm_u8s8s32, rows, columns, depth, b, a); \
    GEMM_OF(s8, "s8s8s32", 8, std::int8_t, dnnl_gemm_s8s8s32, rows, columns, depth, a, b)
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
    std::printf("gemm_int8: geomean=%.3f min=%.3f\n", all.geometric_mean(), all.least);
    return EXIT_SUCCESS;
} catch (std::exception const& wrong) {
    std::fprintf(stderr, "gemm_int8: %s\n", wrong.what());
    return EXIT_FAILURE;
}
