#pragma once
#include <tilewright/program/kernel_plans.hpp>
#include <tilewright/tilewright.hpp>

/// A small chip with two agents, and computations for programs on it.
namespace chip {

using namespace tilewright;

constexpr memory dram{.name = "dram"};  // the caller's
constexpr memory l2{.name = "l2", .capacity = 16_KiB, .wait_cycles = 3};
constexpr memory act{.name = "act", .capacity = 1000, .alignment = 4};
constexpr memory wei{.name = "wei", .capacity = 4_KiB};
constexpr memory spad{.name = "spad", .capacity = 1_KiB, .per_agent = true};
constexpr auto fetch = transfer("fetch", l2, act), drain = transfer("drain", act, l2), load = transfer("load", wei, act);
constexpr auto load_tile = transfer("load_tile", wei, spad), mvin = transfer("mvin", act, spad), mvout = transfer("mvout", spad, act);
constexpr auto cpu_machine = machine("cpu", dram, l2, act, wei, fetch, drain);
constexpr auto npu_machine = machine("npu", act, wei, spad, load, load_tile, mvin, mvout);
constexpr agent cpu("cpu", cpu_machine), npu("npu", npu_machine);
constexpr agent npu0 = agent("npu0", npu_machine).aside("npu0_start", "npu0_join");
constexpr agent npu1 = agent("npu1", npu_machine).aside("npu1_start", "npu1_join");

constexpr axis i{"i", 10}, j{"j", 10};
constexpr tensor<std::int32_t> x{"x"}, y{"y"}, r{"r"};
constexpr auto turned = r(i, j) = x(j, i) + 1;
constexpr auto doubled = r(i, j) = x(i, j) * 2;
constexpr auto added = r(i, j) = x(i, j) + y(i, j);
constexpr auto corner = r(i, j) = x(i + 2, j + 1);

constexpr auto turn_on_npu = schedule(turned, npu_machine), turn_on_cpu = schedule(turned, cpu_machine);
constexpr auto double_on_npu = schedule(doubled, npu_machine), double_on_cpu = schedule(doubled, cpu_machine);
constexpr auto add_on_npu = schedule(added, npu_machine), add_on_cpu = schedule(added, cpu_machine);
constexpr auto corner_on_cpu = schedule(corner, cpu_machine);
constexpr auto staged_on_npu = schedule(doubled, npu_machine).cache_read(x, spad).at(i).cache_write(r, spad).at(i);

constexpr auto streamed_on_npu = schedule(added, npu_machine).reads(y, wei).cache_read(y, spad).at(i);

constexpr tensor<std::int32_t> in{"in"}, out{"out"}, t0{"t0"}, t1{"t1"}, t2{"t2"}, t3{"t3"}, w{"w"};

}  // namespace chip
