#include <tilewright/plan/offsets/assign_offsets.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "catch.hpp"
#include "plan/offsets/arrangements.hpp"

// Offsets of buffers: worked out by hand, and where a rectangle was cut so that nothing is left over.

using namespace tilewright::ir;
using namespace arrangements;

namespace {

/// Cuts a full rectangle of `capacity` bytes by lines right through the pieces, the largest one first.
constexpr void cut(std::span<placed_buffer> pieces, unsigned seed, std::int64_t capacity) {
    auto const below = [&](std::int64_t most) {
        seed = seed * 1664525u + 1013904223u;
        return static_cast<std::int64_t>(seed >> 8) % most;
    };
    pieces[0] = {.bytes = capacity, .born = 0, .dead = 1000};
    for (std::size_t count = 1; count < pieces.size(); ++count) {
        std::size_t largest = 0;
        auto const area = [&](std::size_t at) { return pieces[at].bytes * (pieces[at].dead - pieces[at].born); };
        for (std::size_t at = 1; at < count; ++at) {
            if (area(at) > area(largest)) largest = at;
        }
        placed_buffer &left = pieces[largest], &right = pieces[count];
        right = left;
        if (below(2) == 0) {
            left.dead = right.born = left.born + 1 + static_cast<int>(below(left.dead - left.born - 1));
        } else {
            left.bytes = 1 + below(left.bytes - 1);
            right.bytes -= left.bytes;
        }
        std::swap(pieces[below(static_cast<std::int64_t>(count))], right);
    }
}
std::vector<placed_buffer> cut(int count, unsigned seed, std::int64_t capacity) {
    std::vector<placed_buffer> pieces(static_cast<std::size_t>(count));
    cut(pieces, seed, capacity);
    return pieces;
}

constexpr offset_result by_the_compiler() {
    std::array<placed_buffer, 3> buffers{placed_buffer{.bytes = 10, .born = 1, .dead = 3}, placed_buffer{.bytes = 30, .born = 0, .dead = 4},
                                         placed_buffer{.bytes = 20, .born = 3, .dead = 4}};
    return assign_offsets(buffers, {.capacity = 64});
}
static_assert(by_the_compiler().peak == 50);
static_assert(by_the_compiler().proven && by_the_compiler().fits);

constexpr offset_result pieces_by_the_compiler() {
    std::array<placed_buffer, 24> buffers{};
    cut(buffers, 1, 4096);
    return assign_offsets(buffers, {.capacity = 4096});
}
static_assert(pieces_by_the_compiler().peak == 4096);
static_assert(pieces_by_the_compiler().proven);

}  // namespace

TEST_CASE("buffers that are alive together lie side by side, others in one place") {
    std::vector<placed_buffer> buffers{
        {.bytes = 10, .born = 0, .dead = 2}, {.bytes = 20, .born = 1, .dead = 3}, {.bytes = 10, .born = 2, .dead = 4}};
    offset_result const found = assign_offsets(buffers, {.capacity = 30});
    CHECK(found.peak == 30);
    CHECK(found.lower_bound == 30);
    CHECK(found.proven);
    CHECK(found.fits);
    CHECK(is_valid(buffers, 1, 30));
    CHECK(buffers[0].offset == buffers[2].offset);
}

TEST_CASE("a chain takes as much as its two largest neighbours") {
    std::vector<placed_buffer> buffers;
    for (int at = 0; at < 6; ++at) buffers.push_back({.bytes = at == 3 ? 50 : 10, .born = at, .dead = at + 2});
    offset_result const found = assign_offsets(buffers, {.capacity = 100});
    CHECK(found.peak == 60);
    CHECK(found.proven);
    CHECK(is_valid(buffers, 1, 60));
}

TEST_CASE("lifetimes are half-open, and what is never alive or has no bytes takes no room") {
    std::vector<placed_buffer> buffers{{.bytes = 8, .born = 0, .dead = 1},
                                       {.bytes = 8, .born = 1, .dead = 2},
                                       {.bytes = 99, .born = 1, .dead = 1},
                                       {.bytes = 0, .born = 0, .dead = 2}};
    CHECK(assign_offsets(buffers, {.capacity = 8}).peak == 8);
    CHECK(is_valid(buffers, 1, 8));
    std::vector<placed_buffer> none;
    offset_result const nothing = assign_offsets(none, {.capacity = 0});
    CHECK(nothing.peak == 0);
    CHECK(nothing.proven);
    CHECK(nothing.fits);
}

