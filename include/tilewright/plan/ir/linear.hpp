#pragma once
#include <cstdint>
#include <tilewright/base/fixed_array.hpp>
#include <tilewright/base/positions.hpp>

// Without initialisers, so that an array of zeros is one value to a compiler.
namespace tilewright::ir {

struct term {
    std::int64_t coefficient;
    variable_id variable;
};

/// A sum of variables with coefficients, while the planner works on it. Terms are ordered by variable, none is zero.
struct linear {
    static constexpr int most = 12;

    std::int64_t constant = 0;
    term terms[most]{};
    int count = 0;
    bool overflown = false;  ///< it would have more terms: those that are there are some of them

    constexpr void add(std::int64_t coefficient, int variable) {
        if (coefficient == 0 || overflown) return;
        int at = 0;
        while (at < count && terms[at].variable < variable) ++at;
        if (at < count && terms[at].variable == variable) {
            auto& existing = terms[at].coefficient;
            existing += coefficient;
            if (existing == 0) {
                for (int next = at + 1; next < count; ++next) terms[next - 1] = terms[next];
                terms[--count] = {};
            }
            return;
        }
        if (count == most) {
            overflown = true;
            return;
        }
        for (int next = count; next > at; --next) terms[next] = terms[next - 1];
        terms[at] = {coefficient, variable_id(variable)};
        ++count;
    }
    constexpr void add(linear const& other, std::int64_t scale = 1) {
        if (count == 0 && scale == 1 && !overflown) {
            // Most sums begin so: a copy is cheaper in the compiler than one term after the other.
            std::int64_t const sum = constant + other.constant;
            *this = other;
            constant = sum;
            return;
        }
        constant += scale * other.constant;
        for (int at = 0; at < other.count; ++at) add(scale * other.terms[at].coefficient, other.terms[at].variable);
        overflown |= other.overflown;
    }
    constexpr bool same_terms(linear const& other) const {
        bool same = count == other.count && overflown == other.overflown;
        for (int at = 0; at < count && same; ++at)
            same = terms[at].variable == other.terms[at].variable && terms[at].coefficient == other.terms[at].coefficient;
        return same;
    }
    constexpr std::int64_t coefficient_of(int variable) const {
        for (int at = 0; at < count; ++at) {
            if (terms[at].variable == variable) return terms[at].coefficient;
        }
        return 0;
    }
};

/// A linear form kept in a plan: its terms stand in `plan_value::terms`.
struct affine {
    std::int64_t constant;
    std::int16_t first;
    std::int16_t count;
};

}  // namespace tilewright::ir
