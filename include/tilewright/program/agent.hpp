#pragma once
#include <tilewright/machine/machine.hpp>

namespace tilewright {

/// What executes kernels: a core, an accelerator or a DMA engine, by a name that users would say ("cpu", "npu", "npu0", "dma").
///
/// It sees the memories of its machine. A memory of one name is one memory, whichever machines list it, unless it is `per_agent`. The
/// machine is pointed at and must outlive the agent; as a `constexpr` variable at namespace scope it does.
struct agent {
    ir::label name{};                ///< by which programs, errors and reports name it
    machine const* where = nullptr;  ///< its machine
    ir::label start{}, join{};       ///< C functions that run a kernel beside the caller
    ir::label engine_name{};  ///< the engine that does its copies; without functions and engine, the caller's own core runs its kernels

    constexpr agent() = default;
    /// An agent of this name, with the parts of this machine. By default, the core of the caller runs its kernels.
    constexpr agent(ir::label agent_name, machine const& what) : name(agent_name), where(&what) {}
    /// Refused: the machine must outlive the agent.
    template <bool expected = false>
    constexpr agent(ir::label, machine const&&) : name(ir::wrong_call) {
        static_assert(expected, "agent takes a machine that stays: write `inline constexpr auto name = machine(...)`, and pass the name");
    }
    /// Refused, with what an agent takes.
    template <bool expected = false>
    constexpr explicit agent(...) : name(ir::wrong_call) {
        static_assert(expected, "agent takes its name, and then its machine: agent(\"npu\", npu_machine)");
    }

    /// It runs kernels beside the caller: `int START(int (*kernel)(void *), void *arguments)` begins one and returns 0 or a code,
    /// `int JOIN(void)` returns what the kernel returned, when it is complete. At most one kernel is under way on an agent.
    constexpr agent aside(ir::label start_symbol, ir::label join_symbol) const {
        agent changed = *this;
        changed.start = start_symbol, changed.join = join_symbol;
        return changed;
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr agent aside(...) const {
        static_assert(expected, "aside takes the C functions that begin and join a kernel: aside(\"npu_start\", \"npu_join\")");
        return left();
    }
    /// It only copies: each of its kernels is one copy by an asynchronous transfer of its machine on this engine. The caller's core starts
    /// the transfer, goes on, and waits for it later, by the machine's own calls.
    constexpr agent copies_on(engine const& which) const {
        agent changed = *this;
        changed.engine_name = which.name;
        return changed;
    }
    /// Whether it runs kernels beside the caller, by C functions.
    constexpr bool is_aside() const { return !start.empty() || !join.empty(); }
    /// Whether it only copies, by an engine.
    constexpr bool is_engine() const { return !engine_name.empty(); }
    /// Whether the caller's core goes on while a kernel of it is under way.
    constexpr bool works_beside() const { return is_aside() || is_engine(); }
    constexpr bool operator==(agent const&) const = default;

  private:
    constexpr agent left() const {
        agent changed = *this;
        changed.name = ir::wrong_call;
        return changed;
    }
};

}  // namespace tilewright
