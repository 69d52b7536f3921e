#include <tilewright/plan/ir/program_run.hpp>
#include <tilewright/report/program_report.hpp>

#include "catch.hpp"
#include "program/one_pool.hpp"
#include "program/random_program.hpp"

// The kernels' own buffers among the tensors of a program, in places worked out by hand.

using namespace tilewright;
using namespace one_pool;

namespace {

ir::program_scratch const& buffer_of(program_plan_value const& plan, char const* kernel, char const* name) {
    for (int at = 0; at < plan.scratch.size(); ++at) {
        if (plan.kernel_at(plan.scratch_at(at).kernel).name == ir::label(kernel) && plan.scratch_at(at).name == ir::label(name))
            return plan.scratch_at(at);
    }
    throw std::logic_error("no such buffer");
}

}  // namespace

TEST_CASE("buffers of a kernel share bytes where their lifetimes allow, with the smallest peak, among the tensors") {
    chip_of_one_pool const exact(1120);
    agent const on("on", exact.where);
    program const made = exact.with_one_tensor(on, on);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    // As one block, the chain's buffers and the tensor would take 1,440 bytes, which the pool has not.
    CHECK(make_plan(exact.in_chain).peak(exact.pool) == 1040);
    CHECK(plan.peak(exact.pool) == 1120);
    CHECK(plan.lower_bound(exact.pool) == 1120);
    CHECK(plan.proven(exact.pool));
    CHECK(plan.live(exact.pool, "chain") == 1120);
    CHECK(plan.live(exact.pool, "copy") == 400);
    CHECK(programs::fault_of(plan) == "");
    // The bytes at which its plan is generated are these.
    kernel_build const chain_build = build_kernel(plan, plan.find_kernel("chain"));
    CHECK(chain_build.plan.peak(exact.pool) <= 1120);
    CHECK(!detail::find_hazard(chain_build.plan));

    chip_of_one_pool const small(1116);
    agent const tight("on", small.where);
    program const too_much = small.with_one_tensor(tight, tight);
    std::string const said(sentence_of(make_program_plan(too_much).refusal).letters.elements);
    CHECK(said == "memory `pool` needs 1120 of 1116 bytes in `chain`: kept 400, chain.x.pool 400, chain.first.pool 320");
}
TEST_CASE("where a kernel works aside, its buffers share bytes as its own plan has it, when others come and go meanwhile") {
    chip_of_one_pool const wide(4_KiB);
    agent const caller("caller", wide.where), aside = agent("aside", wide.where).aside("aside_start", "aside_join");
    // Nothing else is in the pool: it is as if it ran alone.
    program alone("alone");
    alone.input(in, l2).run("chain", aside, wide.in_chain).bind(x, in).bind(r, out).output(out, l2);
    program_plan_value const by_itself = make_program_plan(alone);
    REQUIRE(to_string(by_itself.refusal) == "; ");
    CHECK(by_itself.peak(wide.pool) == 720);
    CHECK(by_itself.proven(wide.pool));
    // A tensor begins to be alive while it runs, at an unknown time of it.
    program const made = wide.with_one_tensor(caller, aside);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    ir::program_kernel const &runs = plan.kernel_at(plan.find_kernel("chain")), &begins = plan.kernel_at(plan.find_kernel("copy"));
    REQUIRE(runs.first_step < begins.first_step);
    REQUIRE(begins.first_step < runs.last_step);
    CHECK(plan.peak(wide.pool) == 1440);
    // That none is smaller is so while the chain shares bytes as its own plan has it: 400 and 720 are alive at a time.
    CHECK(plan.proven(wide.pool));
    CHECK(plan.as_planned(wide.pool, "chain"));
    CHECK_FALSE(plan.as_planned(wide.pool, "copy"));
    CHECK_FALSE(by_itself.as_planned(wide.pool, "chain"));
    CHECK_THAT(memory_report(plan),
               Catch::Contains("pool: peak 1,440 of 4,096 bytes, lower bound 1,440, no offsets have a smaller peak (of offsets "
                               "where buffers share bytes as the plans of chain have it); slack 2,656"));
    CHECK_THAT(to_json(plan), Catch::Contains(R"("lower_bound":1440,"proven":true,"slack":2656,"constants":0,"as_planned":["chain"]})"));
    CHECK(programs::fault_of(plan) == "");
}
TEST_CASE("in a memory of banks, what a kernel that works aside has in one of them is in nobody's way in the others") {
    tensor<std::int32_t> const tall{"tall"}, low{"low"}, t{"t"};
    auto const run = [&](int banks, bool asked, int versions) {
        memory const near{.name = "near", .capacity = 32_KiB, .alignment = 4, .banks = banks};
        engine const channel{"channel"};
        machine where("where", l2, near, channel);
        where.add(transfer("get", l2, near).on(channel).asynchronous());
        where.add(transfer("put", near, l2));
        axis const m{"m", 48}, n{"n", 24};
        auto const twofold = low(m, n) = tall(m, n) * 2;
        schedule aside = schedule(twofold, where).reads(tall, l2).writes(low, l2).cache_read(tall, near);
        if (versions > 1) aside.at(m).buffers(versions);
        if (asked) aside.in_bank(0);
        schedule const into = schedule(twofold, where).reads(tall, l2).writes(low, near),
                       from = schedule(twofold, where).reads(tall, near).writes(low, l2);
        agent const caller("caller", where), other = agent("other", where).aside("other_start", "other_join");
        program made("banks");
        made.input(in, l2).run("k", other, aside).bind(tall, in).bind(low, kept).run("a", caller, into).bind(tall, in).bind(low, t);
        made.run("b", caller, from).bind(tall, t).bind(low, out2).output(kept, l2).output(out2, l2);
        program_plan_value const plan = make_program_plan(made);
        REQUIRE(to_string(plan.refusal) == "; ");
        CHECK(programs::fault_of(plan) == "");
        CHECK(plan.proven(near));
        CHECK_FALSE(plan.as_planned(near, "k"));
        return static_cast<std::int64_t>(static_cast<double>(plan.peak(near)));
    };
    // 48 x 24 elements are 4,608 bytes: the copy of the kernel, and a tensor that comes and goes meanwhile.
    CHECK(run(1, true, 1) == 9216);
    CHECK(run(2, true, 1) == 4608);
    CHECK(run(2, false, 1) == 4608);
    CHECK(run(4, true, 1) == 4608);
    // Two rows of 96 bytes: of two banks, they have one in each; of four, the tensor has its bank alone.
    CHECK(run(2, true, 2) == 4608 + 96);
    CHECK(run(4, true, 2) == 4608);
}
TEST_CASE("a piece with bytes that nothing lies in proves nothing") {
    memory const near{.name = "near", .capacity = 4_KiB, .alignment = 4, .banks = 2};
    engine const channel{"channel"};
    machine where("where", l2, near, channel);
    where.add(transfer("get", l2, near).on(channel).asynchronous());
    where.add(transfer("put", near, l2));
    tensor<std::int32_t> const given{"given"}, mid{"mid"}, made_of{"made_of"}, t{"t"};
    // Rows in both banks while `mid` is computed, then a result of 400 bytes in bank 1, which begins where one of the rows was.
    auto const two = stages(mid(i, j) = given(i, j) * 2, made_of(i, j) = mid(i, j) + 1);
    schedule aside = schedule(two, where).writes(made_of, l2).cache_write(made_of, near).in_bank(1).store_in(mid, l2);
    aside.stage(mid).reads(given, l2).cache_read(given, near).at(i).buffers(2).in_bank(0);
    schedule const into = schedule(copied, where).reads(x, l2).writes(kept, near),
                   from = schedule(copied, where).reads(x, near).writes(kept, l2);
    agent const caller("caller", where), other = agent("other", where).aside("other_start", "other_join");
    program made("hollow");
    made.input(in, l2).run("k", other, aside).bind(given, in).bind(made_of, beside).output(beside, l2);
    made.run("a", caller, into).bind(x, in).bind(kept, t).run("b", caller, from).bind(x, t).bind(kept, out2).output(out2, l2);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(buffer_of(plan, "k", "given.near").bank_count == 2);
    // Beside the row in bank 0, the tensor would fit below 440.
    CHECK(plan.peak(near) == 800);
    CHECK(plan.lower_bound(near) == 400);
    CHECK_FALSE(plan.proven(near));
    CHECK(programs::fault_of(plan) == "");
}
TEST_CASE("two kernels that work aside at one time share nothing, wherever each of them is") {
    chip_of_one_pool const wide(4_KiB);
    agent const caller("caller", wide.where), one = agent("one", wide.where).aside("one_start", "one_join"),
                                              two = agent("two", wide.where).aside("two_start", "two_join");
    program made("two_aside");
    made.input(in, l2).run("a", one, wide.in_chain).bind(x, in).bind(r, out).output(out, l2);
    made.run("b", two, wide.in_chain).bind(x, in).bind(r, beside).output(any_tensor{beside.name, scalar_type::int8}, l2);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.cycles() == plan.kernel_at(0).cycles);
    // Each begins or ends while the other works.
    CHECK(plan.peak(wide.pool) == 2080);
    CHECK(plan.proven(wide.pool));
    CHECK(programs::fault_of(plan) == "");
}

