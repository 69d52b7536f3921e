#include <tilewright/plan/ir/program_run.hpp>

#include <vector>

#include "plan/small_kernels.hpp"

// A loop program is run without visiting every iteration.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// Counts what is executed, and how many starts it saw itself.
struct counting {
    using run = program_run<counting>;
    static constexpr int most_visits = 1000;
    std::int64_t starts = 0, waits = 0, computes = 0, seen = 0;
    std::vector<std::int64_t> steps;  ///< of the movements that were seen

    void start(run& in, int movement_at) { ++starts, ++seen, steps.push_back(in.number_of(in.movement_at(movement_at))); }
    void wait(run&, int) { ++waits; }
    void push(run&, int) {}
    void pop(run&, int) {}
    void compute(run&, int, std::int64_t times) { computes += times; }
    void sign(run const&, run_signature& into) const { into.now = starts * 1'000'000 + waits * 1000 + computes; }
    void skip(run const&, std::int64_t times, run_signature const& now, run_signature const& then) {
        std::int64_t const more = times * (now.now - then.now);
        starts += more / 1'000'000, waits += more / 1000 % 1000, computes += more % 1000;
    }
};

/// A pipeline of `extent` steps with two versions, each loaded a step ahead:
/// start of step 0; for v: start of v + 1, wait for v, compute.
plan_value pipeline(std::int64_t extent) {
    plan_value plan = empty_plan(asynchronous, copy.view());
    variable_id const v = add_loop(plan, "v", extent);
    plan.buffers.push({.name = "A.spad", .kind = buffer_kind::staged, .memory = 1, .versions = 2, .ring = 0});
    ring r{.buffer = 0_buffer, .engine = 0, .versions = 2, .distance = 1, .steps = extent, .step = keep(plan, 0, {{1, v}})};
    r.loops[r.loop_count++] = v;
    plan.rings.push(r);
    plan.movements.push({.transfer = 0, .destination = 0_buffer, .row_elements = 4, .at = {.ring = 0, .step = keep(plan, 0)}});
    plan.movements.push(
        {.transfer = 0, .destination = 0_buffer, .row_elements = 4, .at = {.ring = 0, .step = keep(plan, 1, {{1, v}}), .ahead = 1}});
    plan.waits.push({.ring = 0, .step = r.step});
    plan.bodies.push({});
    add_steps(plan, {{step_kind::start, 0},
                     {step_kind::loop, v},
                     {step_kind::start, 1},
                     {step_kind::wait, 0},
                     {step_kind::compute, 0},
                     {step_kind::end, v}});
    return plan;
}
counting run_of(plan_value const& plan, visiting how) {
    counting state;
    CHECK(program_run<counting>(plan, state, how).run());
    return state;
}

}  // namespace

