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
// The names are not those that a program has itself, which -Wshadow would tell.
#define TILEWRIGHT_APART(count, ...)                            \
    if constexpr (Count == count) (void)[](T const& whole) {    \
            [[maybe_unused]] auto const& [__VA_ARGS__] = whole; \
        };
    TILEWRIGHT_APART(1, a_)
    TILEWRIGHT_APART(2, a_, b_)
    TILEWRIGHT_APART(3, a_, b_, c_)
    TILEWRIGHT_APART(4, a_, b_, c_, d_)
    TILEWRIGHT_APART(5, a_, b_, c_, d_, e_)
    TILEWRIGHT_APART(6, a_, b_, c_, d_, e_, f_)
    TILEWRIGHT_APART(7, a_, b_, c_, d_, e_, f_, g_)
    TILEWRIGHT_APART(8, a_, b_, c_, d_, e_, f_, g_, h_)
    TILEWRIGHT_APART(9, a_, b_, c_, d_, e_, f_, g_, h_, i_)
    TILEWRIGHT_APART(10, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_)
    TILEWRIGHT_APART(11, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_)
    TILEWRIGHT_APART(12, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_)
    TILEWRIGHT_APART(13, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_)
    TILEWRIGHT_APART(14, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_)
    TILEWRIGHT_APART(15, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_)
    TILEWRIGHT_APART(16, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_)
    TILEWRIGHT_APART(17, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, q_)
    TILEWRIGHT_APART(18, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, q_, r_)
    TILEWRIGHT_APART(19, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, q_, r_, s_)
    TILEWRIGHT_APART(20, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, q_, r_, s_, t_)
    TILEWRIGHT_APART(21, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, q_, r_, s_, t_, u_)
    TILEWRIGHT_APART(22, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, q_, r_, s_, t_, u_, v_)
    TILEWRIGHT_APART(23, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, q_, r_, s_, t_, u_, v_, w_)
    TILEWRIGHT_APART(24, a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_, o_, p_, q_, r_, s_, t_, u_, v_, w_, x_)
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
