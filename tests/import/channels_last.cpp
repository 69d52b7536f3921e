// Networks whose images get their channels last. The oracle says what the network makes that was given.
#include <tilewright/import/channels_last.hpp>
#include <tilewright/import/joined_loops.hpp>
#include <tilewright/import/network_program.hpp>

#include "catch.hpp"
#include "drawn_images.hpp"

namespace {

using namespace import_tests;

value at(char const* tensor, std::vector<value> const& indices) { return element(ir::label(tensor), scalar_type::int32, indices); }
layer kernel(char const* name, value const& target, value const& what) {
    layer made{ir::label(name)};
    made.nodes = stage_of(target, what);
    return made;
}
using imported::detail::shapes_of;
known_tensor weights(std::vector<std::int64_t> const& extents, char const* name = "w") {
    std::vector<std::int64_t> values;
    for (std::int64_t at = 0; at < count_of(extents); ++at) values.push_back(at % 7 - 3);
    known_tensor made = known_int32(values, extents);
    made.what.name = name;
    return made;
}
stored of_int32(char const* name, std::vector<std::int64_t> const& extents) { return {name, scalar_type::int32, extents}; }

/// Convolutions of 5 filters and of 2 over planes, with a sum of elements between them.
layers two_convolutions() {
    layers made;
    made.inputs = {of_int32("x", {3, 8, 9})}, made.outputs = {of_int32("y", {2, 4, 7})};
    made.constants = {weights({5, 3, 3, 3}, "w"), weights({2, 5, 3, 1}, "v")};
    value const f = along("f", 5), i = along("i", 6), j = along("j", 7), c = along("c", 3), r = along("r", 3), s = along("s", 3);
    made.all.push_back(
        kernel("k0", at("t0", {f, i, j}), reduced(operation::reduce_sum, {c, r, s}, at("x", {c, i + r, j + s}) * at("w", {f, c, r, s}))));
    made.all.push_back(kernel("k1", at("t1", {f, i, j}), larger_of(at("t0", {f, i, j}), in32(0)) + at("b", {f})));
    made.constants.push_back(weights({5}, "b"));
    value const g = along("g", 2), y = along("y", 4), d = along("d", 5);
    made.all.push_back(kernel(
        "k2", at("y", {g, y, j}),
        reduced(operation::reduce_sum, {d, r}, at("t1", {d, y + r, j}) * at("v", {g, d, r, number(std::int64_t{0}, scalar_type::int32)}))));
    return made;
}

}  // namespace

TEST_CASE("drawn networks with their channels last make the same, and stay as they are the second time") {
    int moved = 0, same = 0;
    for (std::uint32_t seed = 1; seed < 120; ++seed) {
        layers const network = drawn(seed).made;
        layers const made = with_channels_last(network);
        INFO("seed " << seed);
        auto const input = drawn_bytes(network.inputs[0], seed);
        REQUIRE(expected(made, input) == expected(network, input));
        bool const has_moved = shapes_of(made) != shapes_of(network);
        // Drawn with an odd seed, channels come first.
        (has_moved ? moved : same) += 1;
        if (seed % 2 == 0) CHECK(!has_moved);
        layers const again = with_channels_last(made);
        CHECK(shapes_of(again) == shapes_of(made));
        CHECK(again.all.size() == made.all.size());
    }
    CHECK(moved > 30);
    CHECK(same > 30);
}

TEST_CASE("tensors between convolutions have their channels last, arguments are copied, constants stay") {
    layers const network = two_convolutions(), made = with_channels_last(network);
    REQUIRE(made.all.size() == 5);
    CHECK(made.all.front().made_for == "channels of x");
    CHECK(made.all.back().made_for == "channels of y");
    CHECK(made.all.back().nodes.back().name == "y");
    auto const shapes = shapes_of(made);
    using extents = std::vector<std::int64_t>;
    CHECK(shapes.at("t0") == extents{6, 7, 5});
    CHECK(shapes.at("t1") == extents{6, 7, 5});
    CHECK(shapes.at("y") == extents{2, 4, 7});
    CHECK(shapes.at("last0") == extents{8, 9, 3});
    CHECK(shapes.at("last1") == extents{4, 7, 2});
    auto const input = drawn_bytes(network.inputs[0], 1);
    CHECK(expected(made, input) == expected(network, input));
}