TEST_CASE("a load that runs ahead is not there behind the last step, and what repeats is skipped") {
    plan_value const plan = pipeline(50);
    counting const all = run_of(plan, visiting::everything), some = run_of(plan, visiting::periods);
    for (counting const* counted : {&all, &some}) CHECK((counted->starts == 50 && counted->waits == 50 && counted->computes == 50));
    CHECK(all.seen == 50);
    CHECK(some.seen < 10);
    CHECK((all.steps.front() == 0 && all.steps.back() == 49));
}
TEST_CASE("loops in which nothing moves are run as one") {
    plan_value plan = empty_plan(blocking, copy.view());
    variable_id const i = add_loop(plan, "i", 7), j = add_loop(plan, "j", 5), r = add_loop(plan, "r", 3, true);
    body identity{.kind = body_kind::identity};
    identity.first_loops[identity.first_loop_count++] = r;
    plan.bodies.push({});
    plan.bodies.push(identity);
    add_steps(plan, {{step_kind::loop, i}, {step_kind::loop, j}, {step_kind::compute, 0}, {step_kind::end, j}, {step_kind::end, i}});
    CHECK(run_of(plan, visiting::periods).computes == 35);
    // What a reduction starts from is written where its loop begins.
    plan.steps = {};
    add_steps(plan, {{step_kind::loop, i}, {step_kind::loop, r}, {step_kind::compute, 1}, {step_kind::end, r}, {step_kind::end, i}});
    CHECK(run_of(plan, visiting::periods).computes == 7);
    fixed_array<std::int16_t, 8> loops{};
    counting state;
    CHECK(program_run<counting>(plan, state, visiting::periods).alone_loops(1, loops) == 2);
    CHECK((loops[0] == i && loops[1] == r));
}
TEST_CASE("iterations that tiles of an axis do not have are left out") {
    // three tiles of 4 of an axis of 10
    plan_value plan = empty_plan(blocking, copy.view());
    variable_id const o = add_loop(plan, "o", 3), i = add_loop(plan, "i", 4);
    body b;
    b.loops[b.loop_count++] = i;
    plan.bodies.push(b);
    plan.limits.push({keep(plan, 0, {{4, o}, {1, i}}), 10, 0_stage, no_variable, false});
    plan.limits.push({keep(plan, 0, {{4, o}}), 8, 0_stage, o, false});
    add_steps(plan, {{step_kind::loop, o}, {step_kind::compute, 0}, {step_kind::end, o}});
    struct iterations : counting {
        std::vector<std::int64_t> each;
        void compute(program_run<iterations>& in, int, std::int64_t) { each.push_back(in.iterations_of(in.plan().bodies[0], false)); }
        void start(program_run<iterations>&, int) {}
        void wait(program_run<iterations>&, int) {}
        void push(program_run<iterations>&, int) {}
        void pop(program_run<iterations>&, int) {}
        void sign(program_run<iterations> const&, run_signature&) const {}
        void skip(program_run<iterations> const&, std::int64_t, run_signature const&, run_signature const&) {}
    } state;
    CHECK(program_run<iterations>(plan, state, visiting::everything).run());
    CHECK(state.each == std::vector<std::int64_t>{4, 4});  // the loop's own limit ends it at 8
    plan.limits.shrink(1);
    state.each.clear();
    CHECK(program_run<iterations>(plan, state, visiting::everything).run());
    CHECK(state.each == std::vector<std::int64_t>{4, 4, 2});
}
TEST_CASE("past the end of an axis a loop leaves its steps out, unless it holds steps of rings") {
    // Tiles 2 o + p of 5; the sixth is not there.
    plan_value plan = empty_plan(asynchronous, copy.view());
    variable_id const o = add_loop(plan, "o", 3), p = add_loop(plan, "p", 2);
    plan.cores = 2;
    plan.limits.push({keep(plan, 0, {{2, o}, {1, p}}), 5, 0_stage, p, false});
    plan.rings.push({.engine = 0, .steps = 6, .step = keep(plan, 0, {{2, o}, {1, p}})});
    plan.waits.push({.ring = 0, .step = plan.rings[0].step});
    struct meetings : counting {
        using run = program_run<meetings>;
        int met = 0;
        meetings* of_core(int) { return this; }
        void meet(run&) { ++met; }
        void signal(run&, int) {}
        void await(run&, int) {}
        void start(run&, int) {}
        void wait(run&, int) {}
        void push(run&, int) {}
        void pop(run&, int) {}
        void compute(run&, int, std::int64_t) {}
        void sign(run const&, run_signature&) const {}
        void skip(run const&, std::int64_t, run_signature const&, run_signature const&) {}
    };
    auto const met = [&](std::initializer_list<step> inside) {
        plan.steps = {};
        add_steps(plan, {{step_kind::loop, o}, {step_kind::loop, p}});
        add_steps(plan, inside);
        add_steps(plan, {{step_kind::end, p}, {step_kind::end, o}});
        meetings state;
        CHECK(program_run<meetings>(plan, state, visiting::everything).run());
        return state.met;
    };
    CHECK(met({{step_kind::barrier, 0}}) == 5);
    CHECK(met({{step_kind::barrier, 0}, {step_kind::wait, 0}}) == 6);
}
TEST_CASE("forms have the values of the loops, or of a step of a ring") {
    plan_value plan = pipeline(50);
    variable_id const outer = add_loop(plan, "outer", 3), inner = add_loop(plan, "inner", 4);
    ring two{.steps = 12};
    two.loops[two.loop_count++] = outer;
    two.loops[two.loop_count++] = inner;
    plan.rings.push(two);
    variable_id const part = add_component(plan, keep(plan, 2, {{4, outer}, {1, inner}}), 3, 2, 2);
    counting state;
    program_run<counting> const at_rest(plan, state, visiting::everything);
    affine const form = keep(plan, 5, {{10, outer}, {1, inner}});
    CHECK(at_rest.value_of(form) == 5);
    // step 7 of 3 x 4: outer 1, inner 3
    CHECK(at_rest.value_of(form, 1, 7) == 5 + 10 + 3);
    // (2 + 4 + 3) / 3 % 2
    CHECK(at_rest.value_at(part, 1, 7) == 1);
    CHECK(at_rest.value_at(part, 1, 4) == 0);  // (2 + 4) / 3 % 2
    CHECK(at_rest.version_of(0_buffer, 0, 7) == 1);
    CHECK(at_rest.version_of(0_buffer, 0, 8) == 0);
}
TEST_CASE("a call moves what its clips leave") {
    plan_value plan = empty_plan(blocking, copy.view());
    movement m{.row_elements = 8};
    m.dimensions[m.dimension_count++] = {.extent = 5};
    auto const elements = [&](std::initializer_list<clip> clips) {
        m.first_clip = static_cast<std::int16_t>(plan.clips.size());
        m.clip_count = 0;
        for (clip const& c : clips) plan.clips.push(c), ++m.clip_count;
        counting state;
        return program_run<counting>(plan, state, visiting::everything).elements_of(m);
    };
    affine const two = keep(plan, 2);
    CHECK(elements({}) == 40);
    CHECK(elements({{two, 8, -1, clip_kind::end}}) == 6 * 5);
    CHECK(elements({{two, 5, -1, clip_kind::begin}, {two, 6, 0, clip_kind::end}}) == 5 * 4);
    CHECK(elements({{two, 12, -1, clip_kind::begin}}) == 0);
    CHECK(elements({{two, 3, -1, clip_kind::only}}) == 40);
    CHECK(elements({{two, 2, -1, clip_kind::only}}) == 0);
    CHECK(elements({{two, 3, -1, clip_kind::beyond}, {two, 2, -1, clip_kind::beyond}}) == 40);
    CHECK(elements({{two, 3, -1, clip_kind::beyond}}) == 0);
    CHECK(elements({{two, 4, -1, clip_kind::border_end}}) == 40);  // what is not read is written
}
TEST_CASE("versions meet where they share bytes of one bank") {
    plan_value plan = empty_plan(asynchronous, copy.view());
    buffer const staged{.kind = buffer_kind::staged, .memory = 2, .bytes = 16, .versions = 2, .bank = 0, .part_stride = 16};
    plan.buffers.push(staged);  // version 0 in bank 0, version 1 in bank 1
    buffer other = staged;
    other.versions = 1, other.bank = 1, other.offset = 8;
    plan.buffers.push(other);
    plan.buffers.push({.kind = buffer_kind::argument});
    CHECK_FALSE(versions_overlap(plan, 0_buffer, 0, 1_buffer, 0));
    CHECK(versions_overlap(plan, 0_buffer, 1, 1_buffer, 0));
    plan.buffers[1].offset = 16;  // behind it
    CHECK_FALSE(versions_overlap(plan, 0_buffer, 1, 1_buffer, 0));
    CHECK(versions_overlap(plan, 0_buffer, 1, 0_buffer, 1));
    CHECK_FALSE(versions_overlap(plan, 0_buffer, 1, 0_buffer, 0));
    CHECK_FALSE(versions_overlap(plan, 0_buffer, 0, 2_buffer, 0));
    CHECK_FALSE(versions_overlap(plan, no_buffer, 0, 0_buffer, 0));
    plan.buffers[1].offset = 8, plan.buffers[1].memory = 1;
    CHECK_FALSE(versions_overlap(plan, 0_buffer, 1, 1_buffer, 0));
}
