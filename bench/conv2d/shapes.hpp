#pragma once
#include <tilewright/kernels/avx2/tiled_conv2d_bytes.hpp>
#include <tilewright/tilewright.hpp>

/// The layers that are measured, each with its tile: those of ResNet-50, and two of MobileNet's depthwise ones.
namespace conv2d_bench {

using namespace tilewright::kernel;

constexpr conv2d_shape layer(std::int64_t channels, std::int64_t filters, std::int64_t extent, std::int64_t taps, std::int64_t stride = 1,
                             std::int64_t groups = 1) {
    window const w{.extent = extent, .taps = taps, .stride = stride, .before = taps / 2, .after = taps / 2};
    return {.channels = channels, .filters = filters, .groups = groups, .y = w, .x = w};
}

inline constexpr conv2d_shape c7x7s2_3_64_224 = layer(3, 64, 224, 7, 2);
inline constexpr conv2d_shape c3x3_64_64_56 = layer(64, 64, 56, 3);
inline constexpr conv2d_shape c3x3_128_128_28 = layer(128, 128, 28, 3);
inline constexpr conv2d_shape c3x3_256_256_14 = layer(256, 256, 14, 3);
inline constexpr conv2d_shape c3x3_512_512_7 = layer(512, 512, 7, 3);
inline constexpr conv2d_shape c1x1_64_256_56 = layer(64, 256, 56, 1);
inline constexpr conv2d_shape c1x1_1024_256_14 = layer(1024, 256, 14, 1);
inline constexpr conv2d_shape c3x3s2_128_128_56 = layer(128, 128, 56, 3, 2);
inline constexpr conv2d_shape dw3x3_64_112 = layer(64, 64, 112, 3, 1, 64);
inline constexpr conv2d_shape dw3x3_128_56 = layer(128, 128, 56, 3, 1, 128);

/// Passes over `Depth` channels each.
template <conv2d_shape Shape, std::int64_t Depth>
inline constexpr packed_conv2d<float, float> packed{Shape, {.lanes = 8, .depth = Depth}};

inline constexpr auto const& of_f32_c7x7s2_3_64_224 = packed<c7x7s2_3_64_224, 3>;
inline constexpr auto const& of_f32_c3x3_64_64_56 = packed<c3x3_64_64_56, 64>;
inline constexpr auto const& of_f32_c3x3_128_128_28 = packed<c3x3_128_128_28, 128>;
inline constexpr auto const& of_f32_c3x3_256_256_14 = packed<c3x3_256_256_14, 128>;
inline constexpr auto const& of_f32_c3x3_512_512_7 = packed<c3x3_512_512_7, 512>;
inline constexpr auto const& of_f32_c1x1_64_256_56 = packed<in_one_row(c1x1_64_256_56), 64>;
inline constexpr auto const& of_f32_c1x1_1024_256_14 = packed<in_one_row(c1x1_1024_256_14), 1024>;
inline constexpr auto const& of_f32_c3x3s2_128_128_56 = packed<c3x3s2_128_128_56, 128>;
inline constexpr auto const& of_f32_dw3x3_64_112 = depthwise_conv2d_of<float, float, dw3x3_64_112>;
inline constexpr auto const& of_f32_dw3x3_128_56 = depthwise_conv2d_of<float, float, dw3x3_128_56>;

inline constexpr auto f32_c7x7s2_3_64_224 = tiled_conv2d(of_f32_c7x7s2_3_64_224, {.block_rows = 16, .steps = 3});
inline constexpr auto f32_c3x3_64_64_56 = tiled_conv2d(of_f32_c3x3_64_64_56, {.rows = 2, .columns = 3, .filters_inside = true});
inline constexpr auto f32_c3x3_128_128_28 = tiled_conv2d(of_f32_c3x3_128_128_28, {.block_rows = 14, .steps = 8});
inline constexpr auto f32_c3x3_256_256_14 = tiled_conv2d(of_f32_c3x3_256_256_14, {.rows = 2, .columns = 3, .block_rows = 14});
inline constexpr auto f32_c3x3_512_512_7 = tiled_conv2d(of_f32_c3x3_512_512_7, {.columns = 4, .vectors = 3, .block_rows = 7, .steps = 8});
inline constexpr auto f32_c1x1_64_256_56 =
    tiled_conv2d(of_f32_c1x1_64_256_56, {.block_rows = 1, .steps = 8, .stages = false, .filters_inside = true});
inline constexpr auto f32_c1x1_1024_256_14 = tiled_conv2d(of_f32_c1x1_1024_256_14, {.block_rows = 1, .stages = false});
inline constexpr auto f32_c3x3s2_128_128_56 = tiled_conv2d(of_f32_c3x3s2_128_128_56, {.block_rows = 7});
constexpr conv2d_tile where_it_is{
    .rows = 2, .columns = 4, .vectors = 1, .block_rows = 112, .steps = 9, .stages = false, .filters_inside = true};
inline constexpr auto f32_dw3x3_64_112 = tiled_conv2d(of_f32_dw3x3_64_112, where_it_is);
inline constexpr auto f32_dw3x3_128_56 = tiled_conv2d(of_f32_dw3x3_128_56, where_it_is);

/// Bytes with weights of 7 bits, which is what quantisers choose for processors whose sums of two products saturate at 16 bits.
template <conv2d_shape Shape, std::int64_t Depth>
inline constexpr packed_conv2d_reduced_bytes reduced{Shape, {.lanes = 8, .depth = Depth}};

inline constexpr auto const& of_int8_c7x7s2_3_64_224 = reduced<c7x7s2_3_64_224, 3>;
inline constexpr auto const& of_int8_c3x3_64_64_56 = reduced<c3x3_64_64_56, 64>;
inline constexpr auto const& of_int8_c3x3_128_128_28 = reduced<c3x3_128_128_28, 128>;
inline constexpr auto const& of_int8_c3x3_256_256_14 = reduced<c3x3_256_256_14, 256>;
inline constexpr auto const& of_int8_c3x3_512_512_7 = reduced<c3x3_512_512_7, 512>;
inline constexpr auto const& of_int8_c1x1_64_256_56 = reduced<in_one_row(c1x1_64_256_56), 64>;
inline constexpr auto const& of_int8_c1x1_1024_256_14 = reduced<in_one_row(c1x1_1024_256_14), 1024>;
inline constexpr auto const& of_int8_c3x3s2_128_128_56 = reduced<c3x3s2_128_128_56, 128>;
inline constexpr auto const& of_int8_dw3x3_64_112 = depthwise_conv2d_of<std::uint8_t, std::int32_t, dw3x3_64_112, std::int32_t>;
inline constexpr auto const& of_int8_dw3x3_128_56 = depthwise_conv2d_of<std::uint8_t, std::int32_t, dw3x3_128_56, std::int32_t>;

inline constexpr auto int8_c7x7s2_3_64_224 = tiled_conv2d(of_int8_c7x7s2_3_64_224, {.columns = 4, .steps = 1});
inline constexpr auto int8_c3x3_64_64_56 = tiled_conv2d(of_int8_c3x3_64_64_56, {.columns = 4, .steps = 4, .filters_inside = true});
inline constexpr auto int8_c3x3_128_128_28 = tiled_conv2d(of_int8_c3x3_128_128_28, {.columns = 4, .block_rows = 14, .steps = 2});
inline constexpr auto int8_c3x3_256_256_14 = tiled_conv2d(of_int8_c3x3_256_256_14, {.rows = 2, .columns = 2, .block_rows = 14, .steps = 2});
inline constexpr auto int8_c3x3_512_512_7 = tiled_conv2d(of_int8_c3x3_512_512_7, {.columns = 4, .block_rows = 7, .steps = 2});
inline constexpr auto int8_c1x1_64_256_56 =
    tiled_conv2d(of_int8_c1x1_64_256_56, {.columns = 4, .block_rows = 1, .steps = 4, .stages = false, .filters_inside = true});
inline constexpr auto int8_c1x1_1024_256_14 =
    tiled_conv2d(of_int8_c1x1_1024_256_14, {.columns = 4, .block_rows = 1, .steps = 2, .stages = false});
inline constexpr auto int8_c3x3s2_128_128_56 =
    tiled_conv2d(of_int8_c3x3s2_128_128_56, {.rows = 2, .columns = 2, .block_rows = 14, .steps = 2});
inline constexpr auto int8_dw3x3_64_112 =
    tiled_conv2d(of_int8_dw3x3_64_112, {.columns = 4, .block_rows = 6, .block_columns = 8, .filters_inside = true});
inline constexpr auto int8_dw3x3_128_56 =
    tiled_conv2d(of_int8_dw3x3_128_56, {.columns = 4, .block_rows = 6, .block_columns = 8, .filters_inside = true});

/// Bytes with weights of 8 bits. (Those of a depthwise convolution can have them anyway.)
template <conv2d_shape Shape, std::int64_t Depth>
inline constexpr packed_conv2d_bytes<std::uint8_t> full{Shape, {.lanes = 8, .depth = Depth}};

inline constexpr auto const& of_full_c7x7s2_3_64_224 = full<c7x7s2_3_64_224, 3>;
inline constexpr auto const& of_full_c3x3_64_64_56 = full<c3x3_64_64_56, 64>;
inline constexpr auto const& of_full_c3x3_128_128_28 = full<c3x3_128_128_28, 128>;
inline constexpr auto const& of_full_c3x3_256_256_14 = full<c3x3_256_256_14, 128>;
inline constexpr auto const& of_full_c3x3_512_512_7 = full<c3x3_512_512_7, 128>;
inline constexpr auto const& of_full_c1x1_64_256_56 = full<in_one_row(c1x1_64_256_56), 64>;
inline constexpr auto const& of_full_c1x1_1024_256_14 = full<in_one_row(c1x1_1024_256_14), 256>;
inline constexpr auto const& of_full_c3x3s2_128_128_56 = full<c3x3s2_128_128_56, 128>;

inline constexpr auto full_c7x7s2_3_64_224 = tiled_conv2d(of_full_c7x7s2_3_64_224, {.block_rows = 8, .steps = 1});
inline constexpr auto full_c3x3_64_64_56 = tiled_conv2d(of_full_c3x3_64_64_56, {.block_rows = 8, .steps = 1});
inline constexpr auto full_c3x3_128_128_28 = tiled_conv2d(of_full_c3x3_128_128_28, {.block_rows = 7, .steps = 1});
inline constexpr auto full_c3x3_256_256_14 = tiled_conv2d(of_full_c3x3_256_256_14, {.rows = 2, .columns = 3, .block_rows = 14, .steps = 1});
inline constexpr auto full_c3x3_512_512_7 = tiled_conv2d(of_full_c3x3_512_512_7, {.columns = 4, .block_rows = 7, .steps = 1});
inline constexpr auto full_c1x1_64_256_56 =
    tiled_conv2d(of_full_c1x1_64_256_56, {.block_rows = 1, .block_columns = 192, .steps = 1, .stages = false});
inline constexpr auto full_c1x1_1024_256_14 = tiled_conv2d(of_full_c1x1_1024_256_14, {.block_rows = 1, .steps = 1, .stages = false});
inline constexpr auto full_c3x3s2_128_128_56 = tiled_conv2d(of_full_c3x3s2_128_128_56, {.block_rows = 7, .steps = 1});

}  // namespace conv2d_bench