namespace {

constexpr engine dma{"dma"};
constexpr tensor<std::int32_t> t0{"t0"}, t1{"t1"}, t2{"t2"}, t3{"t3"}, y{"y"}, z{"z"};

}  // namespace

TEST_CASE("in a memory of banks, versions of a buffer have one offset in theirs, above or below tensors that lie in one") {
    memory const halves{.name = "halves", .capacity = 1600, .alignment = 4, .banks = 2};
    machine where("where", l2, halves, dma);
    where.add(transfer("get", l2, halves).on(dma).asynchronous());
    agent const on("on", where);
    auto const sum_of = z(i, j) = x(i, j) + y(i, j);
    auto const turned = z(i, j) = x(j, i) * 2;
    schedule const from_l2 = schedule(turned, where).reads(x, l2).writes(z, halves),
                   turn = schedule(turned, where).reads(x, halves).writes(z, l2),
                   streamed =
                       schedule(sum_of, where).reads(x, halves).reads(y, l2).writes(z, halves).cache_read(y, halves).at(i).buffers(2);
    program made("halves");
    made.input(in, l2).run("k0", on, from_l2).bind(x, in).bind(z, t0).run("k1", on, from_l2).bind(x, in).bind(z, t1);
    made.run("k2", on, from_l2).bind(x, in).bind(z, t2);
    // Four tensors are alive in k3: two in each bank, which are full.
    auto const of_three = z(i, j) = x(j, i) + y(i, j) + first(i, j);
    schedule const three = schedule(of_three, where).reads(x, halves).reads(y, halves).reads(first, halves).writes(z, halves);
    made.run("k3", on, three).bind(x, t0).bind(y, t1).bind(first, t2).bind(z, t3).reads(t0, halves).reads(t1, halves).reads(t2, halves);
    // Then a kernel with a row of 40 bytes in each bank.
    made.run("k4", on, streamed).bind(x, t3).bind(y, in).bind(z, kept).run("k5", on, turn).bind(x, kept).bind(z, out2);
    made.output(out2, l2);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    // Below all tensors, its rows would take bytes that k3 has not: 840 of 800 in each bank.
    CHECK(plan.peak(halves) == 800);
    CHECK(plan.proven(halves));
    ir::program_scratch const& row = buffer_of(plan, "k4", "y.halves");
    CHECK(row.versions == 2);
    CHECK(row.bank_count == 2);
    CHECK(row.bytes_in_bank == 40);
    CHECK(programs::fault_of(plan) == "");
}
TEST_CASE("buffers stay in the bank that was asked for, and where a bank of one port is used by one at a time") {
    for (int ports : {1, 2}) {
        memory const near{.name = "near", .capacity = 256, .banks = 2, .ports = ports};
        machine where("where", l2, near);
        where.add(transfer("get", l2, near));
        where.add(transfer("put", near, l2));
        agent const on("on", where);
        auto const twofold = z(i, j) = x(i, j) * 2;
        schedule const asked = schedule(twofold, where).cache_read(x, near).at(i).in_bank(1).cache_write(z, near).at(i).in_bank(1);
        schedule const any = schedule(twofold, where).cache_read(x, near).at(i).cache_write(z, near).at(i);
        program made("banks");
        made.input(in, l2).run("asked", on, asked).bind(x, in).bind(z, t0).run("any", on, any).bind(x, t0).bind(z, t1).output(t1, l2);
        program_plan_value const plan = make_program_plan(made);
        REQUIRE(to_string(plan.refusal) == "; ");
        CHECK(buffer_of(plan, "asked", "x.near").bank == 1);
        CHECK(buffer_of(plan, "asked", "z.near").bank == 1);
        CHECK(plan.peak(near) == 80);
        bool const apart = buffer_of(plan, "any", "x.near").bank != buffer_of(plan, "any", "z.near").bank;
        CHECK((ports == 2 || !apart));
        CHECK(programs::fault_of(plan) == "");
    }
}

