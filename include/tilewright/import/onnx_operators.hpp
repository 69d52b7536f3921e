#pragma once
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <tilewright/compute/exponential.hpp>
#include <tilewright/import/layers.hpp>

// What the operators of ONNX are made of: a function for each family, and one table of all that are imported.
namespace tilewright::imported {

/// An operator that is imported: its name, the first version of the operators that has this meaning, and what makes it.
struct operator_entry {
    std::string_view name;
    void (*make)(lowering&);
};

namespace detail {

using shape = std::vector<std::int64_t>;

inline std::int64_t integer(lowering const& of, std::string_view name, std::int64_t otherwise) {
    auto const* found = of.node->find(name);
    auto const* held = found ? std::get_if<std::int64_t>(found) : nullptr;
    return held ? *held : otherwise;
}
inline float real(lowering const& of, std::string_view name, float otherwise) {
    auto const* found = of.node->find(name);
    auto const* held = found ? std::get_if<float>(found) : nullptr;
    return held ? *held : otherwise;
}
inline std::string word(lowering const& of, std::string_view name, std::string const& otherwise) {
    auto const* found = of.node->find(name);
    auto const* held = found ? std::get_if<std::string>(found) : nullptr;
    return held ? *held : otherwise;
}
inline std::optional<shape> integers(lowering const& of, std::string_view name) {
    auto const* found = of.node->find(name);
    auto const* held = found ? std::get_if<shape>(found) : nullptr;
    return held ? std::optional(*held) : std::nullopt;
}
/// A list that newer versions give as an operand and older ones as an attribute.
inline std::optional<shape> list(lowering& of, std::string_view name, std::size_t operand) {
    if (of.has(operand)) return of.known_integers(operand);
    return integers(of, name);
}
inline int dimension_of(std::int64_t given, int rank) {
    if (given < -rank || given >= rank) throw not_imported("axis " + std::to_string(given) + " of " + std::to_string(rank) + " dimensions");
    return static_cast<int>(given < 0 ? given + rank : given);
}
inline std::string text_of(shape const& of) {
    std::string text;
    for (std::int64_t const one : of) text += (text.empty() ? "" : "x") + std::to_string(one);
    return text.empty() ? "a scalar" : text;
}
inline void need_float(value const& of) {
    if (!is_float(of.type())) throw not_imported(std::string("of elements of ") + name_of(of.type()));
}
inline void need_float32(value const& of) {
    if (of.type() != scalar_type::float32) throw not_imported(std::string("of elements of ") + name_of(of.type()) + ", not of float");
}

// --- values -----------------------------------------------------------------------------------------------------------------------------

inline value like(value const& of, double constant) { return number(constant, of.type()); }
inline value negated(value const& of) { return is_float(of.type()) ? of * like(of, -1) : number(std::int64_t{0}, of.type()) - of; }
inline value exponential(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    return apply(exp(x), {{"x", of}});
}
/// The square root, by Heron's rule from a first guess of the exponent.
inline value root_of(value const& of) {
    need_float32(of);
    auto const half = number(0.5, scalar_type::float32);
    parameter<float> const x{"x"}, y{"y"};
    value near = apply(reinterpret<float>((reinterpret<std::int32_t>(x) >> 1) + 0x1fbb4f2e), {{"x", of}});
    for (int round = 0; round < 3; ++round) near = apply((y + x / y) * 0.5f, {{"x", of}, {"y", near}});
    return apply(select(x == 0.0f, x, select(x < std::numeric_limits<float>::infinity(), y, x)), {{"x", of}, {"y", near}});
}
inline value hyperbolic_tangent(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"}, s{"s"};
    value const square = of * of;
    // Near 0 a series keeps the digits that the quotient would lose.
    value const near =
        apply(x + x * s * (s * (s * (s * 0.021869488f - 0.053968254f) + 0.13333333f) - 0.33333333f), {{"x", of}, {"s", square}});
    value const far = apply(1.0f - 2.0f / (exp(x * 2.0f) + 1.0f), {{"x", of}});
    return choose(square < like(of, 0.09), near, far);
}
inline value logistic(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    return apply(1.0f / (exp(x * -1.0f) + 1.0f), {{"x", of}});
}
inline value magnitude(value const& of) {
    if (is_unsigned(of.type())) return of;
    return larger_of(of, negated(of));
}
inline value truth(value const& condition) {
    return choose(condition, number(std::int64_t{1}, scalar_type::uint8), number(std::int64_t{0}, scalar_type::uint8));
}
inline value is_true(value const& of) { return binary(operation::not_equal, of, number(std::int64_t{0}, of.type())); }
/// Towards minus infinity; what has no fraction stays.
template <tilewright::detail::symbolic T>
constexpr auto floor(T const& x) {
    return tilewright::detail::compute_once(tilewright::detail::to_expression(x), [](auto const& given) {
        auto const whole = cast<float>(cast<std::int32_t>(given));
        return select(max(given, given * -1.0f) < 8388608.0f, select(given < whole, whole - 1.0f, whole), given);
    });
}
inline value floor_of(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    return apply(floor(x), {{"x", of}});
}
/// To the nearest; of halves, the even one.
inline value nearest_even(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    auto const rounded = tilewright::detail::compute_once(floor(x), [&](auto const& lower) {
        auto const rest = x - lower;
        auto const is_even = floor(lower * 0.5f) == lower * 0.5f;
        return select(rest < 0.5f, lower, select(0.5f < rest, lower + 1.0f, select(is_even, lower, lower + 1.0f)));
    });
    return apply(rounded, {{"x", of}});
}

/// The only element of a view.
inline value scalar_of(view of) {
    of.dimensions.clear();
    return imported::at(of, space{});
}
/// A known scalar as a number of this type.
inline value like_known(lowering const& of, std::size_t operand, scalar_type type) {
    if (is_float(type)) return number(of.known_numbers(operand).at(0), type);
    return number(of.known_integers(operand).at(0), type);
}
/// A kernel of an operand's elements with the scale and the zero point of each: one for all, or one for each index along `axis`.
template <class Make>
void quantised(lowering& of, view const& x, Make const& make, scalar_type zero_type) {
    auto const of_elements = [&](view one) {
        if (one.elements() == 1) one.dimensions.clear();
        if (one.rank() > 0) {
            int const axis = dimension_of(integer(of, "axis", 1), x.rank());
            for (int at = axis + 1; at < x.rank(); ++at) one.dimensions.push_back(factors{});
        }
        return repeated_to(one, x.shape());
    };
    view const scale = of_elements(of.operand(1));
    std::optional<view> const zero = of.has(2) ? std::optional(of_elements(of.operand(2))) : std::nullopt;
    space const loops = loops_over(zero ? std::vector<view>{x, scale, *zero} : std::vector<view>{x, scale}, x.shape());
    of.compute(
        loops,
        make(imported::at(x, loops), imported::at(scale, loops), zero ? imported::at(*zero, loops) : number(std::int64_t{0}, zero_type)),
        0);
}

// --- each element -----------------------------------------------------------------------------------------------------------------------

template <class Make>
void elementwise(lowering& of, std::size_t operands, Make const& make) {
    std::vector<view> all;
    shape whole;
    for (std::size_t at = 0; at < operands; ++at) {
        all.push_back(of.operand(at));
        auto const common = common_shape(whole, all.back().shape());
        if (!common) throw not_imported("shapes " + text_of(whole) + " and " + text_of(all.back().shape()) + " do not fit");
        whole = *common;
    }
    for (view& one : all) one = repeated_to(one, whole);
    space const loops = loops_over(all, whole);
    std::vector<value> values;
    for (view const& one : all) values.push_back(imported::at(one, loops));
    of.compute(loops, make(values), 0);
}
template <value (*Of)(value const&)>
void unary(lowering& of) {
    elementwise(of, 1, [](auto const& x) { return Of(x[0]); });
}
template <operation Op>
void two(lowering& of) {
    elementwise(of, 2, [](auto const& x) { return binary(Op, x[0], x[1]); });
}
template <operation Op, bool Swapped = false, bool Negated = false>
void comparison(lowering& of) {
    elementwise(of, 2, [](auto const& x) {
        value const holds = binary(Op, x[Swapped ? 1 : 0], x[Swapped ? 0 : 1]);
        return Negated ? truth(binary(operation::equal, truth(holds), number(std::int64_t{0}, scalar_type::uint8))) : truth(holds);
    });
}
template <operation Op>
void logic(lowering& of) {
    elementwise(of, 2, [](auto const& x) { return truth(binary(Op, is_true(x[0]), is_true(x[1]))); });
}
template <operation Op, bool Mean = false>
void several(lowering& of) {
    elementwise(of, of.node->inputs.size(), [](auto const& x) {
        value whole = x[0];
        for (std::size_t at = 1; at < x.size(); ++at) whole = binary(Op, whole, x[at]);
        return Mean ? whole / number(static_cast<double>(x.size()), whole.type()) : whole;
    });
}
inline void quotient(lowering& of) {
    elementwise(of, 2, [](auto const& x) {
        // The language rounds so that the remainder is not negative; ONNX truncates.
        if (is_float(x[0].type()) || is_unsigned(x[0].type())) return x[0] / x[1];
        throw not_imported("a quotient of signed integers");
    });
}
inline value relu_of(value const& x) { return larger_of(x, number(std::int64_t{0}, x.type())); }
inline value reciprocal(value const& x) { return need_float(x), like(x, 1) / x; }
inline value same(value const& x) { return x; }
inline value not_of(value const& x) { return truth(equal(x, number(std::int64_t{0}, x.type()))); }
inline value sign_of(value const& x) {
    value const zero = number(std::int64_t{0}, x.type()), one = number(std::int64_t{1}, x.type());
    value const not_less = choose(zero < x, one, zero);
    return is_unsigned(x.type()) ? not_less : choose(x < zero, number(std::int64_t{-1}, x.type()), not_less);
}
inline value ceiling(value const& x) { return negated(floor_of(negated(x))); }
inline value softsign(value const& x) { return need_float(x), x / (like(x, 1) + magnitude(x)); }
inline value hard_swish(value const& x) {
    need_float(x);
    return x * larger_of(like(x, 0), smaller_of(like(x, 1), x * like(x, 1.0 / 6) + like(x, 0.5)));
}
inline void hard_sigmoid(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 0.2f)), beta = static_cast<double>(real(of, "beta", 0.5f));
    elementwise(of, 1, [&](auto const& x) {
        need_float(x[0]);
        return larger_of(like(x[0], 0), smaller_of(like(x[0], 1), x[0] * like(x[0], alpha) + like(x[0], beta)));
    });
}
inline void leaky(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 0.01f));
    elementwise(of, 1, [&](auto const& x) { return need_float(x[0]), choose(x[0] < like(x[0], 0), x[0] * like(x[0], alpha), x[0]); });
}
inline void parametric(lowering& of) {
    elementwise(of, 2, [](auto const& x) { return choose(x[0] < number(std::int64_t{0}, x[0].type()), x[0] * x[1], x[0]); });
}
inline void thresholded(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 1.0f));
    elementwise(of, 1, [&](auto const& x) { return need_float(x[0]), choose(like(x[0], alpha) < x[0], x[0], like(x[0], 0)); });
}
/// x above 0, gamma * alpha * (exp(x / divisor) - 1) below.
inline void exponential_unit(lowering& of, float alpha, float gamma, float divisor) {
    elementwise(of, 1, [&](auto const& x) {
        value const below = (exponential(x[0] / like(x[0], static_cast<double>(divisor))) - like(x[0], 1)) *
                            like(x[0], static_cast<double>(alpha) * static_cast<double>(gamma));
        return choose(like(x[0], 0) < x[0], x[0] * like(x[0], static_cast<double>(gamma)), below);
    });
}
inline void elu(lowering& of) { exponential_unit(of, real(of, "alpha", 1), 1, 1); }
inline void selu(lowering& of) { exponential_unit(of, real(of, "alpha", 1.67326319f), real(of, "gamma", 1.05070102f), 1); }
inline void celu(lowering& of) { exponential_unit(of, real(of, "alpha", 1), 1, real(of, "alpha", 1)); }
inline void clip(lowering& of) {
    elementwise(of, 1, [&](auto const& x) {
        value limited = x[0];
        auto const limit = [&](std::size_t operand, char const* name, operation op) {
            if (of.has(operand)) limited = binary(op, limited, like_known(of, operand, limited.type()));
            else if (of.node->find(name)) limited = binary(op, limited, number(static_cast<double>(real(of, name, 0)), limited.type()));
        };
        limit(1, "min", operation::maximum);
        limit(2, "max", operation::minimum);
        return limited;
    });
}
inline void convert_to(lowering& of) {
    // The numbers of ONNX's element types.
    static constexpr scalar_type types[] = {scalar_type::literal, scalar_type::float32, scalar_type::uint8,   scalar_type::int8,
                                            scalar_type::uint16,  scalar_type::int16,   scalar_type::int32,   scalar_type::int64,
                                            scalar_type::literal, scalar_type::boolean, scalar_type::literal, scalar_type::float64,
                                            scalar_type::uint32,  scalar_type::uint64};
    std::int64_t const number_of_type = integer(of, "to", 0);
    scalar_type const to = number_of_type > 0 && number_of_type < 14 ? types[number_of_type] : scalar_type::literal;
    if (to == scalar_type::literal) throw not_imported("to elements of type " + std::to_string(number_of_type));
    elementwise(of, 1, [&](auto const& x) { return to == scalar_type::boolean ? truth(is_true(x[0])) : convert(x[0], to); });
}
inline void where(lowering& of) {
    elementwise(of, 3, [](auto const& x) { return choose(is_true(x[0]), x[1], x[2]); });
}
/// Scales and zero points of a quantisation, as operands of the elements: one for all, or one for each index along `axis`.
inline void quantise(lowering& of) {
    view const x = of.operand(0);
    scalar_type const to = of.has(2) ? of.operand(2).type() : scalar_type::uint8;
    quantised(
        of, x,
        [&](value const& one, value const& scale, value const& zero) {
            value const scaled = nearest_even(one / scale) + convert(zero, scalar_type::float32);
            value const limited = larger_of(number(static_cast<double>(lowest_of(to)), scalar_type::float32),
                                            smaller_of(number(static_cast<double>(highest_of(to)), scalar_type::float32), scaled));
            return convert(convert(limited, scalar_type::int32), to);
        },
        to);
}
inline void dequantise(lowering& of) {
    view const x = of.operand(0);
    quantised(
        of, x,
        [&](value const& one, value const& scale, value const& zero) {
            return convert(convert(one, scalar_type::int32) - convert(zero, scalar_type::int32), scalar_type::float32) * scale;
        },
        x.type());
}

