#pragma once
#include <tilewright/import/movement.hpp>
#include <tilewright/import/reductions.hpp>

// Operators whose operands say which elements are meant. What is read is at a computed index. What is written is not: each element asks
// all updates whether they are for it.
namespace tilewright::imported::detail {

/// An index that an operand gives, of which one below 0 counts from the end.
inline value wrapped(value const& given, std::int64_t extent) {
    if (given.type() != scalar_type::int32 && given.type() != scalar_type::int64)
        throw not_imported(std::string("indices of ") + name_of(given.type()));
    return once(given, [&](value const& at) { return choose(at < integer_like(at, 0), at + integer_like(at, extent), at); });
}
inline value is_at(value const& index, value const& axis) { return equal(index, convert(axis, index.type())); }

/// The indices of all loops, one for each dimension.
inline std::vector<value> indices_of(space const& loops) {
    std::vector<value> all;
    for (std::size_t at = 0; at < loops.axes.size(); ++at) all.push_back(loops.index(static_cast<int>(at)));
    return all;
}
/// The same as an index of a dimension. One that is not there stays so in 32 bits.
inline value index_along(value const& given, std::int64_t extent) {
    if (extent == 1) return none_of(scalar_type::int32);
    value const at = wrapped(given, extent);
    if (at.type() == scalar_type::int32) return at;
    return convert(smaller_of(larger_of(at, integer_like(at, -1)), integer_like(at, extent)), scalar_type::int32);
}
/// The element of a plain view at these indices, some of which are computed. Where there is none, 0.
inline value picked(view const& data, std::vector<value> const& index) { return padded_at(data, index, none_of(data.type())); }
/// Indices that are no arithmetic sequence, or are computed.
inline void gather_any(lowering& of, int dimension) {
    view const data = of.plain(of.operand(0)), which = of.indexable(of.operand(1));
    shape whole = data.shape();
    shape const inserted = which.shape();
    whole.erase(whole.begin() + dimension);
    whole.insert(whole.begin() + dimension, inserted.begin(), inserted.end());
    space const loops = loops_over(whole);
    std::vector<value> index = indices_of(loops);
    auto const begin = index.begin() + dimension, end = begin + which.rank();
    value const at = imported::at(which, std::vector<value>(begin, end));
    index.erase(begin, end);
    index.insert(index.begin() + dimension, index_along(at, data.extent(dimension)));
    of.compute(loops, picked(data, index), 0);
}
/// One slice where constant indices are an arithmetic sequence.
inline void gather(lowering& of) {
    view const from = of.operand(0);
    int const dimension = dimension_of(integer(of, "axis", 0), from.rank());
    if (!of.is_constant(1)) return gather_any(of, dimension);
    known_tensor const which = of.known(1);
    shape indices = lowering::integers_of(which);
    if (indices.empty()) throw not_imported("a result without elements");
    for (std::int64_t& one : indices) one = index_of(one, from.extent(dimension));
    std::int64_t const step = indices.size() > 1 ? indices[1] - indices[0] : 1;
    for (std::size_t at = 1; at < indices.size(); ++at) {
        if (indices[at] - indices[at - 1] != step) return gather_any(of, dimension);
    }
    view const made =
        step == 0 ? repeated(sliced_or_copied(of, from, dimension, indices[0], 1, 1), dimension, static_cast<std::int64_t>(indices.size()))
                  : sliced_or_copied(of, from, dimension, indices[0], step, static_cast<std::int64_t>(indices.size()));
    shape to = from.shape();
    to.erase(to.begin() + dimension);
    to.insert(to.begin() + dimension, which.what.extents.begin(), which.what.extents.end());
    reshape_to(of, made, to);
}
inline void gather_elements(lowering& of) {
    view const data = of.plain(of.operand(0)), which = of.indexable(of.operand(1));
    int const dimension = dimension_of(integer(of, "axis", 0), data.rank());
    if (which.rank() != data.rank()) throw not_imported("indices of " + text_of(which.shape()) + " for " + text_of(data.shape()));
    for (int at = 0; at < data.rank(); ++at) {
        if (at != dimension && which.extent(at) > data.extent(at))
            throw not_imported("indices of " + text_of(which.shape()) + " for " + text_of(data.shape()));
    }
    space const loops = loops_over(which.shape());
    std::vector<value> index = indices_of(loops);
    value const at = imported::at(which, index);
    index[static_cast<std::size_t>(dimension)] = index_along(at, data.extent(dimension));
    of.compute(loops, picked(data, index), 0);
}
/// The last dimension of the indices has one for each of the first dimensions of the data, after those that both share.
inline void gather_several(lowering& of) {
    view const data = of.plain(of.operand(0)), which = of.indexable(of.operand(1));
    if (which.rank() == 0) throw not_imported("indices without dimensions");
    std::int64_t const most = std::min(data.rank(), which.rank()) - 1;
    int const shared = static_cast<int>(limited(integer(of, "batch_dims", 0), 0, most, "shared dimensions"));
    int const count = static_cast<int>(limited(which.extent(which.rank() - 1), 1, data.rank() - shared, "indices"));
    shape const outer = which.shape(), inner = data.shape();
    for (int at = 0; at < shared; ++at) {
        if (outer[static_cast<std::size_t>(at)] != inner[static_cast<std::size_t>(at)]) throw not_imported("shared dimensions that differ");
    }
    shape whole(outer.begin(), outer.end() - 1);
    whole.insert(whole.end(), inner.begin() + shared + count, inner.end());
    space const loops = loops_over(whole);
    std::vector<value> const index = indices_of(loops);
    std::vector<value> position(index.begin(), index.begin() + which.rank() - 1), element(index.begin(), index.begin() + shared);
    for (int at = 0; at < count; ++at) {
        std::vector<value> one = position;
        one.push_back(number(std::int64_t{at}, scalar_type::int32));
        element.push_back(index_along(imported::at(which, one), data.extent(shared + at)));
    }
    element.insert(element.end(), index.begin() + which.rank() - 1, index.end());
    of.compute(loops, picked(data, element), 0);
}
/// What the updates make of an element that some of them match: where several do, the last one, their sum, or the extreme.
///
/// @param matches  whether the update at `axes` is one of the element
/// @param number_of_it  the position of that update
inline void scatter(lowering& of, view const& data, space const& loops, std::vector<value> const& axes, value const& matches,
                    value const& number_of_it, value const& update) {
    std::string const how = word(of, "reduction", "none");
    value const old = imported::at(data, indices_of(loops));
    scalar_type const type = data.type();
    auto const extreme = [&](operation op, operation one, std::int64_t neutral, double infinite_one) {
        value const none = is_float(type) ? number(infinite_one, type) : number(neutral, type);
        view const found = of.stage(loops, over(op, axes, choose(matches, update, none)));
        of.compute(loops, binary(one, old, imported::at(found, loops)), 0);
    };
    if (how == "max") return extreme(operation::reduce_maximum, operation::maximum, lowest_of(type), -infinite);
    if (how == "min") return extreme(operation::reduce_minimum, operation::minimum, highest_of(type), infinite);
    if (how == "add") {
        view const sums = of.stage(loops, over(operation::reduce_sum, axes, choose(matches, update, none_of(type))));
        return void(of.compute(loops, old + imported::at(sums, loops), 0));
    }
    if (how != "none") throw not_imported("reduction " + network::shown(how));
    value const nothing = number(std::int64_t{-1}, scalar_type::int32);
    view const last = of.stage(loops, over(operation::reduce_maximum, axes, choose(matches, number_of_it, nothing)));
    value const it = imported::at(last, loops);
    view const news = of.stage(loops, over(operation::reduce_sum, axes, choose(equal(it, number_of_it), update, none_of(type))));
    of.compute(loops, choose(it < none_of(scalar_type::int32), old, imported::at(news, loops)), 0);
}
inline void scatter_elements(lowering& of) {
    view const data = of.indexable(of.operand(0)), which = of.plain(of.operand(1)), updates = of.plain(of.operand(2));
    int const dimension = dimension_of(integer(of, "axis", 0), data.rank());
    if (which.rank() != data.rank() || which.shape() != updates.shape())
        throw not_imported("updates of " + text_of(updates.shape()) + " at indices of " + text_of(which.shape()));
    space const loops = loops_over(data.shape());
    std::vector<value> index = indices_of(loops), axes;
    std::int64_t const count = which.extent(dimension);
    value const here = index[static_cast<std::size_t>(dimension)];
    value const update = count > 1 ? along("update", count) : none_of(scalar_type::int32);
    if (count > 1) axes.push_back(update);
    index[static_cast<std::size_t>(dimension)] = update;
    // Outside of the updates there is no index that an element has.
    value const at = wrapped(padded_at(which, index, number(lowest_of(which.type()), which.type())), data.extent(dimension));
    scatter(of, data, loops, axes, is_at(at, here), update, padded_at(updates, index, none_of(updates.type())));
}
inline void scatter_several(lowering& of) {
    view const data = of.indexable(of.operand(0)), which = of.indexable(of.operand(1)), updates = of.indexable(of.operand(2));
    if (which.rank() == 0) throw not_imported("indices without dimensions");
    int const count = static_cast<int>(limited(which.extent(which.rank() - 1), 1, data.rank(), "indices"));
    shape const inner = data.shape(), outer = which.shape();
    shape expected(outer.begin(), outer.end() - 1);
    expected.insert(expected.end(), inner.begin() + count, inner.end());
    if (updates.shape() != expected) throw not_imported("updates of " + text_of(updates.shape()) + ", not of " + text_of(expected));
    space const loops = loops_over(data.shape());
    std::vector<value> const index = indices_of(loops);
    std::vector<value> position, axes;
    value number_of_it = none_of(scalar_type::int32);
    for (int at = 0; at + 1 < which.rank(); ++at) {
        std::int64_t const extent = which.extent(at);
        value const one = extent > 1 ? along(ir::label(("update" + std::to_string(at)).c_str()), extent) : none_of(scalar_type::int32);
        if (extent > 1) axes.push_back(one), number_of_it = number_of_it * number(extent, scalar_type::int32) + one;
        position.push_back(one);
    }
    std::optional<value> matches;
    for (int at = 0; at < count; ++at) {
        std::vector<value> one = position;
        one.push_back(number(std::int64_t{at}, scalar_type::int32));
        value const match = is_at(wrapped(imported::at(which, one), data.extent(at)), index[static_cast<std::size_t>(at)]);
        matches = matches ? binary(operation::logical_and, *matches, match) : match;
    }
    std::vector<value> update = position;
    update.insert(update.end(), index.begin() + count, index.end());
    scatter(of, data, loops, axes, *matches, number_of_it, imported::at(updates, update));
}

/// `If`: what a branch gives that is known to be taken. Where the condition is not known, both are computed and each element is chosen.
inline void choose_branch(lowering& of) {
    std::size_t const count = of.node->outputs.size();
    if (of.node->inputs.size() != 1 + 2 * count) throw not_imported("branches of several numbers of results");
    if (of.is_constant(0)) {
        std::size_t const first = known_integer(of, 0) != 0 ? 1 : 1 + count;
        for (std::size_t at = 0; at < count; ++at) {
            if (of.is_constant(first + at)) of.give_known(at, of.known(first + at));
            else of.give(at, of.operand(first + at));
        }
        return;
    }
    view const condition = of.operand(0);
    if (condition.elements() != 1) throw not_imported("a condition of " + text_of(condition.shape()));
    for (std::size_t at = 0; at < count; ++at) {
        std::vector<view> both{of.operand(1 + at), of.operand(1 + count + at)};
        shape const whole = both[0].shape();
        if (both[1].shape() != whole || both[0].type() != both[1].type())
            throw not_imported("a condition that is not known, and branches that give " + text_of(whole) + " and " +
                               text_of(both[1].shape()));
        space const loops = of.loops(both, whole);
        of.compute(loops, choose(is_true(scalar_of(condition)), imported::at(both[0], loops), imported::at(both[1], loops)), at);
    }
}

}  // namespace tilewright::imported::detail
