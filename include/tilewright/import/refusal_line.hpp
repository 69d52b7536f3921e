#pragma once
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/program/program_plan_value.hpp>

// Why a network on a chip has no plan, in the words of its model and of the chip.
namespace tilewright::imported {

namespace detail {

/// The largest tensor between kernels of those that are in the way, as pin() takes it; empty: there is none.
inline std::string tensor_to_pin(name_finder const& names, program_plan_value const& plan) {
    verdict const& of = plan.refusal;
    for (int at = 0; at < of.share_count; ++at) {
        ir::label const& name = of.shares[at].name;
        int const tensor_at = plan.find_tensor(name);
        if (tensor_at < 0 || plan.tensor_at(tensor_at).kind != ir::tensor_kind::between) continue;
        if (std::string const said = names.name_for_tensor(name.str()); !said.empty()) return said;
    }
    return {};
}

/// A memory that is too small: the layer where it is fullest, the tensors that are in the way, and what a chip can say of them.
inline std::string overflow_line(name_finder const& names, network_program const& of, program_plan_value const& plan) {
    verdict const& refusal = plan.refusal;
    std::string const kernel = refusal.names[2].str(), memory = refusal.names[0].str();
    std::string text = "memory `" + memory + "`";
    if (refusal.facts[3].what != ir::fact_kind::none) text += " (bank " + std::to_string(refusal.facts[3].value) + ")";
    text += " needs " + std::to_string(refusal.facts[0].value) + " of " + std::to_string(refusal.facts[1].value) + " bytes in " +
            names.shown_kernel(kernel) + ": ";
    for (int at = 0; at < refusal.share_count; ++at) {
        ir::share const& one = refusal.shares[at];
        text += (at == 0 ? "" : ", ") + names.shown_tensor(one.name.str()) + " " +
                (one.copies > 1 ? std::to_string(one.copies) + "x" : std::string()) + std::to_string(one.bytes);
    }
    std::string const tensor = tensor_to_pin(names, plan);
    std::string ways;
    auto const add = [&](std::string const& way) { ways += (ways.empty() ? "; " : ", or ") + way; };
    if (!tensor.empty()) add("say where else a tensor lies, as by pin(\"" + tensor + "\", …)");
    if (!tensor.empty() && !of.on().spills()) add("by spills_to(…) where tensors wait while no kernel uses them");
    std::string const layer = names.is_kernel(kernel) ? names.name_for_layer(kernel) : std::string();
    if (tensor.empty() && !layer.empty()) add("give the layer to another choice by layer(\"" + layer + "\", …)");
    if (ways.empty()) add("make `" + memory + "` larger, or say that inputs or outputs lie elsewhere");
    return text + ways;
}

}  // namespace detail

/// Why a plan of a network is refused. Kernels and tensors that the line names have the node and the model's name beside them.
inline std::string refusal_line(network_program const& of, program_plan_value const& plan) {
    name_finder const names(of.network());
    verdict const& refusal = plan.refusal;
    if (refusal.is_program_overflow()) return detail::overflow_line(names, of, plan);
    std::string known;
    auto const add = [&](ir::label const& label) {
        std::string const name = label.str();
        bool const is_memory = plan.find_memory(label) >= 0;
        std::string shown;
        if (!is_memory && names.is_kernel(name)) shown = names.shown_kernel(name);
        else if (!is_memory && names.is_tensor(name)) shown = names.shown_tensor(name);
        if (shown.empty() || shown == name || known.find(shown) != std::string::npos) return;
        known += (known.empty() ? " (" : "; ") + shown;
    };
    for (int at = 0; at < 4; ++at) add(refusal.names[at]);
    for (int at = 0; at < refusal.share_count; ++at) add(refusal.shares[at].name);
    return to_string(refusal) + known + (known.empty() ? "" : ")");
}

}  // namespace tilewright::imported