// --- movement ---------------------------------------------------------------------------------------------------------------------------

inline void reshape_to(lowering& of, view const& from, shape const& to) {
    if (auto const made = reshaped(from, to)) return of.give(0, *made);
    throw not_imported("from " + text_of(from.shape()) + " to " + text_of(to) + ": elements would have to be copied");
}
inline void reshape(lowering& of) {
    view const from = of.operand(0);
    shape to = of.has(1) ? of.known_integers(1) : integers(of, "shape").value_or(shape{});
    std::int64_t rest = from.elements(), left_out = -1;
    for (std::size_t at = 0; at < to.size(); ++at) {
        if (to[at] == 0 && at < from.dimensions.size() && integer(of, "allowzero", 0) == 0) to[at] = from.extent(static_cast<int>(at));
        if (to[at] == -1) left_out = static_cast<std::int64_t>(at);
        else if (to[at] < 1 || rest % to[at] != 0) throw not_imported("to a shape that has another number of elements");
        else rest /= to[at];
    }
    if (left_out >= 0) to[static_cast<std::size_t>(left_out)] = rest;
    reshape_to(of, from, to);
}
inline void flatten(lowering& of) {
    view const from = of.operand(0);
    std::int64_t const axis = integer(of, "axis", 1), at = axis < 0 ? axis + from.rank() : axis;
    std::int64_t outer = 1;
    for (int dimension = 0; dimension < at; ++dimension) outer *= from.extent(dimension);
    reshape_to(of, from, {outer, from.elements() / outer});
}
inline void squeeze(lowering& of) {
    view made = of.operand(0);
    auto const axes = list(of, "axes", 1);
    std::vector<bool> gone(made.dimensions.size(), false);
    for (int at = 0; !axes && at < made.rank(); ++at) gone[static_cast<std::size_t>(at)] = made.extent(at) == 1;
    for (std::int64_t const one : axes.value_or(shape{})) gone[static_cast<std::size_t>(dimension_of(one, made.rank()))] = true;
    std::vector<factors> kept;
    for (std::size_t at = 0; at < gone.size(); ++at) {
        if (!gone[at]) kept.push_back(made.dimensions[at]);
    }
    made.dimensions = kept;
    of.give(0, made);
}
inline void unsqueeze(lowering& of) {
    view made = of.operand(0);
    shape axes = list(of, "axes", 1).value_or(shape{});
    int const rank = made.rank() + static_cast<int>(axes.size());
    for (std::int64_t& one : axes) one = dimension_of(one, rank);
    std::sort(axes.begin(), axes.end());
    for (std::int64_t const one : axes) made.dimensions.insert(made.dimensions.begin() + one, factors{});
    of.give(0, made);
}
inline void transpose(lowering& of) {
    view const from = of.operand(0);
    std::vector<int> order;
    for (int at = from.rank(); at-- > 0;) order.push_back(at);
    if (auto const given = integers(of, "perm")) order.assign(given->begin(), given->end());
    of.give(0, transposed(from, order));
}
inline void expand(lowering& of) {
    view const from = of.operand(0);
    auto const to = common_shape(from.shape(), of.known_integers(1));
    if (!to) throw not_imported("to a shape that does not fit");
    of.give(0, repeated_to(from, *to));
}
inline void tile(lowering& of) {
    view made = of.operand(0);
    shape const times = of.known_integers(1);
    for (std::size_t at = 0; at < made.dimensions.size(); ++at) {
        if (times[at] > 1) made.dimensions[at].insert(made.dimensions[at].begin(), {times[at], shape(made.first.size(), 0)});
    }
    of.give(0, made);
}
inline view sliced_or_refused(view const& of, int dimension, std::int64_t begin, std::int64_t step, std::int64_t count) {
    if (count < 1) throw not_imported("a result without elements");
    auto const made = sliced(of, dimension, begin, step, count);
    if (!made) throw not_imported("a slice across dimensions that a reshape joined");
    return *made;
}
inline void slice(lowering& of) {
    view made = of.operand(0);
    auto const starts = list(of, "starts", 1), ends = list(of, "ends", 2);
    auto axes = list(of, "axes", 3);
    if (!starts || !ends) throw not_imported("starts and ends are missing");
    for (std::size_t at = 0; at < starts->size(); ++at) {
        int const dimension = axes ? dimension_of((*axes)[at], made.rank()) : static_cast<int>(at);
        std::int64_t const extent = made.extent(dimension), step = of.has(4) ? of.known_integers(4)[at] : 1;
        auto const limited = [&](std::int64_t given, std::int64_t low, std::int64_t high) {
            return std::clamp(given < 0 ? given + extent : given, low, high);
        };
        std::int64_t const begin = step > 0 ? limited((*starts)[at], 0, extent) : limited((*starts)[at], 0, extent - 1);
        std::int64_t const end = step > 0 ? limited((*ends)[at], 0, extent) : limited((*ends)[at], -1, extent - 1);
        std::int64_t const count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
        made = sliced_or_refused(made, dimension, begin, step, count);
    }
    of.give(0, made);
}
inline void split(lowering& of) {
    view const from = of.operand(0);
    int const dimension = dimension_of(integer(of, "axis", 0), from.rank());
    auto const sizes = list(of, "split", 1);
    std::int64_t const outputs = static_cast<std::int64_t>(of.node->outputs.size()),
                       each = (from.extent(dimension) + outputs - 1) / outputs;
    std::int64_t begin = 0;
    for (std::size_t at = 0; at < of.node->outputs.size(); ++at) {
        std::int64_t const count = sizes ? (*sizes)[at] : std::min(each, from.extent(dimension) - begin);
        of.give(at, sliced_or_refused(from, dimension, begin, 1, count));
        begin += count;
    }
}
inline void gather(lowering& of) {
    view const from = of.operand(0);
    int const dimension = dimension_of(integer(of, "axis", 0), from.rank());
    known_tensor const which = of.known(1);
    shape indices = lowering::integers_of(which);
    for (std::int64_t& one : indices) one += one < 0 ? from.extent(dimension) : 0;
    std::int64_t const step = indices.size() > 1 ? indices[1] - indices[0] : 1;
    for (std::size_t at = 1; at < indices.size(); ++at) {
        if (indices[at] - indices[at - 1] != step) throw not_imported("indices that are no arithmetic sequence");
    }
    view made = sliced_or_refused(from, dimension, indices[0], step, static_cast<std::int64_t>(indices.size()));
    shape to = from.shape();
    to.erase(to.begin() + dimension);
    to.insert(to.begin() + dimension, which.what.extents.begin(), which.what.extents.end());
    reshape_to(of, made, to);
}
inline void blocks(lowering& of, bool to_space) {
    view const from = of.operand(0);
    if (from.rank() != 4) throw not_imported("of " + std::to_string(from.rank()) + " dimensions");
    std::int64_t const size = integer(of, "blocksize", 1);
    shape const s = from.shape();
    bool const depth_first = to_space && word(of, "mode", "DCR") == "CRD";
    shape apart, made;
    std::vector<int> order;
    if (to_space) {
        apart =
            depth_first ? shape{s[0], s[1] / size / size, size, size, s[2], s[3]} : shape{s[0], size, size, s[1] / size / size, s[2], s[3]};
        order = depth_first ? std::vector<int>{0, 1, 4, 2, 5, 3} : std::vector<int>{0, 3, 4, 1, 5, 2};
        made = {s[0], s[1] / size / size, s[2] * size, s[3] * size};
    } else {
        apart = {s[0], s[1], s[2] / size, size, s[3] / size, size};
        order = {0, 3, 5, 1, 2, 4};
        made = {s[0], s[1] * size * size, s[2] / size, s[3] / size};
    }
    auto const cut_up = reshaped(from, apart);
    if (!cut_up) throw not_imported("of a tensor that would have to be copied");
    reshape_to(of, transposed(*cut_up, order), made);
}
template <bool ToSpace>
void blocks(lowering& of) {
    blocks(of, ToSpace);
}

