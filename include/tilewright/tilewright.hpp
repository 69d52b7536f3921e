#pragma once
/// Everything but Halide: machines, computations, schedules, plans and their reports.
#include <tilewright/compute/exponential.hpp>
#include <tilewright/compute/functions.hpp>
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/plan.hpp>
