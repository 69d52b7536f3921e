#include "driven.hpp"

using namespace driven;

TEST_CASE("blocking calls pass one after the other, so elapsed and serial cycles are equal") {
    device d;
    CHECK(d.start_load(0, 0, 64, -1) == 0);  // 64 / 4 + 10
    CHECK(d.on.cycles() == 26);
    CHECK(d.move(device::at_plain, d.A.data(), d.at(spad, 0), 6) == 0);  // no engine: 2 + ceil(6 / 4) + 3
    CHECK(d.on.cycles() == 33);
    CHECK(d.compute(device::at_add, d.at(spad, 0), d.at(spad, 64)) == 0);
    CHECK(d.code(7) == 0);
    CHECK(d.end() == 0);
    CHECK(d.on.cycles() == 26 + 7 + 5 + 7);
    CHECK(d.on.serial_cycles() == d.on.cycles());
    CHECK(d.on.busy(loader) == 16);
    CHECK(d.on.busy(array) == 5);
    CHECK_THROWS_AS(d.on.busy(engine{"other"}), std::invalid_argument);
}
TEST_CASE("an asynchronous transfer works beside the core until it is waited for") {
    device d;
    CHECK(d.start_load(0, 0, 64, 0) == 0);    // occupies [0, 16), complete at 26
    CHECK(d.start_load(64, 64, 64, 1) == 0);  // [16, 32), complete at 42
    CHECK(d.code(20) == 0);
    CHECK(d.on.cycles() == 42);
    CHECK(d.wait(device::on_loader, 0) == 0);
    CHECK(d.compute(device::at_add, d.at(spad, 0), d.at(spad, 128)) == 0);  // [26, 31)
    CHECK(d.wait(device::on_loader, 1) == 0);
    CHECK(d.code(1) == 0);
    CHECK(d.end() == 0);
    CHECK(d.on.cycles() == 43);
    CHECK(d.on.serial_cycles() == 26 + 26 + 20 + 5 + 1);
    CHECK(d.on.counted(load).cycles == 52);
    CHECK(d.on.busy(loader) == 32);
}
TEST_CASE("a wait for a tag covers what was started before it; for the last of several; for one that never was, nothing") {
    device d;
    CHECK(d.wait(device::on_loader, 5) == 0);
    CHECK(d.on.cycles() == 0);
    CHECK(d.start_load(0, 0, 4, 5) == 0);   // complete at 11
    CHECK(d.start_load(0, 8, 4, 6) == 0);   // 12
    CHECK(d.start_load(0, 16, 4, 5) == 0);  // 13
    CHECK(d.start_load(0, 24, 4, 7) == 0);  // 14
    CHECK(d.wait(device::on_loader, 5) == 0);
    CHECK(d.code(10) == 0);  // from 13 on
    CHECK(d.on.cycles() == 23);
    CHECK(d.end() == emulation_not_waited);
    CHECK(d.on.error() == "the kernel ended without waiting for jobs: 1 of loader, the last load, tag 7");
}
TEST_CASE("a channel is waited for by the jobs that may be left") {
    device d;
    CHECK(d.start_store(0, 0, 40, 0) == 0);    // [0, 10), complete at 20
    CHECK(d.start_store(40, 40, 40, 0) == 0);  // [10, 20), complete at 30
    CHECK(d.wait(device::on_channel, 2) == 0);
    CHECK(d.code(1) == 0);  // [0, 1)
    CHECK(d.wait(device::on_channel, 1) == 0);
    CHECK(d.code(1) == 0);  // [20, 21)
    CHECK(d.on.cycles() == 30);
    CHECK(d.wait(device::on_channel, 0) == 0);
    CHECK(d.code(1) == 0);  // [30, 31)
    CHECK(d.end() == 0);
    CHECK(d.on.cycles() == 31);
}
TEST_CASE("a full queue holds the core up") {
    device d;
    for (int at = 0; at < 2; ++at) CHECK(d.start_store(0, 0, 40, at) == 0);  // complete at 20 and 30
    CHECK(d.start_store(0, 0, 40, 2) == 0);                                  // depth 2: the core is held until 20; complete at 40
    CHECK(d.code(1) == 0);                                                   // [20, 21)
    CHECK(d.wait(device::on_channel, 1) == 0);                               // until 30
    CHECK(d.code(20) == 0);
    CHECK(d.on.cycles() == 50);
    CHECK(d.wait(device::on_channel, 0) == 0);
    CHECK(d.on.cycles() == 50);
}
TEST_CASE("a queue takes as many jobs as it is deep") {
    device d;
    for (int at = 0; at < 2; ++at) CHECK(d.start_store(0, 0, 40, at) == 0);  // complete at 20 and 30
    CHECK(d.code(25) == 0);                                                  // the core is not held
    CHECK(d.on.cycles() == 30);
    d.on.reset();
    for (int at = 0; at < 3; ++at) CHECK(d.start_store(0, 0, 40, at) == 0);
    CHECK(d.code(25) == 0);  // [20, 45)
    CHECK(d.on.cycles() == 45);
    CHECK(d.wait(device::on_channel, 0) == 0);
    CHECK(d.end() == 0);
}
TEST_CASE("what blocks stands in the queue of its engine like everything else") {
    device d;
    CHECK(d.start_load(0, 0, 64, 0) == 0);                                    // [0, 16), complete at 26
    CHECK(d.compute(device::at_behind, d.at(spad, 0), d.at(spad, 64)) == 0);  // [16, 21), not complete before the load
    CHECK(d.on.cycles() == 26);
    CHECK(std::memcmp(d.at(spad, 64), d.A.data(), 4) == 0);
    CHECK(d.end() == 0);  // the load is known to be complete
    d.on.reset();
    CHECK(d.on.cycles() == 0);
    CHECK(d.start_load(0, 0, 64, 0) == 0);
    CHECK(d.start_load(0, 0, 4, -1) == 0);  // [16, 17), complete at 27
    CHECK(d.on.cycles() == 27);
    CHECK(d.end() == 0);
}
TEST_CASE("calls that no machine would take are refused") {
    device d;
    CHECK(d.wait(3, 0) == emulation_unknown_part);
    CHECK(d.on.error() == "a wait for an engine that the machine does not have");
    CHECK(d.move(device::at_plain, d.A.data(), d.at(spad, 0), 4, 0) == emulation_illegal_transfer);  // it only blocks
}
TEST_CASE("a transfer fails on demand: it is not started, and what was started before goes on") {
    device d;
    d.on.use(progress::latest);
    d.on.fail_transfer(2, 77);
    CHECK(d.start_load(0, 0, 4, 0) == 0);
    CHECK(d.start_load(0, 8, 4, 1) == 77);
    CHECK(d.on.error() == "load was made to fail with 77");
    CHECK(d.on.counted(load).calls == 1);
    CHECK(d.on.in_flight() == 1);
    CHECK(d.wait(device::on_loader, 0) == 0);
    CHECK(d.on.in_flight() == 0);
    CHECK(*d.at(spad, 0) == d.A[0]);
    CHECK(*d.at(spad, 8) == 0);
    CHECK(d.end() == 0);
    CHECK(d.start_load(0, 8, 4, 1) == 0);
    CHECK(d.wait(device::on_loader, 1) == 0);
    CHECK(*d.at(spad, 8) == d.A[0]);
}
