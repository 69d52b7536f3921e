#pragma once
#include <stdexcept>
#include <tilewright/machine/machine.hpp>
#include <type_traits>

/// One core of an x86 processor with VNNI, as machines for products of bytes with sums of 32 bits: of AVX-512 with 64 bytes a vector, and
/// of AVX-VNNI with 32.
///
/// The instruction adds four products of bytes without a sign and bytes with one to a sum, without saturating. So right operands are
/// packed: four terms of a column beside each other. Where both operands have signs, packing adds 128 to the right one, and the product
/// takes it off again. Instructions of these machines are tiles of such sums, and the packing. `targets/x86_vnni.h` has their C functions;
/// kernels are of the device binding, objects or C source. `l2` is a pool: the caller gives its address.
namespace tilewright::targets::vnni {

inline constexpr memory ram{.name = "ram"};
/// Packed panels, and blocks of left operands with their border.
inline constexpr memory l2{.name = "l2", .capacity = 1_MiB, .alignment = 64};
/// Of vectors of one width. @param instructions  as `runtime/processor.h` names them
constexpr core cpu(ir::label instructions) { return {.name = "vnni", .instructions = instructions}; }
inline constexpr auto pack = transfer("pack", ram, l2).on(cpu({})).cost({.bytes_per_cycle = 32});

/// What the packed right operand is made of, and how: beside left bytes with a sign, right ones lose theirs.
template <class Left>
using packed_byte = std::conditional_t<std::is_signed_v<Left>, std::uint8_t, std::int8_t>;
template <class Left>
constexpr auto packed(auto const& right) {
    if constexpr (std::is_signed_v<Left>) return cast<std::uint8_t>(right) + cast<std::uint8_t>(128);
    else return right;
}
/// The number that a packed byte stands for.
template <class Left>
constexpr auto value_of(auto const& right) {
    if constexpr (std::is_signed_v<Left>) return cast<std::int32_t>(right) - 128;
    else return cast<std::int32_t>(right);
}

/// Vectors of one width.
struct width {
    ir::label u8s8, s8s8, window, apart;  ///< names of C functions
    int lanes;                            ///< sums of a vector
    ir::label instructions;               ///< that the functions need
};
inline constexpr width avx512{"x86_avx512_vnni_u8s8", "x86_avx512_vnni_s8s8", "x86_avx512_vnni_window", "x86_avx512_vnni_apart", 16,
                              "avx512_vnni"};
inline constexpr width avx{"x86_avx_vnni_u8s8", "x86_avx_vnni_s8s8", "x86_avx_vnni_window", "x86_avx_vnni_apart", 8, "avx_vnni"};

/// How windows move over an image, and how far apart their taps are.
struct window_steps {
    std::int64_t stride = 1, dilation_y = 1, dilation_x = 1;
    /// Channels of a pixel, where a row of taps is one run of bytes: groups of four then go on from a tap to the next one. 0: each tap has
    /// groups of its own.
    std::int64_t joined_channels = 0;
    /// Each channel has sums of its own, as in a depthwise convolution: groups of four are rows of taps.
    bool apart = false;
};

/// That a call covers at most.
inline constexpr std::int64_t most_columns = 1 << 10;

namespace detail {

// What a call covers at most: a schedule says how much it does. `q` are the four terms.
inline constexpr axis i{"i", 1 << 16}, j{"j", most_columns}, l{"l", 1 << 16}, q{"q", 4}, r{"r", 64}, s{"s", 64};
template <class Element>
inline constexpr tensor<Element> a{"a"};
template <class Element>
inline constexpr tensor<Element> b{"b"};
template <class Element>
inline constexpr tensor<Element> p{"p"};
inline constexpr tensor<std::int8_t> from{"from"};
inline constexpr tensor<std::int32_t> c{"c"};

/// sums(i, j) over groups of four. @param left  the memory of left bytes
template <class Left, bool Adds>
constexpr intrinsic product(width const& of, memory const& left) {
    constexpr bool is_signed = std::is_signed_v<Left>;
    auto const& bytes = a<Left>;
    auto const& panel = b<packed_byte<Left>>;
    auto const term = cast<std::int32_t>(bytes(i, 4 * l + q)) * value_of<Left>(panel(l, j, q));
    auto made = [&] {
        if constexpr (Adds) return intrinsic(is_signed ? "mac_s8s8" : "mac_u8s8", c(i, j) += term).updates(c, ram);
        else return intrinsic(is_signed ? "mul_s8s8" : "mul_u8s8", c(i, j) = sum(l, q, term)).writes(c, ram);
    }();
    return made.reads(bytes, left)
        .reads(panel, l2)
        .up_to(i, j, l)
        .cycles(20, per(i) * per(l) * per(j).in_units_of(of.lanes))
        .calls(is_signed ? of.s8s8 : of.u8s8, argument::extent(i), argument::extent(j), argument::extent(l), argument::address(bytes),
               argument::stride(bytes, 0), argument::address(panel), argument::stride(panel, 0), argument::stride(panel, 1),
               argument::address(c), argument::stride(c, 0), argument::literal(Adds));
}

/// Panels of right bytes: rows of groups of four. @param right  the memory of right bytes
template <class Left>
constexpr intrinsic packing(memory const& right) {
    auto const& panel = p<packed_byte<Left>>;
    return intrinsic(std::is_signed_v<Left> ? "pack_turned" : "pack_fours", panel(l, j, q) = packed<Left>(from(4 * l + q, j)))
        .reads(from, right)
        .writes(panel, l2)
        .up_to(l, j)
        .cycles(20, 12 * per(l) * per(j).in_units_of(32))
        .calls("x86_vnni_pack_fours", argument::extent(l), argument::extent(j), argument::address(from), argument::stride(from, 0),
               argument::address(panel), argument::stride(panel, 0), argument::stride(panel, 1),
               argument::literal(std::is_signed_v<Left> ? 128 : 0));
}

template <class Element>
inline constexpr tensor<Element> weights{"weights"};

/// `mac_window`, which adds a sum of terms, or `mul_window`, which writes it. @param image  the memory of image bytes
template <bool Adds>
constexpr intrinsic windows_of(auto const& term, auto const& sum_of_terms, memory const& image) {
    auto made = [&] {
        if constexpr (Adds) return intrinsic("mac_window", c(i, j) += term).updates(c, ram);
        else return intrinsic("mul_window", c(i, j) = sum_of_terms).writes(c, ram);
    }();
    return made.reads(a<std::uint8_t>, image).reads(weights<std::int8_t>, ram);
}

/// sums(x, j) of windows over rows of pixels, with weights [r][s][group of four channels][4 j + q]. @param image  its memory
template <bool Adds>
constexpr intrinsic windows(width const& of, window_steps const& by, memory const& image) {
    auto const& bytes = a<std::uint8_t>;
    auto const& packed = weights<std::int8_t>;
    auto const term = cast<std::int32_t>(bytes(by.dilation_y * r, by.stride * i + by.dilation_x * s, 4 * l + q)) *
                      cast<std::int32_t>(packed(r, s, l, 4 * j + q));
    return windows_of<Adds>(term, sum(r, s, l, q, term), image)
        .up_to(r, s, i, j, l)
        .cycles(20, per(i) * per(r, s, l) * per(j).in_units_of(of.lanes))
        .calls(of.window, argument::extent(r), argument::extent(s), argument::extent(i), argument::extent(j), argument::extent(l),
               argument::address(bytes), argument::stride(bytes, 0), argument::stride(bytes, 1), argument::literal(by.stride),
               argument::literal(by.dilation_y), argument::literal(by.dilation_x), argument::address(packed), argument::stride(packed, 0),
               argument::stride(packed, 1), argument::stride(packed, 2), argument::address(c), argument::stride(c, 0),
               argument::literal(Adds));
}

/// Likewise with taps that are joined: the image has rows of bytes, the weights are [r][group of four bytes][4 j + q], and to the C
/// function a row of taps is one tap.
template <bool Adds>
constexpr intrinsic joined_windows(width const& of, window_steps const& by, memory const& image) {
    auto const& bytes = a<std::uint8_t>;
    auto const& packed = weights<std::int8_t>;
    std::int64_t const step = by.stride * by.joined_channels;
    auto const term = cast<std::int32_t>(bytes(by.dilation_y * r, step * i + 4 * l + q)) * cast<std::int32_t>(packed(r, l, 4 * j + q));
    return windows_of<Adds>(term, sum(r, l, q, term), image)
        .up_to(r, i, j, l)
        .cycles(20, per(i) * per(r, l) * per(j).in_units_of(of.lanes))
        .calls(of.window, argument::extent(r), argument::literal(1), argument::extent(i), argument::extent(j), argument::extent(l),
               argument::address(bytes), argument::stride(bytes, 0), argument::literal(1), argument::literal(step),
               argument::literal(by.dilation_y), argument::literal(1), argument::address(packed), argument::stride(packed, 0),
               argument::literal(0), argument::stride(packed, 1), argument::address(c), argument::stride(c, 0), argument::literal(Adds));
}

/// Likewise of each channel apart: sums(x, channel), with weights [group of four rows of taps][s][4 channel + q].
template <bool Adds>
constexpr intrinsic windows_apart(width const& of, window_steps const& by, memory const& image) {
    auto const& bytes = a<std::uint8_t>;
    auto const& packed = weights<std::int8_t>;
    auto const term = cast<std::int32_t>(bytes(by.dilation_y * (4 * l + q), by.stride * i + by.dilation_x * s, j)) *
                      cast<std::int32_t>(packed(l, s, 4 * j + q));
    return windows_of<Adds>(term, sum(l, s, q, term), image)
        .up_to(s, i, j, l)
        .cycles(20, per(i) * per(l, s) * per(j).in_units_of(of.lanes))
        .calls(of.apart, argument::literal(1), argument::extent(s), argument::extent(i), argument::extent(j), argument::extent(l),
               argument::address(bytes), argument::stride(bytes, 0), argument::stride(bytes, 1), argument::literal(by.stride),
               argument::literal(by.dilation_y), argument::literal(by.dilation_x), argument::address(packed), argument::literal(0),
               argument::stride(packed, 1), argument::stride(packed, 0), argument::address(c), argument::stride(c, 0),
               argument::literal(Adds));
}

constexpr auto products(ir::label name, width const& of, memory const& operands) {
    return machine(name, ram, l2, cpu(of.instructions), vnni::pack, product<std::uint8_t, false>(of, operands),
                   product<std::uint8_t, true>(of, operands), product<std::int8_t, false>(of, operands),
                   product<std::int8_t, true>(of, operands), packing<std::uint8_t>(operands), packing<std::int8_t>(operands));
}

}  // namespace detail

/// A core for products. Operands are read where the caller has them, or both from `l2`, where they have got a border.
struct product_core {
    machine const &host, &bordered;
};
inline constexpr auto avx512_host = detail::products("avx512_vnni", avx512, ram),
                      avx512_bordered = detail::products("avx512_vnni_l2", avx512, l2);
inline constexpr auto avx_host = detail::products("avx_vnni", avx, ram), avx_bordered = detail::products("avx_vnni_l2", avx, l2);
inline constexpr product_core avx512_products{avx512_host, avx512_bordered}, avx_products{avx_host, avx_bordered};

namespace detail {

/// A machine's name with its steps, such as `avx512_2_1_1_l2`: in one process, machines that differ have different names. Where taps are
/// joined, it has the bytes from a position to the next one, and the dilation in y: `avx512_6_1_l2`. Of channels apart, `apart_` leads.
struct window_name {
    char letters[64]{};
    int count = 0;

