#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "catch.hpp"
#include "sharing.h"

// A program whose caller and agent share a DMA channel and its registers, in C, on a device with an own thread for the agent. Data moves no
// sooner than it is waited for, and after each call of the device the other thread has its turn.

namespace {

struct job {
    unsigned char* to;
    unsigned char const* from;
    std::int64_t rows, row_bytes, pitch, tag;
};
std::deque<job> jobs;
std::int64_t pitch_of_rows = 0;

std::mutex guard;
std::condition_variable turned;
bool agent_runs = false, agents_turn = false;
thread_local bool is_agent = false;

/// Waits until it is the turn of this thread.
void begin_turn(std::unique_lock<std::mutex>& held) {
    turned.wait(held, [] { return !agent_runs || agents_turn == is_agent; });
}
int end_turn() {
    agents_turn = !is_agent;
    turned.notify_all();
    return 0;
}

std::thread beside;
int agents_code = 0;

}  // namespace

extern "C" int pitch(std::int64_t bytes) {
    std::unique_lock held(guard);
    begin_turn(held);
    pitch_of_rows = bytes;
    return end_turn();
}
extern "C" int fetch(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows, std::int64_t tag) {
    std::unique_lock held(guard);
    begin_turn(held);
    jobs.push_back(
        {static_cast<unsigned char*>(destination), static_cast<unsigned char const*>(source), rows, row_bytes, pitch_of_rows, tag});
    return end_turn();
}
extern "C" int channel_wait(std::int64_t tag) {
    std::unique_lock held(guard);
    begin_turn(held);
    std::size_t last = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) last = jobs[at].tag == tag ? at + 1 : last;
    for (; last-- > 0; jobs.pop_front()) {
        job const& first = jobs.front();
        for (std::int64_t row = 0; row < first.rows; ++row)
            std::memcpy(first.to + row * first.row_bytes, first.from + row * first.pitch, static_cast<std::size_t>(first.row_bytes));
    }
    return end_turn();
}
extern "C" int npu_start(int (*kernel)(void*), void* arguments) {
    agent_runs = true, agents_turn = false;
    beside = std::thread([=] {
        is_agent = true;
        agents_code = kernel(arguments);
        std::unique_lock const held(guard);
        agent_runs = false;
        turned.notify_all();
    });
    return 0;
}
extern "C" int npu_join(void) {
    {
        // Until the agent is done it is always its turn.
        std::unique_lock held(guard);
        while (agent_runs) {
            agents_turn = true;
            turned.notify_all();
            turned.wait(held, [] { return !agent_runs || !agents_turn; });
        }
    }
    beside.join();
    return agents_code;
}

TEST_CASE("a channel that the caller shares with an agent beside it: right bits though data moves late") {
    std::array<std::int32_t, 100> a{}, two_a{};
    std::array<std::int32_t, 200> b{}, three_b{};
    for (std::size_t at = 0; at < b.size(); ++at) b[at] = static_cast<std::int32_t>(at) * 5 - 70;
    for (std::size_t at = 0; at < a.size(); ++at) a[at] = static_cast<std::int32_t>(at) * 7 - 50;
    alignas(64) std::array<unsigned char, TILEWRIGHT_sharing_tcm_BYTES> tcm{};
    sharing_memories const given{.tcm = tcm.data()};
    REQUIRE(sharing(a.data(), b.data(), two_a.data(), three_b.data(), &given) == 0);
    int wrong = 0;
    for (std::size_t at = 0; at < a.size(); ++at) wrong += two_a[at] != 2 * a[at] ? 1 : 0;
    for (std::size_t at = 0; at < b.size(); ++at) wrong += three_b[at] != 3 * b[at] ? 1 : 0;
    CHECK(wrong == 0);
    CHECK(jobs.empty());
}
