#pragma once
#include <tilewright/plan/ir/refusals.hpp>
#include <tilewright/plan/ir/required_value.hpp>

// Whether every call finds its configurations set to what it needs, on every path. The check reads the program alone: it does not know how
// settings were placed.
namespace tilewright::detail {

using namespace ir;

/// A call that may find a configuration set to something else.
struct stale_setting {
    std::int16_t configuration = -1;  ///< -1: there is none
    std::int16_t step = -1;

    constexpr explicit operator bool() const { return configuration >= 0; }
};

/// Follows what configurations are set to. A register that can have two values has no known one. A value can become unknown only from one
/// iteration of a loop to the next, so two iterations tell about all.
class setting_walk {
    struct content {
        bool known = false;
        setting is{};
    };
    using registers = fixed_array<content, decltype(machine::configurations)::most>;

    template <class Call>
    constexpr void call(int at, part_range const& uses, Call const& what, unsigned sets, registers& now) {
        for (int which = 0; which < uses.count; ++which) {
            required const wanted = required_of(plan_, plan_.where->settings[uses.first + which], what);
            content& has = now[wanted.to.configuration];
            if ((sets >> which & 1) != 0) has.known = false;  // what another call has set is not known
            else if (wanted.varies || !has.known || !(has.is == wanted.to))
                found_ = {wanted.to.configuration, static_cast<std::int16_t>(at)};
        }
    }

  public:
    constexpr explicit setting_walk(plan_value const& plan) : plan_(plan) {}
    constexpr stale_setting run() {
        registers all{};
        int at = 0;
        walk(at, all);
        return found_;
    }

  private:
    static constexpr void forget_what_differs(registers& mine, registers const& others) {
        for (int at = 0; at < mine.size(); ++at) {
            if (!others[at].known || !(others[at].is == mine[at].is)) mine[at].known = false;
        }
    }
    constexpr void walk(int& at, registers& now) {
        for (; at < plan_.steps.size() && !found_; ++at) {
            step const& s = plan_.steps[at];
            switch (s.kind) {
                case step_kind::end: return;
                case step_kind::loop: {
                    int const first = at + 1;
                    registers before = now;
                    for (int iteration = 0; iteration < 2 && !found_; ++iteration) {
                        at = first;
                        registers behind = before;
                        walk(at, behind);
                        forget_what_differs(before, behind);
                    }
                    // However often it ran, or not at all.
                    now = before;
                    break;
                }
                case step_kind::configure: {
                    setting const& made = plan_.settings[s.what];
                    now[made.configuration] = {true, made};
                    break;
                }
                case step_kind::start: {
                    movement const& m = plan_.movements[s.what];
                    if (m.transfer >= 0) call(at, plan_.where->transfers[m.transfer].settings, m, m.sets, now);
                    break;
                }
                case step_kind::compute: {
                    body const& b = plan_.bodies[s.what];
                    if (b.kind != body_kind::intrinsic) break;
                    registers first = now;
                    bool const never_rest = b.first_intrinsic >= 0 && b.first_loop_count == 0;
                    if (!never_rest) call(at, plan_.where->intrinsics[b.intrinsic].settings, form_of_rest(b), b.sets, now);
                    if (b.first_intrinsic < 0) break;
                    call(at, plan_.where->intrinsics[b.first_intrinsic].settings, form_of_first(b), b.first_sets, first);
                    if (never_rest) now = first;
                    else forget_what_differs(now, first);
                    break;
                }
                default: break;
            }
        }
    }

    plan_value const& plan_;
    stale_setting found_{};
};

constexpr stale_setting find_stale_setting(plan_value const& plan) {
    if (plan.refusal || plan.where->configurations.size() == 0) return {};
    return setting_walk(plan).run();
}

constexpr void refuse_stale_setting(plan_value const& plan, refusals const& to, stale_setting const& found) {
    if (!found) return;
    step const& s = plan.steps[found.step];
    machine const& where = *plan.where;
    bool const moves = s.kind == step_kind::start;
    label const& part =
        moves ? where.transfers[plan.movements[s.what].transfer].name : where.intrinsics[plan.bodies[s.what].intrinsic].name;
    to.refuse(verdict_kind::race, rule::setting_not_made, {part, where.configurations[found.configuration].name});
}

}  // namespace tilewright::detail
