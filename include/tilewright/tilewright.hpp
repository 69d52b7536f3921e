#pragma once
/// Machines, computations, schedules and plans: what the compiler proves. Reports, emulated runs, programs and back ends have headers of
/// their own.
#include <tilewright/compute/exponential.hpp>
#include <tilewright/compute/functions.hpp>
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/plan.hpp>
#include <tilewright/version.hpp>
