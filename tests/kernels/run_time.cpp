#include "catch.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/features.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"
#include "kernels/six_transfers.hpp"
#include "reference/reference.hpp"

// Extents that are left to run time: every kernel is compiled once, and compared with plain loops at many extents.

using namespace tilewright;

namespace {

using kernels::dram, kernels::dsp, kernels::l1, kernels::l2;
constexpr axis m{"m", dynamic}, n{"n", dynamic}, k{"k", dynamic};
constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, mii{"mii"}, mio{"mio"}, f{"f"}, fo{"fo"}, fi{"fi"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"}, in{"in"}, mid{"mid"}, out{"out"};
constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

// A machine whose transfers run beside its core, each way on an engine of its own.
constexpr engine loader{"loader"}, storer{.name = "storer", .depth = 2, .completes = completion::by_channel};
constexpr auto fetch = transfer("fetch", dram, l1).on(loader).asynchronous().dimensions(2).cost({.latency = 40, .bytes_per_cycle = 8});
constexpr auto put = transfer("put", l1, dram).on(storer).asynchronous().dimensions(2).cost({.latency = 40, .bytes_per_cycle = 8});
constexpr auto streaming = machine("streaming", dram, l1, loader, storer, fetch, put);

/// Runs one kernel at each of these extents.
template <class Reference>
void check_at(plan_value const& plan, emulator& on, std::vector<std::vector<axis_extent>> const& all, Reference const& expected) {
    INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
    REQUIRE(!plan.refusal);
    CHECK(!detail::find_hazard_at_any(plan));
    kernels::compiled_kernel kernel(plan, on);
    for (std::vector<axis_extent> const& extents : all) {
        std::string text;
        for (axis_extent const& one : extents) text += " " + one.name.str() + " " + std::to_string(one.extent);
        INFO("at" << text);
        auto const at = std::make_unique<plan_value>(plan.at(extents));
        CHECK(at->run_time_extents == 0);
        kernels::operand_data const made = kernel.check(*at), by_hand = kernels::random_operands(*at, 17);
        expected(by_hand);
        CHECK(kernels::same_bits(made.output, by_hand.output));
    }
}
template <class Reference>
void check_at(schedule const& s, emulator& on, std::vector<std::vector<axis_extent>> const& all, Reference const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    check_at(*plan, on, all, expected);
}
/// One, less than a tile, a tile, primes, multiples, many.
std::vector<std::vector<axis_extent>> many_of(axis const& a) {
    std::vector<std::vector<axis_extent>> all;
    for (std::int64_t extent : {1, 3, 7, 8, 9, 13, 16, 17, 64, 97, 300}) all.push_back({{a, extent}});
    return all;
}
std::vector<std::vector<axis_extent>> products() {
    std::vector<std::vector<axis_extent>> all;
    for (auto const& [rows, columns, depth] :
         {std::array{1, 1, 1}, {4, 8, 3}, {5, 9, 4}, {8, 16, 6}, {17, 3, 97}, {3, 31, 2}, {40, 40, 40}, {1, 50, 1}, {61, 1, 7}})
        all.push_back({{m, rows}, {n, columns}, {k, depth}});
    return all;
}
void multiply(kernels::operand_data const& d) {
    int const rows = d.output.dim(1).extent(), columns = d.output.dim(0).extent(), depth = d.inputs[0].dim(0).extent();
    reference::matmul_nn(rows, columns, depth, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
}
verdict refusal_of(schedule const& s) { return make_plan(s).refusal; }

}  // namespace

namespace run_time {

constexpr axis n16{"n", 16}, k16{"k", 16};
constexpr auto rows = C(m, n16) += cast<std::int32_t>(A(m, k16)) * cast<std::int32_t>(B(k16, n16));
constexpr auto rows_on_dsp = schedule(rows, streaming)
                                 .split(m, mo, mi, 8)
                                 .cache_read(A, l1)
                                 .at(mo)
                                 .buffers(2)
                                 .cache_read(B, l1)
                                 .cache_write(C, l1)
                                 .at(mo)
                                 .buffers(2);

// Peaks are constants; what follows from extents is asked at some of them.
static_assert(plan<rows_on_dsp>.peak(l1) == 2 * (8 * 16) + 16 * 16 + 2 * (8 * 16 * 4));
static_assert(plan<rows_on_dsp>.at({{m, 100}}).bytes(fetch) == 100 * 16 + 16 * 16);
static_assert(plan<rows_on_dsp>.at({{m, 3}}).bytes(put) == 3 * 16 * 4);
static_assert(plan<rows_on_dsp>.at({{m, 17}}).calls(put) == 3);
static_assert(plan<rows_on_dsp>.at({{m, 8}}).cycles() < plan<rows_on_dsp>.at({{m, 9}}).cycles());

}  // namespace run_time

TEST_CASE("rows that are left to run time, in a pipeline") {
    emulator on(streaming, {});
    check_at(plan<run_time::rows_on_dsp>, on, many_of(m), multiply);
}
TEST_CASE("at its extents a plan costs what one for constant extents costs") {
    for (std::int64_t extent : {1, 8, 9, 100}) {
        axis const constant{"m", extent};
        auto const what = C(constant, run_time::n16) +=
            cast<std::int32_t>(A(constant, run_time::k16)) * cast<std::int32_t>(B(run_time::k16, run_time::n16));
        auto const fixed = std::make_unique<plan_value>(make_plan(schedule(what, streaming)
                                                                      .split(constant, mo, mi, 8)
                                                                      .cache_read(A, l1)
                                                                      .at(mo)
                                                                      .buffers(2)
                                                                      .cache_read(B, l1)
                                                                      .cache_write(C, l1)
                                                                      .at(mo)
                                                                      .buffers(2)));
        auto const at = std::make_unique<plan_value>(plan<run_time::rows_on_dsp>.at({{m, extent}}));
        CHECK(at->cycles() == fixed->cycles());
        CHECK(at->serial_cycles() == fixed->serial_cycles());
        CHECK(at->bound() == fixed->bound());
        CHECK(at->bytes(fetch) == fixed->bytes(fetch));
        CHECK(at->calls(put) == fixed->calls(put));
    }
}
TEST_CASE("a matrix product of any extents: blocking, through two memories") {
    check_at(schedule(matmul, dsp)
                 .tile(m, n, mo, no, mi, ni, 4, 8)
                 .split(k, ko, ki, 3)
                 .reorder(mo, no, ko, mi, ki, ni)
                 .vectorize(ni)
                 .cache_read(A, l1)
                 .at(ko)
                 .cache_read(B, l2)
                 .at(ko)
                 .cache_read(B, l1)
                 .at(ko)
                 .cache_write(C, l1)
                 .at(no),
             emulated<dsp>(), products(), multiply);
}
TEST_CASE("a matrix product of any extents: loops of the result inside of those that reduce") {
    emulator& on = emulated<dsp>();
    check_at(schedule(matmul, dsp).reorder(k, m, n), on, products(), multiply);
    check_at(schedule(matmul, dsp).split(m, mo, mi, 8).split(k, ko, ki, 5).reorder(mo, ko, mi, n, ki).cache_read(A, l1).at(ko), on,
             products(), multiply);
    check_at(schedule(matmul, dsp)
                 .tile(m, n, mo, no, mi, ni, 4, 8)
                 .split(k, ko, ki, 3)
                 .reorder(ko, mo, no, mi, ki, ni)
                 .vectorize(ni)
                 .cache_read(A, l1)
                 .at(mo)
                 .cache_read(B, l1)
                 .at(no),
             on, products(), multiply);
}
TEST_CASE("a matrix product of any extents: pipelines that do not drain from tile to tile") {
    emulator on(streaming, {});
    check_at(schedule(matmul, streaming)
                 .tile(m, n, mo, no, mi, ni, 4, 8)
                 .split(k, ko, ki, 3)
                 .reorder(mo, no, ko, mi, ki, ni)
                 .unroll(ki)
                 .vectorize(ni)
                 .cache_read(A, l1)
                 .at(ko)
                 .buffers(3)
                 .cache_read(B, l1)
                 .at(ko)
                 .buffers(4)
                 .prefetch(2)
                 .cache_write(C, l1)
                 .at(no)
                 .buffers(2),
             on, products(), multiply);
}
TEST_CASE("splits of splits, and fused loops whose outer one is left to run time", "[long]") {
    emulator on(streaming, {});
    auto const read_at = [](auto&& s, axis const& level) { return s.cache_read(A, l1).at(level).buffers(2); };
    axis const n10{"n", 10}, k6{"k", 6};
    auto const what = C(m, n10) += cast<std::int32_t>(A(m, k6)) * cast<std::int32_t>(B(k6, n10));
    check_at(read_at(schedule(what, streaming).split(m, mo, mi, 8).split(mi, mio, mii, 3), mio), on, many_of(m), multiply);
    check_at(read_at(schedule(what, streaming).split(m, mo, mi, 8).split(mo, mio, mii, 2), mii), on, many_of(m), multiply);
    check_at(read_at(schedule(what, streaming).tile(m, n10, mo, no, mi, ni, 5, 4).fuse(mo, no, f), f), on, many_of(m), multiply);
    check_at(read_at(schedule(what, streaming).tile(m, n10, mo, no, mi, ni, 5, 4).fuse(mo, no, f).split(f, fo, fi, 4), fi), on, many_of(m),
             multiply);
    check_at(schedule(what, streaming).fuse(m, n10, f).split(f, fo, fi, 8).vectorize(fi), on, many_of(m), multiply);
}
TEST_CASE("levels that cut through a fused loop whose outer one is left to run time", "[long]") {
    emulator on(streaming, {});
    axis const n10{"n", 10}, k6{"k", 6};
    auto const what = C(m, n10) += cast<std::int32_t>(A(m, k6)) * cast<std::int32_t>(B(k6, n10));
    for (std::int64_t piece : {8, 10, 12, 20, 25}) {
        INFO("pieces of " << piece);
        check_at(schedule(what, streaming)
                     .fuse(m, n10, f)
                     .split(f, fo, fi, piece)
                     .cache_read(A, l1)
                     .at(fo)
                     .buffers(2)
                     .cache_read(B, l1)
                     .at(fo)
                     .buffers(3),
                 on, many_of(m), multiply);
        check_at(schedule(what, streaming)
                     .tile(m, n10, mo, no, mi, ni, 5, 4)
                     .fuse(mo, no, f)
                     .split(f, fo, fi, piece)
                     .cache_read(A, l1)
                     .at(fo)
                     .buffers(2),
                 on, many_of(m), multiply);
    }
    auto const whole_rows = schedule(what, streaming)
                                .fuse(m, n10, f)
                                .split(f, fo, fi, 20)
                                .cache_read(A, l1)
                                .at(fo)
                                .buffers(2)
                                .cache_write(C, l1)
                                .at(fo)
                                .buffers(2);
    check_at(whole_rows, on, many_of(m), multiply);
    // Inside a loop over the piece, the fused loop still runs over all of the rows.
    verdict const open = refusal_of(schedule(what, streaming).fuse(m, n10, f).split(f, fo, fi, 8).reorder(fi, fo).cache_read(A, l1).at(fi));
    CHECK(open.kind == verdict_kind::run_time_box);
    CHECK(open.names[1] == "m");
}
TEST_CASE("a pipeline runs on across the steps of a scratchpad where it is known how many of its own each has", "[long]") {
    constexpr memory far{.name = "l2", .base = 0x2000'0000, .capacity = 256_KiB, .alignment = 64};
    constexpr memory near{.name = "l1", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16};
    axis const k30{"k", 30};
    auto const bounded = C(m, n) += cast<std::int32_t>(A(m, k30)) * cast<std::int32_t>(B(k30, n));
    auto const waits_for_next = [](plan_value const& plan) {
        int found = 0;
        for (int at = 0; at < plan.waits.size(); ++at) found += plan.waits[at].only_where >= 0;
        return found;
    };
    for (machine const& where :
         {six_transfers::machine_with(six_transfers::loader, six_transfers::storer, six_transfers::copier, far, near),
          six_transfers::machine_with(six_transfers::dma, six_transfers::dma, six_transfers::dma, far, near)}) {
        emulator on(where, {});
        auto const plan_of = [&](auto const& what, std::int64_t depth, axis const& outer, axis const& inner) {
            schedule s(what, where);
            s.tile(m, n, mo, no, mi, ni, 4, 8).split(axis{"k", depth}, ko, ki, 3).reorder(mo, no, ko, mi, ki, ni).vectorize(ni);
            s.cache_read(A, near).at(inner).buffers(2).cache_read(A, far).at(outer).buffers(2);
            s.cache_read(B, near).at(ko).buffers(3).cache_write(C, near).at(no).buffers(2);
            return std::make_unique<plan_value>(make_plan(s));
        };
        std::vector<std::vector<axis_extent>> all;
        for (auto const& [rows, columns] : {std::array{1, 1}, {4, 8}, {5, 9}, {3, 60}, {33, 7}, {40, 50}})
            all.push_back({{m, rows}, {n, columns}});
        auto const known = plan_of(bounded, 30, no, ko);
        check_at(*known, on, all, multiply);
        CHECK(waits_for_next(*known) == 1);
        // It waits for the next step no earlier than a plan for constant extents does.
        axis const m40{"m", 40}, n50{"n", 50};
        auto const constant = C(m40, n50) += cast<std::int32_t>(A(m40, k30)) * cast<std::int32_t>(B(k30, n50));
        CHECK(known->at({{m, 40}, {n, 50}}).cycles() == plan_of(constant, 30, no, ko)->cycles());
        auto const unknown = plan_of(bounded, 30, mo, ko);
        check_at(*unknown, on, all, multiply);
        CHECK(waits_for_next(*unknown) == 0);
    }
}
TEST_CASE("instructions, partial in every direction") {
    constexpr auto zero_spad = transfer("zero_spad", features::dram, features::spad, features::s8(axis{"any", 1}) = 0)
                                   .on(features::dma)
                                   .dimensions(2)
                                   .cost({.setup = 2, .bytes_per_cycle = 32});
    static constexpr auto filling =
        machine("filling", features::dram, features::spad, features::acc, features::dma, features::unit, features::dots,
                features::first_dots, features::mac, features::in_spad, features::out_acc, features::zero_acc, zero_spad);
    check_at(schedule(matmul, filling)
                 .tile(m, n, mo, no, mi, ni, 8, 16)
                 .split(k, ko, ki, 8)
                 .reorder(mo, no, ko, mi, ni, ki)
                 .cache_read(A, features::spad)
                 .at(ko)
                 .cache_read(B, features::spad)
                 .at(ko)
                 .cache_write(C, features::acc)
                 .at(no)
                 .tensorize(mi, ni, ki, features::mac),
             emulated<filling>(), products(), multiply);
}
TEST_CASE("an elementwise computation of rank 3") {
    emulator on(streaming, {});
    axis const x{"x", dynamic}, y{"y", 5}, z{"z", dynamic}, xo{"xo"}, xi{"xi"}, zo{"zo"}, zi{"zi"};
    auto const what = out(x, y, z) = in(x, y, z) * 3 + mid(z, x);
    std::vector<std::vector<axis_extent>> all;
    for (auto const& [high, wide] : {std::array{1, 1}, {4, 8}, {5, 7}, {13, 30}, {2, 65}}) all.push_back({{z, wide}, {x, high}});
    check_at(schedule(what, streaming)
                 .split(x, xo, xi, 4)
                 .split(z, zo, zi, 8)
                 .reorder(xo, zo, y, xi, zi)
                 .cache_read(in, l1)
                 .at(zo)
                 .buffers(2)
                 .cache_read(mid, l1)
                 .at(y)
                 .buffers(3)
                 .cache_write(out, l1)
                 .at(zo)
                 .buffers(2),
             on, all, [](kernels::operand_data const& d) {
                 int const high = d.output.dim(2).extent(), wide = d.output.dim(0).extent();
                 for (int a = 0; a < high; ++a) {
                     for (int b = 0; b < 5; ++b) {
                         for (int c = 0; c < wide; ++c)
                             d.out<std::int32_t>()[(a * 5 + b) * wide + c] =
                                 d.in<std::int32_t>(0)[(a * 5 + b) * wide + c] * 3 + d.in<std::int32_t>(1)[c * high + a];
                     }
                 }
             });
}
TEST_CASE("a convolution with a halo, strided") {
    emulator on(streaming, {});
    axis const x{"x", dynamic}, r{"r", 5}, xo{"xo"}, xi{"xi"};
    auto const what = out(x) += in(2 * x + r) * mid(r);
    check_at(schedule(what, streaming)
                 .split(x, xo, xi, 8)
                 .reorder(xo, r, xi)
                 .vectorize(xi, 4)
                 .cache_read(in, l1)
                 .at(xo)
                 .buffers(2)
                 .cache_write(out, l1)
                 .at(xo)
                 .buffers(2),
             on, many_of(x), [](kernels::operand_data const& d) {
                 for (int a = 0; a < d.output.dim(0).extent(); ++a) {
                     d.out<std::int32_t>()[a] = 0;
                     for (int b = 0; b < 5; ++b) d.out<std::int32_t>()[a] += d.in<std::int32_t>(0)[2 * a + b] * d.in<std::int32_t>(1)[b];
                 }
             });
}
TEST_CASE("reductions over an extent that is left to run time") {
    emulator on(streaming, {});
    axis const row{"row", 6}, column{"column", dynamic}, co{"co"}, ci{"ci"};
    auto const check = [&](auto const& what, auto const& reduce) {
        check_at(schedule(what, streaming).split(column, co, ci, 8).reorder(co, row, ci).cache_read(in, l1).at(co).buffers(3), on,
                 many_of(column), reduce);
        check_at(schedule(what, streaming), on, many_of(column), reduce);
    };
    check(out(row) = maximum(column, in(row, column)), [](kernels::operand_data const& d) {
        reference::row_max(6, d.inputs[0].dim(0).extent(), d.in<std::int32_t>(0), d.out<std::int32_t>());
    });
    check(out(row) = out(row) + sum(column, in(row, column)), [](kernels::operand_data const& d) {
        int const columns = d.inputs[0].dim(0).extent();
        for (int a = 0; a < 6; ++a) {
            for (int b = 0; b < columns; ++b) d.out<std::int32_t>()[a] += d.in<std::int32_t>(0)[a * columns + b];
        }
    });
}
TEST_CASE("a box as large as an upper bound, of which there is what there is") {
    emulator on(streaming, {});
    axis const short_k{"k", dynamic.up_to(50)};
    auto const what = C(m, n) += cast<std::int32_t>(A(m, short_k)) * cast<std::int32_t>(B(short_k, n));
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(what, streaming)
                                                                 .tile(m, n, mo, no, mi, ni, 4, 8)
                                                                 .cache_read(A, l1)
                                                                 .at(mo)
                                                                 .buffers(2)
                                                                 .cache_read(B, l1)
                                                                 .at(no)
                                                                 .cache_write(C, l1)
                                                                 .at(no)
                                                                 .buffers(2)));
    REQUIRE(!plan->refusal);
    CHECK(plan->peak(l1) >= 2 * 4 * 50 + 50 * 8);
    std::vector<std::vector<axis_extent>> all;
    for (std::int64_t depth : {1, 7, 49, 50}) all.push_back({{m, 9}, {n, 17}, {short_k, depth}});
    check_at(*plan, on, all, multiply);
}
TEST_CASE("a producer goes as far as it is read, in the loops of its reader or in front of them") {
    emulator on(streaming, {});
    axis const i{"i", dynamic}, i2{"i2", dynamic}, short_i{"i", dynamic.up_to(300)};
    auto const reference = [](kernels::operand_data const& d) {
        for (int a = 0; a < d.output.dim(0).extent(); ++a)
            d.out<std::int32_t>()[a] = 3 * d.in<std::int32_t>(0)[a] + 3 * d.in<std::int32_t>(0)[a + 2];
    };
    auto const what = stages(mid(i2) = in(i2)*3, out(i) = mid(i) + mid(i + 2));
    check_at(schedule(what, streaming)
                 .split(i, mo, mi, 8)
                 .cache_write(out, l1)
                 .at(mo)
                 .buffers(2)
                 .compute_at(mid, mo)
                 .store_in(mid, l1)
                 .stage(mid)
                 .cache_read(in, l1)
                 .at(mo)
                 .buffers(2),
             on, many_of(i), reference);
    auto const bounded = stages(mid(i2) = in(i2)*3, out(short_i) = mid(short_i) + mid(short_i + 2));
    check_at(schedule(bounded, streaming)
                 .split(short_i, mo, mi, 8)
                 .store_in(mid, l1)
                 .stage(mid)
                 .split(i2, no, ni, 8)
                 .cache_read(in, l1)
                 .at(no)
                 .buffers(2),
             on, many_of(i), reference);
}
TEST_CASE("what follows from an extent is refused while it is open") {
    plan_value const& open = plan<run_time::rows_on_dsp>;
    CHECK_THROWS_AS(open.cycles(), bad_query);
    CHECK_THROWS_AS(open.bound(), bad_query);
    CHECK_THROWS_AS(open.serial_cycles(), bad_query);
    CHECK_THROWS_AS(open.bytes(fetch), bad_query);
    CHECK_THROWS_AS(open.calls(fetch), bad_query);
    CHECK_THROWS_AS(open.busy(loader), bad_query);
    CHECK_THROWS_AS(detail::find_hazard(open), bad_query);
    CHECK_THROWS_AS(open.at({}), bad_query);
    CHECK_THROWS_AS(open.at({{m, 0}}), bad_query);
    CHECK_THROWS_AS(open.at({{m, (1 << 30) + 1}}), bad_query);
    CHECK_THROWS_AS(open.at({{n, 5}, {m, 5}}), bad_query);
}
TEST_CASE("arguments that do not agree, or go beyond a bound, are refused before anything runs") {
    emulator on(streaming, {});
    axis const few{"m", dynamic.up_to(64)};
    auto const what = C(few, n) += cast<std::int32_t>(A(few, k)) * cast<std::int32_t>(B(k, n));
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(what, streaming)
                                                                 .tile(few, n, mo, no, mi, ni, 4, 8)
                                                                 .split(k, ko, ki, 4)
                                                                 .reorder(mo, no, ko, mi, ni, ki)
                                                                 .cache_read(A, l1)
                                                                 .at(ko)
                                                                 .buffers(2)));
    REQUIRE(!plan->refusal);
    halide::jit_kernel kernel(*plan, &on);
    auto const said = [&](std::vector<int> const& a, std::vector<int> const& b, std::vector<int> const& c) {
        std::string text;
        Halide::Buffer<std::int8_t> left(a[1], a[0]), right(b[1], b[0]);
        Halide::Buffer<std::int32_t> result(c[1], c[0]);
        left.fill(1), right.fill(1), result.fill(-1);
        kernel.pipeline().jit_handlers().custom_error = nullptr;
        on.reset();
        try {
            kernel.run({left, right}, result);
        } catch (Halide::RuntimeError const& error) {
            text = error.what();
            CHECK(on.cycles() == 0);
            CHECK(std::all_of(result.begin(), result.end(), [](std::int32_t value) { return value == -1; }));
        }
        return text;
    };
    CHECK(said({5, 3}, {3, 7}, {5, 7}).empty());
    CHECK(said({64, 3}, {3, 7}, {64, 7}).empty());
    CHECK(said({65, 3}, {3, 7}, {65, 7}).find("axis m is less than 1 or more than 64") != std::string::npos);
    CHECK(said({5, 3}, {4, 7}, {5, 7}).find("dimension 0 of B does not have the extent of axis k") != std::string::npos);
    CHECK(said({6, 3}, {3, 7}, {5, 7}).find("dimension 0 of A does not have the extent of axis m") != std::string::npos);
    CHECK(said({5, 3}, {3, 8}, {5, 7}).find("dimension 1 of B does not have the extent of axis n") != std::string::npos);
    CHECK(!said({4, 3}, {3, 7}, {5, 7}).empty());
    CHECK(!said({5, 4}, {3, 7}, {5, 7}).empty());
}
TEST_CASE("what needs a constant extent says so") {
    auto const names = [](verdict const& v) { return v.names[0].str() + " " + v.names[1].str() + " " + v.names[2].str(); };
    verdict const whole = refusal_of(schedule(matmul, dsp).cache_read(A, l1));
    CHECK(whole.kind == verdict_kind::run_time_box);
    CHECK(names(whole) == "A m the kernel");
    verdict const inner = refusal_of(schedule(matmul, dsp).split(m, mo, mi, 8).cache_read(A, l1).at(mo));
    CHECK(inner.kind == verdict_kind::run_time_box);
    CHECK(names(inner) == "A k mo");
    CHECK(refusal_of(schedule(matmul, dsp).split(m, mo, mi, 8).fuse(mi, n, f)).broken == ir::rule::run_time_inside_fused);
    CHECK(refusal_of(schedule(matmul, dsp).vectorize(n)).broken == ir::rule::run_time_loop);
    CHECK(refusal_of(schedule(matmul, dsp).unroll(k)).broken == ir::rule::run_time_loop);
    CHECK(refusal_of(schedule(matmul, features::npu).tensorize(m, n, k, features::mac)).broken == ir::rule::run_time_loop);
    axis const wide{"wide", 64};
    auto const beyond = stages(mid(wide) = in(wide)*2, out(m) = mid(m));
    verdict const domain = refusal_of(schedule(beyond, dsp).store_in(mid, l1));
    CHECK(domain.kind == verdict_kind::run_time_domain);
    CHECK(names(domain) == "mid wide ");
    auto const downwards = out(m) = in(100 - m);
    CHECK(refusal_of(schedule(downwards, dsp)).kind == verdict_kind::run_time_domain);
    auto const every_second = out(m) = sum(k, in(m)*mid(2 * k));
    CHECK(refusal_of(schedule(every_second, dsp)).broken == ir::rule::extent_of_no_argument);
}

