#include <tilewright/plan/write/rings.hpp>

#include "plan/passes.hpp"

// Which staged buffers are filled and emptied by asynchronous transfers, and over which loops their steps are counted.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr memory outer{.name = "outer", .base = 0x4000'0000, .capacity = 4_KiB};
constexpr auto fetch_outer = transfer("fetch_outer", dram, outer).on(loader).asynchronous().dimensions(2);
constexpr auto hand_in = transfer("hand_in", outer, spad).on(storer).asynchronous().dimensions(2);
constexpr auto two_levels = machine("two_levels", dram, spad, outer, loader, storer, fetch_outer, hand_in);
constexpr core host{.name = "host"};
constexpr auto by_core = transfer("by_core", dram, spad).on(host);
constexpr auto cached = machine("cached", dram, spad, host, by_core);
constexpr axis m12{"m", 12};
constexpr auto rows_of_12 = C(m12, n) = A(m12, n);

verdict refusal_of(schedule const& of) { return planned_to(pass::rings, of).refusal(); }
/// Three tiles of four rows, row by row inside; loads run ahead by these distances.
schedule in_two_levels(int around, int inside) {
    return schedule(rows_of_12, two_levels)
        .split(m12, mo, mi, 4)
        .cache_read(A, outer)
        .at(mo)
        .buffers(around + 1)
        .prefetch(around)
        .cache_read(A, spad)
        .at(mi)
        .buffers(inside + 1)
        .prefetch(inside);
}

}  // namespace

TEST_CASE("a ring counts the loops around its buffer, in which versions go round") {
    planned_to const t(pass::rings,
                       schedule(copy, asynchronous).split(m, mo, mi, 4).cache_read(A, spad).at(mi).buffers(3).cache_write(C, spad).at(mo));
    REQUIRE_FALSE(t.p.refused());
    ring const &in = t.p.ring_at(t.p.staging_at(0).ring), &out = t.p.ring_at(t.p.staging_at(1).ring);
    CHECK((in.steps == 12 && in.versions == 3 && in.distance == 2 && in.loop_count == 2 && !in.stores && in.engine == 0));
    CHECK(same(t.p.form_of(in.step), sum_of(0, {{4, t.variable("mo")}, {1, t.variable("mi")}})));
    CHECK((out.steps == 3 && out.versions == 1 && out.distance == 0 && out.stores && out.engine == 1));
    // Tags of one ring follow those of another; the buffer stands further out first.
    CHECK((out.first_tag == 0 && in.first_tag == 1));
    CHECK(t.p.buffer_at(t.p.staging_at(0).buffer).versions == 3);
    CHECK_FALSE(same_steps(in, out));
    CHECK(same_steps(in, in));
}
TEST_CASE("transfers that block have no ring") {
    planned_to const t(pass::rings, schedule(copy, blocking).cache_read(A, spad).at(m));
    CHECK((t.p.staging_at(0).ring == -1 && t.p.plan.rings.size() == 0 && t.p.staging_at(0).mover == 0));
}
TEST_CASE("a load runs as far ahead as versions allow, unless it is said") {
    CHECK(distance_of({.versions = 3}) == 2);
    CHECK(distance_of({.versions = 3, .distance = 1}) == 1);
    CHECK(distance_of({.versions = 3, .distance = 0}) == 0);
    planned_to const once(pass::rings, schedule(copy, asynchronous).cache_read(A, spad));
    REQUIRE_FALSE(once.p.refused());
    CHECK((once.p.ring_at(0).loop_count == 0 && once.p.ring_at(0).distance == 0 && once.p.ring_at(0).steps == 1));
}
TEST_CASE("versions and distances that nothing uses are refused with their numbers") {
    auto const staged = [](int versions) { return schedule(copy, asynchronous).cache_read(A, spad).at(m).buffers(versions); };
    CHECK_FALSE(refusal_of(staged(2).prefetch(1)));
    verdict const far = refusal_of(staged(2).prefetch(2));
    CHECK((far.broken == rule::distance_beyond_versions && far.facts[0].value == 2 && far.facts[1].value == 2));
    CHECK(refusal_of(schedule(copy, blocking).cache_read(A, spad).at(m).buffers(2)).broken == rule::versions_of_a_blocking_transfer);
    CHECK(refusal_of(schedule(copy, blocking).cache_read(A, spad).at(m).prefetch(1)).broken == rule::versions_of_a_blocking_transfer);
    CHECK(refusal_of(schedule(copy, asynchronous).cache_read(A, spad).buffers(2)).broken == rule::versions_of_one_step);
    CHECK(refusal_of(schedule(copy, asynchronous).cache_write(C, spad).at(m).buffers(2).prefetch(1)).broken == rule::prefetch_of_output);
    CHECK(refusal_of(schedule(product, asynchronous).reorder(k, m, n).cache_write(C, spad).at(k)).broken == rule::inside_a_reduction);
}
TEST_CASE("a load from a buffer that is made anew is counted from there, unless it can run on into the next one") {
    // Two tiles ahead, or one where half of the four rows are left for it.
    auto const scope_of = [](int around, int inside) {
        planned_to const t(pass::rings, in_two_levels(around, inside));
        REQUIRE_FALSE(t.p.refused());
        staging const& st = t.p.staging_at(1);
        CHECK(steps_inside(t.p, st, t.p.staging_at(0)) == 4);
        CHECK((st.scope == 0) == (st.around == 0));
        return int{st.scope};
    };
    CHECK(scope_of(2, 4) == 0);
    CHECK(scope_of(1, 2) == 0);
    CHECK(scope_of(1, 3) == 1);
    CHECK(scope_of(0, 1) == 1);
    CHECK(scope_of(2, 5) == 1);  // more than there are rows in a tile
}
TEST_CASE("a core that copies asks for what comes next in the iterations of a loop inside") {
    schedule const of = schedule(copy, cached).split(m, mo, mi, 4).cache_read(A, spad).at(mo);
    planned_to const t(pass::rings, schedule(of).prefetch(2, mi));
    REQUIRE_FALSE(t.p.refused());
    CHECK(t.p.staging_at(0).asking_variable == t.variable("mi"));
    CHECK(refusal_of(schedule(of).prefetch(2, mo)).broken == rule::asked_for_elsewhere);
    CHECK(refusal_of(schedule(of).prefetch(2, m)).kind == verdict_kind::unknown_axis);
    CHECK(refusal_of(schedule(copy, asynchronous).split(m, mo, mi, 4).cache_read(A, spad).at(mo).buffers(2).prefetch(1, mi)).broken ==
          rule::asked_for_no_copy);
}
TEST_CASE("what is stored later must be stored before a load overwrites it") {
    blank t(asynchronous);
    t.p.add(buffer{.kind = buffer_kind::staged, .memory = 1});
    t.p.add(ring{.buffer = 0_buffer, .versions = 3, .distance = 2});
    t.p.add(ring{.buffer = 0_buffer, .stores = true, .versions = 3});
    t.p.from.stagings.push({.buffer = 0_buffer, .ring = 0});
    t.p.from.stagings.push({.writes = true, .buffer = 0_buffer, .ring = 1});
    CHECK(loaded_ahead(t.p, 0_buffer) == 2);
    t.p.from.stagings.push({.writes = true, .buffer = 7_buffer});
    CHECK(loaded_ahead(t.p, 7_buffer) == 0);
}
