#pragma once
#include <tilewright/plan/write/fills.hpp>

// The value of an expression if some of its operands are constants.
namespace tilewright::detail {

constexpr known wrapped(scalar_type type, std::int64_t value) {
    if (type == scalar_type::boolean) return {true, value != 0};
    if (type == scalar_type::literal || is_float(type)) return {false, 0};
    std::uint64_t const cut = static_cast<std::uint64_t>(value) << (64 - 8 * bytes_of(type));
    return {true, is_unsigned(as_generated(type)) ? static_cast<std::int64_t>(cut >> (64 - 8 * bytes_of(type)))
                                                  : static_cast<std::int64_t>(cut) >> (64 - 8 * bytes_of(type))};
}

/// Of float from or to a number of 16 bits.
constexpr known converted_half(scalar_type to, scalar_type from, std::int64_t value) {
    if (is_half(to)) return {true, half_bits_of(to, static_cast<float>(__builtin_bit_cast(double, value)))};
    return {true, __builtin_bit_cast(std::int64_t, static_cast<double>(value_of_half(from, static_cast<std::uint16_t>(value))))};
}

/// The value of a node whose operands are `operand(node)`. For integers: the operations that intrinsics consist of. For floating point:
/// products, sums and conversions of zeros, and values that are passed on.
template <class Operand>
constexpr known evaluate(computation_view nodes, int at, Operand const& operand) {
    node const& n = nodes[at];
    auto const argument = [&](int position) { return evaluate(nodes, n.argument(position), operand); };
    bool const real = is_float(n.type);
    auto const integer = [&](std::uint64_t value) { return wrapped(n.type, static_cast<std::int64_t>(value)); };
    switch (n.op) {
        case operation::constant: return {true, n.value};
        case operation::access: return operand(at);
        case operation::cast: {
            known const a = argument(0);
            scalar_type const from = nodes[n.argument(0)].type;
            if (!a.is) return {};
            if (is_half(from) != is_half(n.type)) return converted_half(n.type, from, a.value);
            if (is_float(from) && real) return a;  // a single is kept as a double
            if (is_float(from) || real) return a.value == 0 ? known{true, 0} : known{};
            return wrapped(n.type, a.value);
        }
        case operation::multiply: {
            known const a = argument(0), b = argument(1);
            bool const zero = (a.is && a.value == 0) || (b.is && b.value == 0);
            // Zero times infinity is no number.
            if (real) return a.is && b.is && a.value == 0 && b.value == 0 ? known{true, 0} : known{};
            if (zero) return {true, 0};
            return a.is && b.is ? integer(static_cast<std::uint64_t>(a.value) * static_cast<std::uint64_t>(b.value)) : known{};
        }
        case operation::add:
        case operation::subtract: {
            known const a = argument(0), b = argument(1);
            if (!a.is || !b.is) return {};
            if (real) return a.value == 0 && b.value == 0 ? known{true, 0} : known{};
            std::uint64_t const right = static_cast<std::uint64_t>(b.value);
            return integer(static_cast<std::uint64_t>(a.value) + (n.op == operation::add ? right : 0 - right));
        }
        default: return {};
    }
}

}  // namespace tilewright::detail
