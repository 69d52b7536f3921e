#include "catch.hpp"
#include "kernels/schedules.hpp"

// Boxes, offsets, lifetimes, traffic and cycles of plans, worked out by hand.

using namespace kernels;
using namespace tilewright::ir;

namespace {

constexpr buffer const& find(plan_value const& of, ir::label const& name) {
    int at = 0;
    while (of.buffers[at].name != name) ++at;
    return of.buffers[at];
}
template <class... Extents>
constexpr bool has_box(plan_value const& of, ir::label const& name, Extents... extents) {
    buffer const& b = find(of, name);
    fixed_array<std::int64_t, max_rank> const wanted{extents...};
    return b.rank == sizeof...(extents) && b.extents == wanted;
}

// matmul in tiles of 8 x 8 x 12
static_assert(has_box(plan<matmul_nn_on_dsp>, "A.l1", 8, 12));
static_assert(has_box(plan<matmul_nn_on_dsp>, "B.l1", 12, 8));
static_assert(has_box(plan<matmul_nn_on_dsp>, "C.l1", 8, 8));
static_assert(find(plan<matmul_nn_on_dsp>, "C.l1").bytes == 8 * 8 * 4);

// B whole in l2: it has no loop; A's block of rows at mo; tiles of both in l1
static_assert(has_box(plan<matmul_nt_on_dsp>, "A.l2", 12, 36));
static_assert(has_box(plan<matmul_nt_on_dsp>, "B.l2", 40, 36));
static_assert(has_box(plan<matmul_nt_on_dsp>, "A.l1", 12, 9));
static_assert(has_box(plan<matmul_nt_on_dsp>, "B.l1", 20, 9));
static_assert(has_box(plan<matmul_nt_on_dsp>, "C.l2", 12, 40));
static_assert(has_box(plan<matmul_nt_on_dsp>, "C.l1", 12, 20));

// 16 outputs and 7 taps touch 16 + 7 - 1 inputs
static_assert(has_box(plan<conv1d_on_dsp>, "in.l1", 22));
static_assert(has_box(plan<conv1d_on_dsp>, "weights.l1", 7));
static_assert(has_box(plan<conv1d_on_dsp>, "in", 102));

// 2 x 4 outputs with stride 2 and three taps at dilation 2: 2 * (2 - 1) + 2 * (3 - 1) + 1 = 7 rows, 2 * (4 - 1) + 4 + 1 = 11 columns
static_assert(has_box(plan<conv2d_on_dsp>, "image.l1", 7, 11, 8));
static_assert(has_box(plan<conv2d_on_dsp>, "filters.l1", 3, 3, 8, 8));
static_assert(has_box(plan<conv2d_on_dsp>, "features.l1", 2, 4, 8));
// the whole image: 2 * 7 + 2 * 2 + 1 by 2 * 11 + 2 * 2 + 1
static_assert(has_box(plan<conv2d_on_dsp>, "image", 19, 27, 8));

// 6 rows of the result need 8 rows of the first stage, and those 2 more columns of the picture
static_assert(has_box(plan<blur_on_dsp>, "blur_x.l1", 8, 16));
static_assert(has_box(plan<blur_on_dsp>, "picture.l1", 8, 18));
static_assert(has_box(plan<blur_on_dsp>, "blur_y.l1", 6, 16));
static_assert(has_box(plan<blur_on_dsp>, "picture", 26, 34));

// a reduction staged in parts, and dimensions that a loop pins to one element
static_assert(has_box(plan<row_max_on_dsp>, "table.l1", 10, 25));
static_assert(has_box(plan<row_max_on_dsp>, "highest.l1", 10));
static_assert(has_box(plan<contraction_on_dsp>, "left.l1", 2, 5, 1, 8));
static_assert(has_box(plan<contraction_on_dsp>, "right.l1", 4, 10, 1));
static_assert(has_box(plan<contraction_on_dsp>, "contracted.l1", 2, 1, 10));

// One stage after the other: the picture in l1 is dead when the result's buffer is born, so both are at offset 0.
constexpr auto const& in_turn = plan<blur_in_turn>;
static_assert(find(in_turn, "picture.l1").bytes == 26 * 34 * 4 && find(in_turn, "blur_y.l1").bytes == 24 * 32 * 4);
static_assert(in_turn.peak(l1) == 26 * 34 * 4);
static_assert(find(in_turn, "picture.l1").dead <= find(in_turn, "blur_y.l1").born);

// Traffic: 3 x 5 tiles of C, 3 steps of k each. A moves 8 x 12 bytes and B 12 x 8 at each step, C 8 x 8 x 4 at each tile.
static_assert(plan<matmul_nn_on_dsp>.calls(dram_l1) == 3 * 5 * 3 * 2);
static_assert(plan<matmul_nn_on_dsp>.bytes(dram_l1) == 3 * 5 * 3 * (8 * 12 + 12 * 8));
static_assert(plan<matmul_nn_on_dsp>.calls(l1_dram) == 3 * 5);
static_assert(plan<matmul_nn_on_dsp>.bytes(l1_dram) == 24 * 40 * 4);

// Cycles: a load of 96 bytes takes 48 + 96 / 8, a store of 256 takes 48 + 256 / 8. Each of the 24 * 40 * 36 steps loads three values (2
// each), converts two (1), multiplies (3), adds (1) and stores (2); the identity is stored 24 * 40 times (2).
static_assert(plan<matmul_nn_on_dsp>.cycles() ==
              3 * 5 * 3 * 2 * (48 + 12) + 3 * 5 * (48 + 32) + 24 * 40 * 36 * (3 * 2 + 2 + 3 + 1 + 2) + 24 * 40 * 2);

// Each directive knows its own line, wherever its chain begins. Nobody plans this schedule.
// clang-format off
constexpr int before_directives = __LINE__ + 1;
constexpr schedule on_lines = schedule(matmul_nn, dsp)
    .stage(int8_operands::C)
    .split(m, mo, mi, 8)
    .cache_read(int8_operands::A, l1)
    .at(mo)
    .by(dram_l1)
    .buffers(2)
    .prefetch(1)
    .in_bank(0)
    .layout([](auto i, auto j) { return index_map(j, i); })
    .cache_write(int8_operands::C, l1)
    .store_in(int8_operands::C, l2)
    .reads(int8_operands::A, dram)
    .writes(int8_operands::C, dram)
    .on(scalar_core, 0);
// clang-format on
constexpr bool one_on_each_line(schedule const& s, int line) {
    for (int at = 0; at < s.directive_count(); ++at)
        if (s.directive_at(at).line != ++line) return false;
    return s.directive_count() == 14;
}
static_assert(one_on_each_line(on_lines, before_directives));

}  // namespace

