#include <algorithm>

#include "catch.hpp"
#include "import/drawing.hpp"

// What kernels of constants compute is a constant, where that is the same in every run and not much larger than what is read.

namespace {

using namespace import_tests;

/// What the program has as a constant: whether there are these floats, bit by bit.
bool has_floats(imported::layers const& of, std::vector<float> const& wanted) {
    return std::any_of(of.constants.begin(), of.constants.end(), [&](imported::known_tensor const& one) {
        bool const alike = one.what.type == scalar_type::float32 && one.bytes.size() == wanted.size() * sizeof(float);
        return alike && std::memcmp(one.bytes.data(), wanted.data(), one.bytes.size()) == 0;
    });
}

/// x of floats times weights that are integers in the file.
struct product_by_integers : drawing {
    static constexpr std::int64_t depth = 64, columns = 80;
    std::vector<std::int8_t> levels = {};
    std::vector<float> scales = {};

    explicit product_by_integers() {
        for (std::int64_t at = 0; at < depth * columns; ++at) levels.push_back(static_cast<std::int8_t>(at * 37 % 256 - 128));
        for (std::int64_t at = 0; at < columns; ++at) scales.push_back(0.001F * static_cast<float>(at + 1));
        tensor_id const x = tensor(element_type::float32, {4, depth});
        graph.inputs = {x};
        tensor_id const weights =
            node("DequantizeLinear",
                 {constant(element_type::int8, {depth, columns}, levels), constant(element_type::float32, {columns}, scales),
                  constant(element_type::int8, {columns}, std::vector<std::int8_t>(columns, 5))},
                 {{"axis", std::int64_t{1}}});
        graph.outputs = {node("MatMul", {x, weights})};
    }
};

/// The kernels of a network whose output is the sum of an input and of what is made of constants.
template <class Make>
std::size_t kernels_beside(std::vector<std::int64_t> const& extents, Make const& make) {
    drawing one;
    tensor_id const x = one.tensor(element_type::float32, extents);
    one.graph.inputs = {x};
    // Rows that are read turned are no part of the sum.
    tensor_id const made = one.node("Transpose", {make(one)}, {{"perm", std::vector<std::int64_t>{1, 0}}});
    one.graph.outputs = {one.node("Add", {x, made})};
    return one.kernels();
}
std::vector<float> counted(std::size_t count) {
    std::vector<float> made;
    for (std::size_t at = 0; at < count; ++at) made.push_back(0.1F * static_cast<float>(at) - 1);
    return made;
}

}  // namespace

TEST_CASE("weights that a file has as integers are floats of the program where a product of floats reads them") {
    product_by_integers const one;
    auto const made = networks::layers_of(one.graph);
    REQUIRE(made.refused.empty());
    CHECK(made.all.size() == 1);
    std::vector<float> wanted;
    for (std::size_t at = 0; at < one.levels.size(); ++at)
        wanted.push_back(static_cast<float>(one.levels[at] - 5) * one.scales[at % static_cast<std::size_t>(one.columns)]);
    CHECK(has_floats(made, wanted));
}
TEST_CASE("weights that the graph itself quantises are floats of the program, too") {
    drawing one;
    tensor_id const x = one.tensor(element_type::float32, {3});
    one.graph.inputs = {x};
    tensor_id const levels = one.constant<float>(element_type::float32, {3}, {0.26F, -3.2F, 0.74F});
    tensor_id const integers = one.node("QuantizeLinear", {levels, one.scale(0.5F), one.zero(1)});
    tensor_id const reals = one.node("DequantizeLinear", {integers, one.scale(0.5F), one.zero(1)});
    one.graph.outputs = {one.node("Mul", {x, reals})};
    auto const made = networks::layers_of(one.graph);
    REQUIRE(made.refused.empty());
    CHECK(made.all.size() == 1);
    CHECK(has_floats(made, {0.5F, -3.0F, 0.5F}));
}
TEST_CASE("equal constants are one, also where kernels made them") {
    drawing one;
    tensor_id const x = one.tensor(element_type::float32, {2, 3});
    one.graph.inputs = {x};
    tensor_id const whole = one.constant<std::int8_t>(element_type::int8, {3}, {1, 2, 3});
    tensor_id const a = one.node("DequantizeLinear", {whole, one.scale(0.5F)}), b = one.node("DequantizeLinear", {whole, one.scale(0.5F)});
    one.graph.outputs = {one.node("Mul", {one.node("Add", {x, a}), b})};
    auto const made = networks::layers_of(one.graph);
    REQUIRE(made.refused.empty());
    CHECK(made.all.size() == 1);
    CHECK(std::count_if(made.constants.begin(), made.constants.end(), [&](imported::known_tensor const& constant) {
              return constant.what.type == scalar_type::float32 && made.is_read(constant.what);
          }) == 1);
}
TEST_CASE("a result of the network stays a kernel") {
    drawing one;
    tensor_id const whole = one.constant<std::int8_t>(element_type::int8, {3}, {1, 2, 3});
    one.graph.outputs = {one.node("DequantizeLinear", {whole, one.scale(0.5F)})};
    CHECK(one.kernels() == 1);
}
TEST_CASE("what kernels make of constants stays theirs where it depends on their schedules, or is far larger than what they read") {
    SECTION("a kernel of single elements is folded") {
        CHECK(kernels_beside({9, 8}, [](drawing& in) {
                  return in.node("Neg", {in.constant(element_type::float32, {8, 9}, counted(72))});
              }) == 1);
    }
    SECTION("a sum of floats is not: its order is that of a schedule") {
        CHECK(kernels_beside({9, 8}, [](drawing& in) {
                  tensor_id const sums = in.node("ReduceSum",
                                                 {in.constant(element_type::float32, {8, 9, 2}, counted(144)),
                                                  in.constant(element_type::int64, {1}, std::vector<std::int64_t>{2})},
                                                 {{"keepdims", std::int64_t{0}}});
                  return sums;
              }) == 2);
    }
    SECTION("a table is not") {
        auto const table_of = [](std::int64_t rows) {
            return kernels_beside({100, rows}, [&](drawing& in) {
                auto const column = in.constant(element_type::float32, {rows, 1}, counted(static_cast<std::size_t>(rows)));
                return in.node("Mul", {column, in.constant(element_type::float32, {1, 100}, counted(100))});
            });
        };
        CHECK(table_of(40) == 1);
        CHECK(table_of(41) == 2);
    }
}
TEST_CASE("an integer that a double does not hold is rounded once") {
    drawing one;
    tensor_id const x = one.tensor(element_type::float32, {2});
    one.graph.inputs = {x};
    // One more than halfway between two floats, and not as a double.
    std::vector<std::int64_t> const wide = {4611686293305294849, -4611686293305294849};
    tensor_id const cast = one.node("Cast", {one.constant(element_type::int64, {2}, wide)}, {{"to", std::int64_t{1}}});
    one.graph.outputs = {one.node("Add", {x, cast})};
    auto const made = networks::layers_of(one.graph);
    REQUIRE(made.refused.empty());
    CHECK(made.all.size() == 1);
    CHECK(has_floats(made, {static_cast<float>(wide[0]), static_cast<float>(wide[1])}));
}
