#include <tilewright/plan/offsets/addresses.hpp>

#include "plan/small_kernels.hpp"

// Addresses of planned buffers.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr int spad_at = 1, banked_at = 2;

}  // namespace

TEST_CASE("buffers alive at one time lie apart, the largest at the bottom") {
    blank t(asynchronous);
    int const small = add_staged(t.p, "small", spad_at, 124), first = add_staged(t.p, "first", spad_at, 300, 0, 2),
              large = add_staged(t.p, "large", spad_at, 600), second = add_staged(t.p, "second", spad_at, 300, 2, 4);
    place_buffers(t.p.plan, t.p);
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
    place_buffers(t.p.plan, t.p);
    verdict const& v = t.p.first_verdict();
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
    place_buffers(t.p.plan, t.p);
    REQUIRE_FALSE(t.p.refused());
    auto const lies = [&](int at, int bank, int offset) { return t.p.buffer_at(at).bank == bank && t.p.buffer_at(at).offset == offset; };
    CHECK((lies(round, 0, 0) && lies(other, 0, 300) && lies(one, 1, 300) && lies(last, 1, 500)));
    blank over(asynchronous);
    add_staged(over.p, "thrice", banked_at, 300, 0, 4, 3);  // two in bank 0: 600 of 512
    place_buffers(over.p.plan, over.p);
    REQUIRE(over.p.first_verdict().kind == verdict_kind::memory_overflow);
    CHECK((over.p.first_verdict().facts[0].value == 600 && over.p.first_verdict().facts[1].value == 512));
    CHECK((over.p.first_verdict().names[1] == "thrice" && over.p.first_verdict().facts[2].value == 2));
    CHECK((over.p.first_verdict().facts[3].what == fact_kind::bank && over.p.first_verdict().facts[3].value == 0));
    blank none(asynchronous);
    none.p.buffer_at(add_staged(none.p, "elsewhere", banked_at, 4)).bank = 2;
    place_buffers(none.p.plan, none.p);
    CHECK(none.p.first_verdict().broken == rule::bank_that_is_not_there);
}
TEST_CASE("offsets are multiples of what the memory, the buffer and its elements ask for") {
    static constexpr memory lines{.name = "lines", .base = 0x3000, .capacity = 1_KiB, .alignment = 64};
    static constexpr auto machine_of_lines = machine("of_lines", dram, lines);
    blank t(machine_of_lines);
    int const a = add_staged(t.p, "a", 1, 100), b = add_staged(t.p, "b", 1, 96), c = add_staged(t.p, "c", 1, 4);
    t.p.buffer_at(b).alignment = 96;
    place_buffers(t.p.plan, t.p);
    CHECK((t.p.buffer_at(a).offset == 0 && t.p.buffer_at(a).alignment == 64));
    CHECK(t.p.buffer_at(b).offset == 192);  // of 64 and 96
    CHECK(t.p.buffer_at(c).offset == 128);
    blank odd(machine_of_lines);
    odd.p.buffer_at(add_staged(odd.p, "a", 1, 4)).alignment = 0x2000;  // the memory begins at 0x3000
    place_buffers(odd.p.plan, odd.p);
    CHECK(odd.p.first_verdict().broken == rule::base_not_aligned);
}
TEST_CASE("where code touches two buffers in one place, a fence stands at the beginning of each, and can be taken out again") {
    blank t(asynchronous);
    for (int at = 0; at < 8; ++at) t.p.plan.steps.push({step_kind::barrier, -1});
    auto const lives = [&](int at, int born, int dead) { return t.p.buffer_at(at).born == born && t.p.buffer_at(at).dead == dead; };
    int const first = add_staged(t.p, "first", spad_at, 8, 0, 2), second = add_staged(t.p, "second", spad_at, 8, 2, 8),
              alone = add_staged(t.p, "alone", spad_at, 8, 0, 8);
    for (int at : {first, second, alone}) t.p.buffer_at(at).bank = 0, t.p.buffer_at(at).code_access = true;
    t.p.buffer_at(alone).offset = 8;
    auto const before = t.p.plan.steps.size();
    CHECK(add_fences(t.p.plan));
    REQUIRE(t.p.plan.steps.size() == before + 2);
    CHECK((t.p.plan.steps[0].kind == step_kind::fence && t.p.plan.steps[0].what == first));
    CHECK((t.p.plan.steps[3].kind == step_kind::fence && t.p.plan.steps[3].what == second));
    CHECK((lives(first, 0, 3) && lives(second, 3, 10)));
    remove_fences(t.p.plan);
    CHECK(t.p.plan.steps.size() == before);
    CHECK((lives(first, 0, 2) && lives(second, 2, 8) && lives(alone, 0, 8)));
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