TEST_CASE("offsets are aligned, and the last buffer is not rounded up") {
    // 10 rounded to 64, twice, and 10; or one of one byte upon a gap that is lost
    std::vector<placed_buffer> buffers(3, {.bytes = 10, .alignment = 64, .born = 0, .dead = 1});
    offset_result found = assign_offsets(buffers, {.capacity = 138});
    CHECK(found.peak == 138);
    CHECK(found.proven);
    CHECK(found.fits);
    CHECK(is_valid(buffers, 1, 138));
    // the small one goes where alignment leaves a gap
    buffers = {{.bytes = 40, .alignment = 64, .born = 0, .dead = 1},
               {.bytes = 64, .alignment = 64, .born = 0, .dead = 1},
               {.bytes = 20, .alignment = 4, .born = 0, .dead = 1}};
    found = assign_offsets(buffers, {.capacity = 128});
    CHECK(found.peak == 124);
    CHECK(found.proven);
    CHECK(is_valid(buffers, 1, 124));
}

TEST_CASE("fixed buffers stay, and others go below, between and above") {
    std::vector<placed_buffer> buffers{{.bytes = 10, .born = 0, .dead = 3, .offset = 20, .fixed = true},
                                       {.bytes = 20, .born = 0, .dead = 3},
                                       {.bytes = 12, .born = 0, .dead = 1},
                                       {.bytes = 8, .born = 1, .dead = 3, .offset = 42, .fixed = true}};
    offset_result const found = assign_offsets(buffers, {.capacity = 50});
    CHECK(found.peak == 50);
    CHECK(found.proven);
    CHECK(is_valid(buffers, 1, 50));
    CHECK(buffers[0].offset == 20);
    CHECK(buffers[1].offset == 0);
    CHECK(buffers[2].offset == 30);
    CHECK(buffers[3].offset == 42);
}

TEST_CASE("a buffer lies in one bank, the one that was wanted or any") {
    std::vector<placed_buffer> buffers(4, {.bytes = 16, .born = 0, .dead = 1});
    offset_result found = assign_offsets(buffers, {.capacity = 64, .banks = 2});
    CHECK(found.peak == 32);
    CHECK(found.proven);
    CHECK(found.fits);
    CHECK(is_valid(buffers, 2, 32));
    // three of 16 need 32 in one of two banks, though 48 bytes of 64 are all they take
    buffers.assign(3, {.bytes = 16, .born = 0, .dead = 1});
    found = assign_offsets(buffers, {.capacity = 60, .banks = 2});
    CHECK(found.peak == 32);
    CHECK(found.proven);
    CHECK_FALSE(found.fits);
    CHECK(found.lower_bound > 30);
    buffers.assign(3, {.bytes = 16, .born = 0, .dead = 1, .bank = 1});
    found = assign_offsets(buffers, {.capacity = 64, .banks = 2});
    CHECK(found.peak == 48);
    CHECK(found.proven);
    CHECK(is_valid(buffers, 2, 48));
}

TEST_CASE("a buffer in several banks has one offset in all of them") {
    // 32 in both banks go above 8 of one and 20 of the other, or below both; 12 more fit beside the 8.
    std::vector<placed_buffer> buffers{{.bytes = 8, .born = 0, .dead = 2, .bank = 0},
                                       {.bytes = 20, .born = 0, .dead = 2, .bank = 1},
                                       {.bytes = 32, .born = 0, .dead = 2, .bank_count = 2},
                                       {.bytes = 12, .born = 0, .dead = 2}};
    offset_result const found = assign_offsets(buffers, {.capacity = 104, .banks = 2});
    CHECK(found.peak == 52);
    CHECK(found.proven);
    CHECK(is_valid(buffers, 2, 52));
    CHECK(buffers[3].bank == 0);
    // Round all banks: from the last one on, the first is the next.
    buffers = {{.bytes = 8, .born = 0, .dead = 1, .bank = 2, .bank_count = 2},
               {.bytes = 4, .born = 0, .dead = 1, .bank = 0},
               {.bytes = 8, .born = 0, .dead = 1, .bank = 1}};
    CHECK(assign_offsets(buffers, {.capacity = 36, .banks = 3}).peak == 12);
    CHECK(is_valid(buffers, 3, 12));
}

