#pragma once
#include <tilewright/machine/machine.hpp>
#include <type_traits>

/// A processor as its C compiler knows it: one core with vectors, and caches that nobody manages. Its instructions are products of matrices
/// whose C functions, of `targets/c_vectors.h`, are written for vectors of any width.
///
/// Kernels for it are of C source that includes this header. Compile for the processor at hand (`-march=native`).
namespace tilewright::targets::c_vectors {

inline constexpr memory dram{.name = "dram"};
/// Of tensors between kernels, and what kernels keep; of constants.
inline constexpr memory arena{.name = "arena", .capacity = 1024_MiB, .alignment = 16},
    weights{.name = "weights", .capacity = 1024_MiB, .alignment = 16};
/// Variables.
inline constexpr memory element = register_file("element", 64, 8);

inline constexpr core cpu{.name = "cpu"};

namespace detail {

// What a call covers at most.
inline constexpr axis i{"i", 64}, j{"j", 256}, l{"l", 4096};
inline constexpr axis r{"r", 16}, t{"t", 16}, y{"y", 1024}, x{"x", 1024}, n{"n", 4096}, k{"k", 8192};
template <class Element>
inline constexpr tensor<Element> left{"left"};
template <class Element>
inline constexpr tensor<Element> right{"right"};
template <class Sum>
inline constexpr tensor<Sum> sums{"sums"};

/// An element of `Element` in the type that products are summed in.
template <class Element, class Sum>
constexpr auto as(auto const& one) {
    if constexpr (std::is_same_v<Element, Sum>) return one;
    else return cast<Sum>(one);
}

/// sums(i, j) of products of left(i, l) and right(l, j), or right(j, l): the form that adds to sums, or that writes them.
///
/// @param is_image_left  the image is the left; otherwise it is the right
template <class Sum, class Element, bool Adds, bool IsTurned = false>
constexpr intrinsic product(ir::label name, ir::label function, memory const& left_in, memory const& right_in, bool is_image_left = true) {
    auto const& a = left<Element>;
    auto const& b = right<Element>;
    auto const& c = sums<Sum>;
    auto const column = [&] {
        if constexpr (IsTurned) return b(j, l);
        else return b(l, j);
    }();
    auto const with = [&](auto const& term) {
        if constexpr (Adds) return intrinsic(name, c(i, j) += term).updates(c, arena);
        else return intrinsic(name, c(i, j) = sum(l, term)).writes(c, arena);
    };
    auto const at = as<Element, Sum>(a(i, l));
    auto const by = as<Element, Sum>(column);
    auto made = (is_image_left ? with(at * by) : with(by * at))
                    .reads(a, left_in)
                    .reads(b, right_in)
                    .up_to(i, j, l)
                    .cycles(40, per(i) * per(l) * per(j).in_units_of(16));
    using namespace argument;
    if constexpr (IsTurned)
        return made.calls(function, extent(i), extent(j), extent(l), address(a), stride(a, 0), address(b), literal(1), stride(b, 0),
                          address(c), stride(c, 0), literal(Adds));
    else
        return made.calls(function, extent(i), extent(j), extent(l), address(a), stride(a, 0), address(b), stride(b, 0), address(c),
                          stride(c, 0), literal(Adds));
}

/// Convolutions of images of which each channel is a plane: sums(n, y, x), whole ones.
///
/// @param Step     of the window
/// @param HasTaps  the window has more than one pixel
template <int Step, bool HasTaps>
constexpr intrinsic planes(ir::label name) {
    auto const& a = left<float>;
    auto const& b = right<float>;
    auto const& c = sums<float>;
    using namespace argument;
    if constexpr (HasTaps)
        return intrinsic(name, c(n, y, x) = sum(k, r, t, a(k, Step * y + r, Step * x + t) * b(r, t, k, n)))
            .reads(a, arena)
            .reads(b, weights)
            .writes(c, arena)
            .up_to(n, y, x, k, r, t)
            .cycles(40, per(y, x) * per(r, t) * per(k) * per(n).in_units_of(16), per(y, x) * per(n))
            .calls("c_vectors_planes_f32", extent(r), extent(t), extent(y), extent(x), extent(n), extent(k), address(a), stride(a, 0),
                   stride(a, 1), literal(Step), address(b), stride(b, 0), stride(b, 1), stride(b, 2), address(c), stride(c, 0),
                   stride(c, 1));
    else
        return intrinsic(name, c(n, y, x) = sum(k, a(k, Step * y, Step * x) * b(k, n)))
            .reads(a, arena)
            .reads(b, weights)
            .writes(c, arena)
            .up_to(n, y, x, k)
            .cycles(40, per(y, x) * per(k) * per(n).in_units_of(16), per(y, x) * per(n))
            .calls("c_vectors_planes_f32", literal(1), literal(1), extent(y), extent(x), extent(n), extent(k), address(a), stride(a, 0),
                   stride(a, 1), literal(Step), address(b), literal(0), literal(0), stride(b, 0), address(c), stride(c, 0), stride(c, 1));
}
/// Likewise of images that are one plane.
template <int Step>
constexpr intrinsic plane(ir::label name) {
    auto const& a = left<float>;
    auto const& b = right<float>;
    auto const& c = sums<float>;
    using namespace argument;
    return intrinsic(name, c(n, y, x) = sum(r, t, a(Step * y + r, Step * x + t) * b(r, t, n)))
        .reads(a, arena)
        .reads(b, weights)
        .writes(c, arena)
        .up_to(n, y, x, r, t)
        .cycles(40, per(y, x) * per(r, t) * per(n).in_units_of(16), per(y, x) * per(n))
        .calls("c_vectors_planes_f32", extent(r), extent(t), extent(y), extent(x), extent(n), literal(1), address(a), literal(0),
               stride(a, 0), literal(Step), address(b), stride(b, 0), stride(b, 1), literal(0), address(c), stride(c, 0), stride(c, 1));
}
/// Convolutions of bytes, of images whose channels follow each other: sums(y, x, n).
template <int Step, bool HasTaps>
constexpr intrinsic pixels(ir::label name) {
    auto const& a = left<std::int8_t>;
    auto const& b = right<std::int8_t>;
    auto const& c = sums<std::int32_t>;
    using namespace argument;
    auto const term = [](auto const& pixel, auto const& by) { return cast<std::int32_t>(pixel) * cast<std::int32_t>(by); };
    if constexpr (HasTaps)
        return intrinsic(name, c(y, x, n) = sum(r, t, k, term(a(Step * y + r, Step * x + t, k), b(r, t, k, n))))
            .reads(a, arena)
            .reads(b, weights)
            .writes(c, arena)
            .up_to(n, y, x, k, r, t)
            .cycles(40, per(y, x) * per(r, t) * per(k) * per(n).in_units_of(16))
            .calls("c_vectors_pixels_s8", extent(r), extent(t), extent(y), extent(x), extent(n), extent(k), address(a), stride(a, 0),
                   stride(a, 1), literal(Step), address(b), stride(b, 0), stride(b, 1), stride(b, 2), address(c), stride(c, 0),
                   stride(c, 1));
    else
        return intrinsic(name, c(y, x, n) = sum(k, term(a(Step * y, Step * x, k), b(k, n))))
            .reads(a, arena)
            .reads(b, weights)
            .writes(c, arena)
            .up_to(n, y, x, k)
            .cycles(40, per(y, x) * per(k) * per(n).in_units_of(16))
            .calls("c_vectors_pixels_s8", literal(1), literal(1), extent(y), extent(x), extent(n), extent(k), address(a), stride(a, 0),
                   stride(a, 1), literal(Step), address(b), literal(0), literal(0), stride(b, 0), address(c), stride(c, 0), stride(c, 1));
}

/// Likewise of images that have one channel.
template <int Step>
constexpr intrinsic single(ir::label name) {
    auto const& a = left<std::int8_t>;
    auto const& b = right<std::int8_t>;
    auto const& c = sums<std::int32_t>;
    using namespace argument;
    return intrinsic(name, c(y, x, n) = sum(r, t, cast<std::int32_t>(a(Step * y + r, Step * x + t)) * cast<std::int32_t>(b(r, t, n))))
        .reads(a, arena)
        .reads(b, weights)
        .writes(c, arena)
        .up_to(n, y, x, r, t)
        .cycles(40, per(y, x) * per(r, t) * per(n).in_units_of(16))
        .calls("c_vectors_pixels_s8", extent(r), extent(t), extent(y), extent(x), extent(n), literal(1), address(a), stride(a, 0),
               literal(1), literal(Step), address(b), stride(b, 0), stride(b, 1), stride(b, 1), address(c), stride(c, 0), stride(c, 1));
}

/// Windows over a plane, of which pixels follow each other: depthwise convolutions.
///
/// @param Step  of the window
template <int Step>
constexpr intrinsic window_of_planes(ir::label name) {
    auto const& a = left<float>;
    auto const& b = right<float>;
    auto const& c = sums<float>;
    return intrinsic(name, c(y, x) = sum(r, t, a(Step * y + r, Step * x + t) * b(r, t)))
        .reads(a, arena)
        .reads(b, weights)
        .writes(c, arena)
        .up_to(r, t, y, x)
        .cycles(40, per(r, t) * per(y) * per(x).in_units_of(16))
        .calls("c_vectors_window_f32", argument::extent(r), argument::extent(t), argument::extent(y), argument::extent(x),
               argument::address(a), argument::stride(a, 0), argument::literal(Step), argument::address(b), argument::stride(b, 0),
               argument::address(c), argument::stride(c, 0));
}
/// Windows over rows of pixels whose channels follow each other.
template <int Step>
constexpr intrinsic window_of_channels(ir::label name) {
    auto const& a = left<std::int8_t>;
    auto const& b = right<std::int8_t>;
    auto const& c = sums<std::int32_t>;
    return intrinsic(name, c(x, n) = sum(r, t, cast<std::int32_t>(a(r, Step * x + t, n)) * cast<std::int32_t>(b(r, t, n))))
        .reads(a, arena)
        .reads(b, weights)
        .writes(c, arena)
        .up_to(r, t, x, n)
        .cycles(40, 2 * per(r, t) * per(x) * per(n).in_units_of(16))
        .calls("c_vectors_window_s8", argument::extent(r), argument::extent(t), argument::extent(x), argument::extent(n),
               argument::address(a), argument::stride(a, 0), argument::stride(a, 1), argument::literal(Step), argument::address(b),
               argument::stride(b, 0), argument::stride(b, 1), argument::address(c), argument::stride(c, 0));
}

inline constexpr transfer_cost by_core{.setup = 20, .bytes_per_cycle = 16};
constexpr transfer copy(ir::label name, memory const& from, memory const& to) {
    return transfer(name, from, to).on(cpu).dimensions(4).cost(by_core);
}

}  // namespace detail

// Products of matrices, of floats, and of bytes with sums of int32. `rows`: weights are the right; `columns`: weights are the left; `pair`:
// none are, and the right may be turned.
inline constexpr auto mul_rows_f32 = detail::product<float, float, false>("mul_rows_f32", "c_vectors_f32", arena, weights),
                      mac_rows_f32 = detail::product<float, float, true>("mac_rows_f32", "c_vectors_f32", arena, weights),
                      mul_columns_f32 = detail::product<float, float, false>("mul_columns_f32", "c_vectors_f32", weights, arena, false),
                      mac_columns_f32 = detail::product<float, float, true>("mac_columns_f32", "c_vectors_f32", weights, arena, false),
                      mul_pair_f32 = detail::product<float, float, false>("mul_pair_f32", "c_vectors_f32", arena, arena),
                      mac_pair_f32 = detail::product<float, float, true>("mac_pair_f32", "c_vectors_f32", arena, arena),
                      mul_turned_f32 = detail::product<float, float, false, true>("mul_turned_f32", "c_vectors_f32_apart", arena, arena),
                      mac_turned_f32 = detail::product<float, float, true, true>("mac_turned_f32", "c_vectors_f32_apart", arena, arena);
inline constexpr auto mul_rows_s8 = detail::product<std::int32_t, std::int8_t, false>("mul_rows_s8", "c_vectors_s8", arena, weights),
                      mac_rows_s8 = detail::product<std::int32_t, std::int8_t, true>("mac_rows_s8", "c_vectors_s8", arena, weights),
                      mul_columns_s8 =
                          detail::product<std::int32_t, std::int8_t, false>("mul_columns_s8", "c_vectors_s8", weights, arena, false),
                      mac_columns_s8 =
                          detail::product<std::int32_t, std::int8_t, true>("mac_columns_s8", "c_vectors_s8", weights, arena, false);
// Convolutions, by the step of their windows, and depthwise ones.
inline constexpr auto planes_f32 = detail::planes<1, true>("planes_f32"), planes_by_2_f32 = detail::planes<2, true>("planes_by_2_f32"),
                      points_f32 = detail::planes<1, false>("points_f32"), points_by_2_f32 = detail::planes<2, false>("points_by_2_f32");
inline constexpr auto pixels_s8 = detail::pixels<1, true>("pixels_s8"), pixels_by_2_s8 = detail::pixels<2, true>("pixels_by_2_s8"),
                      points_s8 = detail::pixels<1, false>("points_s8"), points_by_2_s8 = detail::pixels<2, false>("points_by_2_s8");
inline constexpr auto plane_f32 = detail::plane<1>("plane_f32"), plane_by_2_f32 = detail::plane<2>("plane_by_2_f32");
inline constexpr auto single_s8 = detail::single<1>("single_s8"), single_by_2_s8 = detail::single<2>("single_by_2_s8");
inline constexpr auto window_f32 = detail::window_of_planes<1>("window_f32"),
                      window_by_2_f32 = detail::window_of_planes<2>("window_by_2_f32");
inline constexpr auto window_s8 = detail::window_of_channels<1>("window_s8"),
                      window_by_2_s8 = detail::window_of_channels<2>("window_by_2_s8");

inline constexpr auto bring = detail::copy("bring", dram, arena), move = detail::copy("move", arena, arena),
                      carry = detail::copy("carry", arena, dram), unpack = detail::copy("unpack", weights, arena);

/// The core with some of its instructions: a machine holds 16.
constexpr machine with(ir::label name, auto const&... instructions) {
    return machine(name, dram, arena, weights, element, cpu, bring, move, carry, unpack, instructions...);
}
inline constexpr auto host = with("processor");
inline constexpr auto loops = machine("loops", dram, arena, weights, element);
// `import/processor.hpp` has one with those of bytes.
inline constexpr auto floats =
    with("floats", mul_rows_f32, mac_rows_f32, mul_columns_f32, mac_columns_f32, mul_pair_f32, mac_pair_f32, mul_turned_f32, mac_turned_f32,
         planes_f32, planes_by_2_f32, points_f32, points_by_2_f32, plane_f32, plane_by_2_f32, window_f32, window_by_2_f32);

}  // namespace tilewright::targets::c_vectors
