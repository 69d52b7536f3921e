#include <tilewright/plan/write/region.hpp>

#include "plan/small_kernels.hpp"

// A box of elements that is to be moved from one buffer to another.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// Loop o of 3; an argument of 10 x 12 and a box of 4 x 6.
struct sides : blank {
    std::int16_t o = add_loop(p.plan, "o", 3);
    region r{.source = 0_buffer, .destination = 1_buffer};
    sides() {
        p.add(buffer{.kind = buffer_kind::argument, .type = scalar_type::int32, .rank = 2, .extents = {10, 12}, .dense_from = 1});
        p.add(buffer{.kind = buffer_kind::staged, .type = scalar_type::int32, .rank = 2, .extents = {4, 6}});
        r.dimensions[0] = {.extent = 4, .source_dimension = 0, .destination_dimension = 0};
        r.dimensions[1] = {.extent = 6, .source_dimension = 1, .destination_dimension = 1, .source_factor = 2};
        r.count = 2;
    }
    region::clipped clip(clip_kind is, std::int64_t constant, std::int64_t bound, int dimension = 1) const {
        return {sum_of(constant, {{4, o}}), bound, static_cast<std::int8_t>(dimension), is};
    }
    border_reach reach(region::clipped const& c, std::int64_t extent = 6) const { return reach_of_border(p, r, c, extent); }
};

}  // namespace

TEST_CASE("steps on both sides are in elements of their buffer") {
    sides s;
    CHECK((source_step(s.p, s.r, s.r.dimensions[0]) == 12 && source_step(s.p, s.r, s.r.dimensions[1]) == 2));
    CHECK((destination_step(s.p, s.r, s.r.dimensions[0]) == 6 && destination_step(s.p, s.r, s.r.dimensions[1]) == 1));
    s.r.source = no_buffer;
    CHECK(source_step(s.p, s.r, s.r.dimensions[0]) == 0);
}
TEST_CASE("clips shorten a dimension, or what is read of it") {
    sides s;
    CHECK_FALSE(s.r.is_clipped(1));
    s.r.add(s.p, s.clip(clip_kind::border_begin, 0, 0));
    CHECK((s.r.is_clipped(1) && !s.r.is_shortened(1) && s.r.padded_ends(1) == 1 && s.r.padded_ends(0) == 0));
    s.r.add(s.p, s.clip(clip_kind::border_end, 0, 9));
    CHECK(s.r.padded_ends(1) == 3);
    s.r.add(s.p, s.clip(clip_kind::end, 0, 9, 0));
    s.r.add(s.p, s.clip(clip_kind::only, 0, 9, 1));
    CHECK((s.r.is_shortened(0) && !s.r.is_shortened(1)));
    int visited = 0;
    s.r.each_end(1, [&](region::clipped&) { ++visited; });
    CHECK(visited == 2);
}
TEST_CASE("a region has so many clips, and no more") {
    sides s;
    for (int at = 0; at < region::most_clips; ++at) s.r.add(s.p, {});
    CHECK_FALSE(s.p.refused());
    s.r.add(s.p, {});
    CHECK(s.p.first_verdict().names[0] == "clips of one transfer");
}
TEST_CASE("a dimension that became a loop makes a call where it has an element") {
    sides s;
    region::clipped end = s.clip(clip_kind::end, 1, 9), begin = s.clip(clip_kind::begin, 1, 3);
    region::call_where_there_is(end);
    CHECK((end.is == clip_kind::only && end.bound == 9 && end.dimension == -1 && same(end.form, sum_of(1, {{4, s.o}}))));
    // 4 o + 1 >= 3 is -(4 o + 1) < -2
    region::call_where_there_is(begin);
    CHECK((begin.bound == 1 - 3 && same(begin.form, sum_of(-1, {{-4, s.o}}))));
}
TEST_CASE("a border reaches as far inside as loops bring it, and what it leaves is read") {
    sides s;  // 4 o goes to 8
    border_reach const front = s.reach(s.clip(clip_kind::border_begin, -2, 0)), behind = s.reach(s.clip(clip_kind::border_end, -2, 10));
    CHECK((front.outside == 2 && front.inside == 4));
    CHECK((behind.outside == 2 && behind.inside == 4));  // from 6 to 11
    CHECK(s.reach(s.clip(clip_kind::border_begin, 0, 0)).outside == 0);
}
TEST_CASE("where a tile ends early, its border is less, or what is read is") {
    sides s;
    s.r.clips.push(s.clip(clip_kind::end, -2, 11));
    border_reach const behind = s.reach(s.clip(clip_kind::border_end, -2, 10));
    CHECK(behind.outside == 1);  // up to 10, of which 10 lies outside
    s.r.clips = {};
    s.r.clips.push(s.clip(clip_kind::end, -2, 1));
    CHECK(s.reach(s.clip(clip_kind::border_begin, -2, 0)).inside == 1);
}
TEST_CASE("what is joined behind a dimension makes several of each of its elements") {
    sides s;
    s.r.clips.push(s.clip(clip_kind::end, 1, 10, 0));
    s.r.clips.push(s.clip(clip_kind::end, 1, 10, 1));
    scale_ends(s.r, 0, 1, 6);
    CHECK((s.r.clips[0].bound == 60 && s.r.clips[0].dimension == 1 && same(s.r.clips[0].form, sum_of(6, {{24, s.o}}))));
    CHECK(s.r.clips[1].bound == 10);
}
TEST_CASE("an argument that was joined must come without gaps, from the outermost such dimension on") {
    sides s;
    rely_on_dense(s.p, 0_buffer, 1);
    CHECK(s.p.buffer_at(0).dense_from == 1);
    rely_on_dense(s.p, 0_buffer, 0);
    CHECK(s.p.buffer_at(0).dense_from == 0);
    rely_on_dense(s.p, no_buffer, 0);
}
TEST_CASE("the largest divisor up to a number") {
    CHECK((divisor_up_to(12, 5) == 4 && divisor_up_to(12, 12) == 12 && divisor_up_to(13, 12) == 1 && divisor_up_to(36, 17) == 12));
    CHECK(divisor_up_to(1, 9) == 1);
}
