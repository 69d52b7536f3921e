#include "kernels/on_cores.hpp"

// Stages on cores of their own, whose units work aside and give each other tokens: a signal to another core says that a unit has finished.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, l2{.name = "l2", .base = 0x1000'0000, .capacity = 64_KiB, .alignment = 16};
constexpr engine mover{.name = "mover", .per_core = true}, first{.name = "first", .completes = completion::by_channel, .per_core = true},
    second{.name = "second", .completes = completion::by_channel, .per_core = true};
constexpr auto load = transfer("load", dram, l2).on(mover).asynchronous().cost({.latency = 20, .bytes_per_cycle = 8}),
               store = transfer("store", l2, dram).on(mover).asynchronous().cost({.latency = 20, .bytes_per_cycle = 8});
constexpr axis i{"i", 8};
constexpr tensor<std::int32_t> x{"x"}, z{"z"};
constexpr auto twice = intrinsic("twice", z(i) = x(i) * 2).reads(x, l2).writes(z, l2).on(first).asynchronous().cycles(40),
               thrice = intrinsic("thrice", z(i) = x(i) * 3).reads(x, l2).writes(z, l2).in_place(x).on(first).asynchronous().cycles(40),
               less = intrinsic("less", z(i) = x(i) - 1).reads(x, l2).writes(z, l2).in_place(x).on(first).asynchronous().cycles(30),
               more = intrinsic("more", z(i) = x(i) + 7).reads(x, l2).writes(z, l2).on(second).asynchronous().cycles(50);
constexpr core dsp{.name = "dsp", .count = 3, .signal_cycles = 3};
/// How the engines of a core order each other; without, their core waits for them.
enum class by { core, tokens, interlocks };
constexpr machine chip_by(by how) {
    machine made("chip", dram, l2);
    for (engine e : {mover, first, second}) {
        e.interlocked = how == by::interlocks;
        made.add(e);
    }
    for (engine const& from : {mover, first, second}) {
        for (engine const& to : {mover, first, second}) {
            if (how == by::tokens && !(from.name == to.name)) made.add(tokens(from, to));
        }
    }
    made.add(load), made.add(store);
    made.add(twice), made.add(thrice), made.add(less), made.add(more);
    made.add(dsp);
    return made;
}
constexpr auto waiting = chip_by(by::core), with_tokens = chip_by(by::tokens), interlocked = chip_by(by::interlocks);

constexpr axis p{"p", 40}, y{"y", 40}, yo{"yo"}, yi{"yi"};
constexpr tensor<std::int32_t> in{"in"}, T{"T"}, R{"R"};

/// @param versions  of what is loaded, of what is handed over, and of the result
schedule tile_by_tile(schedule made, intrinsic_description const& producer, intrinsic_description const& reader, int reader_on,
                      int producer_on, int versions) {
    made.split(y, yo, yi, 8).on(dsp, reader_on).cache_write(R, l2).at(yo).buffers(versions).tensorize(yi, reader);
    made.compute_at(T, yo).store_in(T, l2).buffers(versions).stage(T).on(dsp, producer_on);
    made.cache_read(in, l2).at(yo).buffers(versions).tensorize(p, producer);
    return made;
}

/// @param versions  each of which is a plan
template <auto const& Chip, class Work>
void check(Work const& work, intrinsic_description const& producer, intrinsic_description const& reader, int reader_on, int producer_on,
           std::initializer_list<int> versions) {
    for (int of : versions) check_on_cores<Chip>(tile_by_tile(schedule(work, Chip), producer, reader, reader_on, producer_on, of));
}

/// Three stages, of which the second overwrites the first, and the last is loops on core 0.
constexpr axis q{"q", 40};
constexpr tensor<std::int32_t> U{"U"};
constexpr auto three = stages(T(p) = in(p)*2, U(q) = T(q) - 1, R(y) = U(y) * 5);
/// Likewise, and the first overwrites what is loaded.
constexpr auto three_loaded = stages(T(p) = in(p)*3, U(q) = T(q) - 1, R(y) = U(y) * 5);
schedule chain_of(schedule made, intrinsic_description const& producer, int producer_on, int middle_on) {
    made.split(y, yo, yi, 8).on(dsp, 0).cache_write(R, l2).at(yo).compute_at(U, yo).store_in(U, l2).compute_at(T, yo).store_in(T, l2);
    if (producer.name == twice.name) made.buffers(2);
    made.stage(U).on(dsp, middle_on).tensorize(q, less);
    made.stage(T).on(dsp, producer_on).cache_read(in, l2).at(yo).buffers(2).tensorize(p, producer);
    return made;
}

constexpr auto doubled = stages(T(p) = in(p)*2, R(y) = T(y) + 7), tripled = stages(T(p) = in(p)*3, R(y) = T(y) + 7),
               chained = stages(T(p) = in(p)*3, R(y) = T(y) - 1);

}  // namespace

TEMPLATE_TEST_CASE_SIG("a core tells another one when its unit has finished", "", ((machine const& Chip), Chip), with_tokens, interlocked) {
    check<Chip>(doubled, twice, more, 0, 1, {2});
    check<Chip>(doubled, twice, more, 2, 0, {1});
    check<Chip>(doubled, twice, more, 1, 1, {1});
}

TEMPLATE_TEST_CASE_SIG("what overwrites a result is loaded after the other core has read and stored it", "", ((machine const& Chip), Chip),
                       waiting, with_tokens, interlocked) {
    check<Chip>(tripled, thrice, more, 0, 1, {1, 3});
    check<Chip>(tripled, thrice, more, 2, 1, {2});
    // Both results, one after the other in one place: the second is stored from there.
    check<Chip>(chained, thrice, less, 0, 1, {1, 2});
}

