#pragma once
#include <numeric>
#include <tilewright/import/movement.hpp>
#include <tilewright/import/quantised_elementwise.hpp>

// Operators of TensorFlow Lite that move elements, and images of another size.
namespace tilewright::imported::detail::tflite {

/// A slice; a dimension that is cut across what a reshape joined is copied first.
inline view sliced_anyhow(lowering& of, view const& from, int dimension, std::int64_t begin, std::int64_t step, std::int64_t count) {
    if (count < 1) throw not_imported("a result without elements");
    if (auto const made = sliced(from, dimension, begin, step, count)) return *made;
    return sliced(of.joined(from, dimension), dimension, begin, step, count).value();
}
inline void reshape(lowering& of) {
    need_same_quantisation(of, 0);
    view const from = of.operand(0);
    shape to = of.has(1) ? of.known_integers(1) : integers(of, "new_shape").value_or(shape{});
    std::int64_t rest = from.elements();
    std::int64_t* left_out = nullptr;
    for (std::int64_t& one : to) {
        if (one == -1 && left_out == nullptr) left_out = &one;
        else if (one < 1 || rest % one != 0) throw not_imported("to a shape that has another number of elements");
        else rest /= one;
    }
    if (left_out != nullptr) *left_out = rest;
    else if (rest != 1) throw not_imported("to a shape that has another number of elements");
    reshape_to(of, from, to);
}
inline void squeeze(lowering& of) {
    need_same_quantisation(of, 0);
    view made = of.operand(0);
    shape const axes = integers(of, "squeeze_dims").value_or(shape{});
    std::vector<bool> gone(made.dimensions.size(), false);
    for (int at = 0; axes.empty() && at < made.rank(); ++at) gone[static_cast<std::size_t>(at)] = made.extent(at) == 1;
    for (std::int64_t const one : axes) {
        int const at = dimension_of(one, made.rank());
        if (made.extent(at) != 1) throw not_imported("a dimension of extent " + std::to_string(made.extent(at)));
        gone[static_cast<std::size_t>(at)] = true;
    }
    std::vector<std::size_t> kept;
    for (std::size_t at = 0; at < gone.size(); ++at) {
        if (!gone[at]) kept.push_back(at);
    }
    of.give(0, only(made, kept));
}
inline void expand_dimensions(lowering& of) {
    need_same_quantisation(of, 0);
    view made = of.operand(0);
    made.dimensions.insert(made.dimensions.begin() + dimension_of(known_integer(of, 1), made.rank() + 1), factors{});
    of.give(0, made);
}
inline void transpose(lowering& of) {
    need_same_quantisation(of, 0);
    view const from = of.operand(0);
    shape order;
    for (std::int64_t const one : of.known_integers(1)) order.push_back(dimension_of(one, from.rank()));
    shape sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t at = 0; at < sorted.size(); ++at) {
        if (sorted[at] != static_cast<std::int64_t>(at)) throw not_imported("an order that is none of the dimensions");
    }
    if (static_cast<int>(order.size()) != from.rank()) throw not_imported("an order of other dimensions");
    of.give(0, transposed(from, order));
}
inline void slice(lowering& of) {
    need_same_quantisation(of, 0);
    view made = of.operand(0);
    shape const begins = of.known_integers(1), sizes = of.known_integers(2);
    if (static_cast<int>(begins.size()) != made.rank() || sizes.size() != begins.size()) throw not_imported("a slice of other dimensions");
    for (int at = 0; at < made.rank(); ++at) {
        std::int64_t const begin = limited(begins[static_cast<std::size_t>(at)], 0, most_extent, "a begin"),
                           size = limited(sizes[static_cast<std::size_t>(at)], -1, most_extent, "a size");
        std::int64_t const count = size == -1 ? made.extent(at) - begin : size;
        if (count < 1 || begin + count > made.extent(at)) throw not_imported("a slice outside of its tensor");
        made = sliced_anyhow(of, made, at, begin, 1, count);
    }
    of.give(0, made);
}
inline void slice_by_strides(lowering& of) {
    need_same_quantisation(of, 0);
    view made = of.operand(0);
    shape const begins = of.known_integers(1), ends = of.known_integers(2), strides = of.known_integers(3);
    if (integer(of, "ellipsis_mask", 0) != 0 || integer(of, "new_axis_mask", 0) != 0) throw not_imported("ellipses and new dimensions");
    if (begins.size() > made.dimensions.size() || ends.size() != begins.size() || strides.size() != begins.size())
        throw not_imported("a slice of other dimensions");
    std::vector<std::size_t> kept;
    for (std::size_t at = 0; at < made.dimensions.size(); ++at) {
        int const dimension = static_cast<int>(at);
        if (at >= begins.size()) {
            kept.push_back(at);
            continue;
        }
        auto const masked = [&](char const* name) { return at < 32 && (integer(of, name, 0) >> at & 1) != 0; };
        std::int64_t const extent = made.extent(dimension), step = limited(strides[at], -most_extent, most_extent, "a stride");
        std::int64_t const begin_given = limited(begins[at], -most_extent, most_extent, "a begin"),
                           end_limited = limited(ends[at], -most_extent, most_extent, "an end");
        if (step == 0) throw not_imported("a stride of 0");
        auto const from_the_end = [&](std::int64_t given) { return given < 0 ? given + extent : given; };
        if (masked("shrink_axis_mask")) {
            std::int64_t const begin = masked("begin_mask") ? 0 : from_the_end(begin_given);
            if (begin < 0 || begin >= extent) throw not_imported("a slice outside of its tensor");
            made = sliced_anyhow(of, made, dimension, begin, 1, 1);
            continue;
        }
        kept.push_back(at);
        std::int64_t const low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
        std::int64_t const end_given = integer(of, "offset", 0) != 0 ? begin_given + end_limited : end_limited;
        std::int64_t const begin = masked("begin_mask") ? (step > 0 ? 0 : extent - 1) : std::clamp(from_the_end(begin_given), low, high);
        std::int64_t const end = masked("end_mask") ? (step > 0 ? extent : -1) : std::clamp(from_the_end(end_given), low, high);
        made =
            sliced_anyhow(of, made, dimension, begin, step, step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step);
    }
    of.give(0, only(made, kept));
}
inline void split(lowering& of) {
    for (std::size_t at = 0; at < of.node->outputs.size(); ++at) need_same_quantisation(of, 1, at);
    view const from = of.operand(1);
    int const dimension = dimension_of(known_integer(of, 0), from.rank());
    auto const parts = std::max<std::int64_t>(static_cast<std::int64_t>(of.node->outputs.size()), 1);
    std::int64_t const each = from.extent(dimension) / parts;
    if (each * parts != from.extent(dimension)) throw not_imported("parts that are not equal");
    view const whole = of.joined(from, dimension);
    for (std::int64_t at = 0; at < parts; ++at)
        of.give(static_cast<std::size_t>(at), sliced_anyhow(of, whole, dimension, at * each, 1, each));
}
inline void unpack(lowering& of) {
    view const from = of.operand(0);
    int const dimension = dimension_of(integer(of, "axis", 0), from.rank());
    if (from.extent(dimension) != static_cast<std::int64_t>(of.node->outputs.size())) throw not_imported("another number of results");
    view const whole = of.joined(from, dimension);
    std::vector<std::size_t> kept;
    for (std::size_t at = 0; at < from.dimensions.size(); ++at) {
        if (static_cast<int>(at) != dimension) kept.push_back(at);
    }
    for (std::size_t at = 0; at < of.node->outputs.size(); ++at) {
        need_same_quantisation(of, 0, at);
        of.give(at, only(sliced_anyhow(of, whole, dimension, static_cast<std::int64_t>(at), 1, 1), kept));
    }
}
/// Views that follow each other along a dimension.
inline void join(lowering& of, std::vector<view> parts, int dimension) {
    shape whole = parts[0].shape();
    auto const along_it = static_cast<std::size_t>(dimension);
    for (std::size_t at = 1; at < parts.size(); ++at) {
        shape other = parts[at].shape();
        if (other.size() != whole.size()) throw not_imported("tensors of different dimensions");
        std::int64_t const sum = whole[along_it] + other[along_it];
        whole[along_it] = other[along_it] = sum;
        if (other != whole) throw not_imported("shapes that do not fit");
    }
    space const loops = loops_over(whole);
    value made;
    std::int64_t end = whole[along_it];
    for (std::size_t at = parts.size(); at-- > 0;) {
        view const part = of.with_whole_factors(joined(of, parts[at]));
        std::int64_t const begin = end - part.extent(dimension);
        std::vector<value> indices;
        for (int one = 0; one < part.rank(); ++one) {
            value const index = loops.index(one);
            indices.push_back(one == dimension && begin > 0 ? index - in32(begin) : index);
        }
        value const element = padded_at(part, indices, number(std::int64_t{0}, part.type()));
        // Outside of a part is 0; what comes first is chosen where its end is not reached.
        made = made.nodes.empty() ? element : choose(loops.index(dimension) < in32(end), element, made);
        end = begin;
    }
    of.compute(loops, made, 0);
}
inline void concatenate(lowering& of) {
    if (activation_of(of) != "NONE") throw not_imported("activation " + activation_of(of));
    std::vector<view> parts;
    for (std::size_t at = 0; at < of.node->inputs.size(); ++at) {
        need_same_quantisation(of, at);
        parts.push_back(of.operand(at));
    }
    if (parts.empty()) throw not_imported("of nothing");
    join(of, parts, dimension_of(integer(of, "axis", 0), parts[0].rank()));
}
inline void pack(lowering& of) {
    std::vector<view> parts;
    int dimension = 0;
    for (std::size_t at = 0; at < of.node->inputs.size(); ++at) {
        need_same_quantisation(of, at);
        view one = of.operand(at);
        dimension = dimension_of(integer(of, "axis", 0), one.rank() + 1);
        one.dimensions.insert(one.dimensions.begin() + dimension, factors{});
        parts.push_back(one);
    }
    if (parts.empty()) throw not_imported("of nothing");
    join(of, parts, dimension);
}
/// What is added is the zero point, or what PADV2 is given.
inline void pad(lowering& of) {
    need_same_quantisation(of, 0);
    view x = of.operand(0);
    shape const pads = of.known_integers(1);
    if (pads.size() != 2 * x.dimensions.size()) throw not_imported("pads of another number of dimensions");
    network::tensor const& result = result_tensor(of);
    std::int64_t const nothing =
        is_int8(result) && result.quantised && !result.quantised->scales.empty() ? quantisation_of(result).zero_point : 0;
    value border = number(nothing, x.type());
    if (of.has(2)) {
        need_same_quantisation(of, 2);
        border = known_number(of, 2, x.type());
    }
    view like_x = x;
    shape whole = x.shape();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (std::size_t const side : {2 * at, 2 * at + 1}) limited(pads[side], 0, most_extent, "a pad");
        if (pads[2 * at] + pads[2 * at + 1] == 0) continue;
        x = of.joined(x, static_cast<int>(at));
        like_x.dimensions[at] = {};
        whole[at] += pads[2 * at] + pads[2 * at + 1];
    }
    x = of.with_whole_factors(x);
    space const loops = loops_over({like_x}, whole);
    std::vector<std::vector<value>> read = loops.axes;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        if (pads[2 * at] + pads[2 * at + 1] > 0) read[at] = {loops.index(static_cast<int>(at)) - in32(pads[2 * at])};
    }
    of.compute(loops, padded_at_factors(x, read, border), 0);
}

