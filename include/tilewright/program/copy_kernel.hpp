#pragma once
#include <tilewright/compute/tensor.hpp>
#include <tilewright/plan/planner.hpp>
#include <tilewright/program/program_plan_value.hpp>

// The kernels that a program runs, each a schedule: as it was written, with its arguments where the program puts them, or a copy.
namespace tilewright::detail {

/// `to(i, j, …) = from(i, j, …)` of a tensor's type and extents.
class copy_computation {
    // It stands first: clang 14 can only use a member template in the compiler that it has read already.
    template <int Count>
    constexpr void take(computation<Count> const& what) {
        static_assert(Count <= most);
        for (int at = 0; at < Count; ++at) nodes_[at] = what.nodes[at];
        count_ = Count;
    }

  public:
    constexpr copy_computation(scalar_type type, int rank, fixed_array<std::int64_t, max_rank> const& extents) {
        axis const i[] = {{"i0", extents[0]}, {"i1", extents[1]}, {"i2", extents[2]},
                          {"i3", extents[3]}, {"i4", extents[4]}, {"i5", extents[5]}};
        any_tensor const from{"from", type}, to{"to", type};
        static_assert(max_rank == 6);
        if (rank == 0) take(to() = from());
        if (rank == 1) take(to(i[0]) = from(i[0]));
        if (rank == 2) take(to(i[0], i[1]) = from(i[0], i[1]));
        if (rank == 3) take(to(i[0], i[1], i[2]) = from(i[0], i[1], i[2]));
        if (rank == 4) take(to(i[0], i[1], i[2], i[3]) = from(i[0], i[1], i[2], i[3]));
        if (rank == 5) take(to(i[0], i[1], i[2], i[3], i[4]) = from(i[0], i[1], i[2], i[3], i[4]));
        if (rank == 6) take(to(i[0], i[1], i[2], i[3], i[4], i[5]) = from(i[0], i[1], i[2], i[3], i[4], i[5]));
    }
    constexpr computation_view view() const { return {nodes_.elements, count_}; }

  private:
    static constexpr int most = 2 * (max_rank + 1) + 1;
    fixed_array<node, most> nodes_{};
    int count_ = 0;
};

/// A copy between two memories by one transfer. @param what  outlives the schedule
constexpr schedule copy_schedule(copy_computation const& what, machine const& on, transfer_description const& by) {
    memory const from{.name = by.source}, to{.name = by.destination};
    schedule made(what.view(), on);
    made.reads(any_tensor{"from", scalar_type::literal}, from);
    made.writes(any_tensor{"to", scalar_type::literal}, to);
    if (by.core_name.empty()) made.by(by);
    return made;
}

/// Calls `visit(buffer, memory)` for the arguments of a kernel that the program has put elsewhere than its schedule.
template <class Visit>
constexpr void each_moved_argument(program_plan_value const& plan, int kernel_at, plan_value const& as_written, Visit&& visit) {
    for (int at = 0; at < plan.uses.size(); ++at) {
        ir::program_use const& u = plan.uses[at];
        if (u.kernel != kernel_at) continue;
        ir::buffer const& b = as_written.buffers[u.buffer];
        label const& lives_in = plan.memories[plan.tensor_at(u.tensor).memory].what.name;
        if (as_written.where->memories[b.memory].name != lives_in) visit(b, lives_in);
    }
}

/// Whether a kernel's arguments are where its schedule, as written, has them.
constexpr bool is_as_written(program_plan_value const& plan, int kernel_at, plan_value const& as_written) {
    bool same = true;
    each_moved_argument(plan, kernel_at, as_written, [&](ir::buffer const&, label const&) { same = false; });
    return same;
}

/// The schedule of a kernel that is no copy, with its arguments in the memories that the program has chosen.
constexpr schedule schedule_of(program_plan_value const& plan, int kernel_at, plan_value const& as_written) {
    schedule made = *plan.kernel_at(kernel_at).what;
    each_moved_argument(plan, kernel_at, as_written, [&](ir::buffer const& b, label const& lives_in) {
        made = made.with_argument_in(b.written ? directive_kind::writes : directive_kind::reads, b.tensor, lives_in);
    });
    return made;
}

}  // namespace tilewright::detail
