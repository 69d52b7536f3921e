#pragma once
#include <cstddef>

namespace tilewright::ir {

/// Up to `Most` parts in order.
///
/// Room without a part is an empty slot, because a compiler keeps every member of every element of a constant, and most plans fill a
/// fraction. Members are public because the compiler evaluates a call for each use of `size()` and `[]`: what is asked for most often
/// reads them itself.
template <class Part, int Most>
struct part_pool {
    static_assert(__is_trivially_copyable(Part));  // std's trait would cost more than the rest of this

    union slot {
        char none = 0;
        Part part;
    };

    static constexpr int most = Most;

    slot slots[static_cast<std::size_t>(Most)]{};
    int count = 0;

    constexpr int size() const { return count; }
    constexpr bool full() const { return count == Most; }
    constexpr Part& operator[](std::ptrdiff_t at) { return slots[at].part; }
    constexpr Part const& operator[](std::ptrdiff_t at) const { return slots[at].part; }
    /// @pre not full
    constexpr int push(Part const& what) {
        slots[count] = slot{.part = what};
        return count++;
    }
    /// Puts `what` in front of the part at `position`. @pre not full
    constexpr void insert(int position, Part const& what) {
        push(what);
        for (int at = count - 1; at > position; --at) slots[at].part = slots[at - 1].part;
        slots[position].part = what;
    }

    constexpr void erase(int position) {
        for (int at = position + 1; at < count; ++at) slots[at - 1].part = slots[at].part;
        --count;
    }
    /// Keeps the first `size` parts. @pre not more than there are
    constexpr void shrink(int size) { count = size; }
};

}  // namespace tilewright::ir
