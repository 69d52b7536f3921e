#pragma once
#include <tilewright/base/growing_pool.hpp>
#include <tilewright/plan/ir/plan_value.hpp>
#include <tilewright/program/program.hpp>

// What the plan of a program is made of.
namespace tilewright::ir {

/// Kernels of a program, by position.
class kernel_set {
  public:
    static constexpr int most = 1024;

    constexpr void add(int kernel) { words_[kernel / 64] |= std::uint64_t{1} << kernel % 64; }
    constexpr bool has(int kernel) const { return (words_[kernel / 64] >> kernel % 64 & 1) != 0; }

  private:
    fixed_array<std::uint64_t, most / 64> words_{};
};

/// A memory of the program: one that some agents see, by one name.
struct program_memory {
    label name{};  ///< of a memory that each agent has for itself: agent.memory
    memory what{};
    std::uint8_t agents = 0;  ///< a bit for each agent that sees it
};

enum class tensor_kind : std::uint8_t {
    between,   // a kernel writes it, others read it
    input,     // the caller provides it
    output,    // a kernel writes it, the caller is given it
    constant,  // a part of the image of its memory
};

/// A tensor of the program, dense and row-major, in the one memory where it lives. A copy elsewhere is a tensor of its own.
struct program_tensor {
    label name{};
    tensor_kind kind = tensor_kind::between;
    scalar_type type = scalar_type::literal;
    std::int16_t rank = 0;  ///< -1, while it is planned: only kernels that reshape it have been seen
    fixed_array<std::int64_t, max_rank> extents{};
    std::int64_t bytes = 0;
    std::int64_t alignment = 1;
    bool sized = false;           ///< by the kernel that writes it
    std::int16_t memory = -1;     ///< of the program
    std::int16_t producer = -1;   ///< kernel; of several that write parts of it, the first; -1: input or constant
    bool in_parts = false;        ///< kernels write parts of it
    std::int16_t statement = -1;  ///< input, output, constant: which one says so
    bool passed = false;          ///< its memory has no capacity: the caller passes a pointer
    std::int16_t bank = 0;
    std::int64_t offset = -1;       ///< bytes from the base of its memory, or bank; -1: passed
    std::int16_t born = -1;         ///< first step of its lifetime
    std::int16_t dead = -1;         ///< the step after it
    std::int16_t in_place_of = -1;  ///< the tensor whose bytes it takes over
    std::int16_t copy_of = -1;      ///< the tensor that a transfer copies there
    std::int16_t state_of = -1;     ///< the tensor that the next run reads there

    constexpr std::int64_t stride(int dimension) const {
        std::int64_t elements = 1;
        for (int inner = rank - 1; inner > dimension; --inner) elements *= extents[inner];
        return elements;
    }
};

/// A tensor as an argument of a kernel.
struct program_use {
    std::int16_t kernel = -1;
    std::int16_t buffer = -1;  ///< of the kernel's plan; of a copy: 0 what is read, 1 what is written
    std::int16_t tensor = -1;
    bool written = false;
    bool reshaped = false;  ///< the kernel has it in another shape
    bool is_part = false;   ///< the kernel has a part of it, from `begin` on
    fixed_array<std::int64_t, max_rank> begin{};
    std::uint16_t allowed = 0;  ///< a bit for each memory of the program that it can be in
    std::int64_t accesses = 0;  ///< loads or stores by loops that stay code; 0 where only transfers and instructions touch it
};

/// The number of elements in a box of these extents; as a double, since it may be too large.
constexpr double elements_of(fixed_array<std::int64_t, max_rank> const& extents, int rank) {
    double elements = 1;
    for (int d = 0; d < rank; ++d) elements *= static_cast<double>(extents[d]);
    return elements;
}
/// Elements from one to its neighbour along a dimension of a kernel's argument, which is a tensor of the program.
constexpr std::int64_t stride_of(program_tensor const& tensor, program_use const& use, buffer const& argument, int dimension) {
    return use.reshaped ? argument.stride(dimension) : tensor.stride(dimension);
}
/// Elements from the beginning of the tensor to the first that the kernel uses.
constexpr std::int64_t first_element(program_tensor const& tensor, program_use const& use, buffer const& argument) {
    std::int64_t first = 0;
    for (int d = 0; d < argument.rank; ++d) first += (argument.minimum[d] + use.begin[d]) * stride_of(tensor, use, argument, d);
    return first;
}

/// The parts of its machine with a state from call to call that a kernel uses: a bit for each part, by position.
struct used_hardware {
    std::uint8_t engines = 0;         ///< that it gives jobs
    std::uint8_t configurations = 0;  ///< that it sets
};

/// A kernel of the program, or a copy between two memories that the plan put in.
struct program_kernel {
    label name{};
    std::int16_t agent = -1;
    schedule const* what = nullptr;  ///< null: a copy
    std::int16_t transfer = -1;      ///< of a copy, in the agent's machine
    std::int16_t first_step = -1;    ///< runs it, or starts it
    std::int16_t last_step = -1;     ///< the same, or joins its agent
    std::int64_t cycles = 0;         ///< where they are not known, at least so many
    std::int64_t issue_cycles = 0;   ///< of a copy by an engine: the caller's core starts it for so long
    bool cycles_known = true;
    used_hardware uses{};
    bool early = false;      ///< a copy out of a memory that is too small: it runs as soon as it can
    bool late = false;       ///< a copy back: it runs right before the first kernel that needs it
    std::int16_t cores = 1;  ///< of the caller's: more than one share it
    /// Its own buffers keep their distances if they share bytes: the proof of order between engines is only for these distances.
    bool keeps_sharing = false;

