#pragma once
#include <tilewright/base/directive_kind.hpp>
#include <tilewright/base/whole_number.hpp>
#include <tilewright/machine/machine.hpp>
#include <tilewright/schedule/index_map.hpp>
#include <tilewright/schedule/wrong_calls.hpp>

namespace tilewright {

/// A loop named in a directive, by an axis or by its text, with the line where it is named.
struct loop_name {
    ir::label name{};  ///< of the axis, or the text
    int line = 0;      ///< of the source where the loop is named

    constexpr loop_name() = default;
    /// The loop over an axis, or one that a split, tile or fuse has called by this axis.
    constexpr loop_name(axis const& a, int at_line = __builtin_LINE()) : name(a.name), line(at_line) {}
    /// The loop of this text, an identifier of C with at most 23 letters.
    constexpr loop_name(char const* text, int at_line = __builtin_LINE()) : name(text), line(at_line) {}
};

/// What a directive takes first, with the line where that stands. Clang 14 would give a default argument of the directive itself the
/// line where the chain of directives begins.
template <class T>
struct at_line {
    T const& given;  ///< a tensor, a core, a transfer
    int line;        ///< of the source where it stands

    /// Of what a call of a directive is given, which lives as long as the call.
    constexpr at_line(T const& what, int in_line = __builtin_LINE()) : given(what), line(in_line) {}
};

/// The line of a call, which no number that is given can be taken for.
struct caller_line {
    int number;  ///< of the source

    /// Of a number, said to be one.
    constexpr explicit caller_line(int in_line) : number(in_line) {}
};

/// An index map, with the line where it stands: what `layout` takes.
struct layout_map {
    index_map_list list{};  ///< what the map returns; -1 `arguments`: the compiler has refused what is no map
    int line;               ///< of the source where it stands

    /// Of a function of the coordinates of a box: `[](auto i, auto j) { return index_map(i / 6, j, i % 6); }`.
    template <class Map>
    constexpr layout_map(Map const& map, int in_line = __builtin_LINE()) : line(in_line) {
        constexpr int count = detail::coordinates_of<Map>();
        constexpr bool is_map = count >= 0;
        static_assert(is_map, "layout takes a function: [](auto i, auto j) { return index_map(i / 16, j, i % 16); }");
        if constexpr (is_map) list = detail::read_index_map<count>(map);
        else list.arguments = count;
    }
};

/// One directive as it was written. Its names stand in `schedule::names`.
struct directive {
    directive_kind kind = directive_kind::stage;  ///< which directive
    std::int16_t first_name = 0;                  ///< of its names in `schedule::names`
    std::int16_t name_count = 0;                  ///< how many names it has
    int line = 0;                                 ///< of the source where it is written
    fixed_array<std::int64_t, 2> factors{};       ///< its numbers: factors, versions, a bank, …; 0 where it has none
};

/// Several memories, each of which is right, the best first: `any_of(act_mem, l2_mem)`, or just `act_mem`.
struct any_of {
    static constexpr int most = 4;         ///< memories
    fixed_array<ir::label, most> names{};  ///< of the memories, the best first
    int count = 0;                         ///< above `most` marks an overflow

    constexpr any_of() = default;
    /// At most 4 memories, the best first; the planner refuses more by capacity_of_representation.
    template <class... Memories>
        requires(sizeof...(Memories) > 0 && (detail::one_of<Memories, memory> && ...))
    constexpr any_of(Memories const&... memories) {
        auto const push = [this](ir::label const& name) {
            if (count < most) names[count] = name;
            ++count;
        };
        (push(memories.name), ...);
    }
    /// How many memories are kept.
    constexpr int size() const { return count < most ? count : most; }
};

class schedule;
template <schedule const& Schedule>
struct planned;

namespace detail {
inline constexpr machine no_machine{};

/// Whether loops are given and then an intrinsic, or its name.
template <class First, class... More>
constexpr bool loops_and_intrinsic() {
    if constexpr (sizeof...(More) > 0) return converts_to<First, loop_name> && loops_and_intrinsic<More...>();
    else return converts_to<First, intrinsic_description const&> || converts_to<First, char const*>;
}
}  // namespace detail

/// How a computation runs on a machine: a log of directives, interpreted and checked by the planner.
///
/// The computation and the machine are pointed at and must outlive the schedule; as `constexpr` variables at namespace scope they do.
/// Every directive is carried out exactly or refused with a verdict at the first use of the plan. docs/reference/directives.md gives,
/// for each, the loop nest before and after and what is checked.
class schedule : detail::wrong_calls<schedule> {
  public:
    static constexpr int most_directives = 64;  ///< of one schedule
    static constexpr int most_names = 128;      ///< of all directives of one schedule together
    static constexpr int most_layouts = 8;      ///< of one schedule
    /// As a factor: none was given, the directive is about the whole loop.
    static constexpr std::int64_t whole_loop = lowest_of(scalar_type::int64);