TEST_CASE("what fits nowhere is proven not to fit, with the peak that it takes") {
    // At no time are more than 4 bytes alive, but in 4 they cannot lie: 1 and 2 are 3 apart when 4 comes.
    std::vector<placed_buffer> buffers{{.bytes = 1, .born = 0, .dead = 3}, {.bytes = 2, .born = 0, .dead = 1},
                                       {.bytes = 1, .born = 0, .dead = 2}, {.bytes = 1, .born = 2, .dead = 5},
                                       {.bytes = 2, .born = 1, .dead = 4}, {.bytes = 1, .born = 3, .dead = 6},
                                       {.bytes = 2, .born = 4, .dead = 6}, {.bytes = 2, .born = 4, .dead = 7}};
    std::vector<placed_buffer> tried = buffers;
    std::int64_t const smallest = smallest_peak(tried, 1, 0, 0, 100);
    offset_result const found = assign_offsets(buffers, {.capacity = smallest - 1}, plenty);
    CHECK(found.peak == smallest);
    CHECK(found.lower_bound == smallest);
    CHECK(found.proven);
    CHECK_FALSE(found.fits);
    CHECK(is_valid(buffers, 1, smallest));
}

TEST_CASE("rectangles that were cut are put together again") {
    for (int count : {24, 60, 100, 200}) {
        for (unsigned seed = 1; seed <= 3; ++seed) {
            std::vector<placed_buffer> buffers = cut(count, seed, 65536);
            offset_result const found = assign_offsets(buffers, {.capacity = 65536}, plenty);
            INFO(count << " pieces, seed " << seed);
            CHECK(found.peak == 65536);
            CHECK(found.proven);
            CHECK(found.fits);
            CHECK(is_valid(buffers, 1, found.peak));
        }
    }
}

TEST_CASE("parts of the time that share nothing are solved one by one") {
    std::vector<placed_buffer> buffers;
    for (unsigned part = 0; part < 6; ++part) {
        for (placed_buffer b : cut(30, part, 4096)) {
            b.born += 1000 * static_cast<int>(part), b.dead += 1000 * static_cast<int>(part);
            buffers.push_back(b);
        }
    }
    offset_result const found = assign_offsets(buffers, {.capacity = 4096}, plenty);
    CHECK(found.proven);
    CHECK(is_valid(buffers, 1, 4096));
}

TEST_CASE("when the budget ends, the gap is stated") {
    std::vector<placed_buffer> buffers = cut(100, 1, 65536);
    offset_result const found = assign_offsets(buffers, {.capacity = 65536}, 1000);
    CHECK(found.lower_bound == 65536);
    CHECK(found.peak > found.lower_bound);
    CHECK_FALSE(found.proven);
    CHECK_FALSE(found.fits);
    CHECK(is_valid(buffers, 1, found.peak));
}

