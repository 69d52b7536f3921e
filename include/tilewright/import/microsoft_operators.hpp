#pragma once
#include <span>
#include <tilewright/import/microsoft_floats.hpp>
#include <tilewright/import/microsoft_quantised.hpp>
#include <tilewright/import/walk.hpp>

namespace tilewright::imported {

/// The operators of that domain that are imported, by name.
inline std::span<operator_entry const> microsoft_operators() {
    namespace microsoft = detail::microsoft;
    static constexpr operator_entry all[] = {
        {"BiasGelu", microsoft::gelu_of_sum, 1, "", microsoft_domain},
        {"DequantizeLinear", detail::dequantise, 1, "axis", microsoft_domain},
        {"DynamicQuantizeMatMul", microsoft::product_of_range, 1, "", microsoft_domain},
        {"FastGelu", microsoft::gelu_fast, 1, "", microsoft_domain},
        {"FusedConv", microsoft::convolve_activated, 1, "activation activation_params auto_pad dilations group kernel_shape pads strides",
         microsoft_domain},
        {"FusedGemm", microsoft::general_product_activated, 1,
         "activation activation_alpha activation_beta activation_gamma alpha beta transA transB", microsoft_domain},
        {"FusedMatMul", microsoft::product_of_stacks, 1, "alpha transA transB transBatchA transBatchB", microsoft_domain},
        {"Gelu", microsoft::gelu_plain, 1, "", microsoft_domain},
        {"MatMulIntegerToFloat", microsoft::product_to_reals, 1, "", microsoft_domain},
        {"QGemm", microsoft::general_product_of_quantised, 1, "alpha transA transB", microsoft_domain},
        {"QLinearAdd", microsoft::two_quantised<operation::add>, 1, "", microsoft_domain},
        {"QLinearAveragePool", microsoft::average_quantised, 1,
         "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides", microsoft_domain},
        {"QLinearConcat", microsoft::concatenate_quantised, 1, "axis", microsoft_domain},
        {"QLinearGlobalAveragePool", microsoft::average_all_quantised, 1, "channels_last", microsoft_domain},
        {"QLinearLeakyRelu", microsoft::leak_quantised, 1, "alpha", microsoft_domain},
        {"QLinearMul", microsoft::two_quantised<operation::multiply>, 1, "", microsoft_domain},
        {"QLinearSigmoid", microsoft::logistic_of_quantised, 1, "", microsoft_domain},
        {"QLinearSoftmax", microsoft::softmax_quantised, 1, "axis opset", microsoft_domain},
        {"QLinearWhere", microsoft::where_quantised, 1, "", microsoft_domain},
        {"QuantizeLinear", detail::quantise, 1, "axis", microsoft_domain},
        {"QuickGelu", microsoft::gelu_quick, 1, "alpha", microsoft_domain},
        {"SkipLayerNormalization", microsoft::normalise_skipped, 1, "epsilon", microsoft_domain},
        {"SkipSimplifiedLayerNormalization", microsoft::normalise_skipped_by_root, 1, "epsilon", microsoft_domain},
    };
    return all;
}

}  // namespace tilewright::imported
