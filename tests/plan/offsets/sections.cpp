#include <tilewright/plan/offsets/sections.hpp>

#include <vector>

#include "catch.hpp"

// What a search for offsets works on: buffers over sections of time.

using namespace tilewright::ir;
using namespace tilewright::detail;

namespace {

/// Three buffers in a row and one along all of them.
///
///     time  0 1 2 3 4 5
///     0     # #
///     1         # #
///     2             # #
///     3     # # # # # #
std::vector<placed_buffer> in_a_row() {
    return {{.bytes = 10, .alignment = 4, .born = 0, .dead = 2},
            {.bytes = 10, .alignment = 4, .born = 2, .dead = 4},
            {.bytes = 7, .alignment = 8, .born = 4, .dead = 6},
            {.bytes = 1, .alignment = 4, .born = 0, .dead = 6}};
}

}  // namespace

TEST_CASE("offsets are rounded up to their alignment") {
    CHECK((aligned_up(0, 8) == 0 && aligned_up(1, 8) == 8 && aligned_up(8, 8) == 8 && aligned_up(9, 3) == 9 && aligned_up(10, 3) == 12));
    CHECK(aligned_up(13, 1) == 13);
}
TEST_CASE("a work array grows, and gives back what was pushed last") {
    work_array<int> all(1);
    for (int at = 0; at < 40; ++at) all.push(at);
    CHECK((all.used() == 40 && all.at[0] == 0 && all.at[39] == 39));
    CHECK(all.pop() == 39);
    all.shrink(3);
    CHECK(all.pop() == 2);
    CHECK(all.used() == 2);
}
TEST_CASE("sections are the largest sets of buffers that are alive together") {
    std::vector<placed_buffer> const buffers = in_a_row();
    std::vector<int> const banks(4);
    offset_sections const found(buffers, banks.data(), 1);
    REQUIRE((found.count == 4 && found.sections == 3));
    CHECK(found.unit == 4);
    for (int at = 0; at < 3; ++at) CHECK((found.items.at[at].first == at && found.items.at[at].last == at + 1));
    CHECK((found.items.at[3].first == 0 && found.items.at[3].last == 3));
    // Footprints are rounded to what all offsets are multiples of: 12 and 4, 12 and 4, 8 and 4.
    CHECK((found.total(0) == 16 && found.total(1) == 16 && found.total(2) == 12));
    CHECK(found.items.at[2].duration == 2);
}
TEST_CASE("a set that lies in a larger one is no section, nor is a buffer that is never alive") {
    // At time 1 all three are alive, at 0 and 2 fewer.
    std::vector<placed_buffer> const buffers{{.bytes = 4, .born = 0, .dead = 2},
                                             {.bytes = 4, .born = 1, .dead = 2},
                                             {.bytes = 4, .born = 1, .dead = 3},
                                             {.bytes = 9, .born = 1, .dead = 1},
                                             {.bytes = 0, .born = 0, .dead = 3}};
    std::vector<int> const banks(5);
    offset_sections const found(buffers, banks.data(), 1);
    CHECK((found.count == 3 && found.sections == 1));
    CHECK(found.total(0) == 12);
    std::vector<placed_buffer> const none;
    offset_sections const nothing(none, banks.data(), 1);
    CHECK((nothing.count == 0 && nothing.sections == 0 && nothing.unit == 1));
}
TEST_CASE("buffers that differ in nothing are twins, one upon the other; fixed ones are not") {
    std::vector<placed_buffer> buffers(4, {.bytes = 8, .born = 0, .dead = 1});
    buffers[2].bytes = 9;
    buffers[3].fixed = true, buffers[3].offset = 16;
    std::vector<int> const banks(4);
    offset_sections const found(buffers, banks.data(), 1);
    CHECK((found.items.at[0].twin == -1 && found.items.at[1].twin == 0 && found.items.at[2].twin == -1 && found.items.at[3].twin == -1));
    CHECK(found.items.at[3].fixed_at == 16);
    // All four are of one section, in a ring.
    int at = 0, round = 0;
    do at = found.items.at[at].alike, ++round;
    while (at != 0);
    CHECK(round == 4);
}
TEST_CASE("each bank has its own sections, and what lies in several is in those of each") {
    std::vector<placed_buffer> buffers = in_a_row();
    buffers[3].bank_count = 2;
    std::vector<int> const first_banks{0, 1, 2, 2};
    offset_sections const found(buffers, first_banks.data(), 3);
    CHECK(found.sections == 3 * 3);
    CHECK(found.several_banks);
    CHECK((found.items.at[1].first == 3 + 1 && found.items.at[2].first == 6 + 2));
    // From the last bank on, the next is the first.
    CHECK((found.in_next_bank(6) == 0 && found.in_next_bank(1) == 4));
    CHECK((found.total(0) == 16 && found.total(4) == 12 && found.total(8) == 12 && found.total(7) == 4));
    CHECK(found.meet(found.items.at[3], found.items.at[0]));
    CHECK(found.meet(found.items.at[2], found.items.at[3]));
    CHECK_FALSE(found.meet(found.items.at[3], found.items.at[1]));
}
