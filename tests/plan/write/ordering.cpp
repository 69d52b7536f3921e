#include <tilewright/plan/write/ordering.hpp>

#include <string>
#include <tilewright/base/label_text.hpp>

#include "plan/passes.hpp"

// Waits and tokens, each where it is asked for.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr memory tile{.name = "tile", .base = 0x1000, .capacity = 4_KiB, .host_visible = false};
constexpr engine gets{"gets"}, unit{.name = "unit", .completes = completion::by_channel}, puts_back{"puts"};
constexpr auto in = transfer("in", dram, tile).on(gets).asynchronous().dimensions(2);
constexpr auto out = transfer("out", tile, dram).on(puts_back).asynchronous().dimensions(2);
constexpr axis r{"r", 6};
constexpr tensor<std::int32_t> from{"from"}, to{"to"};
constexpr auto step_aside = intrinsic("step", to(r) = from(r) + 1).reads(from, tile).writes(to, tile).on(unit).asynchronous();
/// Engines gets 0, unit 1 and puts 2; tokens from the first to the second only.
constexpr auto chip = machine("chip", dram, tile, gets, unit, puts_back, in, out, step_aside, tokens(gets, unit));
constexpr auto adding = C(m, n) = A(m, n) + 1;
enum : int { gets_at, unit_at, puts_at, core_at = -1 };

struct orders : ordering {
    explicit orders(writing& planned) : ordering(planned) {}
    using ordering::can_be, ordering::computes_aside_, ordering::order, ordering::order_all, ordering::order_anew, ordering::pass,
        ordering::wait;
};

/// Pushes and pops by the engines of their links, waits as w.
std::string steps_of(plan_value const& plan) {
    auto const name = [](int engine) { return engine < 0 ? std::string("core") : chip.engines[engine].name.str(); };
    std::string text;
    for (int at = 0; at < plan.steps.size(); ++at) {
        step const& s = plan.steps[at];
        if (!text.empty()) text += ' ';
        if (s.kind == step_kind::wait) text += 'w';
        else if (s.kind == step_kind::push) text += name(plan.links[plan.waits[s.what].link].from) + ">";
        else if (s.kind == step_kind::pop) text += ">" + name(plan.links[plan.waits[s.what].link].to);
        else text += '?';
    }
    return text;
}

}  // namespace

TEST_CASE("engines order each other where they have tokens; otherwise the core waits") {
    blank t(chip);
    orders made(t.p);
    CHECK(made.computes_aside_);
    blank code(blocking);
    CHECK_FALSE(orders(code.p).computes_aside_);
    made.order(gets_at, unit_at);
    CHECK(steps_of(t.p.plan) == "gets> >unit");
    made.order(unit_at, unit_at);  // jobs of one queue are in order
    CHECK(t.p.plan.steps.size() == 2);
    made.order(unit_at, puts_at);
    CHECK(steps_of(t.p.plan) == "gets> >unit unit> >core");
    // Two such orders have one link.
    made.order(gets_at, unit_at);
    CHECK((t.p.plan.steps.size() == 6 && t.p.plan.links.size() == 2));
}
TEST_CASE("what computes is ordered with all that come then") {
    blank t(chip);
    orders made(t.p);
    made.order_all({.engines = 1u << unit_at, .movers = 1u << gets_at}, {.engines = 1u << unit_at, .movers = 1u << puts_at});
    CHECK(steps_of(t.p.plan) == "unit> >core");
    made.order_all({.engines = 1u << unit_at}, {.core = true, .movers = 1u << puts_at});
    CHECK(steps_of(t.p.plan) == "unit> >core unit> >core");
}
TEST_CASE("interlocked engines get no steps") {
    static constexpr engine locked_gets{.name = "gets", .interlocked = true},
        locked_unit{.name = "unit", .completes = completion::by_channel, .interlocked = true};
    static constexpr auto locked = machine("locked", dram, tile, locked_gets, locked_unit, in, step_aside);
    blank t(locked);
    orders made(t.p);
    made.order(gets_at, unit_at);
    CHECK(t.p.plan.steps.size() == 0);
    made.order(unit_at, core_at);
    CHECK(t.p.plan.steps.size() == 2);
}
TEST_CASE("versions whose steps begin anew are free when the iteration before has used them") {
    static constexpr memory near{.name = "near", .base = 0x4000, .capacity = 4_KiB, .host_visible = false};
    static constexpr auto closer = transfer("closer", tile, near).on(puts_back).asynchronous().dimensions(2);
    static constexpr auto step_near = intrinsic("step", to(r) = from(r) + 1).reads(from, near).writes(to, tile).on(unit).asynchronous();
    static constexpr auto by_core = machine("by_core", dram, tile, near, gets, unit, puts_back, in, out, closer, step_near);
    static constexpr auto by_tokens =
        machine("by_tokens", dram, tile, near, gets, unit, puts_back, in, out, closer, step_near, tokens(unit, puts_back));
    for (machine const* where : {&by_core, &by_tokens}) {
        auto const made_by = schedule(adding, *where).cache_read(A, tile).at(m).cache_read(A, near).at(m).cache_write(C, tile).at(m);
        planned_to t(pass::links, schedule(made_by).tensorize(n, step_near));
        REQUIRE_FALSE(t.p.refused());
        orders made(t.p);
        made.order_anew(0);  // steps of A.tile are counted over all of m
        CHECK(steps_of(t.p.plan) == "");
        made.order_anew(1);  // those of A.near in each iteration, from A.tile
        CHECK(steps_of(t.p.plan) == (where == &by_core ? "unit> >core" : "unit> >puts"));
    }
}
TEST_CASE("a wait for a step that no iteration has is not written") {
    planned_to t(pass::rings, schedule(adding, chip).cache_read(A, tile).at(m).buffers(2));
    REQUIRE_FALSE(t.p.refused());
    REQUIRE(t.p.ring_at(0).steps == 10);
    orders made(t.p);
    made.wait(step_of(t.p, 0, 9));
    CHECK(steps_of(t.p.plan) == "w");
    made.wait(step_of(t.p, 0, 10));
    CHECK(steps_of(t.p.plan) == "w");
    CHECK((made.can_be(step_of(t.p, 0, -9)) && !made.can_be(step_of(t.p, 0, -10))));
}
TEST_CASE("tokens are passed on the links of that staging, and of that kind") {
    planned_to t(
        pass::links,
        schedule(adding, chip).cache_read(A, tile).at(m).buffers(2).cache_write(C, tile).at(m).buffers(2).tensorize(n, step_aside));
    REQUIRE_FALSE(t.p.refused());
    orders made(t.p);
    ring_step const now = step_of(t.p, t.p.staging_at(0).ring, 0);
    made.pass(0, link_role::load_to_user, step_kind::push, now, 1);
    CHECK(steps_of(t.p.plan) == "gets>");
    CHECK(t.p.plan.waits[t.p.plan.steps[0].what].fewer == 1);
    made.pass(0, link_role::user_to_load, step_kind::pop, now);
    CHECK(steps_of(t.p.plan) == "gets> >core");
    made.pass(1, link_role::load_to_user, step_kind::push, now);
    CHECK(t.p.plan.steps.size() == 2);
}
