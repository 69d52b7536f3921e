#include <tilewright/plan/place/parallel.hpp>

#include "plan/passes.hpp"

// Loops whose iterations run on several threads.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr core host{.name = "host"};
constexpr auto by_core = transfer("by_core", dram, spad).on(host);
constexpr auto cached = machine("cached", dram, spad, host, by_core);
constexpr axis open{"m", dynamic};
constexpr tensor<std::int32_t> S{"S"};
constexpr auto two_stages = stages(S(m, n) = A(m, n) + 1, C(m, n) = S(m, n) * 2);
rule broken_by(schedule const& of) { return planned_to(pass::rings, of).refusal().broken; }

}  // namespace

TEST_CASE("what is made in a parallel loop has a version for each iteration") {
    planned_to const t(pass::rings, schedule(copy, cached).split(m, mo, mi, 4).parallel(mo).cache_read(A, spad).at(mo));
    REQUIRE_FALSE(t.p.refused());
    ir::buffer const& staged = t.p.plan.buffers[t.buffer("A.spad")];
    CHECK((staged.versions == 3 && staged.by_loop == t.variable("mo")));
    // A stage that is computed there, too.
    planned_to const stage(pass::rings, schedule(two_stages, cached).split(m, mo, mi, 5).parallel(mo).compute_at(S, mo).store_in(S, spad));
    CHECK(stage.p.plan.buffers[stage.buffer("S.spad")].versions == 2);
    // Outside of it there is one.
    planned_to const outside(pass::rings, schedule(copy, cached).parallel(n).cache_read(A, spad).at(m));
    CHECK(outside.p.plan.buffers[outside.buffer("A.spad")].versions == 1);
}
TEST_CASE("as many iterations as a buffer can have versions") {
    constexpr axis x{"x", 16}, y{"y", 17};
    auto const sixteen = C(x, n) = A(x, n);
    CHECK_FALSE(planned_to(pass::rings, schedule(sixteen, cached).parallel(x).cache_read(A, spad).at(x)).p.refused());
    auto const seventeen = C(y, n) = A(y, n);
    verdict const v = planned_to(pass::rings, schedule(seventeen, cached).parallel(y).cache_read(A, spad).at(y)).refusal();
    CHECK((v.kind == verdict_kind::capacity_of_representation && v.facts[0].value == 17 && v.facts[1].value == 16));
}
TEST_CASE("calls, loops in each other and loops that run time ends are refused") {
    CHECK(broken_by(schedule(copy, blocking).parallel(m).cache_read(A, spad).at(m)) == rule::parallel_with_calls);
    CHECK(broken_by(schedule(copy, cached).parallel(m).parallel(n)) == rule::parallel_in_parallel);
    auto const open_copy = C(n, open) = A(n, open);
    // a loop that is counted is refused where it is marked; one that stands inside is not
    CHECK(broken_by(schedule(open_copy, cached).parallel(n)) == rule::none);
    CHECK(broken_by(schedule(open_copy, cached).parallel(open)) == rule::run_time_loop);
}
TEST_CASE("a stage stands inside of the loops on its path, in front of a depth") {
    planned_to const t(pass::owned, schedule(copy, cached).split(m, mo, mi, 4));
    CHECK(stands_inside(t.p, 0_stage, t.variable("mi"), 2));
    CHECK_FALSE(stands_inside(t.p, 0_stage, t.variable("mi"), 1));
}
TEST_CASE("neither registers nor arguments have versions for iterations") {
    static constexpr memory file{.name = "file", .capacity = 64, .registers = 4};
    static constexpr auto with_file = machine("with_file", dram, file);
    blank t(with_file);
    std::int16_t const loop = add_loop(t.p.plan, "o", 5);
    t.p.add(ir::buffer{.kind = buffer_kind::argument});
    t.p.add(ir::buffer{.kind = buffer_kind::staged, .memory = 1});
    t.p.add(ir::buffer{.kind = buffer_kind::staged, .memory = 0});
    for (buffer_id at{}; at < 3; ++at) replicate(t.p, at, loop, 1);
    CHECK((t.p.buffer_at(0).versions == 1 && t.p.buffer_at(1).versions == 1 && t.p.buffer_at(2).versions == 5));
}
