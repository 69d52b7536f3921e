#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <tilewright/compute/stage.hpp>
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/emulate/arithmetic.hpp>
#include <tilewright/emulate/known_machine.hpp>
#include <tilewright/machine/machine.hpp>
#include <tilewright/plan/place/machine_check.hpp>
#include <type_traits>
#include <utility>

// By default, gcc merges a multiplication with the addition after it where the processor can, and rounds once where two operations do.
#if defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_ROUNDS_EACH [[gnu::optimize("fp-contract=off")]]
#else
#define TILEWRIGHT_ROUNDS_EACH
#endif

// What transfers and intrinsics declare to compute, compiled: the nodes of their semantics become C++ expressions.
namespace tilewright {

/// Moves one row: `count` elements from `source` to `destination`, both contiguous.
using transfer_function = void (*)(void* destination, void const* source, std::int64_t count);
/// Carries out one call of an intrinsic. `addresses` in the order of its operands; `strides[operand * max_rank + dimension]` in elements;
/// `extents` of its axes; they matter for axes of which a call may cover less.
using intrinsic_function = void (*)(void* const* addresses, std::int64_t const* strides, std::int64_t const* extents);

/// The compiled semantics of a machine's parts, in their order. A copy has no transfer function.
struct semantics_table {
    fixed_array<transfer_function, 12> transfers{};
    fixed_array<std::int32_t, 12> source_bytes{};  ///< of an element; 0: of whatever is copied, or a fill
    fixed_array<std::int32_t, 12> destination_bytes{};
    fixed_array<intrinsic_function, 16> intrinsics{};
};

namespace detail {

/// The semantics of one part of a machine, read once.
template <auto const& Machine, semantics_range const& Range>
struct part_semantics {
    static constexpr computation_view view = Machine.view(Range);
    static constexpr stage whole = [] {
        stage s;
        if (view.count > 0) read_stage(view, 0, s);
        return s;
    }();
};

/// The operations below a node that several others use: each is carried out once.
template <class Part, int Root>
struct shared_nodes {
    struct list {
        fixed_array<std::int16_t, max_semantics> nodes{};
        int count = 0;
    };
    static constexpr list all = [] {
        fixed_array<int, max_semantics> uses{};
        uses[Root] = 1;
        for (int at = Root; at >= 0; --at) {
            node const& n = Part::view[at];
            if (uses[at] == 0 || n.op == operation::access || n.op == operation::constant) continue;
            for (int argument = 0; argument < n.argument_count; ++argument) ++uses[n.argument(argument)];
        }
        list found;
        for (int at = 0; at < Root; ++at) {
            bool const computes = Part::view[at].op != operation::access && Part::view[at].argument_count > 0;
            if (uses[at] > 1 && computes && Part::view[at].op != operation::constant)
                found.nodes[found.count++] = static_cast<std::int16_t>(at);
        }
        return found;
    }();
    static constexpr int find(int node) {
        int at = 0;
        while (at < all.count && all.nodes[at] != node) ++at;
        return at;
    }
};
/// Their values, as the bits of each.
template <class Part, int Root>
struct shared_values {
    using shared = shared_nodes<Part, Root>;
    std::uint64_t bits[shared::all.count + 1];

