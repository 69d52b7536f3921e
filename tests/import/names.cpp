#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/eject.hpp>
#include <tilewright/import/emulated_network.hpp>
#include <tilewright/import/fit.hpp>
#include <tilewright/import/network.hpp>
#include <tilewright/import/placement_report.hpp>

#include <cstring>

#include "catch.hpp"

// Tensors and layers by the names that the model has for them, and by those of the program.

namespace {

using namespace tilewright;
using namespace tilewright::imported;
using Catch::Matchers::Contains, Catch::Matchers::EndsWith;
using network::tensor_id;

constexpr memory wide{.name = "wide", .capacity = 16_KiB, .alignment = 16}, tight{.name = "tight", .capacity = 256, .alignment = 16},
    banked{.name = "banked", .capacity = 4_KiB, .alignment = 16, .banks = 2},
    constants{.name = "constants", .capacity = 1_KiB, .alignment = 16};
constexpr auto a_machine = machine("core", wide, banked, constants);
constexpr agent one("one", a_machine), two("two", a_machine);
constexpr auto of_tight = machine("tight_core", wide, constants, tight);
constexpr agent on_tight("core", of_tight);
constexpr memory short_one{.name = "short", .capacity = 96, .alignment = 16}, outside{.name = "outside"};
constexpr auto of_short = machine("short_core", outside, constants, short_one);
constexpr agent on_short("core", of_short);

/// Names that tests change.
struct model {
    std::string a = "first/out", b = "second/out", relu = "positive/out", first = "first", second = "second";
};
constexpr std::int64_t extent = 8;

/// x [8, 8] of floats: a = x x, b = a times a transposed, y = relu(b) times the upper half of a. Each is a kernel, but for what only reads
/// a in another way, and relu, which is a part of the kernel of b.
network::graph graph_of(model const& with = {}) {
    network::graph made{.format = "onnx", .inputs = {tensor_id(0)}, .outputs = {tensor_id(7)}};
    for (std::string const& name : {std::string("x"), with.a, std::string("turned/out"), with.b, with.relu, std::string("upper/out"),
                                    std::string("lower/out"), std::string("y")}) {
        network::tensor& tensor = made.tensors.emplace_back();
        tensor.name = name, tensor.type = network::element_type::float32, tensor.shape.emplace();
        std::int64_t const rows = tensor.name == "upper/out" || tensor.name == "lower/out" || tensor.name == "y" ? extent / 2 : extent;
        for (std::int64_t const size : {rows, extent}) tensor.shape->push_back({size, {}});
    }
    auto const add = [&](std::string const& name, char const* operation, std::vector<int> const& in, std::vector<int> const& out) {
        network::node& node = made.nodes.emplace_back();
        node.name = name, node.operation = operation, node.version = 11;
        for (int const id : in) node.inputs.push_back(tensor_id(id));
        for (int const id : out) node.outputs.push_back(tensor_id(id));
    };
    add(with.first, "MatMul", {0, 0}, {1});
    add("turned", "Transpose", {1}, {2});
    add(with.second, "MatMul", {1, 2}, {3});
    add("positive", "Relu", {3}, {4});
    add("halves", "Split", {1}, {5, 6});
    add("last", "MatMul", {5, 4}, {7});
    return made;
}
layers network_of(model const& with = {}) {
    layers made = layers_of(graph_of(with));
    INFO((made.refused.empty() ? "" : made.refused[0]));
    REQUIRE(made.refused.empty());
    REQUIRE(made.all.size() == 3);
    return made;
}
chip wide_chip() {
    return chip("tested")
        .inputs_in(wide)
        .outputs_in(wide)
        .constants_in(constants)
        .with(one, {.tensors = any_of(wide, banked), .inner = &wide, .semantics = &semantics_of<a_machine>})
        .with(two, {.tensors = any_of(wide, banked), .inner = &wide, .semantics = &semantics_of<a_machine>})
        .loops(one)
        .loops(two);
}
/// What a network makes of 0, 1, … modulo 5, by loops that share nothing with the import.
std::vector<float> expected() {
    constexpr auto n = static_cast<std::size_t>(extent);
    std::vector<float> x(n * n), a(n * n), b(n * n), y(n / 2 * n);
    for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<float>(static_cast<int>(at % 5) - 2);
    for (std::size_t at = 0; at < a.size(); ++at) {
        for (std::size_t k = 0; k < n; ++k) a[at] += x[at / n * n + k] * x[k * n + at % n];
    }
    for (std::size_t at = 0; at < b.size(); ++at) {
        for (std::size_t k = 0; k < n; ++k) b[at] += a[at / n * n + k] * a[at % n * n + k];
        b[at] = b[at] > 0 ? b[at] : 0;
    }
    for (std::size_t at = 0; at < y.size(); ++at) {
        for (std::size_t k = 0; k < n; ++k) y[at] += a[at / n * n + k] * b[k * n + at % n];
    }
    return y;
}

/// A network on a chip, planned, and run on the emulated machines: the results are right.
struct planned {
    layers made;
    chip on;
    network_program whole;
    std::unique_ptr<program_plan_value> plan;

