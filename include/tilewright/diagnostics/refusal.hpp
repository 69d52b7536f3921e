#pragma once
#include <tilewright/diagnostics/sentence.hpp>
#if defined(__clang__) && __clang_major__ < 19
#include <utility>
#endif

// Shows a verdict as one compiler error, with its names and numbers, on g++ and clang.
namespace tilewright {

// Since 19, clang prints a text that the compiler has put together as the message of an assertion.
#if defined(__clang__) && __clang_major__ >= 19
namespace detail {
/// The way out, and what is wrong.
template <verdict const& V>
inline constexpr text_line refusal_text = [] {
    text_line line;
    line.put(advice_of(V));
    line.put("; ");
    line.put(sentence_of(V).letters.elements);
    return line;
}();
template <verdict const& V>
struct shown {
    static constexpr std::size_t size() { return static_cast<std::size_t>(refusal_text<V>.size); }
    static constexpr char const* data() { return refusal_text<V>.letters.elements; }
};
}  // namespace detail

template <class Planned>
constexpr void judge() {
    if constexpr (Planned::refusal.kind != verdict_kind::none && Planned::refusal.kind != verdict_kind::reported) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
        // clang-format off
        static_assert(
            false,
            detail::shown<Planned::refusal>());
        // clang-format on
#pragma clang diagnostic pop
    }
}
#else

#if defined(__clang__)
// clang prints a text among template arguments as numbers. So a name is shown as its letters, and a number inside what it says.
namespace as {
template <char... Letters>
struct named;
template <char... Letters>
struct parts;
template <std::int64_t... Bytes>
struct bytes;
#define TILEWRIGHT_SHOWN(fact) \
    template <std::int64_t>    \
    struct fact;
TILEWRIGHT_FACTS(TILEWRIGHT_SHOWN)
#undef TILEWRIGHT_SHOWN
#define TILEWRIGHT_SHOWN(directive, operands, about) \
    template <int Ordinal>                           \
    struct directive;
TILEWRIGHT_DIRECTIVES(TILEWRIGHT_SHOWN)
#undef TILEWRIGHT_SHOWN
#define TILEWRIGHT_SHOWN(rule, text) struct rule;
TILEWRIGHT_RULES(TILEWRIGHT_SHOWN)
#undef TILEWRIGHT_SHOWN
}  // namespace as

template <class... Shown>
struct refused {
    static constexpr bool ok = false;
};
#else
template <std::size_t Size>
struct says {
    char letters[Size];
};

template <says Text>
struct refused {
    static constexpr bool ok = false;
};
#endif

namespace detail {

#if defined(__clang__)
template <class... Shown>
struct list {};
template <class... A, class... B>
list<A..., B...> operator+(list<A...>, list<B...>);

/// The parts of `V` that are shown, piece by piece.
template <verdict const& V>
struct pieces {
    /// Names with spaces between: one list of letters is shorter than several.
    static constexpr void append(text_line& line, label const& name) {
        if (line.size > 0 && !name.empty()) line.put(' ');
        line.put(name);
    }
    static constexpr text_line names = [] {
        text_line line;
        for (label const& name : V.names.elements) append(line, name);
        return line;
    }();
    static constexpr text_line part_names = [] {
        text_line line;
        for (share const& part : V.shares.elements) append(line, part.name);
        return line;
    }();

    template <std::size_t... At>
    static list<as::named<names.letters[At]...>> spell_names(std::index_sequence<At...>);
    template <std::size_t... At>
    static list<as::parts<part_names.letters[At]...>> spell_parts(std::index_sequence<At...>);
    template <std::size_t... Share>
    static list<as::bytes<V.shares[Share].bytes * V.shares[Share].copies...>> count_parts(std::index_sequence<Share...>);
    template <int Size>
    using up_to = std::make_index_sequence<static_cast<std::size_t>(Size)>;

