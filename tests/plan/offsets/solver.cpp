#include <tilewright/plan/offsets/solver.hpp>

#include <utility>
#include <vector>

#include "catch.hpp"

// The smallest peak: what is known without a search, and when a search ends.

using namespace tilewright::ir;
using tilewright::detail::offset_solver;

namespace {

offset_result solve(std::vector<placed_buffer>& buffers, address_space of, std::int64_t budget = 0,
                    offset_goal goal = offset_goal::smallest_peak) {
    return offset_solver(buffers, of, goal, budget).run();
}
/// The lower bound that needs no search.
std::int64_t bound(std::vector<placed_buffer> buffers, address_space of) { return solve(buffers, of).lower_bound; }

}  // namespace

TEST_CASE("no peak is lower than what is alive at one time, spread over the banks") {
    std::vector<placed_buffer> const buffers{
        {.bytes = 30, .born = 0, .dead = 2}, {.bytes = 20, .born = 1, .dead = 3}, {.bytes = 40, .born = 2, .dead = 3}};
    CHECK(bound(buffers, {.capacity = 100}) == 60);
    CHECK(bound(buffers, {.capacity = 100, .banks = 2}) == 40);  // the largest one lies in one bank
    CHECK(bound(buffers, {.capacity = 100, .banks = 2}) < 60);
}
TEST_CASE("what is wanted in one bank counts there") {
    std::vector<placed_buffer> const buffers{{.bytes = 30, .born = 0, .dead = 1, .bank = 1},
                                             {.bytes = 20, .born = 0, .dead = 1, .bank = 1},
                                             {.bytes = 10, .born = 0, .dead = 1}};
    CHECK(bound(buffers, {.capacity = 100, .banks = 2}) == 50);
    std::vector<placed_buffer> everywhere = buffers;
    everywhere[2].bank_count = 2;
    CHECK(bound(everywhere, {.capacity = 100, .banks = 2}) == 60);
}
TEST_CASE("a bound is a number that a buffer can end at, and a fixed one ends where it lies") {
    // Ends are 6 + 8 i or 4 + 8 i, of 10 bytes at least: 12.
    CHECK(bound({{.bytes = 6, .alignment = 8, .born = 0, .dead = 1}, {.bytes = 4, .alignment = 8, .born = 0, .dead = 1}},
                {.capacity = 100}) == 12);
    CHECK(bound({{.bytes = 6, .born = 0, .dead = 1, .offset = 50, .fixed = true}}, {.capacity = 100}) == 56);
}
TEST_CASE("without steps to search in, buffers go greedily, each at the lowest offset that is free") {
    // The longest first: 0 at 0, 1 upon it; 2 fits below 1 no more.
    std::vector<placed_buffer> buffers{
        {.bytes = 10, .born = 0, .dead = 9}, {.bytes = 10, .born = 0, .dead = 5}, {.bytes = 10, .born = 5, .dead = 9}};
    offset_result const found = solve(buffers, {.capacity = 20});
    CHECK((found.peak == 20 && found.proven && found.fits));
    CHECK((buffers[0].offset == 0 && buffers[1].offset == 10 && buffers[2].offset == 10));
}
TEST_CASE("a goal that is reached ends the search") {
    // Greedy orders give more than the eight bytes that are alive at a time: the bound is met by a search alone.
    auto const drawn = [] {
        std::vector<placed_buffer> buffers;
        unsigned seed = 5;
        for (int at = 0; at < 24; ++at) {
            seed = seed * 1664525u + 1013904223u;
            int const born = static_cast<int>(seed >> 24) % 40;
            buffers.push_back({.bytes = 1 + static_cast<std::int64_t>(seed >> 8) % 30, .born = born, .dead = born + 1 + at % 12});
        }
        return buffers;
    };
    std::vector<placed_buffer> greedy = drawn(), any = drawn(), best = drawn();
    offset_result const first = solve(greedy, {.capacity = 1'000});
    REQUIRE(first.peak > first.lower_bound);
    offset_result const fit = solve(any, {.capacity = 1'000}, 1'000'000, offset_goal::first_fit);
    CHECK((fit.fits && fit.peak <= 1'000 && fit.steps <= first.steps));
    offset_result const searched = solve(best, {.capacity = 1'000}, 1'000'000);
    CHECK(searched.peak < first.peak);
    CHECK(searched.proven);
    CHECK(searched.steps > first.steps);
}
TEST_CASE("what has no meaning is a fault, of the first buffer that has it") {
    auto const fault_of = [](std::vector<placed_buffer> buffers, address_space of = {.capacity = 100, .banks = 2}) {
        offset_result const found = solve(buffers, of);
        return std::pair(found.fault, found.faulty);
    };
    placed_buffer const good{.bytes = 8, .born = 0, .dead = 1};
    CHECK(fault_of({good}) == std::pair(offset_fault::none, -1));
    CHECK(fault_of({good}, {.capacity = 100, .banks = 0}).first == offset_fault::space);
    CHECK(fault_of({good, {.bytes = 8, .alignment = 0}, {.bytes = -1}}) == std::pair(offset_fault::alignment, 1));
    CHECK(fault_of({{.bytes = 8, .born = 1, .dead = 0}}) == std::pair(offset_fault::lifetime, 0));
    CHECK(fault_of({good, {.bytes = 8, .born = 0, .dead = 1, .bank = 2}}) == std::pair(offset_fault::bank, 1));
    CHECK(fault_of({good, {.bytes = 8, .born = 0, .dead = 1, .bank_count = 3}}) == std::pair(offset_fault::bank, 1));
    // A fixed buffer says which bank it is in, unless it is in all of them.
    CHECK(fault_of({{.bytes = 8, .born = 0, .dead = 1, .offset = 0, .fixed = true}}).first == offset_fault::bank);
    CHECK(fault_of({{.bytes = 8, .born = 0, .dead = 1, .offset = 0, .fixed = true, .bank_count = 2}}).first == offset_fault::none);
    CHECK(fault_of({{.bytes = 8, .born = 0, .dead = 1, .offset = 0, .fixed = true, .bank = 0},
                    {.bytes = 8, .born = 0, .dead = 1, .offset = 7, .fixed = true, .bank = 0}}) ==
          std::pair(offset_fault::fixed_overlap, 1));
    CHECK(fault_of({{.bytes = 8, .born = 0, .dead = 1, .offset = 0, .fixed = true, .bank = 0},
                    {.bytes = 8, .born = 0, .dead = 1, .offset = 7, .fixed = true, .bank = 1}})
              .first == offset_fault::none);
}
