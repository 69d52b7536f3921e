#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/ir/plan_value.hpp>

// The verdict of a schedule, while it is planned.
namespace tilewright::detail {

using namespace ir;

/// Where the verdict of a schedule is written.
struct verdict_sheet {
    verdict first{};
    verdict ignored{};  ///< what is refused after the first
};

/// Refuses what is planned: the first verdict is kept, what is refused after it is ignored. Whoever may read the plan may refuse it: a
/// refusal changes the sheet, not the plan.
struct refusals {
    schedule const* of = nullptr;

    constexpr explicit refusals(verdict_sheet& sheet, schedule const* what = nullptr) : of(what), sheet_(&sheet) {}

    constexpr bool refused() const { return sheet_->first.kind != verdict_kind::none; }
    constexpr verdict const& first_verdict() const { return sheet_->first; }
    /// Takes a verdict that was found elsewhere, unless there is one.
    constexpr void take(verdict const& found) const {
        if (!refused()) sheet_->first = found;
    }
    /// Forgets what was refused.
    constexpr void forget() const { sheet_->first = {}; }

    constexpr verdict& refuse(verdict_kind kind, int ordinal = 0) const {
        if (refused()) {
            sheet_->ignored = {};
            return sheet_->ignored;
        }
        verdict& v = sheet_->first;
        v.kind = kind;
        if (ordinal > 0 && of != nullptr) {
            v.ordinal = static_cast<std::int16_t>(ordinal);
            directive const& d = of->directive_at(ordinal - 1);
            v.line = d.line;
            v.directive = d.kind;
        }
        return v;
    }
    constexpr void refuse(verdict_kind kind, rule broken, fixed_array<label, 4> const& names, int ordinal = 0,
                          fixed_array<fact, 4> const& facts = {}) const {
        verdict& v = refuse(kind, ordinal);
        v.broken = broken;
        v.names = names;
        v.facts = facts;
    }
    constexpr void refuse_capacity(label const& what, std::int64_t needed, std::int64_t most, int ordinal = 0,
                                   label const& of_what = {}) const {
        verdict& v = refuse(verdict_kind::capacity_of_representation, ordinal);
        v.names = {what, of_what};
        v.facts = {fact{fact_kind::need, needed}, fact{fact_kind::limit, most}};
    }
    constexpr void refuse_ill_formed(stage_mistake const& wrong, label const& output) const {
        if (wrong.limit > 0) refuse_capacity(wrong.what, wrong.need, wrong.limit, 0, wrong.about.empty() ? output : wrong.about);
        else refuse(verdict_kind::ill_formed, wrong.broken, {output, wrong.about});
    }
    /// `need` as a number of which a plan can hold at most `most`; 0 after a refusal. A double holds products that an int64 would not.
    constexpr std::int64_t limited(double need, std::int64_t most, char const* what, label const& of_what) const {
        if (need <= static_cast<double>(most)) return static_cast<std::int64_t>(need);
        refuse_capacity(what, static_cast<std::int64_t>(need < 4e18 ? need : 4e18), most, 0, of_what);
        return 0;
    }
    constexpr std::int64_t common_multiple(std::int64_t a, std::int64_t b, label const& of_what) const {
        if (b == 1 && a >= 1 && a <= plan_value::most_bytes) return a;
        double const multiple = static_cast<double>(a / gcd(a, b)) * static_cast<double>(b);
        return limited(multiple, plan_value::most_bytes, "alignment", of_what) == 0 ? 1 : lcm(a, b);
    }
    constexpr void check_name(label const& name, int ordinal = 0) const {
        if (name.cut()) refuse_capacity("letters", name.full_size(), label::longest, ordinal, name.beginning());
    }

  private:
    verdict_sheet* sheet_;
};

}  // namespace tilewright::detail