inline void concatenate(lowering& of) {
    std::size_t const count = of.node->inputs.size();
    view const first = of.operand(0);
    int const dimension = dimension_of(integer(of, "axis", 1), first.rank());
    shape whole = first.shape();
    whole[static_cast<std::size_t>(dimension)] = 0;
    for (std::size_t at = 0; at < count; ++at) whole[static_cast<std::size_t>(dimension)] += of.operand(at).extent(dimension);
    space const loops = loops_over(whole);
    value const zero = number(std::int64_t{0}, first.type());
    value made;
    std::int64_t end = whole[static_cast<std::size_t>(dimension)];
    for (std::size_t at = count; at-- > 0;) {
        std::int64_t const begin = end - of.operand(at).extent(dimension);
        std::vector<value> indices;
        for (int one = 0; one < first.rank(); ++one) {
            value const along_it = loops.index(one);
            indices.push_back(one == dimension && begin > 0 ? along_it - number(begin, scalar_type::int32) : along_it);
        }
        value const part = padded_at(of.operand(at), indices, zero);
        // Each part is 0 outside of itself; what comes first is chosen where its end is not reached.
        made = made.nodes.empty() ? part : choose(loops.index(dimension) < number(end, scalar_type::int32), part, made);
        end = begin;
    }
    of.compute(loops, made, 0);
}
inline void pad(lowering& of) {
    if (word(of, "mode", "constant") != "constant") throw not_imported("mode `" + word(of, "mode", "") + "`");
    view const from = of.operand(0);
    shape const pads = list(of, "pads", 1).value_or(shape{});
    if (pads.size() != 2 * from.dimensions.size()) throw not_imported("pads of another number of dimensions");
    value const border = of.has(2) ? like_known(of, 2, from.type()) : number(static_cast<double>(real(of, "value", 0)), from.type());
    value const typed = is_float(from.type()) || of.has(2) ? border : number(std::int64_t{0}, from.type());
    shape whole = from.shape();
    for (std::size_t at = 0; at < whole.size(); ++at) whole[at] += pads[at] + pads[at + whole.size()];
    space const loops = loops_over(whole);
    std::vector<value> indices;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        value const index = loops.index(static_cast<int>(at));
        indices.push_back(pads[at] == 0 ? index : index - number(pads[at], scalar_type::int32));
    }
    of.compute(loops, padded_at(from, indices, typed), 0);
}
inline void constant(lowering& of) {
    auto const* found = of.node->find("value");
    auto const* held = found ? std::get_if<network::literal>(found) : nullptr;
    if (!held) throw not_imported("a constant that is no tensor");
    of.give_known(0, {{{}, type_of(held->type), held->extents}, of.from.constants[static_cast<std::size_t>(held->constant)]});
}
inline known_tensor known_integers64(shape const& values, shape const& extents) {
    known_tensor made{{{}, scalar_type::int64, extents}, {}};
    for (std::int64_t const one : values) {
        for (int byte = 0; byte < 8; ++byte) made.bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(one) >> 8 * byte));
    }
    return made;
}
inline void shape_of(lowering& of) {
    shape all = of.operand(0).shape();
    std::int64_t const rank = static_cast<std::int64_t>(all.size());
    auto const at = [&](std::int64_t given) { return std::clamp(given < 0 ? given + rank : given, std::int64_t{0}, rank); };
    std::int64_t const begin = at(integer(of, "start", 0)), end = at(integer(of, "end", rank));
    shape const part(all.begin() + begin, all.begin() + std::max(begin, end));
    of.give_known(0, known_integers64(part, {static_cast<std::int64_t>(part.size())}));
}
inline void size_of(lowering& of) { of.give_known(0, known_integers64({of.operand(0).elements()}, {})); }

