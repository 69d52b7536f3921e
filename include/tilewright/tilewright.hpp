#pragma once
/// Machines, computations, schedules and plans: what the compiler proves. Reports, emulated runs, programs and back ends have headers of
/// their own.
#if __cplusplus < 202002L
#include "Tilewright needs C++20: compile with -std=c++20"  // which ends the compilation, with one error
#endif
// A compiler that refuses something names the way on which it came to the header: those that users write calls of come first,
// and types of elements.
#include <tilewright/compute/scalar.hpp>
#include <tilewright/machine/memory.hpp>
#include <tilewright/machine/transfer.hpp>
#include <tilewright/schedule/schedule.hpp>

#include <tilewright/plan/ir/plan_value.hpp>

#include <tilewright/compute/exponential.hpp>
#include <tilewright/compute/functions.hpp>
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/plan.hpp>
#include <tilewright/version.hpp>
