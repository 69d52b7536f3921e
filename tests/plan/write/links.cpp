#include <tilewright/plan/write/links.hpp>

#include <vector>

#include "plan/passes.hpp"

// Which engines depend on each other, and what orders them.

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
constexpr auto adding = C(m, n) = A(m, n) + 1;

template <class... More>
constexpr auto with(More const&... more) {
    return machine("with", dram, tile, gets, unit, puts_back, in, out, step_aside, more...);
}
constexpr auto with_tokens = with(tokens(gets, unit), tokens(unit, gets), tokens(unit, puts_back), tokens(puts_back, unit));
constexpr auto without = with();

schedule in_versions(machine const& on) {
    return schedule(adding, on).cache_read(A, tile).at(m).buffers(2).cache_write(C, tile).at(m).buffers(2).tensorize(n, step_aside);
}
/// The links of a staging, as from -> to by engine.
int links_of(planned_to const& t, int staging_at, link_role is, int from_engine, int to_engine) {
    int found = 0;
    for (int at = 0; at < t.p.from.staged_links.size(); ++at) {
        staged_link const& one = t.p.from.staged_links[at];
        ir::link const& l = t.p.plan.links[one.link];
        found += one.staging == staging_at && one.is == is && l.from == from_engine && l.to == to_engine ? 1 : 0;
    }
    return found;
}
enum : int { gets_at, unit_at, puts_at, core_at = -1 };

}  // namespace

