#include <tilewright/emulate/touched_bytes.hpp>

#include <random>
#include <vector>

#include "catch.hpp"

using namespace tilewright;

TEST_CASE("the last time of every byte, whatever was touched in whatever order") {
    std::mt19937 random(3);
    for (int trial = 0; trial < 200; ++trial) {
        emulation::touched_bytes touched;
        std::vector<std::int64_t> last(64, -1);
        std::int64_t now = 0;
        for (int step = 0; step < 40; ++step) {
            now += random() % 4 == 0 ? 1 : 0;
            std::uintptr_t const begin = random() % 64, end = begin + random() % (65 - begin);
            touched.touch({begin, end}, now);
            for (std::uintptr_t at = begin; at < end; ++at) last[at] = now;
            std::uintptr_t const from = random() % 64, to = from + 1 + random() % (64 - from);
            std::int64_t const since = static_cast<std::int64_t>(random() % 12);
            std::optional<std::uintptr_t> first;
            for (std::uintptr_t at = from; at < to && !first; ++at) {
                if (last[at] >= since) first = at;
            }
            REQUIRE(touched.find({from, to}, since) == first);
        }
        touched.clear();
        REQUIRE(!touched.find({0, 64}, 0));
    }
}
