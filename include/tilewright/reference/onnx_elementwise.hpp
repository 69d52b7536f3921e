#pragma once
#include <tilewright/reference/onnx_unary.hpp>

// Functions of elements of several operands, which broadcast.
namespace tilewright::reference::of_onnx {

/// @param f  of two numbers; a truth is given as 0 or 1
/// @throws not_covered  where the operands have two types, or broadcast as before version 7
template <class Function>
elements combined(call const& of, element_type to, Function const& f) {
    auto const &a = of.operand(0), &b = of.operand(1);
    require(a.type == b.type, "operands of two types");
    require(of.version() >= 7 || of.integer("broadcast", 0) == 0, "broadcasting as before version 7");
    shape const extents = broadcast(a.extents, b.extents);
    places const at_a = broadcast_places(a.extents, extents), at_b = broadcast_places(b.extents, extents);
    return with_wide(a.type, [&](auto wide) {
        using number = decltype(wide);
        auto const x = detail::numbers_of<number>(a), y = detail::numbers_of<number>(b);
        std::vector<number> made(at_a.size());
        for (std::size_t at = 0; at < made.size(); ++at) made[at] = static_cast<number>(f(x[at_a[at]], y[at_b[at]]));
        return detail::of_numbers(to, extents, made);
    });
}
/// The same, with numbers as result.
template <class Function>
elements combined(call const& of, Function const& f) {
    require(of.operand(0).type != element_type::boolean, "truths where numbers are wanted");
    return combined(of, of.operand(0).type, f);
}
/// Truths of truths.
template <class Function>
elements combined_truths(call const& of, Function const& f) {
    require(of.operand(0).type == element_type::boolean, "numbers where truths are wanted");
    return combined(of, element_type::boolean, f);
}

inline elements add(call const& of) { return combined(of, plus); }
inline elements sub(call const& of) { return combined(of, minus); }
inline elements mul(call const& of) { return combined(of, times); }

/// Integers lose the fraction. @throws not_covered  where an integer is divided by 0
inline elements div(call const& of) {
    return combined(of, [](auto x, auto y) {
        using number = decltype(x);
        if constexpr (std::is_floating_point_v<number>) {
            return x / y;
        } else {
            require(y != 0, "an integer divided by 0");
            // The lowest integer by -1 overflows.
            if constexpr (std::is_signed_v<number>) return y == -1 ? minus(number{0}, x) : x / y;
            else return x / y;
        }
    });
}

/// Without `fmod`, what remains has the sign of the divisor, else that of what is divided.
///
/// @throws not_covered  where an integer is divided by 0, and for floats without `fmod`
inline elements mod(call const& of) {
    bool const as_in_c = of.integer("fmod", 0) != 0;
    require(as_in_c || !is_float(of.operand(0).type), "floats without fmod");
    return combined(of, [=](auto x, auto y) {
        using number = decltype(x);
        if constexpr (std::is_floating_point_v<number>) {
            return std::fmod(x, y);
        } else {
            require(y != 0, "an integer divided by 0");
            if constexpr (std::is_signed_v<number>) {
                if (y == -1) return number{0};
            }
            auto const rest = static_cast<number>(x % y);
            return !as_in_c && rest != 0 && (rest < 0) != (y < 0) ? static_cast<number>(rest + y) : rest;
        }
    });
}

inline elements equal(call const& of) {
    return combined(of, element_type::boolean, [](auto x, auto y) { return x == y; });
}
inline elements less(call const& of) {
    return combined(of, element_type::boolean, [](auto x, auto y) { return x < y; });
}
inline elements less_or_equal(call const& of) {
    return combined(of, element_type::boolean, [](auto x, auto y) { return x <= y; });
}
inline elements greater(call const& of) {
    return combined(of, element_type::boolean, [](auto x, auto y) { return x > y; });
}
inline elements greater_or_equal(call const& of) {
    return combined(of, element_type::boolean, [](auto x, auto y) { return x >= y; });
}
inline elements logical_and(call const& of) {
    return combined_truths(of, [](auto x, auto y) { return x != 0 && y != 0; });
}
inline elements logical_or(call const& of) {
    return combined_truths(of, [](auto x, auto y) { return x != 0 || y != 0; });
}
inline elements logical_xor(call const& of) {
    return combined_truths(of, [](auto x, auto y) { return (x != 0) != (y != 0); });
}

/// Bits that leave the type are lost, also where all do.
inline elements bit_shift(call const& of) {
    std::string const direction = of.word("direction", "");
    require(direction == "LEFT" || direction == "RIGHT", "a direction of another name");
    require(!is_float(of.operand(0).type), "floats where integers are wanted");
    bool const left = direction == "LEFT";
    return combined(of, [=](auto x, auto y) {
        auto const bits = static_cast<std::uint64_t>(x), by = static_cast<std::uint64_t>(y);
        return by >= 64 ? std::uint64_t{0} : left ? bits << by : bits >> by;
    });
}

template <class Function>
elements combined_bits(call const& of, Function const& f) {
    require(!is_float(of.operand(0).type), "floats where integers are wanted");
    return combined(of, [&](auto x, auto y) { return f(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)); });
}
inline elements bitwise_and(call const& of) {
    return combined_bits(of, [](std::uint64_t x, std::uint64_t y) { return x & y; });
}
inline elements bitwise_or(call const& of) {
    return combined_bits(of, [](std::uint64_t x, std::uint64_t y) { return x | y; });
}
inline elements bitwise_xor(call const& of) {
    return combined_bits(of, [](std::uint64_t x, std::uint64_t y) { return x ^ y; });
}
inline elements bitwise_not(call const& of) {
    require(!is_float(of.operand(0).type) && of.operand(0).type != element_type::boolean, "no integers");
    return mapped(of.operand(0), of.operand(0).type, [](auto x) { return ~static_cast<std::uint64_t>(x); });
}

