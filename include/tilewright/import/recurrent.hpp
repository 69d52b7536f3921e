#pragma once
#include <tilewright/import/quantised_elementwise.hpp>
#include <tilewright/import/quantised_products.hpp>
#include <tilewright/import/recurrence.hpp>
#include <tuple>

// Operators of TensorFlow Lite that keep something from run to run. What they keep is an input and a further result of the network:
// network/variables.hpp. Integers of 8 bits are kept less their zero point, modulo 256, so that 0 is where all of them begin.
namespace tilewright::imported::detail::tflite {

inline constexpr bounds of_int8{}, of_int16{lowest_of(scalar_type::int16), highest_of(scalar_type::int16)};

/// `x` of int32 as the nearest int16.
inline value as_int16(value const& x) { return with_zero_point(x, 0, of_int16, scalar_type::int16); }
inline value wide(value const& x) { return convert(x, scalar_type::int32); }

/// The operand that keeps something, as a tensor of these extents.
inline view kept_operand(lowering& of, std::size_t at, shape const& extents) {
    auto const& kept = of.from.kept;
    bool const is_kept =
        of.has(at) && std::any_of(kept.begin(), kept.end(), [&](auto const& one) { return one.before == of.node->inputs[at]; });
    if (!is_kept) throw not_imported("operand " + std::to_string(at) + " has to be a variable that no other node writes");
    return of.operand_stored_as(at, extents);
}
/// @throws not_imported  where there is a bias of another type, or for another number of units
inline void need_bias(lowering& of, std::size_t at, std::int64_t units, bool floats) {
    if (!of.has(at)) return;
    if (of.operand(at).elements() != units) throw not_imported("a bias of " + text_of(of.operand(at).shape()));
    if (operand_tensor(of, at).type != (floats ? network::element_type::float32 : network::element_type::int32))
        throw not_imported("a bias of " + type_text(operand_tensor(of, at)));
}
/// Integers that are kept, as they are meant.
inline view with_kept_zero_point(lowering& of, view const& kept, std::int64_t zero_point) {
    if (zero_point == 0) return kept;
    return of.each(kept, [&](value const& x) { return convert(wide(x) + in32(zero_point), kept.type()); });
}
/// Gives integers, as they are kept, to the result of a variable.
inline void keep_for_next(lowering& of, std::size_t result, view const& what, std::int64_t zero_point) {
    view made = what;
    if (zero_point != 0) made = of.each(what, [&](value const& x) { return convert(wide(x) - in32(zero_point), what.type()); });
    of.give(result, of.reshaped(made, network::usual_extents(result_tensor(of, result))));
}

/// A kernel for a tensor that only kernels read: what `finish` makes of a sum.
template <class Finish>
view finished_sums(lowering& of, space const& loops, value const& sums, Finish const& finish) {
    view const whole = of.stage(loops, sums);
    return of.compute(loops, finish(imported::at(whole, loops)));
}
// SVDF: filters over features and over time

/// x [b, i] by features [f, i]: a row of `memory` newest results for each filter; by weights over time [f, memory], summed over the `rank`
/// filters of a unit.
inline void filter_over_time(lowering& of) {
    view const x = of.operand(0), features = of.operand(1), over_time = of.operand(2);
    if (x.rank() != 2 || features.rank() != 2 || over_time.rank() != 2 || features.extent(1) != x.extent(1) ||
        over_time.extent(0) != features.extent(0))
        throw not_imported("of " + text_of(x.shape()) + " by " + text_of(features.shape()) + " and " + text_of(over_time.shape()));
    std::int64_t const batches = x.extent(0), filters = features.extent(0), memory = over_time.extent(1);
    std::int64_t const rank = limited(integer(of, "rank", 1), 1, filters, "a rank"), units = filters / rank;
    if (units * rank != filters) throw not_imported(std::to_string(filters) + " filters of rank " + std::to_string(rank));
    bool const floats = computes_floats(of, {0, 1});
    view const before = kept_operand(of, 4, {batches, filters, memory});
    network::tensor const& kept = operand_tensor(of, 4);
    scalar_type const type = before.type();
    if (floats ? type != scalar_type::float32 : type != scalar_type::int8 && type != scalar_type::int16)
        throw not_imported("a state of " + type_text(kept));
    if (over_time.type() != type)
        throw not_imported("weights over time of " + type_text(operand_tensor(of, 2)) + " for a state of " + type_text(kept));
    need_bias(of, 3, units, floats);
    quantisation const in = floats ? quantisation{} : operand_quantisation(of, 0), out = floats ? quantisation{} : result_quantisation(of);
    quantisation const state = floats ? quantisation{} : quantisation_of(kept);
    auto const weight_scale = [&](std::size_t at) {
        quantisation const made = operand_quantisation(of, at);
        if (made.zero_point != 0) throw not_imported("weights whose zero point is " + std::to_string(made.zero_point));
        return made.scale;
    };

    rows_by_rows const by(x, features);
    view newest;
    if (floats) {
        newest = of.compute(by.loops, over(operation::reduce_sum, by.axes, by.row * by.weight));
    } else {
        // The scale of a product is a float, computed from left to right.
        auto const scaled = scaled_by(of, {fixed_scale_of(static_cast<double>(in.scale * weight_scale(1) / state.scale))}, by.channel());
        auto const starts = folded_starts({filters, x.extent(1)}, of.known_integers(1), 0,
                                          std::vector<std::int64_t>(static_cast<std::size_t>(filters), 0), in.zero_point, of_int8);
        value const sums = started(of, starts, by.channel(), over(operation::reduce_sum, by.axes, wide(by.row) * wide(by.weight)));
        newest = finished_sums(of, by.loops, sums, [&](value const& sum) {
            return with_zero_point(scaled(sum), 0, type == scalar_type::int8 ? of_int8 : of_int16, type);
        });
    }
    // The oldest result is dropped.
    space const loops = loops_over({batches, filters, memory});
    value const filter = imported::at(newest, {loops.index(0), loops.index(1)});
    value const older = padded_at(before, {loops.index(0), loops.index(1), loops.index(2) + in32(1)}, none_of(type));
    view const after = of.compute(loops, choose(loops.index(2) < in32(memory - 1), older, filter));
    keep_for_next(of, 1, after, 0);  // it is less its zero point already

    space const result = loops_over({batches, units});
    value const r = along("r", rank), m = along("m", memory);
    value const row = rank == 1 ? result.index(1) : times(result.index(1), rank) + r;
    value const element = imported::at(after, {result.index(0), row, m}), weight = imported::at(over_time, {row, m});
    std::vector<value> const axes = rank == 1 ? std::vector<value>{m} : std::vector<value>{r, m};
    if (floats) return finish_floats(of, result, over(operation::reduce_sum, axes, element * weight), 3, units, result.index(1));
    // The kernels of integers know no activation.
    bounds const within = result_bounds(of);
    if (within.low != of_int8.low || within.high != of_int8.high)
        throw not_imported("activation " + activation_of(of) + ", which the zero point of the result does not imply");
    // Of a state of int8, what is kept is less its zero point modulo 256, and what is meant may differ by 256.
    bool const wraps = type == scalar_type::int8 && state.zero_point != 0;
    value const meant = wraps ? wide(convert(wide(element) + in32(state.zero_point), type)) - in32(state.zero_point) : wide(element);
    if (type == scalar_type::int16 && state.zero_point != 0) throw not_imported("a state whose zero point is not 0");
    // Most weights of 16 bits could make sums that leave int32. Those wrap, as the kernels' do.
    auto const wrapping = [](value const& one) { return convert(one, scalar_type::uint32); };
    value const products = over(operation::reduce_sum, axes, wrapping(meant) * wrapping(weight));
    value const sums =
        of.has(3) ? wrapping(imported::at(reshaped(of.operand(3), {units}).value(), {result.index(1)})) + products : products;
    fixed_scale const by_scale = fixed_scale_of(static_cast<double>(state.scale * weight_scale(2) / out.scale));
    of.compute(result, sums, 0, [&](value const& sum) { return with_zero_point(rescaled(wide(sum), by_scale), out.zero_point, within); });
}

// UNIDIRECTIONAL_SEQUENCE_LSTM

/// 65536 / (1 + exp(-i / 24)) at integers, with lines between them: each value is raised by half of what the line to the next one is below
/// the curve in its middle. The table of TensorFlow Lite's kernels for integers of 16 bits.
inline std::int64_t logistic_at(std::int64_t i) {
    auto const curve = [](double at) { return 65536 / (1 + std::exp(-at / 24)); };
    double const at = static_cast<double>(i), middle = curve(at + 0.5) - (curve(at) + curve(at + 1)) / 2;
    return i >= 255 ? 65535 : nearest_away(curve(at) + middle / 2);
}
/// `x` of int32 with the values of an int16, as the hyperbolic tangent of x 2^power sees it.
inline value scaled_for_tangent(value const& x, int power) {
    int const left = power + 12;
    if (left >= 0) return x * in32(std::int64_t{3} << left);
    return binary(operation::shift_right, x * in32(3) + in32(std::int64_t{1} << (-left - 1)), in32(-left));
}
/// The hyperbolic tangent, by 2^15, of what is scaled for it; or, where `is_logistic` is true, the logistic function of a third of that by
/// 2^-12. The lines of the curve are a table: where a line begins and how steep it is are one number. What is used several times is a stage
/// of its own, since an expression counts each use.
inline value curve_of_int16(lowering& of, space const& loops, value const& scaled, std::optional<value> const& is_logistic = {}) {
    auto const let = [&](value const& x) { return imported::at(of.stage(loops, shared(x)), loops); };
    auto const by_kind = [&](auto const& make) { return is_logistic ? choose(*is_logistic, make(9), make(8)) : make(8); };
    auto const right = [](value const& x, int by) { return binary(operation::shift_right, x, in32(by)); };
    constexpr std::int64_t last = 254;
    std::vector<std::int64_t> lines;
    for (std::int64_t i = 0; i <= last; ++i) lines.push_back((logistic_at(i) - 32768) << 16 | (logistic_at(i + 1) - logistic_at(i)));
    value const z = let(scaled);
    value const which = let(smaller_of(by_kind([&](int bits) { return right(magnitude(z), bits); }), in32(last + 1)));
    value const line = let(by_table(of, smaller_of(which, in32(last)), 0, lines, scalar_type::int32));
    value const y = let(by_kind([&](int bits) {
        value const one = in32(std::int64_t{1} << bits), begin = right(line, 16), steep = line - begin * in32(1 << 16);
        value const inside = (begin + in32(32768)) * one + (magnitude(z) - which * one) * steep;
        return choose(which < in32(last + 1), inside, in32(std::int64_t{65535} << bits));
    }));
    value const tangent = right(choose(z < in32(0), in32((1 << 23) + (1 << 7) - 1) - y, y - in32((1 << 23) - (1 << 7))), 8);
    if (!is_logistic) return shared(tangent);
    value const logistic = right(choose(z < in32(0), in32((1 << 25) + (1 << 9) - 1) - y, y + in32(1 << 9)), 10);
    return shared(choose(*is_logistic, logistic, tangent));
}

/// x [b, t, i] or [t, b, i], one step after the other: gates [b, 4 n] of x and of the last result, the cell [b, n], and the result. The
/// gates of input, forgetting and output come first, and then that of the cell. Integers have an int16 for gates and cell.
class long_short_term {
  public:
    explicit long_short_term(lowering& given) : of(given), x(of.operand(0)) {
        if (x.rank() != 3) throw not_imported("of " + text_of(x.shape()));
        time = integer(of, "time_major", 0) != 0 ? 0 : 1;
        steps = unrolled_steps(of, x.extent(time)), batches = x.extent(1 - time), inputs = x.extent(2);
        floats = computes_floats(of, {0});
        for (std::size_t at = 1; at < 9; ++at) {
            if (!of.has(at)) throw not_imported("coupled gates of input and forgetting: operand " + std::to_string(at) + " is missing");
        }
        for (auto const& [first, end, what] :
             {std::tuple{9, 12, "weights of the cell in gates"}, {16, 18, "a projection"}, {20, 24, "normalised gates"}}) {
            for (int at = first; at < end; ++at) {
                if (of.has(static_cast<std::size_t>(at))) throw not_imported(std::string(what) + ": operand " + std::to_string(at));
            }
        }
        if (integer(of, "diagonal_recurrent_tensors", 0) != 0) throw not_imported("diagonal recurrent weights");
        if (std::string const activation = activation_of(of); activation != "TANH") throw not_imported("activation " + activation);
        if (of.operand(5).rank() != 2) throw not_imported("weights of " + text_of(of.operand(5).shape()));
        units = of.operand(5).extent(0);
        before_result = kept_operand(of, 18, {batches, units}), before_cell = kept_operand(of, 19, {batches, units});
        auto const need = [&](std::size_t at, network::element_type type) {
            if (operand_tensor(of, at).type != type)
                throw not_imported("operand " + std::to_string(at) + " of " + type_text(operand_tensor(of, at)));
        };
        using network::element_type;
        for (std::size_t at = 1; at < 9; ++at) need(at, floats ? element_type::float32 : element_type::int8);
        for (std::size_t at = 12; at < 16; ++at) need_bias(of, at, units, floats);
        need(18, result_tensor(of).type), need(19, floats ? element_type::float32 : element_type::int16);
        if (floats) return;
        in = operand_quantisation(of, 0), out = result_quantisation(of), kept = operand_quantisation(of, 18),
        cell = operand_quantisation(of, 19);
        if (!(out == kept)) throw not_imported("a result and a state of different scales or zero points");
        if (cell.zero_point != 0 || std::frexp(cell.scale, &cell_power) != 0.5f)
            throw not_imported("a cell whose scale is no power of two, or whose zero point is not 0");
        cell_power -= 1;
        // Beyond that a curve would leave int32.
        if (cell_power < -24 || cell_power > 2) throw not_imported("a cell whose scale is 2^" + std::to_string(cell_power));
    }

