#pragma once
#include "core_program.hpp"

/// A program on cores of two kinds, with an agent beside them.
namespace team_programs {

using namespace core_programs;
using chip::j;

// The caller gives the memories; of `near`, each core its own.
constexpr memory rom{.name = "rom", .capacity = 4_KiB}, shared{.name = "shared", .capacity = 16_KiB};
constexpr memory near{.name = "near", .capacity = 1_KiB, .per_core = true};
constexpr auto fetch = transfer("fetch", rom, shared).dimensions(2).cost({.latency = 9, .bytes_per_cycle = 8});
constexpr auto bring_near =
    transfer("bring_near", shared, near).on(dma).asynchronous().dimensions(2).cost({.latency = 20, .bytes_per_cycle = 4});
constexpr auto put_back =
    transfer("put_back", near, shared).on(dma).asynchronous().dimensions(2).cost({.latency = 20, .bytes_per_cycle = 4});
constexpr core control{
    .name = "control", .costs = {.load = 3, .arithmetic = 2}, .barrier_cycles = 11, .barrier_call = {.symbol = "control_meets"}};
constexpr core vector{.name = "vector", .count = 3, .barrier_cycles = 5, .barrier_call = {.symbol = "vector_meets"}};
constexpr auto mixed = machine("mixed", dram, rom, shared, near, dma, fetch, bring_near, put_back, control, vector);
constexpr auto npu_machine = machine("npu", dram, shared);
constexpr agent cores("cores", mixed);
constexpr agent npu = agent("npu", npu_machine).aside("npu_begin", "npu_end");

constexpr auto turn = schedule(turned, mixed).reads(x, dram).writes(r, shared);
/// Rows: 3, 3, 3 and 1.
constexpr auto twice = schedule(doubled, mixed)
                           .reads(x, shared)
                           .writes(r, shared)
                           .distribute(i, control, vector)
                           .cache_read(x, near)
                           .at(i)
                           .cache_write(r, near)
                           .at(i);
/// On two of three fast cores, 5 rows each, by columns that core 0 loads for both.
constexpr axis jo{"jo"}, ji{"ji"};
constexpr auto add_by_two = schedule(added, mixed)
                                .split(j, jo, ji, 5)
                                .reorder(jo, i, ji)
                                .reads(x, shared)
                                .reads(y, rom)
                                .writes(r, shared)
                                .distribute(i, vector, 2)
                                .cache_read(y, shared)
                                .at(jo);
constexpr auto beside = schedule(doubled, npu_machine).reads(x, shared).writes(r, shared);
constexpr auto last = schedule(added, mixed).reads(x, shared).reads(y, shared).writes(r, dram);
constexpr tensor<std::int32_t> t3{"t3"}, t4{"t4"};

/// out = (2 t + numbers) + 2 t, where t = in turned + 1: core 0; all cores, while the npu has the same; two cores; core 0
constexpr auto team = program("team")
                          .input(in, dram)
                          .constant(w, rom, numbers)
                          .run("turn", cores, turn)
                          .bind(x, in)
                          .bind(r, t0)
                          .run("beside", npu, beside)
                          .bind(x, t0)
                          .bind(r, t3)
                          .run("twice", cores, twice)
                          .bind(x, t0)
                          .bind(r, t1)
                          .run("sum", cores, add_by_two)
                          .bind(x, t1)
                          .bind(y, w)
                          .bind(r, t2)
                          .run("last", cores, last)
                          .bind(x, t2)
                          .bind(y, t3)
                          .bind(r, out)
                          .output(out, dram);

constexpr std::int32_t expected(int at) {
    int const turned_to = (at % 10 * 10 + at / 10) * 7 - 50 + 1;
    return 2 * turned_to + at * at - 3000 + 2 * turned_to;
}

}  // namespace team_programs
