#pragma once
#include <iterator>
#include <tilewright/machine/reflection.hpp>
#include <type_traits>

namespace tilewright {

/// Whether two descriptions are the same in every member, and in the members of their members.
///
/// Works in the compiler too: `static_assert(equal(npu, other_npu))`. Lists are equal if their parts in use are equal.
template <class T>
constexpr bool equal(T const& a, T const& b) {
    if constexpr (reflected<T>) {
        return boost::hana::unpack(detail::members_of<T>(), [&](auto const&... members) {
            return (tilewright::equal(boost::hana::second(members)(a), boost::hana::second(members)(b)) && ...);
        });
    } else if constexpr (detail::range_of_parts<T>) {
        auto left = std::ranges::begin(a), right = std::ranges::begin(b);
        if (std::size(a) != std::size(b)) return false;
        for (; left != std::ranges::end(a); ++left, ++right) {
            if (!tilewright::equal(*left, *right)) return false;
        }
        return true;
    } else {
        return a == b;
    }
}

namespace detail {

/// One step of a hash in which every bit of the word reaches every bit of the result (the finaliser of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t word) {
    std::uint64_t bits = seed * 0x9e3779b97f4a7c15u + word + 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

template <class T>
constexpr std::uint64_t hash_on(std::uint64_t seed, T const& value) {
    if constexpr (reflected<T>) {
        each_member(value, [&](char const*, auto const& member) { seed = hash_on(seed, member); });
    } else if constexpr (std::is_same_v<T, label>) {
        for (std::uint64_t word : value.words) seed = mix(seed, word);
    } else if constexpr (std::is_same_v<T, device_address>) {
        seed = mix(seed, value.value);
    } else if constexpr (range_of_parts<T>) {
        seed = mix(seed, static_cast<std::uint64_t>(std::size(value)));
        for (auto const& part : value) seed = hash_on(seed, part);
    } else {
        seed = mix(seed, static_cast<std::uint64_t>(value));
    }
    return seed;
}

}  // namespace detail

/// 64 bits over everything that `equal` compares; the same in every translation unit and every run.
template <reflected T>
constexpr std::uint64_t hash_of(T const& description) {
    return detail::hash_on(0, description);
}

}  // namespace tilewright
