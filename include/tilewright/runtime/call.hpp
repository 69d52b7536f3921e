#pragma once
#include <HalideRuntime.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <tilewright/runtime/call_mistake.hpp>
#include <tilewright/runtime/call_result.hpp>

// The message of the assertion in `call`. From 19 on, clang prints a text that the compiler has put together.
#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
#define TILEWRIGHT_WRONG_CALL shown()
#else
#define TILEWRIGHT_WRONG_CALL "wrong call: pass what the header of the kernel lists, in its order"
#endif
#define TILEWRIGHT_CALL_OF_SCHEDULE "call is of a schedule: call<on_npu>(npu_matmul, a, b, c)"
#define TILEWRIGHT_CALL_OF_C_SOURCE "call is for kernels made by Halide: call the C function of C_SOURCE itself, as its header lists"

namespace tilewright {

/// Says to which element of a tensor a pointer points: `call<smooth>(npu_smooth, points_to(in, 0), out)`, if the kernel reads from `in[-1]`
/// on.
/// @param index  one number for each dimension: an element that the kernel uses
template <class Element, std::convertible_to<std::int64_t>... Index>
constexpr pointer_to_element<Element, static_cast<int>(sizeof...(Index))> points_to(Element* pointer, Index... index) {
    static_assert(sizeof...(Index) <= max_rank, "a tensor has at most 6 dimensions");
    return {pointer, {static_cast<std::int64_t>(index)...}};
}

namespace detail {

/// How many arguments a C function takes; -1: any number
template <class Function>
inline constexpr int parameters_of = -1;
template <class Result, class... Parameters>
inline constexpr int parameters_of<Result(Parameters...)> = static_cast<int>(sizeof...(Parameters));

/// Whether a C function takes what kernels made by Halide take.
template <class Function>
inline constexpr bool takes_buffers = true;
template <class Result, class... Parameters>
inline constexpr bool takes_buffers<Result(Parameters...)> = one_of<halide_buffer_t*, Parameters...>;

template <class... Given>
inline constexpr bool are_schedules = (one_of<Given, schedule const&> && ...);

template <class Operand>
inline constexpr bool is_span = false;
template <class Element, std::size_t Extent>
inline constexpr bool is_span<std::span<Element, Extent>> = true;

/// "0, 1"
inline std::string joined_text(fixed_array<std::int64_t, max_rank> const& numbers, int count, char const* between) {
    std::string text;
    for (int at = 0; at < count; ++at) text += (at > 0 ? between : "") + std::to_string(numbers[at]);
    return text;
}

/// What is wrong with a tensor, of a pointer to an element that is not its first one.
/// @param b  what the kernel uses of it
template <class Element, int Rank>
call_result mistake_in(buffer const& b, int position, pointer_to_element<Element, Rank> const& given) {
    bool inside = true;
    for (int d = 0; d < given.rank; ++d) inside = inside && given.index[d] >= b.minimum[d] && given.index[d] < b.minimum[d] + b.extents[d];
    if (!inside) {
        std::string const index = joined_text(given.index, given.rank, ", ");
        return refuse_argument(TILEWRIGHT_WRONG_EXTENT, position, use_text(b) + "the pointer is to [" + index + "]");
    }
    if (given.pointer == nullptr) return refuse_argument(TILEWRIGHT_NULL_HOST, position, "`" + b.tensor.str() + "` is null");
    return {};
}
template <class Element, std::size_t Extent>
call_result mistake_in(buffer const& b, int position, std::span<Element, Extent> given) {
    std::int64_t elements = 1;
    for (int d = 0; d < b.rank; ++d) elements *= b.extents[d];
    if (static_cast<std::int64_t>(given.size()) == elements) return {};
    return refuse_argument(TILEWRIGHT_WRONG_EXTENT, position, use_text(b) + std::to_string(given.size()) + " are given");
}
template <class Element>
call_result mistake_in(buffer const&, int, Element*) {
    return {};
}
template <class Element, int Rank>
call_result mistake_in(buffer const& b, int position, strided_elements<Element, Rank> const& given) {
    bool same = true;
    for (int d = 0; d < Rank; ++d) same = same && given.extents[d] == b.extents[d];
    if (!same) {
        std::string const extents = joined_text(given.extents, Rank, " x ");
        return refuse_argument(TILEWRIGHT_WRONG_EXTENT, position, use_text(b) + extents + " are given");
    }
    for (int d = 0; d < Rank; ++d) {
        std::int64_t const least = b.written && b.extents[d] > 1 ? 1 : INT32_MIN;  // elements of a result do not lie on each other
        if (given.strides[d] > INT32_MAX || given.strides[d] < least) {
            return refuse_argument(TILEWRIGHT_WRONG_STRIDE, position,
                                   "`" + b.tensor.str() + "` has a stride of " + std::to_string(given.strides[d]) + " elements");
        }
    }
    return {};
}

/// The first element that a kernel uses.
/// @pre `mistake_in` finds nothing
template <class Element, int Rank>
Element* first_of(buffer const& b, pointer_to_element<Element, Rank> const& given) {
    std::int64_t steps = 0;
    for (int d = 0; d < given.rank; ++d) steps += (given.index[d] - b.minimum[d]) * b.stride(d);
    return given.pointer - steps;
}
template <class Element, std::size_t Extent>
Element* first_of(buffer const&, std::span<Element, Extent> given) {
    return given.data();
}
template <class Element>
Element* first_of(buffer const&, Element* given) {
    return given;
}
template <class Element, int Rank>
Element* first_of(buffer const&, strided_elements<Element, Rank> const& given) {
    return given.first;
}

/// A tensor as the generated function takes it: dense, or with the strides of a view.
struct tensor_argument {
    struct dense {};