namespace {

// Engines that order each other by tokens, in two stages.
constexpr memory outer{.name = "outer", .capacity = 64_KiB};
constexpr memory tiles{.name = "tiles", .base = 0x1000, .capacity = 4_KiB, .host_visible = false};
constexpr engine gets{"gets"}, unit{.name = "unit", .completes = completion::by_channel}, puts_back{"puts"};
constexpr auto get = transfer("get", outer, tiles).on(gets).asynchronous().dimensions(2);
constexpr auto put = transfer("put", tiles, outer).on(puts_back).asynchronous().dimensions(2);
constexpr axis row{"row", 8}, lane{"lane", 8}, rows{"rows", 48}, columns{"columns", 8};
constexpr tensor<float> from{"from"}, to{"to"}, given{"given"}, halved{"halved"};
constexpr auto halve =
    intrinsic("halve", to(row, lane) = from(row, lane) * 0.5f).reads(from, tiles).writes(to, tiles).on(unit).asynchronous();
constexpr auto unit_machine = machine("unit_machine", outer, tiles, gets, unit, puts_back, tokens(gets, unit), tokens(unit, gets),
                                      tokens(unit, puts_back), tokens(puts_back, unit), get, put, halve);
constexpr auto halving = halved(rows, columns) = given(rows, columns) * 0.5f;
constexpr auto by_unit = schedule(halving, unit_machine)
                             .split(rows, "ro", "ri", 8)
                             .cache_read(given, tiles)
                             .at("ro")
                             .buffers(2)
                             .cache_write(halved, tiles)
                             .at("ro")
                             .buffers(2)
                             .tensorize("ri", columns, halve);

}  // namespace

