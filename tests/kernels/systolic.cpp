#include "kernels/systolic.hpp"

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "reference/reference.hpp"

// Memories whose addresses are numbers, steps of several calls, flags in addresses.

using namespace tilewright;

TEST_CASE("a matrix multiplication on memories of rows, with tiles that divide nothing") {
    kernels::check_kernel(plan<systolic::matmul_by_rows>, emulated<systolic::npu>(), [](kernels::operand_data const& d) {
        reference::matmul_nn(75, 52, 85, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
}
TEST_CASE("likewise where steps are told how much there is") {
    static_assert(plan<systolic::matmul_up_to>.calls(systolic::multiply_up_to) == 5 * 4);
    kernels::check_kernel(plan<systolic::matmul_up_to>, emulated<systolic::npu_up_to>());
}
TEST_CASE("a convolution on memories of rows") { kernels::check_kernel(plan<systolic::conv_by_rows>, emulated<systolic::npu>()); }
TEST_CASE("a configuration is set where it changes, as far out as it holds") {
    // Both factors are loaded in each of 3 x 2 x 2 steps, at strides of their own; all sums are stored at one.
    static_assert(plan<systolic::matmul_by_rows>.calls(systolic::config_ld) == 2 * 12);
    static_assert(plan<systolic::matmul_by_rows>.calls(systolic::config_st) == 1);
    // One factor in front of the loops, the other in them.
    static_assert(plan<systolic::matmul_with_one_stride>.calls(systolic::config_ld) == 2);
    kernels::check_kernel(plan<systolic::matmul_with_one_stride>, emulated<systolic::npu>());
}
TEST_CASE("two stores that scale differently") { kernels::check_kernel(plan<systolic::positive_by_rows>, emulated<systolic::npu>()); }
TEST_CASE("settings of loads that run ahead") { kernels::check_kernel(plan<systolic::matmul_pipelined>, emulated<systolic::npu_aside>()); }
TEST_CASE("settings of loads that run ahead, at extents that are left to run time") {
    constexpr plan_value const& open = plan<systolic::open_pipelined>;
    kernels::compiled_kernel kernel(open, emulated<systolic::npu_aside>());
    for (auto const& [rows, columns, depth] : {std::array{75, 52, 85}, {1, 1, 1}, {32, 32, 16}, {33, 7, 48}}) {
        auto const at = std::make_unique<plan_value>(open.at({{"open_m", rows}, {"open_n", columns}, {"open_k", depth}}));
        kernel.check(*at);
    }
}

namespace {

/// A plan whose n-th setting is made in another place: with 0 places, it is not made at all.
constexpr plan_value with_setting_moved(plan_value plan, int which, int places) {
    for (int at = 0; at < plan.steps.size(); ++at) {
        ir::step const moved = plan.steps[at];
        if (moved.kind != ir::step_kind::configure || which-- != 0) continue;
        plan.steps[at] = {ir::step_kind::fence, 0};
        for (int to = at; to < at + places; ++to) std::swap(plan.steps[to], plan.steps[to + 1]);
        if (places > 0) plan.steps[at + places] = moved;
        break;
    }
    return plan;
}
constexpr int settings_in(plan_value const& plan) {
    int count = 0;
    for (int at = 0; at < plan.steps.size(); ++at) count += plan.steps[at].kind == ir::step_kind::configure;
    return count;
}
/// Whether the kernel of a plan, generated and run as it is, stops at a stale register.
bool stops(plan_value const& plan, emulator& on) {
    auto const data = kernels::random_operands(plan, 3);
    halide::jit_kernel kernel(plan, &on);
    on.reset();
    try {
        kernels::result_of(kernel, data, {});
    } catch (std::exception const&) {
        return on.error().find(" uses ") != std::string::npos;
    }
    return false;
}

}  // namespace

static_assert(!detail::find_stale_setting(plan<systolic::matmul_by_rows>));
static_assert(detail::find_stale_setting(with_setting_moved(plan<systolic::matmul_by_rows>, 0, 0)));

TEST_CASE("a setting that is left out, or made too late, is found in the plan, and stops an emulated run", "[long]") {
    auto const check = [](plan_value const& good, emulator& on) {
        CHECK(!detail::find_stale_setting(good));
        CHECK(!stops(good, on));
        REQUIRE(settings_in(good) >= 2);
        for (int which = 0; which < settings_in(good); ++which) {
            auto const without = std::make_unique<plan_value>(with_setting_moved(good, which, 0));
            CHECK(detail::find_stale_setting(*without));
            CHECK(stops(*without, on));
            // Behind the next step, which is a call, or the beginning of a loop: then it is made, but the next iteration finds another one.
            auto const late = std::make_unique<plan_value>(with_setting_moved(good, which, 1));
            bool const found = static_cast<bool>(detail::find_stale_setting(*late));
            CHECK((found || !stops(*late, on)));
        }
    };
    check(plan<systolic::matmul_by_rows>, emulated<systolic::npu>());
    check(plan<systolic::matmul_with_one_stride>, emulated<systolic::npu>());
    check(plan<systolic::matmul_pipelined>, emulated<systolic::npu_aside>());
}