    template <class T>
    [[gnu::always_inline]] void put(int at, T value) {
        std::memcpy(&bits[at], &value, sizeof value);
    }
    template <class T>
    [[gnu::always_inline]] T get(int at) const {
        T value;
        std::memcpy(&value, &bits[at], sizeof value);
        return value;
    }
};

/// Evaluates node `At`, a value; `load(node)` gives the value of an access.
/// @tparam Again  it is computed, even if it is among those that are known
template <class Part, int At, bool Again = false, class Load, class Shared>
[[gnu::always_inline]] inline auto evaluate_part(std::int64_t const* axes, Load const& load, Shared const& known) {
    constexpr node n = Part::view[At];
    using T = typename scalar<n.type>::type;
    if constexpr (constexpr int place = Shared::shared::find(At); !Again && place < Shared::shared::all.count) {
        return known.template get<T>(place);
    } else if constexpr (n.op == operation::constant) {
        if constexpr (std::is_floating_point_v<T>) return static_cast<T>(std::bit_cast<double>(n.value));
        else if constexpr (is_half(n.type)) return std::bit_cast<T>(static_cast<std::uint16_t>(n.value));
        else return static_cast<T>(n.value);
    } else if constexpr (n.op == operation::axis_value) {
        return static_cast<T>(axes[Part::whole.find(n.name)]);
    } else if constexpr (n.op == operation::access) {
        return load.template operator()<At>(axes);
    } else if constexpr (n.op == operation::cast) {
        return convert<T>(evaluate_part<Part, n.arguments[0]>(axes, load, known));
    } else if constexpr (n.op == operation::reinterpret) {
        return std::bit_cast<T>(evaluate_part<Part, n.arguments[0]>(axes, load, known));
    } else if constexpr (n.op == operation::logical_not) {
        return !evaluate_part<Part, n.arguments[0]>(axes, load, known);
    } else if constexpr (n.op == operation::select) {
        return evaluate_part<Part, n.arguments[0]>(axes, load, known) ? evaluate_part<Part, n.arguments[1]>(axes, load, known)
                                                                      : evaluate_part<Part, n.arguments[2]>(axes, load, known);
    } else {
        auto const a = evaluate_part<Part, n.arguments[0]>(axes, load, known);
        auto const b = evaluate_part<Part, n.arguments[1]>(axes, load, known);
        using enum operation;
        if constexpr (n.op == add) return static_cast<T>(widened(a) + widened(b));
        else if constexpr (n.op == subtract) return static_cast<T>(widened(a) - widened(b));
        else if constexpr (n.op == multiply) return static_cast<T>(widened(a) * widened(b));
        else if constexpr (n.op == divide) return detail::divide(a, b);
        else if constexpr (n.op == modulo) return detail::modulo(a, b);
        else if constexpr (n.op == minimum) return b < a ? b : a;
        else if constexpr (n.op == maximum) return a < b ? b : a;
        else if constexpr (n.op == equal) return a == b;
        else if constexpr (n.op == not_equal) return a != b;
        else if constexpr (n.op == less) return a < b;
        else if constexpr (n.op == less_equal) return a <= b;
        else if constexpr (n.op == logical_and) return a && b;
        else if constexpr (n.op == logical_or) return a || b;
        else return detail::shift(a, b, n.op == shift_left);
    }
}

/// Likewise for node `Root`: first the shared nodes below it, in their order.
template <class Part, int Root, class Load>
[[gnu::always_inline]] inline auto evaluate(std::int64_t const* axes, Load const& load) {
    using shared = shared_nodes<Part, Root>;
    shared_values<Part, Root> known;
    [&]<int... Which>(std::integer_sequence<int, Which...>) {
        (known.put(Which, evaluate_part<Part, shared::all.nodes[Which], true>(axes, load, known)), ...);
    }
    (std::make_integer_sequence<int, shared::all.count>{});
    return evaluate_part<Part, Root, true>(axes, load, known);
}

template <auto const& Machine, int Which>
struct intrinsic_semantics {
    static constexpr intrinsic_description what = Machine.intrinsics[Which];
    static constexpr semantics_range range = what.semantics;
    using part = part_semantics<Machine, range>;
    static constexpr stage whole = part::whole;
    using value_type = typename scalar<whole.type>::type;

    // Axes in the order in which loops run: the target's last one innermost, where memory is contiguous; a reduction's order is kept.
    static constexpr auto order = [] {
        fixed_array<int, stage::most_axes> loops{};
        int count = 0;
        for (int axis = 0; axis + 1 < whole.rank; ++axis) loops[count++] = axis;
        for (int axis = whole.rank; axis < whole.axis_count; ++axis) loops[count++] = axis;
        if (whole.rank > 0) loops[count++] = whole.rank - 1;
        return loops;
    }();

    template <int Node>
    [[gnu::always_inline]] static std::int64_t offset(std::int64_t const* strides, std::int64_t const* axes) {
        constexpr int operand = what.find(part::view[Node].name);
        constexpr int rank = part::view[Node].argument_count;
        std::int64_t at = 0;
        [&]<std::size_t... D>(std::index_sequence<D...>) {
            ((at += along<Node, static_cast<int>(D)>(axes) * (D + 1 == rank ? 1 : strides[operand * max_rank + static_cast<int>(D)])), ...);
        }
        (std::make_index_sequence<static_cast<std::size_t>(rank)>{});
        return at;
    }
    template <int Node, int Dimension>
    [[gnu::always_inline]] static std::int64_t along(std::int64_t const* axes) {
        constexpr stage_index index = index_of(part::view, whole, Node, Dimension);
        std::int64_t at = index.constant;
        [&]<std::size_t... A>(std::index_sequence<A...>) {
            ((index.coefficients[A] != 0 ? static_cast<void>(at += index.coefficients[A] * axes[A]) : static_cast<void>(0)), ...);
        }
        (std::make_index_sequence<static_cast<std::size_t>(whole.axis_count)>{});
        return at;
    }

