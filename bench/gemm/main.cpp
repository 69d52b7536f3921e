#include <dnnl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <tilewright/runtime/call.hpp>
#include <vector>

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
#include "peer.hpp"
#include "shapes.hpp"

// Products of single precision on one core against OpenBLAS, BLIS and oneDNN, which run with AVX2 as well. Whatever packing a product does
// is part of its time. The candidates take turns in every round, so that what disturbs the machine disturbs them all.

namespace {

struct aligned_free {
    void operator()(void* data) const { std::free(data); }
};
template <class T>
std::unique_ptr<T[], aligned_free> aligned(std::size_t count) {
    return std::unique_ptr<T[], aligned_free>(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64)));
}

/// Small integers: every partial sum is exact, in whatever order it is formed, so that results are compared to the bit.
void fill(float* data, std::size_t count, unsigned seed) {
    for (std::size_t at = 0; at < count; ++at) {
        seed = seed * 1664525u + 1013904223u;
        data[at] = static_cast<float>(static_cast<int>(seed >> 24) % 7 - 3);
    }
}

using product = std::function<void(float const*, float const*, float*)>;

/// Seconds of each candidate: the median of its rounds.
std::vector<double> measure(std::vector<product> const& candidates, float const* a, float const* b, float* c, double operations) {
    using clock = std::chrono::steady_clock;
    int const repeats = std::max(1, static_cast<int>(2e8 / operations)), rounds = operations > 1e10 ? 7 : 21;
    std::vector<std::vector<double>> seconds(candidates.size());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t which = 0; which < candidates.size(); ++which) {
            auto const begin = clock::now();
            for (int again = 0; again < repeats; ++again) candidates[which](a, b, c);
            seconds[which].push_back(std::chrono::duration<double>(clock::now() - begin).count() / repeats);
        }
    }
    std::vector<double> medians;
    for (std::vector<double>& all : seconds) {
        std::sort(all.begin(), all.end());
        medians.push_back(all[all.size() / 2]);
    }
    return medians;
}

struct summary {
    double logarithms = 0, least = 1e9;
    int count = 0;

    void add(double ratio) {
        logarithms += std::log(ratio), least = std::min(least, ratio);
        ++count;
    }
};

/// Checks and measures one shape.
void run(summary& into, blas_library const& openblas, blas_library const& blis, int rows, int columns, int depth, product const& ours) {
    std::size_t const m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns), k = static_cast<std::size_t>(depth);
    auto const a = aligned<float>(m * k), b = aligned<float>(k * n), c = aligned<float>(m * n);
    fill(a.get(), m * k, 1), fill(b.get(), k * n, 2);
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
    std::vector<product> const candidates{
        ours,
        [&](float const* x, float const* y, float* z) { openblas.multiply(rows, columns, depth, x, y, z); },
        [&](float const* x, float const* y, float* z) { blis.multiply(rows, columns, depth, x, y, z); },
        [&](float const* x, float const* y, float* z) {
            dnnl_sgemm('N', 'N', rows, columns, depth, 1, x, depth, y, columns, 0, z, columns);
        },
    };
    double const operations = 2.0 * rows * columns * depth;
    std::vector<double> const seconds = measure(candidates, a.get(), b.get(), c.get(), operations);
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
    // The peers are asked for the same instructions and for one thread, before any of them is loaded: the program starts itself again.
    if (std::getenv("OPENBLAS_CORETYPE") == nullptr) {
        constexpr char const* haswell_in_blis = "3";
        for (auto const& [name, value] : {std::pair{"OPENBLAS_CORETYPE", "Haswell"},
                                          {"OPENBLAS_NUM_THREADS", "1"},
                                          {"BLIS_ARCH_TYPE", haswell_in_blis},
                                          {"BLIS_NUM_THREADS", "1"},
                                          {"DNNL_MAX_CPU_ISA", "AVX2"},
                                          {"OMP_NUM_THREADS", "1"}})
            setenv(name, value, 1);
        execv("/proc/self/exe", arguments);
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(count > 1 ? std::atoi(arguments[1]) : sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);

    blas_library const openblas(OPENBLAS), blis(BLIS);
    auto const pool = aligned<char>(static_cast<std::size_t>(tilewright::targets::avx2::l2.capacity));
    summary all;
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
    std::printf("gemm: geomean=%.3f min=%.3f\n", std::exp(all.logarithms / all.count), all.least);
    return EXIT_SUCCESS;
} catch (std::exception const& wrong) {
    std::fprintf(stderr, "gemm: %s\n", wrong.what());
    return EXIT_FAILURE;
}
