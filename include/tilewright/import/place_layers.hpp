#pragma once
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/import/chip.hpp>
#include <tilewright/import/fuse.hpp>
#include <tilewright/import/name_finder.hpp>
#include <tilewright/plan/best_tile.hpp>

// Which agent of a chip runs each layer, and how.
namespace tilewright::imported {

/// A chip has no place for some layers. The text has a line for each.
struct not_placed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Is told how many layers of how many are placed. What it throws ends the work.
using placing_watch = std::function<void(std::int64_t placed, std::int64_t all)>;

/// Where a layer runs.
struct placement {
    std::string kernel, made_for;
    std::string agent, choice;
    double least_cycles = 0;               ///< that its instruction is busy for if it is never idle; 0: not said
    std::int64_t schedules = 0;            ///< that were planned; none, where a layer like it was placed before
    std::vector<std::string> passed_over;  ///< choices that come before, with the reason why they do not take it
};

namespace detail {

/// The tensors that a layer reads from outside of it, each once.
inline std::vector<ir::label> arguments_of(layer const& of) {
    std::vector<ir::label> made;
    for (ir::node const& one : of.nodes) {
        if (one.op != operation::access || std::find(made.begin(), made.end(), one.name) != made.end()) continue;
        bool const is_own =
            one.name == of.nodes.back().name ||
            std::any_of(of.inner.begin(), of.inner.end(), [&](inner_stage const& stage) { return stage.result == one.name; });
        if (!is_own) made.push_back(one.name);
    }
    return made;
}
/// The loops of a layer that is one reduction, in an order that a compiler makes vectors of: the last loop of the result goes innermost,
/// where each tensor that it moves goes on by one element with it, and with no other loop. Empty: there is no such order.
inline std::vector<ir::label> order_for_vectors(layer const& of) {
    computation_view const nodes = nodes_of(of);
    std::vector<ir::stage> const stages = stages_of(nodes);
    if (stages.size() != 1 || stages[0].rank == 0 || stages[0].rank == stages[0].axis_count) return {};
    ir::stage const& stage = stages[0];
    int const last = stage.rank - 1;
    for (int at = 0; at <= stage.store; ++at) {
        int const rank = nodes[at].op == operation::access || at == stage.store ? nodes[at].argument_count : 0;
        for (int dimension = 0; dimension < rank; ++dimension) {
            auto const& by = index_of(nodes, stage, at, dimension).coefficients;
            if (by[last] == 0) continue;
            bool alone = by[last] == 1 && dimension == rank - 1;
            for (int axis = 0; axis < stage.axis_count; ++axis) alone &= axis == last || by[axis] == 0;
            if (!alone) return {};
        }
    }
    std::vector<ir::label> order;
    for (int axis = 0; axis < stage.axis_count; ++axis) {
        if (axis != last) order.push_back(stage.axes[axis].name);
    }
    order.push_back(stage.axes[last].name);
    return order;
}
/// Reasons as one text. Those that are alike but for the first name in them, that of an instruction, are said once: "each of `a`, `b` and 3
/// others".
inline std::string joined_reasons(std::vector<std::string> const& reasons) {
    struct alike {
        std::string before, after;  ///< the name
        std::vector<std::string> names;
    };
    std::vector<alike> groups;
    for (std::string const& one : reasons) {
        std::size_t const begin = std::min(one.find('`'), one.size()), close = one.find('`', begin + 1);
        std::size_t const end = close == std::string::npos ? begin : close + 1;
        alike const made{one.substr(0, begin), one.substr(end), {one.substr(begin, end - begin)}};
        auto const known = std::find_if(groups.begin(), groups.end(),
                                        [&](alike const& group) { return group.before == made.before && group.after == made.after; });
        if (known == groups.end()) groups.push_back(made);
        else if (std::find(known->names.begin(), known->names.end(), made.names[0]) == known->names.end())
            known->names.push_back(made.names[0]);
    }
    std::string text;
    for (alike const& one : groups) {
        std::size_t const count = one.names.size();
        std::string named = one.names[0];
        if (count == 2) named = "each of " + named + " and " + one.names[1];
        else if (count > 2)
            named = "each of " + named + ", " + one.names[1] + " and " + std::to_string(count - 2) + (count == 3 ? " other" : " others");
        text += (text.empty() ? "" : ", and ") + one.before + named + one.after;
    }
    return text;
}
/// What layers that are planned alike have in common: their nodes, where tensors are numbers.
inline std::string likeness_of(layer_shape const& of) {
    std::string made;
    std::vector<ir::label> seen;
    auto const add = [&](auto const& number) { made.append(reinterpret_cast<char const*>(&number), sizeof number); };
    for (ir::node const& one : of.what().nodes) {
        bool const names_tensor = one.op == operation::access || one.op == operation::store;
        add(one.op), add(one.type), add(one.argument_count), add(one.value);
        for (int at = 0; one.op != operation::constant && at < one.argument_count; ++at) add(one.arguments[at]);
        if (!names_tensor) {
            made += one.name.str() + "\n";
            continue;
        }
        auto const found = std::find(seen.begin(), seen.end(), one.name);
        add(found - seen.begin());
        add(of.is_constant(one.name));
        if (found == seen.end()) seen.push_back(one.name);
    }
    add(of.what().rescaled.has_value()), add(of.what().rescaled && !of.what().rescaled->scales.empty()), add(of.what().added.has_value()),
        add(of.what().parts.empty());
    for (ir::label const& tensor : seen) {
        auto const found = of.shapes().find(tensor.str());
        for (std::size_t at = 0; found != of.shapes().end() && at < found->second.size(); ++at) add(found->second[at]);
        made += "\n";
    }
    return made;
}
/// What kernels of a network make and what it is given, by name: their shapes.
inline tensor_shapes shapes_of(layers const& of) {
    tensor_shapes made;
    for (stored const& one : of.inputs) made[one.name.str()] = one.extents;
    for (layer const& one : of.all) {
        auto const last = last_stage_of(one);
        if (!last) continue;
        std::vector<std::int64_t>& extents = made[last->output.str()];
        extents.resize(static_cast<std::size_t>(last->rank), 0);
        auto const part = one.parts.find(last->output.str());
        for (std::size_t axis = 0; axis < extents.size(); ++axis) {
            std::int64_t const begin = part == one.parts.end() ? 0 : part->second[axis];
            extents[axis] = std::max(extents[axis], begin + last->axes[static_cast<int>(axis)].extent);
        }
    }
    return made;
}

}  // namespace detail

/// Gives the layers of a network to the agents of a chip.
class layer_placer {
  public:
    /// @param constants  of the network `of`
    /// @throws not_placed  where the chip says of a layer where it goes, and the name is that of none or of several
    layer_placer(chip const& on, layers const& of, std::vector<stored> const& constants)
        : on_(on), constants_(constants), outputs_(of.outputs), shapes_(detail::shapes_of(of)) {
        if (on.overrides().empty()) return;
        name_finder const names(of);
        for (chip::override_of_layer const& one : on.overrides()) {
            auto const found = names.layer_named(one.layer);
            if (!found.why.empty())
                throw not_placed("chip `" + on.name() + "` says where " + network::shown(one.layer) + " goes, " + found.why);
            overrides_[found.name] = one.choice_at;
        }
    }

