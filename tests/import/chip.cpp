#include "import/layers_on_chips.hpp"

// Networks on chips: where layers and tensors go.

using namespace layers_on_chips;

TEST_CASE("a layer goes to the first choice that has a plan for it, and to the schedule that costs least") {
    std::mt19937 random(1);
    layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12}, random);
    chip const on = chip_with(products_by("mac"), products_by("mac_rows")).loops(cpu);
    CHECK(run_on(on, network, random) == "npu");
    CHECK(run_on(chip_with(nothing(), products_by("mac_rows")).loops(cpu), network, random) == "other");
    CHECK(run_on(chip_with(nothing(), nothing()).loops(cpu), network, random) == "cpu");
    // No other schedule of the template costs less.
    auto const cycles_of = [&](chip const& by) {
        network_program const whole(network, "net", by);
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(whole.get()));
        REQUIRE(whole.placed_layers()[0].report.agent == "npu");
        return static_cast<double>(plan->cycles());
    };
    double const best = cycles_of(on);
    std::size_t planned = 0;
    for (std::uint32_t which = 0; which < 200; ++which) {
        try {
            double const other_cycles = cycles_of(chip_with(one_of(products_by("mac"), which), nothing()));
            CHECK(best <= other_cycles);
            ++planned;
        } catch (not_placed const&) {
        }
    }
    CHECK(planned > 50);
}

TEST_CASE("a constant in another order is a constant, and the second factor of a contraction") {
    for (bool const weights_first : {false, true}) {
        std::mt19937 random(1);
        layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12, .weights_first = weights_first}, random);
        std::vector<stored> const known{network.constants[0].what, network.constants[1].what};
        layer_shape of(network.all[0], known, {});
        of.reorder("c0", {1, 0});
        CHECK(of.is_constant("c0_10"));
        CHECK(of.as_contraction().value().weights == "c0_10");
    }
}

TEST_CASE("the pixels of a layer are one loop where no index tells rows and columns apart") {
    // How many tensors the kernel reshapes: what is read and what is made, or none.
    auto const reshaped = [](shape_of_layer const& of) {
        std::mt19937 random(1);
        layers const network = network_of(of, random);
        chip const on = chip_with(products_by("mac"), nothing()).loops(cpu);
        CHECK(run_on(on, network, random) == "npu");
        network_program const whole(network, "net", on);
        return whole.placed_layers()[0].layer->of.reshaped().size();
    };
    shape_of_layer const pixels{.rows = 6, .columns = 9, .channels = 8, .filters = 12};
    CHECK(reshaped(pixels) == 2);
    auto const changed = [&](auto const& change) {
        shape_of_layer made = pixels;
        change(made);
        return reshaped(made);
    };
    CHECK(changed([](shape_of_layer& of) { of.finishes = false; }) == 2);
    CHECK(changed([](shape_of_layer& of) { of.rescales = true; }) == 2);
    CHECK(changed([](shape_of_layer& of) { of.has_bias = false; }) == 2);
    CHECK(changed([](shape_of_layer& of) { of.taps = 3; }) == 0);
    CHECK(changed([](shape_of_layer& of) { of.taps = 3, of.before = 1; }) == 0);
    CHECK(changed([](shape_of_layer& of) { of.stride = 2; }) == 0);
    CHECK(changed([](shape_of_layer& of) { of.rows = 1; }) == 0);

    // A tensor of which a part is read: of more columns, whose pixels do not follow each other, or of more channels or rows.
    for (std::size_t dimension : {0, 1, 2}) {
        std::mt19937 random(1);
        layers network = network_of(pixels, random);
        REQUIRE(network.inputs[0].extents == std::vector<std::int64_t>{6, 9, 8});
        network.inputs[0].extents[dimension] += 2;
        network_program const wide(network, "net", chip_with(products_by("mac"), nothing()).loops(cpu));
        CHECK(wide.placed_layers()[0].layer->of.reshaped().empty());
    }
}

