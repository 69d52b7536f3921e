#pragma once
#include <tilewright/compute/functions.hpp>
#include <tilewright/compute/tensor.hpp>
#include <type_traits>

namespace tilewright::kernel {

/// One value from those at the same place of one tensor or two, all [rows][columns].
///
/// @tparam Function  makes the value: a lambda without captures, of expressions; `[](auto a, auto b) { return max(a + b, 0); }` is a
/// residual sum, then a ReLU
template <std::int64_t Rows, std::int64_t Columns, class Element, class Function>
struct elementwise {
    static constexpr axis row{"row", Rows}, column{"column", Columns};
    static constexpr tensor<Element> in{"in"}, other{"other"}, out{"out"};
    static constexpr auto first = tilewright::detail::to_expression(in(row, column));
    static constexpr auto second = tilewright::detail::to_expression(other(row, column));
    static constexpr auto value = [] {
        if constexpr (std::is_invocable_v<Function, decltype(first)>) return Function{}(first);
        else return Function{}(first, second);
    }();
    static constexpr auto what = out(row, column) = value;
};

}  // namespace tilewright::kernel
