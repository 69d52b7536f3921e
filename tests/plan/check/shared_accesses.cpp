#include <tilewright/plan/check/shared_accesses.hpp>

#include "catch.hpp"

using tilewright::detail::shared_accesses;
using touched = shared_accesses::access;

TEST_CASE("a core knows what another one has done, unless it is a job in flight") {
    shared_accesses s;
    touched const done{.core = 1, .index = 4}, in_flight{.core = 1, .lane = 0, .index = 4};
    s.known[0][1] = 4;
    CHECK_FALSE(s.knows(0, done));
    s.known[0][1] = 5;
    CHECK(s.knows(0, done));
    CHECK_FALSE(s.knows(0, in_flight));
    CHECK((s.knows(1, done) && s.knows(1, in_flight)));
}
TEST_CASE("what all cores know of is forgotten") {
    shared_accesses s;
    s.all[0] = {.core = 1, .index = 4};
    s.all[1] = {.core = 0, .index = 2};
    s.count = 2;
    s.known[0][1] = 5;
    s.forget(2);
    REQUIRE(s.count == 1);
    CHECK(s.all[0].core == 0);
    s.known[1][0] = 3;
    s.forget(2);
    CHECK(s.count == 0);
}
TEST_CASE("a token that is taken orders what a lane was given before it and what the other is given since then, on one core") {
    shared_accesses::mark m{.core = 1, .from = 0, .to = 2, .end = 5};
    CHECK(m.comes_after({.core = 1, .lane = 0, .index = 4}));
    CHECK_FALSE(m.comes_after({.core = 1, .lane = 0, .index = 5}));
    CHECK_FALSE(m.comes_after({.core = 0, .lane = 0, .index = 4}));
    CHECK_FALSE(m.comes_after({.core = 1, .lane = 2, .index = 4}));
    CHECK_FALSE(m.holds_back({.core = 1, .lane = 2, .index = 7}));
    m.since = 7;
    CHECK(m.holds_back({.core = 1, .lane = 2, .index = 7}));
    CHECK_FALSE(m.holds_back({.core = 1, .lane = 2, .index = 6}));
    CHECK_FALSE(m.holds_back({.core = 0, .lane = 2, .index = 7}));
    CHECK_FALSE(m.holds_back({.core = 1, .lane = 0, .index = 7}));
}
TEST_CASE("tokens that were taken after jobs of which none is in flight are forgotten") {
    shared_accesses s;
    s.all[0] = {.core = 1, .lane = 0, .index = 4};
    s.count = 1;
    for (std::int64_t end : {4, 5, 6}) s.add({.core = 1, .from = 0, .to = 2, .end = end, .since = end == 6 ? -1 : 8});
    s.forget_marks();
    REQUIRE(s.mark_count == 2);
    CHECK((s.marks[0].end == 5 && s.marks[1].end == 6));
    s.count = 0;
    s.forget_marks();
    REQUIRE(s.mark_count == 1);
    CHECK(s.marks[0].end == 6);
}
TEST_CASE("where there is no room for a mark, the oldest is forgotten") {
    shared_accesses s;
    for (int at = 0; at <= shared_accesses::most_marks; ++at) s.add({.number = at});
    CHECK(s.mark_count == shared_accesses::most_marks);
    CHECK((s.marks[0].number == 1 && s.marks[s.mark_count - 1].number == shared_accesses::most_marks));
}
