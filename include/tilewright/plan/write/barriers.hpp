#pragma once
#include <tilewright/plan/ir/planning.hpp>

// Where all cores wait for each other.
namespace tilewright::detail {

/// Puts barriers between the shares of the cores and what core 0 does before them, after them, and between two of them.
class barrier_placer {
  public:
    constexpr explicit barrier_placer(writing& planned) : p(planned) {}

    constexpr void run() {
        place(0, p.plan.steps.count);
        for (int at = p.plan.steps.count - 1; at >= 0; --at) {
            if (!before_[at]) continue;
            if (p.plan.steps.full()) return p.refuse_capacity("steps", p.plan.steps.most + 1, p.plan.steps.most);
            p.plan.steps.insert(at, {step_kind::barrier, 0});
        }
    }

  private:
    /// What has been done since the last barrier.
    struct pending {
        bool shares = false, led = false;
    };
    /// What stands in a loop, besides in its distributed loops.
    struct contents {
        int shares = 0;
        bool led = false;
    };
    constexpr bool is_share(step const& s) const { return s.kind == step_kind::loop && p.var(s.what).distributed; }
    constexpr contents contents_of(int begin, int end) const {
        contents found;
        for (int at = begin; at < end; ++at) {
            step const& s = p.plan.steps[at];
            found.led |= is_led(s);
            if (!is_share(s)) continue;
            ++found.shares;
            at = p.plan.end_of_loop(at);
        }
        return found;
    }
    constexpr void meet(int before) {
        before_[before] = true;
        pending_ = {};
    }
    constexpr void place(int begin, int end) {
        for (int at = begin; at < end; ++at) {
            step const& s = p.plan.steps[at];
            int const behind = s.kind == step_kind::loop ? p.plan.end_of_loop(at) : at;
            contents const inside = s.kind == step_kind::loop ? contents_of(at + 1, behind) : contents{0, is_led(s)};
            if (is_share(s)) {
                if (pending_.led || pending_.shares) meet(at);
                pending_.shares = true;
            } else if (inside.shares > 0) {
                place(at + 1, behind);
                // The next iteration begins with what comes after a barrier, too.
                if ((inside.led || inside.shares > 1) && (pending_.led || pending_.shares)) meet(behind);
            } else if (inside.led) {
                if (pending_.shares) meet(at);
                pending_.led = true;
            }
            at = behind;
        }
    }

    writing& p;
    pending pending_{};
    fixed_array<bool, plan_value::most_steps> before_{};
};

constexpr void place_barriers(writing& p) { barrier_placer(p).run(); }

}  // namespace tilewright::detail
