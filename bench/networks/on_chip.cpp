#include "on_chip.hpp"

#include <algorithm>
#include <chrono>
#include <tilewright/import/emulated_network.hpp>
#include <tilewright/import/planned_network.hpp>

#include "chip.hpp"

namespace networks {

using namespace tilewright;

/// Cycles for which the loader is busy at least: each operand of the array comes from another memory, each of its elements once.
///
/// @param pixels  elements of the image
static double least_cycles_of_loads(imported::contraction const& of, std::int64_t pixels) {
    std::int64_t weights = 1, read = 1;
    for (auto const* const loops : {&of.batch, &of.m, &of.n, &of.taps, &of.k}) {
        for (imported::contracted_loop const& loop : *loops) {
            weights *= loop.in_weights != 0 ? loop.extent : 1;
            read *= loop.in_data != 0 ? loop.extent : 1;
        }
    }
    return static_cast<double>(weights + std::min(read, pixels)) / static_cast<double>(networks_chip::by_loader.bytes_per_cycle);
}

chip_figures on_chip(imported::layers layers, std::vector<std::vector<std::byte>> const& inputs) {
    chip_figures made;
    imported::chip const& on = networks_chip::two_agents;
    auto const begin = std::chrono::steady_clock::now();
    try {
        imported::planned_network const planned_whole(std::move(layers), "net", on);
        imported::network_program const& whole = planned_whole.program();
        program_plan_value const* const plan = &planned_whole.plan();
        made.seconds_to_plan = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (plan->refusal) return made.refused = to_string(plan->refusal), made;
        made.cycles = static_cast<double>(plan->cycles());
        made.act_bytes = plan->peak(networks_chip::act_mem).value, made.proven = plan->proven(networks_chip::act_mem);
        for (imported::layer_placer::placed const& one : whole.placed_layers()) {
            ++made.layers;
            made.on_npu += one.report.agent == "npu" ? 1 : 0;
            if (one.report.choice != "products") continue;
            // As the model has them: the template may have joined them with a window.
            auto const is_constant = [&](ir::label const& tensor) { return one.layer->of.is_constant(tensor); };
            auto const of_model = imported::contraction_of(whole.network().all[static_cast<std::size_t>(made.layers - 1)], is_constant);
            std::int64_t channels = 1;
            for (imported::contracted_loop const& loop : of_model.value().k) channels *= loop.extent;
            if (channels < 16) continue;
            std::int64_t pixels = 1;
            for (std::int64_t const extent : one.layer->of.shapes().at(of_model.value().data.str())) pixels *= extent;
            auto const planned = std::make_unique<plan_value>(make_plan(one.how));
            array_use const with{.busy = one.report.least_cycles,
                                 .cycles = static_cast<double>(plan->kernel_at(plan->find_kernel(one.layer->of.what().name)).cycles),
                                 .at_work = static_cast<double>(planned->busy(networks_chip::array).value),
                                 .least = std::max(one.report.least_cycles, least_cycles_of_loads(of_model.value(), pixels))};
            made.array.add(with);
            if (!of_model.value().m.empty()) made.images.add(with);
        }
        if (inputs.empty()) return made;
        imported::emulated_network emulated(whole, on, *plan);
        emulated(inputs);
        made.emulated = static_cast<double>(emulated.cycles());
    } catch (imported::not_placed const& error) {
        made.refused = error.what();
    }
    return made;
}

}  // namespace networks
