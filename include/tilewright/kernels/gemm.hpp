#pragma once
#include <tilewright/compute/functions.hpp>
#include <tilewright/compute/tensor.hpp>

/// Matrix products C(m, n) = sum over k of A(m, k) * B(k, n).
namespace tilewright::kernel {

struct gemm_shape {
    std::int64_t rows, columns, depth;  ///< of C, of C, of the sum
};

/// The axes and tensors of a product. A and B are read as they are, C is written.
template <class Element>
struct gemm {
    axis m, n, k;
    tensor<Element> A{"A"}, B{"B"}, C{"C"};
    decltype(C(m, n) += A(m, k) * B(k, n)) product;

    constexpr explicit gemm(gemm_shape const& of)
        : m{"m", of.rows}, n{"n", of.columns}, k{"k", of.depth}, product(C(m, n) += A(m, k) * B(k, n)) {}
};

/// A product whose shape is known to the compiler, where schedules can point at it.
template <class Element, gemm_shape Shape>
inline constexpr gemm<Element> gemm_of{Shape};

}  // namespace tilewright::kernel
