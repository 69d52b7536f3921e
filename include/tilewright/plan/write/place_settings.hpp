#pragma once
#include <tilewright/plan/ir/planning.hpp>
#include <tilewright/plan/ir/required_value.hpp>

// Sets configurations where the values that calls need change, as far out as possible.
namespace tilewright::detail {

/// Places the settings of one configuration. The state is the setting that it has on every path to a place.
class setting_placer {
    // Settings count from 0. A step can also need, or a place have,
    static constexpr std::int16_t unknown = -1;  // need: nothing
    static constexpr std::int16_t many = -2;     // each call sets it for itself; of a loop: its steps need several

    constexpr bool uses(part_range const& settings, int& which) const {
        for (int at = 0; at < settings.count; ++at) {
            label const& name = p.of->where().settings[settings.first + at].configuration_name;
            if (p.of->where().configurations.find(name) == configuration_) return which = at, true;
        }
        return false;
    }
    constexpr std::int16_t keep(setting const& wanted) {
        for (int at = 0; at < p.plan.settings.count; ++at) {
            if (p.plan.settings[at] == wanted) return static_cast<std::int16_t>(at);
        }
        return static_cast<std::int16_t>(p.add(wanted));
    }
    /// The setting that a call needs. Notes in `sets` if the call must set it itself.
    template <class Call>
    constexpr std::int16_t need_of(part_range const& settings, Call const& call, std::uint8_t& sets) {
        int which = 0;
        if (p.refused() || !uses(settings, which)) return unknown;
        required const wanted = required_of(p.plan, p.of->where().settings[settings.first + which], call);
        if (!wanted.varies) return keep(wanted.to);
        sets = static_cast<std::uint8_t>(sets | 1u << which);
        return many;
    }

  public:
    constexpr setting_placer(writing& planned, int configuration_at) : p(planned), configuration_(configuration_at) {
        for (int at = 0; at < p.plan.steps.count; ++at) needs_[at] = need_of(p.plan.steps[at]);
    }
    constexpr void run() {
        place(0, p.plan.steps.count, unknown, true);
        // From last to first, so that earlier positions stay valid.
        for (int at = p.plan.steps.count - 1; at >= 0 && !p.refused(); --at) {
            std::int16_t const setting_at = placed_[at];
            if (setting_at == unknown) continue;
            if (p.plan.steps.full()) return p.refuse_capacity("steps", p.plan.steps.most + 1, p.plan.steps.most);
            p.plan.steps.insert(at, {step_kind::configure, setting_at});
        }
    }

  private:
    constexpr std::int16_t need_of(step const& s) {
        machine const& where = p.of->where();
        if (s.kind == step_kind::start) {
            movement& m = p.plan.movements[s.what];
            return m.transfer < 0 ? unknown : need_of(where.transfers[m.transfer].settings, m, m.sets);
        }
        if (s.kind != step_kind::compute) return unknown;
        body& b = p.plan.bodies[s.what];
        if (b.kind != body_kind::intrinsic) return unknown;
        part_range const& settings = where.intrinsics[b.intrinsic].settings;
        std::int16_t const rest = need_of(settings, form_of_rest(b), b.sets);
        if (b.first_intrinsic < 0) return rest;
        part_range const& first_settings = where.intrinsics[b.first_intrinsic].settings;
        std::int16_t const first = need_of(first_settings, form_of_first(b), b.first_sets);
        if (b.first_loop_count == 0) return first;
        if (first == rest || first == unknown || rest == unknown) return first == unknown ? rest : first;
        // The two forms take turns, so each sets what it needs.
        int which = 0;
        if (uses(settings, which)) b.sets = static_cast<std::uint8_t>(b.sets | 1u << which);
        if (uses(first_settings, which)) b.first_sets = static_cast<std::uint8_t>(b.first_sets | 1u << which);
        return many;
    }

    constexpr int end_of(int loop_step) const {
        int depth = 0;
        for (int at = loop_step;; ++at) {
            step_kind const is = p.plan.steps[at].kind;
            depth += is == step_kind::loop ? 1 : is == step_kind::end ? -1 : 0;
            if (depth == 0) return at;
        }
    }
    /// The one setting that all steps of a range need.
    constexpr std::int16_t need_of_all(int begin, int end) const {
        std::int16_t all = unknown;
        for (int at = begin; at < end; ++at) {
            std::int16_t const need = needs_[at];
            if (need == unknown) continue;
            if (all != unknown && need != all) return many;
            all = need;
        }
        return all;
    }
    constexpr std::int16_t first_need(int begin, int end) const {
        for (int at = begin; at < end; ++at) {
            if (needs_[at] != unknown) return needs_[at];
        }
        return unknown;
    }
    constexpr void set(int at, std::int16_t wanted, std::int16_t& state, bool keeps) {
        if (state != wanted && keeps) placed_[at] = wanted;
        state = wanted;
    }
    /// @param keeps  whether settings are placed, or only the state after the steps is asked for
    constexpr std::int16_t place(int begin, int end, std::int16_t state, bool keeps) {
        for (int at = begin; at < end; ++at) {
            std::int16_t need = needs_[at];
            if (p.plan.steps[at].kind == step_kind::loop) {
                int const behind = end_of(at);
                need = need_of_all(at, behind);
                if (need >= 0) set(at, need, state, keeps);
                else if (need == many) state = place_loop(at, behind, state, keeps);
                at = behind;
            } else if (need >= 0) {
                set(at, need, state, keeps);
            } else if (need == many) {
                state = unknown;
            }
        }
        return state;
    }
    /// Places the settings of a loop whose iterations change the setting. A state before the first iteration holds before all, if an
    /// iteration also ends with it. Any iteration may be left out, if tiles are partial.
    constexpr std::int16_t place_loop(int at, int behind, std::int16_t state, bool keeps) {
        std::int16_t entry = unknown;
        std::int16_t const first = first_need(at, behind);
        if (state >= 0 && place(at + 1, behind, state, false) == state) {
            entry = state;
        } else if (first >= 0 && place(at + 1, behind, unknown, false) == first) {
            set(at, first, state, keeps);
            entry = first;
        }
        std::int16_t const after = place(at + 1, behind, entry, keeps);
        return after == state ? state : unknown;
    }

    writing& p;
    int configuration_;
    fixed_array<std::int16_t, plan_value::most_steps> needs_{};
    fixed_array<std::int16_t, plan_value::most_steps> placed_ = [] {
        fixed_array<std::int16_t, plan_value::most_steps> none{};
        set_all(none, unknown);
        return none;
    }();
};

constexpr void place_settings(writing& p) {
    for (int at = 0; at < p.of->where().configurations.size() && !p.refused(); ++at) setting_placer(p, at).run();
}

}  // namespace tilewright::detail
