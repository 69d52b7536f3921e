#include <algorithm>
#include <cstdint>
#include <random>
#include <tilewright/emulate/check_intrinsic.hpp>
#include <vector>

#include "catch.hpp"
#include "guarded.hpp"
#include "vnni/forms.hpp"

// The C functions of processors with VNNI do what the machines declare, and touch nothing else.

using namespace tilewright;
namespace vnni = targets::vnni;

namespace {

// The first of them covers 64 x 64 x 64, and the others less.
constexpr int tries = 6;

using product_function = int(std::int64_t, std::int64_t, std::int64_t, void const*, std::int64_t, void const*, std::int64_t, std::int64_t,
                             void*, std::int64_t, std::int64_t);
using window_function = int(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, void const*, std::int64_t, std::int64_t,
                            std::int64_t, std::int64_t, std::int64_t, void const*, std::int64_t, std::int64_t, std::int64_t, void*,
                            std::int64_t, std::int64_t);
using pack_function = int(std::int64_t, std::int64_t, void const*, std::int64_t, void*, std::int64_t, std::int64_t, std::int64_t);

struct drawn {
    std::mt19937 bits;
    std::int64_t number(std::int64_t least, std::int64_t most) { return least + static_cast<std::int64_t>(bits() % (most - least + 1)); }
};

/// A product of random bytes whose packed operand is as wide as its columns: sums of 32 bits, whatever is in them before.
template <class Left>
void check_product(product_function* call, drawn& from, std::int64_t rows, std::int64_t columns) {
    std::int64_t const groups = from.number(1, 40), row = 4 * groups + from.number(0, 9), group = 4 * columns + 4 * from.number(0, 3),
                       of_sums = columns + from.number(0, 5), adds = from.number(0, 1);
    guarded::side const at_the = from.number(0, 1) == 0 ? guarded::side::beginning : guarded::side::end;
    guarded::block left(static_cast<std::size_t>((rows - 1) * row + 4 * groups), 1, at_the),
        right(static_cast<std::size_t>((groups - 1) * group + 4 * columns), 1, at_the),
        sums(static_cast<std::size_t>(4 * ((rows - 1) * of_sums + columns)), 4, at_the);
    auto* const a = reinterpret_cast<Left*>(left.begin());
    auto* const b = reinterpret_cast<vnni::packed_byte<Left>*>(right.begin());
    auto* const c = reinterpret_cast<std::int32_t*>(sums.begin());
    for (std::int64_t at = 0; at < (rows - 1) * row + 4 * groups; ++at) a[at] = static_cast<Left>(from.bits());
    for (std::int64_t at = 0; at < (groups - 1) * group + 4 * columns; ++at) b[at] = static_cast<vnni::packed_byte<Left>>(from.bits());
    std::vector<std::int32_t> expected(static_cast<std::size_t>((rows - 1) * of_sums + columns));
    for (std::size_t at = 0; at < expected.size(); ++at) c[at] = expected[at] = static_cast<std::int32_t>(from.bits());
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < 4 * groups; ++k) {
                std::int64_t const weight = b[k / 4 * group + 4 * j + k % 4];
                sum += std::int64_t{a[i * row + k]} * (std::is_signed_v<Left> ? weight - 128 : weight);
            }
            std::int32_t& at = expected[static_cast<std::size_t>(i * of_sums + j)];
            at = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + (adds != 0 ? static_cast<std::uint32_t>(at) : 0u));
        }
    }
    CHECK(call(rows, columns, groups, a, row, b, group, 4, c, of_sums, adds) == 0);
    INFO(rows << " rows, " << columns << " columns, " << groups << " groups");
    CHECK(std::equal(expected.begin(), expected.end(), c));
    CHECK((left.is_intact() && right.is_intact() && sums.is_intact()));
}