    planned(chip const& by, layers of)
        : made(std::move(of)), on(by), whole(made, "net", on), plan(std::make_unique<program_plan_value>(make_program_plan(whole.get()))) {
        INFO((plan->refusal ? to_string(plan->refusal) : ""));
        REQUIRE(!plan->refusal);
        std::vector<std::byte> input;
        for (std::size_t at = 0; at < static_cast<std::size_t>(extent * extent); ++at) {
            float const element = static_cast<float>(static_cast<int>(at % 5) - 2);
            input.resize(input.size() + sizeof element);
            std::memcpy(&input[at * sizeof element], &element, sizeof element);
        }
        emulated_network emulated(whole, on, *plan);
        CHECK(network::values_of<float>(emulated({input})[0]) == expected());
    }
    ir::program_tensor const& tensor(char const* name) const { return plan->tensor_at(plan->find_tensor(name)); }
    std::string memory_of(char const* name) const { return plan->memories[tensor(name).memory].what.name.str(); }
    std::string agent_of(std::size_t layer) const { return whole.placed_layers()[layer].report.agent; }
};
planned on_chip(chip const& by, model const& with = {}) { return planned(by, network_of(with)); }
/// What is said about a chip for this network.
std::string refusal_of(chip const& by, model const& with = {}) {
    layers const made = network_of(with);
    try {
        network_program const whole(made, "net", by);
    } catch (not_placed const& error) {
        return error.what();
    }
    return "taken";
}

}  // namespace

TEST_CASE("a chip says where a tensor lies, by its name in the program or in the model") {
    CHECK(on_chip(wide_chip()).memory_of("t0") == "wide");
    for (char const* const name : {"t0", "first/out"}) {
        INFO(name);
        CHECK(on_chip(wide_chip().pin(name, banked)).memory_of("t0") == "banked");
        auto const placed = on_chip(wide_chip().pin(name, wide).at_offset(name, 4096));
        CHECK(placed.memory_of("t0") == "wide");
        CHECK(placed.tensor("t0").offset == 4096);
        for (int const bank : {0, 1}) {
            auto const in_bank = on_chip(wide_chip().pin(name, banked).in_bank(name, bank).at_offset(name, 64));
            CHECK(in_bank.tensor("t0").bank == bank);
            CHECK(in_bank.tensor("t0").offset == 64);
        }
    }
    // Others stay where they are. Inputs and outputs have the model's names in the program, where these are names of C.
    CHECK(on_chip(wide_chip().pin("first/out", banked)).memory_of("t2") == "wide");
    CHECK(on_chip(wide_chip().at_offset("x", 2048)).tensor("x").offset == 2048);
    CHECK(on_chip(wide_chip().at_offset("y", 1024)).tensor("y").offset == 1024);
    // What a kernel is joined with makes the tensor. A transposed tensor is the same one.
    CHECK(on_chip(wide_chip().pin("positive/out", banked)).memory_of("t2") == "banked");
    CHECK(on_chip(wide_chip().pin("turned/out", banked)).memory_of("t0") == "banked");
}

