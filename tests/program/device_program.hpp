#pragma once
#include "chip.hpp"

/// A program for a device: memories whose addresses the caller gives, an accelerator that runs kernels beside the caller, a tensor that is
/// passed and one that is not, and constants.
namespace device_programs {

using namespace chip;

constexpr auto numbers = [] {
    std::array<std::int32_t, 100> made{};
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = static_cast<std::int32_t>(at * at) - 3000;
    return made;
}();
constexpr auto from_dram = schedule(doubled, cpu_machine).reads(x, dram).writes(r, act);
constexpr auto to_dram = schedule(added, cpu_machine).writes(r, dram);
constexpr tensor<std::int32_t> extra{"extra"};

/// out = (2 in turned + 1) + numbers + (2 extra turned + 1)
constexpr auto on_device = program("on_device")
                               .input(in, dram)
                               .input(extra, l2)
                               .constant(w, wei, numbers)
                               .run("double_in", cpu, from_dram)
                               .bind(x, in)
                               .bind(r, t0)
                               .run("turn", npu0, turn_on_npu)
                               .bind(x, t0)
                               .bind(r, t1)
                               .writes(t1, act)
                               .run("other", cpu, turn_on_cpu)
                               .bind(x, extra)
                               .bind(r, t2)
                               .writes(t2, l2)
                               .run("weigh", npu0, add_on_npu)
                               .bind(x, t1)
                               .bind(y, w)
                               .bind(r, t3)
                               .writes(t3, act)
                               .run("sum", cpu, to_dram)
                               .bind(x, t3)
                               .bind(y, t2)
                               .bind(r, out)
                               .output(out, dram);

}  // namespace device_programs
