#pragma once
#include <memory>
#include <set>
#include <tilewright/import/joins_in_place.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/program/program_plan.hpp>

namespace tilewright::imported {

/// A network on a chip, and its plan. Concatenations are in place where the chip takes them so, and where that costs no cycles.
class planned_network {
  public:
    /// @param watch  as that of `network_program`; a network with concatenations is placed again, where they are in place
    /// @throws not_placed  as `network_program`
    planned_network(layers of, ir::label const& name, chip const& on = this_processor().as_chip, placing_watch const& watch = {}) {
        layers const ordered = on.has_channels_last() ? with_channels_last(std::move(of)) : std::move(of);
        found_ = planned(ordered, name, on, watch);
        if (has_parts(ordered)) return;
        // The chip may name operands and kernels of concatenations: then those stay, unless it means the kernels that remain.
        std::set<std::string> const named = named_by(on, ordered);
        for (bool const stay : {false, true}) {
            if (stay && named.empty()) return;
            layers in_place = with_joins_in_place(ordered, [&](ir::label const& what) { return stay && named.count(what.str()) != 0; });
            if (!has_parts(in_place)) return;
            try {
                planned_layers made = planned(std::move(in_place), name, on, watch);
                if (made.plan->refusal) continue;
                bool const is_better = plan().refusal || made.plan->cycles().value <= plan().cycles().value;
                if (is_better) found_ = std::move(made);
                return;
            } catch (not_placed const&) {
            }
        }
    }
    network_program const& program() const { return *found_.program; }
    program_plan_value const& plan() const { return *found_.plan; }

  private:
    struct planned_layers {
        std::unique_ptr<network_program> program = {};
        std::unique_ptr<program_plan_value> plan = {};
    };
    static planned_layers planned(layers of, ir::label const& name, chip const& on, placing_watch const& watch) {
        planned_layers made{std::make_unique<network_program>(std::move(of), name, on, watch)};
        made.plan = std::make_unique<program_plan_value>(make_program_plan(made.program->get()));
        return made;
    }
    static bool has_parts(layers const& of) {
        return std::any_of(of.all.begin(), of.all.end(), [](layer const& one) { return !one.parts.empty(); });
    }
    /// Kernels and tensors that a chip says something of, by their names in the program.
    static std::set<std::string> named_by(chip const& on, layers const& of) {
        std::set<std::string> named;
        if (on.places().empty() && on.overrides().empty()) return named;
        name_finder const names(of);
        for (chip::tensor_place const& one : on.places()) named.insert(names.tensor(one.tensor).name);
        for (chip::override_of_layer const& one : on.overrides()) named.insert(names.layer_named(one.layer).name);
        return named;
    }

    planned_layers found_ = {};
};

}  // namespace tilewright::imported
