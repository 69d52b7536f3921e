#include <tilewright/plan/place/match.hpp>

#include <tilewright/tilewright.hpp>

#include "catch.hpp"

// Instructions match what they declare, and nothing that differs in one place.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x1000, .capacity = 64_KiB},
    acc{.name = "acc", .base = 0x9000'0000, .capacity = 64_KiB};
constexpr auto load = transfer("load", dram, spad).dimensions(2);
constexpr auto store = transfer("store", acc, dram).dimensions(2);
constexpr auto zero = transfer("zero", dram, acc, tensor<std::int32_t>("d")(axis{"z", 1}) = 0).dimensions(2);

constexpr axis m{"m", 64}, n{"n", 64}, k{"k", 64};
constexpr tensor<std::int8_t> A{"A"}, B{"B"}, a{"a"}, b{"b"};
constexpr tensor<std::int32_t> C{"C"}, c{"c"}, a32{"a"};
constexpr tensor<std::uint8_t> ua{"a"};
constexpr tensor<std::int16_t> c16{"c"};

/// The verdict on `matmul` scheduled with `step` on a machine that has it.
template <int Count>
verdict_kind verdict_of(computation<Count> const& matmul, intrinsic const& step) {
    auto const on = machine("machine", dram, spad, acc, load, store, zero, step);
    auto const s =
        schedule(matmul, on).reorder(m, n, k).cache_read(A, spad).cache_read(B, spad).cache_write(C, acc).tensorize(m, n, k, step);
    return make_plan(s).refusal.kind;
}
template <int Count>
intrinsic multiply_accumulate(computation<Count> const& does) {
    return intrinsic("step", does).reads(a, spad).reads(b, spad).updates(c, acc);
}
template <class T>
auto wide(T const& value) {
    return cast<std::int32_t>(value);
}

/// One edit of each kind to c(i, j) += a(i, l) * b(l, j); `transposed`: of its second operand.
template <int Count>
void check_edits(computation<Count> const& matmul, axis const& i, axis const& j, axis const& l, bool transposed) {
    axis const first = transposed ? j : l, second = transposed ? l : j;
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second)))) == verdict_kind::none);
    // the factors the other way round are the same
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(b(first, second)) * wide(a(i, l)))) == verdict_kind::none);

    using enum verdict_kind;
    // an operation
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) + wide(b(first, second)))) == intrinsic_operation);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l) * b(first, second)))) == intrinsic_operation);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second)) + 1)) == intrinsic_operation);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) = maximum(l, wide(a(i, l)) * wide(b(first, second))))) == intrinsic_operation);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)))) != none);
    // a constant, an operand twice, an operand of the caller
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * 2)) == intrinsic_operation);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(a(i, l)))) == intrinsic_mismatch);
    // a type
    CHECK(
        verdict_of(matmul,
                   intrinsic("step", c(i, j) += wide(ua(i, l)) * wide(b(first, second))).reads(ua, spad).reads(b, spad).updates(c, acc)) ==
        intrinsic_operation);
    CHECK(verdict_of(matmul, intrinsic("step", c16(i, j) += cast<std::int16_t>(a(i, l)) * cast<std::int16_t>(b(first, second)))
                                 .reads(a, spad)
                                 .reads(b, spad)
                                 .updates(c16, acc)) == intrinsic_operation);
    CHECK(verdict_of(matmul,
                     intrinsic("step", c(i, j) += a32(i, l) * wide(b(first, second))).reads(a32, spad).reads(b, spad).updates(c, acc)) ==
          intrinsic_operation);
    // an index: transposed, scaled, moved, of another axis
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(l, i)) * wide(b(first, second)))) == intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(second, first)))) == intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(2 * i, l)) * wide(b(first, second)))) == intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l + 1)) * wide(b(first, second)))) == intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l + j)) * wide(b(first, second)))) == intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(j, l)) * wide(b(first, second)))) == intrinsic_mismatch);
    // With the second operand transposed, a transposed result is the same instruction with its operands exchanged.
    CHECK(verdict_of(matmul, multiply_accumulate(c(j, i) += wide(a(i, l)) * wide(b(first, second)))) ==
          (transposed ? none : intrinsic_mismatch));
    // an extent that does not divide: its last step is partial
    axis const i_odd{"i", i.extent - 1};
    CHECK(verdict_of(matmul, multiply_accumulate(c(i_odd, j) += wide(a(i_odd, l)) * wide(b(first, second)))) == none);
    // a memory
    CHECK(verdict_of(matmul,
                     intrinsic("step", c(i, j) += wide(a(i, l)) * wide(b(first, second))).reads(a, acc).reads(b, spad).updates(c, acc)) ==
          operand_memory);
    CHECK(verdict_of(matmul,
                     intrinsic("step", c(i, j) += wide(a(i, l)) * wide(b(first, second))).reads(a, spad).reads(b, spad).updates(c, spad)) ==
          operand_memory);
    // a stride that the rows of 64 in the scratchpad are no multiple of
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second))).stride_multiple(48)) ==
          intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second))).alignment(128)) == intrinsic_mismatch);
    // what one operand asks for: rows of the scratchpad are 64 elements of one byte, or of four
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second))).alignment(a, 128)) ==
          intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second))).alignment(c, 4)) == none);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second))).stride_multiple(b, 48)) ==
          intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second))).stride_multiple(b, 32)) == none);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second))).stride_at_most(b, 63)) ==
          intrinsic_mismatch);
    CHECK(verdict_of(matmul, multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(first, second))).stride_at_most(b, 64)) == none);
    // an instruction that overwrites cannot carry a reduction on
    CHECK(verdict_of(
              matmul,
              intrinsic("step", c(i, j) = sum(l, wide(a(i, l)) * wide(b(first, second)))).reads(a, spad).reads(b, spad).writes(c, acc)) ==
          intrinsic_mismatch);
}

}  // namespace

