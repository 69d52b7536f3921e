#include "layers_on_chips.hpp"

// Sums of bytes in the kernel that makes bytes of sums: where they become one, and what that makes. The oracle evaluates the layers one
// after the other, as they were.

using namespace layers_on_chips;

namespace {

/// A layer where some tensors have other names.
layer renamed(layer of, char const* name, std::vector<std::pair<char const*, char const*>> const& tensors) {
    of.name = name;
    for (ir::node& one : of.nodes) {
        bool const names_tensor = one.op == operation::access || one.op == operation::store;
        auto const found = std::find_if(tensors.begin(), tensors.end(), [&](auto const& each) { return one.name == each.first; });
        if (names_tensor && found != tensors.end()) one.name = found->second;
    }
    return of;
}
/// t0 = the layer of in0, and out0 = t0 + in1, or in1 + t0.
layers residual_of(shape_of_layer const& of, bool is_left, std::mt19937& random) {
    layers made = network_of(of, random);
    layers const sum = sum_of(of.rows, of.columns, of.filters);
    made.all[0] = renamed(made.all[0], "k0", {{"out0", "t0"}});
    made.all.push_back(
        renamed(sum.all[0], "k1",
                is_left ? std::vector{std::pair{"in0", "t0"}, {"in1", "in1"}} : std::vector{std::pair{"in1", "t0"}, {"in0", "in1"}}));
    made.all[1].made_for = "node 1 (`ADD`)";
    made.inputs.push_back(sum.inputs[1]);
    return made;
}
shape_of_layer const of_pixels{.rows = 4, .columns = 6, .channels = 8, .filters = 8, .rescales = true},
    of_windows{.rows = 5, .columns = 6, .channels = 4, .filters = 8, .taps = 3, .before = 1, .rescales = true};

chip finishing_chip(finishes const& finish, ir::label const& adds = "add_there") {
    agent const npu_that_adds("npu", finishing_npu);
    return chip("adds")
        .inputs_in(common)
        .outputs_in(common)
        .constants_in(constants)
        .with(npu_that_adds, {.tensors = common, .inner = &common, .semantics = &semantics_of<finishing_npu>})
        .with(cpu, {.tensors = common, .inner = &common, .semantics = &semantics_of<host_machine>})
        .standard("products", npu_that_adds, products_by("mac", finish))
        .standard("elements", npu_that_adds, elements_by(adds))
        .loops(cpu);
}
finishes then(char const* adds) { return finishes("finish").then(adds); }
/// What the layers make of inputs, one after the other.
std::vector<std::byte> expected_of(layers const& of, std::vector<std::vector<std::byte>> const& inputs) {
    std::vector<std::vector<std::byte>> made;
    std::vector<stored> results;
    for (layer const& one : of.all) {
        std::vector<oracle::operand> operands;
        for (std::size_t at = 0; at < inputs.size(); ++at) operands.push_back(operand_of(of.inputs[at], inputs[at]));
        for (known_tensor const& each : of.constants) operands.push_back(operand_of(each.what, each.bytes));
        for (std::size_t at = 0; at < results.size(); ++at) operands.push_back(operand_of(results[at], made[at]));
        made.push_back(oracle::evaluate({one.nodes.data(), static_cast<int>(one.nodes.size())}, operands).bytes);
        results.push_back(of.outputs[0]);
        results.back().name = one.nodes.back().name;
    }
    return made.back();
}
/// Runs the network on the emulated chip in all ways. @return the kernels, with what they are for and where they run
std::vector<std::string> kernels_on(chip const& on, layers const& of, std::mt19937& random) {
    network_program const whole(of, "net", on);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(whole.get()));
    INFO(placement_table(whole, *plan));
    REQUIRE(!plan->refusal);
    emulated_network emulated(whole, on, *plan);
    std::vector<std::vector<std::byte>> inputs;
    for (stored const& one : of.inputs) inputs.push_back(some_bytes(emulated_network::bytes_in(one), random));
    std::vector<std::byte> const wanted = expected_of(of, inputs);
    for (progress how : {progress::earliest, progress::latest, progress::random}) {
        CHECK(emulated(inputs, how)[0] == wanted);
        CHECK(static_cast<double>(emulated.cycles()) == static_cast<double>(plan->cycles()));
    }
    std::vector<std::string> made;
    for (auto const& one : whole.placed_layers())
        made.push_back(one.report.made_for + ": " + one.report.choice + " on " + one.report.agent);
    return made;
}
std::vector<std::string> const as_one{"node 0 (`Conv`), node 1 (`ADD`): products on npu"},
    as_two{"node 0 (`Conv`): products on npu", "node 1 (`ADD`): elements on npu"};

}  // namespace

