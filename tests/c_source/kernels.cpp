#include "aot/blocks.hpp"
#include "c_source/compiled.hpp"
#include "kernels/biased.hpp"
#include "kernels/features.hpp"
#include "kernels/scales.hpp"
#include "kernels/schedules.hpp"
#include "kernels/views.hpp"

// The C source of the kernels that other tests run: it pleases both compilers, and makes the bits of the object.

using namespace tilewright;

namespace {

constexpr axis e{"e", 4096};
constexpr tensor<float> x{"x"}, y{"y"};
constexpr tensor<std::int32_t> rounded{"rounded"};
constexpr auto truncated = rounded(e) =
    cast<std::int32_t>((x(e) * 1.7f + y(e)) * 67108864.0f) + cast<std::int32_t>(x(e) * y(e) - x(e) < y(e));
constexpr auto truncated_on_dsp = schedule(truncated, kernels::dsp).vectorize(e, 8);

template <schedule const& Schedule>
void check(std::vector<double> const& parameters = {}) {
    static constexpr plan_value const& plan = tilewright::plan<Schedule>;
    c_kernels::check_c_source(Schedule, plan, plan, emulated<(Schedule.where())>(), parameters);
}

}  // namespace

TEST_CASE("tile bodies of all kinds, vectorised, unrolled, fused") {
    check<kernels::matmul_nn_on_dsp>();
    check<kernels::matmul_nt_on_dsp>();
    check<kernels::matmul_tn_on_dsp>();
    check<kernels::matmul_tt_on_dsp>();
    check<kernels::matmul_continuing_on_dsp>();
    check<kernels::conv1d_on_dsp>();
    check<kernels::conv2d_on_dsp>();
    check<kernels::row_max_on_dsp>();
    check<kernels::row_min_on_dsp>();
    check<kernels::outer_product_on_dsp>();
    check<kernels::contraction_on_dsp>();
    check<kernels::select_on_dsp>();
}
TEST_CASE("several stages, one of them carried out by a transfer") {
    check<kernels::blur_on_dsp>();
    check<kernels::blur_in_turn>();
    check<features::widened_by_dma>();
    check<features::transposed_by_dma>();
    check<features::constant_by_dma>();
    check<features::chain_on_core>();
}
TEST_CASE("loops that stay code on two blocks of a memory") { check<blocks::in_two_blocks>(); }
TEST_CASE("intrinsics") {
    check<features::matmul_by_dots>();
    check<features::matmul_by_mac>();
    check<features::conv_by_mac>();
    check<features::matmul_by_fma>();
}
TEST_CASE("intrinsics with scales, in their semantics and as operands") {
    check<scales::add_on_npu>();
    check<scales::bounds_on_npu>();
    check<scales::layer_on_npu>();
}
TEST_CASE("parts that see a memory at addresses of their own") {
    static constexpr plan_value const& plan = tilewright::plan<views::layer_on_npu>;
    auto const by_hand = [](kernels::operand_data const& data) {
        for (int y = 0; y < 24; ++y)
            for (int x = 0; x < 32; ++x) {
                std::int32_t total = data.in<std::int32_t>(0)[x];
                for (int z = 0; z < 40; ++z) total += data.in<std::int8_t>(1)[y * 40 + z] * data.in<std::int8_t>(2)[z * 32 + x];
                data.out<std::int32_t>()[y * 32 + x] = total > 0 ? total : 0;
            }
    };
    kernels::check_kernel(plan, emulated<views::npu>(), by_hand);
    check<views::layer_on_npu>();
    // On the device each part gets what it sees; what it does not see is an error.
    for (c_kernels::compiler const& with : c_kernels::compilers) {
        c_kernels::c_kernel const kernel(views::layer_on_npu, plan, {"kernel", halide::binding::device, {"device.h"}}, {views::device},
                                         with);
        INFO(kernel.text().source);
        kernels::operand_data const data = kernels::random_operands(plan, 31);
        Halide::Buffer<> result = data.output.copy();
        CHECK(kernel.run(plan, data, result, {}) == 0);
        by_hand(data);
        CHECK(kernels::same_bits(result, data.output));
    }
}
TEST_CASE("reductions that start from a value") {
    check<biased::row_on_array>();
    check<biased::tile_on_array>();
    check<biased::row_in_loops>();
}
TEST_CASE("parameters, negative indices, scalars, rank 6, every operation and type") {
    check<features::scaled_on_core>({1.375, -7});
    check<features::neighbours_on_core>();
    check<features::sum_all_on_core>();
    check<features::rank_six_on_core>();
    check<features::wrapped_on_core>();
    check<features::divided_on_core>();
}
TEST_CASE("floating point inside of what is none is rounded as it is written") {
    check<truncated_on_dsp>();
    kernels::check_kernel(plan<truncated_on_dsp>, emulated<kernels::dsp>(), [](kernels::operand_data const& d) {
        for (int at = 0; at < 4096; ++at) {
            // Rounded after each operation.
            volatile float const product = d.in<float>(0)[at] * 1.7f, sum = product + d.in<float>(1)[at], scaled = sum * 67108864.0f;
            volatile float const other = d.in<float>(0)[at] * d.in<float>(1)[at], difference = other - d.in<float>(0)[at];
            d.out<std::int32_t>()[at] = static_cast<std::int32_t>(scaled) + (difference < d.in<float>(1)[at] ? 1 : 0);
        }
    });
}
