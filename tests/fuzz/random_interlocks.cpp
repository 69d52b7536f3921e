#include <map>
#include <memory>
#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "fuzz/drawing.hpp"
#include "kernels/run_kernel.hpp"

// Matrix multiplications on a systolic array whose engines hold each other back, with tiles that come and go by several calls: a step of
// the array begins when those calls are complete whose bytes it needs, and no sooner. Cycles are predicted as they are executed.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory scratch{.name = "scratch", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 4, .host_visible = false};
constexpr memory accumulator{.name = "accumulator", .base = 0x2000'0000, .capacity = 32_KiB, .alignment = 4, .host_visible = false};

/// @param columns  that a call of a load moves at most
/// @param rows     likewise
constexpr machine interlocked(std::int64_t columns, std::int64_t rows, int depth, bool waits, bool flexible) {
    machine made("interlocked", dram, scratch, accumulator);
    auto const in_order = [&](char const* name) {
        return engine{.name = name, .depth = depth, .completes = completion::by_channel, .interlocked = true};
    };
    engine const load = in_order("load"), array = in_order("array"), store = in_order("store");
    for (engine const& e : {load, array, store}) made.add(e);
    made.add(transfer("load_tile", dram, scratch)
                 .on(load)
                 .asynchronous()
                 .dimensions(2)
                 .row_limit(columns)
                 .extent_limit(rows)
                 .cost({.latency = 30, .setup = 2, .bytes_per_cycle = 2}));
    made.add(transfer("load_sums", dram, accumulator)
                 .on(load)
                 .asynchronous()
                 .dimensions(2)
                 .row_limit(4 * columns)
                 .cost({.latency = 30, .bytes_per_cycle = 4}));
    made.add(transfer("store_sums", accumulator, dram)
                 .on(store)
                 .asynchronous()
                 .dimensions(2)
                 .row_limit(4 * columns)
                 .extent_limit(rows)
                 .cost({.latency = 17, .setup = 3, .bytes_per_cycle = 8}));
    axis const z{"z", 1}, i{"i", 4}, j{"j", 4}, l{"l", 4};
    tensor<std::int8_t> const a{"a"}, b{"b"};
    tensor<std::int32_t> const c{"c"};
    auto const term = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
    made.add(transfer("zeros", dram, scratch, a(z) = 0).on(load).asynchronous().dimensions(2));
    auto mac = intrinsic("mac", c(i, j) += term).reads(a, scratch).reads(b, scratch).updates(c, accumulator).on(array);
    auto mul = intrinsic("mul", c(i, j) = sum(l, term)).reads(a, scratch).reads(b, scratch).writes(c, accumulator).on(array);
    if (!waits) mac.asynchronous(), mul.asynchronous();
    mac.cycles(7), mul.cycles(7);
    if (flexible) mac.up_to(i, j, l).cycles(3, per(i), per(j, l).in_units_of(4)), mul.up_to(i, j, l).cycles(2, 2 * per(i), per(l));
    made.add(mac), made.add(mul);
    return made;
}
constexpr machine in_small_pieces = interlocked(4, 4, 16, false, false), in_columns = interlocked(4, 64, 3, false, false),
                  in_rows = interlocked(64, 1, 8, false, true), up_to_four = interlocked(8, 4, 5, false, true),
                  that_wait = interlocked(4, 3, 4, true, false), that_cover = interlocked(3, 5, 16, true, true);
struct subject {
    machine const* where;
    semantics_table const* semantics;
};
constexpr subject subjects[] = {
    {&in_small_pieces, &semantics_of<in_small_pieces>}, {&in_columns, &semantics_of<in_columns>}, {&in_rows, &semantics_of<in_rows>},
    {&up_to_four, &semantics_of<up_to_four>},           {&that_wait, &semantics_of<that_wait>},   {&that_cover, &semantics_of<that_cover>}};

constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, both{"both"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};

}  // namespace

TEST_CASE("cycles of interlocked engines are predicted as they are executed, tiles coming by several calls") {
    int run = 0, refused = 0, gained = 0;
    for (std::uint32_t seed = 1; run < 70; ++seed) {
        drawing draw(seed);
        subject const& on_what = draw.any_of(subjects);
        bool const whole = draw.below(3) == 0, open = draw.below(4) == 0, continued = draw.below(4) == 0;
        std::int64_t const rows = whole ? 4 * draw.between(1, 8) : draw.between(1, 30),
                           columns = whole ? 4 * draw.between(1, 6) : draw.between(1, 22),
                           depth = whole || draw.below(2) == 0 ? 4 * draw.between(1, 6) : draw.between(1, 20);
        axis const m{"m", open ? dynamic.up_to(rows + draw.below(9)) : rows}, n{"n", columns}, k{"k", depth};
        auto const product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        auto const from_zero = C(m, n) += product;
        auto const more = C(m, n) = C(m, n) + sum(k, product);
        schedule made(continued ? more.view() : from_zero.view(), *on_what.where);
        made.tile(m, n, mo, no, mi, ni, 4 * draw.between(1, 4), 4 * draw.between(1, 3)).split(k, ko, ki, 4 * draw.between(1, 4));
        bool const turned = draw.below(2) == 0, fused = draw.below(4) == 0;
        if (turned) made.reorder(no, mo, ko, mi, ni, ki);
        else if (draw.below(2) == 0) made.reorder(mo, no, ko, ni, ki, mi);
        else made.reorder(mo, no, ko, mi, ni, ki);
        if (fused) made.fuse(turned ? no : mo, turned ? mo : no, both);
        axis const* const levels[] = {fused ? &both : turned ? &no : &mo, fused ? &both : turned ? &mo : &no, &ko};
        auto const stage_in = [&](bool writes, any_tensor const& what, memory const& in, int deepest) {
            writes ? made.cache_write(what, in) : made.cache_read(what, in);
            if (int const level = draw.below(deepest + 1) - 1; level >= 0) {
                made.at(*levels[level]);
                if (int const versions = draw.between(1, 3); versions > 1) made.buffers(versions);
            }
        };
        stage_in(false, A, scratch, 3);
        stage_in(false, B, scratch, 3);
        stage_in(true, C, accumulator, 2);
        made.tensorize(mi, ni, ki, on_what.where->intrinsics[0]);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        if (plan->refusal) {
            ++refused;
            continue;
        }
        auto const at = std::make_unique<plan_value>(open ? plan->at({axis_extent(ir::label("m"), rows)}) : *plan);
        INFO("seed " << seed << " on " << on_what.where - &in_small_pieces << ", m " << rows << ", n " << columns << ", k " << depth);
        emulator on(*on_what.where, *on_what.semantics);
        halide::jit_kernel kernel(*plan, &on);
        kernels::operand_data const data = kernels::random_operands(*at, seed);
        kernel.run(data.inputs, data.output);
        CHECK(on.error() == "");
        ir::prediction const found = ir::predict(*at);
        CHECK(found.resolved);
        CHECK(on.cycles() == found.cycles);
        CHECK(found.cycles == ir::predict(*at, ir::visiting::everything).cycles);
        gained += found.cycles < at->total_cycles ? 1 : 0;
        ++run;
    }
    CHECK(refused < run);
    CHECK(gained > run / 2);
}