TEST_CASE("a sum of bytes is a part of the kernel that makes one of its operands, by an instruction each") {
    std::mt19937 random(1);
    for (bool const is_left : {true, false}) {
        CHECK(kernels_on(finishing_chip(then("add_there")), residual_of(of_pixels, is_left, random), random) == as_one);
        CHECK(kernels_on(finishing_chip(then("add_there")), residual_of(of_windows, is_left, random), random) == as_one);
    }
}

TEST_CASE("of two operands that kernels make, a sum of bytes is a part of one of these") {
    std::mt19937 random(2);
    layers of = residual_of(of_windows, true, random);
    layers other = network_of(of_pixels, random);
    shape_of_layer second = of_windows;
    second.before = 1;
    other = network_of(second, random);
    layer one = renamed(other.all[0], "k2", {{"out0", "t2"}, {"c0", "c2"}, {"c1", "c3"}});
    one.made_for = "node 2 (`Conv`)";
    of.all.insert(of.all.begin() + 1, one);
    of.all[2] = renamed(of.all[2], "k1", {{"in1", "t2"}});
    of.inputs.pop_back();
    for (known_tensor each : other.constants) {
        each.what.name = each.what.name == "c0" ? "c2" : "c3";
        of.constants.push_back(each);
    }
    CHECK(kernels_on(finishing_chip(then("add_there")), of, random) ==
          std::vector<std::string>{"node 2 (`Conv`): products on npu", as_one[0]});
}

TEST_CASE("a sum of bytes stays a kernel where its operand has another reader, or it reads other elements of it") {
    std::mt19937 random(3);
    layers twice = residual_of(of_pixels, true, random);
    CHECK(imported::detail::makes_for_one(twice, twice.all[0], twice.all[1]));
    twice.outputs.push_back({"t0", scalar_type::int8, twice.outputs[0].extents});
    CHECK(network_program(twice, "net", finishing_chip(then("add_there"))).placed_layers().size() == 2);
    // t0 has an element for each channel alone.
    layers broadcast = residual_of(of_pixels, true, random);
    shape_of_layer row = of_pixels;
    row.rows = 1, row.columns = 6;
    layers const small = network_of(row, random);
    broadcast.all[0] = renamed(small.all[0], "k0", {{"out0", "t0"}});
    CHECK_FALSE(imported::detail::fused_with_addition(broadcast.all[0], broadcast.all[1]));
    layers const fits = residual_of(of_pixels, true, random);
    auto const both = imported::detail::fused_with_addition(fits.all[0], fits.all[1]);
    REQUIRE(both);
    CHECK(both->name == "k1");
    CHECK(both->made_for == "node 0 (`Conv`), node 1 (`ADD`)");
    CHECK(both->inner.size() == 2);
    CHECK_FALSE(imported::detail::fused_with_addition(*both, fits.all[1]));
}

TEST_CASE("a sum of bytes stays a kernel where no template takes both, or both take more cycles") {
    std::mt19937 random(4);
    layers const of = residual_of(of_pixels, true, random);
    CHECK(kernels_on(finishing_chip("finish"), of, random) == as_two);
    // It reads what it adds from another memory than that in which the bytes are left.
    CHECK(kernels_on(finishing_chip(then("add_near")), of, random) == as_two);
    // Six channels are two calls for each pixel: all elements in a row need fewer.
    shape_of_layer odd = of_pixels;
    odd.filters = 6;
    CHECK(kernels_on(finishing_chip(then("add_there")), residual_of(odd, true, random), random) == as_two);
    // What the chip says itself where it goes stays as it is.
    chip const said = finishing_chip(then("add_there")).layer("k0", "products", "npu");
    CHECK(kernels_on(said, of, random) == as_two);
}
