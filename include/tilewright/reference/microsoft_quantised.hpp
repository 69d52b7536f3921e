#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/reference/onnx_movement.hpp>
#include <tilewright/reference/onnx_normalisation.hpp>
#include <tilewright/reference/onnx_pools.hpp>
#include <tilewright/reference/onnx_quantised.hpp>
#include <tilewright/reference/onnx_unary.hpp>
#include <vector>

// Operators of domain com.microsoft on quantised numbers: reals are computed as double, and rounded once at the end.
namespace tilewright::reference::of_microsoft {

using namespace of_onnx;

/// Scale and zero point of all elements of a tensor; a zero point that is left out is 0.
struct scaling {
    double scale = 1;
    std::int64_t zero = 0;
};
inline scaling scaling_at(call const& of, std::size_t scale) {
    scaling made{static_cast<double>(scales_of(single(of.operand(scale)))[0]), 0};
    if (auto const* zero = of.find(scale + 1)) made.zero = integers_of(single(*zero))[0];
    return made;
}
/// What the elements of an operand stand for. Its scale and zero point are the next two operands.
inline std::vector<double> meant_by(call const& of, std::size_t at, std::size_t scale) {
    require(of.operand(at).type == element_type::int8 || of.operand(at).type == element_type::uint8, "quantised numbers of another type");
    scaling const by = scaling_at(of, scale);
    std::vector<double> made;
    for (std::int64_t const one : integers_of(of.operand(at))) made.push_back(static_cast<double>(one - by.zero) * by.scale);
    return made;
}
inline std::vector<double> meant_by(call const& of, std::size_t at) { return meant_by(of, at, at + 1); }
/// Reals as elements of a type, with the scale that is an operand, and its zero point after it.
inline elements rounded_to(call const& of, std::size_t scale, element_type type, shape const& extents, std::vector<double> const& reals) {
    scaling const by = scaling_at(of, scale);
    if (auto const* zero = of.find(scale + 1)) require(zero->type == type, "a zero point of another type");
    std::vector<std::int64_t> made;
    for (double const one : reals) made.push_back(saturated(static_cast<float>(one / by.scale), by.zero, type));
    return of_integers(type, extents, made);
}

template <class Function>
elements two_of_quantised(call const& of, Function const& f) {
    shape const &a = of.operand(0).extents, &b = of.operand(3).extents, extents = broadcast(a, b);
    places const at_a = broadcast_places(a, extents), at_b = broadcast_places(b, extents);
    auto const x = meant_by(of, 0), y = meant_by(of, 3);
    std::vector<double> made;
    for (std::size_t at = 0; at < at_a.size(); ++at) made.push_back(f(x[at_a[at]], y[at_b[at]]));
    return rounded_to(of, 6, of.operand(0).type, extents, made);
}
inline elements qlinear_add(call const& of) {
    return two_of_quantised(of, [](double x, double y) { return x + y; });
}
inline elements qlinear_mul(call const& of) {
    return two_of_quantised(of, [](double x, double y) { return x * y; });
}
/// Operands: the condition, x with its two, y with its two, the two of the result.
inline elements qlinear_where(call const& of) {
    shape const &picks = of.operand(0).extents, &a = of.operand(1).extents, &b = of.operand(4).extents;
    shape const extents = broadcast(picks, broadcast(a, b));
    places const at_pick = broadcast_places(picks, extents), at_a = broadcast_places(a, extents), at_b = broadcast_places(b, extents);
    auto const x = meant_by(of, 1), y = meant_by(of, 4);
    auto const truths = integers_of(of.operand(0));
    std::vector<double> made;
    for (std::size_t at = 0; at < at_a.size(); ++at) made.push_back(truths[at_pick[at]] != 0 ? x[at_a[at]] : y[at_b[at]]);
    return rounded_to(of, 7, of.operand(1).type, extents, made);
}

template <class Function>
elements each_of_quantised(call const& of, Function const& f) {
    auto made = meant_by(of, 0);
    for (double& one : made) one = f(one);
    return rounded_to(of, 3, of.operand(0).type, of.operand(0).extents, made);
}
inline elements qlinear_leaky_relu(call const& of) {
    return each_of_quantised(of, [slope = of.real("alpha", 0.01f)](double x) { return x < 0 ? x * slope : x; });
}
inline elements qlinear_sigmoid(call const& of) { return each_of_quantised(of, sigmoid_of); }

/// Operands: scale and zero point of the result, then three for each part.
inline elements qlinear_concat(call const& of) {
    require(of.given.size() > 4 && of.given.size() % 3 == 2 && of.has("axis"), "parts of three operands, and an axis");
    element_type const type = of.operand(2).type;
    std::size_t const axis = axis_of(of.integer("axis", 0), of.operand(2).extents.size());
    shape extents = of.operand(2).extents;
    extents[axis] = 0;
    for (std::size_t at = 2; at < of.given.size(); at += 3) extents[axis] += of.operand(at).extents[axis];
    std::vector<double> made(static_cast<std::size_t>(count_of(extents)));
    std::int64_t first = 0;
    for (std::size_t at = 2; at < of.given.size(); at += 3) {
        elements const& part = of.operand(at);
        require(part.type == type && part.extents.size() == extents.size(), "parts that do not fit");
        auto const reals = meant_by(of, at);
        auto const to = walk<std::size_t>(part.extents, first * strides_of(extents)[axis], strides_of(extents));
        for (std::size_t one = 0; one < reals.size(); ++one) made[to[one]] = reals[one];
        first += part.extents[axis];
    }
    return rounded_to(of, 0, type, extents, made);
}

/// The operand's reals as an image whose channels come second, in float64; and elements of such an image as the node has them.
struct image {
    elements reals;
    bool channels_last = false;