    struct placed {
        placed_layer* layer = nullptr;
        schedule how;
        int agent_at = 0;
        placement report;
        std::size_t choice_at = 0;  ///< of the chip
        double cycles = 0;          ///< of its plan by itself; 0: not planned yet
    };
    /// The shapes of what kernels make and of what the network is given, by name.
    tensor_shapes const& shapes() const { return shapes_; }
    /// Where a layer runs. @throws not_placed  where no choice takes it
    placed place(layer const& of) {
        if (auto const known = known_places_.extract(key_of(of)); !known.empty()) return known.mapped();
        placement report{of.name.str(), of.made_for, {}, {}, 0, 0, {}};
        layer_shape const as_made(of, constants_, shapes_);
        std::string const likeness = detail::likeness_of(as_made);
        auto const said = overrides_.find(of.known_as().str());
        for (std::size_t at = 0; at < on_.choices().size(); ++at) {
            chip::choice const& one = on_.choices()[at];
            if (said == overrides_.end() ? !one.only_for.empty() : said->second != at) continue;
            chip::placed_agent const& agent = on_.agents()[static_cast<std::size_t>(one.agent_at)];
            report.agent = agent.on.name.str(), report.choice = one.name;
            if (!reaches_result(of, agent)) {
                report.passed_over.push_back(one.name + " on " + report.agent +
                                             ": it makes a result of the network, and nothing takes that to `" + on_.outputs().name.str() +
                                             "`");
                continue;
            }
            auto const as_placed = [&]() -> placed_layer& {
                return layers_.emplace_back(placed_layer{as_made, agent.on.where, agent.uses.tensors, on_.constants().name});
            };
            if (one.made_by.empty()) {
                placed_layer& here = as_placed();
                return {&here, in_loops(here, agent), one.agent_at, report, at, 0};
            }
            std::optional<found_schedule> best;
            placed_layer* best_here = nullptr;
            std::vector<std::string> why;
            for (std::size_t which = 0; which < one.made_by.size(); ++which) {
                known_best& known = known_[std::to_string(at) + " " + std::to_string(which) + "\n" + likeness];
                if (known.why.empty()) {
                    placed_layer& here = as_placed();
                    auto found = best_of(here, one.made_by[which], agent, known, report);
                    if (!found) layers_.pop_back();
                    else if (!best || found->cycles < best->cycles) best = std::move(found), best_here = &here;
                }
                if (!known.why.empty()) why.push_back(known.why);
            }
            if (best) {
                report.least_cycles = best->least_cycles;
                return {best_here, best->how, one.agent_at, report, at, best->cycles};
            }
            report.passed_over.push_back(one.name + " on " + report.agent + ": " + detail::joined_reasons(why));
        }
        std::string text = report.kernel + ", " + report.made_for + ": no agent takes it";
        for (std::string const& one : report.passed_over) text += "; " + one;
        throw not_placed(text);
    }