TEST_CASE("a 16 x 16 x 16 multiply-accumulate matches only matmul") {
    check_edits(C(m, n) += wide(A(m, k)) * wide(B(k, n)), axis{"i", 16}, axis{"j", 16}, axis{"l", 16}, false);
}
TEST_CASE("8 x 4 dot products of four elements match only matmul with the second operand transposed") {
    check_edits(C(m, n) += wide(A(m, k)) * wide(B(n, k)), axis{"i", 8}, axis{"j", 4}, axis{"l", 4}, true);
}
TEST_CASE("an intrinsic for one layout refuses the other") {
    axis const i{"i", 16}, j{"j", 16}, l{"l", 16};
    CHECK(verdict_of(C(m, n) += wide(A(m, k)) * wide(B(n, k)), multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(l, j)))) ==
          verdict_kind::intrinsic_mismatch);
    CHECK(verdict_of(C(m, n) += wide(A(m, k)) * wide(B(k, n)), multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(j, l)))) ==
          verdict_kind::intrinsic_mismatch);
}
TEST_CASE("a loop of one iteration that moves nothing stands for an axis of which a call covers up to so many") {
    axis const i{"i", 16}, j{"j", 16}, l{"l", 16}, row{"row", 1}, two{"row", 2};
    tensor<std::int8_t> const V{"V"};
    auto const verdict_on_rows = [&](auto const& what, axis const& rows, intrinsic const& step) {
        auto const on = machine("machine", dram, spad, acc, load, store, zero, step);
        auto const s = schedule(what, on).cache_read(V, spad).cache_read(B, spad).cache_write(C, acc).tensorize(rows, n, k, step);
        return make_plan(s).refusal.kind;
    };
    auto const whole = multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(l, j)));
    auto const flexible = multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(l, j))).up_to(i);
    auto const others = multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(l, j))).up_to(j, l);
    CHECK(verdict_on_rows(C(row, n) += wide(V(k)) * wide(B(k, n)), row, flexible) == verdict_kind::none);
    // With a second iteration it matters how far the operand moves, and a call that covers all 16 reads other rows.
    CHECK(verdict_on_rows(C(two, n) += wide(V(k)) * wide(B(k, n)), two, flexible) == verdict_kind::intrinsic_mismatch);
    CHECK(verdict_on_rows(C(row, n) += wide(V(k)) * wide(B(k, n)), row, whole) == verdict_kind::intrinsic_mismatch);
    CHECK(verdict_on_rows(C(row, n) += wide(V(k)) * wide(B(k, n)), row, others) == verdict_kind::intrinsic_mismatch);
}
TEST_CASE("without a form that overwrites and without a fill, a reduction is refused") {
    axis const i{"i", 16}, j{"j", 16}, l{"l", 16};
    auto const step = multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(l, j)));
    auto const on = machine("machine", dram, spad, acc, load, store, step);
    auto const matmul = C(m, n) += wide(A(m, k)) * wide(B(k, n));
    auto const s = schedule(matmul, on).cache_read(A, spad).cache_read(B, spad).cache_write(C, acc).tensorize(m, n, k, step);
    CHECK(make_plan(s).refusal.kind == verdict_kind::missing_first_form);
}
TEST_CASE("a fill with another constant than the identity does not count") {
    axis const i{"i", 16}, j{"j", 16}, l{"l", 16};
    auto const step = multiply_accumulate(c(i, j) += wide(a(i, l)) * wide(b(l, j)));
    auto const ones = transfer("ones", dram, acc, tensor<std::int32_t>("d")(axis{"z", 1}) = 1).dimensions(2);
    auto const on = machine("machine", dram, spad, acc, load, store, ones, step);
    auto const matmul = C(m, n) += wide(A(m, k)) * wide(B(k, n));
    auto const s = schedule(matmul, on).cache_read(A, spad).cache_read(B, spad).cache_write(C, acc).tensorize(m, n, k, step);
    CHECK(make_plan(s).refusal.kind == verdict_kind::missing_first_form);
}
TEST_CASE("axes that move one dimension of an operand move the tensor's by one factor") {
    axis const i{"i", 8}, j{"j", 16}, r{"r", 3}, taps{"taps", 3};
    tensor<std::int32_t> const x{"x"}, y{"y"}, X{"X"}, Y{"Y"};
    auto const rows = intrinsic("rows", y(i, j) = sum(r, x(i + r, j))).reads(x, spad).writes(y, acc);
    auto const on = machine("machine", dram, spad, acc, load, store, rows);
    auto const verdict_on = [&](auto const& what) {
        return make_plan(schedule(what, on).cache_read(X, spad).cache_write(Y, acc).tensorize(m, n, taps, rows)).refusal.kind;
    };
    CHECK(verdict_on(Y(m, n) = sum(taps, X(m + taps, n))) == verdict_kind::none);
    CHECK(verdict_on(Y(m, n) = sum(taps, X(2 * m + 2 * taps, n))) == verdict_kind::none);  // rows two apart
    CHECK(verdict_on(Y(m, n) = sum(taps, X(2 * m + taps, n))) == verdict_kind::intrinsic_mismatch);
    CHECK(verdict_on(Y(m, n) = sum(taps, X(m + 2 * taps, n))) == verdict_kind::intrinsic_mismatch);
}
TEST_CASE("equal subexpressions of semantics are one node, and match however the stage shares its own") {
    axis const i{"i", 16}, j{"j", 16};
    tensor<std::int32_t> const x{"x"}, y{"y"}, z{"z"}, X{"X"}, Y{"Y"}, Z{"Z"};
    // x(i, j), twice: x i j are three nodes, with y the result and four operations they are nine.
    auto const twice = intrinsic("twice", y(i, j) = (x(i, j) + 3) * (x(i, j) + 3) - x(i, j)).reads(x, spad).writes(y, acc);
    auto const on = machine("machine", dram, spad, acc, load, store, twice);
    CHECK(on.intrinsics[0].semantics.count == 9);
    auto const verdict_on = [&](auto const& what) {
        return make_plan(schedule(what, on).cache_read(X, spad).cache_write(Y, acc).tensorize(m, n, twice)).refusal.kind;
    };
    CHECK(verdict_on(Y(m, n) = (X(m, n) + 3) * (X(m, n) + 3) - X(m, n)) == verdict_kind::none);
    CHECK(verdict_on(Y(m, n) = detail::compute_once(X(m, n) + 3, [&](auto const& v) { return v * v - X(m, n); })) == verdict_kind::none);
    CHECK(verdict_on(Y(m, n) = (X(m, n) + 3) * (X(m, n) + 4) - X(m, n)) == verdict_kind::intrinsic_mismatch);
    CHECK(verdict_on(Y(m, n) = (X(m, n) + 3) * (3 + X(m, n)) - X(m, n)) == verdict_kind::none);

    // Only the second order of both sums binds x, y and z alike in front and behind.
    auto const mixed =
        intrinsic("mixed", c(i, j) = x(i, j) * y(i, j) + x(i, j) * z(i, j)).reads(x, spad).reads(y, spad).reads(z, spad).writes(c, acc);
    auto const with_mixed = machine("machine", dram, spad, acc, load, store, mixed);
    auto const plan_of_mixed = [&](auto const& what) {
        schedule s(what, with_mixed);
        s.cache_read(X, spad).cache_read(Y, spad).cache_read(Z, spad).cache_write(C, acc).tensorize(m, n, mixed);
        return make_plan(s);
    };
    CHECK(!plan_of_mixed(C(m, n) = X(m, n) * Y(m, n) + Z(m, n) * Y(m, n)).refusal);
    CHECK(!plan_of_mixed(C(m, n) = Y(m, n) * X(m, n) + Y(m, n) * Z(m, n)).refusal);
    CHECK(plan_of_mixed(C(m, n) = X(m, n) * Y(m, n) + Z(m, n) * Z(m, n)).refusal.kind == verdict_kind::intrinsic_mismatch);

    // An element that is read is still not the one that is written.
    auto const copy = Y(m, n) = X(m, n);
    auto const broken_by = [&](intrinsic const& what) {
        auto const with = machine("machine", dram, spad, acc, what);
        return make_plan(schedule(copy, with)).refusal.broken;
    };
    auto const onto_itself = intrinsic("onto_itself", y(i, j) = max(y(i, j), x(i, j))).reads(x, spad).writes(y, acc);
    CHECK(broken_by(onto_itself) == ir::rule::reading_its_own_output);
    // Nor may a start share an axis of the reduction.
    axis const l{"l", 16};
    auto const start = intrinsic("start", y(i, j) = x(i, l) + sum(l, x(i, l) * z(l, j))).reads(x, spad).reads(z, spad).writes(y, acc);
    CHECK(broken_by(start) == ir::rule::start_along_a_reduction);
    auto const behind = intrinsic("behind", y(i, j) = sum(l, x(i, l) * z(l, j)) + x(i, l)).reads(x, spad).reads(z, spad).writes(y, acc);
    CHECK(broken_by(behind) == ir::rule::start_along_a_reduction);
}
TEST_CASE("more operands and larger semantics than a machine holds are refused with their numbers") {
    axis const i{"i", 16};
    tensor<std::int32_t> const X{"X"}, Y{"Y"};
    auto const plain = Y(m) = X(m);
    auto const verdict_with = [&](intrinsic const& what) {
        auto const with = machine("machine", dram, spad, acc, what);
        return make_plan(schedule(plain, with)).refusal;
    };
    auto const sum_of = [&]<std::size_t... At>(std::index_sequence<At...>) {
        tensor<std::int32_t> const x[] = {tensor<std::int32_t>(ir::label(&"xabcdefghijklmnop"[At]))...};
        auto made = intrinsic("wide", c(i) = (... + x[At](i)));
        (made.reads(x[At], spad), ...);
        return made.writes(c, acc);
    };
    CHECK(verdict_with(sum_of(std::make_index_sequence<15>())).kind == verdict_kind::none);
    verdict const wide = verdict_with(sum_of(std::make_index_sequence<16>()));
    CHECK(wide.kind == verdict_kind::capacity_of_representation);
    CHECK(wide.names[0] == ir::label("operands"));
    CHECK(wide.facts[0].value == 17);
    CHECK(wide.facts[1].value == 16);
    // 62 different constants and as many sums, x and i, the result and the store; with one more, 130.
    auto const chain = [&]<int... Added>(std::integer_sequence<int, Added...>) {
        tensor<std::int32_t> const x{"x"};
        return intrinsic("chain", c(i) = (x(i) + ... + (Added + 1))).reads(x, spad).writes(c, acc);
    };
    CHECK(verdict_with(chain(std::make_integer_sequence<int, 62>())).kind == verdict_kind::none);
    verdict const large = verdict_with(chain(std::make_integer_sequence<int, 63>()));
    CHECK(large.kind == verdict_kind::capacity_of_representation);
    CHECK(large.names[0] == ir::label("nodes of semantics"));
    CHECK(large.facts[0].value == 130);
    CHECK(large.facts[1].value == 128);
}

