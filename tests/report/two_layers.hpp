#pragma once
#include "program/chip.hpp"

/// The program whose memory report docs/reference/reports.md shows.
namespace two_layers_program {

using namespace chip;

constexpr auto two_layers = program("two_layers")
                                .input(in, l2)
                                .run("k0", cpu, double_on_cpu)
                                .bind(x, in)
                                .bind(r, t0)
                                .pin(t0, l2)
                                .run("k1", npu, staged_on_npu)
                                .bind(x, t0)
                                .bind(r, out)
                                .output(out, act);

}  // namespace two_layers_program
