#include <tilewright/plan/write/tied.hpp>

#include <tilewright/plan/check/may_be_result.hpp>
#include <tilewright/report/loop_program.hpp>
#include <tilewright/report/memory_map.hpp>
#include <tilewright/report/plan_report.hpp>

#include "catch.hpp"
#include "kernels/in_place.hpp"
#include "plan/small_kernels.hpp"

// Operands that a result overwrites: the buffers, the waits and the reports of their plans.

using namespace tilewright;
using namespace in_place;

namespace {

constexpr engine in{"in"}, leaving{"leaving"};
constexpr auto get = transfer("get", dram, acc).on(in).asynchronous().dimensions(2);
constexpr auto put = transfer("put", acc, dram).on(leaving).asynchronous().dimensions(2);
constexpr auto unit = machine("unit", dram, acc, in, leaving, alu, get, put, shift, least);
constexpr tensor<std::int32_t> X{"X"};
constexpr auto chain = stages(S(m, n) = X(m, n) >> 6, Y(m, n) = max(S(m, n), -128));

schedule chain_in(int versions, int ahead) {
    return schedule(chain, unit)
        .split(m, mo, mi, 8)
        .cache_write(Y, acc)
        .at(mo)
        .buffers(versions)
        .tensorize(mi, n, least)
        .compute_at(S, mo)
        .store_in(S, acc)
        .stage(S)
        .cache_read(X, acc)
        .at(mo)
        .buffers(versions)
        .prefetch(ahead)
        .tensorize(m, n, shift);
}
std::string program_of(plan_value const& plan) {
    std::string text;
    for (reports::program_line const& line : reports::lines_of(plan)) {
        auto const write = [&](auto const& self, reports::program_line const& one, int depth) -> void {
            text += std::string(static_cast<std::size_t>(2 * depth), ' ') + one.text + "\n";
            for (reports::program_line const& inside : one.inside) self(self, inside, depth + 1);
        };
        write(write, line, 0);
    }
    return text;
}

}  // namespace

static_assert(plan<layer_on_vta>.peak(acc) == 8 * 32 * 4 + 32 * 4);
static_assert(plan<layer_on_vta>.calls(add_row) == 12 && plan<layer_on_vta>.calls(most) == 12);

