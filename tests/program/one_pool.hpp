#pragma once
#include <tilewright/program/program_plan.hpp>
#include <tilewright/tilewright.hpp>

/// Kernels whose own buffers share a memory with the tensors of a program.
namespace one_pool {

using namespace tilewright;

constexpr memory l2{.name = "l2", .capacity = 16_KiB};
constexpr axis i{"i", 10}, k{"k", 8}, j{"j", 10}, g{"g", 5};
constexpr tensor<std::int32_t> x{"x"}, first{"first"}, second{"second"};
constexpr tensor<std::int8_t> r{"r"};
constexpr tensor<std::int32_t> in{"in"}, kept{"kept"}, beside{"beside"}, out2{"out2"};
constexpr tensor<std::int8_t> out{"out"};
constexpr auto copied = kept(i, j) = x(i, j) + 1;
constexpr auto summed = kept(i, j) = x(i, j) + first(i, j);
// Buffers of 400, 320, 320 and 400 bytes, each alive with the next: 720 are enough. Largest first, the kernel's own plan has the two of
// 400 at the beginning, the first of 320 behind them, and the other one behind that: 1,040.
constexpr auto chain =
    stages(first(k, j) = x(k + 2, j) * 3 + x(k, j), second(k, j) = first(k, j) + 1, r(k, j, g) = cast<std::int8_t>(second(k, j)));

/// A machine with one pool for tensors and buffers, of so many bytes, and what runs there.
struct chip_of_one_pool {
    memory pool;
    machine where;
    schedule in_chain, copy, sum;

    explicit chip_of_one_pool(std::int64_t bytes)
        : pool{.name = "pool", .capacity = bytes, .alignment = 4},
          where(machine("where", l2, pool, transfer("get", l2, pool), transfer("put", pool, l2))),
          in_chain(schedule(chain, where)),
          copy(schedule(copied, where).reads(x, l2).writes(kept, pool)),
          sum(schedule(summed, where).reads(x, l2).writes(kept, l2)) {
        in_chain.writes(r, l2).cache_write(r, pool).store_in(second, pool).store_in(first, pool);
        in_chain.stage(first).reads(x, l2).cache_read(x, pool);
    }
    chip_of_one_pool(chip_of_one_pool const&) = delete;

    /// `kept` is in the pool while the chain runs.
    program with_one_tensor(agent const& on, agent const& by) const {
        program made("one_tensor");
        made.input(in, l2).run("copy", on, copy).bind(x, in).bind(kept, kept);
        made.run("chain", by, in_chain).bind(x, in).bind(r, out).output(out, l2);
        made.run("sum", on, sum).bind(x, in).bind(first, kept).bind(kept, out2).output(out2, l2);
        return made;
    }
};

}  // namespace one_pool
