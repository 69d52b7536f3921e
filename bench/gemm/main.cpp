#include <dnnl.h>

#include <cstdio>
#include <tilewright/runtime/call.hpp>

#include "blas.hpp"
#include "gemm_1024x1024x1024.h"
#include "gemm_1x1024x1024.h"
#include "gemm_2048x2048x2048.h"
#include "gemm_256x196x2304.h"
#include "gemm_256x256x256.h"
#include "gemm_256x3136x64.h"
#include "gemm_512x49x4608.h"
#include "gemm_512x512x512.h"
#include "gemm_64x3136x576.h"
#include "gemm_64x64x64.h"
#include "peers.hpp"
#include "shapes.hpp"

// Products of single precision on one core against OpenBLAS, BLIS and oneDNN, which run with AVX2 as well. Whatever packing a product does
// is part of its time. The candidates take turns in every round, so that what disturbs the machine disturbs them all.

namespace {

using product = std::function<void(float const*, float const*, float*)>;

/// Checks and measures one shape.
void run(peers::summary& into, blas_library const& openblas, blas_library const& blis, int rows, int columns, int depth,
         product const& ours) {
    std::size_t const m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns), k = static_cast<std::size_t>(depth);
    auto const a = peers::aligned<float>(m * k), b = peers::aligned<float>(k * n), c = peers::aligned<float>(m * n);
    peers::fill(a.get(), m * k, 1), peers::fill(b.get(), k * n, 2);
    std::vector<float> expected(m * n, 0);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t l = 0; l < k; ++l) {
            for (std::size_t j = 0; j < n; ++j) expected[i * n + j] += a[i * k + l] * b[l * n + j];
        }
    }
    ours(a.get(), b.get(), c.get());
    if (!std::equal(expected.begin(), expected.end(), c.get())) {
        std::printf("%dx%dx%d is wrong\n", rows, columns, depth);
        std::exit(EXIT_FAILURE);
    }
    float const *const x = a.get(), *const y = b.get();
    float* const z = c.get();
    double const operations = 2.0 * rows * columns * depth;
    peers::rounds const measured({[&] { ours(x, y, z); }, [&] { openblas.multiply(rows, columns, depth, x, y, z); },
                                  [&] { blis.multiply(rows, columns, depth, x, y, z); },
                                  [&] { dnnl_sgemm('N', 'N', rows, columns, depth, 1, x, depth, y, columns, 0, z, columns); }},
                                 operations > 1e10 ? 7 : 21, std::max(1, static_cast<int>(2e8 / operations)));
    std::vector<double> seconds;
    for (std::size_t which = 0; which < measured.candidates(); ++which) seconds.push_back(measured.seconds(which));
    double const best = *std::min_element(seconds.begin() + 1, seconds.end()), ratio = best / seconds[0];
    char shape[40];
    std::snprintf(shape, sizeof shape, "%dx%dx%d", rows, columns, depth);
    std::printf("%-18s", shape);
    for (double one : seconds) std::printf("%12.1f", operations / one * 1e-9);
    std::printf("%12.3f\n", ratio);
    std::fflush(stdout);
    into.add(ratio);
}

}  // namespace

int main(int count, char** arguments) try {
    // The peers are asked for the same instructions and for one thread, before any of them is loaded.
    constexpr char const* haswell_in_blis = "3";
    peers::start_again_with({{"OPENBLAS_CORETYPE", "Haswell"},
                             {"OPENBLAS_NUM_THREADS", "1"},
                             {"BLIS_ARCH_TYPE", haswell_in_blis},
                             {"BLIS_NUM_THREADS", "1"},
                             {"DNNL_MAX_CPU_ISA", "AVX2"},
                             {"OMP_NUM_THREADS", "1"}},
                            arguments);
    peers::pin(count, arguments);

    blas_library const openblas(OPENBLAS), blis(BLIS);
    auto const pool = peers::aligned<char>(static_cast<std::size_t>(tilewright::targets::avx2::l2.capacity));
    peers::summary all;
    std::printf("%-18s%12s%12s%12s%12s%12s\n", "GFLOP/s", "tilewright", "OpenBLAS", "BLIS", "oneDNN", "to best");
#define GEMM(rows, columns, depth)                                                                                                      \
    run(all, openblas, blis, rows, columns, depth, [&](float const* a, float const* b, float* c) {                                      \
        using namespace gemm_bench;                                                                                                     \
        if constexpr (tilewright::ir::arguments_of(tilewright::plan<f32_##rows##x##columns##x##depth>).pool_count > 0)                  \
            tilewright::call<f32_##rows##x##columns##x##depth>(gemm_##rows##x##columns##x##depth, a, b, static_cast<void*>(pool.get()), \
                                                               c);                                                                      \
        else tilewright::call<f32_##rows##x##columns##x##depth>(gemm_##rows##x##columns##x##depth, a, b, c);                            \
    })
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
    std::printf("gemm: geomean=%.3f min=%.3f\n", all.geometric_mean(), all.least);
    return EXIT_SUCCESS;
} catch (std::exception const& wrong) {
    std::fprintf(stderr, "gemm: %s\n", wrong.what());
    return EXIT_FAILURE;
}
