#pragma once
#include <span>
#include <tilewright/reference/microsoft_floats.hpp>
#include <tilewright/reference/microsoft_quantised.hpp>

namespace tilewright::reference {

namespace of_microsoft {
inline constexpr operator_entry table[] = {
    {"BiasGelu", entry_of<of_sum<gelu_by_integral>>},
    {"DequantizeLinear", entry_of<dequantize_linear>},
    {"DynamicQuantizeMatMul", entry_of<dynamic_quantize_matmul>},
    {"FastGelu", entry_of<of_sum<gelu_by_tangent>>},
    {"FusedConv", entry_of<fused_conv>},
    {"FusedGemm", entry_of<fused_gemm>},
    {"FusedMatMul", entry_of<fused_matmul>},
    {"Gelu", entry_of<of_sum<gelu_by_integral>>},
    {"MatMulIntegerToFloat", entry_of<matmul_integer_to_float>},
    {"QGemm", entry_of<q_gemm>},
    {"QLinearAdd", entry_of<qlinear_add>},
    {"QLinearAveragePool", entry_of<pool_of_quantised<average_pool>>},
    {"QLinearConcat", entry_of<qlinear_concat>},
    {"QLinearGlobalAveragePool", entry_of<pool_of_quantised<global_average_pool>>},
    {"QLinearLeakyRelu", entry_of<qlinear_leaky_relu>},
    {"QLinearMul", entry_of<qlinear_mul>},
    {"QLinearSigmoid", entry_of<qlinear_sigmoid>},
    {"QLinearSoftmax", entry_of<qlinear_softmax>},
    {"QLinearWhere", entry_of<qlinear_where>},
    {"QuantizeLinear", entry_of<quantize_linear>},
    {"QuickGelu", entry_of<quick_gelu>},
    {"SkipLayerNormalization", entry_of<skip_layer_normalization>},
    {"SkipSimplifiedLayerNormalization", entry_of<skip_simplified_layer_normalization>},
};
}  // namespace of_microsoft

/// What ONNX Runtime's own operators mean, sorted by name: those of domain com.microsoft.
///
/// @see https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
inline std::span<operator_entry const> microsoft_operators() { return of_microsoft::table; }

}  // namespace tilewright::reference
