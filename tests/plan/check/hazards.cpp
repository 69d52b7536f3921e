#include <tilewright/plan/check/hazards.hpp>

#include <tilewright/base/label_text.hpp>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"

// Programs with a mistake in the order of their starts, waits and uses, one for each rule.

using namespace tilewright;
using namespace tilewright::ir;
using tilewright::detail::find_hazard, tilewright::detail::hazard, tilewright::detail::visiting;

namespace {

constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x1000, .capacity = 64_KiB},
    banked{.name = "banked", .base = 0x9000'0000, .capacity = 64_KiB, .banks = 2, .ports = 1};
constexpr engine loader{"loader"}, storer{"storer"};
constexpr auto fetch = transfer("fetch", dram, spad).on(loader).asynchronous().dimensions(2);
constexpr auto fetch_banked = transfer("fetch_banked", dram, banked).on(loader).asynchronous().dimensions(2);
constexpr auto put = transfer("put", spad, dram).on(storer).asynchronous().dimensions(2);
constexpr auto dsp = machine("dsp", dram, spad, banked, loader, storer, fetch, fetch_banked, put);

constexpr memory one_bank{.name = "banked", .base = 0x9000'0000, .capacity = 64_KiB, .ports = 1};
constexpr auto dsp_of_one_bank = machine("dsp", dram, spad, one_bank, loader, storer, fetch, fetch_banked, put);

constexpr axis m{"m", 64}, n{"n", 16}, k{"k", 4};
constexpr tensor<std::int32_t> A{"A"}, C{"C"}, D{"D"};
constexpr auto copy = C(m, n) = D(m, n);
constexpr auto more = C(m, n) = C(m, n) + sum(k, A(m, k));

constexpr auto copied = schedule(copy, dsp).cache_read(D, spad).at(m).buffers(2).cache_write(C, spad).at(m).buffers(2);
constexpr auto copied_from_bank = schedule(copy, dsp).cache_read(D, banked).at(m).buffers(2);
constexpr auto continued = schedule(more, dsp).cache_write(C, spad).at(m).buffers(2);

enum class side { load, store };

constexpr bool is_of(plan_value const& plan, ring_step const& when, ir::label const& tensor, side of) {
    if (when.ring < 0) return false;
    ring const& r = plan.rings[when.ring];
    return r.stores == (of == side::store) && plan.buffers[r.buffer].tensor == tensor;
}
/// Without the n-th wait, or start, for a tensor; the first is 0.
constexpr plan_value without(plan_value const& good, step_kind kind, ir::label const& tensor, side of, int which = 0) {
    plan_value changed = good;
    changed.steps = {};
    for (int at = 0; at < good.steps.size(); ++at) {
        step const& s = good.steps[at];
        bool found = s.kind == kind;
        if (found) {
            auto const what = static_cast<std::size_t>(s.what);
            found = is_of(good, kind == step_kind::wait ? good.waits[what] : good.movements[what].at, tensor, of) && which-- == 0;
        }
        if (!found) changed.steps.push(s);
    }
    return changed;
}
/// On a machine whose parts have the same places.
constexpr plan_value on(machine const& other, plan_value plan) {
    plan.where = &other;
    return plan;
}

constexpr hazard found_in(schedule const& of, step_kind kind, ir::label const& tensor, side which, int number = 0) {
    return find_hazard(without(make_plan(of), kind, tensor, which, number));
}

// What is planned has none.
static_assert(!find_hazard(make_plan(copied)));
static_assert(!find_hazard(make_plan(copied_from_bank)));
static_assert(!find_hazard(make_plan(continued)));

static_assert(found_in(copied, step_kind::wait, "D", side::load).broken == ir::rule::read_before_written);
static_assert(found_in(copied, step_kind::wait, "C", side::store).broken == ir::rule::written_while_read);
static_assert(found_in(continued, step_kind::wait, "C", side::load).broken == ir::rule::written_while_written);
static_assert(found_in(copied, step_kind::start, "D", side::load, 0).broken == ir::rule::other_contents);  // in front of the loop
static_assert(found_in(copied, step_kind::start, "D", side::load, 1).broken == ir::rule::other_contents);
static_assert(found_in(continued, step_kind::start, "C", side::load).broken == ir::rule::other_contents);
static_assert(found_in(copied, step_kind::start, "C", side::store).broken == ir::rule::never_stored);
static_assert(find_hazard(on(dsp_of_one_bank, make_plan(copied_from_bank))).broken == ir::rule::bank_in_use);
static_assert(found_in(copied, step_kind::wait, "C", side::store, 1).broken == ir::rule::never_waited_for);

}  // namespace

TEST_CASE("a bank of one port that is used twice at a time is refused with what uses it") {
    constexpr auto beside = transfer("beside", dram, banked).on(storer).asynchronous().dimensions(2);
    constexpr auto put_banked = transfer("put_banked", banked, dram).on(storer).asynchronous().dimensions(2);
    auto const two_ways = machine("two_ways", dram, banked, loader, storer, fetch_banked, beside, put_banked);
    auto const by = [](schedule const& of) {
        plan_value const plan = make_plan(of);
        return plan.refusal.kind == verdict_kind::bank_conflict ? plan.refusal.names[3].str() : to_string(plan.refusal);
    };
    // Version 1 of both is loaded while version 0 is used.
    constexpr auto sum = C(m, n) = A(m, n) + D(m, n);
    auto const loaded = [&](transfer const& second) {
        return schedule(sum, two_ways)
            .cache_read(A, banked)
            .by(fetch_banked)
            .at(m)
            .buffers(2)
            .cache_read(D, banked)
            .by(second)
            .at(m)
            .buffers(2);
    };
    CHECK(by(loaded(beside)) == "a load");
    CHECK(!make_plan(loaded(fetch_banked)).refusal);  // one after the other
    // What was computed two steps before is stored out of the bank that is written.
    auto const stored = [&](int versions) { return schedule(copy, two_ways).cache_write(C, banked).at(m).buffers(versions); };
    CHECK(by(stored(3)) == "the loops");
    CHECK(!make_plan(stored(2)).refusal);
}
TEST_CASE("more versions than steps: no load is started that no step is for") {
    constexpr axis few{"few", 2};
    constexpr auto short_copy = C(few, n) = D(few, n);
    plan_value const plan = make_plan(schedule(short_copy, dsp).cache_read(D, spad).at(few).buffers(4));
    REQUIRE(!plan.refusal);
    CHECK(plan.calls(fetch) == 2);
    CHECK(plan.bytes(fetch) == 2 * 16 * 4);
}
TEST_CASE("a hazard names what is in flight, what meets it, and the version") {
    plan_value const good = make_plan(copied);
    hazard const found = find_hazard(without(good, step_kind::wait, "D", side::load));
    CHECK(good.buffers[found.buffer].name == label("D.spad"));
    CHECK(found.version == 0);
    CHECK(good.where->transfers[good.movements[found.first].transfer].name == label("fetch"));
    CHECK(found.second == -1);
}
TEST_CASE("of transfers that nothing waits for, later ones stand for the earlier ones") {
    plan_value endless = without(make_plan(copied), step_kind::wait, "D", side::load);
    for (int at = 0; at < endless.uses.size(); ++at) {
        use& u = endless.uses[at];
        if (u.buffer >= 0 && endless.buffers[u.buffer].tensor == label("D")) u.buffer = no_buffer;
    }
    for (visiting how : {visiting::everything, visiting::periods}) CHECK(find_hazard(endless, how).broken == ir::rule::never_waited_for);
}
TEST_CASE("a loop whose iterations use other versions is followed even where nothing is moved in it") {
    constexpr axis o{"o", 4}, p{"p", 2};
    constexpr tensor<std::int32_t> E{"E"}, F{"F"};
    auto const sums = E(o, n) += F(o, p);
    schedule of(sums.view(), dsp);
    of.reorder(o, p, n).cache_read(F, spad).at(p).buffers(3);
    plan_value const good = make_plan(of);
    REQUIRE(!good.refusal);
    CHECK(!find_hazard(good));
    plan_value changed = without(good, step_kind::wait, "F", side::load);
    for (visiting how : {visiting::everything, visiting::periods}) CHECK(find_hazard(changed, how).broken == ir::rule::read_before_written);
}

// Too many iterations for a compiler to follow, hardly two tiles alike in phase: the plan stands, and generators look at all of it.
namespace {

constexpr axis long_m{"m", 1000}, long_n{"n", 999}, long_k{"k", 1001};
constexpr tensor<std::int8_t> left{"left"}, right{"right"};
constexpr tensor<std::int32_t> wide{"wide"};
constexpr auto large = wide(long_m, long_n) += cast<std::int32_t>(left(long_m, long_k)) * cast<std::int32_t>(right(long_k, long_n));
constexpr memory outer_memory{.name = "outer_memory"}, inner_memory{.name = "inner_memory", .capacity = 256_KiB};
constexpr engine reader{"reader"}, writer{"writer"};
constexpr auto read_in = transfer("read_in", outer_memory, inner_memory).on(reader).asynchronous().dimensions(2);
constexpr auto write_out = transfer("write_out", inner_memory, outer_memory).on(writer).asynchronous().dimensions(2);
constexpr auto streaming_core = machine("streaming_core", outer_memory, inner_memory, reader, writer, read_in, write_out);
constexpr auto large_in_versions = schedule(large, streaming_core)
                                       .tile("m", "n", "mo", "no", "mi", "ni", 64, 48)
                                       .split("k", "ko", "ki", 60)
                                       .reorder("mo", "no", "ko", "mi", "ni", "ki")
                                       .cache_read(left, inner_memory)
                                       .at("ko")
                                       .buffers(2)
                                       .cache_read(right, inner_memory)
                                       .at("ko")
                                       .buffers(3)
                                       .cache_write(wide, inner_memory)
                                       .at("no")
                                       .buffers(2);
static_assert(tilewright::plan<large_in_versions>.peak(inner_memory) > 0);
static_assert(!tilewright::plan<large_in_versions>.cycles_resolved());

}  // namespace

TEST_CASE("a plan that a compiler cannot follow to its end is followed at run time") {
    CHECK(tilewright::plan<large_in_versions>.cycles_resolved());
    CHECK(!find_hazard(tilewright::plan<large_in_versions>));
}

// What repeats every 15 steps is more than the compiler looks for.
namespace {

constexpr axis long_o{"o", 14000};
constexpr tensor<std::int32_t> one{"one"}, other{"other"}, both{"both"};
constexpr auto added = both(long_o) = one(long_o) + other(long_o);
constexpr auto of_two_phases = schedule(added, streaming_core)
                                   .split("o", "oo", "oi", 7)
                                   .cache_read(one, inner_memory)
                                   .at("oo")
                                   .buffers(3)
                                   .cache_read(other, inner_memory)
                                   .at("oo")
                                   .buffers(5);
static_assert(!tilewright::plan<of_two_phases>.cycles_resolved());
static_assert(tilewright::plan<of_two_phases>.peak(inner_memory) == (3 + 5) * 7 * 4);

}  // namespace

TEST_CASE("cycles that are not resolved are not compared, and are known at run time") {
    plan_value const made = make_plan(of_two_phases);
    CHECK(made.cycles_resolved());
    // Two transfers of 28 cycles for every step of the reader; then the core adds the last 7 elements, of 2 loads, an addition and a store.
    CHECK(made.cycles() == 2 * 28 * 2000 + 7 * 4);
    ir::quantity const bound = quantity::at_least(28000);
    for (ir::quantity const missing : {bound, bound + 1, 2 * bound, bound - 1, bound / 2}) {
        CHECK_FALSE(missing.known);
        CHECK_THROWS_AS(missing < 1, bad_query);
        CHECK_THROWS_AS(missing == 28000, bad_query);
        CHECK_THROWS_AS(28000 != missing, bad_query);
        CHECK_THROWS_AS(static_cast<double>(missing), bad_query);
    }
    // After a refusal there is nothing to say: the verdict has been said.
    ir::quantity const refused{0, false};
    CHECK((refused == bound && bound < refused && refused + bound == 1 && refused > bound));
}

// Engines that order each other: which accesses tokens order, and which queue they came by.
namespace {

constexpr memory tile_memory{.name = "tile_memory", .base = 0x1000, .capacity = 256_KiB, .host_visible = false};
constexpr engine gets{"gets"}, unit{.name = "unit", .completes = completion::by_channel}, puts_back{"puts"};
constexpr auto get = transfer("get", outer_memory, tile_memory).on(gets).asynchronous().dimensions(2);
constexpr auto put_tile = transfer("put", tile_memory, outer_memory).on(puts_back).asynchronous().dimensions(2);
constexpr axis row{"row", 8}, lane{"lane", 8};
constexpr tensor<float> from{"from"}, to{"to"};
constexpr auto halve =
    intrinsic("halve", to(row, lane) = from(row, lane) * 0.5f).reads(from, tile_memory).writes(to, tile_memory).on(unit).asynchronous();
constexpr auto unit_machine = machine("unit_machine", outer_memory, tile_memory, gets, unit, puts_back, tokens(gets, unit),
                                      tokens(unit, gets), tokens(unit, puts_back), tokens(puts_back, unit), get, put_tile, halve);
constexpr axis rows{"rows", 96}, columns{"columns", 8};
constexpr tensor<float> given{"given"}, halved{"halved"};
constexpr auto halving = halved(rows, columns) = given(rows, columns) * 0.5f;
constexpr schedule in_two_versions(machine const& on) {
    return schedule(halving, on)
        .split(rows, "ro", "ri", 8)
        .cache_read(given, tile_memory)
        .at("ro")
        .buffers(2)
        .cache_write(halved, tile_memory)
        .at("ro")
        .buffers(2)
        .tensorize("ri", columns, halve);
}
constexpr auto halved_in_versions = in_two_versions(unit_machine);
constexpr plan_value halved_plan = make_plan(halved_in_versions);

/// Without the n-th step of a kind.
constexpr plan_value without_nth(step_kind kind, int which) {
    plan_value changed = halved_plan;
    for (int at = 0; at < changed.steps.size(); ++at) {
        ir::step& s = changed.steps[at];
        if (s.kind == kind && which-- == 0) s = {step_kind::barrier, -1};
    }
    return changed;
}
static_assert(!find_hazard(halved_plan));
// In the loop: a version is stored, then one is freed, loaded and there; behind the computation one is free, one to be stored, one stored.
static_assert(find_hazard(without_nth(step_kind::pop, 0)).broken == ir::rule::written_while_read);
static_assert(find_hazard(without_nth(step_kind::pop, 1)).broken == ir::rule::written_while_read);
static_assert(find_hazard(without_nth(step_kind::pop, 2)).broken == ir::rule::read_before_written);
static_assert(find_hazard(without_nth(step_kind::pop, 3)).broken == ir::rule::read_before_written);
static_assert(find_hazard(without_nth(step_kind::push, 1)).broken == ir::rule::token_never_pushed);
static_assert(find_hazard(without_nth(step_kind::wait, 0)).broken == ir::rule::never_waited_for);

// What a partial tile reads is followed over the loops that it ends, however far other loops move: a weight less than it reads is noticed.
constexpr axis outputs{"outputs", 10}, inputs{"inputs", 2000};
constexpr tensor<float> weights{"weights"}, input{"input"}, sums{"sums"};
constexpr auto weighted = sums(outputs) += weights(2000 * outputs + inputs) * input(inputs);
constexpr auto weighted_in_tiles = schedule(weighted, dsp).split(outputs, "tile", "output", 4);
constexpr plan_value with_weights(std::int64_t count) {
    plan_value changed = make_plan(weighted_in_tiles);
    for (int at = 0; at < changed.buffers.size(); ++at) {
        if (changed.buffers[at].tensor == weights.name) changed.buffers[at].extents[0] = count;
    }
    return changed;
}
static_assert(!tilewright::detail::find_excess(with_weights(20000)));
static_assert(tilewright::detail::find_excess(with_weights(19999)).broken == ir::rule::outside_of_it);

}  // namespace

TEST_CASE("a queue of tokens holds those of the loads that run ahead, or the plan is refused with both numbers") {
    // When step t is asked for, the load of step t + 1 has been given its token, too.
    for (int most : {1, 2, 3}) {
        auto const on = machine("on", outer_memory, tile_memory, gets, unit, puts_back, tokens(gets, unit).holds(most), tokens(unit, gets),
                                tokens(unit, puts_back), tokens(puts_back, unit), get, put_tile, halve);
        verdict const refusal = make_plan(in_two_versions(on)).refusal;
        INFO(most << ": " << to_string(refusal));
        CHECK(refusal.kind == (most < 2 ? verdict_kind::deadlock : verdict_kind::none));
        if (most < 2) CHECK((refusal.facts[0].value == 2 && refusal.facts[1].value == most));
    }
}
