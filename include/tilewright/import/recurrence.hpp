#pragma once
#include <cctype>
#include <tilewright/import/elementwise.hpp>
#include <tilewright/import/joining.hpp>
#include <tilewright/import/products.hpp>

// LSTM, GRU and RNN of ONNX: one step after the other. Each step has a product of what the last one gave, and kernels of single elements.
namespace tilewright::imported::detail {

/// Sums of rows [..., i] by rows of weights [o, i], and a bias.
inline view rows_times(lowering& of, view const& rows, view const& weights, std::optional<view> const& bias) {
    rows_by_rows const by(rows, weights);
    value const sums = over(operation::reduce_sum, by.axes, by.row * by.weight);
    return of.compute(by.loops, bias ? imported::at(*bias, {by.channel()}) + sums : sums);
}
/// One 0 that is read everywhere.
inline view zeros(lowering& of, shape const& extents) {
    return repeated_to(of.constant({scalar_type::float32, {1}, std::vector<std::byte>(sizeof(float))}), extents);
}
/// @throws not_imported  where a network does not have as many kernels as its recurrent operators have steps
inline std::int64_t unrolled_steps(lowering const& of, std::int64_t steps) {
    constexpr std::int64_t kernels = 512;
    auto const before = static_cast<std::int64_t>(of.result.all.size());
    if (steps > kernels || before > 2 * kernels)
        throw not_imported(std::to_string(steps) + " steps after " + std::to_string(before) + " kernels, and a network has at most " +
                           std::to_string(kernels));
    return steps;
}

/// What such an operator is given: x [t, b, i], weights [d, gates * n, i] and [d, gates * n, n], a bias [d, 2 * gates * n], and what it
/// begins with [d, b, n], for each of `d` directions.
class recurrence {
  public:
    struct made {
        std::vector<view> results;  ///< of all steps [b, n], in the order of x
        view last = {};             ///< after the last step
        std::optional<view> cell = {};
    };

    /// @param functions  the activations of a direction, where the node names none
    recurrence(lowering& given, std::int64_t gates_of_unit, std::vector<std::string> const& functions)
        : of(given), gates(gates_of_unit), batch_first(integer(of, "layout", 0) != 0), x(of.plain(of.operand(0))) {
        if (x.rank() != 3 || of.operand(1).rank() != 3 || of.operand(2).rank() != 3)
            throw not_imported("of " + text_of(x.shape()) + " by " + text_of(of.operand(1).shape()) + " and " +
                               text_of(of.operand(2).shape()));
        need_float32(none_of(x.type()));
        if (batch_first) x = imported::transposed(x, {1, 0, 2});
        steps = unrolled_steps(of, x.extent(0)), batches = x.extent(1), directions = of.operand(1).extent(0),
        units = of.operand(2).extent(2);
        shape const of_x{directions, gates * units, x.extent(2)}, of_last{directions, gates * units, units};
        if (of.operand(1).shape() != of_x || of.operand(2).shape() != of_last)
            throw not_imported("weights of " + text_of(of.operand(1).shape()) + " and " + text_of(of.operand(2).shape()) + " for " +
                               text_of(of_x) + " and " + text_of(of_last));
        direction_ = word(of, "direction", "forward");
        bool const known = direction_ == "forward" || direction_ == "reverse" || direction_ == "bidirectional";
        if (!known || directions != (direction_ == "bidirectional" ? 2 : 1)) throw not_imported("direction " + network::shown(direction_));
        if (of.has(4)) {
            shape const lengths = of.known_integers(4);
            if (std::any_of(lengths.begin(), lengths.end(), [&](std::int64_t one) { return one != steps; }))
                throw not_imported("sequences that are shorter than x");
        }
        if (of.node->find("activations") != nullptr) {
            functions_ = setting<std::vector<std::string>>(of, "activations").value_or(std::vector<std::string>{});
            if (functions_.size() != functions.size() * static_cast<std::size_t>(directions))
                throw not_imported("another number of activations than " + std::to_string(functions.size()) + " for each direction");
        } else {
            for (std::int64_t d = 0; d < directions; ++d) functions_.insert(functions_.end(), functions.begin(), functions.end());
        }
        for (char const* const list : {"activation_alpha", "activation_beta"}) {
            if (of.node->find(list) != nullptr) throw not_imported(std::string("setting ") + list);
        }
    }

