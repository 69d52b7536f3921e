#pragma once
#include <tilewright/base/label_text.hpp>

#include "fuzz/names.hpp"
#include "fuzz/recipe.hpp"

namespace fuzz {

/// Draws memories, engines and the transfers between them.
inline machine_parts draw_machine(dice& random, names& named) {
    machine_parts made;
    auto const label_of = [&](std::string const& plain) { return ir::label(named.take(plain).c_str()); };
    auto const draw_memory = [&](std::string const& plain, std::uint64_t base) {
        constexpr int banks[] = {1, 1, 2, 4, 8};
        constexpr std::int64_t alignments[] = {1, 8, 16, 64, 128};
        memory m{.name = label_of(plain), .capacity = 256_KiB, .alignment = random.any_of(alignments), .banks = random.any_of(banks)};
        if (!random.one_in(3)) m.base = base;
        if (random.one_in(6)) m.capacity = 16_KiB;
        if (random.one_in(5)) m.ports = 1;
        if (random.one_in(4)) m.wait_cycles = random.below(5);
        return m;
    };
    memory const dram{.name = label_of("dram"), .wait_cycles = random.one_in(4) ? random.below(9) : 0};
    memory const l2 = draw_memory("l2", 0x2000'0000), l1 = draw_memory("l1", 0x1000'0000);
    made.memories = {dram, l2, l1};
    if (random.percent(50))
        made.cores.push_back({.name = label_of("core"),
                              .costs = {.load = random.between(1, 3), .store = random.below(3), .multiply = random.between(1, 5)}});
    for (int at = random.weighted({65, 20, 15}); at > 0; --at)
        made.configurations.push_back(configuration(label_of("registers"), random.between(1, 3)));
    bool const interlocks = random.one_in(5);
    int const engines = random.weighted({12, 30, 30, 28});
    for (int at = 0; at < engines; ++at) {
        engine e{.name = label_of("e" + std::to_string(at)), .depth = random.one_in(4) ? 1 : random.between(1, 8)};
        if (random.one_in(2)) e.completes = completion::by_channel;
        e.interlocked = interlocks && !random.one_in(4);
        if (random.one_in(4)) e.channels = random.between(2, 4);
        if (e.channels > 1 && random.one_in(3)) e.completes = completion::by_engine;
        made.engines.push_back(e);
    }
    auto const add = [&](memory const& from, memory const& to) {
        transfer t(label_of(from.name.str().substr(0, 8) + "_" + to.name.str().substr(0, 8)), from, to);
        bool const by_core = !made.cores.empty() && random.one_in(5);
        if (by_core) t.on(made.cores.front());
        else if (engines > 0 && !random.one_in(6)) t.on(random.any_of(made.engines));
        if (!by_core && !t.engine_name.empty() && !random.one_in(5)) t.asynchronous();
        if (!by_core) {
            t.dimensions(random.between(1, 5));
            t.cost({.latency = random.below(80), .setup = random.below(10), .bytes_per_cycle = random.between(1, 16)});
            if (random.one_in(6)) t.row_limit(random.between(8, 200));
            if (random.one_in(8)) t.extent_limit(random.between(2, 16));
            if (t.most_dimensions <= 3 && random.one_in(3)) random.one_in(3) ? t.fills_border(0) : t.fills_border();
            if (t.border.is && random.one_in(6)) t.pad_limit(random.between(1, 3));
        }
        move m{t, {}, {}};
        if (!by_core && !made.configurations.empty() && random.one_in(3)) {
            configuration const& registers = random.any_of(made.configurations);
            used_registers used{registers.name.str(), {}};
            for (int at = 0; at < registers.value_count; ++at) {
                constexpr role roles[] = {role::source_stride, role::destination_stride, role::extent, role::literal};
                used_registers::value v{random.any_of(roles), static_cast<std::int8_t>(random.between(1, t.most_dimensions - 1))};
                if (t.most_dimensions < 2 && v.is != role::extent) v.is = role::literal;
                if (v.is == role::extent) v.dimension = static_cast<std::int8_t>(random.below(t.most_dimensions));
                if (v.is == role::literal) v = {role::literal, 0, -1, random.below(3)};
                used.values.push_back(v);
            }
            m.uses.push_back(used);
        }
        made.transfers.push_back(m);
    };
    for (memory const& from : made.memories) {
        for (memory const& to : made.memories) {
            if (!(from.name == to.name)) add(from, to);
        }
    }
    if (interlocks || random.one_in(3) || engines < 2) return made;
    for (engine const& from : made.engines) {
        for (engine const& to : made.engines) {
            if (from.name == to.name || from.channels > 1 || to.channels > 1 || random.one_in(4)) continue;
            tilewright::tokens t(from, to);
            t.named(label_of("tok"));
            if (random.one_in(3)) t.queues(random.between(2, 3));
            if (random.one_in(4)) t.holds(random.between(1, 6));
            made.tokens.push_back(t);
        }
    }
    return made;
}

}  // namespace fuzz
