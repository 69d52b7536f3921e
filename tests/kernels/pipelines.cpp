#include <array>
#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/six_transfers.hpp"
#include "reference/reference.hpp"

// Schedules whose transfers overlap with what computes. Each runs in all orders in which transfers can complete.

using namespace tilewright;

namespace {

using namespace six_transfers;
constexpr memory l2{.name = "l2", .base = 0x2000'0000, .capacity = 256_KiB, .alignment = 64};
constexpr memory l1{.name = "l1", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16};
machine const machines[] = {machine_with(loader, storer, copier, l2, l1), machine_with(dma, dma, dma, l2, l1),
                            machine_with(channel, storer, other_channel, l2, l1), machine_with(channel, channel, channel, l2, l1)};

constexpr axis m{"m", 24}, n{"n", 40}, k{"k", 36};
constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};
constexpr auto product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
constexpr auto matmul = C(m, n) += product;
constexpr auto more_matmul = C(m, n) = C(m, n) + sum(k, product);

void matmul_by_hand(kernels::operand_data const& d) {
    auto const* const a = d.in<std::int8_t>(0);
    auto const* const b = d.in<std::int8_t>(1);
    std::int32_t* const c = d.out<std::int32_t>();
    for (int i = 0; i < 24; ++i) {
        for (int j = 0; j < 40; ++j) {
            std::int32_t sum = 0;
            for (int l = 0; l < 36; ++l) sum += a[i * 36 + l] * b[l * 40 + j];
            c[i * 40 + j] = sum;
        }
    }
}

/// Runs what `direct` schedules on every machine.
template <class Direct, class Reference>
void on_every_machine(computation_view what, Direct const& direct, Reference const& reference) {
    for (machine const& where : machines) {
        INFO("engine of loads: " << where.engines[0].name.str() << ", engines: " << where.engines.size());
        schedule made(what, where);
        direct(made);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        CHECK(plan->rings.size() > 0);
        emulator on(where, {});
        kernels::check_kernel(*plan, on, reference);
    }
}

schedule& tiled(schedule& s) {
    return s.tile(m, n, mo, no, mi, ni, 8, 8).split(k, ko, ki, 12).reorder(mo, no, ko, mi, ki, ni).vectorize(ni);
}

}  // namespace

TEST_CASE("tiles in one, two and three versions, loads and stores overlapped", "[long]") {
    for (int versions : {1, 2, 3, 4}) {
        INFO(versions << " versions");
        on_every_machine(
            matmul.view(),
            [&](schedule& s) {
                tiled(s).cache_read(A, l1).at(ko).buffers(versions).cache_read(B, l1).at(ko).buffers(versions);
                s.cache_write(C, l1).at(no).buffers(versions);
            },
            matmul_by_hand);
    }
}

TEST_CASE("every operand has its own number of versions and its own level") {
    on_every_machine(
        matmul.view(),
        [](schedule& s) {
            tiled(s).cache_read(A, l1).at(mo).buffers(2).cache_read(B, l1).at(ko).buffers(3).prefetch(1).cache_write(C, l1).at(no).buffers(
                4);
        },
        matmul_by_hand);
}

TEST_CASE("two levels of scratchpads, each with versions") {
    on_every_machine(
        matmul.view(),
        [](schedule& s) {
            tiled(s).cache_read(A, l2).at(mo).buffers(2).cache_read(B, l2).cache_write(C, l2).at(mo).buffers(2);
            s.cache_read(A, l1).at(ko).buffers(2).cache_read(B, l1).at(ko).buffers(3).cache_write(C, l1).at(no).buffers(2);
        },
        matmul_by_hand);
}

TEST_CASE("a pipeline runs on across the steps of the scratchpad that it reads", "[long]") {
    struct example {
        int outer, inner, distance;  // versions in l2 and in l1, steps ahead in l1; a row of blocks is 15 steps of l1
        bool runs_on;
    };
    for (example const& e :
         {example{2, 2, 1, true}, {2, 8, 7, true}, {2, 9, 8, false}, {3, 16, 15, true}, {1, 2, 1, false}, {2, 2, 0, false}}) {
        INFO(e.outer << " versions in l2, " << e.inner << " in l1, " << e.distance << " steps ahead");
        auto const direct = [&](schedule& s) {
            tiled(s).cache_read(A, l1).at(ko).buffers(e.inner).prefetch(e.distance).cache_read(A, l2).at(mo).buffers(e.outer);
            s.cache_read(B, l1).at(ko).buffers(2).cache_write(C, l1).at(no).buffers(2);
        };
        on_every_machine(matmul.view(), direct, matmul_by_hand);
        schedule made(matmul, machines[0]);
        direct(made);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        int waits = 0, waited = 0;
        plan->walk([&](ir::step const& s, std::int64_t times, std::int64_t) {
            if (s.kind != ir::step_kind::wait || plan->waits[s.what].only_where < 0) return;
            ++waits, waited += static_cast<int>(times);
        });
        CHECK(waits == (e.runs_on ? 1 : 0));
        CHECK(waited == (e.runs_on ? 2 : 0));  // for the second and the third of three rows of blocks
    }
}