/// Some pixels become zero, as those of a border are: whole lines and columns of them, all but one byte of these, or all.
void put_zeros(drawn& from, std::uint8_t* image, std::int64_t lines, std::int64_t line, std::int64_t pixels, std::int64_t pixel,
               std::int64_t bytes) {
    std::int64_t const how = from.number(0, 4);
    if (how == 0) return;
    auto const clear = [&](std::int64_t y, std::int64_t x) { std::fill_n(image + y * line + x * pixel, bytes, std::uint8_t{0}); };
    for (std::int64_t y = 0; y < lines; ++y) {
        if (how != 4 && from.number(0, 1) == 0) continue;
        for (std::int64_t x = 0; x < pixels; ++x) clear(y, x);
    }
    for (std::int64_t x = 0; x < pixels; ++x) {
        if (from.number(0, 1) == 0) continue;
        for (std::int64_t y = 0; y < lines; ++y) clear(y, x);
    }
    std::int64_t const places[] = {0, pixels - 1, from.number(0, pixels - 1)};
    if (how == 3)
        image[from.number(0, lines - 1) * line + places[from.number(0, 2)] * pixel + from.number(0, bytes - 1)] =
            static_cast<std::uint8_t>(from.number(1, 255));
}

/// Windows over an image of random bytes, whose pixels and lines lie apart or follow each other.
/// @param most_groups  of channels, from a third of them on
void check_window(window_function* call, drawn& from, std::int64_t most_groups, std::int64_t most_columns) {
    std::int64_t const tap_rows = from.number(1, 4), taps = from.number(1, 4), positions = from.number(1, 26),
                       columns = from.number(1, most_columns), groups = from.number((most_groups + 2) / 3, most_groups),
                       stride = from.number(1, 3), dilation_y = from.number(1, 2), dilation_x = from.number(1, 2),
                       pixel = 4 * groups + from.number(0, 1) * from.number(0, 3),
                       pixels = (positions - 1) * stride + (taps - 1) * dilation_x + 1, line = pixels * pixel + from.number(0, 5),
                       of_group = 4 * columns, of_tap = groups * of_group + from.number(0, 1) * 8, of_tap_row = taps * of_tap,
                       adds = from.number(0, 1), lines = (tap_rows - 1) * dilation_y + 1;
    guarded::side const at_the = from.number(0, 1) == 0 ? guarded::side::beginning : guarded::side::end;
    guarded::block image(static_cast<std::size_t>((lines - 1) * line + (pixels - 1) * pixel + 4 * groups), 1, at_the),
        weights(static_cast<std::size_t>((tap_rows * taps - 1) * of_tap + groups * of_group), 1, at_the),
        sums(static_cast<std::size_t>(4 * positions * columns), 4, at_the);
    auto* const a = reinterpret_cast<std::uint8_t*>(image.begin());
    auto* const b = reinterpret_cast<std::int8_t*>(weights.begin());
    auto* const c = reinterpret_cast<std::int32_t*>(sums.begin());
    for (std::size_t at = 0; at < image.size(); ++at) a[at] = static_cast<std::uint8_t>(from.bits());
    put_zeros(from, a, lines, line, pixels, pixel, 4 * groups);
    for (std::size_t at = 0; at < weights.size(); ++at) b[at] = static_cast<std::int8_t>(from.bits());
    std::vector<std::int32_t> expected(static_cast<std::size_t>(positions * columns));
    for (std::size_t at = 0; at < expected.size(); ++at) c[at] = expected[at] = static_cast<std::int32_t>(from.bits() % 1000000);
    for (std::int64_t x = 0; x < positions; ++x) {
        for (std::int64_t j = 0; j < columns; ++j) {
            std::int32_t& sum = expected[static_cast<std::size_t>(x * columns + j)];
            if (adds == 0) sum = 0;
            for (std::int64_t r = 0; r < tap_rows; ++r) {
                for (std::int64_t s = 0; s < taps; ++s) {
                    for (std::int64_t k = 0; k < 4 * groups; ++k)
                        sum += a[r * dilation_y * line + (x * stride + s * dilation_x) * pixel + k] *
                               b[r * of_tap_row + s * of_tap + k / 4 * of_group + 4 * j + k % 4];
                }
            }
        }
    }
    CHECK(call(tap_rows, taps, positions, columns, groups, a, line, pixel, stride, dilation_y, dilation_x, b, of_tap_row, of_tap, of_group,
               c, columns, adds) == 0);
    INFO(tap_rows << " x " << taps << " taps, " << positions << " positions, " << columns << " columns, " << groups << " groups, "
                  << (adds != 0 ? "added" : "written"));
    CHECK(std::equal(expected.begin(), expected.end(), c));
    CHECK((image.is_intact() && weights.is_intact() && sums.is_intact()));
}

