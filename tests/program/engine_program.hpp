#pragma once
#include "chip.hpp"

/// A program with agents that copy on engines of the caller's machine.
namespace engine_programs {

using namespace tilewright;
using chip::added, chip::doubled, chip::turned, chip::i, chip::in, chip::out, chip::r, chip::t0, chip::t1, chip::t2, chip::w, chip::x,
    chip::y;

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .capacity = 16_KiB};
constexpr memory act{.name = "act", .capacity = 4_KiB, .alignment = 4};
constexpr memory wei{.name = "wei", .capacity = 4_KiB, .host_visible = false};
constexpr memory tcm{.name = "tcm", .capacity = 1_KiB};
// One engine is waited for by tags; one by how many of its jobs are left, of which it takes two at a time.
constexpr engine inward{.name = "inward"}, outward{.name = "outward", .depth = 2, .completes = completion::by_channel};
constexpr configuration pitch("pitch", 1);
constexpr auto bring = transfer("bring", wei, act)
                           .on(inward)
                           .asynchronous()
                           .dimensions(2)
                           .cost({.latency = 20, .bytes_per_cycle = 1})
                           .uses(pitch, argument::source_stride(1));
constexpr auto carry = transfer("carry", act, l2).on(outward).asynchronous().row_limit(80).cost({.latency = 30, .bytes_per_cycle = 1});
constexpr auto stage_in = transfer("stage_in", act, tcm).on(inward).dimensions(2);
constexpr auto host = machine("host", dram, l2, act, wei, tcm, inward, outward, pitch, bring, carry, stage_in);
constexpr agent cpu("cpu", host);
constexpr agent loader = agent("loader", host).copies_on(inward), saver = agent("saver", host).copies_on(outward);

constexpr auto same = r(i, chip::j) = x(i, chip::j);
constexpr auto turn = schedule(turned, host).reads(x, l2).writes(r, act);
constexpr auto add = schedule(added, host).reads(x, act).reads(y, act).writes(r, act);
constexpr auto twice = schedule(doubled, host).reads(x, act).writes(r, dram);
constexpr auto save = schedule(same, host).reads(x, act).writes(r, l2).by(carry);
constexpr auto staged = schedule(doubled, host).reads(x, act).writes(r, act).cache_read(x, tcm).by(stage_in);

constexpr auto numbers = [] {
    std::array<std::int32_t, 100> made{};
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = static_cast<std::int32_t>(at * at) - 3000;
    return made;
}();
constexpr tensor<std::int32_t> kept{"kept"}, v{"v"};

/// kept = in turned + 1 + numbers; out = 2 (kept + numbers), where numbers are brought twice
constexpr auto copying = program("copying")
                             .input(in, l2)
                             .constant(w, wei, numbers)
                             .constant(v, wei, numbers)
                             .run("turn", cpu, turn)
                             .bind(x, in)
                             .bind(r, t0)
                             .run("sum", cpu, add)
                             .bind(x, t0)
                             .bind(y, w)
                             .bind(r, t1)
                             .run("save", saver, save)
                             .bind(x, t1)
                             .bind(r, kept)
                             .run("again", cpu, add)
                             .bind(x, t1)
                             .bind(y, v)
                             .bind(r, t2)
                             .run("last", cpu, twice)
                             .bind(x, t2)
                             .bind(r, out)
                             .output(kept, l2)
                             .output(out, dram)
                             .with(loader);

}  // namespace engine_programs
