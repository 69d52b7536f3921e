#pragma once
#include <cstddef>
#include <vector>

namespace tilewright::ir {

/// A std::vector whose positions are of any integer type: positions here are signed, and a std::vector would convert each of them, which
/// -Wsign-conversion warns of.
template <class Element>
struct list : std::vector<Element> {
    using base = std::vector<Element>;
    using base::base;

    typename base::reference operator[](auto position) { return base::operator[](static_cast<std::size_t>(position)); }
    typename base::const_reference operator[](auto position) const { return base::operator[](static_cast<std::size_t>(position)); }
    /// @throws std::out_of_range when there is no such position
    typename base::reference at(auto position) { return base::at(static_cast<std::size_t>(position)); }
    typename base::const_reference at(auto position) const { return base::at(static_cast<std::size_t>(position)); }
};

}  // namespace tilewright::ir