    fixed_array<halide_dimension_t, max_rank> dimensions{};
    halide_buffer_t whole{};

    template <class Given = dense>
    tensor_argument(buffer const& b, void* first, [[maybe_unused]] Given const& given = {}) {
        for (int d = 0; d < b.rank; ++d) {
            std::int64_t stride = b.stride(d);
            if constexpr (requires { given.strides; }) stride = given.strides[d];
            dimensions[b.rank - 1 - d] = {static_cast<std::int32_t>(b.minimum[d]), static_cast<std::int32_t>(b.extents[d]),
                                          static_cast<std::int32_t>(stride), 0};
        }
        whole.host = static_cast<std::uint8_t*>(first);
        whole.type = visit_scalar(b.type, []<class T>(T) { return halide_type_of<T>(); });
        whole.dimensions = b.rank;
        whole.dim = dimensions.elements;
    }
    tensor_argument(tensor_argument const&) = delete;
    operator halide_buffer_t*() { return &whole; }
};

/// The bytes that a kernel needs of a memory whose address it is given, by its place among them.
template <auto const& Plan, int Pool>
inline constexpr std::int64_t bytes_of_pool = Plan.peak(Plan.where->memories[arguments_of(Plan).pools[Pool]]);

/// What an argument of a call stands for.
/// @tparam Pools  addresses of memories that the caller gives, after the scalar parameters
template <auto const& Plan, int Position, int Pools>
struct passed_as {
    static constexpr argument_list list = arguments_of(Plan);
    static constexpr int pool = Position - list.input_count - list.parameter_count;
    static constexpr bool is_parameter = Position >= list.input_count && pool < 0;
    static constexpr bool is_pool = pool >= 0 && pool < Pools;
    static constexpr int tensor = Position < list.input_count ? Position : Position - list.parameter_count - Pools;

