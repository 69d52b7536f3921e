#include <tilewright/plan/offsets/search.hpp>

#include <vector>

#include "catch.hpp"

// The search for offsets below a given capacity.

using namespace tilewright::ir;
using namespace tilewright::detail;

namespace {

struct result {
    found_offsets found{};
    std::vector<std::int64_t> offsets;
    std::int64_t steps = 0;
};
/// Whether buffers fit, those that come first being preferred.
result search(std::vector<placed_buffer> const& buffers, std::int64_t capacity, section_choice sections = section_choice::lowest,
              std::int64_t limit = 100'000) {
    std::vector<int> const banks(buffers.size());
    offset_sections of(buffers, banks.data(), 1);
    work_array<int> rank(of.count);
    for (int at = 0; at < of.count; ++at) rank.at[at] = at;
    work_array<std::int64_t> weights(of.sections);
    result made;
    preference const how{.rank = rank, .sections = sections};
    offset_search tried(of, capacity, how, weights, made.steps);
    made.found = tried.run(0, of.sections, limit);
    for (int at = 0; at < of.count; ++at) made.offsets.push_back(tried.offsets.at[at]);
    return made;
}
using offsets = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("buffers that are alive together lie upon each other, the preferred one below") {
    std::vector<placed_buffer> const two{{.bytes = 10, .born = 0, .dead = 2}, {.bytes = 20, .born = 1, .dead = 3}};
    result const fits = search(two, 30);
    CHECK(fits.found == found_offsets::yes);
    CHECK(fits.offsets == offsets{0, 10});
    CHECK(search(two, 29).found == found_offsets::no);
}
TEST_CASE("every choice of the next section finds the one arrangement that there is") {
    // 1 between 0 and 2: 0 and 1 together take 30, 1 and 2 take 30; 3 fits only upon 0 and below 4.
    std::vector<placed_buffer> const buffers{{.bytes = 10, .born = 0, .dead = 2},
                                             {.bytes = 20, .born = 1, .dead = 4},
                                             {.bytes = 10, .born = 3, .dead = 6},
                                             {.bytes = 20, .born = 5, .dead = 7}};
    for (section_choice const how : {section_choice::lowest, section_choice::tight, section_choice::failed}) {
        result const found = search(buffers, 30, how);
        REQUIRE(found.found == found_offsets::yes);
        auto const apart = [&](std::size_t a, std::size_t b) {
            return found.offsets[a] + buffers[a].bytes <= found.offsets[b] || found.offsets[b] + buffers[b].bytes <= found.offsets[a];
        };
        CHECK((apart(0, 1) && apart(1, 2) && apart(2, 3)));
        for (std::size_t at = 0; at < 4; ++at) CHECK(found.offsets[at] + buffers[at].bytes <= 30);
        CHECK(search(buffers, 29, how).found == found_offsets::no);
    }
}
TEST_CASE("an offset is a multiple of the alignment, and the last buffer is not rounded up") {
    std::vector<placed_buffer> const buffers{{.bytes = 10, .alignment = 16, .born = 0, .dead = 1},
                                             {.bytes = 10, .alignment = 16, .born = 0, .dead = 1}};
    CHECK(search(buffers, 26).offsets == offsets{0, 16});
    CHECK(search(buffers, 25).found == found_offsets::no);
}
TEST_CASE("a fixed buffer stays, and the others keep away from it") {
    std::vector<placed_buffer> const buffers{{.bytes = 10, .born = 0, .dead = 1},
                                             {.bytes = 10, .born = 0, .dead = 1, .offset = 8, .fixed = true},
                                             {.bytes = 8, .born = 0, .dead = 1}};
    CHECK(search(buffers, 28).offsets == offsets{18, 8, 0});
    CHECK(search(buffers, 27).found == found_offsets::no);
}
TEST_CASE("a search that may take no more steps says that it does not know") {
    std::vector<placed_buffer> buffers;
    for (int at = 0; at < 8; ++at) buffers.push_back({.bytes = 3 + at, .born = at % 3, .dead = at % 3 + 2});
    CHECK(search(buffers, 60, section_choice::lowest, 1).found == found_offsets::unknown);
    result const all = search(buffers, 60);
    CHECK(all.found == found_offsets::yes);
    CHECK(all.steps > 1);
}