TEST_CASE("loads into the place of a result run ahead, with as many versions as they have") {
    schedule ahead(tripled, waiting);
    ahead.split(y, yo, yi, 8).on(dsp, 1).cache_write(R, l2).at(yo).tensorize(yi, more).compute_at(T, yo).store_in(T, l2);
    ahead.stage(T).cache_read(in, l2).at(yo).buffers(3).tensorize(p, thrice);
    auto const plan = std::make_unique<plan_value>(make_plan(ahead));
    REQUIRE(!plan->refusal);
    int versions = 0;
    for (int at = 0; at < plan->buffers.size(); ++at) {
        if (plan->buffers[at].tensor == T.name) versions = plan->buffers[at].versions;
    }
    CHECK(versions == 3);
    check_on_cores<waiting>(ahead);
}

TEST_CASE("of results in one place, the first core gets it back when the last reader has read") {
    for (auto const& [producer_on, middle_on] : {std::pair{1, 1}, {1, 2}, {0, 1}}) {
        check_on_cores<waiting>(chain_of(schedule(three_loaded, waiting), thrice, producer_on, middle_on));
        if (producer_on != middle_on) check_on_cores<waiting>(chain_of(schedule(three, waiting), twice, producer_on, middle_on));
    }
}

TEST_CASE("a token that is lost is found, also where only the signal of another core depends on it") {
    auto const good = std::make_unique<plan_value>(make_plan(tile_by_tile(schedule(tripled, with_tokens), thrice, more, 0, 1, 2)));
    auto const name_of_engine = [&](int engine) { return engine < 0 ? "core" : good->where->engines[engine].name.str(); };
    std::vector<std::string> found;
    for (int lost = 0; lost < good->links.size(); ++lost) {
        auto const plan = std::make_unique<plan_value>(*good);
        for (int at = plan->steps.size() - 1; at >= 0; --at) {
            ir::step const s = plan->steps[at];
            bool const of_link = (s.kind == ir::step_kind::push || s.kind == ir::step_kind::pop) && plan->waits[s.what].link == lost;
            if (of_link) plan->steps.erase(at);
        }
        INFO("without link " << lost << "\n" << loop_program(*plan));
        verdict const said = check_plan(*plan);
        CHECK(said.kind == check_plan(*plan, ir::visiting::everything).kind);
        ir::link const& l = good->links[lost];
        if (said.kind == verdict_kind::race) found.push_back(name_of_engine(l.from) + " to " + name_of_engine(l.to));
    }
    // The others order engines for which their core has waited.
    CHECK(found == std::vector<std::string>{"second to mover", "mover to second", "mover to first", "first to core", "second to core"});
}

namespace {

/// Two channels that hold each other back where they touch the same bytes.
constexpr engine channels{.name = "channels", .channels = 2, .interlocked = true, .per_core = true};
constexpr memory l3{.name = "l3", .base = 0x2000'0000, .capacity = 64_KiB, .alignment = 16};
constexpr machine chip_of_channels() {
    machine made("chip", dram, l2, l3);
    made.add(channels);
    for (engine e : {first, second}) {
        e.interlocked = true;
        made.add(e);
    }
    transfer_cost const cost{.latency = 20, .bytes_per_cycle = 8};
    made.add(transfer("load", dram, l2).on(channels).asynchronous().cost(cost));
    made.add(transfer("store", l2, dram).on(channels).asynchronous().cost(cost));
    made.add(transfer("up", l3, l2).on(channels).asynchronous().cost(cost));
    made.add(transfer("down", l2, l3).on(channels).asynchronous().cost(cost));
    made.add(twice), made.add(more), made.add(dsp);
    return made;
}
constexpr auto with_channels = chip_of_channels();
constexpr axis po{"po"}, pi{"pi"};

/// Where the n-th step of a kind stands, from the end.
int last_of(plan_value const& plan, ir::step_kind kind, int before) {
    int at = before - 1;
    while (plan.steps[at].kind != kind) --at;
    return at;
}
void check_is_race(plan_value const& plan) {
    INFO(loop_program(plan));
    CHECK(check_plan(plan).kind == verdict_kind::race);
    CHECK(check_plan(plan, ir::visiting::everything).kind == verdict_kind::race);
}

}  // namespace

TEST_CASE("an interlock is no order between transfers of two parts of one buffer") {
    auto const planned = [](int producer_on) {
        schedule made(doubled, with_channels);
        made.split(y, yo, yi, 8).on(dsp, 0);
        if (producer_on != 0) made.cache_read(T, l2).at(yo).buffers(2);
        made.store_in(T, l3).stage(T).on(dsp, producer_on).split(p, po, pi, 8);
        made.cache_read(in, l2).at(po).buffers(2).cache_write(T, l2).at(po).buffers(2).tensorize(pi, twice);
        return std::make_unique<plan_value>(make_plan(made));
    };
    // The wait for the store before the last: after the signal of another core, or nowhere.
    auto const two = planned(1), one = planned(0);
    REQUIRE((!two->refusal && !one->refusal));
    int const signal = last_of(*two, ir::step_kind::signal, two->steps.size());
    int const wait = last_of(*two, ir::step_kind::wait, last_of(*two, ir::step_kind::wait, signal));
    for (int at = wait; at < signal; ++at) std::swap(two->steps[at], two->steps[at + 1]);
    check_is_race(*two);
    one->steps.erase(last_of(*one, ir::step_kind::wait, last_of(*one, ir::step_kind::wait, one->steps.size())));
    check_is_race(*one);
}
