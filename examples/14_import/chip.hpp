// Machines, schedules and chips are read line by line.
// clang-format off
#pragma once
#include "../09_network/machine.hpp"

#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/chip.hpp>
#include <tilewright/import/elements_by_instruction.hpp>
#include <tilewright/import/products_by_instruction.hpp>

/// Lesson 14: the chip with two agents of lesson 09, as networks from files run on it. Its npu has a vector unit besides.
namespace lesson_import {

using namespace tilewright;
using namespace lesson_network;

// The vector unit makes bytes of up to 16 x 16 sums, a row of 16 a cycle: with a bias and a scale for each filter, between two limits.
constexpr engine vectors{"vectors"};
constexpr tensor<std::int32_t> bias{"bias"}, multiplier{"multiplier"}, shift{"shift"}, low{"low"}, high{"high"}, zero{"zero"};
constexpr tensor<std::int8_t> finished{"finished"};
constexpr auto finish =
    intrinsic("finish", finished(p, f) = imported::rescaled_bytes(sums(p, f), bias(f), multiplier(f), shift(f), low(0), high(0), zero(0)))
        .reads(sums, acc).reads({bias, multiplier, shift, low, high, zero}, wei_mem).writes(finished, act_mem)
        .up_to(p, f).on(vectors).cycles(0, per(p));
// It adds 16 bytes to 16 others a cycle: each has a zero point and a scale, and so has the sum.
constexpr axis e{"e", 16};
constexpr tensor<std::int8_t> left{"left"}, right{"right"}, total{"total"};
constexpr tensor<std::int32_t> left_zero{"left_zero"}, left_by{"left_by"}, left_shift{"left_shift"}, right_zero{"right_zero"}, right_by{"right_by"},
    right_shift{"right_shift"};
constexpr auto add =
    intrinsic("add", total(e) = imported::added_bytes(left(e), right(e), left_zero(0), left_by(0), left_shift(0), right_zero(0), right_by(0),
                                                      right_shift(0), multiplier(0), shift(0), low(0), high(0), zero(0)))
        .reads({left, right}, act_mem).writes(total, act_mem)
        .reads({left_zero, left_by, left_shift, right_zero, right_by, right_shift, multiplier, shift, low, high, zero}, wei_mem)
        .up_to(e).on(vectors).cycles(1);
constexpr auto npu_with_vectors =
    machine("npu", act_mem, wei_mem, spad, acc, controller, loader, array, vectors, mvin, mvin_weights, mac, mul, finish, add);
constexpr agent npu = agent("npu", npu_with_vectors).aside("npu_start", "npu_join");

inline imported::chip const two_agents =
    imported::chip("two_agents")
        .inputs_in(l2_mem).outputs_in(act_mem).constants_in(wei_mem)
        .with(npu, {.tensors = act_mem, .inner = &act_mem, .element = &act_mem, .semantics = &semantics_of<npu_with_vectors>})
        .with(cpu, {.tensors = any_of(act_mem, l2_mem), .inner = &l2_mem, .element = &l2_mem, .semantics = &semantics_of<cpu_machine>})
        // Sums of products go to the array, and what is made of them to the vector unit. Of two ways to sum a window, the cheaper is taken.
        .standard("products", npu, {imported::products_by(mac.name, finish.name), imported::windows_by(mac.name, finish.name)})
        // Channels that stay apart are summed with weights of 0, and means with weights of 1. The vector unit adds.
        .standard("apart", npu, imported::apart_by(mac.name, finish.name))
        .standard("sums", npu, imported::sums_by(mac.name, finish.name))
        .standard("elements", npu, imported::elements_by(add.name))
        // The cpu computes the rest.
        .loops(cpu);

}  // namespace lesson_import
