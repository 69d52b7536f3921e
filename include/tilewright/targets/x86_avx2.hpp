#pragma once
#include <tilewright/plan/ir/trip_count.hpp>

/// One core of an x86 processor with AVX2 and FMA, as a machine: memories that its caches hold, 16 vector registers, copies by itself.
///
/// Kernels for it are of the device binding; they call no function. `l2` is a pool: the caller gives its address. Compile them for
/// `x86-64-linux-sse41-avx-avx2-f16c-fma`, or for more.
namespace tilewright::targets::avx2 {

inline constexpr memory ram{.name = "ram"};
/// Packed blocks that stay in the second-level cache: half a megabyte of the one that most of these cores have.
inline constexpr memory l2{.name = "l2", .capacity = 1_MiB, .alignment = 64};
inline constexpr memory ymm = register_file("ymm", 16, 32);
/// Bytes of one register.
inline constexpr std::int64_t vector_bytes = 32;
/// Elements of one register.
template <class Element>
inline constexpr std::int64_t lanes_of = vector_bytes / static_cast<std::int64_t>(sizeof(Element));
/// Bytes in [-64, 64], times bytes without sign: the sum of any two such products fits 16 bits.
inline constexpr std::int8_t furthest_reduced = 64;

inline constexpr core cpu{.name = "avx2", .fused_multiply_add = true};
inline constexpr transfer_cost by_loads_and_stores{.bytes_per_cycle = 16};
inline constexpr auto pack = transfer("pack", ram, l2).on(cpu).cost(by_loads_and_stores);
inline constexpr auto unpack = transfer("unpack", l2, ram).on(cpu).cost(by_loads_and_stores);
inline constexpr auto load = transfer("load", ram, ymm).on(cpu).cost(by_loads_and_stores);
inline constexpr auto store = transfer("store", ymm, ram).on(cpu).cost(by_loads_and_stores);
inline constexpr auto load_packed = transfer("load_packed", l2, ymm).on(cpu).cost(by_loads_and_stores);
inline constexpr auto store_packed = transfer("store_packed", ymm, l2).on(cpu).cost(by_loads_and_stores);

inline constexpr auto host = machine("x86_avx2", ram, l2, ymm, cpu, pack, unpack, load, store, load_packed, store_packed);

/// Cycles that a plan takes such a core, for comparing plans: two fused multiply-adds and two loads a cycle, four cycles from one sum to
/// the next; 16 bytes of a copy, and some more for each call of it. A partial tile in registers counts as a whole one.
struct cycles {
    constexpr double operator()(plan_value const& plan) const {
        double total = 0;
        plan.walk([&](ir::step const& s, std::int64_t times, std::int64_t) {
            if (s.kind == ir::step_kind::start) {
                ir::movement const& m = plan.movements[s.what];
                total += static_cast<double>(times) * (20 + static_cast<double>(m.bytes) / 16);
            }
            if (s.kind == ir::step_kind::compute) total += static_cast<double>(times) * of_body(plan, plan.bodies[s.what]);
        });
        return total;
    }

  private:
    static constexpr double of_body(plan_value const& plan, ir::body const& b) {
        double repeats = 1, multiply_adds = 1, loads = 0;
        auto const loop = [&](int at) -> ir::variable const& { return plan.variables[b.loops[at]]; };
        for (int at = 0; at < b.loop_count; ++at) {
            if (loop(at).vectorized) continue;
            (loop(at).unrolled ? multiply_adds : repeats) *= static_cast<double>(loop(at).extent);
        }
        plan.each_use(b, [&](ir::use const& u, bool reads, bool) {
            ir::buffer const& from = plan.buffers[u.buffer];
            if (!reads || plan.where->memories[from.memory].registers > 0) return;
            double distinct = 1;
            for (int at = 0; at < b.loop_count; ++at) {
                bool const moves = detail::moves_with(plan, u, b.loops[at]);
                if (moves && loop(at).unrolled) distinct *= static_cast<double>(loop(at).extent);
            }
            loads += distinct;
        });
        double const busiest = (multiply_adds > loads ? multiply_adds : loads) / 2;
        return repeats * (busiest > 4 || b.kind == ir::body_kind::identity ? busiest : 4);
    }
};

}  // namespace tilewright::targets::avx2
