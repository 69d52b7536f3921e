#include <tilewright/import/fuse.hpp>

#include "catch.hpp"

// Which kernels become a part of the one that makes what they read. That the results stay the same is what tests of whole networks see.

namespace {

using namespace tilewright;
using namespace tilewright::imported;

constexpr auto in32 = scalar_type::int32;
value axis_of(char const* name, std::int64_t extent = 6) { return along(name, extent); }
layer kernel(char const* name, char const* result, std::vector<value> const& indices, value const& what) {
    layer made{name, {}, {}, std::string("node of ") + name};
    imported::detail::append(made.nodes, stage_of(element(result, in32, indices), what));
    return made;
}
/// t0(i) = the sum over j of in0(i, j), and what reads it.
layers network_of(layer const& reader) {
    layers made;
    value const j = axis_of("j", 4);
    made.all.push_back(kernel("k0", "t0", {axis_of("i")}, reduced(operation::reduce_sum, {j}, element("in0", in32, {axis_of("i"), j}))));
    made.all.push_back(reader);
    made.inputs = {{"in0", in32, {6, 4}}};
    made.outputs = {{"out0", in32, {6}}};
    return made;
}
value t0(value const& index) { return element("t0", in32, {index}); }
std::size_t kernels_of(layers const& of) { return with_elements_fused(of).all.size(); }

}  // namespace

TEST_CASE("what reads one element of a kernel that nobody else reads is a part of it") {
    // The reader names its axis otherwise.
    layer const reader = kernel("k1", "out0", {axis_of("x")}, t0(axis_of("x")) * t0(axis_of("x")) + element("c0", in32, {axis_of("x")}));
    layers const made = with_elements_fused(network_of(reader));
    REQUIRE(made.all.size() == 1);
    layer const& one = made.all[0];
    CHECK(one.name == "k1");
    CHECK(one.made_for == "node of k0, node of k1");
    CHECK(one.nodes.back().name == "out0");
    REQUIRE(one.inner.size() == 1);  // the sums
    CHECK(one.inner[0].element);
    for (ir::node const& node : one.nodes) CHECK_FALSE(node.name == "t0");
    // Sums stay what a template looks for.
    auto const sums = contraction_of(one, [](ir::label const&) { return false; });
    CHECK_FALSE(sums);  // of one factor
    layers chain = network_of(kernel("k1", "t1", {axis_of("i")}, t0(axis_of("i")) + number(std::int64_t{1}, in32)));
    chain.all.push_back(kernel("k2", "out0", {axis_of("i")}, element("t1", in32, {axis_of("i")}) * element("in1", in32, {axis_of("i")})));
    CHECK(kernels_of(chain) == 1);
}

TEST_CASE("a kernel stays apart where it reads other elements, or others need what it reads") {
    value const i = axis_of("i");
    CHECK(kernels_of(network_of(kernel("k1", "out0", {i}, t0(i) + t0(number(std::int64_t{5}, in32) - i)))) == 2);
    CHECK(kernels_of(network_of(kernel("k1", "out0", {axis_of("y", 3), i}, t0(i)))) == 2);
    CHECK(kernels_of(network_of(kernel("k1", "out0", {axis_of("i", 5)}, t0(axis_of("i", 5))))) == 2);
    CHECK(kernels_of(network_of(kernel("k1", "out0", {axis_of("y", 2)}, reduced(operation::reduce_sum, {i}, t0(i))))) == 2);
    layers two = network_of(kernel("k1", "out0", {i}, t0(i)));
    two.all.push_back(kernel("k2", "out1", {i}, t0(i)));
    CHECK(kernels_of(two) == 3);
    layers result = network_of(kernel("k1", "out0", {i}, t0(i)));
    result.outputs.push_back({"t0", in32, {6}});
    CHECK(kernels_of(result) == 2);
    // What an instruction finishes as TensorFlow Lite does keeps its form.
    layers rescaled = network_of(kernel("k1", "out0", {i}, t0(i)));
    rescaled.all[0].rescaled.emplace();
    CHECK(kernels_of(rescaled) == 2);
}