TEST_CASE("a loop moves an axis by what is split inside of it, and evenly by no part of a fused one") {
    // axis 0 = 6 * (axis 1) + axis 2, and axis 2 = 2 * (axis 3) + axis 4; axis 5 is a part of axis 6
    detail::nest n;
    using is = detail::nest_axis::role;
    n.axes.push({.is = is::split, .outer = 1, .inner = 2, .factor = 6});
    n.axes.push({});
    n.axes.push({.is = is::split, .outer = 3, .inner = 4, .factor = 2});
    n.axes.push({});
    n.axes.push({});
    n.axes.push({.is = is::fused, .outer = 6});
    n.axes.push({});
    auto const coefficient = [&](int axis, int leaf) { return detail::leaf_coefficient(n, axis, leaf); };
    CHECK((coefficient(0, 1) == 6 && coefficient(0, 3) == 2 && coefficient(0, 4) == 1 && coefficient(2, 1) == 0 && coefficient(4, 4) == 1));
    CHECK((coefficient(5, 6) == detail::not_linear && coefficient(5, 1) == 0));
}
TEST_CASE("a step is taken whole, or as far as an axis goes that may end early") {
    axis const i{"i", 16}, l{"l", 4};
    auto const adds = c(i) += wide(a(i, l));
    auto const fixed = intrinsic("fixed", adds).reads(a, spad).updates(c, acc), flexible = intrinsic(fixed).up_to(i);
    ir::stage semantics;
    read_stage(adds.view(), 0, semantics);
    auto const takes = [&](intrinsic const& what, std::int64_t lanes, bool short_steps = false) {
        return detail::takes_step(what, semantics, 0, {.lane_extent = lanes, .flexible = short_steps});
    };
    CHECK((takes(fixed, 16) && !takes(fixed, 8) && !takes(fixed, 16, true)));
    CHECK((takes(flexible, 16) && takes(flexible, 8) && !takes(flexible, 17)));
    CHECK(detail::accumulates(fixed, semantics));
    CHECK_FALSE(detail::accumulates(intrinsic("sets", adds).reads(a, spad).writes(c, acc), semantics));
    // Steps of 16 and 4 of loops of 48 and 6: the last of the reduction is not whole.
    detail::nest n;
    n.axes.push({.extent = 48});
    n.axes.push({.extent = 6});
    detail::matching found{.semantics = semantics};
    found.loop_of_axis = {0, 1};
    CHECK_FALSE(detail::whole_steps(n, fixed, found));
    n.axes[1].extent = 8;
    CHECK(detail::whole_steps(n, fixed, found));
    n.axes[0].extent = 40;
    CHECK_FALSE(detail::whole_steps(n, fixed, found));
    CHECK(detail::whole_steps(n, flexible, found));
}

