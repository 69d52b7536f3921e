#pragma once
#include <tilewright/compute/label.hpp>

namespace tilewright {

/// A memory whose device address is not fixed by the machine.
inline constexpr std::uint64_t no_address = ~std::uint64_t{0};

constexpr std::int64_t operator""_KiB(unsigned long long count) { return static_cast<std::int64_t>(count) * 1024; }
constexpr std::int64_t operator""_MiB(unsigned long long count) { return static_cast<std::int64_t>(count) * 1024 * 1024; }

/// A memory that software manages. The first memory of a machine is where the arguments of kernels live; it needs no capacity.
struct memory {
    label name;
    std::uint64_t base = no_address;  ///< device address of its first byte
    std::int64_t capacity = 0;        ///< bytes; planned buffers can only live in a memory that has some
    std::int64_t alignment = 1;       ///< bytes; every planned buffer starts at a multiple of it, relative to the base
    int banks = 1;                    ///< more than one is refused until plans can place versions in banks
    bool host_visible = true;         ///< whether loops that stay code may load from it and store to it
};

}  // namespace tilewright
