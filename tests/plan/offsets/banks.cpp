#include <tilewright/plan/offsets/banks.hpp>

#include "plan/small_kernels.hpp"

// What uses a bank of one port at a time.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// Two buffers in the banked memory, of which ring 0 fills the first; both rings are counted over loop 0. What computes uses buffer 1.
struct two_rings : blank {
    two_rings(int versions, int distance) : blank(asynchronous) {
        variable_id const o = add_loop(p.plan, "o", 8);
        add(versions, 0), add(versions, 0);
        p.buffer_at(0).ring = 0, p.buffer_at(1).ring = 1;
        for (buffer_id at : {0_buffer, 1_buffer}) {
            ring r{.buffer = at,
                   .engine = 0,
                   .versions = static_cast<std::int16_t>(versions),
                   .distance = static_cast<std::int16_t>(distance),
                   .steps = 8};
            r.loops[r.loop_count++] = o;
            p.add(r);
        }
    }
    void add(int versions, int bank) {
        p.add(buffer{.name = "A",
                     .tensor = "A",
                     .kind = buffer_kind::staged,
                     .memory = 2,
                     .bytes = 16,
                     .versions = static_cast<std::int16_t>(versions),
                     .bank = static_cast<std::int16_t>(bank),
                     .part_stride = 16});
    }
    int meeting(int first, int last) const { return meeting_bank(p.plan, p.ring_at(0), first, last, p.buffer_at(1)); }
};

}  // namespace

TEST_CASE("versions of two steps share a bank, or lie apart") {
    buffer const a{.versions = 2, .bank = 0}, b{.versions = 2, .bank = 1};
    CHECK(shared_bank(a, 0, a, 0, 2) == 0);
    CHECK(shared_bank(a, 3, a, 1, 2) == 1);
    CHECK(shared_bank(a, 0, a, 1, 2) == -1);
    CHECK(shared_bank(a, 4, b, 7, 2) == 0);
}
TEST_CASE("what is loaded a step ahead meets what is used where both lie in one bank") {
    two_rings same(2, 1);
    CHECK(same.meeting(1, 1) == -1);  // the next version lies in the other bank
    CHECK(same.meeting(1, 2) == 0);   // two steps ahead is this one again
    CHECK(same.meeting(-1, -1) == -1);
    CHECK(same.meeting(1, 0) == -1);  // nothing is under way
    same.p.buffer_at(1).bank = 1;
    CHECK(same.meeting(1, 1) >= 0);
    // Of three versions in two banks, some step meets the next.
    two_rings three(3, 1);
    CHECK(three.meeting(1, 1) >= 0);
}
TEST_CASE("steps that are counted over other loops meet wherever both can be") {
    two_rings t(2, 1);
    t.p.plan.rings[1].loop_count = 0;
    CHECK(t.meeting(1, 1) == 0);
    t.p.buffer_at(0).versions = t.p.buffer_at(1).versions = 1;
    t.p.buffer_at(1).bank = 1;
    CHECK(t.meeting(1, 1) == -1);
}
TEST_CASE("a schedule is refused whose loads meet what computes in a bank of one port") {
    for (int const bank : {0, 1}) {
        two_rings t(2, 1);
        t.p.buffer_at(1).bank = static_cast<std::int16_t>(bank);
        body b;
        b.stage = 0_stage;
        t.p.add(b);
        t.p.plan.uses.push({.node = t.p.stage_at(0).body, .buffer = 1_buffer});
        add_steps(t.p.plan, {{step_kind::compute, 0}});
        t.p.plan.rings.shrink(1);
        t.p.buffer_at(1).ring = 0;
        check_banks(t.p.plan, t.p);
        CHECK(t.p.refused() == (bank == 1));
        if (bank == 1) {
            CHECK(t.p.first_verdict().kind == verdict_kind::bank_conflict);
            CHECK((t.p.first_verdict().names[0] == "banked" && t.p.first_verdict().names[3] == "the loops"));
        }
    }
}
TEST_CASE("two loads of one queue come one behind the other, those of two engines meet") {
    for (int const engine : {0, 1}) {
        two_rings t(2, 1);
        t.p.buffer_at(1).bank = 1;
        t.p.plan.rings[1].engine = static_cast<std::int16_t>(engine);
        check_banks(t.p.plan, t.p);
        CHECK(t.p.refused() == (engine == 1));
        if (engine == 1) CHECK(t.p.first_verdict().names[3] == "a load");
    }
}
TEST_CASE("what is stored later meets what is loaded ahead") {
    two_rings t(2, 1);
    t.p.plan.rings[1].stores = true, t.p.plan.rings[1].engine = 1;
    check_banks(t.p.plan, t.p);
    CHECK(t.p.first_verdict().kind == verdict_kind::bank_conflict);
    CHECK(t.p.first_verdict().names[3] == "a store");
}