TEST_CASE("a name of no tensor, or of several, is refused with those that are close") {
    CHECK(refusal_of(wide_chip().pin("frist/out", banked)) ==
          "chip `tested` says where `frist/out` lies, and the network has no such tensor: close to it is `first/out` (t0)");
    CHECK(refusal_of(wide_chip().at_offset("nothing", 0)) ==
          "chip `tested` says where `nothing` lies, and the network has no such tensor: it has x, y, t0 (`first/out`) and t2 "
          "(`positive/out`)");
    CHECK(refusal_of(wide_chip().in_bank("t7", 0)) ==
          "chip `tested` says where `t7` lies, and the network has no such tensor: close to it are t0 (`first/out`) and t2 "
          "(`positive/out`)");
    CHECK(refusal_of(wide_chip().pin("second/out", banked)) ==
          "chip `tested` says where `second/out` lies, which no kernel stores: it stays in one, or is known before");
    CHECK(refusal_of(wide_chip().pin("upper/out", banked)) ==
          "chip `tested` says where `upper/out` lies, which is a part of t0 (`first/out`): say where all of that lies");
    CHECK(refusal_of(wide_chip().pin("t2", banked), {.a = "t2"}) ==
          "chip `tested` says where `t2` lies, which is the name of t2 (`positive/out`) and t0 (`t2`): say `positive/out` or `t0`");
    CHECK(refusal_of(wide_chip().pin("t2", banked), {.b = "t2"}) ==
          "chip `tested` says where `t2` lies, which is the name of t2 (`positive/out`), and of another tensor of the model: say "
          "`positive/out`");
    CHECK(refusal_of(wide_chip().pin("twice", banked), {.a = "twice", .relu = "twice"}) ==
          "chip `tested` says where `twice` lies, which is the name of t0 (`twice`) and t2 (`twice`): say `t0` or `t2`");
    // A model may call a tensor as the program does.
    CHECK(on_chip(wide_chip().pin("t0", banked), {.a = "t0"}).memory_of("t0") == "banked");
}

TEST_CASE("a chip says where a layer goes, by its kernel, its node or its result") {
    for (char const* const name : {"k2", "second", "positive", "positive/out"}) {
        INFO(name);
        auto const made = on_chip(wide_chip().layer(name, "loops", two));
        CHECK(made.agent_of(0) == "one");
        CHECK(made.agent_of(1) == "two");
        CHECK(made.agent_of(2) == "one");
        schedule_template const plain = [](placed_layer& of) {
            return candidates{{of.plain().store_in(of.tensor("s0"), of.memory_named("wide"))}, {}};
        };
        auto const own = on_chip(wide_chip().layer(name, "two", plain));
        CHECK(own.whole.placed_layers()[1].report.choice == "own");
        CHECK(own.whole.placed_layers()[2].report.choice == "loops");
    }
    // What is said last holds, by whichever name.
    CHECK(on_chip(wide_chip().layer("k2", "loops", two).layer("second", "loops", one)).agent_of(1) == "one");
    CHECK(on_chip(wide_chip().layer("second", "loops", one).layer("k2", "loops", two)).agent_of(1) == "two");
}

TEST_CASE("a name of no layer, or of several, is refused with those that are close") {
    auto const said_of = [](char const* name, model const& with = {}) { return refusal_of(wide_chip().layer(name, "loops", two), with); };
    CHECK(said_of("secand") == "chip `tested` says where `secand` goes, and the network has no such layer: close to it is `second` (k2)");
    CHECK(said_of("nothing") == "chip `tested` says where `nothing` goes, and the network has no such layer: it has k0, k2 and k3");
    CHECK(said_of("turned") == "chip `tested` says where `turned` goes, which is a node that no kernel computes by itself");
    CHECK(said_of("k2", {.first = "k2"}) == "chip `tested` says where `k2` goes, which is the name of k0 and k2: say `k0` or `second`");
    CHECK(said_of("same", {.first = "same", .second = "same"}) ==
          "chip `tested` says where `same` goes, which is the name of k0 and k2: say `k0` or `k2`");
}

TEST_CASE("a chip of layers as they were placed names each so that it is found") {
    auto const text_of = [](chip const& on, model const& with) {
        layers const made = network_of(with);
        return eject(network_program(made, "net", on), "found", "chip.hpp", "tested");
    };
    CHECK_THAT(text_of(wide_chip(), {}), Contains(".layer(\"k2\", \"loops\", \"one\")"));
    // The model has given the name to another layer.
    model const taken{.first = "k2", .second = "it \"is\" \\ this\n"};
    std::string const text = text_of(wide_chip().layer("positive", "loops", two), taken);
    CHECK_THAT(text, Contains(".layer(\"it \\\"is\\\" \\\\ this\\012\", \"loops\", \"two\")"));
    CHECK_THAT(text, Contains(".layer(\"k0\", \"loops\", \"one\")"));
    auto const again = on_chip(
        wide_chip().layer("positive", "loops", one).layer("k0", "loops", "one").layer("it \"is\" \\ this\n", "loops", "two"), taken);
    CHECK(again.agent_of(1) == "two");
}

