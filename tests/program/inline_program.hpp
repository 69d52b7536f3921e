#pragma once
#include "chip.hpp"

/// A program of one element, whose agent works on the bytes that the caller's core writes before and reads afterwards.
namespace inline_programs {

using namespace tilewright;
using chip::in, chip::out, chip::r, chip::t0, chip::t1, chip::x;

constexpr memory dram{.name = "dram"}, act{.name = "act", .capacity = 64};
constexpr auto cpu_machine = machine("cpu", dram, act), aside_machine = machine("aside", act);
constexpr agent cpu("cpu", cpu_machine);
constexpr agent aside = agent("aside", aside_machine).aside("inline_start", "aside_join");

constexpr axis i{"i", 1};
constexpr auto doubled = r(i) = x(i) * 2;
constexpr auto next = r(i) = x(i) + 1;
constexpr auto from_dram = schedule(doubled, cpu_machine).reads(x, dram).writes(r, act);
constexpr auto in_place = schedule(next, aside_machine);
constexpr auto to_dram = schedule(doubled, cpu_machine).reads(x, act).writes(r, dram);

/// out = 2 (2 in + 1)
constexpr auto one_element = program("one_element")
                                 .input(in, dram)
                                 .run("before", cpu, from_dram)
                                 .bind(x, in)
                                 .bind(r, t0)
                                 .run("beside", aside, in_place)
                                 .bind(x, t0)
                                 .bind(r, t1)
                                 .run("behind", cpu, to_dram)
                                 .bind(x, t1)
                                 .bind(r, out)
                                 .output(out, dram);
static_assert(program_plan<one_element>.peak(act) == 4);

}  // namespace inline_programs
