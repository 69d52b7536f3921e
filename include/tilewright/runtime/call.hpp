#pragma once
#include <HalideRuntime.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/runtime/call_mistake.hpp>

// The message of the assertion in `call`. From 19 on, clang prints a text that the compiler has put together.
#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
#define TILEWRIGHT_WRONG_CALL shown()
#else
#define TILEWRIGHT_WRONG_CALL "wrong call: pass what the header of the kernel lists, in its order"
#endif

namespace tilewright {

/// Says to which element of a tensor a pointer points: `call<smooth>(npu_smooth, points_to(in, 0), out)`, if the kernel reads from `in[-1]`
/// on.
/// @param index  one number for each dimension: an element that the kernel uses
template <class Element, std::convertible_to<std::int64_t>... Index>
constexpr pointer_to_element<Element> points_to(Element* pointer, Index... index) {
    static_assert(sizeof...(Index) <= max_rank, "a tensor has at most 6 dimensions");
    return {pointer, {static_cast<std::int64_t>(index)...}, static_cast<int>(sizeof...(Index))};
}

namespace detail {

template <class Operand>
inline constexpr bool is_span = false;
template <class Element, std::size_t Extent>
inline constexpr bool is_span<std::span<Element, Extent>> = true;
/// "`in` is used from in[-1] to in[16], 18 elements, but "
inline std::string use_text(buffer const& b) {
    std::string from, to;
    std::int64_t elements = 1;
    for (int d = 0; d < b.rank; ++d) {
        from += (d > 0 ? ", " : "") + std::to_string(b.minimum[d]);
        to += (d > 0 ? ", " : "") + std::to_string(b.minimum[d] + b.extents[d] - 1);
        elements *= b.extents[d];
    }
    std::string const name = b.tensor.str();
    return "`" + name + "` is used from " + name + "[" + from + "] to " + name + "[" + to + "], " + std::to_string(elements) +
           " elements, but ";
}
/// The first element that a kernel uses, of a pointer to another one.
template <class Element>
Element* first_of(buffer const& b, pointer_to_element<Element> const& given) {
    std::int64_t steps = 0;
    bool inside = given.rank == b.rank;
    std::string index;
    for (int d = 0; d < given.rank; ++d) {
        std::int64_t const from_first = given.index[d] - b.minimum[d];
        inside = inside && from_first >= 0 && from_first < b.extents[d];
        if (inside) steps += from_first * b.stride(d);
        index += (d > 0 ? ", " : "") + std::to_string(given.index[d]);
    }
    if (!inside) throw std::invalid_argument(use_text(b) + "the pointer is to [" + index + "]");
    return given.pointer - steps;
}
template <class Element, std::size_t Extent>
Element* first_of(buffer const& b, std::span<Element, Extent> given) {
    std::int64_t elements = 1;
    for (int d = 0; d < b.rank; ++d) elements *= b.extents[d];
    if (static_cast<std::int64_t>(given.size()) != elements)
        throw std::invalid_argument(use_text(b) + std::to_string(given.size()) + " are given");
    return given.data();
}
template <class Element>
Element* first_of(buffer const&, Element* given) {
    return given;
}
template <class Element, int Rank>
Element* first_of(buffer const& b, strided_elements<Element, Rank> const& given) {
    bool same = true;
    std::string extents;
    for (int d = 0; d < Rank; ++d) {
        same = same && given.extents[d] == b.extents[d];
        extents += (d > 0 ? " x " : "") + std::to_string(given.extents[d]);
    }
    if (!same) throw std::invalid_argument(use_text(b) + extents + " are given");
    for (int d = 0; d < Rank; ++d) {
        std::int64_t const least = b.written && b.extents[d] > 1 ? 1 : INT32_MIN;  // elements of a result do not lie on each other
        if (given.strides[d] > INT32_MAX || given.strides[d] < least)
            throw std::invalid_argument("`" + b.tensor.str() + "` has a stride of " + std::to_string(given.strides[d]) + " elements");
    }
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
        whole.dim = dimensions.begin();
    }
    tensor_argument(tensor_argument const&) = delete;
    operator halide_buffer_t*() { return &whole; }
};

/// Whether so many bytes are enough for a memory whose address a kernel is given, by its place among them.
template <schedule const& Schedule>
bool is_enough(std::int64_t bytes, int pool) {
    static constexpr plan_value const& kernel = plan<Schedule>;
    static constexpr argument_list list = arguments_of(kernel);
    return bytes >= kernel.peak(kernel.where->memories[list.pools[pool]]);
}

/// @pre the call has no mistake
/// @tparam Pools  addresses of memories that the caller gives, after the scalar parameters
/// @tparam Others  schedules that the function may run instead
template <auto const& Plan, int Position, int Pools, schedule const&... Others, class Operand>
decltype(auto) pass(Operand const& given, [[maybe_unused]] open_extents const& numbers) {
    constexpr argument_list list = arguments_of(Plan);
    constexpr bool is_parameter = Position >= list.input_count && Position < list.input_count + list.parameter_count;
    if constexpr (is_parameter) {
        return Operand(given);
    } else if constexpr (Position >= list.input_count && Position < list.input_count + list.parameter_count + Pools) {
        if constexpr (is_span<Operand>) {
            constexpr int pool = Position - list.input_count - list.parameter_count;
            constexpr int memory_at = list.pools[pool];
            constexpr quantity needed = Plan.peak(Plan.where->memories[memory_at]);
            auto const bytes = static_cast<std::int64_t>(given.size_bytes());
            if (!(bytes >= needed) || !(is_enough<Others>(bytes, pool) && ...))
                throw std::invalid_argument("memory `" + Plan.where->memories[memory_at].name.str() + "` has only " +
                                            std::to_string(given.size_bytes()) + " bytes");
            return static_cast<void*>(given.data());
        } else {
            return static_cast<void*>(given);
        }
    } else {
        constexpr int tensor = Position < list.input_count ? Position : Position - list.parameter_count - Pools;
        constexpr int position = list.tensors[tensor];
        static constexpr buffer b = Plan.buffers[position];
        using element = std::remove_pointer_t<decltype(first_of(b, given))>;
        buffer sized = b;
        if constexpr (Plan.run_time_extents > 0) size_argument(Plan, position, numbers, sized);  // too much is refused by the entry
        return tensor_argument(sized, const_cast<std::remove_const_t<element>*>(first_of(sized, given)), given);
    }
}

template <schedule const& Schedule, schedule const&... Others, class Function, class... Operands>
int call_one_of(Function* function, open_extents const& numbers, Operands&... operands) {
    static constexpr auto const& kernel = plan<Schedule>;
    constexpr argument_list list = arguments_of(kernel);
    constexpr int pools = static_cast<int>(sizeof...(Operands)) - list.tensor_count - list.parameter_count;
    auto const call_with = [&]<std::size_t... Position>(std::index_sequence<Position...>) {
        return function(pass<kernel, static_cast<int>(Position), pools, Others...>(as_operand(operands), numbers)...);
    };
    return call_with(std::index_sequence_for<Operands...>());
}

}  // namespace detail

