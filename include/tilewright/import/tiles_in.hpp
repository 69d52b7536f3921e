#pragma once
#include <tilewright/import/standard_schedule.hpp>

// The standard schedule of cores with a memory of their own: loops over tiles, which transfers bring and take back.
namespace tilewright::imported {

namespace detail {

/// A way to cut the loops of a result: those before `loop` go round a tile, and so does it, by `factor` iterations.
struct result_tiles {
    int loop = 0;  ///< of the result; -1: everything is one tile
    std::int64_t factor = 1;
    bool constants_once = true;  ///< constants are staged once, and not for each tile
    std::int64_t versions = 2;
};

/// The schedule with these tiles; everything that a stage reads from outside of the kernel is staged in `near`.
inline schedule schedule_of(placed_layer const& of, memory const& near, result_tiles const& tiles) {
    computation_view const nodes = of.of.nodes();
    auto const& inner = of.of.what().inner;
    std::vector<ir::stage> const stages = stages_of(nodes);
    ir::stage const& last = stages.back();
    schedule made = of.plain();
    ir::label tile, within;  // the loop over tiles, and the one that it was cut from
    if (tiles.loop >= 0) {
        within = last.axes[tiles.loop].name;
        tile = with_ending(within, "_o");
        made.split(named(within), named(tile), named(with_ending(within, "_i")), tiles.factor);
    }
    for (std::size_t at = inner.size(); at-- > 0;) {
        inner_stage const& one = inner[at];
        if (!one.loop.empty()) made.compute_at(of.tensor(one.result), named(one.loop == within ? with_ending(within, "_i") : one.loop));
        made.store_in(of.tensor(one.result), near);
    }
    for (std::size_t at = 0; at < stages.size(); ++at) {
        bool const is_last = at + 1 == stages.size();
        made.stage(of.tensor(stages[at].output));
        ir::label at_loop = tile;
        if (!is_last && tiles.loop >= 0 && (inner[at].loop.empty() || last.find(inner[at].loop) < tiles.loop)) at_loop = inner[at].loop;
        std::vector<ir::label> read;
        for (int node = stages[at].first; node < stages[at].store; ++node) {
            ir::label const& name = nodes[node].name;
            bool const is_made = std::any_of(stages.begin(), stages.end(), [&](ir::stage const& one) { return one.output == name; });
            if (nodes[node].op != operation::access || is_made || std::find(read.begin(), read.end(), name) != read.end()) continue;
            read.push_back(name);
            made.cache_read(of.tensor(name), near);
            if (at_loop.empty() || (tiles.constants_once && of.of.is_constant(name))) continue;
            made.at(named(at_loop));
            if (tiles.versions > 1) made.buffers(tiles.versions);
        }
    }
    made.cache_write(of.tensor(last.output), near);
    if (tiles.loop >= 0) {
        made.at(named(tile));
        if (tiles.versions > 1) made.buffers(tiles.versions);
    }
    return made;
}

}  // namespace detail

/// Loops of the agent's core over tiles of the result. What a tile reads is staged in `near`, what it makes is taken back from there; of
/// both there may be two versions. For any layer, on machines with transfers to `near` and back.
inline schedule_template tiles_in(memory const& near) {
    return [near](placed_layer& of) -> candidates {
        using namespace detail;
        ir::stage const last = stages_of(of.of.nodes()).back();
        candidates made;
        made.all.push_back(schedule_of(of, near, {.loop = -1}));
        for (int loop = 0; loop < last.rank; ++loop) {
            for (std::int64_t factor = 1; factor < last.axes[loop].extent; factor *= 2) {
                for (bool const once : {true, false}) {
                    for (std::int64_t const versions : {2, 1}) made.all.push_back(schedule_of(of, near, {loop, factor, once, versions}));
                }
            }
        }
        return made;
    };
}

}  // namespace tilewright::imported
