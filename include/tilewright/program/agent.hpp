#pragma once
#include <tilewright/machine/machine.hpp>

namespace tilewright {

/// What executes kernels: a core or an accelerator, by a name that users would say ("cpu", "npu", "npu0").
///
/// It sees the memories of its machine. A memory of one name is one memory, whichever machines list it, unless it is `per_agent`. The
/// machine is pointed at and must outlive the agent; as a `constexpr` variable at namespace scope it does.
struct agent {
    label name{};
    machine const* where = nullptr;
    label start{}, join{};  ///< C functions that run a kernel beside the caller; empty: the caller's own core runs it

    constexpr agent() = default;
    constexpr agent(label agent_name, machine const& what) : name(agent_name), where(&what) {}
    agent(label, machine const&&) = delete;

    /// It runs kernels beside the caller: `int START(int (*kernel)(void *), void *arguments)` begins one and returns 0 or a code,
    /// `int JOIN(void)` returns what the kernel returned, when it is complete. At most one kernel is under way on an agent.
    constexpr agent aside(label start_symbol, label join_symbol) const {
        agent changed = *this;
        changed.start = start_symbol, changed.join = join_symbol;
        return changed;
    }
    constexpr bool is_aside() const { return !start.empty(); }
};

}  // namespace tilewright
