#pragma once
#include <tilewright/import/quantised_functions.hpp>
#include <tilewright/import/quantised_movement.hpp>
#include <tilewright/import/quantised_products.hpp>
#include <tilewright/import/quantised_reductions.hpp>
#include <tilewright/import/recurrent.hpp>
#include <tilewright/import/walk.hpp>

namespace tilewright::imported {

/// The operators of TensorFlow Lite that are imported, by name.
inline std::span<operator_entry const> tflite_operators() {
    namespace tflite = detail::tflite;
    static constexpr operator_entry all[] = {
        {"ABS", tflite::magnitude_of},
        {"ADD", tflite::add_or_subtract<operation::add>},
        {"ARG_MAX", tflite::position_of_largest},
        {"AVERAGE_POOL_2D", tflite::pool<true>},
        {"BATCH_MATMUL", tflite::multiply_matrices},
        {"CEIL", tflite::function_of_floats<detail::ceiling>},
        {"CONCATENATION", tflite::concatenate},
        {"CONV_2D", tflite::convolve},
        {"COS", tflite::function_of_floats<detail::circular_of<detail::circular::cosine>>},
        {"DEPTHWISE_CONV_2D", tflite::convolve_channels},
        {"DEPTH_TO_SPACE", tflite::spread_blocks},
        {"DEQUANTIZE", tflite::dequantise},
        {"DIV", tflite::divide},
        {"ELU", tflite::function_of_floats<tflite::exponential_below_0>},
        {"EQUAL", tflite::compare<operation::equal>},
        {"EXP", tflite::power_of_e_of},
        {"EXPAND_DIMS", tflite::expand_dimensions},
        {"FLOOR", tflite::function_of_floats<detail::floor_of>},
        {"FLOOR_DIV", tflite::divide_to_whole},
        {"FULLY_CONNECTED", tflite::connect_fully},
        {"GATHER", tflite::gather},
        {"GREATER", tflite::compare<operation::less, true>},
        {"GREATER_EQUAL", tflite::compare<operation::less_equal, true>},
        {"HARD_SWISH", tflite::swish_hard},
        {"LEAKY_RELU", tflite::leak},
        {"LESS", tflite::compare<operation::less>},
        {"LESS_EQUAL", tflite::compare<operation::less_equal>},
        {"LOG", tflite::logarithm_of},
        {"LOGICAL_AND", tflite::combine_truths<operation::logical_and>},
        {"LOGICAL_NOT", tflite::negate_truth},
        {"LOGICAL_OR", tflite::combine_truths<operation::logical_or>},
        {"LOGISTIC", tflite::logistic_function},
        {"MAXIMUM", tflite::larger_or_smaller<true>},
        {"MAX_POOL_2D", tflite::pool<false>},
        {"MEAN", tflite::mean},
        {"MINIMUM", tflite::larger_or_smaller<false>},
        {"MUL", tflite::multiply},
        {"NEG", tflite::function_of_floats<detail::negated>},
        {"NOT_EQUAL", tflite::compare<operation::not_equal>},
        {"PACK", tflite::pack},
        {"PAD", tflite::pad},
        {"PADV2", tflite::pad},
        {"POW", tflite::raise},
        {"PRELU", tflite::leak_by_factors},
        {"QUANTIZE", tflite::quantise},
        {"REDUCE_MAX", tflite::reduce_to<operation::reduce_maximum>},
        {"REDUCE_MIN", tflite::reduce_to<operation::reduce_minimum>},
        {"RELU", tflite::rectify_all},
        {"RELU6", tflite::rectify_to_six},
        {"RELU_N1_TO_1", tflite::rectify_to_one},
        {"RESHAPE", tflite::reshape},
        {"RESIZE_BILINEAR", tflite::resize_bilinearly},
        {"RESIZE_NEAREST_NEIGHBOR", tflite::resize_to_nearest},
        {"ROUND", tflite::function_of_floats<detail::nearest_even>},
        {"RSQRT", tflite::function_of_floats<tflite::reciprocal_root>},
        {"SELECT", tflite::choose_elements<true>},
        {"SELECT_V2", tflite::choose_elements<false>},
        {"SIN", tflite::function_of_floats<detail::circular_of<detail::circular::sine>>},
        {"SLICE", tflite::slice},
        {"SOFTMAX", tflite::softmax},
        {"SPACE_TO_DEPTH", tflite::gather_blocks},
        {"SPLIT", tflite::split},
        {"SQRT", tflite::function_of_floats<detail::root_of>},
        {"SQUARE", tflite::function_of_floats<detail::square_of>},
        {"SQUARED_DIFFERENCE", tflite::square_difference},
        {"SQUEEZE", tflite::squeeze},
        {"STRIDED_SLICE", tflite::slice_by_strides},
        {"SUB", tflite::add_or_subtract<operation::subtract>},
        {"SVDF", tflite::filter_over_time},
        {"TANH", tflite::tangent_function},
        {"TRANSPOSE", tflite::transpose},
        {"TRANSPOSE_CONV", tflite::convolve_transposed},
        {"UNIDIRECTIONAL_SEQUENCE_LSTM", tflite::run_long_short_term},
        {"UNPACK", tflite::unpack},
    };
    return all;
}

}  // namespace tilewright::imported
