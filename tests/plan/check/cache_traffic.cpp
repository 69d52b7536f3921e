#include <tilewright/plan/check/cache_traffic.hpp>

#include <memory>
#include <string>
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/kernels/avx2/tiled_conv2d.hpp>
#include <tilewright/plan/plan.hpp>

#include "plan/check/cache_simulator.hpp"
#include "plan/small_kernels.hpp"

// Bytes that cross the border of a cache, from the loops of a plan.

namespace {

using namespace tilewright;

constexpr memory ram{.name = "ram", .behind_caches = true};
/// 4 KiB of 16 sets, then 32 KiB.
constexpr core cpu{.name = "cpu", .caches = {{{.bytes = 4_KiB, .ways = 4}, {.bytes = 32_KiB}}}};
constexpr auto on = machine("on", ram, cpu);
constexpr tensor<float> from{"from"}, to{"to"};

template <class Computation>
cache_traffic traffic_of(Computation const& what) {
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(what, on)));
    REQUIRE(!plan->refusal);
    cache_traffic const found = traffic_of_caches(*plan);
    CHECK(found.known);
    CHECK(found.count == 2);
    return found;
}

}  // namespace

TEST_CASE("what is touched once comes once, and goes if it was written") {
    axis const i{"i", 4096};
    cache_traffic const copied = traffic_of(to(i) = from(i));
    for (int level : {0, 1}) {
        CHECK(copied.levels[level].in == 32768);
        CHECK(copied.levels[level].out == 16384);
    }
    // Elements of a line that stand apart: every second one, of all lines.
    cache_traffic const gaps = traffic_of(to(i) = from(2 * i));
    CHECK(gaps.levels[0].in == 16384 + 32768);
    // One element of every second line.
    axis const few{"few", 64};
    cache_traffic const apart = traffic_of(to(few) = from(32 * few));
    CHECK(apart.levels[0].in == 256 + 64 * 64);
}
TEST_CASE("what loops come back to stays in a cache that has room for all between") {
    axis const again{"again", 8}, small{"small", 256}, large{"large", 768}, huge{"huge", 8192};
    // 1 KiB is read again after 2 KiB: it stays in both.
    cache_traffic const fits = traffic_of(to(again, small) = from(small));
    CHECK(fits.levels[0].in == 1024 + 8 * 1024);
    // 3 KiB after 6: in the second cache only.
    cache_traffic const second = traffic_of(to(again, large) = from(large));
    CHECK(second.levels[0].in == 8 * 3072 + 8 * 3072);
    CHECK(second.levels[1].in == 3072 + 8 * 3072);
    CHECK(second.levels[0].out == 8 * 3072);
    // 32 KiB after 64: in none.
    cache_traffic const none = traffic_of(to(again, huge) = from(huge));
    CHECK(none.levels[1].in == 2 * 8 * 32768);
}
TEST_CASE("lines that a stride crowds into few sets push each other out") {
    // 16 lines that are 1,024 bytes apart have one set of the nearest cache, which holds 4; those 1,088 bytes apart have 16 sets.
    axis const again{"again", 8}, row{"row", 16};
    tensor<float> const sum{"sum"};
    cache_traffic const crowded = traffic_of(sum(again, row) = from(256 * row));
    CHECK(crowded.levels[0].in == 8 * 16 * 64 + 8 * 64);
    CHECK(crowded.levels[1].in == 16 * 64 + 8 * 64);
    cache_traffic const spread = traffic_of(sum(again, row) = from(272 * row));
    CHECK(spread.levels[0].in == 16 * 64 + 8 * 64);
}
TEST_CASE("windows that overlap bring what is new") {
    axis const y{"y", 30}, x{"x", 16}, r{"r", 3};
    // Rows of 64 bytes: 3 of them for each row of the result, of which 2 have been there.
    cache_traffic const windows = traffic_of(to(y, x) += from(y + r, x));
    CHECK(windows.levels[0].in == 32 * 64 + 30 * 64);
}
TEST_CASE("a core without caches has no traffic, and versions that take turns are not followed") {
    static constexpr auto plain = machine("plain", memory{.name = "ram"}, core{.name = "cpu"});
    axis const i{"i", 64};
    auto const copying = to(i) = from(i);
    CHECK(traffic_of_caches(make_plan(schedule(copying, plain))).count == 0);
    static constexpr memory near{.name = "near", .capacity = 4096, .behind_caches = true};
    static constexpr engine dma{"dma"};
    static constexpr auto fetch = transfer("fetch", ram, near).on(dma).asynchronous();
    static constexpr auto with_dma = machine("with_dma", ram, near, dma, cpu, fetch);
    axis const o{"o"}, p{"p"};
    plan_value const turning = make_plan(schedule(copying, with_dma).split(i, o, p, 8).cache_read(from, near).at(o).buffers(2));
    REQUIRE(!turning.refusal);
    CHECK_FALSE(traffic_of_caches(turning).known);
}
TEST_CASE("the compiler counts it, too") {
    static constexpr axis i{"i", 1024};
    static constexpr auto copying = to(i) = from(i);
    static constexpr auto copy = schedule(copying, on);
    static_assert(traffic_of_caches(tilewright::plan<copy>).levels[0].in == 8192);
}

