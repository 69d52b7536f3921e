#pragma once
#include <cstdint>

// Positions in the lists of a plan, a type for each kind of list. A position reads as an integer, but only a name makes an integer one:
// an argument in the place of another is an error of the compiler. They are enumerations and no structs, because the compiler would
// evaluate a call for every conversion of a struct.
namespace tilewright::ir {

enum stage_id : std::int16_t { no_stage = -1 };        // of plan_value::stages; a plan's nests and placements are in the same order
enum node_id : std::int16_t { no_node = -1 };          // of a computation's nodes
enum buffer_id : std::int16_t { no_buffer = -1 };      // of plan_value::buffers
enum variable_id : std::int16_t { no_variable = -1 };  // of plan_value::variables

/// Whether `Id` is a position.
template <class Id>
inline constexpr bool is_position = false;
template <>
inline constexpr bool is_position<stage_id> = true;
template <>
inline constexpr bool is_position<node_id> = true;
template <>
inline constexpr bool is_position<buffer_id> = true;
template <>
inline constexpr bool is_position<variable_id> = true;

template <class Id>
    requires is_position<Id>
constexpr Id& operator++(Id& at) { return at = Id(at + 1); }
template <class Id>
    requires is_position<Id>
constexpr Id& operator--(Id& at) { return at = Id(at - 1); }

}  // namespace tilewright::ir
