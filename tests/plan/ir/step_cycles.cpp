#include <tilewright/plan/ir/step_cycles.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/plan/best_tile.hpp>
#include <tilewright/report/traffic.hpp>
#include <tilewright/tilewright.hpp>

#include "catch.hpp"

// What a call of an intrinsic takes follows from what it covers: of the last steps of an axis, less than of the others.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x1000, .capacity = 64_KiB},
    acc{.name = "acc", .base = 0x9000'0000, .capacity = 64_KiB};
constexpr engine array{.name = "array", .completes = completion::by_channel}, unit{"unit"};
constexpr auto load = transfer("load", dram, spad).dimensions(2);
constexpr auto store = transfer("store", acc, dram).dimensions(2);

constexpr axis i{"i", 16}, j{"j", 16}, l{"l", 16};
constexpr tensor<std::int8_t> A{"A"}, B{"B"}, a{"a"}, b{"b"};
constexpr tensor<std::int32_t> C{"C"}, c{"c"};
template <class T>
constexpr auto wide(T const& value) {
    return cast<std::int32_t>(value);
}
constexpr auto term = wide(a(i, l)) * wide(b(l, j));
constexpr auto mac = intrinsic("mac", c(i, j) += term)
                         .reads(a, spad)
                         .reads(b, spad)
                         .updates(c, acc)
                         .up_to(i, j, l)
                         .on(array)
                         .cycles(20, 2 * per(i), per(j, l).in_units_of(16));
constexpr auto mul = intrinsic("mul", c(i, j) = sum(l, term))
                         .reads(a, spad)
                         .reads(b, spad)
                         .writes(c, acc)
                         .up_to(i, j, l)
                         .on(unit)
                         .cycles(10, 3 * per(i) * per(j).in_units_of(4));
constexpr std::int64_t up(std::int64_t elements, std::int64_t unit_of) { return (elements + unit_of - 1) / unit_of; }
constexpr std::int64_t cycles_of_mac(std::int64_t of_i, std::int64_t of_j, std::int64_t of_l) {
    return 20 + 2 * of_i + up(of_j * of_l, 16);
}
constexpr std::int64_t cycles_of_mul(std::int64_t of_i, std::int64_t of_j) { return 10 + 3 * of_i * up(of_j, 4); }

constexpr auto npu = machine("npu", dram, spad, acc, array, unit, load, store, mac, mul);
constexpr auto npu_aside = [] {
    auto more = mac, first = mul;
    return machine("npu_aside", dram, spad, acc, array, load, store, more.asynchronous(), first.on(array).asynchronous());
}();
constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, both{"both"};

enum class loops { nested, fused, turned };
constexpr schedule tiled(computation_view what, machine const& on, axis const& m, axis const& n, axis const& k,
                         std::array<std::int64_t, 3> const& tile, loops how = loops::nested) {
    schedule made(what, on);
    made.tile(m, n, mo, no, mi, ni, tile[0], tile[1]).split(k, ko, ki, tile[2]).reorder(mo, no, ko, mi, ni, ki);
    if (how == loops::fused) made.fuse(mo, no, both);
    made.cache_read(A, spad).cache_read(B, spad).cache_write(C, acc);
    if (how == loops::turned) return made.reorder(ki, ni, mi).tensorize(ki, ni, mi, on.intrinsics[0]);
    return made.tensorize(mi, ni, ki, on.intrinsics[0]);
}
template <class M, class N, class K>
constexpr auto product_of(M const& m, N const& n, K const& k) {
    return C(m, n) += wide(A(m, k)) * wide(B(k, n));
}

/// Cycles of both intrinsics, from plain loops over tiles and the steps in them.
struct work_of_both {
    std::int64_t mac = 0, mul = 0;
};
constexpr work_of_both by_hand(std::array<std::int64_t, 3> const& whole, std::array<std::int64_t, 3> const& tile) {
    work_of_both all;
    auto const each = [](std::int64_t extent, std::int64_t tile_of, auto const& visit) {
        for (std::int64_t from = 0; from < extent; from += tile_of) {
            std::int64_t const end = std::min(extent, from + tile_of);
            for (std::int64_t step = from; step < end; step += 16) visit(step, std::min(end, step + 16) - step);
        }
    };
    each(whole[0], tile[0], [&](std::int64_t, std::int64_t of_i) {
        each(whole[1], tile[1], [&](std::int64_t, std::int64_t of_j) {
            each(whole[2], tile[2], [&](std::int64_t from, std::int64_t of_l) {
                if (from == 0) all.mul += cycles_of_mul(of_i, of_j);
                else all.mac += cycles_of_mac(of_i, of_j, of_l);
            });
        });
    });
    return all;
}
void check(plan_value const& plan, std::array<std::int64_t, 3> const& whole, std::array<std::int64_t, 3> const& tile) {
    INFO(whole[0] << " x " << whole[1] << " x " << whole[2] << " by " << tile[0] << " x " << tile[1] << " x " << tile[2]);
    work_of_both const wanted = by_hand(whole, tile);
    REQUIRE(!plan.refusal);
    for (reports::work const& w : reports::work_of(plan)) {
        if (w.name == "mac") CHECK(w.cycles == wanted.mac);
        if (w.name == "mul") CHECK(w.cycles == wanted.mul);
    }
    CHECK(ir::predict(plan).cycles == ir::predict(plan, ir::visiting::everything).cycles);
    bool const one_engine = plan.where->engines.size() == 1;
    CHECK(plan.busy(array) == wanted.mac + (one_engine ? wanted.mul : 0));
    if (!one_engine) CHECK(plan.busy(unit) == wanted.mul);
    auto const moved = plan.bytes(load) + plan.bytes(store);  // a byte a cycle
    CHECK(plan.serial_cycles() == moved + wanted.mac + wanted.mul);
    CHECK(plan.cycles() == plan.serial_cycles());  // nothing moves while a step is under way
}

// One axis after the other, counted in the head: m in steps of 16, 16 and 8, n in 16 and 8, k in 16, 16 and 3.
constexpr axis m40{"m", 40}, n24{"n", 24}, k35{"k", 35};
constexpr auto product = product_of(m40, n24, k35);
constexpr auto partial_in_three_axes = tiled(product.view(), npu, m40, n24, k35, {16, 16, 16});
static_assert(!plan<partial_in_three_axes>.refusal);
static_assert(plan<partial_in_three_axes>.busy(unit) == (10 + 48 * 4 + 10 + 48 * 2) * 2 + 10 + 24 * 4 + 10 + 24 * 2);
static_assert(plan<partial_in_three_axes>.busy(array) == ((20 + 32 + 16) + (20 + 32 + 3) + (20 + 32 + 8) + (20 + 32 + 2)) * 2 +
                                                             (20 + 16 + 16) + (20 + 16 + 3) + (20 + 16 + 8) + (20 + 16 + 2));

/// A plan with two step extents of `mac`: up to 16 rows of `i`, of which 40 - 16 v are left, and all 16 of `j`.
struct some_steps {
    plan_value made{};
    ir::intrinsic_form const form{.intrinsic = 0, .extents = 0, .extent_count = 3};
    std::int64_t v = 0;
    some_steps() {
        made.where = &npu;
        made.step_extents.push({.axis = 0, .most = 16});
        made.step_extents.push({.axis = 0, .most = 16, .weight = 1, .bound = 40});
        made.step_extents.push({.axis = 1, .most = 16});
    }
    plan_value const& plan() const { return made; }
    std::int64_t value_of(ir::affine const&) const { return 16 * v; }
};

}  // namespace

