#pragma once
#include <cstddef>

namespace tilewright {

/// `Size` elements. g++ evaluates every access to a std::array as two calls, which would be half of what a plan costs the compiler.
/// Members are few, because it declares all of them for each of the more than hundred types that plans are made of. What is asked for less
/// often is a function beside it, which costs only where it is called. A loop over the elements finds `begin` and `end` there.
template <class Element, int Size>
struct fixed_array {
    Element elements[static_cast<std::size_t>(Size)];

    constexpr Element& operator[](std::ptrdiff_t at) { return elements[at]; }
    constexpr Element const& operator[](std::ptrdiff_t at) const { return elements[at]; }
    static constexpr int size() { return Size; }
};

template <class Element, int Size>
constexpr Element* begin(fixed_array<Element, Size>& of) {
    return of.elements;
}
template <class Element, int Size>
constexpr Element* end(fixed_array<Element, Size>& of) {
    return of.elements + Size;
}
template <class Element, int Size>
constexpr Element const* begin(fixed_array<Element, Size> const& of) {
    return of.elements;
}
template <class Element, int Size>
constexpr Element const* end(fixed_array<Element, Size> const& of) {
    return of.elements + Size;
}
template <class Element, int Size>
constexpr void set_all(fixed_array<Element, Size>& of, decltype(Element{}) const& value) {
    for (Element& element : of.elements) element = value;
}
template <class Element, int Size>
constexpr Element& last_of(fixed_array<Element, Size>& of) {
    return of.elements[Size - 1];
}
template <class Element, int Size>
constexpr bool operator==(fixed_array<Element, Size> const& a, fixed_array<Element, Size> const& b) {
    for (int at = 0; at < Size; ++at) {
        if (!(a.elements[at] == b.elements[at])) return false;
    }
    return true;
}

}  // namespace tilewright