TEST_CASE("agents are united, and visited each once") {
    agents all{.engines = 0b101};
    all |= {.core = true, .movers = 0b110};
    CHECK((all.core && all.engines == 0b101 && all.movers == 0b110));
    std::vector<int> visited;
    all.each_engine([&](int engine) { visited.push_back(engine); });
    CHECK(visited == std::vector<int>{0, 1, 2});
}
TEST_CASE("the core or the engine of its intrinsic carries a stage out") {
    planned_to code(pass::rings, schedule(adding, with_tokens)), aside(pass::rings, in_versions(with_tokens));
    REQUIRE_FALSE((code.p.refused() || aside.p.refused()));
    CHECK((agents_of(code.p, 0_stage).core && agents_of(code.p, 0_stage).engines == 0));
    CHECK((!agents_of(aside.p, 0_stage).core && agents_of(aside.p, 0_stage).engines == 1u << unit_at));
    CHECK(has_asynchronous_intrinsics(with_tokens));
    CHECK_FALSE(has_asynchronous_intrinsics(blocking));
    agents const users = users_of(aside.p, aside.buffer("A.tile"));
    CHECK((!users.core && users.engines == 1u << unit_at && users.movers == 0));
    // The argument is touched by the loader of what is staged.
    CHECK(users_of(aside.p, aside.buffer("A")).movers == 1u << gets_at);
}
TEST_CASE("tokens lead from one engine to another") {
    CHECK((tokens_between(with_tokens, gets_at, unit_at) == 0 && tokens_between(with_tokens, puts_at, unit_at) == 3));
    CHECK(tokens_between(with_tokens, gets_at, puts_at) == -1);
    CHECK(tokens_between(without, gets_at, unit_at) == -1);
}
TEST_CASE("with tokens, loads and stores are ordered by them, and the core waits for nothing") {
    planned_to const t(pass::links, in_versions(with_tokens));
    REQUIRE_FALSE(t.p.refused());
    CHECK(t.p.plan.links.size() == 4);
    CHECK(links_of(t, 0, link_role::load_to_user, gets_at, unit_at) == 1);
    CHECK(links_of(t, 0, link_role::user_to_load, unit_at, gets_at) == 1);
    CHECK(links_of(t, 1, link_role::user_to_store, unit_at, puts_at) == 1);
    CHECK(links_of(t, 1, link_role::store_to_user, puts_at, unit_at) == 1);
    CHECK((!t.p.staging_at(0).core_waits && !t.p.staging_at(1).core_waits));
}
TEST_CASE("without tokens, the core waits for loads and stores, and goes between where a version is used again") {
    planned_to const t(pass::links, in_versions(without));
    REQUIRE_FALSE(t.p.refused());
    CHECK((t.p.staging_at(0).core_waits && t.p.staging_at(1).core_waits));
    CHECK(links_of(t, 0, link_role::user_to_load, unit_at, core_at) == 1);
    CHECK(links_of(t, 1, link_role::user_to_store, unit_at, core_at) == 1);
    CHECK(t.p.plan.links.size() == 2);
    CHECK(t.p.plan.links[0].tokens == -1);
}
TEST_CASE("links take queues one after the other, and share them when there are no more") {
    static constexpr auto two_queues = with(tokens(gets, unit).queues(2));
    blank t(two_queues);
    t.p.add(ring{.versions = 3});
    int const first = make_link(t.p, gets_at, unit_at, 0), second = make_link(t.p, gets_at, unit_at, 0);
    CHECK((t.p.plan.links[first].queue == 0 && t.p.plan.links[second].queue == 1 && !t.p.plan.links[second].shared));
    CHECK((t.p.plan.links[first].first_count == 0 && t.p.plan.links[second].first_count == 3));
    int const third = make_link(t.p, gets_at, unit_at, -1);
    CHECK((t.p.plan.links[third].queue == 0 && t.p.plan.links[third].shared && t.p.plan.links[first].shared));
    CHECK_FALSE(t.p.plan.links[second].shared);
    CHECK(t.p.plan.links[make_link(t.p, unit_at, core_at, 0)].first_count == 7);
}
TEST_CASE("two operands that are loaded one behind the other have one link") {
    static constexpr tensor<std::int32_t> more{"more"};
    static constexpr auto sum_of_two =
        intrinsic("sum_of_two", to(r) = from(r) + more(r)).reads(from, tile).reads(more, tile).writes(to, tile).on(unit).asynchronous();
    static constexpr auto on = machine("on", dram, tile, gets, unit, puts_back, in, out, sum_of_two, tokens(gets, unit), tokens(unit, gets),
                                       tokens(unit, puts_back), tokens(puts_back, unit));
    static constexpr auto sums = C(m, n) = A(m, n) + B(m, n);
    auto const links = [](int versions) {
        planned_to const t(pass::links, schedule(sums, on)
                                            .cache_read(A, tile)
                                            .at(m)
                                            .buffers(2)
                                            .cache_read(B, tile)
                                            .at(m)
                                            .buffers(versions)
                                            .prefetch(1)
                                            .cache_write(C, tile)
                                            .at(m)
                                            .tensorize(n, sum_of_two));
        REQUIRE_FALSE(t.p.refused());
        return t.p.plan.links.size();
    };
    CHECK(links(2) == 2 + 2);
    CHECK(links(3) == 3 + 2);  // a version is free at another step
}
TEST_CASE("interlocked engines need no order") {
    static constexpr engine locked_gets{.name = "gets", .interlocked = true},
        locked_unit{.name = "unit", .completes = completion::by_channel, .interlocked = true},
        locked_puts{.name = "puts", .interlocked = true};
    static constexpr auto locked = machine("locked", dram, tile, locked_gets, locked_unit, locked_puts, in, out, step_aside);
    planned_to const t(pass::links, in_versions(locked));
    REQUIRE_FALSE(t.p.refused());
    CHECK(is_interlocked(t.p, gets_at, unit_at));
    CHECK(t.p.plan.links.size() == 0);
    CHECK_FALSE(t.p.staging_at(0).core_waits);
}
TEST_CASE("the core waits for what it brings to the engines of all cores, which one queue does not order") {
    static constexpr memory each{.name = "each", .base = 0x1000, .capacity = 4_KiB, .host_visible = false, .per_core = true};
    static constexpr engine does_all{.name = "does_all", .completes = completion::by_channel, .per_core = true};
    static constexpr core pair{.name = "pair", .count = 2};
    static constexpr auto to_all = transfer("to_all", dram, each).multicast().on(does_all).asynchronous().dimensions(2);
    static constexpr auto to_one = transfer("to_one", dram, each).on(does_all).asynchronous().dimensions(2);
    static constexpr auto back = transfer("back", each, dram).on(does_all).asynchronous().dimensions(2);
    static constexpr auto step = intrinsic("step", to(r) = from(r) + 1).reads(from, each).writes(to, each).on(does_all).asynchronous();
    static constexpr auto where = machine("where", dram, each, does_all, to_all, to_one, back, step, pair);
    static constexpr auto rows_alike = C(m, n) = B(n) + 1;
    auto const of = schedule(rows_alike, where).tensorize(n, step).distribute(m, pair).cache_write(C, each).at(m);
    planned_to all(pass::links, schedule(of).cache_read(B, each).by(to_all)),
        own(pass::links, schedule(of).cache_read(B, each).by(to_one).at(m));
    REQUIRE_FALSE((all.p.refused() || own.p.refused()));
    CHECK(all.p.staging_at(1).core_waits);
    CHECK_FALSE(own.p.staging_at(1).core_waits);
    CHECK_FALSE(make_plan(schedule(of).cache_read(B, each).by(to_all)).refusal);
}

