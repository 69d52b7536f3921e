#pragma once
#include <tilewright/diagnostics/sentence.hpp>
#include <utility>

// Shows a verdict as one compiler error, with its names and numbers, on g++ and clang.
namespace tilewright {

#if defined(__clang__)
// clang prints texts in template arguments as numbers, so names become letters and the numbers stand beside what they say.
template <char... Letters>
struct named;
template <fact_kind What, auto Value>
struct says;
template <int Ordinal, int Line>
struct directive_at;

/// Never true; its arguments are what the error shows.
template <verdict_kind Kind, class... Facts>
struct refused : std::false_type {};
#else
template <std::size_t Size>
struct message {
    char text[Size];
};

/// Never true; its argument is what the error shows.
template <verdict_kind Kind, message Text>
struct refused : std::false_type {};
#endif

namespace detail {

#if defined(__clang__)
template <class... Facts>
struct facts;
template <class... Lists>
struct joined;
template <class... A>
struct joined<facts<A...>> {
    template <verdict_kind Kind>
    using refusal = refused<Kind, A...>;
};
template <class... A, class... B, class... More>
struct joined<facts<A...>, facts<B...>, More...> : joined<facts<A..., B...>, More...> {};

template <verdict const& V>
struct explain {
    template <auto Part, std::size_t... Letters>
    static auto spell(std::index_sequence<Letters...>) -> facts<named<Part(V, Letters)...>>;
    static constexpr char letter_of_directive(verdict const& v, std::size_t at) { return v.directive[static_cast<int>(at)]; }
    template <std::size_t Which>
    static constexpr char letter_of_name(verdict const& v, std::size_t at) { return v.names[Which][static_cast<int>(at)]; }
    template <std::size_t Which>
    static constexpr char letter_of_share(verdict const& v, std::size_t at) { return v.shares[Which].name[static_cast<int>(at)]; }
    static constexpr char letter_of_rule(verdict const& v, std::size_t at) { return v.rule[at]; }

    template <std::size_t Which>
    static auto name_at() {
        if constexpr (V.names[Which].empty()) return static_cast<facts<>*>(nullptr);
        else return static_cast<decltype(spell<&letter_of_name<Which>>(std::make_index_sequence<static_cast<std::size_t>(V.names[Which].size())>{}))*>(nullptr);
    }
    template <std::size_t Which>
    static auto fact_at() {
        if constexpr (V.facts[Which].what == no_fact) return static_cast<facts<>*>(nullptr);
        else return static_cast<facts<says<V.facts[Which].what, V.facts[Which].value>>*>(nullptr);
    }
    template <std::size_t Which>
    static auto share_at() {
        if constexpr (static_cast<int>(Which) >= V.share_count) return static_cast<facts<>*>(nullptr);
        else {
            using letters = decltype(spell<&letter_of_share<Which>>(std::make_index_sequence<static_cast<std::size_t>(V.shares[Which].name.size())>{}));
            return static_cast<facts<std::remove_pointer_t<letters*>, says<need, V.shares[Which].bytes>>*>(nullptr);
        }
    }
    static auto rule() {
        if constexpr (V.rule == nullptr) return static_cast<facts<>*>(nullptr);
        else {
            constexpr std::size_t length = std::char_traits<char>::length(V.rule);
            return static_cast<decltype(spell<&letter_of_rule>(std::make_index_sequence<length>{}))*>(nullptr);
        }
    }
    static auto place() {
        if constexpr (V.ordinal == 0) return static_cast<facts<>*>(nullptr);
        else {
            using letters = decltype(spell<&letter_of_directive>(std::make_index_sequence<static_cast<std::size_t>(V.directive.size())>{}));
            return static_cast<typename with_place<letters>::type*>(nullptr);
        }
    }
    template <class Letters>
    struct with_place;
    template <class Name>
    struct with_place<facts<Name>> {
        using type = facts<Name, directive_at<V.ordinal, V.line>>;
    };
    template <class Pointer>
    using list = std::remove_pointer_t<Pointer>;

    using whole = joined<list<decltype(name_at<0>())>, list<decltype(name_at<1>())>, list<decltype(name_at<2>())>, list<decltype(name_at<3>())>,
                         list<decltype(fact_at<0>())>, list<decltype(fact_at<1>())>, list<decltype(fact_at<2>())>, list<decltype(fact_at<3>())>,
                         list<decltype(share_at<0>())>, list<decltype(share_at<1>())>, list<decltype(share_at<2>())>, list<decltype(share_at<3>())>,
                         list<decltype(rule())>, list<decltype(place())>>;
    template <verdict_kind Kind>
    using refusal = typename whole::template refusal<Kind>;
};
#else
template <verdict const& V>
struct explain {
    static constexpr text_line line = sentence_of(V);
    static constexpr auto text = [] {
        message<static_cast<std::size_t>(line.size) + 1> copy{};
        for (std::size_t at = 0; at < static_cast<std::size_t>(line.size); ++at) copy.text[at] = line.letters[at];
        return copy;
    }();
    template <verdict_kind Kind>
    using refusal = refused<Kind, text>;
};
#endif

template <verdict const& V, verdict_kind Kind>
struct report_one;

#define TILEWRIGHT_REPORT(name, sentence, advice)                                                       \
    template <verdict const& V>                                                                         \
    struct report_one<V, verdict_kind::name> {                                                          \
        using it = typename explain<V>::template refusal<verdict_kind::name>;                           \
        static_assert(it::value, advice);                                                               \
    };
TILEWRIGHT_VERDICTS(TILEWRIGHT_REPORT)
#undef TILEWRIGHT_REPORT
template <verdict const& V>
struct report_one<V, verdict_kind::none> {};

}  // namespace detail

/// Has no members; instantiating it with a verdict that refuses is one error.
template <verdict const& V>
struct report_refusal : detail::report_one<V, V.kind> {};

}  // namespace tilewright
