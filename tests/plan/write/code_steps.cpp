#include <tilewright/plan/write/code_steps.hpp>

#include <tilewright/compute/shared.hpp>

#include "plan/passes.hpp"

// Tile bodies that stay code: how often their loops run, and what an iteration does.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr memory slow{.name = "slow", .base = 0x1000, .capacity = 4_KiB, .wait_cycles = 3},
    blind{.name = "blind", .base = 0x8000, .capacity = 4_KiB, .host_visible = false},
    blocks{.name = "blocks", .base = 0x1'0000, .capacity = 4_KiB, .banks = 2};
constexpr auto where = machine("where", dram, slow, blind, blocks, transfer("to_slow", dram, slow).dimensions(3),
                               transfer("to_blind", dram, blind).dimensions(3), transfer("to_blocks", dram, blocks).dimensions(3));
constexpr axis x{"x", 10};

operation_counts counts_of(schedule const& of) {
    planned_to const t(pass::accesses, of);
    REQUIRE_FALSE(t.p.refused());
    operation_counts counts;
    counted_nodes counted{.first = t.p.stage_at(0).first};
    count_operations(t.p, t.p.stage_at(0).body, counts, counted);
    return counts;
}

}  // namespace

TEST_CASE("loops run as often as their extents say, those of a reduction left out when that is asked") {
    blank t;
    fixed_array<variable_id, body::most_loops> loops{};
    loops[0] = add_loop(t.p.plan, "i", 3), loops[1] = add_loop(t.p.plan, "k", 5, true), loops[2] = add_loop(t.p.plan, "j", 4);
    CHECK(trips(t.p, loops, 3) == 60);
    CHECK(trips(t.p, loops, 3, true) == 12);
    CHECK(trips(t.p, loops, 0) == 1);
}
TEST_CASE("every operation is counted once, and loads wait where their memory is slow") {
    auto const mixed = C(m, n) = A(m, n) * 2 + A(m, n) / 3 + (A(m, n) % 5);
    operation_counts const fast = counts_of(schedule(mixed, where)), waiting = counts_of(schedule(mixed, where).cache_read(A, slow));
    CHECK((fast.multiply == 1 && fast.divide == 2 && fast.arithmetic == 2 && fast.store == 0 && fast.wait == 0));
    CHECK(waiting.wait == 3 * fast.load);
    auto const shared = C(m, n) = tilewright::detail::compute_once(A(m, n) + 1, [](auto const& v) { return v * v; });
    operation_counts const once = counts_of(schedule(shared, where));
    CHECK((once.load == 1 && once.arithmetic == 1 && once.multiply == 1));
    auto const converted = C(m, n) = cast<std::int32_t>(cast<std::int8_t>(A(m, n)));
    CHECK(counts_of(schedule(converted, where)).convert == 2);
}
TEST_CASE("a guarded access compares both ends of each dimension and chooses") {
    auto const shifted = C(x) = padded(A(x), 0)(x - 1);
    CHECK(counts_of(schedule(shifted, where)).arithmetic == 2 + 1);
    CHECK(counts_of(schedule(shifted, where).cache_read(A, slow)).arithmetic == 0);
}
TEST_CASE("a reduction starts with a store, and with what it starts from") {
    auto const started = C(m, n) = B(n) * 2 + sum(k, A(m, k));
    planned_to const from_value(pass::accesses, schedule(started, where)),
        from_zero(pass::accesses, schedule(product, where).cache_write(C, slow));
    operation_counts const value = count_start(from_value.p, from_value.p.stage_at(0)),
                           zero = count_start(from_zero.p, from_zero.p.stage_at(0));
    CHECK((value.store == 1 && value.load == 1 && value.multiply == 1 && value.wait == 0));
    CHECK((zero.store == 1 && zero.load == 0 && zero.wait == 3));
}
TEST_CASE("code touches what it sees") {
    planned_to seen(pass::accesses, schedule(copy, where).cache_read(A, slow));
    touch_from_code(seen.p, 0_stage, false);
    CHECK((seen.p.buffer_at(seen.buffer("C")).code_access && !seen.p.buffer_at(seen.buffer("A.slow")).code_access));
    touch_from_code(seen.p, 0_stage, true);
    CHECK(seen.p.buffer_at(seen.buffer("A.slow")).code_access);
    planned_to unseen(pass::accesses, schedule(copy, where).cache_read(A, blind));
    touch_from_code(unseen.p, 0_stage, true);
    CHECK(unseen.p.first_verdict().kind == verdict_kind::host_access);
    CHECK((unseen.p.first_verdict().names[0] == "blind" && unseen.p.first_verdict().names[1] == "A"));
}
TEST_CASE("lanes of a vector lie in one block") {
    auto const in_blocks = [](auto const& map) {
        planned_to t(pass::accesses, schedule(copy, where).vectorize(n).cache_read(A, blocks).layout(map));
        REQUIRE_FALSE(t.p.refused());
        keep_lanes_in_a_block(t.p, 0_stage);
        return t.p.first_verdict().broken;
    };
    CHECK(in_blocks([](auto i, auto j) { return index_map(j % 2, separator, i, j / 2); }) == rule::vectorized_across_blocks);
    CHECK(in_blocks([](auto i, auto j) { return index_map(i % 2, separator, i / 2, j); }) == rule::none);
}
