// Machines are read line by line.
// clang-format off
#pragma once
#include <tilewright/machine/machine.hpp>

/// The Arm MPS2+ board with the AN521 image: a Cortex-M33 with DSP instructions beside one without, four banks of SRAM, 16 MiB of PSRAM, and
/// four PL081 DMA controllers of two channels each. QEMU has it as `-M mps2-an521`.
///
/// Kernels for it are of the device binding, from C source that includes `tilewright/targets/mps2_an521.h`: that header has every function
/// which is named here.
///
/// @code
/// constexpr auto on_board = schedule(what, targets::mps2_an521::core1)
///     .cache_read(A, targets::mps2_an521::sram).at(mo).double_buffer();   // versions lie in banks 0 and 1
/// @endcode
namespace tilewright::targets::mps2_an521 {

/// Where arguments of kernels live: the caller gives their addresses. A core waits for it; how long was not measured on a board.
inline constexpr memory psram{.name = "psram", .wait_cycles = 4};
/// Four banks of 32 KiB. They have two masters, the core and the controllers, which take turns with a bank that both want: so a bank may be
/// used by both, and kernels are faster where versions of a buffer lie in banks of their own, as they do without more.
inline constexpr memory sram{.name = "sram", .base = 0x3000'0000, .capacity = 128_KiB, .alignment = 4, .banks = 4};
/// Code memory: constants of a program that stay in flash. The caller gives its address, which is that of an array of constants.
inline constexpr memory code{.name = "code", .capacity = 1_MiB, .alignment = 4};
/// Registers of the core that a tile may hold. Instructions name 14, and two addresses need the others: what else there is waits in memory.
inline constexpr memory words = register_file("words", 12, 4, "int32_t");

/// Eight channels, two of each controller, as one pool. A channel has one transfer at a time: starting another waits for the one before.
inline constexpr auto dma = engine{.name = "dma", .depth = 1, .channels = 8, .completes = completion::by_engine}
    .waits("mps2_an521_dma_wait", argument::channel);
/// Elements that one descriptor of a controller moves: bytes, where nothing is known of alignments.
inline constexpr std::int64_t most_elements = 4095;
/// Descriptors of a channel: rows of a transfer, each of which is one.
inline constexpr std::int64_t descriptors = 64;
/// A channel's registers are written in some 40 cycles; a word is read in one cycle of the bus and written in the next.
inline constexpr transfer_cost by_controller{.latency = 8, .setup = 40, .bytes_per_cycle = 2};

namespace detail {
constexpr auto moves(ir::label name, memory const& from, memory const& to) {
    return transfer(name, from, to).on(dma).asynchronous().dimensions(2).row_limit(most_elements).extent_limit(descriptors).cost(by_controller)
        .calls("mps2_an521_dma_start", argument::channel, argument::destination, argument::source, argument::row_bytes, argument::extent(1),
               argument::destination_stride(1), argument::source_stride(1));
}
}  // namespace detail

inline constexpr auto fetch = detail::moves("fetch", psram, sram);           ///< into a bank
inline constexpr auto fetch_constants = detail::moves("fetch_constants", code, sram);
inline constexpr auto store = detail::moves("store", sram, psram);           ///< out of it
inline constexpr auto move = detail::moves("move", sram, sram);              ///< from a bank to another

inline constexpr axis byte{"byte", 1};
inline constexpr tensor<std::int8_t> cleared{"cleared"};
/// Zeros by the core, word by word: borders, and what a step of an instruction reads beyond the end of its loop. Both are small.
inline constexpr auto clear = transfer("clear", psram, sram, cleared(byte) = 0).dimensions(2).cost({.setup = 10, .bytes_per_cycle = 2})
    .calls("mps2_an521_clear", argument::destination, argument::row_bytes, argument::extent(1), argument::destination_stride(1));

namespace detail {
constexpr auto loads(ir::label name, memory const& from) { return transfer(name, from, words).cost({.bytes_per_cycle = 2}).calls("mps2_an521_load", argument::source); }
constexpr auto saves(ir::label name, memory const& to) {
    return transfer(name, words, to).cost({.bytes_per_cycle = 4}).calls("mps2_an521_save", argument::destination, argument::source);
}
}  // namespace detail

// A word of memory into a register of the core, and back.
inline constexpr auto load = detail::loads("load", sram), load_far = detail::loads("load_far", psram), load_constant = detail::loads("load_constant", code);
inline constexpr auto save = detail::saves("save", sram), save_far = detail::saves("save_far", psram);

inline constexpr axis half{"half", 2}, quarter{"quarter", 4};
inline constexpr tensor<std::int16_t> halves{"halves"}, by_halves{"by_halves"};
inline constexpr tensor<std::int8_t> bytes{"bytes"}, by_bytes{"by_bytes"};
inline constexpr tensor<std::int32_t> total{"total"}, from{"from"};

namespace detail {
constexpr auto products_of_halves = cast<std::int32_t>(halves(half)) * cast<std::int32_t>(by_halves(half));
constexpr auto products_of_bytes = cast<std::int32_t>(bytes(quarter)) * cast<std::int32_t>(by_bytes(quarter));
}  // namespace detail

// Bytes of two rows, four of each, become 16 bits: SXTB16 widens bytes 0 and 2, or 1 and 3. A word of one row lies behind that of the other.
inline constexpr axis of_rows{"of_rows", 2}, odd{"odd", 2};
inline constexpr tensor<std::int8_t> narrow{"narrow"};
inline constexpr tensor<std::int16_t> wide{"wide"};
inline constexpr auto widen = intrinsic("widen", wide(odd, of_rows, half) = cast<std::int16_t>(narrow(of_rows, 2 * half + odd)))
    .reads(narrow, sram).writes(wide, sram).cycles(8)
    .calls("mps2_an521_widen", argument::address(wide), argument::stride(wide, 0), argument::stride(wide, 1), argument::address(narrow), argument::stride(narrow, 0));

// Two products of 16 bits, added to a sum: SMLAD. The forms start a sum from 0, from another register, or go on with it.
inline constexpr auto mul2 = intrinsic("mul2", total() = sum(half, detail::products_of_halves))
    .reads(halves, words).reads(by_halves, words).writes(total, words)
    .calls("mps2_an521_mul2", argument::address(halves), argument::address(by_halves));
inline constexpr auto from2 = intrinsic("from2", total() = from() + sum(half, detail::products_of_halves))
    .reads(halves, words).reads(by_halves, words).reads(from, words).writes(total, words)
    .calls("mps2_an521_mac2", argument::address(halves), argument::address(by_halves), argument::address(from));
inline constexpr auto mac2 = intrinsic("mac2", total() += detail::products_of_halves)
    .reads(halves, words).reads(by_halves, words).updates(total, words)
    .calls("mps2_an521_mac2", argument::address(halves), argument::address(by_halves), argument::address(total));

// Four products of 8 bits: SXTB16 widens two bytes of a register, with a rotation the other two, and two SMLAD add the products up.
inline constexpr auto mul4 = intrinsic("mul4", total() = sum(quarter, detail::products_of_bytes))
    .reads(bytes, words).reads(by_bytes, words).writes(total, words).cycles(6)
    .calls("mps2_an521_mul4", argument::address(bytes), argument::address(by_bytes));
inline constexpr auto from4 = intrinsic("from4", total() = from() + sum(quarter, detail::products_of_bytes))
    .reads(bytes, words).reads(by_bytes, words).reads(from, words).writes(total, words).cycles(6)
    .calls("mps2_an521_mac4", argument::address(bytes), argument::address(by_bytes), argument::address(from));
inline constexpr auto mac4 = intrinsic("mac4", total() += detail::products_of_bytes)
    .reads(bytes, words).reads(by_bytes, words).updates(total, words).cycles(6)
    .calls("mps2_an521_mac4", argument::address(bytes), argument::address(by_bytes), argument::address(total));

// Rows of bytes of any length, in a bank: words, and then what is left. The sum stays in a register.
inline constexpr axis row{"row", most_elements};
inline constexpr tensor<std::int8_t> along{"along"}, by_row{"by_row"};
namespace detail {
constexpr auto products_of_rows = cast<std::int32_t>(along(row)) * cast<std::int32_t>(by_row(row));
constexpr intrinsic rows(intrinsic form) { return form.up_to(row).cycles(8, 10 * per(row).in_units_of(4)); }
}  // namespace detail
inline constexpr auto dot = detail::rows(intrinsic("dot", total() = sum(row, detail::products_of_rows))
    .reads(along, sram).reads(by_row, sram).writes(total, words))
    .calls("mps2_an521_dot0", argument::address(along), argument::address(by_row), argument::extent(row));
inline constexpr auto dot_from = detail::rows(intrinsic("dot_from", total() = from() + sum(row, detail::products_of_rows))
    .reads(along, sram).reads(by_row, sram).reads(from, words).writes(total, words))
    .calls("mps2_an521_dot", argument::address(from), argument::address(along), argument::address(by_row), argument::extent(row));
inline constexpr auto dot_on = detail::rows(intrinsic("dot_on", total() += detail::products_of_rows)
    .reads(along, sram).reads(by_row, sram).updates(total, words))
    .calls("mps2_an521_dot", argument::address(total), argument::address(along), argument::address(by_row), argument::extent(row));

/// Instructions take a cycle, loads two unless they follow each other, a division 2 to 11.
inline constexpr operation_costs of_cortex_m33{.load = 2, .divide = 7};
inline constexpr core cortex_m33{.name = "cortex_m33", .costs = of_cortex_m33};
inline constexpr core cortex_m33_dsp{.name = "cortex_m33_dsp", .costs = of_cortex_m33};

/// Without DSP instructions and floating point: compile for `-mcpu=cortex-m33+nodsp+nofp`. The core that starts.
inline constexpr auto core0 = machine("mps2_an521_core0", psram, sram, code, dma, cortex_m33, fetch, fetch_constants, store, move, clear);
/// With both: compile for `-mcpu=cortex-m33`. Core 0 starts it.
inline constexpr auto core1 = machine("mps2_an521_core1", psram, sram, code, words, dma, cortex_m33_dsp, fetch, fetch_constants, store, move, clear,
                                      load, load_far, load_constant, save, save_far, widen, mul2, from2, mac2, mul4, from4, mac4, dot, dot_from, dot_on);

/// What each core has when both work: two of the four banks.
inline constexpr memory half_of_sram{.name = "sram", .base = 0x3000'0000, .capacity = 64_KiB, .alignment = 4, .banks = 2,
                                     .per_core = true, .core_bases = {0x3000'0000, 0x3001'0000}};
/// Memory that both see (SSRAM3): what a core leaves for the other one.
inline constexpr memory common{.name = "common", .base = 0x3820'0000, .capacity = 2_MiB, .alignment = 4};
inline constexpr auto fetch_for_all = detail::moves("fetch_for_all", psram, common);  ///< for both cores
inline constexpr auto fetch_common = detail::moves("fetch_common", common, sram);     ///< into a bank of the core
inline constexpr auto store_common = detail::moves("store_common", sram, common);     ///< out of it
/// The cores talk by words in memory, which they poll; what that takes was not measured on a board.
inline constexpr core both_cores = core{.name = "cortex_m33", .costs = of_cortex_m33, .count = 2, .barrier_cycles = 40, .signal_cycles = 30}
    .barrier("mps2_an521_barrier", argument::core, argument::status)
    .signals("mps2_an521_signal", argument::core, argument::queue)
    .awaits("mps2_an521_await", argument::core, argument::queue);
/// Both cores at a time: each has two banks and four channels. Core 0 has no DSP instructions: compile what it runs for it, with plain C in
/// their place (MPS2_AN521_PLAIN_C).
inline constexpr auto both = machine("mps2_an521", psram, half_of_sram, common, code, words, dma, both_cores, fetch, fetch_constants, store,
                                     fetch_for_all, fetch_common, store_common, clear, load, load_far, load_constant, save, save_far,
                                     widen, mul2, from2, mac2, mul4, from4, mac4, dot, dot_from, dot_on);

}  // namespace tilewright::targets::mps2_an521