TEST_CASE("what stays in a kernel moves with its result, and is computed where the innermost loop is then") {
    layers network = two_convolutions();
    network.all[0] = with_sums_apart(network.all[0]);
    layers const made = with_channels_last(network);
    layer const& first = made.all[1];
    REQUIRE(first.inner.size() == 1);
    CHECK(first.inner[0].loop == "f");
    auto const shapes = imported::detail::shapes_of_stages(imported::detail::stages_of(imported::detail::nodes_of(first)));
    CHECK(shapes.at("s0") == std::vector<std::int64_t>{6, 7, 5});
    auto const input = drawn_bytes(network.inputs[0], 3);
    CHECK(expected(made, input) == expected(network, input));
}

TEST_CASE("products of matrices stay as they are, and so do networks of which kernels have parts of tensors") {
    value const i = along("i", 4), j = along("j", 5), k = along("k", 3);
    layers product;
    product.inputs = {of_int32("x", {3, 4})}, product.outputs = {of_int32("y", {5, 4})};
    product.constants = {weights({3, 5})};
    product.all = {kernel("k0", at("y", {j, i}), reduced(operation::reduce_sum, {k}, at("x", {k, i}) * at("w", {k, j})))};
    CHECK(shapes_of(with_channels_last(product)) == shapes_of(product));
    CHECK(with_channels_last(product).all.size() == 1);
    layers in_parts = two_convolutions();
    in_parts.all[0].parts["x"] = {0, 1, 0};
    CHECK(with_channels_last(in_parts).all.size() == 3);
}

TEST_CASE("a convolution has a copy of an image that stays as it is: of two kinds of channels, or of a softmax over pixels") {
    // t0 is read by a convolution over its planes, and by one that takes its columns as channels.
    layers both = two_convolutions();
    value const r = along("r", 3), s = along("s", 3), f = along("f", 2), a = along("a", 3), b = along("b", 4), c = along("c", 7);
    both.constants.push_back(weights({2, 7, 3, 3}, "u"));
    both.outputs.push_back(of_int32("z", {2, 3, 4}));
    both.all.push_back(
        kernel("k3", at("z", {f, a, b}), reduced(operation::reduce_sum, {c, r, s}, at("t0", {a + r, b + s, c}) * at("u", {f, c, r, s}))));
    layers const made = with_channels_last(both);
    auto const shapes = shapes_of(made);
    CHECK(shapes.at("t0") == std::vector<std::int64_t>{5, 6, 7});
    auto const of_first = std::find_if(made.all.begin(), made.all.end(), [](layer const& one) { return one.name == "k0"; });
    CHECK(shapes.at(of_first->nodes.back().name.str()) == std::vector<std::int64_t>{6, 7, 5});
    auto const input = drawn_bytes(both.inputs[0], 2);
    CHECK(expected(made, input) == expected(both, input));
    CHECK(with_channels_last(made).all.size() == made.all.size());

    // The kernel of t1 has a stage that is computed for each channel, before its loops over pixels.
    layers apart = two_convolutions();
    value const g = along("g", 5), i = along("i", 6), j = along("j", 7), y = along("s_y", 6), x = along("s_x", 7), h = along("s_g", 5);
    layer normalised{"k1"};
    normalised.nodes = stage_of(at("s", {h}), reduced(operation::reduce_maximum, {y, x}, at("t0", {h, y, x})));
    imported::detail::append(normalised.nodes, stage_of(at("t1", {g, i, j}), at("t0", {g, i, j}) - at("s", {g})));
    normalised.inner = {{"s", "g", true}};
    apart.all[1] = normalised;
    layers const with_copy = with_channels_last(apart);
    CHECK(shapes_of(with_copy).at("t1") == std::vector<std::int64_t>{5, 6, 7});
    CHECK(with_copy.all.size() == 6);
    CHECK(expected(with_copy, input) == expected(apart, input));
}