namespace {

/// How far counts are from those of a run that follows every access, as a part of these.
struct deviation {
    double in[2], out[2];
};
deviation deviation_of(schedule const& s) {
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    REQUIRE(!plan->refusal);
    cache_traffic const found = traffic_of_caches(*plan);
    REQUIRE(found.known);
    auto const run = std::make_unique<cache_simulator::run>(*plan);
    deviation apart{};
    for (int level : {0, 1}) {
        apart.in[level] = found.levels[level].in / static_cast<double>(run->level(level).in) - 1;
        apart.out[level] = found.levels[level].out / static_cast<double>(run->level(level).out) - 1;
    }
    return apart;
}
machine const& small_caches() {
    static machine const made = with_caches(targets::avx2::host, {{{.bytes = 4_KiB}, {.bytes = 32_KiB}}});
    return made;
}
targets::vector_core const& small_core() {
    static targets::vector_core const made(small_caches(), targets::avx2::l2, targets::avx2::ymm);
    return made;
}
/// Within these parts of what a run counts, at both levels.
void is_near(std::string const& what, deviation const& apart, double nearest, double next) {
    INFO(what << ": " << apart.in[0] << " " << apart.in[1] << ", out " << apart.out[0] << " " << apart.out[1]);
    CHECK(std::abs(apart.in[0]) <= nearest);
    CHECK(std::abs(apart.in[1]) <= next);
    for (double out : apart.out) CHECK(std::abs(out) <= 0.43);
}

}  // namespace

TEST_CASE("for products the counts are near what a run through the caches counts") {
    auto const check = [](kernel::gemm_shape const& of, kernel::gemm_tile const& tile, double nearest, double next) {
        kernel::gemm<float> const problem(of);
        is_near(std::to_string(of.rows) + "x" + std::to_string(of.columns) + "x" + std::to_string(of.depth),
                deviation_of(kernel::tiled_gemm(problem, tile, small_core())), nearest, next);
    };
    // All fits, or clearly does not.
    check({16, 16, 16}, {4, 2, 16, 16, 16, false}, 0, 0);
    check({64, 64, 64}, {4, 2, 64, 64, 64, false, true}, 0, 0);
    check({12, 512, 64}, {6, 2, 12, 512, 64, false, true}, 0.01, 0.01);
    check({48, 256, 256}, {6, 2, 48, 256, 64}, 0.02, 0);
    check({96, 128, 128}, {6, 2, 96, 16, 128, true, false, 1, 8, true, true}, 0, 0.01);
    check({96, 128, 128}, {6, 2, 48, 16, 64, true, false, 1, 8, true, true, true}, 0.02, 0.06);
    check({100, 112, 90}, {6, 2, 24, 48, 32, true, false, 1, 8, true}, 0.02, 0.02);
    // What is used again is about as large as a cache.
    check({64, 64, 64}, {4, 2, 64, 64, 64, false, false}, 0, 0.31);
    check({60, 64, 64}, {6, 2, 30, 32, 32, true, false}, 0.17, 0.14);
    check({96, 96, 96}, {6, 2, 48, 96, 96, true, false, 1, 8, true}, 0, 0.2);
    check({96, 96, 96}, {6, 2, 24, 48, 32, true, false, 1, 8, true}, 0.21, 0.05);
    // The furthest off: a block that nearly fills the cache, and rows that crowd in the same sets.
    check({48, 256, 256}, {6, 2, 48, 256, 64, true, false}, 0.02, 0.42);
    check({96, 100, 128}, {6, 2, 48, 100, 64}, 0.13, 0.6);
}
TEST_CASE("for convolutions the counts are near what a run through the caches counts") {
    auto const check = [](std::int64_t channels, std::int64_t filters, std::int64_t extent, std::int64_t taps,
                          kernel::conv2d_tile const& tile, double nearest, double next, std::int64_t stride = 1) {
        kernel::window const w{.extent = extent, .taps = taps, .stride = stride, .before = taps / 2, .after = taps / 2};
        kernel::packed_conv2d<float, float> const problem(kernel::conv2d_shape{.channels = channels, .filters = filters, .y = w, .x = w},
                                                          {.lanes = 8, .depth = channels});
        is_near(std::to_string(channels) + " to " + std::to_string(filters),
                deviation_of(kernel::tiled_conv2d(problem, tile, small_core())), nearest, next);
    };
    check(32, 64, 8, 1, {.columns = 4, .stages = false, .filters_inside = true}, 0, 0);
    check(32, 64, 8, 1, {.columns = 4, .stages = false}, 0, 0);
    check(16, 16, 12, 3, {.block_rows = 4}, 0.03, 0.02);
    check(16, 16, 12, 3, {.block_rows = 12, .filters_inside = true}, 0.01, 0.01);
    check(3, 16, 24, 7, {.block_rows = 4, .steps = 7}, 0.03, 0.03, 2);
    check(16, 32, 12, 3, {.rows = 2, .columns = 3, .block_rows = 6}, 0.01, 0.1);
    check(64, 64, 7, 3, {.columns = 4, .block_rows = 7}, 0.13, 0.11);
    check(16, 32, 12, 3, {.rows = 2, .columns = 3, .block_rows = 6, .stages = false}, 0.01, 0.34);
}
