#pragma once
#include <HalideRuntime.h>

#include <boost/hana/for_each.hpp>
#include <boost/hana/range.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <boost/hana/zip.hpp>
#include <tilewright/plan/arguments.hpp>
#include <tilewright/plan/plan.hpp>

namespace tilewright {

namespace detail {

using namespace ir;

/// A dense argument as the generated function takes it.
struct dense_argument {
    fixed_array<halide_dimension_t, max_rank> dimensions{};
    halide_buffer_t whole{};

    dense_argument(buffer const& b, void* first) {
        for (int d = 0; d < b.rank; ++d) {
            auto const at = static_cast<std::size_t>(d);
            dimensions[static_cast<std::size_t>(b.rank - 1 - d)] = {static_cast<std::int32_t>(b.minimum[at]),
                                                                    static_cast<std::int32_t>(b.extents[at]),
                                                                    static_cast<std::int32_t>(b.stride(d)), 0};
        }
        whole.host = static_cast<std::uint8_t*>(first);
        whole.type = visit_scalar(b.type, []<class T>(T) { return halide_type_of<T>(); });
        whole.dimensions = b.rank;
        whole.dim = dimensions.data();
    }
    dense_argument(dense_argument const&) = delete;
    operator halide_buffer_t*() { return &whole; }
};

/// @tparam Pools  addresses of memories that are given, behind the scalar parameters
template <auto const& Plan, int Position, int Pools, class Operand>
decltype(auto) pass(Operand const& given, [[maybe_unused]] open_extents const& numbers) {
    constexpr argument_list list = arguments_of(Plan);
    constexpr bool is_parameter = Position >= list.input_count && Position < list.input_count + list.parameter_count;
    if constexpr (is_parameter) {
        constexpr scalar_type type = Plan.what[list.parameters[static_cast<std::size_t>(Position - list.input_count)]].type;
        static_assert(scalar_type_of<Operand>() == type, "this scalar parameter of the kernel has another type");
        return Operand(given);
    } else if constexpr (Position >= list.input_count && Position < list.input_count + list.parameter_count + Pools) {
        static_assert(std::is_pointer_v<Operand>, "here the kernel takes the address of a memory");
        return static_cast<void*>(given);
    } else {
        constexpr int tensor = Position < list.input_count ? Position : Position - list.parameter_count - Pools;
        constexpr int position = list.tensors[static_cast<std::size_t>(tensor)];
        constexpr buffer b = Plan.buffers[static_cast<std::size_t>(position)];
        using element = std::remove_pointer_t<Operand>;
        static_assert(std::is_pointer_v<Operand> && scalar_type_of<std::remove_const_t<element>>() == b.type,
                      "this tensor of the kernel has another element type");
        static_assert(!b.written || !std::is_const_v<element>, "the kernel writes this tensor");
        auto* const first = const_cast<std::remove_const_t<element>*>(given);
        if constexpr (Plan.run_time_extents == 0) return dense_argument(b, first);
        else {
            buffer sized = b;
            size_argument(Plan, position, numbers, sized);  // too much is refused by the entry
            return dense_argument(sized, first);
        }
    }
}

template <schedule const& Schedule, class Function, class... Operands>
int call(Function* function, open_extents const& numbers, Operands const&... operands) {
    namespace hana = boost::hana;
    static constexpr auto const& kernel = plan<Schedule>;
    constexpr argument_list list = arguments_of(kernel);
    constexpr int pools = static_cast<int>(sizeof...(Operands)) - list.tensor_count - list.parameter_count;
    static_assert(pools == 0 || pools == list.pool_count, "the kernel takes another number of arguments");
    auto const given = hana::make_tuple(operands...);
    return hana::unpack(hana::make_range(hana::size_c<0>, hana::size_c<sizeof...(Operands)>), [&](auto... position) {
        return function(pass<kernel, static_cast<int>(decltype(position)::value), pools>(given[position], numbers)...);
    });
}

}  // namespace detail

/// Calls the C function of a kernel with pointers to dense, row-major tensors and with scalar parameters, in the order of its header.
///
/// `call<matmul_on_npu>(matmul, a.data(), b.data(), c.data())`. Count and element types are checked by the compiler. The addresses of
/// memories that the machine does not fix stand in front of the result: `call<gemm_on_host>(gemm, a, b, l2, c)`.
/// @return the function's return code
template <schedule const& Schedule, class Function, class... Operands>
int call(Function* function, Operands const&... operands) {
    static_assert(plan<Schedule>.run_time_extents == 0, "extents are left to run time: call<S>(function, {{axis, extent}}, ...)");
    return detail::call<Schedule>(function, {}, operands...);
}

/// Likewise, of a kernel that leaves extents to run time: `call<matmul_on_npu>(matmul, {{m, rows}}, a.data(), b.data(), c.data())`.
/// @throws std::invalid_argument when the kernel has no such axis. An extent that is missing or wrong gives the entry's return code
template <schedule const& Schedule, class Function, class... Operands>
int call(Function* function, std::initializer_list<axis_extent> extents, Operands const&... operands) {
    static constexpr plan_value const& kernel = plan<Schedule>;
    return detail::call<Schedule>(function, detail::given_numbers(kernel, ir::extents_by_name(kernel, extents)), operands...);
}

}  // namespace tilewright
