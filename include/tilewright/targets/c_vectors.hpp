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
/// Weights begin where lines of a cache do, so that a vector of them lies in one.
inline constexpr memory arena{.name = "arena", .capacity = 1024_MiB, .alignment = 16},
    weights{.name = "weights", .capacity = 1024_MiB, .alignment = 64};
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

/// The product of an element of an image and of one of a filter, in the type that products are summed in.
template <class Element, class Sum>
constexpr auto term(auto const& pixel, auto const& by) {
    return as<Element, Sum>(pixel) * as<Element, Sum>(by);
}
/// Convolutions of images whose channels follow each other: sums(y, x, n), whole ones.
///
/// @param Step     of the window
/// @param HasTaps  the window has more than one pixel
template <class Sum, class Element, int Step, bool HasTaps>
constexpr intrinsic pixels(ir::label name, ir::label function) {
    auto const& a = left<Element>;
    auto const& b = right<Element>;
    auto const& c = sums<Sum>;
    using namespace argument;
    if constexpr (HasTaps)
        return intrinsic(name, c(y, x, n) = sum(r, t, k, term<Element, Sum>(a(Step * y + r, Step * x + t, k), b(r, t, k, n))))
            .reads(a, arena)
            .reads(b, weights)
            .writes(c, arena)
            .up_to(n, y, x, k, r, t)
            .cycles(40, per(y, x) * per(r, t) * per(k) * per(n).in_units_of(16))
            .calls(function, extent(r), extent(t), extent(y), extent(x), extent(n), extent(k), address(a), stride(a, 0), stride(a, 1),
                   literal(Step), address(b), stride(b, 0), stride(b, 1), stride(b, 2), address(c), stride(c, 0), stride(c, 1));
    else
        return intrinsic(name, c(y, x, n) = sum(k, term<Element, Sum>(a(Step * y, Step * x, k), b(k, n))))
            .reads(a, arena)
            .reads(b, weights)
            .writes(c, arena)
            .up_to(n, y, x, k)
            .cycles(40, per(y, x) * per(k) * per(n).in_units_of(16))
            .calls(function, literal(1), literal(1), extent(y), extent(x), extent(n), extent(k), address(a), stride(a, 0), stride(a, 1),
                   literal(Step), address(b), literal(0), literal(0), stride(b, 0), address(c), stride(c, 0), stride(c, 1));
}
/// Likewise of images that have one channel.
template <class Sum, class Element, int Step>
constexpr intrinsic single(ir::label name, ir::label function) {
    auto const& a = left<Element>;
    auto const& b = right<Element>;
    auto const& c = sums<Sum>;
    using namespace argument;
    return intrinsic(name, c(y, x, n) = sum(r, t, term<Element, Sum>(a(Step * y + r, Step * x + t), b(r, t, n))))
        .reads(a, arena)
        .reads(b, weights)
        .writes(c, arena)
        .up_to(n, y, x, r, t)
        .cycles(40, per(y, x) * per(r, t) * per(n).in_units_of(16))
        .calls(function, extent(r), extent(t), extent(y), extent(x), extent(n), literal(1), address(a), stride(a, 0), literal(1),
               literal(Step), address(b), stride(b, 0), stride(b, 1), stride(b, 1), address(c), stride(c, 0), stride(c, 1));
}
/// Likewise of channels that stay apart: depthwise convolutions.
template <class Sum, class Element, int Step>
constexpr intrinsic window(ir::label name, ir::label function) {
    auto const& a = left<Element>;
    auto const& b = right<Element>;
    auto const& c = sums<Sum>;
    using namespace argument;
    return intrinsic(name, c(y, x, n) = sum(r, t, term<Element, Sum>(a(Step * y + r, Step * x + t, n), b(r, t, n))))
        .reads(a, arena)
        .reads(b, weights)
        .writes(c, arena)
        .up_to(n, y, x, r, t)
        .cycles(40, 2 * per(r, t) * per(y, x) * per(n).in_units_of(16))
        .calls(function, extent(r), extent(t), extent(y), extent(x), extent(n), address(a), stride(a, 0), stride(a, 1), literal(Step),
               address(b), stride(b, 0), stride(b, 1), address(c), stride(c, 0), stride(c, 1));
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
namespace detail {
template <int Step, bool HasTaps>
constexpr intrinsic pixels_f32(ir::label name) {
    return pixels<float, float, Step, HasTaps>(name, "c_vectors_pixels_f32");
}
template <int Step, bool HasTaps>
constexpr intrinsic pixels_s8(ir::label name) {
    return pixels<std::int32_t, std::int8_t, Step, HasTaps>(name, "c_vectors_pixels_s8");
}
}  // namespace detail
inline constexpr auto pixels_f32 = detail::pixels_f32<1, true>("pixels_f32"),
                      pixels_by_2_f32 = detail::pixels_f32<2, true>("pixels_by_2_f32"),
                      points_f32 = detail::pixels_f32<1, false>("points_f32"),
                      points_by_2_f32 = detail::pixels_f32<2, false>("points_by_2_f32");
inline constexpr auto pixels_s8 = detail::pixels_s8<1, true>("pixels_s8"), pixels_by_2_s8 = detail::pixels_s8<2, true>("pixels_by_2_s8"),
                      points_s8 = detail::pixels_s8<1, false>("points_s8"), points_by_2_s8 = detail::pixels_s8<2, false>("points_by_2_s8");
inline constexpr auto single_f32 = detail::single<float, float, 1>("single_f32", "c_vectors_pixels_f32"),
                      single_by_2_f32 = detail::single<float, float, 2>("single_by_2_f32", "c_vectors_pixels_f32");
inline constexpr auto single_s8 = detail::single<std::int32_t, std::int8_t, 1>("single_s8", "c_vectors_pixels_s8"),
                      single_by_2_s8 = detail::single<std::int32_t, std::int8_t, 2>("single_by_2_s8", "c_vectors_pixels_s8");
inline constexpr auto window_f32 = detail::window<float, float, 1>("window_f32", "c_vectors_window_f32"),
                      window_by_2_f32 = detail::window<float, float, 2>("window_by_2_f32", "c_vectors_window_f32");
inline constexpr auto window_s8 = detail::window<std::int32_t, std::int8_t, 1>("window_s8", "c_vectors_window_s8"),
                      window_by_2_s8 = detail::window<std::int32_t, std::int8_t, 2>("window_by_2_s8", "c_vectors_window_s8");

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
         pixels_f32, pixels_by_2_f32, points_f32, points_by_2_f32, single_f32, single_by_2_f32, window_f32, window_by_2_f32);

}  // namespace tilewright::targets::c_vectors
