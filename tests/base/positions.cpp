#include <tilewright/base/positions.hpp>

#include <concepts>
#include <tilewright/plan/loops/level.hpp>

#include "catch.hpp"

// Positions of one kind do not stand in for those of another, and no integer stands in for them.

using namespace tilewright::ir;
using tilewright::detail::planning, tilewright::detail::side_of;

template <class To, class From>
concept takes = requires(From from, void use(To)) {
    use(from);
};
template <class First, class Second, class Third>
concept names_an_index = requires(planning const& p, First first, Second second, Third third) {
    p.index_form(first, second, third);
};
template <class First, class Second>
concept names_a_loop = requires(planning const& p, First first, Second second) {
    side_of(p, first, second, 1);
};

TEST_CASE("a position reads as an integer, but none is made of one by itself") {
    STATIC_REQUIRE((takes<int, stage_id> && takes<std::int16_t, buffer_id> && takes<std::int64_t, node_id>));
    STATIC_REQUIRE(!(takes<stage_id, int> || takes<buffer_id, std::int16_t> || takes<variable_id, int> || takes<node_id, int>));
    STATIC_REQUIRE(!(takes<stage_id, node_id> || takes<buffer_id, variable_id> || takes<variable_id, stage_id>));
    STATIC_REQUIRE(stage_id{} == 0);
    STATIC_REQUIRE((no_stage == -1 && no_node == -1 && no_buffer == -1 && no_variable == -1));
}
TEST_CASE("arguments that have changed places do not compile") {
    STATIC_REQUIRE(names_an_index<stage_id, node_id, int>);
    STATIC_REQUIRE(
        !(names_an_index<node_id, stage_id, int> || names_an_index<stage_id, int, node_id> || names_an_index<int, node_id, int>));
    STATIC_REQUIRE(names_a_loop<stage_id, variable_id>);
    STATIC_REQUIRE(!(names_a_loop<variable_id, stage_id> || names_a_loop<stage_id, int>));
}
TEST_CASE("positions count up and down") {
    buffer_id at{};
    CHECK(++at == 1);
    CHECK(++at == 2);
    CHECK(--at == 1);
    STATIC_REQUIRE(std::same_as<decltype(++at), buffer_id&>);
}
