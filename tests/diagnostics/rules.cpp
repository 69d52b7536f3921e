#include <array>
#include <set>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/program/program_plan.hpp>
#include <tilewright/tilewright.hpp>

#include "catch.hpp"

// Every rule is raised by something that breaks it, and nothing worse happens. docs/diagnostics shows what compilers print.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x1000, .capacity = 64_KiB};
constexpr memory acc{.name = "acc", .base = 0x9000'0000, .capacity = 64_KiB, .host_visible = false};
constexpr auto load = transfer("load", dram, spad).dimensions(2);
constexpr auto store = transfer("store", acc, dram).dimensions(2);
constexpr axis i{"i", 16}, j{"j", 16}, l{"l", 16};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"}, d{"d"}, a32{"a32"};
template <class T>
constexpr auto wide(T const& value) {
    return cast<std::int32_t>(value);
}
constexpr auto product = wide(a(i, l)) * wide(b(l, j));
constexpr auto mac = intrinsic("mac", c(i, j) += product).reads(a, spad).reads(b, spad).updates(c, acc);
constexpr auto mul = intrinsic("mul", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc);
constexpr auto npu = machine("npu", dram, spad, acc, load, store, mac, mul);

constexpr axis m{"m", 64}, n{"n", 64}, k{"k", 64}, ko{"ko"}, ki{"ki"}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"}, D{"D"}, E{"E"};
constexpr tensor<float> F{"F"}, G{"G"};
constexpr tensor<bool> V{"V"}, W{"W"};
constexpr auto matmul = C(m, n) += wide(A(m, k)) * wide(B(k, n));
constexpr auto float_sums = F(m, n) += G(m, k) * G(k, n);
constexpr auto copy = C(m, n) = D(m, n);
constexpr auto two_stages = stages(D(m, n) = E(m, n) * 2, C(m, n) = D(m, n) + 1);

/// Collects which rules were seen.
class rule_book {
  public:
    void refuses(verdict_kind kind, ir::rule broken, schedule const& of) {
        verdict const refusal = make_plan(of).refusal;
        INFO(to_string(refusal));
        CHECK(name_of(refusal.kind) == std::string(name_of(kind)));
        CHECK(text_of(refusal.broken) == std::string(text_of(broken)));
        CHECK(refusal.names[0] != ir::label());
        seen_.insert(refusal.broken);
    }
    void refuses(verdict_kind kind, ir::rule broken, program const& of) {
        verdict const refusal = make_program_plan(of).refusal;
        INFO(to_string(refusal));
        CHECK(name_of(refusal.kind) == std::string(name_of(kind)));
        CHECK(text_of(refusal.broken) == std::string(text_of(broken)));
        CHECK(refusal.names[0] != ir::label());
        seen_.insert(refusal.broken);
    }
    template <int Count>
    void ill_formed(ir::rule broken, computation<Count> const& what) {
        refuses(verdict_kind::ill_formed, broken, schedule(what, npu));
    }
    /// The intrinsic replaces the loops m, n, k of a matrix multiplication, or those that are named.
    template <class... Loops>
    void mismatch(ir::rule broken, intrinsic const& step, Loops const&... loops) {
        auto const with = machine("with", dram, spad, acc, load, store, mul, step);
        refuses(verdict_kind::intrinsic_mismatch, broken, staged(schedule(matmul, with)).tensorize(loops..., step));
    }
    template <int Count, class... Loops>
    void mismatch_with(ir::rule broken, computation<Count> const& what, intrinsic const& step, Loops const&... loops) {
        auto const with = machine("with", dram, spad, load, transfer("back", spad, dram).dimensions(2), step);
        refuses(verdict_kind::intrinsic_mismatch, broken,
                schedule(what, with).cache_read(D, spad).cache_write(C, spad).tensorize(loops..., step));
    }
    void invalid(ir::rule broken, intrinsic const& step) {
        auto const with = machine("with", dram, spad, acc, load, store, step);
        refuses(verdict_kind::invalid_part, broken, staged(schedule(matmul, with)).tensorize(m, n, k, step));
    }
    template <int Count>
    void invalid(ir::rule broken, computation<Count> const& semantics) {
        auto const with = machine("with", dram, spad, transfer("changes", dram, spad, semantics));
        refuses(verdict_kind::invalid_part, broken, schedule(copy, with));
    }
    template <class... Parts>
    void invalid_machine(ir::rule broken, Parts const&... parts) {
        auto const with = machine("with", parts...);
        refuses(verdict_kind::invalid_part, broken, schedule(copy, with));
    }
    template <class Region>
    void region(ir::rule broken, transfer const& by, Region const& what) {
        auto const with = machine("with", dram, spad, by);
        refuses(verdict_kind::transfer_region, broken, schedule(what, with).cache_read(D, spad));
    }
    /// A transfer carries the whole stage out.
    template <int Count>
    void carried_out(ir::rule broken, computation<Count> const& what, transfer const& by) {
        auto const with = machine("with", dram, spad, acc, by);
        refuses(verdict_kind::transfer_mismatch, broken, schedule(what, with).store_in(C, spad).by(by));
    }
    /// A part of `pipelined` that is broken behind the planner's back.
    template <class Change>
    void hazard(ir::rule broken, schedule const& of, Change const& change) {
        plan_value plan = make_plan(of);
        INFO(text_of(broken) << ": " << to_string(plan.refusal));
        REQUIRE(!plan.refusal);
        CHECK(!detail::find_hazard(plan));
        change(plan);
        for (auto how : {ir::visiting::periods, ir::visiting::everything})
            CHECK(text_of(detail::find_hazard(plan, how).broken) == std::string(text_of(broken)));
        seen_.insert(detail::find_hazard(plan).broken);
    }
    /// Likewise of a plan with partial tiles.
    template <class Change>
    void excess(ir::rule broken, schedule const& of, Change const& change) {
        plan_value plan = make_plan(of);
        INFO(text_of(broken) << ": " << to_string(plan.refusal));
        REQUIRE(!plan.refusal);
        CHECK(!detail::find_excess(plan));
        change(plan);
        for (auto how : {ir::visiting::periods, ir::visiting::everything})
            CHECK(text_of(detail::find_excess(plan, how).broken) == std::string(text_of(broken)));
        seen_.insert(detail::find_excess(plan).broken);
    }
    /// Likewise of what several cores do.
    template <class Change>
    void core_hazard(ir::rule broken, schedule const& of, Change const& change) {
        plan_value plan = make_plan(of);
        INFO(text_of(broken) << ": " << to_string(plan.refusal));
        REQUIRE(!plan.refusal);
        CHECK(!detail::find_core_hazard(plan));
        change(plan);
        for (auto how : {ir::visiting::periods, ir::visiting::everything})
            CHECK(text_of(detail::find_core_hazard(plan, how).broken) == std::string(text_of(broken)));
        seen_.insert(detail::find_core_hazard(plan).broken);
    }
    void sees(ir::rule broken) { seen_.insert(broken); }
    static schedule& staged(schedule&& of) { return of.cache_read(A, spad).cache_read(B, spad).cache_write(C, acc); }

    /// Nothing of the list is left over. What there is too much of is a verdict of its own kind.
    void check_complete() const {
        for (int at = 1; at < static_cast<int>(ir::rule::count); ++at) {
            INFO(text_of(static_cast<ir::rule>(at)));
            CHECK((seen_.count(static_cast<ir::rule>(at)) > 0) == (static_cast<ir::rule>(at) != ir::rule::too_many));
        }
    }

  private:
    std::set<ir::rule> seen_;
};

}  // namespace