TEST_CASE("three scratchpads, each read across the steps of the one around; tiles that do not divide") {
    constexpr memory l0{.name = "l0", .base = 0x3000'0000, .capacity = 8_KiB, .alignment = 16};
    for (auto [M, N, K] : {std::array{24, 40, 36}, {23, 17, 31}, {9, 40, 5}, {30, 8, 50}}) {
        machine where = machine_with(loader, storer, copier, l2, l1);
        where.add(l0), where.add(engine{"near"});
        where.add(transfer("l1_l0", l1, l0).on(engine{"near"}).asynchronous().dimensions(3).cost({.latency = 3, .bytes_per_cycle = 32}));
        axis const rows{"m", M}, columns{"n", N}, depth{"k", K};
        auto const work = C(rows, columns) += cast<std::int32_t>(A(rows, depth)) * cast<std::int32_t>(B(depth, columns));
        schedule s(work, where);
        s.tile(rows, columns, mo, no, mi, ni, 8, 8).split(depth, ko, ki, 12).split(ki, "kio", "kii", 3);
        s.reorder(mo, no, ko, "kio", mi, "kii", ni).vectorize(ni);
        s.cache_read(A, l2).at(mo).buffers(2).cache_read(A, l1).at(ko).buffers(2).cache_read(A, l0).at("kio").buffers(2);
        s.cache_read(B, l2).at(no).buffers(3).cache_read(B, l1).at(ko).buffers(3).cache_read(B, l0).at("kio").buffers(2);
        s.cache_write(C, l1).at(no).buffers(2);
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        INFO(M << "x" << N << "x" << K);
        emulator on(where, {});
        kernels::check_kernel(*plan, on);
        CHECK(ir::predict(*plan).cycles == ir::predict(*plan, ir::visiting::everything).cycles);
    }
}

TEST_CASE("a continued sum is loaded, changed and stored") {
    on_every_machine(
        more_matmul.view(),
        [](schedule& s) { tiled(s).cache_read(A, l1).at(ko).buffers(2).cache_read(B, l1).at(ko).cache_write(C, l1).at(no).buffers(2); },
        [](kernels::operand_data const& d) {
            std::vector<std::int32_t> const before(d.out<std::int32_t>(), d.out<std::int32_t>() + 24 * 40);
            matmul_by_hand(d);
            for (std::size_t at = 0; at < before.size(); ++at) d.out<std::int32_t>()[at] += before[at];
        });
}

TEST_CASE("a transfer that fails ends the kernel with its code when nothing is in flight any more") {
    for (machine const& where : machines) {
        schedule made(matmul, where);
        tiled(made).cache_read(A, l1).at(ko).buffers(2).cache_read(B, l1).at(ko).buffers(3).cache_write(C, l1).at(no).buffers(2);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        emulator on(where, {});
        halide::jit_kernel kernel(*plan, &on);
        kernels::operand_data const data = kernels::random_operands(*plan, 3);
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            for (int nth : {1, 2, 5, 20, 100}) {
                INFO(name_of(how) << ", call " << nth << " fails");
                on.use(how);
                on.reset();
                on.fail_transfer(nth, 77);
                Halide::Buffer<> result = data.output.copy();
                CHECK_THROWS_WITH(kernel.run(data.inputs, result), Catch::Contains("exit status 77"));
                CHECK(on.in_flight() == 0);
                // The call that failed was the last.
                std::int64_t calls = 0;
                for (int at = 0; at < where.transfers.size(); ++at) calls += on.transfers(at).calls;
                CHECK(calls == nth - 1);
            }
        }
    }
}

namespace {

/// An instruction of 8 x 8 x 8 elements, and a fill that makes the lanes beyond the end of a reduction add nothing.
namespace tensorized {
constexpr memory dram{.name = "dram"};
constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 256_KiB, .alignment = 64};
constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 64_KiB, .alignment = 64};
constexpr engine loader{"loader"}, storer{"storer"}, array{"array"};
constexpr auto mvin = transfer("mvin", dram, spad).on(loader).asynchronous().dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
constexpr axis e{"e", 1};
constexpr tensor<std::int8_t> z{"z"};
constexpr auto zero =
    transfer("zero", dram, spad, z(e) = 0).on(loader).asynchronous().dimensions(2).cost({.latency = 4, .bytes_per_cycle = 64});
constexpr auto mvout = transfer("mvout", acc, dram).on(storer).asynchronous().dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
constexpr axis i{"i", 8}, j{"j", 8}, l{"l", 8};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"};
constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
constexpr auto mac = intrinsic("mac", c(i, j) += product).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(16);
constexpr auto mul = intrinsic("mul", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(16);
constexpr auto npu = machine("npu", dram, spad, acc, loader, storer, array, mvin, zero, mvout, mac, mul);
}  // namespace tensorized

}  // namespace

TEST_CASE("an instruction of fixed shape on extents that it does not divide, in versions", "[long]") {
    using tensorized::npu, tensorized::spad, tensorized::acc;
    emulator on(npu, semantics_of<npu>);
    for (auto [M, N, K] : {std::array{19, 21, 37}, {8, 8, 8}, {1, 1, 1}, {33, 7, 13}, {24, 41, 5}}) {
        for (int versions : {1, 2, 3}) {
            axis const rows{"m", M}, columns{"n", N}, inner{"k", K};
            auto const work = C(rows, columns) += cast<std::int32_t>(A(rows, inner)) * cast<std::int32_t>(B(inner, columns));
            schedule s(work, npu);
            s.tile("m", "n", "mo", "no", "mi", "ni", 16, 16).split("k", "ko", "ki", 16).reorder("mo", "no", "ko", "mi", "ni", "ki");
            s.cache_read(A, spad)
                .at("ko")
                .by(tensorized::mvin)
                .buffers(versions)
                .cache_read(B, spad)
                .at("ko")
                .by(tensorized::mvin)
                .buffers(versions);
            s.cache_write(C, acc).at("no").by(tensorized::mvout).buffers(versions).tensorize("mi", "ni", "ki", tensorized::mac);
            auto const plan = std::make_unique<plan_value>(make_plan(s));
            INFO(M << "x" << N << "x" << K << " versions " << versions);
            kernels::check_kernel(*plan, on);
        }
    }
}
