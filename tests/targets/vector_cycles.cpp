#include <tilewright/targets/vector_cycles.hpp>

#include <memory>
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/plan/planner.hpp>
#include <tilewright/targets/x86_avx512.hpp>

#include "catch.hpp"

// What plans for vector cores are compared by.

using namespace tilewright;

namespace {

constexpr targets::vector_cycles all{};
/// Counts one thing, and nothing else.
constexpr targets::vector_cycles none{.multiplied_bytes = 1e18,
                                      .latency = 0,
                                      .loads = 1e18,
                                      .load_cycles = 0,
                                      .copied_bytes = 1e18,
                                      .stored_bytes = 1e18,
                                      .copy_cycles = 0,
                                      .tile_cycles = 0,
                                      .iteration_cycles = 0,
                                      .hidden_of_nearest = 1};
template <class Change>
double count(plan_value const& plan, Change&& change) {
    targets::vector_cycles one = none;
    change(one);
    return one(plan);
}
std::unique_ptr<plan_value> plan_with(kernel::gemm_tile const& tile, targets::vector_core const& on) {
    static kernel::gemm<float> const problem(kernel::gemm_shape{24, 64, 32});
    auto plan = std::make_unique<plan_value>(make_plan(kernel::tiled_gemm(problem, tile, on)));
    REQUIRE(!plan->refusal);
    return plan;
}
targets::vector_core const& without_caches() {
    static constexpr memory ram{.name = "ram"}, l2{.name = "l2", .capacity = 1_MiB, .alignment = 64}, ymm = register_file("ymm", 16, 32);
    static constexpr core cpu{.name = "cpu"};
    static constexpr auto pack = transfer("pack", ram, l2).on(cpu), load = transfer("load", ram, ymm).on(cpu),
                          store = transfer("store", ymm, ram).on(cpu);
    static constexpr auto host = machine("host", ram, l2, ymm, cpu, pack, load, store);
    static constexpr targets::vector_core on{host, l2, ymm};
    return on;
}

}  // namespace

TEST_CASE("each part of a cost is counted by itself") {
    // 4 x 4 tiles of 6 rows and 2 vectors of 8; 8 groups of 4 steps.
    auto const plan = plan_with({6, 2, 24, 64, 32, true, true}, without_caches());
    CHECK(count(*plan, [](auto& c) { c.multiplied_bytes = 64; }) == Approx(4 * 4 * 32 * 12 / 2));
    // In each step 6 values of A and 2 vectors of B.
    CHECK(count(*plan, [](auto& c) { c.load_cycles = 1; }) == Approx(4 * 4 * 32 * 8));
    CHECK(count(*plan, [](auto& c) { c.loads = 2; }) == Approx(4 * 4 * 32 * 8 / 2));
    CHECK(count(*plan, [](auto& c) { c.latency = 4; }) == Approx(4 * 4 * 32 * 4));
    CHECK(count(*plan, [](auto& c) { c.iteration_cycles = 1; }) == Approx(4 * 4 * 8));
    // The tile that begins with zeros, and the one that is summed up.
    CHECK(count(*plan, [](auto& c) { c.tile_cycles = 1; }) == Approx(2 * 4 * 4));
    // B is packed once, and C stored once.
    CHECK(count(*plan, [](auto& c) { c.copied_bytes = 1; }) == Approx(32 * 64 * 4));
    CHECK(count(*plan, [](auto& c) { c.stored_bytes = 1; }) == Approx(24 * 64 * 4));
    CHECK(count(*plan, [](auto& c) { c.copy_cycles = 1; }) == Approx(1));
}
TEST_CASE("wider vectors take as long for as many multiply-adds") {
    auto const narrow = plan_with({6, 2, 24, 64, 32, true, true}, targets::avx2::vectors),
               wide = plan_with({6, 2, 24, 64, 32, true, true}, targets::avx512::vectors);
    auto const multiplied = [](auto& c) { c.multiplied_bytes = 64; };
    targets::vector_cycles only = none;
    multiplied(only);
    auto const of_caches = [](plan_value const& plan) { return none(plan); };
    CHECK(only(*narrow) - of_caches(*narrow) == Approx(only(*wide) - of_caches(*wide)));
}
TEST_CASE("what crosses caches takes time, and a smaller cache more of it") {
    static kernel::gemm<float> const problem(kernel::gemm_shape{48, 512, 256});
    static machine const small = [] {
        auto caches = targets::avx2::caches;
        caches[1].bytes = 64_KiB;
        return with_caches(targets::avx2::host, caches);
    }();
    static targets::vector_core const on_small(small, targets::avx2::l2, targets::avx2::ymm);
    kernel::gemm_tile const tile{6, 2, 48, 256, 256};  // of a block of B of 256 KiB
    auto const large = std::make_unique<plan_value>(make_plan(kernel::tiled_gemm(problem, tile))),
               little = std::make_unique<plan_value>(make_plan(kernel::tiled_gemm(problem, tile, on_small)));
    CHECK(none(*large) > 0);
    CHECK(all(*little) > 1.1 * all(*large));
}
