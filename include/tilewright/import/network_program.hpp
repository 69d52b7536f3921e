#pragma once
#include <memory>
#include <set>
#include <tilewright/import/channels_last.hpp>
#include <tilewright/import/place_layers.hpp>
#include <tilewright/import/processor.hpp>
#include <tilewright/import/rows.hpp>
#include <tilewright/program/program.hpp>

namespace tilewright::imported {

/// A network as a program on a chip. It holds what the program points at, but for the machines of the chip.
class network_program {
  public:
    /// @param watch  is told before each layer how many were placed or refused
    /// @throws not_placed  with a line for each layer that no agent of the chip takes, or where the chip does not say enough
    network_program(layers of, ir::label const& name, chip const& on = this_processor().as_chip, placing_watch const& watch = {})
        : network_(on.has_channels_last() ? with_channels_last(std::move(of)) : std::move(of)),
          constants_(known_of(network_)),
          on_(on),
          apart_(network_.all),
          placer_(on, network_, constants_),
          made_(name) {
        check(on);
        std::vector<chip::tensor_place> const places = places_on(on);
        auto const as_tensor = [](stored const& one) { return any_tensor{one.name, one.type}; };
        std::string refused;
        std::int64_t done = 0;
        for (std::size_t at = 0; at < network_.all.size(); ++at) {
            if (watch) watch(done++, static_cast<std::int64_t>(network_.all.size()));
            while (joins_addition(at)) {
            }
            try {
                placed_.push_back(placer_.place(network_.all[at]));
            } catch (not_placed const& error) {
                refused += (refused.empty() ? "" : "\n") + std::string(error.what());
            }
        }
        if (!refused.empty()) throw not_placed(refused);
        // What no kernel reads is no argument, and no constant.
        std::set<std::string> read;
        for (auto const& one : placed_) {
            for (ir::label const& tensor : detail::arguments_of(one.layer->of.what())) read.insert(tensor.str());
        }
        for (state const& one : network_.states)
            made_.state(as_tensor(network_.inputs[one.input]), as_tensor(network_.outputs[one.output]), *on.states());
        for (std::size_t at = 0; at < network_.inputs.size(); ++at) {
            stored const& one = network_.inputs[at];
            if (read.count(one.name.str()) != 0 && !network_.is_kept(&state::input, at)) made_.input(as_tensor(one), on.inputs());
        }
        for (known_tensor const& one : network_.constants) {
            if (read.count(one.what.name.str()) != 0) add_constant(one, on.constants());
        }
        // Those that layers have besides: each once for all layers that read it so.
        std::set<std::string> added;
        for (auto const& placed : placed_) {
            for (layer_shape::reordered_constant const& one : placed.layer->of.reordered()) {
                if (added.insert(one.name.str()).second) add_constant(reordered_as(one), on.constants());
            }
            for (known_tensor const& one : placed.layer->of.made_constants()) {
                if (added.insert(one.what.name.str()).second) add_constant(one, on.constants());
            }
        }
        // Agents that run no layer may copy tensors.
        for (chip::placed_agent const& one : on.agents()) made_.with(one.on);
        for (auto const& one : placed_) {
            chip::placed_agent const& by = on.agents()[static_cast<std::size_t>(one.agent_at)];
            made_.run(one.layer->of.what().name, by.on, one.how);
            for (std::string const& tensor : one.layer->of.reshaped()) made_.reshapes({ir::label(tensor.c_str()), scalar_type::literal});
            for (auto const& [tensor, begin] : one.layer->of.what().parts)
                made_.part({ir::label(tensor.c_str()), scalar_type::literal}, begin.data(), static_cast<int>(begin.size()));
        }
        // Kernels that do not reshape a tensor may read a part of it.
        std::set<std::string> reshaped;
        for (auto const& one : placed_) reshaped.insert(one.layer->of.reshaped().begin(), one.layer->of.reshaped().end());
        for (std::string const& tensor : reshaped) {
            std::vector<std::int64_t> const& extents = placer_.shapes().at(tensor);
            made_.shape({ir::label(tensor.c_str()), scalar_type::literal}, extents.data(), static_cast<int>(extents.size()));
        }
        for (std::size_t at = 0; at < network_.outputs.size(); ++at) {
            if (!network_.is_kept(&state::output, at)) made_.output(as_tensor(network_.outputs[at]), on.outputs());
        }
        for (chip::tensor_place const& one : places) {
            any_tensor const tensor{ir::label(one.tensor.c_str()), {}};
            if (one.where) made_.pin(tensor, *one.where);
            if (one.offset) made_.at_offset(tensor, *one.offset);
            if (one.bank) made_.in_bank(tensor, *one.bank);
        }
        for (auto const& one : placed_) {
            if (!on.spills()) break;
            ir::node const& made = one.layer->of.what().nodes.back();
            bool const is_output =
                std::any_of(network_.outputs.begin(), network_.outputs.end(), [&](stored const& o) { return o.name == made.name; });
            if (!is_output) made_.may_spill({made.name, made.type}, *on.spills());
        }
    }
    network_program(network_program const&) = delete;

    program const& get() const { return made_; }
    layers const& network() const { return network_; }
    /// Likewise, where no addition is a part of the kernel that makes what it adds to.
    layers network_apart() const {
        layers made = network_;
        made.all = apart_;
        return made;
    }
    /// The chip that it is placed on.
    chip const& on() const { return on_; }
    /// Where each layer runs, in the order of the kernels.
    std::deque<layer_placer::placed> const& placed_layers() const { return placed_; }
    /// Headers that its C includes first.
    std::vector<std::string> c_includes() const {
        bool const calls = std::any_of(placed_.begin(), placed_.end(), [](auto const& one) { return one.report.choice != "loops"; });
        return calls ? on_.c_includes() : std::vector<std::string>();
    }

