#pragma once
/// Everything but Halide: machines, computations, schedules, plans and their reports.
#include <tilewright/plan/plan.hpp>
