#include <tilewright/network/given_extents.hpp>

#include "catch.hpp"

using namespace tilewright::network;

namespace {

/// x and y are inputs [batch, 4] and [?, batch], z is [batch].
graph with_open_extents() {
    graph made{.inputs = {tensor_id(0), tensor_id(1)}, .outputs = {tensor_id(2)}};
    made.tensors = {{.name = "x", .shape = {{{{}, "batch"}, {4, {}}}}},
                    {.name = "y", .shape = {{{{}, {}}, {{}, "batch"}}}},
                    {.name = "z", .shape = {{{{}, "batch"}}}}};
    return made;
}
std::string why_not(std::vector<given_extents> const& given) {
    graph made = with_open_extents();
    try {
        give_extents(made, given);
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return {};
}
std::vector<std::int64_t> extents(graph const& of, int tensor) { return usual_extents(of.tensors[static_cast<std::size_t>(tensor)]); }

}  // namespace

TEST_CASE("an extent of a name has its number everywhere") {
    graph made = with_open_extents();
    give_extents(made, std::vector<given_extents>{{"batch", {3}}});
    CHECK(extents(made, 0) == std::vector<std::int64_t>{3, 4});
    CHECK(extents(made, 1) == std::vector<std::int64_t>{0, 3});
    CHECK(extents(made, 2) == std::vector<std::int64_t>{3});
}
TEST_CASE("the shape of an input gives its named extents, too") {
    graph made = with_open_extents();
    give_extents(made, std::vector<given_extents>{{"y", {5, 3}}});
    CHECK(extents(made, 0) == std::vector<std::int64_t>{3, 4});
    CHECK(extents(made, 1) == std::vector<std::int64_t>{5, 3});
    CHECK(way_to_give_extents(made).empty());
}
TEST_CASE("an input without a shape is given one") {
    graph made = with_open_extents();
    made.tensors[1].shape.reset();
    give_extents(made, std::vector<given_extents>{{"batch", {1}}, {"y", {2, 6}}});
    CHECK(extents(made, 1) == std::vector<std::int64_t>{2, 6});
}
TEST_CASE("what cannot be given is refused with what there is") {
    CHECK(why_not({{"bath", {1}}}) == "no extent and no input is called `bath`; there is `x` [?`batch`, 4], `y` [?, ?`batch`]");
    CHECK(why_not({{"x", {1, 5}}}) == "input `x` is [?`batch`, 4], and [1, 5] is given");
    CHECK(why_not({{"x", {1}}}) == "input `x` is [?`batch`, 4], and [1] is given");
    CHECK(why_not({{"batch", {1}}, {"y", {2, 3}}}) == "input `y` is [?, 1], and [2, 3] is given");
    CHECK(why_not({{"batch", {0}}}) == "an extent of `batch` is below 1");
}
TEST_CASE("what run time decides is said once for each name") {
    CHECK(way_to_give_extents(with_open_extents()) ==
          "extents are left to run time, of inputs `x` [?`batch`, 4], `y` [?, ?`batch`]; numbers are given by --extent batch=1 --extent "
          "y=1,1 of "
          "the tool, EXTENTS batch=1 y=1,1 in CMake, or network::give_extents");
}
