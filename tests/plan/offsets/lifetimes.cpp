#include <tilewright/plan/offsets/lifetimes.hpp>

#include "plan/passes.hpp"

// Lifetimes of planned buffers.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr int spad_at = 1;

/// for o { move 1; for i { move 2 } move 3 } behind move 0
struct four_moves : blank {
    buffer_levels levels{};
    variable_id o, i;
    four_moves() : blank(asynchronous), o(add_loop(p.plan, "o", 3)), i(add_loop(p.plan, "i", 4)) {
        set_all(levels, no_variable);
        add_steps(p.plan, {{step_kind::start, 0},
                           {step_kind::loop, o},
                           {step_kind::start, 1},
                           {step_kind::loop, i},
                           {step_kind::start, 2},
                           {step_kind::end, i},
                           {step_kind::start, 3},
                           {step_kind::end, o}});
    }
    void move(int source, int destination) { p.plan.movements.push({.source = buffer_id(source), .destination = buffer_id(destination)}); }
    bool lives(int at, int born, int dead) const { return p.buffer_at(at).born == born && p.buffer_at(at).dead == dead; }
};

}  // namespace

TEST_CASE("a buffer lives from its first touch to its last inside of the loop where it is made") {
    four_moves t;
    int const outside = add_staged(t.p, "outside", spad_at, 4, -1, -1), tile = add_staged(t.p, "tile", spad_at, 4, -1, -1),
              result = add_staged(t.p, "result", spad_at, 4, -1, -1);
    t.levels[tile] = t.levels[result] = t.o;
    t.move(-1, outside);
    t.move(outside, tile);
    t.move(tile, result);
    t.move(result, tile);
    set_lifetimes(t.p.plan, t.p, t.levels);
    // Step 1 touches `outside` in a loop further in: for all of that loop.
    CHECK(t.lives(outside, 0, 8));
    // Steps 2, 4 and 6; what is touched in the loop over i, from its beginning on.
    CHECK(t.lives(tile, 2, 7));
    CHECK(t.lives(result, 3, 7));
    t.p.buffer_at(result).kind = buffer_kind::result;
    set_lifetimes(t.p.plan, t.p, t.levels);
    CHECK(t.lives(result, 0, 8));
}
TEST_CASE("until a transfer is waited for it is at work on both sides") {
    four_moves t;
    int const from = add_staged(t.p, "from", spad_at, 4, -1, -1), to = add_staged(t.p, "to", spad_at, 4, -1, -1);
    t.move(from, to);
    t.p.plan.movements[0].at.ring = 0;
    t.p.plan.waits.push({.ring = 0});
    t.p.plan.steps = {};
    add_steps(t.p.plan, {{step_kind::barrier, -1}, {step_kind::start, 0}, {step_kind::barrier, -1}, {step_kind::wait, 0}});
    set_lifetimes(t.p.plan, t.p, t.levels);
    CHECK((t.lives(from, 1, 4) && t.lives(to, 1, 4)));
}
TEST_CASE("a buffer lives in the loop where it is made; what runs ahead, where its steps are counted") {
    planned_to const waited(pass::program, schedule(copy, blocking).split(m, mo, mi, 4).cache_read(A, spad).at(mo));
    buffer_levels const by_loop = levels_of_buffers(waited.p);
    CHECK(by_loop[waited.p.staging_at(0).buffer] == waited.variable("mo"));
    REQUIRE_FALSE(waited.refusal());
    planned_to const ahead(pass::program, schedule(copy, asynchronous).split(m, mo, mi, 4).cache_read(A, spad).at(mo).double_buffer());
    REQUIRE_FALSE(ahead.refusal());
    // The ring is counted over `mo`, which nothing stands around: for the whole kernel.
    CHECK(levels_of_buffers(ahead.p)[ahead.p.staging_at(0).buffer] == -1);
}
