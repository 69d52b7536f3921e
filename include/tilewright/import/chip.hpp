#pragma once
#include <deque>
#include <stdexcept>
#include <tilewright/import/standard_schedule.hpp>
#include <tilewright/program/agent.hpp>

namespace tilewright {
struct semantics_table;
}

namespace tilewright::imported {

/// Memories that kernels of an agent use, as far as a network does not find them by itself.
struct agent_memories {
    any_of tensors{};                 ///< of what lies between kernels, the best first; none: all that the agent's loops can reach
    memory const* inner = nullptr;    ///< of what stays in a kernel
    memory const* element = nullptr;  ///< likewise, where that is one element: a register file, or `inner`
    semantics_table const* semantics = nullptr;  ///< `&semantics_of<npu>`: for running the network on the emulated machine
};

/// What networks run on: agents, the memories of their tensors, and what each layer is given to.
///
/// A layer goes to the first of the standard schedules and loops, in the order in which they are stated, that has a plan for it. Of the
/// schedules that one of them makes, the one is taken whose plan costs least. Agents are copied; their machines must outlive the chip.
class chip {
  public:
    /// A way to run layers.
    struct choice {
        std::string name;
        int agent_at = 0;
        std::vector<schedule_template> made_by = {};  ///< none: loops
        std::string only_for = {};                    ///< the one layer that it is for; empty: any
    };
    /// Where one layer goes.
    struct override_of_layer {
        std::string layer;
        std::size_t choice_at = 0;
    };
    /// Where a tensor lies.
    struct tensor_place {
        std::string tensor;
        std::optional<memory> where = {};
        std::optional<std::int64_t> offset = {}, bank = {};
    };
    struct placed_agent {
        agent on;
        agent_memories uses = {};
    };

    explicit chip(std::string name) : name_(std::move(name)) {}

    /// The memories in which the caller provides inputs, and is given outputs.
    chip& inputs_in(memory const& where) { return inputs_ = where, *this; }
    chip& outputs_in(memory const& where) { return outputs_ = where, *this; }
    /// The memory of weights and other constants.
    chip& constants_in(memory const& where) { return constants_ = where, *this; }
    /// Tensors between kernels may wait in this memory while nobody uses them, where their own is too small.
    chip& spills_to(memory const& where) { return spills_ = where, *this; }
    /// The memory of what a network keeps from run to run.
    chip& states_in(memory const& where) { return states_ = where, *this; }
    /// Images that lie between layers have their channels last: see `with_channels_last`.
    chip& channels_last() { return has_channels_last_ = true, *this; }
    /// A tensor of a network lies in this memory; so many bytes from its base; in this bank. As `program` has it. It has its name in the
    /// program (`t3`), or that of the model.
    chip& pin(std::string tensor, memory const& where) { return places_.push_back({std::move(tensor), where}), *this; }
    chip& at_offset(std::string tensor, std::int64_t bytes) { return places_.push_back({std::move(tensor), {}, bytes}), *this; }
    chip& in_bank(std::string tensor, std::int64_t bank) { return places_.push_back({std::move(tensor), {}, {}, bank}), *this; }
    /// A header that the C of a network includes, where a layer is not plain loops: it defines functions of the machines.
    chip& c_include(std::string header) { return c_includes_.push_back(std::move(header)), *this; }
    /// An agent that layers can go to, before what it runs is stated.
    /// @throws std::invalid_argument  where there is one of this name
    chip& with(agent const& on, agent_memories const& uses) {
        if (find(on.name.str()) >= 0) throw std::invalid_argument("chip `" + name_ + "` has two agents `" + on.name.str() + "`");
        agents_.push_back({on, uses});
        return *this;
    }
    /// What the instructions of an agent do, where `with` has not said so.
    /// @throws std::invalid_argument  where there is no such agent
    chip& emulated_by(std::string const& agent_name, semantics_table const& what) {
        agents_[static_cast<std::size_t>(known(agent_name))].uses.semantics = &what;
        return *this;
    }
    /// Layers that a template has schedules for go to the agent; of several templates, to the one that has the cheapest.
    chip& standard(std::string name, agent const& on, std::vector<schedule_template> made_by) {
        choices_.push_back({std::move(name), known(on.name.str()), std::move(made_by), {}});
        return *this;
    }
    chip& standard(std::string name, agent const& on, schedule_template made_by) {
        return standard(std::move(name), on, std::vector<schedule_template>{std::move(made_by)});
    }
    /// Layers may be plain loops on the agent's core.
    chip& loops(agent const& on) {
        choices_.push_back({"loops", known(on.name.str()), {}, {}});
        return *this;
    }
    /// The layer with this name goes to this choice (the name of a standard schedule, or `loops`) of the agent, and to no other. It is
    /// called as its kernel is (`k3`), or as the model calls its node or its result. What is said last of a layer holds.
    chip& layer(std::string const& kernel, std::string const& choice_name, agent const& on) {
        return layer(kernel, choice_name, on.name.str());
    }
    chip& layer(std::string const& kernel, std::string const& choice_name, std::string const& agent_name) {
        int const at = known(agent_name);
        for (std::size_t place = 0; place < choices_.size(); ++place) {
            if (choices_[place].name != choice_name || choices_[place].agent_at != at) continue;
            overrides_.push_back({kernel, place});
            return *this;
        }
        throw std::invalid_argument("chip `" + name_ + "`: `" + agent_name + "` has no choice `" + choice_name + "`");
    }
    /// The layer with this name goes to the agent by a template of its own, and to no other.
    chip& layer(std::string const& kernel, std::string const& agent_name, schedule_template made_by) {
        overrides_.push_back({kernel, choices_.size()});
        choices_.push_back({"own", known(agent_name), {std::move(made_by)}, kernel});
        return *this;
    }

    std::string const& name() const { return name_; }
    memory const& inputs() const { return inputs_; }
    memory const& outputs() const { return outputs_; }
    memory const& constants() const { return constants_; }
    std::optional<memory> const& spills() const { return spills_; }
    std::optional<memory> const& states() const { return states_; }
    bool has_channels_last() const { return has_channels_last_; }
    std::vector<tensor_place> const& places() const { return places_; }
    std::vector<std::string> const& c_includes() const { return c_includes_; }
    std::vector<placed_agent> const& agents() const { return agents_; }
    std::vector<choice> const& choices() const { return choices_; }
    std::vector<override_of_layer> const& overrides() const { return overrides_; }

  private:
    int find(std::string const& agent_name) const {
        for (std::size_t at = 0; at < agents_.size(); ++at) {
            if (agents_[at].on.name.str() == agent_name) return static_cast<int>(at);
        }
        return -1;
    }
    int known(std::string const& agent_name) const {
        int const at = find(agent_name);
        if (at < 0) throw std::invalid_argument("chip `" + name_ + "` has no agent `" + agent_name + "`: say with(…) first");
        return at;
    }

    std::string name_;
    memory inputs_{}, outputs_{}, constants_{};
    std::optional<memory> spills_{}, states_{};
    bool has_channels_last_ = false;
    std::vector<tensor_place> places_ = {};
    std::vector<std::string> c_includes_ = {};
    std::vector<placed_agent> agents_ = {};
    std::vector<choice> choices_ = {};
    std::vector<override_of_layer> overrides_ = {};
};

/// The chip that a tool writes networks for, and how a program names it. A source of its own defines it, so that the tool is compiled once.
struct chip_of_tool {
    chip const& what;
    std::string header = {}, variable = {};  ///< which eject() writes
};
chip_of_tool tool_is_for();

}  // namespace tilewright::imported
