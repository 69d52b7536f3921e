#include "kernels/channels.hpp"

#include <tilewright/plan/planner.hpp>
#include <tilewright/report/timeline.hpp>

#include "catch.hpp"
#include "fuzz/drawing.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/run_kernel.hpp"

// Transfers that are dealt out to the channels of one engine.

using namespace tilewright;
using channels::dsp_with, channels::l1, channels::l2;

namespace {

constexpr machine one = dsp_with(1, completion::by_channel), two = dsp_with(2, completion::by_channel),
                  three = dsp_with(3, completion::by_transfer), four = dsp_with(4, completion::by_engine),
                  shallow = dsp_with(2, completion::by_engine, 1), eight = dsp_with(8, completion::by_channel, 2);
struct subject {
    machine const* where;
    semantics_table const* semantics;
};
constexpr subject subjects[] = {{&one, &semantics_of<one>},   {&two, &semantics_of<two>},         {&three, &semantics_of<three>},
                                {&four, &semantics_of<four>}, {&shallow, &semantics_of<shallow>}, {&eight, &semantics_of<eight>}};

using accelerators::ordered;
constexpr machine array_by_core = accelerators::accelerator(ordered::by_core, 4, true, {}, 3),
                  array_by_core_for_all = accelerators::accelerator(ordered::by_core_for_all, 16, true, {}, 2),
                  array_by_interlocks = accelerators::accelerator(ordered::by_interlocks, 5, true, {}, 2);
constexpr subject arrays[] = {{&array_by_core, &semantics_of<array_by_core>},
                              {&array_by_core_for_all, &semantics_of<array_by_core_for_all>},
                              {&array_by_interlocks, &semantics_of<array_by_interlocks>}};

constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, eo{"eo"}, ei{"ei"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};
constexpr tensor<std::uint8_t> x{"x"}, y{"y"};

/// The channel of every version of the ring of a buffer, and whether it stores.
std::vector<int> channels_of(plan_value const& plan, ir::label const& tensor, bool stores) {
    std::vector<int> found;
    for (int at = 0; at < plan.rings.size(); ++at) {
        ir::ring const& r = plan.rings[at];
        if (plan.buffers[r.buffer].tensor != tensor || r.stores != stores) continue;
        for (int version = 0; version < r.versions; ++version) found.push_back(plan.channel_of(r, version));
    }
    return found;
}

}  // namespace