TEST_CASE("plans at run time are those of the compiler") {
    plan_value const again = make_plan(matmul_nt_on_dsp);
    CHECK(again.total_cycles == plan<matmul_nt_on_dsp>.total_cycles);
    CHECK(again.steps.size() == plan<matmul_nt_on_dsp>.steps.size());
    CHECK(again.peak(l1) == plan<matmul_nt_on_dsp>.peak(l1));
    for (int at = 0; at < again.buffers.size(); ++at) {
        auto const position = static_cast<std::size_t>(at);
        CHECK(again.buffers[position].offset == plan<matmul_nt_on_dsp>.buffers[position].offset);
    }
}

TEST_CASE("buffers that live at one time never share bytes") {
    for (plan_value const* of :
         std::initializer_list<plan_value const*>{&plan<matmul_nn_on_dsp>, &plan<matmul_nt_on_dsp>, &plan<conv2d_on_dsp>,
                                                  &plan<blur_on_dsp>, &plan<blur_in_turn>, &plan<contraction_on_dsp>}) {
        for (int at = 0; at < of->buffers.size(); ++at) {
            buffer const& a = of->buffers[at];
            if (a.kind == buffer_kind::argument) continue;
            CHECK(a.offset % of->where->memories[a.memory].alignment == 0);
            CHECK(a.offset + a.bytes <= of->where->memories[a.memory].capacity);
            for (int other = 0; other < at; ++other) {
                buffer const& b = of->buffers[other];
                if (b.kind == buffer_kind::argument || b.memory != a.memory) continue;
                bool const at_one_time = a.born < b.dead && b.born < a.dead;
                bool const apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
                CHECK((apart || !at_one_time));
            }
        }
    }
}

