#pragma once
#include <span>
#include <tilewright/import/microsoft_floats.hpp>
#include <tilewright/import/microsoft_quantised.hpp>
#include <tilewright/import/walk.hpp>

namespace tilewright::imported {

/// Whose operators those are that ONNX Runtime has and ONNX does not.
inline constexpr char microsoft_domain[] = "com.microsoft";

/// The operators of that domain that are imported, by name.
inline std::span<operator_entry const> microsoft_operators() {
    namespace microsoft = detail::microsoft;
    static constexpr operator_entry all[] = {
        {"BiasGelu", microsoft::gelu_of_sum, microsoft_domain},
        {"DequantizeLinear", detail::dequantise, microsoft_domain},
        {"DynamicQuantizeMatMul", microsoft::product_of_range, microsoft_domain},
        {"FastGelu", microsoft::gelu_fast, microsoft_domain},
        {"FusedConv", microsoft::convolve_activated, microsoft_domain},
        {"FusedGemm", microsoft::general_product_activated, microsoft_domain},
        {"FusedMatMul", microsoft::product_of_stacks, microsoft_domain},
        {"Gelu", microsoft::gelu_plain, microsoft_domain},
        {"MatMulIntegerToFloat", microsoft::product_to_reals, microsoft_domain},
        {"QGemm", microsoft::general_product_of_quantised, microsoft_domain},
        {"QLinearAdd", microsoft::two_quantised<operation::add>, microsoft_domain},
        {"QLinearAveragePool", microsoft::average_quantised, microsoft_domain},
        {"QLinearConcat", microsoft::concatenate_quantised, microsoft_domain},
        {"QLinearGlobalAveragePool", microsoft::average_all_quantised, microsoft_domain},
        {"QLinearLeakyRelu", microsoft::leak_quantised, microsoft_domain},
        {"QLinearMul", microsoft::two_quantised<operation::multiply>, microsoft_domain},
        {"QLinearSigmoid", microsoft::logistic_of_quantised, microsoft_domain},
        {"QLinearSoftmax", microsoft::softmax_quantised, microsoft_domain},
        {"QLinearWhere", microsoft::where_quantised, microsoft_domain},
        {"QuantizeLinear", detail::quantise, microsoft_domain},
        {"QuickGelu", microsoft::gelu_quick, microsoft_domain},
        {"SkipLayerNormalization", microsoft::normalise_skipped, microsoft_domain},
        {"SkipSimplifiedLayerNormalization", microsoft::normalise_skipped_by_root, microsoft_domain},
    };
    return all;
}

}  // namespace tilewright::imported
