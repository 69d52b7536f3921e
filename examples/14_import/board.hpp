// Machines and chips are read line by line.
// clang-format off
#pragma once
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/chip.hpp>
#include <tilewright/import/products_by_instruction.hpp>
#include <tilewright/targets/mps2_an521.hpp>

/// Lesson 14: core 1 of the board of lesson 12, as networks from files run on it. What it does with bytes are functions of board_functions.h,
/// whose cycles are what QEMU counts.
namespace lesson_import::on_board {

using namespace tilewright;
namespace board = targets::mps2_an521;

constexpr tensor<std::int8_t> pixels{"pixels"}, filters{"filters"}, image{"image"}, taps{"taps"}, finished{"finished"};
constexpr tensor<std::int32_t> sums{"sums"}, bias{"bias"}, multiplier{"multiplier"}, shift{"shift"}, low{"low"}, high{"high"}, zero{"zero"};

constexpr axis p{"p", 4096}, f{"f", 4096}, c{"c", 4096};
constexpr auto product = cast<std::int32_t>(pixels(p, c)) * cast<std::int32_t>(filters(f, c));
constexpr intrinsic products(intrinsic form, int adds) {
    return form.reads(pixels, board::sram).reads(filters, board::code).up_to(p, f, c).cycles(40, 26 * per(p, f).in_units_of(4) * per(c).in_units_of(4))
        .calls("board_products", argument::extent(p), argument::extent(f), argument::extent(c), argument::address(pixels), argument::stride(pixels, 0),
               argument::address(filters), argument::stride(filters, 0), argument::address(sums), argument::stride(sums, 0), argument::literal(adds));
}
constexpr auto mul = products(intrinsic("mul", sums(p, f) = sum(c, product)).writes(sums, board::sram), 0);
constexpr auto mac = products(intrinsic("mac", sums(p, f) += product).updates(sums, board::sram), 1);

// Channels that stay apart.
constexpr axis y{"y", 4096}, x{"x", 4096}, r{"r", 16}, t{"t", 16};
constexpr auto window =
    intrinsic("window", sums(y, x, c) = sum(r, t, cast<std::int32_t>(image(y + r, x + t, c)) * cast<std::int32_t>(taps(r, t, c))))
        .reads(image, board::sram).reads(taps, board::code).writes(sums, board::sram)
        .up_to(y, x, c, r, t).cycles(40, 3 * per(y, x) * per(c) * per(r, t))
        .calls("board_window", argument::extent(r), argument::extent(t), argument::extent(y), argument::extent(x), argument::extent(c),
               argument::address(image), argument::stride(image, 0), argument::stride(image, 1), argument::address(taps), argument::stride(taps, 0),
               argument::stride(taps, 1), argument::address(sums), argument::stride(sums, 0), argument::stride(sums, 1));

constexpr auto finish =
    intrinsic("finish", finished(p, f) = imported::rescaled_bytes(sums(p, f), bias(f), multiplier(f), shift(f), low(0), high(0), zero(0)))
        .reads(sums, board::sram).reads({bias, multiplier, shift, low, high, zero}, board::code).writes(finished, board::sram)
        .up_to(p, f).cycles(40, 27 * per(p, f))
        .calls("board_finish", argument::extent(p), argument::extent(f), argument::address(sums), argument::stride(sums, 0), argument::address(bias),
               argument::address(multiplier), argument::address(shift), argument::address(low), argument::address(high), argument::address(zero),
               argument::address(finished), argument::stride(finished, 0));

inline constexpr memory variables = register_file("variables", 64, 8);
inline constexpr auto core1_machine = machine("core1", board::psram, board::sram, board::code, variables, board::dma, board::cortex_m33_dsp, board::fetch,
                                              board::fetch_constants, board::store, board::move, board::clear, mul, mac, window, finish);
inline constexpr agent core1("core1", core1_machine);

inline imported::chip const one_core =
    imported::chip("one_core")
        .inputs_in(board::psram).outputs_in(board::psram).constants_in(board::code)
        .with(core1, {.tensors = any_of(board::sram, board::psram), .inner = &board::sram, .element = &variables, .semantics = &semantics_of<core1_machine>})
        .c_include("board_functions.h")
        .standard("products", core1, {imported::products_by(mac.name, finish.name), imported::products_by(window.name, finish.name)})
        .loops(core1);

}  // namespace lesson_import::on_board
