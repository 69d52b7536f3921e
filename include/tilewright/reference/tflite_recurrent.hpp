#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/reference/tflite_node.hpp>
#include <tilewright/reference/tflite_numbers.hpp>
#include <tilewright/reference/tflite_products.hpp>
#include <utility>
#include <vector>

// Operators that keep something from run to run: it is an operand and a further result. Integers of 8 bits are kept less their zero point,
// modulo 256. The rules are those of the kernels for Microcontrollers, whose curves of int16 are lines between the values of a table.
namespace tilewright::reference::tflite {

namespace detail {

inline constexpr std::int64_t int16_least = -32768, int16_most = 32767;
inline std::int64_t as_int16(std::int64_t x) { return std::clamp(x, int16_least, int16_most); }
/// The int8 that is left modulo 256.
inline std::int64_t wrapped(std::int64_t x) { return static_cast<std::int8_t>(static_cast<std::uint8_t>(x)); }
inline float weight_scale(call const& of, std::size_t at) {
    need_symmetric(of, at);
    return scale_of(of.operand_tensor(at));
}

/// [rows, depth] by [channels, depth].
template <class Number>
std::vector<Number> rows_by_rows(std::vector<Number> const& rows, std::vector<Number> const& weights, std::int64_t depth) {
    std::vector<Number> made;
    for (std::size_t row = 0; row < rows.size(); row += static_cast<std::size_t>(depth))
        for (std::size_t channel = 0; channel < weights.size(); channel += static_cast<std::size_t>(depth))
            made.push_back(inner_product(rows.data() + row, weights.data() + channel, depth));
    return made;
}

/// The rows [b, f, memory] after a run: the oldest number of each is dropped, the newest comes last.
template <class Number>
std::vector<Number> moved_on(std::vector<Number> kept, std::vector<Number> const& newest) {
    std::size_t const memory = kept.size() / newest.size();
    for (std::size_t row = 0; row < newest.size(); ++row) {
        auto const first = kept.begin() + static_cast<std::ptrdiff_t>(row * memory);
        std::rotate(first, first + 1, first + static_cast<std::ptrdiff_t>(memory));
        kept[row * memory + memory - 1] = newest[row];
    }
    return kept;
}

/// Entry i of the table of 65536 / (1 + exp(-i / 24)), each raised by half of what the middle of the next line is below the curve.
inline std::int64_t curve_entry(std::int64_t i) {
    if (i > 254) return 65535;
    double const here = 65536.0 / (1.0 + std::exp(static_cast<double>(-i) / 24)),
                 next = 65536.0 / (1.0 + std::exp(static_cast<double>(-i - 1) / 24)),
                 middle = 65536.0 / (1.0 + std::exp((static_cast<double>(-i) - 0.5) / 24));
    return nearest(here + 0.5 * (middle - 0.5 * (here + next)));
}
/// The table at x / 2^bits, by 2^bits.
inline std::int64_t between_entries(std::int64_t x, int bits) {
    std::int64_t const i = x >> bits, rest = x - (i << bits);
    if (i >= 255) return std::int64_t{65535} << bits;
    return (curve_entry(i) << bits) + rest * (curve_entry(i + 1) - curve_entry(i));
}
/// The logistic function of x / 2^12, by 2^15.
inline std::int64_t logistic_of(std::int64_t x) {
    std::int64_t const y = between_entries(std::abs(3 * x), 9);
    return (x < 0 ? (1 << 25) - y + 511 : y + 512) >> 10;
}
/// The hyperbolic tangent of x 2^power, by 2^15.
inline std::int64_t tangent_of(std::int64_t x, int power) {
    int const left = power + 12;
    std::int64_t const z = left >= 0 ? 3 * x * (1 << left) : (3 * x + (1 << (-left - 1))) >> -left;
    std::int64_t const y = between_entries(std::abs(z), 8);
    return (z < 0 ? -y + (1 << 23) + 127 : y - (1 << 23) + 128) >> 8;
}

}  // namespace detail

/// SVDF: x [b, i] by features [f, i], the newest of `memory` numbers of each filter; these by weights over time [f, memory], summed over
/// the filters of a unit, and a bias [u]; to [b, u] and what is kept, [b, f * memory].
inline std::vector<elements> svdf(call const& of) {
    std::int64_t const depth = of.operand(0).extents.back(), filters = of.operand(1).extents.at(0), rank = of.number("rank", 1),
                       memory = of.operand(2).extents.at(1), units = filters / rank, batches = of.operand(0).extents.at(0);
    elements const& kept = of.operand(4);
    auto const over_time = [&](auto const& rows, auto const& weights) {
        auto sums = rows;
        sums.assign(static_cast<std::size_t>(batches * units), 0);
        for (std::size_t at = 0; at < rows.size(); ++at) {
            std::size_t const in_batch = at % static_cast<std::size_t>(filters * memory),
                              batch = at / static_cast<std::size_t>(filters * memory);
            sums[batch * static_cast<std::size_t>(units) + in_batch / static_cast<std::size_t>(rank * memory)] +=
                rows[at] * weights[in_batch];
        }
        return sums;
    };
    if (makes_floats(of)) {
        auto const after = detail::moved_on(reals_of(kept), detail::rows_by_rows(floats(of, 0), floats(of, 1), depth));
        auto sums = over_time(after, floats(of, 2));
        detail::add_bias(of, 3, units, sums);
        return {finished(of, {batches, units}, std::move(sums)), of_reals(kept.type, kept.extents, after)};
    }
    network::tensor const& state = of.operand_tensor(4);
    bool const narrow = kept.type == network::element_type::int8;
    std::int64_t const zero = zero_point_of(state);
    factor const first = factor_of(static_cast<double>(scale_of(of.operand_tensor(0)) * detail::weight_scale(of, 1) / scale_of(state))),
                 second = factor_of(static_cast<double>(scale_of(state) * detail::weight_scale(of, 2) / scale_of(of.result())));
    std::vector<std::int64_t> newest = detail::rows_by_rows(centred(of, 0), centred(of, 1), depth);
    for (std::int64_t& one : newest) {
        one = scaled(as_int32(one), first);
        one = narrow ? std::clamp(one, int8_least, int8_most) : detail::as_int16(one);
    }
    std::vector<std::int64_t> const after = detail::moved_on(integers_of(kept), newest);
    std::vector<std::int64_t> meant = after;
    for (std::int64_t& one : meant) one = narrow ? detail::wrapped(one + zero) - zero : one;
    std::vector<std::int64_t> sums = over_time(meant, integers_of(of.operand(2)));
    detail::add_bias(of, 3, units, sums);
    for (std::int64_t& one : sums) one = scaled(as_int32(one), second) + zero_point_of(of.result());
    return {bounded(of, "NONE", {batches, units}, std::move(sums)), of_integers(kept.type, kept.extents, after)};
}

namespace detail {

/// What a UNIDIRECTIONAL_SEQUENCE_LSTM is given, and its gates: of input, forgetting, cell and output.
struct long_short_term {
    explicit long_short_term(call const& given) : of(given) {
        extent_list const& x = of.operand(0).extents;
        bool const time_first = of.number("time_major") != 0;
        steps = x.at(time_first ? 0 : 1), batches = x.at(time_first ? 1 : 0), depth = x.at(2), units = of.operand(5).extents.at(0);
        step_stride = time_first ? batches : 1, batch_stride = time_first ? 1 : steps;
    }
    /// Where the row of a batch begins in [b, t, depth] or [t, b, depth].
    std::int64_t row(std::int64_t step, std::int64_t batch) const { return step * step_stride + batch * batch_stride; }

