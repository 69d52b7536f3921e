// Chains of layers that are computed by strips. The oracle says what each whole layer makes.
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/emulated_network.hpp>
#include <tilewright/import/fit.hpp>

#include "catch.hpp"
#include "drawn_images.hpp"

namespace {

using namespace import_tests;

constexpr memory dram{.name = "dram"}, constants{.name = "constants", .capacity = 64_KiB, .alignment = 16},
    large{.name = "act", .capacity = 1_MiB, .alignment = 16}, small{.name = "act", .capacity = 1536, .alignment = 16},
    tiny{.name = "act", .capacity = 256, .alignment = 16};
constexpr auto of_large = machine("cpu", dram, constants, large), of_small = machine("cpu", dram, constants, small),
               of_tiny = machine("cpu", dram, constants, tiny);
constexpr agent on_large("cpu", of_large), on_small("cpu", of_small), on_tiny("cpu", of_tiny);

chip chip_of(agent const& on, memory const& act, semantics_table const& semantics) {
    return chip("loops")
        .inputs_in(dram)
        .outputs_in(dram)
        .constants_in(constants)
        .with(on, {.tensors = any_of(act, dram), .inner = &act, .semantics = &semantics})
        .loops(on);
}
chip chip_of_large() { return chip_of(on_large, large, semantics_of<of_large>); }

}  // namespace

TEST_CASE("drawn networks, with chains of layers by strips: bit-equal to the oracle, whole tensors are cut, and nothing else") {
    int cut = 0, whole = 0, more = 0;
    for (std::uint32_t seed = 1; cut < 16; ++seed) {
        drawn_network of = drawn(seed);
        REQUIRE(seed < 2000);
        layers const& network = of.made;
        strip_chain chain;
        chain.first = static_cast<std::size_t>(of.below(static_cast<int>(network.all.size())));
        chain.last = chain.first + static_cast<std::size_t>(of.below(static_cast<int>(network.all.size() - chain.first)));
        chain.dimension = of.below(3), chain.count = 2 + of.below(4);
        auto const made = with_strips(network, imported::detail::shapes_of(network), chain);
        if (!made) {
            ++whole;
            continue;
        }
        ++cut;
        more += made->iterations > made->iterations_before ? 1 : 0;
        chip const on = chip_of_large();
        network_program const program(made->network, "net", on);
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(program.get()));
        INFO("seed " << seed << ", layers " << chain.first << " to " << chain.last << ", dimension " << chain.dimension << ", "
                     << chain.count);
        REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
        CHECK(made->network.all.size() >= network.all.size());
        CHECK(made->iterations >= made->iterations_before);
        auto const input = drawn_bytes(network.inputs[0], seed);
        emulated_network emulated(program, on, *plan);
        REQUIRE(emulated({input}) == expected(network, input));
        REQUIRE(program.placed_layers()[chain.first].layer->of.what().known_as() == network.all[chain.first].name);
    }
    CHECK(whole > 0);
    CHECK(more > 4);
}

TEST_CASE("a network that does not fit is computed by strips, and says so") {
    int fitted = 0, refused = 0;
    for (std::uint32_t seed = 1; fitted < 5 && seed < 100; ++seed) {
        drawn_network of = drawn(seed);
        layers const& network = of.made;
        chip const on = chip_of(on_small, small, semantics_of<of_small>);
        network_program const as_it_is(network, "net", on);
        auto const plan_as_it_is = std::make_unique<program_plan_value>(make_program_plan(as_it_is.get()));
        if (!plan_as_it_is->refusal) continue;
        REQUIRE(plan_as_it_is->refusal.kind == verdict_kind::memory_overflow);
        fitted_network const whole(network, "net", on);
        INFO("seed " << seed);
        if (whole.plan().refusal) {
            ++refused;
            CHECK(to_string(whole.plan().refusal).find("act") != std::string::npos);
            continue;
        }
        ++fitted;
        REQUIRE(!whole.strips().empty());
        CHECK(whole.strips()[0].find("otherwise act needs ") != std::string::npos);
        CHECK(whole.plan().peak(small).value <= small.capacity);
        auto const input = drawn_bytes(network.inputs[0], seed);
        emulated_network emulated(whole.program(), on, whole.plan());
        CHECK(emulated({input}) == expected(network, input));
    }
    CHECK(fitted > 3);
    CHECK(refused < 20);
}

TEST_CASE("a network that fits has no strips, and one that cannot fit is refused as it was") {
    drawn_network of = drawn(4);
    fitted_network const fits(of.made, "net", chip_of_large());
    CHECK(fits.strips().empty());
    CHECK(!fits.plan().refusal);
    chip const on = chip_of(on_tiny, tiny, semantics_of<of_tiny>);
    fitted_network const cannot(of.made, "net", on);
    CHECK(cannot.plan().refusal.kind == verdict_kind::memory_overflow);
}