/// A window whose taps are joined: positions lie `step` bytes apart, which are less than the groups of a position read.
void check_joined_window(window_function* call, drawn& from) {
    std::int64_t const tap_rows = from.number(1, 4), positions = from.number(1, 26), columns = from.number(1, 40),
                       groups = from.number(1, 9), step = from.number(1, 4 * groups + 4), dilation_y = from.number(1, 2),
                       read = (positions - 1) * step + 4 * groups, line = read + from.number(0, 5), of_group = 4 * columns,
                       of_tap_row = groups * of_group + from.number(0, 1) * 8, adds = from.number(0, 1),
                       lines = (tap_rows - 1) * dilation_y + 1;
    guarded::block image(static_cast<std::size_t>((lines - 1) * line + read), 1, guarded::side::end),
        weights(static_cast<std::size_t>((tap_rows - 1) * of_tap_row + groups * of_group), 1, guarded::side::end);
    auto* const a = reinterpret_cast<std::uint8_t*>(image.begin());
    auto* const b = reinterpret_cast<std::int8_t*>(weights.begin());
    for (std::size_t at = 0; at < image.size(); ++at) a[at] = static_cast<std::uint8_t>(from.bits());
    put_zeros(from, a, lines, line, read, 1, 1);
    for (std::size_t at = 0; at < weights.size(); ++at) b[at] = static_cast<std::int8_t>(from.bits());
    std::vector<std::int32_t> expected(static_cast<std::size_t>(positions * columns)), sums(expected.size());
    for (std::size_t at = 0; at < sums.size(); ++at) sums[at] = expected[at] = static_cast<std::int32_t>(from.bits() % 1000000);
    for (std::int64_t x = 0; x < positions; ++x) {
        for (std::int64_t j = 0; j < columns; ++j) {
            std::int32_t& sum = expected[static_cast<std::size_t>(x * columns + j)];
            if (adds == 0) sum = 0;
            for (std::int64_t r = 0; r < tap_rows; ++r) {
                for (std::int64_t k = 0; k < 4 * groups; ++k)
                    sum += a[r * dilation_y * line + x * step + k] * b[r * of_tap_row + k / 4 * of_group + 4 * j + k % 4];
            }
        }
    }
    CHECK(call(tap_rows, 1, positions, columns, groups, a, line, 1, step, dilation_y, 1, b, of_tap_row, 0, of_group, sums.data(), columns,
               adds) == 0);
    INFO(tap_rows << " rows of taps, " << positions << " positions, a step of " << step << ", " << groups << " groups");
    CHECK(expected == sums);
}

