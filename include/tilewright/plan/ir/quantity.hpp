#pragma once
#include <cstdint>
#include <tilewright/base/bad_query.hpp>
#include <tilewright/base/type_questions.hpp>

namespace tilewright::ir {

/// A number that a plan was asked for.
///
/// After a refusal it compares true with everything, so that the verdict stays the only error. A number that was not found has no value:
/// comparing or converting it is an error in the compiler, and bad_query at run time.
struct quantity {
    double value = 0;  ///< not resolved: it is at least so much
    bool known = true;
    bool resolved = true;  ///< otherwise too little repeats for the compiler to follow it

    constexpr quantity(double number, bool is_known) : value(number), known(is_known) {}
    template <class Number>
        requires detail::arithmetic<Number>
    constexpr quantity(Number number) : value(static_cast<double>(number)) {}
    /// A number that is not resolved, and is at least `bound`.
    static constexpr quantity at_least(quantity bound) { return {bound.value, false, false}; }
    constexpr explicit operator double() const { return number(); }

    friend constexpr quantity operator+(quantity a, quantity b) { return {a.value + b.value, a, b}; }
    friend constexpr quantity operator-(quantity a, quantity b) { return {b.known ? a.value - b.value : 0, a, b}; }
    friend constexpr quantity operator*(quantity a, quantity b) { return {a.value * b.value, a, b}; }
    friend constexpr quantity operator/(quantity a, quantity b) { return {b.known ? a.value / b.value : 0, a, b}; }
    friend constexpr bool operator==(quantity a, quantity b) { return either_refused(a, b) || a.number() == b.number(); }
    friend constexpr bool operator!=(quantity a, quantity b) { return either_refused(a, b) || a.number() != b.number(); }
    friend constexpr bool operator<(quantity a, quantity b) { return either_refused(a, b) || a.number() < b.number(); }
    friend constexpr bool operator<=(quantity a, quantity b) { return either_refused(a, b) || a.number() <= b.number(); }
    friend constexpr bool operator>(quantity a, quantity b) { return b < a; }
    friend constexpr bool operator>=(quantity a, quantity b) { return b <= a; }

    /// `2688`; `at least 12000` of a number that is not resolved; `unknown` after a refusal.
    template <class Stream>
        requires requires(Stream& to) { to.flush(); }
    friend Stream& operator<<(Stream& to, quantity const& of) {
        if (of.is_refused()) return to << "unknown", to;
        if (!of.resolved) to << "at least ";
        auto const whole = static_cast<std::int64_t>(of.value);
        if (static_cast<double>(whole) == of.value) to << whole;
        else to << of.value;
        return to;
    }

  private:
    constexpr quantity(double number, bool is_known, bool is_resolved) : value(number), known(is_known), resolved(is_resolved) {}
    constexpr quantity(double number, quantity a, quantity b)
        : value(number), known(a.known && b.known), resolved(either_refused(a, b) || (a.resolved && b.resolved)) {}
    constexpr bool is_refused() const { return !known && resolved; }
    static constexpr bool either_refused(quantity a, quantity b) { return a.is_refused() || b.is_refused(); }
    constexpr double number() const {
        if (!resolved) detail::throw_or_abort(bad_query("the number is not resolved: ask cycles_resolved() before it is used"));
        return value;
    }
};

}  // namespace tilewright::ir