/// The element of a plain view where the loops are, but for a computed index along a dimension, of elements that are there.
inline value taken_at(view const& x, space const& loops, int dimension, value const& index) {
    std::vector<value> all;
    for (int at = 0; at < x.rank(); ++at) all.push_back(at == dimension ? index : loops.index(at));
    return padded_at(x, all, none_of(x.type()));
}
/// These indices of a dimension: another way to read it where they are a sequence, or a sequence of which each stands several times;
/// otherwise a kernel that reads at the indices of a table.
inline view taken(lowering& of, view const& from, int dimension, shape const& indices) {
    auto const count = static_cast<std::int64_t>(indices.size());
    if (count == 0) throw not_imported("no index");
    for (std::int64_t const one : indices) {
        if (one < 0 || one >= from.extent(dimension))
            throw not_imported("index " + std::to_string(one) + " of " + std::to_string(from.extent(dimension)));
    }
    std::int64_t times_each = 1;
    while (times_each < count && indices[static_cast<std::size_t>(times_each)] == indices[0]) ++times_each;
    std::int64_t const step = times_each < count ? indices[static_cast<std::size_t>(times_each)] - indices[0] : 1;
    std::size_t cut = 0;
    for (factors const& one : from.dimensions) cut += one.size();
    bool is_sequence = count % times_each == 0 && (times_each == 1 || cut < max_rank);
    for (std::int64_t at = 0; at < count; ++at)
        is_sequence = is_sequence && indices[static_cast<std::size_t>(at)] == indices[0] + at / times_each * step;
    auto const place = static_cast<std::size_t>(dimension);
    if (is_sequence) {
        view made = sliced_anyhow(of, from, dimension, indices[0], step, count / times_each);
        if (times_each > 1) made.dimensions[place].push_back({times_each, shape(made.first.size(), 0)});
        return made;
    }
    view const x = of.plain(from);
    shape whole = x.shape();
    whole[place] = count;
    space const loops = loops_over(whole);
    value const index = imported::at(of.constant(known_int32(indices)), {loops.index(dimension)});
    return of.compute(loops, taken_at(x, loops, dimension, index));
}
inline void gather(lowering& of) {
    need_same_quantisation(of, 0);
    if (integer(of, "batch_dims", 0) != 0) throw not_imported("batches of indices");
    view const from = of.operand(0);
    int const dimension = dimension_of(integer(of, "axis", 0), from.rank());
    known_tensor const which = of.known(1);
    view const made = taken(of, from, dimension, lowering::integers_of(which));
    shape to = from.shape();
    to.erase(to.begin() + dimension);
    to.insert(to.begin() + dimension, which.what.extents.begin(), which.what.extents.end());
    reshape_to(of, made, to);
}

