#pragma once
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <tilewright/reference/onnx_call.hpp>

// LSTM, GRU and RNN, step by step in numbers of float64.
namespace tilewright::reference::of_onnx {

/// One direction of such an operator.
class recurrent_direction {
  public:
    recurrent_direction(call const& given, std::size_t gates, std::size_t d, std::vector<std::string> functions)
        : of(given), x(floats_of(of.operand(0))), gates_(gates), d_(d), functions_(std::move(functions)) {
        weights = part(1), recurrent = part(2), units = static_cast<std::size_t>(of.operand(2).extents.at(2));
        bool const batch_first = of.integer("layout", 0) != 0;
        shape const& extents = of.operand(0).extents;
        require(extents.size() == 3, "x of another rank");
        steps = static_cast<std::size_t>(extents[batch_first ? 1 : 0]), batches = static_cast<std::size_t>(extents[batch_first ? 0 : 1]),
        depth = static_cast<std::size_t>(extents[2]);
        if (of.find(3) != nullptr) bias = part(3);
        bias.resize(2 * gates * units, 0);
        if (of.find(4) != nullptr) {
            for (std::int64_t const one : integers_of(of.operand(4))) require(one == extents[batch_first ? 1 : 0], "shorter sequences");
        }
        directions_ = static_cast<std::size_t>(of.operand(1).extents.at(0));
        last = begin(5), cell = begin(6);
        std::vector<std::string> const named =
            of.has("activations") ? *of.setting<std::vector<std::string>>("activations") : std::vector<std::string>{};
        if (!named.empty()) functions_.assign(named.begin() + static_cast<std::ptrdiff_t>(d * named.size() / directions_), named.end());
        require(!of.has("activation_alpha") && !of.has("activation_beta"), "settings of activations");
        clip_ = of.real("clip", 0);
    }

    /// Place of the row of a step and a batch in x and, of one direction, in the results.
    std::size_t row(std::size_t step, std::size_t batch) const {
        return of.integer("layout", 0) != 0 ? batch * steps + step : step * batches + batch;
    }
    double from_input(std::size_t step, std::size_t batch, std::size_t gate, std::size_t unit) const {
        double sum = bias[gate * units + unit];
        for (std::size_t i = 0; i < depth; ++i) sum += x[row(step, batch) * depth + i] * weights[(gate * units + unit) * depth + i];
        return sum;
    }
    double from_last(std::vector<double> const& what, std::size_t batch, std::size_t gate, std::size_t unit) const {
        double sum = bias[(gates_ + gate) * units + unit];
        for (std::size_t i = 0; i < units; ++i) sum += what[batch * units + i] * recurrent[(gate * units + unit) * units + i];
        return sum;
    }
    double activated(std::size_t which, double of_it) const {
        std::string name = functions_.at(which);
        for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        if (clip_ > 0) of_it = std::min(std::max(of_it, -clip_), clip_);
        if (name == "sigmoid") return 1 / (1 + std::exp(-of_it));
        if (name == "tanh") return std::tanh(of_it);
        require(name == "relu", "another activation");
        return std::max(of_it, 0.0);
    }
    /// What an operand has for this direction, which is its first dimension.
    std::vector<double> part(std::size_t at) const {
        std::vector<double> const all = floats_of(of.operand(at));
        auto const count = static_cast<std::ptrdiff_t>(all.size()) / of.operand(at).extents.at(0),
                   first = static_cast<std::ptrdiff_t>(d_) * count;
        return {all.begin() + first, all.begin() + first + count};
    }
    /// Runs all steps: `next(step)` changes `last` and `cell`.
    template <class Next>
    void run(Next const& next) {
        std::string const direction = of.word("direction", "forward");
        for (std::size_t at = 0; at < steps; ++at) {
            std::size_t const step = direction == "reverse" || d_ == 1 ? steps - 1 - at : at;
            next(step);
            results[step] = last;
        }
    }

    call const& of;
    std::vector<double> x, weights = {}, recurrent = {}, bias = {}, last = {}, cell = {};
    std::size_t steps = 0, batches = 0, depth = 0, units = 0;
    std::map<std::size_t, std::vector<double>> results = {};  ///< by step

  private:
    std::vector<double> begin(std::size_t at) const {
        std::vector<double> made(batches * units, 0);
        if (of.find(at) == nullptr) return made;
        std::vector<double> const all = floats_of(of.operand(at));
        for (std::size_t batch = 0; batch < batches; ++batch)
            for (std::size_t unit = 0; unit < units; ++unit)
                made[batch * units + unit] =
                    all[(of.integer("layout", 0) != 0 ? batch * directions_ + d_ : d_ * batches + batch) * units + unit];
        return made;
    }

