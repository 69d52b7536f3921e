#include <tilewright/bring_up/cost_fit.hpp>

#include <sstream>
#include <tilewright/compute/functions.hpp>

#include "catch.hpp"

// Costs from traces that are written here by a clock that keeps to the declared rule, so that the numbers that come out are known.

using namespace tilewright;
using namespace tilewright::bring_up;

namespace {

constexpr memory ram{.name = "ram"}, tcm{.name = "tcm", .base = 0x1000, .capacity = 64_KiB, .host_visible = false};
constexpr axis i{"i", 32};
constexpr tensor<std::int32_t> x{"x"}, y{"y"};

fitted_cost cost_of(machine const& where, std::vector<core_trace> const& traces, std::string const& parts) {
    for (fitted_cost const& one : cost_fit(where, traces).fit()) {
        if (one.parts == parts) return one;
    }
    FAIL("no part " << parts);
    return {};
}

/// Writes the trace of a core: each call takes as long as is said.
struct writer {
    core_trace trace{};
    std::uint64_t now = 1000;

    void call(std::string const& symbol, std::vector<std::int64_t> const& arguments, std::uint64_t cycles) {
        until(symbol, arguments, now + cycles);
    }
    void until(std::string const& symbol, std::vector<std::int64_t> const& arguments, std::uint64_t end) {
        trace.calls.push_back({symbol, arguments, 0, true, now, end});
        now = end;
    }
};

/// Jobs of an engine with channels, each in order by itself: setup 8 and a cycle for each 4 bytes, and 20 until the bytes are there.
class channels_clock {
  public:
    std::uint64_t start(std::size_t channel, std::int64_t bytes, std::uint64_t now) {
        free_[channel] = std::max(free_[channel], now) + 8 + static_cast<std::uint64_t>((bytes + 3) / 4);
        return free_[channel] + 20;
    }

  private:
    std::array<std::uint64_t, 3> free_{};
};

}  // namespace

