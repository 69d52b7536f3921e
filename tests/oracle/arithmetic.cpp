#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "oracle/arithmetic.hpp"
#include "oracle/ask.hpp"

// Every operation on every type that has it, with results worked out by hand.

using namespace tilewright;

namespace {

/// What `make(a, b)` is of two values, and what undefined was met.
struct answer {
    std::uint64_t bits = 0;
    std::vector<oracle::mishap> mishaps;
    bool defined = true;
};
template <class A, class B, class Make>
answer ask(A a, B b, Make const& make) {
    static constexpr tensor<A> left{"left"};
    static constexpr tensor<B> right{"right"};
    auto const value = detail::to_expression(make(detail::to_expression(left()), detail::to_expression(right())));
    auto const whole = any_tensor{"out", value.root().type}() = value;
    using oracle::tensor_box;
    std::vector<oracle::operand> const operands{{tensor_box{"left", scalar_type_of<A>(), 0, {}, {}}, &a},
                                                {tensor_box{"right", scalar_type_of<B>(), 0, {}, {}}, &b}};
    oracle::result const made = oracle::evaluate(whole.view(), operands);
    answer found{0, made.mishaps, made.defined.at(0)};
    std::memcpy(&found.bits, made.bytes.data(), made.bytes.size());
    return found;
}

template <class R, class A, class B, class Make>
bool gives(A a, B b, Make const& make, R expected) {
    answer const found = ask(a, b, make);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &expected, sizeof expected);
    UNSCOPED_INFO("bits " << found.bits << ", expected " << bits);
    return found.bits == bits && found.mishaps.empty() && found.defined;
}
template <class A, class B, class Make>
bool is_undefined(A a, B b, Make const& make, oracle::mishap_kind kind) {
    answer const found = ask(a, b, make);
    return found.mishaps.size() == 1 && found.mishaps[0].kind == kind && found.mishaps[0].times == 1 && !found.defined;
}

constexpr auto sum_of = [](auto const& a, auto const& b) { return a + b; };
constexpr auto difference_of = [](auto const& a, auto const& b) { return a - b; };
constexpr auto product_of = [](auto const& a, auto const& b) { return a * b; };
constexpr auto quotient_of = [](auto const& a, auto const& b) { return a / b; };
constexpr auto remainder_of = [](auto const& a, auto const& b) { return a % b; };
constexpr auto left_of = [](auto const& a, auto const& b) { return a << b; };
constexpr auto right_of = [](auto const& a, auto const& b) { return a >> b; };
constexpr auto less_of = [](auto const& a, auto const& b) { return min(a, b); };
constexpr auto more_of = [](auto const& a, auto const& b) { return max(a, b); };

