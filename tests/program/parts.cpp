// Kernels of a program that write or read parts of a tensor.
#include "catch.hpp"
#include "program/chip.hpp"
#include "program/random_program.hpp"

using namespace chip;

namespace {

using programs::verdict_of;

constexpr axis six{"six", 6}, four{"four", 4}, all{"all", 100};
constexpr auto six_rows = r(six, j) = x(six, j) * 2, four_rows = r(four, j) = x(four, j) + 1;
constexpr auto six_columns = r(i, six) = x(i, six) * 2, four_columns = r(i, four) = x(i, four) + 1;
constexpr auto row_of_all = r(all) = x(all) * 3;
constexpr auto six_on_cpu = schedule(six_rows, cpu_machine), four_on_cpu = schedule(four_rows, cpu_machine);
constexpr auto six_columns_on_cpu = schedule(six_columns, cpu_machine), four_columns_on_cpu = schedule(four_columns, cpu_machine);
constexpr auto six_on_npu = schedule(six_rows, npu_machine), all_on_cpu = schedule(row_of_all, cpu_machine);

/// t0 is written by rows and read by columns, and `out` is written by columns.
constexpr program by_parts = program("by_parts")
                                 .input(in, l2)
                                 .output(out, l2)
                                 .run("top", cpu, six_on_cpu)
                                 .bind(x, in)
                                 .bind(r, t0)
                                 .part(r, {0, 0})
                                 .run("bottom", cpu, four_on_cpu)
                                 .bind(x, in)
                                 .part(x, {6, 0})
                                 .bind(r, t0)
                                 .part(r, {6, 0})
                                 .run("right", cpu, six_columns_on_cpu)
                                 .bind(x, t0)
                                 .part(x, {0, 4})
                                 .bind(r, out)
                                 .part(r, {0, 4})
                                 .run("left", cpu, four_columns_on_cpu)
                                 .bind(x, t0)
                                 .part(x, {0, 0})
                                 .bind(r, out)
                                 .part(r, {0, 0});
static_assert(program_plan<by_parts>.peak(l2) <= 1200);

/// The first lines of a program that writes t0.
program begun() { return program("begun").input(in, l2).output(out, l2); }
program with_top() { return begun().run("top", cpu, six_on_cpu).bind(x, in).bind(r, t0).part(r, {0, 0}); }
program with_parts() { return with_top().run("bottom", cpu, four_on_cpu).bind(x, in).bind(r, t0).part(r, {6, 0}); }

int position_of_step(program_plan_value const& plan, char const* kernel) {
    return plan.kernel_at(plan.find_kernel(ir::label(kernel))).first_step;
}

}  // namespace

TEST_CASE("parts of a tensor are written where they begin, with its strides") {
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(by_parts));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    CHECK(programs::fault_of(*plan) == "");
    ir::program_tensor const& t = plan->tensor_at(plan->find_tensor("t0"));
    CHECK(t.in_parts);
    CHECK(t.rank == 2);
    CHECK(t.extents[0] == 10);
    CHECK(t.bytes == 400);
    CHECK(t.born == std::min(position_of_step(*plan, "top"), position_of_step(*plan, "bottom")));
    for (int at = 0; at < plan->uses.size(); ++at) {
        ir::program_use const& u = plan->uses[at];
        if (u.kernel != plan->find_kernel("right")) continue;
        ir::buffer const& b = planned<six_columns_on_cpu>::value.buffers[u.buffer];
        CHECK(ir::stride_of(plan->tensor_at(u.tensor), u, b, 0) == 10);
        CHECK(ir::first_element(plan->tensor_at(u.tensor), u, b) == 4);
    }
}

TEST_CASE("who reads a part waits for those that write it, and for no others") {
    // `early` reads six rows, and stands before the kernel that writes the others.
    program const some = with_top()
                             .run("early", cpu, six_on_cpu)
                             .bind(x, t0)
                             .part(x, {0, 0})
                             .bind(r, t1)
                             .run("late", cpu, four_on_cpu)
                             .bind(x, t0)
                             .part(x, {4, 0})
                             .bind(r, t2)
                             .run("bottom", cpu, four_on_cpu)
                             .bind(x, t1)
                             .bind(r, t0)
                             .part(r, {6, 0})
                             .run("last", cpu, four_on_cpu)
                             .bind(x, t2)
                             .bind(r, out);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(some));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    CHECK(programs::fault_of(*plan) == "");
    CHECK(position_of_step(*plan, "early") < position_of_step(*plan, "bottom"));
    CHECK(position_of_step(*plan, "bottom") < position_of_step(*plan, "late"));
    // Where it reads a row of the others, it waits for a kernel that waits for it.
    program const cycle = with_top()
                              .run("early", cpu, six_on_cpu)
                              .bind(x, t0)
                              .part(x, {1, 0})
                              .bind(r, t1)
                              .run("bottom", cpu, four_on_cpu)
                              .bind(x, t1)
                              .bind(r, t0)
                              .part(r, {6, 0})
                              .run("last", cpu, six_on_cpu)
                              .bind(x, t1)
                              .bind(r, out);
    CHECK(make_program_plan(cycle).refusal.kind == verdict_kind::cycle);
}

TEST_CASE("parts of agents that share a memory, copied on where a reader cannot see it") {
    program const shared = begun()
                               .run("top", cpu, six_on_cpu)
                               .bind(x, in)
                               .bind(r, t0)
                               .part(r, {0, 0})
                               .run("fed", cpu, six_on_cpu)
                               .bind(x, in)
                               .bind(r, t1)
                               .run("bottom", npu, six_on_npu)
                               .bind(x, t1)
                               .bind(r, t0)
                               .part(r, {6, 0})
                               .pin(t0, act)
                               .run("last", cpu, double_on_cpu)
                               .bind(x, t0)
                               .reads(t0, l2)
                               .bind(r, out);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(shared));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    CHECK(programs::fault_of(*plan) == "");
    CHECK(plan->copies() == 1);
    CHECK(plan->tensor_at(plan->find_tensor("t0")).bytes == 480);
}

