#pragma once
#include <algorithm>
#include <tilewright/reference/onnx_call.hpp>

// Where elements stand: what broadcasting and moving operators share. And numbers that are wide enough for each type of element.
namespace tilewright::reference::of_onnx {

using places = std::vector<std::size_t>;
/// A place that no element has.
inline constexpr std::size_t outside = ~std::size_t{0};

/// Calls `use` with each index of a tensor, row by row.
template <class Use>
void each_index(shape const& extents, Use const& use) {
    if (count_of(extents) == 0) return;
    shape index(extents.size(), 0);
    do use(index);
    while (next(index, extents));
}

/// Extents of two operands together, by NumPy's rules. @throws not_covered  where they do not fit
inline shape broadcast(shape const& a, shape const& b) {
    shape const &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
    shape made = longer;
    for (std::size_t back = 1; back <= shorter.size(); ++back) {
        std::int64_t& extent = made[made.size() - back];
        std::int64_t const other = shorter[shorter.size() - back];
        require(extent == other || extent == 1 || other == 1, "extents that do not broadcast");
        if (extent == 1) extent = other;
    }
    return made;
}

/// For each element of the extents `to`, the place of the element that `from` has there.
///
/// @throws not_covered  where `from` does not broadcast to `to`
inline places broadcast_places(shape const& from, shape const& to) {
    require(broadcast(from, to) == to, "extents that do not broadcast");
    shape steps(to.size(), 0);
    shape const own = strides_of(from);
    for (std::size_t at = 0; at < from.size(); ++at) {
        if (from[at] != 1) steps[at + to.size() - from.size()] = own[at];
    }
    return walk<std::size_t>(to, 0, steps);
}

/// The elements at places. Where a place is `outside`, the element of `fill` stands, or zero.
inline elements pick(elements const& from, shape extents, places const& at, elements const* fill = nullptr) {
    auto const bytes = static_cast<std::size_t>(network::bytes_of(from.type));
    elements made{from.type, std::move(extents), std::vector<std::byte>(at.size() * bytes)};
    if (fill != nullptr) require(fill->type == from.type, "a fill value of another type");
    for (std::size_t to = 0; to < at.size(); ++to) {
        if (at[to] == outside && fill == nullptr) continue;
        std::byte const* source = at[to] == outside ? fill->bytes.data() : from.bytes.data() + at[to] * bytes;
        std::copy_n(source, bytes, made.bytes.data() + to * bytes);
    }
    return made;
}

/// The same elements with other extents.
inline elements with_extents(elements from, shape extents) {
    require(count_of(from.extents) == count_of(extents), "extents of another number of elements");
    from.extents = std::move(extents);
    return from;
}

/// Calls `use` with a number that holds each element of a type: double, std::int64_t, or std::uint64_t of its own type only.
template <class Use>
auto with_wide(element_type type, Use const& use) {
    require(type != element_type::unknown, "elements of an unknown type");
    if (is_float(type)) return use(double{});
    if (type == element_type::uint64) return use(std::uint64_t{});
    return use(std::int64_t{});
}

/// Calls `use` with a number for sums and products: double, or std::uint64_t for all integers, whose sums and products wrap alike.
template <class Use>
auto with_ring(element_type type, Use const& use) {
    require(type != element_type::unknown && type != element_type::boolean, "sums of elements of this type");
    if (is_float(type)) return use(double{});
    return use(std::uint64_t{});
}

// Arithmetic that wraps where integers overflow.
template <class Number, class Function>
Number wrapped(Number x, Number y, Function const& f) {
    if constexpr (std::is_integral_v<Number>) return static_cast<Number>(f(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)));
    else return f(x, y);
}
inline constexpr auto plus = [](auto x, auto y) { return wrapped(x, y, [](auto a, auto b) { return a + b; }); };
inline constexpr auto minus = [](auto x, auto y) { return wrapped(x, y, [](auto a, auto b) { return a - b; }); };
inline constexpr auto times = [](auto x, auto y) { return wrapped(x, y, [](auto a, auto b) { return a * b; }); };

/// The larger number, or NaN where one of them is.
inline constexpr auto larger = [](auto x, auto y) { return x != x || x > y ? x : y; };
/// The smaller number, or NaN where one of them is.
inline constexpr auto smaller = [](auto x, auto y) { return x != x || x < y ? x : y; };

}  // namespace tilewright::reference::of_onnx
