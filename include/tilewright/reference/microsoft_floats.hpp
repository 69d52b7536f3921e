#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/reference/onnx_convolutions.hpp>
#include <tilewright/reference/onnx_normalisation.hpp>
#include <tilewright/reference/onnx_products.hpp>
#include <tilewright/reference/onnx_unary.hpp>
#include <vector>

// Operators of domain com.microsoft on floats, which are several of ONNX in one.
namespace tilewright::reference::of_microsoft {

using namespace of_onnx;

/// Applies an activation by its name. @throws not_covered  where it has another name, or lacks a number
inline void activate(std::vector<double>& values, std::string const& name, std::vector<float> const& numbers) {
    auto const at = [&](std::size_t which) {
        require(which < numbers.size(), "an activation without its numbers");
        return static_cast<double>(numbers[which]);
    };
    for (double& x : values) {
        if (name == "Relu") x = std::max(x, 0.0);
        else if (name == "Sigmoid") x = sigmoid_of(x);
        else if (name == "Tanh") x = std::tanh(x);
        else if (name == "LeakyRelu") x = x < 0 ? at(0) * x : x;
        else if (name == "HardSigmoid") x = std::max(0.0, std::min(1.0, at(0) * x + at(1)));
        else if (name == "Clip") x = std::min(std::max(x, at(0)), at(1));
        else require(name.empty(), "an activation of another name");
    }
}

/// A stack of matrices with dimensions in another order, as settings say.
inline elements turned_stack(call const& of, std::size_t at, char const* matrices, char const* batches) {
    elements const& in = of.operand(at);
    std::size_t const rank = in.extents.size();
    if (rank < 2) return in;
    shape extents = in.extents, steps = strides_of(in.extents);
    auto const turn = [&](auto const& change) { change(extents), change(steps); };
    if (of.integer(batches, 0) != 0) turn([](shape& all) { std::rotate(all.begin(), all.begin() + 1, all.end() - 1); });
    if (of.integer(matrices, 0) != 0) turn([](shape& all) { std::swap(all[all.size() - 2], all.back()); });
    return pick(in, extents, walk<std::size_t>(extents, 0, steps));
}
inline elements fused_matmul(call const& of) {
    elements const a = turned_stack(of, 0, "transA", "transBatchA"), b = turned_stack(of, 1, "transB", "transBatchB");
    product_shape const extents(a.extents, b.extents);
    auto made = product_of(extents, floats_of(a), floats_of(b));
    for (double& one : made) one *= of.real("alpha", 1);
    return of_reals(a.type, extents.result, made);
}
inline elements fused_gemm(call const& of) {
    elements const made = gemm(of);
    std::vector<float> numbers;
    for (char const* name : {"activation_alpha", "activation_beta"}) {
        if (of.has(name)) numbers.push_back(static_cast<float>(of.real(name, 0)));
    }
    auto values = reals_of(made);
    activate(values, of.word("activation", ""), numbers);
    return of_reals(made.type, made.extents, values);
}
/// Operands: those of Conv, and what is added to its result.
inline elements fused_conv(call const& of) {
    elements const made = conv(of);
    auto values = reals_of(made);
    if (auto const* more = of.find(3)) {
        require(more->extents == made.extents, "a sum of other extents");
        auto const added = reals_of(*more);
        for (std::size_t at = 0; at < values.size(); ++at) values[at] += added[at];
    }
    auto const* numbers = of.setting<std::vector<float>>("activation_params");
    activate(values, of.word("activation", ""), numbers != nullptr ? *numbers : std::vector<float>{});
    return of_reals(made.type, made.extents, values);
}

/// The first operand, plus others that broadcast to it.
inline std::vector<double> sum_of(call const& of, std::vector<std::size_t> const& more) {
    auto values = floats_of(of.operand(0));
    for (std::size_t const at : more) {
        if (of.find(at) == nullptr) continue;
        places const from = broadcast_places(of.operand(at).extents, of.operand(0).extents);
        auto const added = floats_of(of.operand(at));
        for (std::size_t to = 0; to < values.size(); ++to) values[to] += added[from[to]];
    }
    return values;
}
/// The normal distribution's share below x, times x.
inline double gelu_by_integral(double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }
inline double gelu_by_tangent(double x) {
    double const inner = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    return x / 2 * (1 + std::tanh(inner));
}
template <double (*f)(double)>
elements of_sum(call const& of) {
    auto values = sum_of(of, {1});
    for (double& one : values) one = f(one);
    return of_reals(of.operand(0).type, of.operand(0).extents, values);
}
inline elements quick_gelu(call const& of) {
    return mapped_floats(of, [alpha = of.real("alpha", 1.702f)](double x) { return x * sigmoid_of(alpha * x); });
}

/// A sum and its rows, normalised. Results 1 and 2 are left out; 3 is the sum.
///
/// @param mean  whether the mean of a row is taken away first
inline results normalised_sum(call const& of, std::size_t bias, bool mean, elements const* shift) {
    auto const& in = of.operand(0);
    require(of.node.outputs.size() < 2 || of.node.outputs[1] == network::no_tensor, "mean and deviation as results");
    require(of.node.outputs.size() < 3 || of.node.outputs[2] == network::no_tensor, "mean and deviation as results");
    auto values = sum_of(of, {1, bias});
    elements const sum = of_reals(in.type, in.extents, values);
    auto const scale = reals_of(of.operand(2));
    auto const added = shift != nullptr ? reals_of(*shift) : std::vector<double>(scale.size(), 0);
    auto const width = static_cast<std::size_t>(in.extents.back());
    require(scale.size() == width && added.size() == width, "a scale that does not fit");
    for (std::size_t first = 0; first < values.size(); first += width) {
        double middle = 0, squares = 0;
        for (std::size_t at = 0; at < width && mean; ++at) middle += values[first + at] / static_cast<double>(width);
        for (std::size_t at = 0; at < width; ++at) squares += std::pow(values[first + at] - middle, 2);
        double const root = std::sqrt(squares / static_cast<double>(width) + of.real("epsilon", 1e-12f));
        for (std::size_t at = 0; at < width; ++at) values[first + at] = (values[first + at] - middle) / root * scale[at] + added[at];
    }
    return {of_reals(in.type, in.extents, values), {}, {}, sum};
}
inline results skip_layer_normalization(call const& of) { return normalised_sum(of, 4, true, of.find(3)); }
inline results skip_simplified_layer_normalization(call const& of) { return normalised_sum(of, 3, false, nullptr); }

}  // namespace tilewright::reference::of_microsoft
