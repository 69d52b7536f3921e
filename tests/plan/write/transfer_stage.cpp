#include <tilewright/plan/write/transfer_stage.hpp>

#include "plan/passes.hpp"

// Stages that one transfer carries out.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr tensor<std::int32_t> S{"S"}, from{"from"}, to{"to"};
constexpr tensor<std::int8_t> bytes{"bytes"};
constexpr axis i{"i", 1}, j{"j", 1}, x{"x", 10}, y{"y", 6};
constexpr auto turned = transfer("turned", dram, spad, to(i, j) = from(j, i)).dimensions(2);
constexpr auto doubled = transfer("doubled", dram, spad, to(i) = from(i) * 2).dimensions(2);
constexpr auto seven = transfer("seven", dram, spad, to(i) = 7).dimensions(2);
constexpr auto to_wide = transfer("widened", dram, spad, to(i) = cast<std::int32_t>(bytes(i))).dimensions(2);
constexpr auto where = machine("where", dram, spad, get, put, turned, doubled, seven, to_wide);

/// What comes of a stage S(x, y), which C reads, carried out by a transfer.
template <class Stage>
verdict refusal_of(Stage const& made, transfer const& by) {
    auto const two = stages(made, C(x, y) = S(x, y) + 1);
    return planned_to(pass::program, schedule(two, where).store_in(S, spad).by(by)).refusal();
}

}  // namespace

TEST_CASE("a transfer does what it declares, and nothing else") {
    CHECK_FALSE(refusal_of(S(x, y) = A(x, y), get));
    CHECK_FALSE(refusal_of(S(x, y) = A(x, y) * 2, doubled));
    CHECK_FALSE(refusal_of(S(x, y) = A(y, x), turned));
    CHECK_FALSE(refusal_of(S(x, y) = 7, seven));
    CHECK_FALSE(refusal_of(S(x, y) = cast<std::int32_t>(bytes(x, y)), to_wide));
    CHECK(refusal_of(S(x, y) = A(x, y) * 2, get).broken == rule::another_value);
    CHECK(refusal_of(S(x, y) = A(x, y) * 3, doubled).broken == rule::another_value);
    CHECK(refusal_of(S(x, y) = 8, seven).broken == rule::another_value);
    CHECK(refusal_of(S(x, y) = sum(k, A(x, y) * B(k)), doubled).broken == rule::a_reduction);
    CHECK(refusal_of(S(x, y) = A(x, y), put).kind == verdict_kind::transfer_mismatch);  // to another memory
}
TEST_CASE("indices move one dimension each, in the order that the transfer declares") {
    CHECK(refusal_of(S(x, y) = A(y, x), get).broken == rule::another_order);
    CHECK(refusal_of(S(x, y) = A(x, y), turned).broken == rule::another_order);
    CHECK(refusal_of(S(x, y) = A(x + y, y), get).broken == rule::another_pattern);
    CHECK(refusal_of(S(x, y) = A(x, 0), get).broken == rule::another_pattern);  // along y it would be repeated
    CHECK(refusal_of(S(x, y) = A(9 - x, y), get).broken == rule::another_pattern);
    CHECK_FALSE(refusal_of(S(x, y) = A(2 * x + 1, y), get));
}
TEST_CASE("the region begins where its loops are at 0, and moves by the steps of its indices") {
    auto const two = stages(S(x, y) = A(2 * x + 1, y), C(x, y) = S(x, y) + 1);
    planned_to const t(pass::program, schedule(two, where).store_in(S, spad).by(get));
    REQUIRE_FALSE(t.p.refused());
    REQUIRE(t.p.plan.movements.size() == 1);
    movement const& moved = t.p.plan.movements[0];
    CHECK((moved.row_elements == 6 && moved.dimension_count == 1 && moved.dimensions[0].extent == 10 &&
           moved.dimensions[0].source_factor == 2));
    CHECK(same(t.p.form_of(moved.source_at[0]), sum_of(1)));
    CHECK(same(t.p.form_of(moved.destination_at[0]), sum_of(0)));
}
TEST_CASE("semantics of two axes say where each dimension comes from") {
    stage semantics;
    machine const& on = where;
    computation_view const view = on.view(on.transfers[2].semantics);
    read_stage(view, 0, semantics);
    int const source = semantics.body;
    CHECK((declared_source(on.transfers[2], view, semantics, source, 2, 0) == 1 &&
           declared_source(on.transfers[2], view, semantics, source, 2, 1) == 0));
    // Of three dimensions the last two.
    CHECK((declared_source(on.transfers[2], view, semantics, source, 3, 0) == -1 &&
           declared_source(on.transfers[2], view, semantics, source, 3, 1) == 2));
    CHECK(declared_source(on.transfers[0], view, semantics, source, 2, 0) == -1);
}
