#pragma once
#include <numeric>
#include <tilewright/reference/onnx_unary.hpp>

// Operators whose operands say which elements they take or change.
namespace tilewright::reference::of_onnx {

/// An index that may count from the end. @throws not_covered  where the extent does not have it
inline std::int64_t index_of(std::int64_t index, std::int64_t extent) {
    require(-extent <= index && index < extent, "an index outside of the extent");
    return index < 0 ? index + extent : index;
}

/// Whole slices along an axis; the extents of the indices take its place.
inline elements gather(call const& of) {
    auto const &in = of.operand(0), &indices = of.operand(1);
    std::size_t const axis = axis_of(of.integer("axis", 0), in.extents.size());
    auto const picks = integers_of(indices);
    std::int64_t const outer = count_between(in.extents, 0, axis), inner = count_between(in.extents, axis + 1, in.extents.size());
    shape extents(in.extents.begin(), in.extents.begin() + static_cast<std::ptrdiff_t>(axis));
    extents.insert(extents.end(), indices.extents.begin(), indices.extents.end());
    extents.insert(extents.end(), in.extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.extents.end());
    places from;
    for (std::int64_t before = 0; before < outer; ++before) {
        for (std::int64_t const one : picks) {
            std::int64_t const first = (before * in.extents[axis] + index_of(one, in.extents[axis])) * inner;
            for (std::int64_t at = 0; at < inner; ++at) from.push_back(static_cast<std::size_t>(first + at));
        }
    }
    return pick(in, extents, from);
}

/// For each element of `indices`, the place in `extents` at its own index, but for the axis, where it says so itself.
inline places places_along(shape const& extents, elements const& indices, std::size_t axis) {
    require(indices.extents.size() == extents.size(), "indices of another rank");
    auto const picks = integers_of(indices);
    places made;
    each_index(indices.extents, [&](shape index) {
        for (std::size_t at = 0; at < index.size(); ++at) require(at == axis || index[at] < extents[at], "more indices than elements");
        index[axis] = index_of(picks[made.size()], extents[axis]);
        made.push_back(place_of(index, extents));
    });
    return made;
}
inline elements gather_elements(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const axis = axis_of(of.integer("axis", 0), in.extents.size());
    return pick(in, of.operand(1).extents, places_along(in.extents, of.operand(1), axis));
}

/// Makes of each old element and a new one what a reduction says: the new one for `none`.
inline elements scattered(elements const& in, places const& at, elements const& updates, std::string const& how) {
    require(in.type == updates.type && static_cast<std::int64_t>(at.size()) == count_of(updates.extents), "updates that do not fit");
    require(how == "none" || how == "add" || how == "mul" || how == "max" || how == "min", "a reduction of another name");
    return with_wide(in.type, [&](auto wide) {
        auto made = detail::numbers_of<decltype(wide)>(in);
        auto const changes = detail::numbers_of<decltype(wide)>(updates);
        for (std::size_t from = 0; from < at.size(); ++from) {
            auto& one = made[at[from]];
            auto const change = changes[from];
            one = how == "add"   ? plus(one, change)
                  : how == "mul" ? times(one, change)
                  : how == "max" ? larger(one, change)
                  : how == "min" ? smaller(one, change)
                                 : change;
        }
        return detail::of_numbers(in.type, in.extents, made);
    });
}
inline elements scatter_elements(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const axis = axis_of(of.integer("axis", 0), in.extents.size());
    return scattered(in, places_along(in.extents, of.operand(1), axis), of.operand(2), of.word("reduction", "none"));
}

/// Slices that rows of indices name.
struct slices {
    shape extents = {};  ///< of the indices but their last one, then of a slice
    places at = {};      ///< of each element

