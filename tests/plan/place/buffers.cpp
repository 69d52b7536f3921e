#include <tilewright/plan/place/buffers.hpp>

#include "plan/passes.hpp"

// The buffers of a plan: arguments, and boxes that it gives an address.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis open{"m", dynamic};
constexpr tensor<std::int32_t> S{"S"};
constexpr tensor<float> wrong_type{"A"};
constexpr memory ddr{.name = "ddr"}, file{.name = "file", .capacity = 64, .registers = 4};
constexpr auto two_outside = machine("two_outside", dram, ddr, spad, file);

box box_of(std::initializer_list<std::int64_t> extents) {
    box made;
    for (std::int64_t const extent : extents) made.extents[made.rank++] = extent;
    return made;
}
buffer const& argument_of(planned_to const& t, label const& name) { return t.p.plan.buffers[t.buffer(name)]; }

}  // namespace

TEST_CASE("a planned buffer has the bytes of its box, and a number when its name is taken") {
    blank t(two_outside);
    box const whole = box_of({5, 7});
    int const first = add_planned(t.p, {"A", 2, scalar_type::int32, 3}, whole),
              second = add_planned(t.p, {"A", 2, scalar_type::int8, 4}, whole),
              third = add_planned(t.p, {"A", 2, scalar_type::int8, 4}, whole);
    CHECK((t.p.buffer_at(first).name == "A.spad" && t.p.buffer_at(first).bytes == 140 && t.p.buffer_at(first).ordinal == 3));
    CHECK((t.p.buffer_at(second).name == "A.spad.2" && t.p.buffer_at(second).bytes == 35));
    CHECK(t.p.buffer_at(third).name == "A.spad.3");
    // Rows of 7 x 4 bytes take two registers of 16 each.
    CHECK(t.p.buffer_at(add_planned(t.p, {"A", 3, scalar_type::int32, 0}, whole)).bytes == 5 * 2 * 16);
    add_planned(t.p, {"A", 1, scalar_type::int32, 2}, whole);
    CHECK(t.p.first_verdict().kind == verdict_kind::no_memory);
    CHECK((t.p.first_verdict().names[1] == "ddr" && t.p.first_verdict().ordinal == 2));
}
TEST_CASE("a box of more bytes than a plan can hold is refused") {
    blank t(two_outside);
    add_planned(t.p, {"A", 2, scalar_type::int32, 0}, box_of({1 << 19, 1 << 19}));  // 2^40 bytes
    CHECK_FALSE(t.p.refused());
    add_planned(t.p, {"A", 2, scalar_type::int32, 0}, box_of({1 << 20, 1 << 19}));
    CHECK(t.p.first_verdict().kind == verdict_kind::capacity_of_representation);
}
TEST_CASE("arguments stand in the order of their first use, the result last, where the caller keeps them") {
    auto const sum = C(m, n) = B(n) + A(m, n) + B(n);
    planned_to const t(pass::arguments, schedule(sum, two_outside).reads(A, ddr).writes(C, ddr));
    REQUIRE(t.p.plan.buffers.size() == 3);
    CHECK((t.buffer("B") == 0 && t.buffer("A") == 1 && t.buffer("C") == 2));
    CHECK((argument_of(t, "B").memory == 0 && argument_of(t, "A").memory == 1 && argument_of(t, "C").memory == 1));
    CHECK((argument_of(t, "C").written && !argument_of(t, "A").written));
    CHECK((argument_of(t, "A").dense_from == 1 && argument_of(t, "B").dense_from == 0 && argument_of(t, "A").alignment == 4));
    CHECK(t.p.placed(0).home == 2);
}
TEST_CASE("a tensor has one rank and one type, and is computed before it is read") {
    auto const rank = C(m, n) = A(m, n) + A(m);
    CHECK(planned_to(pass::arguments, schedule(rank, blocking)).refusal().broken == rule::used_with_two_ranks);
    auto const type = C(m, n) = A(m, n) + cast<std::int32_t>(wrong_type(m, n));
    CHECK(planned_to(pass::arguments, schedule(type, blocking)).refusal().broken == rule::used_with_two_types);
    auto const late = stages(S(m, n) = B(m, n), B(m, n) = A(m, n), C(m, n) = S(m, n) + B(m, n));
    CHECK(planned_to(pass::arguments, schedule(late, blocking).store_in(S, spad).store_in(B, spad)).refusal().broken ==
          rule::computed_too_late);
}
TEST_CASE("an argument is the least box that holds all that is touched") {
    constexpr axis x{"x", 8}, r{"r", 3};
    auto const taps = C(x) = sum(r, A(2 * x + r - 1) * B(r + 4));
    planned_to const t(pass::sizes, schedule(taps, blocking));
    CHECK((argument_of(t, "A").minimum[0] == -1 && argument_of(t, "A").extents[0] == 2 * 7 + 2 + 1));  // from -1 to 15
    CHECK((argument_of(t, "B").minimum[0] == 4 && argument_of(t, "B").extents[0] == 3));
    CHECK(argument_of(t, "A").bytes == 17 * 4);
    // A padded tensor has the extents that are said.
    auto const padded_taps = C(x) = padded(A(x), 0)(x - 2);
    planned_to const p(pass::sizes, schedule(padded_taps, blocking));
    CHECK((argument_of(p, "A").minimum[0] == 0 && argument_of(p, "A").extents[0] == 8));
}
TEST_CASE("dimensions that run time decides have shapes; what is indexed by the axis alone is plain") {
    auto const shifted = C(open, n) = A(open, n) + A(open + 2, n) + B(open);
    planned_to const t(pass::sizes, schedule(shifted, blocking));
    REQUIRE_FALSE(t.p.refused());
    auto const shape_of = [&](label const& name, int dimension) {
        ir::shape const* found = nullptr;
        for (int at = 0; at < t.p.plan.shapes.size(); ++at) {
            ir::shape const& one = t.p.plan.shapes[at];
            if (t.p.buffer_at(one.buffer).name == name && one.dimension == dimension) found = &one;
        }
        return found;
    };
    CHECK((shape_of("B", 0)->plain && shape_of("C", 0)->plain));
    CHECK_FALSE(shape_of("A", 0)->plain);
    CHECK(same(t.p.form_of(shape_of("A", 0)->end), sum_of(2, {{1, 0}})));  // the furthest
}
TEST_CASE("an extent of no argument is refused, and so is one that decides where indices begin") {
    auto const sums = C(n) = sum(open, A(open + 1, n));
    CHECK(planned_to(pass::sizes, schedule(sums, blocking)).refusal().broken == rule::extent_of_no_argument);
    auto const backwards = C(open) = A(7 - open);
    CHECK(planned_to(pass::sizes, schedule(backwards, blocking)).refusal().kind == verdict_kind::run_time_domain);
}