TEST_CASE("whoever waits is told how many layers are placed, and may stop it") {
    std::mt19937 random(1);
    layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12}, random);
    chip const on = chip_with(products_by("mac"), nothing()).loops(cpu);
    std::vector<std::pair<std::int64_t, std::int64_t>> told, expected;
    network_program const made(network, "net", on, [&](std::int64_t placed, std::int64_t all) { told.emplace_back(placed, all); });
    for (std::int64_t at = 0; at < std::ssize(network.all); ++at) expected.emplace_back(at, std::ssize(network.all));
    CHECK(told == expected);
    struct stopped {};
    CHECK_THROWS_AS(network_program(network, "net", on, [](std::int64_t, std::int64_t) { throw stopped(); }), stopped);
}
TEST_CASE("a chip can say where one layer goes") {
    std::mt19937 random(1);
    layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12}, random);
    CHECK(run_on(chip_with(products_by("mac"), products_by("mac_rows")).loops(cpu).layer("k0", "rows", other), network, random) == "other");
    CHECK(run_on(chip_with(products_by("mac"), products_by("mac_rows")).loops(cpu).layer("k0", "loops", cpu), network, random) == "cpu");
    chip const of_another = chip_with(products_by("mac"), nothing()).loops(cpu).layer("k1", "loops", cpu);
    CHECK_THROWS_WITH(network_program(network, "net", of_another),
                      "chip `tested` says where `k1` goes, and the network has no such layer: close to it is k0");
    chip const unsaid = chip("unsaid").inputs_in(common).constants_in(constants).with(cpu, {.inner = &far}).loops(cpu);
    CHECK_THROWS_WITH(network_program(network, "net", unsaid), "chip `unsaid` names no memory: outputs_in(…)");
    // A template of its own, which other layers do not go to.
    CHECK(run_on(chip_with(nothing(), nothing()).layer("k0", "other", products_by("mac_rows")), network, random) == "other");
    CHECK(run_on(chip_with(products_by("mac"), nothing()).loops(cpu).layer("k0", "loops", "cpu"), network, random) == "cpu");
    chip on = chip_with(nothing(), nothing());
    CHECK_THROWS_WITH(on.layer("k0", "loops", cpu), "chip `tested`: `cpu` has no choice `loops`");
    CHECK_THROWS_WITH(on.with(npu, {}), "chip `tested` has two agents `npu`");
    CHECK_THROWS_WITH(on.loops(agent("dsp", host_machine)), "chip `tested` has no agent `dsp`: say with(…) first");
}

TEST_CASE("reasons that are alike but for the instruction are said once") {
    using imported::detail::joined_reasons;
    CHECK(joined_reasons({"it is no sum", "it is no sum"}) == "it is no sum");
    CHECK(joined_reasons({"`a` sums floats", "`b` sums floats"}) == "each of `a` and `b` sums floats");
    CHECK(joined_reasons({"bytes, and `a` sums floats", "`q` has no axis", "bytes, and `b` sums floats", "bytes, and `c` sums floats"}) ==
          "bytes, and each of `a`, `b` and 1 other sums floats, and `q` has no axis");
    CHECK(joined_reasons({"`a without an end"}) == "`a without an end");
}

TEST_CASE("where no choice takes a layer, the error names it and says why") {
    std::mt19937 random(1);
    layers const network = network_of({.rows = 6, .columns = 9, .channels = 8, .filters = 12}, random);
    CHECK_THROWS_WITH(network_program(network, "net", chip_with(nothing(), products_by("mac"))),
                      "k0, node 0 (`Conv`): no agent takes it; columns on npu: it takes nothing; rows on other: `mac` is no instruction of "
                      "`rows` that sums products of two");
    // A result that nothing takes to where the caller wants it.
    chip const away = chip("away")
                          .inputs_in(common)
                          .outputs_in(far)
                          .constants_in(constants)
                          .with(npu, {.tensors = common, .inner = &common})
                          .standard("columns", npu, products_by("mac"));
    CHECK_THROWS_WITH(
        network_program(network, "net", away),
        "k0, node 0 (`Conv`): no agent takes it; columns on npu: it makes a result of the network, and nothing takes that to `far`");
    chip const homeless = chip("homeless").inputs_in(common).outputs_in(common).constants_in(constants).with(cpu, {}).loops(cpu);
    CHECK_THROWS_WITH(network_program(network, "net", homeless),
                      "k0: chip `homeless` does not say where loops of `cpu` keep what stays in a kernel: `.inner`");
}

