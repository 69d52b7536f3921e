// Concatenations of which kernels write the parts. The oracle says what each whole layer makes, of the network as it was before.
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/emulated_network.hpp>
#include <tilewright/import/fit.hpp>
#include <tilewright/import/layer_check.hpp>
#include <tilewright/import/placement_report.hpp>

#include "catch.hpp"
#include "drawn_images.hpp"

namespace {

using namespace import_tests;
using Catch::Contains;

constexpr memory dram{.name = "dram"}, constants{.name = "constants", .capacity = 64_KiB, .alignment = 16},
    act{.name = "act", .capacity = 1_MiB, .alignment = 16}, other{.name = "other", .capacity = 1_MiB, .alignment = 16},
    small{.name = "act", .capacity = 640, .alignment = 16};
constexpr auto with_large = machine("cpu", dram, constants, act, other), with_small = machine("cpu", dram, constants, small, other);
constexpr agent on_large("cpu", with_large), on_small("cpu", with_small);
chip chip_of(agent const& on = on_large, memory const& between = act, semantics_table const& semantics = semantics_of<with_large>) {
    return chip("loops")
        .inputs_in(dram)
        .outputs_in(dram)
        .constants_in(constants)
        .states_in(between)
        .with(on, {.tensors = any_of(between, dram, other), .inner = &between, .semantics = &semantics})
        .loops(on);
}

/// A network of tensors of int32 that is written down kernel by kernel.
struct written : layers {
    stored input(std::vector<std::int64_t> const& extents) {
        inputs.push_back({name("in", inputs.size()), scalar_type::int32, extents});
        return inputs.back();
    }
    /// One more than each element.
    stored next(stored const& of) {
        std::vector<value> const here = indices(of.extents);
        return kernel(of.extents, element(of.name, of.type, here) + in32(1));
    }
    stored sum(stored const& a, stored const& b) {
        std::vector<value> const here = indices(a.extents);
        return kernel(a.extents, element(a.name, a.type, here) + element(b.name, b.type, here));
    }
    /// Of each element and the one before it along a dimension.
    stored smoothed(stored const& of, std::size_t dimension, std::int64_t count) {
        std::vector<std::int64_t> extents = of.extents;
        extents[dimension] = count;
        std::vector<value> read = indices(extents);
        for (std::size_t at = 0; at < read.size(); ++at)
            read[at] = within(at == dimension ? read[at] - in32(1) : read[at], name("w", at), of.extents[at]);
        value const before = padded_element(of.name, of.type, read, 7);
        return kernel(extents, before + element(of.name, of.type, indices(extents)));
    }
    stored join(std::vector<stored> const& parts, std::size_t dimension) {
        std::vector<std::int64_t> extents = parts[0].extents;
        extents[dimension] = 0;
        for (stored const& one : parts) extents[dimension] += one.extents[dimension];
        std::vector<value> const here = indices(extents);
        value chosen;
        std::int64_t end = extents[dimension];
        for (std::size_t at = parts.size(); at-- > 0;) {
            std::int64_t const begin = end - parts[at].extents[dimension];
            std::vector<value> read = here;
            if (begin > 0) read[dimension] = read[dimension] - in32(begin);
            for (std::size_t d = 0; d < read.size(); ++d) read[d] = within(read[d], name("w", d), parts[at].extents[d]);
            value const part = padded_element(parts[at].name, parts[at].type, read, 0);
            chosen = chosen.nodes.empty() ? part : choose(here[dimension] < in32(end), part, chosen);
            end = begin;
        }
        return kernel(extents, chosen);
    }
    layers const& with_outputs(std::vector<stored> const& all) { return outputs = all, *this; }

  private:
    static ir::label name(char const* what, std::size_t number) { return ir::label((what + std::to_string(number)).c_str()); }
    static std::vector<value> indices(std::vector<std::int64_t> const& extents) {
        std::vector<value> made;
        for (std::size_t at = 0; at < extents.size(); ++at) made.push_back(along(name("i", at), extents[at]));
        return made;
    }
    stored kernel(std::vector<std::int64_t> const& extents, value const& what) {
        stored const result{name("t", all.size()), scalar_type::int32, extents};
        all.push_back({name("k", all.size()),
                       stage_of(element(result.name, result.type, indices(extents)), what),
                       {},
                       "node " + std::to_string(all.size())});
        tensors.push_back(whole_of(result));
        names.tensors.push_back({"of_" + result.name.str(), tensors.size() - 1});
        return result;
    }
};

/// Plans a network with its concatenations in place, and compares what it makes. @return its kernels
std::size_t kernels_in_place(layers const& network, std::uint32_t seed = 1) {
    layers const made = with_joins_in_place(network);
    network_program const program(made, "net", chip_of());
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(program.get()));
    INFO("seed " << seed << ", " << (plan->refusal ? to_string(plan->refusal) : ""));
    REQUIRE(!plan->refusal);
    auto const input = drawn_bytes(network.inputs[0], seed);
    chip const on = chip_of();
    emulated_network emulated(program, on, *plan);
    REQUIRE(emulated({input}) == expected(network, input));
    return made.all.size();
}
/// Where the layers that make a tensor begin in it, along a dimension.
std::vector<std::int64_t> begins(layers const& of, stored const& tensor, std::size_t dimension) {
    std::vector<std::int64_t> made;
    for (layer const& one : of.all) {
        auto const part = one.parts.find(tensor.name.str());
        if (one.nodes.back().name == tensor.name) made.push_back(part == one.parts.end() ? 0 : part->second.at(dimension));
    }
    return made;
}

}  // namespace

