#pragma once
#include <memory>
#include <set>
#include <tilewright/import/joins_in_place.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/program/program_plan.hpp>

namespace tilewright::imported {

/// A network on a chip, and its plan. Concatenations are in place where the chip can have them so.
class planned_network {
  public:
    /// @throws not_placed  as `network_program`
    planned_network(layers of, ir::label const& name, chip const& on, placing_watch const& watch = {}) {
        layers const ordered = on.has_channels_last() ? with_channels_last(std::move(of)) : std::move(of);
        if (layers in_place = with_joins_in_place(ordered, named_by(on, ordered)); has_parts(in_place) && !has_parts(ordered)) {
            try {
                plan_layers(std::move(in_place), name, on, watch);
            } catch (not_placed const&) {
                plan_.reset();
            }
            if (plan_ && !plan_->refusal) return;
        }
        plan_layers(ordered, name, on, watch);
    }
    network_program const& program() const { return *program_; }
    program_plan_value const& plan() const { return *plan_; }

  private:
    static bool has_parts(layers const& of) {
        return std::any_of(of.all.begin(), of.all.end(), [](layer const& one) { return !one.parts.empty(); });
    }
    /// Kernels and tensors that a chip says something of, by their names.
    static std::function<bool(ir::label const&)> named_by(chip const& on, layers const& of) {
        std::set<std::string> named;
        if (!on.places().empty() || !on.overrides().empty()) {
            name_finder const names(of);
            for (chip::tensor_place const& one : on.places()) named.insert(names.tensor(one.tensor).name);
            for (chip::override_of_layer const& one : on.overrides()) named.insert(names.layer_named(one.layer).name);
        }
        return [named](ir::label const& what) { return named.count(what.str()) != 0; };
    }
    void plan_layers(layers of, ir::label const& name, chip const& on, placing_watch const& watch) {
        plan_.reset();
        program_ = std::make_unique<network_program>(std::move(of), name, on, watch);
        plan_ = std::make_unique<program_plan_value>(make_program_plan(program_->get()));
    }

    std::unique_ptr<network_program> program_ = {};
    std::unique_ptr<program_plan_value> plan_ = {};
};

}  // namespace tilewright::imported
