#include "driven.hpp"

using namespace driven;

// Buffers 0 and 1 are the arguments A and B.
namespace {

/// Bytes [0, 64) are `x` with 4 versions of 2 x 8 at every 16, [64, 96) is `y`, and `z` shares [80, 96) with it.
plan_value checked_plan() { return plan_with({staged("x", 0, {2, 8}, 3, 4), staged("y", 64, {32}, 5), staged("z", 80, {16}, 6)}); }
enum { x = 2, y = 3, third = 4 };

struct checked_device : device {
    plan_value plan = checked_plan();
    explicit checked_device(progress how = progress::earliest) {
        on.use(how);
        on.check(plan);
    }
};

}  // namespace

TEST_CASE("a correct run passes its checks in every mode") {
    for (progress const how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
        checked_device d(how);
        for (int run = 0; run < 2; ++run) {
            for (int step = 0; step < 8; ++step) {
                CHECK(d.start_load(4 * step, 16 * (step % 4), 4, step % 4, x) == 0);
                CHECK(d.wait(device::on_loader, step % 4) == 0);
                CHECK(d.compute(device::at_copy, d.at(spad, 16 * (step % 4)), d.at(spad, 64), x, y) == 0);
                CHECK(d.compute(device::at_add, d.at(spad, 16 * (step % 4)), d.at(spad, 64), x, y) == 0);
                CHECK(d.start_store(64, 4 * step, 4, 0, y) == 0);
                CHECK(d.wait(device::on_channel, 0) == 0);
            }
            CHECK(d.end() == 0);
        }
        CHECK(d.on.error().empty());
        for (std::size_t at = 0; at < 32; ++at) CHECK(d.B[at] == static_cast<std::uint8_t>(2 * d.A[at]));
    }
}
TEST_CASE("an operand that the result overwrites is where the result is") {
    device d;
    for (int at = 0; at < 8; ++at) *d.at(spad, at) = static_cast<std::uint8_t>(at);
    CHECK(d.compute(device::at_raise, d.at(spad, 0), d.at(spad, 0)) == 0);
    for (int at = 0; at < 8; ++at) CHECK(*d.at(spad, at) == (at < 4 ? 3 * at : at));
    CHECK(d.compute(device::at_raise, d.at(spad, 0), d.at(spad, 4)) == emulation_bad_address);
    CHECK(d.on.error().find("raise: operand a is not in the place of the result") != std::string::npos);
    for (int at = 4; at < 8; ++at) CHECK(*d.at(spad, at) == at);
}
TEST_CASE("what a transfer in flight writes must not be touched, whatever the mode") {
    for (progress const how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
        checked_device d(how);
        CHECK(d.start_load(0, 16, 16, 4, x) == 0);
        CHECK(d.compute(device::at_copy, d.at(spad, 26), d.at(spad, 64), x, y) == emulation_bad_access);
        CHECK(d.on.error() ==
              "copy (operand a) reads spad 0x401a, x version 1 [1, 2] of directive 3: load to x, tag 4 on loader may still "
              "write it");
    }
    checked_device d;
    CHECK(d.start_load(0, 66, 4, 1, y) == 0);
    CHECK(d.move(device::at_plain, d.A.data(), d.at(spad, 64), 8, -1, 0, y) == emulation_bad_access);
    CHECK(d.on.error() == "plain writes spad 0x4042, y [2] of directive 5: load to y, tag 1 on loader may still write it");
    d.on.reset();
    CHECK(d.move(device::at_plain, d.A.data(), d.at(spad, 64), 8, -1, 0, y) == 0);
    CHECK(d.start_store(64, 0, 4, 0, y) == 0);
    CHECK(d.touch(1, d.B.data() + 3, 1, false) == emulation_bad_access);
    CHECK(d.on.error() == "code of stage B reads argument B in dram: store to B, tag 0 on channel may still write it");
}
TEST_CASE("what a transfer in flight reads must not be written, but may be read") {
    checked_device d;
    CHECK(d.start_load(0, 64, 8, 1, y) == 0);
    CHECK(d.wait(device::on_loader, 1) == 0);
    CHECK(d.start_store(64, 0, 8, 0, y) == 0);
    CHECK(d.compute(device::at_copy, d.at(spad, 66), d.at(spad, 72), y, y) == 0);
    CHECK(d.touch(0, d.A.data(), 4, false) == 0);
    CHECK(d.start_load(0, 68, 2, 1, y) == emulation_bad_access);
    CHECK(d.on.error() == "load writes spad 0x4044, y [4] of directive 5: store to B, tag 0 on channel may still read it");
}
TEST_CASE("jobs of one engine follow each other") {
    checked_device d;
    CHECK(d.start_load(0, 64, 8, 0, y) == 0);
    CHECK(d.start_load(8, 64, 8, 1, y) == 0);
    CHECK(d.compute(device::at_behind, d.at(spad, 64), d.at(spad, 72), y, y) == 0);
    CHECK(d.end() == 0);
}
TEST_CASE("a full queue tells a kernel nothing about what is complete") {
    checked_device d;
    CHECK(d.start_load(0, 64, 16, 0, y) == 0);
    CHECK(d.wait(device::on_loader, 0) == 0);
    for (int at = 0; at < 3; ++at) CHECK(d.start_store(64 + 4 * at, 4 * at, 4, 0, y) == 0);
    CHECK(d.touch(y, d.at(spad, 64), 1, true) == emulation_bad_access);
}
TEST_CASE("bytes that were never written must not be used") {
    checked_device d;
    CHECK(d.start_load(0, 64, 3, 0, y) == 0);
    CHECK(d.wait(device::on_loader, 0) == 0);
    CHECK(d.touch(y, d.at(spad, 64), 3, false) == 0);
    CHECK(d.touch(y, d.at(spad, 64), 4, false) == emulation_bad_access);
    CHECK(d.on.error() == "code of stage B reads spad 0x4043, y [3] of directive 5: never written");

    checked_device sums;
    CHECK(sums.start_load(0, 0, 4, 0, x) == 0);
    CHECK(sums.wait(device::on_loader, 0) == 0);
    CHECK(sums.compute(device::at_add, sums.at(spad, 0), sums.at(spad, 70), x, y) == emulation_bad_access);
    CHECK(sums.on.error() == "add (operand b) reads spad 0x4046, y [6] of directive 5: never written");
}
TEST_CASE("a new run begins with memories that nobody has written") {
    checked_device d;
    CHECK(d.touch(y, d.at(spad, 64), 1, true) == 0);
    CHECK(d.end() == 0);
    CHECK(d.touch(y, d.at(spad, 64), 1, false) == emulation_bad_access);
}
TEST_CASE("bytes without contents move inside the machine, and are an error where they are used or leave it") {
    checked_device d;
    CHECK(d.touch(y, d.at(spad, 64), 2, true) == 0);
    // three elements of 8 bits become 16 bits
    std::int64_t shape[] = {3, 2, 1, 0, -1, y, x};
    CHECK(tilewright_emulate_transfer(&d.on, device::at_widen, d.at(spad, 64), d.at(spad, 0), shape) == 0);
    CHECK(d.touch(x, d.at(spad, 0), 4, false) == 0);
    CHECK(d.start_store(0, 0, 5, 0, x) == emulation_bad_access);
    CHECK(d.on.error() == "store reads spad 0x4004, x version 0 [0, 4] of directive 3: never written");
}
TEST_CASE("contents that another buffer has overwritten are stale") {
    checked_device d;
    CHECK(d.touch(y, d.at(spad, 64), 32, true) == 0);
    CHECK(d.touch(third, d.at(spad, 84), 4, true) == 0);
    CHECK(d.touch(y, d.at(spad, 80), 4, false) == 0);
    CHECK(d.start_store(80, 0, 8, 0, y) == emulation_bad_access);
    CHECK(d.on.error() == "store reads spad 0x4054, y [20] of directive 5: stale: z has overwritten it");
}
TEST_CASE("a version that comes up again without having been filled is stale") {
    checked_device d;
    auto const fill = [&](int version) {
        CHECK(d.start_load(0, 16 * version, 4, version, x) == 0);
        CHECK(d.wait(device::on_loader, version) == 0);
    };
    auto const use = [&](int version) { return d.compute(device::at_copy, d.at(spad, 16 * version), d.at(spad, 64), x, y); };
    for (int version = 0; version < 4; ++version) fill(version);
    CHECK(use(0) == 0);
    CHECK(use(0) == 0);
    fill(0);  // ahead of its use, while version 0 still was the last one that was used
    for (int version = 1; version < 4; ++version) CHECK(use(version) == 0);
    CHECK(use(0) == 0);
    CHECK(use(1) == emulation_bad_access);
    CHECK(d.on.error() ==
          "copy (operand a) reads spad 0x4010, x version 1 [0, 0] of directive 3: stale: this version was not filled again since its last "
          "use");
}
TEST_CASE("an access must stay inside of its buffer") {
    checked_device d;
    CHECK(d.touch(y, d.at(spad, 90), 6, true) == 0);
    CHECK(d.touch(y, d.at(spad, 90), 7, true) == emulation_bad_access);
    CHECK(d.on.error() == "code of stage B writes spad 0x4060, y of directive 5: outside of the buffer");
    d.on.reset();
    CHECK(d.start_load(0, 48, 20, 0, x) == emulation_bad_access);
    CHECK(d.on.error() == "load writes spad 0x4040, x of directive 3: outside of the buffer");
    d.on.reset();
    // From one version into the next.
    CHECK(d.touch(x, d.at(spad, 12), 8, true) == emulation_bad_access);
    d.on.reset();
    CHECK(d.touch(9, d.at(spad, 12), 8, true) == emulation_unknown_part);
    CHECK(d.on.error() == "code of stage B: a buffer that the plan does not have");
}
TEST_CASE("versions lie in the banks that the plan says") {
    device d;
    buffer banked = staged("banked", 8, {8}, 2, 4, 2);
    banked.bank = 1;
    banked.part_stride = 16;
    d.on.check(plan_with({banked}));
    int const expected_bank[] = {1, 0, 1, 0}, expected_offset[] = {8, 8, 24, 24};
    for (int version = 0; version < 4; ++version) {
        CHECK(d.touch(2, d.at(tcm, expected_offset[version], expected_bank[version]), 8, true) == 0);
        CHECK(d.touch(2, d.at(tcm, expected_offset[version], expected_bank[version]) + 8, 1, true) == emulation_bad_access);
        d.on.reset();
    }
    CHECK(d.touch(2, d.at(tcm, 25, 0), 1, false) == emulation_bad_access);
    CHECK(d.on.error() == "code of stage B reads tcm 0x8019, banked version 3 [1] of directive 2: never written");
}
TEST_CASE("a transfer must not use a bank with one port while a transfer on another engine uses it") {
    device d;
    CHECK(d.move(device::at_to_tcm, d.A.data(), d.at(tcm, 0, 0), 8, 0, 0, 2) == 0);
    CHECK(d.move(device::at_to_tcm, d.A.data(), d.at(tcm, 8, 0), 8, 1, 0, 2) == 0);  // behind it, on the same engine
    CHECK(d.move(device::at_beside, d.A.data(), d.at(tcm, 16, 1), 8, 0, 0, 2) == 0);
    CHECK(d.move(device::at_beside, d.A.data(), d.at(tcm, 16, 0), 8, 0, 0, 2) == emulation_bank_conflict);
    CHECK(d.on.error() == "beside uses bank 0 of tcm, which has one port, while to_tcm, tag 0 on loader may still use it");
}
TEST_CASE("what computes must not use a bank with one port while a transfer uses it, checked or not") {
    device d;
    auto const load_bank = [&](int bank) { return d.move(device::at_to_tcm, d.A.data(), d.at(tcm, 0, bank), 8, bank, 0, 2); };
    auto const use_bank = [&](int bank) { return d.compute(device::at_narrow, d.at(tcm, 64, bank), d.at(spad, 0), 2, 3); };
    CHECK(load_bank(0) == 0);
    CHECK(use_bank(1) == 0);
    CHECK(d.wait(device::on_loader, 0) == 0);
    CHECK(use_bank(0) == 0);
    CHECK(load_bank(1) == 0);
    CHECK(use_bank(1) == emulation_bank_conflict);
    CHECK(d.on.error() == "narrow uses bank 1 of tcm, which has one port, while to_tcm, tag 1 on loader may still use it");

    checked_device checked;
    checked.on.check(plan_with({staged("banked", 0, {128}, 2, 2, 2)}));
    CHECK(checked.touch(2, checked.at(tcm, 64, 1), 8, true) == 0);
    CHECK(checked.move(device::at_to_tcm, checked.A.data(), checked.at(tcm, 0, 1), 8, 1, 0, 2) == 0);
    CHECK(checked.touch(2, checked.at(tcm, 64, 1), 1, false) == emulation_bank_conflict);
}
TEST_CASE("buffers of code that reports nothing are not judged") {
    device d;
    buffer touched = staged("touched", 64, {32}, 5);
    touched.code_access = true;
    d.on.check(plan_with({touched}), false);
    CHECK(d.start_store(64, 0, 4, 0, 2) == 0);
    CHECK(d.wait(device::on_channel, 0) == 0);
    CHECK(d.end() == 0);
    d.on.check(plan_with({touched}));
    CHECK(d.start_store(64, 0, 4, 0, 2) == emulation_bad_access);
}
TEST_CASE("what loops have not reported is said where none of them has reported anything") {
    buffer touched = staged("touched", 0, {8}, 2);
    touched.code_access = true;
    constexpr std::int64_t at_touched = 2;
    device d;
    d.on.check(plan_with({touched}));
    CHECK(d.start_store(0, 0, 4, 0, at_touched) == emulation_bad_access);
    CHECK(d.on.error() ==
          "store reads spad 0x4000, touched [0] of directive 2: never written, as far as loops that stay code report: if this "
          "kernel's do not, say check(plan, false)");
    // These loops report: what they have left out was never written.
    device reporting;
    reporting.on.check(plan_with({touched}));
    CHECK(reporting.touch(at_touched, reporting.at(spad, 0), 2, true) == 0);
    CHECK(reporting.start_store(0, 0, 4, 0, at_touched) == emulation_bad_access);
    CHECK(reporting.on.error().ends_with(": never written"));
}
TEST_CASE("checks are off until they are wanted, and need a plan of this machine") {
    device d;
    CHECK(d.touch(7, d.at(spad, 0), 8, false) == 0);
    plan_value const plan = checked_plan();
    d.on.check(plan);
    CHECK(d.touch(y, d.at(spad, 64), 8, false) == emulation_bad_access);
    d.on.stop_checking();
    CHECK(d.touch(y, d.at(spad, 64), 8, false) == 0);
    static constexpr auto other = machine("other", dram, spad);
    emulator stranger(other, {});
    CHECK_THROWS_WITH(stranger.check(plan), Catch::Contains("machine `other` cannot be checked by the plan of another machine"));
}