    explicit image(call const& of) : channels_last(of.integer("channels_last", 0) != 0) {
        shape extents = of.operand(0).extents;
        require(extents.size() > 2, "a pool over nothing");
        reals = of_reals(element_type::float64, extents, meant_by(of, 0));
        if (!channels_last) return;
        shape steps = strides_of(extents);
        extents.insert(extents.begin() + 1, extents.back()), extents.pop_back();
        steps.insert(steps.begin() + 1, steps.back()), steps.pop_back();
        reals = pick(reals, extents, walk<std::size_t>(extents, 0, steps));
    }
    elements as_given(elements const& made) const {
        if (!channels_last) return made;
        shape extents = made.extents, steps = strides_of(extents);
        extents.push_back(extents[1]), extents.erase(extents.begin() + 1);
        steps.push_back(steps[1]), steps.erase(steps.begin() + 1);
        return pick(made, extents, walk<std::size_t>(extents, 0, steps));
    }
};
template <auto Pool>
elements pool_of_quantised(call const& of) {
    image const in(of);
    operands const given{&in.reals};
    elements const made = in.as_given(Pool(call{of.whole, of.node, given}));
    return rounded_to(of, 3, of.operand(0).type, made.extents, reals_of(made));
}

/// A softmax of the operator set `opset` of ONNX.
inline elements qlinear_softmax(call const& of) {
    require(of.has("opset"), "no operator set");
    elements const in = of_reals(element_type::float64, of.operand(0).extents, meant_by(of, 0));
    network::node like_onnx = of.node;
    like_onnx.version = of.integer("opset", 0);
    if (!of.has("axis")) like_onnx.attributes.push_back({"axis", std::int64_t{-1}});
    operands const given{&in};
    return rounded_to(of, 3, of.operand(0).type, in.extents, reals_of(softmax(call{of.whole, like_onnx, given})));
}

/// Sums of products as reals.
///
/// @param b     the operands of b: itself, its scales, its zero points, for all or for columns
/// @param bias  an operand: a float for each column; it may be left out
inline elements reals_of_products(call const& of, elements const& a, double scale_of_a, elements const* zero_of_a, shape const& b,
                                  std::size_t bias) {
    auto const at = [&](std::size_t which) { return static_cast<std::size_t>(b[which]); };
    elements const& right = of.operand(at(0));
    product_shape const extents(a.extents, right.extents);
    auto const sums = product_of(extents, integers_of(without_zero(a, zero_of_a, outside)),
                                 integers_of(without_zero(right, of.find(at(2)), right.extents.size() - 1)));
    auto const scales = reals_of(of.operand(at(1)));
    auto const columns = static_cast<std::size_t>(extents.b.columns);
    require(scales.size() == 1 || scales.size() == columns, "scales that do not fit");
    std::vector<double> made, added(columns, 0);
    if (of.find(bias) != nullptr) added = reals_of(of.operand(bias));
    require(added.size() == columns, "a bias that does not fit");
    for (std::size_t to = 0; to < sums.size(); ++to) {
        std::size_t const column = to % columns;
        made.push_back(static_cast<double>(sums[to]) * scale_of_a * scales[scales.size() == 1 ? 0 : column] + added[column]);
    }
    return of_reals(element_type::float32, extents.result, made);
}
/// Operands: a, b, scale of a, of b, zero point of a, of b, bias.
inline elements matmul_integer_to_float(call const& of) {
    return reals_of_products(of, of.operand(0), reals_of(single(of.operand(2)))[0], of.find(4), {1, 3, 5}, 6);
}
/// Operands: a of floats, b, its scale, its zero point, bias.
inline elements dynamic_quantize_matmul(call const& of) {
    operands const given{&of.operand(0)};
    results const a = dynamic_quantize_linear(call{of.whole, of.node, given});
    return reals_of_products(of, a[0], reals_of(a[1])[0], &a[2], {1, 2, 3}, 4);
}
/// Operands: a and b with scale and zero point each, c of int32, scale and zero point of the result.
inline elements q_gemm(call const& of) {
    bool const turned = of.integer("transB", 0) != 0;
    elements const a = matrix_of(without_zero(of.operand(0), of.find(2), outside), of.integer("transA", 0) != 0),
                   b = matrix_of(without_zero(of.operand(3), of.find(5), turned ? 0 : 1), turned);
    product_shape const extents(a.extents, b.extents);
    auto sums = product_of(extents, integers_of(a), integers_of(b));
    if (auto const* c = of.find(6)) {
        require(c->type == element_type::int32, "a bias that is no int32");
        places const at = broadcast_places(c->extents, extents.result);
        auto const added = integers_of(*c);
        for (std::size_t to = 0; to < sums.size(); ++to) sums[to] += added[at[to]];
    }
    auto const scales = reals_of(of.operand(4));
    auto const columns = static_cast<std::size_t>(extents.b.columns);
    require(scales.size() == 1 || scales.size() == columns, "scales that do not fit");
    double const scale = reals_of(single(of.operand(1)))[0] * of.real("alpha", 1);
    std::vector<double> made;
    for (std::size_t to = 0; to < sums.size(); ++to)
        made.push_back(static_cast<double>(sums[to]) * scale * scales[scales.size() == 1 ? 0 : to % columns]);
    if (of.find(7) == nullptr) return of_reals(element_type::float32, extents.result, made);
    return rounded_to(of, 7, of.find(8) != nullptr ? of.operand(8).type : of.operand(0).type, extents.result, made);
}

}  // namespace tilewright::reference::of_microsoft
