#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/machine/machine.hpp>
#include <vector>

// What a self-test runs: one call of a part with numbers, on windows of memories.
namespace tilewright::bring_up {

/// What stands in an element before a call.
enum class pattern : std::uint8_t {
    mixed,   // numbers that differ from element to element and are harmless to compute with; of bytes and halves, any
    lowest,  // of the type
    highest,
    extremes,  // lowest, highest and what is next to them and to 0
    large,     // of 32 and 64 bits: any number of bits; of floating point: fractions, whose sums are rounded
};
inline constexpr int pattern_count = 5;

/// A piece of a memory: what a call touches of one operand, and bytes around it that must stay.
struct window {
    std::int64_t offset = 0;  ///< bytes from the first of the memory
    std::int64_t bytes = 0;
    std::int64_t first = 0;  ///< of the operand's first element, from the window's first byte
};

/// One dimension of a transfer's call: strides in bytes.
struct moved_dimension {
    std::int64_t extent = 1, source_stride = 0, destination_stride = 0;
    std::int64_t pad_before = 0, pad_after = 0;
};

/// The numbers of a call, as the C of a self-test has them: the windows, then what is told of each kind of part.
///
/// transfer: channel, border value, elements of a row, its pads before and after; then extent, source stride, destination stride and pads
/// of dimension 1, 2, …. intrinsic: the extents of its axes; then the outer strides of each window's operand, in elements.
struct test_call {
    std::vector<window> windows{};
    std::vector<std::int64_t> numbers{};

    /// Whether the table of a self-test, whose numbers have 32 bits, can hold it.
    bool is_short() const {
        bool all = true;
        for (window const& w : windows) all = all && w.offset + w.bytes <= INT32_MAX;
        for (std::int64_t number : numbers) all = all && number >= INT32_MIN && number <= INT32_MAX;
        return all;
    }
};

struct test_case {
    int part = 0;  ///< of the self-test
    pattern values = pattern::mixed;
    unsigned tiny = 0;               ///< a bit for each window whose integers of 32 and 64 bits are 0 to 15, such as amounts of shifts
    std::vector<test_call> calls{};  ///< several: all are started before the first is waited for
    std::string text{};              ///< what is special about it, for people
};

/// What is told of one window of a part.
struct operand_side {
    std::string name{};
    int memory = -1;  ///< that has the room
    int seen = -1;    ///< that the call speaks of: a view, or the same
    scalar_type type = scalar_type::uint8;
    std::int64_t element = 1;  ///< bytes
    bool reads = false, writes = false;
    bool in_place = false;      ///< it lies where the result is: that one's window is its own
    bool may_be_small = false;  ///< its whole numbers are tried small, too
    bool by_value = false;      ///< it is a register that functions take and return
    int rank = 0;
};

/// A transfer or an intrinsic of the machine that a C function carries out.
struct tested_part {
    bool is_transfer = false;
    int at = 0;  ///< in the machine
    std::string name{};
    std::vector<operand_side> sides{};
    std::vector<std::string> left_out{};  ///< what no case was made of, and why

    /// Marks the windows whose whole numbers are tried small, too: a shift by any number means nothing. Four at most, which
    /// have sixteen choices.
    void choose_small() {
        int chosen = 0;
        for (operand_side& side : sides)
            side.may_be_small = side.reads && !side.in_place && !is_float(side.type) && side.element >= 4 && chosen++ < 4;
    }
};

/// What limits a self-test.
struct self_test_options {
    std::string name{};
    std::vector<std::string> includes{};
    std::int64_t largest_window = 32 * 1024;  ///< bytes
};

}  // namespace tilewright::bring_up
