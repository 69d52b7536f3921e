#include <tilewright/plan/check/touched.hpp>

#include "plan/small_kernels.hpp"

// Which elements of staged buffers a job touches.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// From `low` on, so many in each step, the innermost first.
touched_side along(std::int64_t low, std::initializer_list<touched_side::progression> steps = {}) {
    touched_side made{.low = low, .high = low};
    for (auto const& p : steps) made.add(p.step, p.extent);
    return made;
}
/// What stands where all loops are at 0.
struct at_rest {
    plan_value const& made;
    fixed_array<std::int64_t, 8> values{};
    plan_value const& plan() const { return made; }
    std::int64_t number_of(movement const&) const { return 0; }
    int version_of(int, int, std::int64_t) const { return 0; }
    std::int64_t value_of(affine const& form, int = -1, std::int64_t = 0) const {
        std::int64_t value = form.constant;
        for (int at = 0; at < form.count; ++at) value += made.term_at(form, at).coefficient * values[made.term_at(form, at).variable];
        return value;
    }
    std::int64_t value_of_first(affine const& form) const { return value_of(form); }
    template <class List>
    int alone_loops(int, List& loops) const {
        loops[0] = 0_variable, loops[1] = 1_variable;
        return 2;
    }
};

}  // namespace

TEST_CASE("steps along a dimension reach from the lowest index to the highest") {
    touched_side const up = along(3, {{4, 5}});
    CHECK((up.low == 3 && up.high == 19 && up.count == 1));
    touched_side const down = along(3, {{-1, 3}, {4, 2}, {0, 9}, {7, 1}});
    CHECK((down.low == 1 && down.high == 7 && down.count == 2));
    CHECK((down.parts[0].step == 1 && down.parts[1].step == 4));
    // More than three steps: everything in between.
    touched_side const many = along(0, {{1, 2}, {10, 2}, {100, 2}, {1000, 2}});
    CHECK((many.count == -1 && many.high == 1111));
}
TEST_CASE("steps that leave no gaps are forgotten") {
    touched_side dense = along(0, {{4, 3}, {1, 4}}), gaps = along(0, {{5, 3}, {1, 4}});
    dense.join(), gaps.join();
    CHECK((dense.count == 0 && dense.high == 11));
    CHECK(gaps.count == 2);
}
TEST_CASE("sides meet where an index is in both") {
    touched_side const even = along(0, {{2, 5}}), odd = along(1, {{2, 5}}), third = along(0, {{3, 3}}), rows = along(0, {{1, 2}, {10, 3}});
    CHECK_FALSE(even.meets(odd));
    CHECK(even.meets(third));
    CHECK_FALSE(odd.meets(along(10, {{2, 2}})));  // behind it
    CHECK(rows.meets(along(21)));
    CHECK_FALSE(rows.meets(along(22)));
    CHECK_FALSE(rows.meets(along(5, {{1, 5}})));  // from 5 to 9, between the rows
    touched_side whole = along(5, {{1, 6}});
    whole.join();
    CHECK((rows.meets(whole) && whole.meets(rows)));  // from 5 to 10
}
TEST_CASE("two parts conflict when one is written and they meet in every dimension") {
    plan_value plan = empty_plan(asynchronous, copy.view());
    plan.buffers.push({.kind = buffer_kind::staged,
                       .memory = 1,
                       .type = scalar_type::int32,
                       .rank = 2,
                       .extents = {4, 8},
                       .bytes = 128,
                       .versions = 2,
                       .bank = 0,
                       .part_stride = 128});
    plan.buffers.push({.kind = buffer_kind::staged,
                       .memory = 1,
                       .type = scalar_type::int32,
                       .rank = 1,
                       .extents = {16},
                       .bytes = 64,
                       .offset = 64,
                       .bank = 0,
                       .part_stride = 64});
    touched_part rows{.buffer = 0_buffer, .writes = true, .sides = {along(0, {{1, 2}}), along(0, {{1, 8}})}}, column = rows;
    column.writes = false;
    column[0] = along(0, {{1, 4}}), column[1] = along(7);
    CHECK(conflict(plan, rows, column));
    column[0] = along(2, {{1, 2}});
    CHECK_FALSE(conflict(plan, rows, column));
    column = rows, column.writes = false, column.version = 1;
    CHECK_FALSE(conflict(plan, rows, column));
    rows.writes = false, column.version = 0;
    CHECK_FALSE(conflict(plan, rows, column));
    // Buffer 1 begins in the third row of buffer 0: at byte 64.
    rows.writes = true;
    touched_part const first{.buffer = 1_buffer, .sides = {along(0)}};
    CHECK(rows.hull(plan.buffers[0]).end == 64);
    CHECK_FALSE(conflict(plan, rows, first));
    rows[0] = along(0, {{1, 3}});
    CHECK(conflict(plan, rows, first));
}
TEST_CASE("a row that goes on into the next one touches both") {
    buffer const b{.rank = 2, .extents = {4, 8}};
    auto const row_from = [&](std::int64_t from, std::int64_t step, std::int64_t extent) {
        touched_part part;
        part[1] = along(from);
        add_along(b, 1, step, extent, part);
        return part;
    };
    touched_part const inside = row_from(2, 2, 3);
    CHECK((inside[1].low == 2 && inside[1].high == 6 && inside[0].high == 0));
    touched_part const whole = row_from(8, 1, 16);  // rows 1 and 2
    CHECK((whole[0].low == 1 && whole[0].high == 2 && whole[1].low == 0 && whole[1].high == 7 && whole[1].count >= 0));
    touched_part const across = row_from(6, 1, 4);  // two of row 0 and two of row 1: all of both
    CHECK((across[0].low == 0 && across[0].high == 1 && across[1].low == 0 && across[1].high == 7 && across[1].count == -1));
}
TEST_CASE("a movement touches what its clips leave, on the staged side alone") {
    plan_value plan = empty_plan(asynchronous, copy.view());
    plan.buffers.push({.kind = buffer_kind::argument, .rank = 2, .extents = {10, 12}});
    plan.buffers.push({.kind = buffer_kind::staged, .rank = 2, .extents = {4, 8}});
    movement m{.source = 0_buffer, .destination = 1_buffer, .row_elements = 8};
    m.dimensions[m.dimension_count++] = {.extent = 4, .source_dimension = 0, .destination_dimension = 0};
    m.destination_at[0] = keep(plan, 0), m.destination_at[1] = keep(plan, 0);
    plan.clips.push({keep(plan, 5), 8, 0, clip_kind::end});     // three rows
    plan.clips.push({keep(plan, 0), 2, -1, clip_kind::begin});  // from the third element on
    m.clip_count = 2;
    touched_list const all = touched_by(at_rest{plan}, m);
    REQUIRE(all.count == 1);
    CHECK((all[0].buffer == 1 && all[0].writes));
    CHECK((all[0][0].low == 0 && all[0][0].high == 2 && all[0][1].low == 2 && all[0][1].high == 7));
}
TEST_CASE("steps that are run as one: the first and the last that touch a part") {
    // for i in 3, j in 4: elements 8 i + 2 j and the next one, of 24.
    plan_value plan = empty_plan(asynchronous, copy.view());
    variable_id const i = add_loop(plan, "i", 3), j = add_loop(plan, "j", 4);
    plan.buffers.push({.kind = buffer_kind::staged,
                       .memory = 1,
                       .type = scalar_type::int8,
                       .rank = 1,
                       .extents = {24},
                       .bytes = 24,
                       .bank = 0,
                       .part_stride = 24});
    plan.operands.push({.buffer = 0_buffer, .at = {keep(plan, 0, {{8, i}, {2, j}})}});
    touched_part const first{.buffer = 0_buffer, .writes = true, .sides = {along(0, {{1, 2}})}};
    touched_part other{.buffer = 0_buffer, .sides = {along(10)}};
    auto const find = [&](std::int64_t from, std::int64_t to, bool last) {
        return step_search(at_rest{plan}, 0, from, to).find(first, 0, other, last);
    };
    CHECK((find(0, 12, false) == 5 && find(0, 12, true) == 5));  // i = 1, j = 1
    other[0] = along(3, {{1, 8}});                               // from 3 to 10: steps 1 to 5
    CHECK((find(0, 12, false) == 1 && find(0, 12, true) == 5));
    CHECK((find(2, 4, false) == 2 && find(2, 4, true) == 3));
    CHECK(find(6, 12, false) == -1);
}
TEST_CASE("the axes of an intrinsic say what its operands touch") {
    static constexpr axis r{"r", 4}, c{"c", 3};
    static constexpr tensor<float> from{"from"}, to{"to"};
    static constexpr auto add = intrinsic("add", to(r) += from(r + 1, 2 * c)).reads(from, spad).updates(to, spad);
    static constexpr auto on = machine("on", dram, spad, add);
    operand_shapes shapes;
    shapes.read(on, 0);
    REQUIRE((shapes.count == 2 && !shapes.overflown));  // the target stands there twice
    plan_value plan = empty_plan(on, copy.view());
    plan.buffers.push({.kind = buffer_kind::staged, .rank = 2, .extents = {8, 8}});
    plan.buffers.push({.kind = buffer_kind::staged, .rank = 1, .extents = {8}});
    plan.operands.push({.buffer = 0_buffer, .at = {keep(plan, 2), keep(plan, 0)}, .dimension = {0, 1}, .factor = {1, 1}});
    plan.operands.push({.buffer = 1_buffer, .at = {keep(plan, 0)}, .dimension = {0}, .factor = {2}});
    auto extents = shapes.extents;
    CHECK((extents[0] == 4 && extents[1] == 3));
    touched_list const all = touched_by(at_rest{plan}, shapes, 0, extents);
    for (int at = 0; at < all.count; ++at) {
        touched_part const& part = all[at];
        if (part.buffer == 0) {
            CHECK_FALSE(part.writes);
            CHECK((part[0].low == 3 && part[0].high == 6));                        // 2 + 1 + r
            CHECK((part[1].low == 0 && part[1].high == 4 && part[1].count == 1));  // 0, 2, 4
        } else {
            CHECK((part.writes && part[0].low == 0 && part[0].high == 6));  // two apart
        }
    }
}
TEST_CASE("a step that goes on from row to row touches the rows after the first") {
    static constexpr axis r{"r", 16};
    static constexpr tensor<float> from{"from"}, to{"to"};
    static constexpr auto copy_all = intrinsic("copy_all", to(r) = from(r)).reads(from, spad).writes(to, spad);
    static constexpr auto on = machine("on", dram, spad, copy_all);
    operand_shapes shapes;
    shapes.read(on, 0);
    plan_value plan = empty_plan(on, copy.view());
    plan.buffers.push({.kind = buffer_kind::staged, .rank = 2, .extents = {8, 8}});
    for (int at : {0, 1})  // the first goes on, the other lies in rows that are long enough
        plan.operands.push(
            {.buffer = 0_buffer, .at = {keep(plan, 2), keep(plan, 0)}, .dimension = {1}, .factor = {1}, .joined = std::int8_t(at - 1)});
    auto extents = shapes.extents;
    auto const rows_of = [&](std::int64_t elements) {
        extents[0] = elements;
        touched_list const all = touched_by(at_rest{plan}, shapes, 0, extents);
        for (int at = 0; at < all.count; ++at) {
            touched_part const& part = all[at];
            if (all.operands[at] == 0) CHECK((part[0].low == 2 && part[0].high == 2));
            else CHECK((part[1].low == 0 && part[1].high == 7));
        }
        return all[all.operands[0] == 1 ? 0 : 1][0].high;
    };
    CHECK(rows_of(16) == 3);
    CHECK(rows_of(12) == 3);  // the second row as a whole
    CHECK(rows_of(8) == 2);
}
TEST_CASE("a later step that begins inside of a row is found wherever it touches") {
    // Steps of 16 elements over 8 rows of 7: step 1 begins at column 2 of row 2.
    plan_value plan = empty_plan(asynchronous, copy.view());
    variable_id const s = add_loop(plan, "s", 4), once = add_loop(plan, "once", 1);
    variable_id const row = add_component(plan, keep(plan, 0, {{16, s}}), 7, 0, 8),
                      column = add_component(plan, keep(plan, 0, {{16, s}}), 1, 7, 7);
    plan.buffers.push({.kind = buffer_kind::staged,
                       .memory = 1,
                       .type = scalar_type::int8,
                       .rank = 2,
                       .extents = {8, 7},
                       .bytes = 56,
                       .bank = 0,
                       .part_stride = 56});
    plan.operands.push({.buffer = 0_buffer,
                        .at = {keep(plan, 0, {{1, row}}), keep(plan, 0, {{1, column}})},
                        .dimension = {1},
                        .factor = {1},
                        .joined = 0});
    REQUIRE(int(once) == 1);
    touched_part first{.buffer = 0_buffer, .writes = true};
    add_along(plan.buffers[0], 1, 1, 16, first);
    CHECK((first[0].high == 2 && first[1].high == 6));
    for (std::int64_t element = 0; element < 56; ++element) {
        touched_part const other{.buffer = 0_buffer, .sides = {along(element / 7), along(element % 7)}};
        auto const find = [&](bool last) { return step_search(at_rest{plan}, 0, 0, 4).find(first, 0, other, last); };
        INFO("element " << element);
        CHECK((find(false) >= 0 && find(false) <= element / 16 && find(true) >= element / 16));
        // The rows before and after those that it touches are no part of it.
        CHECK((find(false) >= element / 16 - 1 && find(true) <= element / 16 + 1));
    }
}
