#include <tilewright/plan/place/multicasts.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/cores.hpp"

// Which tiles one call can bring to all cores.

using namespace small_kernels;

namespace {

verdict refusal_of(schedule const& of) { return make_plan(of).refusal; }
schedule shared(int count = 4) { return schedule(product, four_at_once).distribute(m, four_cores, count); }
/// The transfer that brings a tensor in.
label mover_of(plan_value const& plan, label const& tensor) {
    for (int at = 0; at < plan.movements.size(); ++at) {
        movement const& moved = plan.movements[at];
        if (plan.buffers[moved.destination].tensor == tensor) return plan.where->transfers[moved.transfer].name;
    }
    return {};
}

}  // namespace

TEST_CASE("a multicast brings what all cores read in their shares, and is chosen where nothing else can") {
    plan_value const named = make_plan(shared().cache_read(B, own).by(into_all)), chosen = make_plan(shared().cache_read(B, own));
    for (plan_value const* plan : {&named, &chosen}) {
        CHECK_FALSE(plan->refusal);
        CHECK(mover_of(*plan, "B") == "into_all");
        CHECK(plan->calls(into_all) == 1);
    }
    // Inside of a share, each core loads its own.
    plan_value const inside = make_plan(shared().cache_read(A, own).at(m));
    CHECK((!inside.refusal && mover_of(inside, "A") == "into_own"));
}
TEST_CASE("a multicast inside of a share is refused, with how far the tiles of the cores lie apart") {
    verdict const other =
        refusal_of(schedule(product, four_at_once).split(m, mo, mi, 2).distribute(mo, four_cores).cache_read(A, own).at(mo).by(into_all));
    CHECK((other.kind == verdict_kind::multicast && other.broken == rule::tiles_of_cores));
    CHECK((other.names[0] == "into_all" && other.names[1] == "A" && other.names[2] == "mo.core"));
    std::int64_t const share =
        make_plan(schedule(product, four_at_once).split(m, mo, mi, 2).distribute(mo, four_cores)).variables[0].extent;
    CHECK(share == 4);
    CHECK((other.facts[0].value == 0 && other.facts[1].value % 2 == 0 && other.facts[1].value > 0 && other.facts[2].value == 4));
    verdict const same = refusal_of(shared().cache_read(B, own).at("m.core").by(into_all));
    CHECK((same.broken == rule::multicast_in_a_share && same.facts[0].value == 4));
}
TEST_CASE("a multicast for one core is refused") {
    CHECK(refusal_of(schedule(product, four_at_once).cache_read(B, own).by(into_all)).broken == rule::multicast_for_one_core);
    // The stage that core 0 computes alone.
    verdict const led =
        refusal_of(schedule(twice, four_at_once).store_in(S, common).distribute(m, four_cores).stage(S).cache_read(A, own).by(into_all));
    CHECK((led.kind == verdict_kind::multicast && led.broken == rule::multicast_for_one_core));
    CHECK(refusal_of(schedule(twice, four_at_once).store_in(S, common).stage(S).on(four_cores, 1).cache_read(A, own).by(into_all)).broken ==
          rule::multicast_for_one_core);
}
TEST_CASE("a function that is not told the cores writes to all of them") {
    static constexpr auto blind =
        transfer("blind", dram, own)
            .multicast()
            .dimensions(2)
            .calls("blind", argument::source, argument::destination, argument::row_bytes, argument::extent(1), argument::source_stride(1));
    static constexpr auto where = machine("where", dram, own, common, blind, four_cores);
    verdict const three = refusal_of(schedule(product, where).distribute(m, four_cores, 3).cache_read(B, own));
    CHECK((three.broken == rule::multicast_to_more_cores && three.facts[0].value == 3 && three.facts[1].value == 4));
    CHECK_FALSE(refusal_of(schedule(product, where).distribute(m, four_cores).cache_read(B, own)));
    CHECK_FALSE(refusal_of(shared(3).cache_read(B, own)));
}
TEST_CASE("a multicast carries out a whole stage for all cores") {
    static constexpr axis e{"e", 1};
    static constexpr tensor<std::int32_t> from{"from"}, into{"into"};
    static constexpr auto adds = transfer("adds", dram, own, into(e) = from(e) + 1).multicast().dimensions(2);
    static constexpr auto where = machine("where", dram, own, common, adds, four_cores);
    CHECK_FALSE(refusal_of(schedule(twice, where).store_in(S, own).by(adds).distribute(m, four_cores)));
    CHECK(refusal_of(schedule(twice, where).store_in(S, own).by(adds)).broken == rule::multicast_for_one_core);
}
TEST_CASE("a multicast reads what all cores see, and writes to memories of theirs") {
    auto const broken = [](auto const&... parts) {
        return detail::read_machine(machine("on", dram, own, common, parts...)).refusal.broken;
    };
    CHECK(broken(transfer("t", dram, own).multicast(), four_cores) == rule::none);
    CHECK(broken(transfer("t", dram, own).multicast()) == rule::multicast_of_another_kind);  // one core
    CHECK(broken(transfer("t", dram, common).multicast(), four_cores) == rule::multicast_of_another_kind);
    CHECK(broken(transfer("t", own, dram).multicast(), four_cores) == rule::multicast_of_another_kind);
    CHECK(broken(transfer("t", own, own).multicast(), four_cores) == rule::multicast_of_another_kind);
    CHECK(broken(transfer("t", dram, own).on(four_cores).multicast(), four_cores) == rule::multicast_of_another_kind);
    // How many cores there are is told to multicasts alone.
    CHECK(broken(transfer("t", dram, own).calls("t", argument::source, argument::cores), four_cores) == rule::argument_of_no_transfer);
}
TEST_CASE("a multicast fills what a multicast brings, and what one core brings is filled for it alone") {
    static constexpr axis i{"i", 4}, l{"l", 4}, z{"z", 1};
    static constexpr tensor<std::int32_t> a{"a"}, b{"b"}, c{"c"}, d{"d"};
    static constexpr auto mac = intrinsic("mac", c(i) += a(i, l) * b(l)).reads(a, own).reads(b, own).updates(c, own);
    static constexpr auto zero = transfer("zero", dram, own, d(z) = 0).dimensions(2),
                          zeros = transfer("zeros", dram, own, d(z) = 0).dimensions(2).multicast();
    static constexpr auto out = transfer("out", own, dram).dimensions(2), in = transfer("in", dram, own).dimensions(2),
                          all = transfer("all", dram, own).dimensions(2).multicast();
    static constexpr auto one_first = machine("one_first", dram, own, common, in, all, out, zero, zeros, mac, four_cores),
                          all_first = machine("all_first", dram, own, common, in, all, out, zeros, zero, mac, four_cores),
                          alone = machine("alone", dram, own, common, in, all, out, zero, mac, four_cores);
    // Ten rows in steps of four, six columns likewise: what stands behind the sixth adds nothing.
    static constexpr auto product_of_column = C(m) = sum(n, A(m, n) * B(n));
    auto const fills_of = [](plan_value const& plan) {
        int to_all = 0, others = 0;
        for (int at = 0; at < plan.movements.size(); ++at) {
            if (plan.movements[at].source >= 0) continue;
            bool const brought_to_all = plan.buffers[plan.movements[at].destination].tensor == "B";
            CHECK(plan.is_multicast(plan.movements[at]) == brought_to_all);
            ++(brought_to_all ? to_all : others);
        }
        return std::pair(to_all, others);
    };
    auto const stepped = [](machine const& on) {
        return schedule(product_of_column, on)
            .split(m, mo, mi, 4)
            .distribute(mo, four_cores)
            .cache_read(A, own)
            .at(mo)
            .cache_read(B, own)
            .cache_write(C, own)
            .at(mo)
            .tensorize(mi, n, mac);
    };
    for (machine const* on : {&one_first, &all_first, &alone}) {
        plan_value const plan = make_plan(stepped(*on));
        CHECK_FALSE(plan.refusal);
        auto const [to_all, others] = fills_of(plan);
        CHECK((to_all + others == 2 && others >= 1));  // the sums, and one of A and B
    }
    static constexpr axis x{"x", 10};
    static constexpr auto shifted = C(m, x) = padded(A(x), 0)(x - 1) * B(m);
    for (machine const* on : {&one_first, &all_first}) {
        plan_value const plan = make_plan(schedule(shifted, *on).distribute(m, four_cores).cache_read(A, own));
        CHECK_FALSE(plan.refusal);
        for (int at = 0; at < plan.movements.size(); ++at) CHECK(plan.is_multicast(plan.movements[at]));
        plan_value const inside = make_plan(schedule(shifted, *on).distribute(m, four_cores).cache_read(A, own).at(m));
        CHECK_FALSE(inside.refusal);
        for (int at = 0; at < inside.movements.size(); ++at) CHECK_FALSE(inside.is_multicast(inside.movements[at]));
    }
    verdict const bare = refusal_of(schedule(shifted, alone).distribute(m, four_cores).cache_read(A, own));
    CHECK((bare.kind == verdict_kind::no_border && bare.broken == rule::border_of_one_core && bare.names[1] == "own"));
}