TEST_CASE("a step takes what it covers where the loops stand") {
    some_steps s;
    ir::stage semantics;
    read_stage(npu.view(npu.intrinsics[0].semantics), 0, semantics);
    std::int64_t const whole = detail::cycles_of_whole_step(s.made, s.form, semantics);
    CHECK(whole == 20 + 2 * 16 + 16 * 16 / 16);
    CHECK(detail::costly_ends(s.made, s.form) == 0b1);
    auto const covered = [&] {
        fixed_array<std::int64_t, ir::stage::most_axes> extents{};
        set_all(extents, 1000);
        detail::cover(s, s.form, extents);
        return extents;
    };
    for (auto const& [at, rows] : {std::pair{0, 16}, {1, 16}, {2, 8}}) {
        s.v = at;
        CHECK((covered()[0] == rows && covered()[1] == 16 && covered()[2] == 1000));
    }
    // Two rows at a time: of what is left of 40 - 33, four.
    s.made.step_extents[1].weight = 2, s.made.step_extents[1].bound = 39, s.v = 2;
    CHECK(covered()[0] == 4);
    // An end that costs nothing less
    s.made.step_extents[1].axis = 3;
    CHECK(detail::costly_ends(s.made, s.form) == 0);
    CHECK(detail::cycles_of_step(s, s.form, 77) == 77);
}
TEST_CASE("the core fills an element in a store and the waits of its memory") {
    constexpr memory slow{.name = "slow", .base = 0, .capacity = 64, .wait_cycles = 3};
    constexpr core host{.name = "host", .costs = {.store = 2}};
    constexpr auto by_core = machine("by_core", dram, slow, host);
    plan_value made;
    made.where = &by_core;
    made.buffers.push({.memory = 1});
    CHECK(detail::fill_cycles(made, {.destination = ir::buffer_id{}}, 0) == 2 + 3);
}
TEST_CASE("the last steps of several axes take what they cover") {
    for (machine const* on : {&npu, &npu_aside}) {
        for (auto const& whole :
             {std::array<std::int64_t, 3>{40, 24, 35}, {48, 32, 64}, {16, 16, 16}, {5, 70, 1}, {17, 1, 90}, {100, 33, 31}}) {
            axis const m{"m", whole[0]}, n{"n", whole[1]}, k{"k", whole[2]};
            auto const what = product_of(m, n, k);
            for (auto const& tile : {std::array<std::int64_t, 3>{16, 16, 16}, {20, 40, 48}, {7, 16, 33}, {64, 5, 12}}) {
                for (loops const how : {loops::nested, loops::fused, loops::turned})
                    check(*std::make_unique<plan_value>(make_plan(tiled(what.view(), *on, m, n, k, tile, how))), whole, tile);
            }
        }
    }
}
TEST_CASE("extents that are left to run time cost what constants do") {
    axis const m{"m", dynamic}, n{"n", dynamic.up_to(90)}, k{"k", dynamic};
    auto const what = product_of(m, n, k);
    for (auto const& tile : {std::array<std::int64_t, 3>{16, 16, 16}, {20, 40, 48}}) {
        for (machine const* on : {&npu, &npu_aside}) {
            schedule open(what, *on);
            open.tile(m, n, mo, no, mi, ni, tile[0], tile[1]).split(k, ko, ki, tile[2]).reorder(mo, no, ko, mi, ni, ki);
            open.cache_read(A, spad).at(ko).cache_read(B, spad).at(ko).cache_write(C, acc).at(no).tensorize(mi, ni, ki, on->intrinsics[0]);
            auto const plan = std::make_unique<plan_value>(make_plan(open));
            REQUIRE(!plan->refusal);
            for (auto const& whole : {std::array<std::int64_t, 3>{40, 24, 35}, {16, 32, 64}, {1, 1, 1}, {5, 70, 100}, {97, 90, 17}}) {
                auto const at = std::make_unique<plan_value>(plan->at({{m, whole[0]}, {n, whole[1]}, {k, whole[2]}}));
                check(*at, whole, tile);
            }
        }
    }
}
TEST_CASE("a step that is alone ends where run time says") {
    axis const m{"m", dynamic.up_to(16)}, n{"n", 16}, k{"k", 40};
    auto const what = product_of(m, n, k);
    schedule open(what, npu);
    open.split(k, ko, ki, 16).split(m, mo, mi, 16).reorder(mo, ko, mi, n, ki);
    open.cache_read(A, spad).cache_read(B, spad).cache_write(C, acc).tensorize(mi, n, ki, mac);
    auto const plan = std::make_unique<plan_value>(make_plan(open));
    REQUIRE(!plan->refusal);
    for (std::int64_t const rows : {1, 7, 16}) check(*std::make_unique<plan_value>(plan->at({{m, rows}})), {rows, 16, 40}, {16, 16, 16});
}
TEST_CASE("axes that are always covered count all of their elements, and so do steps that reach beyond an end") {
    tensor<float> const x{"x"}, y{"y"}, from{"from"}, to{"to"};
    axis const e{"e", 8}, rows{"rows", 3}, n{"n", 20}, r{"r", 6}, outer{"outer"}, inner{"inner"}, ro{"ro"}, ri{"ri"};
    auto const step =
        intrinsic("step", to(rows, e) = from(rows, e) * 2.0f).reads(from, spad).writes(to, acc).cycles(1, per(e), 5 * per(rows));
    auto const on = machine("on", dram, spad, acc, load, store, step);
    auto const what = y(r, n) = x(r, n) * 2.0f;
    auto const made = schedule(what, on)
                          .split(n, outer, inner, 8)
                          .split(r, ro, ri, 3)
                          .reorder(ro, outer, ri, inner)
                          .cache_read(x, spad)
                          .at(outer)
                          .cache_write(y, acc)
                          .at(outer)
                          .tensorize(ri, inner, step);
    plan_value const plan = make_plan(made);
    REQUIRE(!plan.refusal);
    CHECK(plan.calls(step) == 6);
    CHECK(plan.serial_cycles() == 6 * (1 + 8 + 15) + 2 * 6 * 20 * 4);
}
/// A step of up to 3 elements of each axis, over tiles of 5 of axes of `extent`: it covers 3, 2 and, where 11 end, 1 of them.
constexpr axis p3{"p", 3}, q3{"q", 3}, r3{"r", 3}, s3{"s", 3};
constexpr tensor<float> from4{"from"}, to4{"to"}, X{"X"}, Y{"Y"};
constexpr auto box = intrinsic("box", to4(p3, q3, r3, s3) = from4(p3, q3, r3, s3) * 2.0f)
                         .reads(from4, spad)
                         .writes(to4, acc)
                         .up_to(p3, q3, r3, s3)
                         .cycles(3, per(p3) * per(q3).in_units_of(2), 5 * per(r3, s3).in_units_of(4));
