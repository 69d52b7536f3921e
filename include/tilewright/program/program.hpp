#pragma once
#include <array>
#include <initializer_list>
#include <tilewright/base/growing_pool.hpp>
#include <tilewright/program/agent.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright {

/// Kernels joined by tensors, on named agents: a graph as it is written, interpreted and checked by the program planner.
///
/// Kernels stand in any order; what one writes and another reads is a tensor of one name. Agents are copied; schedules and the data of
/// constants are pointed at and must outlive the program. docs/reference/program.md says what each call does and what is checked.
class program {
  public:
    static constexpr int most_agents = 6;  ///< of one program

    /// What was said of a tensor, or of an operand of a kernel: the call of this name.
    enum class statement_kind : std::uint8_t {
        input,
        output,
        constant,
        state,
        pin,
        at_offset,
        in_bank,
        may_spill,
        shape,
        bind,
        reshapes,
        part,
        reads,
        writes
    };

    /// One thing that was said of a tensor, or of a kernel's operand.
    struct statement {
        statement_kind kind{};                        ///< which
        std::int16_t kernel = -1;                     ///< bind, reshapes, part, reads, writes: which
        ir::label tensor{};                           ///< of the program; bind, reshapes, part: of the kernel
        ir::label other{};                            ///< bind: of the program; state: what a run leaves there
        any_of where{};                               ///< the memories that were named
        scalar_type type = scalar_type::literal;      ///< input, output, constant: of the elements
        void const* data = nullptr;                   ///< constant: its elements, row-major
        std::int64_t count = 0;                       ///< of elements; at_offset: bytes; in_bank: which; part, shape: of dimensions
        fixed_array<std::int64_t, max_rank> begin{};  ///< part: its first element in the tensor of the program; shape: the extents
    };
    /// A kernel as `run` gave it.
    struct kernel {
        ir::label name{};                ///< by which C functions, errors and reports name it
        std::int16_t agent = 0;          ///< position in `agents`
        schedule const* what = nullptr;  ///< how it runs
    };

    /// A program of this name, an identifier of C, which its C functions are called after. It has no kernels yet.
    constexpr explicit program(ir::label program_name) : name(program_name) {}

