#pragma once
#include <cstdint>
#include <tilewright/base/list.hpp>

namespace tilewright {

/// How many iterations of some loops keep to all limits. Generated code gives the loops and limits of a partial tile:
///
/// {loops, parts, limits, the extent of each loop, for each part {form, divisor, modulus; 0: none}, for each limit {form, bound}}, where a
/// form is {constant, terms, for each term {which value, coefficient}}. Values are the loops, then the parts: (form / divisor) % modulus.
/// A limit holds where its form is less than its bound.
inline std::int64_t count_iterations(std::int64_t const* at) {
    std::int64_t const loops = at[0], parts = at[1], limits = at[2];
    std::int64_t const* const extents = at + 3;
    std::int64_t const* const behind = extents + loops;
    ir::list<std::int64_t> values(static_cast<std::size_t>(loops + parts));
    for (std::int64_t count = 0;;) {
        std::int64_t const* next = behind;
        auto const form = [&] {
            std::int64_t value = *next++;
            for (std::int64_t terms = *next++; terms > 0; --terms, next += 2) value += values[next[0]] * next[1];
            return value;
        };
        for (std::int64_t part = 0; part < parts; ++part) {
            std::int64_t const value = form() / next[0];
            values[loops + part] = next[1] == 0 ? value : value % next[1];
            next += 2;
        }
        bool keeps = true;
        for (std::int64_t limit = 0; limit < limits && keeps; ++limit) {
            std::int64_t const value = form();
            keeps = value < *next++;
        }
        count += keeps ? 1 : 0;
        std::int64_t loop = 0;
        while (loop < loops && ++values[loop] == extents[loop]) values[loop++] = 0;
        if (loop == loops) return count;
    }
}

}  // namespace tilewright