    /// Runs each direction: `run(direction)` gives what it made; and gives the results.
    template <class Run>
    void give_all(Run const& run) {
        std::vector<view> all, last, cells;
        for (std::int64_t d = 0; d < directions; ++d) {
            made const one = run(d);
            std::vector<view> parts;
            for (view const& result : one.results)
                parts.push_back(
                    imported::reshaped(result, batch_first ? shape{batches, 1, 1, units} : shape{1, 1, batches, units}).value());
            if (of.wants(0)) all.push_back(joined_views(of, parts, batch_first ? 1 : 0));
            last.push_back(of_direction(one.last));
            if (one.cell) cells.push_back(of_direction(*one.cell));
        }
        if (of.wants(0)) joined_views(of, all, batch_first ? 2 : 1, 0);
        if (of.wants(1)) joined_views(of, last, batch_first ? 1 : 0, 1);
        if (!cells.empty() && of.wants(2)) joined_views(of, cells, batch_first ? 1 : 0, 2);
    }
    /// Runs the steps of a direction: `step(at, last)` gives the next result of step `at` of x.
    template <class Step>
    made run_steps(std::int64_t d, Step const& step) {
        made all{std::vector<view>(static_cast<std::size_t>(steps)), begin(5, d)};
        bool const backwards = direction_ == "reverse" || d == 1;
        for (std::int64_t at = 0; at < steps; ++at) {
            std::int64_t const now = backwards ? steps - 1 - at : at;
            all.last = all.results[static_cast<std::size_t>(now)] = step(now, all.last);
        }
        return all;
    }
    /// What x adds to the gates of all steps [t, b, gates * n].
    view from_inputs(std::int64_t d) { return rows_times(of, x, weights(1, d, 0, gates), bias(d, 0, 0, gates)); }
    /// The weights of some gates of a direction [count * n, depth], of operand 1 or 2.
    view weights(std::size_t at, std::int64_t d, std::int64_t first, std::int64_t count) {
        return only(piece(piece(of.operand(at), 0, d, 1), 1, first * units, count * units), {1, 2});
    }
    /// The bias of some gates [count * n] for what x adds, or for what the last result adds.
    std::optional<view> bias(std::int64_t d, std::int64_t half, std::int64_t first, std::int64_t count) {
        if (!of.has(3)) return std::nullopt;
        view const whole = of.operand(3);
        if (whole.shape() != shape{directions, 2 * gates * units}) throw not_imported("a bias of " + text_of(whole.shape()));
        return only(piece(piece(whole, 0, d, 1), 1, (half * gates + first) * units, count * units), {1});
    }
    /// What a direction begins with [b, n].
    view begin(std::size_t at, std::int64_t d) {
        if (!of.has(at)) return zeros(of, {batches, units});
        view const whole = of.operand(at);
        if (whole.shape() != (batch_first ? shape{batches, directions, units} : shape{directions, batches, units}))
            throw not_imported("operand " + std::to_string(at) + " of " + text_of(whole.shape()));
        int const dimension = batch_first ? 1 : 0;
        return only(piece(whole, dimension, d, 1), batch_first ? std::vector<std::size_t>{0, 2} : std::vector<std::size_t>{1, 2});
    }
    /// Some indices of a dimension that follow each other.
    view piece(view const& whole, int dimension, std::int64_t first, std::int64_t count) {
        return sliced(of.indexable(whole), dimension, first, 1, count).value();
    }
    /// An activation of a direction.
    value activated(std::int64_t d, std::size_t which, value const& x_of_it) const {
        std::string name = functions_[functions_.size() / static_cast<std::size_t>(directions) * static_cast<std::size_t>(d) + which];
        for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        float const most = real(of, "clip", 0);
        value const given =
            most > 0 ? larger_of(smaller_of(x_of_it, like(x_of_it, static_cast<double>(most))), like(x_of_it, -static_cast<double>(most)))
                     : x_of_it;
        if (name == "sigmoid") return logistic(given);
        if (name == "tanh") return hyperbolic_tangent(given);
        if (name == "relu") return relu_of(given);
        throw not_imported("activation " + network::shown(name));
    }

    lowering& of;
    std::int64_t gates, steps = 0, batches = 0, directions = 0, units = 0;
    bool batch_first;
    view x;

  private:
    view of_direction(view const& one) const {
        return imported::reshaped(one, batch_first ? shape{batches, 1, units} : shape{1, batches, units}).value();
    }