TEST_CASE("what is loaded again has been stored before") {
    // Two versions: the one that is loaded a step ahead is the one that the step before stores.
    CHECK(program_of(make_plan(chain_in(2, 1))) ==
          "get  X[8 mo, 0] (8 x 32) -> Y.acc, step 0\n"
          "for mo in 0..3\n"
          "  wait for the store of Y.acc, 1 step back\n"
          "  get  X[8 mo, 0] (8 x 32) -> Y.acc, 1 step ahead\n"
          "  wait for Y.acc\n"
          "  for m in 0..2\n"
          "    for n in 0..2\n"
          "      shift (Y.acc[4 m, 16 n])\n"
          "  for mi in 0..2\n"
          "    for n in 0..2\n"
          "      least (Y.acc[4 mi, 16 n])\n"
          "  put  Y.acc (8 x 32) -> Y[8 mo, 0]\n"
          "wait for the store of Y.acc, step 2\n");
    // Three versions, and a load that runs one step ahead: the stores have a step more.
    CHECK(program_of(make_plan(chain_in(3, 1))).find("wait for the store of Y.acc, 2 steps back\n") != std::string::npos);
    CHECK(program_of(make_plan(chain_in(3, 2))).find("wait for the store of Y.acc, 1 step back\n") != std::string::npos);
    CHECK(program_of(make_plan(chain_in(2, 0))).find("wait for the store of Y.acc, 2 steps back\n") != std::string::npos);
}
TEST_CASE("a plan whose load does not wait for the store is a race") {
    plan_value plan = make_plan(chain_in(2, 1));
    REQUIRE(!plan.refusal);
    CHECK(!detail::find_hazard(plan));
    for (int at = 0; at < plan.steps.size(); ++at) {
        ir::step& s = plan.steps[at];
        if (s.kind == ir::step_kind::wait && plan.waits[s.what].ahead == -1) s = {ir::step_kind::barrier, -1};
    }
    CHECK(detail::find_hazard(plan).broken == ir::rule::written_while_read);
}
TEST_CASE("reports name the tensors whose place a buffer is") {
    plan_value const plan = make_plan(layer_on_vta);
    REQUIRE(!plan.refusal);
    std::string const map = memory_map(plan);
    INFO(map);
    CHECK(map.find("  Y.acc is the place of C, R, S, T, too\n") != std::string::npos);
    std::string const json = to_json(plan);
    CHECK(json.find(R"("in_place_of":["C","R","S","T"])") != std::string::npos);
    CHECK(json.find(R"("name":"bias.acc")") != std::string::npos);
    CHECK(json.find(R"("name":"S.acc")") == std::string::npos);
}
TEST_CASE("buffers of other memories are refused as ever") {
    static constexpr memory other{.name = "other", .base = 0x8000'0000, .capacity = 8_KiB};
    static constexpr auto bring = transfer("bring", dram, other).dimensions(2);
    machine const more("more", dram, acc, other, in, leaving, alu, get, put, bring, shift);
    constexpr auto once = Y(m, n) = X(m, n) >> 6;
    verdict const wrong = make_plan(schedule(once, more).cache_read(X, other).cache_write(Y, acc).tensorize(m, n, shift)).refusal;
    CHECK(wrong.kind == verdict_kind::operand_memory);
    CHECK(wrong.names[1] == ir::label("X"));
}
TEST_CASE("other intrinsics of the machine leave their operands alone") {
    static constexpr auto apart = intrinsic("apart", y(i, j) = x(i, j) >> 6).reads(x, acc).writes(y, acc).on(alu);
    machine const both("both", dram, acc, in, leaving, alu, get, put, shift, apart);
    constexpr auto once = Y(m, n) = X(m, n) >> 6;
    auto const with = [&](intrinsic const& by) {
        return make_plan(schedule(once, both).cache_read(X, acc).cache_write(Y, acc).tensorize(m, n, by)).peak(acc);
    };
    CHECK(with(apart) == 2 * 24 * 32 * 4);
    CHECK(with(shift) == 24 * 32 * 4);
}
TEST_CASE("a result takes the place of an input that has its shape, and that it reads where it writes") {
    constexpr axis i{"i", 16}, j{"j", 16}, less{"less", 15};
    constexpr tensor<std::int32_t> A{"A"}, B{"B"};
    constexpr tensor<float> real{"real"};
    constexpr tensor<std::int8_t> bytes{"bytes"};
    auto const of = [](auto const& what) { return detail::may_be_result(make_plan(schedule(what, unit)), 0); };
    CHECK(of(B(i, j) = A(i, j) * 2));
    CHECK(of(B(i, j) = cast<std::int32_t>(real(i, j))));
    CHECK_FALSE(of(B(i, j) = cast<std::int32_t>(bytes(i, j))));
    CHECK_FALSE(of(B(i, j) = A(j, i)));
    CHECK_FALSE(of(B(i, j) = A(15 - i, j)));
    CHECK_FALSE(of(B(i) = A(i + 1)));
    CHECK_FALSE(of(B(less) = A(less) + A(less + 1)));
    CHECK_FALSE(of(B(i) += A(i) * j));
}

TEST_CASE("forms are one value where only loops of one iteration tell them apart") {
    small_kernels::blank t;
    std::int16_t const loop = small_kernels::add_loop(t.p.plan, "o", 3), still = small_kernels::add_loop(t.p.plan, "still", 1);
    using small_kernels::sum_of;
    CHECK(detail::same_value_everywhere(t.p, sum_of(2, {{4, loop}}), sum_of(2, {{4, loop}, {9, still}})));
    CHECK_FALSE(detail::same_value_everywhere(t.p, sum_of(2, {{4, loop}}), sum_of(3, {{4, loop}})));
    CHECK_FALSE(detail::same_value_everywhere(t.p, sum_of(2, {{4, loop}}), sum_of(2)));
    t.p.plan.variables[still].trips = ir::variable_id(0);
    CHECK_FALSE(detail::same_value_everywhere(t.p, sum_of(0, {{9, still}}), sum_of(0)));
}
TEST_CASE("layouts are the same when every coordinate is") {
    small_kernels::blank t;
    ir::buffer_layout panels{.rank = 2};
    panels.coordinates[0] = {0, 4, 0}, panels.coordinates[1] = {0, 1, 4};
    ir::buffer_layout others = panels;
    others.coordinates[1].modulus = 8;
    for (ir::buffer_layout const& one : {panels, panels, others}) t.p.plan.layouts.push(one);
    ir::buffer const plain{.rank = 2}, first{.rank = 2, .layout = 0}, again{.rank = 2, .layout = 1}, other{.rank = 2, .layout = 2},
        blocks{.rank = 2, .layout = 1, .block_dimensions = 1};
    CHECK((detail::same_layout(t.p, first, again) && detail::same_layout(t.p, plain, plain)));
    CHECK_FALSE(
        (detail::same_layout(t.p, first, other) || detail::same_layout(t.p, first, plain) || detail::same_layout(t.p, first, blocks)));
}
TEST_CASE("a bank is asked for by a staging, or by the place of a stage") {
    small_kernels::blank t;
    t.p.from.stagings.push({.level = ir::variable_id(5), .depth = 2, .buffer = ir::buffer_id(3), .bank = 1});
    t.p.placed(0).home = ir::buffer_id(4), t.p.placed(0).store_bank = 2, t.p.placed(0).level = ir::variable_id(7);
    CHECK((detail::bank_asked_for(t.p, 3) == 1 && detail::bank_asked_for(t.p, 4) == 2 && detail::bank_asked_for(t.p, 0) == -1));
    CHECK((detail::level_of(t.p, 3).level == 5 && detail::level_of(t.p, 3).depth == 2 && detail::level_of(t.p, 4).level == 7));
    CHECK(detail::level_of(t.p, 0).level == -1);
}
