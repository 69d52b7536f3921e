#pragma once
#include <string>
#include <tilewright/compute/exponential.hpp>
#include <tilewright/compute/functions.hpp>
#include <vector>

// Functions of the compute language that are made of its operations, for expressions that are not known to the compiler.
namespace fuzz {

struct library_function {
    char const* text;  ///< as it is written in C++, `%0` and `%1` being its arguments
    tilewright::scalar_type type = tilewright::scalar_type::int32;
    std::vector<tilewright::scalar_type> of{};  ///< its arguments
    std::vector<tilewright::ir::node> nodes{};  ///< what it is made of; the last is its value
    std::vector<std::vector<int>> stand_ins{};  ///< of each argument, the nodes that stand in for it
};

namespace detail {

/// An argument that is known later.
inline constexpr std::int64_t first_stand_in = 1'000'000;
template <class T, int Which>
constexpr tilewright::expression<1> stand_in() {
    return {{{{.op = tilewright::operation::parameter, .type = tilewright::scalar_type_of<T>(), .value = first_stand_in + Which}}}};
}

template <class Expression>
library_function function_of(char const* text, std::vector<tilewright::scalar_type> const& of, Expression const& made) {
    library_function f{.text = text, .type = made.root().type, .of = of};
    f.stand_ins.resize(of.size());
    for (tilewright::ir::node const& n : made.nodes) {
        if (n.op == tilewright::operation::parameter && n.name.empty())
            f.stand_ins.at(static_cast<std::size_t>(n.value - first_stand_in)).push_back(static_cast<int>(f.nodes.size()));
        f.nodes.push_back(n);
    }
    return f;
}

}  // namespace detail

inline std::vector<library_function> const& library_functions() {
    using namespace tilewright;
    using enum scalar_type;
    static std::vector<library_function> const all = [] {
        constexpr auto real = detail::stand_in<float, 0>();
        constexpr auto number = detail::stand_in<std::int32_t, 0>(), other = detail::stand_in<std::int32_t, 1>();
        constexpr auto small = detail::stand_in<std::int8_t, 0>();
        return std::vector<library_function>{
            detail::function_of("exp(%0)", {float32}, exp(real)),
            detail::function_of("relu(%0)", {float32}, relu(real)),
            detail::function_of("relu(%0)", {int8}, relu(small)),
            detail::function_of("saturating_cast<std::int8_t>(%0)", {int32}, saturating_cast<std::int8_t>(number)),
            detail::function_of("saturating_cast<std::uint8_t>(%0)", {float32}, saturating_cast<std::uint8_t>(real)),
            detail::function_of("saturating_cast<std::int32_t>(%0)", {float32}, saturating_cast<std::int32_t>(real)),
            detail::function_of("rounding_shift_right(%0, 5)", {int32}, rounding_shift_right(number, 5)),
            detail::function_of("rounding_doubling_high_multiply(%0, %1)", {int32, int32}, rounding_doubling_high_multiply(number, other)),
            detail::function_of("rescale(%0, 1518500250, 4)", {int32}, rescale(number, 1518500250, 4)),
            detail::function_of("rescale<rounding::doubling_high>(%0, %1, -3)", {int32, int32},
                                rescale<rounding::doubling_high>(number, other, -3)),
            detail::function_of("requantize<std::int8_t>(%0, 1073741824, 3, -5)", {int32},
                                requantize<std::int8_t>(number, 1073741824, 3, -5)),
        };
    }();
    return all;
}

}  // namespace fuzz
