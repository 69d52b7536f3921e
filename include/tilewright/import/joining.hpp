#pragma once
#include <tilewright/import/values.hpp>
#include <utility>

// Operators that put tensors together: side by side, or with elements around them.
namespace tilewright::imported::detail {

/// Views after each other along a dimension: loops over the whole, and its element where they are.
inline std::pair<space, value> side_by_side(lowering& of, std::vector<view> const& parts, int dimension) {
    view const first = parts[0];
    shape whole = first.shape();
    whole[static_cast<std::size_t>(dimension)] = 0;
    for (view const& one : parts) {
        shape part = one.shape(), rest = first.shape();
        if (part.size() != rest.size()) throw not_imported("parts of " + text_of(part) + " and " + text_of(rest));
        std::int64_t const extent = std::exchange(part[static_cast<std::size_t>(dimension)], 0);
        rest[static_cast<std::size_t>(dimension)] = 0;
        if (part != rest) throw not_imported("parts of " + text_of(one.shape()) + " and " + text_of(first.shape()));
        whole[static_cast<std::size_t>(dimension)] += extent;
        count_of(whole);
    }
    space const loops = loops_over(whole);
    value const zero = number(std::int64_t{0}, first.type());
    value made;
    std::int64_t end = whole[static_cast<std::size_t>(dimension)];
    for (std::size_t at = parts.size(); at-- > 0;) {
        std::int64_t const begin = end - parts[at].extent(dimension);
        std::vector<value> indices;
        for (int one = 0; one < first.rank(); ++one) {
            value const along_it = loops.index(one);
            indices.push_back(one == dimension && begin > 0 ? along_it - number(begin, scalar_type::int32) : along_it);
        }
        value const part = padded_at(of.plain(parts[at]), indices, zero);
        // Each part is 0 outside of itself; what comes first is chosen where its end is not reached.
        made = made.nodes.empty() ? part : choose(loops.index(dimension) < number(end, scalar_type::int32), part, made);
        end = begin;
    }
    return {loops, made};
}
/// These views after each other along a dimension, by kernels. A kernel reads so many tensors; more are joined in groups first.
///
/// @param output  a result that they are; none: other kernels read them
inline view joined_views(lowering& of, std::vector<view> parts, int dimension, std::optional<std::size_t> output = {}) {
    constexpr std::size_t most = 12;
    while (parts.size() > most) {
        std::vector<view> groups;
        for (auto first = parts.begin(); first != parts.end();) {
            auto const end = first + std::min<std::ptrdiff_t>(most, parts.end() - first);
            groups.push_back(joined_views(of, {first, end}, dimension));
            first = end;
        }
        parts = std::move(groups);
    }
    if (parts.size() == 1) {
        if (output) of.give(*output, parts[0]);
        return parts[0];
    }
    auto const [loops, made] = side_by_side(of, parts, dimension);
    return output ? of.compute(loops, made, *output) : of.compute(loops, made);
}
inline void concatenate(lowering& of) {
    // A part without elements adds none.
    std::vector<view> parts;
    for (std::size_t at = 0; at < of.node->inputs.size(); ++at) {
        auto const extents = of.shape_of_operand(at);
        if (std::find(extents.begin(), extents.end(), 0) == extents.end()) parts.push_back(of.operand(at));
    }
    if (parts.empty()) throw not_imported("a result without elements");
    joined_views(of, parts, dimension_of(integer(of, "axis", 1), parts[0].rank()), 0);
}
/// Elements before and after each dimension.
inline shape pads_of(lowering& of, int rank) {
    shape const given = list(of, "pads", 1).value_or(integers(of, "paddings").value_or(shape{}));
    shape axes;
    for (int at = 0; at < rank; ++at) axes.push_back(at);
    if (of.has(3)) axes = of.known_integers(3);
    dimensions_of(axes, rank);
    if (given.size() != 2 * axes.size()) throw not_imported("pads of another number of dimensions");
    shape made(static_cast<std::size_t>(2 * rank), 0);
    for (std::size_t at = 0; at < given.size(); ++at) {
        auto const dimension = static_cast<std::size_t>(dimension_of(axes[at % axes.size()], rank));
        made[dimension + (at < axes.size() ? 0 : static_cast<std::size_t>(rank))] = limited(given[at], -most_extent, most_extent, "a pad");
    }
    return made;
}
/// One dimension, before and after which stand its own elements: the last ones, those across its ends, or those of the other end.
inline view padded_by_itself(lowering& of, view x, int dimension, std::int64_t before, std::int64_t after, std::string const& mode) {
    std::int64_t const extent = x.extent(dimension), most = mode == "edge" ? most_extent / 2 : mode == "reflect" ? extent - 1 : extent;
    limited(before, 0, most, "a pad"), limited(after, 0, most, "a pad");
    x = of.plain(x);
    shape whole = x.shape();
    whole[static_cast<std::size_t>(dimension)] += before + after;
    space const loops = loops_over(whole);
    std::vector<value> index;
    for (int at = 0; at < x.rank(); ++at) index.push_back(loops.index(at));
    auto const in32 = [](std::int64_t of_it) { return number(of_it, scalar_type::int32); };
    value const here = index[static_cast<std::size_t>(dimension)];
    auto const read = [&](value const& at) {
        index[static_cast<std::size_t>(dimension)] = at;
        return padded_at(x, index, none_of(x.type()));
    };
    value const inside = read(here - in32(before));
    value const first = mode == "edge" ? in32(0) : mode == "reflect" ? in32(before) - here : here + in32(extent - before);
    value const last = mode == "edge"      ? in32(extent - 1)
                       : mode == "reflect" ? in32(2 * extent - 2 + before) - here
                                           : here - in32(before + extent);
    value const rest = after == 0 ? inside : choose(here < in32(before + extent), inside, read(last));
    return of.compute(loops, before == 0 ? rest : choose(here < in32(before), read(first), rest));
}
inline void pad(lowering& of) {
    view from = of.operand(0);
    shape const pads = pads_of(of, from.rank());
    std::string const mode = word(of, "mode", "constant");
    if (mode == "edge" || mode == "reflect" || mode == "wrap") {
        for (int at = 0; at < from.rank(); ++at) {
            std::int64_t const before = pads[static_cast<std::size_t>(at)], after = pads[static_cast<std::size_t>(at + from.rank())];
            if (before != 0 || after != 0) from = padded_by_itself(of, from, at, before, after, mode);
        }
        return of.give(0, from);
    }
    if (mode != "constant") throw not_imported("mode " + network::shown(mode));
    value const border = of.has(2)               ? known_number(of, 2, from.type())
                         : is_float(from.type()) ? number(static_cast<double>(real(of, "value", 0)), from.type())
                                                 : number(std::int64_t{0}, from.type());
    shape whole = from.shape();
    for (std::size_t at = 0; at < pads.size(); ++at) whole[at % whole.size()] += limited(pads[at], -most_extent, most_extent, "a pad");
    space const loops = loops_over(whole);
    std::vector<value> indices;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        value const index = loops.index(static_cast<int>(at));
        indices.push_back(pads[at] == 0 ? index : index - number(pads[at], scalar_type::int32));
    }
    of.compute(loops, padded_at(of.plain(from), indices, border), 0);
}

}  // namespace tilewright::imported::detail
