#include "aot/blocks.hpp"
#include "c_source/compiled.hpp"
#include "kernels/biased.hpp"
#include "kernels/features.hpp"
#include "kernels/in_place.hpp"
#include "kernels/scales.hpp"
#include "kernels/schedules.hpp"
#include "kernels/values.hpp"
#include "kernels/views.hpp"
#include "pooled.hpp"

// The C source of the kernels that other tests run: it pleases both compilers, and makes the bits of the object.

using namespace tilewright;

namespace {

constexpr axis e{"e", 4096};
constexpr tensor<float> x{"x"}, y{"y"};
constexpr tensor<std::int32_t> rounded{"rounded"};
constexpr auto truncated = rounded(e) =
    cast<std::int32_t>((x(e) * 1.7f + y(e)) * 67108864.0f) + cast<std::int32_t>(x(e) * y(e) - x(e) < y(e));
constexpr auto truncated_on_dsp = schedule(truncated, kernels::dsp).vectorize(e, 8);

// Integers of fewer than 32 bits, which C promotes, and what GCC says when they are converted back.
constexpr tensor<bool> flags{"flags"};
constexpr tensor<std::int8_t> bytes{"bytes"};
constexpr tensor<std::int16_t> shorts{"shorts"}, others{"others"}, shifted{"shifted"}, unlike{"unlike"};
constexpr tensor<std::uint16_t> naturals{"naturals"}, rests{"rests"};
constexpr tensor<std::uint32_t> words{"words"}, products{"products"};
constexpr auto shifted_choice = shifted(e) = select(flags(e), shorts(e), others(e)) >> (others(e) % 16);
constexpr auto rest_of_converted = rests(e) = cast<std::uint16_t>(bytes(e)) % naturals(e);
constexpr auto product_of_converted = products(e) = (words(e) + 3) * cast<std::uint32_t>(shorts(e));
constexpr auto compared_with_not = unlike(e) = cast<std::int16_t>(!flags(e) < true);
constexpr auto shifted_choice_on_dsp = schedule(shifted_choice, kernels::dsp), rest_on_dsp = schedule(rest_of_converted, kernels::dsp),
               product_on_dsp = schedule(product_of_converted, kernels::dsp), not_on_dsp = schedule(compared_with_not, kernels::dsp);

// Three elements in four blocks: nothing lies in the last one.
constexpr memory far{.name = "far"}, close{.name = "close", .capacity = 1_KiB, .banks = 4};
constexpr auto bring = transfer("bring", far, close).dimensions(3);
constexpr auto banked = machine("banked", far, close, bring);
constexpr axis few{"few", 3};
constexpr parameter<std::int32_t> idle{"idle"};
constexpr auto without_remainder = y(few) = x(few) + cast<float>(idle % 1);
constexpr auto idle_on_core = schedule(without_remainder, banked);
constexpr tensor<std::uint16_t> lengths{"lengths"};
constexpr tensor<std::int32_t> scaled_lengths{"scaled_lengths"};
constexpr auto rescaled = scaled_lengths(few) = rescale(cast<std::int32_t>(lengths(few)), 1518500250, 4);
constexpr auto rescaled_on_core = schedule(rescaled, banked);
constexpr auto rescaled_in_lanes = schedule(rescaled, banked).vectorize(few);
constexpr auto tripled = y(few) = x(few) * 3;
constexpr auto in_more_blocks =
    schedule(tripled, banked).cache_read(x, close).layout([](auto i) { return index_map(i % 4, separator, i / 4); });

template <schedule const& Schedule>
void check(std::vector<double> const& parameters = {}) {
    static constexpr plan_value const& plan = tilewright::plan<Schedule>;
    c_kernels::check_c_source(Schedule, plan, plan, emulated<(Schedule.where())>(), parameters);
}

}  // namespace