namespace run_time {

using accelerators::ordered;
constexpr machine by_tokens = accelerators::accelerator(ordered::by_tokens, 4),
                  by_more_tokens = accelerators::accelerator(ordered::by_more_tokens, 16),
                  by_core = accelerators::accelerator(ordered::by_core, 3),
                  by_interlocks = accelerators::accelerator(ordered::by_interlocks, 5);

}  // namespace run_time

TEST_CASE("instructions that run aside of the core, at any extents", "[long]") {
    // A reduction of whole steps: no transfer fills the array's operands.
    constexpr axis depth_of_steps{"k", 24};
    auto const products_of_steps = C(m, n) += cast<std::int32_t>(A(m, depth_of_steps)) * cast<std::int32_t>(B(depth_of_steps, n));
    std::vector<std::vector<axis_extent>> all;
    for (auto const& [rows, columns] : {std::array{1, 1}, {8, 8}, {9, 24}, {16, 8}, {40, 17}, {5, 60}, {33, 7}, {130, 1}})
        all.push_back({{m, rows}, {n, columns}});
    auto const on_machine = [&](machine const& where) {
        INFO(where.tokens.size() << " kinds of tokens, queues of " << where.engines[0].depth);
        schedule s(products_of_steps, where);
        s.tile(m, n, mo, no, mi, ni, 16, 8).split(depth_of_steps, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki);
        s.cache_read(A, accelerators::inputs).at(ko).buffers(2).cache_read(B, accelerators::weights).at(ko).buffers(3);
        s.cache_write(C, accelerators::sums).at(no).buffers(2).tensorize(mi, ni, ki, where.intrinsics[0]);
        emulator on(where, semantics_of<run_time::by_tokens>);
        check_at(s, on, all, multiply);
    };
    on_machine(run_time::by_tokens);
    on_machine(run_time::by_more_tokens);
    on_machine(run_time::by_core);
    on_machine(run_time::by_interlocks);
}
