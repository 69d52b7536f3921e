#pragma once
#include <tilewright/import/chip.hpp>
#include <tilewright/import/elements_by_instruction.hpp>
#include <tilewright/import/products_by_instruction.hpp>
#include <tilewright/import/rescaling.hpp>
#include <tilewright/runtime/processor.h>
#include <tilewright/targets/c_vectors.hpp>

namespace tilewright::targets::c_vectors {

/// What layers of TensorFlow Lite do with sums, as a function of `targets/c_vectors.h`.
inline constexpr auto finish_s8 = [] {
    constexpr axis i{"i", 4096}, j{"j", 256};
    constexpr tensor<std::int32_t> bias{"bias"}, multiplier{"multiplier"}, shift{"shift"}, low{"low"}, high{"high"}, zero{"zero"};
    constexpr tensor<std::int8_t> finished{"finished"};
    constexpr tensor<std::int32_t> c{"sums"};
    return intrinsic("finish_s8",
                     finished(i, j) = imported::rescaled_bytes(c(i, j), bias(j), multiplier(j), shift(j), low(0), high(0), zero(0)))
        .reads(c, arena)
        .reads(bias, weights)
        .reads(multiplier, weights)
        .reads(shift, weights)
        .reads(low, weights)
        .reads(high, weights)
        .reads(zero, weights)
        .writes(finished, arena)
        .up_to(i, j)
        .cycles(20, 2 * per(i) * per(j))
        .calls("c_vectors_finish_s8", argument::extent(i), argument::extent(j), argument::address(c), argument::stride(c, 0),
               argument::address(bias), argument::address(multiplier), argument::address(shift), argument::address(low),
               argument::address(high), argument::address(zero), argument::address(finished), argument::stride(finished, 0));
}();

/// What layers of ONNX do with sums of int8, whose scales are floats.
inline constexpr auto scale_s8 = [] {
    constexpr axis i{"i", 4096}, j{"j", 256};
    constexpr tensor<std::int32_t> bias{"bias"}, zero{"zero"};
    constexpr tensor<float> scale{"scale"}, low{"low"}, high{"high"};
    constexpr tensor<std::int8_t> finished{"finished"};
    constexpr tensor<std::int32_t> c{"sums"};
    return intrinsic("scale_s8", finished(i, j) = imported::scaled_bytes(c(i, j) + bias(j), scale(j), low(0), high(0), zero(0)))
        .reads(c, arena)
        .reads({bias, zero}, weights)
        .reads({scale, low, high}, weights)
        .writes(finished, arena)
        .up_to(i, j)
        .cycles(20, per(i) * per(j))
        .calls("c_vectors_scale_s8", argument::extent(i), argument::extent(j), argument::address(c), argument::stride(c, 0),
               argument::address(bias), argument::address(scale), argument::address(low), argument::address(high), argument::address(zero),
               argument::address(finished), argument::stride(finished, 0));
}();

/// ADD of TensorFlow Lite.
inline constexpr auto add_s8 = [] {
    constexpr axis e{"e", 65536};
    constexpr tensor<std::int8_t> left{"left"}, right{"right"}, total{"total"};
    constexpr tensor<std::int32_t> left_zero{"left_zero"}, left_by{"left_by"}, left_shift{"left_shift"}, right_zero{"right_zero"},
        right_by{"right_by"}, right_shift{"right_shift"}, multiplier{"multiplier"}, shift{"shift"}, low{"low"}, high{"high"}, zero{"zero"};
    using argument::address;
    return intrinsic("add_s8",
                     total(e) = imported::added_bytes(left(e), right(e), left_zero(0), left_by(0), left_shift(0), right_zero(0),
                                                      right_by(0), right_shift(0), multiplier(0), shift(0), low(0), high(0), zero(0)))
        .reads({left, right}, arena)
        .reads({left_zero, left_by, left_shift, right_zero, right_by, right_shift, multiplier, shift, low, high, zero}, weights)
        .writes(total, arena)
        .up_to(e)
        .cycles(20, 4 * per(e))
        .calls("c_vectors_add_s8", argument::extent(e), address(left), address(left_zero), address(left_by), address(left_shift),
               address(right), address(right_zero), address(right_by), address(right_shift), address(multiplier), address(shift),
               address(low), address(high), address(zero), address(total));
}();

inline constexpr auto bytes = with("bytes", mul_rows_s8, mac_rows_s8, mul_columns_s8, mac_columns_s8, pixels_s8, pixels_by_2_s8, points_s8,
                                   points_by_2_s8, single_s8, single_by_2_s8, window_s8, window_by_2_s8, finish_s8, scale_s8, add_s8);

}  // namespace tilewright::targets::c_vectors

namespace tilewright::imported {

/// This processor, as networks run on it without a chip of their own. Tensors between kernels lie in `arena`, constants in `weights`.
class processor {
  public:
    memory dram = targets::c_vectors::dram, arena = targets::c_vectors::arena, weights = targets::c_vectors::weights;
    memory element = targets::c_vectors::element;

  private:
    /// Two vectors of this processor, on which the tool runs. On another one, the C computes the same.
    std::int64_t floats_of_a_panel_ = tilewright_has("avx512_skylake") != 0 ? 32 : 16;
    agent alone_{"cpu", targets::c_vectors::loops}, cpu_{"cpu", targets::c_vectors::host}, floats_{"floats", targets::c_vectors::floats},
        bytes_{"bytes", targets::c_vectors::bytes};
    agent_memories uses_{.tensors = any_of(arena, dram), .inner = &arena, .element = &element};

    static std::vector<schedule_template> products(std::vector<char const*> const& instructions, finishes const& finish = {},
                                                   std::int64_t panel = 0) {
        constexpr std::int64_t next_to_the_core = 128 * 1024;  // bytes that its caches keep
        std::vector<schedule_template> made;
        for (char const* const one : instructions) made.push_back(products_by(one, finish, next_to_the_core, panel));
        return made;
    }
    chip named(char const* name) const { return chip(name).inputs_in(dram).outputs_in(dram).constants_in(weights).states_in(arena); }

  public:
    /// Every layer is plain loops.
    chip const loops = named("loops").with(alone_, {.inner = &arena, .element = &element}).loops(alone_);
    /// Sums of products are functions of `targets/c_vectors.h`.
    chip const as_chip =
        named("processor")
            .with(cpu_, uses_)
            .with(floats_, uses_)
            .with(bytes_, uses_)
            .channels_last()
            .c_include("tilewright/targets/c_vectors.h")
            .standard("products", floats_,
                      products({"pixels_f32", "pixels_by_2_f32", "points_f32", "points_by_2_f32", "single_f32", "single_by_2_f32",
                                "window_f32", "window_by_2_f32", "mac_rows_f32", "mac_columns_f32", "mac_pair_f32", "mac_turned_f32"},
                               {}, floats_of_a_panel_))
            .standard("products", bytes_,
                      products({"pixels_s8", "pixels_by_2_s8", "points_s8", "points_by_2_s8", "single_s8", "single_by_2_s8", "window_s8",
                                "window_by_2_s8", "mac_rows_s8", "mac_columns_s8"},
                               {"finish_s8", "scale_s8"}))
            .standard("elements", bytes_, elements_by("add_s8"))
            .loops(cpu_);

    processor() = default;
    processor(processor const&) = delete;
};

inline processor const& this_processor() {
    static processor const one;
    return one;
}
/// The same without functions for vectors: C of loops, for any compiler.
inline chip const& plain_loops = this_processor().loops;

}  // namespace tilewright::imported
