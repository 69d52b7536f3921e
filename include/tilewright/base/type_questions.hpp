#pragma once

// What is asked of types. <type_traits>, <concepts>, <limits> and <bit> answer it too, but they would be a fourteenth of what g++ does for
// `tilewright.hpp`.
namespace tilewright::detail {

template <class Type, class... Others>
concept one_of = (__is_same(Type, Others) || ...);

template <class Number>
concept floating = one_of<Number, float, double, long double>;
/// bool and the letters are integers, as C++ has it.
template <class Number>
concept integral = one_of<Number, bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                          long long, unsigned long long, wchar_t, char8_t, char16_t, char32_t>;
template <class Number>
concept arithmetic = integral<Number> || floating<Number>;
template <class Number>
concept signed_number = arithmetic<Number> && Number(-1)
< Number(0);

template <class From, class To>
concept converts_to = requires(void (*take)(To), From const& value) {
    take(value);
};

/// Whatever is given, by a conversion that loses to the right one.
struct anything {
    template <class Given>
    constexpr anything(Given const&) {}
};

/// Never, whatever is given: for what is refused where a compiler comes to it.
template <class... Given>
inline constexpr bool as_expected = false;

}  // namespace tilewright::detail
