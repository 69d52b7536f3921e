#include <tilewright/plan/write/packing.hpp>

#include <vector>

#include "plan/small_kernels.hpp"

// Moves regions into buffers with a layout, and out of them.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr auto pack = transfer("pack", dram, spad).dimensions(4);
constexpr auto aside = transfer("aside", dram, spad).on(loader).asynchronous().dimensions(2);
constexpr auto where = machine("where", dram, spad, loader, pack, aside);

/// An argument of 10 x 6 and a box of as much in panels: [row / 4, column, row % 4], of 3 x 6 x 4.
struct panels : blank {
    region r{.source = 0_buffer, .destination = 1_buffer};
    panels() : blank(where) {
        p.add(buffer{
            .tensor = "A", .kind = buffer_kind::argument, .type = scalar_type::int32, .rank = 2, .extents = {10, 6}, .dense_from = 1});
        buffer_layout l{.rank = 2, .extents = {10, 6}};
        l.coordinates[0] = {0, 4, 0}, l.coordinates[1] = {1, 1, 0}, l.coordinates[2] = {0, 1, 4};
        p.plan.layouts.push(l);
        p.add(buffer{.tensor = "A",
                     .kind = buffer_kind::staged,
                     .memory = 1,
                     .type = scalar_type::int32,
                     .rank = 3,
                     .extents = {3, 6, 4},
                     .layout = 0});
        for (std::int8_t d : {0, 1}) r.dimensions[d] = {.source_dimension = d, .destination_dimension = d};
        r.dimensions[0].extent = 8, r.dimensions[1].extent = 6;
        r.count = 2;
    }
    packing::cuts cuts(int dimension) { return packing{p, r}.cuts_of(r.dimensions[dimension]); }
    /// Elements of each movement.
    std::vector<std::int64_t> moved() const {
        std::vector<std::int64_t> all;
        for (int at = 0; at < p.plan.movements.size(); ++at) all.push_back(p.plan.movements[at].bytes / 4);
        return all;
    }
};
using sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a dimension is cut where a layout splits it, when it begins there") {
    panels t;
    packing::cuts const rows = t.cuts(0), columns = t.cuts(1);
    REQUIRE((rows.count == 2 && columns.count == 1));
    CHECK((rows.parts[0].extent == 2 && rows.parts[0].weight == 4 && rows.parts[1].extent == 4 && rows.parts[1].weight == 1));
    t.r.dimensions[0].extent = 10;
    CHECK(t.cuts(0).parts[0].extent == 3);
    // Inside of one panel there is nothing to cut; across two of them there is no constant step.
    t.r.dimensions[0].extent = 3, t.r.destination_at[0].constant = 5;
    CHECK((t.cuts(0).count == 1 && t.cuts(0).parts[0].extent == 3));
    t.r.destination_at[0].constant = 6;
    CHECK(t.cuts(0).count == 0);
    t.r.destination_at[0].constant = 4, t.r.dimensions[0].extent = 6;
    CHECK(t.cuts(0).count == 2);
}
TEST_CASE("a part moves along the dimension of the buffer that its step belongs to") {
    panels t;
    packing const work{t.p, t.r};
    auto const is = [&](buffer_id buffer_at, std::int64_t step, int dimension, std::int64_t factor) {
        packing::direction const found = work.direction_of(buffer_at, 0, step);
        return found.dimension == dimension && found.factor == factor;
    };
    CHECK((is(1_buffer, 1, 2, 1) && is(1_buffer, 2, 2, 2) && is(1_buffer, 4, 0, 1) && is(1_buffer, 8, 0, 2)));
    CHECK(is(0_buffer, 4, 0, 4));
}
TEST_CASE("whole panels are one call, and what is left of the last one another") {
    panels whole, rest;
    move_region(whole.p, whole.r, 0, 0);
    CHECK(whole.moved() == sizes{48});
    rest.r.dimensions[0].extent = 10;
    move_region(rest.p, rest.r, 0, 0);
    CHECK(rest.moved() == sizes{48, 12});
    CHECK((rest.p.plan.movements[0].piece == 0 && rest.p.plan.movements[1].piece == 1 && rest.p.plan.movements[1].pieces == 2));
    // The rest begins at row 8, the third panel.
    CHECK(same(rest.p.form_of(rest.p.plan.movements[1].source_at[0]), sum_of(8)));
    CHECK(same(rest.p.form_of(rest.p.plan.movements[1].destination_at[0]), sum_of(2)));
}
TEST_CASE("what has no constant step goes element by element, in a loop") {
    panels t;
    t.r.dimensions[0].extent = 3, t.r.destination_at[0].constant = 6;
    move_region(t.p, t.r, 0, 0);
    REQUIRE(t.p.plan.steps.size() == 3);
    CHECK((t.p.plan.steps[0].kind == step_kind::loop && t.p.plan.steps[2].kind == step_kind::end));
    CHECK(t.p.var(t.p.plan.steps[0].what).extent == 3);
    CHECK(t.moved() == sizes{6});
}
TEST_CASE("what goes to several places is moved to each in turn") {
    panels t;
    t.r.destination = 0_buffer, t.r.source = 0_buffer;
    t.r.dimensions[0].source_dimension = -1;
    CHECK((is_repeated(t.r, 0) && !is_repeated(t.r, 1)));
    move_region(t.p, t.r, 0, 0);
    CHECK(t.moved() == sizes{6});
    CHECK(t.p.var(t.p.plan.steps[0].what).extent == 8);
    t.r.dimensions[0].extent = 1;
    CHECK_FALSE(is_repeated(t.r, 0));
    t.r.source = no_buffer, t.r.dimensions[0].extent = 8;
    CHECK_FALSE(is_repeated(t.r, 0));  // a fill
}
TEST_CASE("a transfer that does not block is waited for at once, in a ring of its own") {
    panels t;
    t.r.destination = 0_buffer;
    move_now(t.p, t.r, 0, 0);
    CHECK((t.p.plan.steps.size() == 1 && t.p.plan.rings.size() == 0));
    move_now(t.p, t.r, 1, 0);
    REQUIRE(t.p.plan.steps.size() == 3);
    CHECK((t.p.plan.steps[1].kind == step_kind::start && t.p.plan.steps[2].kind == step_kind::wait));
    CHECK((t.p.plan.rings.size() == 1 && t.p.ring_at(0).engine == 0 && t.p.ring_at(0).steps == 1));
    CHECK(t.p.plan.movements[1].at.ring == 0);
    CHECK(t.p.take_tags(1) == 1);
}
TEST_CASE("a border is not cut into calls") {
    panels t;
    t.r.border = 0_node;
    t.r.clips.push({sum_of(-1), 0, 0, clip_kind::border_begin});
    t.r.dimensions[0].extent = 3, t.r.destination_at[0].constant = 6;
    move_region(t.p, t.r, 0, 0);
    CHECK(t.p.first_verdict().broken == rule::border_in_several_calls);
}
