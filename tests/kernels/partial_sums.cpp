#include <tilewright/plan/planner.hpp>
#include <tilewright/report/text.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// cache_write inside a reduction: what the buffer holds is a partial sum, stored and loaded again.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .base = 0x2000'0000, .capacity = 64_KiB, .alignment = 16};
constexpr memory spad{.name = "spad", .base = 0x3000'0000, .capacity = 64_KiB, .alignment = 16, .host_visible = false};
constexpr transfer_cost cost{.latency = 7, .setup = 3, .bytes_per_cycle = 8};
constexpr axis i{"i", 4}, j{"j", 4}, l{"l", 2};
constexpr tensor<std::int16_t> A{"A"}, B{"B"}, a{"a"}, b{"b"};
constexpr tensor<std::int32_t> C{"C"}, c{"c"};
constexpr auto term = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
constexpr auto accumulate = intrinsic("mac", c(i, j) += term).reads(a, spad).reads(b, spad).updates(c, spad).cycles(5);
constexpr auto overwrite = intrinsic("mul", c(i, j) = sum(l, term)).reads(a, spad).reads(b, spad).writes(c, spad).cycles(4);
constexpr axis e{"e", 1};

/// How a sum on the machine's instruction starts.
enum class start : std::uint8_t { by_instruction, by_fill };
constexpr machine machine_that(start how) {
    machine made("dsp", dram, l2, spad, accumulate);
    auto const add = [&](char const* name, memory const& from, memory const& to) {
        made.add(transfer(name, from, to).dimensions(3).cost(cost));
    };
    add("dram_l2", dram, l2), add("l2_dram", l2, dram), add("l2_spad", l2, spad), add("spad_l2", spad, l2);
    add("dram_spad", dram, spad), add("spad_dram", spad, dram);
    if (how == start::by_instruction) made.add(overwrite);
    made.add(transfer("clear", dram, spad, c(e) = 0).dimensions(3).cost(cost));
    made.add(transfer("clear_operand", dram, spad, a(e) = 0).cost(cost));
    return made;
}
constexpr machine with_first = machine_that(start::by_instruction), with_fill = machine_that(start::by_fill);

constexpr axis m{"m", 10}, n{"n", 14}, k{"k", 11}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, kii{"kii"}, kio{"kio"};
constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

plan_value make_accepted_plan(schedule const& of) {
    plan_value plan = make_plan(of);
    INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
    REQUIRE(!plan.refusal);
    return plan;
}
void check(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_accepted_plan(of));
    INFO(loop_program(*plan));
    bool const first = &of.where() == &with_first;
    emulator on(of.where(), first ? semantics_of<with_first> : semantics_of<with_fill>);
    kernels::check_kernel(*plan, on);
}

}  // namespace

TEST_CASE("a tile inside a reduction starts from the identity, and then from what it has stored") {
    schedule s(matmul, with_first);
    s.split(m, mo, mi, 5).split(k, ko, ki, 4).reorder(ko, mo, mi, n, ki).cache_write(C, l2).at(mo);
    plan_value const plan = make_accepted_plan(s);
    // 3 parts of k and 2 of m: a tile of 5 x 14 is stored 6 times, and loaded but in the first part of k.
    CHECK(plan.calls(with_first.transfers[1]) == 6);
    CHECK(plan.calls(with_first.transfers[0]) == 4);
    CHECK(plan.bytes(with_first.transfers[0]) == 4 * 5 * 14 * 4);
    std::string const text = loop_program(plan);
    CHECK(text.find("dram_l2  C[5 mo, 0] (5 x 14) -> C.l2 if ko > 0") != std::string::npos);
    CHECK(text.find("compute C: for mi in 0..5, n in 0..14 if ko == 0") != std::string::npos);
    check(s);
}

TEST_CASE("partial sums stand at any level, in several memories, and in partial tiles") {
    check(schedule(matmul, with_first).split(m, mo, mi, 4).split(k, ko, ki, 3).reorder(ko, mo, mi, n, ki).cache_write(C, l2).at(mo));
    check(schedule(matmul, with_first).reorder(k, m, n).cache_write(C, l2).at(k));
    check(schedule(matmul, with_first).reorder(k, m, n).cache_write(C, l2).at(m));
    // Two loops of the reduction around the tile.
    check(schedule(matmul, with_first).split(k, ko, ki, 6).split(ki, kio, kii, 2).reorder(ko, m, kio, n, kii).cache_write(C, l2).at(kio));
    // Outside of the reduction in one memory, inside in another.
    check(schedule(matmul, with_first)
              .tile(m, n, mo, no, mi, ni, 4, 8)
              .split(k, ko, ki, 4)
              .reorder(mo, ko, no, mi, ni, ki)
              .cache_write(C, l2)
              .at(mo)
              .cache_write(C, spad)
              .at(no)
              .cache_read(A, spad)
              .at(ko)
              .cache_read(B, spad)
              .at(ko)
              .tensorize(mi, ni, ki, accumulate));
}

TEST_CASE("an instruction overwrites, or a transfer fills, only where the reduction begins") {
    for (machine const* where : {&with_first, &with_fill}) {
        schedule s(matmul, *where);
        s.tile(m, n, mo, no, mi, ni, 8, 8).split(k, ko, ki, 4).reorder(ko, mo, no, mi, ni, ki);
        s.cache_write(C, spad).at(no).cache_read(A, spad).at(mo).cache_read(B, spad).at(ko).tensorize(mi, ni, ki, accumulate);
        check(s);
        plan_value const plan = make_accepted_plan(s);
        if (where == &with_fill) CHECK(plan.calls(where->transfers[6]) == 4);
        else CHECK(plan.calls(where->intrinsics[1]) == 12);
    }
}

TEST_CASE("a sum that continues is loaded in every part") {
    static constexpr auto continued = C(m, n) = C(m, n) + sum(k, cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)));
    schedule s(continued, with_first);
    s.split(m, mo, mi, 5).split(k, ko, ki, 4).reorder(ko, mo, mi, n, ki).cache_write(C, l2).at(mo);
    CHECK(make_accepted_plan(s).calls(with_first.transfers[0]) == 6);
    check(s);
}

TEST_CASE("the largest value so far is a partial result, too") {
    static constexpr auto most = C(m, n) = maximum(k, cast<std::int32_t>(A(m, k)) + cast<std::int32_t>(B(k, n)));
    check(schedule(most, with_first).split(k, ko, ki, 4).reorder(ko, m, n, ki).cache_write(C, l2).at(m));
}