    void compute() {
        view const weights = stacked(5, units), of_x = gates_of_inputs();
        view result = floats ? before_result : with_kept_zero_point(of, before_result, kept.zero_point), cells = before_cell;
        std::vector<view> parts;
        for (std::int64_t step = 0; step < steps; ++step) {
            view const gates = gates_of_step(of_x, step, result, weights);
            cells = next_cells(gates, cells);
            result = next_result(gates, cells);
            // [b, 1, n], or [1, b, n].
            parts.push_back(imported::reshaped(result, time == 1 ? shape{batches, 1, units} : shape{1, batches, units}).value());
        }
        joined_views(of, parts, time, 0);
        keep_for_next(of, 1, result, kept.zero_point), keep_for_next(of, 2, cells, 0);
    }

  private:
    static constexpr std::size_t order[] = {0, 1, 3, 2};  ///< of gates here, by those of operands

    /// The weights of all gates [4 n, depth].
    view stacked(std::size_t first, std::int64_t depth) {
        known_tensor made(floats ? scalar_type::float32 : scalar_type::int8, {4 * units, depth}, {});
        for (std::size_t const gate : order) {
            known_tensor const one = of.known(first + gate);
            if (one.what.extents != shape{units, depth}) throw not_imported("weights of " + text_of(one.what.extents));
            made.bytes.insert(made.bytes.end(), one.bytes.begin(), one.bytes.end());
        }
        return of.constant(std::move(made));
    }
    /// The scales of sums of all gates, and what they start from.
    std::pair<std::vector<fixed_scale>, std::vector<std::int64_t>> integers_of(std::size_t first, std::int64_t depth,
                                                                               quantisation const& from, bool biased) {
        std::pair<std::vector<fixed_scale>, std::vector<std::int64_t>> made;
        for (std::size_t const gate : order) {
            quantisation const weights = operand_quantisation(of, first + gate);
            if (weights.zero_point != 0) throw not_imported("weights whose zero point is " + std::to_string(weights.zero_point));
            fixed_scale const scale = fixed_scale_of(static_cast<double>(from.scale * weights.scale) * 4096);
            made.first.insert(made.first.end(), static_cast<std::size_t>(units), scale);
            std::vector<std::int64_t> starts(static_cast<std::size_t>(units), 0);
            if (biased && of.has(12 + gate)) starts = of.known_integers(12 + gate);
            starts = folded_starts({units, depth}, of.known_integers(first + gate), 0, std::move(starts), from.zero_point, of_int8);
            made.second.insert(made.second.end(), starts.begin(), starts.end());
        }
        return made;
    }
    view biases() {
        known_tensor made(scalar_type::float32, {4 * units}, {});
        for (std::size_t const gate : order) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(units) * sizeof(float));
            if (of.has(12 + gate)) bytes = of.known(12 + gate).bytes;
            made.bytes.insert(made.bytes.end(), bytes.begin(), bytes.end());
        }
        return of.constant(std::move(made));
    }
    /// What x adds to all gates, of all steps at once.
    view gates_of_inputs() {
        if (floats) return rows_times(of, x, stacked(1, inputs), biases());
        rows_by_rows const by(x, stacked(1, inputs));
        auto const [scales, starts] = integers_of(1, inputs, in, true);
        auto const scaled = scaled_by(of, scales, by.channel());
        value const sums = over(operation::reduce_sum, by.axes, wide(by.row) * wide(by.weight));
        return finished_sums(of, by.loops, started(of, starts, by.channel(), sums),
                             [&](value const& sum) { return as_int16(scaled(sum)); });
    }
    view gates_of_step(view const& of_x, std::int64_t step, view const& result, view const& weights) {
        rows_by_rows const by(result, weights);
        value const batch = by.loops.index(0), now = in32(step);
        value const from_x =
            imported::at(of_x, time == 1 ? std::vector<value>{batch, now, by.channel()} : std::vector<value>{now, batch, by.channel()});
        value const is_gate = by.channel() < in32(3 * units);
        if (floats) {
            value const sums = over(operation::reduce_sum, by.axes, by.row * by.weight);
            return finished_sums(of, by.loops, sums, [&](value const& sum) {
                return once(from_x + sum, [&](value const& all) { return choose(is_gate, logistic(all), hyperbolic_tangent(all)); });
            });
        }
        if (!recurrent_) recurrent_ = integers_of(5, units, kept, false);
        auto const scaled = scaled_by(of, recurrent_->first, by.channel());
        value const sums = over(operation::reduce_sum, by.axes, wide(by.row) * wide(by.weight));
        return finished_sums(of, by.loops, started(of, recurrent_->second, by.channel(), sums), [&](value const& sum) {
            value const all = as_int16(wide(from_x) + wide(as_int16(scaled(sum))));
            return convert(curve_of_int16(of, by.loops, scaled_for_tangent(wide(all), -12), is_gate), scalar_type::int16);
        });
    }
    value gate_at(view const& gates, space const& loops, std::int64_t which) const {
        return imported::at(gates, {loops.index(0), loops.index(1) + in32(which * units)});
    }
    view next_cells(view const& gates, view const& cells) {
        space const loops = loops_over({batches, units});
        value const input = gate_at(gates, loops, 0), forget = gate_at(gates, loops, 1), fresh = gate_at(gates, loops, 3),
                    old = imported::at(cells, loops);
        double const clip = static_cast<double>(real(of, "cell_clip", 0));
        if (floats) {
            value const sum = forget * old + input * fresh;
            return of.compute(loops, clip > 0 ? larger_of(smaller_of(sum, like(sum, clip)), like(sum, -clip)) : sum);
        }
        double const product = 0x1p-15, scale = static_cast<double>(cell.scale);
        value const kept_part = as_int16(rescaled(wide(forget) * wide(old), fixed_scale_of(product * scale / scale)));
        value const new_part = as_int16(rescaled(wide(input) * wide(fresh), fixed_scale_of(product * product / scale)));
        bounds within = of_int16;
        if (clip > 0) within.high = static_cast<std::int16_t>(std::clamp(clip / scale, -32768.0, 32767.0)), within.low = -within.high;
        return of.compute(loops, with_zero_point(wide(kept_part) + wide(new_part), 0, within, scalar_type::int16));
    }
    view next_result(view const& gates, view const& cells) {
        space const loops = loops_over({batches, units});
        value const output = gate_at(gates, loops, 2), now = imported::at(cells, loops);
        if (floats) return of.compute(loops, hyperbolic_tangent(now) * output);
        fixed_scale const by = fixed_scale_of(0x1p-30 / static_cast<double>(out.scale));
        value const product = curve_of_int16(of, loops, scaled_for_tangent(wide(now), cell_power)) * wide(output);
        return of.compute(loops, with_zero_point(rescaled(product, by), out.zero_point, of_int8));
    }

    lowering& of;
    view x, before_result = {}, before_cell = {};
    int time = 1, cell_power = 0;
    std::int64_t steps = 0, batches = 0, inputs = 0, units = 0;
    bool floats = false;
    quantisation in = {}, out = {}, kept = {}, cell = {};
    std::optional<std::pair<std::vector<fixed_scale>, std::vector<std::int64_t>>> recurrent_ = {};
};
inline void run_long_short_term(lowering& of) { long_short_term(of).compute(); }

}  // namespace tilewright::imported::detail::tflite
