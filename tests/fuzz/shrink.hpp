#pragma once
#include <functional>

#include "fuzz/recipe.hpp"

namespace fuzz {

/// The last of ever smaller cases that fail. @param smaller_of  all that are one change smaller than a case
template <class Case, class SmallerOf>
Case smallest_failing(Case from, SmallerOf const& smaller_of, std::function<bool(Case const&)> const& fails,
                      std::function<bool()> const& enough) {
    bool smaller = true;
    std::size_t next = 0;
    while (smaller && !enough()) {
        smaller = false;
        std::vector<Case> const candidates = smaller_of(from);
        // What came after the last change that helped is tried first: what stands before it has been tried.
        for (std::size_t tried = 0; tried < candidates.size() && !enough(); ++tried) {
            std::size_t const at = (next + tried) % candidates.size();
            if (!fails(candidates[at])) continue;
            from = candidates[at];
            next = at;
            smaller = true;
            break;
        }
    }
    return from;
}

/// Takes away what can go: directives, stages, dimensions, operations, extents, parts of the machine, while the case still fails.
///
/// @param fails  whether a smaller case shows the same fault; what the planner refuses does not
/// @param enough  whether to stop looking
drawn_case shrink(drawn_case from, std::function<bool(drawn_case const&)> const& fails, std::function<bool()> const& enough);

}  // namespace fuzz
