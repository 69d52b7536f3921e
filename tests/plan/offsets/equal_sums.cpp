#include <tilewright/plan/offsets/equal_sums.hpp>

#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "catch.hpp"

// Sets with equal sums: by hand, and against all sets of few buffers.

using tilewright::detail::equal_sums;
using tilewright::detail::log2_of;
using tilewright::detail::succession_choice;
using tilewright::detail::work_array;

namespace {

/// Labels from `first` on for so many bytes each.
struct list {
    list(std::vector<std::int64_t> const& of, int first) : labels(0), bytes(of) {
        for (std::size_t at = 0; at < of.size(); ++at) labels.push(first + static_cast<int>(at));
    }
    std::int64_t sum(equal_sums::members set) const {
        std::int64_t all = 0;
        for (std::size_t at = 0; at < bytes.size(); ++at) all += (set >> at) % 2 != 0 ? bytes[at] : 0;
        return all;
    }
    work_array<int> labels;
    std::vector<std::int64_t> bytes;
};
std::vector<equal_sums::match> find(list const& ended, list const& begun, succession_choice const& how = {}, int seed = 0) {
    equal_sums sums(how);
    std::int64_t steps = 0;
    int const ends = ended.labels.used();
    sums.find(
        ended.labels, begun.labels, seed, [&](int at) { return at < ends ? ended.bytes[at] : begun.bytes[at - ends]; }, steps);
    CHECK(steps > 0);
    return {sums.matches.begin(), sums.matches.begin() + sums.matches.used()};
}

}  // namespace

TEST_CASE("one follows another of its size, and three make place for two") {
    // 100 = 100, and then 30 + 20 + 7 = 41 + 16: that is all that is left, and a match, too.
    list const ended({100, 30, 20, 7}, 0), begun({41, 100, 16}, 4);
    std::vector<equal_sums::match> const found = find(ended, begun);
    REQUIRE(found.size() == 2);
    CHECK((found[0].ended == 0b0001 && found[0].begun == 0b010));
    CHECK((found[1].ended == 0b1110 && found[1].begun == 0b101));
    // One of four and one of three could have been chosen in twelve ways.
    CHECK(found[0].merit == log2_of(100) - log2_of(4) - log2_of(3));
    CHECK(found[0].merit > found[1].merit);
}
TEST_CASE("with a tolerance, sums are about equal, and an error is a smaller merit") {
    list const ended({10'000, 5'000}, 0), begun({10'040, 4'960}, 2);
    CHECK(find(ended, begun).empty());
    std::vector<equal_sums::match> const found = find(ended, begun, {.tolerance = 10});
    REQUIRE(found.size() == 2);
    CHECK((found[0].ended == 0b01 && found[0].begun == 0b01));
    CHECK(found[0].merit == log2_of(10'000) - log2_of(81) - 2 * log2_of(2));
}
TEST_CASE("all pairs of sets with equal sums are found, without that of all and all") {
    std::mt19937 random(1);
    std::size_t all = 0;
    for (int draw = 0; draw < 200; ++draw) {
        auto const drawn = [&](int first) {
            std::vector<std::int64_t> bytes(2 + random() % 4);
            for (std::int64_t& each : bytes) each = 1 + static_cast<std::int64_t>(random() % 12);
            return list(bytes, first);
        };
        list const ended = drawn(0), begun = drawn(ended.labels.used());
        std::set<std::pair<equal_sums::members, equal_sums::members>> wanted, found;
        equal_sums::members const ends = 1u << ended.bytes.size(), begins = 1u << begun.bytes.size();
        for (equal_sums::members e = 1; e < ends; ++e) {
            for (equal_sums::members b = 1; b < begins; ++b) {
                if (ended.sum(e) == begun.sum(b) && !(e == ends - 1 && b == begins - 1)) wanted.insert({e, b});
            }
        }
        for (equal_sums::match const& m : find(ended, begun)) found.insert({m.ended, m.begun});
        INFO("draw " << draw);
        REQUIRE(found == wanted);
        all += wanted.size();
    }
    CHECK(all > 1000);
}
TEST_CASE("of a long list, sets with few members are found, also with one behind the thirty-second") {
    std::vector<std::int64_t> bytes(40);
    std::iota(bytes.begin(), bytes.end(), 1'000'000);
    bytes[35] = 77'777'777;
    list const ended(bytes, 0), begun({77'777'777, 5}, 40);
    std::vector<equal_sums::match> const found = find(ended, begun);
    REQUIRE(found.size() == 1);
    CHECK((found[0].ended == equal_sums::members{1} << 35 && found[0].begun == 1));
}
TEST_CASE("a seed disturbs merits, by at most eight bits, and always in the same way") {
    list const ended({8, 8, 8, 8}, 0), begun({8, 8, 8, 8}, 4);
    std::vector<equal_sums::match> const plain = find(ended, begun), first = find(ended, begun, {}, 3), again = find(ended, begun, {}, 3),
                                         other = find(ended, begun, {}, 5);
    REQUIRE((plain.size() == first.size() && first.size() == again.size() && first.size() == other.size()));
    bool differs = false;
    for (std::size_t at = 0; at < plain.size(); ++at) {
        CHECK((first[at].ended == again[at].ended && first[at].begun == again[at].begun && first[at].merit == again[at].merit));
        differs |= first[at].ended != other[at].ended || first[at].begun != other[at].begun;
        CHECK(first[at].merit <= plain[0].merit + 8 * 256);
    }
    CHECK(differs);
}
