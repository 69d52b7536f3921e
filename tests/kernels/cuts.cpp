#include <array>
#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Levels that cut through a fused loop: one iteration touches a piece of the fused loop that can begin and end anywhere in its rows.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .base = 0x2000'0000, .capacity = 512_KiB, .alignment = 16};
constexpr memory l1{.name = "l1", .base = 0x1000'0000, .capacity = 256_KiB, .alignment = 16};
constexpr engine loader{"loader"}, storer{"storer"}, copier{"copier"};
constexpr transfer_cost cost{.latency = 40, .setup = 8, .bytes_per_cycle = 8};

/// A machine whose transfers block, or overlap.
machine dsp_that(bool overlaps) {
    machine made("dsp", dram, l2, l1, loader, storer, copier);
    auto const add = [&](char const* name, memory const& from, memory const& to, engine const& on) {
        transfer t(name, from, to);
        t.on(on).dimensions(4).cost(cost);
        if (overlaps) t.asynchronous();
        made.add(t);
    };
    add("dram_l2", dram, l2, loader), add("l2_dram", l2, dram, storer), add("l2_l1", l2, l1, copier), add("l1_l2", l1, l2, copier);
    add("dram_l1", dram, l1, loader), add("l1_dram", l1, dram, storer);
    return made;
}
machine const blocking = dsp_that(false), overlapping = dsp_that(true);

constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"}, P{"P"};

/// Runs on both machines; where transfers overlap, in two versions.
template <class Direct>
void check_cut(computation_view what, Direct const& direct) {
    for (int versions : {0, 2}) {
        machine const& where = versions == 0 ? blocking : overlapping;
        schedule made(what, where);
        direct(made, versions > 1 ? versions : 1);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        INFO(versions << " versions");
        emulator on(where, {});
        kernels::check_kernel(*plan, on);
    }
}
fixed_array<std::int64_t, max_rank> box_of(plan_value const& plan, char const* name) {
    INFO((plan.refusal ? to_string(plan.refusal) : std::string()));
    REQUIRE(!plan.refusal);
    for (int at = 0; at < plan.buffers.size(); ++at) {
        if (plan.buffers[at].name == name) return plan.buffers[at].extents;
    }
    return {};
}
using extents = fixed_array<std::int64_t, max_rank>;

}  // namespace

TEST_CASE("a piece of a fused loop has the rows and columns that it can reach wherever it begins") {
    constexpr axis r{"r", 24}, c{"c", 40};
    static constexpr auto doubled = C(r, c) = cast<std::int32_t>(A(r, c)) * 2;
    struct example {
        int factor;
        extents box;
    };
    // 10 divides 40; 16 begins at multiples of 8 in a row, and the last piece that begins in one ends 8 columns into the next; 1, 3 begin
    // anywhere: 3 behind column 38 end in the next row; 64 behind column 32 end in the third row; 80 are two rows.
    for (example const& e : {example{10, {1, 10}},
                             {16, {2, 40}},
                             {1, {1, 1}},
                             {3, {2, 40}},
                             {40, {1, 40}},
                             {64, {3, 40}},
                             {80, {2, 40}},
                             {200, {5, 40}},
                             {959, {24, 40}}}) {
        schedule s(doubled, blocking);
        s.fuse(r, c, "f").split("f", "fo", "fi", e.factor).cache_read(A, l1).at("fo");
        INFO("pieces of " << e.factor);
        CHECK(box_of(make_plan(s), "A.l1") == e.box);
    }
}

TEST_CASE("fused, split and staged at the outer part: extents that pieces do not divide", "[long]") {
    constexpr std::array<int, 3> cases[] = {{3, 5, 4}, {4, 8, 4}, {4, 8, 16}, {7, 6, 12}, {1, 9, 2}, {11, 1, 3}, {5, 13, 8}, {6, 4, 14}};
    for (auto [M, N, factor] : cases) {
        axis const m{"m", M}, n{"n", N}, k{"k", 5};
        auto const work = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        INFO(M << "x" << N << " in pieces of " << factor);
        check_cut(work.view(), [&, factor = factor](schedule& s, int versions) {
            s.fuse(m, n, "f").split("f", "fo", "fi", factor);
            s.cache_read(A, l1).at("fo").buffers(versions).cache_read(B, l1).at("fo").buffers(versions);
        });
    }
}

TEST_CASE("tiles that do not divide, their outer loops fused and cut", "[long]") {
    constexpr std::array<int, 4> cases[] = {{19, 21, 13, 2}, {24, 40, 36, 5}, {9, 31, 7, 3}, {33, 8, 12, 4}};
    for (auto [M, N, K, piece] : cases) {
        axis const m{"m", M}, n{"n", N}, k{"k", K};
        auto const work = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        INFO(M << "x" << N << "x" << K << ", " << piece << " tiles at a time");
        check_cut(work.view(), [&, piece = piece](schedule& s, int versions) {
            s.tile(m, n, "mo", "no", "mi", "ni", 4, 8).split(k, "ko", "ki", 4).fuse("mo", "no", "f").split("f", "fo", "fi", piece);
            s.reorder("fo", "fi", "ko", "mi", "ki", "ni").vectorize("ni");
            s.cache_read(A, l2).at("fo").buffers(versions).cache_read(B, l2).at("fo").buffers(versions);
            s.cache_read(A, l1).at("ko").buffers(versions).cache_read(B, l1).at("ko").buffers(versions);
            s.cache_write(C, l1).at("fi").buffers(versions);
        });
    }
}

