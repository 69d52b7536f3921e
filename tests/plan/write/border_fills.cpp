#include <tilewright/plan/write/border_fills.hpp>

#include <vector>

#include "plan/passes.hpp"

// What is written into a staged buffer besides what its load brings.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis x{"x", 10}, y{"y", 8}, xo{"xo"}, xi{"xi"}, z{"z", 1}, l{"l", 4}, i{"i", 4};
constexpr tensor<std::int32_t> d{"d"}, a{"a"}, b{"b"}, c{"c"};
constexpr auto zero = transfer("zero", dram, spad, d(z) = 0).dimensions(2);
constexpr auto mac = intrinsic("mac", c(i) += a(i, l) * b(l)).reads(a, spad).reads(b, spad).updates(c, spad);
constexpr auto where = machine("where", dram, spad, get, put, zero, mac);
constexpr auto shifted = C(x) = padded(A(x), 0)(x - 2);
constexpr auto window = C(x, y) = padded(A(x, y), 0)(x - 1, y + 1);
constexpr auto column = C(m) = sum(n, A(m, n) * B(n));

/// What a fill of the first staging writes.
struct filled : planned_to {
    explicit filled(schedule const& of, pass last = pass::rings) : planned_to(last, of) { REQUIRE_FALSE(p.refused()); }
    staging const& st() { return p.staging_at(0); }
};
struct strip {
    int dimension;
    std::int64_t first, extent, most;
    friend bool operator==(strip const&, strip const&) = default;
};
std::vector<strip> strips_of(filled& t) {
    std::vector<strip> all;
    each_strip(t.p, bordered_box(t.p, t.st()), [&](region& made, int dimension, std::int64_t most) {
        all.push_back({dimension, made.destination_at[dimension].constant, made.dimensions[dimension].extent, most});
    });
    return all;
}

}  // namespace

TEST_CASE("all of a box is filled where its load leaves some of it out") {
    filled t(schedule(shifted, where).split(x, xo, xi, 4).cache_read(A, spad).at(xo));
    region const box = filled_box(t.p, t.st());
    CHECK((box.source == -1 && box.count == 1 && box.dimensions[0].extent == 4));
    // From 4 xo - 2 on: where that is below 0.
    REQUIRE(box.clips.size() == 1);
    CHECK((box.clips[0].is == clip_kind::beyond && box.clips[0].bound == 1));
    CHECK(same(box.clips[0].form, sum_of(2, {{-4, t.variable("xo")}})));
    filled always(schedule(shifted, where).cache_read(A, spad));
    CHECK(filled_box(always.p, always.st()).clips.size() == 0);
}
TEST_CASE("the border of a box is a strip at each end that reaches outside") {
    // One row in front; of columns one behind, along all rows but those in front.
    filled t(schedule(window, where).cache_read(A, spad));
    CHECK(strips_of(t) == std::vector<strip>{{0, 0, 1, 1}, {1, 7, 1, 1}});
    region box = bordered_box(t.p, t.st());
    CHECK((box.clips.size() == 2 && box.padded_ends(0) == 1 && box.padded_ends(1) == 2));
    filled tile(schedule(shifted, where).split(x, xo, xi, 4).cache_read(A, spad).at(xo));
    CHECK(strips_of(tile) == std::vector<strip>{{0, 0, 2, 2}});
}
TEST_CASE("strips are filled where they take no longer than the whole box") {
    // 10 x 8 elements of 4 bytes, or 8 and 9 of them.
    filled t(schedule(window, where).cache_read(A, spad));
    ring_step const now;
    int const before = t.p.plan.steps.size();
    CHECK(goes_in_strips(t.p, t.st(), filled_box(t.p, t.st()), 2, now));
    CHECK(t.p.plan.steps.size() == before);  // it was tried alone
    static constexpr auto slow = transfer("zero", dram, spad, d(z) = 0).dimensions(2).cost({.setup = 10'000});
    static constexpr auto costly = machine("where", dram, spad, get, put, slow, mac);
    filled whole(schedule(window, costly).cache_read(A, spad));
    CHECK_FALSE(goes_in_strips(whole.p, whole.st(), filled_box(whole.p, whole.st()), 2, now));
}
TEST_CASE("a fill is written in front of the load, by the transfer or by the core") {
    filled by_transfer(schedule(window, where).cache_read(A, spad));
    write_fill_of_staged(by_transfer.p, by_transfer.st(), {});
    REQUIRE(by_transfer.p.plan.movements.size() == 2);
    CHECK((by_transfer.p.plan.movements[0].transfer == 2 && by_transfer.p.plan.movements[0].source == -1 &&
           by_transfer.p.plan.movements[0].bytes == 8 * 4));
    CHECK(by_transfer.p.plan.movements[1].bytes == 9 * 4);
    filled by_core(schedule(window, blocking).cache_read(A, spad));
    write_fill_of_staged(by_core.p, by_core.st(), {});
    REQUIRE(by_core.p.plan.movements.size() == 2);
    CHECK((by_core.p.plan.movements[0].transfer == -1 && by_core.p.plan.movements[0].border == by_core.access("A")));
}
TEST_CASE("where a step of a reduction reads on, all of the box is filled") {
    filled t(schedule(column, where).cache_read(A, spad).cache_read(B, spad).cache_write(C, spad).tensorize(m, n, mac), pass::fills);
    CHECK((ends_a_reduction(t.p, t.st(), 1) && !ends_a_reduction(t.p, t.st(), 0)));
    region const box = filled_box(t.p, t.st());
    CHECK((box.dimensions[0].extent == 12 && box.dimensions[1].extent == 8 && box.clips.size() == 0));  // six of eight columns are loaded
}
TEST_CASE("a fill that does not block keeps to the queue of its load") {
    static constexpr auto aside = transfer("aside", dram, spad).on(loader).asynchronous().dimensions(2);
    static constexpr auto zero_aside = transfer("zero", dram, spad, d(z) = 0).on(loader).asynchronous().dimensions(2),
                          zero_elsewhere = transfer("zero", dram, spad, d(z) = 0).on(storer).asynchronous().dimensions(2);
    static constexpr auto same_queue = machine("same_queue", dram, spad, loader, storer, aside, zero_aside),
                          two_queues = machine("two_queues", dram, spad, loader, storer, aside, zero_elsewhere);
    auto const refusal_on = [](machine const& on) {
        return planned_to(pass::program, schedule(shifted, on).split(x, xo, xi, 4).cache_read(A, spad).at(xo).buffers(2)).refusal();
    };
    CHECK_FALSE(refusal_on(same_queue));
    CHECK(refusal_on(two_queues).kind == verdict_kind::not_honoured);
}
