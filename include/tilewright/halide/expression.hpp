#pragma once
#include <Halide.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <tilewright/plan/ir/plan_value.hpp>
#include <type_traits>

namespace tilewright::halide {

using namespace ir;

inline Halide::Type type_of(scalar_type type) {
    return visit_scalar(type, []<class T>(T) { return Halide::type_of<T>(); });
}

/// The type that elements have in memory: a truth value is a byte.
inline Halide::Type stored_type(scalar_type type) { return type == scalar_type::boolean ? Halide::UInt(8) : type_of(type); }

/// The same integer, where Halide would leave out its conversion from floating point before one to fewer bits or as many: (uint8)(int8)x is
/// not (uint8)x where x is negative.
inline Halide::Expr kept_conversion(Halide::Type const& to, Halide::Expr const& value) {
    using Halide::Internal::Cast;
    Halide::Type const from = value.type();
    auto const* first = value.as<Cast>();
    if (first == nullptr || to.is_float() || from.is_float() || to.bits() > from.bits()) return value;
    while (auto const* const before = first->value.as<Cast>()) first = before;
    if (!first->value.type().is_float()) return value;
    return Halide::reinterpret(from.with_code(from.is_int() ? Halide::Type::UInt : Halide::Type::Int), value);
}

/// A conversion as the language defines it. For a bool, Halide would take the lowest bit of an integer, and anything of a float. For signed
/// numbers of 32 bits and more, Halide assumes that the value is in range: from the wrapped ends of a range it would conclude that a value
/// is negative.
inline Halide::Expr convert(Halide::Type const& to, Halide::Expr const& of) {
    if (to.is_bool() && !of.type().is_bool()) return of != Halide::Internal::make_zero(of.type());
    Halide::Expr const value = kept_conversion(to, of);
    Halide::Type const from = value.type();
    bool const integers = (from.is_int() || (from.is_uint() && !from.is_bool())) && to.is_int() && to.bits() >= 32;
    if (!integers || to.can_represent(from)) return Halide::cast(to, value);
    return Halide::reinterpret(to, Halide::cast(Halide::UInt(to.bits()), value));
}

/// The words in which numbers of 16 bits are converted, see `half_bits_of`.
struct words {
    struct word : Halide::Expr {
        word(Halide::Expr const& of) : Halide::Expr(of) {}
        explicit word(std::uint32_t number) : Halide::Expr(Halide::Internal::make_const(Halide::UInt(32), std::int64_t{number})) {}
    };
    static word choose(Halide::Expr const& condition, word const& then, word const& otherwise) {
        return Halide::select(condition, then, otherwise);
    }
    static word sum_of_floats(word const& a, word const& b) {
        return Halide::reinterpret(
            Halide::UInt(32), Halide::strict_float(Halide::reinterpret(Halide::Float(32), a) + Halide::reinterpret(Halide::Float(32), b)));
    }
};

/// The float that numbers of 16 bits are, whose bits `value` has; and the bits of those that are nearest to a float.
inline Halide::Expr convert_halves(scalar_type to, scalar_type from, Halide::Expr const& value) {
    using namespace tilewright::detail;
    if (to == from) return value;
    if (is_half(from)) {
        words::word const bits = Halide::cast(Halide::UInt(32), value);
        return Halide::reinterpret(Halide::Float(32), from == scalar_type::float16 ? float_bits_of<ieee_half, words>(bits)
                                                                                   : float_bits_of<brain_half, words>(bits));
    }
    words::word const bits = Halide::reinterpret(Halide::UInt(32), value);
    return Halide::cast(Halide::UInt(16),
                        to == scalar_type::float16 ? half_bits_of<ieee_half, words>(bits) : half_bits_of<brain_half, words>(bits));
}

/// Keeps floating-point arithmetic as it is written: without it LLVM may change roundings.
inline Halide::Expr strict(Halide::Expr const& value) { return value.type().is_float() ? Halide::strict_float(value) : value; }

/// The smaller, or larger, of two values as the language defines it: a, unless b is smaller, or larger. Halide's own may exchange a and b,
/// which matters for zeros of two signs and if one is no number.
inline Halide::Expr smaller(Halide::Expr const& a, Halide::Expr const& b) {
    return a.type().is_float() ? Halide::select(strict(b) < strict(a), b, a) : Halide::min(a, b);
}
inline Halide::Expr larger(Halide::Expr const& a, Halide::Expr const& b) {
    return a.type().is_float() ? Halide::select(strict(a) < strict(b), b, a) : Halide::max(a, b);
}

/// A constant as nodes keep it. Halide takes 0.0 and -0.0 for equal, and puts one in the place of the other where an expression has both.
/// So it sees the bits of -0.0 alone.
inline Halide::Expr constant(scalar_type type, std::int64_t value) {
    Halide::Type const as = type_of(type);
    if (!is_float(type)) return Halide::Internal::make_const(as, value);
    double const number = std::bit_cast<double>(value);
    if (number != 0 || !std::signbit(number)) return Halide::Internal::make_const(as, number);
    std::uint64_t const sign = std::uint64_t{1} << (as.bits() - 1);
    return Halide::reinterpret(as, Halide::Internal::make_const(Halide::UInt(as.bits()), static_cast<std::int64_t>(sign)));
}

/// a / b. Halide refuses code that divides by a constant 0, which is no mistake where b is floating point.
inline Halide::Expr quotient(Halide::Expr const& a, Halide::Expr const& b) {
    if (!b.type().is_float()) return a / b;
    Halide::Expr const known = Halide::Internal::simplify(b);
    auto const* const number = known.as<Halide::Internal::FloatImm>();
    if (number == nullptr || number->value != 0) return a / b;
    return a * Halide::Internal::make_const(b.type(), std::copysign(std::numeric_limits<double>::infinity(), number->value));
}

/// Builds the value of node `at`. `leaf(node position)` gives accesses, parameters and axes; everything else is made here.
template <class Leaf>
Halide::Expr build_value(computation_view nodes, int at, Leaf const& leaf) {
    using Halide::Expr;
    node const& n = nodes[at];
    auto const argument = [&](int position) {
        Expr const value = build_value(nodes, n.argument(position), leaf);
        // A value that is no floating point any more stands outside the one that is strict as a whole.
        return is_float(n.type) ? value : strict(value);
    };
    // Comparisons of floating point are not inverted: a value that is no number is neither less nor not less.
    bool const reals = n.argument_count > 0 && is_float(nodes[n.argument(0)].type);
    auto const compared = [&](Expr const& comparison) { return reals ? Halide::strict_float(comparison) : comparison; };
    switch (n.op) {
        case operation::constant: return constant(n.type, n.value);
        case operation::parameter:
        case operation::axis_value:
        case operation::access: return leaf(at);
        case operation::add: return argument(0) + argument(1);
        case operation::subtract: return argument(0) - argument(1);
        case operation::multiply: return argument(0) * argument(1);
        case operation::divide: return quotient(argument(0), argument(1));
        case operation::modulo: return argument(0) % argument(1);
        case operation::minimum: return smaller(argument(0), argument(1));
        case operation::maximum: return larger(argument(0), argument(1));
        case operation::equal: return compared(argument(0) == argument(1));
        // Halide's own `!=` is false if one is no number, and its `<=` is true.
        case operation::not_equal: return reals ? !compared(argument(0) == argument(1)) : argument(0) != argument(1);
        case operation::less: return compared(argument(0) < argument(1));
        case operation::less_equal:
            return reals ? compared(argument(0) < argument(1)) || compared(argument(0) == argument(1)) : argument(0) <= argument(1);
        case operation::logical_and: return argument(0) && argument(1);
        case operation::logical_or: return argument(0) || argument(1);
        case operation::logical_not: return !argument(0);
        case operation::shift_left: return argument(0) << argument(1);
        case operation::shift_right: return argument(0) >> argument(1);
        case operation::select: return Halide::select(argument(0), argument(1), argument(2));
        case operation::reinterpret: return Halide::reinterpret(type_of(n.type), argument(0));
        case operation::cast: {
            scalar_type const from = nodes[n.argument(0)].type;
            return is_half(from) || is_half(n.type) ? convert_halves(n.type, from, argument(0)) : convert(type_of(n.type), argument(0));
        }
        default: break;
    }
    throw std::logic_error("a value cannot hold a node of kind " + std::string(name_of(n.op)));
}

/// One step of a reduction, which passes over a value that is no number.
inline Halide::Expr reduce(operation reduction, Halide::Expr const& into, Halide::Expr const& value) {
    if (reduction == operation::reduce_sum) return into + value;
    return reduction == operation::reduce_maximum ? larger(into, value) : smaller(into, value);
}

/// What a reduction starts from.
inline Halide::Expr identity(operation reduction, scalar_type type) {
    if (reduction == operation::reduce_sum) return Halide::Internal::make_zero(type_of(type));
    bool const lowest = reduction == operation::reduce_maximum;
    return visit_scalar(type, [lowest]<class T>(T) {
        using limits = std::numeric_limits<T>;
        if constexpr (limits::has_infinity) return Halide::Expr(lowest ? -limits::infinity() : limits::infinity());
        else
            return Halide::cast<T>(Halide::Internal::make_const(
                Halide::type_of<T>(), static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(
                                          lowest ? limits::lowest() : limits::max())));
    });
}

}  // namespace tilewright::halide
