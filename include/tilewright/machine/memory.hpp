#pragma once
#include <tilewright/base/label.hpp>

namespace tilewright {

/// A memory whose device address is not fixed by the machine: a kernel takes it as an argument.
inline constexpr std::uint64_t no_address = ~std::uint64_t{0};

constexpr std::int64_t operator""_KiB(unsigned long long count) { return static_cast<std::int64_t>(count) * 1024; }
constexpr std::int64_t operator""_MiB(unsigned long long count) { return static_cast<std::int64_t>(count) * 1024 * 1024; }
constexpr std::int64_t operator""_GiB(unsigned long long count) { return static_cast<std::int64_t>(count) * 1024 * 1024 * 1024; }
namespace detail {
/// The number in front of a point.
template <char... Digits>
constexpr std::int64_t whole_part() {
    std::int64_t count = 0;
    bool is_whole = true;
    ((is_whole = is_whole && Digits >= '0' && Digits <= '9', count = is_whole ? count * 10 + (Digits - '0') : count), ...);
    return count;
}
}  // namespace detail
template <char... Digits>
constexpr std::int64_t operator""_KiB() {
    static_assert(!sizeof...(Digits), "bytes are whole: write 1536 for 1.5_KiB, or the number");
    return detail::whole_part<Digits...>() * 1024 + 1024;  // so that there is no second error
}
template <char... Digits>
constexpr std::int64_t operator""_MiB() {
    static_assert(!sizeof...(Digits), "bytes are whole: write 1536_KiB for 1.5_MiB, or the number");
    return operator""_MiB(detail::whole_part<Digits...>() + 1);
}
// What is 1,000 bytes to some people, and 1,024 to others.
template <char... Digits>
constexpr std::int64_t operator""_KB() {
    static_assert(!sizeof...(Digits), "KB has two meanings: write 64_KiB for 65,536 bytes, or the number");
    return detail::whole_part<Digits...>() * 1024;  // so that there is no second error
}
template <char... Digits>
constexpr std::int64_t operator""_MB() {
    static_assert(!sizeof...(Digits), "MB has two meanings: write 1_MiB for 1,048,576 bytes, or the number");
    return operator""_KiB(1024);
}

/// Most banks of a memory.
inline constexpr int max_banks = 8;

/// Most cores of a kind.
inline constexpr int max_cores = 8;

/// Most cycles that an access to a memory may be said to wait.
inline constexpr std::int64_t most_wait_cycles = 1 << 20;

/// A memory that software manages. The first memory of a machine is where the arguments of kernels live; it needs no capacity.
struct memory {
    ir::label name;                                      ///< by which schedules, errors and reports name it
    std::uint64_t base = no_address;                     ///< device address of its first byte
    std::int64_t capacity = 0;                           ///< bytes; planned buffers can only live in a memory that has some
    std::int64_t alignment = 1;                          ///< bytes; every planned buffer starts at a multiple of it, relative to the base
    int banks = 1;                                       ///< physical blocks, each with an equal part of the capacity
    int ports = 2;                                       ///< of each bank; with one, either a transfer or a computation uses it at a time
    fixed_array<std::uint64_t, max_banks> bank_bases{};  ///< of each bank, where they do not follow each other; zeros: they do
    bool host_visible = true;                            ///< whether loops that stay code may load from it and store to it
    int registers = 0;                                   ///< it is a file of so many registers of equal size, which have no addresses
    std::int64_t address_unit = 0;    ///< bytes from one address to the next where addresses are numbers, as of rows; 0: they are pointers
    std::uint64_t address_flags = 0;  ///< bits that are set in every such number
    bool per_agent = false;           ///< in a program: every agent with such a memory has one of its own
    std::int64_t wait_cycles = 0;     ///< that a load or store by loops that stay code takes here, beyond those of the core
    ir::label c_type{};               ///< of a register, in C source whose functions take and return registers by value; empty: none do
    ir::label view_of{};              ///< it is that memory at other addresses, and has no room of its own: see `memory_under`
    bool per_core = false;            ///< every core has one of its own, and sees no other
    fixed_array<std::uint64_t, max_cores> core_bases{};  ///< of each core's own; zeros: every core sees its own at the same addresses
    std::int64_t cache_line = 0;     ///< bytes of a line of the caches through which cores see it, and engines do not; 0: there are none
    std::int64_t line_cycles = 0;    ///< of a core, to clean or invalidate a line of its cache
    std::int64_t upkeep_cycles = 0;  ///< likewise, of every call that does so, besides those of its lines
    bool behind_caches = false;      ///< cores see it through their caches, `core::caches`, which engines and other cores see, too

