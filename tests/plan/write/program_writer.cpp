#include <tilewright/plan/write/program_writer.hpp>

#include <string>
#include <tilewright/base/label_text.hpp>

#include "plan/passes.hpp"

// The loop program, from the outermost loop inwards.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr tensor<std::int32_t> S{"S"};
constexpr axis x{"x", 12}, y{"y", 10}, yo{"yo"}, yi{"yi"}, open{"m", dynamic};
constexpr auto blur = stages(S(x) = A(x) * 2, C(y) = S(y) + S(y + 2));

/// Loops by name around what is in them: starts as > from the caller and < to the caller, waits as w, bodies by what they do.
std::string program_of(planned_to const& t) {
    REQUIRE_FALSE(t.p.refused());
    std::string text;
    for (int at = 0; at < t.p.plan.steps.size(); ++at) {
        step const& s = t.p.plan.steps[at];
        auto const write = [&](std::string const& word) { text += (text.empty() || text.back() == '(' ? "" : " ") + word; };
        switch (s.kind) {
            case step_kind::loop: write(t.p.var(s.what).name.str() + "("); break;
            case step_kind::end: text += ")"; break;
            case step_kind::start: {
                movement const& moved = t.p.plan.movements[s.what];
                bool const stores = t.p.buffer_at(moved.destination).kind == buffer_kind::argument;
                std::string const ahead = moved.at.ahead > 0 ? "+" + std::to_string(moved.at.ahead) : "";
                write((stores ? "<" : ">") + t.p.buffer_at(moved.destination).tensor.str() + ahead);
                break;
            }
            case step_kind::wait: {
                ring_step const& until = t.p.plan.waits[s.what];
                std::string const back = until.ahead < 0 ? std::to_string(until.ahead) : "";
                write("w" + t.p.buffer_at(t.p.ring_at(until.ring).buffer).tensor.str() + back);
                break;
            }
            case step_kind::compute: {
                body const& b = t.p.plan.bodies[s.what];
                char const* const kinds[] = {"value", "reduction", "identity", "update", "intrinsic"};
                write(kinds[static_cast<int>(b.kind)]);
                break;
            }
            default: write("?"); break;
        }
    }
    return text;
}
std::string program_of(schedule const& of) { return program_of(planned_to(pass::program, of)); }

}  // namespace