namespace {

/// What a unit computes of a row, another unit reads, beside the core.
constexpr memory both{.name = "both", .base = 0x2000, .capacity = 4_KiB, .host_visible = false};
constexpr engine reader{.name = "reader", .completes = completion::by_channel};
constexpr tensor<std::int32_t> S{"S"}, half{"half"}, twice{"twice"};
constexpr auto first_step =
    intrinsic("first_step", half(r) = from(r) + 1).reads(from, dram).writes(half, both).on(unit).asynchronous().cycles(40);
constexpr auto second_step =
    intrinsic("second_step", twice(r) = half(r) * 2).reads(half, both).writes(twice, dram).on(reader).asynchronous().cycles(30);
constexpr auto waited_step = intrinsic("waited_step", twice(r) = half(r) * 2).reads(half, both).writes(twice, dram).on(reader).cycles(30);
constexpr auto same_unit =
    intrinsic("same_unit", twice(r) = half(r) * 2).reads(half, both).writes(twice, dram).on(unit).asynchronous().cycles(30);
constexpr auto one_after_another = stages(S(m, n) = A(m, n) + 1, C(m, n) = S(m, n) * 2);
template <class... More>
constexpr auto two_units(More const&... more) {
    return machine("two_units", dram, both, unit, reader, first_step, second_step, waited_step, same_unit, more...);
}
constexpr auto waiting_units = two_units(), telling_units = two_units(tokens(unit, reader), tokens(reader, unit));
schedule rows_in(machine const& on, int versions, intrinsic const& by = second_step) {
    return schedule(one_after_another, on)
        .tensorize(n, by)
        .compute_at(S, m)
        .stage(S)
        .store_in(S, both)
        .buffers(versions)
        .tensorize(n, first_step);
}
/// The steps of a kind that are about the ring of what stage 0 computes.
std::vector<ir::ring_step> about_versions(plan_value const& plan, ir::step_kind kind) {
    std::vector<ir::ring_step> found;
    for (int at = 0; at < plan.steps.size(); ++at) {
        if (plan.steps[at].kind != kind) continue;
        ir::ring_step const& one = plan.waits[plan.steps[at].what];
        if (one.ring >= 0 && !plan.rings[one.ring].is_moved()) found.push_back(one);
    }
    return found;
}

}  // namespace

