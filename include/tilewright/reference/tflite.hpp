#pragma once
#include <span>
#include <tilewright/reference/elements.hpp>
#include <tilewright/reference/tflite_elementwise.hpp>
#include <tilewright/reference/tflite_functions.hpp>
#include <tilewright/reference/tflite_movement.hpp>
#include <tilewright/reference/tflite_node.hpp>
#include <tilewright/reference/tflite_products.hpp>
#include <tilewright/reference/tflite_recurrent.hpp>
#include <tilewright/reference/tflite_resize.hpp>
#include <tilewright/reference/tflite_softmax.hpp>
#include <tilewright/reference/tflite_windows.hpp>

// The operators of TensorFlow Lite. The rules are those of its reference kernels, with two roundings per multiplication; where its kernels
// differ among themselves, the operator's header says which are meant.
namespace tilewright::reference {

/// The operators that have a reference, sorted by name. Integers are exact; sums of floats are made in float64 and rounded at the end.
///
/// Each throws not_covered for a type or a setting that it does not know, and where an int32 of the kernels would wrap.
inline std::span<operator_entry const> tflite_operators() {
    using tflite::entry;
    static constexpr operator_entry table[] = {
        {"ABS", entry<tflite::abs>},
        {"ADD", entry<tflite::add>},
        {"ARG_MAX", entry<tflite::arg_max>},
        {"AVERAGE_POOL_2D", entry<tflite::average_pool_2d>},
        {"BATCH_MATMUL", entry<tflite::batch_matmul>},
        {"CEIL", entry<tflite::ceil>},
        {"CONCATENATION", entry<tflite::concatenation>},
        {"CONV_2D", entry<tflite::conv_2d>},
        {"COS", entry<tflite::cos>},
        {"DEPTHWISE_CONV_2D", entry<tflite::depthwise_conv_2d>},
        {"DEPTH_TO_SPACE", entry<tflite::depth_to_space>},
        {"DEQUANTIZE", entry<tflite::dequantize>},
        {"DIV", entry<tflite::div>},
        {"ELU", entry<tflite::elu>},
        {"EQUAL", entry<tflite::equal>},
        {"EXP", entry<tflite::exp>},
        {"EXPAND_DIMS", entry<tflite::expand_dims>},
        {"FLOOR", entry<tflite::floor>},
        {"FLOOR_DIV", entry<tflite::floor_div>},
        {"FULLY_CONNECTED", entry<tflite::fully_connected>},
        {"GATHER", entry<tflite::gather>},
        {"GREATER", entry<tflite::greater>},
        {"GREATER_EQUAL", entry<tflite::greater_equal>},
        {"HARD_SWISH", entry<tflite::hard_swish>},
        {"LEAKY_RELU", entry<tflite::leaky_relu>},
        {"LESS", entry<tflite::less>},
        {"LESS_EQUAL", entry<tflite::less_equal>},
        {"LOG", entry<tflite::log>},
        {"LOGICAL_AND", entry<tflite::logical_and>},
        {"LOGICAL_NOT", entry<tflite::logical_not>},
        {"LOGICAL_OR", entry<tflite::logical_or>},
        {"LOGISTIC", entry<tflite::logistic>},
        {"MAXIMUM", entry<tflite::maximum>},
        {"MAX_POOL_2D", entry<tflite::max_pool_2d>},
        {"MEAN", entry<tflite::mean>},
        {"MINIMUM", entry<tflite::minimum>},
        {"MUL", entry<tflite::mul>},
        {"NEG", entry<tflite::neg>},
        {"NOT_EQUAL", entry<tflite::not_equal>},
        {"PACK", entry<tflite::pack>},
        {"PAD", entry<tflite::pad>},
        {"PADV2", entry<tflite::padv2>},
        {"POW", entry<tflite::pow>},
        {"PRELU", entry<tflite::prelu>},
        {"QUANTIZE", entry<tflite::quantize>},
        {"REDUCE_MAX", entry<tflite::reduce_max>},
        {"REDUCE_MIN", entry<tflite::reduce_min>},
        {"RELU", entry<tflite::relu>},
        {"RELU6", entry<tflite::relu6>},
        {"RELU_N1_TO_1", entry<tflite::relu_n1_to_1>},
        {"RESHAPE", entry<tflite::reshape>},
        {"RESIZE_BILINEAR", entry<tflite::resize_bilinear>},
        {"RESIZE_NEAREST_NEIGHBOR", entry<tflite::resize_nearest_neighbor>},
        {"ROUND", entry<tflite::round>},
        {"RSQRT", entry<tflite::rsqrt>},
        {"SELECT", entry<tflite::select>},
        {"SELECT_V2", entry<tflite::select_v2>},
        {"SIN", entry<tflite::sin>},
        {"SLICE", entry<tflite::slice>},
        {"SOFTMAX", entry<tflite::softmax>},
        {"SPACE_TO_DEPTH", entry<tflite::space_to_depth>},
        {"SPLIT", entry<tflite::split>},
        {"SQRT", entry<tflite::sqrt>},
        {"SQUARE", entry<tflite::square>},
        {"SQUARED_DIFFERENCE", entry<tflite::squared_difference>},
        {"SQUEEZE", entry<tflite::squeeze>},
        {"STRIDED_SLICE", entry<tflite::strided_slice>},
        {"SUB", entry<tflite::sub>},
        {"SVDF", entry<tflite::svdf>},
        {"TANH", entry<tflite::tanh>},
        {"TRANSPOSE", entry<tflite::transpose>},
        {"TRANSPOSE_CONV", entry<tflite::transpose_conv>},
        {"UNIDIRECTIONAL_SEQUENCE_LSTM", entry<tflite::unidirectional_sequence_lstm>},
        {"UNPACK", entry<tflite::unpack>},
    };
    return table;
}

}  // namespace tilewright::reference
