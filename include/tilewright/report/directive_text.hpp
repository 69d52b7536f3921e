#pragma once
#include <string>
#include <tilewright/schedule/schedule.hpp>

// Directives of a schedule as they were written.
namespace tilewright::reports {

/// Whether a directive says more about the one in front of it.
constexpr bool refines(directive_kind kind) {
    using enum directive_kind;
    return kind == at || kind == by || kind == buffers || kind == prefetch || kind == in_bank || kind == layout;
}

/// "split(m, mo, mi, 64)", "at(ko)"
inline std::string one_directive_text(schedule const& of, int position) {
    using enum directive_kind;
    directive const& d = of.directive_at(position);
    std::string text = std::string(name_of(d.kind)) + "(";
    if (d.kind == prefetch && d.name_count > 0) return text + std::to_string(d.factors[0]) + ", " + of.name_at(d, 0).str() + ")";
    for (int at = 0; at < d.name_count; ++at) text += (at > 0 ? ", " : "") + of.name_at(d, at).str();
    int const factors = d.kind == tile ? 2 : d.kind == split || d.kind == buffers || d.kind == prefetch || d.kind == in_bank ? 1 : 0;
    for (int at = 0; at < factors; ++at) text += (d.name_count + at > 0 ? ", " : "") + std::to_string(d.factors[at]);
    if ((d.kind == unroll || d.kind == vectorize) && d.factors[0] != schedule::whole_loop) text += ", " + std::to_string(d.factors[0]);
    if (d.kind == directive_kind::layout) text += "...";
    return text + ")";
}

/// A directive with those that refine it: "cache_read(A, spad).at(ko).by(mvin).buffers(2)".
inline std::string directive_text(schedule const& of, int position) {
    std::string text = one_directive_text(of, position);
    for (int next = position + 1; next < of.directive_count() && refines(of.directive_at(next).kind); ++next)
        text += "." + one_directive_text(of, next);
    return text;
}

}  // namespace tilewright::reports
