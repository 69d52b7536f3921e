#include <tilewright/kernels/avx2/by_vectors.hpp>
#include <tilewright/plan/planner.hpp>
#include <type_traits>

#include "kernels/run_kernel.hpp"

// Layers by vectors of this processor give what their computation gives without a schedule, where their extents are whole vectors and where
// they are not. What computations give is compared with plain loops in networks.cpp; of elementwise ones, here.

using namespace tilewright;

namespace {

template <class Layer>
kernels::operand_data check() {
    auto const plan = std::make_unique<plan_value>(make_plan(kernel::by_vectors(Layer{})));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    emulator on(targets::avx2::host, {});
    bool vectors = false;
    for (int at = 0; at < plan->variables.size(); ++at) vectors |= plan->variables[at].vectorized;
    CHECK(vectors);
    return kernels::check_kernel(*plan, on);
}
/// @param expected  of one element, or of the two at a place
template <std::int64_t Rows, std::int64_t Columns, class Element, class Function, class Expected>
void check_elementwise(Function, Expected const& expected) {
    kernels::operand_data const made = check<kernel::elementwise<Rows, Columns, Element, Function>>();
    int wrong = 0;
    for (std::size_t at = 0; at < Rows * Columns; ++at) {
        Element const one = made.in<Element>(0)[at];
        if constexpr (std::is_invocable_v<Expected, Element>) wrong += made.out<Element>()[at] != expected(one);
        else wrong += made.out<Element>()[at] != expected(one, made.in<Element>(1)[at]);
    }
    CHECK(wrong == 0);
}

constexpr kernel::window overlapping{.extent = 13, .taps = 3, .stride = 2, .before = 1, .after = 1};
constexpr kernel::window apart{.extent = 8, .taps = 2, .stride = 2};

}  // namespace

TEST_CASE("elementwise layers of one tensor and of two, by vectors") {
    auto const positive = [](auto const& value) { return max(value, 0); };
    auto const sum = [](auto const& value, auto const& other) { return max(value + other, 0); };
    check_elementwise<5, 64, float>(positive, [](float value) { return value > 0 ? value : 0; });
    check_elementwise<3, 45, std::int8_t>(positive, [](std::int8_t value) { return std::max<std::int8_t>(value, 0); });
    check_elementwise<4, 21, float>(sum, [](float value, float other) { return std::max(value + other, 0.0f); });
    check_elementwise<1, 7, std::int32_t>(sum, [](std::int32_t value, std::int32_t other) { return std::max(value + other, 0); });
}
TEST_CASE("pooling by vectors of channels") {
    check<kernel::max_pool2d<kernel::pool2d_shape{.channels = 16, .y = overlapping, .x = overlapping}, float>>();
    check<kernel::max_pool2d<kernel::pool2d_shape{.batch = 2, .channels = 45, .y = apart, .x = overlapping}, std::int8_t>>();
    check<kernel::average_pool2d<kernel::pool2d_shape{.channels = 16, .y = overlapping, .x = overlapping}, float>>();
    check<kernel::average_pool2d<kernel::pool2d_shape{.batch = 2, .channels = 11, .y = apart, .x = overlapping}, float,
                                 kernel::border::counts>>();
}
TEST_CASE("softmax by vectors of columns") {
    check<kernel::softmax<5, 64>>();
    check<kernel::softmax<3, 33>>();
}
