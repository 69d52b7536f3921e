#pragma once
#include <tilewright/report/program_report.hpp>
#include <tilewright/report/summary.hpp>

// A program in ten seconds.
namespace tilewright {

/// A program in a few lines: its cycles; how full its memories are; and the layers that take longest, with what their cores do for most of
/// that time, and what would help. A program that was refused is its verdict.
///
/// ```
/// two_layers: 2,400 cycles, 3 layers
///
/// l2        800 of 16,384  bytes   4.9 %  |##                              |
/// act        400 of 1,000  bytes  40.0 %  |#############                   |
/// npu.spad    80 of 1,024  bytes   7.8 %  |###                             |
///
/// k1      npu  1,100  cycles  45.8 %  36.4 % copies to x.spad by mvin
/// k0      cpu    900  cycles  37.5 %  100.0 % runs the loops of r: vectorize or tensorize them
/// t0.act  cpu    400  cycles  16.7 %  100.0 % copies to to by fetch
/// ```
/// @param coloured  as in the summary of a plan
inline std::string summary(program_plan_value const& plan, bool coloured = false) {
    using namespace reports;
    constexpr std::size_t most_layers = 5;
    if (plan.refusal) return "refused: " + to_string(plan.refusal) + "\n";
    program_report const report = report_of(plan);
    std::size_t const count = report.layers.size();
    std::string const first = report.program.str() + ": " + cycles_text(report.cycles, report.bound) + " cycles, " + std::to_string(count) +
                              (count == 1 ? " layer" : " layers");
    full_rows memories(coloured);
    for (reported_pool const& m : report.memories) {
        if (m.capacity > 0) memories.add_memory(m.name.str(), m.peak, m.capacity);
    }
    std::vector<reported_layer> longest = report.layers;
    auto const cycles_of = [](reported_layer const& layer) { return layer.cycles.value_or(layer.bound); };
    std::stable_sort(longest.begin(), longest.end(),
                     [&](reported_layer const& a, reported_layer const& b) { return cycles_of(a) > cycles_of(b); });
    longest.resize(std::min(count, most_layers));
    using enum table::side;
    table layers({left, left, right, left, right, left});
    for (reported_layer const& layer : longest) {
        kernel_build const made = build_kernel(plan, plan.find_kernel(layer.name));
        layers.add({layer.name.str(), layer.agent.str(), grouped(cycles_of(layer)), "cycles",
                    percent(cycles_of(layer), report.cycles.value_or(report.bound)), costliest(made.plan, accounts_of(made.plan))});
    }
    std::string const rows = memories.str();
    return in_colour(bold, first, coloured) + "\n" + (rows.empty() ? "" : "\n" + rows) + "\n" + layers.str();
}

/// What `to << program_plan<P>` is.
inline void print_summary(std::ostream& to, program_plan_value const& plan) { to << summary(plan, reports::shows_colours(to)); }

}  // namespace tilewright