/// Extents of an image and of the one that is made of it: [n, y, x, c], and the second operand has y and x of the result.
struct resized {
    view x;
    shape whole;
    bool corners = false, half_pixels = false;
};
inline resized resized_image(lowering& of) {
    need_same_quantisation(of, 0);
    resized made{.x = of.operand(0), .whole = {}};
    shape const to = of.known_integers(1);
    made.whole = made.x.shape();
    if (made.whole.size() != 4 || to.size() != 2) throw not_imported("of " + text_of(made.whole) + " to " + text_of(to));
    for (std::size_t const at : {0u, 1u}) made.whole[at + 1] = limited(to[at], 1, 1 << 20, "an extent");
    imported::count_of(made.whole);
    made.corners = integer(of, "align_corners", 0) != 0, made.half_pixels = integer(of, "half_pixel_centers", 0) != 0;
    return made;
}
inline void resize_to_nearest(lowering& of) {
    resized const how = resized_image(of);
    view made = how.x;
    for (int const dimension : {1, 2}) {
        std::int64_t const from = made.extent(dimension), to = how.whole[static_cast<std::size_t>(dimension)];
        float const scale = how.corners && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                                                  : static_cast<float>(from) / static_cast<float>(to);
        shape indices;
        for (std::int64_t at = 0; at < to; ++at) {
            float const place = (static_cast<float>(at) + (how.half_pixels ? 0.5f : 0.0f)) * scale;
            std::int64_t const index =
                how.corners ? nearest_away(static_cast<double>(place)) : static_cast<std::int64_t>(std::floor(place));
            indices.push_back(std::clamp<std::int64_t>(index, 0, from - 1));
        }
        made = taken(of, made, dimension, indices);
    }
    of.give(0, made);
}
/// The two indices of an image that each of the result lies between, and the share of the second one, in parts of 2^10.
struct neighbours {
    shape first = {}, second = {}, share = {};
};
inline neighbours neighbours_of(std::int64_t from, std::int64_t to, resized const& how) {
    std::int64_t const one = 1 << 10;
    std::int64_t const scale = how.corners && to > 1 ? (one * (from - 1) + (to - 1) / 2) / (to - 1) : (one * from + to / 2) / to;
    neighbours made;
    for (std::int64_t at = 0; at < to; ++at) {
        std::int64_t const place = at * scale + (how.half_pixels ? scale / 2 - one / 2 : 0);
        std::int64_t const lower = std::max<std::int64_t>(place / one, 0), upper = std::min((place + one - 1) / one, from - 1);
        made.first.push_back(std::min(lower, from - 1)), made.second.push_back(upper), made.share.push_back(place - one * lower);
    }
    return made;
}
/// Of int8, in parts of 2^10 along each dimension. Rows first, then columns: the sums are exact, so that it makes no difference.
inline void resize_bilinearly(lowering& of) {
    if (computes_floats(of, {0})) throw not_imported("of elements of float32");
    resized const how = resized_image(of);
    if (how.corners && how.half_pixels) throw not_imported("corners and centers of pixels at once");
    view x = how.x;
    for (int const dimension : {1, 2}) {
        auto const place = static_cast<std::size_t>(dimension);
        neighbours const two = neighbours_of(x.extent(dimension), how.whole[place], how);
        x = of.plain(x);
        shape whole = x.shape();
        whole[place] = how.whole[place];
        space const loops = loops_over(whole);
        auto const listed = [&](shape const& numbers) { return imported::at(of.constant(known_int32(numbers)), {loops.index(dimension)}); };
        auto const element = [&](shape const& indices) {
            return convert(taken_at(x, loops, dimension, listed(indices)), scalar_type::int32);
        };
        value const share = listed(two.share), sums = element(two.first) * (in32(1 << 10) - share) + element(two.second) * share;
        if (dimension == 1) {
            x = of.compute(loops, sums);
            continue;
        }
        of.compute(loops, sums, 0, [](value const& sum) {
            parameter<std::int32_t> const s{"s"}, q{"q"};
            value const quotient = imported::apply((max(s, 0 - s) + (1 << 19)) >> 20, {{"s", sum}});
            return convert(imported::apply(select(s < 0, 0 - q, q), {{"s", sum}, {"q", quotient}}), scalar_type::int8);
        });
    }
}

