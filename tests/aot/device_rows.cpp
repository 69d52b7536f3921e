#include <tilewright/runtime/call.hpp>
#include <vector>

#include "catch.hpp"
#include "kernels/systolic.hpp"
#include "reference/fill.hpp"
#include "reference/reference.hpp"
#include "rows_conv_device.h"
#include "rows_device.h"
#include "rows_matmul_device.h"
#include "rows_pipelined_device.h"
#include "rows_up_to_device.h"

// Numbers of rows, flags, settings and preloads as C functions get them.

namespace {

using namespace tilewright;

struct product {
    std::vector<std::int8_t> a = std::vector<std::int8_t>(75 * 85), b = std::vector<std::int8_t>(85 * 52);
    std::vector<std::int32_t> c = std::vector<std::int32_t>(75 * 52, -1), expected = c;
    product() {
        reference::fill(a.data(), a.size(), 1);
        reference::fill(b.data(), b.size(), 2);
        reference::matmul_nn(75, 52, 85, a.data(), b.data(), expected.data());
        rows_reset();
    }
};
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

}  // namespace

TEST_CASE("a matrix multiplication by numbers of rows") {
    product given;
    REQUIRE(call<systolic::matmul_by_rows>(rows_matmul_device, given.a.data(), given.b.data(), given.c.data()) == 0);
    CHECK(given.c == given.expected);
    check_counts(plan<systolic::matmul_by_rows>, systolic::mvin);
}
TEST_CASE("likewise where steps are told how much there is") {
    product given;
    REQUIRE(call<systolic::matmul_up_to>(rows_up_to_device, given.a.data(), given.b.data(), given.c.data()) == 0);
    CHECK(given.c == given.expected);
    check_counts(plan<systolic::matmul_up_to>, systolic::mvin);
}
TEST_CASE("likewise with loads that are started ahead") {
    product given;
    REQUIRE(call<systolic::matmul_pipelined>(rows_pipelined_device, given.a.data(), given.b.data(), given.c.data()) == 0);
    CHECK(given.c == given.expected);
    check_counts(plan<systolic::matmul_pipelined>, systolic::mvin_aside);
}
TEST_CASE("a convolution by numbers of rows") {
    std::vector<std::int8_t> image(7 * 38 * 32), filters(3 * 2 * 32 * 21);
    std::vector<std::int32_t> maps(5 * 19 * 21, -1);
    reference::fill(image.data(), image.size(), 3);
    reference::fill(filters.data(), filters.size(), 4);
    rows_reset();
    REQUIRE(call<systolic::conv_by_rows>(rows_conv_device, image.data(), filters.data(), maps.data()) == 0);
    check_counts(plan<systolic::conv_by_rows>, systolic::mvin);
    bool same = true;
    for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 19; ++x) {
            for (int q = 0; q < 21; ++q) {
                std::int32_t sum = 0;
                for (int r = 0; r < 3; ++r) {
                    for (int s = 0; s < 2; ++s) {
                        for (int c = 0; c < 32; ++c)
                            sum += image[static_cast<std::size_t>(((y + r) * 38 + 2 * x + s) * 32 + c)] *
                                   filters[static_cast<std::size_t>(((r * 2 + s) * 32 + c) * 21 + q)];
                    }
                }
                same = same && maps[static_cast<std::size_t>((y * 19 + x) * 21 + q)] == sum;
            }
        }
    }
    CHECK(same);
}