TEST_CASE("an instruction reads one version of a stage's result while the next is computed") {
    for (machine const* on : {&waiting_units, &telling_units}) {
        bool const by_tokens = on == &telling_units;
        plan_value const one = make_plan(rows_in(*on, 1)), two = make_plan(rows_in(*on, 2)), three = make_plan(rows_in(*on, 3));
        REQUIRE_FALSE((one.refusal || two.refusal || three.refusal));
        // One after the other; all but the last row of the second unit beside the first.
        CHECK(one.cycles() == m.extent * (40 + 30));
        CHECK((two.cycles() == m.extent * 40 + 30 && three.cycles() == two.cycles()));
        CHECK((two.peak(both) == 2 * one.peak(both) && three.peak(both) == 3 * one.peak(both)));
        CHECK((one.rings.size() == 0 && two.rings.size() == 1 && two.rings[0].steps == m.extent && two.rings[0].versions == 2));
        auto const pushes = about_versions(three, ir::step_kind::push), pops = about_versions(three, ir::step_kind::pop);
        REQUIRE((pushes.size() == 1 && pops.size() == 1));
        CHECK((pushes[0].ahead == 0 && pushes[0].fewer == 3 && pops[0].ahead == -3));
        ir::link const& l = three.links[pops[0].link];
        CHECK((l.from == 1 && l.to == (by_tokens ? 0 : -1) && l.ring == 0));
        CHECK(!find_hazard(three, ir::visiting::everything));
    }
}
TEST_CASE("steps of a stage's versions are counted over all loops around it") {
    auto const plan_of = [](axis const& level, auto... order) {
        return make_plan(schedule(one_after_another, waiting_units)
                             .split(m, mo, mi, 5)
                             .reorder(order...)
                             .tensorize(n, second_step)
                             .compute_at(S, level)
                             .stage(S)
                             .store_in(S, both)
                             .buffers(2)
                             .tensorize(n, first_step));
    };
    plan_value const inner = plan_of(mi, mo, mi, n), outer = plan_of(mo, mo, mi, n);
    REQUIRE_FALSE((inner.refusal || outer.refusal));
    CHECK((inner.rings[0].loop_count == 2 && inner.rings[0].steps == 10));
    CHECK((outer.rings[0].loop_count == 1 && outer.rings[0].steps == 2));
    // A tile has an odd number of rows: versions go on from one tile to the next.
    CHECK(inner.cycles() == 10 * 40 + 30);
    CHECK(outer.cycles() == 10 * 40 + 5 * 30);
}
TEST_CASE("versions of a stage's result that would change nothing are refused") {
    auto const refused = [](schedule const& of) { return make_plan(of).refusal; };
    verdict const waited = refused(rows_in(waiting_units, 2, waited_step));
    CHECK((waited.kind == verdict_kind::versions_without_use && waited.broken == ir::rule::versions_of_a_blocking_reader));
    CHECK((waited.names[0] == "S" && waited.facts[0].value == 2));
    CHECK(refused(rows_in(waiting_units, 2, same_unit)).broken == ir::rule::versions_of_a_blocking_reader);
    auto const root =
        schedule(one_after_another, waiting_units).tensorize(n, second_step).stage(S).store_in(S, both).buffers(2).tensorize(n, first_step);
    CHECK(refused(root).broken == ir::rule::versions_of_one_step);
    // A reader that is code, on a thread of its own for each iteration.
    static constexpr memory seen{.name = "seen", .base = 0x3000, .capacity = 4_KiB};
    static constexpr auto host = machine("host", dram, seen);
    auto const threads = schedule(one_after_another, host).parallel(m).compute_at(S, m).stage(S).store_in(S, seen);
    CHECK(refused(threads).kind == verdict_kind::none);
    CHECK(refused(schedule(threads).buffers(2)).broken == ir::rule::versions_of_a_blocking_reader);
    CHECK(refused(rows_in(waiting_units, 1, waited_step)).kind == verdict_kind::none);
    CHECK(refused(rows_in(waiting_units, 0)).kind == verdict_kind::invalid_number);
}
TEST_CASE("what overwrites a stage's result says how many versions its place has") {
    static constexpr auto over =
        intrinsic("over", twice(r) = half(r) * 2).reads(half, both).writes(twice, both).in_place(half).on(reader).asynchronous();
    static constexpr auto away = transfer("away", both, dram).on(puts_back).asynchronous().dimensions(2);
    static constexpr auto on = machine("on", dram, both, unit, reader, puts_back, first_step, over, away);
    auto const in_versions_of_both = [](int versions) {
        schedule made(one_after_another, on);
        made.cache_write(C, both).at(m).buffers(3).tensorize(n, over).compute_at(S, m).stage(S).store_in(S, both);
        if (versions > 1) made.buffers(versions);
        return make_plan(made.tensorize(n, first_step)).refusal;
    };
    CHECK_FALSE(in_versions_of_both(1));
    verdict const both_say = in_versions_of_both(2);
    CHECK((both_say.kind == verdict_kind::versions_without_use && both_say.broken == ir::rule::versions_of_what_overwrites_it));
    CHECK((both_say.facts[0].value == 2 && both_say.facts[1].value == 3));
    // Of a result that overwrites another one, that one says it.
    static constexpr tensor<std::int32_t> T{"T"};
    static constexpr auto over_and_over = stages(S(m, n) = A(m, n) + 1, T(m, n) = S(m, n) * 2, C(m, n) = T(m, n) * 2);
    static constexpr engine done{.name = "done", .completes = completion::by_channel};
    static constexpr auto last = intrinsic("last", twice(r) = half(r) * 2).reads(half, both).writes(twice, dram).on(done).asynchronous();
    static constexpr auto three = machine("three", dram, both, unit, reader, done, first_step, over, last);
    auto const in_turns = [](int of_s, int of_t) {
        return make_plan(schedule(over_and_over, three)
                             .split(m, mo, mi, 5)
                             .tensorize(n, last)
                             .compute_at(T, mo)
                             .stage(T)
                             .store_in(T, both)
                             .buffers(of_t)
                             .tensorize(n, over)
                             .compute_at(S, mo)
                             .stage(S)
                             .store_in(S, both)
                             .buffers(of_s)
                             .tensorize(n, first_step));
    };
    CHECK((!in_turns(1, 1).refusal && !in_turns(2, 1).refusal));
    CHECK(in_turns(2, 1).cycles() < in_turns(1, 1).cycles());
    verdict const second = in_turns(2, 2).refusal;
    CHECK((second.broken == ir::rule::versions_of_what_it_overwrites && second.names[0] == "T" && second.names[1] == "S"));
    CHECK(in_turns(1, 2).refusal.broken == ir::rule::versions_of_what_it_overwrites);
}
TEST_CASE("at the end of a share, cores have waited for what reads a result: versions around it are refused") {
    static constexpr core pair{.name = "pair", .count = 2};
    static constexpr memory seen{.name = "seen", .base = 0x3000, .capacity = 4_KiB};
    static constexpr engine each{.name = "each", .completes = completion::by_channel, .per_core = true};
    static constexpr auto read = intrinsic("read", twice(r) = half(r) * 2).reads(half, seen).writes(twice, dram).on(each).asynchronous();
    static constexpr auto shared = machine("shared", dram, seen, each, read, pair);
    auto const at = [](axis const& level, int versions) {
        return make_plan(schedule(one_after_another, shared)
                             .split(m, mo, mi, 5)
                             .distribute(mi, pair)
                             .tensorize(n, read)
                             .compute_at(S, level)
                             .stage(S)
                             .store_in(S, seen)
                             .buffers(versions));
    };
    CHECK_FALSE(at(mo, 1).refusal);
    CHECK(at(mo, 2).refusal.broken == ir::rule::versions_of_a_blocking_reader);
}