TEST_CASE("parts are refused where they are not the tensor") {
    auto const broken = [](program const& of) { return make_program_plan(of).refusal.broken; };
    CHECK(verdict_of(with_top().run("last", cpu, six_on_cpu).bind(x, t0).bind(r, out)) == "; ");
    auto const read = [](program of) { return of.run("last", cpu, six_on_cpu).bind(x, t0).bind(r, out); };
    program const again = read(with_parts().run("again", cpu, four_on_cpu).bind(x, in).bind(r, t0).part(r, {5, 0}));
    CHECK(verdict_of(again).find("`t0`: kernels `top` and `again` write parts of it that overlap") != std::string::npos);
    program const beside = with_top().run("bottom", cpu, four_on_cpu).bind(x, in).bind(r, t0).part(r, {7, 0});
    CHECK(verdict_of(read(beside)).find("`t0`: the parts that kernels write are 100 of its 110 elements") != std::string::npos);
    program const whole = with_top().run("bottom", cpu, four_on_cpu).bind(x, in).bind(r, t0);
    CHECK(broken(whole) == ir::rule::written_in_parts_and_whole);
    CHECK(broken(begun()
                     .run("top", cpu, six_on_cpu)
                     .bind(x, in)
                     .bind(r, t0)
                     .run("bottom", cpu, four_on_cpu)
                     .bind(x, in)
                     .bind(r, t0)
                     .part(r, {6, 0})) == ir::rule::written_in_parts_and_whole);
    program const own = read(with_top().run("bottom", cpu, four_on_cpu).bind(x, t0).part(x, {0, 0}).bind(r, t0).part(r, {6, 0}));
    CHECK(broken(own) == ir::rule::part_read_and_written);
    CHECK(broken(begun().run("top", cpu, six_on_cpu).bind(x, in).bind(r, t0).part(r, {0})) == ir::rule::part_of_other_rank);
    CHECK(broken(begun().run("top", cpu, all_on_cpu).bind(x, in).reshapes(x).part(x, {0}).bind(r, out)) == ir::rule::part_reshaped);
    program const outside = begun().run("top", cpu, six_on_cpu).bind(x, in).part(x, {-1, 0}).bind(r, out);
    CHECK(make_program_plan(outside).refusal.kind == verdict_kind::outside_domain);
    program const far_away = begun().run("top", cpu, six_on_cpu).bind(x, in).part(x, {highest_of(scalar_type::int64), 0}).bind(r, out);
    CHECK(make_program_plan(far_away).refusal.kind == verdict_kind::outside_domain);
    program const past = with_parts().run("last", cpu, six_on_cpu).bind(x, t0).part(x, {5, 0}).bind(r, out);
    CHECK(make_program_plan(past).refusal.kind == verdict_kind::outside_domain);
    program const unknown = begun().run("top", cpu, six_on_cpu).bind(x, in).bind(r, out).part(t3, {0, 0});
    CHECK(broken(unknown) == ir::rule::not_of_the_kernel);
    program const apart = with_top().writes(t0, l2).run("bottom", cpu, four_on_cpu).bind(x, in).bind(r, t0).part(r, {6, 0}).writes(t0, act);
    CHECK(verdict_of(program(apart).run("last", cpu, double_on_cpu).bind(x, t0).bind(r, out))
              .find("`t0`: kernel `bottom` writes a part of it, to none of the memories that other parts of it are written to") !=
          std::string::npos);
    program const state = program("state")
                              .input(in, l2)
                              .state(t1, t0, l2)
                              .run("top", cpu, six_on_cpu)
                              .bind(x, in)
                              .bind(r, t0)
                              .part(r, {0, 0})
                              .run("bottom", cpu, four_on_cpu)
                              .bind(x, t1)
                              .bind(r, t0)
                              .part(r, {6, 0});
    CHECK(broken(state) == ir::rule::state_in_parts);
}

TEST_CASE("drawn programs whose tensors are written and read in parts: nothing is read too early, nothing alive shares bytes") {
    std::map<std::string, int> refused;
    int planned = 0, apart = 0, spilled = 0;
    for (std::uint32_t seed = 1; planned < 400; ++seed) {
        auto const drawn = programs::build(programs::in_parts(programs::drawer(seed).draw_recipe(), seed));
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 2'000));
        INFO("seed " << seed << "\n" << (plan->refusal ? to_string(plan->refusal) : ""));
        if (plan->refusal) {
            using enum verdict_kind;
            ++refused[name_of(plan->refusal.kind)];
            bool const known = plan->refusal.kind == memory_overflow || plan->refusal.kind == no_placement ||
                               plan->refusal.kind == no_transfer || plan->refusal.broken == ir::rule::parts_in_two_memories ||
                               plan->refusal.broken == ir::rule::rows_of_another_kind;
            REQUIRE(known);
            REQUIRE(seed < 4000);
            continue;
        }
        REQUIRE(programs::fault_of(*plan) == "");
        ++planned;
        for (int at = 0; at < plan->tensors.size(); ++at) apart += plan->tensor_at(at).in_parts ? 1 : 0;
        for (int at = 0; at < plan->kernels.size(); ++at) spilled += plan->kernel_at(at).early ? 1 : 0;
    }
    CHECK(apart > 600);
    CHECK(spilled > 0);
}