    /// The sums of one gate, at one step: what x adds, and what the last result adds.
    template <class Number>
    std::pair<Number, Number> sums(std::vector<Number> const& x, std::vector<Number> const& last,
                                   std::array<std::vector<Number>, 8> const& weights, std::size_t gate, std::int64_t step,
                                   std::int64_t batch, std::int64_t unit) const {
        return {inner_product(x.data() + row(step, batch) * depth, weights[gate].data() + unit * depth, depth),
                inner_product(last.data() + batch * units, weights[4 + gate].data() + unit * units, units)};
    }
    template <class Number>
    std::array<std::vector<Number>, 8> weights() const {
        std::array<std::vector<Number>, 8> made;
        for (std::size_t at = 0; at < 8; ++at) made[at] = values<Number>(of, at + 1);
        return made;
    }
    template <class Number>
    Number bias(std::size_t gate, std::int64_t unit) const {
        if (!of.has(12 + gate)) return 0;
        if constexpr (std::is_same_v<Number, double>) return floats(of, 12 + gate).at(static_cast<std::size_t>(unit));
        else return integers_of(of.operand(12 + gate)).at(static_cast<std::size_t>(unit));
    }
    /// Runs all steps. `unit(sums of the gates, cell)` gives the result of one unit and changes its cell.
    template <class Number, class Unit>
    std::vector<elements> run(std::vector<Number> last, std::vector<Number> cells, Unit const& unit, network::element_type type,
                              Number result_zero) const {
        auto const x = values<Number>(of, 0);
        auto const by = weights<Number>();
        std::vector<Number> made(static_cast<std::size_t>(steps * batches * units), 0);
        for (std::int64_t step = 0; step < steps; ++step)
            for (std::int64_t batch = 0; batch < batches; ++batch) {
                std::vector<Number> next;
                for (std::int64_t at = 0; at < units; ++at) {
                    std::array<std::pair<Number, Number>, 4> all;
                    for (std::size_t gate = 0; gate < 4; ++gate) {
                        all[gate] = sums(x, last, by, gate, step, batch, at);
                        all[gate].first += bias<Number>(gate, at);
                    }
                    next.push_back(unit(all, cells[static_cast<std::size_t>(batch * units + at)]));
                    made[static_cast<std::size_t>(row(step, batch) * units + at)] = next.back() + result_zero;
                }
                std::copy(next.begin(), next.end(), last.begin() + batch * units);
            }
        extent_list extents = of.operand(0).extents;
        extents.back() = units;
        elements const &kept = of.operand(18), &cell = of.operand(19);
        if constexpr (std::is_same_v<Number, double>) {
            return {of_reals(type, extents, made), of_reals(type, kept.extents, last), of_reals(type, cell.extents, cells)};
        } else {
            for (Number& one : last) one = wrapped(one);
            return {of_integers(type, extents, made), of_integers(type, kept.extents, last), of_integers(cell.type, cell.extents, cells)};
        }
    }