    /// Whether a kernel that makes bytes of sums, and the one that adds others to them, are as good as one kernel: an instruction sums for
    /// it as for the former alone, and it takes no more cycles than the two. Where these have no plan, it is enough that it has one.
    ///
    /// @param maker  what the chip says itself where it goes stays a kernel of its own
    /// @param both   see `detail::fused_with_addition`
    bool places_as_one(layer const& maker, layer const& reader, layer const& both) {
        if (overrides_.count(maker.known_as().str()) != 0) return false;
        auto const alone = [&](layer const& one) -> std::optional<placed> {
            try {
                return place(one);
            } catch (not_placed const&) {
                return std::nullopt;
            }
        };
        auto const as_one = alone(both), first = alone(maker), second = alone(reader);
        bool const is_whole = as_one && !is_loops(*as_one), are_two = first && second;
        bool const is_as_good =
            is_whole && (!are_two || (first->choice_at == as_one->choice_at && as_one->cycles <= cycles_of(*first) + cycles_of(*second)));
        if (is_as_good) known_places_.insert_or_assign(key_of(both), *as_one);
        else if (first) known_places_.insert_or_assign(key_of(maker), *first);
        if (!is_as_good && second) known_places_.insert_or_assign(key_of(reader), *second);
        return is_as_good;
    }

  private:
    /// A kernel may have the name of one that is a part of it.
    static std::string key_of(layer const& of) { return of.name.str() + "\n" + of.made_for; }
    bool is_loops(placed const& one) const { return on_.choices()[one.choice_at].made_by.empty(); }
    /// As planned by itself.
    static double cycles_of(placed const& one) {
        if (one.cycles > 0) return one.cycles;
        auto const plan = std::make_unique<plan_value>(make_plan(one.how));
        return plan->refusal ? std::numeric_limits<double>::infinity() : by_cycles{}(*plan);
    }
    /// What a template has for layers that are alike.
    struct known_best {
        std::optional<std::size_t> at = {};  ///< of the cheapest schedule; none: not known yet, or `why`
        double cycles = 0;
        std::string why = {};  ///< not empty: it has no schedule, or none that has a plan
    };

