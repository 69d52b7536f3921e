#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/length.hpp>

// Lists of members are written by hand, beside the types. This is where a list that forgets one does not compile.
namespace tilewright::detail {

/// How many members of a `T` its list leaves out.
template <class T>
inline constexpr int left_out = 0;

/// Whether the list of a `T` is that of its base with more behind it: it cannot be taken apart.
template <class T>
inline constexpr bool extends_its_base = false;

/// Takes a `T` apart into `Count` members. With another number than it has, that is an error, which names the type and both numbers: add
/// the member to its list, BOOST_HANA_ADAPT_STRUCT or BOOST_HANA_ADAPT_ADT, or to `left_out`.
template <class T, int Count>
consteval bool has_so_many_members() {
    static_assert(Count >= 1 && Count <= 24, "more members than can be counted here: add a line");
#define TILEWRIGHT_APART(count, ...)                            \
    if constexpr (Count == count) (void)[](T const& whole) {    \
            [[maybe_unused]] auto const& [__VA_ARGS__] = whole; \
        };
    TILEWRIGHT_APART(1, a)
    TILEWRIGHT_APART(2, a, b)
    TILEWRIGHT_APART(3, a, b, c)
    TILEWRIGHT_APART(4, a, b, c, d)
    TILEWRIGHT_APART(5, a, b, c, d, e)
    TILEWRIGHT_APART(6, a, b, c, d, e, f)
    TILEWRIGHT_APART(7, a, b, c, d, e, f, g)
    TILEWRIGHT_APART(8, a, b, c, d, e, f, g, h)
    TILEWRIGHT_APART(9, a, b, c, d, e, f, g, h, i)
    TILEWRIGHT_APART(10, a, b, c, d, e, f, g, h, i, j)
    TILEWRIGHT_APART(11, a, b, c, d, e, f, g, h, i, j, k)
    TILEWRIGHT_APART(12, a, b, c, d, e, f, g, h, i, j, k, l)
    TILEWRIGHT_APART(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    TILEWRIGHT_APART(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    TILEWRIGHT_APART(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    TILEWRIGHT_APART(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    TILEWRIGHT_APART(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    TILEWRIGHT_APART(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    TILEWRIGHT_APART(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    TILEWRIGHT_APART(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    TILEWRIGHT_APART(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    TILEWRIGHT_APART(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    TILEWRIGHT_APART(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    TILEWRIGHT_APART(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
#undef TILEWRIGHT_APART
    return true;
}

/// The members of a `T`, of which none is forgotten.
template <class T>
constexpr auto members_of() {
    constexpr int named = static_cast<int>(decltype(boost::hana::length(boost::hana::accessors<T>()))::value);
    if constexpr (!extends_its_base<T>) static_assert(has_so_many_members<T, named + left_out<T>>());
    return boost::hana::accessors<T>();
}

}  // namespace tilewright::detail
