#pragma once
#include <tilewright/kernels/elementwise.hpp>
#include <tilewright/kernels/pooling.hpp>
#include <tilewright/kernels/softmax.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/targets/x86_avx2.hpp>

/// Layers that move more than they compute, for one core with vector registers: vectors along the contiguous dimension.
namespace tilewright::kernel {

using targets::avx2::lanes_of;

/// `constexpr auto on_avx2 = by_vectors(elementwise<56 * 56, 64, float, decltype(relu)>{});`
template <std::int64_t Rows, std::int64_t Columns, class Element, class Function>
constexpr schedule by_vectors(elementwise<Rows, Columns, Element, Function> const&) {
    using layer = elementwise<Rows, Columns, Element, Function>;
    schedule s(layer::what, targets::avx2::host);
    s.vectorize(layer::column, lanes_of<Element>);
    return s;
}

/// The largest of a window is found in a register for a vector of channels.
template <pool2d_shape Shape, class Element>
constexpr schedule by_vectors(max_pool2d<Shape, Element> const&) {
    using pool = max_pool2d<Shape, Element>;
    constexpr axis vectors{"vectors"}, lane{"lane"};
    schedule s(pool::what, targets::avx2::host);
    s.split(pool::channel, vectors, lane, lanes_of<Element>);
    s.reorder(pool::batch, pool::y, pool::x, vectors, pool::r, pool::s, lane).vectorize(lane);
    s.cache_write(pool::out, targets::avx2::ymm).at(vectors);
    return s;
}

/// The sums of a row of windows stay in `l2` until they are divided.
template <pool2d_shape Shape, class Element, border Border>
constexpr schedule by_vectors(average_pool2d<Shape, Element, Border> const&) {
    using pool = average_pool2d<Shape, Element, Border>;
    using targets::avx2::l2;
    schedule s(pool::what, targets::avx2::host);
    s.compute_at(pool::sums, pool::y).store_in(pool::sums, l2).vectorize(pool::channel, lanes_of<Element>);
    s.stage(pool::sums).reorder(pool::batch, pool::y, pool::x, pool::r, pool::s, pool::channel).vectorize(pool::channel, lanes_of<Element>);
    return s;
}

/// A row at a time, its powers in `l2`. Its sum is formed in order, one element after the other.
template <std::int64_t Rows, std::int64_t Columns>
constexpr schedule by_vectors(softmax<Rows, Columns> const&) {
    using soft = softmax<Rows, Columns>;
    using targets::avx2::l2;
    schedule s(soft::what, targets::avx2::host);
    s.compute_at(soft::largest, soft::row).store_in(soft::largest, l2);
    s.compute_at(soft::powers, soft::row).store_in(soft::powers, l2);
    s.compute_at(soft::total, soft::row).store_in(soft::total, l2);
    s.vectorize(soft::column, lanes_of<float>);
    s.stage(soft::powers).vectorize(soft::column, lanes_of<float>);
    return s;
}

}  // namespace tilewright::kernel
