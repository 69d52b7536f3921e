#pragma once
#include <tilewright/plan/ir/forms.hpp>
#include <tilewright/targets/x86_avx2.hpp>

namespace tilewright::targets::avx2 {

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
