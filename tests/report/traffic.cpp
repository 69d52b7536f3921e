#include <tilewright/report/comparison.hpp>
#include <tilewright/report/loop_program.hpp>
#include <tilewright/report/traffic.hpp>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"
#include "kernels/features.hpp"
#include "kernels/schedules.hpp"
#include "report/drawn.hpp"

using namespace tilewright;
using namespace tilewright::reports;

// 8 x 8 x 8 tiles of 64 x 64 x 64. A and B are loaded 512 times each, 4,096 bytes in 64 + 4,096 / 16 = 320 cycles; C is stored 64 times,
// 16,384 bytes in 64 + 1,024 cycles. 32 x 32 x 32 instructions of 16 cycles, of which 32 x 32 come first.
TEST_CASE("the traffic of lesson 02 is 1,024 loads, 64 stores and 32,768 instructions") {
    CHECK(traffic(plan<lesson_matmul::matmul_on_npu>) == drawn(R"(
part                        kind       on       calls      bytes   cycles  of all
mvin                        transfer   loader   1,024  4,194,304  327,680  35.6 %
mvout                       transfer   storer      64  1,048,576   69,632   7.6 %
mac16                       intrinsic  array   31,744             507,904  55.1 %
mul16                       intrinsic  array    1,024              16,384   1.8 %
total, one after the other                             5,242,880  921,600

engine     busy  of predicted
loader  262,144        28.4 %
storer   65,536         7.1 %
array   524,288        56.9 %
host          0         0.0 %
921,600 cycles predicted, 1.76 times the bound of 524,288 (array)
)"));
}

TEST_CASE("code counts its loop nests, a whole reduction as two") {
    // 6 tiles of 5 results: 50 * 5 times a load of 2, a load of 2, a minimum and a store of 2, and 5 identities of 2
    std::string const text = traffic(make_plan(kernels::row_min_on_dsp));
    CHECK(text.find("lowest                      code      scalar     12         10,560  91.1 %\n") != std::string::npos);
    // the other transfers of the machine are not used
    CHECK(text.find("l1_dram") == std::string::npos);
    // a unit without an engine
    CHECK(traffic(make_plan(features::matmul_by_fma)).find("fma8                        intrinsic  -    1,824") != std::string::npos);
}

TEST_CASE("the rows of the traffic add up to the plan's cycles") {
    for (schedule const* of : {&lesson_matmul::matmul_on_npu, &kernels::matmul_nt_on_dsp, &kernels::matmul_tn_on_dsp, &kernels::blur_on_dsp,
                               &kernels::row_max_on_dsp, &features::matmul_by_dots, &features::matmul_by_mac, &features::widened_by_dma}) {
        plan_value const plan = make_plan(*of);
        std::int64_t cycles = 0;
        for (work const& w : work_of(plan)) cycles += w.cycles;
        CHECK(cycles == plan.total_cycles);
    }
}

namespace {

// Z(e) = X(e - 1) + X(e) * -X(e + 1), in 3 steps of 20 with 22 inputs each.
// A load is 88 bytes in 10 + 88 / 4 cycles. One element costs 3 loads, a store, a sum and two products of 2 cycles: 9.
constexpr auto const& neighbours = features::neighbours_on_core;
constexpr operation_counts one_element{.load = 3, .store = 1, .arithmetic = 1, .multiply = 2};

/// Does by hand what the kernel does on the emulated machine.
void run_by_hand(emulator& on, int loads, std::int64_t iterations) {
    static float input[62];
    std::int64_t const shape[] = {22, 4, 4, 0, -1, -1, -1};
    int const load = on.what().transfers.find("in_tcm");
    for (int step = 0; step < loads; ++step) {
        REQUIRE(on.transfer(load, input + 20 * step, on.base(features::tcm), shape) == 0);
        on.code(iterations, one_element);
    }
}

}  // namespace

TEST_CASE("a run that does what the plan predicts is equal in every row") {
    emulator on(features::core_with_tcm, semantics_of<features::core_with_tcm>);
    plan_value const plan = make_plan(neighbours);
    run_by_hand(on, 3, 20);
    CHECK(comparison(plan, on) == drawn(R"(
             calls              bytes             cycles
part       planned  executed  planned  executed  planned  executed
in_tcm           3         3      264       264       96        96  equal
code             3         3        0         0      540       540  equal
total            6         6      264       264      636       636  equal
dma, busy                                             66        66  equal
elapsed                                              636       636  equal
)"));
    CHECK(agrees(plan, on));
}

TEST_CASE("a run that does something else is different where it differs") {
    emulator on(features::core_with_tcm, semantics_of<features::core_with_tcm>);
    plan_value const plan = make_plan(neighbours);
    auto const row = [&](std::string const& name) {
        auto const rows = compare(plan, on);
        for (compared const& r : rows) {
            if (r.name == name) return r;
        }
        throw std::out_of_range(name);
    };

    CHECK(!agrees(plan, on));  // nothing was run

    run_by_hand(on, 3, 19);  // the same calls, less in one of them
    CHECK(!agrees(plan, on));
    CHECK(row("in_tcm").equal());
    CHECK(!row("code").equal());
    CHECK(row("code").executed.cycles == 3 * 19 * 9);
    CHECK(!row("total").equal());

    on.reset();
    run_by_hand(on, 2, 30);  // the same cycles of code in fewer calls
    CHECK(row("code").executed.cycles == row("code").predicted.cycles);
    CHECK(!row("code").equal());
    CHECK(!row("in_tcm").equal());

    on.reset();
    run_by_hand(on, 3, 20);
    CHECK(agrees(plan, on));
    int const unplanned = on.what().transfers.find("out_tcm");
    std::int64_t const shape[] = {1, 4, 4, 0, -1, -1, -1};
    float result;
    REQUIRE(on.transfer(unplanned, on.base(features::tcm), &result, shape) == 0);
    CHECK(!agrees(plan, on));
    CHECK(comparison(plan, on).find("out_tcm          0         1        0         4        0        11  DIFFERENT\n") !=
          std::string::npos);

    on.reset();
    run_by_hand(on, 3, 20);
    CHECK(on.transfer(99, nullptr, nullptr, shape) != 0);  // counted nowhere, but the kernel would have failed
    CHECK(!agrees(plan, on));
    CHECK(comparison(plan, on).find("the machine refused: a transfer that the machine does not have\n") != std::string::npos);
}

TEST_CASE("a plan for other costs does not agree with the machine") {
    machine cheaper = features::core_with_tcm;
    cheaper.transfers.parts[cheaper.transfers.find("in_tcm")].costs.latency -= 1;
    emulator on(features::core_with_tcm, semantics_of<features::core_with_tcm>);
    run_by_hand(on, 3, 20);
    plan_value const plan =
        make_plan(schedule(features::neighbours, cheaper).split("e", "eo", "ei", 20).cache_read(features::X, features::tcm).at("eo"));
    CHECK(comparison(plan, on).find("in_tcm           3         3      264       264       93        96  DIFFERENT\n") !=
          std::string::npos);
    CHECK(!agrees(plan, on));
}

TEST_CASE("a refused plan has no traffic and agrees with nothing") {
    emulator on(lesson_matmul::npu, semantics_of<lesson_matmul::npu>);
    plan_value const refused = make_plan(schedule(lesson_matmul::matmul, lesson_matmul::npu).reorder("x"));
    REQUIRE(refused.refusal);
    CHECK(traffic(refused) == "refused: " + to_string(refused.refusal) + "\n");
    CHECK(comparison(refused, on) == traffic(refused));
    CHECK(!agrees(refused, on));
}

namespace {

// Lesson 02 with transfers that overlap, as lesson 03 does it.
namespace overlapping {
using namespace lesson_matmul;
constexpr auto mvin = transfer("mvin", dram, spad).on(loader).asynchronous().dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
constexpr auto mvout = transfer("mvout", acc, dram).on(storer).asynchronous().dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
constexpr auto npu = machine("npu", dram, spad, acc, loader, storer, array, mvin, mvout, mac16, mul16);
// clang-format off
constexpr auto matmul_on_npu = schedule(matmul, npu)
    .tile(m, n, mo, no, mi, ni, 64, 64)
    .split(k, ko, ki, 64)
    .reorder(mo, no, ko, mi, ni, ki)
    .cache_read(A, spad).at(ko).by(mvin).buffers(2)
    .cache_read(B, spad).at(ko).by(mvin).buffers(2)
    .cache_write(C, acc).at(no).by(mvout).buffers(2)
    .tensorize(mi, ni, ki, mac16);
// clang-format on
}  // namespace overlapping

}  // namespace

// The panels of lesson 05 on this machine: 16 calls for each of the 512 tiles of A, or one where a transfer takes four dimensions.
TEST_CASE("lesson 02 with panels of its left operand") {
    using namespace lesson_matmul;
    auto const in_panels = [](machine const& where) {
        return make_plan(schedule(matmul, where)
                             .tile(m, n, mo, no, mi, ni, 64, 64)
                             .split(k, ko, ki, 64)
                             .reorder(mo, no, ko, mi, ni, ki)
                             .cache_read(A, spad)
                             .at(ko)
                             .by(mvin)
                             .layout([](auto i, auto l) { return index_map(i / 16, l / 16, i % 16, l % 16); })
                             .cache_read(B, spad)
                             .at(ko)
                             .by(mvin)
                             .cache_write(C, acc)
                             .at(no)
                             .by(mvout)
                             .tensorize(mi, ni, ki, mac16));
    };
    plan_value const plan = in_panels(npu);
    REQUIRE(!plan.refusal);
    CHECK(plan.calls(mvin) == 512 * 16 + 512);
    CHECK(loop_program(plan).find("mvin  A[64 mo + 16 A, 64 ko + 16 A'] (16 x 16) -> A.spad[A, A', 0, 0]\n") != std::string::npos);
    machine four_dimensions = npu;
    four_dimensions.transfers.parts[0].most_dimensions = 4;
    plan_value const shorter = in_panels(four_dimensions);
    REQUIRE(!shorter.refusal);
    CHECK(shorter.calls(mvin) == 512 + 512);
}

// The first two loads, 2 x 256 + 64 cycles, then the array without a gap: 512 steps of 1,024 cycles; then the last store of 1,088.
TEST_CASE("lesson 02 with two versions costs the array's cycles, the first loads and the last store") {
    plan_value const& plan = tilewright::plan<overlapping::matmul_on_npu>;
    static_assert(tilewright::plan<overlapping::matmul_on_npu>.cycles_resolved());
    CHECK(predict(plan).cycles == 2 * 256 + 64 + 512 * 1024 + 1088);
    CHECK(plan.serial_cycles() == 921600);
    CHECK(bound_of(plan).name == "array");
    CHECK(plan.peak(lesson_matmul::spad) == 16_KiB);
    CHECK(plan.peak(lesson_matmul::acc) == 32_KiB);
    std::string const text = traffic(plan);
    CHECK(text.substr(text.find("engine")) == drawn(R"(
engine     busy  of predicted
loader  262,144        49.8 %
storer   65,536        12.5 %
array   524,288        99.7 %
host          0         0.0 %
525,952 cycles predicted, 1.00 times the bound of 524,288 (array)
)"));
}
