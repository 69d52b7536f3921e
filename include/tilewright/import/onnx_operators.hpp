#pragma once
#include <tilewright/import/arithmetic.hpp>
#include <tilewright/import/attention.hpp>
#include <tilewright/import/bitwise.hpp>
#include <tilewright/import/einsum.hpp>
#include <tilewright/import/joining.hpp>
#include <tilewright/import/normalisation.hpp>
#include <tilewright/import/patterns.hpp>
#include <tilewright/import/quantisation.hpp>
#include <tilewright/import/quantised_pairs.hpp>
#include <tilewright/import/ranking.hpp>
#include <tilewright/import/recurrence.hpp>
#include <tilewright/import/resampling.hpp>
#include <tilewright/import/transposed_convolution.hpp>
#include <tilewright/import/walk.hpp>

namespace tilewright::imported {

namespace detail {

// Before opset 7, shapes that differ were matched as attributes say.
inline constexpr char before_7[] = "axis<7 broadcast<7";
inline constexpr char of_window[] = "auto_pad dilations group kernel_shape pads strides";
inline constexpr char of_reduction[] = "axes<18 keepdims noop_with_empty_axes";

}  // namespace detail

/// The operators of ONNX that are imported, by name: from which opset on, and with which attributes. `LayerNormalization` and
/// `SimplifiedLayerNormalization` are ONNX Runtime's in any opset, and so is `ThresholdedRelu` before opset 10.
inline std::span<operator_entry const> onnx_operators() {
    using namespace detail;
    using enum operation;
    static constexpr operator_entry all[] = {
        {"Abs", unary<magnitude>, 1},
        {"Acos", arc_cosine, 7},
        {"Acosh", area_cosine, 9},
        {"Add", two<add>, 1, before_7},
        {"And", logic<logical_and>, 1, before_7},
        {"ArgMax", position<true>, 1, "axis keepdims select_last_index"},
        {"ArgMin", position<false>, 1, "axis keepdims select_last_index"},
        {"Asin", arc_sine, 7},
        {"Asinh", area_sine, 9},
        {"Atan", unary<arc_tangent>, 7},
        {"Atanh", area_tangent, 9},
        {"Attention", attend, 23,
         "is_causal kv_num_heads left_window_size=-1 q_num_heads qk_matmul_output_mode right_window_size=-1 scale softcap "
         "softmax_precision"},
        {"AveragePool", pool<true, false>, 1, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
        {"BatchNormalization", normalise_batch, 1, "epsilon is_test<7 momentum spatial<9 training_mode"},
        {"BitShift", shift_bits, 11, "direction"},
        {"BitwiseAnd", combine_bits<bit_rule::both>, 18},
        {"BitwiseNot", invert_bits, 18},
        {"BitwiseOr", combine_bits<bit_rule::any>, 18},
        {"BitwiseXor", combine_bits<bit_rule::one>, 18},
        {"BlackmanWindow", blackman_window, 17, "output_datatype periodic"},
        {"Cast", convert_to, 6, "round_mode saturate to"},
        {"CastLike", convert_like, 15, "round_mode saturate"},
        {"Ceil", unary<ceiling>, 1},
        {"Celu", celu, 12, "alpha"},
        {"Clip", clip, 1, "max<11 min<11"},
        {"Concat", concatenate, 1, "axis"},
        {"Constant", detail::constant, 1, "value"},
        {"ConstantOfShape", constant_of_shape, 9, "value"},
        {"Conv", convolve, 1, of_window},
        {"ConvInteger", convolve_integers, 10, of_window},
        {"ConvTranspose", convolve_transposed, 1, "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
        {"Cos", unary<circular_of<circular::cosine>>, 7},
        {"Cosh", unary<hyperbolic<1>>, 9},
        {"CumSum", cumulate, 11, "exclusive reverse"},
        {"DepthToSpace", blocks<true>, 1, "blocksize mode"},
        {"DequantizeLinear", dequantise, 10, "axis block_size=0 output_dtype=0,1,10,16"},
        {"Div", quotient, 1, before_7},
        {"Dropout", drop_out, 1, "is_test<7 ratio<12 seed"},
        {"DynamicQuantizeLinear", quantise_dynamically, 11},
        {"Einsum", einsum, 12, "equation"},
        {"Elu", elu, 1, "alpha"},
        {"Equal", comparison<equal>, 1, before_7},
        {"Erf", unary<error_function>, 9},
        {"Exp", unary<power_of_e>, 1},
        {"Expand", expand, 8},
        {"EyeLike", eye_like, 9, "dtype k"},
        {"Flatten", flatten, 1, "axis"},
        {"Floor", unary<floor_of>, 1},
        {"GRU", gated_recurrent_unit, 1,
         "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset output_sequence<7"},
        {"Gather", gather, 1, "axis"},
        {"GatherElements", gather_elements, 11, "axis"},
        {"GatherND", gather_several, 11, "batch_dims"},
        {"Gelu", gelu, 20, "approximate"},
        {"Gemm", general_product, 1, "alpha beta broadcast<7 transA transB"},
        {"GlobalAveragePool", pool<true, true>, 1},
        {"GlobalLpPool", pool_of_powers<true>, 2, "p"},
        {"GlobalMaxPool", pool<false, true>, 1},
        {"Greater", comparison<less, true>, 1, before_7},
        {"GreaterOrEqual", comparison<less_equal, true>, 12},
        {"GroupNormalization", normalise_groups, 18, "epsilon num_groups stash_type"},
        {"HammingWindow", hamming_window, 17, "output_datatype periodic"},
        {"HannWindow", hann_window, 17, "output_datatype periodic"},
        {"HardSigmoid", hard_sigmoid, 1, "alpha beta"},
        {"HardSwish", unary<hard_swish>, 14},
        {"Hardmax", hard_max, 1, "axis"},
        {"Identity", unary<same>, 1},
        {"If", choose_branch, 1},
        {"InstanceNormalization", normalise_instance, 1, "epsilon"},
        {"IsInf", is_infinite, 10, "detect_negative detect_positive"},
        {"IsNaN", unary<is_no_number>, 9},
        {"LRN", normalise_responses, 1, "alpha beta bias size"},
        {"LSTM", long_short_term_memory, 1,
         "activation_alpha activation_beta activations clip direction hidden_size input_forget layout output_sequence<7"},
        {"LayerNormalization", normalise_layer, 1, "axis epsilon stash_type"},
        {"LeakyRelu", leaky, 1, "alpha"},
        {"Less", comparison<less>, 1, before_7},
        {"LessOrEqual", comparison<less_equal>, 12},
        {"Log", unary<logarithm>, 1},
        {"LogSoftmax", log_softmax, 1, "axis"},
        {"LpNormalization", normalise_by_power, 1, "axis p"},
        {"LpPool", pool_of_powers<false>, 2, "auto_pad ceil_mode dilations kernel_shape p pads strides"},
        {"MatMul", matrix_product, 1},
        {"MatMulInteger", integer_product, 10},
        {"Max", several<maximum>, 1},
        {"MaxPool", pool<false, false>, 1, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
        {"Mean", several<add, true>, 1},
        {"MeanVarianceNormalization", normalise_mean_and_variance, 9, "axes"},
        {"Min", several<minimum>, 1},
        {"Mish", mish, 18},
        {"Mod", remainder, 10, "fmod"},
        {"Mul", two<multiply>, 1, before_7},
        {"Neg", unary<negated>, 1},
        {"NegativeLogLikelihoodLoss", negative_likelihood_loss, 12, "ignore_index reduction"},
        {"NonZero", positions_of_nonzero, 9},
        {"Not", unary<not_of>, 1},
        {"OneHot", one_hot, 9, "axis"},
        {"Or", logic<logical_or>, 1, before_7},
        {"PRelu", parametric, 1},
        {"Pad", pad, 1, "mode paddings<2 pads<11 value<11"},
        {"Pow", power, 1, before_7},
        {"QLinearConv", convolve_quantised, 10, of_window},
        {"QLinearMatMul", product_of_quantised, 10},
        {"QuantizeLinear", quantise, 10, "axis block_size=0 output_dtype precision=0,1 saturate"},
        {"RMSNormalization", normalise_by_root_mean_square, 23, "axis epsilon stash_type"},
        {"RNN", recurrent_network, 1, "activation_alpha activation_beta activations clip direction hidden_size layout output_sequence<7"},
        {"Range", range, 11, "stash_type"},
        {"Reciprocal", unary<reciprocal>, 1},
        {"ReduceL1", reduction<reduce_sum, magnitude, false, same>, 1, of_reduction},
        {"ReduceL2", reduction<reduce_sum, square_of, false, root_of>, 1, of_reduction},
        {"ReduceLogSum", reduction<reduce_sum, same, false, logarithm>, 1, of_reduction},
        {"ReduceLogSumExp", log_sum_of_powers, 1, of_reduction},
        {"ReduceMax", reduction<reduce_maximum, same, false, same>, 1, of_reduction},
        {"ReduceMean", reduction<reduce_sum, same, true, same>, 1, of_reduction},
        {"ReduceMin", reduction<reduce_minimum, same, false, same>, 1, of_reduction},
        {"ReduceProd", product_of_elements, 1, of_reduction},
        {"ReduceSum", reduction<reduce_sum, same, false, same>, 1, "axes<13 keepdims noop_with_empty_axes"},
        {"ReduceSumSquare", reduction<reduce_sum, square_of, false, same>, 1, of_reduction},
        {"Relu", unary<relu_of>, 1},
        {"Reshape", reshape, 1, "allowzero shape<5"},
        {"Resize", resize, 10,
         "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
         "nearest_mode"},
        {"ReverseSequence", reverse_sequences, 10, "batch_axis time_axis"},
        {"RotaryEmbedding", turn_rows, 23, "interleaved num_heads rotary_embedding_dim"},
        {"Round", unary<nearest_even>, 11},
        {"Scatter", scatter_elements, 9, "axis", {}, 10},
        {"ScatterElements", scatter_elements, 11, "axis reduction"},
        {"ScatterND", scatter_several, 11, "reduction"},
        {"Selu", selu, 1, "alpha gamma"},
        {"Shape", shape_of, 1, "end start"},
        {"Shrink", shrink, 9, "bias lambd"},
        {"Sigmoid", unary<logistic>, 1},
        {"Sign", unary<sign_of>, 9},
        {"SimplifiedLayerNormalization", normalise_by_root_mean_square, 1, "axis epsilon stash_type"},
        {"Sin", unary<circular_of<circular::sine>>, 7},
        {"Sinh", unary<hyperbolic<-1>>, 9},
        {"Size", size_of, 1},
        {"Slice", slice, 1, "axes<10 ends<10 starts<10"},
        {"Softmax", softmax, 1, "axis"},
        {"SoftmaxCrossEntropyLoss", cross_entropy_loss, 12, "ignore_index reduction"},
        {"Softplus", unary<soft_plus>, 1},
        {"Softsign", unary<softsign>, 1},
        {"SpaceToDepth", blocks<false>, 1, "blocksize"},
        {"Split", split, 1, "axis num_outputs split<13"},
        {"Sqrt", unary<root_of>, 1},
        {"Squeeze", squeeze, 1, "axes<13"},
        {"Sub", two<subtract>, 1, before_7},
        {"Sum", several<add>, 1},
        {"Swish", swish, 24, "alpha"},
        {"Tan", unary<circular_of<circular::tangent>>, 7},
        {"Tanh", unary<hyperbolic_tangent>, 1},
        {"ThresholdedRelu", thresholded, 1, "alpha"},
        {"Tile", tile, 6},
        {"TopK", top, 1, "axis k<10 largest sorted"},
        {"Transpose", transpose, 1, "perm"},
        {"Trilu", triangle, 14, "upper"},
        {"Unsqueeze", unsqueeze, 1, "axes<13"},
        {"Upsample", upsample, 7, "mode scales<9", {}, 9},
        {"Where", where, 9},
        {"Xor", logic<not_equal>, 1, before_7},
        {"QLinearAdd", add_quantised, 1, "relu", rewritten_domain},
        {"QLinearConv", convolve_quantised, 1, "auto_pad dilations group kernel_shape pads relu strides", rewritten_domain},
        {"QLinearMatMul", product_of_quantised, 1, "alpha beta relu transA transB", rewritten_domain},
    };
    return all;
}

}  // namespace tilewright::imported
