#include <tilewright/plan/plan.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Steps of an instruction that go on from row to row along a fused loop.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, acc{.name = "acc", .base = 0x5100'0000, .capacity = 16_KiB, .host_visible = false};
constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 16_KiB};
constexpr engine loader{"loader"}, storer{"storer"};
constexpr auto get = transfer("get", dram, spad).dimensions(3).on(loader).asynchronous().cost({.latency = 20, .bytes_per_cycle = 8});
constexpr auto put = transfer("put", spad, dram).dimensions(3).on(storer).asynchronous().cost({.latency = 20, .bytes_per_cycle = 8});
constexpr auto put_sums = transfer("put_sums", acc, dram).dimensions(3).on(storer).asynchronous().cost({.bytes_per_cycle = 8});

constexpr tensor<std::int32_t> a{"a"}, b{"b"}, c{"c"}, A{"A"}, B{"B"}, C{"C"}, M{"M"};
constexpr axis three{"three", 3}, eight{"eight", 8}, twelve{"twelve", 12}, eighteen{"eighteen", 18};
constexpr auto negate_3 = intrinsic("negate_3", c(three) = -a(three)).reads(a, spad).writes(c, spad).cycles(7);
constexpr auto negate_12 = intrinsic("negate_12", c(twelve) = -a(twelve)).reads(a, spad).writes(c, spad).cycles(7);
constexpr auto negate_18 =
    intrinsic("negate_18", c(eighteen) = -a(eighteen)).reads(a, spad).writes(c, spad).up_to(eighteen).cycles(3, per(eighteen));
constexpr axis five{"five", 5}, eleven{"eleven", 11};
constexpr auto negate_5 = intrinsic("negate_5", c(five) = -a(five)).reads(a, spad).writes(c, spad).cycles(7);
constexpr auto negate_11 =
    intrinsic("negate_11", c(eleven) = -a(eleven)).reads(a, spad).writes(c, spad).up_to(eleven).cycles(3, per(eleven));
constexpr auto on = machine("on", dram, spad, loader, storer, get, put, negate_3, negate_12, negate_18, negate_5, negate_11);

constexpr axis r4{"r4", 4}, r8{"r8", 8};
constexpr auto add_rows = intrinsic("add_rows", c(twelve, eight) += a(twelve, r4) * b(r4, eight)).reads({a, b}, spad).updates(c, acc);
constexpr auto first_rows =
    intrinsic("first_rows", c(twelve, eight) = sum(r4, a(twelve, r4) * b(r4, eight))).reads({a, b}, spad).writes(c, acc);
constexpr auto add_columns = intrinsic("add_columns", c(eight, twelve) += a(eight, r8) * b(r8, twelve)).reads({a, b}, spad).updates(c, acc);
constexpr auto first_columns =
    intrinsic("first_columns", c(eight, twelve) = sum(r8, a(eight, r8) * b(r8, twelve))).reads({a, b}, spad).writes(c, acc);
constexpr auto sums = machine("sums", dram, spad, acc, loader, storer, get, put_sums, add_rows, first_rows, add_columns, first_columns);

constexpr axis m{"m", 10}, n{"n", 6}, k{"k", 4}, j{"j", 8}, p{"p", 3}, q{"q", 2}, mn{"mn"}, mo{"mo"}, mi{"mi"}, kk{"kk"};

template <machine const& Machine>
void check(schedule const& how) {
    auto const plan = std::make_unique<plan_value>(make_plan(how));
    kernels::check_kernel(*plan, emulated<Machine>());
}

}  // namespace

TEST_CASE("steps of a part of a row, of two rows, and of three where the last one has one") {
    auto const negated = C(p, m, n) = -A(p, m, n);
    for (intrinsic const& step : {negate_3, negate_12, negate_18}) {
        INFO(step.name.str());
        schedule how(negated, on);
        check<on>(how.fuse(m, n, mn).cache_read(A, spad).at(p).buffers(2).cache_write(C, spad).at(p).buffers(2).tensorize(mn, step));
    }
}
TEST_CASE("steps that begin inside of a row, and end inside of the next or of the one after") {
    auto const negated = C(p, m, n) = -A(p, m, n);
    for (intrinsic const& step : {negate_5, negate_11}) {
        INFO(step.name.str());
        schedule how(negated, on);
        check<on>(how.fuse(m, n, mn).cache_read(A, spad).at(p).buffers(2).cache_write(C, spad).at(p).buffers(2).tensorize(mn, step));
    }
}
TEST_CASE("a window's rows are staged for each of its places, the next ones while the instruction works") {
    auto const windows = C(m, n, j) += A(m + p, n + q, k) * B(p, q, k, j);
    check<sums>(schedule(windows, sums)
                    .reorder(p, q, m, n, j, k)
                    .fuse(m, n, mn)
                    .cache_read(A, spad)
                    .at(q)
                    .buffers(2)
                    .cache_read(B, spad)
                    .cache_write(C, acc)
                    .tensorize(mn, j, k, add_rows));
}
TEST_CASE("two loops of a reduction are one, and the weights go on from row to row") {
    constexpr axis outer{"outer", 6}, inner{"inner", 4}, rows{"rows", 16}, columns{"columns", 24};
    auto const product = C(rows, columns) += A(rows, outer, inner) * B(outer, inner, columns);
    check<sums>(schedule(product, sums)
                    .fuse(outer, inner, kk)
                    .reorder(kk, rows, columns)
                    .cache_read(A, spad)
                    .cache_read(B, spad)
                    .cache_write(C, acc)
                    .tensorize(rows, kk, columns, add_columns));
}
TEST_CASE("a reader takes tiles of what is computed row after row, also at extents that run time gives") {
    constexpr axis d{"d", dynamic.up_to(20)};
    auto const constant = stages(M(m, n) = -A(m, n), C(m, n) = M(m, n) * 3);
    check<on>(schedule(constant, on)
                  .split(m, mo, mi, 5)
                  .compute_at(M, mo)
                  .store_in(M, spad)
                  .stage(M)
                  .fuse(m, n, mn)
                  .cache_read(A, spad)
                  .tensorize(mn, negate_18));
    auto const open = stages(M(d, n) = -A(d, n), C(d, n) = M(d, n) * 3);
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(open, on)
                                                                 .split(d, mo, mi, 4)
                                                                 .compute_at(M, mo)
                                                                 .store_in(M, spad)
                                                                 .stage(M)
                                                                 .fuse(d, n, mn)
                                                                 .cache_read(A, spad)
                                                                 .tensorize(mn, negate_18)));
    REQUIRE(!plan->refusal);
    kernels::compiled_kernel kernel(*plan, emulated<on>());
    for (std::int64_t extent : {1, 4, 7, 20}) {
        INFO("at " << extent);
        kernel.check(plan->at({{d, extent}}));
    }
}
