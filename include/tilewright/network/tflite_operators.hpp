#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <tilewright/network/tflite_operator_names.hpp>

// Where the options of the operators of TensorFlow Lite that are imported stand in their tables.
namespace tilewright::network::detail {

/// What a field of a table of options holds.
enum class tflite_option_kind {
    padding,     // SAME or VALID
    activation,  // the function that is applied to the result
    format,      // of weights: only the default is read
    type,        // of elements, by number; 0 says nothing
    count,       // an integer of at least 1
    integer,
    truth,
    real,
    integers,
};

struct tflite_option {
    std::string_view name;
    int field = 0;  ///< number in the table
    tflite_option_kind kind;
    int absent = 0;  ///< what the format takes where the field is not written
};

/// The options of one operator.
struct tflite_operator {
    int code = 0;
    int table = 0;  ///< number of its table in the union of options; 0: it has none
    std::span<tflite_option const> options;
};

namespace tflite_options {

using kind = tflite_option_kind;
inline constexpr tflite_option conv_2d[] = {
    {"padding", 0, kind::padding},
    {"stride_w", 1, kind::count},
    {"stride_h", 2, kind::count},
    {"fused_activation_function", 3, kind::activation},
    {"dilation_w_factor", 4, kind::count, 1},
    {"dilation_h_factor", 5, kind::count, 1},
    {"quantized_bias_type", 6, kind::type},
};
inline constexpr tflite_option depthwise_conv_2d[] = {
    {"padding", 0, kind::padding},
    {"stride_w", 1, kind::count},
    {"stride_h", 2, kind::count},
    {"depth_multiplier", 3, kind::integer},
    {"fused_activation_function", 4, kind::activation},
    {"dilation_w_factor", 5, kind::count, 1},
    {"dilation_h_factor", 6, kind::count, 1},
};
inline constexpr tflite_option transpose_conv[] = {
    {"padding", 0, kind::padding},          {"stride_w", 1, kind::count},
    {"stride_h", 2, kind::count},           {"fused_activation_function", 3, kind::activation},
    {"quantized_bias_type", 4, kind::type},
};
inline constexpr tflite_option pool_2d[] = {
    {"padding", 0, kind::padding},    {"stride_w", 1, kind::count},      {"stride_h", 2, kind::count},
    {"filter_width", 3, kind::count}, {"filter_height", 4, kind::count}, {"fused_activation_function", 5, kind::activation},
};
inline constexpr tflite_option fully_connected[] = {
    {"fused_activation_function", 0, kind::activation}, {"weights_format", 1, kind::format},    {"keep_num_dims", 2, kind::truth},
    {"asymmetric_quantize_inputs", 3, kind::truth},     {"quantized_bias_type", 4, kind::type},
};
inline constexpr tflite_option sum[] = {
    {"fused_activation_function", 0, kind::activation},
    {"pot_scale_int16", 1, kind::truth, 1},
};
inline constexpr tflite_option product[] = {{"fused_activation_function", 0, kind::activation}};
inline constexpr tflite_option reducer[] = {{"keep_dims", 0, kind::truth}};
inline constexpr tflite_option batch_matmul[] = {
    {"adj_x", 0, kind::truth}, {"adj_y", 1, kind::truth}, {"asymmetric_quantize_inputs", 2, kind::truth}};
inline constexpr tflite_option arg_max[] = {{"output_type", 0, kind::type}};
inline constexpr tflite_option blocks[] = {{"block_size", 0, kind::count}};
inline constexpr tflite_option reshape[] = {{"new_shape", 0, kind::integers}};
inline constexpr tflite_option concatenation[] = {
    {"axis", 0, kind::integer},
    {"fused_activation_function", 1, kind::activation},
};
inline constexpr tflite_option split[] = {{"num_splits", 0, kind::count}};
inline constexpr tflite_option strided_slice[] = {
    {"begin_mask", 0, kind::integer},    {"end_mask", 1, kind::integer},         {"ellipsis_mask", 2, kind::integer},
    {"new_axis_mask", 3, kind::integer}, {"shrink_axis_mask", 4, kind::integer}, {"offset", 5, kind::truth},
};
// Fields 0 and 1 of the bilinear table are the extents of an earlier version, which a tensor gives today.
inline constexpr tflite_option resize_bilinear[] = {
    {"align_corners", 2, kind::truth},
    {"half_pixel_centers", 3, kind::truth},
};
inline constexpr tflite_option resize_nearest_neighbor[] = {
    {"align_corners", 0, kind::truth},
    {"half_pixel_centers", 1, kind::truth},
};
inline constexpr tflite_option gather[] = {{"axis", 0, kind::integer}, {"batch_dims", 1, kind::integer}};
inline constexpr tflite_option leaky_relu[] = {{"alpha", 0, kind::real}};
inline constexpr tflite_option pack[] = {{"values_count", 0, kind::integer}, {"axis", 1, kind::integer}};
inline constexpr tflite_option squeeze[] = {{"squeeze_dims", 0, kind::integers}};
inline constexpr tflite_option unpack[] = {{"num", 0, kind::integer}, {"axis", 1, kind::integer}};
inline constexpr tflite_option softmax[] = {{"beta", 0, kind::real}};
inline constexpr tflite_option svdf[] = {
    {"rank", 0, kind::count},
    {"fused_activation_function", 1, kind::activation},
    {"asymmetric_quantize_inputs", 2, kind::truth},
};
inline constexpr tflite_option unidirectional_sequence_lstm[] = {
    {"fused_activation_function", 0, kind::activation},
    {"cell_clip", 1, kind::real},
    {"proj_clip", 2, kind::real},
    {"time_major", 3, kind::truth},
    {"asymmetric_quantize_inputs", 4, kind::truth},
    {"diagonal_recurrent_tensors", 5, kind::truth},
};

}  // namespace tflite_options

inline constexpr tflite_operator tflite_operators[] = {
    {0, 11, tflite_options::sum},                            // ADD
    {1, 5, tflite_options::pool_2d},                         // AVERAGE_POOL_2D
    {2, 10, tflite_options::concatenation},                  // CONCATENATION
    {3, 1, tflite_options::conv_2d},                         // CONV_2D
    {4, 2, tflite_options::depthwise_conv_2d},               // DEPTHWISE_CONV_2D
    {5, 94, tflite_options::blocks},                         // DEPTH_TO_SPACE
    {6, 38, {}},                                             // DEQUANTIZE
    {8, 0, {}},                                              // FLOOR
    {9, 8, tflite_options::fully_connected},                 // FULLY_CONNECTED
    {14, 0, {}},                                             // LOGISTIC
    {17, 5, tflite_options::pool_2d},                        // MAX_POOL_2D
    {18, 21, tflite_options::product},                       // MUL
    {19, 0, {}},                                             // RELU
    {20, 0, {}},                                             // RELU_N1_TO_1
    {21, 0, {}},                                             // RELU6
    {22, 17, tflite_options::reshape},                       // RESHAPE
    {23, 15, tflite_options::resize_bilinear},               // RESIZE_BILINEAR
    {25, 9, tflite_options::softmax},                        // SOFTMAX
    {26, 19, tflite_options::blocks},                        // SPACE_TO_DEPTH
    {27, 6, tflite_options::svdf},                           // SVDF
    {28, 0, {}},                                             // TANH
    {34, 22, {}},                                            // PAD
    {36, 23, tflite_options::gather},                        // GATHER
    {39, 26, {}},                                            // TRANSPOSE
    {40, 27, tflite_options::reducer},                       // MEAN
    {41, 28, tflite_options::sum},                           // SUB
    {42, 29, tflite_options::product},                       // DIV
    {43, 30, tflite_options::squeeze},                       // SQUEEZE
    {44, 71, tflite_options::unidirectional_sequence_lstm},  // UNIDIRECTIONAL_SEQUENCE_LSTM
    {45, 32, tflite_options::strided_slice},                 // STRIDED_SLICE
    {47, 33, {}},                                            // EXP
    {49, 35, tflite_options::split},                         // SPLIT
    {54, 0, {}},                                             // PRELU
    {55, 39, {}},                                            // MAXIMUM
    {56, 40, tflite_options::arg_max},                       // ARG_MAX
    {57, 39, {}},                                            // MINIMUM
    {58, 41, {}},                                            // LESS
    {59, 42, {}},                                            // NEG
    {60, 43, {}},                                            // PADV2
    {61, 44, {}},                                            // GREATER
    {62, 45, {}},                                            // GREATER_EQUAL
    {63, 46, {}},                                            // LESS_EQUAL
    {64, 47, {}},                                            // SELECT
    {65, 48, {}},                                            // SLICE
    {66, 0, {}},                                             // SIN
    {67, 49, tflite_options::transpose_conv},                // TRANSPOSE_CONV
    {70, 52, {}},                                            // EXPAND_DIMS
    {71, 53, {}},                                            // EQUAL
    {72, 54, {}},                                            // NOT_EQUAL
    {73, 0, {}},                                             // LOG
    {75, 0, {}},                                             // SQRT
    {76, 0, {}},                                             // RSQRT
    {78, 56, {}},                                            // POW
    {82, 27, tflite_options::reducer},                       // REDUCE_MAX
    {83, 59, tflite_options::pack},                          // PACK
    {84, 60, {}},                                            // LOGICAL_OR
    {86, 62, {}},                                            // LOGICAL_AND
    {87, 63, {}},                                            // LOGICAL_NOT
    {88, 64, tflite_options::unpack},                        // UNPACK
    {89, 27, tflite_options::reducer},                       // REDUCE_MIN
    {90, 65, {}},                                            // FLOOR_DIV
    {92, 66, {}},                                            // SQUARE
    {97, 74, tflite_options::resize_nearest_neighbor},       // RESIZE_NEAREST_NEIGHBOR
    {98, 75, tflite_options::leaky_relu},                    // LEAKY_RELU
    {99, 76, {}},                                            // SQUARED_DIFFERENCE
    {101, 78, {}},                                           // ABS
    {104, 0, {}},                                            // CEIL
    {108, 84, {}},                                           // COS
    {111, 0, {}},                                            // ELU
    {114, 89, {}},                                           // QUANTIZE
    {116, 0, {}},                                            // ROUND
    {117, 91, {}},                                           // HARD_SWISH
    {123, 98, {}},                                           // SELECT_V2
    {126, 101, tflite_options::batch_matmul},                // BATCH_MATMUL
};

/// The options of an operator, or null where they are not known.
constexpr tflite_operator const* find_tflite_operator(int code) {
    for (tflite_operator const& one : tflite_operators) {
        if (one.code == code) return &one;
    }
    return nullptr;
}

}  // namespace tilewright::network::detail
