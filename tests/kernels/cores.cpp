// clang-format off: schedules are read line by line, a buffer a line.
#include "kernels/cores.hpp"
#include "catch.hpp"
#include "kernels/on_cores.hpp"
#include <tilewright/plan/plan.hpp>

// Kernels whose loops several cores share.

using namespace tilewright;
using namespace cores_of_dsp;

namespace {

void check(schedule const& of) { check_on_cores<four>(of); }

}  // namespace

TEST_CASE("each core computes its share in its own memory") {
    check(schedule(matmul, four).distribute(m, dsp));
    check(schedule(matmul, four)
              .split(m, mo, mi, 3)
              .distribute(mo, dsp)
              .cache_read(A, tcm)
              .at(mo)
              .buffers(2)
              .cache_read(B, tcm)
              .at("mo.core")
              .cache_write(C, tcm)
              .at(mo)
              .buffers(2));
}

TEST_CASE("shares are uneven, and cores may have none") {
    check(schedule(matmul, four)
              .split(m, mo, mi, 5)
              .distribute(mo, dsp)  // 5 tiles, the last one partial: 2, 2, 1, 0
              .cache_read(A, tcm)
              .at(mo)
              .buffers(2)
              .cache_read(B, tcm)
              .at("mo.core")
              .cache_write(C, tcm)
              .at(mo)
              .buffers(2));
    check(schedule(matmul, four).distribute(n, dsp).cache_read(B, tcm).at("n.core").cache_write(C, tcm).at(n));  // 18 columns: 5, 5, 5, 3
    check(schedule(matmul, four).split(m, mo, mi, 12).distribute(mo, dsp, 3).cache_read(A, tcm).at(mo).cache_write(C, tcm).at(mo));
}

TEST_CASE("one core loads tiles for all of them, and stages follow each other") {
    for (schedule const& of : with_barriers()) check(of);
    static constexpr tensor<std::int32_t> T{"T"}, R{"R"};
    static constexpr axis y{"y", 22}, x{"x", 16}, yo{"yo"}, yi{"yi"}, p{"p", 24}, q{"q", 16};
    static constexpr tensor<std::int16_t> in{"in"};
    static constexpr auto blur = stages(T(p, q) = cast<std::int32_t>(in(p, q)) * 3, R(y, x) = T(y, x) + T(y + 1, x) + T(y + 2, x));
    check(schedule(blur, four).split(y, yo, yi, 4).distribute(yo, dsp).compute_at(T, yo).store_in(T, tcm));
}

TEST_CASE("cores meet in the tiles that an axis has, and in no others") {
    static constexpr tensor<std::int32_t> T{"T"}, R{"R"};
    static constexpr axis y{"y", 22}, x{"x", 8}, yo{"yo"}, yi{"yi"}, yoo{"yoo"}, yoi{"yoi"};
    static constexpr tensor<std::int16_t> in{"in"};
    static constexpr auto twice = stages(T(y, x) = cast<std::int32_t>(in(y, x)) * 3, R(y, x) = T(y, x) * 2);
    // Six tiles, the last one partial, in two rounds of four.
    schedule const of = schedule(twice, four)
                            .split(y, yo, yi, 4)
                            .split(yo, yoo, yoi, 4)
                            .distribute(yi, dsp)
                            .compute_at(T, yoi)
                            .stage(T)
                            .store_in(T, l2)
                            .distribute(x, dsp);
    check(of);
    CHECK(check_lost_barriers<four>(of) > 0);
}

TEST_CASE("a barrier that is lost is found by the check and on the emulated machine") {
    int seeded = 0;
    for (schedule const& of : with_barriers()) seeded += check_lost_barriers<four>(of);
    CHECK(seeded >= 9);
}

TEST_CASE("stages run on cores of their own, and tell each other") {
    for (schedule const& of : with_signals()) check(of);
    // Side by side, they need little more than the longer of the two.
    auto const pipelined = std::make_unique<plan_value>(make_plan(with_signals()[0])),
               turns = std::make_unique<plan_value>(make_plan(with_signals()[1]));
    CHECK(pipelined->cycles() < 0.6 * pipelined->serial_cycles());
    CHECK(turns->cycles() > turns->serial_cycles());
}

namespace {

/// A plan with step `at` changed: taken out, doubled, or with the message of another step.
enum class fault { lost, doubled, other_queue, other_core };
plan_value with_fault(plan_value plan, int at, fault how) {
    ir::step const told = plan.steps[at];
    if (how == fault::lost) plan.steps.erase(at);
    if (how == fault::doubled) plan.steps.insert(at, told);
    if (how == fault::other_queue || how == fault::other_core) {
        ir::message changed = plan.messages[told.what];
        if (how == fault::other_queue) changed.queue = static_cast<std::int16_t>(changed.queue + 1);
        else (told.kind == ir::step_kind::signal ? changed.to : changed.from) = 3;
        plan.steps[at].what = static_cast<std::int16_t>(plan.messages.push(changed));
    }
    return plan;
}

}  // namespace

TEST_CASE("a signal that is lost, doubled or sent elsewhere is found by the check and on the emulated machine") {
    int seeded = 0;
    for (std::size_t which : {0, 3, 4}) {
        schedule const of = with_signals()[which];
        auto const whole = std::make_unique<plan_value>(make_plan(of));
        for (int at = 0; at < whole->steps.size(); ++at) {
            ir::step_kind const kind = whole->steps[at].kind;
            if (kind != ir::step_kind::signal && kind != ir::step_kind::await) continue;
            for (fault how : {fault::lost, fault::doubled, fault::other_queue, fault::other_core}) {
                auto const plan = std::make_unique<plan_value>(with_fault(*whole, at, how));
                INFO("step " << at << ", fault " << static_cast<int>(how) << "\n" << loop_program(*plan));
                verdict const said = check_plan(*plan), said_of_all = check_plan(*plan, ir::visiting::everything);
                CHECK((said.kind == verdict_kind::race || said.kind == verdict_kind::deadlock));
                CHECK(said.kind == said_of_all.kind);
                CHECK(said.broken == said_of_all.broken);
                core_team team(*plan->where, semantics_of<four>, 4);
                kernels::operand_data const data = kernels::random_operands(*plan, 3);
                kernels::guarded_buffer made = kernels::make_result(data);
                halide::jit_kernel watched(*plan, team, true);
                team.watch();
                bool found = false;
                for (interleaving turns : {interleaving::first, interleaving::last, interleaving::random}) {
                    team.use(turns, 7);
                    team.reset();
                    found = found || watched.run(team, data.inputs, made.elements) != 0;
                }
                CHECK(found);
                ++seeded;
            }
        }
    }
    CHECK(seeded >= 60);
}

TEST_CASE("a core that fails ends the run, and one that never comes to a barrier is missed") {
    core_team team(four, semantics_of<four>);
    for (interleaving how : {interleaving::first, interleaving::last, interleaving::random, interleaving::threads}) {
        team.use(how, 3);
        auto const meet = [] { return tilewright_emulate_barrier(core_team::current()); };
        CHECK(team.run([&](int core) { return core == 2 ? 77 : meet(); }) == 77);
        CHECK(team.error() == "core 2: it returned 77");
        CHECK(team.run([&](int core) { return core == 1 ? 0 : meet(); }) == emulation_deadlock);
        CHECK(team.error() == "3 of 4 cores wait at a barrier, and the others never come");
        CHECK(team.run([&](int core) { return core == 3 ? meet() : meet() + meet(); }) == emulation_deadlock);
        CHECK(team.run([&](int) { return meet(); }) == 0);
    }
}
