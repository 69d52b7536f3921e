#include <algorithm>

#include "catch.hpp"
#include "import/drawing.hpp"

// An operator between DequantizeLinear and QuantizeLinear is one kernel of integers, where nothing else needs what is between them.

namespace {

using namespace import_tests;

/// x of int8 -> Gemm with weights and bias -> Relu -> int8.
struct rectified_product : drawing {
    tensor_id x, product, result;

    explicit rectified_product(float bias_scale = 0.125F, std::vector<float> const& weight_scales = {0.25F}, std::int64_t axis = 0) {
        x = tensor(element_type::int8, {2, 4});
        graph.inputs = {x};
        bool const one = weight_scales.size() == 1;
        auto const count = static_cast<std::int64_t>(weight_scales.size());
        std::vector<std::int64_t> const list = one ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{count};
        tensor_id const levels = constant(element_type::int8, {4, 4}, std::vector<std::int8_t>(16, 3)),
                        scales = constant(element_type::float32, list, weight_scales),
                        biases = constant(element_type::int32, {4}, std::vector<std::int32_t>{100, -50, 7, 0});
        tensor_id const real_x = node("DequantizeLinear", {x, scale(0.5F), zero(3)}),
                        weights = node("DequantizeLinear", {levels, scales}, {{"axis", axis}}),
                        bias = node("DequantizeLinear", {biases, scale(bias_scale)});
        product = node("Gemm", {real_x, weights, bias}, {{"transB", std::int64_t{1}}});
        result = node("QuantizeLinear", {node("Relu", {product}), scale(1), zero(-20)});
        graph.outputs = {result};
    }
};

/// Whether the sums of a kernel, its first stage, subtract anything from what they read.
bool subtracts(imported::layers const& of) {
    auto const& nodes = of.all[0].nodes;
    auto const end = std::find_if(nodes.begin(), nodes.end(), [](ir::node const& one) { return one.op == operation::store; });
    return std::any_of(nodes.begin(), end, [](ir::node const& one) { return one.op == operation::subtract; });
}

}  // namespace

TEST_CASE("a product between DequantizeLinear and QuantizeLinear is one kernel, with bias and Relu") {
    CHECK(rectified_product().kernels() == 1);
    CHECK(rectified_product(0.125F, std::vector<float>(4, 0.25F)).kernels() == 1);
}
TEST_CASE("the zero point of int8 is a part of the bias") {
    rectified_product const one;
    CHECK(!subtracts(networks::layers_of(one.graph)));
}
TEST_CASE("a product is not taken into a group whose conditions do not hold") {
    SECTION("the bias counts in something else") { CHECK(rectified_product(0.1F).kernels() > 1); }
    SECTION("scales stand along the dimension that is summed") {
        CHECK(rectified_product(0.125F, std::vector<float>(4, 0.25F), 1).kernels() > 1);
    }
    SECTION("the product is an output of the network") {
        rectified_product one;
        one.graph.outputs.push_back(one.product);
        CHECK(one.kernels() > 1);
    }
    SECTION("another node reads the product") {
        rectified_product one;
        one.graph.outputs.push_back(one.node("Neg", {one.product}));
        CHECK(one.kernels() > 2);
    }
}
TEST_CASE("groups that read the same integers are a kernel each") {
    rectified_product one;
    tensor_id const real = one.graph.nodes[0].outputs[0];
    one.graph.outputs.push_back(one.node("QuantizeLinear", {one.node("Add", {real, real}), one.scale(1), one.zero(0)}));
    CHECK(one.kernels() == 2);
}
TEST_CASE("elements that are only moved stay integers where scale and zero point do") {
    auto const kernels_with = [](float scale_of_result) {
        drawing one;
        tensor_id const x = one.tensor(element_type::int8, {1, 2, 4, 4});
        one.graph.inputs = {x};
        tensor_id const real = one.node("DequantizeLinear", {x, one.scale(0.5F), one.zero(1)}),
                        pooled = one.node("MaxPool", {real}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}}),
                        flat = one.node("Flatten", {pooled});
        one.graph.outputs = {one.node("QuantizeLinear", {flat, one.scale(scale_of_result), one.zero(1)})};
        return one.kernels();
    };
    CHECK(kernels_with(0.25F) > kernels_with(0.5F));
}
TEST_CASE("a node with an attribute that is not known is refused, and no part of a group") {
    rectified_product one;
    for (network::node& node : one.graph.nodes) {
        if (node.operation == "Gemm") node.attributes.push_back({"alphaz", 2.0F});
    }
    CHECK(networks::layers_of(one.graph).refused == std::vector<std::string>{"node 3 (`Gemm`): attribute `alphaz` is not known"});
}
TEST_CASE("an operator of a model has no attribute of those that a group becomes") {
    drawing one;
    tensor_id const x = one.tensor(element_type::int8, {2, 4});
    one.graph.inputs = {x};
    tensor_id const weights = one.constant(element_type::int8, {4, 4}, std::vector<std::int8_t>(16, 3));
    one.graph.outputs = {
        one.node("QLinearMatMul", {x, one.scale(1), one.zero(0), weights, one.scale(1), one.zero(0), one.scale(1), one.zero(0)})};
    CHECK(one.kernels() == 1);
    one.graph.nodes[0].attributes = {{"relu", std::int64_t{1}}};
    CHECK(networks::layers_of(one.graph).refused == std::vector<std::string>{"node 0 (`QLinearMatMul`): attribute `relu` is not known"});
}