  private:
    /// What a chip says has to be all there, and of layers of this network. @throws not_placed
    void check(chip const& on) const {
        for (auto const& [where, call] :
             {std::pair{&on.inputs(), "inputs_in"}, {&on.outputs(), "outputs_in"}, {&on.constants(), "constants_in"}}) {
            if (where->name.empty()) throw not_placed("chip `" + on.name() + "` names no memory: " + call + "(…)");
        }
        if (!network_.states.empty() && !on.states()) throw not_placed("chip `" + on.name() + "` names no memory of states: states_in(…)");
    }
    /// What a chip says of tensors, by their names in the program. @throws not_placed
    std::vector<chip::tensor_place> places_on(chip const& on) const {
        std::vector<chip::tensor_place> made = on.places();
        if (made.empty()) return made;
        name_finder const names(network_);
        for (chip::tensor_place& one : made) {
            auto const found = names.tensor(one.tensor);
            if (!found.why.empty())
                throw not_placed("chip `" + on.name() + "` says where " + network::shown(one.tensor) + " lies, " + found.why);
            one.tensor = found.name;
        }
        return made;
    }
    /// The bytes that a layer makes, and what is added to them, become one kernel where that is as good on the chip.
    /// @return whether they did: then the layer is a part of a later one, and another one has its place
    bool joins_addition(std::size_t at) {
        layer const& maker = network_.all[at];
        if (!maker.rescaled) return false;
        for (std::size_t after = at + 1; after < network_.all.size(); ++after) {
            layer const& reader = network_.all[after];
            if (!reader.added || !detail::makes_for_one(network_, maker, reader)) continue;
            auto both = detail::fused_with_addition(maker, reader);
            if (!both || !placer_.places_as_one(maker, reader, *both)) return false;
            network_.all[after] = std::move(*both);
            network_.all.erase(network_.all.begin() + static_cast<std::ptrdiff_t>(at));
            return true;
        }
        return false;
    }
    static std::vector<stored> known_of(layers const& of) {
        std::vector<stored> made;
        for (known_tensor const& one : of.constants) made.push_back(one.what);
        return made;
    }
    /// A constant as a layer reads it in another order.
    known_tensor reordered_as(layer_shape::reordered_constant const& how) const {
        known_tensor from = *std::find_if(network_.constants.begin(), network_.constants.end(),
                                          [&](known_tensor const& one) { return one.what.name == how.from; });
        std::size_t const size = static_cast<std::size_t>(bytes_of(from.what.type)), rank = how.order.size();
        if (how.blocks) {
            from.bytes = how.blocks->bytes(from.bytes, from.what.extents, size);
            from.what.extents = how.blocks->extents(from.what.extents);
        }
        if (how.joined >= 0) {
            auto const at = from.what.extents.begin() + how.joined;
            at[1] *= at[0];
            from.what.extents.erase(at);
        }
        known_tensor made = from;
        made.what.name = how.name;
        std::vector<std::size_t> steps(rank, size), index(rank, 0);
        for (std::size_t at = rank; at-- > 1;) steps[at - 1] = steps[at] * static_cast<std::size_t>(from.what.extents[at]);
        for (std::size_t at = 0; at < rank; ++at) made.what.extents[at] = from.what.extents[static_cast<std::size_t>(how.order[at])];
        for (std::size_t to = 0; to < made.bytes.size(); to += size) {
            std::size_t source = 0;
            for (std::size_t at = 0; at < rank; ++at) source += index[at] * steps[static_cast<std::size_t>(how.order[at])];
            std::copy_n(from.bytes.begin() + static_cast<std::ptrdiff_t>(source), size,
                        made.bytes.begin() + static_cast<std::ptrdiff_t>(to));
            for (std::size_t at = rank; at-- > 0;) {
                if (++index[at] < static_cast<std::size_t>(made.what.extents[at])) break;
                index[at] = 0;
            }
        }
        return made;
    }
    /// Some kernels read another order of a constant: then others may read a part of it.
    void add_constant(known_tensor one, memory const& where) {
        std::vector<std::int64_t> reached(one.what.extents.size(), 0);
        bool const known = std::all_of(placed_.begin(), placed_.end(), [&](layer_placer::placed const& by) {
            return detail::reach(reached, by.layer->of.what().nodes, one.what.name);
        });
        if (known) detail::leave_out_unreached(one, reached);
        visit_scalar(one.what.type, [&]<class T>(T) {
            // A boolean is a byte of 0 or 1.
            if constexpr (!std::is_same_v<T, bool>) {
                auto const kept = std::make_shared<std::vector<T>>(network::values_of<T>(one.bytes));
                data_.push_back(kept);
                made_.constant({one.what.name, one.what.type}, where, kept->data(), static_cast<std::int64_t>(kept->size()));
            }
        });
    }

    layers network_;
    std::vector<stored> constants_;
    chip const& on_;
    std::vector<layer> apart_;  ///< before `joins_addition`
    layer_placer placer_;
    std::deque<layer_placer::placed> placed_ = {};
    std::vector<std::shared_ptr<void>> data_ = {};
    program made_;
};

}  // namespace tilewright::imported
