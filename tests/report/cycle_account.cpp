#include <tilewright/report/cycle_account.hpp>

#include <array>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"
#include "emulate/page.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/caches.hpp"
#include "kernels/cores.hpp"
#include "kernels/features.hpp"
#include "kernels/multicast.hpp"
#include "kernels/schedules.hpp"
#include "kernels/unlike_cores.hpp"
#include "report/drawn.hpp"
#include "report/reference.hpp"

using namespace tilewright;
using namespace tilewright::reports;

namespace {

/// Core, channel, begin and end of each stretch, sorted.
std::vector<std::array<std::int64_t, 5>> stretches_of(noted_timeline const& of) {
    std::vector<std::array<std::int64_t, 5>> all;
    for (noted_time const& one : of.all) all.push_back({one.core, one.lane, one.begin, one.end, one.cycle});
    std::sort(all.begin(), all.end());
    return all;
}

/// Nothing is lost, and nothing counted twice.
void check_sums(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!plan->refusal);
    cycle_accounts const all = accounts_of(*plan);
    CAPTURE(plan->where->name.str(), cycle_account(*plan));
    REQUIRE(all.resolved);
    CHECK(plan->cycles() == all.cycles);
    REQUIRE(std::ssize(all.cores) == plan->cores);
    for (core_account const& one : all.cores) {
        std::int64_t sum = 0;
        for (auto const& [what, cycles] : one.core) {
            CHECK(cycles > 0);
            sum += cycles;
        }
        CHECK(sum == all.cycles);
        for (channel_account const& c : one.channels) {
            for (spent_cycles const& idle : {c.instead, c.held_by}) {
                for (auto const& [what, cycles] : idle) CHECK(cycles >= 0);
            }
            CHECK(std::min(c.busy, c.after) >= 0);
            CHECK(c.busy + c.not_asked() + c.held_back() + c.after == all.cycles);
        }
    }
    // Skipping what repeats is only faster; where nothing is left out, the timeline is the same, too.
    constexpr std::size_t many = 1'000'000;
    cycle_accounts const each = accounts_of(*plan, many, ir::visiting::everything), drawn = accounts_of(*plan, many);
    CHECK(each.timeline.breaks.empty());
    if (drawn.timeline.breaks.empty()) {
        CHECK(stretches_of(drawn.timeline) == stretches_of(each.timeline));
    }
    for (std::size_t core = 0; core < all.cores.size(); ++core) {
        for (int lane = 0; lane < plan->where->lane_count(); ++lane) {
            std::int64_t held = 0;
            for (noted_time const& one : each.timeline.all) {
                bool const here = one.core == static_cast<int>(core) && one.lane == lane;
                if (here && one.is == noted_time::kind::held_back) held += one.end - one.begin;
            }
            CHECK(held == each.cores[core].channels[static_cast<std::size_t>(lane)].held_back());
        }
    }
    for (std::size_t core = 0; core < all.cores.size(); ++core) {
        CHECK(all.cores[core].core == each.cores[core].core);
        for (std::size_t lane = 0; lane < all.cores[core].channels.size(); ++lane) {
            channel_account const &skipped = all.cores[core].channels[lane], &visited = each.cores[core].channels[lane];
            CHECK(skipped.busy == visited.busy);
            CHECK(skipped.held_by == visited.held_by);
            CHECK(skipped.after == visited.after);
            CHECK(skipped.instead == visited.instead);
        }
    }
    // What an engine of one core works is what the plan counts for it.
    for (int at = 0; at < plan->where->engines.size() && plan->cores == 1; ++at) {
        std::int64_t busy = 0;
        for (int lane = plan->where->first_lane(at); lane < plan->where->first_lane(at + 1); ++lane)
            busy += all.cores[0].channels[static_cast<std::size_t>(lane)].busy;
        CHECK(busy == plan->busy_cycles(at));
    }
}

}  // namespace

TEST_CASE("the cycles of cores and engines add up") {
    for (schedule const* of : {&lesson_matmul::matmul_on_npu, &kernels::matmul_nt_on_dsp, &kernels::matmul_tn_on_dsp, &kernels::blur_on_dsp,
                               &kernels::row_max_on_dsp, &features::matmul_by_dots, &features::matmul_by_mac, &features::widened_by_dma})
        check_sums(*of);
}
TEST_CASE("so do those of several cores, with barriers, signals, multicasts and caches") {
    for (auto const& list :
         {cached_cores::with_caches(), cores_of_dsp::with_barriers(), cores_of_dsp::with_signals(), cores_of_dsp::with_multicasts(),
          unlike_cores::in_shares(), unlike_cores::by_stages(), unlike_cores::with_multicasts()}) {
        for (schedule const& of : list) check_sums(of);
    }
}

