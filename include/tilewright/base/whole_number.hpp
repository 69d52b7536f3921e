#pragma once
#include <cstdint>
#include <tilewright/base/type_questions.hpp>

namespace tilewright {

/// A number of iterations, versions, bytes, … that a call is given, with the line where it stands. C++ alone would make 2 of 2.5.
struct whole_number {
    std::int64_t value;  ///< as it was given
    int line;            ///< of the source where it stands

    /// Of an integer; a fraction is no such number.
    template <class Number>
        requires(!detail::floating<Number> && detail::converts_to<Number, std::int64_t>)
    constexpr whole_number(Number const& number, int in_line = __builtin_LINE())
        : value(static_cast<std::int64_t>(number)), line(in_line) {}
};

}  // namespace tilewright