TEST_CASE("the first fit is enough if that is asked for") {
    std::vector<placed_buffer> buffers = cut(100, 1, 65536);
    offset_result const found = assign_offsets(buffers, {.capacity = 200'000}, plenty, offset_goal::first_fit);
    CHECK(found.fits);
    CHECK_FALSE(found.proven);
    CHECK(found.steps < 100'000);
}

TEST_CASE("input that has no meaning is named, and nothing is changed") {
    auto const fault_of = [](std::vector<placed_buffer> buffers, address_space of = {.capacity = 100}) {
        std::vector<placed_buffer> const before = buffers;
        offset_result const found = assign_offsets(buffers, of);
        for (std::size_t at = 0; at < buffers.size(); ++at) CHECK(buffers[at].offset == before[at].offset);
        CHECK_FALSE(found.fits);
        CHECK_FALSE(found.proven);
        return std::pair(found.fault, found.faulty);
    };
    placed_buffer const good{.bytes = 8, .born = 0, .dead = 1};
    CHECK(fault_of({good}, {.capacity = 100, .banks = 0}) == std::pair(offset_fault::space, -1));
    CHECK(fault_of({good}, {.capacity = -1}) == std::pair(offset_fault::space, -1));
    CHECK(fault_of({good, {.bytes = -8, .born = 0, .dead = 1}}) == std::pair(offset_fault::bytes, 1));
    CHECK(fault_of({good, {.bytes = INT64_MAX, .born = 0, .dead = 1}}) == std::pair(offset_fault::bytes, 1));
    CHECK(fault_of({good, {.bytes = 8, .alignment = 0, .born = 0, .dead = 1}}) == std::pair(offset_fault::alignment, 1));
    CHECK(fault_of({good, {.bytes = 8, .born = 2, .dead = 1}}) == std::pair(offset_fault::lifetime, 1));
    CHECK(fault_of({good, {.bytes = 8, .born = 0, .dead = 1, .bank = 1}}) == std::pair(offset_fault::bank, 1));
    CHECK(fault_of({{.bytes = 8, .born = 0, .dead = 1, .bank_count = 2}}) == std::pair(offset_fault::bank, 0));
    CHECK(fault_of({{.bytes = 8, .born = 0, .dead = 1, .bank_count = 0}}) == std::pair(offset_fault::bank, 0));
    CHECK(fault_of({{.bytes = 8, .born = 0, .dead = 1, .bank_count = 2}}, {.capacity = 99, .banks = 3}) ==
          std::pair(offset_fault::bank, 0));
    CHECK(fault_of({good, {.bytes = 8, .born = 0, .dead = 1, .fixed = true}}) == std::pair(offset_fault::fixed_offset, 1));
    CHECK(fault_of({good, {.bytes = 8, .alignment = 4, .born = 0, .dead = 1, .offset = 2, .fixed = true}}) ==
          std::pair(offset_fault::fixed_offset, 1));
    CHECK(fault_of({{.bytes = 8, .born = 0, .dead = 2, .offset = 0, .fixed = true},
                    {.bytes = 8, .born = 1, .dead = 2, .offset = 7, .fixed = true}}) == std::pair(offset_fault::fixed_overlap, 1));
}

TEST_CASE("rectangles without a gap are put together where the search alone ends with one") {
    std::vector<placed_buffer> pieces = cut(500, 3, 1 << 20);
    offset_result const found = assign_offsets(pieces, {.capacity = 1 << 20}, 200'000'000);
    CHECK(found.proven);
    CHECK(is_valid(pieces, 1, 1 << 20));
    CHECK(found.steps < 200'000'000);
}

TEST_CASE("the ends of what numbers can say: large sums and alignments, small capacities, no budget") {
    // All sizes with an alignment each are at most a sixteenth of what a number can say. Up to there sums are exact. More is a fault, not a
    // wrong number.
    std::int64_t const third = (INT64_MAX / 16 - 3) / 3;
    std::vector<placed_buffer> buffers(3, {.bytes = third, .born = 0, .dead = 1});
    offset_result found = assign_offsets(buffers, {.capacity = INT64_MAX});
    CHECK((found.proven && found.fits && found.peak == 3 * third));
    CHECK(is_valid(buffers, 1, found.peak));
    buffers[2].bytes += 3;
    found = assign_offsets(buffers, {.capacity = INT64_MAX});
    CHECK((found.fault == offset_fault::bytes && found.faulty == 2));
    // One buffer at zero, the other at its alignment.
    std::int64_t const terabyte = std::int64_t{1} << 40;
    buffers = {{.bytes = 1, .alignment = terabyte, .born = 0, .dead = 2}, {.bytes = 2, .alignment = terabyte, .born = 1, .dead = 2}};
    found = assign_offsets(buffers, {.capacity = terabyte});
    CHECK((found.peak == terabyte + 1 && found.proven && !found.fits));
    CHECK(is_valid(buffers, 1, found.peak));
    // A buffer that is larger than the memory never fits.
    buffers = {{.bytes = 9, .born = 0, .dead = 1}};
    found = assign_offsets(buffers, {.capacity = 8});
    CHECK((found.proven && !found.fits && found.lower_bound == 9));
    // Without steps to search in, what is alive all the time is proven anyway.
    buffers.assign(50, {.bytes = 3, .born = 0, .dead = 7});
    found = assign_offsets(buffers, {.capacity = 150}, 0);
    CHECK((found.proven && found.fits && found.peak == 150));
    CHECK(is_valid(buffers, 1, 150));
}

TEST_CASE("the same input has the same result, whether the budget is enough or not") {
    for (std::int64_t const budget : {std::int64_t{0}, std::int64_t{20'000}, std::int64_t{3'000'000}}) {
        std::vector<placed_buffer> first = cut(150, 5, 65536), second = first;
        offset_result const one = assign_offsets(first, {.capacity = 65536}, budget);
        offset_result const other = assign_offsets(second, {.capacity = 65536}, budget);
        CHECK((one.peak == other.peak && one.lower_bound == other.lower_bound && one.steps == other.steps));
        for (std::size_t at = 0; at < first.size(); ++at) REQUIRE(first[at].offset == second[at].offset);
        CHECK(is_valid(first, 1, one.peak));
    }
}
