#include "catch.hpp"

#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"
#include "reference/reference.hpp"

// Every computation of the table, compiled at run time from its plan: bit-equal to plain C++ and to Halide without the plan.

using namespace kernels;

namespace {
tilewright::emulator& on_dsp() { return emulated<dsp>(); }
}  // namespace

TEST_CASE("matmul, both operands as they are") {
    check_kernel(plan<matmul_nn_on_dsp>, on_dsp(), [](operand_data const& d) {
        reference::matmul_nn(24, 40, 36, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
}
TEST_CASE("matmul, second operand transposed, through two levels of memory") {
    check_kernel(plan<matmul_nt_on_dsp>, on_dsp(), [](operand_data const& d) {
        reference::matmul_nt(24, 40, 36, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
}
TEST_CASE("matmul, first operand transposed, in float, with fused loops") {
    check_kernel(plan<matmul_tn_on_dsp>, on_dsp(),
                 [](operand_data const& d) { reference::matmul_tn(24, 40, 36, d.in<float>(0), d.in<float>(1), d.out<float>()); });
}
TEST_CASE("matmul, both operands transposed, nothing staged") {
    check_kernel(plan<matmul_tt_on_dsp>, on_dsp(),
                 [](operand_data const& d) { reference::matmul_tt(24, 40, 36, d.in<float>(0), d.in<float>(1), d.out<float>()); });
}
TEST_CASE("matmul that continues from the contents of its result") {
    check_kernel(plan<matmul_continuing_on_dsp>, on_dsp(), [](operand_data const& d) {
        reference::matmul_nn_continuing(24, 40, 36, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
}
TEST_CASE("conv1d") {
    check_kernel(plan<conv1d_on_dsp>, on_dsp(),
                 [](operand_data const& d) { reference::conv1d(96, 7, d.in<float>(0), d.in<float>(1), d.out<float>()); });
}
TEST_CASE("conv2d with stride 2 and dilation 2") {
    check_kernel(plan<conv2d_on_dsp>, on_dsp(), [](operand_data const& d) {
        reference::conv2d_shape const shape{.out_height = 8,
                                            .out_width = 12,
                                            .channels = 8,
                                            .filters = 16,
                                            .kernel_height = 3,
                                            .kernel_width = 3,
                                            .stride = 2,
                                            .dilation = 2};
        REQUIRE(d.inputs[0].dim(2).extent() <= shape.in_height());
        reference::conv2d_nhwc(shape, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
}
TEST_CASE("two-stage blur, the first stage computed at a tile of the second") {
    check_kernel(plan<blur_on_dsp>, on_dsp(), [](operand_data const& d) { reference::blur(24, 32, d.in<float>(0), d.out<float>()); });
}
TEST_CASE("two-stage blur, one stage after the other") {
    check_kernel(plan<blur_in_turn>, on_dsp(), [](operand_data const& d) { reference::blur(24, 32, d.in<float>(0), d.out<float>()); });
}
TEST_CASE("row maximum") {
    check_kernel(plan<row_max_on_dsp>, on_dsp(), [](operand_data const& d) { reference::row_max(30, 50, d.in<float>(0), d.out<float>()); });
}
TEST_CASE("row minimum") {
    check_kernel(plan<row_min_on_dsp>, on_dsp(),
                 [](operand_data const& d) { reference::row_min(30, 50, d.in<std::int32_t>(0), d.out<std::int32_t>()); });
}
TEST_CASE("outer product") {
    check_kernel(plan<outer_product_on_dsp>, on_dsp(), [](operand_data const& d) {
        reference::outer_product(24, 40, d.in<std::int16_t>(0), d.in<std::int16_t>(1), d.out<std::int32_t>());
    });
}
TEST_CASE("contraction of rank 5") {
    check_kernel(plan<contraction_on_dsp>, on_dsp(), [](operand_data const& d) {
        reference::contraction(6, 4, 10, 5, 8, d.in<std::int32_t>(0), d.in<std::int32_t>(1), d.out<std::int32_t>());
    });
}
TEST_CASE("elementwise select") {
    check_kernel(plan<select_on_dsp>, on_dsp(), [](operand_data const& d) {
        reference::select_difference(120, d.in<std::int16_t>(0), d.in<std::int16_t>(1), d.out<std::int16_t>());
    });
}

namespace {

constexpr tensor<std::int32_t> chained[]{{"t0"}, {"t1"},  {"t2"},  {"t3"},  {"t4"},  {"t5"},  {"t6"},  {"t7"},  {"t8"},
                                         {"t9"}, {"t10"}, {"t11"}, {"t12"}, {"t13"}, {"t14"}, {"t15"}, {"t16"}, {"t17"}};
constexpr axis of_chain{"of_chain", 19}, in_chain{"in_chain", 5};
/// t1 to t`Count`, each the sum or the maximum of what it reads of the one before.
template <std::size_t... At>
constexpr auto chain_of(std::index_sequence<At...>) {
    constexpr auto stage = [](auto at) {
        auto const &from = chained[at], &to = chained[at + 1];
        if constexpr (at % 2 == 0) return to(of_chain, in_chain) = from(of_chain, in_chain) * 3 - of_chain;
        else return to(of_chain, in_chain) = max(from(of_chain, 4 - in_chain), in_chain);
    };
    return stages(stage(std::integral_constant<std::size_t, At>{})...);
}
template <std::size_t Count>
constexpr auto chain = chain_of(std::make_index_sequence<Count>{});

}  // namespace

TEST_CASE("sixteen stages, and not seventeen") {
    schedule whole(chain<16>, kernels::dsp), inside(chain<16>, kernels::dsp);
    for (std::size_t at = 1; at < 16; ++at) {
        whole = whole.store_in(chained[at], kernels::l1);
        inside = inside.store_in(chained[at], kernels::l1);
        if (at > 8) inside = inside.compute_at(chained[at], of_chain);
    }
    for (schedule const* of : {&whole, &inside}) {
        auto const plan = std::make_unique<plan_value>(make_plan(*of));
        kernels::check_kernel(*plan, emulated<kernels::dsp>());
    }
    schedule more(chain<17>, kernels::dsp);
    for (std::size_t at = 1; at < 17; ++at) more = more.store_in(chained[at], kernels::l1);
    auto const refused = std::make_unique<plan_value>(make_plan(more));
    CHECK(to_string(refused->refusal) ==
          "stages: 17, but at most 16 can be held; capacity of representation: simplify it, or split the kernel in two");
    // Each stage inside of the loop adds a term to the indices of those before it.
    schedule deep(chain<16>, kernels::dsp);
    for (std::size_t at = 1; at < 16; ++at) deep = deep.compute_at(chained[at], of_chain).store_in(chained[at], kernels::l1);
    auto const too_deep = std::make_unique<plan_value>(make_plan(deep));
    CHECK(to_string(too_deep->refusal).rfind("terms of an index: 13, but at most 12 can be held", 0) == 0);
}
