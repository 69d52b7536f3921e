#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Instructions of every size: vectors of eight lanes, products of one lane with all, dot products of four bytes, tiles; with operands
// commuted, transposed, and loops in another order. And what they are not.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, tcm{.name = "tcm", .base = 0x1000, .capacity = 128_KiB, .alignment = 32};
constexpr axis i{"i", 8}, q{"q", 4}, any{"any", 1};
constexpr tensor<float> a{"a"}, b{"b"}, c{"c"}, d{"d"};
constexpr tensor<std::int8_t> a8{"a"}, b8{"b"};
constexpr tensor<std::int16_t> a16{"a"}, b16{"b"};
constexpr tensor<std::int32_t> c32{"c"}, d32{"d"};
template <class T>
constexpr auto wide(T const& value) {
    return cast<std::int32_t>(value);
}
constexpr auto in = transfer("in", dram, tcm).dimensions(2), out = transfer("out", tcm, dram).dimensions(2);
constexpr auto no_float = transfer("no_float", dram, tcm, d(any) = 0.0f).dimensions(2);
constexpr auto no_int = transfer("no_int", dram, tcm, d32(any) = 0).dimensions(2);

constexpr auto fma8 = intrinsic("fma8", c(i) += a(i) * b(i)).reads(a, tcm).reads(b, tcm).updates(c, tcm);
constexpr auto fma8_by_lane = intrinsic("fma8_by_lane", c(i) += a() * b(i)).reads(a, tcm).reads(b, tcm).updates(c, tcm);
constexpr auto dot4 = intrinsic("dot4", c32(i) += wide(a8(i, q)) * wide(b8(i, q))).reads(a8, tcm).reads(b8, tcm).updates(c32, tcm);
constexpr auto dot4_by_lane =
    intrinsic("dot4_by_lane", c32(i) += wide(a8(q)) * wide(b8(i, q))).reads(a8, tcm).reads(b8, tcm).updates(c32, tcm);
constexpr auto mla8 = intrinsic("mla8", c32(i) += wide(a16(i)) * wide(b16(i))).reads(a16, tcm).reads(b16, tcm).updates(c32, tcm);

constexpr axis m{"m", 24}, n{"n", 20}, k{"k", 12};
constexpr tensor<float> X{"X"}, Y{"Y"}, Z{"Z"}, e{"e"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int16_t> H{"H"}, G{"G"};
constexpr tensor<std::int32_t> C{"C"};

/// Plans and runs a kernel with everything in near memory, by one instruction. @param loops that it covers
template <int Count, class... Loops>
void check(computation<Count> const& what, any_tensor const& left, any_tensor const& right, any_tensor const& result, intrinsic const& by,
           semantics_table const& semantics, machine const& on, Loops const&... loops) {
    INFO(by.name.str());
    emulator emulated(on, semantics);
    auto const plan = std::make_unique<plan_value>(
        make_plan(schedule(what, on).cache_read(left, tcm).cache_read(right, tcm).cache_write(result, tcm).tensorize(loops..., by)));
    kernels::check_kernel(*plan, emulated);
}
template <int Count, class... Loops>
verdict refusal(computation<Count> const& what, any_tensor const& left, any_tensor const& right, any_tensor const& result,
                intrinsic const& by, Loops const&... loops) {
    auto const on = machine("machine", dram, tcm, in, out, no_float, no_int, by);
    return make_plan(schedule(what, on).cache_read(left, tcm).cache_read(right, tcm).cache_write(result, tcm).tensorize(loops..., by))
        .refusal;
}

constexpr auto vectors = machine("vectors", dram, tcm, in, out, no_float, no_int, fma8, fma8_by_lane, dot4, dot4_by_lane, mla8);

}  // namespace

