#pragma once
#include "chip.hpp"

/// A program whose kernels the cores of a machine share.
namespace core_programs {

using namespace tilewright;
using chip::added, chip::doubled, chip::turned, chip::i, chip::in, chip::out, chip::r, chip::t0, chip::t1, chip::t2, chip::w, chip::x,
    chip::y;

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .base = 0x6000'0000, .capacity = 16_KiB};
constexpr memory tcm{.name = "tcm", .base = 0x7000'0000, .capacity = 1_KiB, .per_core = true};
constexpr engine dma{.name = "dma", .per_core = true};
constexpr auto bring = transfer("bring", l2, tcm).on(dma).asynchronous().dimensions(2).cost({.latency = 20, .bytes_per_cycle = 4});
constexpr auto put = transfer("put", tcm, l2).on(dma).asynchronous().dimensions(2).cost({.latency = 20, .bytes_per_cycle = 4});
constexpr engine noc{"noc"};
constexpr auto spread = transfer("spread", l2, tcm).multicast().on(noc).dimensions(2).cost({.latency = 20, .bytes_per_cycle = 8});
constexpr core dsp{.name = "dsp", .count = 4, .barrier_cycles = 7};
constexpr auto quad = machine("quad", dram, l2, tcm, dma, noc, bring, put, spread, dsp);
constexpr agent dsps("dsps", quad);

constexpr auto turn = schedule(turned, quad).reads(x, dram).writes(r, l2);
/// Three rows for each core, and one for the last.
constexpr auto twice =
    schedule(doubled, quad).reads(x, l2).writes(r, l2).distribute(i, dsp).cache_read(x, tcm).at(i).cache_write(r, tcm).at(i);
/// One call brings all cores what they add.
constexpr auto add = schedule(added, quad).reads(x, l2).reads(y, l2).writes(r, l2).distribute(i, dsp).cache_read(y, tcm);
constexpr auto last = schedule(doubled, quad).reads(x, l2).writes(r, dram);

constexpr auto numbers = [] {
    std::array<std::int32_t, 100> made{};
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = static_cast<std::int32_t>(at * at) - 3000;
    return made;
}();

/// out = 2 (2 (in turned + 1) + numbers): core 0, all cores, all cores, core 0
constexpr auto shared_by_four = program("shared_by_four")
                                    .input(in, dram)
                                    .constant(w, l2, numbers)
                                    .run("turn", dsps, turn)
                                    .bind(x, in)
                                    .bind(r, t0)
                                    .run("twice", dsps, twice)
                                    .bind(x, t0)
                                    .bind(r, t1)
                                    .run("sum", dsps, add)
                                    .bind(x, t1)
                                    .bind(y, w)
                                    .bind(r, t2)
                                    .run("last", dsps, last)
                                    .bind(x, t2)
                                    .bind(r, out)
                                    .output(out, dram);

}  // namespace core_programs
