#pragma once
#include <bit>
#include <tilewright/import/quantised_elementwise.hpp>
#include <tilewright/import/ranking.hpp>
#include <tilewright/import/reductions.hpp>

// Pools, means and softmax of TensorFlow Lite.
namespace tilewright::imported::detail::tflite {

/// What lies under a window along one dimension, inside of the extent: a number, or an expression of the loops.
inline value inside_of(window const& with, std::size_t at, std::int64_t extent, value const& out) {
    bool const all = with.before[at] == 0 && (with.result[at] - 1) * with.strides[at] + with.kernel[at] <= extent;
    if (all) return in32(with.kernel[at]);
    value const first = times(out, with.strides[at]) - in32(with.before[at]);
    return smaller_of(in32(extent), first + in32(with.kernel[at])) - larger_of(in32(0), first);
}
/// The quotient of a sum and a count, rounded to the nearest; halves go away from 0.
inline value rounded_quotient(value const& sum, value const& count) {
    value const quotient = (magnitude(sum) + count / in32(2)) / count;
    parameter<std::int32_t> const s{"s"}, q{"q"};
    return imported::apply(select(s < 0, 0 - q, q), {{"s", sum}, {"q", quotient}});
}
template <bool Average>
void pool(lowering& of) {
    bool const of_floats = computes_floats(of, {0});
    need_same_quantisation(of, 0);
    view x = of.operand(0);
    shape const input = x.shape();
    if (input.size() != 4) throw not_imported("of " + std::to_string(input.size()) + " dimensions");
    window const with = window_over(of, {input[1], input[2]}, {integer(of, "filter_height", 1), integer(of, "filter_width", 1)});
    for (int const dimension : {0, 1, 2}) x = of.joined(x, dimension);
    if (x.dimensions[3].size() + 3 > max_rank) x = of.joined(x, 3);
    if (with.pads()) x = of.with_whole_factors(x);
    view channels = x;
    for (std::size_t const dimension : {0u, 1u, 2u}) channels.dimensions[dimension] = {};
    space const loops = loops_over({channels}, {input[0], with.result[0], with.result[1], input[3]});
    std::vector<value> axes;
    value const in_y = with.tap(0, axes), in_x = with.tap(1, axes);
    std::vector<std::vector<value>> const read{
        {loops.index(0)}, {with.index(0, loops.index(1), in_y)}, {with.index(1, loops.index(2), in_x)}, loops.axes[3]};
    std::int64_t const lowest = lowest_of(scalar_type::int8);
    value const border = Average     ? number(std::int64_t{0}, x.type())
                         : of_floats ? number(-std::numeric_limits<double>::infinity(), x.type())
                                     : number(lowest, x.type());
    value const element = with.pads() ? padded_at_factors(x, read, border) : at_factors(x, read);
    bounds const within = of_floats ? bounds{} : result_bounds(of);
    if constexpr (Average) {
        value const count = inside_of(with, 0, input[1], loops.index(1)) * inside_of(with, 1, input[2], loops.index(2));
        value const sums = over(operation::reduce_sum, axes, of_floats ? element : convert(element, scalar_type::int32));
        of.compute(loops, sums, 0, [&](value const& sum) {
            if (of_floats) return activated(of, sum / convert(count, scalar_type::float32));
            return with_zero_point(rounded_quotient(sum, count), 0, within);
        });
    } else {
        value const most = over(operation::reduce_maximum, axes, element);
        bool const plain = of_floats ? activation_of(of) == "NONE" : within.low == -128 && within.high == 127;
        if (plain) return void(of.compute(loops, most, 0));
        of.compute(loops, most, 0, [&](value const& x_most) {
            if (of_floats) return activated(of, x_most);
            auto const limit = [](std::int64_t of_it) { return number(of_it, scalar_type::int8); };
            if (within.low == within.high) return limit(within.low);
            return smaller_of(larger_of(x_most, limit(within.low)), limit(within.high));
        });
    }
}
/// The loops of a reduction over the dimensions that operand 1 names, and the element that is reduced.
struct reduced_loops {
    reduced_loops(lowering& of, view const& x) : gone(x.dimensions.size(), false) {
        for (std::int64_t const one : of.known_integers(1)) gone[static_cast<std::size_t>(dimension_of(one, x.rank()))] = true;
        space const loops = loops_over({x}, x.shape());
        element = imported::at(x, loops);
        bool const keeps = integer(of, "keep_dims", 0) != 0;
        for (std::size_t at = 0; at < gone.size(); ++at) {
            if (gone[at]) axes.insert(axes.end(), loops.axes[at].begin(), loops.axes[at].end());
            if (gone[at] && !keeps) continue;
            outer.axes.push_back(gone[at] ? std::vector<value>{} : loops.axes[at]);
            outer.extents.push_back(gone[at] ? shape{} : loops.extents[at]);
        }
    }
    std::vector<bool> gone;
    space outer = {};
    std::vector<value> axes = {};
    value element = {};
};
/// The largest or the smallest element.
template <operation Op>
void reduce_to(lowering& of) {
    if (!computes_floats(of, {0})) need_same_quantisation(of, 0);
    reduced_loops const by(of, of.operand(0));
    of.compute(by.outer, over(Op, by.axes, by.element), 0);
}
/// Of several largest elements, the first.
inline void position_of_largest(lowering& of) {
    view const x = of.operand(0);
    int const dimension = dimension_of(known_integer(of, 1), x.rank());
    view made = position_of_extreme<true>(of, x, dimension, false);
    made.dimensions.erase(made.dimensions.begin() + dimension);
    finish_each(of, made, [&](value const& one) { return convert(one, type_of(result_tensor(of).type)); });
}
/// Of int8, the number of elements is a part of the multiplier, after as many shifts to the left as keep its precision.
inline void mean(lowering& of) {
    bool const of_floats = computes_floats(of, {0});
    view const x = of.operand(0);
    reduced_loops const loops(of, x);
    auto const& [gone, outer, axes, element] = loops;
    double const counted = number_of(x, gone);
    if (of_floats) {
        return void(
            of.compute(outer, over(operation::reduce_sum, axes, element), 0, [&](value const& sum) { return sum / like(sum, counted); }));
    }
    if (counted > 8388608) throw not_imported("of " + std::to_string(counted) + " elements, whose sum can leave int32");
    auto const count = static_cast<std::int64_t>(counted);
    quantisation const in = operand_quantisation(of, 0), out = result_quantisation(of);
    fixed_scale by = fixed_scale_of(static_cast<double>(in.scale) / static_cast<double>(out.scale));
    int const added = std::min({static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))) - 1, 32, 31 + by.shift});
    by.multiplier = static_cast<std::int32_t>((std::int64_t{by.multiplier} << added) / count);
    by.shift -= added;
    value const sums = over(operation::reduce_sum, axes, convert(element, scalar_type::int32));
    std::int64_t const start = -in.zero_point * count;
    of.compute(outer, start == 0 ? sums : in32(start) + sums, 0,
               [&](value const& sum) { return with_zero_point(rescaled(sum, by), out.zero_point, {}); });
    for (std::size_t at = outer.axes.size(); at-- > 0;) {
        if (!outer.axes[at].empty()) return note_rescaling(of, outer.axes[at].back(), {by}, out, {});
    }
}

