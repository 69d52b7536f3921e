#pragma once
#include <tilewright/kernels/convolution.hpp>
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/targets/dot_products.hpp>

/// Matrix products and convolutions by products of tiles, for any core that has these: one schedule for all.
namespace tilewright::kernel {

/// A product with sums of another type than its operands: A and B are read as they are, C is written.
template <class Left, class Right, class Sum>
struct wide_gemm {
    axis m, n, k;
    tensor<Left> A{"A"};
    tensor<Right> B{"B"};
    tensor<Sum> C{"C"};
    decltype(C(m, n) += cast<Sum>(A(m, k)) * cast<Sum>(B(k, n))) product;

    constexpr explicit wide_gemm(gemm_shape const& of)
        : m{"m", of.rows}, n{"n", of.columns}, k{"k", of.depth}, product(C(m, n) += cast<Sum>(A(m, k)) * cast<Sum>(B(k, n))) {}
};

/// A product whose shape is known to the compiler, where schedules can point at it.
template <class Left, class Right, class Sum, gemm_shape Shape>
inline constexpr wide_gemm<Left, Right, Sum> wide_gemm_of{Shape};

/// How a product is cut up: what one call of an instruction covers.
struct dot_tile {
    std::int64_t rows = 64;
    std::int64_t columns = 64;
    std::int64_t depth = 256;
    bool packs = false;  ///< blocks of B, of all its rows that a call covers. Use it where rows of B lie far apart
};

namespace detail {

constexpr schedule tiled_by_dots(auto const& of, any_tensor const& right, char const* instruction, dot_tile const& t,
                                 targets::dot_products::dot_core const& on) {
    constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
    schedule s(of.product, t.packs ? on.packs_right : on.host);
    s.split(of.m, mo, mi, t.rows).split(of.n, no, ni, t.columns).split(of.k, ko, ki, t.depth).reorder(no, ko, mo, mi, ni, ki);
    if (t.packs) s.cache_read(right, on.blocks).at(ko);
    return s.tensorize(mi, ni, ki, instruction);
}

}  // namespace detail

/// `constexpr auto on_arm = tiled_gemm(wide_gemm_of<std::int8_t, std::int8_t, std::int32_t, shape>, {.packs = true},
/// targets::aarch64_dot::dots);`: blocks of columns, of the depth and of rows outside, a call for each.
template <class Left, class Right, class Sum>
constexpr schedule tiled_gemm(wide_gemm<Left, Right, Sum> const& of, dot_tile const& t, targets::dot_products::dot_core const& on) {
    return detail::tiled_by_dots(of, of.B, targets::dot_products::mac_name<Left, Right>(), t, on);
}
/// Likewise of floats.
constexpr schedule tiled_gemm(gemm<float> const& of, dot_tile const& t, targets::dot_products::dot_core const& on) {
    return detail::tiled_by_dots(of, of.B, targets::dot_products::mac_name<float, float>(), t, on);
}

/// A convolution with one group of channels, as a product for each row of the result and each tap. What a row reads of the image is copied
/// to the core's blocks, with its border.
template <conv2d_shape Shape, class Element, class Sum, class Weight>
constexpr schedule dotted_conv2d(conv2d<Shape, Element, Sum, Weight> const&, targets::dot_products::dot_core const& on) {
    using conv = conv2d<Shape, Element, Sum, Weight>;
    static_assert(Shape.groups == 1, "products for each group would be narrow: this schedule is for one");
    schedule s(conv::what, on.packs_left);
    s.reorder(conv::batch, conv::y, conv::r, conv::s, conv::x, conv::filter, conv::channel).cache_read(conv::in, on.blocks).at(conv::y);
    return s.tensorize(conv::x, conv::filter, conv::channel, targets::dot_products::mac_name<Element, Weight>());
}

}  // namespace tilewright::kernel
