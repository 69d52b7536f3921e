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
