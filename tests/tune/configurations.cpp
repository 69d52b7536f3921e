#include <algorithm>
#include <set>
#include <tilewright/tune/options.hpp>
#include <tilewright/tune/space.hpp>

#include "catch.hpp"

using namespace tilewright;
using Catch::Matchers::Contains;

TEST_CASE("a configuration is asked by name, in the compiler and at run time") {
    constexpr tune::configuration one{{"rows", 6}, {"vectors", 2}};
    static_assert(one["rows"] == 6 && one["vectors"] == 2 && one.has("rows") && !one.has("row"));
    CHECK(one == tune::configuration{{"rows", 6}, {"vectors", 2}});
    CHECK_FALSE(one == tune::configuration{{"rows", 6}, {"vectors", 3}});
    CHECK_FALSE(one == tune::configuration{{"rows", 6}, {"lanes", 2}});
    CHECK_FALSE(one == tune::configuration{{"rows", 6}});
    CHECK_THROWS_WITH(one["columns"], "`columns` is no number of this configuration");
    tune::configuration many;
    for (int at = 0; at < 16; ++at) many.add("x", at);
    CHECK_THROWS_AS(many.add("x", 16), bad_query);
}

TEST_CASE("a space has all combinations, of which the last parameter changes fastest") {
    tune::space const all({{"rows", {4, 6}}, tune::range("block", 8, 25, 8)});
    REQUIRE(all.size() == 6);
    std::string texts;
    for (int at = 0; at < 6; ++at) texts += tune::text_of(all.at(at)) + "; ";
    CHECK(texts == "rows=4 block=8; rows=4 block=16; rows=4 block=24; rows=6 block=8; rows=6 block=16; rows=6 block=24; ");
    CHECK(all.allows(all.at(0)));
    tune::space const some({{"rows", {4, 6}}, {"block", {8, 16}}}, [](tune::configuration const& c) { return c["rows"] * 2 < c["block"]; });
    CHECK(some.size() == 4);
    CHECK_FALSE(some.allows({{"rows", 4}, {"block", 8}}));
    CHECK(some.allows({{"rows", 6}, {"block", 16}}));
}

TEST_CASE("a space can be a list, which has each configuration once") {
    auto const some = tune::space::listed({{{"rows", 4}}, {{"rows", 6}}, {{"rows", 4}}});
    CHECK(some.size() == 2);
    CHECK(some.at(1)["rows"] == 6);
    CHECK_THROWS_WITH(tune::space::listed({}), Contains("needs a configuration"));
    CHECK_THROWS_WITH(tune::space::listed({{{"rows", 4}}, {{"columns", 4}}}), Contains("the same names"));
}

TEST_CASE("a space refuses parameters that say nothing, or are not to be told apart") {
    auto const wrong = [](std::vector<tune::parameter> const& parameters, std::string const& why) {
        CHECK_THROWS_WITH(tune::space(parameters), Contains(why));
    };
    wrong({}, "needs a parameter");
    wrong({{"rows", {}}}, "`rows` has no value");
    wrong({{"rows", {4, 6, 4}}}, "the value 4 twice");
    wrong({{"rows", {4}}, {"rows", {6}}}, "stands there twice");
    wrong({{"2 rows", {4}}}, "identifier");
    wrong({{"a_name_of_more_than_23_letters", {4}}}, "at most 23 letters");
    wrong(std::vector<tune::parameter>(17, {"rows", {4}}), "has 17 parameters");
    std::vector<tune::parameter> many;
    for (char const* name : {"a", "b", "c", "d"}) many.push_back(tune::range(name, 1, 512));
    wrong(many, "more than 2^32");
    CHECK_THROWS_WITH(tune::range("rows", 1, 5, 0), Contains("a step is at least 1"));
}

TEST_CASE("shards share out an order: each thing belongs to exactly one of them, and none has one more than another") {
    for (int of : {1, 2, 3, 7, 64}) {
        std::vector<int> count(static_cast<std::size_t>(of));
        for (int ordinal = 0; ordinal < 100; ++ordinal) {
            int owners = 0;
            for (int part = 1; part <= of; ++part) {
                bool const mine = tune::shard{part, of}.has(ordinal);
                owners += mine;
                count[static_cast<std::size_t>(part - 1)] += mine;
            }
            CHECK(owners == 1);
        }
        CHECK(*std::max_element(count.begin(), count.end()) - *std::min_element(count.begin(), count.end()) <= 1);
    }
}

TEST_CASE("a shard is I of N, counted from 1") {
    tune::shard const third = tune::shard_of("3/64");
    CHECK(third.part == 3);
    CHECK(third.of == 64);
    for (char const* text : {"0/4", "5/4", "1/0", "-1/4", "1", "/4", "1/", "1/4/2", "1/4 ", "a/b", "", "1.5/4", "99999999999999999999/4"})
        CHECK_THROWS_WITH(tune::shard_of(text), Contains("a shard is I/N"));
}