    /// @param shared  leading extents that both have
    slices(shape const& data, elements const& indices, std::size_t shared) {
        shape const& rows = indices.extents;
        require(!rows.empty() && shared < rows.size(), "indices without extents");
        auto const depth = static_cast<std::size_t>(rows.back());
        require(shared + depth <= data.size(), "more indices than extents");
        extents.assign(rows.begin(), rows.end() - 1);
        extents.insert(extents.end(), data.begin() + static_cast<std::ptrdiff_t>(shared + depth), data.end());
        shape const steps = strides_of(data), before(rows.begin(), rows.end() - 1);
        std::int64_t const size = count_between(data, shared + depth, data.size());
        auto const numbers = integers_of(indices);
        std::size_t next_number = 0;
        each_index(before, [&](shape const& row) {
            std::int64_t first = 0;
            for (std::size_t axis = 0; axis < shared; ++axis) first += index_of(row[axis], data[axis]) * steps[axis];
            for (std::size_t axis = shared; axis < shared + depth; ++axis)
                first += index_of(numbers[next_number++], data[axis]) * steps[axis];
            for (std::int64_t one = 0; one < size; ++one) at.push_back(static_cast<std::size_t>(first + one));
        });
    }
};
inline elements gather_nd(call const& of) {
    slices const which(of.operand(0).extents, of.operand(1), static_cast<std::size_t>(of.integer("batch_dims", 0)));
    return pick(of.operand(0), which.extents, which.at);
}
inline elements scatter_nd(call const& of) {
    slices const which(of.operand(0).extents, of.operand(1), 0);
    return scattered(of.operand(0), which.at, of.operand(2), of.word("reduction", "none"));
}

/// Indices outside of the depth have no hot element.
inline elements one_hot(call const& of) {
    auto const &indices = of.operand(0), &values = of.operand(2);
    auto const depth = cast_to(single(of.operand(1)), element_type::int64);
    std::int64_t const extent = integers_of(depth)[0];
    auto const picks = integers_of(cast_to(indices, element_type::int64));
    std::size_t const axis = axis_of(of.integer("axis", -1), indices.extents.size() + 1);
    require(values.extents == shape{2} && extent > 0, "no depth, or other than two values");
    shape extents = indices.extents;
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), extent);
    places from;
    each_index(extents, [&](shape index) {
        std::int64_t const at = index[axis];
        index.erase(index.begin() + static_cast<std::ptrdiff_t>(axis));
        std::int64_t const hot = picks[place_of(index, indices.extents)];
        from.push_back((hot < 0 && of.version() >= 11 ? hot + extent : hot) == at ? 1 : 0);
    });
    return pick(values, extents, from);
}

/// Slices along an axis whose truth is set; without an axis, elements.
inline elements compress(call const& of) {
    elements in = of.operand(0);
    if (!of.has("axis")) in.extents = {count_of(in.extents)};
    std::size_t const axis = axis_of(of.integer("axis", 0), in.extents.size());
    auto const truths = integers_of(of.operand(1));
    shape kept;
    for (std::size_t at = 0; at < truths.size(); ++at) {
        if (truths[at] != 0) kept.push_back(index_of(static_cast<std::int64_t>(at), in.extents[axis]));
    }
    shape extents = in.extents;
    extents[axis] = static_cast<std::int64_t>(kept.size());
    places from;
    each_index(extents, [&](shape index) {
        index[axis] = kept[static_cast<std::size_t>(index[axis])];
        from.push_back(place_of(index, in.extents));
    });
    return pick(in, extents, from);
}

/// Indices of elements that are not 0: [rank][count].
inline elements non_zero(call const& of) {
    auto const& in = of.operand(0);
    auto const truths = integers_of(cast_to(in, element_type::boolean));
    std::vector<shape> found(in.extents.size());
    std::size_t place = 0;
    each_index(in.extents, [&](shape const& index) {
        if (truths[place++] == 0) return;
        for (std::size_t at = 0; at < index.size(); ++at) found[at].push_back(index[at]);
    });
    shape made;
    for (shape const& one : found) made.insert(made.end(), one.begin(), one.end());
    auto const count = found.empty() ? 0 : static_cast<std::int64_t>(found[0].size());
    return of_integers(element_type::int64, {static_cast<std::int64_t>(found.size()), count}, made);
}

/// The largest elements along an axis, sorted, with their indices; of equal ones, the first comes first.
inline results top_k(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const axis = axis_of(of.integer("axis", -1), in.extents.size());
    std::int64_t const count = of.version() < 10 ? of.integer("k", 0) : integers_of(single(of.operand(1)))[0];
    bool const largest = of.integer("largest", 1) != 0;
    std::int64_t const extent = in.extents[axis], step = strides_of(in.extents)[axis];
    require(count >= 0 && count <= extent, "more elements than there are");
    shape starts = in.extents, extents = in.extents;
    starts[axis] = 1, extents[axis] = count;
    places from(static_cast<std::size_t>(count_of(extents)));
    shape indices(from.size());
    places const firsts = walk<std::size_t>(starts, 0, strides_of(in.extents)), to = walk<std::size_t>(starts, 0, strides_of(extents));
    with_wide(in.type, [&](auto wide) {
        auto const values = detail::numbers_of<decltype(wide)>(in);
        for (std::size_t line = 0; line < firsts.size(); ++line) {
            shape order(static_cast<std::size_t>(extent));
            std::iota(order.begin(), order.end(), 0);
            auto const value = [&](std::int64_t at) { return values[firsts[line] + static_cast<std::size_t>(at * step)]; };
            std::stable_sort(order.begin(), order.end(),
                             [&](std::int64_t a, std::int64_t b) { return largest ? value(a) > value(b) : value(a) < value(b); });
            for (std::int64_t at = 0; at < count; ++at) {
                std::size_t const place = to[line] + static_cast<std::size_t>(at * step);
                indices[place] = order[static_cast<std::size_t>(at)];
                from[place] = firsts[line] + static_cast<std::size_t>(indices[place] * step);
            }
        }
    });
    return {pick(in, extents, from), of_integers(element_type::int64, extents, indices)};
}

}  // namespace tilewright::reference::of_onnx
