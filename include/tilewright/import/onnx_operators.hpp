#pragma once
#include <tilewright/import/elementwise.hpp>
#include <tilewright/import/movement.hpp>
#include <tilewright/import/products.hpp>
#include <tilewright/import/reductions.hpp>
#include <tilewright/import/walk.hpp>
#include <tilewright/import/windows.hpp>

namespace tilewright::imported {

/// The operators of ONNX that are imported, by name.
inline std::span<operator_entry const> onnx_operators() {
    using namespace detail;
    using enum operation;
    static constexpr operator_entry all[] = {
        {"Abs", unary<magnitude>},
        {"Add", two<add>},
        {"And", logic<logical_and>},
        {"AveragePool", pool<true, false>},
        {"BatchNormalization", normalise_batch},
        {"Cast", convert_to},
        {"Ceil", unary<ceiling>},
        {"Celu", celu},
        {"Clip", clip},
        {"Concat", concatenate},
        {"Constant", detail::constant},
        {"Conv", convolve},
        {"ConvInteger", convolve_integers},
        {"DepthToSpace", blocks<true>},
        {"DequantizeLinear", dequantise},
        {"Div", quotient},
        {"Elu", elu},
        {"Equal", comparison<equal>},
        {"Exp", unary<exponential>},
        {"Expand", expand},
        {"Flatten", flatten},
        {"Floor", unary<floor_of>},
        {"Gather", gather},
        {"Gemm", general_product},
        {"GlobalAveragePool", pool<true, true>},
        {"GlobalMaxPool", pool<false, true>},
        {"Greater", comparison<less, true>},
        {"GreaterOrEqual", comparison<less_equal, true>},
        {"HardSigmoid", hard_sigmoid},
        {"HardSwish", unary<hard_swish>},
        {"Identity", unary<same>},
        {"InstanceNormalization", normalise_instance},
        {"LayerNormalization", normalise_layer},
        {"LeakyRelu", leaky},
        {"Less", comparison<less>},
        {"LessOrEqual", comparison<less_equal>},
        {"MatMul", matrix_product},
        {"MatMulInteger", integer_product},
        {"Max", several<maximum>},
        {"MaxPool", pool<false, false>},
        {"Mean", several<add, true>},
        {"Min", several<minimum>},
        {"Mul", two<multiply>},
        {"Neg", unary<negated>},
        {"Not", unary<not_of>},
        {"Or", logic<logical_or>},
        {"PRelu", parametric},
        {"Pad", pad},
        {"QuantizeLinear", quantise},
        {"Reciprocal", unary<reciprocal>},
        {"ReduceL1", reduction<reduce_sum, magnitude, false, same>},
        {"ReduceL2", reduction<reduce_sum, square_of, false, root_of>},
        {"ReduceMax", reduction<reduce_maximum, same, false, same>},
        {"ReduceMean", reduction<reduce_sum, same, true, same>},
        {"ReduceMin", reduction<reduce_minimum, same, false, same>},
        {"ReduceSum", reduction<reduce_sum, same, false, same>},
        {"ReduceSumSquare", reduction<reduce_sum, square_of, false, same>},
        {"Relu", unary<relu_of>},
        {"Reshape", reshape},
        {"Round", unary<nearest_even>},
        {"Selu", selu},
        {"Shape", shape_of},
        {"Sigmoid", unary<logistic>},
        {"Sign", unary<sign_of>},
        {"Size", size_of},
        {"Slice", slice},
        {"Softmax", softmax},
        {"Softsign", unary<softsign>},
        {"SpaceToDepth", blocks<false>},
        {"Split", split},
        {"Sqrt", unary<root_of>},
        {"Squeeze", squeeze},
        {"Sub", two<subtract>},
        {"Sum", several<add>},
        {"Tanh", unary<hyperbolic_tangent>},
        {"ThresholdedRelu", thresholded},
        {"Tile", tile},
        {"Transpose", transpose},
        {"Unsqueeze", unsqueeze},
        {"Where", where},
        {"Xor", logic<not_equal>},
    };
    return all;
}

}  // namespace tilewright::imported
