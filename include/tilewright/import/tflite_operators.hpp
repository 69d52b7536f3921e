#pragma once
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
        {"ADD", tflite::add_or_subtract<operation::add>},
        {"ARG_MAX", tflite::position_of_largest},
        {"AVERAGE_POOL_2D", tflite::pool<true>},
        {"BATCH_MATMUL", tflite::multiply_matrices},
        {"CONCATENATION", tflite::concatenate},
        {"CONV_2D", tflite::convolve},
        {"DEPTHWISE_CONV_2D", tflite::convolve_channels},
        {"DEPTH_TO_SPACE", tflite::spread_blocks},
        {"DEQUANTIZE", tflite::dequantise},
        {"EXPAND_DIMS", tflite::expand_dimensions},
        {"FULLY_CONNECTED", tflite::connect_fully},
        {"GATHER", tflite::gather},
        {"HARD_SWISH", tflite::swish_hard},
        {"LEAKY_RELU", tflite::leak},
        {"LOGISTIC", tflite::logistic_function},
        {"MAXIMUM", tflite::larger_or_smaller<true>},
        {"MAX_POOL_2D", tflite::pool<false>},
        {"MEAN", tflite::mean},
        {"MINIMUM", tflite::larger_or_smaller<false>},
        {"MUL", tflite::multiply},
        {"PACK", tflite::pack},
        {"PAD", tflite::pad},
        {"PADV2", tflite::pad},
        {"PRELU", tflite::leak_by_factors},
        {"QUANTIZE", tflite::quantise},
        {"REDUCE_MAX", tflite::reduce_to<operation::reduce_maximum>},
        {"REDUCE_MIN", tflite::reduce_to<operation::reduce_minimum>},
        {"RELU", tflite::rectify_all},
        {"RELU6", tflite::rectify_to_six},
        {"RESHAPE", tflite::reshape},
        {"RESIZE_BILINEAR", tflite::resize_bilinearly},
        {"RESIZE_NEAREST_NEIGHBOR", tflite::resize_to_nearest},
        {"SLICE", tflite::slice},
        {"SOFTMAX", tflite::softmax},
        {"SPACE_TO_DEPTH", tflite::gather_blocks},
        {"SPLIT", tflite::split},
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
