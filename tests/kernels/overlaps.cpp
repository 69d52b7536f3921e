// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Operands of which two dimensions lie in one of a tensor, as windows that overlap do, compared with the oracle.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, spad{.name = "spad", .capacity = 16_KiB, .alignment = 8},
    acc{.name = "acc", .capacity = 4_KiB, .alignment = 8};
constexpr engine dma{"dma"}, array{"array"};
constexpr auto mvin =
    transfer("mvin", dram, spad).on(dma).asynchronous().dimensions(3).cost({.latency = 20, .setup = 2, .bytes_per_cycle = 8});
constexpr auto mvout =
    transfer("mvout", acc, dram).on(dma).asynchronous().dimensions(3).cost({.latency = 20, .setup = 2, .bytes_per_cycle = 8});
constexpr axis p{"p", 4}, f{"f", 8}, d{"d", 8};
constexpr tensor<std::int8_t> pixels{"pixels"}, filters{"filters"};
constexpr tensor<std::int32_t> sums{"sums"};
constexpr auto product = cast<std::int32_t>(pixels(p, d)) * cast<std::int32_t>(filters(d, f));
constexpr auto mac =
    intrinsic("mac", sums(p, f) += product).reads({pixels, filters}, spad).updates(sums, acc).up_to(p, f, d).on(array).cycles(8);
constexpr auto mul =
    intrinsic("mul", sums(p, f) = sum(d, product)).reads({pixels, filters}, spad).writes(sums, acc).up_to(p, f, d).on(array).cycles(8);
constexpr auto npu = machine("npu", dram, spad, acc, dma, array, mvin, mvout, mac, mul);

constexpr tensor<std::int8_t> x{"x"}, w{"w"};
constexpr tensor<std::int32_t> y{"y"};
constexpr axis no{"no"}, ni{"ni"}, mo{"mo"}, mi{"mi"}, ko{"ko"}, ki{"ki"};

}  // namespace

TEST_CASE("an instruction takes rows that overlap, one after the other by less than they are long") {
    for (auto const& [pixels_of_row, channels, taps, stride, columns] :
         {std::array{9, 3, 3, 1, 8}, {7, 5, 3, 2, 11}, {13, 1, 6, 1, 4}, {4, 8, 2, 3, 8}}) {
        INFO(pixels_of_row << " pixels of " << channels << " channels, taps " << taps << ", stride " << stride);
        axis const m{"m", pixels_of_row}, n{"n", columns}, k{"k", taps * channels};
        auto const what = y(m, n) += cast<std::int32_t>(x(stride * channels * m + k)) * cast<std::int32_t>(w(k, n));
        schedule const s = schedule(what, npu)
                               .split(m, mo, mi, 4)
                               .split(n, no, ni, 8)
                               .split(k, ko, ki, 8)
                               .reorder(mo, no, ko, mi, ni, ki)
                               .cache_read(x, spad)
                               .at(mo)
                               .buffers(2)
                               .cache_read(w, spad)
                               .cache_write(y, acc)
                               .at(no)
                               .tensorize(mi, ni, ki, mac);
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        INFO(to_string(plan->refusal));
        REQUIRE(!plan->refusal);
        kernels::check_kernel(*plan, emulated<npu>());
    }
}

TEST_CASE("what an instruction writes does not overlap, and the strides of rows that do are checked") {
    constexpr axis a{"a", 4}, b{"b", 4}, i{"i", 4}, j{"j", 4};
    constexpr tensor<std::int32_t> from{"from"}, to{"to"}, X{"X"}, Y{"Y"};
    constexpr auto in = transfer("in", dram, spad).dimensions(2), out = transfer("out", spad, dram).dimensions(2);
    auto const refusal = [&](intrinsic const& by, auto const& what) {
        auto const on = machine("on", dram, spad, in, out, by);
        return make_plan(schedule(what, on).cache_read(X, spad).cache_write(Y, spad).tensorize(i, j, by)).refusal;
    };
    auto const copy = intrinsic("copy", to(a, b) = from(a, b)).reads(from, spad).writes(to, spad);
    auto const windows = Y(i, j) = X(2 * i + j);
    CHECK(!refusal(copy, windows));
    CHECK(refusal(intrinsic(copy).stride_multiple(from, 4), windows).broken == ir::rule::stride_not_a_multiple);
    CHECK(!refusal(intrinsic(copy).stride_multiple(from, 2), windows));
    CHECK(refusal(intrinsic(copy).stride_at_most(from, 1), windows).broken == ir::rule::stride_too_long);
    // Rows of a result have a dimension of their own.
    constexpr axis whole{"whole", 16};
    auto const one_row = Y(whole) = X(whole);
    auto const on = machine("on", dram, spad, in, out, copy);
    CHECK(make_plan(schedule(one_row, on).split(whole, mo, mi, 4).cache_read(X, spad).cache_write(Y, spad).tensorize(mo, mi, copy))
              .refusal.broken == ir::rule::dimensions_in_one);
}