    template <int Loop, int Loops, bool Reductions, class Body>
    [[gnu::always_inline]] static void run(std::int64_t* axes, std::int64_t const* extents, Body const& body) {
        if constexpr (Loop == Loops) body(axes);
        else {
            constexpr int axis = order[Loop];
            if constexpr (!Reductions && whole.axes[axis].reduction) run<Loop + 1, Loops, Reductions>(axes, extents, body);
            else {
                std::int64_t const extent = what.is_flexible(axis) ? extents[axis] : whole.axes[axis].extent;
                if constexpr (Loop + 1 == Loops) {
                    // Compilers are told that iterations do not touch each other's memory. A reduced axis would break that promise.
                    static_assert(axis < whole.rank);
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
                    for (std::int64_t i = 0; i < extent; ++i) {
                        axes[axis] = i;
                        run<Loop + 1, Loops, Reductions>(axes, extents, body);
                    }
                } else {
                    for (std::int64_t i = 0; i < extent; ++i) {
                        axes[axis] = i;
                        run<Loop + 1, Loops, Reductions>(axes, extents, body);
                    }
                }
            }
        }
    }

    /// Loops over the reduced axes alone.
    template <int Axis, class Body>
    [[gnu::always_inline]] static void run_reduced(std::int64_t* axes, std::int64_t const* extents, Body const& body) {
        if constexpr (Axis == whole.axis_count) body(axes);
        else {
            std::int64_t const extent = what.is_flexible(Axis) ? extents[Axis] : whole.axes[Axis].extent;
            for (std::int64_t i = 0; i < extent; ++i) {
                axes[Axis] = i;
                run_reduced<Axis + 1>(axes, extents, body);
            }
        }
    }
    /// Whether the reduction reads the operand that the result overwrites.
    static constexpr bool reduces_what_it_overwrites = [] {
        constexpr int tied = what.find_in_place();
        bool reads = false;
        for (int at = whole.first; at < whole.store && tied >= 0 && whole.reduces(); ++at) {
            node const& n = part::view[at];
            reads |= n.op == operation::access && n.name == what.operands[tied].tensor && !whole.is_in_start(at);
        }
        return reads;
    }();

    /// Whether each element is complete before it is written. A single one is: no loop over elements could be the innermost one.
    static constexpr bool completes_each = whole.reduces() && (whole.rank == 0 || reduces_what_it_overwrites);

    TILEWRIGHT_ROUNDS_EACH static void carry_out(void* const* addresses, std::int64_t const* strides,
                                                 [[maybe_unused]] std::int64_t const* extents) {
        std::int64_t axes[stage::most_axes] = {};
        constexpr int target_operand = what.find(whole.output);
        auto* const target = static_cast<value_type*>(addresses[target_operand]);
        auto const load = [&]<int Node>(std::int64_t const* at) {
            using T = typename scalar<part::view[Node].type>::type;
            constexpr int operand = what.find(part::view[Node].name);
            return static_cast<T const*>(addresses[operand])[offset<Node>(strides, at)];
        };
        constexpr bool continues = whole.continues || what.operands[target_operand].is == direction::updates;
        auto const begin = [&](std::int64_t const* at) -> value_type {
            if constexpr (continues) return target[offset<whole.target>(strides, at)];
            else if constexpr (whole.start >= 0) return evaluate<part, whole.start>(at, load);
            else return identity();
        };
        auto const accumulate = [&](value_type& into, std::int64_t const* at) {
            value_type const value = evaluate<part, whole.body>(at, load);
            if constexpr (whole.reduction == operation::reduce_sum) into = static_cast<value_type>(widened(into) + widened(value));
            else if constexpr (whole.reduction == operation::reduce_maximum) into = into < value ? value : into;
            else into = value < into ? value : into;
        };
        if constexpr (completes_each) {
            run<0, whole.axis_count, false>(axes, extents, [&](std::int64_t* at) {
                value_type made = begin(at);
                run_reduced<whole.rank>(at, extents, [&](std::int64_t const* inside) { accumulate(made, inside); });
                target[offset<whole.target>(strides, at)] = made;
            });
        } else if constexpr (whole.reduces()) {
            if constexpr (!continues) {
                run<0, whole.axis_count, false>(axes, extents,
                                                [&](std::int64_t const* at) { target[offset<whole.target>(strides, at)] = begin(at); });
            }
            run<0, whole.axis_count, true>(axes, extents,
                                           [&](std::int64_t const* at) { accumulate(target[offset<whole.target>(strides, at)], at); });
        } else {
            run<0, whole.axis_count, true>(axes, extents, [&](std::int64_t const* at) {
                target[offset<whole.target>(strides, at)] = evaluate<part, whole.body>(at, load);
            });
        }
    }
    static value_type identity() {
        using limits = std::numeric_limits<value_type>;
        if constexpr (whole.reduction == operation::reduce_sum) return value_type{};
        else if constexpr (whole.reduction == operation::reduce_maximum)
            return limits::has_infinity ? -limits::infinity() : limits::lowest();
        else return limits::has_infinity ? limits::infinity() : limits::max();
    }
};

template <auto const& Machine, int Which>
struct transfer_semantics {
    static constexpr semantics_range range = Machine.transfers[Which].semantics;
    using part = part_semantics<Machine, range>;
    static constexpr stage whole = part::whole;
    using value_type = typename scalar<whole.type>::type;
    static constexpr int source_node = [] {
        for (int at = 0; at < range.count; ++at) {
            if (part::view[at].op == operation::access && at != whole.target) return at;
        }
        return -1;
    }();