// Each of 512 tiles takes 2 x 320 cycles to load and 1,024 to multiply; each of 64 sums 1,088 to store, 64 of them after the storer is
// free.
TEST_CASE("the account of lesson 02, by hand") {
    std::string const text = cycle_account(plan<lesson_matmul::matmul_on_npu>);
    auto const has = [&](std::string const& line) {
        CAPTURE(text, line);
        CHECK(text.find(line + "\n") != std::string::npos);
    };
    has("host    524,288  56.9 %  waits until array has done mac16: asynchronous(), if the hardware goes on by itself");
    has("host    163,840  17.8 %  waits until mvin has filled B.spad: asynchronous() and buffers(2), if the hardware goes on by itself");
    has("storer  524,288  56.9 %  not asked, while host waits until array has done mac16: asynchronous(), if the hardware goes on by "
        "itself");
    has("storer   65,536   7.1 %  busy");
    has("storer       64   0.0 %  after its last job");
    has("array    68,544   7.4 %  not asked, while host waits until mvout has filled C: asynchronous() and buffers(2), if the hardware "
        "goes on by "
        "itself");
    CHECK(text.rfind("921,600 cycles\nhost    524,288", 0) == 0);
}
TEST_CASE("the worst wait is the longest that something would help") {
    plan_value const& plan = tilewright::plan<lesson_matmul::matmul_on_npu>;
    CHECK(worst_wait(plan, accounts_of(plan)) ==
          "for 56.9 % of the cycles, host waits until array has done mac16; what would help: asynchronous(), if the hardware goes on by "
          "itself");
    CHECK(worst_wait(plan, {}).empty());
}
TEST_CASE("what would help depends on the versions that a buffer has") {
    std::string const text = cycle_account(make_plan(emulator_page::matmul_on_npu));
    CAPTURE(text);
    CHECK(text.find("host      960  35.7 %  waits until C.acc is stored: buffers(2)\n") != std::string::npos);
    CHECK(text.find("host      192   7.1 %  waits for B.spad: a longer prefetch, with more versions\n") != std::string::npos);
    CHECK(text.find("storer     64   2.4 %  after its last job\n") != std::string::npos);
    schedule const wrong = schedule(lesson_matmul::matmul, lesson_matmul::npu).split(lesson_matmul::m, "a", "b", 0);
    CHECK(cycle_account(make_plan(wrong)).rfind("refused: `", 0) == 0);
}
TEST_CASE("loops that stay code cost most, but are no wait") {
    auto const plan = std::make_unique<plan_value>(make_plan(kernels::blur_on_dsp));
    cycle_accounts const all = accounts_of(*plan);
    std::string const most = costliest(*plan, all), wait = worst_wait(*plan, all);
    CAPTURE(most, wait);
    CHECK(most.find(" % runs the loops of ") != std::string::npos);
    CHECK(wait.find("runs the loops") == std::string::npos);
}
TEST_CASE("a wait for a unit that still reads a result says so, and what helps") {
    namespace on = reference_examples;
    auto const of = [](int versions) {
        return make_plan(schedule(on::rectified, on::units)
                             .tile(on::m, on::n, on::mo, on::no, on::mi, on::ni, 4, 4)
                             .tensorize(on::mi, on::ni, on::rectify)
                             .compute_at(on::P, on::no)
                             .stage(on::P)
                             .store_in(on::P, on::acc)
                             .buffers(versions)
                             .tensorize(on::m, on::n, on::k, on::multiply));
    };
    plan_value const one = of(1), two = of(2);
    REQUIRE_FALSE((one.refusal || two.refusal));
    CHECK(cycle_account(one).find("waits until vectors has read P.acc: buffers(2)\n") != std::string::npos);
    // Which another unit computes meanwhile.
    CHECK(cycle_account(two).find("has read P.acc") == std::string::npos);
    CHECK(cycle_account(one).find("waits for array\n") != std::string::npos);
}

