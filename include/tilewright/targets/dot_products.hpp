#pragma once
#include <tilewright/machine/machine.hpp>
#include <type_traits>

/// Products of tiles of any size as intrinsics, for processors whose vectors multiply and add: sums(i, j) += left(i, l) * right(l, j).
/// Their C functions are written for the vectors of each, and take
///
///     int symbol(int64_t rows, int64_t columns, int64_t depth, const Left *left, int64_t left_stride, const Right *right,
///                int64_t right_stride, Sum *sums, int64_t sums_stride, int64_t adds);
///
/// with strides in elements, and `adds` 0 where the sums begin.
namespace tilewright::targets::dot_products {

/// What a call covers at most: a schedule says how much it does.
inline constexpr axis i{"i", 1 << 16}, j{"j", 1 << 16}, l{"l", 1 << 16};
template <class Element>
inline constexpr tensor<Element> left{"left"};
template <class Element>
inline constexpr tensor<Element> right{"right"};
template <class Element>
inline constexpr tensor<Element> sums{"sums"};

/// Whether sums go on, or begin with this product.
enum class form : std::uint8_t { goes_on, begins };
/// Where the operands are.
struct places {
    memory const &left, &right, &sums;
};

/// @param cycles  of a call: a number, or terms of `per(i)`, `per(j)` and `per(l)`
template <class Left, class Right, class Sum>
constexpr intrinsic product(ir::label name, ir::label symbol, form which, places const& in, auto const&... cycles) {
    auto const& a = left<Left>;
    auto const& b = right<Right>;
    auto const& c = sums<Sum>;
    bool const goes_on = which == form::goes_on;
    auto made =
        [&] {
            if constexpr (std::is_same_v<Left, Sum>) return intrinsic(name, c(i, j) += a(i, l) * b(l, j));
            else return intrinsic(name, c(i, j) += cast<Sum>(a(i, l)) * cast<Sum>(b(l, j)));
        }()
            .reads(a, in.left)
            .reads(b, in.right);
    return (goes_on ? made.updates(c, in.sums) : made.writes(c, in.sums))
        .up_to(i, j, l)
        .cycles(cycles...)
        .calls(symbol, argument::extent(i), argument::extent(j), argument::extent(l), argument::address(a), argument::stride(a, 0),
               argument::address(b), argument::stride(b, 0), argument::address(c), argument::stride(c, 0), argument::literal(goes_on));
}

/// The intrinsic whose sums go on, by the name that it has on all such machines. Floats have sums of floats, bytes of 32 bits.
template <class Left, class Right>
constexpr char const* mac_name() {
    if constexpr (std::is_same_v<Left, float> && std::is_same_v<Right, float>) return "mac_f32";
    else if constexpr (std::is_same_v<Left, std::int8_t> && std::is_same_v<Right, std::int8_t>) return "mac_s8s8";
    else if constexpr (std::is_same_v<Left, std::uint8_t> && std::is_same_v<Right, std::int8_t>) return "mac_u8s8";
    else {
        static_assert(std::is_same_v<Left, std::uint8_t> && std::is_same_v<Right, std::uint8_t>,
                      "there are products of int8 by int8, uint8 by int8, uint8 by uint8, and float by float");
        return "mac_u8u8";
    }
}

/// What a schedule asks of a core with such products. Schedules that are given one serve all of them.
///
/// `inline constexpr dot_core dots{host, packs_right, packs_left, l2};` in the target of a processor.
struct dot_core {
    machine const& host;         ///< operands are read where the caller has them
    machine const& packs_right;  ///< right ones are read in `blocks`
    machine const& packs_left;   ///< left ones are
    memory const& blocks;
};

}  // namespace tilewright::targets::dot_products