    friend constexpr bool operator==(memory const&, memory const&) = default;
    /// What its numbers may be: `visit(name, number, least)` or `visit(name, number, least, most)`. The planner refuses others by this
    /// name.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("capacity", capacity, 0);
        visit("wait_cycles", wait_cycles, 0, most_wait_cycles);
        visit("alignment", alignment, 1);
        visit("banks", banks, 1, max_banks);
        visit("ports", ports, 1);
        visit("registers", registers, 0);
        visit("address_unit", address_unit, 0);
        visit("cache_line", cache_line, 0);
        visit("line_cycles", line_cycles, 0, most_wait_cycles);
        visit("upkeep_cycles", upkeep_cycles, 0, most_wait_cycles);
    }
    /// Bytes of a bank; without banks, of the memory.
    constexpr std::int64_t bank_capacity() const { return banks > 1 ? capacity / banks : capacity; }
    /// Device address of the first byte of a bank.
    constexpr std::uint64_t bank_base(int bank) const {
        if (!has_address()) return no_address;
        if (bank_bases[0] == 0 && bank_bases[1] == 0) return base + static_cast<std::uint64_t>(bank * bank_capacity());
        return bank_bases[bank];
    }
    /// How much higher the addresses of a core's own memory are than those of core 0.
    constexpr std::uint64_t core_offset(int core) const { return core_bases[core] - core_bases[0]; }
    /// Whether the memories of the cores have different addresses.
    constexpr bool has_core_bases() const {
        bool any = false;
        for (int core = 1; core < max_cores; ++core) any |= core_bases[core] != 0;
        return any;
    }
    /// Whether the machine says where it is: its base, or those of its banks.
    constexpr bool has_address() const { return base != no_address || bank_bases[0] != 0 || bank_bases[1] != 0; }
    /// Whether kernels of the device binding are given its address by their caller.
    constexpr bool is_pool() const { return !has_address() && registers == 0 && !is_numbered() && view_of.empty(); }
    /// Bytes of one register, of a file of registers.
    constexpr std::int64_t register_bytes() const { return capacity / registers; }
    /// Whether functions are given its registers by value.
    constexpr bool passes_values() const { return registers > 0 && !c_type.empty(); }
    /// Whether its addresses are numbers, as of rows.
    constexpr bool is_numbered() const { return address_unit > 0; }
    /// Whether what a core writes there comes into the memory only when its cache is cleaned.
    constexpr bool is_cached() const { return cache_line > 0; }
    /// Cycles of a core to clean or invalidate so many bytes from the beginning of a line on.
    constexpr std::int64_t cycles_of_upkeep(std::int64_t bytes) const {
        return upkeep_cycles + (bytes + cache_line - 1) / cache_line * line_cycles;
    }
    /// Whether it shows the bytes of another memory.
    constexpr bool is_view() const { return !view_of.empty(); }
    /// The device address of a byte of a bank; without a base, counted from the memory's first byte, one bank after the other.
    constexpr std::uint64_t position(int bank, std::int64_t offset) const {
        std::uint64_t const first = has_address() ? bank_base(bank) : static_cast<std::uint64_t>(bank * bank_capacity());
        return first + static_cast<std::uint64_t>(offset);
    }
    /// The number that stands for a position, a multiple of the unit.
    constexpr std::uint64_t number_of(std::uint64_t at) const { return address_flags | at / static_cast<std::uint64_t>(address_unit); }
    /// The bits that the numbers of its rows need, without flags.
    constexpr std::uint64_t bits_of_numbers() const {
        std::uint64_t bits = 0;
        for (int bank = 0; bank < banks && bank < max_banks && capacity > 0; ++bank) {
            std::uint64_t const last = (position(bank, bank_capacity()) - 1) / static_cast<std::uint64_t>(address_unit);
            while (bits < last) bits = bits << 1 | 1;
        }
        return bits;
    }
};

/// The registers of a core: `count` of `bytes` each. Buffers in them are held by names, so every loop that moves their indices is written
/// out, by `unroll` or `vectorize`.
/// @param c_type  the type of a register in the header of the user's C functions, which then take registers by value
constexpr memory register_file(ir::label name, int count, std::int64_t bytes, ir::label c_type = {}) {
    return {.name = name, .capacity = count * bytes, .alignment = bytes, .registers = count, .c_type = c_type};
}

}  // namespace tilewright
