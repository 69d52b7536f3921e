#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <tilewright/halide/jit.hpp>
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/kernels/avx2/tiled_conv2d.hpp>
#include <tilewright/plan/planner.hpp>
#include <tilewright/targets/x86_avx512.hpp>

#include "catch.hpp"
#include "reference/fill.hpp"

// The schedules of AVX2 on a core with AVX-512. Plans and code are tested everywhere; running it needs the processor.

using namespace tilewright;

namespace {

using targets::vector_core;
constexpr vector_core const& wide = targets::avx512::vectors;

Halide::Target target_of(vector_core const& of) {
    return Halide::Target(of.vector_bytes() == 64 ? "x86-64-linux-sse41-avx-avx2-f16c-fma-avx512-avx512_skylake"
                                                  : "x86-64-linux-sse41-avx-avx2-f16c-fma");
}
/// Says in the output of a test when nothing can be run here.
bool runs_here() {
    __builtin_cpu_init();
    bool const runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (!runs) WARN("this processor has no AVX-512: plans and code are tested, but cannot be run here");
    return runs;
}

/// A schedule with its plan and memory.
struct planned {
    std::unique_ptr<plan_value> plan;
    std::unique_ptr<void, decltype(&std::free)> pool{std::aligned_alloc(64, 1 << 20), &std::free};

    explicit planned(schedule const& of) : plan(std::make_unique<plan_value>(make_plan(of))) {
        INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
        REQUIRE(!plan->refusal);
    }
    std::vector<void*> pools() const {
        return std::vector<void*>(static_cast<std::size_t>(ir::arguments_of(*plan).pool_count), pool.get());
    }
};

std::string assembly_of(schedule const& of, vector_core const& on) {
    planned const made(of);
    halide::jit_kernel kernel(*made.plan, made.pools(), target_of(on));
    Halide::Internal::TemporaryFile file("avx512", ".s");
    kernel.pipeline().compile_to_assembly(file.pathname(), kernel.pipeline().infer_arguments(), "kernel", target_of(on));
    std::stringstream text;
    text << std::ifstream(file.pathname()).rdbuf();
    return text.str();
}
bool contains(std::string const& text, char const* part) { return text.find(part) != text.npos; }

kernel::gemm<float> const odd({77, 131, 75});
std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void check_product(kernel::gemm_shape const& shape, kernel::gemm_tile const& tile) {
    INFO(shape.rows << " x " << shape.columns << " x " << shape.depth << " in tiles of " << tile.rows << " x " << tile.vectors
                    << " vectors");
    kernel::gemm<float> const problem(shape);
    planned const made(kernel::tiled_gemm(problem, tile, wide));
    int const rows = static_cast<int>(shape.rows), columns = static_cast<int>(shape.columns), depth = static_cast<int>(shape.depth);
    Halide::Buffer<float> a(depth, rows), b(columns, depth), c(columns, rows);
    reference::fill(a.data(), a.number_of_elements(), 1), reference::fill(b.data(), b.number_of_elements(), 2);
    c.fill(-1);
    halide::jit_kernel kernel(*made.plan, made.pools(), target_of(wide));
    kernel.run({a, b}, c);
    int wrong = 0;
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns; ++x) {
            float sum = 0;
            for (int z = 0; z < depth; ++z) sum = std::fma(a(z, y), b(x, z), sum);
            wrong += c(x, y) != sum;
        }
    }
    CHECK(wrong == 0);
}

/// Image [y][x][channels], weights as a function, result [y][x][filters].
void check_convolution(auto const& problem, kernel::conv2d_tile const& tile) {
    kernel::conv2d_shape const& of = problem.shape;
    planned const made(kernel::tiled_conv2d(problem, tile, wide));
    std::int64_t const channels = of.channels / of.groups, ys = of.y.positions(), xs = of.x.positions();
    std::vector<float> in(at(of.y.extent * of.x.extent * of.channels)), weights(at(problem.weight_count()));
    std::vector<float> out(at(ys * xs * of.filters), -1);
    reference::fill(in.data(), in.size(), 1), reference::fill(weights.data(), weights.size(), 2);
    halide::jit_kernel kernel(*made.plan, made.pools(), target_of(wide));
    ir::argument_list const list = ir::arguments_of(*made.plan);
    auto const buffer_of = [&](int which, float* data) {
        ir::buffer const& b = made.plan->buffers[list.tensors[which]];
        std::vector<int> extents;
        for (int d = b.rank - 1; d >= 0; --d) extents.push_back(static_cast<int>(b.extents[d]));
        return Halide::Buffer<float>(data, extents);
    };
    kernel.run({buffer_of(0, in.data()), buffer_of(1, weights.data())}, buffer_of(2, out.data()));
    int wrong = 0;
    for (std::int64_t y = 0; y < ys; ++y) {
        for (std::int64_t x = 0; x < xs; ++x) {
            for (std::int64_t f = 0; f < of.filters; ++f) {
                float sum = 0;
                for (std::int64_t r = 0; r < of.y.taps; ++r) {
                    for (std::int64_t s = 0; s < of.x.taps; ++s) {
                        std::int64_t const from_y = y * of.y.stride + r - of.y.before, from_x = x * of.x.stride + s - of.x.before;
                        bool const outside = from_y < 0 || from_x < 0 || from_y >= of.y.extent || from_x >= of.x.extent;
                        for (std::int64_t c = 0; c < channels; ++c) {
                            std::int64_t const channel = f / (of.filters / of.groups) * channels + c;
                            float const pixel = outside ? 0 : in[at((from_y * of.x.extent + from_x) * of.channels + channel)];
                            sum = std::fma(pixel, weights[at(problem.place_of(f, c, r, s))], sum);
                        }
                    }
                }
                wrong += out[at((y * xs + x) * of.filters + f)] != sum;
            }
        }
    }
    CHECK(wrong == 0);
}