// --- products ---------------------------------------------------------------------------------------------------------------------------

/// Splits loops of a view's last dimensions: the reduction of a product, whose operands share factors.
inline space reduction_over(view const& a, view const& b) {
    space loops = loops_over({a, b}, a.shape());
    int axis = 0;
    for (std::size_t part = 0; part < loops.axes[0].size(); ++part) {
        loops.axes[0][part] = along(ir::label(("r" + std::to_string(axis++)).c_str()), loops.extents[0][part]);
    }
    return loops;
}
inline view only(view of, std::vector<std::size_t> const& dimensions) {
    std::vector<factors> kept;
    for (std::size_t const one : dimensions) kept.push_back(of.dimensions[one]);
    of.dimensions = kept;
    return of;
}
/// [..., m, k] times [..., k, n]; `of_elements` makes the factors of what is read.
template <class Left, class Right>
value product_at(view const& a, view const& b, space const& loops, scalar_type sum, Left const& left, Right const& right) {
    std::size_t const rank = a.dimensions.size();
    space const inner = reduction_over(only(a, {rank - 1}), only(b, {rank - 2}));
    space of_a = loops, of_b = loops;
    of_a.extents[rank - 1] = inner.extents[0], of_a.axes[rank - 1] = inner.axes[0];
    of_b.extents[rank - 2] = inner.extents[0], of_b.axes[rank - 2] = inner.axes[0];
    value const body = convert(left(imported::at(a, of_a)), sum) * convert(right(imported::at(b, of_b)), sum);
    if (inner.axes[0].empty()) return body;
    return reduced(operation::reduce_sum, inner.axes[0], body);
}
struct product_operands {
    view a, b;
    space loops;
    int squeezed_a = 0, squeezed_b = 0;  ///< dimensions that the result does not have
};
inline product_operands operands_of_product(view a, view b) {
    product_operands made;
    if (a.rank() == 0 || b.rank() == 0) throw not_imported("a product of a scalar");
    if (a.rank() == 1) a.dimensions.insert(a.dimensions.begin(), factors{}), made.squeezed_a = 1;
    if (b.rank() == 1) b.dimensions.push_back(factors{}), made.squeezed_b = 1;
    shape outer_a = a.shape(), outer_b = b.shape();
    std::int64_t const m = outer_a[outer_a.size() - 2], k = outer_a.back(), n = outer_b.back();
    if (outer_b[outer_b.size() - 2] != k) throw not_imported("shapes " + text_of(outer_a) + " and " + text_of(outer_b) + " do not fit");
    outer_a.resize(outer_a.size() - 2), outer_b.resize(outer_b.size() - 2);
    auto const outer = common_shape(outer_a, outer_b);
    if (!outer) throw not_imported("shapes " + text_of(a.shape()) + " and " + text_of(b.shape()) + " do not fit");
    shape whole = *outer;
    whole.push_back(m), whole.push_back(k);
    made.a = repeated_to(a, whole);
    whole[whole.size() - 2] = k, whole.back() = n;
    made.b = repeated_to(b, whole);
    // Loops over the result: m as a has it, n as b does.
    std::size_t const rank = whole.size();
    whole[rank - 2] = m;
    view like_a = made.a, like_b = made.b;
    like_a.dimensions[rank - 1] = {}, like_b.dimensions[rank - 2] = {};
    made.loops = loops_over({like_a, like_b}, whole);
    return made;
}
inline view result_of_product(lowering& of, product_operands const& with, value const& what) {
    bool const as_it_is = with.squeezed_a + with.squeezed_b == 0;
    space loops = with.loops;
    std::size_t const rank = loops.axes.size();
    if (!as_it_is) {
        if (with.squeezed_b) loops.axes.pop_back(), loops.extents.pop_back();
        std::size_t const row = rank - 2;
        if (with.squeezed_a) {
            loops.axes.erase(loops.axes.begin() + static_cast<std::ptrdiff_t>(row));
            loops.extents.erase(loops.extents.begin() + static_cast<std::ptrdiff_t>(row));
        }
    }
    return of.compute(loops, what, 0);
}
inline void matrix_product(lowering& of) {
    auto const with = operands_of_product(of.operand(0), of.operand(1));
    result_of_product(of, with, product_at(with.a, with.b, with.loops, with.a.type(), same, same));
}
inline void integer_product(lowering& of) {
    auto const with = operands_of_product(of.operand(0), of.operand(1));
    auto const minus_zero = [&](std::size_t operand) {
        return [&of, operand](value const& x) {
            value const wide = convert(x, scalar_type::int32);
            if (!of.has(operand)) return wide;
            if (of.operand(operand).elements() != 1) throw not_imported("a zero point for each row or column");
            return wide - convert(scalar_of(of.operand(operand)), scalar_type::int32);
        };
    };
    result_of_product(of, with, product_at(with.a, with.b, with.loops, scalar_type::int32, minus_zero(2), minus_zero(3)));
}
inline void general_product(lowering& of) {
    view a = of.operand(0), b = of.operand(1);
    if (integer(of, "transA", 0) != 0) a = transposed(a, {1, 0});
    if (integer(of, "transB", 0) != 0) b = transposed(b, {1, 0});
    double const alpha = static_cast<double>(real(of, "alpha", 1)), beta = static_cast<double>(real(of, "beta", 1));
    auto const with = operands_of_product(a, b);
    value const product = product_at(with.a, with.b, with.loops, a.type(), same,
                                     [&](value const& x) { return alpha == 1 ? x : x * number(alpha, x.type()); });
    if (!of.has(2)) return void(result_of_product(of, with, product));
    view const c = repeated_to(of.operand(2), {a.extent(0), b.extent(1)});
    value start = imported::at(c, with.loops);
    if (beta != 1) start = start * number(beta, start.type());
    result_of_product(of, with, start + product);
}

