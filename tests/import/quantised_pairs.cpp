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
