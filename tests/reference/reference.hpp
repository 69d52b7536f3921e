#pragma once
#include <cstddef>
#include <cstdint>

/// Plain loops that say what every computation of the tests must give. They share no code with the library.
///
/// Tensors are dense and row-major; a shape [m][n] names the extents from the slowest index to the fastest. Outputs come last and never
/// overlap inputs. Sums start from 0 and add in the order given, in the output's type. Signed sums of 32 and 64 bits must not overflow:
/// fill their inputs with `fill_between`. Floating-point results are exact to the bit only when reference.cpp is compiled with
/// -ffp-contract=off.
namespace reference {

// c[m][n] = sum over k of A(m, k) * B(k, n), k ascending.
// The two letters say how A and B lie in memory: n as written, t transposed.

/// a[m][k], b[k][n], c[m][n]
void matmul_nn(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c);
void matmul_nn(int m, int n, int k, float const* a, float const* b, float* c);

/// a[m][k], b[n][k], c[m][n]
void matmul_nt(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c);
void matmul_nt(int m, int n, int k, float const* a, float const* b, float* c);

/// a[k][m], b[k][n], c[m][n]
void matmul_tn(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c);
void matmul_tn(int m, int n, int k, float const* a, float const* b, float* c);

/// a[k][m], b[n][k], c[m][n]
void matmul_tt(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c);
void matmul_tt(int m, int n, int k, float const* a, float const* b, float* c);

/// As `matmul_nn`, but each sum starts from the contents of c[m][n] instead of 0.
void matmul_nn_continuing(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c);
void matmul_nn_continuing(int m, int n, int k, float const* a, float const* b, float* c);

/// out[x] = sum over r of in[x + r] * weights[r]; in[outputs + taps - 1], weights[taps], out[outputs]
void conv1d(int outputs, int taps, float const* in, float const* weights, float* out);

/// The extents of a convolution without padding; stride and dilation are those of both directions.
struct conv2d_shape {
    int batch = 1;
    int out_height = 1;
    int out_width = 1;
    int channels = 1;
    int filters = 1;
    int kernel_height = 1;
    int kernel_width = 1;
    int stride = 1;
    int dilation = 1;

    constexpr int in_height() const { return (out_height - 1) * stride + (kernel_height - 1) * dilation + 1; }
    constexpr int in_width() const { return (out_width - 1) * stride + (kernel_width - 1) * dilation + 1; }
};

/// out[b][y][x][k] = sum over r, s, c of in[b][y * stride + r * dilation][x * stride + s * dilation][c] * weights[r][s][c][k];
/// in[batch][in_height][in_width][channels], weights[kernel_height][kernel_width][channels][filters],
/// out[batch][out_height][out_width][filters]
void conv2d_nhwc(conv2d_shape shape, std::int8_t const* in, std::int8_t const* weights, std::int32_t* out);

/// in[height + 2][width + 2], out[height][width]; from left to right, as written:
/// blur_x[y][x] = (in[y][x] + in[y][x + 1] + in[y][x + 2]) / 3, then
/// out[y][x] = (blur_x[y][x] + blur_x[y + 1][x] + blur_x[y + 2][x]) / 3
void blur(int height, int width, float const* in, float* out);

/// out[r] = the largest of in[r][c]; in[rows][columns], out[rows], at least one column
void row_max(int rows, int columns, float const* in, float* out);
void row_max(int rows, int columns, std::int32_t const* in, std::int32_t* out);

/// out[r] = the smallest of in[r][c]; in[rows][columns], out[rows], at least one column
void row_min(int rows, int columns, float const* in, float* out);
void row_min(int rows, int columns, std::int32_t const* in, std::int32_t* out);

/// out[r] = sum over c of in[r][c]; in[rows][columns], out[rows]
void row_sum(int rows, int columns, std::int64_t const* in, std::int64_t* out);

/// out[i][j] = x[i] * y[j], multiplied in int32; x[m], y[n], out[m][n]
void outer_product(int m, int n, std::int16_t const* x, std::int16_t const* y, std::int32_t* out);

/// out[a][b][c] = sum over d, then e inside, of x[a][d][b][e] * y[e][c][d];
/// x[a][d][b][e], y[e][c][d], out[a][b][c], called with the extents
void contraction(int a, int b, int c, int d, int e, std::int32_t const* x, std::int32_t const* y, std::int32_t* out);
void contraction(int a, int b, int c, int d, int e, float const* x, float const* y, float* out);

// Elementwise: every tensor has `count` elements, in any shape. Integers of 8 and 16 bits and unsigned ones wrap.

/// out[i] = x[i] > y[i] ? x[i] - y[i] : y[i] * 3
void select_difference(std::size_t count, std::int16_t const* x, std::int16_t const* y, std::int16_t* out);

/// out[i] = x[i] limited to lowest..highest
void clamp(std::size_t count, std::int32_t lowest, std::int32_t highest, std::int32_t const* x, std::int32_t* out);
void clamp(std::size_t count, float lowest, float highest, float const* x, float* out);

/// out[i] = x[i] << amounts[i], bits beyond the top are lost; amounts of 0..31
void shift_left(std::size_t count, std::int32_t const* x, std::int32_t const* amounts, std::int32_t* out);
void shift_left(std::size_t count, std::uint32_t const* x, std::uint32_t const* amounts, std::uint32_t* out);

/// out[i] = x[i] >> amounts[i], the sign is kept; amounts of 0..31
void shift_right(std::size_t count, std::int32_t const* x, std::int32_t const* amounts, std::int32_t* out);
void shift_right(std::size_t count, std::uint32_t const* x, std::uint32_t const* amounts, std::uint32_t* out);

/// out[i] = (x[i] + y[i]) mod 256
void add(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out);

/// out[i] = (x[i] - y[i]) mod 256
void subtract(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out);

/// out[i] = (x[i] * y[i]) mod 256
void multiply(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out);

/// out[i] = the quotient whose remainder is not negative, and 0 where y[i] is 0; the lowest value / -1 wraps to itself.
void divide(std::size_t count, std::int8_t const* x, std::int8_t const* y, std::int8_t* out);
void divide(std::size_t count, std::int16_t const* x, std::int16_t const* y, std::int16_t* out);
void divide(std::size_t count, std::int32_t const* x, std::int32_t const* y, std::int32_t* out);
void divide(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out);

/// out[i] = the remainder of `divide`, 0 <= out[i] < |y[i]|, and 0 where y[i] is 0.
void modulo(std::size_t count, std::int8_t const* x, std::int8_t const* y, std::int8_t* out);
void modulo(std::size_t count, std::int16_t const* x, std::int16_t const* y, std::int16_t* out);
void modulo(std::size_t count, std::int32_t const* x, std::int32_t const* y, std::int32_t* out);
void modulo(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out);

/// out[i] = x[i] < y[i]
void less(std::size_t count, std::int32_t const* x, std::int32_t const* y, bool* out);
void less(std::size_t count, float const* x, float const* y, bool* out);

/// out[i] = (x[i] + y[i]) * x[i] - y[i] / 3
void double_arithmetic(std::size_t count, double const* x, double const* y, double* out);

}  // namespace reference
