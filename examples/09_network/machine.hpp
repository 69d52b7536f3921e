// Machines, schedules and programs are read line by line.
// clang-format off
#pragma once
#include <tilewright/tilewright.hpp>

#include <tilewright/program/program_plan.hpp>

/// Lesson 09: a chip with two agents and three memories between them.
namespace lesson_network {

using namespace tilewright;

constexpr memory l2_mem{.name = "l2_mem", .capacity = 64_KiB, .alignment = 16, .wait_cycles = 2};  // the cpu alone sees it
constexpr memory act_mem{.name = "act_mem", .capacity = 8_KiB, .alignment = 16};                   // both do
constexpr memory wei_mem{.name = "wei_mem", .capacity = 16_KiB, .alignment = 16};                  // constants: both
constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 8_KiB, .alignment = 16};    // the npu's own
constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 4_KiB, .alignment = 16};

// The cpu computes by loops, and has a DMA that fetches inputs.
constexpr engine dma{"dma"};
constexpr core cortex{.name = "cortex"};
constexpr auto fetch_input =
    transfer("fetch_input", l2_mem, act_mem).on(dma).dimensions(2).cost({.latency = 20, .setup = 4, .bytes_per_cycle = 4});
constexpr auto cpu_machine = machine("cpu", l2_mem, act_mem, wei_mem, cortex, dma, fetch_input);

// The npu loads tiles from both memories that it sees, and multiplies up to 16 pixels by 16 filters over 32 channels at a time. What is left
// to compute of an element before it is stored, a controller of its own does.
constexpr engine loader{"loader"}, array{"array"};
constexpr core controller{.name = "controller"};
constexpr auto mvin =
    transfer("mvin", act_mem, spad).on(loader).asynchronous().dimensions(4).cost({.latency = 16, .setup = 2, .bytes_per_cycle = 16});
constexpr auto mvin_weights =
    transfer("mvin_weights", wei_mem, spad).on(loader).asynchronous().dimensions(4).cost({.latency = 16, .setup = 2, .bytes_per_cycle = 16});
constexpr axis p{"p", 16}, f{"f", 16}, d{"d", 32};
constexpr tensor<std::int8_t> pixels{"pixels"}, filters{"filters"};
constexpr tensor<std::int32_t> sums{"sums"};
constexpr auto product = cast<std::int32_t>(pixels(p, d)) * cast<std::int32_t>(filters(d, f));
constexpr auto mac = intrinsic("mac", sums(p, f) += product)
                         .reads(pixels, spad).reads(filters, spad).updates(sums, acc).up_to(p, f, d).on(array).cycles(16);
constexpr auto mul = intrinsic("mul", sums(p, f) = sum(d, product))
                         .reads(pixels, spad).reads(filters, spad).writes(sums, acc).up_to(p, f, d).on(array).cycles(16);
constexpr auto npu_machine =
    machine("npu", act_mem, wei_mem, spad, acc, controller, loader, array, mvin, mvin_weights, mac, mul);

constexpr agent cpu("cpu", cpu_machine);
constexpr agent npu = agent("npu", npu_machine).aside("npu_start", "npu_join");

}  // namespace lesson_network
