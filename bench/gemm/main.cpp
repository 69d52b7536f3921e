#include <dnnl.h>

#include <cstdio>
#include <tilewright/kernels/avx2/cycles.hpp>

#include "at_run_time.hpp"
#include "blas.hpp"
#include "comparison.hpp"
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
#include "onednn.hpp"
#include "peers.hpp"
#include "products.hpp"
#include "shapes.hpp"

// Products of single precision on one core against OpenBLAS, BLIS and oneDNN. Whatever packing a product does is part of its time. The
// candidates take turns in every round, so that what disturbs the machine disturbs them all.
//
//     gemm [--seed=N] [--core=N] [MxNxK…]

namespace {

using peers::product_shape;
using product = std::function<void(float const*, float const*, float*)>;
/// Finds a product of ours, by trying it on these operands where there is a choice.
using search = std::function<product(float const*, float const*, float*)>;

struct libraries {
    blas_library const openblas{OPENBLAS}, blis{BLIS};
    void* pool;
    peers::level instructions;
};

/// Checks and measures one shape.
/// @param find  the product of ours
void run(peers::summary& into, libraries const& with, product_shape const& of, search const& find) {
    int const rows = of.rows, columns = of.columns, depth = of.depth;
    std::size_t const m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns), k = static_cast<std::size_t>(depth);
    auto const a = peers::aligned<float>(m * k), b = peers::aligned<float>(k * n), c = peers::aligned<float>(m * n);
    peers::fill(a.get(), m * k, 1), peers::fill(b.get(), k * n, 2);
    std::vector<float> expected(m * n, 0);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t l = 0; l < k; ++l) {
            for (std::size_t j = 0; j < n; ++j) expected[i * n + j] += a[i * k + l] * b[l * n + j];
        }
    }
    float const *const x = a.get(), *const y = b.get();
    float* const z = c.get();
    product const ours = find(x, y, z);
    std::fill_n(z, m * n, -1.f);
    ours(x, y, z);
    if (!std::equal(expected.begin(), expected.end(), c.get())) throw std::runtime_error(text_of(of) + " is wrong");
    double const operations = 2.0 * rows * columns * depth;
    peers::rounds const measured({[&] { ours(x, y, z); }, [&] { with.openblas.multiply(rows, columns, depth, x, y, z); },
                                  [&] { with.blis.multiply(rows, columns, depth, x, y, z); },
                                  [&] { dnnl_sgemm('N', 'N', rows, columns, depth, 1, x, depth, y, columns, 0, z, columns); }},
                                 operations > 1e10 ? 7 : 21, std::max(1, static_cast<int>(2e8 / operations)));
    peers::expect_one_thread();
    std::vector<double> seconds;
    for (std::size_t which = 0; which < measured.candidates(); ++which) seconds.push_back(measured.seconds(which));
    double const best = *std::min_element(seconds.begin() + 1, seconds.end()), ratio = best / seconds[0];
    std::printf("%-18s", text_of(of).c_str());
    for (double one : seconds) std::printf("%12.1f", operations / one * 1e-9);
    std::printf("%12.3f\n", ratio);
    std::fflush(stdout);
    into.add(ratio);
}

/// Of a shape that has no kernel yet: the fastest of some tiles, compiled here.
void run_any(peers::summary& into, libraries const& with, product_shape const& of) {
    using namespace tilewright;
    targets::vector_core const& on = peers::core_of(with.instructions);
    kernel::gemm_shape const shape{of.rows, of.columns, of.depth};
    kernel::gemm<float> const problem(shape);
    run(into, with, of, [&](float const* x, float const* y, float* z) -> product {
        std::shared_ptr<peers::compiled_kernel const> const found = peers::fastest_of(
            kernel::tiles_for(shape, kernel::tile_list<kernel::gemm_tile>::most, on),
            [&](kernel::gemm_tile const& tile) { return kernel::tiled_gemm(problem, tile, on); }, targets::avx2::cycles{}, with.pool,
            peers::halide_target_of(with.instructions),
            [&](peers::compiled_kernel const& one) {
                one({x, y, z});
            });
        return [found](float const* first, float const* second, float* result) { (*found)({first, second, result}); };
    });
}

void run_listed(peers::summary& into, libraries const& with) {
    if (with.instructions == peers::level::at_their_best) {
        for (char const* shape : {"64x64x64", "256x256x256", "512x512x512", "1024x1024x1024", "2048x2048x2048", "64x3136x576",
                                  "256x3136x64", "256x196x2304", "512x49x4608", "1x1024x1024"})
            run_any(into, with, peers::product_of(shape));
        return;
    }
#define GEMM(rows, columns, depth)                                                                                                  \
    run(into, with, {rows, columns, depth}, [&](float const*, float const*, float*) -> product {                                    \
        return [&](float const* a, float const* b, float* c) {                                                                      \
            using namespace gemm_bench;                                                                                             \
            if constexpr (tilewright::ir::arguments_of(tilewright::plan<f32_##rows##x##columns##x##depth>).pool_count > 0)          \
                peers::expect_run(                                                                                                  \
                    tilewright::call<f32_##rows##x##columns##x##depth>(gemm_##rows##x##columns##x##depth, a, b, with.pool, c));     \
            else peers::expect_run(tilewright::call<f32_##rows##x##columns##x##depth>(gemm_##rows##x##columns##x##depth, a, b, c)); \
        };                                                                                                                          \
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
#undef GEMM
}

peers::named_figures run_all(peers::request const& asked) {
    auto const pool = peers::aligned<char>(static_cast<std::size_t>(tilewright::targets::avx2::l2.capacity));
    libraries const with{.pool = pool.get(), .instructions = asked.instructions};
    std::printf("tilewright: %s\n%s\n%s\n%s\n\n", peers::own_instructions(asked.instructions),
                openblas::runs(with.openblas, asked.instructions).c_str(), blis::runs(with.blis, asked.instructions).c_str(),
                peers::onednn_runs(asked.instructions).c_str());
    std::printf("%-18s%12s%12s%12s%12s%12s\n", "GFLOP/s", "tilewright", "OpenBLAS", "BLIS", "oneDNN", "to best");
    peers::summary listed, others;
    if (asked.shapes.empty()) run_listed(listed, with);
    for (product_shape const& of : peers::other_products(asked)) run_any(asked.shapes.empty() ? others : listed, with, of);
    peers::named_figures figures{{"geomean", listed.geometric_mean()}, {"min", listed.least}};
    if (asked.shapes.empty()) figures.emplace_back("random_geomean", others.geometric_mean());
    return figures;
}

}  // namespace

int main(int count, char** arguments) {
    auto const asks = [](peers::level at) {
        peers::environment made = peers::onednn_asks(at);
        openblas::ask(made, at), blis::ask(made, lone_library(BLIS), at);
        return made;
    };
    return peers::compare({"gemm", asks, run_all}, count, arguments);
}