TEST_CASE("versions are dealt out to channels, each buffer behind the one before, from the outer loops inwards") {
    axis const m{"m", 24}, n{"n", 16}, k{"k", 16};
    auto const product = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    auto const made_on = [&](machine const& where) {
        schedule made(product, where);
        made.tile(m, n, mo, no, mi, ni, 8, 8).split(k, ko, ki, 4).reorder(mo, no, ko, mi, ki, ni);
        made.cache_read(A, l1).at(ko).buffers(2).cache_read(B, l1).at(ko).buffers(3).cache_write(C, l1).at(no).buffers(2);
        return std::make_unique<plan_value>(make_plan(made));
    };
    auto const by_four = made_on(four), by_three = made_on(three), by_one = made_on(one);
    REQUIRE(!by_four->refusal);
    CHECK(channels_of(*by_four, "A", false) == std::vector{2, 3});
    CHECK(channels_of(*by_four, "B", false) == std::vector{0, 1, 2});
    CHECK(channels_of(*by_four, "C", true) == std::vector{0, 1});
    CHECK(channels_of(*by_three, "B", false) == std::vector{1, 2, 0});
    CHECK(channels_of(*by_three, "C", true) == std::vector{0, 1});
    CHECK(channels_of(*by_one, "B", false) == std::vector{0, 0, 0});
}
TEST_CASE("each channel moves bytes at its own rate, beside the others") {
    // 8 tiles of 64 bytes: a load takes its channel 300 cycles and is there 20 later, the core copies a tile in 128.
    transfer_cost const slow{.latency = 20, .setup = 236, .bytes_per_cycle = 1};
    machine const by_one = dsp_with(1, completion::by_channel, 16, slow), by_two = dsp_with(2, completion::by_transfer, 16, slow),
                  by_four = dsp_with(4, completion::by_engine, 16, slow);
    axis const e{"e", 512};
    auto const copied = y(e) = x(e);
    auto const plan_on = [&](machine const& where, int versions) {
        schedule made(copied, where);
        made.split(e, eo, ei, 64).cache_read(x, l1).at(eo).buffers(versions);
        auto plan = std::make_unique<plan_value>(make_plan(made));
        CHECK(predict(*plan).cycles == predict(*plan, ir::visiting::everything).cycles);
        return plan;
    };
    // Each load is waited for at once: one channel does them all.
    for (machine const* where : {&by_one, &by_two, &by_four}) CHECK(plan_on(*where, 1)->cycles() == 8 * (320 + 128));
    // One load behind the other, then the last tile.
    CHECK(plan_on(by_one, 2)->cycles() == 8 * 300 + 20 + 128);
    CHECK(plan_on(by_one, 4)->cycles() == 8 * 300 + 20 + 128);
    // Two loads side by side: the one for step 2 begins behind tile 0, at 448, and so on every other tile.
    CHECK(plan_on(by_two, 2)->cycles() == 3 * (320 + 128) + 320 + 2 * 128);
    // The first four loads side by side, then the core is never short.
    CHECK(plan_on(by_four, 4)->cycles() == 320 + 8 * 128);
    CHECK(plan_on(by_one, 2)->bound() == 2400);
    CHECK(plan_on(by_two, 2)->bound() == 1200);
    CHECK(plan_on(by_four, 4)->bound() == 8 * 128);
    CHECK(plan_on(by_four, 4)->busy(by_four.engines[0]) == 2400);
}
TEST_CASE("a call that fails leaves no channel at work") {
    axis const e{"e", 500};
    auto const tripled = y(e) = x(e) + x(e) + x(e);
    for (subject const& on_what : subjects) {
        INFO(on_what.where->engines[0].channels << " channels");
        schedule made(tripled, *on_what.where);
        made.split(e, eo, ei, 64).cache_read(x, l1).at(eo).buffers(3).cache_write(y, l1).at(eo).buffers(4);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        emulator on(*on_what.where, *on_what.semantics);
        kernels::check_kernel(*plan, on);
        halide::jit_kernel kernel(*plan, &on);
        kernels::operand_data const data = kernels::random_operands(*plan, 5);
        on.use(progress::latest);
        for (int failing = 1; failing <= 16; ++failing) {
            INFO("call " << failing);
            on.reset();
            on.fail_transfer(failing, 77);
            CHECK_THROWS(kernels::result_of(kernel, data, {}));
            CHECK(on.error_code() == 77);
            CHECK(on.in_flight() == 0);
        }
    }
}
TEST_CASE("the timeline has a lane for each channel") {
    axis const e{"e", 512};
    auto const copied = y(e) = x(e);
    schedule made(copied, two);
    made.split(e, eo, ei, 64).cache_read(x, l1).at(eo).buffers(2);
    auto const plan = std::make_unique<plan_value>(make_plan(made));
    emulator on(two, semantics_of<two>);
    halide::jit_kernel kernel(*plan, &on);
    on.record(*plan);
    kernels::operand_data const data = kernels::random_operands(*plan, 5);
    kernels::result_of(kernel, data, {});
    std::string const drawn = timeline(on);
    INFO(drawn);
    CHECK(drawn.find("\ndma.0  |AA:") != std::string::npos);
    CHECK(drawn.find("\ndma.1  |AA:") != std::string::npos);
    std::string const trace = chrome_trace(on);
    CHECK(trace.find("dma.1") != std::string::npos);
    CHECK(std::count_if(on.recorded().begin(), on.recorded().end(), [](recorded_job const& job) { return job.channel == 1; }) == 4);
}
TEST_CASE("products with one to four versions on one to eight channels", "[long]") {
    axis const m{"m", 40}, n{"n", 24}, k{"k", 20};
    auto const product = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    for (subject const& on_what : subjects) {
        for (int versions : {1, 2, 3, 4}) {
            INFO(on_what.where->engines[0].channels << " channels, " << versions << " versions");
            schedule made(product, *on_what.where);
            made.tile(m, n, mo, no, mi, ni, 8, 8).split(k, ko, ki, 4).reorder(mo, no, ko, mi, ki, ni);
            made.cache_read(A, l1).at(ko).buffers(versions).cache_read(B, l1).at(ko).buffers(versions);
            made.cache_write(C, l1).at(no).buffers(versions);
            auto const plan = std::make_unique<plan_value>(make_plan(made));
            emulator on(*on_what.where, *on_what.semantics);
            kernels::check_kernel(*plan, on);
            CHECK(predict(*plan).cycles == predict(*plan, ir::visiting::everything).cycles);
        }
    }
}
TEST_CASE("instructions that run aside of the core, between loads and stores on channels", "[long]") {
    using namespace accelerators;
    axis const m{"m", 32}, n{"n", 24}, k{"k", 24};
    auto const term = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    auto const product = C(m, n) += term;
    auto const more = C(m, n) = C(m, n) + sum(k, term);
    for (subject const& on_what : arrays) {
        for (int versions : {1, 2, 3}) {
            for (bool const continued : {false, true}) {
                INFO(on_what.where->engines[0].channels << " channels, " << versions << " versions" << (continued ? ", continued" : ""));
                schedule made(continued ? more.view() : product.view(), *on_what.where);
                made.tile(m, n, mo, no, mi, ni, 16, 8).split(k, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki);
                made.cache_read(A, inputs).at(ko).buffers(versions).cache_read(B, weights).at(ko).buffers(versions);
                made.cache_write(C, sums).at(no).buffers(versions).tensorize(mi, ni, ki, on_what.where->intrinsics[0]);
                auto const plan = std::make_unique<plan_value>(make_plan(made));
                emulator on(*on_what.where, *on_what.semantics);
                kernels::check_kernel(*plan, on);
                CHECK(predict(*plan).cycles == predict(*plan, ir::visiting::everything).cycles);
            }
        }
    }
}
TEST_CASE("extents that are left to run time, on channels", "[long]") {
    int open_ones = 0;
    std::uint32_t seed = 40;
    for (int count = 0; count < 8;) {
        drawing draw(seed++);
        subject const& on_what = draw.any_of(subjects);
        axis const m = draw.extent("m", 40), n = draw.extent("n", 30), k = draw.extent("k", 24);
        auto const product = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        schedule made(product, *on_what.where);
        made.tile(m, n, mo, no, mi, ni, draw.between(1, 12), draw.between(1, 12)).split(k, ko, ki, draw.between(1, 9));
        made.reorder(mo, no, ko, mi, ki, ni);
        made.cache_read(A, l1).at(ko).buffers(draw.between(1, 3)).cache_read(B, l1).at(ko).buffers(draw.between(1, 4));
        made.cache_write(C, l1).at(no).buffers(draw.between(1, 3));
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        if (plan->refusal) continue;
        INFO("seed " << seed - 1 << "\n" << draw.text());
        emulator on(*on_what.where, *on_what.semantics);
        kernels::compiled_kernel kernel(*plan, on);
        for (int shapes = 0; shapes < (plan->run_time_extents > 0 ? 3 : 1); ++shapes) {
            std::vector<axis_extent> extents;
            for (axis const* of : {&m, &n, &k}) {
                for (int at = 0; at < plan->run_time_extents; ++at) {
                    if (plan->variables[at].name == of->name) extents.push_back({*of, draw.between(1, draw.most(of->name))});
                }
            }
            auto const at = std::make_unique<plan_value>(extents.empty() ? *plan : plan->at(extents));
            kernel.check(*at);
        }
        open_ones += plan->run_time_extents > 0;
        ++count;
    }
    CHECK(open_ones >= 4);
}
TEST_CASE("drawn products with partial tiles and two levels of memories on channels", "[long]") {
    std::map<machine const*, int> run;
    std::uint32_t seed = 1;
    for (int count = 0; count < 24;) {
        drawing draw(seed++);
        subject const& on_what = draw.any_of(subjects);
        channels::draw_product(draw, *on_what.where, [&](schedule const& made) {
            auto const plan = std::make_unique<plan_value>(make_plan(made));
            if (plan->refusal) return;
            INFO("seed " << seed - 1);
            emulator on(*on_what.where, *on_what.semantics);
            kernels::check_kernel(*plan, on);
            CHECK(predict(*plan).cycles == predict(*plan, ir::visiting::everything).cycles);
            ++run[on_what.where], ++count;
        });
    }
    CHECK(run.size() == std::size(subjects));
}
TEST_CASE("channels meet in a bank with one port where one queue would not") {
    // The next version of A in `outer` is loaded while parts of this one go on into `inner`.
    axis const m{"m", 32}, j{"j", 16};
    constexpr tensor<std::int32_t> s{"s"};
    auto const sums = s(m) += cast<std::int32_t>(x(m, j));
    auto const check = [&](int channels, int banks, int ahead) {
        memory const outer{.name = "outer", .base = 0x4300'0000, .capacity = 4_KiB, .banks = banks, .ports = 1};
        machine where("where", channels::dram, outer, l1);
        auto const dma = engine{.name = "dma", .channels = channels, .completes = completion::by_channel};
        where.add(dma);
        transfer get("get", channels::dram, outer), up("up", outer, l1);
        where.add(get.on(dma).asynchronous().dimensions(2).cost({.latency = 30, .bytes_per_cycle = 4}));
        where.add(up.on(dma).asynchronous().dimensions(2).cost({.latency = 3, .bytes_per_cycle = 8}));
        schedule made(sums, where);
        made.split(m, mo, mi, 8).split(j, "jo", "ji", 4).reorder(mo, "jo", mi, "ji");
        made.cache_read(x, outer).at(mo).buffers(2).cache_read(x, l1).at("jo").buffers(2).prefetch(ahead);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        if (plan->refusal) return plan->refusal.kind;
        emulator on(where, {});
        kernels::check_kernel(*plan, on);
        return verdict_kind::none;
    };
    CHECK(check(1, 1, 1) == verdict_kind::none);
    CHECK(check(3, 1, 0) == verdict_kind::bank_conflict);
    CHECK(check(3, 2, 0) == verdict_kind::none);
    // Two parts leave a bank by two channels.
    CHECK(check(3, 2, 1) == verdict_kind::bank_conflict);
}