/// Calls the C function of a kernel with row-major tensors and with scalar parameters, in the order of its header.
///
/// `call<matmul_on_npu>(matmul, a.data(), b.data(), c.data())`. Count and element types are checked by the compiler. A tensor is
/// - a pointer to its element 0, of a tensor that the kernel uses from there on;
/// - `points_to(pointer, index...)`: a pointer to any element that the kernel uses, and its index;
/// - a range that knows its size, such as `a` itself: exactly the elements from the lowest index that the kernel uses to the highest;
/// - a view such as std::mdspan: likewise, with its strides. Strides that the kernel does not take give the entry's return code.
///
/// The addresses of memories that the machine does not fix stand in front of the result: `call<gemm_on_host>(gemm, a, b, l2, c)`.
///
/// A kernel of several schedules takes all of them, in any order: `call<on_avx512, on_avx2>(gemm, a, b, l2, c)`. A range that stands for a
/// memory must then have the bytes that the largest needs.
/// @return the function's return code
/// @throws std::invalid_argument when a range has another size, or an index is not one that the kernel uses
template <schedule const& Schedule, schedule const&... Others, class Function, class... Operands>
int call(Function* function, Operands&&... operands) {
    static_assert(plan<Schedule>.run_time_extents == 0, "extents are left to run time: call<S>(function, {{axis, extent}}, ...)");
    if constexpr (detail::mistake_in_call<Schedule, Operands...>.fault != detail::call_fault::none) {
        using shown = detail::shown_call<detail::mistake_in_call<Schedule, Operands...>>;
        // clang-format off
        static_assert(
            shown::ok,
            TILEWRIGHT_WRONG_CALL);
        // clang-format on
        return -1;
    } else {
        return detail::call_one_of<Schedule, Others...>(function, {}, operands...);
    }
}

/// Likewise, of a kernel that leaves extents to run time: `call<matmul_on_npu>(matmul, {{m, rows}}, a.data(), b.data(), c.data())`.
/// @throws bad_query when the kernel has no such axis. An extent that is missing or wrong gives the entry's return code
template <schedule const& Schedule, class Function, class... Operands>
int call(Function* function, std::initializer_list<axis_extent> extents, Operands&&... operands) {
    static constexpr plan_value const& kernel = plan<Schedule>;
    if constexpr (detail::mistake_in_call<Schedule, Operands...>.fault != detail::call_fault::none) {
        using shown = detail::shown_call<detail::mistake_in_call<Schedule, Operands...>>;
        // clang-format off
        static_assert(
            shown::ok,
            TILEWRIGHT_WRONG_CALL);
        // clang-format on
        return -1;
    } else {
        return detail::call_one_of<Schedule>(function, detail::given_numbers(kernel, ir::extents_by_name(kernel, extents)), operands...);
    }
}

}  // namespace tilewright

#undef TILEWRIGHT_WRONG_CALL
#if defined(__clang__) && __clang_major__ >= 19
#pragma clang diagnostic pop
#endif