/// A window over each channel apart, whose groups are four rows of taps.
void check_window_apart(window_function* call, drawn& from) {
    std::int64_t const groups = from.number(1, 2), taps = from.number(1, 9), positions = from.number(1, 14), channels = from.number(1, 150),
                       stride = from.number(1, 3), dilation_y = from.number(1, 2), dilation_x = from.number(1, 2),
                       pixel = channels + from.number(0, 3), pixels = (positions - 1) * stride + (taps - 1) * dilation_x + 1,
                       read = (pixels - 1) * pixel + channels, line = read + from.number(0, 5), of_tap = 4 * channels + from.number(0, 4),
                       of_group = taps * of_tap + from.number(0, 8), of_sums = channels + from.number(0, 3), adds = from.number(0, 1),
                       rows = (4 * groups - 1) * dilation_y;
    guarded::side const at_the = from.number(0, 1) == 0 ? guarded::side::beginning : guarded::side::end;
    guarded::block image(static_cast<std::size_t>(rows * line + read), 1, at_the),
        weights(static_cast<std::size_t>((groups - 1) * of_group + (taps - 1) * of_tap + 4 * channels), 1, at_the),
        sums(static_cast<std::size_t>(4 * ((positions - 1) * of_sums + channels)), 4, at_the);
    auto* const a = reinterpret_cast<std::uint8_t*>(image.begin());
    auto* const b = reinterpret_cast<std::int8_t*>(weights.begin());
    auto* const c = reinterpret_cast<std::int32_t*>(sums.begin());
    for (std::size_t at = 0; at < image.size(); ++at) a[at] = static_cast<std::uint8_t>(from.bits());
    for (std::size_t at = 0; at < weights.size(); ++at) b[at] = static_cast<std::int8_t>(from.bits());
    std::vector<std::int32_t> expected(sums.size() / 4);
    for (std::size_t at = 0; at < expected.size(); ++at) c[at] = expected[at] = static_cast<std::int32_t>(from.bits() % 1000000);
    for (std::int64_t x = 0; x < positions; ++x) {
        for (std::int64_t j = 0; j < channels; ++j) {
            std::int32_t& sum = expected[static_cast<std::size_t>(x * of_sums + j)];
            if (adds == 0) sum = 0;
            for (std::int64_t r = 0; r < 4 * groups; ++r) {
                for (std::int64_t s = 0; s < taps; ++s)
                    sum += a[r * dilation_y * line + (x * stride + s * dilation_x) * pixel + j] *
                           b[r / 4 * of_group + s * of_tap + 4 * j + r % 4];
            }
        }
    }
    CHECK(call(1, taps, positions, channels, groups, a, line, pixel, stride, dilation_y, dilation_x, b, 0, of_tap, of_group, c, of_sums,
               adds) == 0);
    INFO(groups << " groups of " << taps << " taps, " << positions << " positions, " << channels << " channels, a stride of " << stride
                << ", a dilation of " << dilation_x << ", " << (adds != 0 ? "added" : "written"));
    CHECK(std::equal(expected.begin(), expected.end(), c));
    CHECK((image.is_intact() && weights.is_intact() && sums.is_intact()));
}

}  // namespace

TEST_CASE("functions for VNNI do what the machines declare, at any stride") {
    for (vnni_forms::form const& form : vnni_forms::of_this_processor()) {
        INFO(form.name);
        vnni_forms::loaded const functions(form);
        auto const check = [&]<auto const & On>(vnni::width const& width) {
            auto const product = [&](auto const& of, ir::label const& name) {
                CHECK(check_intrinsic<On>(of, c_functions(functions.function<product_function>(name.str().c_str())), tries) == "");
            };
            product(vnni::detail::product<std::uint8_t, false>(width, vnni::ram), width.u8s8);
            product(vnni::detail::product<std::uint8_t, true>(width, vnni::ram), width.u8s8);
            product(vnni::detail::product<std::int8_t, false>(width, vnni::ram), width.s8s8);
            product(vnni::detail::product<std::int8_t, true>(width, vnni::ram), width.s8s8);
            // A function for other bytes does not pass.
            auto const other = c_functions(functions.function<product_function>(width.s8s8.str().c_str()));
            CHECK(check_intrinsic<On>(vnni::detail::product<std::uint8_t, true>(width, vnni::ram), other, tries) != "");
            auto const pack = c_functions(functions.function<pack_function>("x86_vnni_pack_fours"));
            CHECK(check_intrinsic<On>(vnni::detail::packing<std::uint8_t>(vnni::ram), pack, tries) == "");
            CHECK(check_intrinsic<On>(vnni::detail::packing<std::int8_t>(vnni::ram), pack, tries) == "");
        };
        check.operator()<vnni::avx512_host>(vnni::avx512);
        check.operator()<vnni::avx_host>(vnni::avx);
    }
    std::string const runs = vnni_forms::has_vectors() ? "vectors and plain C" : "plain C only: this processor has no AVX-512 VNNI";
    WARN("functions for VNNI ran as " << runs);
}