TEST_CASE("what a whole piece of rows, or a whole part of a row, computes is stored; what overlaps the next piece is not") {
    constexpr axis m{"m", 6}, n{"n", 8}, k{"k", 5};
    static constexpr auto work = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    for (int factor : {1, 2, 4, 8, 16, 32, 48}) {
        INFO("pieces of " << factor);
        check_cut(work.view(), [&](schedule& s, int versions) {
            s.fuse(m, n, "f").split("f", "fo", "fi", factor).cache_write(C, l1).at("fo");
            if (factor < 48) s.buffers(versions);
        });
    }
    for (int factor : {3, 6, 12, 20}) {
        schedule s(work, blocking);
        s.fuse(m, n, "f").split("f", "fo", "fi", factor).cache_write(C, l1).at("fo");
        verdict const refusal = make_plan(s).refusal;
        CHECK(refusal.kind == verdict_kind::loop_order);
        CHECK(refusal.broken == ir::rule::gaps_between_outputs);
        CHECK(refusal.facts[0].value == factor);
    }
}

TEST_CASE("a sum that is continued is loaded first, whatever piece it is; in versions, pieces must not overlap") {
    constexpr axis m{"m", 6}, n{"n", 7}, k{"k", 5};
    static constexpr auto work = C(m, n) = C(m, n) + sum(k, cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)));
    for (int factor : {3, 5, 7, 12, 14}) {
        INFO("pieces of " << factor);
        bool const whole = factor % 7 == 0;
        check_cut(work.view(), [&](schedule& s, int versions) {
            s.fuse(m, n, "f").split("f", "fo", "fi", factor).cache_write(C, l1).at("fo").buffers(whole ? versions : 1);
        });
        if (whole) continue;
        schedule s(work, overlapping);
        s.fuse(m, n, "f").split("f", "fo", "fi", factor).cache_write(C, l1).at("fo").buffers(2);
        CHECK(make_plan(s).refusal.broken == ir::rule::gaps_between_outputs);
    }
}

TEST_CASE("a producer is computed at a loop that cuts through a fused one, and its own fused loops are cut") {
    constexpr std::array<int, 4> cases[] = {{6, 8, 5, 3}, {5, 7, 4, 6}, {9, 4, 14, 5}, {4, 16, 8, 7}};
    for (auto [M, N, piece, inner_piece] : cases) {
        axis const m{"m", M}, n{"n", N}, pm{"pm", M + 1}, pn{"pn", N + 2};
        auto const work = stages(P(pm, pn) = cast<std::int32_t>(A(pm, pn)) * 3, C(m, n) = P(m, n) + P(m + 1, n + 2));
        INFO(M << "x" << N << " in pieces of " << piece << ", the producer's of " << inner_piece);
        check_cut(work.view(), [&, piece = piece, inner_piece = inner_piece](schedule& s, int versions) {
            s.fuse(m, n, "f").split("f", "fo", "fi", piece).compute_at(P, "fo").store_in(P, l1);
            s.stage(P).fuse(pm, pn, "g").split("g", "go", "gi", inner_piece);
            s.cache_read(A, l2).at("fo").buffers(versions).cache_read(A, l1).at("go").buffers(versions);
        });
    }
}

TEST_CASE("loops fused twice, split twice, with levels at all parts", "[long]") {
    constexpr std::array<int, 5> cases[] = {{3, 4, 5, 6, 4}, {2, 7, 3, 9, 2}, {5, 3, 4, 16, 3}, {4, 4, 4, 32, 8}};
    for (auto [X, Y, Z, outer, inner] : cases) {
        axis const x{"x", X}, y{"y", Y}, z{"z", Z};
        auto const work = C(x, y, z) = cast<std::int32_t>(A(x, y, z)) - cast<std::int32_t>(B(z, x));
        INFO(X << "x" << Y << "x" << Z << " in pieces of " << outer << " and " << inner);
        check_cut(work.view(), [&, outer = outer, inner = inner](schedule& s, int versions) {
            s.fuse(x, y, "xy").fuse("xy", z, "f").split("f", "fo", "fi", outer).split("fi", "fio", "fii", inner);
            s.cache_read(A, l2).at("fo").buffers(versions).cache_read(A, l1).at("fio").buffers(versions);
            s.cache_read(B, l2).at("fio").buffers(versions).cache_read(B, l1).at("fii").buffers(versions);
        });
        check_cut(work.view(), [&, inner = inner](schedule& s, int versions) {
            s.fuse(x, y, "xy").split("xy", "xyo", "xyi", inner).fuse("xyi", z, "f").split("f", "fo", "fi", 5);
            s.cache_read(A, l2).at("xyo").buffers(versions).cache_read(A, l1).at("fo").buffers(versions);
            s.cache_read(B, l1).at("fo").buffers(versions);
        });
    }
}
