#pragma once
#include <cstddef>

namespace tilewright::ir {

/// Up to `Most` parts in order.
///
/// Room without a part is an empty slot, because a compiler keeps every member of every element of a constant, and most plans fill a
/// fraction.
template <class Part, int Most>
class part_pool {
    static_assert(__is_trivially_copyable(Part));  // std's trait would cost more than the rest of this

    union slot {
        char none = 0;
        Part part;
    };

  public:
    static constexpr int most = Most;

    constexpr int size() const { return size_; }
    constexpr bool full() const { return size_ == Most; }
    constexpr Part& operator[](std::ptrdiff_t at) { return slots_[at].part; }
    constexpr Part const& operator[](std::ptrdiff_t at) const { return slots_[at].part; }
    /// @pre not full
    constexpr int push(Part const& what) {
        slots_[size_] = slot{.part = what};
        return size_++;
    }
    /// Puts `what` in front of the part at `position`. @pre not full
    constexpr void insert(int position, Part const& what) {
        push(what);
        for (int at = size_ - 1; at > position; --at) slots_[at].part = slots_[at - 1].part;
        slots_[position].part = what;
    }

    constexpr void erase(int position) {
        for (int at = position + 1; at < size_; ++at) slots_[at - 1].part = slots_[at].part;
        --size_;
    }
    /// Keeps the first `size` parts. @pre not more than there are
    constexpr void shrink(int size) { size_ = size; }

  private:
    slot slots_[Most]{};
    int size_ = 0;
};

}  // namespace tilewright::ir
