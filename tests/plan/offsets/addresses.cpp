#include <tilewright/plan/offsets/addresses.hpp>

#include "plan/small_kernels.hpp"

// Lifetimes and addresses of planned buffers.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

int add_staged(planning& p, label const& name, int memory, std::int64_t bytes, int born = 0, int dead = 4, int versions = 1) {
    return p.add(buffer{.name = name,
                        .tensor = name,
                        .kind = buffer_kind::staged,
                        .memory = static_cast<std::int16_t>(memory),
                        .type = scalar_type::int32,
                        .bytes = bytes,
                        .versions = static_cast<std::int16_t>(versions),
                        .born = static_cast<std::int16_t>(born),
                        .dead = static_cast<std::int16_t>(dead)});
}
constexpr int spad_at = 1, banked_at = 2;

/// for o { move 1; for i { move 2 } move 3 } behind move 0
struct four_moves : blank {
    fixed_array<std::int16_t, plan_value::most_buffers> levels{};
    std::int16_t o, i;
    four_moves() : blank(asynchronous), o(add_loop(p.plan, "o", 3)), i(add_loop(p.plan, "i", 4)) {
        levels.fill(-1);
        add_steps(p.plan, {{step_kind::start, 0},
                           {step_kind::loop, o},
                           {step_kind::start, 1},
                           {step_kind::loop, i},
                           {step_kind::start, 2},
                           {step_kind::end, i},
                           {step_kind::start, 3},
                           {step_kind::end, o}});
    }
    void move(int source, int destination) {
        p.plan.movements.push({.source = static_cast<std::int16_t>(source), .destination = static_cast<std::int16_t>(destination)});
    }
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
    set_lifetimes(t.p, t.levels);
    // Step 1 touches `outside` in a loop further in: for all of that loop.
    CHECK(t.lives(outside, 0, 8));
    // Steps 2, 4 and 6; what is touched in the loop over i, from its beginning on.
    CHECK(t.lives(tile, 2, 7));
    CHECK(t.lives(result, 3, 7));
    t.p.buffer_at(result).kind = buffer_kind::result;
    set_lifetimes(t.p, t.levels);
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
    set_lifetimes(t.p, t.levels);
    CHECK((t.lives(from, 1, 4) && t.lives(to, 1, 4)));
}
TEST_CASE("buffers alive at one time lie apart, the largest at the bottom") {
    blank t(asynchronous);
    int const small = add_staged(t.p, "small", spad_at, 124), first = add_staged(t.p, "first", spad_at, 300, 0, 2),
              large = add_staged(t.p, "large", spad_at, 600), second = add_staged(t.p, "second", spad_at, 300, 2, 4);
    place_buffers(t.p);
    REQUIRE_FALSE(t.p.refused());
    CHECK((t.p.buffer_at(large).offset == 0 && t.p.buffer_at(first).offset == 600 && t.p.buffer_at(second).offset == 600));
    CHECK(t.p.buffer_at(small).offset == 900);  // up to 1024, the last byte
    CHECK(find_misplaced(t.p.plan).buffer == -1);
}
TEST_CASE("what does not fit is refused with what is alive at the peak") {
    blank t(asynchronous);
    add_staged(t.p, "large", spad_at, 600);
    add_staged(t.p, "first", spad_at, 300, 0, 2);
    add_staged(t.p, "second", spad_at, 300, 2, 4);
    add_staged(t.p, "small", spad_at, 128, 0, 2);
    place_buffers(t.p);
    verdict const& v = t.p.kept;
    REQUIRE(v.kind == verdict_kind::memory_overflow);
    CHECK(v.names[0] == "spad");
    CHECK((v.facts[0].value == 1028 && v.facts[1].value == 1024));
    REQUIRE(v.share_count == 3);
    CHECK((v.shares[0].name == "large" && v.shares[1].name == "first" && v.shares[2].name == "small"));
}
TEST_CASE("versions go round the banks, one part goes where it fits, and of too many it is said how many would do") {
    blank t(asynchronous);
    int const round = add_staged(t.p, "round", banked_at, 300, 0, 4, 2), one = add_staged(t.p, "one", banked_at, 200),
              other = add_staged(t.p, "other", banked_at, 212), last = add_staged(t.p, "last", banked_at, 12);
    place_buffers(t.p);
    REQUIRE_FALSE(t.p.refused());
    auto const lies = [&](int at, int bank, int offset) { return t.p.buffer_at(at).bank == bank && t.p.buffer_at(at).offset == offset; };
    CHECK((lies(round, 0, 0) && lies(other, 0, 300) && lies(one, 1, 300) && lies(last, 1, 500)));
    blank over(asynchronous);
    add_staged(over.p, "thrice", banked_at, 300, 0, 4, 3);  // two in bank 0: 600 of 512
    place_buffers(over.p);
    REQUIRE(over.p.kept.kind == verdict_kind::memory_overflow);
    CHECK((over.p.kept.facts[0].value == 600 && over.p.kept.facts[1].value == 512));
    CHECK((over.p.kept.names[1] == "thrice" && over.p.kept.facts[2].value == 2));
    CHECK((over.p.kept.facts[3].what == fact_kind::bank && over.p.kept.facts[3].value == 0));
    blank none(asynchronous);
    none.p.buffer_at(add_staged(none.p, "elsewhere", banked_at, 4)).bank = 2;
    place_buffers(none.p);
    CHECK(none.p.kept.broken == rule::bank_that_is_not_there);
}
TEST_CASE("offsets are multiples of what the memory, the buffer and its elements ask for") {
    static constexpr memory lines{.name = "lines", .base = 0x3000, .capacity = 1_KiB, .alignment = 64};
    static constexpr auto machine_of_lines = machine("of_lines", dram, lines);
    blank t(machine_of_lines);
    int const a = add_staged(t.p, "a", 1, 100), b = add_staged(t.p, "b", 1, 96), c = add_staged(t.p, "c", 1, 4);
    t.p.buffer_at(b).alignment = 96;
    place_buffers(t.p);
    CHECK((t.p.buffer_at(a).offset == 0 && t.p.buffer_at(a).alignment == 64));
    CHECK(t.p.buffer_at(b).offset == 192);  // of 64 and 96
    CHECK(t.p.buffer_at(c).offset == 128);
    blank odd(machine_of_lines);
    odd.p.buffer_at(add_staged(odd.p, "a", 1, 4)).alignment = 0x2000;  // the memory begins at 0x3000
    place_buffers(odd.p);
    CHECK(odd.p.kept.broken == rule::base_not_aligned);
}
TEST_CASE("where code touches two buffers in one place, a fence stands at the beginning of each, and can be taken out again") {
    four_moves t;
    int const first = add_staged(t.p, "first", spad_at, 8, 0, 2), second = add_staged(t.p, "second", spad_at, 8, 2, 8),
              alone = add_staged(t.p, "alone", spad_at, 8, 0, 8);
    for (int at : {first, second, alone}) t.p.buffer_at(at).bank = 0, t.p.buffer_at(at).code_access = true;
    t.p.buffer_at(alone).offset = 8;
    auto const before = t.p.plan.steps.size();
    CHECK(add_fences(t.p.plan));
    REQUIRE(t.p.plan.steps.size() == before + 2);
    CHECK((t.p.plan.steps[0].kind == step_kind::fence && t.p.plan.steps[0].what == first));
    CHECK((t.p.plan.steps[3].kind == step_kind::fence && t.p.plan.steps[3].what == second));
    CHECK((t.lives(first, 0, 3) && t.lives(second, 3, 10)));
    remove_fences(t.p.plan);
    CHECK(t.p.plan.steps.size() == before);
    CHECK((t.lives(first, 0, 2) && t.lives(second, 2, 8) && t.lives(alone, 0, 8)));
    t.p.buffer_at(second).code_access = false;
    CHECK(add_fences(t.p.plan));
    CHECK(t.p.plan.steps.size() == before);
}
TEST_CASE("buffers that meet, or lie where none can, are found") {
    blank t(asynchronous);
    int const a = add_staged(t.p, "a", spad_at, 8, 0, 2), b = add_staged(t.p, "b", spad_at, 8, 2, 4);
    for (int at : {a, b}) t.p.buffer_at(at).bank = 0, t.p.buffer_at(at).alignment = 4;
    CHECK(find_misplaced(t.p.plan).buffer == -1);
    t.p.buffer_at(b).born = 1;
    CHECK((find_misplaced(t.p.plan).buffer == b && find_misplaced(t.p.plan).other == a));
    t.p.buffer_at(b).offset = 8;
    CHECK(find_misplaced(t.p.plan).buffer == -1);
    for (int wrong : {-4, 10, 1020}) {
        t.p.buffer_at(b).offset = wrong;
        CHECK((find_misplaced(t.p.plan).buffer == b && find_misplaced(t.p.plan).other == b));
    }
}