using oracle::mishap_kind;
constexpr std::int8_t low8 = -128, high8 = 127;
constexpr std::int16_t low16 = -32768;
constexpr std::int32_t low32 = std::numeric_limits<std::int32_t>::min(), high32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t low64 = std::numeric_limits<std::int64_t>::min(), high64 = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("integers of 8 and 16 bits and those without sign wrap") {
    CHECK(gives<std::int8_t>(high8, std::int8_t{1}, sum_of, low8));
    CHECK(gives<std::int8_t>(low8, std::int8_t{1}, difference_of, high8));
    CHECK(gives<std::int8_t>(std::int8_t{100}, std::int8_t{3}, product_of, 44));  // 300 - 256
    CHECK(gives<std::int8_t>(low8, std::int8_t{-1}, product_of, low8));
    CHECK(gives<std::int16_t>(std::int16_t{30000}, std::int16_t{10000}, sum_of, -25536));
    CHECK(gives<std::int16_t>(std::int16_t{300}, std::int16_t{300}, product_of, 24464));  // 90000 - 65536
    CHECK(gives<std::uint8_t>(std::uint8_t{3}, std::uint8_t{5}, difference_of, 254));
    CHECK(gives<std::uint8_t>(std::uint8_t{16}, std::uint8_t{17}, product_of, 16));
    CHECK(gives<std::uint16_t>(std::uint16_t{65535}, std::uint16_t{65535}, product_of, 1));
    CHECK(gives<std::uint32_t>(0u, 1u, difference_of, 0xffffffffu));
    CHECK(gives<std::uint32_t>(0x10000u, 0x10001u, product_of, 0x10000u));
    CHECK(gives<std::uint64_t>(std::uint64_t{0}, std::uint64_t{1}, difference_of, ~std::uint64_t{0}));
    CHECK(gives<std::uint64_t>(~std::uint64_t{0}, std::uint64_t{2}, sum_of, 1));
}
TEST_CASE("overflow of signed integers of 32 and 64 bits is told") {
    CHECK(gives<std::int32_t>(high32, 0, sum_of, high32));
    CHECK(is_undefined(high32, 1, sum_of, mishap_kind::overflow));
    CHECK(is_undefined(low32, 1, difference_of, mishap_kind::overflow));
    CHECK(gives<std::int32_t>(46340, 46340, product_of, 2147395600));
    CHECK(is_undefined(46341, 46341, product_of, mishap_kind::overflow));
    CHECK(is_undefined(low32, -1, quotient_of, mishap_kind::overflow));
    CHECK(is_undefined(high64, std::int64_t{1}, sum_of, mishap_kind::overflow));
    CHECK(is_undefined(low64, std::int64_t{-1}, product_of, mishap_kind::overflow));
    CHECK(is_undefined(low64, std::int64_t{-1}, quotient_of, mishap_kind::overflow));
    CHECK(gives<std::int64_t>(std::int64_t{high32}, std::int64_t{high32}, product_of, 4611686014132420609));
}
TEST_CASE("division rounds so that no remainder is negative, and by 0 it gives 0") {
    auto const check = []<class T>(T) {
        struct row {
            int a, b, quotient, remainder;
        };
        for (row const r : {row{7, 2, 3, 1},
                            {-7, 2, -4, 1},
                            {7, -2, -3, 1},
                            {-7, -2, 4, 1},
                            {6, 3, 2, 0},
                            {-6, 3, -2, 0},
                            {5, 0, 0, 0},
                            {-5, 0, 0, 0},
                            {0, 5, 0, 0},
                            {1, 5, 0, 1},
                            {-1, 5, -1, 4},
                            {-1, -5, 1, 4}}) {
            INFO(r.a << ", " << r.b);
            CHECK(gives<T>(static_cast<T>(r.a), static_cast<T>(r.b), quotient_of, static_cast<T>(r.quotient)));
            CHECK(gives<T>(static_cast<T>(r.a), static_cast<T>(r.b), remainder_of, static_cast<T>(r.remainder)));
        }
    };
    check(std::int8_t{}), check(std::int16_t{}), check(std::int32_t{}), check(std::int64_t{});
    CHECK(gives<std::int8_t>(low8, std::int8_t{-1}, quotient_of, low8));
    CHECK(gives<std::int8_t>(low8, std::int8_t{-1}, remainder_of, 0));
    CHECK(gives<std::int16_t>(low16, std::int16_t{-1}, quotient_of, low16));
    CHECK(gives<std::int32_t>(low32, -1, remainder_of, 0));
    CHECK(gives<std::int64_t>(low64, low64, quotient_of, 1));
    CHECK(gives<std::int64_t>(std::int64_t{-1}, low64, quotient_of, 1));
    CHECK(gives<std::int64_t>(std::int64_t{-1}, low64, remainder_of, high64));
    CHECK(gives<std::uint8_t>(std::uint8_t{200}, std::uint8_t{7}, quotient_of, 28));
    CHECK(gives<std::uint8_t>(std::uint8_t{200}, std::uint8_t{7}, remainder_of, 4));
    CHECK(gives<std::uint16_t>(std::uint16_t{200}, std::uint16_t{0}, remainder_of, 0));
    CHECK(gives<std::uint32_t>(0xffffffffu, 2u, quotient_of, 0x7fffffffu));
    CHECK(gives<std::uint64_t>(~std::uint64_t{0}, std::uint64_t{10}, remainder_of, 5));  // 18446744073709551615
}
TEST_CASE("shifts: to the right with the sign, to the left bits are lost, amounts are less than the bits") {
    CHECK(gives<std::int8_t>(std::int8_t{-7}, std::int8_t{1}, right_of, -4));
    CHECK(gives<std::int8_t>(std::int8_t{-7}, std::int8_t{7}, right_of, -1));
    CHECK(gives<std::int8_t>(std::int8_t{3}, std::int8_t{7}, left_of, low8));
    CHECK(gives<std::int16_t>(low16, std::int16_t{15}, right_of, -1));
    CHECK(gives<std::int32_t>(low32, 31, right_of, -1));
    CHECK(gives<std::int32_t>(3, 31, left_of, low32));
    CHECK(gives<std::int64_t>(std::int64_t{-1}, std::int64_t{63}, left_of, low64));
    CHECK(gives<std::int64_t>(low64, std::int64_t{63}, right_of, -1));
    CHECK(gives<std::uint8_t>(std::uint8_t{0x81}, std::uint8_t{1}, left_of, 2));
    CHECK(gives<std::uint8_t>(std::uint8_t{0x81}, std::uint8_t{7}, right_of, 1));
    CHECK(gives<std::uint16_t>(std::uint16_t{0x8001}, std::uint16_t{1}, right_of, 0x4000));
    CHECK(gives<std::uint32_t>(0x80000000u, 31u, right_of, 1u));
    CHECK(gives<std::uint64_t>(std::uint64_t{1}, std::uint64_t{63}, left_of, std::uint64_t{1} << 63));
    CHECK(is_undefined(std::int8_t{1}, std::int8_t{8}, left_of, mishap_kind::shift));
    CHECK(is_undefined(std::int8_t{1}, std::int8_t{-1}, right_of, mishap_kind::shift));
    CHECK(is_undefined(1, 32, right_of, mishap_kind::shift));
    CHECK(is_undefined(1u, 32u, left_of, mishap_kind::shift));
    CHECK(is_undefined(std::uint64_t{1}, std::uint64_t{64}, right_of, mishap_kind::shift));
}
TEST_CASE("floating point is rounded once an operation") {
    CHECK(gives<float>(16777216.0f, 1.0f, sum_of, 16777216.0f));  // 2^24 + 1 has no float: to the even one
    CHECK(gives<float>(16777218.0f, 1.0f, sum_of, 16777220.0f));
    CHECK(gives<double>(16777216.0, 1.0, sum_of, 16777217.0));
    CHECK(gives<float>(1.0f, 3.0f, quotient_of, 0x1.555556p-2f));
    CHECK(gives<double>(1.0, 3.0, quotient_of, 0x1.5555555555555p-2));
    CHECK(gives<float>(1.0f, 0.0f, quotient_of, std::numeric_limits<float>::infinity()));
    CHECK(gives<float>(-0.0f, 0.0f, sum_of, 0.0f));
    CHECK(gives<float>(-0.0f, -0.0f, sum_of, -0.0f));
    CHECK(gives<double>(1e308, 10.0, product_of, std::numeric_limits<double>::infinity()));
    CHECK(gives<float>(7.5f, 2.0f, remainder_of, 1.5f));
    CHECK(gives<float>(-7.5f, 2.0f, remainder_of, 0.5f));
    CHECK(gives<double>(7.5, -2.0, remainder_of, -0.5));  // 7.5 + 2 * floor(-3.75) = 7.5 - 8
    auto const negated = [](auto const& a, auto const&) { return -a; };
    CHECK(gives<float>(0.0f, 0.0f, negated, -0.0f));
    CHECK(gives<std::int16_t>(low16, std::int16_t{0}, negated, low16));
    // A fused multiply-add would give the rest of the rounded product.
    auto const fused = [](auto const& a, auto const& b) { return a * b - a * b; };
    CHECK(gives<float>(0x1.000002p0f, 0x1.000002p0f, fused, 0.0f));
}
TEST_CASE("minimum, maximum and clamp") {
    auto const check = []<class T>(T) {
        CHECK(gives<T>(T{3}, T{5}, less_of, T{3}));
        CHECK(gives<T>(T{5}, T{3}, less_of, T{3}));
        CHECK(gives<T>(T{3}, T{5}, more_of, T{5}));
        CHECK(gives<T>(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), less_of, std::numeric_limits<T>::lowest()));
        CHECK(gives<T>(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), more_of, std::numeric_limits<T>::max()));
        auto const limited = [](auto const& a, auto const&) { return clamp(a, 2, 4); };
        CHECK(gives<T>(T{1}, T{}, limited, T{2}));
        CHECK(gives<T>(T{3}, T{}, limited, T{3}));
        CHECK(gives<T>(T{9}, T{}, limited, T{4}));
    };
    check(std::int8_t{}), check(std::int16_t{}), check(std::int32_t{}), check(std::int64_t{});
    check(std::uint8_t{}), check(std::uint16_t{}), check(std::uint32_t{}), check(std::uint64_t{}), check(float{}), check(double{});
}
TEST_CASE("comparisons give a bool, by value and with sign") {
    auto const lt = [](auto const& a, auto const& b) { return a < b; };
    auto const le = [](auto const& a, auto const& b) { return a <= b; };
    auto const gt = [](auto const& a, auto const& b) { return a > b; };
    auto const ge = [](auto const& a, auto const& b) { return a >= b; };
    auto const eq = [](auto const& a, auto const& b) { return a == b; };
    auto const ne = [](auto const& a, auto const& b) { return a != b; };
    auto const check = [&]<class T>(T, T small, T large) {
        CHECK(gives<bool>(small, large, lt, true));
        CHECK(gives<bool>(large, small, lt, false));
        CHECK(gives<bool>(small, small, lt, false));
        CHECK(gives<bool>(small, small, le, true));
        CHECK(gives<bool>(large, small, le, false));
        CHECK(gives<bool>(large, small, gt, true));
        CHECK(gives<bool>(small, large, gt, false));
        CHECK(gives<bool>(small, small, ge, true));
        CHECK(gives<bool>(small, large, ge, false));
        CHECK(gives<bool>(small, small, eq, true));
        CHECK(gives<bool>(small, large, eq, false));
        CHECK(gives<bool>(small, large, ne, true));
    };
    check(std::int8_t{}, std::int8_t{-1}, std::int8_t{1}), check(std::int16_t{}, std::int16_t{-1}, std::int16_t{1});
    check(std::int32_t{}, -1, 1), check(std::int64_t{}, std::int64_t{-1}, std::int64_t{1});
    check(std::uint8_t{}, std::uint8_t{1}, std::uint8_t{255}), check(std::uint16_t{}, std::uint16_t{1}, std::uint16_t{65535});
    check(std::uint32_t{}, 1u, 0xffffffffu), check(std::uint64_t{}, std::uint64_t{1}, ~std::uint64_t{0});
    check(float{}, -1.5f, 0.25f), check(double{}, -1.5, 0.25);
    CHECK(gives<bool>(false, true, lt, true));
    CHECK(gives<bool>(true, true, eq, true));
    float const none = std::numeric_limits<float>::quiet_NaN();
    CHECK(gives<bool>(none, none, eq, false));
    CHECK(gives<bool>(none, none, ne, true));
    CHECK(gives<bool>(none, 1.0f, lt, false));
    CHECK(gives<bool>(none, 1.0f, ge, false));
    CHECK(gives<bool>(0.0f, -0.0f, eq, true));
}
TEST_CASE("logic of bools") {
    auto const both = [](auto const& a, auto const& b) { return a && b; };
    auto const any = [](auto const& a, auto const& b) { return a || b; };
    auto const no = [](auto const& a, auto const&) { return !a; };
    for (bool a : {false, true}) {
        CHECK(gives<bool>(a, false, no, !a));
        for (bool b : {false, true}) {
            CHECK(gives<bool>(a, b, both, a && b));
            CHECK(gives<bool>(a, b, any, a || b));
        }
    }
}
TEST_CASE("casts: integers wrap, floating point is truncated, a bool is whether a value is not 0") {
    auto const to = []<class To>(To) { return [](auto const& a, auto const&) { return cast<To>(a); }; };
    CHECK(gives<std::int8_t>(300, 0, to(std::int8_t{}), 44));
    CHECK(gives<std::int8_t>(std::uint8_t{200}, 0, to(std::int8_t{}), -56));
    CHECK(gives<std::uint8_t>(-1, 0, to(std::uint8_t{}), 255));
    CHECK(gives<std::int16_t>(70000, 0, to(std::int16_t{}), 4464));
    CHECK(gives<std::uint16_t>(std::int8_t{-1}, 0, to(std::uint16_t{}), 65535));
    CHECK(gives<std::int32_t>(0xffffffffu, 0, to(std::int32_t{}), -1));
    CHECK(gives<std::int32_t>(std::int64_t{1} << 40, 0, to(std::int32_t{}), 0));
    CHECK(gives<std::uint32_t>(std::int64_t{-1}, 0, to(std::uint32_t{}), 0xffffffffu));
    CHECK(gives<std::int64_t>(0xffffffffu, 0, to(std::int64_t{}), 4294967295));
    CHECK(gives<std::int64_t>(~std::uint64_t{0}, 0, to(std::int64_t{}), -1));
    CHECK(gives<std::uint64_t>(std::int8_t{-1}, 0, to(std::uint64_t{}), ~std::uint64_t{0}));
    CHECK(gives<std::int32_t>(2.9f, 0, to(std::int32_t{}), 2));
    CHECK(gives<std::int32_t>(-2.9, 0, to(std::int32_t{}), -2));
    CHECK(gives<std::uint8_t>(-0.9f, 0, to(std::uint8_t{}), 0));
    CHECK(gives<std::int8_t>(127.9f, 0, to(std::int8_t{}), 127));
    CHECK(is_undefined(128.0f, 0, to(std::int8_t{}), mishap_kind::conversion));
    CHECK(gives<std::int8_t>(-128.9f, 0, to(std::int8_t{}), -128));
    CHECK(is_undefined(-129.0f, 0, to(std::int8_t{}), mishap_kind::conversion));
    CHECK(is_undefined(-1.0f, 0, to(std::uint32_t{}), mishap_kind::conversion));
    CHECK(is_undefined(0x1p31f, 0, to(std::int32_t{}), mishap_kind::conversion));
    CHECK(gives<std::int32_t>(-0x1p31f, 0, to(std::int32_t{}), low32));
    CHECK(is_undefined(0x1p63, 0, to(std::int64_t{}), mishap_kind::conversion));
    CHECK(gives<std::uint64_t>(0x1p63, 0, to(std::uint64_t{}), std::uint64_t{1} << 63));
    CHECK(is_undefined(0x1p64, 0, to(std::uint64_t{}), mishap_kind::conversion));
    CHECK(is_undefined(std::nan(""), 0, to(std::int32_t{}), mishap_kind::conversion));
    CHECK(gives<float>(16777217, 0, to(float{}), 16777216.0f));
    CHECK(gives<float>(~std::uint64_t{0}, 0, to(float{}), 0x1p64f));
    CHECK(gives<double>(high64, 0, to(double{}), 0x1p63));
    CHECK(gives<float>(0.1, 0, to(float{}), 0.1f));
    CHECK(gives<double>(0.1f, 0, to(double{}), 0x1.99999ap-4));
    CHECK(gives<std::int16_t>(true, 0, to(std::int16_t{}), 1));
    CHECK(gives<float>(true, 0, to(float{}), 1.0f));
    CHECK(gives<bool>(256, 0, to(bool{}), true));
    CHECK(gives<bool>(0.5f, 0, to(bool{}), true));
    CHECK(gives<bool>(-0.0, 0, to(bool{}), false));
}
TEST_CASE("numbers of 16 bits are rounded to the nearest, and of two to the even one") {
    using oracle::arithmetic::from_half, oracle::arithmetic::to_half;
    CHECK(to_half<5>(1.0f) == 0x3c00);
    CHECK(to_half<5>(-1.5f) == 0xbe00);
    CHECK(to_half<5>(1.0f + 0x1p-11f) == 0x3c00);
    CHECK(to_half<5>(1.0f + 0x3p-11f) == 0x3c02);
    CHECK(to_half<5>(65519.996f) == 0x7bff);
    CHECK(to_half<5>(65520.0f) == 0x7c00);
    CHECK(to_half<5>(-std::numeric_limits<float>::infinity()) == 0xfc00);
    CHECK(to_half<5>(0x1p-24f) == 1);
    CHECK(to_half<5>(0x1p-25f) == 0);
    CHECK(to_half<5>(0x1.8p-24f) == 2);
    CHECK(to_half<5>(0x1.ff8p-15f) == 0x3ff);
    CHECK(to_half<5>(0x1.ffcp-15f) == 0x400);
    CHECK(to_half<8>(1.0f + 0x1p-8f) == 0x3f80);
    CHECK(to_half<8>(-0x1p-133f) == 0x8001);
    CHECK(to_half<8>(0x1.fffffep127f) == 0x7f80);
    CHECK(from_half<5>(0x3555) == 0x1.554p-2f);
    CHECK(from_half<5>(0x83ff) == -0x1.ff8p-15f);
    CHECK(from_half<5>(0x7c00) == std::numeric_limits<float>::infinity());
    CHECK(std::isnan(from_half<5>(0x7c01)));
    CHECK(from_half<8>(0x3f81) == 0x1.02p0f);
    CHECK(from_half<8>(1) == 0x1p-133f);
}
TEST_CASE("reinterpret keeps the bits") {
    auto const to = []<class To>(To) { return [](auto const& a, auto const&) { return reinterpret<To>(a); }; };
    CHECK(gives<std::int32_t>(1.0f, 0, to(std::int32_t{}), 0x3f800000));
    CHECK(gives<float>(0xbf800000u, 0, to(float{}), -1.0f));
    CHECK(gives<std::int8_t>(std::uint8_t{255}, 0, to(std::int8_t{}), -1));
    CHECK(gives<std::uint16_t>(std::int16_t{-2}, 0, to(std::uint16_t{}), 65534));
    CHECK(gives<std::uint64_t>(-0.0, 0, to(std::uint64_t{}), std::uint64_t{1} << 63));
}
TEST_CASE("select takes one side, and what was undefined on the other is told but not in the element") {
    auto const chosen = [](auto const& a, auto const& b) { return select(a < b, a, b * 2); };
    CHECK(gives<std::int32_t>(1, 2, chosen, 1));
    CHECK(gives<std::int32_t>(2, 2, chosen, 4));
    answer const found = ask(1, high32, chosen);
    CHECK(found.bits == 1);
    CHECK(found.defined);
    REQUIRE(found.mishaps.size() == 1);
    CHECK(found.mishaps[0].in == operation::multiply);
    CHECK(oracle::to_string(found.mishaps[0]) == "overflow in multiply of out, 1 times");
}
TEST_CASE("literals have the type of the other side") {
    CHECK(gives<std::uint64_t>(
        ~std::uint64_t{0}, 0, [](auto const& a, auto const&) { return a / 3; }, 6148914691236517205));
    CHECK(gives<float>(
        1.0f, 0, [](auto const& a, auto const&) { return a + 0.1; }, 1.0f + 0.1f));
    CHECK(gives<double>(
        1.0, 0, [](auto const& a, auto const&) { return a + 3; }, 4.0));
    CHECK(gives<bool>(
        true, 0, [](auto const& a, auto const&) { return a == false; }, false));
    CHECK(gives<std::int8_t>(
        true, 0, [](auto const& a, auto const&) { return select(a, cast<std::int8_t>(-3), 2); }, -3));
}
