#pragma once
#include <tilewright/halide/jit_program.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/program/program_plan.hpp>

namespace tilewright::imported {

/// A network on the emulated machines of its chip, compiled at run time.
class emulated_network {
  public:
    /// @throws std::invalid_argument  where the plan was refused, or the chip does not say what an agent's instructions do: `.semantics`
    emulated_network(network_program const& of, chip const& on, program_plan_value const& plan)
        : of_(of), plan_(plan), machines_(plan, semantics_of_agents(of, on)), code_(machines_) {}

    /// Runs the network. Memories hold what is no number of the network before.
    /// @param inputs  their bytes, row by row, in the order of the network's
    /// @param made    is given the bytes of what each kernel makes, by the name of the tensor
    /// @return the bytes of its outputs, likewise
    /// @throws std::invalid_argument  where an input has another size
    /// @throws std::runtime_error     with what the first failed call wanted
    std::vector<std::vector<std::byte>> operator()(std::vector<std::vector<std::byte>> inputs, progress how = progress::earliest,
                                                   made_tensors* made = nullptr) {
        layers const& network = of_.network();
        if (inputs.size() != network.inputs.size())
            throw std::invalid_argument("the network has " + std::to_string(network.inputs.size()) + " inputs");
        machines_.use(how);
        machines_.fill_memories(0xa5);
        machines_.reset();
        std::map<std::string, void*> passed;
        for (std::size_t at = 0; at < inputs.size(); ++at) {
            std::size_t const wanted = bytes_in(network.inputs[at]);
            if (inputs[at].size() != wanted)
                throw std::invalid_argument("input " + std::to_string(at) + " has " + std::to_string(inputs[at].size()) + " bytes; " +
                                            std::to_string(wanted) + " are wanted");
            int const tensor = plan_.find_tensor(network.inputs[at].name);
            if (tensor < 0) continue;  // nobody reads it
            if (plan_.tensor_at(tensor).passed) passed[network.inputs[at].name.str()] = inputs[at].data();
            else std::memcpy(machines_.address(tensor), inputs[at].data(), wanted);
        }
        std::vector<std::vector<std::byte>> outputs;
        for (stored const& one : network.outputs) outputs.emplace_back(bytes_in(one));
        for (std::size_t at = 0; at < outputs.size(); ++at) passed[network.outputs[at].name.str()] = outputs[at].data();
        auto const keep = [&](int kernel) {
            for (int which = 0; which < plan_.uses.size(); ++which) {
                ir::program_use const& u = plan_.uses[which];
                if (u.kernel != kernel || !u.written) continue;
                ir::program_tensor const& t = plan_.tensor_at(u.tensor);
                auto const* const first = t.passed ? static_cast<std::byte const*>(passed.at(t.name.str())) : machines_.address(u.tensor);
                made->insert_or_assign(t.name.str(), std::vector<std::byte>(first, first + t.bytes));
            }
        };
        if (int const code = made == nullptr ? code_.run(passed) : code_.run(passed, keep); code != 0)
            throw std::runtime_error("code " + std::to_string(code) + ": " + machines_.error());
        for (std::size_t at = 0; at < outputs.size(); ++at) {
            int const tensor = plan_.find_tensor(network.outputs[at].name);
            if (!plan_.tensor_at(tensor).passed) std::memcpy(outputs[at].data(), machines_.address(tensor), outputs[at].size());
        }
        return outputs;
    }
    /// Of the last run.
    std::int64_t cycles() const { return machines_.cycles(); }
    /// For reports, and to record what is executed.
    program_emulator& machines() { return machines_; }

    static std::size_t bytes_in(stored const& tensor) { return static_cast<std::size_t>(count_of(tensor.extents) * bytes_of(tensor.type)); }

  private:
    static std::vector<semantics_table> semantics_of_agents(network_program const& of, chip const& on) {
        std::vector<semantics_table> made;
        for (int at = 0; at < of.get().agent_count; ++at) {
            agent const& wanted = of.get().agents[at];
            for (chip::placed_agent const& one : on.agents()) {
                if (one.on.name != wanted.name) continue;
                bool const needs_none = wanted.where->transfers.size() == 0 && wanted.where->intrinsics.size() == 0;
                if (one.uses.semantics == nullptr && !needs_none)
                    throw std::invalid_argument("chip `" + on.name() + "` does not say what `" + wanted.name.str() +
                                                "` does: .semantics = &semantics_of<" + wanted.where->name.str() + ">");
                made.push_back(one.uses.semantics == nullptr ? semantics_table{} : *one.uses.semantics);
            }
        }
        return made;
    }

    network_program const& of_;
    program_plan_value const& plan_;
    program_emulator machines_;
    halide::jit_program code_;
};

}  // namespace tilewright::imported
