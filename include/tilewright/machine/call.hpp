#pragma once
#include <tilewright/compute/tensor.hpp>

namespace tilewright {

/// What one argument of a device function carries. Addresses are pointers, or numbers where their memory says so; everything else is an
/// int64.
enum class role : std::uint8_t {
    source,              // transfer: address of the region's first element
    destination,         // transfer: likewise
    bytes,               // transfer: bytes moved by the call
    row_bytes,           // transfer: bytes of one contiguous row, at the destination
    extent,              // transfer: count of rows, planes, … `dimension` 1 and up; 0 is the elements of a row
    source_stride,       // transfer: bytes from one row (plane, …) to the next
    destination_stride,  // transfer: likewise
    address,             // intrinsic: address of an operand's first element
    stride,              // intrinsic: elements between neighbours along an operand's `dimension`
    literal,             // a fixed value
    tag,                 // transfer, wait: what a transfer is started with and waited for by
    pending,             // wait: jobs of the engine that need not be complete
    queue,               // push, pop: which of the token queues between two engines
    covered,             // intrinsic: elements of the axis `dimension` that this call covers
    setting,             // configuration: the value number `dimension` that it is set to
    value,               // intrinsic: the one element of an operand without dimensions, which the core reads; of floating point, its bits
    channel,             // transfer, wait: which of its engine's channels, from 0
    pad_before,          // transfer: elements of `dimension` before what is read, which the call writes itself; 0 is the row
    pad_after,           // transfer: likewise after what is read
    pad_value,           // transfer: what is written there; of floating point, its bits
    core,                // the number of the core that calls, from 0
    peer,                // signal, await: the number of the other core
    status,              // barrier: 0, or the code with which a core failed
    cores,               // transfer: so many cores, from core 0 on, get what a multicast writes
    element_bytes,       // transfer: bytes of an element, at the destination
};

/// One argument of a device function. `operand` is a position in the list of the intrinsic's operands.
struct call_argument {
    role is = role::literal;    ///< what the argument carries
    std::int8_t dimension = 0;  ///< of an extent or a stride: see `role`
    std::int8_t operand = -1;   ///< of an address or a stride of an intrinsic; -1: none
    std::int64_t value = 0;     ///< literal; of an address, bits that are set in it; of a count, its unit

    /// Bits of an address that is a number, in this use of it.
    constexpr call_argument with(std::int64_t bits) const { return {is, dimension, operand, bits}; }
    /// A stride or a count in units of so many bytes, or elements, instead of one.
    constexpr call_argument in_units_of(std::int64_t unit) const { return {is, dimension, operand, unit}; }

    friend constexpr bool operator==(call_argument const&, call_argument const&) = default;
};
constexpr bool is_address(role is) { return is == role::source || is == role::destination || is == role::address; }
/// What says which region a transfer moves.
constexpr bool is_region(role is) { return is <= role::destination_stride || is == role::element_bytes; }
constexpr bool is_pad(role is) { return is == role::pad_before || is == role::pad_after || is == role::pad_value; }
constexpr bool is_stride(role is) { return is == role::source_stride || is == role::destination_stride || is == role::stride; }

/// An argument that names an operand; the intrinsic turns the name into a position.
struct operand_argument {
    role is = role::address;    ///< what the argument carries
    std::int8_t dimension = 0;  ///< of a stride
    ir::label operand{};        ///< covered: the axis
    std::int64_t value = 0;     ///< of an address, bits that are set in it; of a count, its unit

    /// Bits of an address that is a number, in this use of it.
    constexpr operand_argument with(std::int64_t bits) const { return {is, dimension, operand, bits}; }
    /// A stride or a count in units of so many elements, instead of one.
    constexpr operand_argument in_units_of(std::int64_t unit) const { return {is, dimension, operand, unit}; }
};

/// The arguments that a device function can be given, to be listed in the order of its C signature.
namespace argument {
inline constexpr call_argument source{role::source}, destination{role::destination}, bytes{role::bytes}, row_bytes{role::row_bytes},
    tag{role::tag}, pending{role::pending}, queue{role::queue}, channel{role::channel}, pad_value{role::pad_value}, core{role::core},
    peer{role::peer}, status{role::status}, cores{role::cores}, element_bytes{role::element_bytes};
constexpr call_argument extent(int dimension) { return {role::extent, static_cast<std::int8_t>(dimension)}; }
constexpr call_argument source_stride(int dimension) { return {role::source_stride, static_cast<std::int8_t>(dimension)}; }
constexpr call_argument destination_stride(int dimension) { return {role::destination_stride, static_cast<std::int8_t>(dimension)}; }
constexpr call_argument pad_before(int dimension) { return {role::pad_before, static_cast<std::int8_t>(dimension)}; }
constexpr call_argument pad_after(int dimension) { return {role::pad_after, static_cast<std::int8_t>(dimension)}; }
constexpr operand_argument address(any_tensor const& operand) { return {role::address, 0, operand.name}; }
constexpr operand_argument value(any_tensor const& operand) { return {role::value, 0, operand.name}; }
constexpr operand_argument stride(any_tensor const& operand, int dimension) {
    return {role::stride, static_cast<std::int8_t>(dimension), operand.name};
}
constexpr operand_argument extent(axis const& covered) { return {role::covered, 0, covered.name}; }
constexpr call_argument setting(int which) { return {role::setting, static_cast<std::int8_t>(which)}; }
constexpr call_argument literal(std::int64_t value) { return {role::literal, 0, -1, value}; }
/// 2 to the power of `position`, for flags in addresses.
constexpr std::int64_t bit(int position) { return std::int64_t{1} << position; }
}  // namespace argument

/// A C function `int symbol(arguments…)` of the device; it returns 0, or an error code that the kernel returns.
struct device_call {
    static constexpr int most_arguments = 18;  ///< of one function

    ir::label symbol{};                                      ///< the name of the C function
    fixed_array<call_argument, most_arguments> arguments{};  ///< in the order of its signature
    int count = 0;                                           ///< more than `most_arguments` marks an overflow, refused by the planner

    /// One more argument, after those before.
    constexpr void push(call_argument const& what) {
        if (count < most_arguments) arguments[count] = what;
        ++count;
    }

    friend constexpr bool operator==(device_call const&, device_call const&) = default;
};

/// Whether code cannot tell two calls apart: one function, with the same literals in the same places. The number of a channel may differ.
constexpr bool is_same_call(device_call const& left, device_call const& right) {
    bool same = left.symbol == right.symbol && left.count == right.count;
    auto const may_be = [](call_argument const& channel, call_argument const& other) {
        return channel.is == role::channel && other.is == role::literal;
    };
    for (int at = 0; same && at < left.count && at < left.arguments.size(); ++at) {
        call_argument const &a = left.arguments[at], &b = right.arguments[at];
        same = (a.is == b.is && a.value == b.value) || may_be(a, b) || may_be(b, a);
    }
    return same;
}

/// Some of a machine's calls, or settings, that follow each other.
struct part_range {
    int first = 0;  ///< position in the list of the machine
    int count = 0;  ///< how many follow each other

    friend constexpr bool operator==(part_range const&, part_range const&) = default;
};

}  // namespace tilewright