TEST_CASE("drawn networks with concatenations in place: bit-equal to the oracle, in any order of channels") {
    int in_parts = 0, fewer = 0;
    for (std::uint32_t seed = 1; seed <= 24; ++seed) {
        drawn_network of(seed, seed % 2 == 1);
        for (int at = 0, count = 4 + of.below(6); at < count; ++at) {
            of.branch();
            if (at > 1 && of.below(3) == 0) of.join();
            else of.add(of.below(7));
        }
        of.add(6), of.finish();
        if (of.below(3) == 0) of.give_one();
        layers const network = seed % 4 < 2 ? with_channels_last(of.made) : of.made;
        layers const made = with_joins_in_place(network);
        in_parts += std::any_of(made.all.begin(), made.all.end(), [](layer const& one) { return !one.parts.empty(); }) ? 1 : 0;
        fewer += made.all.size() < network.all.size() ? 1 : 0;
        kernels_in_place(network, seed);
    }
    CHECK(in_parts > 8);
    CHECK(fewer > 0);
}

TEST_CASE("a concatenation of what kernels make is no kernel, along any dimension and of any number") {
    for (std::size_t const rank : {1, 2, 4, 6}) {
        for (std::size_t dimension = 0; dimension < rank; ++dimension) {
            written of;
            std::vector<std::int64_t> extents(rank, 2);
            stored const x = of.input(extents);
            std::vector<stored> parts;
            for (std::size_t at = 0; at < 2 + dimension; ++at) parts.push_back(of.next(x));
            stored const joined = of.join(parts, dimension);
            CAPTURE(rank, dimension);
            CHECK(kernels_in_place(of.with_outputs({joined})) == parts.size());
            CHECK(begins(with_joins_in_place(of), joined, dimension).back() == static_cast<std::int64_t>(2 + 2 * dimension));
        }
    }
}

TEST_CASE("concatenations of concatenations write to the last one, and thirty operands are joined in groups of twelve") {
    written of;
    stored const x = of.input({3, 2});
    stored const rows = of.join({of.next(x), of.smoothed(x, 0, 2)}, 0), other_rows = of.join({of.smoothed(x, 0, 2), of.next(x)}, 0);
    stored const inner = of.join({other_rows, of.smoothed(rows, 0, 5)}, 1), columns = of.join({rows, inner}, 1);
    // A kernel reads the first operand and makes a part of the second one: the first, smaller one is copied.
    CHECK(kernels_in_place(of.with_outputs({of.next(columns)})) == 7);
    CHECK(begins(with_joins_in_place(of), columns, 1) == std::vector<std::int64_t>{2, 2, 4, 0});

    written many;
    stored const y = many.input({2, 3});
    std::vector<stored> groups;
    for (int group = 0; group < 3; ++group) {
        std::vector<stored> parts;
        for (int at = 0; at < (group == 2 ? 6 : 12); ++at) parts.push_back(many.next(y));
        groups.push_back(many.join(parts, 1));
    }
    stored const joined = many.join(groups, 1);
    CHECK(kernels_in_place(many.with_outputs({joined})) == 30);
    auto const found = begins(with_joins_in_place(many), joined, 1);
    for (std::size_t at = 0; at < found.size(); ++at) CHECK(found[at] == static_cast<std::int64_t>(3 * at));
}

TEST_CASE("who else reads an operand reads it in the result, border and all") {
    written of;
    stored const x = of.input({4, 3}), a = of.next(x), b = of.smoothed(x, 0, 3), c = of.smoothed(b, 0, 3), joined = of.join({a, b}, 0);
    // c comes before the concatenation, the last one after it.
    CHECK(kernels_in_place(of.with_outputs({joined, c, of.smoothed(b, 1, 3)})) == 4);
    layers const made = with_joins_in_place(of);
    CHECK(made.all[2].parts.at(joined.name.str()) == std::vector<std::int64_t>{4, 0});
}