namespace {

/// Places of tensors, and what is kept from run to run.
void break_places(rule_book& book) {
    using enum verdict_kind;
    static constexpr axis p{"p", 8}, wide_p{"p", 10};
    static constexpr tensor<std::int32_t> x{"x"}, y{"y"}, z{"z"}, t{"t"}, u{"u"};
    static constexpr memory l1{.name = "l1", .capacity = 4_KiB}, l2{.name = "l2", .capacity = 4_KiB, .banks = 4}, far{.name = "far"};
    static constexpr auto where = machine("where", l1, l2, far);
    static constexpr agent on("on", where);
    static constexpr auto next = y(p) = x(p) + 1;
    static constexpr auto turned = y(p) = x(7 - p);
    static constexpr auto sum = y(p) = x(p) + t(p);
    static constexpr auto wide = y(wide_p) = x(wide_p);
    static constexpr auto next_on = schedule(next, where), turned_on = schedule(turned, where), sum_on = schedule(sum, where),
                          wide_on = schedule(wide, where);
    static constexpr std::array<std::int32_t, 8> ones{1};
    auto const one = [](memory const& in, memory const& out) { return program("one").input(x, in).output(y, out).run("k", on, next_on); };
    book.refuses(ill_formed, ir::rule::place_not_given, one(far, l1).at_offset(x, 0));
    book.refuses(ill_formed, ir::rule::placed_twice, one(l1, l2).at_offset(x, 0).at_offset(x, 32));
    book.refuses(ill_formed, ir::rule::bank_not_there, one(l1, l2).in_bank(y, 4));
    book.refuses(ill_formed, ir::rule::offset_of_no_bank, one(l1, l2).at_offset(y, 0));
    book.refuses(ill_formed, ir::rule::place_outside, one(l1, l2).in_bank(y, 3).at_offset(y, 1000));
    book.refuses(ill_formed, ir::rule::place_not_aligned, one(l1, l2).at_offset(x, 2));
    book.refuses(ill_formed, ir::rule::places_overlap, one(l1, l1).at_offset(x, 0).at_offset(y, 16));
    book.refuses(ill_formed, ir::rule::place_in_constants,
                 program("one").input(x, l1).constant(t, l1, ones).output(y, l1).run("k", on, sum_on).at_offset(x, 0));
    book.refuses(ill_formed, ir::rule::state_overwritten, program("one").state(x, y, l1).run("k", on, turned_on));
    book.refuses(
        ill_formed, ir::rule::state_of_two_shapes,
        program("two").state(x, y, l1).output(z, l1).run("k", on, wide_on).bind(y, z).run("k2", on, next_on).bind(x, u).input(u, l1));
    book.refuses(ill_formed, ir::rule::state_read_too_late,
                 program("two")
                     .state(x, y, l1)
                     .input(t, l1)
                     .output(z, l1)
                     .run("k", on, next_on)
                     .bind(x, t)
                     .run("k2", on, sum_on)
                     .bind(t, y)
                     .bind(y, z));
}

/// A program of one kernel on an agent of its own, or of two, and what breaks it.
void break_programs(rule_book& book) {
    using enum verdict_kind;
    static constexpr axis p{"p", 8}, q{"q", 8}, wide_q{"q", 10};
    static constexpr tensor<std::int32_t> x{"x"}, y{"y"}, t{"t"}, u{"u"}, other{"other"};
    static constexpr memory l1{.name = "l1", .capacity = 4_KiB}, l2{.name = "l2", .capacity = 4_KiB}, far{.name = "far"};
    static constexpr memory rows{.name = "rows", .capacity = 1_KiB, .host_visible = false, .address_unit = 16};
    static constexpr auto aligned = transfer("aligned", l1, l2).dimensions(2).alignment(16);
    static constexpr auto left = machine("left", l1, l2, rows, aligned), right = machine("right", far, l1);
    static constexpr auto alike = machine("alike", l1), otherwise = machine("otherwise", memory{.name = "l1", .capacity = 1_KiB});
    static constexpr agent on_left("on_left", left), on_right("on_right", right), same_name("on_left", alike);
    static constexpr agent on_otherwise("on_otherwise", otherwise);
    static constexpr auto next = y(p, q) = x(p, q) + 1, next_wide = y(p, wide_q) = x(p, wide_q) + 1;
    static constexpr auto kept_result = y(p, q) = x(p, q) * 2;
    static constexpr auto row = y(p, q) = x(q) + 1;
    static constexpr auto row_next = schedule(row, left);
    static constexpr auto left_next = schedule(next, left), right_next = schedule(next, right), alike_next = schedule(next, alike);
    static constexpr auto wide_next = schedule(next_wide, left), otherwise_next = schedule(next, otherwise);
    static constexpr auto aligned_next = schedule(next, left).cache_read(x, l2), keeps = schedule(kept_result, left).store_in(y, l1);
    static constexpr auto only_l2 = schedule(next, left).reads(x, l2);
    static constexpr std::array<std::int32_t, 63> too_few{};
    auto const one = [] { return program("one").run("k", on_left, left_next); };
    auto const given = [&] { return one().input(x, l1).output(y, l1); };
    REQUIRE(to_string(make_program_plan(given()).refusal) == "; ");

    book.refuses(misplaced_directive, ir::rule::holds_no_arguments, schedule(next, left).reads(x, rows));
    book.refuses(unknown_tensor, ir::rule::not_an_input, schedule(next, left).reads(y, l1));
    book.refuses(unknown_tensor, ir::rule::not_the_result, schedule(next, left).writes(x, l1));

    book.refuses(ill_formed, ir::rule::agent_of_two_machines, given().run("k2", same_name, alike_next));
    book.refuses(ill_formed, ir::rule::memory_of_two_kinds, one().run("k2", on_otherwise, otherwise_next).bind(x, y).bind(y, t));
    book.refuses(ill_formed, ir::rule::program_without_kernels, program("none"));
    book.refuses(ill_formed, ir::rule::two_kernels_of_one_name, given().run("k", on_left, left_next).bind(y, t));
    book.refuses(ill_formed, ir::rule::kernel_for_another_machine, program("one").run("k", on_right, left_next));
    book.refuses(ill_formed, ir::rule::result_kept_by_kernel, program("one").run("k", on_left, keeps));
    book.refuses(ill_formed, ir::rule::written_by_two_kernels, given().run("k2", on_left, left_next));
    book.refuses(ill_formed, ir::rule::memory_without_use, program("one").run("k", on_left, only_l2).reads(x, l1));
    book.refuses(misplaced_directive, ir::rule::behind_no_kernel, program("one").bind(x, t).run("k", on_left, left_next));
    book.refuses(unknown_tensor, ir::rule::not_of_the_kernel, one().bind(other, t));
    book.refuses(unknown_tensor, ir::rule::of_no_kernel, given().pin(other, l1));
    book.refuses(agent_memory, ir::rule::kernel_sees_no_memory, given().reads(x, far));
    book.refuses(agent_memory, ir::rule::agents_see_no_memory, one().input(x, far));
    book.refuses(agent_memory, ir::rule::agents_see_no_memory, given().may_spill(y, far));  // though nothing has to spill
    book.refuses(ill_formed, ir::rule::two_kinds_of_tensor, given().input(y, l1));
    book.refuses(no_producer, ir::rule::computed_by_no_kernel, one().output(x, l1));
    book.refuses(ill_formed, ir::rule::neither_read_nor_output, one().input(x, l1));
    book.refuses(ill_formed, ir::rule::given_and_computed, one().input(y, l1));
    book.refuses(no_producer, ir::rule::read_without_producer, one().output(y, l1));
    book.refuses(ill_formed, ir::rule::constant_of_another_size, one().constant(x, l1, too_few).output(y, l1));
    book.refuses(ill_formed, ir::rule::reshaped_without_all,
                 program("two")
                     .input(x, l1)
                     .output(y, l1)
                     .run("k", on_left, left_next)
                     .bind(y, t)
                     .run("k2", on_left, row_next)
                     .bind(x, t)
                     .reshapes(x));
    book.refuses(ill_formed, ir::rule::shape_of_other_rank, given().shape(y, {16}));
    book.refuses(ill_formed, ir::rule::shape_not_written, given().shape(y, {16, 17}));
    auto const part = [&](std::int64_t row, std::int64_t column) { return given().part(y, {row, column}); };
    auto const next_part = [&](std::int64_t row) { return part(0, 0).run("k2", on_left, left_next).part(y, {row, 0}); };
    book.refuses(ill_formed, ir::rule::written_in_parts_and_whole, part(0, 0).run("k2", on_left, left_next));
    book.refuses(ill_formed, ir::rule::part_reshaped, part(0, 0).reshapes(y));
    book.refuses(ill_formed, ir::rule::part_of_other_rank, given().part(y, {0}));
    book.refuses(ill_formed, ir::rule::part_read_and_written, next_part(8).bind(x, y).part(x, {0, 0}));
    book.refuses(ill_formed, ir::rule::parts_overlap, next_part(7));
    book.refuses(ill_formed, ir::rule::parts_leave_gaps, next_part(9));
    book.refuses(ill_formed, ir::rule::parts_in_two_memories,
                 part(0, 0).writes(y, l1).run("k2", on_left, left_next).part(y, {8, 0}).writes(y, l2));
    book.refuses(
        ill_formed, ir::rule::state_in_parts,
        program("kept").state(x, y, l1).run("k", on_left, left_next).part(y, {0, 0}).run("k2", on_left, left_next).part(y, {8, 0}));
    book.refuses(
        ill_formed, ir::rule::rows_of_another_kind,
        program("two").input(x, l1).output(y, l1).run("k", on_left, wide_next).bind(y, t).run("k2", on_left, aligned_next).bind(x, t));
    auto const apart = [] {
        return program("two").input(x, far).output(y, l1).run("k", on_right, right_next).bind(y, t).run("k2", on_left, only_l2).bind(x, t);
    };
    book.refuses(no_placement, ir::rule::copies_are_forbidden, apart().writes(y, l1).without_copies());
    book.refuses(no_placement, ir::rule::no_transfer_between, one().bind(x, u).input(u, l2).output(y, l1).reads(u, l1));
    book.refuses(ill_formed, ir::rule::pinned_where_it_is_given, given().pin(x, l1));

    break_places(book);

    static constexpr engine dma{"dma"}, other_dma{"other_dma"}, idle{"idle"};
    static constexpr auto get = transfer("get", l1, l2).dimensions(2).on(dma).asynchronous(),
                          put = transfer("put", l2, l1).dimensions(2).on(dma);
    static constexpr auto get_otherwise = transfer("get_otherwise", l1, l2).dimensions(2).on(other_dma).asynchronous();
    static constexpr auto copying = machine("copying", l1, l2, dma, other_dma, idle, get, put, get_otherwise);
    static constexpr agent by_dma = agent("by_dma", copying).copies_on(dma);
    static constexpr auto same = y(p, q) = x(p, q);
    static constexpr auto no_copy = schedule(next, copying), back = schedule(same, copying).reads(x, l2).writes(y, l1).by(put);
    static constexpr auto aside = schedule(same, copying).reads(x, l1).writes(y, l2).by(get_otherwise);
    book.refuses(ill_formed, ir::rule::more_than_a_copy, program("one").input(x, l1).output(y, l2).run("k", by_dma, no_copy));
    book.refuses(ill_formed, ir::rule::copy_that_blocks, program("one").input(x, l2).output(y, l1).run("k", by_dma, back));
    book.refuses(ill_formed, ir::rule::copy_on_another_engine, program("one").input(x, l1).output(y, l2).run("k", by_dma, aside));
    book.refuses(ill_formed, ir::rule::agents_of_one_function,
                 given().with(agent("one", copying).aside("go", "wait")).with(agent("other", copying).aside("begin", "wait")));
    book.refuses(ill_formed, ir::rule::agent_of_two_ways, given().with(by_dma.aside("go", "wait")));
    book.refuses(ill_formed, ir::rule::engine_that_blocks, given().with(agent("by_idle", copying).copies_on(idle)));
    CHECK(make_program_plan(given().with(agent("by_none", left).copies_on(dma))).refusal.kind == unknown_part);
    CHECK(make_program_plan(one().bind(y, x)).refusal.kind == cycle);
}

/// Rules of what several cores share, and of what they tell each other.
void break_rules_of_cores(rule_book& book) {
    using enum verdict_kind;
    using enum ir::step_kind;
    constexpr memory near{.name = "near", .base = 0x3000'0000, .capacity = 16_KiB, .per_core = true};
    constexpr engine of_all{.name = "of_all"};
    auto const into_near = transfer("into_near", dram, near).dimensions(2),
               late = transfer("late", dram, near).on(of_all).asynchronous().dimensions(2);
    constexpr core four{.name = "four", .count = 4}, another{.name = "another"};
    auto const cores_with = [&](core const& kind, transfer const& moved) {
        return machine("cores", dram, spad, near, of_all, load, moved, kind);
    };
    auto const on_four = cores_with(four, into_near), one_dma = cores_with(four, late);
    auto const shared = [&](machine const& where) { return schedule(matmul, where); };
    book.refuses(distribution, ir::rule::distributed_reduction, shared(on_four).distribute(k, four));
    book.refuses(distribution, ir::rule::distributed_twice, shared(on_four).distribute(m, four).distribute(n, four));
    book.refuses(distribution, ir::rule::more_cores_than_there_are, shared(on_four).distribute(m, four, 5));
    book.refuses(distribution, ir::rule::more_cores_than_there_are, shared(on_four).on(four, 4));
    auto const staged_in_two = [&] { return schedule(two_stages, on_four).store_in(D, spad); };
    book.refuses(distribution, ir::rule::other_number_of_cores, staged_in_two().distribute(m, four, 2).stage(D).distribute(m, four));
    book.refuses(distribution, ir::rule::copied_for_each_core, shared(on_four).distribute(m, four).cache_read(A, spad).at(m));
    book.refuses(distribution, ir::rule::out_of_sight_of_cores, shared(on_four).distribute(m, four).cache_read(B, near));
    book.refuses(distribution, ir::rule::engine_of_all_cores, shared(one_dma).distribute(m, four).cache_read(A, near).at(m));
    book.refuses(distribution, ir::rule::on_with_distribution, staged_in_two().distribute(m, four).stage(D).on(four, 1));
    book.refuses(distribution, ir::rule::parts_of_shares,
                 staged_in_two()
                     .layout([](auto i, auto j) { return index_map(i % 3, i / 9, i % 9 / 3, j); })
                     .distribute(m, four)
                     .stage(D)
                     .distribute(m, four));
    auto const told = [&](core const& kind, machine const& where) {
        return schedule(two_stages, where).compute_at(D, m).stage(D).on(kind, 1).store_in(D, spad);
    };
    core few = four, shallow = four, odd = four;
    few.signal_queues = 0;
    shallow.signal_capacity = 2;
    auto const with_few = cores_with(few, into_near), with_shallow = cores_with(shallow, into_near);
    book.refuses(distribution, ir::rule::more_signals_than_fit, told(few, with_few));
    book.refuses(distribution, ir::rule::more_versions_than_signals, told(shallow, with_shallow).buffers(3));
    constexpr core fused{.name = "fused", .fused_multiply_add = true};
    auto const two_kinds = machine("two_kinds", dram, spad, load, another, four), rounds_twice = machine("rounds", dram, four, fused);
    book.refuses(not_honoured, ir::rule::none, shared(rounds_twice));
    book.refuses(distribution, ir::rule::kinds_out_of_order, shared(two_kinds).distribute(m, four, another));
    book.refuses(distribution, ir::rule::other_cores,
                 schedule(two_stages, two_kinds).store_in(D, spad).distribute(m, four, 1).stage(D).distribute(m, another));
    auto const sums = [](char const* name) { return intrinsic(name, c(i, j) = wide(a(i, j)) + 1).reads(a, spad).writes(c, spad); };
    auto const others = intrinsic("sums", c(i, j) = wide(a(i, j)) + 2).reads(a, spad).writes(c, spad);
    auto const unequal = machine("unequal", dram, spad, another, four, sums("sums").on(another), intrinsic(others).on(four));
    book.refuses(invalid_part, ir::rule::intrinsics_of_one_name, shared(unequal));
    auto const one_of_four = machine("one_of_four", dram, spad, another, four, sums("sums").on(four));
    constexpr auto plus = stages(C(m, n) = wide(A(m, n)) + 1);
    book.refuses(core_without_part, ir::rule::none, schedule(plus, one_of_four).tensorize(m, n, sums("sums")));
    odd.barrier_call = {.symbol = "odd"};
    odd.barrier_call.push(argument::core);
    auto const without_status = cores_with(odd, into_near);
    book.refuses(invalid_part, ir::rule::barrier_of_another_kind, shared(without_status));
    auto const without_queue = cores_with(four.signals("ring", argument::core, argument::peer), into_near);
    book.refuses(invalid_part, ir::rule::signal_of_another_kind, shared(without_queue));
    constexpr memory close{
        .name = "near", .base = 0x3000'0000, .capacity = 16_KiB, .per_core = true, .core_bases = {0x3000'0000, 0x3000'1000}};
    auto const too_close = machine("too_close", dram, close, cores("two", 2));
    book.refuses(invalid_part, ir::rule::bases_of_cores_of_another_kind, shared(too_close));
    // One call for all cores.
    auto const to_all = transfer("to_all", dram, near).multicast().dimensions(2),
               untold = transfer(to_all).calls("untold", argument::source);
    auto const spreading = cores_with(four, to_all), spreading_blindly = cores_with(four, untold);
    auto const spreading_to_one = cores_with(core{.name = "single"}, to_all);
    book.refuses(invalid_part, ir::rule::multicast_of_another_kind, shared(spreading_to_one));
    book.refuses(multicast, ir::rule::multicast_for_one_core, shared(spreading).cache_read(B, near));
    book.refuses(multicast, ir::rule::multicast_in_a_share, shared(spreading).distribute(m, four).cache_read(B, near).at("m.core"));
    book.refuses(multicast, ir::rule::tiles_of_cores, shared(spreading).distribute(m, four).cache_read(A, near).at(m));
    book.refuses(multicast, ir::rule::multicast_to_more_cores, shared(spreading_blindly).distribute(m, four, 3).cache_read(B, near));
    static constexpr axis h{"h", 64}, w{"w", 64}, f{"f", 3};
    static constexpr auto filter = C(n, m) += wide(padded(A(h, w), 0)(m, n + f - 1));
    book.refuses(no_border, ir::rule::border_of_one_core, schedule(filter, spreading).distribute(m, four).cache_read(A, near));
    book.core_hazard(ir::rule::brought_to_one_core, shared(spreading).cache_read(B, near).distribute(m, four), [&](plan_value& plan) {
        static constexpr auto plain = machine("plain", dram, spad, near, engine{.name = "of_all"}, load,
                                              transfer("to_all", dram, near).dimensions(2), core{.name = "four", .count = 4});
        plan.where = &plain;
    });
    // What orders cores.
    auto const first_of = [](ir::step_kind kind, plan_value const& plan) {
        int at = 0;
        while (plan.steps[at].kind != kind) ++at;
        return at;
    };
    auto const led = shared(on_four).cache_read(B, spad).distribute(m, four);
    book.core_hazard(ir::rule::core_without_barrier, led, [&](plan_value& plan) { plan.steps.erase(first_of(barrier, plan)); });
    book.core_hazard(ir::rule::barrier_of_some_cores, led,
                     [&](plan_value& plan) { plan.steps.insert(first_of(compute, plan), {.kind = barrier, .what = 0}); });
    auto const in_turns = told(four, on_four);
    book.core_hazard(ir::rule::signal_never_sent, in_turns, [&](plan_value& plan) { plan.steps.erase(first_of(signal, plan)); });
    book.core_hazard(ir::rule::signal_never_taken, in_turns, [&](plan_value& plan) {
        int last = plan.steps.size() - 1;
        while (plan.steps[last].kind != await) --last;
        plan.steps.erase(last);
    });
}

}  // namespace

/// Caches of cores.
void break_rules_of_caches(rule_book& book) {
    using enum verdict_kind;
    static constexpr memory seen{.name = "seen", .alignment = 64, .cache_line = 64}, narrow{.name = "narrow", .cache_line = 64};
    static constexpr core two{.name = "two", .count = 2};
    auto const cached = machine("cached", seen, two), unaligned = machine("unaligned", narrow, two),
               without_bytes = machine("without_bytes", seen, two.cleans("clean", argument::source));
    constexpr auto plus = C(m, n) = wide(A(m, n)) + 1;
    book.refuses(invalid_part, ir::rule::cache_of_another_kind, schedule(plus, unaligned));
    book.refuses(invalid_part, ir::rule::upkeep_of_another_kind, schedule(plus, without_bytes));
    constexpr memory hidden{.name = "hidden", .behind_caches = true};
    constexpr core odd{.name = "odd", .caches = {{{.bytes = 1000}}}};
    auto const without_caches = machine("without_caches", hidden), odd_sets = machine("odd_sets", hidden, odd);
    book.refuses(invalid_part, ir::rule::behind_no_caches, schedule(plus, without_caches));
    book.refuses(invalid_part, ir::rule::caches_of_another_kind, schedule(plus, odd_sets));
    static constexpr axis half{"half", 8};
    constexpr auto halves = C(m, half) = wide(A(m, half)) + 1;
    book.refuses(distribution, ir::rule::line_of_two_cores, schedule(halves, cached).distribute(half, two));
    for (ir::step_kind kind : {ir::step_kind::clean, ir::step_kind::invalidate}) {
        bool const cleans = kind == ir::step_kind::clean;
        book.core_hazard(cleans ? ir::rule::line_not_cleaned : ir::rule::line_not_invalidated, schedule(plus, cached),
                         [&](plan_value& plan) {
                             int at = 0;
                             while (plan.steps[at].kind != kind) ++at;
                             plan.steps.erase(at);
                         });
    }
}

TEST_CASE("every rule is raised by what breaks it") {
    using enum verdict_kind;
    rule_book book;

    // computations
    book.ill_formed(ir::rule::operands_of_different_types, C(m, n) = A(m, n) + D(m, n));
    book.ill_formed(ir::rule::literal_that_does_not_fit, A(m, n) = B(m, n) + 300);
    book.ill_formed(ir::rule::no_shift_amount, C(m, n) = D(m, n) << 32);
    book.ill_formed(ir::rule::literal_without_type, A(m, n) = select(B(m, n) > 0, 1, 0));
    book.ill_formed(ir::rule::tensor_without_indices, C = D(m, n));
    book.ill_formed(ir::rule::tensor_without_indices, C(m, n) = D);
    book.ill_formed(ir::rule::tensor_without_indices, C(m, n) = 2 * D + E);
    book.ill_formed(ir::rule::tensor_without_indices, C(m, n) = max(E(m, n), any_tensor{"D", scalar_type::int32}));
    book.ill_formed(ir::rule::tensor_without_indices, C(m) += E);
    book.ill_formed(ir::rule::tensor_without_indices, C(m) = D(E, m));
    book.ill_formed(ir::rule::tensor_without_type, C(m) = cast<std::int32_t>(tensor{"untyped"}(m)));
    book.ill_formed(ir::rule::tensor_without_type, tensor{"untyped"}(m) = D(m));
    book.ill_formed(ir::rule::indices_in_brackets, C(m, n) = D[m][n]);
    book.ill_formed(ir::rule::indices_in_brackets, C(m, n) = D(m, n) + any_tensor{"E", scalar_type::int32}[m]);
    book.ill_formed(ir::rule::indices_in_brackets, C[m][n] = D(m, n));
    book.ill_formed(ir::rule::indices_in_brackets, C[m] += D(m, n));
    book.ill_formed(ir::rule::stage_inside_a_value, C(m, n) = (D(m, n) = E(m, n)) + 1);
    book.ill_formed(ir::rule::stage_inside_a_value, C(m, n) = D(m, n) = E(m, n));
    book.ill_formed(ir::rule::text_as_a_value, C(m, n) = D("m", n));
    book.ill_formed(ir::rule::text_as_a_value, C(m, n) = D(m, n) + "1");
    book.ill_formed(ir::rule::condition_without_bool, A(m, n) = select(B(m, n), B(m, n), 0));
    book.ill_formed(ir::rule::operation_not_for_this_type, V(m) = W(m) + W(m));
    book.ill_formed(ir::rule::operation_not_for_this_type, F(m) = G(m) << 2);
    book.ill_formed(ir::rule::operation_not_for_this_type, A(m) = A(m) && B(m));
    constexpr tensor<float16> H{"H"}, I{"I"};
    book.ill_formed(ir::rule::computes_with_halves, H(m) = I(m) + I(m));
    book.ill_formed(ir::rule::computes_with_halves, H(m) = max(I(m), 0));
    book.ill_formed(ir::rule::computes_with_halves, A(m) = cast<std::int8_t>(I(m)));
    book.ill_formed(ir::rule::computes_with_halves, H(m) += I(m));
    book.ill_formed(ir::rule::reduction_inside_a_value, C(m) = sum(k, D(m, k)) * 2);
    book.ill_formed(ir::rule::continuing_what_is_no_sum, C(m) = C(m) + maximum(k, D(m, k)));
    book.ill_formed(ir::rule::continuing_in_the_middle, stages(D(m) = D(m) + sum(k, E(m, k)), C(m) = D(m)));
    book.ill_formed(ir::rule::reading_its_own_output, C(m, n) = C(m, n) * 2);
    book.ill_formed(ir::rule::axis_with_two_extents, C(m) = D(axis{"m", 32}));
    book.ill_formed(ir::rule::axis_without_extent, C(mo) = D(mo));
    book.ill_formed(ir::rule::target_without_plain_axes, C(m, m) = D(m, m));
    // padded tensors; `i`, `j` and `l` are 16
    axis const endless{"endless", dynamic}, i17{"i17", 17};
    book.ill_formed(ir::rule::padding_without_plain_axes, C(m, n) = padded(D(i + 1, j), 0)(m, n));
    book.ill_formed(ir::rule::padding_of_run_time, C(m, n) = padded(D(endless, j), 0)(m, n));
    book.ill_formed(ir::rule::padding_with_two_extents, C(m, n) = padded(D(i, j), 0)(m, n) + padded(D(i17, j), 0)(m, n));
    book.ill_formed(ir::rule::literal_that_does_not_fit, C(m, n) = wide(padded(A(i, j), 200)(m, n)));
    book.ill_formed(ir::rule::axis_without_extent, C(m, n) = padded(D(mo, j), 0)(m, n));
    book.invalid_machine(ir::rule::padding_in_semantics, dram, spad,
                         intrinsic("i", d(i) = padded(c(j), 0)(i + 1)).reads(c, spad).writes(d, spad));
    auto const at_border = C(m, n) = padded(D(i, j), 0)(m - 1, n);
    auto const doubled = C(m, n) = padded(E(i, j), 0)(m - 1, n) * 2;
    auto const double_near = intrinsic("twice", c(i, j) = d(i, j) * 2).reads(d, dram).writes(c, acc);
    auto const near = machine("near", dram, spad, acc, load, store, double_near);
    book.refuses(no_border, ir::rule::border_not_staged, schedule(doubled, near).cache_write(C, acc).tensorize(m, n, double_near));
    auto const two_borders = C(m, n) = padded(D(i, j), 0)(m - 1, n) + padded(D(i, j), 1)(m, n);
    book.refuses(no_border, ir::rule::border_of_two_values, schedule(two_borders, npu).cache_read(D, spad));
    auto const into_acc = machine("into_acc", dram, acc, store, transfer("in", dram, acc).dimensions(2));
    book.refuses(no_border, ir::rule::border_without_fill, schedule(at_border, into_acc).cache_read(D, acc));
    auto const beyond = C(m, n) = padded(D(i, j), 0)(m + 20, n);
    book.refuses(no_border, ir::rule::nothing_but_border, schedule(beyond, npu).cache_read(D, spad));
    book.ill_formed(ir::rule::axis_only_on_the_right, C(m) = D(m, n));
    book.ill_formed(ir::rule::reduction_over_no_axis, C(m) = sum(2 * k, D(m, k)));
    book.ill_formed(ir::rule::reduction_over_the_output, C(m) = sum(m, D(m, m)));
    book.ill_formed(ir::rule::axis_not_reduced, C(m) = sum(k, D(m, k) * D(k, n)));
    book.ill_formed(ir::rule::start_along_a_reduction, C(m) = D(m, k) + sum(k, D(k, m)));
    book.ill_formed(ir::rule::index_not_affine, C(m) = D(m / 2));
    book.ill_formed(ir::rule::index_of_another_type, C(m) = padded(D(i), 0)(cast<std::int64_t>(D(m))));
    auto const gathered = C(m, n) = padded(E(i, j), 0)(D(m), n) * 2;
    book.refuses(intrinsic_mismatch, ir::rule::instruction_at_computed_index,
                 schedule(gathered, near).cache_write(C, acc).tensorize(m, n, double_near));
    book.ill_formed(ir::rule::computed_by_two_stages, stages(C(m) = D(m), C(m) = D(m) + 1));
    book.ill_formed(ir::rule::never_read, stages(D(m) = E(m), C(m) = E(m)));
    book.ill_formed(ir::rule::computed_too_late, stages(D(m) = E(m) + c(m), c(m) = D(m), C(m) = D(m) + c(m)));
    book.ill_formed(ir::rule::used_with_two_ranks, C(m) = D(m) + D(m, m));
    book.ill_formed(ir::rule::used_with_two_types, C(m) = D(m) + wide(tensor<std::int8_t>("D")(m)));
    book.ill_formed(ir::rule::name_of_two_things, C(m) = D(m) * parameter<std::int32_t>{"D"});
    book.ill_formed(ir::rule::no_identifier, C(m) = tensor<std::int32_t>("my tensor")(m));

    // loops and directives
    book.refuses(loop_order, ir::rule::not_innermost,
                 book.staged(schedule(matmul, npu)).reorder(k, m, n).split(n, no, ni, 16).reorder(k, ni, m, no).tensorize(k, ni, m, mac));
    book.refuses(loop_order, ir::rule::not_directly_around, schedule(matmul, npu).fuse(m, k, mo));
    book.refuses(loop_order, ir::rule::reduction_fused_with_another, schedule(matmul, npu).fuse(n, k, mo));
    axis const open{"open", dynamic}, reduced{"reduced", dynamic};
    auto const rows = C(m, open) = D(m, open);
    book.refuses(loop_order, ir::rule::run_time_inside_fused, schedule(rows, npu).fuse(m, open, mo));
    book.refuses(loop_order, ir::rule::run_time_loop, schedule(rows, npu).vectorize(open));
    book.ill_formed(ir::rule::extent_of_no_argument, C(m) = sum(reduced, D(m, 2 * reduced)));
    book.invalid(ir::rule::run_time_semantics, c(open) = d(open));
    book.refuses(loop_order, ir::rule::vectorized_reduction, schedule(float_sums, npu).vectorize(k));
    book.refuses(loop_order, ir::rule::vectorized_around_steps, schedule(matmul, npu).vectorize(m).cache_read(A, spad).at(m));
    book.refuses(loop_order, ir::rule::inside_the_intrinsic,
                 schedule(matmul, npu).cache_read(A, spad).at(n).cache_read(B, spad).cache_write(C, acc).tensorize(m, n, k, mac));
    book.refuses(loop_order, ir::rule::outside_its_producer,
                 schedule(two_stages, npu).compute_at(D, m).store_in(D, spad).cache_read(D, acc));
    book.refuses(loop_order, ir::rule::gaps_between_outputs,
                 schedule(copy, npu).split(m, mo, mi, 8).reorder(mi, mo, n).cache_write(C, acc).at(mi));
    auto const both_read = stages(D(m, n) = E(m, n), c(n) = sum(m, D(m, n)), C(m, n) = D(m, n) + c(n));
    book.refuses(loop_order, ir::rule::read_outside, schedule(both_read, npu).store_in(D, spad).store_in(c, spad).compute_at(D, m));
    book.refuses(unknown_tensor, ir::rule::not_read_by_the_stage, schedule(matmul, npu).cache_read(D, spad));
    book.refuses(unknown_tensor, ir::rule::not_computed_by_the_stage, schedule(matmul, npu).cache_write(A, spad));
    book.refuses(unknown_tensor, ir::rule::not_computed, schedule(matmul, npu).store_in(A, spad));
    book.refuses(misplaced_directive, ir::rule::behind_no_staging, schedule(matmul, npu).at(m));
    book.refuses(misplaced_directive, ir::rule::without_consumer, schedule(matmul, npu).compute_at(C, m));
    book.refuses(misplaced_directive, ir::rule::behind_tensorize, book.staged(schedule(matmul, npu)).tensorize(m, n, k, mac).unroll(m));
    book.refuses(misplaced_directive, ir::rule::without_loops, schedule(copy, npu).reorder(n, m).store_in(C, spad).by(load));

    // transfers
    axis const q{"q", 67}, r{"r", 8};
    book.region(ir::rule::row_without_parts, transfer("t", dram, spad).row_limit(8).granularity(16), C(l) = D(l));
    book.region(ir::rule::row_of_broken_granules, transfer("t", dram, spad).granularity(16), C(q) = D(q));
    // Rows of 268 bytes: one transfer takes them up to 300 apart, the other a multiple of 256.
    auto const close_by = transfer("close_by", dram, spad).dimensions(2).strides_of_source({.most = 300});
    auto const apart = transfer("apart", dram, acc).dimensions(2).strides_of_source({.multiple = 256});
    auto const near_and_apart = machine("with", dram, spad, acc, close_by, apart);
    auto const read_twice = stages(E(r, q) = D(r, q) * 2, C(r, q) = E(r, q) + D(r, q));
    book.refuses(transfer_region, ir::rule::stride_beyond_reach,
                 schedule(read_twice, near_and_apart).store_in(E, spad).cache_read(D, acc).stage(E).cache_read(D, spad));
    book.invalid_machine(ir::rule::limit_of_no_dimension, dram, spad, transfer("t", dram, spad).dimensions(2).extent_limit(2, 4));
    // borders that a load writes
    auto const bordered = [&] { return transfer("t", dram, spad).dimensions(2).fills_border(0); };
    auto const with_border = [&](ir::rule broken, transfer const& load, auto const& tiles) {
        auto const on = machine("on", dram, spad, load);
        book.refuses(transfer_region, broken, tiles(on));
    };
    auto const around = C(r, q) = padded(D(r, q), 0)(r - 1, q - 2);
    auto const all_of = [&](machine const& on) { return schedule(around, on).cache_read(D, spad); };
    auto const row_by_row = [&](machine const& on) { return schedule(around, on).cache_read(D, spad).at(r); };
    with_border(ir::rule::border_in_several_calls, bordered().dimensions(1), all_of);
    with_border(ir::rule::border_without_pad,
                bordered().calls("t", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                 argument::source_stride(1), argument::destination_stride(1), argument::pad_before(1)),
                all_of);
    with_border(ir::rule::border_beyond_limit, bordered().pad_limit(1), all_of);
    with_border(ir::rule::border_around_nothing, bordered(), row_by_row);
    book.invalid_machine(ir::rule::border_of_another_kind, dram, spad, transfer("t", dram, spad, D(m) = c(m) + 1).fills_border(0));
    book.invalid_machine(ir::rule::border_of_another_kind, dram, spad, bordered().calls("t", argument::source, argument::destination));
    book.invalid_machine(ir::rule::border_of_another_kind, dram, spad,
                         bordered().fills_border().calls("t", argument::source, argument::destination, argument::pad_before(1)));
    book.invalid_machine(ir::rule::border_of_another_kind, dram, spad,
                         bordered().calls("t", argument::source, argument::destination, argument::pad_after(2)));
    book.invalid_machine(ir::rule::argument_of_no_transfer, dram, spad,
                         transfer("t", dram, spad).calls("t", argument::source, argument::destination, argument::pad_before(0)));
    book.region(ir::rule::stride_not_aligned, transfer("t", dram, spad).dimensions(2).alignment(16), C(r, q) = D(r, q));
    auto const aligned = transfer("t", dram, spad).alignment(16);
    auto const with_aligned = machine("with", dram, spad, aligned);
    auto const row = C(m) = D(m);
    book.refuses(transfer_region, ir::rule::address_not_aligned,
                 schedule(row, with_aligned).split(m, mo, mi, 2).cache_read(D, spad).at(mo));
    book.refuses(transfer_mismatch, ir::rule::other_memories, schedule(matmul, npu).cache_read(A, spad).by(store));
    auto const doubling = transfer("doubling", dram, spad, c(i) = d(i) * 2);
    auto const with_doubling = machine("with", dram, spad, doubling);
    book.refuses(transfer_mismatch, ir::rule::changing_the_data, schedule(copy, with_doubling).cache_read(D, spad).by(doubling));
    book.carried_out(ir::rule::other_destination, copy, transfer("t", dram, acc));
    book.carried_out(ir::rule::other_source, copy, transfer("t", acc, spad));
    book.carried_out(ir::rule::a_reduction, C(m) = sum(n, D(m, n)), transfer("t", dram, spad));
    book.carried_out(ir::rule::another_value, C(m) = D(m) * 3, doubling);
    book.carried_out(ir::rule::another_type, C(m) = D(m) * 2, transfer("t", dram, spad, tensor<float>("f")(i) = cast<float>(d(i))));
    book.carried_out(ir::rule::another_pattern, C(m, n) = D(m), transfer("t", dram, spad));
    book.carried_out(ir::rule::another_order, C(m, n) = D(n, m), transfer("t", dram, spad));

    // intrinsics on stages
    auto const step = [](auto const& does) { return intrinsic("step", does).reads(a, spad).reads(b, spad).updates(c, acc); };
    book.mismatch(ir::rule::other_number_of_loops, step(c(i, j) += product), n, k);
    axis const i24{"i", 24}, l24{"l", 24};
    auto const refuses_step = [&](ir::rule broken, schedule const& of) { book.refuses(partial_step, broken, of); };
    auto const of_24 = step(c(i24, j) += wide(a(i24, l)) * wide(b(l, j))),
               deep_24 = intrinsic("deep", c(i, j) += wide(a(i, l24)) * wide(b(l24, j))).reads(a, spad).reads(b, spad).updates(c, acc);
    auto const with_24 = machine("with", dram, spad, acc, load, store, of_24, deep_24);
    refuses_step(ir::rule::step_behind_a_reduction, book.staged(schedule(matmul, with_24)).tensorize(m, n, k, deep_24));
    refuses_step(ir::rule::step_on_the_next_tile,
                 book.staged(schedule(matmul, with_24)).split(m, mo, mi, 32).reorder(mo, mi, n, k).tensorize(mi, n, k, of_24));
    auto const from_dram =
        intrinsic("from_dram", c(i24, j) += wide(a(i24, l)) * wide(b(l, j))).reads(a, dram).reads(b, spad).updates(c, acc);
    auto const with_dram = machine("with", dram, spad, acc, load, store, from_dram);
    refuses_step(ir::rule::step_behind_an_argument,
                 schedule(matmul, with_dram).cache_read(B, spad).cache_write(C, acc).tensorize(m, n, k, from_dram));
    book.mismatch(ir::rule::other_index, step(c(i, j) += wide(a(2 * i, l)) * wide(b(l, j))), m, n, k);
    book.mismatch(ir::rule::not_contiguous, step(c(i, j) += wide(a(l, i)) * wide(b(l, j))), m, n, k);
    book.mismatch(ir::rule::operand_with_offset, step(c(i, j) += wide(a(i + 1, l)) * wide(b(l, j))), m, n, k);
    book.mismatch(ir::rule::one_operand_for_two, intrinsic("step", c(i, j) += wide(a(i, l)) * wide(a(l, j))).reads(a, spad).updates(c, acc),
                  m, n, k);
    book.mismatch(ir::rule::stride_not_a_multiple, step(c(i, j) += product).stride_multiple(48), m, n, k);
    book.mismatch(ir::rule::operand_not_aligned, step(c(i, j) += product).alignment(128), m, n, k);
    book.mismatch(ir::rule::stride_too_long, step(c(i, j) += product).stride_at_most(b, 32), m, n, k);
    book.mismatch(ir::rule::stride_not_told,
                  step(c(i, j) += product).calls("step", argument::address(a), argument::address(b), argument::address(c)), m, n, k);
    auto const strided = intrinsic("strided", c(i, j) = -d(i, j)).reads(d, dram).stride_at_most(d, 64).writes(c, spad);
    auto const with_strided = machine("with_strided", dram, spad, transfer("back", spad, dram).dimensions(2), strided);
    auto const negated_rows = C(m, n) = -D(m, n);
    book.refuses(verdict_kind::intrinsic_mismatch, ir::rule::stride_not_known,
                 schedule(negated_rows, with_strided).cache_write(C, spad).tensorize(m, n, strided));
    book.mismatch(ir::rule::overwriting_every_step,
                  intrinsic("step", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc), m, n, k);
    auto const negate = intrinsic("negate", c(i) = -d(i)).reads(d, spad).writes(c, spad);
    auto const twice = intrinsic("twice", c(i) = d(i) * 2).reads(d, spad).writes(c, spad);
    auto const diagonal = intrinsic("diagonal", c(i) = d(i, i)).reads(d, spad).writes(c, spad);
    auto const sums = intrinsic("sums", c(i) = sum(l, d(i, l))).reads(d, spad).writes(c, spad);
    book.mismatch_with(ir::rule::neighbours_apart, C(m) = -D(2 * m), negate, m);
    book.mismatch_with(ir::rule::axis_in_two_dimensions, C(m) = -D(m, m), negate, m);
    book.mismatch_with(ir::rule::other_constant, C(m) = D(m) * 3, twice, m);
    book.mismatch_with(ir::rule::dimensions_in_one, C(m) = D(m), diagonal, m);
    book.mismatch_with(ir::rule::overwriting_what_continues, C(m) = C(m) + sum(l, D(m, l)), sums, m, l);
    auto const back = transfer("back", spad, dram).dimensions(2);
    auto const flat = machine("flat", dram, spad, load, back, negate);
    auto const negated = C(m, n) = -D(m, n);
    book.refuses(
        intrinsic_mismatch, ir::rule::covered_by_a_fused_loop,
        schedule(negated, flat).fuse(m, n, mo).split(mo, no, ni, 16).cache_read(D, spad).cache_write(C, spad).tensorize(ni, negate));

    // descriptions
    book.invalid_machine(ir::rule::machine_without_memory, engine{"dma"});
    book.invalid_machine(ir::rule::part_without_name, dram, memory{});
    book.invalid_machine(ir::rule::two_parts_of_one_name, dram, spad, memory{.name = "spad"});
    book.invalid_machine(ir::rule::base_not_aligned, dram, memory{.name = "odd", .base = 0x1004, .capacity = 64, .alignment = 64});
    book.invalid_machine(ir::rule::memories_overlap, dram, spad, memory{.name = "other", .base = 0x2000, .capacity = 64});
    book.invalid(ir::rule::several_stages, stages(d(i) = c(i), a(i) = cast<std::int8_t>(d(i))));
    book.invalid(ir::rule::parameter_in_semantics, c(i) = d(i) * parameter<std::int32_t>{"scale"});
    book.invalid(ir::rule::transfer_with_two_sources, c(i) = d(i) + C(i));
    book.invalid(ir::rule::transfer_that_rearranges, c(i) = d(2 * i));
    book.invalid(ir::rule::a_reduction, c(i) = sum(l, d(i, l)));
    book.invalid(ir::rule::operand_without_memory, intrinsic("step", c(i, j) += product).alignment(a, 4).reads(b, spad).updates(c, acc));
    book.invalid(ir::rule::operand_without_memory, intrinsic("step", c(i, j) += product).reads(a, spad).updates(c, acc));
    book.invalid(ir::rule::operand_not_in_semantics, step(c(i, j) += product).reads(D, spad));
    book.invalid(ir::rule::operand_declared_twice, step(c(i, j) += product).reads(a, spad));
    book.invalid(ir::rule::result_only_read, intrinsic("step", c(i, j) += product).reads(a, spad).reads(b, spad).reads(c, acc));
    book.invalid(ir::rule::input_written, intrinsic("step", c(i, j) += product).reads(a, spad).updates(b, spad).updates(c, acc));
    book.invalid(ir::rule::result_not_updated,
                 intrinsic("step", c(i, j) = c(i, j) + sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc));
    book.invalid(ir::rule::update_without_reduction, intrinsic("step", c(i, j) = wide(a(i, j))).reads(a, spad).updates(c, acc));
    book.invalid(ir::rule::update_with_a_start,
                 intrinsic("step", c(i, j) = D(j) + sum(l, product)).reads(a, spad).reads(b, spad).reads(D, acc).updates(c, acc));
    book.invalid(ir::rule::argument_without_operand, step(c(i, j) += product).calls("step", argument::stride(a, 5)));

    // registers and copies of the core
    constexpr core cpu{.name = "cpu"};
    constexpr memory file = register_file("file", 8, 32);
    constexpr memory hidden{.name = "hidden", .capacity = 4_KiB, .host_visible = false};
    book.invalid_machine(ir::rule::registers_of_another_kind, dram, memory{.name = "file", .capacity = 100, .registers = 8});
    book.invalid_machine(ir::rule::registers_by_address, dram, file, transfer("t", dram, file));
    constexpr memory typed = register_file("typed", 8, 32, "v8i");
    auto const in_typed = [&] { return transfer("t", dram, typed); };
    book.invalid_machine(ir::rule::registers_in_another_way, dram, typed, in_typed().dimensions(2));
    book.invalid_machine(ir::rule::registers_in_another_way, dram, typed, in_typed().row_limit(64));
    book.invalid_machine(ir::rule::registers_in_another_way, dram, typed, engine{"aside"}, in_typed().on(engine{"aside"}).asynchronous());
    book.invalid_machine(ir::rule::registers_in_another_way, dram, typed, in_typed().calls("t", argument::source, argument::destination));
    book.invalid_machine(ir::rule::registers_in_another_way, dram, typed, in_typed().calls("t", argument::source, argument::bytes));
    auto const on_typed = [&] { return intrinsic("step", c(i, j) = d(i, j) * 2).reads(d, typed).writes(c, typed); };
    book.invalid_machine(ir::rule::registers_in_another_way, dram, typed,
                         on_typed().calls("step", argument::address(d), argument::stride(d, 0)));
    book.invalid_machine(ir::rule::registers_in_another_way, dram, typed,
                         on_typed().calls("step", argument::address(c), argument::address(d)));
    book.invalid_machine(ir::rule::registers_in_another_way, dram, typed, on_typed().then("more", argument::address(d)));
    book.invalid_machine(ir::rule::registers_of_another_kind, dram, memory{.name = "file", .capacity = 64, .c_type = "v8i"});
    book.invalid_machine(ir::rule::no_identifier, dram, register_file("file", 8, 32, "struct v8i"));
    book.invalid_machine(ir::rule::copy_of_another_kind, dram, spad, cpu, transfer("t", dram, spad).on(cpu).asynchronous());
    book.invalid_machine(ir::rule::copy_of_another_kind, dram, spad, cpu, transfer("t", dram, spad, D(m) = 0).on(cpu));
    book.invalid_machine(ir::rule::copy_out_of_sight, dram, hidden, cpu, transfer("t", dram, hidden).on(cpu));
    auto const copies = machine("copies", dram, spad, cpu, transfer("t", dram, spad).on(cpu));
    book.refuses(loop_order, ir::rule::asked_for_elsewhere, schedule(copy, copies).cache_read(D, spad).at(m).prefetch(1, m));
    book.refuses(misplaced_directive, ir::rule::asked_for_no_copy, schedule(copy, npu).cache_read(D, spad).at(m).prefetch(1, n));
    auto const with_registers = machine("with", dram, file, cpu, transfer("in", dram, file).on(cpu), transfer("out", file, dram).on(cpu));
    auto const in_registers = [&](auto const& what) { return schedule(what, with_registers).split(m, mo, mi, 2).split(n, no, ni, 8); };
    book.refuses(loop_order, ir::rule::registers_without_address,
                 in_registers(copy).reorder(mo, no, mi, ni).vectorize(ni).cache_write(C, file).at(no));
    auto const open_copy = C(open, n) = D(open, n);
    book.refuses(loop_order, ir::rule::registers_of_changing_tiles,
                 schedule(open_copy, with_registers)
                     .split(open, mo, mi, 2)
                     .split(n, no, ni, 8)
                     .reorder(mo, no, mi, ni)
                     .unroll(mi)
                     .vectorize(ni)
                     .cache_write(C, file)
                     .at(no));

    // calls, numbers and configurations
    constexpr memory numbered{.name = "rows", .capacity = 64_KiB, .host_visible = false, .address_unit = 16};
    constexpr auto with_unit = [](memory changed, std::int64_t unit) {
        changed.address_unit = unit;
        return changed;
    };
    book.invalid_machine(ir::rule::numbers_are_no_pointers, dram, with_unit(spad, 16));
    book.invalid_machine(ir::rule::numbers_are_no_pointers, numbered);
    book.invalid_machine(ir::rule::bank_of_broken_rows, dram, with_unit(numbered, 48));
    book.invalid_machine(
        ir::rule::flags_in_the_number, dram,
        memory{.name = "flagged", .capacity = 64_KiB, .host_visible = false, .address_unit = 16, .address_flags = 1 << 11});
    // What shows another memory has nothing of its own but a place, which that one must have, too.
    constexpr memory seen{.name = "seen", .base = 0x9000'0000, .view_of = "spad"}, pool{.name = "pool", .capacity = 64_KiB};
    auto const changed = [&](auto const& change) {
        memory other = seen;
        change(other);
        return other;
    };
    auto const refused = [&](memory const& view) {
        book.invalid_machine(ir::rule::view_of_another_kind, dram, spad, numbered, pool, view);
    };
    refused(changed([](memory& m) { m.capacity = 64; }));
    refused(changed([](memory& m) { m.banks = 2; }));
    refused(changed([](memory& m) { m.bank_bases = {0x9000'0000, 0xa000'0000}; }));
    refused(changed([](memory& m) { m.per_agent = true; }));
    refused(changed([](memory& m) { m.ports = 1; }));
    refused(changed([](memory& m) { m.view_of = "seen"; }));
    refused(changed([](memory& m) { m.view_of = "pool"; }));
    refused(changed([](memory& m) { m.view_of = "rows", m.base = no_address; }));
    book.invalid_machine(ir::rule::view_of_another_kind, changed([](memory& m) { m.view_of = "dram"; }), dram);
    book.invalid_machine(ir::rule::memories_overlap, dram, spad, memory{.name = "other", .base = 0x9000'0040, .capacity = 64}, seen);
    book.invalid_machine(ir::rule::memories_overlap, dram, spad, seen, memory{.name = "other", .base = 0x9000'0040, .capacity = 64});
    book.invalid_machine(ir::rule::flags_in_the_number, dram, numbered, changed([](memory& m) {
                             m.view_of = "rows", m.base = no_address, m.address_unit = 32, m.address_flags = 1 << 10,
                             m.host_visible = false;
                         }));
    // What a call has by value is one element that the core reads.
    axis const lane{"lane", 8};
    tensor<std::int32_t> const in{"in"}, factor{"factor"}, made{"made"};
    constexpr memory unseen{.name = "unseen", .base = 0x7000'0000, .capacity = 64_KiB, .host_visible = false};
    constexpr engine aside{.name = "aside", .completes = completion::by_channel};
    auto const by_factor = [&](auto const& element, memory const& where) {
        return intrinsic("scaled", made(lane) = in(lane)*element).reads(in, spad).reads(factor, where).writes(made, spad);
    };
    auto const valued = [&](intrinsic what, tensor<std::int32_t> const& passed) {
        return what.calls("scaled", argument::address(in), argument::address(made), argument::value(passed));
    };
    book.invalid_machine(ir::rule::value_out_of_reach, dram, spad, valued(by_factor(factor(lane), dram), factor));
    book.invalid_machine(ir::rule::value_out_of_reach, dram, spad, unseen, valued(by_factor(factor(), unseen), factor));
    book.invalid_machine(ir::rule::value_out_of_reach, dram, spad, valued(by_factor(factor(), dram), made));
    book.invalid_machine(ir::rule::value_out_of_reach, dram, spad, aside,
                         valued(by_factor(factor(), dram).on(aside).asynchronous(), factor));
    auto const by = [&](auto const&... arguments) { return transfer("t", dram, numbered).dimensions(2).calls("t", arguments...); };
    book.invalid_machine(ir::rule::flags_in_the_number, dram, numbered, by(argument::destination.with(argument::bit(0))));
    book.invalid_machine(ir::rule::flags_of_a_pointer, dram, numbered, by(argument::source.with(argument::bit(40))));
    book.invalid_machine(ir::rule::counted_in_units, dram, numbered, by(argument::extent(1).in_units_of(2)));
    book.invalid_machine(ir::rule::argument_of_no_transfer, dram, numbered, by(argument::queue));
    constexpr configuration scale("scale"), pair("pair", 2);
    auto const used = [&](configuration const& of, auto const&... values) { return transfer("t", dram, numbered).uses(of, values...); };
    book.invalid_machine(ir::rule::argument_of_no_transfer, dram, numbered, scale, used(scale, argument::source));
    book.invalid_machine(ir::rule::other_number_of_settings, dram, numbered, pair, used(pair, argument::literal(1)));
    book.invalid_machine(ir::rule::configured_twice, dram, numbered, scale,
                         used(scale, argument::literal(1)).uses(scale, argument::literal(2)));
    book.invalid_machine(ir::rule::set_call_of_another_kind, dram, configuration("s", 2).calls("s", argument::setting(0)));
    book.invalid_machine(ir::rule::set_call_of_another_kind, dram, configuration("s").calls("s", argument::setting(0), argument::bytes));
    book.invalid_machine(ir::rule::symbol_of_two_signatures, dram, spad, numbered, transfer("t", dram, spad).calls("move"),
                         transfer("u", dram, numbered).calls("move"));
    book.invalid_machine(ir::rule::symbol_of_two_signatures, dram, numbered, configuration("t"), transfer("t", dram, numbered));
    book.invalid(ir::rule::extent_of_a_fixed_axis, step(c(i, j) += product).calls("step", argument::extent(i)));
    book.invalid(ir::rule::axis_not_in_semantics, step(c(i, j) += product).up_to(k));
    book.invalid(ir::rule::cycles_of_a_wrong_axis, step(c(i, j) += product).cycles(1, per(i), 2 * per(l, k)));
    book.invalid(ir::rule::cycles_of_a_wrong_axis, step(c(i, j) += product).cycles(1, per(i, j, i)));
    book.invalid(ir::rule::extent_not_told, step(c(i, j) += product).up_to(i).calls("step", argument::address(a)));
    constexpr axis quarter{"quarter", 4}, eight{"eight", 8}, hundred{"hundred", 100}, tens{"tens"}, ones{"ones"};
    auto const pieces =
        intrinsic("pieces", c(j) += d(8 * quarter + eight) * a32(j)).reads(d, spad).reads(a32, spad).updates(c, spad).up_to(quarter, eight);
    auto const in_pieces = machine("in_pieces", dram, spad, load, transfer("back", spad, dram), pieces);
    auto const flat_sum = C(n) += D(hundred) * E(n);
    book.refuses(partial_step, ir::rule::step_shares_its_end,
                 schedule(flat_sum, in_pieces)
                     .split(hundred, tens, ones, 8)
                     .cache_read(D, spad)
                     .cache_read(E, spad)
                     .cache_write(C, spad)
                     .tensorize(n, tens, ones, pieces));

    // several threads
    book.refuses(loop_order, ir::rule::parallel_reduction, schedule(matmul, npu).parallel(k));
    book.refuses(loop_order, ir::rule::parallel_in_parallel, schedule(copy, npu).parallel(m).parallel(n));
    book.refuses(loop_order, ir::rule::parallel_with_calls, schedule(copy, npu).parallel(m).cache_read(D, spad).at(m));
    book.refuses(loop_order, ir::rule::run_time_loop, schedule(open_copy, npu).parallel(open));

    // banks, engines and versions
    constexpr engine dma{"dma"};
    constexpr engine channel{.name = "channel", .completes = completion::by_channel};
    book.invalid_machine(ir::rule::banks_of_unequal_size, dram, memory{.name = "thirds", .capacity = 64, .banks = 3});
    book.invalid_machine(ir::rule::asynchronous_without_engine, dram, spad, transfer("t", dram, spad).asynchronous());
    auto const started = [](engine const& on) {
        return transfer("t", dram, spad).on(on).asynchronous().calls("t", argument::source, argument::destination);
    };
    book.invalid_machine(ir::rule::call_without_tag, dram, spad, dma, started(dma));
    book.invalid_machine(ir::rule::tag_without_wait, dram, spad, channel,
                         transfer("t", dram, spad).on(channel).asynchronous().calls("t", argument::source, argument::tag));
    book.invalid_machine(ir::rule::tag_without_wait, dram, spad, dma,
                         transfer("t", dram, spad).on(dma).calls("t", argument::source, argument::tag));
    book.invalid_machine(ir::rule::wait_of_another_kind, dram, engine{"dma"}.waits("w", argument::pending));
    book.invalid_machine(ir::rule::wait_of_another_kind, dram, channel.waits("w", argument::tag));
    constexpr engine whole{.name = "whole", .completes = completion::by_engine};
    book.invalid_machine(ir::rule::wait_of_another_kind, dram, whole.waits("w", argument::pending));
    book.invalid_machine(ir::rule::wait_of_another_kind, dram, whole.waits("w", argument::tag));
    constexpr engine pair_of{.name = "pair_of", .channels = 2, .completes = completion::by_channel};
    book.invalid_machine(ir::rule::call_without_channel, dram, spad, pair_of, started(pair_of));
    book.invalid_machine(ir::rule::call_without_channel, dram, spad, pair_of,
                         transfer("t", dram, spad).on(pair_of).calls("t", argument::source, argument::destination));
    book.invalid_machine(ir::rule::argument_of_no_transfer, dram, spad,
                         transfer("t", dram, spad).calls("t", argument::source, argument::channel));
    book.invalid_machine(ir::rule::wait_without_channel, dram, pair_of.waits("w", argument::pending));
    constexpr engine whole_pair{.name = "whole_pair", .channels = 2, .completes = completion::by_engine};
    book.invalid_machine(ir::rule::wait_without_channel, dram, whole_pair.waits("w", argument::literal(1)));
    book.invalid_machine(ir::rule::wait_of_another_kind, dram, whole_pair.waits("w", argument::channel, argument::pending));
    book.invalid_machine(ir::rule::intrinsic_on_channels, dram, spad, acc, pair_of, intrinsic(mac).on(pair_of));
    book.invalid_machine(ir::rule::tokens_of_channels, dram, channel, pair_of, tokens(channel, pair_of));
    book.invalid_machine(ir::rule::tokens_of_channels, dram, channel, pair_of, tokens(pair_of, channel));
    book.invalid_machine(ir::rule::tokens_to_itself, dram, dma, tokens(dma, dma));
    book.invalid_machine(ir::rule::token_call_of_another_kind, dram, dma, channel, tokens(dma, channel).pushed_by("p", argument::tag));
    book.invalid_machine(ir::rule::token_call_of_another_kind, dram, dma, channel, tokens(dma, channel).queues(2).popped_by("p"));
    book.invalid_machine(ir::rule::intrinsic_waited_for_by_transfer, dram, spad, acc, dma, intrinsic(mac).on(dma).asynchronous());
    book.refuses(misplaced_directive, ir::rule::prefetch_of_output, schedule(copy, npu).cache_write(C, acc).prefetch(1));
    book.refuses(misplaced_directive, ir::rule::behind_no_staging, schedule(copy, npu).double_buffer());
    book.refuses(versions_without_use, ir::rule::versions_of_a_blocking_transfer, schedule(copy, npu).cache_read(D, spad).at(m).buffers(2));
    book.refuses(versions_without_use, ir::rule::bank_that_is_not_there, schedule(copy, npu).cache_read(D, spad).in_bank(1));
    auto const fetch = transfer("fetch", dram, spad).on(dma).asynchronous(), put = transfer("put", spad, dram).on(dma).asynchronous();
    machine const stores_aside("npu", dram, spad, dma, transfer("load", dram, spad), put);
    book.refuses(loop_order, ir::rule::inside_a_reduction, schedule(matmul, stores_aside).reorder(k, m, n).cache_write(C, spad).at(m));
    auto const streaming = machine("streaming", dram, spad, dma, fetch, put);
    auto const read = [&] { return schedule(copy, streaming).cache_read(D, spad).at(m); };
    book.refuses(versions_without_use, ir::rule::distance_beyond_versions, read().buffers(2).prefetch(2));
    book.refuses(versions_without_use, ir::rule::versions_of_one_step, schedule(copy, streaming).cache_read(D, spad).buffers(2));
    book.refuses(versions_without_use, ir::rule::versions_of_a_blocking_reader,
                 schedule(two_stages, streaming).compute_at(D, m).stage(D).store_in(D, spad).buffers(2));
    constexpr axis e{"e", 64};
    constexpr tensor<std::int32_t> x{"x"}, y{"y"}, A32{"A32"};
    constexpr auto one_more = intrinsic("one_more", y(e) = x(e) + 1).reads(x, spad).writes(y, spad).in_place(x).on(channel).asynchronous();
    machine const overwrites("overwrites", dram, spad, dma, channel, put, one_more);
    book.refuses(versions_without_use, ir::rule::versions_of_what_overwrites_it,
                 schedule(two_stages, overwrites)
                     .cache_write(C, spad)
                     .at(m)
                     .buffers(3)
                     .tensorize(n, one_more)
                     .compute_at(D, m)
                     .stage(D)
                     .store_in(D, spad)
                     .buffers(2));
    constexpr auto three_stages = stages(D(m, n) = E(m, n) * 2, A32(m, n) = D(m, n) + 1, C(m, n) = A32(m, n) * 3);
    book.refuses(versions_without_use, ir::rule::versions_of_what_it_overwrites,
                 schedule(three_stages, overwrites)
                     .split(m, mo, mi, 8)
                     .compute_at(A32, mo)
                     .stage(A32)
                     .store_in(A32, spad)
                     .buffers(2)
                     .tensorize(n, one_more)
                     .compute_at(D, mo)
                     .stage(D)
                     .store_in(D, spad));

    // layouts
    auto const laid_out = [&](auto const& map) { return schedule(copy, npu).cache_read(D, spad).layout(map); };
    book.refuses(layout_mismatch, ir::rule::map_of_another_rank, laid_out([](auto x) { return index_map(x); }));
    book.refuses(layout_mismatch, ir::rule::indices_in_one_place, laid_out([](auto x, auto y) { return index_map(x / 2, y); }));
    book.refuses(layout_mismatch, ir::rule::parts_that_overlap, laid_out([](auto x, auto y) { return index_map(x / 2, x % 4, y); }));
    book.refuses(layout_mismatch, ir::rule::part_of_unequal_parts, laid_out([](auto x, auto y) { return index_map(x % 4 / 3, y); }));
    book.refuses(layout_mismatch, ir::rule::no_part_of_the_box, laid_out([](auto x, auto y) { return index_map(16 * x + y); }));
    book.refuses(layout_mismatch, ir::rule::no_part_of_the_box, laid_out([](auto x, auto y) { return index_map(x - 1, y); }));
    book.refuses(layout_mismatch, ir::rule::no_part_of_the_box, laid_out([](auto x, auto y) { return index_map(x >> 4, y, x & 15); }));
    book.refuses(layout_mismatch, ir::rule::no_part_of_the_box, laid_out([](auto x, auto y) { return index_map(x / 2.5, y); }));
    book.refuses(layout_mismatch, ir::rule::no_part_of_the_box, laid_out([](auto x, auto) { return index_map(x, m); }));
    book.refuses(layout_mismatch, ir::rule::two_separators, laid_out([](auto x, auto y) { return index_map(separator, x, separator, y); }));
    book.refuses(layout_mismatch, ir::rule::blocks_without_banks, laid_out([](auto x, auto y) { return index_map(x, separator, y); }));
    constexpr memory halves{.name = "spad", .base = 0x1000, .capacity = 64_KiB, .banks = 4};
    auto const in_halves = machine("in_halves", dram, halves, acc, transfer("load", dram, halves).dimensions(2), store, mac, mul);
    book.refuses(loop_order, ir::rule::vectorized_across_blocks,
                 schedule(copy, in_halves).vectorize(n).cache_read(D, halves).layout([](auto x, auto y) {
                     return index_map(y / 32, separator, x, y % 32);
                 }));
    auto const on_panels = [&](auto const& map) {
        return schedule(matmul, in_halves)
            .tile(m, n, mo, no, mi, ni, 16, 16)
            .split(k, "ko", "ki", 16)
            .reorder(mo, no, "ko", mi, ni, "ki")
            .cache_read(A, halves)
            .at("ko")
            .layout(map)
            .cache_read(B, halves)
            .at("ko")
            .cache_write(C, acc)
            .at(no)
            .tensorize(mi, ni, "ki", mac);
    };
    book.refuses(intrinsic_mismatch, ir::rule::across_a_split, on_panels([](auto x, auto y) { return index_map(x, y / 8, y % 8); }));
    constexpr memory eighths{.name = "spad", .base = 0x1000, .capacity = 64_KiB, .banks = 8};
    constexpr axis i2{"i2", 2}, j16{"j16", 16};
    auto const plus_one = C(m, n) = D(m, n) + 1;
    constexpr auto add2 = intrinsic("add2", c(i2, j16) = d(i2, j16) + 1).reads(d, eighths).writes(c, acc);
    auto const in_eighths = machine("in_eighths", dram, eighths, acc, transfer("load", dram, eighths).dimensions(2), store, add2);
    book.refuses(intrinsic_mismatch, ir::rule::across_blocks,
                 schedule(plus_one, in_eighths)
                     .cache_read(D, eighths)
                     .layout([](auto x, auto y) { return index_map(x % 8, separator, x / 8, y); })
                     .cache_write(C, acc)
                     .tensorize(m, n, add2));

    // operands that a result overwrites
    constexpr memory held{.name = "held", .base = 0x9000'0000, .capacity = 64_KiB, .banks = 2}, wider{.name = "wider", .capacity = 64_KiB};
    constexpr auto bring = transfer("bring", dram, held).on(dma).asynchronous().dimensions(2);
    constexpr auto take = transfer("take", held, dram).on(dma).asynchronous().dimensions(2);
    constexpr auto keep = transfer("keep", held, wider).on(dma).asynchronous().dimensions(2);
    constexpr auto up = intrinsic("up", c(i, j) = d(i, j) + 1).reads(d, held).writes(c, held).in_place(d);
    auto const over = machine("over", dram, held, wider, dma, bring, take, keep, transfer("leave", wider, dram).dimensions(2), up);
    auto const overwritten = [&] { return schedule(plus_one, over).split(m, mo, mi, 16).split(n, no, ni, 16).reorder(mo, no, mi, ni); };
    book.refuses(in_place, ir::rule::overwrites_an_argument, overwritten().reads(D, held).cache_write(C, held).tensorize(mi, ni, up));
    book.refuses(in_place, ir::rule::overwrites_an_argument, overwritten().cache_read(D, held).writes(C, held).tensorize(mi, ni, up));
    book.refuses(in_place, ir::rule::overwritten_at_another_loop,
                 overwritten().cache_read(D, held).at(no).cache_write(C, held).at(mo).tensorize(mi, ni, up));
    auto const two_halves = [](auto x, auto y) { return index_map(y / 32, x, y % 32); };
    book.refuses(in_place, ir::rule::overwrites_another_layout,
                 overwritten().cache_read(D, held).layout(two_halves).cache_write(C, held).tensorize(mi, ni, up));
    auto const of_next_row = C(m, n) = D(m + 1, n) + 1;
    book.refuses(in_place, ir::rule::overwrites_another_element,
                 schedule(of_next_row, over).cache_read(D, held).cache_write(C, held).tensorize(m, n, up));
    constexpr axis tall{"tall", 80};
    auto const of_some_rows = stages(D(tall, n) = E(tall, n) * 2, C(m, n) = D(m, n) + 1);
    book.refuses(in_place, ir::rule::overwrites_another_box,
                 schedule(of_some_rows, over).store_in(D, held).cache_write(C, held).tensorize(m, n, up));
    constexpr tensor<std::int32_t> L{"L"};
    auto const needed_later = stages(D(m, n) = E(m, n) * 2, C(m, n) = D(m, n) + 1, L(m, n) = C(m, n) * D(m, n));
    book.refuses(in_place, ir::rule::overwritten_and_read,
                 schedule(needed_later, over).store_in(D, held).store_in(C, held).stage(C).tensorize(m, n, up));
    book.refuses(in_place, ir::rule::overwrites_other_versions,
                 overwritten().cache_read(D, held).at(no).buffers(2).cache_write(C, held).at(no).buffers(3).tensorize(mi, ni, up));
    book.refuses(in_place, ir::rule::overwritten_by_other_steps,
                 overwritten().cache_read(D, held).at(no).cache_write(C, wider).at(mo).cache_write(C, held).at(no).tensorize(mi, ni, up));
    book.refuses(in_place, ir::rule::overwritten_in_another_bank,
                 overwritten().cache_read(D, held).at(no).in_bank(0).cache_write(C, held).at(no).in_bank(1).tensorize(mi, ni, up));
    constexpr auto from =
        intrinsic("from", c(i, j) = d(i, j) + sum(l, product)).reads(a, spad).reads(b, spad).reads(d, acc).writes(c, acc).in_place(d);
    auto const from_tiles = machine("from_tiles", dram, spad, acc, load, store, transfer("load_acc", dram, acc).dimensions(2), mac, from);
    auto const of_tile = C(m, n) = D(m, n) + sum(k, wide(A(m, k)) * wide(B(k, n)));
    book.refuses(in_place, ir::rule::overwrites_partial_sums,
                 schedule(of_tile, from_tiles)
                     .split(m, mo, mi, 16)
                     .split(k, ko, ki, 16)
                     .reorder(ko, mo, mi, n, ki)
                     .cache_read(A, spad)
                     .cache_read(B, spad)
                     .cache_read(D, acc)
                     .at(mo)
                     .cache_write(C, acc)
                     .at(mo)
                     .tensorize(mi, n, ki, mac));
    auto const in_no_place = [&](intrinsic const& step) {
        auto const with = machine("with", dram, spad, held, bring, dma, take, step);
        book.refuses(invalid_part, ir::rule::operand_not_in_place, schedule(plus_one, with).cache_read(D, held).cache_write(C, held));
    };
    constexpr tensor<std::int16_t> d16{"d"};
    in_no_place(intrinsic("up", c(i, j) = d(j) + 1).reads(d, held).writes(c, held).in_place(d));
    in_no_place(intrinsic("up", c(i, j) = d(j, i) + 1).reads(d, held).writes(c, held).in_place(d));
    in_no_place(intrinsic("up", c(i, j) = d(i, j) + d(i + 1, j)).reads(d, held).writes(c, held).in_place(d));
    in_no_place(intrinsic("up", c(i, j) = wide(d16(i, j)) + 1).reads(d16, held).writes(c, held).in_place(d16));
    in_no_place(intrinsic("up", c(i, j) = d(i, j) + 1).reads(d, spad).writes(c, held).in_place(d));
    in_no_place(intrinsic("up", c(i, j) = d(i, j) + 1).reads(d, held).writes(c, held).in_place(c));
    in_no_place(intrinsic("up", c(i, j) = d(i, j) + a32(i, j)).reads(d, held).reads(a32, held).writes(c, held).in_place(d).in_place(a32));
    in_no_place(intrinsic("up", c(i, j) = maximum(l, d(i, j))).reads(d, held).updates(c, held).in_place(d));

    // plans that no schedule leads to
    auto const drop = [](ir::step_kind kind, int which, plan_value& plan) {
        for (int at = 0; at < plan.steps.size(); ++at) {
            ir::step& step = plan.steps[at];
            if (step.kind == kind && which-- == 0) step = {ir::step_kind::barrier, -1};
        }
    };
    using enum ir::step_kind;
    book.hazard(ir::rule::read_before_written, read().buffers(2), [&](plan_value& plan) { drop(wait, 0, plan); });
    book.hazard(ir::rule::other_contents, read().buffers(2), [&](plan_value& plan) { drop(start, 1, plan); });
    auto const write = [&] { return schedule(copy, streaming).cache_write(C, spad).at(m); };
    book.hazard(ir::rule::written_while_read, write().buffers(2), [&](plan_value& plan) { drop(wait, 0, plan); });
    auto const sum_of = [](auto const& value) { return C(m, n) = C(m, n) + value; };
    auto const continued = sum_of(D(m, n));
    book.hazard(ir::rule::written_while_written, schedule(continued, streaming).cache_write(C, spad).at(m).buffers(2),
                [&](plan_value& plan) { drop(wait, 1, plan); });
    auto const banked = [&](int ports) {
        memory const vtcm{.name = "vtcm", .capacity = 64_KiB, .banks = 2, .ports = ports};
        return machine("banked", dram, vtcm, dma, transfer("t", dram, vtcm).on(dma).asynchronous());
    };
    auto const two_ports = banked(2), one_port = banked(1);
    book.hazard(ir::rule::bank_in_use, schedule(copy, two_ports).cache_read(D, memory{.name = "vtcm"}).at(m).buffers(3),
                [&](plan_value& plan) { plan.where = &one_port; });
    book.hazard(ir::rule::never_waited_for, write().buffers(2), [&](plan_value& plan) { drop(wait, 1, plan); });
    book.hazard(ir::rule::never_stored, write().buffers(2), [&](plan_value& plan) { drop(start, 0, plan); });

    // tokens
    constexpr engine array{.name = "array", .completes = completion::by_channel};
    auto const token_machine = [&](int capacity, auto const& first) {
        return machine("tokens", dram, spad, acc, dma, array, tokens(dma, array).holds(capacity), tokens(array, dma).holds(capacity),
                       transfer("load", dram, spad).on(dma).asynchronous().dimensions(2), store, intrinsic(mac).on(array).asynchronous(),
                       first);
    };
    auto const with_tokens = token_machine(8, intrinsic(mul).on(array).asynchronous()),
               with_few = token_machine(1, intrinsic(mul).on(array).asynchronous()), other_first = token_machine(8, mul);
    auto const multiply = [&](machine const& where) {
        schedule s(matmul, where);
        s.split(k, ko, ki, 16).reorder(ko, m, n, ki).cache_read(A, spad).at(ko).buffers(3).cache_read(B, spad).at(ko).buffers(3);
        return s.cache_write(C, acc).tensorize(m, n, ki, mac);
    };
    book.refuses(deadlock, ir::rule::tokens_overflow, multiply(with_few));
    book.refuses(intrinsic_mismatch, ir::rule::first_form_elsewhere, multiply(other_first));
    book.hazard(ir::rule::token_never_pushed, multiply(with_tokens), [&](plan_value& plan) { drop(push, 1, plan); });
    book.hazard(ir::rule::token_never_popped, multiply(with_tokens), [&](plan_value& plan) {
        for (int at = 0; at < plan.waits.size(); ++at) plan.waits[at].fewer = 0;
    });
    // A setting that nothing makes.
    auto const uses_scale = transfer("load", dram, spad).dimensions(2).uses(scale, argument::source_stride(1));
    auto const scaled = machine("scaled", dram, spad, scale, uses_scale);
    plan_value unset = make_plan(schedule(copy, scaled).cache_read(D, spad));
    CHECK(!check_plan(unset));
    drop(configure, 0, unset);
    CHECK(check_plan(unset).kind == race);
    CHECK(check_plan(unset).broken == ir::rule::setting_not_made);
    book.sees(check_plan(unset).broken);
    // Tiles that end early: `m` has one row more than a tile.
    auto const in_tiles = [&] { return schedule(copy, streaming).split(m, "mo", "mi", m.extent - 1); };
    auto const never = [](auto& what) { what.bound = 1 << 20; };
    book.excess(ir::rule::outside_of_it, in_tiles().cache_read(D, spad).at("mo"), [&](plan_value& plan) { never(plan.clips[0]); });
    book.excess(ir::rule::never_loaded, in_tiles().cache_read(D, spad).at("mo").cache_write(C, spad).at("mo"),
                [&](plan_value& plan) { never(plan.limits[0]); });
    book.excess(ir::rule::never_computed, in_tiles().cache_write(C, spad).at("mo"), [&](plan_value& plan) { never(plan.clips[0]); });

    // More transfers in flight than can be followed is a verdict of the other kind.
    tensor<std::int32_t> const more[] = {D, E, c, d};
    auto const four = C(m, n) = more[0](m, n) + more[1](m, n) + more[2](m, n) + more[3](m, n);
    schedule crowded(four, streaming);
    for (auto const& one : more) crowded.cache_read(one, spad).at(m).buffers(16);
    plan_value many = make_plan(crowded);
    CHECK(many.refusal.kind == capacity_of_representation);
    many.refusal = {};
    book.sees(detail::find_hazard(many).broken);
    CHECK(detail::find_hazard(many).broken == ir::rule::too_many_in_flight);

    break_programs(book);
    break_rules_of_cores(book);
    break_rules_of_caches(book);
    book.check_complete();
}
