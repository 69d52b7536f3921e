#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Tiles that come by way of two memories, one inside of the other, for an instruction that runs aside.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, far{.name = "far", .base = 0x1000'0000, .capacity = 4_KiB, .host_visible = false},
    near{.name = "near", .base = 0x2000'0000, .capacity = 1_KiB, .host_visible = false},
    sums{.name = "sums", .base = 0x3000'0000, .capacity = 1_KiB, .host_visible = false};
constexpr engine one(char const* name) { return {.name = name, .completes = completion::by_channel}; }
constexpr engine brings = one("brings"), feeds = one("feeds"), unit = one("unit"), stores = one("stores");
constexpr auto bring = transfer("bring", dram, far).on(brings).asynchronous().dimensions(2);
constexpr auto feed = transfer("feed", far, near).on(feeds).asynchronous().dimensions(2);
constexpr auto store = transfer("store", sums, dram).on(stores).asynchronous().dimensions(2);
constexpr axis i{"i", 4}, l{"l", 4};
constexpr tensor<std::int32_t> a{"a"}, c{"c"}, A{"A"}, C{"C"};
constexpr auto add = intrinsic("add", c(i) += a(i, l)).reads(a, near).updates(c, sums).on(unit).asynchronous().cycles(9);
constexpr auto begin = intrinsic("begin", c(i) = sum(l, a(i, l))).reads(a, near).writes(c, sums).on(unit).asynchronous().cycles(9);
constexpr auto by_core = machine("by_core", dram, far, near, sums, brings, feeds, unit, stores, bring, feed, store, add, begin);
constexpr auto by_tokens =
    machine("by_tokens", dram, far, near, sums, brings, feeds, unit, stores, bring, feed, store, add, begin, tokens(brings, feeds),
            tokens(feeds, brings), tokens(feeds, unit), tokens(unit, feeds), tokens(unit, stores), tokens(stores, unit));

constexpr axis m{"m", 12}, k{"k", 32}, mo{"mo"}, mi{"mi"}, ko{"ko"}, kx{"kx"}, kb{"kb"}, ki{"ki"};
constexpr auto row_sums = C(m) += A(m, k);

void row_sums_by_hand(kernels::operand_data const& data) {
    for (int y = 0; y < 12; ++y) {
        std::int32_t sum = 0;
        for (int x = 0; x < 32; ++x) sum += data.in<std::int32_t>(0)[y * 32 + x];
        data.out<std::int32_t>()[y] = sum;
    }
}

template <machine const& Where>
void on_machine(int far_versions, int near_versions, axis const& near_at) {
    schedule made(row_sums, Where);
    made.split(m, mo, mi, 4).split(k, ko, kx, 8).split(kx, kb, ki, 4).reorder(mo, ko, kb, mi, ki);
    made.cache_read(A, far).at(ko).buffers(far_versions).cache_read(A, near).at(near_at).buffers(near_versions);
    made.cache_write(C, sums).at(mo).tensorize(mi, ki, add);
    auto const plan = std::make_unique<plan_value>(make_plan(made));
    emulator on(Where, semantics_of<Where>);
    kernels::check_kernel(*plan, on, row_sums_by_hand);
}

}  // namespace

TEST_CASE("a tile is fed to the unit when the unit has used the one before, whatever was brought meanwhile") {
    for (int far_versions : {1, 2}) {
        INFO(far_versions << " versions of what is brought");
        on_machine<by_core>(far_versions, 1, ko);
        on_machine<by_tokens>(far_versions, 1, ko);
        for (int near_versions : {1, 2}) {
            INFO(near_versions << " versions of what is fed");
            on_machine<by_core>(far_versions, near_versions, kb);
            on_machine<by_tokens>(far_versions, near_versions, kb);
        }
    }
}