    std::vector<std::string> functions_ = {};  ///< of all directions
    std::string direction_ = {};
};

/// Elements [b, n] of gates that stand side by side.
struct gate_elements {
    gate_elements(std::int64_t batches, std::int64_t of_units) : units(of_units), loops(loops_over({batches, of_units})) {}
    value at(view const& gates, std::int64_t which) const { return imported::at(gates, {loops.index(0), which_of(which)}); }
    value at(view const& gates, std::int64_t step, std::int64_t which) const {
        return imported::at(gates, {number(step, scalar_type::int32), loops.index(0), which_of(which)});
    }
    value at(view const& one) const { return imported::at(one, loops); }
    value which_of(std::int64_t which) const {
        value const unit = loops.index(1);
        return which == 0 ? unit : unit + number(which * units, scalar_type::int32);
    }

    std::int64_t units;
    space loops;
};

/// Gates of input, output, forgetting and cell.
inline void long_short_term_memory(lowering& of) {
    if (integer(of, "input_forget", 0) != 0) throw not_imported("coupled gates of input and forgetting");
    recurrence all(of, 4, {"Sigmoid", "Tanh", "Tanh"});
    gate_elements const here(all.batches, all.units);
    all.give_all([&](std::int64_t d) {
        view const from_x = all.from_inputs(d), weights = all.weights(2, d, 0, 4);
        auto const bias = all.bias(d, 1, 0, 4);
        std::optional<view> peephole;
        if (of.has(7)) {
            if (of.operand(7).shape() != shape{all.directions, 3 * all.units})
                throw not_imported("operand 7 of " + text_of(of.operand(7).shape()));
            peephole = only(all.piece(of.operand(7), 0, d, 1), {1});
        }
        view cell = all.begin(6, d);
        auto made = all.run_steps(d, [&](std::int64_t step, view const& last) {
            view const from_last = rows_times(of, last, weights, bias);
            auto const gate = [&](std::int64_t which, view const& sees) {
                value const sum = here.at(from_x, step, which) + here.at(from_last, which);
                return peephole && which < 3 ? sum + imported::at(*peephole, {here.which_of(which)}) * here.at(sees) : sum;
            };
            auto const open = [&](std::int64_t which, view const& sees) { return all.activated(d, 0, gate(which, sees)); };
            view const next = of.compute(here.loops, open(2, cell) * here.at(cell) + open(0, cell) * all.activated(d, 1, gate(3, cell)));
            cell = next;
            return of.compute(here.loops, open(1, next) * all.activated(d, 2, here.at(next)));
        });
        made.cell = cell;
        return made;
    });
}
/// Gates of update and reset, and what is new.
inline void gated_recurrent_unit(lowering& of) {
    recurrence all(of, 3, {"Sigmoid", "Tanh"});
    gate_elements const here(all.batches, all.units);
    bool const resets_sums = integer(of, "linear_before_reset", 0) != 0;
    all.give_all([&](std::int64_t d) {
        std::int64_t const together = resets_sums ? 3 : 2;
        view const from_x = all.from_inputs(d), weights = all.weights(2, d, 0, together), of_fresh = all.weights(2, d, 2, 1);
        auto const bias = all.bias(d, 1, 0, together), bias_of_fresh = all.bias(d, 1, 2, 1);
        return all.run_steps(d, [&](std::int64_t step, view const& last) {
            view const from_last = rows_times(of, last, weights, bias);
            auto const blended = [&](value const& update, value const& fresh) {
                return of.compute(here.loops, (like(update, 1) - update) * fresh + update * here.at(last));
            };
            auto const gate = [&](std::int64_t which) {
                return all.activated(d, 0, here.at(from_x, step, which) + here.at(from_last, which));
            };
            if (resets_sums) {
                // A stage, since an activation uses it several times.
                view const fresh = of.stage(here.loops, here.at(from_x, step, 2) + gate(1) * here.at(from_last, 2));
                return blended(gate(0), all.activated(d, 1, here.at(fresh)));
            }
            view const reset = of.compute(here.loops, gate(1) * here.at(last));
            view const sums = rows_times(of, reset, of_fresh, bias_of_fresh);
            return blended(gate(0), all.activated(d, 1, here.at(from_x, step, 2) + here.at(sums)));
        });
    });
}
inline void recurrent_network(lowering& of) {
    recurrence all(of, 1, {"Tanh"});
    gate_elements const here(all.batches, all.units);
    all.give_all([&](std::int64_t d) {
        view const from_x = all.from_inputs(d), weights = all.weights(2, d, 0, 1);
        auto const bias = all.bias(d, 1, 0, 1);
        return all.run_steps(d, [&](std::int64_t step, view const& last) {
            view const from_last = rows_times(of, last, weights, bias);
            return of.compute(here.loops, all.activated(d, 0, here.at(from_x, step, 0) + here.at(from_last)));
        });
    });
}

}  // namespace tilewright::imported::detail
