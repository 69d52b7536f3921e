#include <tilewright/plan/write/call_shape.hpp>

#include "plan/small_kernels.hpp"

// What one call of a transfer moves of a region.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// A region of 3 x 4 x 6 elements, out of an argument of 5 x 8 x 12, dense in a box.
struct planes : blank {
    region r{.source = 0_buffer, .destination = 1_buffer};
    planes() {
        p.add(buffer{.kind = buffer_kind::argument, .type = scalar_type::int32, .rank = 3, .extents = {5, 8, 12}, .dense_from = 2});
        p.add(buffer{.kind = buffer_kind::staged, .type = scalar_type::int32, .rank = 3, .extents = {3, 4, 6}});
        for (std::int8_t d : {0, 1, 2}) r.dimensions[d] = {.source_dimension = d, .destination_dimension = d};
        r.dimensions[0].extent = 3, r.dimensions[1].extent = 4, r.dimensions[2].extent = 6;
        r.count = 3;
    }
    void fill_rows() { p.buffer_at(0).extents = {5, 4, 6}; }
    call_shape shaped(transfer const& by, std::int64_t unit = 1) {
        machine const on("on", dram, spad, by);
        call_shape made;
        fault = shape_call(p, r, limits_of(on, on.transfers[0]), {.row = unit}, made);
        return made;
    }
    region_fault fault;
};
transfer rows(int dimensions) { return transfer("rows", dram, spad).dimensions(dimensions); }
bool is_cut(cut const& made, std::int64_t part, std::int64_t count, bool ends_short) {
    return made.part == part && made.count == count && made.ends_short == ends_short;
}

}  // namespace