TEST_CASE("of the orders of loops that match, one that takes every operand from its memory is found") {
    constexpr memory left{.name = "left", .base = 0x1000, .capacity = 4_KiB}, right{.name = "right", .base = 0x4000, .capacity = 4_KiB};
    constexpr axis i{"i", 4}, j{"j", 4}, l{"l", 4}, y{"y", 8}, x{"x", 8}, z{"z", 4};
    constexpr auto to_left = transfer("to_left", dram, left).dimensions(2), to_right = transfer("to_right", dram, right).dimensions(2);
    // The result is kept in columns: a(i, l) may be rows of A or of B, by strides alone.
    auto const step = intrinsic("step", c(j, i) += wide(a(i, l)) * wide(b(j, l))).reads(a, left).reads(b, right).updates(c, acc);
    auto const on = machine("machine", dram, left, right, acc, to_left, to_right, store, zero, step);
    auto const rows_by_rows = C(y, x) += wide(A(y, z)) * wide(B(x, z));
    auto const made = schedule(rows_by_rows, on).cache_read(A, left).cache_read(B, right).cache_write(C, acc);
    auto const columns = [](auto row, auto column) { return index_map(column, row); };
    CHECK(make_plan(schedule(made).layout(columns).tensorize(y, x, z, step)).refusal.kind == verdict_kind::none);
    CHECK(make_plan(schedule(made).layout(columns).tensorize(x, y, z, step)).refusal.kind == verdict_kind::none);
    // Rows of C are no columns.
    CHECK(make_plan(schedule(made).tensorize(x, y, z, step)).refusal.kind != verdict_kind::none);
}