    TILEWRIGHT_ROUNDS_EACH static void carry_out(void* destination, void const* source, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            auto const load = [&]<int Node>(std::int64_t const*) {
                return static_cast<typename scalar<part::view[Node].type>::type const*>(source)[i];
            };
            static_cast<value_type*>(destination)[i] = evaluate<part, whole.body>(nullptr, load);
        }
    }
};

/// Parts that the planner would refuse cannot be compiled.
template <auto const& Machine>
struct compiled {
    static constexpr verdict refusal = reading_of<Machine>.refusal;
};
/// Of anything else, an assertion says what is wrong.
template <auto const& Given>
    requires(!is_known_machine<Given>)
struct compiled<Given> {
    static constexpr verdict refusal{.kind = verdict_kind::reported};
};

template <auto const& Machine>
    requires(static_cast<bool>(compiled<Machine>::refusal))
consteval semantics_table make_semantics() {
    static_assert(is_machine<Machine>, "semantics are those of a machine: semantics_of<npu>");
    static_assert(!is_machine<Machine> || is_known_machine<Machine>, TILEWRIGHT_NO_CONSTANT);
    return {};
}
template <auto const& Machine>
    requires(!compiled<Machine>::refusal)
consteval semantics_table make_semantics() {
    semantics_table table;
    [&]<std::size_t... T>(std::index_sequence<T...>) {
        (
            [&] {
                if constexpr (Machine.transfers[static_cast<int>(T)].semantics.count > 0) {
                    using semantics = transfer_semantics<Machine, static_cast<int>(T)>;
                    table.transfers[T] = &semantics::carry_out;
                    if constexpr (semantics::source_node >= 0)
                        table.source_bytes[T] = bytes_of(semantics::part::view[semantics::source_node].type);
                    table.destination_bytes[T] = bytes_of(semantics::whole.type);
                }
            }(),
            ...);
    }
    (std::make_index_sequence<Machine.transfers.size()>{});
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((table.intrinsics[I] = &intrinsic_semantics<Machine, static_cast<int>(I)>::carry_out), ...);
    }
    (std::make_index_sequence<Machine.intrinsics.size()>{});
    return table;
}

}  // namespace detail

// Compilers repeat a line of this with every refusal, so it is short.
// clang-format off
/// The compiled semantics of a constexpr machine. Its first use refuses a machine that no plan can be made for.
template <auto const& Machine>
inline constexpr semantics_table semantics_of = (
    judge<detail::compiled<Machine>>(),
    detail::make_semantics<Machine>());
// clang-format on

namespace detail {
/// What the machine of each agent of a program does.
template <auto const& Program, std::size_t... Agent>
constexpr std::array<semantics_table const*, sizeof...(Agent)> semantics_of_agents(std::index_sequence<Agent...>) {
    return {&semantics_of<*Program.agents[Agent].where>...};
}
}  // namespace detail

}  // namespace tilewright

#undef TILEWRIGHT_ROUNDS_EACH
