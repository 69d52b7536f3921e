#include "reference.hpp"

#include <vector>

#ifdef __FAST_MATH__
#error "the references are exact to the bit: compile them without -ffast-math"
#endif

namespace reference {
namespace {

/// c[m][n] = start + sum over k; `a_at(m, k)` and `b_at(k, n)` read the operands.
template <class Sum, class ReadA, class ReadB>
void multiply_matrices(int m, int n, int k, ReadA a_at, ReadB b_at, bool continuing, Sum* c) {
    for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
            Sum sum = continuing ? c[row * n + column] : Sum{0};
            for (int inner = 0; inner < k; ++inner) sum += static_cast<Sum>(a_at(row, inner)) * static_cast<Sum>(b_at(inner, column));
            c[row * n + column] = sum;
        }
}

/// Reads (row, column) of a matrix with rows of `width` elements.
template <class T>
auto as_written(T const* data, int width) {
    return [=](int row, int column) { return data[row * width + column]; };
}

/// Reads (row, column) of a matrix whose transpose is stored, with rows of `width` elements.
template <class T>
auto transposed(T const* data, int width) {
    return [=](int row, int column) { return data[column * width + row]; };
}

template <class T>
void row_extreme(int rows, int columns, bool largest, T const* in, T* out) {
    for (int row = 0; row < rows; ++row) {
        T extreme = in[row * columns];
        for (int column = 1; column < columns; ++column) {
            T const value = in[row * columns + column];
            if (largest ? value > extreme : value < extreme) extreme = value;
        }
        out[row] = extreme;
    }
}

template <class T>
void contract(int a, int b, int c, int d, int e, T const* x, T const* y, T* out) {
    for (int ai = 0; ai < a; ++ai)
        for (int bi = 0; bi < b; ++bi)
            for (int ci = 0; ci < c; ++ci) {
                T sum = 0;
                for (int di = 0; di < d; ++di)
                    for (int ei = 0; ei < e; ++ei) sum += x[((ai * d + di) * b + bi) * e + ei] * y[(ei * c + ci) * d + di];
                out[(ai * b + bi) * c + ci] = sum;
            }
}

template <class T>
void clamp_each(std::size_t count, T lowest, T highest, T const* x, T* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = x[i] < lowest ? lowest : x[i] > highest ? highest : x[i];
}

struct quotient_and_remainder {
    std::int64_t quotient = 0;
    std::int64_t remainder = 0;
};

/// In 64 bits, where no operand of up to 32 overflows.
quotient_and_remainder euclidean(std::int64_t x, std::int64_t y) {
    if (y == 0) return {0, 0};
    quotient_and_remainder result{x / y, x % y};
    if (result.remainder < 0) {
        result.quotient += y > 0 ? -1 : 1;
        result.remainder += y > 0 ? y : -y;
    }
    return result;
}

template <class T>
void divide_each(std::size_t count, T const* x, T const* y, T* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(euclidean(x[i], y[i]).quotient);
}

template <class T>
void modulo_each(std::size_t count, T const* x, T const* y, T* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(euclidean(x[i], y[i]).remainder);
}

}  // namespace

void matmul_nn(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c) {
    multiply_matrices(m, n, k, as_written(a, k), as_written(b, n), false, c);
}
void matmul_nn(int m, int n, int k, float const* a, float const* b, float* c) {
    multiply_matrices(m, n, k, as_written(a, k), as_written(b, n), false, c);
}

void matmul_nt(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c) {
    multiply_matrices(m, n, k, as_written(a, k), transposed(b, k), false, c);
}
void matmul_nt(int m, int n, int k, float const* a, float const* b, float* c) {
    multiply_matrices(m, n, k, as_written(a, k), transposed(b, k), false, c);
}

void matmul_tn(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c) {
    multiply_matrices(m, n, k, transposed(a, m), as_written(b, n), false, c);
}
void matmul_tn(int m, int n, int k, float const* a, float const* b, float* c) {
    multiply_matrices(m, n, k, transposed(a, m), as_written(b, n), false, c);
}

void matmul_tt(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c) {
    multiply_matrices(m, n, k, transposed(a, m), transposed(b, k), false, c);
}
void matmul_tt(int m, int n, int k, float const* a, float const* b, float* c) {
    multiply_matrices(m, n, k, transposed(a, m), transposed(b, k), false, c);
}

void matmul_nn_continuing(int m, int n, int k, std::int8_t const* a, std::int8_t const* b, std::int32_t* c) {
    multiply_matrices(m, n, k, as_written(a, k), as_written(b, n), true, c);
}
void matmul_nn_continuing(int m, int n, int k, float const* a, float const* b, float* c) {
    multiply_matrices(m, n, k, as_written(a, k), as_written(b, n), true, c);
}

void conv1d(int outputs, int taps, float const* in, float const* weights, float* out) {
    for (int x = 0; x < outputs; ++x) {
        float sum = 0;
        for (int r = 0; r < taps; ++r) sum += in[x + r] * weights[r];
        out[x] = sum;
    }
}