TEST_CASE("a step of several calls costs what passes from the first one's begin to the last one's end") {
    transfer load("load", ram, tcm);
    load.calls("set_size", argument::bytes).then("set_places", argument::source, argument::destination).then("go");
    intrinsic twice("twice", y(i) = x(i) * 2);
    twice.reads(x, tcm).writes(y, tcm).up_to(i).cycles(0, per(i));
    twice.calls("set_x", argument::address(x), argument::extent(i)).then("run", argument::address(y));
    machine const where("where", ram, tcm, load, twice);
    writer core;
    for (std::int64_t bytes = 16; bytes <= 512; bytes += 40) {
        core.call("set_size", {bytes}, 5), core.call("set_places", {0, 0x1000}, 7);
        core.call("go", {}, 11 + static_cast<std::uint64_t>((bytes + 7) / 8));
        core.call("go", {}, 900);  // alone it is no step
        std::int64_t const count = bytes / 16;
        core.call("set_x", {0x1000, count}, 3), core.call("run", {0x1000}, 4 + 2 * static_cast<std::uint64_t>(count));
        core.call("set_x", {0x1000, 9}, 777);  // nor is this: nothing runs
    }
    fitted_cost const made = cost_of(where, {core.trace}, "load"), computed = cost_of(where, {core.trace}, "twice");
    CHECK(made.measured == 13);
    CHECK(made.line == ".cost({.latency = 0, .setup = 23, .bytes_per_cycle = 8})");
    CHECK(made.worst == 0);
    CHECK(computed.measured == 13);
    CHECK(computed.line == ".cycles(7, 2 * per(i))");
    CHECK(computed.worst == 0);
    CHECK(computed.declared_worst > 0.5);
    // A call that failed, or that has not returned, tells nothing.
    for (traced_call& one : core.trace.calls) {
        if (one.symbol == "go") one.code = 3;
        if (one.symbol == "run") one.returned = false;
    }
    CHECK(cost_of(where, {core.trace}, "load").measured == 0);
    CHECK(cost_of(where, {core.trace}, "twice").measured == 0);
}
TEST_CASE("jobs of channels are told apart, by transfer and by channel") {
    for (completion const how : {completion::by_transfer, completion::by_channel}) {
        bool const by_tag = how == completion::by_transfer;
        CAPTURE(by_tag);
        engine const dma{.name = "dma", .channels = 3, .completes = how};
        transfer load("load", ram, tcm);
        load.on(dma).asynchronous().calls("start", argument::channel, argument::source, argument::destination, argument::bytes);
        if (by_tag) load.calls("start", argument::channel, argument::tag, argument::source, argument::destination, argument::bytes);
        machine const where("where", ram, tcm, dma, load);
        writer core;
        channels_clock clock;
        std::int64_t tag = 0;
        auto const start = [&](std::int64_t channel, std::int64_t bytes) {
            std::vector<std::int64_t> arguments{channel, 0, 0x1000, bytes};
            if (by_tag) arguments.insert(arguments.begin() + 1, ++tag);
            std::uint64_t const done = clock.start(static_cast<std::size_t>(channel), bytes, core.now);
            core.call("start", arguments, 0);
            return done;
        };
        auto const wait = [&](std::int64_t channel, std::int64_t which, std::int64_t pending, std::uint64_t done) {
            core.until("dma_wait", {channel, by_tag ? which : pending}, std::max(core.now, done));
        };
        for (std::int64_t bytes = 4; bytes <= 400; bytes += 36) {
            for (std::int64_t const channel : {0, 2}) {
                // Alone.
                std::uint64_t const alone = start(channel, bytes);
                wait(channel, tag, 0, alone);
                // In line: the second begins when the first has left, so its latency hides.
                std::uint64_t const first = start(channel, bytes), second = start(channel, 2 * bytes);
                wait(channel, tag - 1, 1, first);
                wait(channel, tag, 0, second);
            }
        }
        fitted_cost const made = cost_of(where, {core.trace}, "load");
        CHECK(made.measured == 72);
        CHECK(made.left_out == 0);
        CHECK(made.line == ".cost({.latency = 20, .setup = 8, .bytes_per_cycle = 4})");
        CHECK(made.worst == 0);
        CHECK(made.remarks == "");
        // While the core waits for one channel, the job of another one completes, nobody knows when.
        std::uint64_t const slow = start(0, 4000), quick = start(1, 4);
        wait(0, tag - 1, 0, slow), wait(1, tag, 0, quick);
        fitted_cost const late = cost_of(where, {core.trace}, "load");
        CHECK(late.left_out == 1);
        CHECK(late.measured == 73);
        CHECK(late.worst == 0);
        // What the core does between a start and its wait takes time, too.
        std::uint64_t const hidden = start(1, 8);
        core.call("something", {}, 5000);
        wait(1, tag, 0, hidden);
        CHECK(cost_of(where, {core.trace}, "load").left_out == 2);
        CHECK(cost_of(where, {core.trace}, "load").worst == 0);
    }
}
TEST_CASE("a wait for several jobs at once says when the last one was complete, and no more") {
    engine const dma{.name = "dma", .completes = completion::by_engine};
    transfer load("load", ram, tcm);
    load.on(dma).asynchronous().calls("start", argument::source, argument::destination, argument::bytes);
    machine const where("where", ram, tcm, dma, load);
    writer core;
    channels_clock clock;
    for (std::int64_t bytes = 4; bytes <= 400; bytes += 36) {
        std::uint64_t done = clock.start(0, bytes, core.now);
        core.call("start", {0, 0x1000, bytes}, 0), core.until("dma_wait", {}, done);
        clock.start(0, bytes, core.now), done = clock.start(0, bytes, core.now);
        core.call("start", {0, 0x1000, bytes}, 0), core.call("start", {0, 0x1000, bytes}, 0), core.until("dma_wait", {}, done);
    }
    fitted_cost const made = cost_of(where, {core.trace}, "load");
    CHECK(made.measured == 12);
    CHECK(made.left_out == 24);
    CHECK(made.line == ".cost({.latency = 0, .setup = 28, .bytes_per_cycle = 4})");
    CHECK(made.worst == 0);
    CHECK(made.remarks == "no two jobs were in line, so latency and setup cannot be told apart: all of it stands as setup");
}
TEST_CASE("traces of several cores are fitted together, each from its own calls") {
    transfer load("load", ram, tcm);
    load.calls("copy", argument::source, argument::destination, argument::bytes);
    machine const where("where", ram, tcm, load);
    writer first, second;
    for (std::int64_t bytes = 1; bytes <= 190; bytes += 21) {
        writer& core = bytes % 2 == 0 ? first : second;
        core.call("copy", {0, 0x1000, bytes}, 6 + static_cast<std::uint64_t>((bytes + 15) / 16));
    }
    second.trace.core = 1;
    fitted_cost const made = cost_of(where, {first.trace, second.trace}, "load");
    CHECK(made.measured == 10);
    CHECK(made.line == ".cost({.latency = 0, .setup = 6, .bytes_per_cycle = 16})");
    CHECK(made.worst == 0);
}