    constexpr bool is_copy() const { return what == nullptr; }
};

/// A buffer of a kernel's own, with all its versions. Those of one kernel in one memory follow each other.
struct program_scratch {
    label name{};  ///< in the kernel's plan
    std::int16_t kernel = -1;
    std::int16_t buffer = -1;  ///< of the kernel's plan
    std::int16_t memory = -1;  ///< of the program
    std::int16_t versions = 1;
    std::int16_t bank = 0;        ///< the first that it lies in
    std::int16_t bank_count = 1;  ///< it lies in so many, round all of the memory
    bool any_bank = false;        ///< it lies in one, and any will do
    std::int64_t bytes = 0;       ///< of a version
    std::int64_t bytes_in_bank = 0;
    std::int64_t alignment = 1;
    /// From the base of the memory, or of every bank that it lies in; before it is placed, as the kernel's plan has it.
    std::int64_t offset = 0;
    std::int16_t born = 0;  ///< first point of its lifetime, of those that the kernel has in this memory: one for each set of buffers
    std::int16_t dead = 1;  ///< the point after it
};

enum class program_step_kind : std::uint8_t {
    run,
    start,
    join,
    barrier,  ///< of the cores that share kernels
};
struct program_step {
    program_step_kind kind = program_step_kind::run;
    std::int16_t kernel = -1;  ///< -1: a barrier
};

/// A memory as it comes out.
struct pool_use {
    std::int64_t peak = 0;         ///< bytes from its base; of several banks, from the base of the fullest
    std::int64_t lower_bound = 0;  ///< no placement has a smaller peak
    std::int64_t constants = 0;    ///< the first bytes: its image
    std::int64_t alignment = 1;    ///< that a base which the caller gives is a multiple of
    bool proven = true;            ///< no offsets have a smaller peak for these lifetimes
    kernel_set as_planned{};       ///< kernels whose buffers share bytes as their own plans have it: the proof is for such offsets
    bool used = false;
};

}  // namespace tilewright::ir

namespace tilewright {

/// Where the tensors of a program live, when its kernels run, and what that costs: the one truth that emitter, emulator and reports obey.
struct program_plan_value {
    static constexpr int most_memories = 16;