/// The base decides the type. A power of an integer with a float loses its fraction.
///
/// @throws not_covered  where an integer has a negative integer as exponent, or its power does not fit
inline elements pow(call const& of) {
    auto const &base = of.operand(0), &exponent = of.operand(1);
    shape const extents = broadcast(base.extents, exponent.extents);
    places const at_base = broadcast_places(base.extents, extents), at_exponent = broadcast_places(exponent.extents, extents);
    if (is_float(base.type) || is_float(exponent.type)) {
        auto const x = reals_of(base), y = reals_of(exponent);
        std::vector<double> made(at_base.size());
        for (std::size_t at = 0; at < made.size(); ++at) made[at] = std::pow(x[at_base[at]], y[at_exponent[at]]);
        return cast_to(of_reals(is_float(base.type) ? base.type : element_type::float64, extents, made), base.type);
    }
    auto const x = integers_of(base), y = integers_of(exponent);
    std::vector<std::int64_t> made(at_base.size(), 1);
    for (std::size_t at = 0; at < made.size(); ++at) {
        require(y[at_exponent[at]] >= 0, "an integer with a negative exponent");
        std::int64_t power = x[at_base[at]];
        for (std::int64_t rest = y[at_exponent[at]]; rest > 0; rest /= 2, power = times(power, power)) {
            if (rest % 2 == 1) made[at] = times(made[at], power);
        }
    }
    return of_integers(base.type, extents, made);
}

/// The slope broadcasts to the other operand.
inline elements prelu(call const& of) {
    require(broadcast(of.operand(0).extents, of.operand(1).extents) == of.operand(0).extents, "a slope with more extents");
    return combined(of, [](auto x, auto slope) { return x < 0 ? times(slope, x) : x; });
}

/// All operands, one after the other. @param last  of the number that comes out and how many operands there are
template <class Function, class Last>
elements folded(call const& of, Function const& f, Last const& last) {
    auto const& first = of.operand(0);
    shape extents = first.extents;
    for (elements const* one : of.given) {
        require(one != nullptr && one->type == first.type, "operands of two types");
        extents = broadcast(extents, one->extents);
    }
    return with_wide(first.type, [&](auto wide) {
        using number = decltype(wide);
        std::vector<number> made;
        for (elements const* one : of.given) {
            places const at = broadcast_places(one->extents, extents);
            auto const values = detail::numbers_of<number>(*one);
            if (made.empty()) {
                for (std::size_t const place : at) made.push_back(values[place]);
            } else {
                for (std::size_t to = 0; to < at.size(); ++to) made[to] = f(made[to], values[at[to]]);
            }
        }
        for (number& one : made) one = last(one, of.given.size());
        return detail::of_numbers(first.type, extents, made);
    });
}
inline constexpr auto as_it_is = [](auto x, std::size_t) { return x; };
inline elements max(call const& of) { return folded(of, larger, as_it_is); }
inline elements min(call const& of) { return folded(of, smaller, as_it_is); }
inline elements sum(call const& of) {
    require(is_float(of.operand(0).type), "integers where floats are wanted");
    return folded(of, plus, as_it_is);
}
inline elements mean(call const& of) {
    require(is_float(of.operand(0).type), "integers where floats are wanted");
    return folded(of, plus, [](auto x, std::size_t count) { return x / static_cast<decltype(x)>(count); });
}

/// Of the second operand where the first is true, else of the third.
inline elements where(call const& of) {
    auto const &truths = of.operand(0), &yes = of.operand(1), &no = of.operand(2);
    require(truths.type == element_type::boolean && yes.type == no.type, "operands of two types");
    shape const extents = broadcast(broadcast(truths.extents, yes.extents), no.extents);
    places const at_truth = broadcast_places(truths.extents, extents), at_no = broadcast_places(no.extents, extents);
    places at_yes = broadcast_places(yes.extents, extents);
    auto const picks = integers_of(truths);
    for (std::size_t at = 0; at < at_yes.size(); ++at) {
        if (picks[at_truth[at]] == 0) at_yes[at] = outside;
    }
    elements made = pick(yes, extents, at_yes);
    elements const other = pick(no, extents, at_no);
    auto const bytes = static_cast<std::size_t>(network::bytes_of(no.type));
    for (std::size_t at = 0; at < at_yes.size(); ++at) {
        if (at_yes[at] == outside) std::copy_n(other.bytes.data() + at * bytes, bytes, made.bytes.data() + at * bytes);
    }
    return made;
}

}  // namespace tilewright::reference::of_onnx