// --- windows ----------------------------------------------------------------------------------------------------------------------------

/// A window that moves over spatial dimensions 2, 3, …
struct window {
    shape kernel = {}, strides = {}, dilations = {}, before = {}, after = {}, result = {};

    value index(std::size_t at, value const& out, value const& in) const {
        value moved = times(out, strides[at]);
        if (kernel[at] > 1) moved = moved + times(in, dilations[at]);
        return before[at] == 0 ? moved : moved - number(before[at], scalar_type::int32);
    }
    bool pads() const {
        return std::any_of(before.begin(), before.end(), [](auto one) { return one > 0; }) ||
               std::any_of(after.begin(), after.end(), [](auto one) { return one > 0; });
    }
};
inline window window_of(lowering& of, shape const& input, shape const& kernel) {
    std::size_t const spatial = kernel.size();
    window made{.kernel = kernel,
                .strides = integers(of, "strides").value_or(shape(spatial, 1)),
                .dilations = integers(of, "dilations").value_or(shape(spatial, 1)),
                .before = shape(spatial, 0),
                .after = shape(spatial, 0)};
    if (made.strides.size() != spatial || made.dilations.size() != spatial) throw not_imported("strides or dilations of other dimensions");
    std::string const automatic = word(of, "auto_pad", "NOTSET");
    auto const pads = integers(of, "pads");
    bool const up = integer(of, "ceil_mode", 0) != 0;
    for (std::size_t at = 0; at < spatial; ++at) {
        std::int64_t const reach = (kernel[at] - 1) * made.dilations[at] + 1, extent = input[at + 2];
        if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
            std::int64_t const count = (extent + made.strides[at] - 1) / made.strides[at];
            std::int64_t const all = std::max<std::int64_t>(0, (count - 1) * made.strides[at] + reach - extent);
            made.before[at] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
            made.after[at] = all - made.before[at];
        } else if (automatic == "NOTSET" && pads) {
            if (pads->size() != 2 * spatial) throw not_imported("pads of other dimensions");
            made.before[at] = (*pads)[at], made.after[at] = (*pads)[at + spatial];
        }
        if (made.before[at] < 0 || made.after[at] < 0) throw not_imported("pads below 0");
        std::int64_t const room = extent + made.before[at] + made.after[at] - reach;
        if (room < 0) throw not_imported("a window that is larger than what it moves over");
        std::int64_t count = room / made.strides[at] + 1;
        if (up && room % made.strides[at] != 0 && count * made.strides[at] < extent + made.before[at]) {
            made.after[at] += count * made.strides[at] - room;
            ++count;
        }
        made.result.push_back(count);
    }
    return made;
}
inline value read_window(view const& x, std::vector<value> const& index, window const& with, value const& border) {
    return with.pads() ? padded_at(x, index, border) : imported::at(x, index);
}
/// A convolution; `left` and `right` make the factors of what is read, and `border` is what padding reads.
template <class Left, class Right>
void convolution(lowering& of, view const& x, view const& weights, std::optional<view> const& bias, scalar_type sum, value const& border,
                 Left const& left, Right const& right) {
    shape const input = x.shape(), kernel = weights.shape();
    if (input.size() < 3 || kernel.size() != input.size()) throw not_imported("of " + std::to_string(input.size()) + " dimensions");
    window const with = window_of(of, input, {kernel.begin() + 2, kernel.end()});
    std::int64_t const groups = integer(of, "group", 1), channels = input[1] / groups, made = kernel[0] / groups;
    if (channels * groups != input[1] || made * groups != kernel[0] || kernel[1] != channels) throw not_imported("groups that do not fit");
    shape whole{input[0], kernel[0]};
    whole.insert(whole.end(), with.result.begin(), with.result.end());
    space loops = loops_over(whole);
    value channel = number(std::int64_t{0}, scalar_type::int32);
    if (groups > 1) {
        // The channel of the result is a group and a channel in it, as the channel that is read is.
        loops.extents[1] = made > 1 ? shape{groups, made} : shape{groups};
        loops.axes[1] = {along("group", groups)};
        if (made > 1) loops.axes[1].push_back(along("member", made));
        channel = times(loops.axes[1][0], channels);
    }
    std::vector<value> axes;
    if (channels > 1) {
        axes.push_back(along("channel", channels));
        channel = groups > 1 ? channel + axes[0] : axes[0];
    }
    std::vector<value> read{loops.index(0), channel};
    std::vector<value> weight{loops.index(1), channels > 1 ? axes[0] : number(std::int64_t{0}, scalar_type::int32)};
    for (std::size_t at = 0; at < with.kernel.size(); ++at) {
        value const tap = with.kernel[at] > 1 ? along(ir::label(("tap" + std::to_string(at)).c_str()), with.kernel[at])
                                              : number(std::int64_t{0}, scalar_type::int32);
        if (with.kernel[at] > 1) axes.push_back(tap);
        read.push_back(with.index(at, loops.index(static_cast<int>(at) + 2), tap));
        weight.push_back(tap);
    }
    if (axes.size() > 5) throw not_imported("more than 5 dimensions are summed over");
    value what = convert(left(read_window(x, read, with, border)), sum) * convert(right(imported::at(weights, weight)), sum);
    if (!axes.empty()) what = reduced(operation::reduce_sum, axes, what);
    if (bias) what = imported::at(*bias, {loops.index(1)}) + what;
    of.compute(loops, what, 0);
}
inline void convolve(lowering& of) {
    view const x = of.operand(0);
    std::optional<view> const bias = of.has(2) ? std::optional(of.operand(2)) : std::nullopt;
    convolution(of, x, of.operand(1), bias, x.type(), number(std::int64_t{0}, x.type()), same, same);
}
inline void convolve_integers(lowering& of) {
    view const x = of.operand(0);
    auto const zero = [&](std::size_t operand) { return of.has(operand) ? of.known_integers(operand)[0] : 0; };
    for (std::size_t const operand : {2u, 3u}) {
        if (of.has(operand) && of.operand(operand).elements() != 1) throw not_imported("a zero point for each channel");
    }
    auto const minus = [](std::int64_t by) {
        return [by](value const& one) {
            value const wide = convert(one, scalar_type::int32);
            return by == 0 ? wide : wide - number(by, scalar_type::int32);
        };
    };
    convolution(of, x, of.operand(1), {}, scalar_type::int32, number(zero(2), x.type()), minus(zero(2)), minus(zero(3)));
}
template <bool Global>
void pool(lowering& of, bool average) {
    if (of.node->outputs.size() > 1) throw not_imported("positions of the maxima are not computed");
    view const x = of.operand(0);
    shape const input = x.shape();
    if (input.size() < 3) throw not_imported("of " + std::to_string(input.size()) + " dimensions");
    shape kernel(input.begin() + 2, input.end());
    if (!Global) kernel = integers(of, "kernel_shape").value_or(kernel);
    window const with = window_of(of, input, kernel);
    shape whole{input[0], input[1]};
    whole.insert(whole.end(), with.result.begin(), with.result.end());
    space const loops = loops_over(whole);
    scalar_type const type = x.type();
    value const zero = number(std::int64_t{0}, type);
    value const lowest = is_float(type) ? number(-std::numeric_limits<double>::infinity(), type) : number(lowest_of(type), type);
    std::vector<value> read{loops.index(0), loops.index(1)}, axes;
    double all = 1;
    value counted = number(1.0, type);
    bool varies = false;
    for (std::size_t at = 0; at < kernel.size(); ++at) {
        value const tap = kernel[at] > 1 ? along(ir::label(("tap" + std::to_string(at)).c_str()), kernel[at])
                                         : number(std::int64_t{0}, scalar_type::int32);
        if (kernel[at] > 1) axes.push_back(tap);
        value const out = loops.index(static_cast<int>(at) + 2);
        read.push_back(with.index(at, out, tap));
        all *= static_cast<double>(kernel[at]);
        if (!average) continue;
        // Taps inside: all of the window, less those before 0 and those after the end. With `count_include_pad`, the declared padding
        // counts.
        bool const counts_pads = integer(of, "count_include_pad", 0) != 0;
        if (with.dilations[at] != 1) throw not_imported("an average of a dilated window");
        std::int64_t const low = counts_pads ? -with.before[at] : 0;
        auto const declared = integers(of, "pads");
        std::int64_t const after =
            declared && word(of, "auto_pad", "NOTSET") == "NOTSET" ? (*declared)[at + kernel.size()] : with.after[at];
        std::int64_t const high = input[at + 2] + (counts_pads ? after : 0);
        bool const ends_inside = (with.result[at] - 1) * with.strides[at] - with.before[at] + kernel[at] <= high;
        if (-with.before[at] >= low && ends_inside) {
            counted = counted * number(static_cast<double>(kernel[at]), type);
            continue;
        }
        varies = true;
        auto const in32 = [](std::int64_t of_it) { return number(of_it, scalar_type::int32); };
        value const first = times(out, with.strides[at]) - in32(with.before[at]);
        value const inside = smaller_of(in32(high), first + in32(kernel[at])) - larger_of(in32(low), first);
        counted = counted * convert(inside, type);
    }
    value what = read_window(x, read, with, average ? zero : lowest);
    if (!axes.empty()) what = reduced(average ? operation::reduce_sum : operation::reduce_maximum, axes, what);
    if (!average) return void(of.compute(loops, what, 0));
    need_float(what);
    view const sums = of.compute(loops, what);
    of.compute(loops, imported::at(sums, loops) / (varies ? counted : number(all, type)), 0);
}
template <bool Average, bool Global>
void pool(lowering& of) {
    pool<Global>(of, Average);
}

