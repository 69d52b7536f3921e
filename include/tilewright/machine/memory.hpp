#pragma once
#include <tilewright/compute/label.hpp>

namespace tilewright {

/// A memory whose device address is not fixed by the machine.
inline constexpr std::uint64_t no_address = ~std::uint64_t{0};

constexpr std::int64_t operator""_KiB(unsigned long long count) { return static_cast<std::int64_t>(count) * 1024; }
constexpr std::int64_t operator""_MiB(unsigned long long count) { return static_cast<std::int64_t>(count) * 1024 * 1024; }

/// Most banks of a memory.
inline constexpr int max_banks = 8;

/// A memory that software manages. The first memory of a machine is where the arguments of kernels live; it needs no capacity.
struct memory {
    label name;
    std::uint64_t base = no_address;                     ///< device address of its first byte
    std::int64_t capacity = 0;                           ///< bytes; planned buffers can only live in a memory that has some
    std::int64_t alignment = 1;                          ///< bytes; every planned buffer starts at a multiple of it, relative to the base
    int banks = 1;                                       ///< physical blocks, each with an equal part of the capacity
    int ports = 2;                                       ///< of each bank; with one, either a transfer or what computes uses it at a time
    fixed_array<std::uint64_t, max_banks> bank_bases{};  ///< of each bank, where they do not follow each other; zeros: they do
    bool host_visible = true;                            ///< whether loops that stay code may load from it and store to it

    constexpr std::int64_t bank_capacity() const { return banks > 1 ? capacity / banks : capacity; }
    /// Device address of the first byte of a bank.
    constexpr std::uint64_t bank_base(int bank) const {
        if (!has_address()) return no_address;
        if (bank_bases[0] == 0 && bank_bases[1] == 0) return base + static_cast<std::uint64_t>(bank * bank_capacity());
        return bank_bases[static_cast<std::size_t>(bank)];
    }
    constexpr bool has_address() const { return base != no_address || bank_bases[0] != 0 || bank_bases[1] != 0; }
};

}  // namespace tilewright
