#pragma once
#include <cmath>
#include <tilewright/import/movement.hpp>

// Operators whose result follows from shapes and settings: constants, triangles, windows; and sums along a dimension.
namespace tilewright::imported::detail {

/// Elements of a constant, each from a number.
template <class Number>
known_tensor known_of(scalar_type type, std::vector<Number> const& values, shape const& extents) {
    known_tensor made(type, extents, {});
    visit_scalar(type, [&](auto one) {
        using element = decltype(one);
        for (Number const from : values) {
            auto const as = static_cast<element>(from);
            auto const* bytes = reinterpret_cast<std::byte const*>(&as);
            made.bytes.insert(made.bytes.end(), bytes, bytes + sizeof(element));
        }
    });
    return made;
}
/// A tensor of one element, repeated.
inline void constant_of_shape(lowering& of) {
    shape const whole = of.known_integers(0);
    count_of(whole);
    known_tensor one = known_of<std::int64_t>(scalar_type::float32, {0}, {});
    if (auto const* found = of.node->find("value")) {
        auto const* held = std::get_if<network::literal>(found);
        if (!held || elements_of(*held) != 1) throw not_imported("a value that is no tensor of one element");
        one = known_elements(of.from, held->type, {}, held->constant);
    }
    of.give(0, repeated_to(of.constant(std::move(one)), whole));
}
/// first, first + step, … before the end.
inline void range(lowering& of) {
    std::vector<known_tensor> ends;
    for (std::size_t at = 0; at < 3; ++at) ends.push_back(of.known(at));
    scalar_type const type = ends[0].what.type;
    if (ends[1].what.type != type || ends[2].what.type != type) throw not_imported("ends of several types");
    constexpr double most = 1 << 20;
    if (!is_float(type)) {
        std::int64_t const begin = known_integer(of, 0), end = known_integer(of, 1), step = known_integer(of, 2);
        constexpr std::int64_t largest = std::int64_t{1} << 40;
        for (std::int64_t const one : {begin, end, step}) limited(one, -largest, largest, "an end");
        if (step == 0) throw not_imported("a step of 0");
        std::int64_t const count = (end - begin + step - (step > 0 ? 1 : -1)) / step;
        limited(count, 1, static_cast<std::int64_t>(most), "a count");
        std::vector<std::int64_t> values;
        for (std::int64_t at = 0; at < count; ++at) values.push_back(begin + at * step);
        return of.give_known(0, known_of(type, values, {count}));
    }
    std::vector<double> numbers;
    for (std::size_t at = 0; at < 3; ++at) numbers.push_back(known_real(of, at));
    double const count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
    if (!(count >= 1 && count <= most)) throw not_imported("a count of " + std::to_string(count));
    std::vector<double> values;
    for (int at = 0; at < static_cast<int>(count); ++at) values.push_back(numbers[0] + at * numbers[2]);
    of.give_known(0, known_of(type, values, {static_cast<std::int64_t>(count)}));
}
/// The type that `dtype` asks for, or else that of the operand.
inline scalar_type type_asked_for(lowering& of, std::size_t operand) {
    auto const asked = setting<std::int64_t>(of, "dtype");
    scalar_type const type = asked ? type_of_number(*asked) : of.operand(operand).type();
    return type == scalar_type::boolean ? scalar_type::uint8 : type;
}
inline void eye_like(lowering& of) {
    shape const whole = of.operand(0).shape();
    if (whole.size() != 2) throw not_imported("of " + std::to_string(whole.size()) + " dimensions");
    scalar_type const type = type_asked_for(of, 0);
    std::int64_t const k = limited(integer(of, "k", 0), -most_extent, most_extent, "a diagonal");
    space const loops = loops_over(whole);
    value const on = equal(loops.index(1) - loops.index(0), number(k, scalar_type::int32));
    of.compute(loops, choose(on, number(std::int64_t{1}, type), number(std::int64_t{0}, type)), 0);
}
/// The upper or the lower triangle; 0 elsewhere.
inline void triangle(lowering& of) {
    view const x = of.operand(0);
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::int64_t const k = limited(of.has(1) ? known_integer(of, 1) : 0, -most_extent, most_extent, "a diagonal");
    space const loops = loops_over({x}, x.shape());
    value const across = loops.index(x.rank() - 1) - loops.index(x.rank() - 2), limit = number(k, scalar_type::int32);
    value const inside = integer(of, "upper", 1) != 0 ? limit <= across : across <= limit;
    of.compute(loops, choose(inside, imported::at(x, loops), number(std::int64_t{0}, x.type())), 0);
}
/// Sums along a dimension: each kernel adds what lies twice as far as the one before it.
inline void cumulate(lowering& of) {
    view x = of.operand(0);
    int const along_it = dimension_of(known_integer(of, 1), x.rank());
    bool const exclusive = integer(of, "exclusive", 0) != 0, reverse = integer(of, "reverse", 0) != 0;
    std::int64_t const extent = x.extent(along_it);
    space const loops = loops_over(x.shape());
    x = of.plain(x);
    auto const moved = [&](view const& from, std::int64_t by) {
        std::vector<value> index;
        for (int at = 0; at < from.rank(); ++at) {
            value const here = loops.index(at);
            index.push_back(at != along_it ? here
                            : reverse      ? here + number(by, scalar_type::int32)
                                           : here - number(by, scalar_type::int32));
        }
        return padded_at(from, index, number(std::int64_t{0}, from.type()));
    };
    if (exclusive) x = of.compute(loops, moved(x, 1));
    for (std::int64_t by = 1; by < extent; by *= 2) x = of.compute(loops, imported::at(x, loops) + moved(x, by));
    of.give(0, x);
}
/// Where known elements are not 0: a list of indices for each dimension.
inline void positions_of_nonzero(lowering& of) {
    if (!of.is_constant(0)) throw not_imported("of elements that are not known: they decide the shape of the result");
    known_tensor const x = of.known(0);
    std::vector<double> const elements = of.known_numbers(0);
    shape const extents = x.what.extents.empty() ? shape{1} : x.what.extents;
    std::vector<shape> found(extents.size());
    for (std::size_t at = 0; at < elements.size(); ++at) {
        std::int64_t rest = static_cast<std::int64_t>(at);
        for (std::size_t dimension = extents.size(); elements[at] != 0 && dimension-- > 0; rest /= extents[dimension])
            found[dimension].push_back(rest % extents[dimension]);
    }
    shape all;
    for (shape const& one : found) all.insert(all.end(), one.begin(), one.end());
    of.give_known(0, known_integers64(all, {static_cast<std::int64_t>(found.size()), static_cast<std::int64_t>(found[0].size())}));
}
/// Each sequence from its last element to the first, where all are as long as their dimension.
inline void reverse_sequences(lowering& of) {
    view const x = of.operand(0);
    int const time = dimension_of(integer(of, "time_axis", 0), x.rank()), batch = dimension_of(integer(of, "batch_axis", 1), x.rank());
    std::int64_t const extent = x.extent(time);
    shape const lengths = of.known_integers(1);
    if (static_cast<std::int64_t>(lengths.size()) != x.extent(batch)) throw not_imported(std::to_string(lengths.size()) + " lengths");
    for (std::int64_t const one : lengths) {
        if (one != extent) throw not_imported("a sequence of " + std::to_string(one) + " of " + std::to_string(extent) + " elements");
    }
    of.give(0, sliced_or_copied(of, x, time, extent - 1, -1, extent));
}
/// A window of cosines: first - second cos(2 pi n / m) + third cos(4 pi n / m).
inline void cosine_window(lowering& of, double first, double second, double third) {
    std::int64_t const size = limited(known_integer(of, 0), 1, 1 << 20, "a window");
    scalar_type const type = type_of_number(integer(of, "output_datatype", 1));
    if (!is_float(type)) throw not_imported("a window of integers");
    double const turn =
        2 * 3.14159265358979323846 / static_cast<double>(integer(of, "periodic", 1) != 0 ? size : std::max<std::int64_t>(size - 1, 1));
    std::vector<double> values;
    for (std::int64_t at = 0; at < size; ++at) {
        double const angle = turn * static_cast<double>(at);
        values.push_back(first - second * std::cos(angle) + third * std::cos(2 * angle));
    }
    of.give_known(0, known_of(type, values, {size}));
}
inline void hann_window(lowering& of) { cosine_window(of, 0.5, 0.5, 0); }
inline void hamming_window(lowering& of) { cosine_window(of, 25.0 / 46, 21.0 / 46, 0); }
inline void blackman_window(lowering& of) { cosine_window(of, 0.42, 0.5, 0.08); }
/// In inference, what is given; the mask is all true.
inline void drop_out(lowering& of) {
    view const x = of.operand(0);
    bool const trains = (of.node->version >= 12 && of.has(2) && known_integer(of, 2) != 0) ||
                        (of.node->version < 7 && integer(of, "is_test", 0) == 0 && of.results() > 1);
    if (trains && !(of.has(1) && known_real(of, 1) == 0)) throw not_imported("elements are dropped at random in training");
    of.give(0, x);
    if (of.wants(1)) {
        scalar_type const type = of.node->version < 10 ? x.type() : scalar_type::uint8;
        of.give(1, repeated_to(of.constant(known_of<std::int64_t>(type, {1}, {})), x.shape()));
    }
}

}  // namespace tilewright::imported::detail