TEST_CASE("arguments, outputs, constants and what is joined twice are copied to their part, neighbours by one kernel") {
    written of;
    stored const x = of.input({2, 3}), made = of.next(x), given = of.next(made), last = of.next(given);
    stored const joined = of.join({x, given, last, made, made}, 1);
    layers const network = of.with_outputs({joined, given});
    layers const in_place = with_joins_in_place(network);
    // x and `given` together, and `made` twice.
    REQUIRE(in_place.all.size() == 5);
    CHECK(in_place.all[3].name == "k3");
    CHECK(in_place.all[4].name == "k3p1");
    CHECK(begins(in_place, joined, 1) == std::vector<std::int64_t>{6, 0, 9});
    CHECK(kernels_in_place(network) == 5);

    written none;
    stored const y = none.input({2, 3});
    CHECK(with_joins_in_place(none.with_outputs({none.join({y, y}, 0)})).all.size() == 1);
}

TEST_CASE("no kernel has two parts of one tensor: of two operands that a kernel has, the smaller one is copied") {
    written of;
    stored const x = of.input({5, 3}), large = of.next(x), small_one = of.smoothed(large, 0, 2), joined = of.join({large, small_one}, 0);
    layers const network = of.with_outputs({joined}), made = with_joins_in_place(network);
    REQUIRE(made.all.size() == 3);
    CHECK(begins(made, joined, 0) == std::vector<std::int64_t>{0, 5});
    CHECK(made.all[1].nodes.back().name == small_one.name);
    CHECK(kernels_in_place(network) == 3);
    // Likewise where a kernel reads two operands.
    written two;
    stored const y = two.input({4, 2}), a = two.next(y), b = two.next(a), added = two.sum(a, b), both = two.join({a, b}, 1);
    CHECK(kernels_in_place(two.with_outputs({both, added})) == 4);
}

TEST_CASE("an operand of two concatenations is in place in the first, and copied to the second") {
    written of;
    stored const x = of.input({4, 3}), a = of.next(x), b = of.next(x), c = of.next(x);
    stored const first = of.join({a, b}, 0), second = of.join({b, c}, 1);
    layers const network = of.with_outputs({first, second}), made = with_joins_in_place(network);
    REQUIRE(made.all.size() == 4);
    CHECK(begins(made, first, 0) == std::vector<std::int64_t>{0, 4});
    CHECK(begins(made, second, 1) == std::vector<std::int64_t>{3, 0});
    CHECK(kernels_in_place(network) == 4);
}

TEST_CASE("what is kept from run to run has no parts") {
    written of;
    stored const kept = of.input({2, 4}), x = of.input({2, 2}), a = of.next(x), b = of.next(x), joined = of.join({a, b}, 1);
    stored const read = of.sum(kept, kept);
    of.with_outputs({joined, read}), of.states = {{0, 0}};
    CHECK(with_joins_in_place(of).all.size() == 4);
    CHECK(!planned_network(of, "net", chip_of()).plan().refusal);
}

TEST_CASE("tensors and layers that a chip names stay; others are found by the names that they had") {
    written of;
    stored const x = of.input({4, 3}), a = of.next(x), b = of.smoothed(x, 0, 3), joined = of.join({a, b}, 0);
    layers const network = of.with_outputs({of.next(joined)});
    auto const planned = [&](chip on) {
        auto const made = std::make_unique<fitted_network>(network, "net", on);
        INFO(made->refusal());
        REQUIRE(!made->plan().refusal);
        auto const input = drawn_bytes(network.inputs[0], 5);
        emulated_network emulated(made->program(), on, made->plan());
        REQUIRE(emulated({input}) == expected(network, input));
        return std::pair{made->program().network().all.size(), placement_table(*made)};
    };
    auto const [count, table] = planned(chip_of());
    CHECK(count == 3);
    CHECK_THAT(table, Contains("t2 (`of_t2`), of it `of_t0`") && Contains("t2 (`of_t2`), of it `of_t1`"));
    // The operand has a place of its own, and is copied; the result has one, and parts are written there.
    CHECK(planned(chip_of().pin("of_t1", other)).first == 4);
    CHECK(planned(chip_of().pin("of_t2", other)).first == 3);
    // A layer by its operand's name, and the concatenation by its kernel's.
    CHECK(planned(chip_of().layer("of_t0", "loops", "cpu")).first == 3);
    CHECK(planned(chip_of().layer("k2", "loops", "cpu")).first == 4);
    name_finder const names(with_joins_in_place(network));
    CHECK(names.layer_named("of_t0").name == "k0");
    CHECK_THAT(names.layer_named("of_t2").why, Contains("the name of k0 and k1"));
    CHECK_THAT(names.tensor("of_t1").why, Contains("a part of t2"));
}

TEST_CASE("where the chip cannot have parts, the network is planned as before") {
    // Two kernels are used up before the third one: all of the result would have to be there with x of the first.
    written of;
    stored const x = of.input({8, 4}), a = of.next(x), large = of.next(a), b = of.smoothed(large, 0, 8), joined = of.join({a, b}, 0);
    layers const network = of.with_outputs({of.next(joined)});
    chip const on = chip_of(on_small, small, semantics_of<with_small>);
    network_program const in_place(with_joins_in_place(network), "net", on);
    planned_network const found(network, "net", on);
    CHECK(!found.plan().refusal);
}
