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
          "channel  |......EEEEE.|  37.5 %\n"
          "array    |......D.....|   4.2 %\n"
          "host     |CC....F.....|  16.7 %\n"
          "\n"
          "A load x   B load y   C code   D add   E store y   F copy\n");
    // Columns of 17 and 18 cycles
    CHECK(timeline(d.on, 7) ==
          "120 cycles, 7 columns\n"
          "loader   |AAB....|  41.7 %\n"
          "channel  |...:EE:|  37.5 %\n"
          "array    |...:...|   4.2 %\n"
          "host     |C..::..|  16.7 %\n"
          "\n"
          "A load x   B load y   C code   D add   E store y   F copy\n");
}
TEST_CASE("a timeline has no more columns than cycles, and no buffers without a plan") {
    device d;
    CHECK(timeline(d.on) == "nothing was recorded: call record() on the emulator before the kernel\n");
    d.on.record();
    CHECK(d.code(3) == 0);
    CHECK(d.start_load(0, 0, 4, -1, 2) == 0);
    CHECK(timeline(d.on) ==
          "14 cycles, 1 a column\n"
          "loader   |...B..........|   7.1 %\n"
          "channel  |..............|   0.0 %\n"
          "array    |..............|   0.0 %\n"
          "host     |AAA...........|  21.4 %\n"
          "\n"
          "A code   B load\n");
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
