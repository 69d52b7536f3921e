#pragma once
#include <string>
#include <tilewright/diagnostics/sentence.hpp>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/plan/ir/plan_value.hpp>

namespace tilewright::reports {

/// What every report of a refused plan is: its verdict.
inline std::string refused_text(plan_value const& plan) { return "refused: " + to_string(plan.refusal) + "\n"; }

}  // namespace tilewright::reports
