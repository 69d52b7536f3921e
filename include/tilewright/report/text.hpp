#pragma once
/// A plan in words: its summary, memory_map, loop_program, traffic, cycle_account, and its comparison with an emulated run.
#include <tilewright/report/comparison.hpp>
#include <tilewright/report/cycle_account.hpp>
#include <tilewright/report/loop_program.hpp>
#include <tilewright/report/memory_map.hpp>
#include <tilewright/report/step_directives.hpp>
#include <tilewright/report/summary.hpp>
#include <tilewright/report/traffic.hpp>