  private:
    template <schedule const&>
    friend struct planned;
    friend detail::wrong_calls<schedule>;

    // These stand first: clang 14 can only use a member template in the compiler that it has read already.
    static constexpr ir::label name_in(intrinsic_description const& what) { return what.name; }
    static constexpr ir::label name_in(loop_name const& what) { return what.name; }

    // Calls with other arguments than a directive takes have one error, which says what it takes; the plan adds no second one.
    constexpr schedule& leave() {
        temporary_ = ir::wrong_call;
        return *this;
    }

    template <class... Names>
    constexpr schedule& log(directive_kind kind, int line, fixed_array<std::int64_t, 2> factors, Names const&... names) {
        constexpr int count = sizeof...(Names);
        if (directive_count_ < most_directives && name_count_ + count <= most_names) {
            directives_.elements[directive_count_] = {kind, static_cast<std::int16_t>(name_count_), count, line, factors};
            int at = name_count_;
            ((names_.elements[at++] = names), ...);
        }
        ++directive_count_;
        name_count_ += count;
        return *this;
    }

    constexpr schedule& log_memories(directive_kind kind, ir::label const& tensor, any_of const& where, int line) {
        log(kind, line, {}, tensor, where.names[0]);
        for (int at = 1; at < where.count; ++at, ++name_count_) {
            if (name_count_ < most_names && at < any_of::most) names_[name_count_] = where.names[at];
            if (directive_count_ <= most_directives) ++directives_[directive_count_ - 1].name_count;
        }
        return *this;
    }

  public:
    /// How `what` runs on `where`, without directives yet: one nest of loops, the axes of the target first, those that are reduced inside.
    /// Both are pointed at: `inline constexpr` variables at namespace scope. Temporaries are refused by the verdict temporary.
    template <int Count>
    constexpr schedule(computation<Count> const& what, machine const& where) : schedule(what.view(), where) {}
    /// Likewise, of a computation whose nodes stand elsewhere and outlive the schedule.
    constexpr schedule(computation_view what, machine const& where) : computation_(what), machine_(&where) {}
    // A schedule cannot point at something that is gone when the statement ends: the planner refuses it.
    /// A computation that is gone when the statement ends: the planner refuses it.
    template <int Count>
    constexpr schedule(computation<Count> const&&, machine const&) : temporary_("computation") {}
    /// Likewise, with such a machine.
    template <int Count>
    constexpr schedule(computation<Count> const&&, machine const&&) : temporary_("computation") {}
    /// A machine that is gone when the statement ends: the planner refuses it.
    template <class Computation>
    constexpr schedule(Computation const&, machine const&&) : temporary_("machine") {}
    /// Refused, with what a schedule takes.
    template <bool expected = false>
    constexpr explicit schedule(...) : temporary_(ir::wrong_call) {
        static_assert(expected, "schedule takes a computation, and then a machine: schedule(matmul, npu)");
    }
    /// Refused: directives follow the first one.
    template <bool expected = false>
    constexpr schedule(schedule const&, machine const&) : temporary_(ir::wrong_call) {
        static_assert(expected, "schedule takes a computation: of another schedule, make a copy, and let directives follow");
    }
    // What each of them says to other arguments.
    using wrong_calls::stage, wrong_calls::split, wrong_calls::tile, wrong_calls::fuse, wrong_calls::reorder, wrong_calls::unroll,
        wrong_calls::vectorize, wrong_calls::parallel, wrong_calls::distribute, wrong_calls::compute_at, wrong_calls::on,
        wrong_calls::store_in, wrong_calls::reads, wrong_calls::writes, wrong_calls::cache_read, wrong_calls::cache_write, wrong_calls::at,
        wrong_calls::by, wrong_calls::buffers, wrong_calls::double_buffer, wrong_calls::prefetch, wrong_calls::in_bank, wrong_calls::layout,
        wrong_calls::tensorize;