TEST_CASE("tensors wait in another memory where theirs is too small, if the chip allows that") {
    // a = in0 + 1, b = a a, c is b from its end, out0 = c + a. Each has 6,400 bytes: a waits while c is made of b, which it does not
    // overwrite.
    constexpr std::int64_t extent = 6400;
    layers made;
    made.inputs.push_back({"in0", scalar_type::int8, {extent}});
    made.outputs.push_back({"out0", scalar_type::int8, {extent}});
    auto const i = along("i", extent);
    auto const read = [&](char const* tensor) { return element(tensor, scalar_type::int8, {i}); };
    auto const add = [&](char const* kernel, char const* result, value const& what) {
        made.all.push_back({kernel, stage_of(element(result, scalar_type::int8, {i}), what), {}, kernel});
    };
    value const one = number(std::int64_t{1}, scalar_type::int8);
    add("k0", "a", read("in0") + one), add("k1", "b", read("a") * read("a")),
        add("k2", "c", element("b", scalar_type::int8, {in32(extent - 1) - i})), add("k3", "out0", read("c") + read("a"));
    auto const on = [] {
        return chip("tested")
            .inputs_in(far)
            .outputs_in(far)
            .constants_in(constants)
            .with(cpu, {.tensors = common, .inner = &common, .semantics = &semantics_of<host_machine>})
            .loops(cpu);
    };
    network_program const without(made, "net", on());
    CHECK(make_program_plan(without.get()).refusal.kind == verdict_kind::memory_overflow);
    chip const allows = on().spills_to(far);
    network_program const with(made, "net", allows);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(with.get()));
    INFO((plan->refusal ? to_string(plan->refusal) : ""));
    REQUIRE(!plan->refusal);
    emulated_network emulated(with, allows, *plan);
    std::mt19937 random(3);
    std::vector<std::byte> const input = some_bytes(extent, random), got = emulated({input})[0];
    auto const a_at = [&](std::size_t at) { return static_cast<std::int8_t>(std::to_integer<int>(input[at]) + 1); };
    for (std::size_t at = 0; at < input.size(); ++at) {
        std::int8_t const from_end = a_at(input.size() - 1 - at);
        auto const wanted = static_cast<std::int8_t>(from_end * from_end + a_at(at));
        REQUIRE(static_cast<std::int8_t>(std::to_integer<int>(got[at])) == wanted);
    }
}

TEST_CASE("layers that are alike are searched once") {
    std::mt19937 random(1);
    layers network = network_of({.rows = 6, .columns = 9, .channels = 12, .filters = 12}, random);
    layers const second = network_of({.rows = 6, .columns = 9, .channels = 12, .filters = 12}, random);
    // The second layer reads what the first one makes.
    for (ir::node& one : network.all[0].nodes) {
        if (one.name == "out0") one.name = "t0";
    }
    layer next = second.all[0];
    next.name = "k1";
    for (ir::node& one : next.nodes) {
        if (one.op == operation::access && one.name == "in0") one.name = "t0";
    }
    network.all.push_back(next);
    int asked = 0;
    schedule_template const refuses = [&asked](placed_layer&) { return ++asked, candidates{{}, "not today"}; };
    network_program const whole(network, "net", chip_with(refuses, products_by("mac_rows")));
    CHECK(whole.placed_layers()[0].report.schedules > 50);
    CHECK(whole.placed_layers()[1].report.schedules == 0);
    CHECK(asked == 1);
    for (auto const& one : whole.placed_layers()) CHECK(one.report.passed_over == std::vector<std::string>{"columns on npu: not today"});
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(whole.get()));
    REQUIRE(!plan->refusal);
    CHECK(plan->kernel_at(0).cycles == plan->kernel_at(1).cycles);
    // A template that looks at names.
    schedule_template const prefers_first = [every = products_by("mac_rows")](placed_layer& of) {
        candidates made = every(of);
        if (of.of.what().name == "k1") made.all.erase(made.all.begin() + 1, made.all.end());
        return made;
    };
    CHECK_THROWS_WITH(network_program(network, "net", chip_with(nothing(), prefers_first)),
                      "k1: a template makes fewer schedules of it than of a layer that differs in names alone");
}