TEST_CASE("what engines do aside in an order of their own is shown for the bytes that a kernel's plan shares: these stay") {
    tensor<float> const a{"a"}, b{"b"}, c{"c"};
    agent const on("on", unit_machine);
    program made("units");
    made.input(a, outer).run("k0", on, by_unit).bind(given, a).bind(halved, b).run("k1", on, by_unit).bind(given, b).bind(halved, c);
    made.output(c, outer);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    REQUIRE(plan.kernel_at(0).keeps_sharing);
    CHECK(plan.peak(tiles) == 1024);
    CHECK(plan.scratch.size() == 4);
    // Those that share nothing lie apart all the time.
    CHECK(std::abs(plan.scratch_at(0).offset - plan.scratch_at(1).offset) >= 512);
    CHECK(programs::fault_of(plan) == "");
    for (int at = 0; at < 2; ++at) CHECK(build_kernel(plan, at).plan.cycles() == plan.kernel_at(at).cycles);
}

namespace {

// The compiler places them as tools do.
constexpr machine compiled_where = machine("where", l2, memory{.name = "pool", .capacity = 1120, .alignment = 4},
                                           transfer("get", l2, memory{.name = "pool"}), transfer("put", memory{.name = "pool"}, l2));
constexpr memory pool{.name = "pool"};
constexpr schedule compiled_chain = schedule(chain, compiled_where)
                                        .writes(r, l2)
                                        .cache_write(r, pool)
                                        .store_in(second, pool)
                                        .store_in(first, pool)
                                        .stage(first)
                                        .reads(x, l2)
                                        .cache_read(x, pool);
constexpr schedule compiled_copy = schedule(copied, compiled_where).reads(x, l2).writes(kept, pool),
                   compiled_sum = schedule(summed, compiled_where).reads(x, l2).writes(kept, l2);
constexpr agent compiled_on("on", compiled_where);
constexpr program compiled_program() {
    program made("compiled");
    made.input(in, l2).run("copy", compiled_on, compiled_copy).bind(x, in).bind(kept, kept);
    made.run("chain", compiled_on, compiled_chain).bind(x, in).bind(r, out).output(out, l2);
    made.run("sum", compiled_on, compiled_sum).bind(x, in).bind(first, kept).bind(kept, out2).output(out2, l2);
    return made;
}
constexpr program compiled = compiled_program();
static_assert(program_plan<compiled>.peak(pool) == 1120 && program_plan<compiled>.proven(pool));

}  // namespace

