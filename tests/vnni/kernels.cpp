#include <tilewright/kernels/vnni/conv2d.hpp>
#include <tilewright/kernels/vnni/gemm.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "vnni/forms.hpp"

// Products by VNNI give what the oracle says, with the C functions, in each form that this processor can run. The machines give it
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
constexpr gemm_shape whole{30, 70, 24}, ragged{17, 37, 27};
inline constexpr auto of_bytes = tiled_gemm(vnni_gemm_of<std::uint8_t, whole>, {16, 64, 16}, vnni::avx512_products);
inline constexpr auto of_signed_bytes = tiled_gemm(vnni_gemm_of<std::int8_t, ragged>, {8, 32, 16}, vnni::avx512_products);
constexpr window same{.extent = 9, .taps = 3, .before = 1, .after = 1};
constexpr conv2d_shape small{.channels = 6, .filters = 32, .y = same, .x = same},
    of_fours{.channels = 8, .filters = 32, .y = same, .x = same};
inline constexpr vnni::window_core windows(vnni::avx512, steps_of(of_fours)), joined_windows(vnni::avx512, steps_of(small));
// clang takes no part of a constant as a template argument.
inline constexpr machine windows_in_l2 = windows.bordered, joined_windows_in_l2 = joined_windows.bordered;
inline constexpr auto convolved = tiled_conv2d(vnni_conv2d_of<of_fours, 16>, {.block_rows = 4, .block_columns = 5}, windows),
                      convolved_by_joined_taps =
                          tiled_conv2d(vnni_conv2d_of<small, 16>, {.block_rows = 4, .block_columns = 5}, joined_windows);

}  // namespace

TEST_CASE("products by VNNI are exact, at every rest of four, of rows and of columns") {
    check_product<std::uint8_t>({64, 64, 64}, {}, vnni::avx512_products);
    check_product<std::int8_t>({100, 50, 140}, {48, 32, 64}, vnni::avx512_products);
    check_product<std::int8_t>({1, 33, 61}, {48, 32, 32}, vnni::avx512_products);
    check_product<std::uint8_t>({29, 95, 78}, {12, 96, 40}, vnni::avx512_products);
    check_product<std::uint8_t>({31, 20, 43}, {16, 16, 16}, vnni::avx_products);
    check_product<std::int8_t>({7, 40, 36}, {16, 16, 16}, vnni::avx_products);
}
TEST_CASE("the machine of VNNI, emulated") {
    kernels::check_kernel(plan<of_bytes>, emulated<vnni::avx512_host>());
    kernels::check_kernel(plan<of_signed_bytes>, emulated<vnni::avx512_bordered>());
    kernels::check_kernel(plan<convolved>, emulated<windows_in_l2>());
    kernels::check_kernel(plan<convolved_by_joined_taps>, emulated<joined_windows_in_l2>());
}
TEST_CASE("taps are joined where that fills groups of four, and an image is copied where it has a border or a group is not full") {
    constexpr window three{.extent = 9, .taps = 3}, four{.extent = 9, .taps = 4}, apart{.extent = 9, .taps = 3, .dilation = 2},
        one{.extent = 9};
    auto const shape = [](std::int64_t channels, window const& x) { return conv2d_shape{.channels = channels, .filters = 16, .x = x}; };
    CHECK((joins_taps(shape(3, three)) && has_border(shape(3, three))));
    CHECK((joins_taps(shape(5, four)) && !has_border(shape(5, four))));
    CHECK((joins_taps(shape(5, same)) && has_border(shape(5, same))));
    CHECK((!joins_taps(shape(8, three)) && !has_border(shape(8, three))));
    CHECK((!joins_taps(shape(3, apart)) && has_border(shape(3, apart))));
    CHECK((!joins_taps(shape(3, one)) && has_border(shape(3, one))));
    // 7 taps of 3 channels are 6 groups, and would be 7. A line of the image has 3 bytes a pixel.
    constexpr window first{.extent = 224, .taps = 7, .stride = 2, .before = 3, .after = 3};
    constexpr conv2d_shape of{.channels = 3, .filters = 64, .y = first, .x = first};
    CHECK(vnni_conv2d_of<of>.weight_count() == 64 * 7 * 6 * 4);
    CHECK(vnni_tiles_for(of).tiles[1].block_rows == 1024 * 1024 / 16 / (230 * 3 * 2));
}
TEST_CASE("all filters stand beside each other, as long as half of the second cache holds their weights") {
    constexpr window three{.extent = 14, .taps = 3, .before = 1, .after = 1}, one{.extent = 14};
    auto const beside = [](std::int64_t channels, std::int64_t filters, window const& of) {
        return filters_beside({.channels = channels, .filters = filters, .y = of, .x = of});
    };
    CHECK(beside(16, 355, three) == 355);
    CHECK(vnni_conv2d<true>({.channels = 16, .filters = 355, .y = three, .x = three}).weight_count() == 355 * 9 * 16);
    // 3 rows of 3 taps of 5 channels are 3 rows of 4 groups, 48 bytes; a call takes 1,024 filters at most.
    CHECK(beside(5, 1024, three) == 1024);
    CHECK(beside(5, 1056, three) == 352);
    // Of 512 channels, a filter has 4,608 bytes: 113 fit.
    CHECK(beside(512, 113, three) == 113);
    CHECK(beside(512, 512, three) == 64);
    CHECK(beside(512, 288, three) == 96);
    CHECK(beside(512, 130, three) == 32);
    CHECK(beside(1024, 512, one) == 512);
    CHECK(beside(1024, 1024, one) == 512);
}
TEST_CASE("what a convolution by VNNI cannot take is refused") {
    conv2d_shape grouped = small;
    grouped.groups = 2;
    CHECK_THROWS_AS((vnni_conv2d<true, true>(grouped, 16)), std::invalid_argument);
    CHECK_THROWS_AS((vnni_conv2d<true, true>(small, 24)), std::invalid_argument);
    CHECK_THROWS_AS((vnni_conv2d<false, true>(small, 16)), std::invalid_argument);
    CHECK_THROWS_AS((vnni_conv2d<true, false>(small, 16)), std::invalid_argument);
    CHECK_THROWS_AS((vnni_conv2d<true, true>(of_fours, 16)), std::invalid_argument);
    CHECK_THROWS_AS(vnni::window_core(vnni::avx512, {.dilation_x = 2, .joined_channels = 3}), std::invalid_argument);
    // Windows of another core take other steps.
    auto const refused = [](auto const& problem, vnni::window_core const& on) {
        return make_plan(tiled_conv2d(problem, {}, on)).refusal.kind == verdict_kind::intrinsic_mismatch;
    };
    vnni::window_core const by_two(vnni::avx512, {.stride = 2}), of_five(vnni::avx512, {.joined_channels = 5});
    CHECK(refused(vnni_conv2d<true>(of_fours, 16), by_two));
    CHECK(refused(vnni_conv2d<true>(of_fours, 16), joined_windows));
    CHECK(refused(vnni_conv2d<true, true>(small, 16), windows));
    CHECK(refused(vnni_conv2d<true, true>(small, 16), of_five));
}
