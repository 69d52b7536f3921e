#include <algorithm>
#include <random>
#include <tilewright/plan/offsets/assign_offsets.hpp>
#include <vector>

#include "catch.hpp"
#include "plan/offsets/arrangements.hpp"

// Offsets of drawn buffers against an exhaustive reference: this takes half a minute.

using namespace tilewright::ir;
using namespace arrangements;

TEST_CASE("peaks are the smallest ones where buffers lie in several banks: drawn ones against all arrangements") {
    std::mt19937 random(13);
    auto const below = [&](unsigned most) { return static_cast<int>(random() % most); };
    int apart = 0;
    for (int draw = 0; draw < 400; ++draw) {
        int const banks = 2 + draw % 2;
        std::vector<placed_buffer> buffers(static_cast<std::size_t>(3 + below(draw % 8 == 0 ? 5 : 4)));
        for (placed_buffer& b : buffers) {
            b.bytes = 1 + below(draw % 4 < 2 ? 4 : 9);
            b.born = below(5), b.dead = b.born + 1 + below(4);
            if (draw % 3 == 1) b.alignment = 1 << below(3);
            if (below(3) == 0) b.bank_count = banks - below(2);
            if (below(3) == 0 || (b.bank_count > 1 && b.bank_count < banks)) b.bank = below(static_cast<unsigned>(banks));
        }
        if (draw % 5 == 2) buffers[0].fixed = true, buffers[0].offset = buffers[0].alignment * below(4), buffers[0].bank = 1;
        std::vector<placed_buffer> tried = buffers;
        std::int64_t enough = 1;
        for (placed_buffer const& b : buffers) enough += b.bytes + b.alignment + std::max<std::int64_t>(b.offset, 0);
        std::int64_t const smallest = smallest_peak(tried, banks, 0, 0, enough);
        offset_result const found = assign_offsets(buffers, {.capacity = banks * (smallest - draw % 2), .banks = banks}, plenty);
        INFO("draw " << draw);
        REQUIRE(found.fault == offset_fault::none);
        REQUIRE(found.peak == smallest);
        REQUIRE(found.proven);
        REQUIRE(is_valid(buffers, banks, smallest));
        offset_result const bound = assign_offsets(buffers = tried, {.capacity = banks * smallest, .banks = banks}, 0);
        REQUIRE(bound.lower_bound <= smallest);
        apart += bound.peak > smallest || bound.lower_bound < smallest ? 1 : 0;
    }
    CHECK(apart > 20);  // otherwise nothing had to be searched
}
TEST_CASE("peaks are the smallest ones: drawn buffers against all arrangements") {
    std::mt19937 random(7);
    auto const below = [&](unsigned most) { return static_cast<int>(random() % most); };
    int above_sum = 0;
    for (int draw = 0; draw < 600; ++draw) {
        bool const aligned = draw % 3 == 1, fixed = draw % 4 == 2;
        int const banks = draw % 5 == 3 ? 2 : 1;
        std::vector<placed_buffer> buffers(static_cast<std::size_t>(3 + below(draw % 10 == 0 ? 5 : 4)));
        for (placed_buffer& b : buffers) {
            b.bytes = 1 + below(draw % 2 ? 4 : 9);
            b.born = below(6), b.dead = b.born + 1 + below(4);
            if (aligned) b.alignment = 1 << below(3);
            if (banks > 1 && below(4) == 0) b.bank = below(2);
        }
        if (fixed) {
            buffers[0].fixed = true, buffers[0].offset = buffers[0].alignment * below(6);
            if (banks > 1) buffers[0].bank = 0;
        }
        std::vector<placed_buffer> tried = buffers;
        std::int64_t enough = 1;
        for (placed_buffer const& b : buffers) enough += b.bytes + b.alignment + std::max<std::int64_t>(b.offset, 0);
        std::int64_t const smallest = smallest_peak(tried, banks, 0, 0, enough);
        std::int64_t const capacity = banks * (smallest - draw % 2);
        offset_result const found = assign_offsets(buffers, {.capacity = capacity, .banks = banks}, plenty);
        INFO("draw " << draw);
        REQUIRE(found.fault == offset_fault::none);
        REQUIRE(found.peak == smallest);
        REQUIRE(found.proven);
        REQUIRE(found.fits == (draw % 2 == 0));
        REQUIRE(is_valid(buffers, banks, smallest));
        offset_result const bound = assign_offsets(buffers = tried, {.capacity = capacity, .banks = banks}, 0);
        above_sum += bound.lower_bound < smallest;
        REQUIRE(bound.lower_bound <= smallest);
    }
    CHECK(above_sum > 20);  // otherwise nothing had to be searched
}
TEST_CASE("a search is exact whatever it tries first: drawn buffers against all arrangements") {
    using namespace tilewright::detail;
    std::mt19937 random(11);
    auto const below = [&](unsigned most) { return static_cast<int>(random() % most); };
    for (int draw = 0; draw < 300; ++draw) {
        std::vector<placed_buffer> buffers(static_cast<std::size_t>(4 + below(4)));
        for (placed_buffer& b : buffers) {
            b.bytes = 1 + below(draw % 2 ? 3 : 8);
            b.born = below(5), b.dead = b.born + 1 + below(4);
            if (draw % 3 == 1) b.alignment = 1 << below(3);
        }
        if (draw % 4 == 2) buffers[0].fixed = true, buffers[0].offset = buffers[0].alignment * below(5);
        int const bank_count = draw % 5 >= 3 ? draw % 5 - 1 : 1;
        std::vector<int> banks;
        for (placed_buffer& b : buffers) {
            b.bank = below(static_cast<unsigned>(bank_count));
            if (bank_count > 1 && below(3) == 0) b.bank_count = 2;
            banks.push_back(b.bank);
        }
        std::vector<placed_buffer> tried = buffers;
        std::int64_t const smallest = smallest_peak(tried, bank_count, 0, 0, 200);
        for (int preferred = 0; preferred < 12; ++preferred) {
            offset_sections sections(buffers, banks.data(), bank_count);
            work_array<std::int64_t> weights(sections.sections);
            std::vector<int> drawn(buffers.size());
            for (std::size_t at = 0; at < drawn.size(); ++at) drawn[at] = static_cast<int>(at);
            std::shuffle(drawn.begin(), drawn.end(), random);
            for (int at = 0; at < sections.count; ++at) {
                int const twin = sections.items.at[at].twin;
                if (twin >= 0 && drawn[twin] > drawn[at]) std::sort(drawn.begin(), drawn.end());
            }
            work_array<int> rank(sections.count);
            std::copy(drawn.begin(), drawn.end(), rank.begin());
            preference const how{.rank = rank, .fullest = preferred % 2 == 1, .sections = static_cast<section_choice>(preferred % 3)};
            INFO("draw " << draw << ", preference " << preferred);
            std::int64_t steps = 0;
            REQUIRE(offset_search(sections, smallest - 1, how, weights, steps).run(0, sections.sections, plenty) == found_offsets::no);
            offset_search enough(sections, smallest, how, weights, steps);
            REQUIRE(enough.run(0, sections.sections, plenty) == found_offsets::yes);
            std::vector<placed_buffer> placed = buffers;
            for (std::size_t at = 0; at < placed.size(); ++at) placed[at].offset = enough.offsets.at[at];
            REQUIRE(is_valid(placed, bank_count, smallest));
        }
    }
}