// --- reductions -------------------------------------------------------------------------------------------------------------------------

/// Reduces dimensions of a view. @return the result with dimensions of extent 1
inline view reduce(lowering& of, operation op, view const& x, std::vector<bool> const& gone, value (*each)(value const&)) {
    space loops = loops_over({x}, x.shape()), outer = loops;
    std::vector<value> axes;
    for (std::size_t dimension = 0; dimension < gone.size(); ++dimension) {
        if (!gone[dimension]) continue;
        axes.insert(axes.end(), loops.axes[dimension].begin(), loops.axes[dimension].end());
        outer.axes[dimension].clear(), outer.extents[dimension].clear();
    }
    if (axes.size() > 5) throw not_imported("more than 5 dimensions are reduced");
    value const body = each(imported::at(x, loops));
    return of.compute(outer, axes.empty() ? body : reduced(op, axes, body));
}
inline value square_of(value const& x) { return x * x; }
template <operation Op, value (*Each)(value const&), bool Mean, value (*After)(value const&)>
void reduction(lowering& of) {
    view const x = of.operand(0);
    std::vector<bool> gone(x.dimensions.size(), false);
    auto const axes = list(of, "axes", 1);
    bool const all = !axes || axes->empty();
    if (all && integer(of, "noop_with_empty_axes", 0) != 0) {
        space const loops = loops_over({x}, x.shape());
        return void(of.compute(loops, After(Each(imported::at(x, loops))), 0));
    }
    for (std::int64_t const one : axes.value_or(shape{})) gone[static_cast<std::size_t>(dimension_of(one, x.rank()))] = true;
    if (all) gone.assign(gone.size(), true);
    view made = reduce(of, Op, x, gone, Each);
    double count = 1;
    for (std::size_t at = 0; at < gone.size(); ++at) count *= gone[at] ? static_cast<double>(x.extent(static_cast<int>(at))) : 1;
    if (integer(of, "keepdims", 1) == 0) {
        std::vector<std::size_t> kept;
        for (std::size_t at = 0; at < gone.size(); ++at) {
            if (!gone[at]) kept.push_back(at);
        }
        made = only(made, kept);
    }
    bool const plain = !Mean && After == static_cast<value (*)(value const&)>(same);
    space const loops = loops_over({made}, made.shape());
    value what = imported::at(made, loops);
    if (Mean) need_float(what), what = what / like(what, count);
    if (plain) of.give(0, made);
    else of.compute(loops, After(what), 0);
}
inline void softmax(lowering& of) {
    view x = of.operand(0);
    need_float32(number(std::int64_t{0}, x.type()));
    bool const legacy = of.node->version < 13;
    int const axis = x.rank() == 0 ? 0 : dimension_of(integer(of, "axis", legacy ? 1 : -1), x.rank());
    std::vector<bool> gone(x.dimensions.size(), false);
    for (int at = axis; at < x.rank() && (legacy || at == axis); ++at) gone[static_cast<std::size_t>(at)] = true;
    shape const whole = x.shape();
    view const highest = repeated_to(reduce(of, operation::reduce_maximum, x, gone, same), whole);
    space loops = loops_over({x, highest}, whole);
    view const powers = of.compute(loops, exponential(imported::at(x, loops) - imported::at(highest, loops)));
    view const sums = repeated_to(reduce(of, operation::reduce_sum, powers, gone, same), whole);
    loops = loops_over({powers, sums}, whole);
    of.compute(loops, imported::at(powers, loops) / imported::at(sums, loops), 0);
}
/// (x - mean) / sqrt(variance + epsilon), over the dimensions that are gone.
inline view normalised(lowering& of, view const& x, std::vector<bool> const& gone, double epsilon) {
    shape const whole = x.shape();
    double count = 1;
    for (std::size_t at = 0; at < gone.size(); ++at) count *= gone[at] ? static_cast<double>(whole[at]) : 1;
    view const sums = repeated_to(reduce(of, operation::reduce_sum, x, gone, same), whole);
    space loops = loops_over({x, sums}, whole);
    value const mean = imported::at(sums, loops) / number(count, x.type());
    view const centred = of.compute(loops, imported::at(x, loops) - mean);
    view const squares = reduce(of, operation::reduce_sum, centred, gone, square_of);
    space const few = loops_over({squares}, squares.shape());
    value const variance = imported::at(squares, few) / number(count, x.type());
    view const deviation = repeated_to(of.compute(few, root_of(variance + number(epsilon, x.type()))), whole);
    loops = loops_over({centred, deviation}, whole);
    return of.compute(loops, imported::at(centred, loops) / imported::at(deviation, loops));
}
inline void scale_and_shift(lowering& of, view const& x, view scale, std::optional<view> shift) {
    scale = repeated_to(scale, x.shape());
    if (shift) shift = repeated_to(*shift, x.shape());
    space const loops = loops_over(shift ? std::vector<view>{x, scale, *shift} : std::vector<view>{x, scale}, x.shape());
    value made = imported::at(x, loops) * imported::at(scale, loops);
    if (shift) made = made + imported::at(*shift, loops);
    of.compute(loops, made, 0);
}
/// A list of channels as a shape with dimensions after it.
inline view of_channels(view of, int rank) {
    for (int at = 2; at < rank; ++at) of.dimensions.push_back(factors{});
    return of;
}
inline void normalise_layer(lowering& of) {
    if (of.node->outputs.size() > 1) throw not_imported("mean and deviation as results");
    view const x = of.operand(0);
    int const axis = dimension_of(integer(of, "axis", -1), x.rank());
    std::vector<bool> gone(x.dimensions.size(), false);
    for (int at = axis; at < x.rank(); ++at) gone[static_cast<std::size_t>(at)] = true;
    view const made = normalised(of, x, gone, static_cast<double>(real(of, "epsilon", 1e-5f)));
    scale_and_shift(of, made, of.operand(1), of.has(2) ? std::optional(of.operand(2)) : std::nullopt);
}
inline void normalise_instance(lowering& of) {
    view const x = of.operand(0);
    std::vector<bool> gone(x.dimensions.size(), true);
    gone.at(0) = gone.at(1) = false;
    view const made = normalised(of, x, gone, static_cast<double>(real(of, "epsilon", 1e-5f)));
    scale_and_shift(of, made, of_channels(of.operand(1), x.rank()), of_channels(of.operand(2), x.rank()));
}
inline void normalise_batch(lowering& of) {
    if (integer(of, "training_mode", 0) != 0 || of.node->outputs.size() > 1) throw not_imported("statistics of a training run");
    view const x = of.operand(0);
    shape const whole = x.shape();
    std::vector<view> lists;
    for (std::size_t at = 1; at < 5; ++at) lists.push_back(of.operand(at));
    space const few = loops_over({lists[3]}, lists[3].shape());
    double const epsilon = static_cast<double>(real(of, "epsilon", 1e-5f));
    lists[3] = of.compute(few, root_of(imported::at(lists[3], few) + number(epsilon, x.type())));
    for (view& one : lists) one = repeated_to(of_channels(one, x.rank()), whole);
    std::vector<view> all = lists;
    all.push_back(x);
    space const loops = loops_over(all, whole);
    auto const element_of = [&](view const& one) { return imported::at(one, loops); };
    of.compute(loops, (element_of(x) - element_of(lists[2])) / element_of(lists[3]) * element_of(lists[0]) + element_of(lists[1]), 0);
}

}  // namespace detail

