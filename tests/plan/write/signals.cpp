#include <tilewright/plan/write/signals.hpp>

#include <string>
#include <tilewright/base/label_text.hpp>

#include "plan/cores.hpp"
#include "plan/passes.hpp"

// What cores tell each other: a result is there, or its place is free.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

struct signals : core_signals {
    explicit signals(writing& planned) : core_signals(planned) {}
    using core_signals::await_rest, core_signals::give_back, core_signals::hand_over, core_signals::shares_its_place,
        core_signals::take_back;
};

/// Signals and the waits for them: the core that runs the step, what it does, and the queue. "ready" and "free" are what they say.
std::string told(plan_value const& plan) {
    std::string text;
    for (int at = 0; at < plan.steps.size(); ++at) {
        step const& s = plan.steps[at];
        REQUIRE((s.kind == step_kind::signal || s.kind == step_kind::await));
        message const& what = plan.messages[s.what];
        bool const tells = s.kind == step_kind::signal;
        CHECK(s.core == (tells ? what.from : what.to));
        text += (text.empty() ? "" : ", ") + std::to_string(s.core) + (tells ? " tells " : " awaits ") +
                std::to_string(tells ? what.to : what.from) + (what.frees ? " free" : " ready") + " in " + std::to_string(what.queue);
    }
    return text;
}

/// S is computed on core 1 for a row of C, on core 0.
schedule rows_of(machine const& on, core const& kind, int versions = 2) {
    return schedule(twice, on).compute_at(S, m).stage(S).on(kind, 1).store_in(S, common).buffers(versions);
}
/// Behind the passes that place stages on their cores.
struct placed_on_cores : planned_to {
    explicit placed_on_cores(schedule const& what) : planned_to(pass::rings, what) {
        p.buffer_at(p.placed(0_stage).home).versions = p.placed(0_stage).store_versions;
        REQUIRE_FALSE(p.refused());
    }
};

}  // namespace

TEST_CASE("a stage tells the core that reads its result, in a queue of its own for each direction") {
    placed_on_cores t(rows_of(two, pair_of_cores));
    signals made(t.p);
    made.hand_over(0_stage);
    CHECK(told(t.p.plan) == "1 tells 0 ready in 0, 0 awaits 1 ready in 0");
    made.hand_over(1_stage);  // nobody reads it
    CHECK(t.p.plan.steps.size() == 2);
    variable_id const level = t.variable("m");
    made.give_back(1_stage, level);
    made.take_back(0_stage);
    CHECK(told(t.p.plan) == "1 tells 0 ready in 0, 0 awaits 1 ready in 0, 0 tells 1 free in 0, 1 awaits 0 free in 0");
}
TEST_CASE("the first results need no signal that their place is free; as many signals are taken at the end") {
    placed_on_cores t(rows_of(two, pair_of_cores, 3));
    signals made(t.p);
    made.take_back(0_stage);
    message const& awaited = t.p.plan.messages[0];
    CHECK((awaited.loop == t.variable("m") && awaited.first == 3));
    made.await_rest(1_stage, t.variable("m"));
    CHECK(told(t.p.plan) == "1 awaits 0 free in 0, 1 awaits 0 free in 0, 1 awaits 0 free in 0, 1 awaits 0 free in 0");
}
TEST_CASE("stages of one core tell each other nothing") {
    planned_to t(pass::rings, schedule(twice, two).compute_at(S, m).store_in(S, common));
    REQUIRE_FALSE(t.p.refused());
    signals made(t.p);
    made.take_back(0_stage), made.hand_over(0_stage), made.give_back(1_stage, t.variable("m")), made.await_rest(1_stage, t.variable("m"));
    CHECK(t.p.plan.steps.size() == 0);
}
TEST_CASE("every core that reads a result is told once") {
    static constexpr tensor<std::int32_t> D{"D"};
    static constexpr auto three = stages(S(m, n) = A(m, n) + 1, D(m, n) = S(m, n) * 2, C(m, n) = S(m, n) + D(m, n));
    planned_to t(pass::rings, schedule(three, four)
                                  .on(four_cores, 2)
                                  .stage(S)
                                  .on(four_cores, 1)
                                  .store_in(S, common)
                                  .stage(D)
                                  .on(four_cores, 3)
                                  .store_in(D, common));
    REQUIRE_FALSE(t.p.refused());
    signals made(t.p);
    made.hand_over(0_stage);
    CHECK(told(t.p.plan) == "1 tells 2 ready in 0, 2 awaits 1 ready in 0, 1 tells 3 ready in 0, 3 awaits 1 ready in 0");
}
TEST_CASE("what has the place of a result to itself shares it with nobody") {
    planned_to t(pass::rings, schedule(twice, two).store_in(S, common));
    REQUIRE_FALSE(t.p.refused());
    signals made(t.p);
    CHECK_FALSE(made.shares_its_place(0_stage));
    t.p.from.stagings.push({.buffer = t.p.placed(0_stage).home});
    CHECK((made.shares_its_place(0_stage) && !made.shares_its_place(1_stage)));
    t.p.placed(1_stage).home = t.p.placed(0_stage).home;
    CHECK(made.shares_its_place(1_stage));
}
TEST_CASE("more signals than the cores have queues for, or can hold, are refused") {
    static constexpr core without_queues{.name = "pair", .count = 2, .signal_queues = 0},
        shallow{.name = "pair", .count = 2, .signal_capacity = 2};
    static constexpr auto none = machine("none", dram, common, without_queues), few = machine("few", dram, common, shallow);
    placed_on_cores no_queue(rows_of(none, without_queues)), long_queue(rows_of(few, shallow, 3));
    signals(no_queue.p).hand_over(0_stage);
    CHECK((no_queue.refusal().broken == rule::more_signals_than_fit && no_queue.refusal().facts[0].value == 1));
    signals(long_queue.p).hand_over(0_stage);
    CHECK((long_queue.refusal().broken == rule::more_versions_than_signals && long_queue.refusal().facts[0].value == 3));
    CHECK(no_queue.p.plan.steps.size() + long_queue.p.plan.steps.size() == 0);
}