TEST_CASE("functions for VNNI at every height and width of a tile") {
    for (vnni_forms::form const& form : vnni_forms::of_this_processor()) {
        INFO(form.name);
        vnni_forms::loaded const functions(form);
        drawn from{std::mt19937(5)};
        for (char const* name : {"x86_avx512_vnni", "x86_avx_vnni"}) {
            INFO(name);
            auto* const u8s8 = functions.function<product_function>((std::string(name) + "_u8s8").c_str());
            auto* const s8s8 = functions.function<product_function>((std::string(name) + "_s8s8").c_str());
            for (std::int64_t rows = 1; rows <= 25; ++rows) {
                for (std::int64_t columns :
                     {from.number(1, 15), std::int64_t{16}, from.number(17, 31), std::int64_t{32}, from.number(33, 80)}) {
                    check_product<std::uint8_t>(u8s8, from, rows, columns);
                    check_product<std::int8_t>(s8s8, from, rows, columns);
                }
            }
        }
    }
}

TEST_CASE("functions for VNNI over windows of any steps") {
    for (vnni_forms::form const& form : vnni_forms::of_this_processor()) {
        INFO(form.name);
        vnni_forms::loaded const functions(form);
        drawn from{std::mt19937(7)};
        for (char const* name : {"x86_avx512_vnni_window", "x86_avx_vnni_window"}) {
            INFO(name);
            auto* const call = functions.function<window_function>(name);
            for (int at = 0; at < 200; ++at) check_window(call, from, 6, 40), check_joined_window(call, from);
            // So many groups that taps in a border are left out.
            for (int at = 0; at < 60; ++at) check_window(call, from, 130, 5);
        }
    }
}
TEST_CASE("functions for VNNI over windows of each channel apart") {
    for (vnni_forms::form const& form : vnni_forms::of_this_processor()) {
        INFO(form.name);
        vnni_forms::loaded const functions(form);
        drawn from{std::mt19937(17)};
        for (char const* name : {"x86_avx512_vnni_apart", "x86_avx_vnni_apart"}) {
            INFO(name);
            for (int at = 0; at < 300; ++at) check_window_apart(functions.function<window_function>(name), from);
        }
    }
}
TEST_CASE("functions for VNNI do not read the weights of rows of taps in a border, whatever lies between their pixels") {
    if (!vnni_forms::has_vectors()) return;
    vnni_forms::loaded const functions(vnni_forms::of_this_processor().back());
    constexpr std::int64_t positions = 5, columns = 16, groups = 3, bytes = 4 * groups, of_tap = groups * 4 * columns;
    auto const check = [&](std::int64_t pixel, std::int64_t taps, std::int64_t stride) {
        // Of five lines, the inner one has numbers, and zeros are around it.
        std::int64_t const line = ((positions - 1) * stride + taps) * pixel, row = taps * of_tap;
        std::vector<std::uint8_t> image(static_cast<std::size_t>(5 * line), 9);
        for (std::int64_t y = 0; y < 5; ++y) {
            for (std::int64_t i = 0; i < positions; ++i) {
                for (std::int64_t s = 0; s < taps; ++s)
                    std::fill_n(image.begin() + y * line + (i * stride + s) * pixel, bytes, static_cast<std::uint8_t>(y == 2 ? 3 : 0));
            }
        }
        // Its row of taps has weights, beside pages that cannot be touched.
        for (guarded::side const at : guarded::both_sides) {
            guarded::block block(static_cast<std::size_t>(row), 64, at);
            std::fill_n(reinterpret_cast<std::int8_t*>(block.begin()), row, std::int8_t{-2});
            for (char const* name : {"x86_avx512_vnni_window", "x86_avx_vnni_window"}) {
                std::vector<std::int32_t> sums(positions * columns, 7);
                auto* const call = functions.function<window_function>(name);
                CHECK(call(5, taps, positions, columns, groups, image.data(), line, pixel, stride, 1, 1, block.begin() - 2 * row, row,
                           of_tap, 4 * columns, sums.data(), columns, 0) == 0);
                CHECK(sums == std::vector<std::int32_t>(positions * columns, static_cast<std::int32_t>(taps * bytes * 3 * -2)));
            }
        }
    };
    check(bytes, 3, 1);
    check(bytes + 3, 3, 1);
    check(bytes, 2, 3);
    check(bytes, 1, 2);
}