    program const* of = nullptr;
    verdict refusal{};
    ir::growing_pool<ir::program_memory, most_memories, most_memories> memories{};
    ir::growing_pool<ir::program_tensor, 96, 4096> tensors{};
    ir::growing_pool<ir::program_kernel, 64, ir::kernel_set::most> kernels{};
    ir::growing_pool<ir::program_use, 192, 8192> uses{};
    ir::growing_pool<ir::program_scratch, 192, 8192> scratch{};
    ir::growing_pool<ir::program_step, 128, 4096> steps{};
    fixed_array<ir::pool_use, most_memories> pools{};
    std::int16_t cores = 1;         ///< of the caller, that share kernels; what they do not share runs on core 0
    std::int16_t shared_by = -1;    ///< an agent whose kernels they share; -1: nothing is shared
    std::int64_t total_cycles = 0;  ///< where it is not known, at least so many
    bool total_known = true;

    constexpr ir::program_tensor const& tensor_at(int at) const { return tensors[at]; }
    constexpr ir::program_kernel const& kernel_at(int at) const { return kernels[at]; }
    constexpr agent const& agent_of(ir::program_kernel const& k) const { return of->agents[k.agent]; }
    /// Whether an agent stands for the cores that share kernels, or for core 0 of them.
    constexpr bool is_of_cores(int agent_at) const {
        return shared_by >= 0 && of->agents[agent_at].where == of->agents[shared_by].where && !of->agents[agent_at].works_beside();
    }
    /// The machine of the cores that share kernels.
    constexpr machine const& machine_of_cores() const { return *of->agents[shared_by].where; }

    /// Position of the memory that an agent knows by this name; -1: it sees none of that name.
    constexpr int memory_of(int agent_at, ir::label const& name) const {
        for (int at = 0; at < memories.size(); ++at) {
            ir::program_memory const& m = memories[at];
            if ((m.agents >> agent_at & 1) != 0 && m.what.name == name) return at;
        }
        return -1;
    }
    /// @throws bad_query when no agent has a memory of this name, or several have one of their own
    constexpr int position_of(memory const& m) const { return position_of_memory(m.name); }
    constexpr int position_of_memory(ir::label const& name) const {
        int found = find_memory(name);
        if (found >= 0) return found;
        for (int at = 0; at < memories.size(); ++at) {
            if (memories[at].what.name == name) found = found == -1 ? at : -2;
        }
        if (found < 0) detail::throw_or_abort(bad_query(name, " is not a memory of the program, or one that each agent has"));
        return found;
    }
    constexpr int find_memory(ir::label const& name) const {
        for (int at = 0; at < memories.size(); ++at) {
            if (memories[at].name == name) return at;
        }
        return -1;
    }
    constexpr int find_tensor(ir::label const& name) const {
        for (int at = 0; at < tensors.size(); ++at) {
            if (tensor_at(at).name == name) return at;
        }
        return -1;
    }
    constexpr int find_kernel(ir::label const& name) const {
        for (int at = 0; at < kernels.size(); ++at) {
            if (kernel_at(at).name == name) return at;
        }
        return -1;
    }

