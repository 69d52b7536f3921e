#pragma once
#include <tilewright/plan/ir/plan_value.hpp>

// Indices that are parts of one number. An element of `C[f / 8, f % 8]` tells f, so two pieces with other values of f lie apart, although
// both may have rows and columns in common. Loops that are fused, and layouts, make such indices.
namespace tilewright::detail {

using namespace ir;

/// How the elements of a buffer give a number: by parts of it, each (index - constant) / scale % extent along a dimension.
///
/// Two accesses that have the same one read the same number off the same element.
struct whole_index {
    struct part {
        std::int16_t dimension = 0;
        std::int64_t scale = 0, constant = 0, extent = 0, divisor = 0, modulus = 0;
    };
    static constexpr int most = 4;
    fixed_array<part, most> parts{};
    int count = 0;         ///< 0: they give none
    std::int64_t way = 0;  ///< which of them make it, in which order

    constexpr bool same(whole_index const& other) const {
        bool same = count == other.count && way == other.way;
        for (int at = 0; at < count && same; ++at) {
            part const &a = parts[at], &b = other.parts[at];
            same = a.dimension == b.dimension && a.scale == b.scale && a.constant == b.constant && a.extent == b.extent &&
                   a.divisor == b.divisor && a.modulus == b.modulus;
        }
        return same;
    }
};

/// The indices of an access, per dimension, and how far it reaches from there.
struct place_of_parts {
    affine const* at = nullptr;
    int rank = 0;
    fixed_array<std::int64_t, max_rank> reach{};
    fixed_array<bool, max_rank> left_out{};  ///< the index says nothing: rows go on into the dimension around
};

/// Puts the parts of a number that moves with the core together.
class whole_finder {
  public:
    constexpr whole_finder(plan_value const& plan, place_of_parts const& where) : plan_(plan), where_(where) {}

    /// Whether an index has a part of a number that moves with the core.
    constexpr bool has_parts_of_shares() const {
        bool found = false;
        for (int d = 0; d < where_.rank; ++d) {
            for (int at = 0; at < where_.at[d].count; ++at) {
                variable const& v = plan_.variables[term_of(d, at).variable];
                found |= v.kind == variable_kind::component && moves_with_core(v.fused);
            }
        }
        return found;
    }
    /// @return whether the parts give such a number
    constexpr bool find() {
        for (int d = 0; d < where_.rank; ++d) {
            for (int at = 0; at < where_.at[d].count; ++at) {
                term const& t = term_of(d, at);
                if (plan_.variables[t.variable].kind == variable_kind::component && is_read_off(d, t)) keep(d, t);
            }
        }
        for (int a = 0; a < known_count_; ++a) {
            for (int b = 0; b < known_count_; ++b) {
                variable const &quotient = plan_.variables[known_[a]], &rest = plan_.variables[known_[b]];
                bool const both = quotient.modulus == 0 && rest.divisor == 1 && rest.modulus == quotient.divisor;
                if (!both || !same_form(quotient.fused, rest.fused)) continue;
                form_ = quotient.fused;
                found_.way = (found_.way * most_known + a) * most_known + b;
                if (has_core(form_)) return true;
                // It is a part of another one.
                if (form_.count != 1 || form_.constant != 0 || plan_.term_at(form_, 0).coefficient != 1) continue;
                int const whole = plan_.term_at(form_, 0).variable;
                if (plan_.variables[whole].kind == variable_kind::component) push(whole);
            }
        }
        // A remainder is all of a number that is smaller.
        for (int at = 0; at < known_count_; ++at) {
            variable const& rest = plan_.variables[known_[at]];
            if (rest.divisor != 1 || rest.modulus == 0 || !has_core(rest.fused)) continue;
            form_ = rest.fused, limit_ = rest.modulus;
            found_.way = -1 - at;
            return true;
        }
        return false;
    }
    constexpr whole_index const& found() const { return found_; }
    constexpr affine const& form() const { return form_; }
    /// Only numbers below it are given; 0: all are.
    constexpr std::int64_t limit() const { return limit_; }

  private:
    static constexpr int most_known = 2 * whole_index::most;

    constexpr term const& term_of(int d, int at) const { return plan_.term_at(where_.at[d], at); }
    constexpr bool has_core(affine const& form) const {
        bool found = false;
        for (int at = 0; at < form.count; ++at) found |= plan_.variables[plan_.term_at(form, at).variable].distributed;
        return found;
    }
    constexpr bool moves_with_core(affine const& form) const {
        bool found = has_core(form);
        for (int at = 0; at < form.count && !found; ++at) {
            variable const& v = plan_.variables[plan_.term_at(form, at).variable];
            found = v.kind == variable_kind::component && moves_with_core(v.fused);
        }
        return found;
    }
    constexpr bool same_form(affine const& a, affine const& b) const {
        bool same = a.count == b.count && a.constant == b.constant;
        for (int at = 0; at < a.count && same; ++at) {
            term const &of_a = plan_.term_at(a, at), &of_b = plan_.term_at(b, at);
            same = of_a.variable == of_b.variable && of_a.coefficient == of_b.coefficient;
        }
        return same;
    }
    /// Whether every element that is touched tells the variable: what else is in the index is less than a step of it, or goes in whole
    /// rounds of it.
    constexpr bool is_read_off(int d, term const& of) const {
        if (where_.left_out[d] || of.coefficient <= 0) return false;
        std::int64_t const round = of.coefficient * plan_.variables[of.variable].extent;
        std::int64_t rest = where_.reach[d];
        for (int at = 0; at < where_.at[d].count; ++at) {
            term const& t = term_of(d, at);
            if (t.variable == of.variable || t.coefficient % round == 0) continue;
            if (t.coefficient < 0) return false;
            rest += t.coefficient * (plan_.variables[t.variable].extent - 1);
        }
        return rest < of.coefficient;
    }
    constexpr void push(int variable_at) {
        for (int at = 0; at < known_count_; ++at) {
            if (known_[at] == variable_at) return;
        }
        if (known_count_ < most_known) known_[known_count_++] = static_cast<std::int16_t>(variable_at);
    }
    constexpr void keep(int d, term const& t) {
        variable const& v = plan_.variables[t.variable];
        if (found_.count == whole_index::most) return;
        for (int at = 0; at < known_count_; ++at) {
            if (known_[at] == t.variable) return;
        }
        found_.parts[found_.count++] = {static_cast<std::int16_t>(d), t.coefficient, where_.at[d].constant, v.extent, v.divisor, v.modulus};
        push(t.variable);
    }

    plan_value const& plan_;
    place_of_parts const& where_;
    fixed_array<std::int16_t, most_known> known_{};
    int known_count_ = 0;
    whole_index found_{};
    affine form_{};
    std::int64_t limit_ = 0;
};

}  // namespace tilewright::detail