    /// Whether what a layer writes on an agent can be where the caller is given results, if it is one.
    bool reaches_result(layer const& of, chip::placed_agent const& by) const {
        ir::label const& name = of.nodes.back().name;
        bool const is_output = std::any_of(outputs_.begin(), outputs_.end(), [&](stored const& one) { return one.name == name; });
        any_of const& writes = by.uses.tensors;
        if (!is_output || writes.count == 0) return true;
        for (int at = 0; at < writes.size(); ++at) {
            if (writes.names[at] == on_.outputs().name) return true;
            for (chip::placed_agent const& one : on_.agents()) {
                auto const& transfers = one.on.where->transfers;
                for (int which = 0; which < transfers.size(); ++which) {
                    if (transfers[which].source == writes.names[at] && transfers[which].destination == on_.outputs().name) return true;
                }
            }
        }
        return false;
    }
    /// A schedule with what the chip says of arguments and result.
    /// What a template has said itself stays.
    schedule with_arguments(schedule made, placed_layer const& of, chip::placed_agent const& by) const {
        auto const is_said = [&made, before = made.directive_count()](directive_kind kind, ir::label const& tensor) {
            for (int at = 0; at < std::min(before, schedule::most_directives); ++at) {
                directive const& one = made.directive_at(at);
                if (one.kind == kind && made.name_at(one, 0) == tensor) return true;
            }
            return false;
        };
        for (ir::label const& one : detail::arguments_of(of.of.what())) {
            if (is_said(directive_kind::reads, one)) continue;
            any_tensor const tensor{one, scalar_type::literal};
            if (of.of.is_constant(one)) made.reads(tensor, on_.constants());
            else if (by.uses.tensors.count > 0) made.reads(tensor, by.uses.tensors);
        }
        ir::label const& result = of.of.what().nodes.back().name;
        if (by.uses.tensors.count > 0 && !is_said(directive_kind::writes, result))
            made.writes(any_tensor{result, scalar_type::literal}, by.uses.tensors);
        return made;
    }
    /// Plain loops. What stays in the kernel is kept for as long as it is needed.
    schedule in_loops(placed_layer const& of, chip::placed_agent const& by) const {
        schedule made = of.plain();
        if (auto const order = detail::order_for_vectors(of.of.what()); !order.empty()) detail::reorder(made, order);
        auto const& inner = of.of.what().inner;
        // From the last one on: a stage is computed where those after it are, which read it.
        for (std::size_t at = inner.size(); at-- > 0;) {
            inner_stage const& stage = inner[at];
            any_tensor const result{stage.result, scalar_type::literal};
            if (!stage.loop.empty()) made.compute_at(result, detail::named(stage.loop));
            memory const* const where = stage.element && by.uses.element != nullptr ? by.uses.element : by.uses.inner;
            if (where == nullptr)
                throw not_placed(of.of.what().name.str() + ": chip `" + on_.name() + "` does not say where loops of `" + by.on.name.str() +
                                 "` keep what stays in a kernel: `.inner`");
            made.store_in(result, *where);
        }
        return by.uses.tensors.count > 0 ? with_arguments(made, of, by) : made;
    }
    struct found_schedule {
        schedule how;
        double cycles = 0, least_cycles = 0;
    };
    /// The cheapest schedule of a template, if it has one.
    ///
    /// @param known  what was found for a layer like it, or will be found here
    /// @throws not_placed  where the template has fewer schedules than for a layer like it
    std::optional<found_schedule> best_of(placed_layer& of, schedule_template const& made_by, chip::placed_agent const& by,
                                          known_best& known, placement& report) {
        candidates made = made_by(of);
        if (made.all.empty()) {
            known.why = made.none.empty() ? "it has no schedule" : made.none;
        } else if (!known.at) {
            for (schedule& each : made.all) each = with_arguments(each, of, by);
            known = search(made.all);
            report.schedules += static_cast<std::int64_t>(made.all.size());
        }
        if (!known.why.empty()) return {};
        if (*known.at >= made.all.size())
            throw not_placed(of.of.what().name.str() +
                             ": a template makes fewer schedules of it than of a layer that differs in names alone");
        return found_schedule{with_arguments(made.all[*known.at], of, by), known.cycles, made.least_cycles};
    }
    static known_best search(std::vector<schedule> const& all) {
        tilewright::detail::machine_reading const reading = tilewright::detail::read_machine(all[0].where());
        std::map<std::string, int> refusals;
        std::vector<double> costs;  // below 0: refused
        for (schedule const& one : all) {
            auto const plan =
                std::make_unique<plan_value>(tilewright::detail::make_plan(one, reading, tilewright::detail::proof::left_out));
            if (plan->refusal) ++refusals[to_string(plan->refusal)];
            costs.push_back(plan->refusal ? -1 : by_cycles{}(*plan));
        }
        if (int const best = tilewright::detail::position_of_least(costs); best >= 0)
            return {static_cast<std::size_t>(best), costs[static_cast<std::size_t>(best)], {}};
        auto const most =
            std::max_element(refusals.begin(), refusals.end(), [](auto const& a, auto const& b) { return a.second < b.second; });
        return {
            {},
            0,
            "its " + std::to_string(all.size()) + " schedules are refused; " + std::to_string(most->second) + " of them: " + most->first};
    }

    chip const& on_;
    std::vector<stored> const &constants_, &outputs_;
    tensor_shapes shapes_;
    std::deque<placed_layer> layers_ = {};
    std::map<std::string, known_best> known_ = {};
    std::map<std::string, std::size_t> overrides_ = {};  ///< positions of choices, by kernels
    std::map<std::string, placed> known_places_ = {};    ///< of layers that were compared, until they are asked for once more
};

}  // namespace tilewright::imported