namespace {

/// x of int8 -> what moves elements -> MatMul with weights -> int8.
struct product_of_moved : drawing {
    tensor_id real, moved, result;

    template <class Move>
    explicit product_of_moved(Move const& move, std::int64_t depth = 8) {
        tensor_id const x = tensor(element_type::int8, {1, 2, 4, 4});
        graph.inputs = {x};
        real = node("DequantizeLinear", {x, scale(0.5F), zero(3)});
        moved = move(*this, real);
        auto const count = static_cast<std::size_t>(depth * 3);
        tensor_id const levels = constant(element_type::int8, {depth, 3}, std::vector<std::int8_t>(count, 3));
        tensor_id const product = node("MatMul", {moved, node("DequantizeLinear", {levels, scale(0.25F)})});
        result = node("QuantizeLinear", {product, scale(1), zero(-20)});
        graph.outputs = {result};
    }
    /// Whether what the product sums are products of integers.
    bool is_of_integers() const {
        auto const made = networks::layers_of(graph);
        INFO((made.refused.empty() ? "" : made.refused[0]));
        REQUIRE(made.refused.empty());
        bool found = false;
        for (imported::layer const& one : made.all) {
            for (ir::node const& part : one.nodes) found = found || (part.op == operation::reduce_sum && part.type == scalar_type::int32);
        }
        return found;
    }
};

using settings = std::vector<network::attribute>;
using list = std::vector<std::int64_t>;

settings window(list const& kernel, list const& strides, settings more = {}) {
    more.push_back({"kernel_shape", kernel});
    more.push_back({"strides", strides});
    return more;
}
tensor_id flattened_pool(drawing& in, tensor_id real, settings const& how) { return in.node("Flatten", {in.node("MaxPool", {real}, how)}); }

}  // namespace

TEST_CASE("what moves elements between DequantizeLinear and a product is of integers, and so is the product") {
    SECTION("a pool, flattened") {
        product_of_moved const one([](drawing& in, tensor_id real) { return flattened_pool(in, real, window({2, 2}, {2, 2})); });
        CHECK(one.is_of_integers());
        auto const made = networks::layers_of(one.graph);
        REQUIRE(made.all.size() == 2);
        CHECK(made.all[0].nodes.back().type == scalar_type::int8);
    }
    SECTION("a pool that pads less than its window") {
        product_of_moved const one([](drawing& in, tensor_id real) {
            return flattened_pool(in, real, window({3, 3}, {2, 2}, {{"pads", list{1, 1, 0, 0}}}));
        });
        CHECK(one.is_of_integers());
    }
    SECTION("a slice of a transposed image, as rows") {
        product_of_moved const one(
            [](drawing& in, tensor_id real) {
                auto const integers = [&](list const& all) {
                    return in.constant(element_type::int64, {static_cast<std::int64_t>(all.size())}, all);
                };
                tensor_id const turned = in.node("Transpose", {real}, {{"perm", list{0, 2, 3, 1}}});
                tensor_id const part = in.node("Slice", {turned, integers({1}), integers({3}), integers({1})});
                tensor_id const rows = in.node("Squeeze", {in.node("Unsqueeze", {part, integers({0})}), integers({0, 1})});
                return in.node("Reshape", {rows, integers({2, 8})});
            },
            8);
        CHECK(one.is_of_integers());
    }
    SECTION("the largest of each channel") {
        product_of_moved const one([](drawing& in, tensor_id real) { return in.node("Flatten", {in.node("GlobalMaxPool", {real})}); }, 2);
        CHECK(one.is_of_integers());
    }
}
TEST_CASE("what moves elements stays of floats where integers would give something else, or another node reads it") {
    auto const pooled = [](settings const& how, std::int64_t depth = 8) {
        return product_of_moved([&](drawing& in, tensor_id real) { return flattened_pool(in, real, how); }, depth);
    };
    SECTION("a window of a pool may lie in the padding alone") {
        CHECK(!pooled(window({1, 1}, {3, 3}, {{"pads", list{1, 1, 1, 1}}})).is_of_integers());
        CHECK(!pooled(window({2, 2}, {3, 3}, {{"pads", list{1, 1, 1, 1}}, {"dilations", list{2, 2}}})).is_of_integers());
    }
    SECTION("the result of the pool is one of the network") {
        auto one = pooled(window({2, 2}, {2, 2}));
        one.graph.outputs.push_back(one.graph.nodes[1].outputs[0]);
        CHECK(!one.is_of_integers());
    }
    SECTION("another node reads what is moved") {
        auto one = pooled(window({2, 2}, {2, 2}));
        one.graph.outputs.push_back(one.node("Neg", {one.moved}));
        CHECK(!one.is_of_integers());
    }
    SECTION("several scales") {
        auto one = pooled(window({2, 2}, {2, 2}));
        one.graph.nodes[0].inputs[1] = one.constant<float>(element_type::float32, {2}, {0.5F, 0.25F});
        one.graph.nodes[0].inputs[2] = one.constant<std::int8_t>(element_type::int8, {2}, {0, 0});
        CHECK(!one.is_of_integers());
    }
}
TEST_CASE("integers that are moved and those before may be of two groups") {
    product_of_moved one([](drawing& in, tensor_id real) { return flattened_pool(in, real, window({2, 2}, {2, 2})); });
    one.graph.outputs.push_back(one.node("QuantizeLinear", {one.node("Add", {one.real, one.real}), one.scale(1), one.zero(0)}));
    CHECK(one.is_of_integers());
    CHECK(one.kernels() == 3);
}

