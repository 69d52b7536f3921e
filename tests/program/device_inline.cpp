#include <atomic>
#include <thread>

#include "catch.hpp"
#include "inline_agent.h"
#include "one_element.h"

// A program in C whose agent is begun and joined by inline functions, so that an optimising compiler sees everything but the agent's work.

volatile struct inline_mailbox inline_mailbox;

TEST_CASE("no access to memory moves across inline functions that begin and join a kernel") {
    std::atomic<bool> over = false;
    std::thread agent([&] {
        while (!over) {
            if (inline_mailbox.told == inline_mailbox.done) continue;
            std::atomic_thread_fence(std::memory_order_seq_cst);
            inline_mailbox.code = static_cast<std::int16_t>(inline_mailbox.kernel(inline_mailbox.arguments));
            std::atomic_thread_fence(std::memory_order_seq_cst);
            inline_mailbox.done = inline_mailbox.told;
        }
    });
    std::int32_t in = 10, out = 0;
    alignas(16) unsigned char act[TILEWRIGHT_one_element_act_BYTES]{};
    one_element_memories const memories{.act = act};
    int const code = one_element(&in, &out, &memories);
    over = true;
    agent.join();
    CHECK(code == 0);
    CHECK(out == 2 * (2 * 10 + 1));
}