/// The operators of ONNX that are imported, by name.
inline std::span<operator_entry const> onnx_operators() {
    using namespace detail;
    using enum operation;
    static constexpr operator_entry all[] = {
        {"Abs", unary<magnitude>},
        {"Add", two<add>},
        {"And", logic<logical_and>},
        {"AveragePool", pool<true, false>},
        {"BatchNormalization", normalise_batch},
        {"Cast", convert_to},
        {"Ceil", unary<ceiling>},
        {"Celu", celu},
        {"Clip", clip},
        {"Concat", concatenate},
        {"Constant", detail::constant},
        {"Conv", convolve},
        {"ConvInteger", convolve_integers},
        {"DepthToSpace", blocks<true>},
        {"DequantizeLinear", dequantise},
        {"Div", quotient},
        {"Elu", elu},
        {"Equal", comparison<equal>},
        {"Exp", unary<exponential>},
        {"Expand", expand},
        {"Flatten", flatten},
        {"Floor", unary<floor_of>},
        {"Gather", gather},
        {"Gemm", general_product},
        {"GlobalAveragePool", pool<true, true>},
        {"GlobalMaxPool", pool<false, true>},
        {"Greater", comparison<less, true>},
        {"GreaterOrEqual", comparison<less_equal, true>},
        {"HardSigmoid", hard_sigmoid},
        {"HardSwish", unary<hard_swish>},
        {"Identity", unary<same>},
        {"InstanceNormalization", normalise_instance},
        {"LayerNormalization", normalise_layer},
        {"LeakyRelu", leaky},
        {"Less", comparison<less>},
        {"LessOrEqual", comparison<less_equal>},
        {"MatMul", matrix_product},
        {"MatMulInteger", integer_product},
        {"Max", several<maximum>},
        {"MaxPool", pool<false, false>},
        {"Mean", several<add, true>},
        {"Min", several<minimum>},
        {"Mul", two<multiply>},
        {"Neg", unary<negated>},
        {"Not", unary<not_of>},
        {"Or", logic<logical_or>},
        {"PRelu", parametric},
        {"Pad", pad},
        {"QuantizeLinear", quantise},
        {"Reciprocal", unary<reciprocal>},
        {"ReduceL1", reduction<reduce_sum, magnitude, false, same>},
        {"ReduceL2", reduction<reduce_sum, square_of, false, root_of>},
        {"ReduceMax", reduction<reduce_maximum, same, false, same>},
        {"ReduceMean", reduction<reduce_sum, same, true, same>},
        {"ReduceMin", reduction<reduce_minimum, same, false, same>},
        {"ReduceSum", reduction<reduce_sum, same, false, same>},
        {"ReduceSumSquare", reduction<reduce_sum, square_of, false, same>},
        {"Relu", unary<relu_of>},
        {"Reshape", reshape},
        {"Round", unary<nearest_even>},
        {"Selu", selu},
        {"Shape", shape_of},
        {"Sigmoid", unary<logistic>},
        {"Sign", unary<sign_of>},
        {"Size", size_of},
        {"Slice", slice},
        {"Softmax", softmax},
        {"Softsign", unary<softsign>},
        {"SpaceToDepth", blocks<false>},
        {"Split", split},
        {"Sqrt", unary<root_of>},
        {"Squeeze", squeeze},
        {"Sub", two<subtract>},
        {"Sum", several<add>},
        {"Tanh", unary<hyperbolic_tangent>},
        {"ThresholdedRelu", thresholded},
        {"Tile", tile},
        {"Transpose", transpose},
        {"Unsqueeze", unsqueeze},
        {"Where", where},
        {"Xor", logic<not_equal>},
    };
    return all;
}

}  // namespace tilewright::imported
