#include <tilewright/plan/write/constant_value.hpp>

#include <bit>

#include "plan/small_kernels.hpp"

// What an expression is when some of its operands are constants.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr tensor<float> x{"x"}, y{"y"};
constexpr tensor<std::int8_t> bytes{"bytes"};

/// The value of a computation when accesses to one tensor are a number, and others are not known.
template <class Computation>
known value_of(Computation const& what, label const& tensor, std::int64_t number) {
    stage s;
    read_stage(what.view(), 0, s);
    return evaluate(what.view(), s.body, [&](int node) -> known {
        return what.view()[node].name == tensor ? known{true, number} : known{};
    });
}
template <class Computation>
bool comes_to(Computation const& what, label const& tensor, std::int64_t number, std::int64_t value) {
    known const found = value_of(what, tensor, number);
    return found.is && found.value == value;
}

}  // namespace

TEST_CASE("integers wrap in their type") {
    CHECK((wrapped(scalar_type::int8, 200).value == -56 && wrapped(scalar_type::uint8, -1).value == 255));
    CHECK((wrapped(scalar_type::int32, std::int64_t{1} << 32).value == 0 && wrapped(scalar_type::boolean, 6).value == 1));
    CHECK_FALSE(wrapped(scalar_type::float32, 1).is);
}
TEST_CASE("of integers, sums and products of what is known are known, and zero times anything is") {
    auto const sum = C(m, n) = A(m, n) * 3 + 4, difference = C(m, n) = A(m, n) * 3 - 4;
    CHECK((comes_to(sum, "A", 5, 19) && comes_to(difference, "A", 5, 11)));
    CHECK_FALSE(value_of(sum, "B", 5).is);
    auto const two = C(m, n) = A(m, n) * B(m, n);
    CHECK(comes_to(two, "A", 0, 0));
    CHECK(comes_to(two, "B", 0, 0));
    CHECK_FALSE(value_of(two, "A", 1).is);
    auto const large = C(m, n) = A(m, n) + 1;
    CHECK(comes_to(large, "A", 0x7fff'ffff, -0x8000'0000LL));
}
TEST_CASE("of floating point, only zeros stay what they are: zero times infinity is no number") {
    auto const product_of_two = y(m) = x(m) * 2.0f, sum = y(m) = x(m) + 2.0f, zeros = y(m) = x(m) * 0.0f;
    CHECK_FALSE(value_of(product_of_two, "x", 0).is);
    CHECK_FALSE(value_of(sum, "x", 0).is);
    CHECK(comes_to(zeros, "x", 0, 0));
    CHECK_FALSE(value_of(zeros, "x", std::bit_cast<std::int64_t>(1.0)).is);
}
TEST_CASE("a conversion wraps, and between integers and floating point only zero is known") {
    auto const narrow = bytes(m, n) = cast<std::int8_t>(A(m, n));
    CHECK(comes_to(narrow, "A", 300, 44));
    auto const real = y(m) = cast<float>(A(m, 0));
    CHECK(comes_to(real, "A", 0, 0));
    CHECK_FALSE(value_of(real, "A", 1).is);
    auto const other = C(m, n) = max(A(m, n), 3);
    CHECK_FALSE(value_of(other, "A", 1).is);  // no operation of those
}
TEST_CASE("numbers of 16 bits are known as their bits, and what is made of them as floats") {
    constexpr tensor<float16> small{"small"};
    constexpr tensor<bfloat16> brain{"brain"};
    auto const wide = y(m) = cast<float>(small(m));
    auto const product = y(m) = cast<float>(small(m)) * cast<float>(brain(m));
    CHECK(comes_to(wide, "small", 0, 0));
    CHECK(comes_to(wide, "small", 0xc000, std::bit_cast<std::int64_t>(-2.0)));
    CHECK_FALSE(value_of(product, "small", 0).is);
    auto const narrow = brain(m) = cast<bfloat16>(x(m));
    auto const same = small(m) = cast<float16>(small(m));
    CHECK(comes_to(narrow, "x", std::bit_cast<std::int64_t>(-1.0), 0xbf80));
    CHECK(comes_to(same, "small", 0xbc00, 0xbc00));
}
