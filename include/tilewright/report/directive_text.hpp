#pragma once
#include <algorithm>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/schedule/schedule.hpp>

// Directives of a schedule as they were written.
namespace tilewright::reports {

/// "split(m, mo, mi, 64)", "at(ko)"
inline std::string one_directive_text(schedule const& of, int position) {
    directive const& d = of.directive_at(position);
    std::string text;
    int names = 0, numbers = 0;
    auto const add = [&](std::string const& operand) { text += (text.empty() ? "" : ", ") + operand; };
    for (char const* operand = description_of(d.kind).operands; *operand != 0; ++operand) {
        bool const is_number = *operand == 'n' || *operand == 'N';
        if (*operand == 'd') {
            text += "...";
        } else if (is_number) {
            std::int64_t const number = d.factors[numbers++];
            if (*operand == 'n' || number != schedule::whole_loop) add(std::to_string(number));
        } else {
            int const last = *operand == '*' ? d.name_count : *operand == '?' ? std::min<int>(names + 1, d.name_count) : names + 1;
            while (names < last) add(of.name_at(d, names++).str());
        }
    }
    return std::string(name_of(d.kind)) + "(" + text + ")";
}

/// A directive with those that refine it: "cache_read(A, spad).at(ko).by(mvin).buffers(2)".
inline std::string directive_text(schedule const& of, int position) {
    std::string text = one_directive_text(of, position);
    for (int next = position + 1; next < of.directive_count() && description_of(of.directive_at(next).kind).refines(); ++next)
        text += "." + one_directive_text(of, next);
    return text;
}

}  // namespace tilewright::reports