TEST_CASE("a network that does not fit: the line has the layer, the model's tensors and what a chip can say") {
    auto const line = [](chip const& on, layers of) { return fitted_network(std::move(of), "net", on).refusal(); };
    CHECK(line(wide_chip(), network_of()).empty());
    auto const all_in = [](memory const& where) {
        return chip("small")
            .inputs_in(where)
            .outputs_in(where)
            .constants_in(constants)
            .with(on_tight, {.tensors = any_of(where), .inner = &where})
            .loops(on_tight);
    };
    std::string const needs =
        "memory `tight` needs 640 of 256 bytes in k3, node 5 (`MatMul`): t0 (`first/out`) 256, t2 (`positive/out`) 256, "
        "y 128; say where else a tensor lies, as by pin(\"first/out\", …)";
    CHECK(line(all_in(tight), network_of()) == needs + ", or by spills_to(…) where tensors wait while no kernel uses them");
    CHECK(line(all_in(tight).spills_to(wide), network_of()) == needs);
    // Names that a pin would not find.
    CHECK_THAT(line(all_in(tight), network_of({.a = "t2"})),
               Contains("t0 (`t2`) 256, t2 (`positive/out`) 256") && Contains("pin(\"t0\", …)"));
    // Without names of the model, those of the program.
    layers unnamed = network_of();
    unnamed.names = {};
    CHECK_THAT(line(all_in(tight), unnamed), Contains("in k3, node 5 (`MatMul`): t0 256, t2 256, y 128; ") && Contains("pin(\"t0\", …)"));
    // Other refusals name them, too.
    CHECK_THAT(line(wide_chip().pin("first/out", tight), network_of()), Contains("`t0`") && EndsWith("(t0 (`first/out`))"));
}

TEST_CASE("names hold for layers that are computed by strips") {
    // t0 = in0 + 1, t1 sums three neighbours of t0, out0 = t1 t1.
    constexpr std::int64_t length = 64;
    constexpr auto type = scalar_type::int8;
    layers made;
    made.inputs.push_back({"in0", type, {length + 2}}), made.outputs.push_back({"out0", type, {length}});
    made.tensors = {whole_of({"t0", type, {length + 2}}), whole_of({"t1", type, {length}})};
    made.names = {{{"longer", 0}, {"summed", 1}}, {"add", "sum", "square"}};
    value const i = along("i", length), all = along("i", length + 2), r = along("r", 3);
    auto const add = [&](std::string const& number, char const* result, value const& index, value const& what) {
        made.all.push_back(
            {ir::label(("k" + number).c_str()), stage_of(element(result, type, {index}), what), {}, "node " + number + " (`Some`)"});
    };
    value const t1 = element("t1", type, {i});
    add("0", "t0", all, element("in0", type, {all}) + number(std::int64_t{1}, type));
    add("1", "t1", i, reduced(operation::reduce_sum, {r}, element("t0", type, {i + r})));
    add("2", "out0", i, t1 * t1);
    chip const on = chip("small")
                        .inputs_in(outside)
                        .outputs_in(outside)
                        .constants_in(constants)
                        .with(on_short, {.tensors = any_of(short_one, outside), .inner = &short_one})
                        .standard("first", on_short,
                                  [](placed_layer& of) {
                                      return candidates{{of.plain()}, {}};
                                  })
                        .loops(on_short)
                        .layer("summed", "loops", on_short)
                        .layer("square", "loops", on_short);
    fitted_network const fitted(made, "net", on);
    INFO(fitted.refusal());
    REQUIRE(fitted.refusal().empty());
    REQUIRE(fitted.strips().size() == 1);
    std::set<std::string> kernels;
    for (layer_placer::placed const& one : fitted.program().placed_layers()) {
        kernels.insert(one.report.kernel);
        CHECK(one.report.choice == (one.report.made_for.starts_with("node 0 ") ? "first" : "loops"));
    }
    CHECK(kernels.count("k1s0") + kernels.count("k1s1") == 2);
    CHECK_THAT(placement_table(fitted), Contains("t1s0 (`summed`)\n") && Contains("t1s1 (`summed`)\n"));
    // A tensor that is placed is whole.
    chip const places = chip(on).pin("summed", short_one);
    CHECK_THAT(placement_table(fitted_network(made, "net", places)), Contains("t0s0 (`longer`)\n") && !Contains("t1s0"));
}

TEST_CASE("the table of layers has what the model calls their results") {
    layers const made = network_of();
    chip const on = wide_chip();
    network_program const whole(made, "net", on);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(whole.get()));
    std::string const table = placement_table(whole, *plan);
    CHECK_THAT(table, Contains("t0 (`first/out`)\n") && Contains("t2 (`positive/out`)\n") && Contains(" y\n"));
}
