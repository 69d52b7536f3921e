#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tilewright/import/arithmetic.hpp>
#include <tilewright/import/normalisation.hpp>
#include <tilewright/import/products.hpp>
#include <tilewright/import/windows.hpp>
#include <vector>

// Operators of floats into which ONNX Runtime's optimiser joins several of ONNX, of domain com.microsoft.
namespace tilewright::imported::detail::microsoft {

/// An activation by its name, with the numbers that it needs.
inline value activated(std::string const& name, std::vector<float> const& numbers, value const& x) {
    auto const count = [&](std::size_t wanted) {
        if (numbers.size() < wanted)
            throw not_imported("activation " + network::shown(name) + " has " + std::to_string(numbers.size()) + " numbers and needs " +
                               std::to_string(wanted));
    };
    auto const at = [&](std::size_t which) { return like(x, static_cast<double>(numbers[which])); };
    if (name.empty()) return x;
    if (name == "Relu") return relu_of(x);
    if (name == "Sigmoid") return logistic(x);
    if (name == "Tanh") return hyperbolic_tangent(x);
    if (name == "LeakyRelu") return count(1), once(x, [&](value const& one) { return choose(one < like(one, 0), one * at(0), one); });
    if (name == "HardSigmoid") return count(2), larger_of(like(x, 0), smaller_of(like(x, 1), x * at(0) + at(1)));
    if (name == "Clip") return count(2), smaller_of(larger_of(x, at(0)), at(1));
    throw not_imported("activation " + network::shown(name));
}
/// A stack of matrices [..., rows, columns]. Of one that is turned, the last two dimensions change places. Of one whose batches are, rows
/// come first: [rows, ..., columns].
inline view stack_of(lowering& of, std::size_t operand, char const* turned, char const* turned_batches) {
    view made = of.operand(operand);
    if (made.rank() < 2) return made;
    if (integer(of, turned_batches, 0) != 0) {
        shape order;
        for (int at = 1; at + 1 < made.rank(); ++at) order.push_back(at);
        order.push_back(0), order.push_back(made.rank() - 1);
        made = transposed(made, order);
    }
    if (integer(of, turned, 0) == 0) return made;
    shape order;
    for (int at = 0; at + 2 < made.rank(); ++at) order.push_back(at);
    order.push_back(made.rank() - 1), order.push_back(made.rank() - 2);
    return transposed(made, order);
}
inline void product_of_stacks(lowering& of) {
    auto const with = operands_of_product(of, stack_of(of, 0, "transA", "transBatchA"), stack_of(of, 1, "transB", "transBatchB"));
    double const alpha = static_cast<double>(real(of, "alpha", 1));
    of.compute(loops_of_result(with), product_at(with.a, with.b, with.loops, with.a.type(), same, same), 0,
               [&](value const& sum) { return alpha == 1 ? sum : sum * like(sum, alpha); });
}
/// A product of matrices with an activation.
inline void general_product_activated(lowering& of) {
    std::vector<float> numbers;
    for (char const* name : {"activation_alpha", "activation_beta"}) {
        if (auto const found = setting<float>(of, name)) numbers.push_back(*found);
    }
    std::string const name = word(of, "activation", "");
    general_product(of, [&](product_operands const& with, value const& what) {
        of.compute(with.loops, what, 0, [&](value const& x) { return activated(name, numbers, x); });
    });
}
/// A convolution, to which operand 3 is added before the activation.
inline void convolve_activated(lowering& of) {
    view const x = of.operand(0);
    std::optional<view> const bias = of.has(2) ? std::optional(of.operand(2)) : std::nullopt;
    auto const made = convolution(of, x, of.operand(1), bias, x.type(), number(std::int64_t{0}, x.type()), same, same);
    shape whole;
    for (shape const& parts : made.loops.extents) whole.push_back(count_of(parts));
    std::optional<view> added;
    if (of.has(3)) {
        if (of.operand(3).shape() != whole) throw not_imported("a sum of " + text_of(whole) + " and " + text_of(of.operand(3).shape()));
        added = of.indexable(of.operand(3));
    }
    of.compute(made.loops, made.sum, 0, [&](value const& sum) {
        auto const numbers = setting<std::vector<float>>(of, "activation_params").value_or(std::vector<float>{});
        return activated(word(of, "activation", ""), numbers, added ? sum + imported::at(*added, made.loops) : sum);
    });
}
/// The sum of x and a bias, if there is one.
template <class Function>
void each_biased(lowering& of, bool needs_bias, Function const& function) {
    bool const biased = needs_bias || of.has(1);
    if (biased && of.operand(1).shape() != shape{of.operand(0).extent(of.operand(0).rank() - 1)})
        throw not_imported("a bias of " + text_of(of.operand(1).shape()) + " for rows of " + text_of(of.operand(0).shape()));
    elementwise(of, biased ? 2 : 1, [&](auto const& x) { return function(biased ? x[0] + x[1] : x[0]); });
}
inline void gelu_of_sum(lowering& of) {
    each_biased(of, true, [](value const& x) { return gelu_of(x, false); });
}
inline void gelu_plain(lowering& of) {
    elementwise(of, 1, [](auto const& x) { return gelu_of(x[0], false); });
}
inline void gelu_fast(lowering& of) {
    each_biased(of, false, [](value const& x) { return gelu_of(x, true); });
}
inline void gelu_quick(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 1.702f));
    elementwise(of, 1, [&](auto const& given) { return once(given[0], [&](value const& x) { return x * logistic(x * like(x, alpha)); }); });
}
/// x plus what skips a layer, plus a bias: a stage, or result 3 where that is wanted.
inline view skipped_sum(lowering& of, std::size_t bias, std::vector<bool>& gone) {
    if (of.wants(1) || of.wants(2)) throw not_imported("mean and deviation as results");
    view const x = of.operand(0);
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::vector<view> all{x, repeated_to(of.operand(1), x.shape())};
    if (of.has(bias)) all.push_back(repeated_to(of.operand(bias), x.shape()));
    gone.assign(x.dimensions.size(), false);
    gone.back() = true;
    space const loops = of.loops(all, x.shape());
    value sum = imported::at(all[0], loops) + imported::at(all[1], loops);
    if (of.has(bias)) sum = sum + imported::at(all[2], loops);
    return of.wants(3) ? of.compute(loops, sum, 3) : of.stage(loops, sum, shared_dimensions(gone));
}
inline void normalise_skipped(lowering& of) {
    std::vector<bool> gone;
    view const sum = skipped_sum(of, 4, gone);
    auto const made = normalised(of, sum, gone, static_cast<double>(real(of, "epsilon", 1e-12f)), true);
    scale_and_shift(of, made, of.operand(2), of.has(3) ? std::optional(of.operand(3)) : std::nullopt);
}
inline void normalise_skipped_by_root(lowering& of) {
    std::vector<bool> gone;
    view const sum = skipped_sum(of, 3, gone);
    divide_by_root_mean_square(of, sum, gone, of.operand(2), static_cast<double>(real(of, "epsilon", 1e-12f)));
}

}  // namespace tilewright::imported::detail::microsoft