TEST_CASE("parts are equal, or the last one is short where equal ones would be twice as many") {
    CHECK(is_cut(cut_into(12, 4, 1, true), 4, 3, false));
    CHECK(is_cut(cut_into(10, 4, 1, true), 2, 5, false));  // three would do
    CHECK(is_cut(cut_into(13, 4, 1, true), 4, 4, true));   // 13 of one, or four
    CHECK(is_cut(cut_into(13, 4, 1, false), 1, 13, false));
    CHECK(is_cut(cut_into(24, 20, 8, true), 8, 3, false));
    CHECK(is_cut(cut_into(20, 16, 8, true), 16, 2, true));  // 20 is no multiple of 8
    CHECK(cut_into(20, 16, 8, false).part == 0);
    CHECK(cut_into(20, 7, 8, true).part == 0);
}
TEST_CASE("the innermost dimension is the row where it lies so on both sides") {
    planes t;
    call_shape const s = shape_of(t.p, t.r);
    CHECK((s.row_elements == 6 && s.row == 2 && s.source_row == 2 && s.count == 2));
    CHECK(s.all_elements() == 72);
    t.r.dimensions[2].source_factor = 2;
    CHECK((shape_of(t.p, t.r).row == -1 && shape_of(t.p, t.r).row_elements == 1 && shape_of(t.p, t.r).count == 3));
    for (int d = 0; d < 3; ++d) t.r.dimensions[d].extent = 1;
    CHECK((shape_of(t.p, t.r).count == 0 && shape_of(t.p, t.r).row_elements == 1));
}
TEST_CASE("dimensions without gaps between them are joined, and the argument has to come so") {
    planes t;
    call_shape s = shape_of(t.p, t.r);
    join(t.p, s, 0);
    CHECK(s.row_elements == 6);  // rows of 12, of which 6 are moved
    t.fill_rows();
    s = shape_of(t.p, t.r);
    join(t.p, s, 1);
    CHECK((s.row_elements == 24 && s.count == 1 && s.dense_source == 1 && s.source_joined == 0b10));
    join(t.p, s, 0);
    CHECK((s.row_elements == 72 && s.count == 0 && s.dense_source == 0));
    // A row that ends early stays one.
    t.r.clips.push({sum_of(0), 5, 2, clip_kind::end});
    s = shape_of(t.p, t.r);
    join(t.p, s, 0);
    CHECK((s.row_elements == 6 && s.count == 1));  // planes of rows are joined
}
TEST_CASE("a row that is too long is cut, and its parts are a dimension") {
    planes t;
    call_shape s = shape_of(t.p, t.r);
    CHECK_FALSE(cut_row(t.p, s, 24, 1));
    CHECK(s.count == 2);
    CHECK_FALSE(cut_row(t.p, s, 12, 1));
    CHECK((s.row_elements == 3 && s.count == 3 && s.at(2).extent == 2 && s.at(2).source_factor == 3));
    region_fault const wrong = cut_row(t.p, s, 4, 2);
    CHECK((wrong.broken == rule::row_without_parts && wrong.value == 8 && wrong.limit == 4));
}
TEST_CASE("a call has as many dimensions as it can, and loops take the others") {
    planes t;
    call_shape const all = t.shaped(rows(3)), two = t.shaped(rows(2)), one = t.shaped(rows(1));
    CHECK((all.elements == 72 && all.piece_count == 2));
    CHECK((two.elements == 24 && two.piece_count == 1 && two.left[0] == 3 && two.left[1] == 1));
    CHECK((one.elements == 6 && one.left[0] == 3 && one.left[1] == 4));
    // Without gaps, all of it is one row.
    t.fill_rows();
    CHECK((t.shaped(rows(1)).elements == 72 && t.shaped(rows(1)).row_elements == 72));
}
TEST_CASE("the longest call that is legal: extents and rows are limited") {
    planes t;
    CHECK(t.shaped(rows(2).extent_limit(3)).elements == 6 * 3);      // planes rather than rows
    CHECK(t.shaped(rows(3).extent_limit(2)).elements == 6 * 2 * 2);  // two rows, twice
    CHECK(t.shaped(rows(2).row_limit(12)).row_elements == 3);
    CHECK(t.shaped(rows(3).extent_limit(2, 2)).elements == 6 * 3 * 2);  // planes, then two rows: three planes have no equal parts
    CHECK_FALSE(t.fault);
    t.shaped(rows(1).row_limit(8), 4);
    CHECK(t.fault.broken == rule::row_without_parts);
}
TEST_CASE("strides that no call takes are left to loops") {
    planes t;
    auto const at_destination = [&](std::int64_t multiple) {
        return t.shaped(rows(2).strides_of_destination({.multiple = multiple})).elements;
    };
    CHECK(at_destination(8) == 24);   // rows of 24 bytes
    CHECK(at_destination(16) == 18);  // planes of 96
    CHECK(at_destination(64) == 6);
    CHECK(t.shaped(rows(2).strides_of_destination({.most = 23})).elements == 6);
}
TEST_CASE("what the argument's strides must be is asked, where the plan does not know them") {
    planes t;
    call_shape const s = shape_of(t.p, t.r);
    stride_fit const open = fit(t.p, s, true, s.at(0), {.most = 4096, .multiple = 64}, -1);
    CHECK((open.legal && open.multiple == 64 && open.most == 4096));
    // A plane is 8 rows of 12: 384 bytes at least.
    CHECK(fit(t.p, s, true, s.at(0), {.most = 384, .multiple = 64}, -1).legal);
    CHECK_FALSE(fit(t.p, s, true, s.at(0), {.most = 383, .multiple = 64}, -1).legal);
    CHECK(fit(t.p, s, false, s.at(0), {.exactly = 96}, -1).legal);
    CHECK_FALSE(fit(t.p, s, false, s.at(0), {.exactly = 100}, -1).legal);
    CHECK((fit(t.p, s, false, s.at(0), {.none = true}, 96).legal && !fit(t.p, s, false, s.at(0), {.none = true}, 24).legal));
    t.r.source = no_buffer;
    CHECK(fit(t.p, shape_of(t.p, t.r), true, s.at(0), {.exactly = 1}, -1).legal);
}
