#include <tilewright/kernels/vnni/conv2d.hpp>
#include <tilewright/kernels/vnni/gemm.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "vnni/forms.hpp"

// Products and convolutions by VNNI give what the oracle says: with the C functions, in each form that this processor can run, and
// emulated.

using namespace tilewright;
using namespace tilewright::kernel;
namespace vnni = targets::vnni;

namespace {

/// Code compiled now, which calls the C functions; operands lie at pages that cannot be touched.
void check_calls(schedule const& scheduled) {
    auto const plan = std::make_unique<plan_value>(make_plan(scheduled));
    REQUIRE_FALSE(plan->refusal);
    kernels::operand_data const data = kernels::random_operands(*plan, 17);
    Halide::Buffer<> const expected = kernels::expected_of(*plan, data, {});
    guarded::block pool(static_cast<std::size_t>(vnni::l2.capacity), 64, guarded::side::end);
    for (vnni_forms::form const& form : vnni_forms::of_this_processor()) {
        INFO(form.name);
        vnni_forms::loaded const functions(form);
        ir::argument_list const list = ir::arguments_of(*plan);
        halide::jit_kernel kernel(*plan, std::vector<void*>(static_cast<std::size_t>(list.pool_count), pool.begin()),
                                  kernels::quick_target());
        CHECK(kernels::same_bits(kernels::result_of(kernel, data, {}), expected));
        CHECK(data.is_intact());
    }
}
template <class Left>
void check_product(gemm_shape const& of, vnni_gemm_tile const& tile, vnni::product_core const& on) {
    INFO(of.rows << " x " << of.columns << " x " << of.depth);
    if (of.depth % 4 == 0) check_calls(tiled_gemm(vnni_gemm<Left>(of), tile, on));
    else check_calls(tiled_gemm(vnni_gemm<Left, true>(of), tile, on));
}
void check_convolution(conv2d_shape const& of, std::int64_t filters, vnni_conv2d_tile const& tile, vnni::window_core const& on) {
    INFO(of.channels << " channels, " << of.filters << " filters, " << of.y.taps << " x " << of.x.taps << " taps");
    if (has_border(of)) check_calls(tiled_conv2d(vnni_conv2d<true>(of, filters), tile, on));
    else check_calls(tiled_conv2d(vnni_conv2d<false>(of, filters), tile, on));
}

constexpr gemm_shape whole{30, 70, 24}, ragged{17, 37, 27};
inline constexpr auto of_bytes = tiled_gemm(vnni_gemm_of<std::uint8_t, whole>, {16, 64, 16}, vnni::avx512_products);
inline constexpr auto of_signed_bytes = tiled_gemm(vnni_gemm_of<std::int8_t, ragged>, {8, 32, 16}, vnni::avx512_products);
constexpr window same{.extent = 9, .taps = 3, .before = 1, .after = 1};
constexpr conv2d_shape small{.channels = 6, .filters = 32, .y = same, .x = same};
inline constexpr vnni::window_core windows(vnni::avx512), by_two(vnni::avx512, {.stride = 2}),
    far(vnni::avx512, {.dilation_y = 2, .dilation_x = 3}), narrow(vnni::avx);
// clang takes no part of a constant as a template argument.
inline constexpr machine windows_in_l2 = windows.bordered;
inline constexpr auto convolved = tiled_conv2d(vnni_conv2d_of<small, 16>, {.block_rows = 4, .block_columns = 5}, windows);

}  // namespace

TEST_CASE("products by VNNI are exact, at every rest of four, of rows and of columns") {
    check_product<std::uint8_t>({64, 64, 64}, {}, vnni::avx512_products);
    check_product<std::int8_t>({100, 50, 140}, {48, 32, 64}, vnni::avx512_products);
    check_product<std::int8_t>({1, 33, 61}, {48, 32, 32}, vnni::avx512_products);
    check_product<std::uint8_t>({29, 95, 78}, {12, 96, 40}, vnni::avx512_products);
    check_product<std::uint8_t>({31, 20, 43}, {16, 16, 16}, vnni::avx_products);
    check_product<std::int8_t>({7, 40, 36}, {16, 16, 16}, vnni::avx_products);
}
TEST_CASE("convolutions by VNNI are exact: borders, strides, dilations, channels that are no fours") {
    check_convolution({.channels = 16, .filters = 64, .y = same, .x = same}, 32, {.block_rows = 4}, windows);
    window const first{.extent = 21, .taps = 7, .stride = 2, .before = 3, .after = 3};
    check_convolution({.batch = 2, .channels = 3, .filters = 16, .y = first, .x = first}, 16, {.block_rows = 3, .block_columns = 4},
                      by_two);
    window const one{.extent = 13};
    check_convolution({.channels = 20, .filters = 32, .y = one, .x = one}, 32, {.block_rows = 5, .block_columns = 6}, windows);
    window const down{.extent = 15, .taps = 3, .dilation = 2, .before = 2, .after = 1},
        across{.extent = 16, .taps = 3, .dilation = 3, .after = 2};
    check_convolution({.channels = 5, .filters = 48, .y = down, .x = across}, 16, {}, far);
    check_convolution({.channels = 8, .filters = 16, .y = same, .x = same}, 16, {.block_rows = 2}, narrow);
}
TEST_CASE("the machine of VNNI, emulated") {
    kernels::check_kernel(plan<of_bytes>, emulated<vnni::avx512_host>());
    kernels::check_kernel(plan<of_signed_bytes>, emulated<vnni::avx512_bordered>());
    kernels::check_kernel(plan<convolved>, emulated<windows_in_l2>());
}
TEST_CASE("what a convolution by VNNI cannot take is refused") {
    conv2d_shape grouped = small;
    grouped.groups = 2;
    CHECK_THROWS_AS(vnni_conv2d<true>(grouped, 16), std::invalid_argument);
    CHECK_THROWS_AS(vnni_conv2d<true>(small, 24), std::invalid_argument);
    // Windows of another core take other steps.
    CHECK(make_plan(tiled_conv2d(vnni_conv2d<true>(small, 16), {}, by_two)).refusal.kind == verdict_kind::intrinsic_mismatch);
}
