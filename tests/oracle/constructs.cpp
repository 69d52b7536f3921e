#include <cmath>
#include <limits>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>

#include "oracle/ask.hpp"

// Every construct of the language, with results worked out by hand.

using namespace tilewright;
using ints = std::vector<std::int32_t>;
using floats = std::vector<float>;

namespace {
constexpr tensor<std::int32_t> in{"in"}, bias{"bias"}, out{"out"}, mid{"mid"}, low{"low"}, B{"B"};
constexpr tensor<float> x{"x"}, y{"y"}, z{"z"};

template <class Computation>
ints of(Computation const& what, std::vector<ints> const& inputs, std::vector<oracle::parameter_value> const& parameters = {},
        std::vector<axis_extent> const& extents = {}) {
    return oracle::elements_of<std::int32_t>(what, inputs, parameters, extents);
}
}  // namespace

TEST_CASE("every element is computed once, row by row") {
    axis const m{"m", 2}, n{"n", 3};
    CHECK(of(out(m, n) = in(m, n) * 10 + n, {{1, 2, 3, 4, 5, 6}}) == ints{10, 21, 32, 40, 51, 62});
    CHECK(of(out(m, n) = in(n, m), {{1, 2, 3, 4, 5, 6}}) == ints{1, 3, 5, 2, 4, 6});
    CHECK(of(out() = in() + 1, {{41}}) == ints{42});
    CHECK(of(out(m, n) = in() + m, {{5}}) == ints{5, 5, 5, 6, 6, 6});
}
TEST_CASE("an index is a sum of axes, with strides, constants and backwards") {
    axis const m{"m", 4}, n{"n", 3};
    CHECK(of(out(m) = in(2 * m + 1), {{1, 2, 3, 4, 5, 6, 7}}) == ints{1, 3, 5, 7});  // the box begins at 1
    CHECK(of(out(m) = in(m - 1) + in(m + 1), {{1, 2, 3, 4, 5, 6}}) == ints{4, 6, 8, 10});
    CHECK(of(out(m) = in(9 - 3 * m), {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}) == ints{9, 6, 3, 0});
    CHECK(of(out(m, n) = in(m + n), {{1, 2, 3, 4, 5, 6}}) == ints{1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6});
    CHECK(of(out(m) = in(m + m - m, 3), {{1, 2, 3, 4}}) == ints{1, 2, 3, 4});
    CHECK(of(out(m) = in(-m), {{4, 3, 2, 1}}) == ints{1, 2, 3, 4});

    auto const halo = out(m) = in(2 * m - 3, 5 - m);
    std::vector<oracle::tensor_box> const boxes = oracle::inputs_of(halo.view());
    REQUIRE(boxes.size() == 1);
    CHECK(boxes[0].minimum[0] == -3);
    CHECK(boxes[0].extents[0] == 7);
    CHECK(boxes[0].minimum[1] == 2);
    CHECK(boxes[0].extents[1] == 4);
}
TEST_CASE("six dimensions") {
    axis const a{"a", 2}, b{"b", 1}, c{"c", 2}, d{"d", 1}, e{"e", 2}, f{"f", 2};
    ints elements(16);
    for (int at = 0; at < 16; ++at) elements[at] = at;
    CHECK(of(out(a, b, c, d, e, f) = in(a, b, c, d, e, f), {elements}) == elements);
    // f, e, c, a from the slowest to the fastest
    CHECK(of(out(f, e, d, c, b, a) = in(a, b, c, d, e, f), {elements}) == ints{0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15});
}
TEST_CASE("sums start from 0, maxima from the lowest value, minima from the highest") {
    axis const m{"m", 2}, k{"k", 3};
    CHECK(of(out(m) += in(m, k), {{1, 2, 3, 4, 5, 6}}) == ints{6, 15});
    CHECK(of(out(m) = sum(k, in(m, k)), {{1, 2, 3, 4, 5, 6}}) == ints{6, 15});
    CHECK(of(out(m) = maximum(k, in(m, k)), {{-1, -2, -3, 4, 6, 5}}) == ints{-1, 6});
    CHECK(of(out(m) = minimum(k, in(m, k)), {{-1, -2, -3, 4, 6, 5}}) == ints{-3, 4});
    CHECK(of(out() += in(m, k), {{1, 2, 3, 4, 5, 6}}) == ints{21});
    CHECK(of(out(m) += in(m), {{7, 8}}) == ints{7, 8});
    constexpr tensor<bool> given{"given"}, some{"some"};
    auto const any = some(m) = maximum(k, given(m, k));
    bool const bools[] = {false, true, false, false, false, false};
    oracle::result const made = oracle::evaluate(any.view(), {{oracle::inputs_of(any.view())[0], bools}});
    CHECK(made.as<bool>()[0]);
    CHECK_FALSE(made.as<bool>()[1]);
}
TEST_CASE("reductions, selections, borders and copies of every type") {
    axis const m{"m", 2}, k{"k", 3}, h{"h", 2}, q{"q", 4};
    auto const check = [&]<class T>(T) {
        using list = std::vector<T>;
        tensor<T> const from{"from"}, also{"also"}, to{"to"};
        list const values{1, 5, 3, 6, 4, 2};
        auto const of = [](auto const& what, std::vector<list> const& inputs) { return oracle::elements_of<T>(what, inputs); };
        CHECK(of(to(m) += from(m, k), {values}) == list{9, 12});
        CHECK(of(to(m) = also(m) + sum(k, from(m, k)), {{20, 30}, values}) == list{29, 42});
        CHECK(of(to(m) = maximum(k, from(m, k)), {values}) == list{5, 6});
        CHECK(of(to(m) = minimum(k, from(m, k)), {values}) == list{1, 2});
        CHECK(of(to(m) = max(also(m), maximum(k, from(m, k))), {{9, 0}, values}) == list{9, 6});
        CHECK(of(to(m) = select(from(m) < also(m), from(m), also(m) * 2), {{1, 5}, {3, 4}}) == list{1, 8});
        CHECK(of(to(q) = padded(from(h), 7)(q - 1), {{1, 2}}) == list{7, 1, 2, 7});
        CHECK(of(to(m) = from(1 - m), {{1, 2}}) == list{2, 1});
        // Nothing is smaller, or larger, than what an extremum starts from.
        using limits = std::numeric_limits<T>;
        T const low = limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
        T const high = limits::has_infinity ? limits::infinity() : limits::max();
        CHECK(of(to(m) = maximum(k, from(m, k)), {{low, low, low, low, 1, low}}) == list{low, 1});
        CHECK(of(to(m) = minimum(k, from(m, k)), {{high, high, high, high, 1, high}}) == list{high, 1});
    };
    check(std::int8_t{}), check(std::int16_t{}), check(std::int32_t{}), check(std::int64_t{});
    check(std::uint8_t{}), check(std::uint16_t{}), check(std::uint32_t{}), check(std::uint64_t{}), check(float{}), check(double{});

    // Of bool: logic, extrema, borders.
    constexpr tensor<bool> from{"from"}, also{"also"}, to{"to"};
    auto const of = [](auto const& what, std::initializer_list<std::vector<char>> inputs) {
        std::vector<oracle::tensor_box> const boxes = oracle::inputs_of(what.view());
        std::vector<oracle::operand> operands;
        for (std::vector<char> const& input : inputs) operands.emplace_back(boxes.at(operands.size()), input.data());
        oracle::result const made = oracle::evaluate(what.view(), operands);
        return std::vector<char>(made.as<char>(), made.as<char>() + made.box.elements());
    };
    using bits = std::vector<char>;
    CHECK(of(to(m) = minimum(k, from(m, k)), {{1, 1, 1, 1, 0, 1}}) == bits{1, 0});
    CHECK(of(to(m) = max(also(m), maximum(k, from(m, k))), {{0, 1}, {0, 0, 0, 0, 0, 0}}) == bits{0, 1});
    CHECK(of(to(q) = padded(from(h), true)(q - 1), {{0, 0}}) == bits{1, 0, 0, 1});
    CHECK(of(to(m) = select(from(m), !also(m), also(m)), {{1, 0}, {1, 1}}) == bits{0, 1});
}
TEST_CASE("a reduction has several axes, which may stand in the value or not occur at all") {
    axis const m{"m", 2}, k{"k", 2}, l{"l", 3};
    CHECK(of(out(m) = sum(k, l, in(m, k, l)), {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}) == ints{21, 57});
    CHECK(of(out(m) = minimum(l, in(m)-2 * l), {{10, 20}}) == ints{6, 16});
    CHECK(of(out(m) = maximum(k, l, in(m)*k - l), {{-5, 5}}) == ints{0, 5});
    CHECK(of(out(m) = sum(l, in(m)), {{10, 20}}) == ints{30, 60});
    CHECK(of(out(m) = sum(k, l, in(m) + k), {{10, 20}}) == ints{63, 123});  // 3 * (10 + 11)
    constexpr tensor<std::int8_t> narrow{"narrow"}, total{"total"};
    auto const wraps = total(m) = sum(l, narrow(m));
    CHECK(oracle::elements_of<std::int8_t>(wraps, {{100, -100}}) == std::vector<std::int8_t>{44, -44});
}
TEST_CASE("a reduction starts from a value, on either side") {
    axis const m{"m", 2}, k{"k", 3};
    ints const values{1, 2, 3, 4, 5, 6};
    CHECK(of(out(m) = bias(m) + sum(k, in(m, k)), {{100, 200}, values}) == ints{106, 215});
    CHECK(of(out(m) = sum(k, in(m, k)) + (bias(m) + 1), {values, {100, 200}}) == ints{107, 216});
    CHECK(of(out(m) = max(bias(m), maximum(k, in(m, k))), {{5, 5}, values}) == ints{5, 6});
    CHECK(of(out(m) = min(minimum(k, in(m, k)), bias(m)), {values, {3, 3}}) == ints{1, 3});
    CHECK(of(out(m) = max(maximum(k, in(m, k)), 4), {values}) == ints{4, 6});
}
TEST_CASE("floats are rounded in the order of the axes, what a sum starts from first") {
    axis const k{"k", 3}, l{"l", 2};
    // (1 + 2^24) is 2^24, and so again: the ones are lost one by one, where 1 + 1 would not be.
    CHECK(oracle::elements_of<float>(z() = x() + sum(k, y(k)), {{0x1p24f}, {1, 1, 1}}) == floats{0x1p24f});
    CHECK(oracle::elements_of<float>(z() = sum(k, y(k)) + x(), {{1, 1, 1}, {0x1p24f}}) == floats{0x1p24f});
    CHECK(oracle::elements_of<float>(z() += y(k), {{1, 1, 0x1p24f}}) == floats{0x1p24f + 2});
    CHECK(oracle::elements_of<float>(z() += y(k), {{0x1p24f, 1, 1}}) == floats{0x1p24f});
    // Rows first: 2^24, 1, 1, then 1, -2^24, 0
    CHECK(oracle::elements_of<float>(z() = sum(l, k, y(l, k)), {{0x1p24f, 1, 1, 1, -0x1p24f, 0}}) == floats{0});
    // Columns first: 2^24 + 1 + 1 - 2^24 + 1 + 0
    CHECK(oracle::elements_of<float>(z() = sum(k, l, y(l, k)), {{0x1p24f, 1, 1, 1, -0x1p24f, 0}}) == floats{1});
    CHECK(oracle::elements_of<float>(z() = maximum(k, y(k)), {{-INFINITY, -INFINITY, -INFINITY}}) == floats{-INFINITY});
}
TEST_CASE("a core that fuses rounds a product and its sum once") {
    // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, of which a float has all but the last.
    axis const k{"k", 2};
    auto const what = z() += x(k) * y(k);
    floats const left{-1, 1 + 0x1p-12f}, right{1 + 0x1p-11f, 1 + 0x1p-12f};
    std::vector<oracle::tensor_box> const boxes = oracle::inputs_of(what.view());
    std::vector<oracle::operand> const operands{{boxes[0], left.data()}, {boxes[1], right.data()}};
    CHECK(oracle::evaluate(what.view(), operands).as<float>()[0] == 0);
    CHECK(oracle::evaluate(what.view(), operands, {}, {}, {.fuses = true}).as<float>()[0] == 0x1p-24f);
}
TEST_CASE("a sum continues from the contents") {
    axis const m{"m", 2}, k{"k", 3};
    auto const check = [](auto const& what, ints const& values, ints const& expected) {
        ints const before{100, 200};
        CHECK(oracle::continues(what.view()));
        std::vector<oracle::operand> const operands{{oracle::inputs_of(what.view()).at(0), values.data()},
                                                    {oracle::output_of(what.view()), before.data()}};
        oracle::result const made = oracle::evaluate(what.view(), operands);
        CHECK(ints(made.as<std::int32_t>(), made.as<std::int32_t>() + 2) == expected);
    };
    check(out(m) = out(m) + sum(k, in(m, k)), {1, 2, 3, 4, 5, 6}, {106, 215});
    check(out(m) = sum(k, in(m, k)) + out(m), {1, 2, 3, 4, 5, 6}, {106, 215});
    check(out(m) = out(m) + in(m), {7, 8}, {107, 208});
    check(out(m) = in(m)*2 + out(m), {7, 8}, {114, 216});
    CHECK_FALSE(oracle::continues((out(m) += in(m, k)).view()));

    // The contents may lie apart.
    auto const more = out(m, k) = out(m, k) + in(m, k);
    ints const added{1, 2, 3, 4, 5, 6}, apart{10, 20, 30, 0, 40, 50, 60, 0};
    oracle::result const made = oracle::evaluate(
        more.view(), {{oracle::inputs_of(more.view())[0], added.data()}, {oracle::output_of(more.view()), apart.data(), {4, 1}}});
    CHECK(ints(made.as<std::int32_t>(), made.as<std::int32_t>() + 6) == ints{11, 22, 33, 44, 55, 66});

    // An intrinsic's reduction continues when it updates its target.
    ints const values{1, 2, 3, 4, 5, 6}, before{100, 4};
    auto const updated = [&](auto const& step) {
        oracle::result const made = oracle::evaluate(
            step.view(), {{oracle::inputs_of(step.view())[0], values.data()}, {oracle::output_of(step.view()), before.data()}}, {}, {},
            {.updates = true});
        return ints(made.as<std::int32_t>(), made.as<std::int32_t>() + 2);
    };
    CHECK(updated(out(m) += in(m, k)) == ints{106, 19});
    CHECK(updated(out(m) = sum(k, in(m, k))) == ints{106, 19});
    CHECK(updated(out(m) = maximum(k, in(m, k))) == ints{100, 6});
    CHECK(updated(out(m) = minimum(k, in(m, k))) == ints{1, 4});
}
TEST_CASE("outside its extents a padded tensor is its border, and nothing is read there") {
    axis const h{"h", 3}, w{"w", 2}, m{"m", 5}, n{"n", 2}, r{"r", 3};
    CHECK(of(out(m) = padded(in(h), -9)(m - 1), {{1, 2, 3}}) == ints{-9, 1, 2, 3, -9});
    CHECK(of(out(n) += padded(in(h), 0)(2 * n + r - 1), {{1, 2, 3}}) == ints{3, 5});
    CHECK(of(out(n) = maximum(r, padded(in(h), -7)(n + r - 2)), {{-8, -9, 5}}) == ints{-7, -7});
    CHECK(of(out(m, n) = padded(in(h, w), 7)(m - 1, n + 1), {{1, 2, 3, 4, 5, 6}}) == ints{7, 7, 2, 7, 4, 7, 6, 7, 7, 7});
    CHECK(of(out(n) = padded(in(h), 0)(n + 10), {{1, 2, 3}}) == ints{0, 0});
    CHECK(oracle::elements_of<float>(z(m) = padded(x(h), 0.1)(m - 1), {{1, 2, 3}}) == floats{0.1f, 1, 2, 3, 0.1f});
    // Of what a stage computes.
    CHECK(of(stages(mid(h) = in(h)*2, out(m) = padded(mid(h), 1)(m - 1)), {{1, 2, 3}}) == ints{1, 2, 4, 6, 1});
}
TEST_CASE("stages read what stages before them compute, with halos") {
    axis const m{"m", 3}, e{"e", 5}, f{"f", 4};
    CHECK(of(stages(mid(e) = in(e)*2, out(m) = mid(m) + mid(m + 2)), {{1, 2, 3, 4, 5}}) == ints{8, 12, 16});
    CHECK(of(stages(mid(e) = in(e) + 1, low(f) = mid(f) * mid(f + 1), out(m) = low(3 - m) - mid(m)), {{1, 2, 3, 4, 5}}) ==
          ints{30 - 2, 20 - 3, 12 - 4});
    axis const k{"k", 2};
    CHECK(of(stages(mid(m) += in(m, k), out(m) = max(mid(m), 5)), {{1, 2, 3, 4, 5, 6}}) == ints{5, 7, 11});
}
TEST_CASE("parameters are found by name") {
    axis const m{"m", 2};
    constexpr parameter<std::int32_t> alpha{"alpha"}, beta{"beta"};
    auto const what = out(m) = beta * in(m) + alpha;
    CHECK(of(what, {{1, 2}}, {{"alpha", 7}, {"beta", -3}}) == ints{4, 1});
    REQUIRE(oracle::parameters_of(what.view()).size() == 2);
    CHECK(oracle::parameters_of(what.view())[0].name == ir::label("beta"));
    CHECK_THROWS_AS(of(what, {{1, 2}}, {{"alpha", 7}}), std::invalid_argument);
    CHECK_THROWS_AS(of(what, {{1, 2}}, {{"alpha", 7}, {"beta", 1.0f}}), std::invalid_argument);
    constexpr parameter<float> scale{"scale"};
    CHECK(oracle::elements_of<float>(z(m) = x(m) * scale, {{1, 2}}, {{"scale", 0.5f}}) == floats{0.5f, 1});
}
TEST_CASE("extents that are left to run time come with the question") {
    axis const m{"m", dynamic}, k{"k", dynamic.up_to(9)}, e{"e", dynamic};
    auto const sums = out(m) += in(m, k);
    CHECK(of(sums, {{1, 2, 3, 4, 5, 6}}, {}, {{m, 2}, {k, 3}}) == ints{6, 15});
    CHECK(of(sums, {{1, 2, 3, 4, 5, 6}}, {}, {{m, 3}, {k, 2}}) == ints{3, 7, 11});
    CHECK_THROWS_AS(oracle::inputs_of(sums.view(), {{m, 3}}), std::invalid_argument);
    // That of an intermediate tensor is as far as it is read.
    auto const two = stages(mid(e) = in(e)*2, out(m) = mid(m) + mid(2 * m + 1));
    CHECK(of(two, {{1, 2, 3, 4}}, {}, {{m, 2}}) == ints{2 + 4, 4 + 8});
}
TEST_CASE("operands may be larger than what is read, begin below and have strides") {
    axis const m{"m", 2}, n{"n", 2};
    auto const what = out(m, n) = in(m - 1, n + 1);
    oracle::tensor_box box{"in", scalar_type::int32, 2, {-2, 0}, {4, 3}};
    ints const values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // in(-1, 1) is 4
    oracle::result made = oracle::evaluate(what.view(), {{box, values.data()}});
    CHECK(ints(made.as<std::int32_t>(), made.as<std::int32_t>() + 4) == ints{4, 5, 7, 8});
    box.extents = {3, 3};
    made = oracle::evaluate(what.view(), {{box, values.data(), {4, 1}}});  // rows of four
    CHECK(ints(made.as<std::int32_t>(), made.as<std::int32_t>() + 4) == ints{5, 6, 9, 10});
    box.minimum[1] = 1, box.extents[1] = 1;
    CHECK_THROWS_AS(oracle::evaluate(what.view(), {{box, values.data()}}), std::out_of_range);
    CHECK_THROWS_AS(oracle::evaluate(what.view(), {}), std::invalid_argument);
}
TEST_CASE("a stage that reads outside its producer is told") {
    axis const m{"m", 3}, e{"e", 3};
    auto const what = stages(mid(e) = in(e), out(m) = mid(m + 1));
    CHECK_THROWS_AS(of(what, {{1, 2, 3}}), std::out_of_range);
}
TEST_CASE("inputs come in the order in which they appear") {
    axis const m{"m", 2}, k{"k", 2};
    auto const names = [](auto const& what) {
        std::string text;
        for (oracle::tensor_box const& box : oracle::inputs_of(what.view())) text += box.name.str() + " ";
        return text;
    };
    CHECK(names(out(m) = select(in(m) > bias(m), B(m), in(m))) == "in bias B ");
    CHECK(names(out(m) = sum(k, in(m, k)) + bias(m)) == "in bias ");
    CHECK(names(out(m) = bias(m) + sum(k, in(m, k))) == "bias in ");
    CHECK(names(stages(mid(m) = B(m), out(m) = mid(m) + in(m) + B(m))) == "B in ");
    CHECK(names(out(m) = out(m) + sum(k, in(m, k))) == "in ");
}
TEST_CASE("an undefined value goes through stages and sums to the elements that it reaches") {
    axis const m{"m", 2}, k{"k", 2};
    auto const what = stages(mid(m, k) = in(m, k) * 65536, out(m) += mid(m, k) / 65536);
    ints const values{1, 2, 3, 40000};
    oracle::result const made = oracle::evaluate(what.view(), {{oracle::inputs_of(what.view())[0], values.data()}});
    CHECK_FALSE(made.is_defined());
    CHECK(made.defined == std::vector<bool>{true, false});
    REQUIRE(made.mishaps.size() == 1);
    CHECK(made.mishaps[0].stage == ir::label("mid"));
    CHECK(made.as<std::int32_t>()[0] == 3);
}
