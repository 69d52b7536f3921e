#include "driven.hpp"

using namespace driven;

namespace {

constexpr progress all_modes[] = {progress::earliest, progress::latest, progress::random, progress::threads};

/// B[t] = A[t] + A[64 + t] by pieces of 4, loaded into two versions a step ahead and stored behind.
void add_halves(device& d) {
    auto const load_step = [&](std::int64_t step) {
        CHECK(d.start_load(4 * step, 32 * (step % 2), 4, step % 2) == 0);
        CHECK(d.start_load(64 + 4 * step, 32 * (step % 2) + 8, 4, step % 2) == 0);
    };
    load_step(0);
    for (std::int64_t step = 0; step < 16; ++step) {
        if (step + 1 < 16) load_step(step + 1);
        CHECK(d.wait(device::on_loader, step % 2) == 0);
        CHECK(d.wait(device::on_channel, 1) == 0);  // the store two steps ago has left the version
        std::uint8_t* const sums = d.at(spad, 128 + 32 * (step % 2));
        CHECK(d.compute(device::at_copy, d.at(spad, 32 * (step % 2)), sums) == 0);
        CHECK(d.compute(device::at_add, d.at(spad, 32 * (step % 2) + 8), sums) == 0);
        CHECK(d.start_store(sums - d.at(spad, 0), 4 * step, 4, 0) == 0);
    }
    CHECK(d.wait(device::on_channel, 0) == 0);
    CHECK(d.end() == 0);
}

}  // namespace

TEST_CASE("a kernel that waits for what it needs computes the same in every mode, in the same cycles") {
    for (progress const how : all_modes) {
        std::int64_t cycles = 0;
        for (std::uint64_t seed = 1; seed < 20; ++seed) {
            device d;
            INFO(name_of(how) << " " << seed);
            d.on.use(how, seed);
            add_halves(d);
            bool right = true;
            for (std::size_t at = 0; at < 64; ++at) right = right && d.B[at] == static_cast<std::uint8_t>(d.A[at] + d.A[64 + at]);
            CHECK(right);
            CHECK((cycles == 0 || d.on.cycles() == cycles));
            cycles = d.on.cycles();
        }
    }
}
TEST_CASE("earliest: data moves when the transfer is started") {
    device d;
    CHECK(d.start_load(0, 0, 4, 0) == 0);
    CHECK(std::memcmp(d.at(spad, 0), d.A.data(), 4) == 0);
}
TEST_CASE("latest: the source is read when a wait leaves no choice") {
    device d;
    d.on.use(progress::latest);
    CHECK(d.start_load(0, 0, 4, 0) == 0);
    CHECK(d.start_load(8, 8, 4, 1) == 0);
    CHECK(d.code(1000) == 0);
    CHECK(*d.at(spad, 0) == 0);
    d.A[0] = 200;
    CHECK(d.wait(device::on_loader, 0) == 0);
    CHECK(*d.at(spad, 0) == 200);
    CHECK(*d.at(spad, 8) == 0);
    CHECK(d.end() == emulation_not_waited);
    CHECK(*d.at(spad, 8) == d.A[8]);
}
TEST_CASE("latest: a full queue moves the oldest job") {
    device d;
    d.on.use(progress::latest);
    std::memset(d.at(spad, 0), 9, 64);
    for (int at = 0; at < 3; ++at) CHECK(d.start_store(0, at, 1, 0) == 0);
    CHECK(d.B[0] == 9);
    CHECK(d.B[1] == 0);
    CHECK(d.wait(device::on_channel, 1) == 0);
    CHECK(d.B[1] == 9);
    CHECK(d.B[2] == 0);
    CHECK(d.wait(device::on_channel, 0) == 0);
    CHECK(d.B[2] == 9);
}
TEST_CASE("random: jobs are seen half done, in order, the same for the same seed") {
    auto const seen = [](std::uint64_t seed) {
        device d;
        d.on.use(progress::random, seed);
        // 8 rows of 4 bytes, and a job behind
        std::int64_t shape[] = {4, 1, 1, 1, 0, -1, -1, 8, 8, 4};
        CHECK(tilewright_emulate_transfer(&d.on, device::at_load, d.A.data(), d.at(spad, 0), shape) == 0);
        CHECK(d.start_load(0, 32, 1, 1) == 0);
        std::vector<int> moved;
        do {
            CHECK(d.code(1) == 0);
            int elements = 0;
            while (elements < 33 && *d.at(spad, elements) != 0) ++elements;
            for (int at = 0; at < elements; ++at) CHECK(*d.at(spad, at) == d.A[at < 32 ? at / 4 * 8 + at % 4 : 0]);
            for (int at = elements; at < 33; ++at) CHECK(*d.at(spad, at) == 0);
            moved.push_back(elements);
        } while (moved.back() < 33);
        return moved;
    };
    CHECK(seen(3) == seen(3));
    bool half = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (int const elements : seen(seed)) half = half || (elements % 4 != 0 && elements < 32);
    }
    CHECK(half);
}
TEST_CASE("threads: jobs are carried out beside the core, without a wait") {
    device d;
    d.on.use(progress::threads);
    CHECK(d.start_load(0, 0, 64, 0) == 0);
    CHECK(d.start_load(64, 64, 64, 1) == 0);
    CHECK(d.wait(device::on_loader, 1) == 0);
    CHECK(std::memcmp(d.at(spad, 0), d.A.data(), 128) == 0);
    for (int at = 0; at < 100; ++at) CHECK(d.start_store(0, at, 64, 0) == 0);  // more than the queue holds
    CHECK(d.end() == emulation_not_waited);
    CHECK(std::memcmp(d.B.data() + 99, d.A.data(), 64) == 0);
    // Given up in the middle: nothing moves any more once `reset` returns.
    for (int at = 0; at < 100; ++at) {
        CHECK(d.start_load(0, 0, 512, 0) == 0);
        if (at % 3 == 0) d.on.reset();
        if (at % 3 == 1) d.on.use(at % 2 == 0 ? progress::threads : progress::latest);
        if (at % 3 == 2) d.on.use(progress::threads);
    }
}