    /// A tensor that the caller provides in `where`: by a pointer, or, in a memory with a capacity, at the address that the plan gives it.
    constexpr program& input(any_tensor const& tensor, memory const& where) {
        return say({.kind = statement_kind::input, .tensor = tensor.name, .where = where, .type = tensor.type});
    }
    /// A tensor that the caller is given in `where`, likewise.
    constexpr program& output(any_tensor const& tensor, memory const& where) {
        return say({.kind = statement_kind::output, .tensor = tensor.name, .where = where, .type = tensor.type});
    }
    /// A tensor whose elements are known: it is a part of the image of `where`.
    /// @param data  all elements, row-major; a variable that outlives the program
    template <class T, std::size_t Count>
    constexpr program& constant(any_tensor const& tensor, memory const& where, std::array<T, Count> const& data) {
        return say({.kind = statement_kind::constant,
                    .tensor = tensor.name,
                    .where = where,
                    .type = scalar_type_of<T>(),
                    .data = data.data(),
                    .count = static_cast<std::int64_t>(Count)});
    }
    /// Likewise, of `count` elements from `data` on.
    template <class T>
    constexpr program& constant(any_tensor const& tensor, memory const& where, T const* data, std::int64_t count) {
        return say({.kind = statement_kind::constant,
                    .tensor = tensor.name,
                    .where = where,
                    .type = scalar_type_of<T>(),
                    .data = data,
                    .count = count});
    }
    /// Likewise, of an array of C++ itself.
    template <class T, std::size_t Count>
    constexpr program& constant(any_tensor const& tensor, memory const& where, T const (&data)[Count]) {
        return constant(tensor, where, data, static_cast<std::int64_t>(Count));
    }
    /// Refused: the data must outlive the program.
    template <class T, std::size_t Count>
    program& constant(any_tensor const&, memory const&, std::array<T, Count> const&&) = delete;
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr program& constant(...) {
        static_assert(expected, "constant takes a tensor, its memory, and an array of its elements: constant(weights, wei_mem, numbers)");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr program& input(...) {
        static_assert(expected, "input takes a tensor, and then the memory where the caller has it: input(image, dram)");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr program& output(...) {
        static_assert(expected, "output takes a tensor, and then the memory where the caller wants it: output(scores, dram)");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr program& state(...) {
        static_assert(expected, "state takes what a run reads, what it leaves, and then the memory: state(before, after, sram)");
        return leave();
    }
    /// What the program keeps from one run to the next: a run reads as `before` what the run before it wrote as `after`. Both are one place
    /// of `where`, which nothing else uses. The caller writes `before` there once, before the first run.
    constexpr program& state(any_tensor const& before, any_tensor const& after, memory const& where) {
        input(before, where).output(after, where);
        return say({.kind = statement_kind::state, .tensor = before.name, .other = after.name, .where = where});
    }
    /// A tensor between kernels lies in this memory, whatever kernels ask for. Kernels that do not read it there get a copy.
    constexpr program& pin(any_tensor const& tensor, memory const& where) {
        return say({.kind = statement_kind::pin, .tensor = tensor.name, .where = where});
    }
    /// An input, an output or a pinned tensor lies so many bytes from the base of its memory, or of its bank.
    constexpr program& at_offset(any_tensor const& tensor, whole_number bytes) {
        gives_places = true;
        return say({.kind = statement_kind::at_offset, .tensor = tensor.name, .count = bytes.value});
    }
    /// Such a tensor lies in this bank of its memory.
    constexpr program& in_bank(any_tensor const& tensor, whole_number bank) {
        gives_places = true;
        return say({.kind = statement_kind::in_bank, .tensor = tensor.name, .count = bank.value});
    }
    /// A tensor between kernels may wait in `where` while nobody uses it, when its own memory is too small.
    constexpr program& may_spill(any_tensor const& tensor, memory const& where) {
        return say({.kind = statement_kind::may_spill, .tensor = tensor.name, .where = where});
    }
    /// A tensor has these extents, one for each dimension, however much of it kernels take. Without it, they follow from what kernels that
    /// do not reshape it write, or read.
    constexpr program& shape(any_tensor const& tensor, std::initializer_list<std::int64_t> extents) {
        return shape(tensor, extents.begin(), static_cast<int>(extents.size()));
    }
    /// Likewise, `count` extents from `extents` on.
    constexpr program& shape(any_tensor const& tensor, std::int64_t const* extents, int count) {
        return say(with_indices({.kind = statement_kind::shape, .tensor = tensor.name}, extents, count));
    }
    /// The plan puts no transfer between kernels. A program that would need one is refused.
    constexpr program& without_copies() {
        copies = false;
        return *this;
    }

    /// A kernel of this name: `what` on `on`. Its tensors are those of the program with the same names, unless `bind` says otherwise.
    constexpr program& run(ir::label kernel_name, agent const& on, schedule const& what) {
        int const at = position_of(on);
        if (!kernels.full()) kernels.push({kernel_name, static_cast<std::int16_t>(at), &what});
        ++kernel_count;
        return *this;
    }
    /// An agent whose transfers may copy tensors, though it may run no kernel, such as one that `copies_on` an engine.
    constexpr program& with(agent const& on) {
        position_of(on);
        return *this;
    }
    /// Refused: the schedule must outlive the program.
    template <bool expected = false>
    constexpr program& run(ir::label, agent const&, schedule const&&) {
        static_assert(expected, "run takes a schedule that stays: write `inline constexpr auto name = schedule(...)`, and pass the name");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr program& run(...) {
        static_assert(expected, "run takes a name for the kernel, an agent, and a schedule: run(\"conv\", npu, conv_on_npu)");
        return leave();
    }
    /// The tensor `of_kernel` of the kernel before it is the tensor `of_program`.
    constexpr program& bind(any_tensor const& of_kernel, any_tensor const& of_program) {
        return say_of_kernel({.kind = statement_kind::bind, .tensor = of_kernel.name, .other = of_program.name});
    }
    /// The kernel before it has this tensor in another shape than others: the same elements in the same order. It takes all of them.
    constexpr program& reshapes(any_tensor const& of_kernel) {
        return say_of_kernel({.kind = statement_kind::reshapes, .tensor = of_kernel.name});
    }
    /// What the kernel before it calls `of_kernel` is a part of the tensor of the program: its element (0, 0, …) is at the indices `begin`
    /// there. Several kernels may write parts of one tensor, which together are all of it, and none twice.
    /// @param begin  an index for each dimension
    constexpr program& part(any_tensor const& of_kernel, std::initializer_list<std::int64_t> begin) {
        return part(of_kernel, begin.begin(), static_cast<int>(begin.size()));
    }
    /// Likewise, with `count` indices from `begin` on.
    constexpr program& part(any_tensor const& of_kernel, std::int64_t const* begin, int count) {
        return say_of_kernel(with_indices({.kind = statement_kind::part, .tensor = of_kernel.name}, begin, count));
    }
    /// The kernel before it reads this tensor of the program from one of these memories. It must be able to read from each.
    constexpr program& reads(any_tensor const& tensor, any_of const& where) {
        return say_of_kernel({.kind = statement_kind::reads, .tensor = tensor.name, .where = where});
    }
    /// Likewise, the tensor that it writes.
    constexpr program& writes(any_tensor const& tensor, any_of const& where) {
        return say_of_kernel({.kind = statement_kind::writes, .tensor = tensor.name, .where = where});
    }

    /// How many kernels are kept.
    constexpr int size() const { return kernels.size(); }
    /// How many statements are kept.
    constexpr int statements_size() const { return statements.size(); }
    /// A kernel, by its number from 0 on, in the order in which they were given.
    constexpr kernel const& kernel_at(int at) const { return kernels[at]; }
    /// A statement, by its number from 0 on, in the order in which they were given.
    constexpr statement const& statement_at(int at) const { return statements[at]; }

    ir::label name{};                                     ///< of the program, and of its C functions
    fixed_array<agent, most_agents> agents{};             ///< in the order in which they were first named
    int agent_count = 0;                                  ///< counts above the most mark an overflow, which the planner refuses
    ir::growing_pool<kernel, 32, 512> kernels{};          ///< in the order in which they were given
    int kernel_count = 0;                                 ///< above the most it marks an overflow, likewise
    ir::growing_pool<statement, 128, 8192> statements{};  ///< what was said, in its order
    int statement_count = 0;                              ///< above the most it marks an overflow, likewise
    bool copies = true;                                   ///< the plan may put transfers between kernels
    bool two_agents = false;                              ///< two agents of one name are different
    bool gives_places = false;                            ///< at_offset, in_bank

  private:
    static constexpr statement with_indices(statement made, std::int64_t const* from, int count) {
        made.count = count;
        for (int at = 0; at < count && at < max_rank; ++at) made.begin[at] = from[at];
        return made;
    }
    constexpr program& leave() {
        name = ir::wrong_call;
        return *this;
    }
    constexpr int position_of(agent const& on) {
        if (on.name == ir::wrong_call) name = ir::wrong_call;
        int at = 0;
        while (at < agent_count && at < most_agents && agents[at].name != on.name) ++at;
        if (at == agent_count && at < most_agents) agents[at] = on;
        if (at == agent_count) ++agent_count;
        else two_agents |= at < most_agents && agents[at] != on;
        return at;
    }
    constexpr program& say(statement const& what) {
        if (!statements.full()) statements.push(what);
        ++statement_count;
        return *this;
    }
    constexpr program& say_of_kernel(statement what) {
        what.kernel = static_cast<std::int16_t>(kernel_count - 1);
        return say(what);
    }
};

}  // namespace tilewright