// Softmax in fixed point: a number with i bits before the point has 31 - i behind it.

template <class A, class B>
constexpr auto high_product(A const& a, B const& b) {
    return rounding_doubling_high_multiply(a, b);
}
/// x * 2^exponent in int32, or the nearest that int32 has.
template <class T>
constexpr auto shifted_left(T const& x, int exponent) {
    return saturating_cast<std::int32_t>(cast<std::int64_t>(x) << exponent);
}
/// exp(x) with 0 bits before the point, for x <= 0 with 5 of them: a polynomial for what is left of x after quarters, and a factor for each
/// bit of their number.
inline value exponential_of_negative(value const& of) {
    parameter<std::int32_t> const x{"x"}, rest{"rest"}, near{"near"}, square{"square"}, made{"made"};
    constexpr std::int32_t quarter = 1 << 24, third = 715827883, exp_of_minus_eighth = 1895147668;
    value const left = imported::apply((x - ((x >> 24) << 24)) - quarter, {{"x", of}});
    value const from_eighth = imported::apply((rest << 5) + (1 << 28), {{"rest", left}});
    value const squared = imported::apply(high_product(near, near), {{"near", from_eighth}});
    auto const cube = high_product(square, near), fourth = high_product(square, square);
    auto const tail = rounding_shift_right(high_product(rounding_shift_right(fourth, 2) + cube, third) + square, 1);
    value result =
        imported::apply(exp_of_minus_eighth + high_product(near + tail, exp_of_minus_eighth), {{"near", from_eighth}, {"square", squared}});
    // exp(-1/4), exp(-1/2), … exp(-16)
    static constexpr std::int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    value const quarters = imported::apply((rest - x) >> 24, {{"rest", left}, {"x", of}});
    parameter<std::int32_t> const bits{"bits"}, bit{"bit"};
    parameter<std::int64_t> const factor{"factor"}, one{"one"};
    for (int at = 0; at < 7; ++at) {
        // A factor of 2^31 changes nothing: so what there is stands once, and its parts are not computed twice.
        auto const by = select(((bits >> bit) - (((bits >> bit) >> 1) << 1)) == 1, factor, one);
        result = imported::apply(cast<std::int32_t>((cast<std::int64_t>(made) * by + (1 << 30)) >> 31),
                                 {{"made", result},
                                  {"bits", quarters},
                                  {"bit", in32(at)},
                                  {"factor", number(std::int64_t{factors[at]}, scalar_type::int64)},
                                  {"one", number(std::int64_t{1} << 31, scalar_type::int64)}});
    }
    return choose(equal(of, in32(0)), in32(highest_of(scalar_type::int32)), result);
}
/// 1 / (1 + x) with 0 bits before the point, for x in [0, 1) with 0 of them: three steps of Newton.
inline value one_over_one_plus(value const& of) {
    parameter<std::int32_t> const x{"x"}, half{"half"}, near{"near"};
    // Half of 1 + x, rounded: neither is below 0.
    value const halved = imported::apply(cast<std::int32_t>((cast<std::int64_t>(x) + (std::int64_t{1} << 31)) >> 1), {{"x", of}});
    value made = imported::apply(high_product(half, -1010580540) + 1515870810, {{"half", halved}});
    for (int step = 0; step < 3; ++step) {
        made = imported::apply(near + shifted_left(high_product(near, (1 << 29) - high_product(half, near)), 2),
                               {{"near", made}, {"half", halved}});
    }
    return imported::apply(shifted_left(near, 1), {{"near", made}});
}
/// How many of 32 bits are 0 in front of the first that is not, of a number of at least 2^19.
inline value free_bits(value const& of) {
    value count = in32(1);
    for (int bit = 20; bit < 31; ++bit) count = count + choose(of < in32(std::int64_t{1} << bit), in32(1), in32(0));
    return count;
}
inline void softmax(lowering& of) {
    // Of int8, the result may have 16 bits.
    bool const is_wide = is_int8(operand_tensor(of, 0)) && result_tensor(of).type == network::element_type::int16;
    bool const of_floats = !is_wide && computes_floats(of, {0});
    view const x = of.operand(0);
    if (x.rank() == 0) throw not_imported("of a scalar");
    shape const whole = x.shape();
    std::vector<bool> gone(x.dimensions.size(), false);
    gone.back() = true;
    float const beta = real(of, "beta", 0);
    view const highest = repeated_to(reduce(of, operation::reduce_maximum, x, gone, same), whole);
    space loops = loops_over({x, highest}, whole);
    value const here = imported::at(x, loops), most = imported::at(highest, loops);
    if (of_floats) {
        view const powers = of.compute(loops, exponential((here - most) * like(here, static_cast<double>(beta))));
        view const sums = repeated_to(reduce(of, operation::reduce_sum, powers, gone, same), whole);
        loops = loops_over({powers, sums}, whole);
        return void(of.compute(loops, imported::at(powers, loops) / imported::at(sums, loops), 0));
    }
    quantisation const in = operand_quantisation(of, 0);
    int const bits = is_wide ? 16 : 8;
    std::int64_t const steps = std::int64_t{1} << bits;
    // Some converters divide by 65535, and the kernels let that pass.
    quantisation const out = result_quantisation(of);
    double const part = static_cast<double>(out.scale) * static_cast<double>(steps);
    if (out.zero_point != -steps / 2 || std::abs(part - 1) > (is_wide ? 1e-3 : 0))
        throw not_imported("a result whose scale is not 1/" + std::to_string(steps) + " or whose zero point is not " +
                           std::to_string(-steps / 2));
    fixed_scale const by = fixed_scale_of(std::min(static_cast<double>(beta) * static_cast<double>(in.scale) * 67108864, 2147483647.0));
    if (by.shift < 0 || by.multiplier == 0) throw not_imported("beta times scale of less than 2^-27");
    // Differences below this one count as nothing.
    auto const smallest = -static_cast<std::int64_t>(std::floor(31.0 * 67108864 / std::exp2(by.shift)));
    value const difference = convert(here, scalar_type::int32) - convert(most, scalar_type::int32);
    parameter<std::int32_t> const d{"d"}, m{"m"}, s{"s"}, total{"total"}, power{"power"}, reciprocal{"reciprocal"}, headroom{"headroom"};
    value const counts = in32(smallest - 1) < difference;
    value const counted = choose(counts, difference, in32(0));
    value const scaled = imported::apply(high_product(d << s, m), {{"d", counted}, {"s", in32(by.shift)}, {"m", in32(by.multiplier)}});
    view const powers = of.compute(loops, shared(choose(counts, exponential_of_negative(scaled), in32(0))));
    view const sums = reduce(of, operation::reduce_sum, powers, gone, [](value const& one) {
        return imported::apply(rounding_shift_right(parameter<std::int32_t>{"p"}, 12), {{"p", one}});
    });
    // The reciprocal of each row's sum, and how far that was shifted.
    space const rows = loops_over({sums}, sums.shape());
    // The largest element of a row adds 2^19.
    view const room = of.compute(rows, shared(free_bits(imported::at(sums, rows))));
    value const shifted =
        imported::apply(cast<std::int32_t>((cast<std::int64_t>(total) << cast<std::int64_t>(headroom)) - (std::int64_t{1} << 31)),
                        {{"total", imported::at(sums, rows)}, {"headroom", imported::at(room, rows)}});
    view const inverse = of.compute(rows, shared(one_over_one_plus(shifted)));
    view const all_rooms = repeated_to(room, whole), all_inverses = repeated_to(inverse, whole);
    loops = loops_over({powers, all_rooms, all_inverses}, whole);
    // Of many equal elements the room is less than 4 bits, and an int32 has no such shift.
    auto const product = cast<std::int64_t>(high_product(power, reciprocal));
    value const share = imported::apply(cast<std::int32_t>(tilewright::detail::rounding_shift_with_room(product, 43 - bits - headroom)),
                                        {{"power", imported::at(powers, loops)},
                                         {"reciprocal", imported::at(all_inverses, loops)},
                                         {"headroom", imported::at(all_rooms, loops)}});
    scalar_type const type = is_wide ? scalar_type::int16 : scalar_type::int8;
    of.compute(loops, with_zero_point(share, -steps / 2, {lowest_of(type), highest_of(type)}, type), 0);
}

}  // namespace tilewright::imported::detail::tflite