constexpr kernel::window same{.extent = 13, .taps = 3, .before = 1, .after = 1};

}  // namespace

TEST_CASE("tiles of a core with AVX-512 fill its 32 registers, and no more") {
    for (auto const& [rows, vectors] : {std::pair{12, 2}, {14, 2}, {8, 3}, {9, 3}, {6, 4}}) {
        INFO(rows << " x " << vectors);
        // Whole tiles: 504 is divided by 12, 14, 8, 9 and 6; 192 by 32, 48 and 64.
        kernel::gemm<float> const even({504, 192, 75});
        plan_value const plan = make_plan(kernel::tiled_gemm(even, {rows, vectors, 504, 192, 20}, wide));
        INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
        REQUIRE(!plan.refusal);
        CHECK(plan.peak(targets::avx512::zmm) == rows * vectors * 64);
    }
    // 15 x 2 sums, 2 of B and one of A that passes by.
    plan_value const refused = make_plan(kernel::tiled_gemm(odd, {15, 2, 30, 192, 20}, wide));
    CHECK(refused.refusal.kind == verdict_kind::register_overflow);
    CHECK(refused.refusal.facts[0].value == 33);
    CHECK(refused.refusal.facts[1].value == 32);
}
TEST_CASE("every tile that is proposed for a shape has a plan or is too large for the memory of blocks, on each core") {
    for (vector_core const* on : {&targets::avx2::vectors, &targets::avx512::vectors}) {
        for (kernel::gemm_shape const& shape :
             {kernel::gemm_shape{2, 100, 50}, {77, 131, 75}, {13, 16, 40}, {1, 64, 64}, {300, 700, 900}}) {
            int planned = 0;
            for (kernel::gemm_tile const& tile : kernel::tiles_for(shape, 36, *on)) {
                kernel::gemm<float> const problem(shape);
                plan_value const plan = make_plan(kernel::tiled_gemm(problem, tile, *on));
                INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
                CHECK((!plan.refusal || plan.refusal.kind == verdict_kind::memory_overflow));
                planned += plan.refusal ? 0 : 1;
            }
            INFO(shape.rows << " rows, vectors of " << on->vector_bytes());
            CHECK(planned > 0);
        }
    }
}
TEST_CASE("the same schedule is code of the registers that the core has, with masks at the end of rows where it has them") {
    kernel::gemm_tile const tile{12, 2, 24, 64, 20, true, false, 1, 4, true};
    std::string const made = assembly_of(kernel::tiled_gemm(odd, tile, wide), wide);
    CHECK(contains(made, "vfmadd231ps"));
    CHECK(contains(made, "%zmm31"));
    CHECK(contains(made, "{%k"));
    kernel::gemm_tile narrow = tile;
    narrow.rows = 6;
    CHECK_FALSE(contains(assembly_of(kernel::tiled_gemm(odd, narrow), targets::avx2::vectors), "%zmm"));
}
TEST_CASE("a product on AVX-512 gives the bits of plain loops, at every rest of rows, columns and depth") {
    if (!runs_here()) return;
    check_product({77, 131, 75}, {12, 2, 24, 64, 20, true, false, 1, 4, true});
    check_product({25, 49, 33}, {14, 2, 28, 32, 12, true, true});
    check_product({17, 96, 8}, {8, 3, 16, 96, 8, false, true});
    check_product({9, 15, 9}, {8, 3, 8, 48, 4, true, false, 1, 4, true, true});
    check_product({12, 64, 16}, {12, 2, 12, 32, 8, true, false, 1, 8, true, true, true});
    check_product({1, 70, 30}, {1, 4, 1, 70, 8, false, true});
}
TEST_CASE("a convolution on AVX-512 gives the bits of plain loops, at borders and at every rest of positions and channels") {
    if (!runs_here()) return;
    kernel::conv2d_shape const layer{.channels = 6, .filters = 48, .y = same, .x = same};
    check_convolution(kernel::packed_conv2d<float, float>(layer, {.lanes = 16, .depth = 6}), {.columns = 8, .vectors = 3, .steps = 6});
    check_convolution(kernel::packed_conv2d<float, float>(layer, {.lanes = 16, .depth = 6}),
                      {.rows = 2, .columns = 7, .vectors = 2, .block_rows = 4, .steps = 2, .filters_inside = true});
    kernel::conv2d_shape const each{.channels = 21, .filters = 21, .groups = 21, .y = same, .x = same};
    check_convolution(kernel::depthwise_conv2d<float, float>(each),
                      {.rows = 2, .columns = 4, .vectors = 1, .block_rows = 13, .steps = 9, .stages = false, .filters_inside = true});
}
