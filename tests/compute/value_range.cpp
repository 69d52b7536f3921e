#include <tilewright/compute/functions.hpp>
#include <tilewright/compute/stage.hpp>
#include <tilewright/compute/value_range.hpp>

#include "catch.hpp"

// What values an expression can take. Expected ranges are found by trying all values.

using namespace tilewright;

namespace {

constexpr axis i{"i", 16}, j{"j", 16};
constexpr tensor<std::uint8_t> u{"u"};
constexpr tensor<std::int8_t> s{"s"}, t{"t"};
constexpr tensor<std::int32_t> out{"out"};
constexpr tensor<float> f{"f"};

/// Of what the last stage stores.
template <int Count>
constexpr value_range stored(computation<Count> const& of) {
    return range_of(of.view(), of.view()[Count - 1].argument(1));
}
constexpr value_range from_to(std::int64_t low, std::int64_t high) { return {low, high, true}; }

/// Whether the products that the last stage adds up fit.
template <int Count>
constexpr bool pairs_fit(computation<Count> const& of) {
    ir::stage read;
    int first = 0;
    for (int at = 0; at + 1 < Count; ++at) {
        if (of.view()[at].op == operation::store) first = at + 1;
    }
    return !read_stage(of.view(), first, read) && pairs_fit_16_bits(of.view(), read.body);
}
constexpr auto product_of(auto const& left, auto const& right) { return out(i) += cast<std::int32_t>(left) * cast<std::int32_t>(right); }

}  // namespace

TEST_CASE("ranges are those of types, narrowed by what is computed") {
    CHECK(stored(out(i) = cast<std::int32_t>(u(i))) == from_to(0, 255));
    CHECK(stored(out(i) = cast<std::int32_t>(s(i)) - cast<std::int32_t>(u(i))) == from_to(-383, 127));
    CHECK(stored(out(i) = cast<std::int32_t>(s(i)) * cast<std::int32_t>(s(i))) == from_to(-16256, 16384));
    CHECK(stored(out(i) = cast<std::int32_t>(clamp(s(i), -3, 100)) * -2) == from_to(-200, 6));
    CHECK(stored(out(i) = min(cast<std::int32_t>(u(i)), 7)) == from_to(0, 7));
    CHECK(stored(out(i) = select(u(i) < 3, cast<std::int32_t>(s(i)), 1000)) == from_to(-128, 1000));
}
TEST_CASE("what may wrap, and what is no integer, has the range of its type") {
    CHECK(stored(t(i) = s(i) + s(i)) == from_to(-128, 127));
    CHECK(stored(t(i) = cast<std::int8_t>(u(i))) == from_to(-128, 127));
    CHECK(stored(out(i) = cast<std::int32_t>(f(i))) == range_of(scalar_type::int32));
    CHECK(stored(out(i) = cast<std::int32_t>(u(i)) / 2) == range_of(scalar_type::int32));
    CHECK_FALSE(stored(f(i) = f(i) * 2).known);
    CHECK_FALSE(range_of(scalar_type::uint64).known);
}
TEST_CASE("what an earlier stage stores is known, the border of a padded one included") {
    constexpr tensor<std::int8_t> narrow{"narrow"};
    CHECK(stored(stages(narrow(i) = clamp(s(i), -5, 6), out(i) = cast<std::int32_t>(narrow(i)))) == from_to(-5, 6));
    CHECK(stored(stages(narrow(i) = clamp(s(i), 5, 6), out(i) = cast<std::int32_t>(padded(narrow(i), 0)(i - 1)))) == from_to(0, 6));
    CHECK(stored(stages(t(i) = sum(j, clamp(s(i + j), 0, 1)), out(i) = cast<std::int32_t>(t(i)))) == from_to(-128, 127));
}
TEST_CASE("two products of bytes fit 16 bits when one of them has 7") {
    CHECK_FALSE(pairs_fit(product_of(u(i + j), s(j))));
    CHECK(pairs_fit(product_of(u(i + j), clamp(s(j), -64, 64))));
    CHECK(pairs_fit(product_of(clamp(s(j), -64, 64), u(i + j))));
    CHECK_FALSE(pairs_fit(product_of(u(i + j), clamp(s(j), -65, 64))));
    CHECK_FALSE(pairs_fit(product_of(u(i + j), clamp(s(j), -64, 65))));
    CHECK(pairs_fit(product_of(clamp(u(i + j), 0, 128), s(j))));
    CHECK_FALSE(pairs_fit(product_of(clamp(u(i + j), 0, 129), s(j))));
    CHECK_FALSE(pairs_fit(product_of(s(i + j), clamp(s(j), -64, 64))));  // no such instruction
}