    call const& of;
    std::int64_t steps = 0, batches = 0, depth = 0, units = 0, step_stride = 0, batch_stride = 0;
};

}  // namespace detail

/// UNIDIRECTIONAL_SEQUENCE_LSTM: x [b, t, i], or [t, b, i], to results [b, t, n], the last result and the cell [b, n]. Without weights of
/// the cell in gates, projection and normalised gates; integers have gates and cell of int16.
inline std::vector<elements> unidirectional_sequence_lstm(call const& of) {
    for (std::size_t const at : {9U, 10U, 11U, 16U, 17U, 20U, 21U, 22U, 23U}) {
        if (of.has(at)) of.refuse("operand " + std::to_string(at));
    }
    if (activation_of(of) != "TANH") of.refuse("activation " + activation_of(of));
    detail::long_short_term const all(of);
    double const clip = static_cast<double>(of.setting<float>("cell_clip", 0));
    if (makes_floats(of)) {
        auto const unit = [&](auto const& sums, double& cell) {
            auto const gate = [&](std::size_t at) { return 1 / (1 + std::exp(-sums[at].first - sums[at].second)); };
            cell = gate(1) * cell + gate(0) * std::tanh(sums[2].first + sums[2].second);
            if (clip > 0) cell = std::clamp(cell, -clip, clip);
            return std::tanh(cell) * gate(3);
        };
        return all.run<double>(reals_of(of.operand(18)), reals_of(of.operand(19)), unit, network::element_type::float32, 0);
    }
    network::tensor const &x = of.operand_tensor(0), &kept = of.operand_tensor(18), &cell = of.operand_tensor(19);
    std::array<std::pair<factor, factor>, 4> gates;
    for (std::size_t gate = 0; gate < 4; ++gate) {
        gates[gate].first = factor_of(static_cast<double>(scale_of(x) * detail::weight_scale(of, 1 + gate)) * 4096);
        gates[gate].second = factor_of(static_cast<double>(scale_of(kept) * detail::weight_scale(of, 5 + gate)) * 4096);
    }
    double const cell_scale = static_cast<double>(scale_of(cell)), to_15 = 1.0 / 32768;
    int const power = static_cast<int>(std::lround(std::log2(cell_scale)));
    factor const forgotten = factor_of(to_15 * cell_scale / cell_scale), fresh = factor_of(to_15 * to_15 / cell_scale),
                 result = factor_of(to_15 * to_15 / static_cast<double>(scale_of(kept)));
    std::int64_t const most = clip > 0 ? static_cast<std::int64_t>(std::clamp(clip / cell_scale, -32768.0, 32767.0)) : detail::int16_most;
    std::int64_t const zero = zero_point_of(kept);
    // Results less their zero point: what the next step multiplies.
    auto const unit = [&](auto const& sums, std::int64_t& now) {
        auto const at = [&](std::size_t gate) {
            return detail::as_int16(detail::as_int16(scaled(as_int32(sums[gate].first), gates[gate].first)) +
                                    detail::as_int16(scaled(as_int32(sums[gate].second), gates[gate].second)));
        };
        std::int64_t const kept_part = detail::as_int16(scaled(detail::logistic_of(at(1)) * now, forgotten));
        std::int64_t const new_part = detail::as_int16(scaled(detail::logistic_of(at(0)) * detail::tangent_of(at(2), -12), fresh));
        now = detail::as_int16(kept_part + new_part);
        if (clip > 0) now = std::max(std::min(most, now), -most);
        std::int64_t const made = scaled(detail::tangent_of(now, power) * detail::logistic_of(at(3)), result) + zero;
        return std::clamp(made, int8_least, int8_most) - zero;
    };
    std::vector<std::int64_t> last = integers_of(of.operand(18));
    for (std::int64_t& one : last) one = detail::wrapped(one + zero) - zero;
    return all.run<std::int64_t>(std::move(last), integers_of(of.operand(19)), unit, network::element_type::int8, zero);
}

}  // namespace tilewright::reference::tflite
