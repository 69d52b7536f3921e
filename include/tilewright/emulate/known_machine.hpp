#pragma once
#include <cstdlib>
#include <tilewright/base/advice.hpp>
#include <tilewright/base/type_questions.hpp>
#include <tilewright/machine/machine.hpp>
#include <type_traits>

namespace tilewright {

namespace detail {

template <auto const& Given>
inline constexpr bool is_machine = one_of<std::remove_cvref_t<decltype(Given)>, machine>;
template <int>
struct known_part_count;
/// Whether it is a machine whose value the compiler knows.
template <auto const& Given>
inline constexpr bool is_known_machine = requires {
    requires is_machine<Given>;
    typename known_part_count<Given.memories.count>;
};

}  // namespace detail

class emulator;

/// Refused: only a machine that the compiler knows can be emulated.
template <auto const& Given>
    requires(!detail::is_known_machine<Given>)
emulator& emulated() {
    static_assert(detail::is_machine<Given>, "emulated takes a machine, and no schedule: emulated<npu>()");
    static_assert(!detail::is_machine<Given>, TILEWRIGHT_NO_CONSTANT);
    std::abort();
}

}  // namespace tilewright
