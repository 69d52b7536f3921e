#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tilewright/import/arithmetic.hpp>
#include <tilewright/import/quantised_elementwise.hpp>
#include <vector>

// Operators of TensorFlow Lite that are functions of floats, or compare; and those of int8 that have a table or fixed point.
namespace tilewright::imported::detail::tflite {

inline void need_floats(lowering const& of, std::initializer_list<std::size_t> operands) {
    if (!computes_floats(of, operands)) throw not_imported("of elements of int8, for which only kernels of floats are known");
}
/// A function of floats alone.
template <value (*Function)(value const&)>
void function_of_floats(lowering& of) {
    need_floats(of, {0});
    elementwise(of, 1, [](auto const& x) { return Function(x[0]); });
}
inline value reciprocal_root(value const& x) { return reciprocal(root_of(x)); }
inline value exponential_below_0(value const& of) {
    return once(of, [](value const& x) { return choose(x < like(x, 0), exponential(x) - like(x, 1), x); });
}

/// A function of floats as a table of int8, of any scale.
///
/// @throws not_imported  where an element has no integer: the kernel would convert a float that an int32 cannot hold
template <class Function>
void function_by_any_table(lowering& of, Function const& function) {
    quantisation const in = operand_quantisation(of, 0), out = result_quantisation(of);
    std::vector<std::int64_t> table;
    for (std::int64_t q = -128; q < 128; ++q) {
        float const made = function(in.scale * static_cast<float>(q - in.zero_point)) * (1 / out.scale);
        if (!(std::abs(made) < 0x1p31f - 256)) throw not_imported("a result that int32 does not hold in steps of its scale");
        table.push_back(std::clamp<std::int64_t>(nearest_away(static_cast<double>(made)) + out.zero_point, -128, 127));
    }
    elementwise(of, 1, [&](auto const& x) { return by_table(of, x[0], -128, table, scalar_type::int8); });
}
inline void power_of_e_of(lowering& of) {
    if (computes_floats(of, {0})) return elementwise(of, 1, [](auto const& x) { return exponential(x[0]); });
    function_by_any_table(of, [](float x) { return static_cast<float>(std::exp(static_cast<double>(x))); });
}
/// Of int8 that are not above 0, the lowest.
inline void logarithm_of(lowering& of) {
    if (computes_floats(of, {0})) return elementwise(of, 1, [](auto const& x) { return logarithm(x[0]); });
    quantisation const out = result_quantisation(of);
    float const lowest = static_cast<float>(-128 - out.zero_point) * out.scale;
    function_by_any_table(of, [&](float x) { return x <= 0 ? lowest : static_cast<float>(std::log(static_cast<double>(x))); });
}
/// Rescaled by the quotient of the scales, a float, where they differ.
inline void magnitude_of(lowering& of) {
    if (computes_floats(of, {0})) return elementwise(of, 1, [](auto const& x) { return magnitude(x[0]); });
    quantisation const in = operand_quantisation(of, 0), out = result_quantisation(of);
    fixed_scale const by = fixed_scale_of(static_cast<double>(in.scale / out.scale));
    elementwise(of, 1, [&](auto const& x) {
        value const size = magnitude(without_zero_point(x[0], in));
        return with_zero_point(in.scale == out.scale ? size : rescaled(size, by), out.zero_point, {});
    });
}

inline void divide(lowering& of) {
    need_floats(of, {0, 1});
    elementwise(of, 2, [&](auto const& x) { return activated(of, x[0] / x[1]); });
}
inline void divide_to_whole(lowering& of) {
    need_floats(of, {0, 1});
    elementwise(of, 2, [](auto const& x) { return floor_of(x[0] / x[1]); });
}
inline void raise(lowering& of) {
    need_floats(of, {0, 1});
    power(of);
}
inline fixed_scale below_1(double real, char const* what) {
    if (!(real < 1)) throw not_imported(std::string(what) + " of " + std::to_string(real) + ", which has to be below 1");
    return fixed_scale_of(real);
}
/// Both operands are shifted to the left by 7 bits and brought to twice the larger scale.
inline void square_difference(lowering& of) {
    if (computes_floats(of, {0, 1}))
        return elementwise(of, 2, [](auto const& x) { return once(x[0] - x[1], [](value const& one) { return one * one; }); });
    quantisation const in[] = {operand_quantisation(of, 0), operand_quantisation(of, 1)}, out = result_quantisation(of);
    double const twice = 2 * static_cast<double>(std::max(in[0].scale, in[1].scale));
    fixed_scale const by = below_1(twice * twice / (16384 * static_cast<double>(out.scale)), "a factor of the square");
    elementwise(of, 2, [&](auto const& x) {
        auto const scaled = [&](std::size_t at) {
            return rescaled(without_zero_point(x[at], in[at]) * in32(128), fixed_scale_of(static_cast<double>(in[at].scale) / twice));
        };
        value const square = once(scaled(0) - scaled(1), [](value const& one) { return one * one; });
        return with_zero_point(rescaled(square, by), out.zero_point, {});
    });
}

inline bool is_boolean(network::tensor const& of) { return of.type == network::element_type::boolean; }
inline void need_booleans(lowering const& of, std::size_t operands) {
    for (std::size_t at = 0; at < operands; ++at) {
        if (!is_boolean(operand_tensor(of, at))) throw not_imported("a truth of " + type_text(operand_tensor(of, at)));
    }
}
/// Integers of int8 are compared times 256 and their scale, in fixed point.
template <operation Op, bool Swapped = false>
void compare(lowering& of) {
    network::tensor const &a = operand_tensor(of, 0), &b = operand_tensor(of, 1);
    bool const integers = is_int8(a) && is_int8(b);
    if (!integers && !(is_float32(a) && is_float32(b))) throw not_imported("of elements of " + type_text(a) + " and " + type_text(b));
    auto const scaled = [&](value const& x, std::size_t at) {
        if (!integers) return x;
        quantisation const with = operand_quantisation(of, at);
        return rescaled(without_zero_point(x, with) * in32(256), below_1(static_cast<double>(with.scale), "a scale"));
    };
    elementwise(of, 2, [&](auto const& x) {
        value const left = scaled(x[0], 0), right = scaled(x[1], 1);
        return truth(Swapped ? binary(Op, right, left) : binary(Op, left, right));
    });
}
template <operation Op>
void combine_truths(lowering& of) {
    need_booleans(of, 2);
    logic<Op>(of);
}
inline void negate_truth(lowering& of) {
    need_booleans(of, 1);
    unary<not_of>(of);
}
/// An element of the second operand where the first is true, or else of the third. A list of truths is one of rows, where `rows` says so.
template <bool Rows>
void choose_elements(lowering& of) {
    need_booleans(of, 1);
    if (!computes_floats(of, {1, 2})) need_same_quantisation(of, 1), need_same_quantisation(of, 2);
    std::vector<view> all{of.operand(0), of.operand(1), of.operand(2)};
    shape whole = all[1].shape();
    if (Rows) {
        if (all[2].shape() != whole) throw not_imported("a choice between " + text_of(whole) + " and " + text_of(all[2].shape()));
        bool const rows = all[0].rank() == 1 && all[0].shape() != whole && all[0].elements() != 1;
        if (rows) all[0].dimensions.resize(whole.size());
        bool const fits = all[0].elements() == 1 || (rows ? all[0].extent(0) == whole[0] : all[0].shape() == whole);
        if (!fits) throw not_imported("truths of " + text_of(of.operand(0).shape()) + " for " + text_of(whole));
        if (all[0].elements() == 1) all[0].dimensions.clear();
    } else {
        for (view const& one : all) {
            auto const common = common_shape(whole, one.shape());
            if (!common) throw not_imported("shapes " + text_of(whole) + " and " + text_of(one.shape()) + " do not fit");
            whole = *common;
        }
    }
    for (view& one : all) one = repeated_to(one, whole);
    space const loops = of.loops(all, whole);
    of.compute(loops, choose(is_true(imported::at(all[0], loops)), imported::at(all[1], loops), imported::at(all[2], loops)), 0);
}

}  // namespace tilewright::imported::detail::tflite
