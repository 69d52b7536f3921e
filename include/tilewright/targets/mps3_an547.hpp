// Machines are read line by line.
// clang-format off
#pragma once
#include <tilewright/machine/machine.hpp>

/// The Arm MPS3 board with the AN547 image: a Cortex-M55 with vectors of 16 bytes (MVE, also called Helium), and its tightly coupled memory.
/// It has no DMA controller, so the core copies. QEMU has it as `-M mps3-an547`.
///
/// Kernels for it are of the device binding, from C source that includes `tilewright/targets/mps3_an547.h`: that header has every function
/// which is named here. Compile for `-mcpu=cortex-m55`.
namespace tilewright::targets::mps3_an547 {

/// Where arguments of kernels live: the caller gives their addresses. How long the core waits for it was not measured on a board.
inline constexpr memory isram{.name = "isram", .wait_cycles = 2};
/// Half of the data memory that is coupled to the core; the other half is the program's, for its data and its stack.
inline constexpr memory dtcm{.name = "dtcm", .base = 0x3000'0000, .capacity = 256_KiB, .alignment = 16};
/// The eight vector registers, and registers of the core that a tile may hold besides addresses and counters.
inline constexpr memory vectors = register_file("vectors", 8, 16, "int8x16_t");
inline constexpr memory words = register_file("words", 8, 4, "int32_t");

inline constexpr core cortex_m55{.name = "cortex_m55", .costs = {.load = 1, .divide = 7}};
inline constexpr transfer_cost by_words{.bytes_per_cycle = 2};
inline constexpr auto bring = transfer("bring", isram, dtcm).on(cortex_m55).cost(by_words);
inline constexpr auto carry = transfer("carry", dtcm, isram).on(cortex_m55).cost(by_words);

namespace detail {
constexpr auto loads(ir::label name, memory const& from) {
    return transfer(name, from, vectors).cost({.bytes_per_cycle = 8}).calls("mps3_an547_load", argument::source);
}
constexpr auto loads_word(ir::label name, memory const& from) {
    return transfer(name, from, words).cost({.bytes_per_cycle = 4}).calls("mps3_an547_load_word", argument::source);
}
constexpr auto saves_word(ir::label name, memory const& to) {
    return transfer(name, words, to).cost({.bytes_per_cycle = 4}).calls("mps3_an547_save_word", argument::destination, argument::source);
}
}  // namespace detail
// A vector of memory into a register, and sums from memory and back.
inline constexpr auto load = detail::loads("load", dtcm), load_far = detail::loads("load_far", isram);
inline constexpr auto load_word = detail::loads_word("load_word", dtcm), load_word_far = detail::loads_word("load_word_far", isram);
inline constexpr auto save_word = detail::saves_word("save_word", dtcm), save_word_far = detail::saves_word("save_word_far", isram);

inline constexpr axis lane8{"lane8", 16}, lane16{"lane16", 8}, row{"row", 1 << 16};
inline constexpr tensor<std::int8_t> bytes{"bytes"}, by_bytes{"by_bytes"}, along{"along"}, by_row{"by_row"};
inline constexpr tensor<std::int16_t> halves{"halves"}, by_halves{"by_halves"};
inline constexpr tensor<std::int32_t> total{"total"}, from{"from"};

namespace detail {
constexpr auto products_of_bytes = cast<std::int32_t>(bytes(lane8)) * cast<std::int32_t>(by_bytes(lane8));
constexpr auto products_of_halves = cast<std::int32_t>(halves(lane16)) * cast<std::int32_t>(by_halves(lane16));
constexpr auto products_of_rows = cast<std::int32_t>(along(row)) * cast<std::int32_t>(by_row(row));
constexpr intrinsic rows(intrinsic form) { return form.up_to(row).cycles(6, 6 * per(row).in_units_of(16)); }
}  // namespace detail

// 16 products of bytes, or 8 of 16 bits, added to a sum: VMLADAVA. The forms start a sum from 0, from another register, or go on with it.
inline constexpr auto mul16 = intrinsic("mul16", total() = sum(lane8, detail::products_of_bytes))
    .reads(bytes, vectors).reads(by_bytes, vectors).writes(total, words).cycles(2)
    .calls("mps3_an547_mul16", argument::address(bytes), argument::address(by_bytes));
inline constexpr auto from16 = intrinsic("from16", total() = from() + sum(lane8, detail::products_of_bytes))
    .reads(bytes, vectors).reads(by_bytes, vectors).reads(from, words).writes(total, words).cycles(2)
    .calls("mps3_an547_mac16", argument::address(bytes), argument::address(by_bytes), argument::address(from));
inline constexpr auto mac16 = intrinsic("mac16", total() += detail::products_of_bytes)
    .reads(bytes, vectors).reads(by_bytes, vectors).updates(total, words).cycles(2)
    .calls("mps3_an547_mac16", argument::address(bytes), argument::address(by_bytes), argument::address(total));
inline constexpr auto mul8 = intrinsic("mul8", total() = sum(lane16, detail::products_of_halves))
    .reads(halves, vectors).reads(by_halves, vectors).writes(total, words).cycles(2)
    .calls("mps3_an547_mul8", argument::address(halves), argument::address(by_halves));
inline constexpr auto from8 = intrinsic("from8", total() = from() + sum(lane16, detail::products_of_halves))
    .reads(halves, vectors).reads(by_halves, vectors).reads(from, words).writes(total, words).cycles(2)
    .calls("mps3_an547_mac8", argument::address(halves), argument::address(by_halves), argument::address(from));
inline constexpr auto mac8 = intrinsic("mac8", total() += detail::products_of_halves)
    .reads(halves, vectors).reads(by_halves, vectors).updates(total, words).cycles(2)
    .calls("mps3_an547_mac8", argument::address(halves), argument::address(by_halves), argument::address(total));

// Rows of bytes of any length: lanes beyond the end are predicated off. The sum stays in a register.
inline constexpr auto dot = detail::rows(intrinsic("dot", total() = sum(row, detail::products_of_rows))
    .reads(along, dtcm).reads(by_row, dtcm).writes(total, words))
    .calls("mps3_an547_dot0", argument::address(along), argument::address(by_row), argument::extent(row));
inline constexpr auto dot_from = detail::rows(intrinsic("dot_from", total() = from() + sum(row, detail::products_of_rows))
    .reads(along, dtcm).reads(by_row, dtcm).reads(from, words).writes(total, words))
    .calls("mps3_an547_dot", argument::address(from), argument::address(along), argument::address(by_row), argument::extent(row));
inline constexpr auto dot_on = detail::rows(intrinsic("dot_on", total() += detail::products_of_rows)
    .reads(along, dtcm).reads(by_row, dtcm).updates(total, words))
    .calls("mps3_an547_dot", argument::address(total), argument::address(along), argument::address(by_row), argument::extent(row));

inline constexpr auto core0 = machine("mps3_an547", isram, dtcm, vectors, words, cortex_m55, bring, carry, load, load_far, load_word, load_word_far,
                                      save_word, save_word_far, mul16, from16, mac16, mul8, from8, mac8, dot, dot_from, dot_on);

}  // namespace tilewright::targets::mps3_an547
