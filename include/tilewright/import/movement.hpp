#pragma once
#include <tilewright/import/values.hpp>

// Operators that move elements. Most of them only change how a tensor is read.
namespace tilewright::imported::detail {

inline void reshape_to(lowering& of, view const& from, shape const& to) { of.give(0, of.reshaped(from, to)); }
inline void reshape(lowering& of) {
    view const from = of.operand(0);
    shape to = of.has(1) ? of.known_integers(1) : integers(of, "shape").value_or(shape{});
    std::optional<std::size_t> left_out;
    for (std::size_t at = 0; at < to.size(); ++at) {
        if (to[at] == 0 && at < from.dimensions.size() && integer(of, "allowzero", 0) == 0) to[at] = from.extent(static_cast<int>(at));
        if (to[at] != -1) continue;
        if (left_out) throw not_imported("to " + text_of(to) + ": two extents are left out");
        left_out = at;
    }
    if (left_out) {
        to[*left_out] = 1;
        to[*left_out] = from.elements() / count_of(to);
    }
    reshape_to(of, from, to);
}
inline void flatten(lowering& of) {
    view const from = of.operand(0);
    std::int64_t const axis = integer(of, "axis", 1);
    int const at = axis == from.rank() ? from.rank() : dimension_of(axis, from.rank());
    shape const all = from.shape();
    reshape_to(of, from, {count_of({all.begin(), all.begin() + at}), count_of({all.begin() + at, all.end()})});
}
inline void squeeze(lowering& of) {
    view made = of.operand(0);
    auto const axes = list(of, "axes", 1);
    std::vector<bool> gone = dimensions_of(axes.value_or(shape{}), made.rank());
    std::vector<std::size_t> kept;
    for (std::size_t at = 0; at < gone.size(); ++at) {
        std::int64_t const extent = made.extent(static_cast<int>(at));
        if (gone[at] && extent != 1) throw not_imported("a dimension of " + std::to_string(extent) + " cannot be left out");
        if (axes ? !gone[at] : extent != 1) kept.push_back(at);
    }
    of.give(0, only(made, kept));
}
inline void unsqueeze(lowering& of) {
    view made = of.operand(0);
    shape const axes = list(of, "axes", 1).value_or(shape{});
    std::vector<bool> const added = dimensions_of(axes, made.rank() + static_cast<int>(axes.size()));
    for (std::size_t at = 0; at < added.size(); ++at) {
        if (added[at]) made.dimensions.insert(made.dimensions.begin() + static_cast<std::ptrdiff_t>(at), factors{});
    }
    of.give(0, made);
}
inline void transpose(lowering& of) {
    view const from = of.operand(0);
    shape order;
    for (int at = from.rank(); at-- > 0;) order.push_back(at);
    of.give(0, transposed(from, integers(of, "perm").value_or(order)));
}
inline void expand(lowering& of) {
    view const from = of.operand(0);
    shape const given = of.known_integers(1);
    count_of(given);
    auto const to = common_shape(from.shape(), given);
    if (!to) throw not_imported("to a shape that does not fit");
    of.give(0, repeated_to(from, *to));
}
inline void tile(lowering& of) {
    view made = of.operand(0);
    shape const times = of.known_integers(1);
    if (times.size() != made.dimensions.size()) throw not_imported(std::to_string(times.size()) + " numbers of repetitions");
    count_of(times);
    for (std::size_t at = 0; at < made.dimensions.size(); ++at) {
        limited(times[at], 1, most_extent / made.extent(static_cast<int>(at)), "repetitions");
        if (times[at] > 1) made.dimensions[at].insert(made.dimensions[at].begin(), {times[at], shape(made.first.size(), 0)});
    }
    of.give(0, made);
}
/// A slice; a copy of it, where it goes across dimensions that a reshape joined.
inline view sliced_or_copied(lowering& of, view const& from, int dimension, std::int64_t begin, std::int64_t step, std::int64_t count) {
    if (count < 1) throw not_imported("a result without elements");
    auto const made = sliced(from, dimension, begin, step, count);
    return made ? *made : sliced(of.indexable(from), dimension, begin, step, count).value();
}
inline void slice(lowering& of) {
    view made = of.operand(0);
    auto const starts = list(of, "starts", 1), ends = list(of, "ends", 2);
    auto axes = list(of, "axes", 3);
    if (!starts || !ends) throw not_imported("starts and ends are missing");
    shape const steps = of.has(4) ? of.known_integers(4) : shape(starts->size(), 1);
    if (!axes) {
        axes.emplace();
        for (std::size_t at = 0; at < starts->size(); ++at) axes->push_back(static_cast<std::int64_t>(at));
    }
    if (ends->size() != starts->size() || axes->size() != starts->size() || steps.size() != starts->size())
        throw not_imported("starts, ends, axes and steps are not equally many");
    dimensions_of(*axes, made.rank());
    for (std::size_t at = 0; at < starts->size(); ++at) {
        int const dimension = dimension_of((*axes)[at], made.rank());
        std::int64_t const extent = made.extent(dimension), step = std::clamp(steps[at], -extent, extent);
        if (step == 0) throw not_imported("a step of 0");
        auto const within = [&](std::int64_t given, std::int64_t low, std::int64_t high) {
            return std::clamp(given < 0 ? given + extent : given, low, high);
        };
        std::int64_t const begin = step > 0 ? within((*starts)[at], 0, extent) : within((*starts)[at], 0, extent - 1);
        std::int64_t const end = step > 0 ? within((*ends)[at], 0, extent) : within((*ends)[at], -1, extent - 1);
        std::int64_t const count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
        if (count < 1 && of.is_constant(0)) {
            shape nothing = made.shape();
            nothing[static_cast<std::size_t>(dimension)] = 0;
            return of.give_known(0, known_tensor(made.type(), nothing, {}));
        }
        made = sliced_or_copied(of, made, dimension, begin, step, count);
    }
    of.give(0, made);
}
inline void split(lowering& of) {
    view const from = of.operand(0);
    int const dimension = dimension_of(integer(of, "axis", 0), from.rank());
    std::int64_t const extent = from.extent(dimension), outputs = static_cast<std::int64_t>(of.node->outputs.size());
    if (outputs == 0 || integer(of, "num_outputs", outputs) != outputs) throw not_imported(std::to_string(outputs) + " results");
    auto sizes = list(of, "split", 1);
    if (!sizes) {
        // As even as it goes; the last one is smaller.
        std::int64_t const each = (extent + outputs - 1) / outputs;
        sizes.emplace(of.node->outputs.size(), each);
        sizes->back() = extent - each * (outputs - 1);
    }
    std::int64_t begin = 0;
    if (sizes->size() != of.node->outputs.size()) throw not_imported(std::to_string(sizes->size()) + " sizes of parts");
    for (std::size_t at = 0; at < sizes->size(); ++at) {
        std::int64_t const count = limited((*sizes)[at], 1, extent - begin, "a part");
        of.give(at, sliced_or_copied(of, from, dimension, begin, 1, count));
        begin += count;
    }
    if (begin != extent) throw not_imported("parts of " + std::to_string(begin) + " of " + std::to_string(extent) + " elements");
}
template <bool ToSpace>
void blocks(lowering& of) {
    view const from = of.operand(0);
    if (from.rank() != 4) throw not_imported("of " + std::to_string(from.rank()) + " dimensions");
    std::int64_t const size = limited(integer(of, "blocksize", 1), 1, 0x7fff, "blocks");
    shape const s = from.shape();
    bool const fits = ToSpace ? s[1] % (size * size) == 0 : s[2] % size == 0 && s[3] % size == 0;
    if (!fits) throw not_imported("blocks of " + std::to_string(size) + " of " + text_of(s));
    std::string const mode = word(of, "mode", "DCR");
    if (mode != "DCR" && mode != "CRD") throw not_imported("mode " + network::shown(mode));
    bool const depth_first = ToSpace && mode == "CRD";
    shape apart, made, order;
    if (ToSpace) {
        apart =
            depth_first ? shape{s[0], s[1] / size / size, size, size, s[2], s[3]} : shape{s[0], size, size, s[1] / size / size, s[2], s[3]};
        order = depth_first ? shape{0, 1, 4, 2, 5, 3} : shape{0, 3, 4, 1, 5, 2};
        made = {s[0], s[1] / size / size, s[2] * size, s[3] * size};
    } else {
        apart = {s[0], s[1], s[2] / size, size, s[3] / size, size};
        order = {0, 3, 5, 1, 2, 4};
        made = {s[0], s[1] * size * size, s[2] / size, s[3] / size};
    }
    reshape_to(of, transposed(of.reshaped(from, apart), order), made);
}

inline void constant(lowering& of) {
    auto const* found = of.node->find("value");
    auto const* held = found ? std::get_if<network::literal>(found) : nullptr;
    if (!held) throw not_imported("a constant that is no tensor");
    of.give_known(0, known_elements(of.from, held->type, held->extents, held->constant));
}
inline known_tensor known_integers64(shape const& values, shape const& extents) {
    known_tensor made(scalar_type::int64, extents, {});
    for (std::int64_t const one : values) network::append_bytes(made.bytes, static_cast<std::uint64_t>(one), 8);
    return made;
}
inline void shape_of(lowering& of) {
    shape all = of.operand(0).shape();
    std::int64_t const rank = static_cast<std::int64_t>(all.size());
    auto const at = [&](std::int64_t given) { return std::clamp(given < 0 ? given + rank : given, std::int64_t{0}, rank); };
    std::int64_t const begin = at(integer(of, "start", 0)), end = at(integer(of, "end", rank));
    shape const part(all.begin() + begin, all.begin() + std::max(begin, end));
    of.give_known(0, known_integers64(part, {static_cast<std::int64_t>(part.size())}));
}
inline void size_of(lowering& of) { of.give_known(0, known_integers64({of.operand(0).elements()}, {})); }

}  // namespace tilewright::imported::detail