    static auto breakdown() {
        if constexpr (V.share_count == 0) return list<>{};
        else if constexpr (V.shares[0].bytes == 0) return decltype(spell_parts(up_to<part_names.size>{})){};  // just names
        else return decltype(spell_parts(up_to<part_names.size>{}) + count_parts(up_to<V.share_count>{})){};
    }
#define TILEWRIGHT_SHOWN(name) else if constexpr (what == fact_kind::name) return list<as::name<V.facts[Which].value>>{};
    template <std::size_t Which>
    static auto number() {
        constexpr fact_kind what = V.facts[Which].what;
        if constexpr (what == fact_kind::none) return list<>{};
        TILEWRIGHT_FACTS(TILEWRIGHT_SHOWN)
    }
#undef TILEWRIGHT_SHOWN
#define TILEWRIGHT_SHOWN(name, text) else if constexpr (V.broken == rule::name) return list<as::name>{};
    static auto broken_rule() {
        if constexpr (V.broken == rule::none) return list<>{};
        TILEWRIGHT_RULES(TILEWRIGHT_SHOWN)
    }
#undef TILEWRIGHT_SHOWN
#define TILEWRIGHT_SHOWN(name, operands, about) else if constexpr (V.directive == directive_kind::name) return list<as::name<V.ordinal>>{};
    static auto asked_by() {
        if constexpr (V.ordinal == 0) return list<>{};
        TILEWRIGHT_DIRECTIVES(TILEWRIGHT_SHOWN)
    }
#undef TILEWRIGHT_SHOWN
    template <std::size_t... Fact>
    static auto all(std::index_sequence<Fact...>) {
        return decltype(spell_names(up_to<names.size>{}) + broken_rule() + (list<>{} + ... + number<Fact>()) + breakdown() + asked_by()){};
    }
};

template <class... Shown>
refused<Shown...> refuse(list<Shown...>);
template <verdict const& V>
using refusal = decltype(refuse(pieces<V>::all(std::make_index_sequence<V.facts.size()>{})));
#else
/// A text that is put together in the compiler, without the room behind it.
template <text_line const& Line>
inline constexpr auto sized = [] {
    says<static_cast<std::size_t>(Line.size) + 1> copy{};
    for (int at = 0; at < Line.size; ++at) copy.letters[at] = Line.letters[at];
    return copy;
}();
template <verdict const& V>
inline constexpr text_line sentence = sentence_of(V);
template <verdict const& V>
using refusal = refused<sized<sentence<V>>>;
#endif

struct passed {
    static constexpr bool ok = true;
};
template <verdict_kind Kind, class Planned>
struct refusal_if {
    using type = passed;
};
template <verdict_kind Kind, class Planned>
    requires(Planned::refusal.kind == Kind)
struct refusal_if<Kind, Planned> {
    using type = refusal<Planned::refusal>;
};
template <class Planned, verdict_kind Kind>
using no_refusal = typename refusal_if<Kind, Planned>::type;

}  // namespace detail