    /// Bytes of a memory that the program needs, from its base, or of its fullest bank; constants, tensors and the kernels' own buffers.
    constexpr ir::quantity peak(memory const& m) const { return refusal ? unknown : ir::quantity(pool_of(m).peak); }
    /// A bound: no offsets have a smaller peak for these lifetimes, if buffers of the kernels that `as_planned` names share bytes as their
    /// own plans have it. It is what is alive at one step, or what follows from sizes and alignments.
    constexpr ir::quantity lower_bound(memory const& m) const { return refusal ? unknown : ir::quantity(pool_of(m).lower_bound); }
    /// Whether the peak is the lower bound.
    constexpr bool proven(memory const& m) const { return refusal || pool_of(m).proven; }
    /// Whether the lower bound assumes that buffers of this kernel share bytes as its own plan has it.
    constexpr bool as_planned(memory const& m, ir::label const& kernel) const {
        int const k = find_kernel(kernel);
        return !refusal && k >= 0 && pool_of(m).as_planned.has(k);
    }
    /// Bytes of its constants, which begin at its base.
    constexpr ir::quantity constant_bytes(memory const& m) const { return refusal ? unknown : ir::quantity(pool_of(m).constants); }
    /// Bytes that are alive in a memory while a kernel runs, its own buffers included.
    constexpr ir::quantity live(memory const& m, ir::label const& kernel) const {
        if (refusal) return unknown;
        int const k = find_kernel(kernel);
        if (k < 0) detail::throw_or_abort(bad_query(kernel, " is not a kernel of the program"));
        std::int64_t most = 0;
        for (int at = kernel_at(k).first_step; at <= kernel_at(k).last_step; ++at) {
            std::int64_t const here = live_bytes(position_of(m), at);
            most = most < here ? here : most;
        }
        return most;
    }
    constexpr std::int64_t live_bytes(int memory_at, int step_at) const {
        std::int64_t all = 0;
        for (int at = 0; at < tensors.size(); ++at) {
            ir::program_tensor const& t = tensor_at(at);
            if (t.memory != memory_at || t.passed || t.born > step_at || t.dead <= step_at) continue;
            all += t.bytes;
            // Bytes that are taken over in place are counted once.
            if (t.in_place_of < 0) continue;
            ir::program_tensor const& before = tensor_at(t.in_place_of);
            if (before.born <= step_at && before.dead > step_at) all -= before.bytes;
        }
        for (int from = 0, to = 0; from < scratch.size(); from = to) {
            to = scratch_end(from);
            ir::program_kernel const& k = kernel_at(scratch_at(from).kernel);
            if (scratch_at(from).memory == memory_at && k.first_step <= step_at && step_at <= k.last_step)
                all += live_scratch(from, fullest_point(from));
        }
        return all;
    }
    constexpr ir::program_scratch const& scratch_at(int at) const { return scratch[at]; }
    /// The position after the buffers of the same kernel in the same memory as the one at `from`.
    constexpr int scratch_end(int from) const {
        int to = from + 1;
        while (to < scratch.size() && scratch_at(to).kernel == scratch_at(from).kernel && scratch_at(to).memory == scratch_at(from).memory)
            ++to;
        return to;
    }
    /// Points in time that a kernel has in a memory, whose buffers begin at position `from`.
    constexpr int scratch_points(int from) const {
        int points = 0;
        for (int at = from; at < scratch_end(from); ++at) points = points < scratch_at(at).dead ? scratch_at(at).dead : points;
        return points;
    }
    /// The bytes that these buffers take of all banks at a point, and the point at which they take most.
    constexpr std::int64_t live_scratch(int from, int point) const {
        std::int64_t all = 0;
        for (int at = from; at < scratch_end(from); ++at) {
            ir::program_scratch const& s = scratch_at(at);
            if (s.born <= point && point < s.dead) all += s.bytes_in_bank * s.bank_count;
        }
        return all;
    }
    constexpr int fullest_point(int from) const {
        int found = 0;
        for (int point = 1; point < scratch_points(from); ++point) {
            if (live_scratch(from, point) > live_scratch(from, found)) found = point;
        }
        return found;
    }
    /// The memory that a tensor lives in.
    constexpr ir::label memory_of(any_tensor const& tensor) const {
        int const at = find_tensor(tensor.name);
        if (refusal || at < 0) return {};
        return memories[tensor_at(at).memory].name;
    }
    /// Bytes from the base of its memory to a tensor.
    constexpr ir::quantity offset(any_tensor const& tensor) const {
        int const at = find_tensor(tensor.name);
        return refusal || at < 0 ? unknown : ir::quantity(tensor_at(at).offset);
    }
    /// Cycles of the whole program, agents working side by side. Not resolved where a kernel's are not: see `cycles_resolved`.
    constexpr ir::quantity cycles() const {
        return refusal ? unknown : total_known ? ir::quantity(total_cycles) : ir::quantity::at_least(total_cycles);
    }
    /// Whether `cycles` is known. After a refusal it is true, so that the verdict stays the only error.
    constexpr bool cycles_resolved() const { return refusal || total_known; }
    /// Calls of transfers that the plan put between kernels.
    constexpr int copies() const {
        int count = 0;
        for (int at = 0; at < kernels.size(); ++at) count += kernel_at(at).is_copy() ? 1 : 0;
        return count;
    }

    static constexpr ir::quantity unknown{0, false};

  private:
    constexpr ir::pool_use const& pool_of(memory const& m) const { return pools[position_of(m)]; }
};

}  // namespace tilewright