TEST_CASE("the plan of the compiler is that of a tool with the same budget") {
    program_plan_value const made = make_program_plan(compiled, detail::constant_budget);
    program_plan_value const& constant = program_plan<compiled>;
    REQUIRE(made.scratch.size() == constant.scratch.size());
    for (int at = 0; at < made.scratch.size(); ++at) CHECK(made.scratch_at(at).offset == constant.scratch_at(at).offset);
}
namespace {

constexpr memory small_pool{.name = "pool", .capacity = 4_KiB};
constexpr auto with_pool = machine("where", l2, small_pool);
constexpr tensor<std::int32_t> a{"a"}, b{"b"}, c{"c"}, d{"d"}, e{"e"};
constexpr auto many = stages(a(i, j) = x(i, j) + 1, b(i, j) = a(i, j) + 1, c(i, j) = b(i, j) + 1, d(i, j) = c(i, j) + 1,
                             e(i, j) = d(i, j) + 1, first(i, j) = e(i, j) + 1, second(i, j) = first(i, j) + 1, z(i, j) = second(i, j) + 1);
constexpr schedule with_seven_buffers() {
    schedule s(many, with_pool);
    for (auto const& middle : {a, b, c, d, e, first, second}) s.store_in(middle, small_pool);
    return s;
}
constexpr schedule seven = with_seven_buffers();
constexpr agent on_pool("on", with_pool);
constexpr program of_28_kernels() {
    program made("full");
    made.input(in, l2);
    auto const name = [](char kind, int number) {
        char const text[] = {kind, static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10), 0};
        return ir::label(text);
    };
    for (int at = 0; at < 28; ++at) {
        made.run(name('k', at), on_pool, seven).bind(x, any_tensor{at == 0 ? in.name : name('t', at - 1), scalar_type::int32});
        made.bind(z, any_tensor{name('t', at), scalar_type::int32});
    }
    return made.output(any_tensor{"t27", scalar_type::int32}, l2);
}
constexpr program full = of_28_kernels();

}  // namespace

TEST_CASE("more buffers than a program has in the compiler are refused by name there, and planned at run time") {
    std::string const said(sentence_of(planned_program<full>::refusal).letters.elements);
    CHECK(said == "buffers of kernels: 193, but at most 192 can be held");
    program_plan_value const made = make_program_plan(full);
    CHECK(!made.refusal);
    CHECK(made.scratch.size() == 28 * 7);
}
TEST_CASE("with so many buffers that the budget would not look at each pair, those of a kernel stay together") {
    chip_of_one_pool const wide(4_KiB);
    agent const on("on", wide.where);
    program const made = wide.with_one_tensor(on, on);
    // Five boxes are 25 pairs.
    CHECK(make_program_plan(made, 1'000).peak(wide.pool) == 1120);
    program_plan_value const blocks = make_program_plan(made, 24);
    CHECK(blocks.peak(wide.pool) == 1440);
    CHECK(blocks.lower_bound(wide.pool) == 1120);  // which the lifetimes still say
    CHECK_FALSE(blocks.proven(wide.pool));
    CHECK(programs::fault_of(blocks) == "");
}