    std::size_t gates_, d_, directions_ = 1;
    std::vector<std::string> functions_;
    double clip_ = 0;
};

/// Runs all directions: `run(direction)` runs one. @return all results, the last ones, and the cells
template <class Run>
results recurrent_results(call const& of, std::size_t gates, std::vector<std::string> const& functions, Run const& run) {
    auto const directions = static_cast<std::size_t>(of.operand(1).extents.at(0));
    bool const batch_first = of.integer("layout", 0) != 0;
    std::vector<recurrent_direction> all;
    for (std::size_t d = 0; d < directions; ++d) run(all.emplace_back(of, gates, d, functions));
    std::size_t const steps = all[0].steps, batches = all[0].batches, units = all[0].units;
    std::vector<double> every(steps * directions * batches * units), last(directions * batches * units), cells(last.size());
    for (std::size_t d = 0; d < directions; ++d)
        for (std::size_t batch = 0; batch < batches; ++batch)
            for (std::size_t unit = 0; unit < units; ++unit) {
                std::size_t const from = batch * units + unit,
                                  to = (batch_first ? batch * directions + d : d * batches + batch) * units + unit;
                last[to] = all[d].last[from], cells[to] = all[d].cell[from];
                for (std::size_t step = 0; step < steps; ++step)
                    every[(batch_first ? (batch * steps + step) * directions + d : (step * directions + d) * batches + batch) * units +
                          unit] = all[d].results.at(step)[from];
            }
    auto const extents = [](std::vector<std::size_t> const& list) { return shape(list.begin(), list.end()); };
    element_type const type = of.operand(0).type;
    shape const of_last = extents(batch_first ? std::vector{batches, directions, units} : std::vector{directions, batches, units});
    return {of_reals(type,
                     extents(batch_first ? std::vector{batches, steps, directions, units} : std::vector{steps, directions, batches, units}),
                     every),
            of_reals(type, of_last, last), of_reals(type, of_last, cells)};
}

/// Gates of input, output, forgetting and cell.
inline results lstm(call const& of) {
    require(of.integer("input_forget", 0) == 0, "coupled gates");
    return recurrent_results(of, 4, {"Sigmoid", "Tanh", "Tanh"}, [&](recurrent_direction& one) {
        std::vector<double> const peephole = of.find(7) != nullptr ? one.part(7) : std::vector<double>(3 * one.units, 0);
        one.run([&](std::size_t step) {
            std::vector<double> const before = one.last;
            for (std::size_t batch = 0; batch < one.batches; ++batch)
                for (std::size_t unit = 0; unit < one.units; ++unit) {
                    double& cell = one.cell[batch * one.units + unit];
                    auto const gate = [&](std::size_t which) {
                        return one.from_input(step, batch, which, unit) + one.from_last(before, batch, which, unit) +
                               (which < 3 ? peephole[which * one.units + unit] * cell : 0);
                    };
                    double const input = one.activated(0, gate(0)), forget = one.activated(0, gate(2));
                    cell = forget * cell + input * one.activated(1, gate(3));
                    one.last[batch * one.units + unit] = one.activated(0, gate(1)) * one.activated(2, cell);
                }
        });
    });
}
/// Gates of update and reset, and what is new.
inline results gru(call const& of) {
    bool const resets_sums = of.integer("linear_before_reset", 0) != 0;
    results made = recurrent_results(of, 3, {"Sigmoid", "Tanh"}, [&](recurrent_direction& one) {
        one.run([&](std::size_t step) {
            std::vector<double> const before = one.last;
            std::vector<double> reset = before;
            auto const gate = [&](std::size_t batch, std::size_t which, std::size_t unit) {
                return one.activated(0, one.from_input(step, batch, which, unit) + one.from_last(before, batch, which, unit));
            };
            for (std::size_t at = 0; at < reset.size(); ++at) reset[at] *= gate(at / one.units, 1, at % one.units);
            for (std::size_t at = 0; at < before.size(); ++at) {
                std::size_t const batch = at / one.units, unit = at % one.units;
                double const from_last =
                    resets_sums ? gate(batch, 1, unit) * one.from_last(before, batch, 2, unit) : one.from_last(reset, batch, 2, unit);
                double const fresh = one.activated(1, one.from_input(step, batch, 2, unit) + from_last), update = gate(batch, 0, unit);
                one.last[at] = (1 - update) * fresh + update * before[at];
            }
        });
    });
    made.pop_back();
    return made;
}
inline results rnn(call const& of) {
    results made = recurrent_results(of, 1, {"Tanh"}, [&](recurrent_direction& one) {
        one.run([&](std::size_t step) {
            std::vector<double> const before = one.last;
            for (std::size_t at = 0; at < before.size(); ++at)
                one.last[at] = one.activated(
                    0, one.from_input(step, at / one.units, 0, at % one.units) + one.from_last(before, at / one.units, 0, at % one.units));
        });
    });
    made.pop_back();
    return made;
}

}  // namespace tilewright::reference::of_onnx
