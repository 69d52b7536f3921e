#include <tilewright/import/view.hpp>

#include "catch.hpp"

// Where the elements of a view lie. Expected positions are worked out by hand.

namespace {

using namespace tilewright;
using namespace tilewright::imported;

/// The position of each element of a view in its stored tensor, row by row.
std::vector<std::int64_t> positions(view const& of) {
    std::vector<factor> all;
    for (factors const& one : of.dimensions) all.insert(all.end(), one.begin(), one.end());
    std::vector<std::int64_t> strides(of.of.extents.size(), 1);
    for (std::size_t at = strides.size(); at-- > 1;) strides[at - 1] = strides[at] * of.of.extents[at];
    std::vector<std::int64_t> made;
    for (std::int64_t element = 0; element < of.elements(); ++element) {
        std::int64_t rest = element, position = 0;
        for (std::size_t dimension = 0; dimension < strides.size(); ++dimension) position += of.first[dimension] * strides[dimension];
        for (std::size_t at = all.size(); at-- > 0;) {
            std::int64_t const index = rest % all[at].extent;
            rest /= all[at].extent;
            for (std::size_t dimension = 0; dimension < strides.size(); ++dimension)
                position += index * all[at].steps[dimension] * strides[dimension];
        }
        made.push_back(position);
    }
    return made;
}
view two_by_three() { return whole_of(stored{"t", scalar_type::int8, {2, 3}}); }
using list = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a whole tensor is read row by row") { CHECK(positions(two_by_three()) == list{0, 1, 2, 3, 4, 5}); }
TEST_CASE("a reshape keeps the order of the elements") {
    auto const joined = reshaped(two_by_three(), {6});
    REQUIRE(joined);
    CHECK(joined->shape() == list{6});
    CHECK(positions(*joined) == list{0, 1, 2, 3, 4, 5});
    auto const again = reshaped(*joined, {2, 1, 3});
    REQUIRE(again);
    CHECK(positions(*again) == list{0, 1, 2, 3, 4, 5});
}
TEST_CASE("a reshape that would cut a row in other places than the tensor does needs a copy") {
    CHECK(!reshaped(two_by_three(), {3, 2}));
    CHECK(!reshaped(whole_of(stored{"t", scalar_type::int8, {4, 3}}), {3, 4}));
}
TEST_CASE("one dimension can be cut anywhere") {
    auto const apart = reshaped(whole_of(stored{"t", scalar_type::int8, {6}}), {3, 2});
    REQUIRE(apart);
    CHECK(positions(*apart) == list{0, 1, 2, 3, 4, 5});
    CHECK(positions(transposed(*apart, {1, 0})) == list{0, 2, 4, 1, 3, 5});
}
TEST_CASE("a transposed tensor is read along its columns, also joined to one dimension") {
    view const across = transposed(two_by_three(), {1, 0});
    CHECK(across.shape() == list{3, 2});
    CHECK(positions(across) == list{0, 3, 1, 4, 2, 5});
    CHECK(positions(*reshaped(across, {6})) == list{0, 3, 1, 4, 2, 5});
}
TEST_CASE("a slice begins, steps and ends where it says, backwards too") {
    CHECK(positions(*sliced(two_by_three(), 1, 1, 1, 2)) == list{1, 2, 4, 5});
    CHECK(positions(*sliced(two_by_three(), 1, 2, -2, 2)) == list{2, 0, 5, 3});
    CHECK(positions(*sliced(two_by_three(), 0, 1, 1, 1)) == list{3, 4, 5});
}
TEST_CASE("a slice of joined dimensions takes whole rows, and nothing else") {
    auto const joined = reshaped(two_by_three(), {6});
    CHECK(positions(*joined) == list{0, 1, 2, 3, 4, 5});
    view const across = *reshaped(transposed(two_by_three(), {1, 0}), {6});
    CHECK(positions(*sliced(across, 0, 2, 1, 2)) == list{1, 4});
    CHECK(!sliced(across, 0, 1, 1, 2));
}
TEST_CASE("a repeated dimension reads one element again") {
    view const row = whole_of(stored{"t", scalar_type::int8, {3}}, {1});
    CHECK(positions(repeated_to(row, {2, 3})) == list{0, 1, 2, 0, 1, 2});
}
TEST_CASE("shapes are repeated from the last dimension on") {
    CHECK(common_shape({4, 1, 3}, {2, 1}) == list{4, 2, 3});
    CHECK(common_shape({}, {2, 1}) == list{2, 1});
    CHECK(!common_shape({4, 3}, {2, 3}));
}
