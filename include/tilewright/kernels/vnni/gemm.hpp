#pragma once
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/kernels/tile_list.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/targets/x86_vnni.hpp>
#include <type_traits>

/// Products of bytes with exact sums of 32 bits on processors with VNNI: C(m, n) = sum over k of A(m, k) * B(k, n).
namespace tilewright::kernel {

/// How such a product is cut up for one core.
struct vnni_gemm_tile {
    std::int64_t block_rows = 512;     ///< of A that go through a packed panel of B together
    std::int64_t panel_columns = 128;  ///< of B that are packed together: two vectors, or a multiple
    std::int64_t block_depth = 512;    ///< of the sum that is carried out before C is stored; a multiple of 4
};

/// Tiles that are worth trying for a shape, the likeliest first: blocks of A that stay in `l2`, with room for a panel.
constexpr tile_list<vnni_gemm_tile> vnni_tiles_for(gemm_shape const& of, int limit = tile_list<vnni_gemm_tile>::most) {
    tile_list<vnni_gemm_tile> found(limit);
    using detail::at_most;
    std::int64_t const whole_depth = (of.depth + 3) / 4 * 4;
    for (std::int64_t depth : {512, 1024, 2048}) {
        if (depth / 2 >= whole_depth && depth != 512) continue;
        std::int64_t const block = at_most(depth, whole_depth);
        for (std::int64_t columns : {128, 32}) {
            if (columns == 128 && of.columns <= 32) continue;
            found.add({at_most(262144 / block, of.rows), columns, block});
        }
    }
    return found;
}

namespace detail {

/// The axes, tensors and stages. The depth is a multiple of 4, unless it is `Bordered`: zeros then make it one.
template <class Left, bool Bordered>
struct fours_to_multiply {
    axis m, n, k_left, k_right;  ///< of C, of A and of B
    axis group, term;            ///< groups of four terms, and the terms of each
    axis packed_group, packed_n, packed_term;
    tensor<Left> A{"A"};
    tensor<std::int8_t> B{"B"};
    tensor<targets::vnni::packed_byte<Left>> P{"P"};
    tensor<std::int32_t> C{"C"};

    constexpr explicit fours_to_multiply(gemm_shape const& of)
        : m{"m", of.rows},
          n{"n", of.columns},
          k_left{"k_left", of.depth},
          k_right{"k_right", of.depth},
          group{"group", (of.depth + 3) / 4},
          term{"term", 4},
          packed_group{"packed_group", (of.depth + 3) / 4},
          packed_n{"packed_n", of.columns},
          packed_term{"packed_term", 4} {}

    constexpr auto computation() const {
        using targets::vnni::packed, targets::vnni::value_of;
        auto const at = 4 * group + term, packed_at = 4 * packed_group + packed_term;
        auto const left = [&] {
            if constexpr (Bordered) return padded(A(m, k_left), 0)(m, at);
            else return A(m, at);
        }();
        auto const right = [&] {
            if constexpr (Bordered) return padded(B(k_right, packed_n), 0)(packed_at, packed_n);
            else return B(packed_at, packed_n);
        }();
        return stages(P(packed_group, packed_n, packed_term) = packed<Left>(right),
                      C(m, n) = sum(group, term, cast<std::int32_t>(left) * value_of<Left>(P(group, n, term))));
    }
};

}  // namespace detail

/// A product of left bytes with or without a sign, and right ones with it. P is B, packed in groups of four terms. A kernel takes B in
/// front of A.
/// @tparam Bordered  for depths that are no multiple of 4: blocks of both operands are copied with zeros beyond their end
template <class Left, bool Bordered = false>
struct vnni_gemm : detail::fours_to_multiply<Left, Bordered> {
    using operands = detail::fours_to_multiply<Left, Bordered>;
    decltype(operands{gemm_shape{}}.computation()) product;

    constexpr explicit vnni_gemm(gemm_shape const& of) : operands(of), product(operands::computation()) {}
};

/// A product whose shape is known to the compiler, where schedules can point at it.
template <class Left, gemm_shape Shape>
inline constexpr vnni_gemm<Left, Shape.depth % 4 != 0> vnni_gemm_of{Shape};

/// `constexpr auto on_vnni = tiled_gemm(vnni_gemm_of<std::uint8_t, shape>, {}, targets::vnni::avx512_products);`: blocks of rows and of the
/// depth outside, then panels of B, each of which is packed once for a block of rows.
template <class Left, bool Bordered>
constexpr schedule tiled_gemm(vnni_gemm<Left, Bordered> const& of, vnni_gemm_tile const& t, targets::vnni::product_core const& on) {
    using targets::vnni::l2;
    constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, go{"go"}, gi{"gi"}, whole{"whole"}, groups{"groups"};
    constexpr bool is_signed = std::is_signed_v<Left>;
    schedule s(of.product, Bordered ? on.bordered : on.host);
    s.split(of.m, mo, mi, t.block_rows).split(of.n, no, ni, t.panel_columns).split(of.group, go, gi, t.block_depth / 4);
    s.reorder(mo, go, no, mi, ni, gi, of.term).tensorize(mi, ni, gi, of.term, is_signed ? "mac_s8s8" : "mac_u8s8");
    if (Bordered) s.cache_read(of.A, l2).at(go);
    s.compute_at(of.P, no).store_in(of.P, l2).stage(of.P).split(of.packed_group, whole, groups, t.block_depth / 4);
    if (Bordered) s.cache_read(of.B, l2).at(whole);
    s.tensorize(groups, of.packed_n, of.packed_term, is_signed ? "pack_turned" : "pack_fours");
    return s;
}

}  // namespace tilewright::kernel