TEST_CASE("a tile of outputs with gaps is not stored, for the gaps hold what other iterations computed") {
    // At ei, one iteration computes 5 elements that are 24 apart: the box of 97 is mostly gaps.
    auto const strided = schedule(select_difference, dsp).split(e, eo, ei, 24).reorder(ei, eo).cache_write(selected, l1).at(ei);
    verdict const refusal = make_plan(strided).refusal;
    CHECK(refusal.kind == verdict_kind::loop_order);
    CHECK(refusal.broken == ir::rule::gaps_between_outputs);
    CHECK(refusal.facts[0].value == 5);
    CHECK(refusal.facts[1].value == 97);
    // Staging the input of the same loops is no harm.
    CHECK(!make_plan(schedule(select_difference, dsp).split(e, eo, ei, 24).reorder(ei, eo).cache_read(p, l1).at(ei)).refusal);
}
TEST_CASE("partial tiles of two axes that an index adds: both lose their part of the sum") {
    // 10 outputs in tiles of 4 and 5 taps in pieces of 2: (4 + 4 + 2) times 3 pieces, (2 + 2 + 1) times 3 tiles, less one for each.
    constexpr axis x{"x", 10}, tap{"tap", 5}, xo{"xo"}, xi{"xi"}, to{"to"}, ti{"ti"};
    constexpr tensor<std::int8_t> signal{"signal"}, weights{"weights"}, filtered{"filtered"};
    auto const filter = filtered(x) += signal(x + tap) * weights(tap);
    plan_value const made =
        make_plan(schedule(filter, dsp).split(x, xo, xi, 4).split(tap, to, ti, 2).reorder(xo, to, xi, ti).cache_read(signal, l1).at(to));
    REQUIRE(made.refusal.kind == verdict_kind::none);
    CHECK(has_box(made, "signal.l1", 4 + 2 - 1));
    CHECK(made.calls(dram_l1) == 3 * 3);
    CHECK(made.bytes(dram_l1) == 10 * 3 + 5 * 3 - 3 * 3);
}
TEST_CASE("a box around partial tiles has what there is, at the beginning of what is read backwards too") {
    constexpr axis x{"x", 10}, xo{"xo"}, xi{"xi"};
    constexpr tensor<std::int8_t> given{"given"}, turned{"turned"};
    auto const turn = turned(x) = given(9 - x);
    auto const copy = turned(x) = given(x);
    for (schedule const& of : {schedule(turn, dsp), schedule(copy, dsp)}) {
        plan_value const made = make_plan(schedule(of).split(x, xo, xi, 4).cache_read(given, l1));
        REQUIRE(made.refusal.kind == verdict_kind::none);
        CHECK(has_box(made, "given.l1", 10));
        CHECK(has_box(made, "given", 10));
    }
}
TEST_CASE("what one step reads and writes lies apart") {
    constexpr axis row{"row", 8}, lane{"lane", 8}, rows{"rows", 8}, columns{"columns", 8};
    constexpr tensor<float> from{"from"}, to{"to"}, given{"given"}, halved{"halved"};
    auto const halve = intrinsic("halve", to(row, lane) = from(row, lane) * 0.5f).reads(from, l1).writes(to, l1);
    auto const on = machine("on", dram, l1, dma, dram_l1, l1_dram, halve);
    auto const halving = halved(rows, columns) = given(rows, columns) * 0.5f;
    plan_value const made = make_plan(schedule(halving, on).cache_read(given, l1).cache_write(halved, l1).tensorize(rows, columns, halve));
    REQUIRE(made.refusal.kind == verdict_kind::none);
    CHECK(made.peak(l1) == 2 * 8 * 8 * 4);
}
TEST_CASE("a buffer that is moved up may meet one that it lay below") {
    // first and second are 100 and 90 bytes, one upon the other. When first is dead, third lies at 0, below second. fourth neither fits
    // between those two.
    constexpr axis a{"a", 100}, b{"b", 90}, c{"c", 80}, d{"d", 70}, e{"e", 70};
    constexpr tensor<std::int8_t> given{"given"}, first{"first"}, second{"second"}, third{"third"}, fourth{"fourth"}, last{"last"};
    constexpr memory bytes{.name = "bytes", .capacity = 260, .alignment = 1};
    auto const on = machine("on", dram, bytes);
    auto const what = stages(first(a) = given(a) + given(a), second(b) = first(b) - first(b + 10), third(c) = second(c) - second(c + 10),
                             fourth(d) = second(d) - second(d + 20), last(e) = third(e) - third(e + 10) - fourth(e));
    plan_value const made =
        make_plan(schedule(what, on).store_in(first, bytes).store_in(second, bytes).store_in(third, bytes).store_in(fourth, bytes));
    REQUIRE(made.refusal.kind == verdict_kind::none);
    CHECK(find(made, "first.bytes").offset == 0);
    CHECK(find(made, "second.bytes").offset == 100);
    CHECK(find(made, "third.bytes").offset == 0);
    CHECK(find(made, "fourth.bytes").offset == 190);
}
TEST_CASE("a memory is full at its last byte") {
    constexpr tensor<std::int8_t> given{"given"}, taken{"taken"};
    for (std::int64_t count : {63, 64, 65}) {
        axis const x{"x", count};
        constexpr memory small{.name = "small", .capacity = 64, .alignment = 1};
        auto const on = machine("on", dram, small, transfer("load", dram, small));
        auto const copy = taken(x) = given(x);
        verdict const refusal = make_plan(schedule(copy, on).cache_read(given, small)).refusal;
        CHECK(refusal.kind == (count > 64 ? verdict_kind::memory_overflow : verdict_kind::none));
    }
}
TEST_CASE("what a border takes from the beginning of a box is not taken from its end, which run time decides") {
    // A row of the result reads the rows from one before to one behind it: 5 rows read 7, of which the first is in the border.
    constexpr axis rows{"rows", 8}, y{"y", dynamic.up_to(8)}, tap{"tap", 3};
    constexpr tensor<std::int8_t> given{"given"}, added{"added"};
    auto const add = added(y) += padded(given(rows), 0)(y + tap - 1);
    plan_value const made = make_plan(schedule(add, dsp).cache_read(given, l1));
    REQUIRE(made.refusal.kind == verdict_kind::none);
    CHECK(has_box(made, "given.l1", 10));
    CHECK(made.at({{y, 5}}).bytes(dram_l1) == 6);
    CHECK(made.at({{y, 8}}).bytes(dram_l1) == 8);
}
TEST_CASE("what a producer reads ends behind the last that any iteration around it reads") {
    // 5 results read 7 of mid, which is computed for each of 3 taps, from that tap on.
    constexpr axis x{"x", dynamic.up_to(8)}, x2{"x2", dynamic}, tap{"tap", 3};
    constexpr tensor<std::int8_t> given{"given"}, mid{"mid"}, added{"added"};
    auto const what = stages(mid(x2) = given(x2) + given(x2), added(x) += mid(x + tap));
    plan_value const made =
        make_plan(schedule(what, dsp).reorder(tap, x).compute_at(mid, tap).store_in(mid, l1).stage(mid).cache_read(given, l1));
    REQUIRE(made.refusal.kind == verdict_kind::none);
    CHECK(has_box(made, "given.l1", 10));
    CHECK(has_box(made, "mid.l1", 8));
    CHECK(made.at({{x, 5}}).bytes(dram_l1) == 7);
}
TEST_CASE("loops work on no memory that they do not see") {
    constexpr memory hidden{.name = "hidden", .capacity = 64, .host_visible = false};
    constexpr axis x{"x", 16};
    constexpr tensor<std::int8_t> given{"given"}, taken{"taken"};
    auto const on = machine("on", dram, hidden, transfer("load", dram, hidden));
    auto const copy = taken(x) = given(x);
    verdict const refusal = make_plan(schedule(copy, on).cache_read(given, hidden)).refusal;
    CHECK(refusal.kind == verdict_kind::host_access);
    CHECK(refusal.names[0] == hidden.name);
    CHECK(refusal.names[1] == given.name);
}
TEST_CASE("accesses that move apart have no common box") {
    constexpr axis x{"x", 16};
    constexpr tensor<std::int8_t> given{"given"}, added{"added"};
    auto const uneven = added(x) = given(2 * x) + given(x);
    CHECK(make_plan(schedule(uneven, dsp).cache_read(given, l1)).refusal.kind == verdict_kind::none);
    CHECK(make_plan(schedule(uneven, dsp).cache_read(given, l1).at(x)).refusal.kind == verdict_kind::box_not_constant);
}
TEST_CASE("a tile takes whole registers for each of its rows, and no more than there are") {
    // Rows of 12 floats in registers of 8: two for each. Besides, a vector of 12 is read, and doubled in a register.
    constexpr axis rows{"rows", 12}, columns{"columns", 36}, ro{"ro"}, ri{"ri"}, co{"co"}, ci{"ci"};
    constexpr tensor<float> given{"given"}, doubled{"doubled"};
    constexpr core cpu{.name = "cpu"};
    auto const twice = doubled(rows, columns) = given(rows, columns) * 2;
    for (std::int64_t count : {6, 7, 8}) {
        memory const file = register_file("file", count, 32);
        auto const host = machine("host", dram, file, cpu, transfer("store", file, dram).on(cpu));
        plan_value const made = make_plan(
            schedule(twice, host).tile(rows, columns, ro, co, ri, ci, 2, 12).unroll(ri).vectorize(ci).cache_write(doubled, file).at(co));
        INFO(count << " registers, of which it needs " << made.refusal.facts[0].value);
        CHECK(made.refusal.kind == (count < 7 ? verdict_kind::register_overflow : verdict_kind::none));
        if (!made.refusal) CHECK(made.peak(file) == 2 * 2 * 32);
        else CHECK(made.refusal.facts[0].value == 7);
    }
}
TEST_CASE("a plan is asked for extents that it can be at") {
    constexpr axis x{"x", dynamic.up_to(8)};
    constexpr tensor<std::int8_t> given{"given"}, taken{"taken"};
    auto const copy = taken(x) = given(x);
    plan_value const made = make_plan(schedule(copy, dsp).cache_read(given, l1));
    REQUIRE(made.refusal.kind == verdict_kind::none);
    CHECK(made.at({{x, 8}}).bytes(dram_l1) == 8);
    CHECK_THROWS_AS(made.at({{x, 9}}), bad_query);
    CHECK_THROWS_AS(made.at({{x, 0}}), bad_query);
}