namespace {

/// x of int8 times 4 x 6 weights, with these scales of the weights.
struct product_of_levels : drawing {
    product_of_levels(std::vector<std::int64_t> const& of_x, tensor_id (*scales)(drawing&)) {
        tensor_id const x = tensor(element_type::int8, of_x);
        graph.inputs = {x};
        tensor_id const weights = constant(element_type::int8, {4, 6}, std::vector<std::int8_t>(24, 3)), by = scales(*this);
        graph.outputs = {node("QLinearMatMul", {x, scale(1), zero(0), weights, by, zero(0), scale(1), zero(0)})};
    }
};

}  // namespace

TEST_CASE("a scale for each column is that of the column, for a vector as for a matrix") {
    auto const of_columns = [](drawing& in) { return in.constant<float>(element_type::float32, {6}, {0.5F, 1, 2, 3, 4, 5}); };
    for (std::vector<std::int64_t> const& of_x : {std::vector<std::int64_t>{4}, {5, 4}}) {
        auto const made = networks::layers_of(product_of_levels(of_x, of_columns).graph);
        REQUIRE(made.refused.empty());
        REQUIRE(made.all.size() == 1);
        REQUIRE(made.all[0].rescaled);
        CHECK(made.all[0].rescaled->scales == std::vector<float>{0.5F, 1, 2, 3, 4, 5});
        auto const& nodes = made.all[0].nodes;
        int scales = 0;
        for (ir::node const& one : nodes) {
            if (one.op != operation::access || one.type != scalar_type::float32) continue;
            ++scales;
            ir::node const& column = nodes[static_cast<std::size_t>(one.arguments[0])];
            CHECK(column.op == operation::axis_value);
            CHECK(column.name == made.all[0].rescaled->channel);
        }
        CHECK(scales == 1);
    }
}
TEST_CASE("scales that are no floats are not read as floats") {
    auto const refused = [](auto const& scale_of_x, auto const& scale_of_weights) {
        drawing one;
        tensor_id const x = one.tensor(element_type::int8, {1, 2, 4, 4});
        one.graph.inputs = {x};
        tensor_id const weights = one.constant(element_type::int8, {2, 2, 1, 1}, std::vector<std::int8_t>(4, 3));
        one.graph.outputs = {one.node(
            "QLinearConv", {x, scale_of_x(one), one.zero(0), weights, scale_of_weights(one), one.zero(0), one.scale(1), one.zero(0)})};
        return networks::layers_of(one.graph).refused.size();
    };
    auto const real = [](drawing& in) { return in.scale(0.25F); };
    auto const whole = [](drawing& in) { return in.zero(1); };
    auto const wide = [](drawing& in) { return in.constant<double>(element_type::float64, {}, {0.25}); };
    CHECK(refused(real, real) == 0);
    CHECK(refused(real, whole) == 1);
    CHECK(refused(whole, real) == 1);
    CHECK(refused(real, wide) == 1);
    CHECK(refused(wide, real) == 1);
}
