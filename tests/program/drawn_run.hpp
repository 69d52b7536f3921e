#pragma once
#include <cstring>
#include <string>
#include <tilewright/program/program_plan_value.hpp>

#include "program/random_program.hpp"

// A run of a drawn program: what it is given, and what the oracle says it has to give back.
namespace programs {

/// @param address  where a tensor of the plan begins, by its number: `void*(int at)`
template <class Address>
void give_inputs(drawn_program const& drawn, tilewright::program_plan_value const& plan, Address const& address) {
    for (int at = 0; at < plan.tensors.size(); ++at) {
        if (plan.tensor_at(at).kind != tilewright::ir::tensor_kind::input) continue;
        auto const& values = drawn.values_of(plan.tensor_at(at).name);
        std::memcpy(address(at), values.data(), values.size() * sizeof(element));
    }
}

/// @return the name of an output that differs from the oracle's; empty: none
template <class Address>
std::string wrong_output(drawn_program const& drawn, tilewright::program_plan_value const& plan, Address const& address) {
    for (int at = 0; at < plan.tensors.size(); ++at) {
        if (plan.tensor_at(at).kind != tilewright::ir::tensor_kind::output) continue;
        auto const& values = drawn.values_of(plan.tensor_at(at).name);
        if (std::memcmp(address(at), values.data(), values.size() * sizeof(element)) != 0) return plan.tensor_at(at).name.str();
    }
    return {};
}

}  // namespace programs
