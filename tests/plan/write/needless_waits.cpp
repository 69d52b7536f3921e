#include <tilewright/plan/write/needless_waits.hpp>

#include <string>

#include "plan/small_kernels.hpp"

// Waits of the core between stages, where engines keep the order by themselves.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis r{"r", 4};
constexpr tensor<std::int32_t> from{"from"}, to{"to"}, S{"S"};
constexpr engine held{.name = "held", .completes = completion::by_channel, .interlocked = true},
    other{.name = "other", .completes = completion::by_channel, .interlocked = true},
    apart{.name = "apart", .completes = completion::by_channel};
constexpr intrinsic on_engine(label const& name, engine const& where) {
    return intrinsic(name, to(r) = from(r) + 1).reads(from, spad).writes(to, spad).on(where).asynchronous();
}
constexpr auto first = on_engine("first", held), second = on_engine("second", other), third = on_engine("third", apart);
/// Engines held 0, other 1 and apart 2, with an intrinsic each; the first two are interlocked.
constexpr auto where = machine("where", dram, spad, held, other, apart, first, second, third);
constexpr auto chain = stages(S(m) = A(m) + 1, C(m) = S(m) + 1);

/// S by an intrinsic on `held`, a wait for it, and C by another one: buffers A 0, S 1, C 2.
struct two_stages {
    plan_value plan = empty_plan(where, chain.view());
    explicit two_stages(int second_by) {
        for (label const& name : {label("A"), label("S"), label("C")}) {
            plan.buffers.push({.name = name,
                               .kind = buffer_kind::staged,
                               .memory = 1,
                               .bytes = 16,
                               .offset = 16 * plan.buffers.size(),
                               .bank = 0,
                               .part_stride = 16,
                               .born = 0,
                               .dead = 6});
        }
        for (int s = 0; s < 2; ++s) {
            stage const& st = plan.stages[s];
            for (node_id node = st.first; node < st.store; ++node) {
                if (plan.what[node].op != operation::access) continue;
                plan.uses.push({.node = node,
                                .buffer = plan.what[node].name == "A"   ? 0_buffer
                                          : plan.what[node].name == "S" ? 1_buffer
                                                                        : 2_buffer});
            }
            plan.bodies.push(
                {.kind = body_kind::intrinsic, .stage = stage_id(s), .intrinsic = static_cast<std::int16_t>(s == 0 ? 0 : second_by)});
        }
        plan.links.push({.from = 0, .to = -1});
        plan.links.push({.from = static_cast<std::int16_t>(second_by), .to = -1});
        for (std::int16_t at : {std::int16_t{0}, std::int16_t{0}, std::int16_t{1}, std::int16_t{1}}) plan.waits.push({.link = at});
        add_steps(plan, {{step_kind::compute, 0},
                         {step_kind::push, 0},
                         {step_kind::pop, 1},
                         {step_kind::compute, 1},
                         {step_kind::push, 2},
                         {step_kind::pop, 3}});
    }
    /// c computes, < pushes and > pops.
    std::string program() {
        drop_needless_waits(plan);
        std::string text;
        for (int at = 0; at < plan.steps.size(); ++at)
            text += plan.steps[at].kind == step_kind::compute ? 'c' : plan.steps[at].kind == step_kind::push ? '<' : '>';
        return text;
    }
};

}  // namespace

TEST_CASE("buffers share bytes, whatever their versions") {
    two_stages t(0);
    CHECK_FALSE(share_bytes(t.plan, 0_buffer, 1_buffer));
    t.plan.buffers[0].versions = 2;
    CHECK(share_bytes(t.plan, 0_buffer, 1_buffer));
    CHECK(share_bytes(t.plan, 2_buffer, 2_buffer));
    t.plan.buffers[0].kind = buffer_kind::argument;
    CHECK_FALSE(share_bytes(t.plan, 0_buffer, 1_buffer));
}
TEST_CASE("one engine does its jobs in order: it is waited for at the end alone") {
    two_stages t(0);
    CHECK(are_ordered_behind(t.plan, 0, 2));
    CHECK(t.program() == "cc<>");
    CHECK((t.plan.buffers[2].dead == 4 && t.plan.buffers[0].born == 0));
}
TEST_CASE("interlocked engines hold each other back, and each is waited for at the end") {
    two_stages t(1);
    CHECK(t.program() == "cc<><>");
}
TEST_CASE("an engine that nothing holds back must be waited for, unless it touches something else") {
    two_stages t(2);
    CHECK_FALSE(are_ordered_behind(t.plan, 0, 2));
    CHECK(t.program() == "c<>c<>");
    two_stages elsewhere(2);
    for (int at = 0; at < elsewhere.plan.uses.size(); ++at) {
        if (elsewhere.plan.stage_of(elsewhere.plan.uses[at].node) == 1) elsewhere.plan.uses[at].buffer = 2_buffer;
    }
    CHECK(elsewhere.program() == "cc<><>");
}
TEST_CASE("the engine of another core does not know how far this one has come") {
    two_stages t(0);
    for (int at = 3; at < t.plan.steps.size(); ++at) t.plan.steps[at].core = 1;
    CHECK(t.program() == "c<>c<>");
    two_stages both(0);
    for (int at = 0; at < both.plan.steps.size(); ++at) both.plan.steps[at].core = 1;
    CHECK(both.program() == "cc<>");
    // All cores run their shares.
    two_stages shared(0);
    variable_id const share = add_loop(shared.plan, "share", 2);
    shared.plan.variables[share].distributed = true;
    shared.plan.steps.insert(3, {step_kind::loop, share});
    shared.plan.steps.insert(5, {step_kind::end, share});
    CHECK_FALSE(are_ordered_behind(shared.plan, 0, 2));
    shared.plan.variables[share].distributed = false;
    CHECK(are_ordered_behind(shared.plan, 0, 2));
}
TEST_CASE("where no engine computes behind, and in loops, waits stay") {
    two_stages t(0);
    t.plan.steps = {};
    add_steps(t.plan, {{step_kind::compute, 0}, {step_kind::push, 0}, {step_kind::pop, 1}});
    CHECK(t.program() == "c<>");
    two_stages ports(0);
    static constexpr memory one_port{.name = "spad", .base = 0x1000, .capacity = 1_KiB, .ports = 1};
    static constexpr auto narrow = machine("where", dram, one_port, held, other, apart, first, second, third);
    ports.plan.where = &narrow;
    CHECK(ports.program() == "c<>c<>");  // two engines would meet in the bank
}
