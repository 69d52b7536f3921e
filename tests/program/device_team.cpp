#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "team_on_device.h"
#include "team_program.hpp"

// A program for cores of two kinds and an agent beside them, in C, on a device with a thread for each. Data moves no sooner than it is
// waited for.

namespace {

struct job {
    unsigned char* to;
    unsigned char const* from;
    std::int64_t row_bytes, rows, from_pitch, to_pitch, tag;
};
void carry_out(job const& one) {
    for (std::int64_t row = 0; row < one.rows; ++row)
        std::memcpy(one.to + row * one.to_pitch, one.from + row * one.from_pitch, static_cast<std::size_t>(one.row_bytes));
}

thread_local int this_core = -1;
thread_local std::deque<job> jobs;  // of the core's own engine

std::mutex guard;
std::condition_variable met;
int come = 0, meetings = 0;
std::int64_t failed = 0;
int fetched = 0, fetched_by_others = 0;
int failing_core = -1, calls_until_failure = -1;

int start(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t from, std::int64_t to,
          std::int64_t tag) {
    if (this_core == failing_core && calls_until_failure-- == 0) return -5;
    jobs.push_back({static_cast<unsigned char*>(destination), static_cast<unsigned char const*>(source), row_bytes, rows, from, to, tag});
    return 0;
}

int meet(std::int64_t core, std::int64_t status) {
    if (core != this_core) return -99;
    std::unique_lock held(guard);
    if (status != 0 && failed == 0) failed = status;
    if (status != 0) return met.notify_all(), 0;
    int const mine = meetings;
    if (++come == 4) come = 0, ++meetings, met.notify_all();
    met.wait(held, [&] { return meetings != mine || failed != 0; });
    return static_cast<int>(failed);
}

std::thread beside;
int agents_code = 0, begun = 0, joined = 0;

}  // namespace

extern "C" int bring_near(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t from,
                          std::int64_t to, std::int64_t tag) {
    return start(source, destination, row_bytes, rows, from, to, tag);
}
extern "C" int put_back(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t from,
                        std::int64_t to, std::int64_t tag) {
    return start(source, destination, row_bytes, rows, from, to, tag);
}
extern "C" int dma_wait(std::int64_t tag) {
    std::size_t last = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) last = jobs[at].tag == tag ? at + 1 : last;
    for (; last > 0; --last) carry_out(jobs.front()), jobs.pop_front();
    return 0;
}
extern "C" int fetch(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t from, std::int64_t to) {
    (this_core == 0 ? fetched : fetched_by_others) += 1;
    carry_out({static_cast<unsigned char*>(destination), static_cast<unsigned char const*>(source), row_bytes, rows, from, to, 0});
    return 0;
}
extern "C" int control_meets(std::int64_t core, std::int64_t status) { return core == 0 ? meet(core, status) : -98; }
extern "C" int vector_meets(std::int64_t core, std::int64_t status) { return core != 0 ? meet(core, status) : -98; }
extern "C" int npu_begin(int (*kernel)(void*), void* arguments) {
    ++begun;
    beside = std::thread([=] { agents_code = kernel(arguments); });
    return 0;
}
extern "C" int npu_end() {
    ++joined;
    beside.join();
    return agents_code;
}

namespace {

struct caller {
    std::array<std::int32_t, 100> in{}, out{};
    alignas(8) std::array<unsigned char, TILEWRIGHT_team_on_device_rom_BYTES> rom{};
    alignas(8) std::array<unsigned char, TILEWRIGHT_team_on_device_shared_BYTES> shared{};
    struct near_memory {
        alignas(8) std::array<unsigned char, TILEWRIGHT_team_on_device_near_BYTES> bytes{};
    };
    std::array<near_memory, 4> near{};
    int without_memory = -1;  ///< a core whose own memory is forgotten

    caller() {
        for (int at = 0; at < 100; ++at) in[static_cast<std::size_t>(at)] = at * 7 - 50;
        std::memcpy(rom.data(), team_on_device_rom_image, sizeof team_on_device_rom_image);
    }
    std::array<int, 4> run() {
        come = 0, failed = 0, fetched = 0, fetched_by_others = 0, begun = 0, joined = 0;
        out.fill(-1), shared.fill(0xa5);
        std::array<int, 4> codes{};
        std::vector<std::thread> cores;
        for (int core = 0; core < 4; ++core) {
            cores.emplace_back([&, core] {
                auto const which = static_cast<std::size_t>(core);
                this_core = core;
                team_on_device_memories const memories{rom.data(), shared.data(),
                                                       core == without_memory ? nullptr : near[which].bytes.data()};
                codes[which] = team_on_device(core, in.data(), out.data(), &memories);
            });
        }
        for (std::thread& core : cores) core.join();
        return codes;
    }
};

}  // namespace

TEST_CASE("threads of their own for cores of two kinds and an agent: the result of the program, and barriers of the right kind") {
    caller made;
    for (int time = 0; time < 50; ++time) {
        CHECK(made.run() == std::array{0, 0, 0, 0});
        CHECK(fetched == 2);
        CHECK(fetched_by_others == 0);
        CHECK(begun == 1);
        CHECK(joined == 1);
        for (int at = 0; at < 100; ++at) REQUIRE(made.out[static_cast<std::size_t>(at)] == team_programs::expected(at));
    }
}

TEST_CASE("a core that fails stops the others, and nothing is under way afterwards") {
    caller made;
    for (int core = 0; core < 4; ++core) {
        for (int calls = 0; calls < 2; ++calls) {
            INFO("call " << calls << " of core " << core);
            failing_core = core, calls_until_failure = calls;
            CHECK(made.run() == std::array{-5, -5, -5, -5});
            CHECK(begun == joined);
            for (std::int32_t one : made.out) CHECK(one == -1);
        }
    }
    failing_core = -1;
    CHECK(made.run() == std::array{0, 0, 0, 0});
    // A core's own memory is missing: nothing runs.
    for (int core = 0; core < 4; ++core) {
        made.without_memory = core;
        CHECK(made.run() == std::array{-2204, -2204, -2204, -2204});
        CHECK(begun == joined);
        for (std::int32_t one : made.out) CHECK(one == -1);
    }
}
