#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "catch.hpp"
#include "copying.h"
#include "guarded.hpp"

// A program with copies by engines, in C, on a device that carries them out when they are started, or no sooner than they are waited for.

namespace {

/// What the device was asked, in order; the jobs of its two engines, and which call fails.
struct job {
    unsigned char* to;
    unsigned char const* from;
    std::int64_t rows, row_bytes, to_stride, from_stride, tag;

    void carry_out() const {
        for (std::int64_t row = 0; row < rows; ++row)
            std::memcpy(to + row * to_stride, from + row * from_stride, static_cast<std::size_t>(row_bytes));
    }
};
std::vector<std::string> asked;
std::deque<job> inward_jobs, outward_jobs;
bool lazy = false;
std::string failing;
int calls_before = 0;
std::int64_t pitch_of_rows = 0;

int called(std::string const& what) {
    asked.push_back(what);
    return what == failing && calls_before-- == 0 ? 17 : 0;
}
void give(std::deque<job>& engine, job const& one) {
    if (!lazy) one.carry_out();
    engine.push_back(one);
}
void complete_first(std::deque<job>& engine) {
    if (lazy) engine.front().carry_out();
    engine.pop_front();
}

}  // namespace

extern "C" int pitch(std::int64_t bytes) {
    pitch_of_rows = bytes;
    return 0;
}
extern "C" int bring(void const* source, void* destination, std::int64_t row_bytes, std::int64_t extent, std::int64_t source_stride,
                     std::int64_t destination_stride, std::int64_t tag) {
    int const code = called("bring");
    CHECK(pitch_of_rows == source_stride);
    if (code == 0)
        give(inward_jobs, {static_cast<unsigned char*>(destination), static_cast<unsigned char const*>(source), extent, row_bytes,
                           destination_stride, source_stride, tag});
    return code;
}
extern "C" int carry(void const* source, void* destination, std::int64_t bytes) {
    int const code = called("carry");
    if (code == 0)
        give(outward_jobs, {static_cast<unsigned char*>(destination), static_cast<unsigned char const*>(source), 1, bytes, 0, 0, 0});
    return code;
}
extern "C" int inward_wait(std::int64_t tag) {
    std::size_t last = 0;
    for (std::size_t at = 0; at < inward_jobs.size(); ++at) last = inward_jobs[at].tag == tag ? at + 1 : last;
    while (last-- > 0) complete_first(inward_jobs);
    return called("inward_wait");
}
extern "C" int outward_wait(std::int64_t pending) {
    while (static_cast<std::int64_t>(outward_jobs.size()) > pending) complete_first(outward_jobs);
    return called("outward_wait");
}

namespace {

struct pools {
    // Between pages that cannot be touched, no larger than the header says.
    guarded::array<unsigned char> l2_bytes, act_bytes, wei_bytes;
    guarded::array<std::int32_t> out_elements;
    unsigned char *l2 = l2_bytes.data(), *act = act_bytes.data(), *wei = wei_bytes.data();
    std::int32_t* out = out_elements.data();

    explicit pools(bool moves_late, std::string const& fails = "", int after = 0, guarded::side at = guarded::side::end)
        : l2_bytes(TILEWRIGHT_copying_l2_BYTES, at, 4),
          act_bytes(TILEWRIGHT_copying_act_BYTES, at, 4),
          wei_bytes(TILEWRIGHT_copying_wei_BYTES, at, 4),
          out_elements(100, at) {
        asked.clear();
        lazy = moves_late, failing = fails, calls_before = after, pitch_of_rows = 0;
        std::memset(l2, 0xa5, l2_bytes.size()), std::memset(act, 0xa5, act_bytes.size());
        for (int element = 0; element < 100; ++element) {
            std::int32_t const value = element * 7 - 50;
            std::memcpy(l2 + TILEWRIGHT_copying_in_OFFSET + 4 * element, &value, 4);
        }
        std::memcpy(wei, copying_wei_image, TILEWRIGHT_copying_wei_IMAGE_BYTES);
    }
    int run() {
        copying_memories const given{.l2 = l2, .act = act, .wei = wei};
        return copying(out, &given);
    }
    std::int32_t kept(int at) const {
        std::int32_t value = 0;
        std::memcpy(&value, l2 + TILEWRIGHT_copying_kept_OFFSET + 4 * at, 4);
        return value;
    }
};

std::vector<std::string> repeated(std::vector<std::pair<std::string, int>> const& parts) {
    std::vector<std::string> all;
    for (auto const& [what, times] : parts) all.insert(all.end(), static_cast<std::size_t>(times), what);
    return all;
}

}  // namespace

TEST_CASE("engines copy beside the core, whether they do it when it is started or when it is waited for") {
    for (bool moves_late : {false, true}) {
        INFO("late " << moves_late);
        pools p(moves_late, "", 0, moves_late ? guarded::side::beginning : guarded::side::end);
        REQUIRE(p.run() == 0);
        CHECK((p.l2_bytes.is_intact() && p.act_bytes.is_intact() && p.wei_bytes.is_intact() && p.out_elements.is_intact()));
        for (int at = 0; at < 100; ++at) {
            std::int32_t const turned = (at % 10 * 10 + at / 10) * 7 - 50 + 1, number = at * at - 3000;
            REQUIRE(p.kept(at) == turned + number);
            REQUIRE(p.out[at] == 2 * (turned + 2 * number));
        }
        // Five calls carry 400 bytes.
        CHECK(asked == repeated({{"bring", 1}, {"inward_wait", 1}, {"bring", 1}, {"carry", 5}, {"inward_wait", 1}, {"outward_wait", 1}}));
        CHECK(inward_jobs.empty());
        CHECK(outward_jobs.empty());
    }
}
TEST_CASE("a start or a wait that fails ends the program with its code, when no engine is at work any more") {
    auto const fails = [](std::string const& what, int after) {
        pools p(true, what, after);
        CHECK(p.run() == 17);
        CHECK(inward_jobs.empty());
        CHECK(outward_jobs.empty());
    };
    fails("bring", 0);
    CHECK(asked == repeated({{"bring", 1}, {"inward_wait", 1}}));
    fails("inward_wait", 0);
    CHECK(asked == repeated({{"bring", 1}, {"inward_wait", 2}}));
    // The third call, while v is brought: what the two before started is awaited, and v.
    fails("carry", 2);
    CHECK(asked == repeated({{"bring", 1}, {"inward_wait", 1}, {"bring", 1}, {"carry", 3}, {"outward_wait", 1}, {"inward_wait", 1}}));
    // The second wait for what is brought, while something is carried.
    fails("inward_wait", 1);
    CHECK(asked == repeated({{"bring", 1}, {"inward_wait", 1}, {"bring", 1}, {"carry", 5}, {"inward_wait", 2}, {"outward_wait", 1}}));
    fails("outward_wait", 0);
    CHECK(asked.back() == "outward_wait");
}