TEST_CASE("vectors of eight lanes") {
    // products of columns, row by row; factors in either order; 20 columns are two whole vectors and a half
    emulator on(vectors, semantics_of<vectors>);
    auto const check_by = [&](schedule s, intrinsic const& by) {
        auto const plan =
            std::make_unique<plan_value>(make_plan(s.cache_read(X, tcm).cache_read(Y, tcm).cache_write(Z, tcm).tensorize(n, by)));
        kernels::check_kernel(*plan, on);
    };
    auto const along = Z(n) += X(k, n) * Y(k, n), commuted = Z(n) += Y(k, n) * X(k, n);
    check_by(schedule(along, vectors).reorder(k, n), fma8);
    check_by(schedule(commuted, vectors).reorder(k, n), fma8);
    // one element of a row of X with all of a row of Y: a matrix multiplication whose innermost loop is over columns
    auto const matmul = Z(m, n) += X(m, k) * Y(k, n);
    check_by(schedule(matmul, vectors).reorder(m, k, n), fma8_by_lane);
    check_by(schedule(matmul, vectors).reorder(k, m, n), fma8_by_lane);
    // Rows of Z as lanes lie a row apart.
    auto const rows =
        schedule(matmul, vectors).reorder(k, n, m).cache_read(X, tcm).cache_read(Y, tcm).cache_write(Z, tcm).tensorize(m, fma8_by_lane);
    CHECK(make_plan(rows).refusal.broken == ir::rule::not_contiguous);
}
TEST_CASE("dot products of four bytes, and products that widen") {
    auto const& semantics = semantics_of<vectors>;
    check(C(n) += wide(A(n, k)) * wide(B(n, k)), A, B, C, dot4, semantics, vectors, n, k);
    check(C(n) += wide(A(n, k)) * wide(B(n, k)), A, B, C, dot4, semantics, vectors, k, n);  // loops named in another order
    check(C(m, n) += wide(B(n, k)) * wide(A(m, k)), A, B, C, dot4_by_lane, semantics, vectors, n, k);
    check(C(n) += wide(H(n)) * wide(G(n)), H, G, C, mla8, semantics, vectors, n);
}
TEST_CASE("near misses of vectors") {
    auto const matmul = Z(m, n) += X(m, k) * Y(k, n);
    using enum verdict_kind;
    auto const by = [&](intrinsic const& step) { return refusal(matmul, X, Y, Z, step, n).kind; };
    CHECK(by(fma8) == loop_order);  // tensorize names a loop that is not the innermost
    auto const inner = [&](intrinsic const& step) {
        auto const on = machine("machine", dram, tcm, in, out, no_float, no_int, step);
        return make_plan(schedule(matmul, on).reorder(m, k, n).cache_read(X, tcm).cache_read(Y, tcm).cache_write(Z, tcm).tensorize(n, step))
            .refusal;
    };
    CHECK(inner(fma8_by_lane).kind == none);
    CHECK(inner(fma8).kind == intrinsic_mismatch);  // both factors move
    CHECK(inner(fma8).broken == ir::rule::other_index);
    CHECK(inner(intrinsic("two", c(i) += a() * b(i) * 2.0f).reads(a, tcm).reads(b, tcm).updates(c, tcm)).kind == intrinsic_operation);
    CHECK(inner(intrinsic("apart", c(i) += a() * b(2 * i)).reads(a, tcm).reads(b, tcm).updates(c, tcm)).kind == intrinsic_mismatch);
    CHECK(inner(intrinsic("sum", c(i) += a() + b(i)).reads(a, tcm).reads(b, tcm).updates(c, tcm)).kind == intrinsic_operation);
    CHECK(inner(intrinsic("squares", c(i) += b(i) * b(i)).reads(b, tcm).updates(c, tcm)).kind == intrinsic_mismatch);
    // One lane for the sum, too.
    CHECK(inner(intrinsic("scalar", c() += a() * b(i)).reads(a, tcm).reads(b, tcm).updates(c, tcm)).kind != none);
    // Of two bytes of four: an unsigned one, and one that is not widened before it is multiplied.
    auto const dots = C(n) += wide(A(n, k)) * wide(B(n, k));
    constexpr tensor<std::uint8_t> u8{"a"};
    CHECK(refusal(dots, A, B, C, intrinsic("u", c32(i) += wide(u8(i, q)) * wide(b8(i, q))).reads(u8, tcm).reads(b8, tcm).updates(c32, tcm),
                  n, k)
              .kind == intrinsic_operation);
    CHECK(refusal(dots, A, B, C, intrinsic("w", c32(i) += wide(a8(i, q) * b8(i, q))).reads(a8, tcm).reads(b8, tcm).updates(c32, tcm), n, k)
              .kind == intrinsic_operation);
    CHECK(refusal(dots, A, B, C, intrinsic("x", c32(i) += wide(a8(i, q)) * wide(b8(q, i))).reads(a8, tcm).reads(b8, tcm).updates(c32, tcm),
                  n, k)
              .kind == intrinsic_mismatch);
}
TEST_CASE("operands that commute are tried in all orders") {
    auto const lanes = [&](auto const& value, auto const& operands) {
        intrinsic made("step", c(i) = value);
        for (any_tensor const& one : operands) made.reads(one, tcm);
        return made.writes(c, tcm);
    };
    std::array<any_tensor, 2> const two{a, b};
    std::array<any_tensor, 3> const three{a, b, d};
    auto const kind = [](auto const& what, intrinsic const& step) {
        auto const on = machine("machine", dram, tcm, in, out, step);
        return make_plan(schedule(what, on).cache_read(X, tcm).cache_read(Y, tcm).cache_write(Z, tcm).tensorize(n, step)).refusal.kind;
    };
    using enum verdict_kind;
    auto const step = lanes(a(i) * b(i) + a(i), two);
    CHECK(kind(Z(n) = X(n) * Y(n) + X(n), step) == none);
    CHECK(kind(Z(n) = X(n) * Y(n) + Y(n), step) == none);  // only the other order of the product is right
    CHECK(kind(Z(n) = Y(n) + X(n) * Y(n), step) == none);
    CHECK(kind(Z(n) = Y(n) + Y(n) * X(n), step) == none);
    CHECK(kind(Z(n) = X(n) * X(n) + Y(n), step) != none);
    CHECK(kind(Z(n) = X(n) * Y(n) - Y(n), step) == intrinsic_operation);
    // Two products that share a factor.
    auto const shared = lanes(a(i) * b(i) + b(i) * d(i), three);
    auto const with_three = [](auto const& what, intrinsic const& by) {
        auto const on = machine("machine", dram, tcm, in, out, by);
        return make_plan(schedule(what, on).cache_read(X, tcm).cache_read(Y, tcm).cache_read(e, tcm).cache_write(Z, tcm).tensorize(n, by))
            .refusal.kind;
    };
    CHECK(with_three(Z(n) = X(n) * Y(n) + Y(n) * e(n), shared) == none);
    CHECK(with_three(Z(n) = X(n) * Y(n) + X(n) * e(n), shared) == none);
    CHECK(with_three(Z(n) = e(n) * X(n) + Y(n) * e(n), shared) == none);
    CHECK(with_three(Z(n) = e(n) * X(n) + Y(n) * Y(n), shared) != none);
    // What it computes is right, too.
    static constexpr auto both = intrinsic("both", c(i) = a(i) * b(i) + a(i)).reads(a, tcm).reads(b, tcm).writes(c, tcm);
    static constexpr auto with_both = machine("with_both", dram, tcm, in, out, both);
    auto const what = Z(n) = X(n) * Y(n) + Y(n);
    emulator on(with_both, semantics_of<with_both>);
    auto const plan = std::make_unique<plan_value>(
        make_plan(schedule(what, with_both).cache_read(X, tcm).cache_read(Y, tcm).cache_write(Z, tcm).tensorize(n, both)));
    kernels::check_kernel(*plan, on);
}
TEST_CASE("sums that go on from a bias that was loaded") {
    static constexpr axis l{"l", 16}, r{"r", 16}, s{"s", 16};
    static constexpr auto tile =
        intrinsic("tile", c32(r, s) += wide(a8(r, l)) * wide(b8(l, s))).reads(a8, tcm).reads(b8, tcm).updates(c32, tcm);
    static constexpr auto tiles = machine("tiles", dram, tcm, in, out, tile);  // nothing overwrites, nothing fills: the contents are loaded
    constexpr axis m2{"m", 32}, n2{"n", 48}, k2{"k", 64};
    auto const what = C(m2, n2) = C(m2, n2) + sum(k2, wide(A(m2, k2)) * wide(B(k2, n2)));
    emulator on(tiles, semantics_of<tiles>);
    auto const plan = std::make_unique<plan_value>(
        make_plan(schedule(what, tiles).cache_read(A, tcm).cache_read(B, tcm).cache_write(C, tcm).tensorize(m2, n2, k2, tile)));
    kernels::check_kernel(*plan, on);
}
