#pragma once
#include <stdexcept>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/plan/place/machine_check.hpp>

namespace tilewright::bring_up {

/// @throws std::invalid_argument with the verdict when the planner would refuse the machine's description
inline machine const& sound(machine const& where) {
    if (verdict const refusal = detail::read_machine(where).refusal; refusal) throw std::invalid_argument(to_string(refusal));
    return where;
}

}  // namespace tilewright::bring_up
