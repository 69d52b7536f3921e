// Machines and chips are read line by line.
// clang-format off
#pragma once
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/chip.hpp>
#include <tilewright/import/elements_by_instruction.hpp>
#include <tilewright/import/products_by_instruction.hpp>
#include <tilewright/import/reductions_by_instruction.hpp>
#include <tilewright/tilewright.hpp>

/// The chip of lesson 14 with memories that networks fit into: an npu that multiplies 16 pixels by 16 filters over 32 channels, a vector unit that
/// finishes sums, adds and finds the largest of windows, and a cpu. Besides, its loads write the border of an image, and its controller goes on while the array and the vector
/// unit are at work.
namespace networks_chip {

using namespace tilewright;

inline constexpr memory l2_mem{.name = "l2_mem", .capacity = 4_MiB, .alignment = 16, .wait_cycles = 2};
inline constexpr memory act_mem{.name = "act_mem", .capacity = 2_MiB, .alignment = 16};
inline constexpr memory wei_mem{.name = "wei_mem", .capacity = 32_MiB, .alignment = 16};
inline constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 64_KiB, .alignment = 16};
inline constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 16_KiB, .alignment = 16};

inline constexpr engine dma{"dma"}, loader{"loader"};
inline constexpr engine array{.name = "array", .completes = completion::by_channel}, vectors{.name = "vectors", .depth = 32, .completes = completion::by_channel};
inline constexpr core cortex{.name = "cortex"}, controller{.name = "controller"};
inline constexpr auto fetch_input =
    transfer("fetch_input", l2_mem, act_mem).on(dma).dimensions(2).cost({.latency = 20, .setup = 4, .bytes_per_cycle = 4});
inline constexpr auto cpu_machine = machine("cpu", l2_mem, act_mem, wei_mem, cortex, dma, fetch_input);

inline constexpr transfer_cost by_loader{.latency = 16, .setup = 2, .bytes_per_cycle = 16};
inline constexpr auto mvin =
    transfer("mvin", act_mem, spad).on(loader).asynchronous().dimensions(3).fills_border().cost(by_loader)
        .calls("mvin", argument::source, argument::destination, argument::row_bytes,
               argument::extent(1), argument::source_stride(1), argument::destination_stride(1),
               argument::extent(2), argument::source_stride(2), argument::destination_stride(2),
               argument::pad_before(0), argument::pad_after(0), argument::pad_before(1), argument::pad_after(1),
               argument::pad_before(2), argument::pad_after(2), argument::pad_value, argument::tag);
inline constexpr auto mvin_weights = transfer("mvin_weights", wei_mem, spad).on(loader).asynchronous().dimensions(4).cost(by_loader);
inline constexpr axis p{"p", 16}, f{"f", 16}, d{"d", 32};
inline constexpr tensor<std::int8_t> pixels{"pixels"}, filters{"filters"};
inline constexpr tensor<std::int32_t> sums{"sums"};
inline constexpr auto product = cast<std::int32_t>(pixels(p, d)) * cast<std::int32_t>(filters(d, f));
inline constexpr auto mac = intrinsic("mac", sums(p, f) += product)
                                .reads(pixels, spad).reads(filters, spad).updates(sums, acc).up_to(p, f, d).on(array).asynchronous().cycles(16);
inline constexpr auto mul = intrinsic("mul", sums(p, f) = sum(d, product))
                                .reads(pixels, spad).reads(filters, spad).writes(sums, acc).up_to(p, f, d).on(array).asynchronous().cycles(16);
// A vector unit rescales 16 sums a cycle, and stores them as bytes.
inline constexpr tensor<std::int32_t> bias{"bias"}, multiplier{"multiplier"}, shift{"shift"}, low{"low"}, high{"high"}, zero{"zero"};
inline constexpr tensor<std::int8_t> finished{"finished"};
inline constexpr auto finish =
    intrinsic("finish", finished(p, f) = imported::rescaled_bytes(sums(p, f), bias(f), multiplier(f), shift(f), low(0), high(0), zero(0)))
        .reads(sums, acc).reads({bias, multiplier, shift, low, high, zero}, wei_mem).writes(finished, act_mem)
        .up_to(p, f).on(vectors).asynchronous().cycles(0, per(p));
// It adds 16 bytes to 16 others a cycle: each has a zero point and a scale, and so has the sum.
inline constexpr axis e{"e", 16};
inline constexpr tensor<std::int8_t> left{"left"}, right{"right"}, total{"total"};
inline constexpr tensor<std::int32_t> left_zero{"left_zero"}, left_by{"left_by"}, left_shift{"left_shift"}, right_zero{"right_zero"}, right_by{"right_by"},
    right_shift{"right_shift"};
inline constexpr auto add =
    intrinsic("add", total(e) = imported::added_bytes(left(e), right(e), left_zero(0), left_by(0), left_shift(0), right_zero(0), right_by(0),
                                                      right_shift(0), multiplier(0), shift(0), low(0), high(0), zero(0)))
        .reads({left, right}, act_mem).writes(total, act_mem)
        .reads({left_zero, left_by, left_shift, right_zero, right_by, right_shift, multiplier, shift, low, high, zero}, wei_mem)
        .up_to(e).on(vectors).asynchronous().cycles(1);
// It finds the largest bytes of windows, in a row of taps: 16 of them a cycle.
inline constexpr axis w{"w", 16};
inline constexpr tensor<std::int8_t> window{"window"}, largest{"largest"};
inline constexpr auto first_of_windows = intrinsic("first_of_windows", largest(p, f) = maximum(w, window(w, p, f)))
                                             .reads(window, spad).writes(largest, act_mem).up_to(w, p, f).on(vectors).asynchronous().cycles(0, per(w) * per(p));
inline constexpr auto more_of_windows = intrinsic("more_of_windows", largest(p, f) = maximum(w, window(w, p, f)))
                                            .reads(window, spad).updates(largest, act_mem).up_to(w, p, f).on(vectors).asynchronous().cycles(0, per(w) * per(p));
inline constexpr auto npu_machine =
    machine("npu", act_mem, wei_mem, spad, acc, controller, loader, array, vectors, mvin, mvin_weights, mac, mul, finish, add, first_of_windows,
            more_of_windows);

inline constexpr agent cpu("cpu", cpu_machine);
inline constexpr agent npu = agent("npu", npu_machine).aside("npu_start", "npu_join");

inline imported::finishes const finish_and_add = imported::finishes(finish.name).then(add.name);
inline imported::chip const two_agents =
    imported::chip("two_agents")
        .inputs_in(l2_mem).outputs_in(act_mem).constants_in(wei_mem)
        .with(npu, {.tensors = act_mem, .inner = &act_mem, .semantics = &semantics_of<npu_machine>})
        .with(cpu, {.tensors = any_of(act_mem, l2_mem), .inner = &l2_mem, .semantics = &semantics_of<cpu_machine>})
        .standard("products", npu, {imported::products_by(mac.name, finish_and_add), imported::windows_by(mac.name, finish_and_add)})
        .standard("apart", npu, imported::apart_by(mac.name, finish.name))
        .standard("sums", npu, imported::sums_by(mac.name, finish.name))
        .standard("elements", npu, imported::elements_by(add.name))
        .standard("windows", npu, imported::reductions_by(more_of_windows.name))
        .loops(cpu);

}  // namespace networks_chip