    /// Directs the following directives to the stage that computes `output`; without it, to the last stage.
    constexpr schedule& stage(at_line<any_tensor> output) { return log(directive_kind::stage, output.line, {}, output.given.name); }
    /// loop `parent` of extent n -> `outer` of n / factor, around `inner` of factor. Where the factor does not divide n, there is one more
    /// iteration of `outer`, and the last tile is partial.
    /// @param factor  iterations of `inner`, at least 1 (invalid_number)
    ///
    /// Checked: the current stage has the loop (unknown_axis), the new names are free (axis_used_twice), it is not unrolled or vectorized
    /// yet (conflicting_directives), and tensorize has not taken it (misplaced_directive).
    constexpr schedule& split(loop_name parent, loop_name outer, loop_name inner, whole_number factor) {
        return log(directive_kind::split, parent.line, {factor.value}, parent.name, outer.name, inner.name);
    }
    /// Splits two loops and puts the outer parts around the inner ones: a, b -> a_outer, b_outer, a_inner, b_inner.
    /// @param a_factor  iterations of `a_inner`, at least 1; `b_factor` likewise
    ///
    /// Checked: as for `split`, twice.
    constexpr schedule& tile(loop_name a, loop_name b, loop_name a_outer, loop_name b_outer, loop_name a_inner, loop_name b_inner,
                             whole_number a_factor, whole_number b_factor) {
        return log(directive_kind::tile, a.line, {a_factor.value, b_factor.value}, a.name, b.name, a_outer.name, b_outer.name, a_inner.name,
                   b_inner.name);
    }
    /// `outer` directly around `inner` -> one loop `fused` over both, of the product of their extents.
    ///
    /// Checked: they stand so, and both are reduced or none is (loop_order); none is unrolled or vectorized (conflicting_directives).
    constexpr schedule& fuse(loop_name outer, loop_name inner, loop_name fused) {
        return log(directive_kind::fuse, outer.line, {}, outer.name, inner.name, fused.name);
    }
    /// Permutes the named loops among the places that they hold; outermost first. Other loops stay where they are.
    ///
    /// Checked: no loop is named twice (axis_used_twice), and tensorize has taken none (misplaced_directive).
    template <class... Loops>
        requires(detail::converts_to<Loops, loop_name>&&...)
    constexpr schedule& reorder(loop_name outermost, Loops const&... inward) {
        return log(directive_kind::reorder, outermost.line, {}, outermost.name, loop_name(inward).name...);
    }
    /// Writes the iterations of `loop` out; with a factor, of an inner loop of that extent, `loop.copies` inside `loop.outer`.
    /// @param factor  at least 1 (invalid_number)
    ///
    /// Checked: it is not unrolled or vectorized yet (conflicting_directives).
    constexpr schedule& unroll(loop_name loop, whole_number factor = whole_loop) {
        return log(directive_kind::unroll, loop.line, {factor.value}, loop.name);
    }
    /// Computes the iterations of `loop` as one vector; with a factor, of an inner loop of that extent, `loop.lanes` inside `loop.outer`.
    /// @param factor  lanes, at least 1 (invalid_number)
    ///
    /// Checked: nothing is staged or computed at the loop or inside it, and no sum of floats runs over it (loop_order).
    constexpr schedule& vectorize(loop_name loop, whole_number factor = whole_loop) {
        return log(directive_kind::vectorize, loop.line, {factor.value}, loop.name);
    }
    /// Runs the iterations of `loop` on several threads, each with buffers of its own for what is made inside.
    ///
    /// Checked: the loop is not reduced, no loop around it is parallel, and the core copies and computes inside (loop_order); at most 16
    /// iterations where a buffer is made inside (capacity_of_representation).
    constexpr schedule& parallel(loop_name loop) { return log(directive_kind::parallel, loop.line, {whole_loop}, loop.name); }
    /// Shares the iterations of `loop` among cores: each takes as many that follow each other, the last ones fewer. The loop stands inside
    /// a loop over the cores, `loop.core`, of which each core runs one iteration, side by side. What stands outside runs on core 0.
    /// @param count  the first so many of this kind; without it, all that there are
    constexpr schedule& distribute(loop_name loop, core const& among, whole_number count = whole_loop) {
        return log(directive_kind::distribute, loop.line, {count.value}, loop.name, among.name);
    }
    /// Likewise among all cores of several kinds, which follow each other in the machine.
    template <detail::one_of<core>... More>
    constexpr schedule& distribute(loop_name loop, core const& first, core const& second, More const&... more) {
        return log(directive_kind::distribute, loop.line, {whole_loop}, loop.name, first.name, second.name, more.name...);
    }
    /// Computes the stage `producer` inside `loop` of its consumer, as much as one iteration needs.
    constexpr schedule& compute_at(any_tensor const& producer, loop_name loop) {
        return log(directive_kind::compute_at, loop.line, {}, producer.name, loop.name);
    }
    /// The current stage, and the transfers of its buffers, run on the core of this number of its kind; others run on core 0. Cores tell
    /// each other by signals when data is there, and when its place is free. With versions of what is between them,
    /// `store_in(…).buffers(2)`, they work side by side.
    constexpr schedule& on(at_line<core> kind, whole_number number) {
        return log(directive_kind::on, kind.line, {number.value}, kind.given.name);
    }
    /// Keeps what a stage computes in `where`. The result of the last stage then is a buffer of the plan, not an argument.
    constexpr schedule& store_in(at_line<any_tensor> output, memory const& where) {
        return log(directive_kind::store_in, output.line, {}, output.given.name, where.name);
    }
    /// The caller keeps the argument `input` in `where`; if there are several memories, in the first, unless a program chooses another one.
    /// Without this, arguments are in the machine's first memory.
    constexpr schedule& reads(at_line<any_tensor> input, any_of const& where) {
        return log_memories(directive_kind::reads, input.given.name, where, input.line);
    }
    /// Likewise, the result of the last stage, where the caller has room for it.
    constexpr schedule& writes(at_line<any_tensor> output, any_of const& where) {
        return log_memories(directive_kind::writes, output.given.name, where, output.line);
    }
    /// Stages what the current stage reads of `input` in `where`: once, or at the loop that `at` names. The buffer is the box of all
    /// elements that one iteration reads.
    ///
    /// Checked: the stage reads the tensor (unknown_tensor), the box has one size (box_not_constant), the buffers fit (memory_overflow),
    /// and one transfer leads there, or `by` names it (no_transfer, several_transfers), which can express the region (transfer_region).
    constexpr schedule& cache_read(at_line<any_tensor> input, memory const& where) {
        return log(directive_kind::cache_read, input.line, {}, input.given.name, where.name);
    }
    /// Computes `output` of the current stage in `where` and moves it to where it lives: once, or at the loop that `at` names.
    ///
    /// Checked: as for `cache_read`, and an iteration computes every element of its box. The loop that `at` names stands outside of all
    /// reduced ones, unless both transfers block (loop_order).
    constexpr schedule& cache_write(at_line<any_tensor> output, memory const& where) {
        return log(directive_kind::cache_write, output.line, {}, output.given.name, where.name);
    }
    /// For the cache_read or cache_write before it: the buffer is for one iteration of `loop`.
    ///
    /// Checked: the stage has the loop (unknown_axis), which is neither vectorized nor tensorized (loop_order); it is said once
    /// (conflicting_directives).
    constexpr schedule& at(loop_name loop) { return log(directive_kind::at, loop.line, {}, loop.name); }
    /// For the cache_read, cache_write, store_in or writes before it: this transfer moves it. Without it, the machine must have just one
    /// that can.
    constexpr schedule& by(at_line<transfer_description> mover) { return log(directive_kind::by, mover.line, {}, mover.given.name); }
    /// For the cache_read or cache_write before it, or the store_in of a stage on another core: `versions` copies of the buffer, so that
    /// asynchronous transfers of other iterations overlap with what uses it. The version is a leading dimension: iteration t uses version t
    /// % versions.
    constexpr schedule& buffers(whole_number versions) { return log(directive_kind::buffers, versions.line, {versions.value}); }
    /// `buffers(2)`
    constexpr schedule& double_buffer(caller_line line = caller_line(__builtin_LINE())) { return buffers({2, line.number}); }
    /// For the cache_read before it: a load is started `distance` iterations ahead of its use. Without it, versions - 1.
    constexpr schedule& prefetch(whole_number distance) { return log(directive_kind::prefetch, distance.line, {distance.value}); }
    /// For a copy by the core that asks for lines ahead: each iteration of `asking`, a loop inside the buffer's loop, asks for its share.
    constexpr schedule& prefetch(whole_number distance, loop_name asking) {
        return log(directive_kind::prefetch, asking.line, {distance.value}, asking.name);
    }
    /// For the cache_read, cache_write or store_in before it: version 0 of the buffer lies in this bank of its memory.
    constexpr schedule& in_bank(whole_number bank) { return log(directive_kind::in_bank, bank.line, {bank.value}); }
    /// For the cache_read, cache_write or store_in before it: where the elements of its box are. `map` takes a coordinate for each
    /// dimension of the tensor and returns those of the buffer, outermost first: `.layout([](auto i, auto j) { return index_map(i / 6, j, i
    /// % 6); })`. The coordinates before `separator` say in which block of the memory an element is.
    constexpr schedule& layout(layout_map const& map) {
        if (map.list.arguments < 0) return leave();
        if (layout_count_ < most_layouts) layouts_[layout_count_] = map.list;
        return log(directive_kind::layout, map.line, {layout_count_++});
    }
    /// Replaces the named innermost loops by steps of the intrinsic: `tensorize(mi, ni, ki, mac16)`. They are named outermost first, one
    /// for each axis of the intrinsic.
    ///
    /// Checked: they are innermost (loop_order), the stage computes what the intrinsic does (intrinsic_operation, intrinsic_mismatch), and
    /// every operand is in the memory that the intrinsic wants (operand_memory). A reduction needs a first form (missing_first_form).
    template <class... Rest>
        requires(detail::loops_and_intrinsic<Rest...>())
    constexpr schedule& tensorize(loop_name outermost, Rest const&... inward_and_intrinsic) {
        return log(directive_kind::tensorize, outermost.line, {}, outermost.name, name_in(inward_and_intrinsic)...);
    }