TEST_CASE("what holds an engine back, and what a core waits for, is named with what would help") {
    using namespace accelerators;
    static constexpr machine by_tokens = accelerator(ordered::by_tokens, 16), by_interlocks = accelerator(ordered::by_interlocks, 16),
                             flat = accelerator(ordered::by_core, 1);
    auto const of = [](machine const& where, int versions) {
        axis const m{"m", 64}, n{"n", 16}, k{"k", 16}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
        tensor<std::int8_t> const A{"A"}, B{"B"};
        tensor<std::int32_t> const C{"C"};
        computation const product = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        schedule s(product, where);
        s.tile(m, n, mo, no, mi, ni, 8, 8).split(k, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki);
        s.cache_read(A, inputs).at(ko).buffers(versions).cache_read(B, weights).at(ko).buffers(versions).cache_write(C, sums).at(no);
        s.buffers(versions).tensorize(mi, ni, ki, where.intrinsics[0]);
        check_sums(s);
        return cycle_account(make_plan(s));
    };
    auto const has = [](std::string const& text, std::string const& line) {
        CAPTURE(text, line);
        CHECK(text.find(line + "\n") != std::string::npos);
    };
    std::string const once = of(by_tokens, 1), twice = of(by_tokens, 2), locked = of(by_interlocks, 1), locked_twice = of(by_interlocks, 2),
                      one_at_a_time = of(flat, 1);
    has(once, "load   1,047  55.1 %  held back until array is done with A.inputs: buffers(2)");
    has(once, "store  1,304  68.6 %  held back until array is done with C.sums: buffers(2)");
    has(twice, "load    75   8.1 %  held back until array is done with A.inputs: more versions");
    has(locked, "load   1,047  55.1 %  held back by array, which uses what it touches");
    has(one_at_a_time,
        "load     640  20.0 %  held back by jobs in its queue that are not complete: a deeper queue, if the hardware has one");
    has(one_at_a_time, "host   1,024  32.0 %  waits for room in the queue of load: a deeper queue, if the hardware has one");
    auto const some_has = [](std::vector<schedule> const& list, std::string const& line) {
        bool found = false;
        for (schedule const& s : list) found |= cycle_account(make_plan(s)).find(line + "\n") != std::string::npos;
        CAPTURE(line);
        CHECK(found);
    };
    some_has(cores_of_dsp::with_barriers(), "core 1, dsp        1,543  63.9 %  waits for other cores at barriers: shares of equal size");
    some_has(cores_of_dsp::with_signals(), "core 1, dsp  2,148  49.7 %  waits for core 0: more versions of what it computes");
}

// Four rows of a bias of 16 bytes are put where the sums are, 11 cycles each. One step takes 5 cycles, and the store 64.
TEST_CASE("where a transfer starts a sum, no version would help, but an intrinsic would") {
    auto const of = [](bool asynchronous) {
        memory const dram{.name = "dram"}, acc{.name = "acc", .capacity = 4096};
        engine const dma{"dma"};
        transfer load = transfer("load", dram, acc).on(dma).cost({.setup = 10, .bytes_per_cycle = 16});
        if (asynchronous) load.asynchronous();
        axis const m{"m", 4}, n{"n", 4}, k{"k", 2};
        tensor<std::int32_t> const a{"a"}, b{"b"}, c{"c"}, A{"A"}, B{"B"}, C{"C"}, bias{"bias"};
        auto const mac = intrinsic("mac", c(m, n) += a(m, k) * b(k, n)).reads(a, dram).reads(b, dram).updates(c, acc).cycles(5);
        machine const where("adder", dram, acc, dma, load, transfer("save", acc, dram).dimensions(2), mac);
        computation const biased = C(m, n) = bias(n) + sum(k, A(m, k) * B(k, n));
        schedule const s = schedule(biased, where).cache_write(C, acc).tensorize(m, n, k, mac);
        check_sums(s);
        return cycle_account(make_plan(s));
    };
    std::string const waits = of(true), blocks = of(false),
                      help = ", where a sum starts: an intrinsic that starts it, if the hardware has one\n";
    CAPTURE(waits, blocks);
    CHECK(waits.find("44  38.9 %  waits for C.acc" + help) != std::string::npos);
    CHECK(blocks.find("44  38.9 %  waits until load has filled C.acc" + help) != std::string::npos);
    CHECK(waits.find("buffers(2)") == std::string::npos);
}
