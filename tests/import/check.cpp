#include <cmath>
#include <limits>
#include <tilewright/import/layer_check.hpp>

#include "import/drawing.hpp"

// What kernels made beside what a reference computes. The kernels here are made up: nothing runs.

namespace {

using namespace import_tests;
using Catch::Contains;
using imported::checked_result;

template <class T>
std::vector<std::byte> bytes_of(std::vector<T> const& of) {
    std::vector<std::byte> made(of.size() * sizeof(T));
    std::memcpy(made.data(), of.data(), made.size());
    return made;
}

/// A network whose kernels made what is given for their tensors, in the order of the kernels.
struct checked {
    std::vector<checked_result> all;

    checked(drawing const& of, std::vector<std::byte> const& input, std::vector<std::vector<std::byte>> const& results) {
        imported::layers const layers = networks::layers_of(of.graph);
        REQUIRE(layers.refused.empty());
        REQUIRE(layers.all.size() == results.size());
        imported::made_tensors made;
        for (std::size_t at = 0; at < results.size(); ++at) made[layers.all[at].nodes.back().name.str()] = results[at];
        all = imported::check_layers(of.graph, layers, {input}, made);
    }
};

/// x -> Neg -> s, an output -> Transpose -> Exp -> y.
struct turned : drawing {
    tensor_id s;

    turned() {
        tensor_id const x = tensor(element_type::float32, {2, 3});
        graph.inputs = {x};
        s = node("Neg", {x});
        graph.outputs = {s, node("Exp", {node("Transpose", {s}, {{"perm", std::vector<std::int64_t>{1, 0}}})})};
    }
};
std::vector<float> const x{0, 1, 2, 3, 4, 5}, s{0, -1, -2, -3, -4, -5};
std::vector<float> exponentials(std::vector<float> const& of) {
    std::vector<float> made;
    for (std::size_t at : {0, 3, 1, 4, 2, 5}) made.push_back(std::exp(of[at]));
    return made;
}

/// x of float32 -> QuantizeLinear.
struct quantised : drawing {
    quantised() {
        tensor_id const real = tensor(element_type::float32, {1, 1, 4});
        graph.inputs = {real};
        tensor_id const levels = node("QuantizeLinear", {real, scale(0.5F), zero(0)});
        graph.outputs = {levels};
    }
};

}  // namespace

TEST_CASE("each result of a kernel is compared; what is another way to read it, too") {
    checked const made(turned(), bytes_of(x), {bytes_of(s), bytes_of(exponentials(s))});
    REQUIRE(made.all.size() == 3);
    for (checked_result const& one : made.all) CHECK(one.verdict == checked_result::equals);
    CHECK(made.all[0].elements == 6);
    CHECK(made.all[1].kernel == made.all[0].kernel);
    CHECK(imported::all_agree(made.all));
    CHECK_THAT(imported::check_table(made.all),
               Contains("3 of 3 results compared, 0 are parts of other kernels, 0 not checked: no difference\n"));
}

TEST_CASE("a difference stands where it arises, and not at what follows from it") {
    std::vector<float> wrong = s;
    wrong[5] = -7;
    checked const made(turned(), bytes_of(x), {bytes_of(wrong), bytes_of(exponentials(wrong))});
    CHECK(made.all[0].verdict == checked_result::different);
    CHECK(made.all[0].why == "at [1, 2] expected -5, got -7");
    CHECK(made.all[0].apart == 1);
    CHECK(made.all[1].verdict == checked_result::equals);
    CHECK(made.all[2].verdict == checked_result::equals);
    CHECK_FALSE(imported::all_agree(made.all));
    CHECK_THAT(imported::check_table(made.all),
               Contains("the first difference is in k0, node 0 (Neg)") && Contains("at [1, 2] expected -5, got -7\n"));
    // A later kernel alone.
    std::vector<float> last = exponentials(s);
    last[0] = 1.001F;
    checked const late(turned(), bytes_of(x), {bytes_of(s), bytes_of(last)});
    CHECK(late.all[0].verdict == checked_result::equals);
    CHECK(late.all[2].why == "at [0, 0] expected 1, got 1.00100005");
}

TEST_CASE("floats may differ by what sums in another order do, and no number is no number") {
    std::vector<float> near = s;
    near[5] = -5.00001F;
    checked const made(turned(), bytes_of(x), {bytes_of(near), bytes_of(exponentials(near))});
    CHECK(made.all[0].verdict == checked_result::nearly_equal);
    CHECK(made.all[0].furthest > 1e-7);
    CHECK(made.all[0].furthest < 1e-5);
    std::vector<float> none = x;
    none[1] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> negated = s;
    negated[1] = -none[1];
    checked const with_none(turned(), bytes_of(none), {bytes_of(negated), bytes_of(exponentials(negated))});
    CHECK(imported::all_agree(with_none.all));
    checked const without(turned(), bytes_of(none), {bytes_of(s), bytes_of(exponentials(s))});
    CHECK(without.all[0].verdict == checked_result::different);
}

TEST_CASE("integers that are made of reals may be one step apart, and no two") {
    std::vector<float> const reals{0.2F, 1, -3, 70};
    using levels = std::vector<std::int8_t>;
    CHECK(checked(quantised(), bytes_of(reals), {bytes_of(levels{0, 2, -6, 127})}).all[0].verdict == checked_result::equals);
    checked const near(quantised(), bytes_of(reals), {bytes_of(levels{1, 2, -6, 127})});
    CHECK(near.all[0].verdict == checked_result::within_a_step);
    CHECK_THAT(imported::check_table(near.all), Contains("25.0 % are one step apart"));
    checked const far(quantised(), bytes_of(reals), {bytes_of(levels{0, 2, -4, 127})});
    CHECK(far.all[0].verdict == checked_result::different);
    CHECK(far.all[0].why == "at [0, 0, 2] expected -6, got -4");
}

TEST_CASE("what has no reference is said to be unchecked, and what kernels made goes on") {
    turned const of;
    imported::layers const layers = networks::layers_of(of.graph);
    imported::made_tensors const made{{layers.all[0].nodes.back().name.str(), bytes_of(s)},
                                      {layers.all[1].nodes.back().name.str(), bytes_of(exponentials(s))}};
    auto const all = imported::check_layers(of.graph, layers, {bytes_of(x)}, made,
                                            [](network::graph const& graph, network::node const& node, reference::operands const& given) {
                                                if (node.operation == "Neg") throw reference::not_covered("no `Neg` today");
                                                return reference::results_of(graph, node, given);
                                            });
    CHECK(all[0].verdict == checked_result::not_checked);
    CHECK(all[0].why == "no `Neg` today");
    CHECK(all[1].verdict == checked_result::equals);
    CHECK(all[2].verdict == checked_result::equals);
    CHECK_THAT(imported::check_table(all), Contains("not checked: no `Neg` today") && Contains("2 of 3 results compared"));
    // Where no kernel made it either, nothing after it is known.
    auto const none = imported::check_layers(of.graph, layers, {bytes_of(x)}, {}, [](auto const&...) -> std::vector<reference::elements> {
        throw reference::not_covered("never");
    });
    CHECK_THAT(none[1].why, Contains("its operand") && Contains("is not known"));
}
