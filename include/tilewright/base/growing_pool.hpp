#pragma once
#include <cstddef>

namespace tilewright::ir {

/// Parts in order: up to `Most` where the compiler evaluates it, and up to `Largest` at run time.
///
/// The first `Most` lie in the pool, so that it can be a constant. The others lie on the heap, which no constant can have.
template <class Part, int Most, int Largest>
class growing_pool {
    static_assert(__is_trivially_copyable(Part) && Most <= Largest);

    // An empty slot costs a compiler less than a part.
    union slot {
        char none = 0;
        Part part;
    };

  public:
    static constexpr int most = Most;

    constexpr growing_pool() = default;
    constexpr growing_pool(growing_pool const& other) { append(other); }
    constexpr growing_pool& operator=(growing_pool const& other) {
        if (this == &other) return *this;
        count_ = 0;
        append(other);
        return *this;
    }
    constexpr ~growing_pool() { delete[] more_; }

    /// How many parts there can be, here and now.
    static constexpr int room() { return __builtin_is_constant_evaluated() ? Most : Largest; }

    constexpr int size() const { return count_; }
    constexpr bool full() const { return count_ == room(); }
    constexpr Part& operator[](std::ptrdiff_t at) { return at < Most ? slots_[at].part : more_[at - Most]; }
    constexpr Part const& operator[](std::ptrdiff_t at) const { return at < Most ? slots_[at].part : more_[at - Most]; }
    /// @return its position
    /// @pre not full
    constexpr int push(Part const& what) {
        if (count_ < Most) slots_[count_] = slot{.part = what};
        else push_more(what);
        return count_++;
    }

  private:
    constexpr void append(growing_pool const& other) {
        for (int at = 0; at < other.count_; ++at) push(other[at]);
    }
    constexpr void push_more(Part const& what) {
        int const beyond = count_ - Most;
        if (beyond == more_room_) {
            more_room_ = beyond < 1 ? 64 : 2 * beyond;
            Part* const wider = new Part[static_cast<std::size_t>(more_room_)]{};
            for (int at = 0; at < beyond; ++at) wider[at] = more_[at];
            wider[beyond] = what;  // before the old ones go: it may be one of them
            delete[] more_;
            more_ = wider;
        } else {
            more_[beyond] = what;
        }
    }

    slot slots_[static_cast<std::size_t>(Most)]{};
    int count_ = 0;
    Part* more_ = nullptr;
    int more_room_ = 0;
};

}  // namespace tilewright::ir
