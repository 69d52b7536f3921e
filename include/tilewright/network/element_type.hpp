#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace tilewright::network {

/// What the elements of a tensor are. `unknown`: the model does not say, as many do of tensors between two nodes. `other`: graphs have no
/// elements of the type, such as text; `type_name` of the tensor is the format's word for it.
enum class element_type : std::uint8_t {
    unknown,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    boolean,
    float16,   ///< that of IEEE 754
    bfloat16,  ///< the upper half of a float32
    other,
};

namespace detail {

struct element_facts {
    std::string_view name;
    int bytes = 0;
    std::int64_t least = 0;  ///< of a signed integer
    std::uint64_t most = 0;  ///< of an integer
};
/// In the order of the enumerators.
inline constexpr std::array<element_facts, 15> facts_of_elements = {{
    {"unknown"},
    {"float32", 4},
    {"float64", 8},
    {"int8", 1, INT8_MIN, INT8_MAX},
    {"int16", 2, INT16_MIN, INT16_MAX},
    {"int32", 4, INT32_MIN, INT32_MAX},
    {"int64", 8, INT64_MIN, INT64_MAX},
    {"uint8", 1, 0, UINT8_MAX},
    {"uint16", 2, 0, UINT16_MAX},
    {"uint32", 4, 0, UINT32_MAX},
    {"uint64", 8, 0, UINT64_MAX},
    {"bool", 1, 0, 1},
    {"float16", 2},
    {"bfloat16", 2},
    {"other"},
}};
constexpr element_facts const& facts_of(element_type type) { return facts_of_elements[static_cast<std::uint8_t>(type)]; }

}  // namespace detail

/// The name that reports print: `int8`, `bool`.
constexpr std::string_view name_of(element_type type) { return detail::facts_of(type).name; }

/// Bytes of one element; 0 of `unknown` and `other`.
constexpr int bytes_of(element_type type) { return detail::facts_of(type).bytes; }

/// Floats of 16 bits, which are computed as float32.
constexpr bool is_half(element_type type) { return type == element_type::float16 || type == element_type::bfloat16; }

constexpr bool is_integer(element_type type) { return detail::facts_of(type).most > 1; }

/// Whether an element of this type can be `value`; true of floats.
constexpr bool can_hold(element_type type, std::int64_t value) {
    auto const& facts = detail::facts_of(type);
    return facts.most == 0 || (value >= facts.least && (value < 0 || static_cast<std::uint64_t>(value) <= facts.most));
}

}  // namespace tilewright::network