/// Blocks of pixels as channels, and back: rows and columns in a block come before its channels.
inline void gather_blocks(lowering& of) {
    need_same_quantisation(of, 0);
    shape const x = of.operand(0).shape();
    std::int64_t const size = limited(integer(of, "block_size", 0), 1, most_extent, "a block");
    if (x.size() != 4 || x[1] % size != 0 || x[2] % size != 0)
        throw not_imported("of " + text_of(x) + " in blocks of " + std::to_string(size));
    view const apart = of.reshaped(of.operand(0), {x[0], x[1] / size, size, x[2] / size, size, x[3]});
    of.give(0, of.reshaped(imported::transposed(apart, {0, 1, 3, 2, 4, 5}), {x[0], x[1] / size, x[2] / size, x[3] * size * size}));
}
inline void spread_blocks(lowering& of) {
    need_same_quantisation(of, 0);
    shape const x = of.operand(0).shape();
    std::int64_t const size = limited(integer(of, "block_size", 0), 1, 1 << 15, "a block");
    if (x.size() != 4 || x[3] % (size * size) != 0) throw not_imported("of " + text_of(x) + " in blocks of " + std::to_string(size));
    view const apart = of.reshaped(of.operand(0), {x[0], x[1], x[2], size, size, x[3] / (size * size)});
    of.give(0, of.reshaped(imported::transposed(apart, {0, 1, 3, 2, 4, 5}), {x[0], x[1] * size, x[2] * size, x[3] / (size * size)}));
}

}  // namespace tilewright::imported::detail::tflite
