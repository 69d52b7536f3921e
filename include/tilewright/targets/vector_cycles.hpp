#pragma once
#include <tilewright/plan/check/cache_traffic.hpp>

namespace tilewright::targets {

/// Cycles that a plan takes a core with vector registers, for comparing plans: what it computes, loads, copies and brings through caches.
///
/// The caches are those of the plan's machine: see `core::caches`, and `with_caches` for those of a certain processor. A partial tile in
/// registers counts as a whole one. The numbers are rounded from what tiles of products and convolutions took, measured side by side: see
/// docs/design/processor.md. They are no promise of time.
struct vector_cycles {
    double multiplied_bytes = 64;          ///< of vectors, by multiply-adds in a cycle
    double latency = 4;                    ///< cycles from a sum to the next one that needs it
    double loads = 2;                      ///< a cycle, beside multiply-adds
    double load_cycles = 0.25;             ///< of each load, besides: it takes room that multiply-adds would have
    double copied_bytes = 4;               ///< a cycle, of copies between memories; twice as many where these are asked for ahead
    double stored_bytes = 8;               ///< a cycle, of tiles that registers load and store
    double copy_cycles = 20;               ///< of each copy, besides
    double tile_cycles = 8;                ///< of each tile body, besides
    double iteration_cycles = 2;           ///< of each iteration of loops that are not written out
    double hidden_of_nearest = 15.0 / 16;  ///< part of what comes into the nearest cache that the core does not wait for

    constexpr double operator()(plan_value const& plan) const {
        double total = 0;
        plan.walk([&](ir::step const& s, std::int64_t times, std::int64_t) {
            if (s.kind == ir::step_kind::start) total += static_cast<double>(times) * of_copy(plan, plan.movements[s.what]);
            if (s.kind == ir::step_kind::compute) total += static_cast<double>(times) * of_body(plan, plan.bodies[s.what]);
        });
        return total + of_caches(plan);
    }

  private:
    static constexpr bool is_register(plan_value const& plan, int buffer) {
        return buffer >= 0 && plan.where->memories[plan.buffers[buffer].memory].registers > 0;
    }
    constexpr double of_copy(plan_value const& plan, ir::movement const& m) const {
        double const bytes = static_cast<double>(m.bytes);
        if (is_register(plan, m.source) || is_register(plan, m.destination)) return bytes / stored_bytes;
        return copy_cycles + bytes / (m.hint_loop >= 0 ? 2 * copied_bytes : copied_bytes);
    }
    constexpr double of_caches(plan_value const& plan) const {
        cache_traffic const traffic = traffic_of_caches(plan);
        double total = 0;
        for (int at = 0; at < traffic.count; ++at) {
            double const bytes = traffic.levels[at].in + traffic.levels[at].out;
            double const cycles = bytes / static_cast<double>(plan.where->core_at(0).caches[at].bytes_per_cycle);
            total += at == 0 ? cycles * (1 - hidden_of_nearest) : cycles;
        }
        return total;
    }
    static constexpr double vector_bytes(machine const& of) {
        for (int at = 0; at < of.memories.size(); ++at) {
            if (of.memories[at].registers > 0) return static_cast<double>(of.memories[at].register_bytes());
        }
        return 32;
    }
    constexpr double of_body(plan_value const& plan, ir::body const& b) const {
        if (b.kind == ir::body_kind::identity) return tile_cycles;
        double repeats = 1, vectors = 1, steps = 1, loaded = 0;
        auto const loop = [&](int at) -> ir::variable const& { return plan.variables[b.loops[at]]; };
        for (int at = 0; at < b.loop_count; ++at) {
            if (loop(at).vectorized) continue;
            (loop(at).unrolled ? vectors : repeats) *= static_cast<double>(loop(at).extent);
            if (loop(at).unrolled && loop(at).reduction) steps *= static_cast<double>(loop(at).extent);
        }
        plan.each_use(b, [&](ir::use const& u, bool reads, bool) {
            if (!reads || is_register(plan, u.buffer)) return;
            double distinct = 1;
            for (int at = 0; at < b.loop_count; ++at) {
                bool const moves = tilewright::detail::moves_with(plan, u, b.loops[at]);
                if (moves && loop(at).unrolled) distinct *= static_cast<double>(loop(at).extent);
            }
            loaded += distinct;
        });
        double busiest = vectors * vector_bytes(*plan.where) / multiplied_bytes;
        double const waits = b.kind == ir::body_kind::value ? 0 : latency * steps;
        if (busiest < waits) busiest = waits;
        if (busiest < loaded / loads) busiest = loaded / loads;
        return tile_cycles + repeats * (iteration_cycles + busiest + load_cycles * loaded);
    }
};

}  // namespace tilewright::targets
