#pragma once
#include <map>
#include <tilewright/bring_up/test_case.hpp>
#include <tilewright/bring_up/ways.hpp>

// Where the windows of a case lie.
namespace tilewright::bring_up {

/// Gives the windows of one case their places: one after the other in each memory, from its beginning, or up to its end.
class room {
  public:
    /// Bytes that must stay, on both sides of what a call touches.
    static constexpr std::int64_t guard = 64;

    room(machine const& where, memory_ways const& ways, std::int64_t largest) : where_(where), ways_(ways), largest_(largest) {}

    /// A window for `reach` bytes whose first lies `skew` bytes past a multiple of what windows begin at.
    /// @param at_end  the window ends where the memory does, and what is reached as near as multiples of `step` bytes allow
    /// @return whether there is such a window
    bool take(int memory_at, std::int64_t reach, std::int64_t skew, bool at_end, std::int64_t step, window& made) {
        memory const& m = where_.memories[memory_at];
        std::int64_t const grain = ways_.grain[static_cast<std::size_t>(memory_at)];
        if (m.passes_values()) {
            made = {0, m.register_bytes(), 0};
            return reach <= m.register_bytes() && skew == 0;
        }
        std::int64_t const before = rounded(guard, grain);
        made.first = before + skew;
        made.bytes = rounded(made.first + reach + guard, grain);
        if (made.bytes > largest_) return false;
        std::int64_t& next = next_[memory_at];
        std::int64_t const bank = m.capacity > 0 ? m.bank_capacity() : 0;
        made.offset = next;
        if (at_end) {
            // The last byte of the memory is one of the operand's, if it can be. Where a pool ends, its caller says.
            made.bytes = rounded(made.first + reach, grain);
            std::int64_t const end = m.banks * bank / grain * grain;
            if (m.is_pool() || made.bytes > bank || made.bytes > end / 2) return false;
            made.offset = end - made.bytes;
            made.first += (made.bytes - made.first - reach) / step * step;
            return true;
        }
        if (bank > 0 && made.bytes > bank) return false;
        if (bank > 0 && made.offset / bank != (made.offset + made.bytes - 1) / bank)
            made.offset = rounded((made.offset / bank + 1) * bank, grain);
        if (m.capacity > 0 && made.offset + made.bytes > m.banks * bank) return false;
        next = made.offset + made.bytes;
        return true;
    }
    std::int64_t used(int memory_at) const {
        auto const found = next_.find(memory_at);
        return found == next_.end() ? 0 : found->second;
    }
    static std::int64_t rounded(std::int64_t bytes, std::int64_t grain) { return (bytes + grain - 1) / grain * grain; }

  private:
    machine const& where_;
    memory_ways const& ways_;
    std::int64_t largest_;
    std::map<int, std::int64_t> next_;
};

}  // namespace tilewright::bring_up