TEST_CASE("tile bodies of all kinds, vectorised, unrolled, fused", "[long]") {
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
TEST_CASE("several stages, one of them carried out by a transfer", "[long]") {
    check<kernels::blur_on_dsp>();
    check<kernels::blur_in_turn>();
    check<features::widened_by_dma>();
    check<features::transposed_by_dma>();
    check<features::constant_by_dma>();
    check<features::chain_on_core>();
}
TEST_CASE("loops that stay code on two blocks of a memory") { check<blocks::in_two_blocks>(); }
TEST_CASE("blocks in which nothing lies") { check<in_more_blocks>(); }
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
namespace {

/// A schedule on the accelerator that overwrites its sums, as C source that calls functions of the device.
template <schedule const& Schedule>
void check_on_device() {
    check<Schedule>();
    static constexpr plan_value const& plan = tilewright::plan<Schedule>;
    for (c_kernels::compiler const& with : {c_kernels::compilers[0], c_kernels::compilers[1],
                                            c_kernels::compiler{TILEWRIGHT_C_GCC, "-O1 -fsanitize=undefined -fno-sanitize-recover=all"}}) {
        c_kernels::c_kernel const kernel(Schedule, plan, {"kernel", halide::binding::device, {"device.h"}}, {in_place::device}, with);
        INFO(kernel.text().source);
        kernels::operand_data const data = kernels::random_operands(plan, 31);
        Halide::Buffer<> result = data.output.copy();
        CHECK(kernel.run(plan, data, result, {}) == 0);
        CHECK(kernels::same_bits(result, kernels::expected_of(plan, data)));
    }
}

}  // namespace

TEST_CASE("instructions that are given one address for what they read and what they overwrite") {
    check_on_device<in_place::layer_on_vta>();
}
TEST_CASE("rows that are overwritten leave as bytes by a transfer that narrows") { check_on_device<in_place::bytes_on_vta>(); }
TEST_CASE("scales that a call is given by value, or finds in registers of its channel") {
    // Each of the 12 x 3 calls sets what its channel has: the emulator looks at it.
    static_assert(plan<values::scaled_on_npu>.calls(values::scale) == 36);
    check<values::scaled_on_npu>();
    kernels::operand_data const data = kernels::random_operands(plan<values::scaled_on_npu>, 17);
    auto const numbers = [&](ir::label const& name) {
        std::size_t at = 0;
        for (ir::buffer const& b : halide::detail::passed_buffers(plan<values::scaled_on_npu>)) {
            if (b.tensor == name) break;
            at += b.written ? 0 : 1;
        }
        return static_cast<std::int32_t*>(data.inputs.at(at).data());
    };
    std::int32_t *const multipliers = numbers("multipliers"), *const shifts = numbers("shifts"), *const zeros = numbers("zeros");
    std::int32_t const* const sums = numbers("C");
    auto const halves_away = [](std::int64_t value, std::int64_t shift) {
        std::int64_t const size = value < 0 ? -value : value,
                           rounded = shift == 0 ? size : (size + (std::int64_t{1} << (shift - 1))) >> shift;
        return value < 0 ? -rounded : rounded;
    };
    for (int ch = 0; ch < 12; ++ch) multipliers[ch] = (1 << 30) + 90000001 * ch, shifts[ch] = ch % 7, zeros[ch] = 3 * ch - 20;
    emulator& on = emulated<values::npu>();
    on.reset();
    halide::jit_kernel planned(plan<values::scaled_on_npu>, &on);
    Halide::Buffer<> const result = kernels::result_of(planned, data, {});
    CHECK(on.error() == "");
    bool same = true;
    for (int ch = 0; ch < 12; ++ch)
        for (int at = 0; at < 24; ++at) {
            std::int64_t const product = std::int64_t{sums[ch * 24 + at]} * multipliers[ch];
            std::int64_t const high = (product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / (std::int64_t{1} << 31);
            std::int64_t const value = halves_away(high, shifts[ch]) + zeros[ch];
            same = same && static_cast<std::int8_t const*>(result.data())[ch * 24 + at] == (value < -128  ? -128
                                                                                            : value > 127 ? 127
                                                                                                          : value);
        }
    CHECK(same);
    // On the device, the function gets the bits of a float.
    auto const by_hand = [](kernels::operand_data const& floats) {
        for (int at = 0; at < 12 * 24; ++at) floats.out<float>()[at] = floats.in<float>(0)[at] * floats.in<float>(1)[at / 24];
    };
    check<values::floats_on_npu>();
    for (c_kernels::compiler const& with : c_kernels::compilers) {
        static constexpr plan_value const& plan = tilewright::plan<values::floats_on_npu>;
        c_kernels::c_kernel const kernel(values::floats_on_npu, plan, {"kernel", halide::binding::device, {"device.h"}}, {values::device},
                                         with);
        INFO(kernel.text().source);
        kernels::operand_data const floats = kernels::random_operands(plan, 31);
        Halide::Buffer<> made = floats.output.copy();
        CHECK(kernel.run(plan, floats, made, {}) == 0);
        by_hand(floats);
        CHECK(kernels::same_bits(made, floats.output));
    }
}
TEST_CASE("reductions that start from a value") {
    check<biased::row_on_array>();
    check<biased::tile_on_array>();
    check<biased::row_in_loops>();
}
TEST_CASE("parameters, negative indices, scalars, rank 6, every operation and type", "[long]") {
    check<features::scaled_on_core>({1.375, -7});
    check<idle_on_core>({5});  // nothing of the code depends on it
    check<features::neighbours_on_core>();
    check<features::sum_all_on_core>();
    check<features::rank_six_on_core>();
    check<features::wrapped_on_core>();
    check<features::divided_on_core>();
}
TEST_CASE("compilers do not warn of comparisons that types decide") {
    check<rescaled_on_core>();
    check<rescaled_in_lanes>();
}
TEST_CASE("compilers do not warn of integers that are promoted and converted back") {
    check<shifted_choice_on_dsp>();
    check<rest_on_dsp>();
    check<product_on_dsp>();
    check<not_on_dsp>();
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
TEST_CASE("a result that stays in a bank is said to be there") {
    plan_value const kept = make_plan(pooled::kept_in_second);
    REQUIRE(!kept.refusal);
    std::string const header = halide::c_source(pooled::kept_in_second, kept, {"kept", halide::binding::device, {}}).header;
    CHECK(header.find("/* The result stays in bank 1 of memory banked, 0 bytes from its base. */") != std::string::npos);
}
TEST_CASE("the header says of each tensor how much is used, and to which element its pointer points") {
    static constexpr memory dram{.name = "dram"};
    static constexpr auto host = machine("host", dram);
    static constexpr axis i{"i", 3}, j{"j", 4};
    static constexpr tensor<std::int32_t> in{"in"}, out{"out"};
    static constexpr auto around = out(i, j) = in(i - 1, j + 2) + in(i + 1, j + 4);
    static constexpr auto around_on_host = schedule(around, host);
    std::string const header = halide::c_source(around_on_host, plan<around_on_host>, {"around", halide::binding::device, {}}).header;
    INFO(header);
    CHECK(header.find(" *   in: 5 x 6 elements, the last dimension without gaps; points to in[-1, 2]\n") != std::string::npos);
    CHECK(header.find(" *   out: 3 x 4 elements, the last dimension without gaps, written\n") != std::string::npos);
}