/// Instantiating it with a refused plan is one error. The plan stays usable, so later questions add no second error.
///
/// @tparam P  what is planned: it has a verdict `refusal`
template <class P>
constexpr void judge() {
    using enum verdict_kind;
    using detail::no_refusal;
    if constexpr (static_cast<bool>(P::refusal)) {
        // One assertion for each verdict, written out: macros would add their expansion to every message. The line breaks, and the
        // margin, keep short what compilers repeat of the source.
        // clang-format off
        static_assert(
no_refusal<P, unknown_axis>::ok,
            TILEWRIGHT_UNKNOWN_AXIS);
        static_assert(
no_refusal<P, unknown_tensor>::ok,
            TILEWRIGHT_UNKNOWN_TENSOR);
        static_assert(
no_refusal<P, unknown_part>::ok,
            TILEWRIGHT_UNKNOWN_PART);
        static_assert(
no_refusal<P, axis_used_twice>::ok,
            TILEWRIGHT_AXIS_USED_TWICE);
        static_assert(
no_refusal<P, loop_order>::ok,
            TILEWRIGHT_LOOP_ORDER);
        static_assert(
no_refusal<P, box_not_constant>::ok,
            TILEWRIGHT_BOX_NOT_CONSTANT);
        if constexpr (P::refusal.is_program_overflow())
        static_assert(
no_refusal<P, memory_overflow>::ok,
            TILEWRIGHT_PROGRAM_OVERFLOW);
        else
        static_assert(
no_refusal<P, memory_overflow>::ok,
            TILEWRIGHT_MEMORY_OVERFLOW);
        static_assert(
no_refusal<P, register_overflow>::ok,
            TILEWRIGHT_REGISTER_OVERFLOW);
        static_assert(
no_refusal<P, no_memory>::ok,
            TILEWRIGHT_NO_MEMORY);
        if constexpr (P::refusal.is_of_sum())
        static_assert(
no_refusal<P, no_transfer>::ok,
            TILEWRIGHT_NO_TRANSFER_OF_SUM);
        else
        static_assert(
no_refusal<P, no_transfer>::ok,
            TILEWRIGHT_NO_TRANSFER);
        static_assert(
no_refusal<P, several_transfers>::ok,
            TILEWRIGHT_SEVERAL_TRANSFERS);
        static_assert(
no_refusal<P, transfer_region>::ok,
            TILEWRIGHT_TRANSFER_REGION);
        if constexpr (P::refusal.is_elsewhere())
        static_assert(
no_refusal<P, transfer_mismatch>::ok,
            TILEWRIGHT_TRANSFER_ELSEWHERE);
        else
        static_assert(
no_refusal<P, transfer_mismatch>::ok,
            TILEWRIGHT_TRANSFER_MISMATCH);
        static_assert(
no_refusal<P, host_access>::ok,
            TILEWRIGHT_HOST_ACCESS);
        static_assert(
no_refusal<P, missing_first_form>::ok,
            TILEWRIGHT_MISSING_FIRST_FORM);
        if constexpr (P::refusal.is_of_indices())
        static_assert(
no_refusal<P, intrinsic_mismatch>::ok,
            TILEWRIGHT_INTRINSIC_INDICES);
        else
        static_assert(
no_refusal<P, intrinsic_mismatch>::ok,
            TILEWRIGHT_INTRINSIC_MISMATCH);
        static_assert(
no_refusal<P, intrinsic_operation>::ok,
            TILEWRIGHT_INTRINSIC_OPERATION);
        static_assert(
no_refusal<P, operand_memory>::ok,
            TILEWRIGHT_OPERAND_MEMORY);
        static_assert(
no_refusal<P, in_place>::ok,
            TILEWRIGHT_IN_PLACE);
        static_assert(
no_refusal<P, partial_step>::ok,
            TILEWRIGHT_PARTIAL_STEP);
        static_assert(
no_refusal<P, no_border>::ok,
            TILEWRIGHT_NO_BORDER);
        static_assert(
no_refusal<P, capacity_of_representation>::ok,
            TILEWRIGHT_CAPACITY_OF_REPRESENTATION);
        static_assert(
no_refusal<P, ill_formed>::ok,
            TILEWRIGHT_ILL_FORMED);
        static_assert(
no_refusal<P, invalid_part>::ok,
            TILEWRIGHT_INVALID_PART);
        static_assert(
no_refusal<P, invalid_number>::ok,
            TILEWRIGHT_INVALID_NUMBER);
        static_assert(
no_refusal<P, not_honoured>::ok,
            TILEWRIGHT_NOT_HONOURED);
        static_assert(
no_refusal<P, conflicting_directives>::ok,
            TILEWRIGHT_CONFLICTING_DIRECTIVES);
        static_assert(
no_refusal<P, misplaced_directive>::ok,
            TILEWRIGHT_MISPLACED_DIRECTIVE);
#if defined(__clang__)
        static_assert(
no_refusal<P, no_constant>::ok,
            TILEWRIGHT_NO_CONSTANT);
#endif
        static_assert(
no_refusal<P, temporary>::ok,
            TILEWRIGHT_TEMPORARY);
        static_assert(
no_refusal<P, versions_without_use>::ok,
            TILEWRIGHT_VERSIONS_WITHOUT_USE);
        static_assert(
no_refusal<P, layout_mismatch>::ok,
            TILEWRIGHT_LAYOUT_MISMATCH);
        static_assert(
no_refusal<P, bank_conflict>::ok,
            TILEWRIGHT_BANK_CONFLICT);
        static_assert(
no_refusal<P, distribution>::ok,
            TILEWRIGHT_DISTRIBUTION);
        static_assert(
no_refusal<P, core_without_part>::ok,
            TILEWRIGHT_CORE_WITHOUT_PART);
        static_assert(
no_refusal<P, multicast>::ok,
            TILEWRIGHT_MULTICAST);
        static_assert(
no_refusal<P, race>::ok,
            TILEWRIGHT_RACE);
        static_assert(
no_refusal<P, run_time_box>::ok,
            TILEWRIGHT_RUN_TIME_BOX);
        static_assert(
no_refusal<P, run_time_domain>::ok,
            TILEWRIGHT_RUN_TIME_DOMAIN);
        static_assert(
no_refusal<P, deadlock>::ok,
            TILEWRIGHT_DEADLOCK);
        static_assert(
no_refusal<P, outside_domain>::ok,
            TILEWRIGHT_OUTSIDE_DOMAIN);
        static_assert(
no_refusal<P, no_placement>::ok,
            TILEWRIGHT_NO_PLACEMENT);
        static_assert(
no_refusal<P, no_producer>::ok,
            TILEWRIGHT_NO_PRODUCER);
        static_assert(
no_refusal<P, cycle>::ok,
            TILEWRIGHT_CYCLE);
        static_assert(
no_refusal<P, agent_memory>::ok,
            TILEWRIGHT_AGENT_MEMORY);
        // clang-format on
    }
}
#endif

}  // namespace tilewright
