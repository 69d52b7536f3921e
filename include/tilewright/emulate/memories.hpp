#pragma once
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/region.hpp>
#include <tilewright/machine/machine.hpp>

namespace tilewright::emulation {

/// A byte of a machine's memory.
struct place {
    int memory = -1;  ///< -1: outside of every memory
    int bank = 0;
    std::int64_t offset = 0;  ///< from the beginning of the bank

    constexpr explicit operator bool() const { return memory >= 0; }
};

/// The banks of one memory, which several machines may see.
using bank_list = ir::list<guarded_region>;

inline std::shared_ptr<bank_list const> banks_of(memory const& m) {
    bank_list banks;
    for (int bank = 0; m.capacity > 0 && bank < m.banks; ++bank) banks.emplace_back(m.bank_capacity(), m.alignment);
    return std::make_shared<bank_list const>(std::move(banks));
}

/// The memories of a machine in this process. Every bank is a guarded region of its own.
class memories {
  public:
    /// @param shared  memories, by name, that lie where another machine has them too
    explicit memories(machine const& what, std::map<std::string, std::shared_ptr<bank_list const>> const& shared = {}) : what_(what) {
        for (int at = 0; at < what.memories.size(); ++at) {
            auto const known = shared.find(what.memories[at].name.str());
            banks_.push_back(known != shared.end() ? known->second : banks_of(what.memories[at]));
        }
    }

    /// Lays the banks anew, between guard pages again. Contents are lost.
    ///
    /// @param bytes_of  `bytes_of(memory, bank)`: the size of a bank from now on
    template <class Bytes>
    void lay(region_side at, Bytes const& bytes_of) {
        for (int memory_at = 0; memory_at < what_.memories.size(); ++memory_at) {
            memory const& m = what_.memories[memory_at];
            bank_list banks;
            for (int bank = 0; m.capacity > 0 && bank < m.banks; ++bank) banks.emplace_back(bytes_of(memory_at, bank), m.alignment, at);
            banks_[memory_at] = std::make_shared<bank_list const>(std::move(banks));
        }
    }

    /// The first byte of a bank; null when there is no such bank, or the memory has no capacity.
    std::byte* base(int memory_at, int bank) const {
        if (memory_at < 0 || memory_at >= std::ssize(banks_)) return nullptr;
        bank_list const& of = *banks_[memory_at];
        return bank < 0 || bank >= std::ssize(of) ? nullptr : of[bank].begin();
    }
    bool has_capacity(int memory_at) const { return !banks_[memory_at]->empty(); }

    /// Where `bytes` bytes from `address` on lie in one bank of a memory.
    place find_in(int memory_at, void const* address, std::int64_t bytes) const {
        int bank = 0;
        for (guarded_region const& one : *banks_[memory_at]) {
            if (one.holds(address, static_cast<std::size_t>(bytes)))
                return {memory_at, bank, static_cast<std::byte const*>(address) - one.begin()};
            ++bank;
        }
        return {};
    }
    place find(void const* address, std::int64_t bytes) const {
        for (int at = 0; at < what_.memories.size(); ++at) {
            if (place const found = find_in(at, address, bytes)) return found;
        }
        return {};
    }

    /// Turns a number into the address of the byte that it stands for. Leaves addresses of memories without numbers as they are.
    /// @return false when it stands for none
    bool decode(int memory_at, void const*& address) const {
        if (memory_at < 0 || !what_.memories[memory_at].is_numbered()) return true;
        memory const& m = what_.memories[memory_at];
        std::uint64_t const number = reinterpret_cast<std::uintptr_t>(address);
        if ((number & m.address_flags) != m.address_flags) return false;
        std::uint64_t const row = number & ~m.address_flags;
        for (int bank = 0; bank < m.banks && has_capacity(memory_at); ++bank) {
            std::uint64_t const first = m.position(bank, 0) / static_cast<std::uint64_t>(m.address_unit);
            std::uint64_t const rows = static_cast<std::uint64_t>(m.bank_capacity() / m.address_unit);
            if (row < first || row - first >= rows) continue;
            address = base(memory_at, bank) + (row - first) * static_cast<std::uint64_t>(m.address_unit);
            return true;
        }
        return false;
    }

    /// An address as the device would print it: "spad 0x50001000", "pool +0x40" without a base, or "host" outside of every memory.
    std::string device_address(void const* address) const {
        place const at = find(address, 0);
        if (!at) return "host";
        memory const& m = what_.memories[at.memory];
        char text[48];
        std::snprintf(text, sizeof text, "%s0x%llx", m.has_address() ? " " : " +",
                      static_cast<unsigned long long>(m.position(at.bank, at.offset)));
        return m.name.str() + text;
    }

    static constexpr std::uint64_t bank_bit(int memory_at, int bank) { return std::uint64_t{1} << (memory_at * max_banks + bank); }
    /// The bit of a bank that has a single port; 0 for every other place.
    std::uint64_t narrow_bank(place const& at) const {
        return at && what_.memories[at.memory].ports == 1 ? bank_bit(at.memory, at.bank) : 0;
    }

  private:
    machine const& what_;
    ir::list<std::shared_ptr<bank_list const>> banks_;
};

}  // namespace tilewright::emulation