    constexpr window_name(width const& of, window_steps const& by, char const* memory) {
        if (by.apart) add("apart_");
        add(of.lanes == avx512.lanes ? "avx512_" : "avx_");
        if (by.joined_channels > 0) add(by.stride * by.joined_channels), add("_"), add(by.dilation_y), add("_");
        else {
            for (std::int64_t number : {by.stride, by.dilation_y, by.dilation_x}) add(number), add("_");
        }
        add(memory);
    }

  private:
    constexpr void add(char const* text) {
        for (; *text != '\0'; ++text) letters[count++] = *text;
    }
    constexpr void add(std::int64_t number) {
        if (number >= 10) add(number / 10);
        letters[count++] = static_cast<char>('0' + number % 10);
    }
};
constexpr machine machine_of_windows(width const& of, window_steps const& by, memory const& image) {
    if (by.joined_channels > 0 && by.dilation_x != 1)
        throw std::invalid_argument("taps that are joined follow each other: dilation_x is 1");
    auto const with = [&](intrinsic const& writes, intrinsic const& adds) {
        return machine(window_name(of, by, image.name == l2.name ? "l2" : "ram").letters, ram, l2, cpu(of.instructions), vnni::pack, writes,
                       adds);
    };
    if (by.apart && by.joined_channels > 0) throw std::invalid_argument("of channels apart, taps are not joined");
    if (by.apart) return with(windows_apart<false>(of, by, image), windows_apart<true>(of, by, image));
    return by.joined_channels > 0 ? with(joined_windows<false>(of, by, image), joined_windows<true>(of, by, image))
                                  : with(windows<false>(of, by, image), windows<true>(of, by, image));
}

}  // namespace detail

/// A core for convolutions whose windows take these steps. The image is read where the caller has it, or from `l2`, where it has got a
/// border. With static storage: `inline constexpr window_core windows{avx512, {.stride = 2}};`.
struct window_core {
    machine host, bordered;

    constexpr explicit window_core(width const& of, window_steps const& by = {})
        : host(detail::machine_of_windows(of, by, ram)), bordered(detail::machine_of_windows(of, by, l2)) {}
};

}  // namespace tilewright::targets::vnni
