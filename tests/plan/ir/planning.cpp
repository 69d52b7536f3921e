#include <tilewright/plan/ir/planning.hpp>

#include "plan/small_kernels.hpp"

// What the planner works on: capacities, producers, indices.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis x{"x", 8};
constexpr tensor<std::int32_t> S{"S"};
/// S(x) = A(2 x - 1); C(m, n) = S(m - n + 3) + S(m)
constexpr auto two_stages = stages(S(x) = A(2 * x - 1), C(m, n) = S(m - n + 3) + S(m));

/// A planning of two stages whose axes stand for variables of their own.
struct started {
    schedule of;
    machine_reading parts;
    plan_value plan;
    groundwork from;
    verdict_sheet sheet;
    placing p;
    explicit started(computation_view what) : of(what, blocking), p(of, parts, sheet, plan, from) {
        plan_value const read = empty_plan(blocking, what);
        for (int s = 0; s < read.stages.size(); ++s) {
            p.plan.stages.push(read.stages[s]);
            p.from.nests.push({});
            p.from.placements.push({});
            for (int a = 0; a < read.stages[s].axis_count; ++a) {
                int const v = p.add(variable{.name = read.stages[s].axes[a].name, .extent = read.stages[s].axes[a].extent});
                p.placed(s).axis_values[a].add(1, v);
                p.placed(s).highest[a].constant = read.stages[s].axes[a].extent - 1;
            }
        }
    }
    /// The node of the n-th access to a tensor.
    node_id access(label const& name, int number = 0) const {
        for (node_id at{}; at < p.plan.what.count; ++at) {
            if (p.plan.what[at].op == operation::access && p.plan.what[at].name == name && number-- == 0) return at;
        }
        return no_node;
    }
};

}  // namespace

TEST_CASE("what a plan has no room for is refused with what it is") {
    started s(copy.view());
    for (int at = s.p.plan.variables.size(); at < plan_value::most_variables; ++at) s.p.add(variable{});
    CHECK_FALSE(s.p.refused());
    CHECK(s.p.add(variable{}) == 0);
    CHECK(s.p.first_verdict().kind == verdict_kind::capacity_of_representation);
    CHECK(s.p.first_verdict().names[0] == "variables");
    CHECK((s.p.first_verdict().facts[0].value == 65 && s.p.first_verdict().facts[1].value == 64));
}
TEST_CASE("forms are kept up to the last term that there is room for") {
    started s(copy.view());
    while (s.p.plan.terms.size() < plan_value::most_terms - 2) s.p.plan.terms.push({1, 0_variable});
    affine const last = s.p.keep(sum_of(7, {{1, 0}, {2, 1}}));
    CHECK(same(s.p.form_of(last), sum_of(7, {{1, 0}, {2, 1}})));
    CHECK_FALSE(s.p.refused());
    CHECK(s.p.keep(sum_of(7, {{1, 0}})).count == 0);
    CHECK(s.p.refused());
}
TEST_CASE("tags follow each other, and channels those of the ring before on the same engine") {
    started s(copy.view());
    CHECK(s.p.take_tags(3) == 0);
    CHECK(s.p.take_tags(2) == 3);
    CHECK(s.p.take_tags(1) == 5);
    static constexpr engine channels{.name = "channels", .channels = 4};
    static constexpr auto dealt = machine("dealt", dram, channels, loader);
    s.of = schedule(copy, dealt);
    s.p.plan.where = &dealt;
    CHECK(s.p.take_channels(0) == 0);
    s.p.add(ring{.engine = 0, .versions = 3});
    s.p.add(ring{.engine = 1, .versions = 2});
    CHECK(s.p.take_channels(0) == 3);
    s.p.add(ring{.engine = 0, .versions = 2, .first_channel = 3});
    CHECK(s.p.take_channels(0) == 1);  // (3 + 2) % 4
}
TEST_CASE("the stage that computes a tensor is found, and none for an input") {
    started s(two_stages.view());
    CHECK((s.p.producer_of("S") == 0 && s.p.producer_of("C") == 1 && s.p.producer_of("A") == -1));
}
TEST_CASE("accesses of a stage are visited with its target or without") {
    started s(two_stages.view());
    int reads = 0, all = 0;
    s.p.each_access(1_stage, [&](int) { ++reads; });
    s.p.each_access(
        1_stage, [&](int) { ++all; }, true);
    CHECK((reads == 2 && all == 3));
}
TEST_CASE("an index is a form over what the axes of its stage are") {
    started s(two_stages.view());
    // Variables: x 0; m 1, n 2.
    CHECK(same(s.p.index_form(0_stage, s.access("A"), 0), sum_of(-1, {{2, 0}})));
    CHECK(same(s.p.index_form(1_stage, s.access("S", 1), 0), sum_of(3, {{1, 1}, {-1, 2}})));
}
TEST_CASE("an index goes from where its axes are lowest to where they are highest") {
    started s(two_stages.view());
    auto const of = [&](stage_id stage, node_id node) { return s.p.range_of_index(stage, node, 0); };
    CHECK((of(0_stage, s.access("A")).low == -1 && of(0_stage, s.access("A")).high.constant == 2 * 7 - 1));
    // m - n + 3, m to 9, n to 5
    CHECK((of(1_stage, s.access("S", 1)).low == 3 - 5 && of(1_stage, s.access("S", 1)).high.constant == 12));
    s.p.placed(1).lowest[0] = 2, s.p.placed(1).lowest[1] = 1;
    CHECK((of(1_stage, s.access("S", 1)).low == 2 - 5 + 3 && of(1_stage, s.access("S", 1)).high.constant == 9 - 1 + 3));
}
TEST_CASE("an extent that run time gives stays a form at the end, and at the beginning it is named") {
    started s(two_stages.view());
    int const open = s.p.add(variable{.name = "n", .extent = 100, .kind = variable_kind::extent});
    s.p.placed(1).highest[1] = s.p.keep(sum_of(-1, {{1, open}}));
    s.p.placed(1).highest[0] = s.p.keep(sum_of(-1, {{1, open}}));
    auto const plus = s.p.range_of_index(1_stage, s.access("S", 2), 0), minus = s.p.range_of_index(1_stage, s.access("S", 1), 0);
    CHECK(same(plus.high, sum_of(-1, {{1, open}})));
    CHECK((plus.low == 0 && plus.open == -1));
    CHECK(minus.open == open);
}
TEST_CASE("of a padded access, the range stays inside of the tensor") {
    constexpr auto blur = C(x) = padded(A(x), 0)(x - 1);
    started s(blur.view());
    planning::index_range const inside = s.p.range_of_index(0_stage, s.access("A"), 0);
    CHECK((inside.low == 0 && inside.high.constant == 6));
}
