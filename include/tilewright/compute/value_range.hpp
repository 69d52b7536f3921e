#pragma once
#include <tilewright/compute/node.hpp>

namespace tilewright {

/// All values that an integer expression can take, and perhaps more.
struct value_range {
    std::int64_t low = 0, high = 0;
    bool known = false;  ///< false: any value of its type, or no integer

    constexpr bool is_inside(value_range const& of) const { return known && of.known && of.low <= low && high <= of.high; }
    constexpr value_range joined(value_range const& other) const {
        if (!known || !other.known) return {};
        return {low < other.low ? low : other.low, high > other.high ? high : other.high, true};
    }

    friend constexpr bool operator==(value_range const&, value_range const&) = default;
};

/// Of all values of a type. That of uint64 has no place in an int64.
constexpr value_range range_of(scalar_type type) {
    if (type == scalar_type::literal || type == scalar_type::uint64 || is_float(type) || is_half(type)) return {};
    return {lowest_of(type), highest_of(type), true};
}

namespace detail {

/// The range of what one operation makes of two. Sums and products are limited to 2^62, beyond which nothing is known.
constexpr value_range combined(operation op, value_range const& a, value_range const& b) {
    if (!a.known || !b.known) return {};
    auto const least = [](std::int64_t x, std::int64_t y) { return x < y ? x : y; };
    auto const most = [](std::int64_t x, std::int64_t y) { return x > y ? x : y; };
    auto const is_small = [](value_range const& r, std::int64_t limit) { return -limit <= r.low && r.high <= limit; };
    switch (op) {
        case operation::minimum: return {least(a.low, b.low), least(a.high, b.high), true};
        case operation::maximum: return {most(a.low, b.low), most(a.high, b.high), true};
        case operation::add:
        case operation::subtract:
            if (!is_small(a, std::int64_t{1} << 61) || !is_small(b, std::int64_t{1} << 61)) return {};
            return op == operation::add ? value_range{a.low + b.low, a.high + b.high, true}
                                        : value_range{a.low - b.high, a.high - b.low, true};
        case operation::multiply: {
            if (!is_small(a, std::int64_t{1} << 31) || !is_small(b, std::int64_t{1} << 31)) return {};
            std::int64_t const corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
            value_range all{corners[0], corners[0], true};
            for (std::int64_t one : corners) all = all.joined({one, one, true});
            return all;
        }
        default: return {};
    }
}

}  // namespace detail

/// The values of node `at`, from those of types, of constants, and of the stages before it that it reads.
///
/// @return unknown where a value may wrap, and for what is no integer
constexpr value_range range_of(computation_view nodes, int at) {
    ir::node const& n = nodes[at];
    value_range const whole = range_of(n.type);
    auto const argument = [&](int position) { return range_of(nodes, n.argument(position)); };
    value_range found;
    switch (n.op) {
        case operation::constant: found = {n.value, n.value, true}; break;
        case operation::access: {
            // A padded access is its border where there is no element; that is a constant of the type.
            value_range border;
            if (is_padded(nodes, at) && whole.known) border = {n.value, n.value, true};
            for (int stage = at - 1; stage >= 0; --stage) {
                if (nodes[stage].op != operation::store || nodes[stage].name != n.name) continue;
                value_range const stored = range_of(nodes, nodes[stage].argument(1));
                found = border.known ? stored.joined(border) : stored;
                break;
            }
            break;
        }
        case operation::select: found = range_of(nodes, n.argument(1)).joined(argument(2)); break;
        case operation::cast: found = argument(0); break;
        case operation::minimum:
        case operation::maximum:
        case operation::add:
        case operation::subtract:
        case operation::multiply: found = detail::combined(n.op, argument(0), argument(1)); break;
        default: break;
    }
    return found.is_inside(whole) ? found : whole;
}

/// Whether node `at` is a product of two bytes, one of them without sign, as a value of 32 bits, and the sum of any two such products
/// is a value of 16 bits.
constexpr bool pairs_fit_16_bits(computation_view nodes, int at) {
    ir::node const& product = nodes[at];
    if (product.op != operation::multiply || product.type != scalar_type::int32) return false;
    int bytes[2] = {};
    for (int side : {0, 1}) {
        ir::node const& widened = nodes[product.argument(side)];
        if (widened.op != operation::cast) return false;
        bytes[side] = widened.argument(0);
    }
    scalar_type const left = nodes[bytes[0]].type, right = nodes[bytes[1]].type;
    bool const one_of_each =
        (left == scalar_type::uint8 && right == scalar_type::int8) || (left == scalar_type::int8 && right == scalar_type::uint8);
    if (!one_of_each) return false;
    value_range const one = detail::combined(operation::multiply, range_of(nodes, bytes[0]), range_of(nodes, bytes[1]));
    return detail::combined(operation::add, one, one).is_inside(range_of(scalar_type::int16));
}

}  // namespace tilewright