void conv2d_nhwc(conv2d_shape shape, std::int8_t const* in, std::int8_t const* weights, std::int32_t* out) {
    for (int b = 0; b < shape.batch; ++b)
        for (int y = 0; y < shape.out_height; ++y)
            for (int x = 0; x < shape.out_width; ++x)
                for (int k = 0; k < shape.filters; ++k) {
                    std::int32_t sum = 0;
                    for (int r = 0; r < shape.kernel_height; ++r)
                        for (int s = 0; s < shape.kernel_width; ++s)
                            for (int c = 0; c < shape.channels; ++c) {
                                int const in_y = y * shape.stride + r * shape.dilation;
                                int const in_x = x * shape.stride + s * shape.dilation;
                                int const pixel = (b * shape.in_height() + in_y) * shape.in_width() + in_x;
                                int const tap = (r * shape.kernel_width + s) * shape.channels + c;
                                sum += in[pixel * shape.channels + c] * weights[tap * shape.filters + k];
                            }
                    out[((b * shape.out_height + y) * shape.out_width + x) * shape.filters + k] = sum;
                }
}

void blur(int height, int width, float const* in, float* out) {
    std::vector<float> blurred(static_cast<std::size_t>(height + 2) * static_cast<std::size_t>(width));
    float* const blur_x = blurred.data();
    for (int y = 0; y < height + 2; ++y)
        for (int x = 0; x < width; ++x) {
            float const* const from = in + y * (width + 2) + x;
            blur_x[y * width + x] = (from[0] + from[1] + from[2]) / 3.0f;
        }
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            float const* const from = blur_x + y * width + x;
            out[y * width + x] = (from[0] + from[width] + from[2 * width]) / 3.0f;
        }
}

void row_max(int rows, int columns, float const* in, float* out) { row_extreme(rows, columns, true, in, out); }
void row_max(int rows, int columns, std::int32_t const* in, std::int32_t* out) { row_extreme(rows, columns, true, in, out); }

void row_min(int rows, int columns, float const* in, float* out) { row_extreme(rows, columns, false, in, out); }
void row_min(int rows, int columns, std::int32_t const* in, std::int32_t* out) { row_extreme(rows, columns, false, in, out); }

void row_sum(int rows, int columns, std::int64_t const* in, std::int64_t* out) {
    for (int row = 0; row < rows; ++row) {
        std::int64_t sum = 0;
        for (int column = 0; column < columns; ++column) sum += in[row * columns + column];
        out[row] = sum;
    }
}

void outer_product(int m, int n, std::int16_t const* x, std::int16_t const* y, std::int32_t* out) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) out[i * n + j] = std::int32_t{x[i]} * std::int32_t{y[j]};
}

void contraction(int a, int b, int c, int d, int e, std::int32_t const* x, std::int32_t const* y, std::int32_t* out) {
    contract(a, b, c, d, e, x, y, out);
}
void contraction(int a, int b, int c, int d, int e, float const* x, float const* y, float* out) { contract(a, b, c, d, e, x, y, out); }

void select_difference(std::size_t count, std::int16_t const* x, std::int16_t const* y, std::int16_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        int const wide = x[i] > y[i] ? x[i] - y[i] : y[i] * 3;
        out[i] = static_cast<std::int16_t>(static_cast<std::uint16_t>(wide));
    }
}

void clamp(std::size_t count, std::int32_t lowest, std::int32_t highest, std::int32_t const* x, std::int32_t* out) {
    clamp_each(count, lowest, highest, x, out);
}
void clamp(std::size_t count, float lowest, float highest, float const* x, float* out) { clamp_each(count, lowest, highest, x, out); }

void shift_left(std::size_t count, std::int32_t const* x, std::int32_t const* amounts, std::int32_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(x[i]) << amounts[i]);
}
void shift_left(std::size_t count, std::uint32_t const* x, std::uint32_t const* amounts, std::uint32_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = x[i] << amounts[i];
}

void shift_right(std::size_t count, std::int32_t const* x, std::int32_t const* amounts, std::int32_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = x[i] >> amounts[i];
}
void shift_right(std::size_t count, std::uint32_t const* x, std::uint32_t const* amounts, std::uint32_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = x[i] >> amounts[i];
}

void add(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(x[i] + y[i]);
}

void subtract(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(x[i] - y[i]);
}

void multiply(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(x[i] * y[i]);
}

void divide(std::size_t count, std::int8_t const* x, std::int8_t const* y, std::int8_t* out) { divide_each(count, x, y, out); }
void divide(std::size_t count, std::int16_t const* x, std::int16_t const* y, std::int16_t* out) { divide_each(count, x, y, out); }
void divide(std::size_t count, std::int32_t const* x, std::int32_t const* y, std::int32_t* out) { divide_each(count, x, y, out); }
void divide(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out) { divide_each(count, x, y, out); }

void modulo(std::size_t count, std::int8_t const* x, std::int8_t const* y, std::int8_t* out) { modulo_each(count, x, y, out); }
void modulo(std::size_t count, std::int16_t const* x, std::int16_t const* y, std::int16_t* out) { modulo_each(count, x, y, out); }
void modulo(std::size_t count, std::int32_t const* x, std::int32_t const* y, std::int32_t* out) { modulo_each(count, x, y, out); }
void modulo(std::size_t count, std::uint8_t const* x, std::uint8_t const* y, std::uint8_t* out) { modulo_each(count, x, y, out); }

void less(std::size_t count, std::int32_t const* x, std::int32_t const* y, bool* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = x[i] < y[i];
}
void less(std::size_t count, float const* x, float const* y, bool* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = x[i] < y[i];
}

void double_arithmetic(std::size_t count, double const* x, double const* y, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = (x[i] + y[i]) * x[i] - y[i] / 3.0;
}

}  // namespace reference
