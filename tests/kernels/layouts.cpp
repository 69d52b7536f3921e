// clang-format off: schedules are read line by line, a buffer a line.
#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "reference/reference.hpp"

// Buffers whose elements lie where an index map puts them, compared with plain loops.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .base = 0x2000'0000, .capacity = 256_KiB, .alignment = 64};
constexpr memory l1{.name = "l1", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16};

machine machine_with(bool asynchronous) {
    machine made("dsp", dram, l2, l1);
    engine const loader{"loader"}, storer{.name = "storer", .completes = completion::by_channel}, copier{"copier"};
    for (engine const& e : {loader, storer, copier}) made.add(e);
    auto const add = [&](label const& name, memory const& from, memory const& to, engine const& on, int dimensions) {
        auto t = transfer(name, from, to).on(on).dimensions(dimensions).cost({.latency = 20, .setup = 4, .bytes_per_cycle = 8});
        if (asynchronous) t.asynchronous();
        made.add(t);
    };
    add("dram_l2", dram, l2, loader, 2);
    add("l2_dram", l2, dram, storer, 2);
    add("l2_l1", l2, l1, copier, 3);
    add("l1_l2", l1, l2, copier, 3);
    add("dram_l1", dram, l1, loader, 4);
    add("l1_dram", l1, dram, storer, 4);
    return made;
}
machine const machines[] = {machine_with(false), machine_with(true)};

constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};

/// The kernel makes the bits of `expected`, also where every access is checked.
template <class Reference>
void check(schedule const& s, emulator& on, Reference const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    kernels::check_kernel(*plan, on, expected);
    if (plan->refusal || plan->rings.size() > 0) return;
    halide::jit_kernel checked(*plan, &on, true);
    on.reset();
    on.check(*plan);
    auto const data = kernels::random_operands(*plan, 17);
    Halide::Buffer<> result = data.output;
    CHECK_NOTHROW(result = kernels::result_of(checked, data, {}));
    CHECK(on.error() == "");
    auto const by_hand = kernels::random_operands(*plan, 17);
    expected(by_hand);
    CHECK(kernels::same_bits(result, by_hand.output));
    on.stop_checking();
}

struct product {
    axis m, n, k;
    product(std::int64_t rows, std::int64_t columns, std::int64_t depth) : m{"m", rows}, n{"n", columns}, k{"k", depth} {}
    auto what() const { return C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)); }
    template <class Direct>
    void on_every_machine(Direct const& direct) const {
        auto const computed = what();
        for (machine const& where : machines) {
            INFO((where.transfers[0].is_asynchronous ? "asynchronous" : "blocking"));
            schedule made(computed, where);
            direct(made);
            emulator on(where, {});
            check(made, on, [&](kernels::operand_data const& d) {
                reference::matmul_nn(static_cast<int>(m.extent), static_cast<int>(n.extent), static_cast<int>(k.extent),
                                     d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
            });
        }
    }
};

}  // namespace

TEST_CASE("an operand is transposed on its way in") {
    product const p(24, 40, 36);
    p.on_every_machine([&](schedule& s) {
        s.tile(p.m, p.n, mo, no, mi, ni, 8, 8).split(p.k, ko, ki, 12).reorder(mo, no, ko, mi, ki, ni).vectorize(ni)
            .cache_read(A, l1).at(ko).layout([](auto i, auto j) { return index_map(j, i); });
    });
}
TEST_CASE("panels of both operands and of the result") {
    product const p(24, 40, 36);
    p.on_every_machine([&](schedule& s) {
        s.tile(p.m, p.n, mo, no, mi, ni, 12, 20).split(p.k, ko, ki, 12).reorder(mo, no, ko, mi, ki, ni)
            .cache_read(A, l1).at(ko).layout([](auto i, auto j) { return index_map(i / 6, j, i % 6); })
            .cache_read(B, l1).at(ko).layout([](auto i, auto j) { return index_map(j / 4, i, j % 4); })
            .cache_write(C, l1).at(no).layout([](auto i, auto j) { return index_map(i / 6, j / 4, i % 6, j % 4); });
    });
}
