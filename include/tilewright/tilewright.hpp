#pragma once
/// Everything but Halide: machines, computations, schedules, plans and their reports.
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/plan.hpp>