    /// Of a tensor: what the kernel uses of it at these extents.
    static bool size(open_extents const& numbers, buffer& b) {
        static constexpr buffer planned = Plan.buffers[list.tensors[tensor]];  // a copy: programs need not hold the plan
        b = planned;
        if constexpr (Plan.run_time_extents > 0) return size_argument(Plan, list.tensors[tensor], numbers, b);
        return true;
    }
};

/// What is wrong with an argument, as far as the caller's sizes tell: the kernel's entry asks about the rest.
/// @tparam Others  schedules that the function may run instead
template <auto const& Plan, int Position, int Pools, schedule const&... Others, class Operand>
call_result mistake_of_argument(Operand const& given, [[maybe_unused]] open_extents const& numbers) {
    using as = passed_as<Plan, Position, Pools>;
    if constexpr (as::is_pool && is_span<Operand>) {
        static constexpr label name = Plan.where->memories[as::list.pools[as::pool]].name;
        constexpr std::int64_t needed = std::max({bytes_of_pool<Plan, as::pool>, bytes_of_pool<plan<Others>, as::pool>...});
        auto const bytes = static_cast<std::int64_t>(given.size_bytes());
        if (bytes >= needed) return {};
        return refuse_argument(
            TILEWRIGHT_WRONG_EXTENT, as::list.tensor_count + as::pool,
            "memory `" + name.str() + "` has only " + std::to_string(bytes) + " of " + std::to_string(needed) + " bytes");
    } else if constexpr (as::is_pool || as::is_parameter) {
        return {};
    } else {
        buffer b;
        if (!as::size(numbers, b)) {
            return refuse_argument(TILEWRIGHT_WRONG_EXTENT, as::tensor, "`" + b.tensor.str() + "` has more elements than can be counted");
        }
        return mistake_in(b, as::tensor, given);
    }
}

/// @pre the call has no mistake
template <auto const& Plan, int Position, int Pools, class Operand>
decltype(auto) pass(Operand const& given, [[maybe_unused]] open_extents const& numbers) {
    using as = passed_as<Plan, Position, Pools>;
    if constexpr (as::is_parameter) {
        return Operand(given);
    } else if constexpr (as::is_pool) {
        if constexpr (is_span<Operand>) return static_cast<void*>(given.data());
        else return static_cast<void*>(given);
    } else {
        buffer b;
        as::size(numbers, b);
        using element = std::remove_pointer_t<decltype(first_of(b, given))>;
        return tensor_argument(b, const_cast<std::remove_const_t<element>*>(first_of(b, given)), given);
    }
}

/// What codes can be about, of a schedule. They are copies, so that programs need not hold the whole plan and its machine.
template <schedule const& Schedule>
struct told_of {
    static constexpr argument_list list = arguments_of(plan<Schedule>);
    static constexpr auto tensors = [] {
        fixed_array<buffer, list.tensor_count + 1> all{};
        for (int at = 0; at < list.tensor_count; ++at) all[at] = plan<Schedule>.buffers[list.tensors[at]];
        return all;
    }();
    static constexpr auto pools = [] {
        fixed_array<label, list.pool_count + 1> all{};
        for (int at = 0; at < list.pool_count; ++at) all[at] = plan<Schedule>.where->memories[list.pools[at]].name;
        return all;
    }();
    static constexpr told_arguments value{tensors.elements, list.tensor_count, pools.elements, list.pool_count};
};

template <schedule const& Schedule, schedule const&... Others, class Function, class... Operands>
call_result call_one_of(Function* function, open_extents const& numbers, Operands&... operands) {
    static constexpr auto const& kernel = plan<Schedule>;
    constexpr argument_list list = arguments_of(kernel);
    constexpr int pools = static_cast<int>(sizeof...(Operands)) - list.tensor_count - list.parameter_count;
    auto const call_with = [&]<std::size_t... Position>(std::index_sequence<Position...>) {
        call_result refused;
        static_cast<void>(
            ((refused = mistake_of_argument<kernel, static_cast<int>(Position), pools, Others...>(as_operand(operands), numbers)) || ...));
        if (refused) return refused;
        return result_of(told_of<Schedule>::value,
                         function(pass<kernel, static_cast<int>(Position), pools>(as_operand(operands), numbers)...),
                         {told_of<Others>::value...});
    };
    return call_with(std::index_sequence_for<Operands...>());
}

/// What is wrong with the extents that a call gives. If nothing is, `numbers` has them in the order of the plan.
inline call_result take_extents(plan_value const& plan, std::initializer_list<axis_extent> given, open_extents& numbers) {
    for (axis_extent const& one : given) {
        int const at = open_extent_of(plan, one.name);
        if (at < 0) {
            return refuse_argument(TILEWRIGHT_UNKNOWN_EXTENT, 0, "the kernel leaves no extent `" + one.name.str() + "` to run time");
        }
        numbers[at] = one.extent;
    }
    argument_list const list = arguments_of(plan);
    for (int at = 0; at < plan.run_time_extents; ++at) {
        variable const& v = plan.variables[at];
        if (numbers[at] >= 1 && numbers[at] <= v.extent) continue;
        int position = 0;
        while (list.tensors[position] != shape_of_extent(plan, at, true).buffer) ++position;
        std::string const given_text = numbers[at] == 0 ? "is missing, or 0" : "is " + std::to_string(numbers[at]);
        return refuse_argument(TILEWRIGHT_RUN_TIME_EXTENT, position,
                               "extent `" + v.name.str() + "` " + given_text + "; the kernel takes 1 to " + std::to_string(v.extent));
    }
    numbers = given_numbers(plan, numbers);
    return {};
}

}  // namespace detail

/// Calls the C function of a kernel with row-major tensors and with scalar parameters, in the order of its header.
///
/// `call<matmul_on_npu>(matmul, a.data(), b.data(), c.data())`. Count and element types are checked by the compiler. What only the run
/// shows, such as the size of a vector, is checked before anything runs: the result is a code with a message. Nothing is thrown. A tensor
/// is
/// - a pointer to its element 0, of a tensor that the kernel uses from there on;
/// - `points_to(pointer, index...)`: a pointer to any element that the kernel uses, and its index;
/// - a range that knows its size, such as `a` itself: exactly the elements from the lowest index that the kernel uses to the highest;
/// - a view such as std::mdspan: likewise, with its strides.
///
/// The addresses of memories that the machine does not fix stand in front of the result: `call<gemm_on_host>(gemm, a, b, l2, c)`.
///
/// A kernel of several schedules takes all of them, in any order: `call<on_avx512, on_avx2>(gemm, a, b, l2, c)`. A range that stands for a
/// memory must then have the bytes that the largest needs.
/// @return the function's return code; or, when a range, a view, an index or a memory is refused, the code that the entry has for it, with
///         the reason. Then nothing has run
template <auto const& Schedule, auto const&... Others, class Function, class... Operands>
    requires(std::is_function_v<Function>)
call_result call(Function* function, Operands&&... operands) {
    constexpr bool of_schedules = detail::are_schedules<decltype(Schedule), decltype(Others)...>;
    constexpr bool by_halide = !of_schedules || detail::takes_buffers<Function>;
    static_assert(of_schedules, TILEWRIGHT_CALL_OF_SCHEDULE);
    static_assert(by_halide, TILEWRIGHT_CALL_OF_C_SOURCE);
    if constexpr (!of_schedules || !by_halide) {
        return {};
    } else if constexpr (plan<Schedule>.run_time_extents != 0) {
        static_assert(plan<Schedule>.run_time_extents == 0, "extents are left to run time: call<S>(function, {{axis, extent}}, ...)");
        return {};
    } else if constexpr (detail::mistake_in_call<Schedule, Operands...>.fault != detail::call_fault::none) {
        using shown = detail::shown_call<detail::mistake_in_call<Schedule, Operands...>>;
        // clang-format off
        static_assert(
            shown::ok,
            TILEWRIGHT_WRONG_CALL);
        // clang-format on
        return {};
    } else {
        constexpr int takes = detail::parameters_of<Function>;
        constexpr bool is_of_schedule = takes < 0 || takes == static_cast<int>(sizeof...(Operands));
        static_assert(is_of_schedule, "call takes the C function that was made of this schedule: call<on_npu>(npu_matmul, a, b, c)");
        if constexpr (is_of_schedule) return detail::call_one_of<Schedule, Others...>(function, {}, operands...);
        else return {};
    }
}
/// Refused: the C function comes first, and the schedule is no argument.
template <auto const& Schedule, auto const&... Others, class Given, class... Operands>
    requires(!std::is_function_v<std::remove_pointer_t<std::remove_cvref_t<Given>>>)
call_result call(Given&&, Operands&&...) {
    static_assert(detail::as_expected<Given>, "call takes the C function first, and then its arguments: call<on_npu>(npu_matmul, a, b, c)");
    return {};
}
template <class... Given>
call_result call(schedule const&, Given&&...) {
    static_assert(detail::as_expected<Given...>, "the schedule is no argument: call<on_npu>(npu_matmul, a, b, c)");
    return {};
}

/// Likewise, of a kernel that leaves extents to run time: `call<matmul_on_npu>(matmul, {{m, rows}}, a.data(), b.data(), c.data())`.
///
/// An extent that is missing, less than 1 or more than the kernel takes is refused, and so is one that the kernel does not leave to run
/// time.
template <auto const& Schedule, class Function, class... Operands>
call_result call(Function* function, std::initializer_list<axis_extent> extents, Operands&&... operands) {
    constexpr bool of_schedule = detail::are_schedules<decltype(Schedule)>;
    constexpr bool by_halide = !of_schedule || detail::takes_buffers<Function>;
    static_assert(of_schedule, TILEWRIGHT_CALL_OF_SCHEDULE);
    static_assert(by_halide, TILEWRIGHT_CALL_OF_C_SOURCE);
    if constexpr (!of_schedule || !by_halide) {
        return {};
    } else if constexpr (detail::mistake_in_call<Schedule, Operands...>.fault != detail::call_fault::none) {
        using shown = detail::shown_call<detail::mistake_in_call<Schedule, Operands...>>;
        // clang-format off
        static_assert(
            shown::ok,
            TILEWRIGHT_WRONG_CALL);
        // clang-format on
        return {};
    } else {
        static constexpr plan_value const& kernel = plan<Schedule>;
        detail::open_extents numbers{};
        if (call_result refused = detail::take_extents(kernel, extents, numbers)) return refused;
        return detail::call_one_of<Schedule>(function, numbers, operands...);
    }
}

}  // namespace tilewright

#undef TILEWRIGHT_WRONG_CALL
#undef TILEWRIGHT_CALL_OF_SCHEDULE
#undef TILEWRIGHT_CALL_OF_C_SOURCE
#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic pop
#endif