TEST_CASE("without stagings, all loops are a body; with one, its loops are the program's") {
    CHECK(program_of(schedule(copy, blocking)) == "value");
    CHECK(program_of(schedule(product, blocking)) == "reduction");
    CHECK(program_of(schedule(copy, blocking).split(m, mo, mi, 4).cache_read(A, spad).at(mo).cache_write(C, spad).at(mo)) ==
          "mo(>A value <C)");
    CHECK(program_of(schedule(copy, blocking).cache_read(A, spad).cache_write(C, spad)) == ">A value <C");
}
TEST_CASE("loads run ahead: the first stand in front of the loop, and stores are waited for behind it") {
    schedule const of = schedule(copy, asynchronous).split(m, mo, mi, 4);
    CHECK(program_of(schedule(of).cache_read(A, spad).at(mo).buffers(2)) == ">A mo(>A+1 wA value)");
    CHECK(program_of(schedule(of).cache_read(A, spad).at(mo).buffers(2).prefetch(0)) == "mo(>A wA value)");
    CHECK(program_of(schedule(of).cache_read(A, spad).at(mo).buffers(3)) == "A(>A) mo(>A+2 wA value)");
    // All three tiles in front of the loop: there is nothing to load in it.
    CHECK(program_of(schedule(of).cache_read(A, spad).at(mo).buffers(4)) == "A(>A) mo(wA value)");
    // A version is written anew when it was stored; partial tiles wait for each of the last.
    CHECK(program_of(schedule(of).cache_write(C, spad).at(mo).buffers(2)) == "mo(wC-2 value <C) wC wC");
    CHECK(program_of(schedule(copy, asynchronous).split(m, mo, mi, 5).cache_write(C, spad).at(mo)) == "mo(wC-1 value <C) wC");
}
TEST_CASE("what a reduction starts from is written in front of its outermost loop of the program") {
    CHECK(program_of(schedule(product, blocking).reorder(k, m, n).cache_read(A, spad).at(k)) == "identity k(>A update)");
    CHECK(program_of(schedule(product, blocking).reorder(m, k, n).cache_read(A, spad).at(k)) == "m(identity k(>A update))");
    CHECK(program_of(schedule(product, blocking).cache_read(A, spad).at(m)) == "m(>A reduction)");
    auto const more = C(m, n) = C(m, n) + sum(k, A(m, k) * B(k, n));
    CHECK(program_of(schedule(more, blocking).reorder(k, m, n).cache_read(A, spad).at(k)) == "k(>A update)");
}
TEST_CASE("partial sums are loaded again, but for the first time") {
    planned_to const t(pass::program, schedule(product, blocking).reorder(k, m, n).cache_write(C, spad).at(k));
    CHECK(program_of(t) == "k(>C identity update <C)");
    movement const& again = t.p.plan.movements[0];
    REQUIRE(again.clip_count == 1);
    clip const& only = t.p.plan.clips[again.first_clip];
    CHECK((only.is == clip_kind::beyond && only.bound == 1));
    CHECK(t.p.plan.bodies[0].first_loop_count == 1);
}
TEST_CASE("a producer stands at its level, in front of its reader") {
    CHECK(program_of(schedule(blur, blocking).store_in(S, spad)) == "value value");
    CHECK(program_of(schedule(blur, blocking).store_in(S, spad).split(y, yo, yi, 5).compute_at(S, yo)) == "yo(value value)");
    schedule const staged = schedule(blur, blocking).store_in(S, spad).split(y, yo, yi, 5).compute_at(S, yo).cache_write(C, spad).at(yo);
    CHECK(program_of(schedule(staged).stage(S).cache_read(A, spad)) == ">A yo(value value <C)");
}
TEST_CASE("a load from a buffer of its own level comes when that one is there") {
    static constexpr memory outer{.name = "outer", .base = 0x4000'0000, .capacity = 4_KiB};
    static constexpr auto first = transfer("first", dram, outer).on(loader).asynchronous().dimensions(2),
                          second = transfer("second", outer, spad).on(storer).asynchronous().dimensions(2);
    static constexpr auto two_levels = machine("two_levels", dram, spad, outer, loader, storer, first, second);
    CHECK(program_of(schedule(copy, two_levels).cache_read(A, outer).at(m).cache_read(A, spad).at(m)) == "m(>A wA >A wA value)");
}
TEST_CASE("loops that run time ends are the program's, also around what a reduction starts from") {
    auto const sums = C(n, open) = sum(k, A(n, k) * B(k, open));
    CHECK(program_of(schedule(sums, blocking)) == "n(m(reduction))");
    CHECK(program_of(schedule(sums, blocking).reorder(k, n, open)) == "n(m(identity)) k(n(m(update)))");
}
TEST_CASE("a body costs what its loops do, and its start once for each element") {
    planned_to const t(pass::program, schedule(product, blocking));
    body const& b = t.p.plan.bodies[0];
    // two loads, a product, and the sum that is loaded, added to and stored: six; 60 sums are started with a store
    CHECK(b.cycles == 10 * 6 * 5 * 6 + 60);
    CHECK((b.counts.load == 3 && b.counts.store == 1 && b.counts.arithmetic == 1 && b.counts.multiply == 1));
    planned_to const value(pass::program, schedule(copy, blocking));
    CHECK(value.p.plan.bodies[0].cycles == 120);
}
TEST_CASE("steps in a loop that is vectorized are refused") {
    CHECK(planned_to(pass::program, schedule(copy, blocking).vectorize(n).cache_read(A, spad).at(n)).refusal().broken ==
          rule::vectorized_around_steps);
}
