#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <tilewright/halide/jit.hpp>
#include <tilewright/kernels/avx2/cycles.hpp>
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/plan/best_tile.hpp>
#include <vector>

// Which tile is best for a product? The compiler answers by the cost of plans; here the same candidates are planned, compiled and measured
// on this processor, and the winner is printed as C++.
//
//     10_tune [rows columns depth]

using namespace tilewright;

namespace {

/// The compiler's own answer for one shape.
constexpr kernel::gemm_shape known{256, 196, 128};
constexpr auto candidates_of_known = kernel::tiles_for(known, 5);
constexpr auto scheduled_of_known = [](kernel::gemm_tile const& tile) { return kernel::tiled_gemm(kernel::gemm_of<float, known>, tile); };
constexpr auto tile_by_cost = best_of<candidates_of_known, decltype(scheduled_of_known), targets::avx2::cycles>();

std::string text_of(kernel::gemm_tile const& t) {
    char text[224];
    std::snprintf(
        text, sizeof text,
        "{.rows = %d, .vectors = %d, .block_rows = %d, .block_columns = %d, .block_depth = %d, .packs = %s, .columns_inside = %s, "
        ".unrolled = %d%s}",
        static_cast<int>(t.rows), static_cast<int>(t.vectors), static_cast<int>(t.block_rows), static_cast<int>(t.block_columns),
        static_cast<int>(t.block_depth), t.packs ? "true" : "false", t.columns_inside ? "true" : "false", static_cast<int>(t.unrolled),
        t.packs_rows ? ", .packs_rows = true" : "");
    return text;
}

Halide::Buffer<float> filled(int rows, int columns, unsigned seed) {
    Halide::Buffer<float> made(columns, rows);
    for (float& value : std::vector<std::reference_wrapper<float>>(made.data(), made.data() + made.number_of_elements())) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<float>(static_cast<int>(seed >> 24) % 7 - 3);
    }
    return made;
}

}  // namespace

int main(int count, char** arguments) {
    auto const number = [&](int at, std::int64_t otherwise) { return count == 4 ? std::max(1L, std::atol(arguments[at])) : otherwise; };
    kernel::gemm_shape const shape{number(1, known.rows), number(2, known.columns), number(3, known.depth)};
    int const rows = static_cast<int>(shape.rows), columns = static_cast<int>(shape.columns), depth = static_cast<int>(shape.depth);
    kernel::gemm<float> const problem(shape);
    kernel::tile_list<kernel::gemm_tile> const candidates = kernel::tiles_for(shape);

    Halide::Buffer<float> const a = filled(rows, depth, 1), b = filled(depth, columns, 2);
    Halide::Buffer<float> c(columns, rows);
    std::vector<float> expected(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0);
    for (int y = 0; y < rows; ++y) {
        for (int z = 0; z < depth; ++z) {
            for (int x = 0; x < columns; ++x) expected[y * columns + x] += a(z, y) * b(x, z);
        }
    }
    struct aligned_free {
        void operator()(void* data) const { std::free(data); }
    };
    std::unique_ptr<void, aligned_free> const pool(std::aligned_alloc(64, static_cast<std::size_t>(targets::avx2::l2.capacity)));

    std::printf("%d x %d x %d on one core, %d tiles\n\n%-4s%10s%14s%12s  tile\n", rows, columns, depth, candidates.count, "", "GFLOP/s",
                "plan's cost", "peak l2");
    double best = 0;
    kernel::gemm_tile winner{};
    int number_of = 0, wrong = 0;
    double const operations = 2.0 * rows * columns * depth;
    for (kernel::gemm_tile const& tile : candidates) {
        schedule const scheduled = kernel::tiled_gemm(problem, tile);
        auto const plan = std::make_unique<plan_value>(make_plan(scheduled));
        std::printf("%-4d", ++number_of);
        if (plan->refusal) {
            std::printf("%10s  %s\n", "refused", to_string(plan->refusal).c_str());
            continue;
        }
        std::vector<void*> pools;
        if (ir::arguments_of(*plan).pool_count > 0) pools.push_back(pool.get());
        halide::jit_kernel kernel(*plan, pools);
        kernel.run({a, b}, c);
        bool const right = std::equal(expected.begin(), expected.end(), c.data());
        wrong += right ? 0 : 1;
        std::vector<double> seconds;
        int const repeats = std::max(1, static_cast<int>(2e7 / operations));
        for (int round = 0; round < 9; ++round) {
            auto const begin = std::chrono::steady_clock::now();
            for (int again = 0; again < repeats; ++again) kernel.run({a, b}, c);
            seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / repeats);
        }
        std::sort(seconds.begin(), seconds.end());
        double const speed = operations / seconds[seconds.size() / 2] * 1e-9;
        std::printf("%10.1f%14.0f%12.0f  %s%s\n", speed, targets::avx2::cycles{}(*plan), static_cast<double>(plan->peak(targets::avx2::l2)),
                    text_of(tile).c_str(), right ? "" : "  WRONG");
        std::fflush(stdout);
        if (speed > best) best = speed, winner = tile;
    }
    std::printf("\nmeasured best, as C++:\n    tiled_gemm(gemm_of<float, gemm_shape{%d, %d, %d}>,\n               %s)\n", rows, columns,
                depth, text_of(winner).c_str());
    if (count != 4) std::printf("the compiler's, by the plan's cost:\n               %s\n", text_of(tile_by_cost).c_str());
    return wrong == 0 && best > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