    /// The computation.
    constexpr computation_view what() const { return computation_; }
    /// The machine.
    constexpr machine const& where() const { return *machine_; }
    /// What was given as a temporary, or `ir::wrong_call`; empty: nothing. With a temporary, there is no computation, and the machine has
    /// no parts.
    constexpr ir::label const& temporary() const { return temporary_; }
    /// How many directives were written; more than `most_directives` are not kept, and the planner refuses them.
    constexpr int directive_count() const { return directive_count_; }
    /// How many names all directives have together; more than `most_names` are not kept, and the planner refuses them.
    constexpr int name_count() const { return name_count_; }
    /// How many layouts were written; more than `most_layouts` are not kept, and the planner refuses them.
    constexpr int layout_count() const { return layout_count_; }
    /// The map of a layout, by its number from 0 on.
    constexpr index_map_list const& layout_at(int position) const { return layouts_[position]; }
    /// A directive, by its number from 0 on.
    constexpr directive const& directive_at(int position) const { return directives_.elements[position]; }
    /// A name of a directive, by its number in that directive from 0 on.
    constexpr ir::label const& name_at(directive const& of, int position) const { return names_.elements[of.first_name + position]; }

    /// The same schedule with an argument in this memory, whatever the schedule says of that argument.
    constexpr schedule with_argument_in(directive_kind direction, ir::label const& tensor, ir::label const& memory_name) const {
        schedule changed = *this;
        for (int at = 0; at < directive_count_ && at < most_directives; ++at) {
            directive& d = changed.directives_[at];
            if (d.kind != direction || name_at(d, 0) != tensor) continue;
            changed.names_[d.first_name + 1] = memory_name;
            d.name_count = 2;
            return changed;
        }
        changed.log(direction, 0, {}, tensor, memory_name);
        return changed;
    }

  private:
    computation_view computation_{};
    machine const* machine_ = &detail::no_machine;
    ir::label temporary_{};
    fixed_array<directive, most_directives> directives_{};
    fixed_array<ir::label, most_names> names_{};
    int directive_count_ = 0;
    fixed_array<index_map_list, most_layouts> layouts_{};
    int layout_count_ = 0;
    int name_count_ = 0;
};

}  // namespace tilewright
