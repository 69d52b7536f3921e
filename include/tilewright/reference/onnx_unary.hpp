#pragma once
#include <tilewright/reference/onnx_places.hpp>

// Functions of each element of one operand.
namespace tilewright::reference::of_onnx {

/// @param f  takes and gives double, std::int64_t or std::uint64_t; a truth is given as 0 or 1
template <class Function>
elements mapped(elements const& in, element_type to, Function const& f) {
    return with_wide(in.type, [&](auto wide) {
        auto numbers = detail::numbers_of<decltype(wide)>(in);
        for (auto& number : numbers) number = static_cast<decltype(wide)>(f(number));
        return detail::of_numbers(to, in.extents, numbers);
    });
}

/// The same for operators of floats alone. @throws not_covered  where the operand has integers
template <class Function>
elements mapped_floats(call const& of, Function const& f) {
    auto numbers = floats_of(of.operand(0));
    for (double& number : numbers) number = f(number);
    return of_reals(of.operand(0).type, of.operand(0).extents, numbers);
}

/// A function without settings, of floats alone.
template <double (*f)(double)>
elements float_function(call const& of) {
    return mapped_floats(of, f);
}

inline double reciprocal_of(double x) { return 1 / x; }
inline double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
inline double softplus_of(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
inline double softsign_of(double x) { return x / (1 + std::abs(x)); }
inline double hard_swish_of(double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }
inline double mish_of(double x) { return x * std::tanh(softplus_of(x)); }
/// Halves go to the even neighbour.
inline double rounded(double x) { return std::nearbyint(x); }

// Of floats and integers.

inline elements abs(call const& of) {
    return mapped(of.operand(0), of.operand(0).type, [](auto x) { return x < 0 ? minus(decltype(x){0}, x) : x == 0 ? decltype(x){0} : x; });
}
inline elements neg(call const& of) {
    require(of.operand(0).type != element_type::boolean, "truths where numbers are wanted");
    return mapped(of.operand(0), of.operand(0).type, [](auto x) {
        if constexpr (std::is_floating_point_v<decltype(x)>) return -x;
        else return minus(decltype(x){0}, x);
    });
}
inline elements sign(call const& of) {
    return mapped(of.operand(0), of.operand(0).type, [](auto x) {
        using number = decltype(x);
        return x > 0 ? number{1} : x < 0 ? minus(number{0}, number{1}) : x;
    });
}
inline elements relu(call const& of) {
    return mapped(of.operand(0), of.operand(0).type, [](auto x) { return x < 0 ? decltype(x){0} : x; });
}
inline elements logical_not(call const& of) {
    require(of.operand(0).type == element_type::boolean, "numbers where truths are wanted");
    return mapped(of.operand(0), element_type::boolean, [](auto x) { return x == 0; });
}
inline elements is_nan(call const& of) {
    auto const& in = of.operand(0);
    require(is_float(in.type), "integers where floats are wanted");
    return mapped(in, element_type::boolean, [](auto x) { return x != x; });
}
inline elements is_inf(call const& of) {
    auto const& in = of.operand(0);
    require(is_float(in.type), "integers where floats are wanted");
    bool const below = of.integer("detect_negative", 1) != 0, above = of.integer("detect_positive", 1) != 0;
    return mapped(in, element_type::boolean, [=](auto x) {
        auto const real = static_cast<double>(x);
        return std::isinf(real) && (real < 0 ? below : above);
    });
}
inline elements shrink(call const& of) {
    double const bias = of.real("bias", 0), limit = of.real("lambd", 0.5f);
    return mapped_floats(of, [=](double x) { return x < -limit ? x + bias : x > limit ? x - bias : 0; });
}

// Of floats, with settings.

inline elements leaky_relu(call const& of) {
    return mapped_floats(of, [slope = of.real("alpha", 0.01f)](double x) { return x < 0 ? slope * x : x; });
}
inline elements elu(call const& of) {
    return mapped_floats(of, [alpha = of.real("alpha", 1)](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}
inline elements celu(call const& of) {
    return mapped_floats(
        of, [alpha = of.real("alpha", 1)](double x) { return std::max(0.0, x) + std::min(0.0, alpha * std::expm1(x / alpha)); });
}
inline elements selu(call const& of) {
    bool const old = of.version() < 6;
    double const alpha = of.real("alpha", old ? 1.6732f : 1.67326319217681884765625f),
                 gamma = of.real("gamma", old ? 1.0507f : 1.05070102214813232421875f);
    return mapped_floats(of, [=](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}
inline elements hard_sigmoid(call const& of) {
    double const alpha = of.real("alpha", 0.2f), beta = of.real("beta", 0.5f);
    return mapped_floats(of, [=](double x) { return std::max(0.0, std::min(1.0, alpha * x + beta)); });
}
inline elements thresholded_relu(call const& of) {
    return mapped_floats(of, [limit = of.real("alpha", 1)](double x) { return x > limit ? x : 0; });
}
inline elements swish(call const& of) {
    return mapped_floats(of, [alpha = of.real("alpha", 1)](double x) { return x * sigmoid_of(alpha * x); });
}
inline elements gelu(call const& of) {
    std::string const how = of.word("approximate", "none");
    require(how == "none" || how == "tanh", "an approximation of another name");
    constexpr double root_of_half = 0.70710678118654752440, root_of_two_over_pi = 0.79788456080286535588;
    if (how == "none") return mapped_floats(of, [](double x) { return 0.5 * x * (1 + std::erf(x * root_of_half)); });
    return mapped_floats(of, [](double x) { return 0.5 * x * (1 + std::tanh(root_of_two_over_pi * (x + 0.044715 * x * x * x))); });
}

/// Limits are settings before version 11, then operands. A limit that is left out does not limit.
inline elements clip(call const& of) {
    auto const& in = of.operand(0);
    if (of.version() < 11) {
        bool const has_least = of.has("min"), has_most = of.has("max");
        double const least = of.real("min", 0), most = of.real("max", 0);
        return mapped_floats(of, [=](double x) {
            if (has_least && x < least) x = least;
            return has_most && x > most ? most : x;
        });
    }
    elements const *least = of.find(1), *most = of.find(2);
    for (elements const* limit : {least, most}) require(limit == nullptr || single(*limit).type == in.type, "a limit of another type");
    return with_wide(in.type, [&](auto wide) {
        using number = decltype(wide);
        auto const limit_of = [](elements const* one) { return one == nullptr ? number{} : detail::numbers_of<number>(*one)[0]; };
        number const low = limit_of(least), high = limit_of(most);
        return mapped(in, in.type, [&](auto one) {
            number x = static_cast<number>(one);
            if (least != nullptr && x < low) x = low;
            return most != nullptr && x > high ? high : x;
        });
    });
}

/// Truth of what is not 0. A float loses its fraction.
///
/// @throws not_covered  where an integer of the type cannot be the float
inline elements cast_to(elements const& in, element_type to) {
    if (to == element_type::boolean) return mapped(in, to, [](auto x) { return x != 0; });
    if (is_float(in.type) && !is_float(to)) {
        for (double const x : reals_of(in)) {
            bool const fits = to == element_type::uint64
                                  ? x > -1 && x < 0x1p64
                                  : x >= -0x1p63 && x < 0x1p63 && network::can_hold(to, static_cast<std::int64_t>(x));
            require(fits, "a float that the integer type cannot hold");
        }
    }
    return mapped(in, to, [](auto x) { return x; });
}
/// The nearest number of so many binary digits that is a multiple of 2^lowest, of halves the even one; infinite beyond the largest.
inline double in_digits(double real, int digits, int lowest, double largest) {
    if (real == 0 || !std::isfinite(real)) return real;
    int exponent = 0;
    std::frexp(real, &exponent);
    double const step = std::ldexp(1.0, std::max(exponent - digits, lowest));
    double const made = std::nearbyint(real / step) * step;
    return std::abs(made) > largest ? std::copysign(HUGE_VAL, made) : made;
}
/// Floats of 16 bits are given as float32.
inline elements cast_to_any(elements const& in, element_type to) {
    if (!network::is_half(to)) return cast_to(in, to);
    return mapped(cast_to(in, element_type::float32), element_type::float32, [&](auto x) {
        double const real = static_cast<double>(x);
        return to == element_type::float16 ? in_digits(real, 11, -24, 65504) : in_digits(real, 8, -133, 0x1.fep127);
    });
}
inline elements cast(call const& of) { return cast_to_any(of.operand(0), type_of(of.integer("to", 0))); }
/// The model says whether the operand has 16 bits.
inline elements cast_like(call const& of) {
    element_type const declared = of.node.inputs.size() > 1 ? of.whole.at(of.node.inputs[1]).type : element_type::unknown;
    return cast_to_any(of.operand(0), network::is_half(declared) ? declared : of.operand(1).type);
}

}  // namespace tilewright::reference::of_onnx
