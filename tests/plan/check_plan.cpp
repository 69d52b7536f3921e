#include <tilewright/plan/check_plan.hpp>

#include <tilewright/plan/plan.hpp>

#include "catch.hpp"

// What is wrong with plans that were changed by hand: the verdict, with the directive that asked for what went wrong.

using namespace tilewright;
using ir::step_kind;

namespace {

constexpr memory dram{.name = "dram"}, tcm{.name = "tcm", .capacity = 64_KiB},
    one_port{.name = "one_port", .base = 0x9000'0000, .capacity = 64_KiB, .ports = 1},
    two_banks{.name = "one_port", .base = 0x9000'0000, .capacity = 64_KiB, .banks = 2, .ports = 1};
constexpr engine dma{"dma"}, unit{.name = "unit", .completes = completion::by_channel};
constexpr configuration scale("scale");
constexpr auto load = transfer("load", dram, tcm).on(dma).asynchronous();
constexpr auto dsp = machine("dsp", dram, tcm, dma, load);

constexpr axis i{"i", 4096}, io{"io"}, ii{"ii"};
constexpr tensor<float> x{"x"}, y{"y"};
constexpr auto twice = y(i) = x(i) * 2;
constexpr auto on_dsp = schedule(twice, dsp).split(i, io, ii, 512).cache_read(x, tcm).at(io).buffers(2);

/// A plan with its steps of one kind made void.
constexpr plan_value without(plan_value changed, step_kind kind) {
    for (int at = 0; at < changed.steps.size(); ++at) {
        ir::step& step = changed.steps[at];
        if (step.kind == kind) step = {step_kind::barrier, -1};
    }
    return changed;
}

}  // namespace

TEST_CASE("nothing is wrong with the plan of a schedule, in the compiler and at run time") {
    static_assert(!check_plan(plan<on_dsp>));
    static_assert(!check_plan(plan<on_dsp>, on_dsp));
    CHECK(!check_plan(make_plan(on_dsp), on_dsp, ir::visiting::everything));
}
TEST_CASE("what is used before it has come is a race, and the verdict names the directive that staged it") {
    constexpr verdict found = check_plan(without(make_plan(on_dsp), step_kind::wait), on_dsp);
    static_assert(found.kind == verdict_kind::race && found.broken == ir::rule::read_before_written);
    CHECK(found.names[0] == "x");
    CHECK(found.names[1] == "load");
    CHECK(found.ordinal == 2);
    CHECK(found.directive == directive_kind::cache_read);
    verdict const everywhere = check_plan(without(make_plan(on_dsp), step_kind::wait), on_dsp, ir::visiting::everything);
    CHECK(everywhere.broken == found.broken);
    CHECK(check_plan(without(make_plan(on_dsp), step_kind::start)).broken == ir::rule::other_contents);
}
TEST_CASE("without a schedule the verdict is the same, and names no directive") {
    verdict const found = check_plan(without(make_plan(on_dsp), step_kind::wait));
    CHECK(found.kind == verdict_kind::race);
    CHECK(found.names[0] == "x");
    CHECK(found.ordinal == 0);
    CHECK(found.line == 0);
}
TEST_CASE("a plan that is refused keeps its refusal") {
    auto const too_large = schedule(twice, dsp).cache_read(x, tcm).buffers(8);
    CHECK(check_plan(make_plan(too_large), too_large).kind == make_plan(too_large).refusal.kind);
    CHECK(make_plan(too_large).refusal);
}
TEST_CASE("a bank with one port that is loaded while it is read is a bank conflict") {
    auto const into = [](memory const& near) {
        return machine("near", dram, near, dma, transfer("load", dram, near).on(dma).asynchronous());
    };
    auto const banked = into(two_banks), narrow = into(one_port);
    auto const of = schedule(twice, banked).split(i, io, ii, 512).cache_read(x, two_banks).at(io).buffers(2);
    plan_value changed = make_plan(of);
    REQUIRE(!changed.refusal);
    CHECK(!check_plan(changed, of));
    changed.where = &narrow;
    CHECK(check_plan(changed, of).kind == verdict_kind::bank_conflict);
}
TEST_CASE("a register that nothing has set is found first") {
    auto const scaled = machine("scaled", dram, tcm, scale, transfer("load", dram, tcm).uses(scale, argument::row_bytes));
    auto const of = schedule(twice, scaled).split(i, io, ii, 512).cache_read(x, tcm).at(io);
    REQUIRE(!make_plan(of).refusal);
    CHECK(!check_plan(make_plan(of), of));
    verdict const found = check_plan(without(make_plan(of), step_kind::configure), of);
    CHECK(found.kind == verdict_kind::race);
    CHECK(found.broken == ir::rule::setting_not_made);
    CHECK(found.names[1] == "scale");
}
TEST_CASE("more tokens than the hardware holds are a deadlock, with both numbers") {
    auto const adding = y(i) = x(i) + 1;
    constexpr axis lanes{"lanes", 512};
    auto const add = intrinsic("add", y(lanes) = x(lanes) + 1).reads(x, tcm).writes(y, tcm).on(unit).asynchronous();
    auto const store = transfer("store", tcm, dram).on(dma).asynchronous();
    auto const of_tokens = [&](int most) {
        return machine("tokens", dram, tcm, dma, unit, tokens(dma, unit).holds(most), tokens(unit, dma), load, store, add);
    };
    auto const with_four = of_tokens(4), with_one = of_tokens(1);
    schedule of(adding, with_four);
    of.split(i, io, ii, 512).cache_read(x, tcm).at(io).buffers(2).cache_write(y, tcm).at(io).buffers(2).tensorize(ii, add);
    plan_value changed = make_plan(of);
    REQUIRE(!changed.refusal);
    CHECK(!check_plan(changed, of));
    changed.where = &with_one;
    verdict const found = check_plan(changed, of);
    CHECK(found.kind == verdict_kind::deadlock);
    CHECK(found.broken == ir::rule::tokens_overflow);
    CHECK((found.facts[0].value == 2 && found.facts[1].value == 1));
}
TEST_CASE("partial tiles are followed to their ends") {
    constexpr axis odd{"odd", 1000};
    auto const twice_odd = y(odd) = x(odd) * 2;
    auto const of = schedule(twice_odd, dsp).split(odd, io, ii, 512).cache_read(x, tcm).at(io);
    plan_value changed = make_plan(of);
    REQUIRE(!changed.refusal);
    CHECK(!check_plan(changed, of));
    for (int at = 0; at < changed.clips.size(); ++at) changed.clips[at].bound = 1 << 20;
    verdict const found = check_plan(changed, of);
    CHECK(found.kind == verdict_kind::race);
    CHECK(found.broken == ir::rule::outside_of_it);
}
TEST_CASE("extents that are left to run time are looked at where tiles are whole, partial, few and many") {
    constexpr axis open{"open", dynamic};
    auto const twice_open = y(open) = x(open) * 2;
    auto const of = schedule(twice_open, dsp).split(open, io, ii, 512).cache_read(x, tcm).at(io).buffers(2);
    plan_value const good = make_plan(of);
    REQUIRE(!good.refusal);
    CHECK(!check_plan(good, of));
    CHECK(check_plan(without(good, step_kind::wait), of).broken == ir::rule::read_before_written);
}