constexpr auto boxes = machine("boxes", dram, spad, acc, load, store, box);

TEST_CASE("every combination of what steps cover of four axes is counted") {
    axis const p{"p", 11}, q{"q", 11}, r{"r", 11}, s{"s", 11}, po{"po"}, pi{"pi"}, qo{"qo"}, qi{"qi"}, ro{"ro"}, ri{"ri"}, so{"so"},
        si{"si"};
    auto const what = Y(p, q, r, s) = X(p, q, r, s) * 2.0f;
    schedule made(what, boxes);
    made.split(p, po, pi, 5).split(q, qo, qi, 5).split(r, ro, ri, 5).split(s, so, si, 5).reorder(po, qo, ro, so, pi, qi, ri, si);
    made.cache_read(X, spad).cache_write(Y, acc).tensorize(pi, qi, ri, si, box);
    auto const plan = std::make_unique<plan_value>(make_plan(made));
    INFO(to_string(plan->refusal));
    REQUIRE(!plan->refusal);
    std::int64_t cycles = 0, calls = 0;
    for (std::int64_t const of_p : {3, 2, 3, 2, 1}) {
        for (std::int64_t const of_q : {3, 2, 3, 2, 1}) {
            for (std::int64_t const of_r : {3, 2, 3, 2, 1}) {
                for (std::int64_t const of_s : {3, 2, 3, 2, 1}) cycles += 3 + of_p * up(of_q, 2) + 5 * up(of_r * of_s, 4), ++calls;
            }
        }
    }
    CHECK(plan->calls(box) == calls);
    CHECK(plan->serial_cycles() == cycles + 2 * 4 * 11 * 11 * 11 * 11);
}
TEST_CASE("the search for a tile sees what steps cover") {
    // 48 rows in three calls, either way: two of 20 rows and one of 8 take 2, 2 and 1 unit of 16 rows, those of 16 rows one each.
    tensor<float> const x{"x"}, y{"y"}, from{"from"}, to{"to"};
    axis const e{"e", 32}, n{"n", 48}, outer{"outer"}, inner{"inner"};
    auto const step = intrinsic("step", to(e) = from(e) * 2.0f).reads(from, spad).writes(to, acc).up_to(e);
    auto const best = [&](intrinsic const& by) {
        auto const on = machine("on", dram, spad, acc, load, store, by);
        auto const what = y(n) = x(n) * 2.0f;
        return best_tile(std::array{20, 16, 24}, [&](int tile) {
            return schedule(what, on).split(n, outer, inner, tile).cache_read(x, spad).cache_write(y, acc).tensorize(inner, by);
        });
    };
    auto flat = step, by_units = step, by_calls = step;
    CHECK(best(flat.cycles(9)) == 24);
    CHECK(best(by_units.cycles(0, 9 * per(e).in_units_of(16))) == 16);
    CHECK(best(by_calls.cycles(30, 9 * per(e).in_units_of(16))) == 24);
}
