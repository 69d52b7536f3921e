#pragma once
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

// The operators of TensorFlow Lite by number, and where the options of those that are imported stand in their tables.
namespace tilewright::network::detail {

inline constexpr std::string_view tflite_operator_names[] = {
    "ADD",
    "AVERAGE_POOL_2D",
    "CONCATENATION",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "DEPTH_TO_SPACE",
    "DEQUANTIZE",
    "EMBEDDING_LOOKUP",
    "FLOOR",
    "FULLY_CONNECTED",
    "HASHTABLE_LOOKUP",
    "L2_NORMALIZATION",
    "L2_POOL_2D",
    "LOCAL_RESPONSE_NORMALIZATION",
    "LOGISTIC",
    "LSH_PROJECTION",
    "LSTM",
    "MAX_POOL_2D",
    "MUL",
    "RELU",
    "RELU_N1_TO_1",
    "RELU6",
    "RESHAPE",
    "RESIZE_BILINEAR",
    "RNN",
    "SOFTMAX",
    "SPACE_TO_DEPTH",
    "SVDF",
    "TANH",
    "CONCAT_EMBEDDINGS",
    "SKIP_GRAM",
    "CALL",
    "CUSTOM",
    "EMBEDDING_LOOKUP_SPARSE",
    "PAD",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
    "GATHER",
    "BATCH_TO_SPACE_ND",
    "SPACE_TO_BATCH_ND",
    "TRANSPOSE",
    "MEAN",
    "SUB",
    "DIV",
    "SQUEEZE",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "STRIDED_SLICE",
    "BIDIRECTIONAL_SEQUENCE_RNN",
    "EXP",
    "TOPK_V2",
    "SPLIT",
    "LOG_SOFTMAX",
    "DELEGATE",
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "CAST",
    "PRELU",
    "MAXIMUM",
    "ARG_MAX",
    "MINIMUM",
    "LESS",
    "NEG",
    "PADV2",
    "GREATER",
    "GREATER_EQUAL",
    "LESS_EQUAL",
    "SELECT",
    "SLICE",
    "SIN",
    "TRANSPOSE_CONV",
    "SPARSE_TO_DENSE",
    "TILE",
    "EXPAND_DIMS",
    "EQUAL",
    "NOT_EQUAL",
    "LOG",
    "SUM",
    "SQRT",
    "RSQRT",
    "SHAPE",
    "POW",
    "ARG_MIN",
    "FAKE_QUANT",
    "REDUCE_PROD",
    "REDUCE_MAX",
    "PACK",
    "LOGICAL_OR",
    "ONE_HOT",
    "LOGICAL_AND",
    "LOGICAL_NOT",
    "UNPACK",
    "REDUCE_MIN",
    "FLOOR_DIV",
    "REDUCE_ANY",
    "SQUARE",
    "ZEROS_LIKE",
    "FILL",
    "FLOOR_MOD",
    "RANGE",
    "RESIZE_NEAREST_NEIGHBOR",
    "LEAKY_RELU",
    "SQUARED_DIFFERENCE",
    "MIRROR_PAD",
    "ABS",
    "SPLIT_V",
    "UNIQUE",
    "CEIL",
    "REVERSE_V2",
    "ADD_N",
    "GATHER_ND",
    "COS",
    "WHERE",
    "RANK",
    "ELU",
    "REVERSE_SEQUENCE",
    "MATRIX_DIAG",
    "QUANTIZE",
    "MATRIX_SET_DIAG",
    "ROUND",
    "HARD_SWISH",
    "IF",
    "WHILE",
    "NON_MAX_SUPPRESSION_V4",
    "NON_MAX_SUPPRESSION_V5",
    "SCATTER_ND",
    "SELECT_V2",
    "DENSIFY",
    "SEGMENT_SUM",
    "BATCH_MATMUL",
    "PLACEHOLDER_FOR_GREATER_OP_CODES",
    "CUMSUM",
    "CALL_ONCE",
    "BROADCAST_TO",
    "RFFT2D",
    "CONV_3D",
    "IMAG",
    "REAL",
    "COMPLEX_ABS",
    "HASHTABLE",
    "HASHTABLE_FIND",
    "HASHTABLE_IMPORT",
    "HASHTABLE_SIZE",
    "REDUCE_ALL",
    "CONV_3D_TRANSPOSE",
    "VAR_HANDLE",
    "READ_VARIABLE",
    "ASSIGN_VARIABLE",
    "BROADCAST_ARGS",
    "RANDOM_STANDARD_NORMAL",
    "BUCKETIZE",
    "RANDOM_UNIFORM",
    "MULTINOMIAL",
    "GELU",
    "DYNAMIC_UPDATE_SLICE",
    "RELU_0_TO_1",
    "UNSORTED_SEGMENT_PROD",
    "UNSORTED_SEGMENT_MAX",
    "UNSORTED_SEGMENT_SUM",
    "ATAN2",
    "UNSORTED_SEGMENT_MIN",
    "SIGN",
    "BITCAST",
    "BITWISE_XOR",
    "RIGHT_SHIFT",
    "STABLEHLO_LOGISTIC",
    "STABLEHLO_ADD",
    "STABLEHLO_DIVIDE",
    "STABLEHLO_MULTIPLY",
    "STABLEHLO_MAXIMUM",
    "STABLEHLO_RESHAPE",
    "STABLEHLO_CLAMP",
    "STABLEHLO_CONCATENATE",
    "STABLEHLO_BROADCAST_IN_DIM",
    "STABLEHLO_CONVOLUTION",
    "STABLEHLO_SLICE",
    "STABLEHLO_CUSTOM_CALL",
    "STABLEHLO_REDUCE",
    "STABLEHLO_ABS",
    "STABLEHLO_AND",
    "STABLEHLO_COSINE",
    "STABLEHLO_EXPONENTIAL",
    "STABLEHLO_FLOOR",
    "STABLEHLO_LOG",
    "STABLEHLO_MINIMUM",
    "STABLEHLO_NEGATE",
    "STABLEHLO_OR",
    "STABLEHLO_POWER",
    "STABLEHLO_REMAINDER",
    "STABLEHLO_RSQRT",
    "STABLEHLO_SELECT",
    "STABLEHLO_SUBTRACT",
    "STABLEHLO_TANH",
    "STABLEHLO_SCATTER",
    "STABLEHLO_COMPARE",
    "STABLEHLO_CONVERT",
    "STABLEHLO_DYNAMIC_SLICE",
    "STABLEHLO_DYNAMIC_UPDATE_SLICE",
    "STABLEHLO_PAD",
    "STABLEHLO_IOTA",
    "STABLEHLO_DOT_GENERAL",
    "STABLEHLO_REDUCE_WINDOW",
    "STABLEHLO_SORT",
    "STABLEHLO_WHILE",
    "STABLEHLO_GATHER",
    "STABLEHLO_TRANSPOSE",
    "DILATE",
    "STABLEHLO_RNG_BIT_GENERATOR",
    "REDUCE_WINDOW",
    "STABLEHLO_COMPOSITE",
    "STABLEHLO_SHIFT_LEFT",
    "STABLEHLO_CBRT",
    "STABLEHLO_CASE",
};

/// The name of an operator; `BUILTIN_210` of one that this list is too old for.
inline std::string name_of_tflite_operator(int code) {
    return code < static_cast<int>(std::size(tflite_operator_names)) ? std::string(tflite_operator_names[code])
                                                                     : "BUILTIN_" + std::to_string(code);
}

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
    {9, 8, tflite_options::fully_connected},                 // FULLY_CONNECTED
    {14, 0, {}},                                             // LOGISTIC
    {17, 5, tflite_options::pool_2d},                        // MAX_POOL_2D
    {18, 21, tflite_options::product},                       // MUL
    {19, 0, {}},                                             // RELU
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
    {43, 30, tflite_options::squeeze},                       // SQUEEZE
    {44, 71, tflite_options::unidirectional_sequence_lstm},  // UNIDIRECTIONAL_SEQUENCE_LSTM
    {45, 32, tflite_options::strided_slice},                 // STRIDED_SLICE
    {49, 35, tflite_options::split},                         // SPLIT
    {54, 0, {}},                                             // PRELU
    {55, 39, {}},                                            // MAXIMUM
    {56, 40, tflite_options::arg_max},                       // ARG_MAX
    {57, 39, {}},                                            // MINIMUM
    {60, 43, {}},                                            // PADV2
    {65, 48, {}},                                            // SLICE
    {67, 49, tflite_options::transpose_conv},                // TRANSPOSE_CONV
    {70, 52, {}},                                            // EXPAND_DIMS
    {82, 27, tflite_options::reducer},                       // REDUCE_MAX
    {83, 59, tflite_options::pack},                          // PACK
    {88, 64, tflite_options::unpack},                        // UNPACK
    {89, 27, tflite_options::reducer},                       // REDUCE_MIN
    {97, 74, tflite_options::resize_nearest_neighbor},       // RESIZE_NEAREST_NEIGHBOR
    {98, 75, tflite_options::leaky_relu},                    // LEAKY_RELU
    {114, 89, {}},                                           // QUANTIZE
    {117, 91, {}},                                           // HARD_SWISH
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
