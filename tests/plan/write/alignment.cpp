#include <tilewright/plan/write/alignment.hpp>

#include "plan/small_kernels.hpp"

// What addresses and strides must be multiples of, and at most.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// An argument of 10 x 12 int32 whose rows may lie apart, and a box of 4 x 6.
struct sides : blank {
    std::int16_t o = add_loop(p.plan, "o", 3), still = add_loop(p.plan, "still", 1);
    sides() {
        p.add(buffer{.kind = buffer_kind::argument, .type = scalar_type::int32, .rank = 2, .extents = {10, 12}, .dense_from = 1});
        p.add(buffer{.kind = buffer_kind::staged, .memory = 1, .type = scalar_type::int32, .rank = 2, .extents = {4, 6}});
    }
    buffer& argument() { return p.buffer_at(0); }
    region_fault aligned(buffer_id buffer_at, linear const& row, linear const& column, std::int64_t alignment) {
        fixed_array<linear, max_rank> at{};
        at[0] = row, at[1] = column;
        return align(p, buffer_at, at, alignment);
    }
};

}  // namespace

TEST_CASE("strides of boxes are known, those of arguments where they come without gaps") {
    sides s;
    CHECK((known_stride(s.p, 1_buffer, 0) == 6 && known_stride(s.p, 1_buffer, 1) == 1));
    CHECK((known_stride(s.p, 0_buffer, 0) == 0 && known_stride(s.p, 0_buffer, 1) == 1));
    s.argument().dense_from = 0;
    CHECK(known_stride(s.p, 0_buffer, 0) == 12);
    // … unless run time says how long rows are
    s.p.plan.shapes.push({0_buffer, 1, keep(s.p.plan, 0, {{1, s.o}}), true});
    CHECK((has_open_extents(s.p, 0_buffer, 0) && !has_open_extents(s.p, 0_buffer, 1) && !has_open_extents(s.p, 1_buffer, 0)));
    CHECK(known_stride(s.p, 0_buffer, 0) == 0);
}
TEST_CASE("a stride that is known is a multiple or not, and of others the entry is asked") {
    sides s;
    CHECK_FALSE(ask_for_multiple(s.p, 1_buffer, 0, 2, 16));  // 2 rows of 24 bytes
    region_fault const wrong = ask_for_multiple(s.p, 1_buffer, 0, 1, 16);
    CHECK((wrong.broken == rule::stride_not_aligned && wrong.value == 24 && wrong.limit == 16));
    CHECK_FALSE(ask_for_multiple(s.p, 0_buffer, 0, 1, 64));
    CHECK(s.argument().stride_multiples[0] == 16);  // elements of 4 bytes
    ask_for_multiple(s.p, 0_buffer, 0, 3, 24);      // 12 bytes each: 2 elements
    CHECK(s.argument().stride_multiples[0] == 16);
    ask_for_multiple(s.p, 0_buffer, 0, 1, 96);
    CHECK(s.argument().stride_multiples[0] == 48);
    CHECK_FALSE(ask_for_multiple(s.p, 1_buffer, 0, 0, 16));  // stands still
}
TEST_CASE("of two longest strides the shorter one counts") {
    sides s;
    ask_for_at_most(s.p, 0_buffer, 0, 2, 1024);
    CHECK(s.argument().longest_strides[0] == 128);
    ask_for_at_most(s.p, 0_buffer, 0, 1, 1024);
    CHECK(s.argument().longest_strides[0] == 128);
    ask_for_at_most(s.p, 0_buffer, 0, 1, 400);
    CHECK(s.argument().longest_strides[0] == 100);
}
TEST_CASE("rows cannot lie closer than they are long") {
    sides s;
    CHECK_FALSE(contradiction_in(s.p, 0_buffer));
    s.argument().longest_strides[0] = 12;
    CHECK_FALSE(contradiction_in(s.p, 0_buffer));
    s.argument().stride_multiples[0] = 8;  // 16 elements at least
    region_fault const wrong = contradiction_in(s.p, 0_buffer);
    CHECK((wrong.broken == rule::stride_beyond_reach && wrong.value == 64 && wrong.limit == 48));
    s.argument().longest_strides[0] = 0, s.argument().dense_from = 0;
    CHECK(contradiction_in(s.p, 0_buffer).broken == rule::stride_not_aligned);  // 12 without gaps is no multiple of 8
    CHECK_FALSE(contradiction_in(s.p, 1_buffer));
    CHECK_FALSE(contradiction_in(s.p, no_buffer));
}
TEST_CASE("an address is aligned when all that moves it is") {
    sides s;
    CHECK_FALSE(s.aligned(1_buffer, sum_of(2, {{2, s.o}}), sum_of(4), 16));
    CHECK(s.p.buffer_at(1).alignment == 16);
    region_fault const wrong = s.aligned(1_buffer, sum_of(0), sum_of(0, {{3, s.o}}), 16);  // by 12 bytes
    CHECK((wrong.broken == rule::address_not_aligned && wrong.value == 12 && wrong.limit == 16));
    CHECK(s.aligned(1_buffer, sum_of(1), sum_of(0), 16).value == 8);  // a row of 24 bytes
    CHECK_FALSE(s.aligned(1_buffer, sum_of(0), sum_of(0, {{3, s.still}}), 16));
    // Where rows of an argument lie, its entry checks; they begin at its minimum.
    s.argument().minimum[1] = -4;
    CHECK_FALSE(s.aligned(0_buffer, sum_of(1), sum_of(-4), 16));
    CHECK(s.argument().stride_multiples[0] == 4);
    CHECK(s.aligned(0_buffer, sum_of(1), sum_of(-2), 16).value == 8);
    CHECK_FALSE(s.aligned(0_buffer, sum_of(1), sum_of(-2), 1));
}
TEST_CASE("where addresses are numbers of rows, they are multiples of a row") {
    static constexpr memory rows{.name = "rows", .capacity = 1_KiB, .host_visible = false, .address_unit = 24},
        view{.name = "view", .host_visible = false, .address_unit = 16, .view_of = "spad"};
    static constexpr auto numbered = machine("numbered", dram, rows, spad, view);
    blank s(numbered);
    s.p.add(buffer{.kind = buffer_kind::staged, .memory = 1});
    s.p.add(buffer{.kind = buffer_kind::staged, .memory = 2});
    CHECK(alignment_in(s.p, 0, "rows", 16) == 48);
    CHECK(alignment_in(s.p, 1, "spad", 8) == 8);
    CHECK(alignment_in(s.p, 1, "view", 24) == 48);
}
