#pragma once
#include <tilewright/base/verdict.hpp>

namespace tilewright {

/// The name of a verdict and of its page in docs/diagnostics.
constexpr char const* name_of(verdict_kind kind) {
    constexpr char const* names[] = {"none",
#define TILEWRIGHT_NAME(name, sentence, advice) #name,
                                     TILEWRIGHT_VERDICTS(TILEWRIGHT_NAME)
#undef TILEWRIGHT_NAME
    };
    return names[static_cast<int>(kind)];
}

/// What to do about a verdict.
constexpr char const* advice_of(verdict_kind kind) {
    constexpr char const* advices[] = {"",
#define TILEWRIGHT_ADVICE(name, sentence, advice) advice,
                                       TILEWRIGHT_VERDICTS(TILEWRIGHT_ADVICE)
#undef TILEWRIGHT_ADVICE
    };
    return advices[static_cast<int>(kind)];
}
constexpr char const* advice_of(verdict const& refusal) {
    if (refusal.is_program_overflow()) return TILEWRIGHT_PROGRAM_OVERFLOW;
    if (refusal.is_of_sum()) return TILEWRIGHT_NO_TRANSFER_OF_SUM;
    if (refusal.is_elsewhere()) return TILEWRIGHT_TRANSFER_ELSEWHERE;
    return refusal.is_of_indices() ? TILEWRIGHT_INTRINSIC_INDICES : advice_of(refusal.kind);
}

/// A text that is put together in the compiler. What does not fit is cut.
struct text_line {
    static constexpr int longest = 480;

    fixed_array<char, longest + 1> letters{};
    int size = 0;

    constexpr void put(char letter) {
        if (size < longest) letters[size++] = letter;
    }
    constexpr void put(char const* text) {
        while (*text != '\0') put(*text++);
    }
    constexpr void put(ir::label const& name) {
        for (int position = 0; position < name.size(); ++position) put(name[position]);
    }
    constexpr void put(std::int64_t value) {
        if (value < 0) put('-');
        std::uint64_t rest = value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
        char digits[20]{};
        int count = 0;
        do digits[count++] = static_cast<char>('0' + rest % 10);
        while ((rest /= 10) != 0);
        while (count > 0) put(digits[--count]);
    }
};

/// Writes a sentence with what it names: $0 a name, #0 a number, % the rule, which is a sentence itself, @ the parts,
/// ^1 and ^2 the names of the parts of one copy and of two, {3 …} if there is
/// name 3, {#3 …} if there is fact 3.
constexpr void put_sentence(text_line& line, verdict const& refusal, char const* sentence) {
    auto const name = [&](char digit) -> ir::label const& { return refusal.names[digit - '0']; };
    for (char const* at = sentence; *at != '\0'; ++at) {
        if (*at == '$') line.put(name(*++at));
        else if (*at == '#') line.put(refusal.facts[*++at - '0'].value);
        else if (*at == '%') put_sentence(line, refusal, text_of(refusal.broken));
        else if (*at == '{') {
            bool const of_fact = *++at == '#';
            bool const missing = of_fact ? refusal.facts[*++at - '0'].what == ir::fact_kind::none : name(*at).empty();
            while (missing && *at != '}') ++at;
        } else if (*at == '@') {
            for (int part = 0; part < refusal.share_count; ++part) {
                if (part > 0) line.put(", ");
                line.put(refusal.shares[part].name);
                line.put(' ');
                if (refusal.shares[part].copies > 1) {
                    line.put(static_cast<std::int64_t>(refusal.shares[part].copies));
                    line.put('x');
                }
                line.put(refusal.shares[part].bytes);
            }
        } else if (*at == '^') {
            int const copies = *++at - '0';
            bool another = false;
            for (int part = 0; part < refusal.share_count; ++part) {
                ir::share const& one = refusal.shares[part];
                if (one.copies != copies) continue;
                if (another) line.put(" or ");
                line.put('`');
                line.put(one.name);
                line.put('`');
                another = true;
            }
        } else if (*at != '}') line.put(*at);
    }
}

/// The verdict in one line: "memory `spad` needs 81920 of 65536 bytes: A 65536, B 16384 [cache_read, directive 4, line 23]".
constexpr text_line sentence_of(verdict const& refusal) {
    constexpr char const* sentences[] = {"",
#define TILEWRIGHT_SENTENCE(name, sentence, advice) sentence,
                                         TILEWRIGHT_VERDICTS(TILEWRIGHT_SENTENCE)
#undef TILEWRIGHT_SENTENCE
    };
    text_line line;
    put_sentence(line, refusal, sentences[static_cast<int>(refusal.kind)]);
    if (refusal.ordinal > 0) {
        line.put(" [");
        line.put(name_of(refusal.directive));
        line.put(", directive ");
        line.put(static_cast<std::int64_t>(refusal.ordinal));
        line.put(", line ");
        line.put(static_cast<std::int64_t>(refusal.line));
        line.put(']');
    }
    return line;
}

}  // namespace tilewright
