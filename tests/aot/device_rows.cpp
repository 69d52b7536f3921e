#include <tilewright/runtime/call.hpp>

#include "catch.hpp"
#include "guarded_operands.hpp"
#include "kernels/systolic.hpp"
#include "rows_conv_device.h"
#include "rows_device.h"
#include "rows_matmul_device.h"
#include "rows_pipelined_device.h"
#include "rows_up_to_device.h"

// Numbers of rows, flags, settings and preloads as C functions get them.

namespace {

using namespace tilewright;

/// What was counted is what is planned.
void check_counts(plan_value const& plan, transfer const& load) {
    CHECK(plan.calls(systolic::config_ld) == rows_ld_settings);
    CHECK(plan.calls(systolic::config_st) == rows_st_settings);
    CHECK(plan.calls(load) == rows_loads);
    CHECK(plan.calls(systolic::mvout) == rows_stores);
    std::int64_t steps = 0;
    for (int at = 0; at < plan.where->intrinsics.size(); ++at) steps += plan.executions_of(at);
    CHECK(steps == rows_steps);
}
/// Runs a kernel of bytes on operands at the end of a page and at the beginning of one.
template <schedule const& Schedule, class Function>
void check(Function* function, transfer const& load) {
    for (guarded::side at : guarded::both_sides) {
        guarded_operands const given(plan<Schedule>, at);
        rows_reset();
        REQUIRE(call<Schedule>(function, given.at<std::int8_t>(0), given.at<std::int8_t>(1), given.at<std::int32_t>(2)) == 0);
        given.check();
        check_counts(plan<Schedule>, load);
    }
}

}  // namespace

TEST_CASE("a matrix multiplication by numbers of rows") { check<systolic::matmul_by_rows>(rows_matmul_device, systolic::mvin); }
TEST_CASE("likewise where steps are told how much there is") { check<systolic::matmul_up_to>(rows_up_to_device, systolic::mvin); }
TEST_CASE("likewise with loads that are started ahead") { check<systolic::matmul_pipelined>(rows_pipelined_device, systolic::mvin_aside); }
TEST_CASE("a convolution by numbers of rows") { check<systolic::conv_by_rows>(rows_conv_device, systolic::mvin); }
