#include <tilewright/report/timeline.hpp>

#include "driven.hpp"

using namespace driven;

namespace {

/// 120 cycles: two loads, a wait, an intrinsic on an engine, code, a store.
void some_work(device& d) {
    CHECK(d.start_load(0, 0, 120, 0, 2) == 0);                                     // [0, 30), complete at 40
    CHECK(d.start_load(0, 128, 80, 1, 3) == 0);                                    // [30, 50), complete at 60
    CHECK(d.code(15) == 0);                                                        // [0, 15)
    CHECK(d.wait(device::on_loader, 1) == 0);                                      // [15, 60)
    CHECK(d.compute(device::at_add, d.at(spad, 0), d.at(spad, 128), 2, 3) == 0);   // [60, 65)
    CHECK(d.start_store(128, 0, 180, 0, 3) == 0);                                  // [65, 110), complete at 120
    CHECK(d.compute(device::at_copy, d.at(spad, 0), d.at(spad, 400), 2, 3) == 0);  // no engine: [65, 70)
    CHECK(d.wait(device::on_channel, 0) == 0);
    CHECK(d.end() == 0);
}
plan_value named() { return plan_with({staged("x", 0, {128}, 1), staged("y", 128, {384}, 2)}); }

}  // namespace

TEST_CASE("a timeline has a lane for every engine and for the core") {
    device d;
    d.on.record(named());
    some_work(d);
    CHECK(timeline(d.on, 12) ==
          "120 cycles, 10 a column\n"
          "loader   |AAABB.......|  41.7 %\n"
          "channel  |......CCCCC.|  37.5 %\n"
          "array    |......D.....|   4.2 %\n"
          "host     |EE----F-----|  16.7 %\n"
          "\n"
          "A load x   B load y   C store y   D add   E code   F copy\n"
          "host waits: 50 cycles for channel, 45 cycles for loader\n");
    // Columns of 17 and 18 cycles
    CHECK(timeline(d.on, 7) ==
          "120 cycles, 7 columns\n"
          "loader   |AAB....|  41.7 %\n"
          "channel  |...:CC:|  37.5 %\n"
          "array    |...:...|   4.2 %\n"
          "host     |E------|  16.7 %\n"
          "\n"
          "A load x   B load y   C store y   D add   E code   F copy\n"
          "host waits: 50 cycles for channel, 45 cycles for loader\n");
}
TEST_CASE("a timeline has no more columns than cycles, and no buffers without a plan") {
    device d;
    CHECK(timeline(d.on) == "nothing was recorded: call record() on the emulator before the kernel\n");
    d.on.record();
    CHECK(d.code(3) == 0);
    CHECK(d.start_load(0, 0, 4, -1, 2) == 0);
    CHECK(timeline(d.on) ==
          "14 cycles, 1 a column\n"
          "loader   |...A..........|   7.1 %\n"
          "channel  |..............|   0.0 %\n"
          "array    |..............|   0.0 %\n"
          "host     |BBB...........|  21.4 %\n"
          "\n"
          "A load   B code\n");
    CHECK(d.on.recorded().size() == 2);
    d.on.reset();
    CHECK(d.on.recorded().empty());
    d.on.record(false);
    CHECK(d.code(3) == 0);
    CHECK(d.on.recorded().empty());
}
TEST_CASE("a trace has a thread for every engine and for the core") {
    device d;
    d.on.record(named());
    CHECK(d.start_load(0, 0, 120, 7, 2) == 0);
    CHECK(d.wait(device::on_loader, 7) == 0);
    auto const thread = [](int number, std::string const& name) {
        return R"({"name":"thread_name","ph":"M","pid":1,"tid":)" + std::to_string(number) + R"(,"args":{"name":")" + name + R"("}},)";
    };
    CHECK(chrome_trace(d.on) == R"({"displayTimeUnit":"ms","traceEvents":[)" + thread(1, "loader") + thread(2, "channel") +
                                    thread(3, "array") + thread(4, "host") +
                                    R"({"name":"load x","cat":"transfer","ph":"X","pid":1,"tid":1,"ts":0,"dur":30,)"
                                    R"("args":{"complete":40,"bytes":120,"buffer":"x","tag":7}},)"
                                    R"({"name":"wait for loader","cat":"wait","ph":"X","pid":1,"tid":4,"ts":0,"dur":40,)"
                                    R"("args":{"complete":40,"bytes":0,"buffer":"","tag":-1}}]})"
                                    "\n");
}

namespace {

/// Two cores with a DMA engine each: a load of 10 cycles a 40 bytes, barriers of 5 cycles.
namespace pair {
using namespace tilewright;
inline constexpr core worker{.name = "worker", .count = 2, .barrier_cycles = 5};
inline constexpr memory dram{.name = "dram"}, near{.name = "near", .capacity = 1_KiB, .per_core = true};
inline constexpr engine dma{.name = "dma", .per_core = true};
inline constexpr auto load = transfer("load", dram, near).on(dma).asynchronous().cost({.bytes_per_cycle = 4});
inline constexpr auto both = machine("both", worker, dram, near, dma, load);
}  // namespace pair

/// Core 0 loads 40 bytes and waits for them, core 1 computes 30 cycles; both meet, and core 1 computes 5 more.
int some_of(core_team& team, int core, std::vector<std::uint8_t>& from) {
    emulator* const on = &team.on(core);
    if (core == 0) {
        std::int64_t shape[] = {40, 1, 1, 0, 0, -1, -1};
        if (int const code = tilewright_emulate_transfer(on, 0, from.data(), on->base(pair::near), shape)) return code;
        if (int const code = tilewright_emulate_wait(on, 0, 0)) return code;
    } else if (int const code = tilewright_emulate_code(on, 30, 1, 0, 0, 0, 0, 0, 0)) {
        return code;
    }
    if (int const code = tilewright_emulate_barrier(on)) return code;
    if (core == 1) {
        if (int const code = tilewright_emulate_code(on, 5, 1, 0, 0, 0, 0, 0, 0)) return code;
    }
    return tilewright_emulate_end(on);
}

}  // namespace

TEST_CASE("a timeline of several cores has one axis of time, and says what each waits for") {
    for (interleaving how : {interleaving::first, interleaving::last, interleaving::threads}) {
        core_team team(pair::both, semantics_of<pair::both>);
        team.use(how);
        CHECK(timeline(team) == "nothing was recorded: call record() on the team before the kernel\n");
        team.record();
        std::vector<std::uint8_t> from(40);
        REQUIRE(team.run([&](int core) { return some_of(team, core, from); }) == 0);
        CHECK(timeline(team, 8) ==
              "40 cycles, 5 a column\n"
              "0 dma     |AA......|  25.0 %\n"
              "0 worker  |-------.|   0.0 %\n"
              "1 worker  |BBBBBB-B|  87.5 %\n"
              "\n"
              "A load   B code\n"
              "0 worker waits: 25 cycles for barrier, 10 cycles for dma\n"
              "1 worker waits: 5 cycles for barrier\n");
        auto const process = [](int number, std::string const& name) {
            return R"({"name":"process_name","ph":"M","pid":)" + std::to_string(number) + R"(,"args":{"name":")" + name + R"("}})";
        };
        std::string const trace = chrome_trace(team);
        CAPTURE(trace);
        CHECK(trace.find(process(1, "core 0")) != std::string::npos);
        CHECK(trace.find(process(2, "core 1")) != std::string::npos);
        CHECK(trace.find(R"({"name":"wait for barrier","cat":"wait","ph":"X","pid":2,"tid":2,"ts":30,"dur":5,)") != std::string::npos);
    }
}
