#include <algorithm>
#include <random>
#include <tilewright/kernels/vnni/depthwise_conv2d.hpp>
#include <tilewright/plan/plan.hpp>
#include <vector>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "vnni/forms.hpp"

// Convolutions by VNNI give what plain loops give: over images [batch][y][x][channels], with weights that are put where the convolution
// says.

using namespace tilewright;
using namespace tilewright::kernel;
namespace vnni = targets::vnni;

namespace {

struct drawn {
    std::mt19937 bits;
    std::int64_t number(std::int64_t least, std::int64_t most) { return least + static_cast<std::int64_t>(bits() % (most - least + 1)); }
};

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Weights [filter][r][s][channel of a group].
using weights_of_layer = std::vector<std::int8_t>;
std::int64_t seen_channels(conv2d_shape const& of) { return of.channels / of.groups; }
std::int64_t index_of(conv2d_shape const& of, std::int64_t filter, std::int64_t r, std::int64_t s, std::int64_t channel) {
    return ((filter * of.y.taps + r) * of.x.taps + s) * seen_channels(of) + channel;
}

/// Images [batch][y][x][channels]. What no window reads at the end of lines, and the lines after the last one that is read, are not there.
struct images {
    std::uint8_t* bytes;
    std::int64_t line, lines;  ///< bytes of a line, and lines of an image

    images(Halide::Buffer<> const& of, bool joined)
        : bytes(static_cast<std::uint8_t*>(of.data())), line(of.dim(joined ? 1 : 2).stride()), lines(of.dim(joined ? 1 : 2).extent()) {}
    std::uint8_t* at(std::int64_t batch, std::int64_t y) const { return bytes + (batch * lines + y) * line; }
};

std::vector<std::int32_t> by_loops(conv2d_shape const& of, images const& from, weights_of_layer const& weights) {
    std::vector<std::int32_t> sums;
    auto const sum_at = [&](std::int64_t b, std::int64_t y, std::int64_t x, std::int64_t filter) {
        std::int32_t sum = 0;
        for (std::int64_t r = 0; r < of.y.taps; ++r) {
            for (std::int64_t s = 0; s < of.x.taps; ++s) {
                std::int64_t const from_y = y * of.y.stride + r * of.y.dilation - of.y.before;
                std::int64_t const from_x = x * of.x.stride + s * of.x.dilation - of.x.before;
                if (from_y < 0 || from_y >= of.y.extent || from_x < 0 || from_x >= of.x.extent) continue;
                std::int64_t const first = filter / (of.filters / of.groups) * seen_channels(of);
                std::uint8_t const* const pixel = from.at(b, from_y) + from_x * of.channels + first;
                for (std::int64_t c = 0; c < seen_channels(of); ++c) sum += pixel[c] * weights[at(index_of(of, filter, r, s, c))];
            }
        }
        return sum;
    };
    for (std::int64_t b = 0; b < of.batch; ++b) {
        for (std::int64_t y = 0; y < of.y.positions(); ++y) {
            for (std::int64_t x = 0; x < of.x.positions(); ++x) {
                for (std::int64_t filter = 0; filter < of.filters; ++filter) sums.push_back(sum_at(b, y, x, filter));
            }
        }
    }
    return sums;
}

/// Weights where a convolution wants them. Each has a place of its own.
void put_weights(auto const& problem, weights_of_layer const& weights, std::int8_t* packed) {
    conv2d_shape const& of = problem.shape;
    std::vector<bool> taken(at(problem.weight_count()));
    bool apart = true;
    std::fill_n(packed, problem.weight_count(), std::int8_t{0});
    for (std::int64_t filter = 0; filter < of.filters; ++filter) {
        for (std::int64_t r = 0; r < of.y.taps; ++r) {
            for (std::int64_t s = 0; s < of.x.taps; ++s) {
                for (std::int64_t c = 0; c < seen_channels(of); ++c) {
                    std::int64_t const place = problem.place_of(filter, c, r, s);
                    apart = apart && place >= 0 && place < problem.weight_count() && !taken[at(place)];
                    if (!apart) continue;
                    taken[at(place)] = true;
                    packed[place] = weights[at(index_of(of, filter, r, s, c))];
                }
            }
        }
    }
    REQUIRE(apart);
}

/// Some lines and some columns of pixels become zero.
void put_zeros(conv2d_shape const& of, drawn& from, images const& to) {
    std::int64_t const lines = from.number(1, 4), pixels = from.number(1, 4), line = from.number(0, 4), pixel = from.number(0, 4);
    for (std::int64_t y = 0; y < of.batch * to.lines; ++y) {
        for (std::int64_t x = 0; x < to.line / of.channels; ++x) {
            if (y % lines == line || x % pixels == pixel) std::fill_n(to.at(0, y) + x * of.channels, of.channels, std::uint8_t{0});
        }
    }
}

/// Code compiled now, which calls the C functions; operands lie at pages that cannot be touched.
void check_problem(auto const& problem, vnni_conv2d_tile const& tile, vnni::width const& width, vnni_forms::form const& form, drawn& from) {
    conv2d_shape const& of = problem.shape;
    vnni::window_core const on(width, steps_of(of));
    auto const plan = std::make_unique<plan_value>(make_plan(tiled_conv2d(problem, tile, on)));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE_FALSE(plan->refusal);
    guarded::side const side = from.number(0, 1) == 0 ? guarded::side::beginning : guarded::side::end;
    kernels::operand_data const data = kernels::random_operands(*plan, from.bits(), side);
    images const image(data.inputs[0], joins_taps(of));
    REQUIRE(data.inputs[1].size_in_bytes() == at(problem.weight_count()));
    put_zeros(of, from, image);
    weights_of_layer weights(at(of.filters * of.y.taps * of.x.taps * seen_channels(of)));
    for (std::int8_t& one : weights) one = static_cast<std::int8_t>(from.bits());
    put_weights(problem, weights, static_cast<std::int8_t*>(data.inputs[1].data()));
    guarded::block pool(static_cast<std::size_t>(vnni::l2.capacity), 64, side);
    vnni_forms::loaded const functions(form);
    std::vector<void*> const pools(static_cast<std::size_t>(ir::arguments_of(*plan).pool_count), pool.begin());
    halide::jit_kernel kernel(*plan, pools, kernels::quick_target());
    Halide::Buffer<> const made = kernels::result_of(kernel, data, {});
    std::vector<std::int32_t> const expected = by_loops(of, image, weights);
    REQUIRE(made.size_in_bytes() == expected.size() * sizeof(std::int32_t));
    CHECK(std::equal(expected.begin(), expected.end(), static_cast<std::int32_t const*>(made.data())));
}

std::string text_of(window const& of) {
    return std::to_string(of.extent) + " by " + std::to_string(of.taps) + " taps, stride " + std::to_string(of.stride) + ", dilation " +
           std::to_string(of.dilation) + ", border " + std::to_string(of.before) + " and " + std::to_string(of.after);
}
void check(conv2d_shape const& of, std::int64_t lanes, vnni_conv2d_tile const& tile, vnni::width const& width, vnni_forms::form const& form,
           drawn& from) {
    INFO(of.batch << " images, " << of.channels << " channels, " << of.filters << " filters, " << lanes << " beside each other");
    INFO("y: " << text_of(of.y) << "; x: " << text_of(of.x) << "; blocks of " << tile.block_rows << " x " << tile.block_columns);
    INFO(form.name << ", vectors of " << width.lanes);
    if (joins_taps(of) && has_border(of)) check_problem(vnni_conv2d<true, true>(of, lanes), tile, width, form, from);
    else if (joins_taps(of)) check_problem(vnni_conv2d<false, true>(of, lanes), tile, width, form, from);
    else if (has_border(of)) check_problem(vnni_conv2d<true>(of, lanes), tile, width, form, from);
    else check_problem(vnni_conv2d<false>(of, lanes), tile, width, form, from);
}

/// A depthwise one.
void check_apart(std::int64_t batch, std::int64_t channels, window const& y, window const& x, vnni_conv2d_tile const& tile,
                 vnni::width const& width, vnni_forms::form const& form, drawn& from) {
    conv2d_shape const of{.batch = batch, .channels = channels, .filters = channels, .groups = channels, .y = y, .x = x};
    INFO(batch << " images, " << channels << " channels; y: " << text_of(y) << "; x: " << text_of(x) << "; blocks of " << tile.block_rows
               << " x " << tile.block_columns << "; " << form.name << ", vectors of " << width.lanes);
    if (has_border(of)) check_problem(vnni_depthwise_conv2d<true>(of), tile, width, form, from);
    else check_problem(vnni_depthwise_conv2d<false>(of), tile, width, form, from);
}

window any_window(drawn& from, std::int64_t most_taps) {
    window made{.taps = from.number(1, most_taps), .stride = from.number(1, 3), .dilation = from.number(1, 3) == 1 ? 2 : 1};
    if (from.number(0, 2) > 0) made.before = from.number(0, 3), made.after = from.number(0, 3);
    std::int64_t const reach = (made.taps - 1) * made.dilation + 1;
    made.extent = from.number(std::max<std::int64_t>(1, reach - made.before - made.after), reach + 12);
    return made;
}

}  // namespace

TEST_CASE("convolutions by VNNI are exact: borders, strides, dilations, channels that are no fours") {
    drawn from{std::mt19937(3)};
    for (vnni_forms::form const& form : vnni_forms::of_this_processor()) {
        window const same{.extent = 9, .taps = 3, .before = 1, .after = 1}, one{.extent = 13};
        check({.channels = 16, .filters = 64, .y = same, .x = same}, 32, {.block_rows = 4}, vnni::avx512, form, from);
        check({.channels = 20, .filters = 32, .y = one, .x = one}, 32, {.block_rows = 5, .block_columns = 6}, vnni::avx512, form, from);
        check({.channels = 8, .filters = 16, .y = same, .x = same}, 16, {.block_rows = 2}, vnni::avx, form, from);
        // Joined taps.
        window const first{.extent = 21, .taps = 7, .stride = 2, .before = 3, .after = 3};
        check({.batch = 2, .channels = 3, .filters = 16, .y = first, .x = first}, 16, {3, 4}, vnni::avx512, form, from);
        // Joined taps that fill their groups, without a border.
        window const four{.extent = 14, .taps = 4, .stride = 3};
        check({.channels = 5, .filters = 32, .y = one, .x = four}, 32, {}, vnni::avx, form, from);
        // Channels that are no fours, where taps lie apart.
        window const down{.extent = 15, .taps = 3, .dilation = 2, .before = 2, .after = 1},
            across{.extent = 16, .taps = 3, .dilation = 3, .after = 2};
        check({.channels = 5, .filters = 48, .y = down, .x = across}, 16, {}, vnni::avx512, form, from);
        // So many channels that taps in the border are left out in x, too.
        window const few{.extent = 5, .taps = 3, .before = 1, .after = 1};
        check({.channels = 176, .filters = 32, .y = few, .x = few}, 32, {}, vnni::avx512, form, from);
        check({.channels = 176, .filters = 16, .y = few, .x = few}, 16, {.block_columns = 2}, vnni::avx, form, from);
    }
}
TEST_CASE("convolutions by VNNI of any shape") {
    drawn from{std::mt19937(11)};
    vnni_forms::form const form = vnni_forms::of_this_processor().back();
    for (int round = 0; round < 60; ++round) {
        conv2d_shape const of{.batch = from.number(1, 2),
                              .channels = from.number(1, 9),
                              .filters = from.number(0, 1) == 0 ? 16 * from.number(1, 3) : from.number(1, 70),
                              .y = any_window(from, 4),
                              .x = any_window(from, 7)};
        std::int64_t const lanes = of.filters % 16 != 0 || from.number(0, 1) == 0 ? filters_beside(of) : 16;
        vnni_conv2d_tile const tile{from.number(1, of.y.positions()), from.number(0, 1) * from.number(1, of.x.positions())};
        check(of, lanes, tile, from.number(0, 1) == 0 ? vnni::avx512 : vnni::avx, form, from);
    }
}

TEST_CASE("depthwise convolutions by VNNI are exact: borders, strides, dilations, any number of channels") {
    drawn from{std::mt19937(5)};
    for (vnni_forms::form const& form : vnni_forms::of_this_processor()) {
        for (vnni::width const& width : {vnni::avx512, vnni::avx}) {
            window const same{.extent = 9, .taps = 3, .before = 1, .after = 1}, halved{.extent = 10, .taps = 3, .stride = 2, .after = 1};
            check_apart(1, 64, same, same, {.block_rows = 4}, width, form, from);
            check_apart(2, 81, halved, halved, {.block_rows = 2, .block_columns = 3}, width, form, from);
            // Rows of taps that fill their groups, without a border.
            window const four{.extent = 12, .taps = 4, .stride = 3}, seven{.extent = 15, .taps = 7};
            check_apart(1, 35, four, seven, {}, width, form, from);
            // Taps that lie apart, and two groups of rows.
            window const down{.extent = 15, .taps = 5, .dilation = 2, .before = 2, .after = 1},
                across{.extent = 16, .taps = 5, .dilation = 3, .after = 2};
            check_apart(1, 20, down, across, {}, width, form, from);
            // More channels than one call takes.
            window const short_one{.extent = 4, .taps = 3, .before = 1, .after = 1};
            check_apart(1, vnni::most_columns + 70, short_one, short_one, {}, width, form, from);
        }
    }
}
TEST_CASE("depthwise convolutions by VNNI of any shape") {
    drawn from{std::mt19937(13)};
    vnni_forms::form const form = vnni_forms::of_this_processor().back();
    for (int round = 0; round < 60; ++round) {
        window const y = any_window(from, 6), x = any_window(from, 9);
        vnni_conv2d_tile const tile{from.number(1, y.positions()), from.number(0, 1) * from.number(1, x.positions())};
        check_apart(from.number(1, 2), from.number(2, 140), y, x, tile, from.number(0, 1) == 0 ? vnni::avx512 : vnni::avx, form, from);
    }
}
TEST_CASE("a depthwise convolution by VNNI has as many groups and filters as channels") {
    window const same{.extent = 9, .taps = 3, .before = 1, .after = 1};
    CHECK_THROWS_AS(vnni_depthwise_conv2d<true>({.channels = 8, .filters = 8, .groups = 4, .y = same, .x = same}), std::invalid_argument);
    CHECK_THROWS_AS(vnni_depthwise_conv2d<true>({.channels = 8, .filters = 16, .groups = 8, .y = same, .x = same}), std::invalid_argument);
    CHECK_THROWS_AS(vnni_depthwise_conv2d<false>({.channels = 8, .filters = 8, .groups = 8, .y = same, .x = same}), std::invalid_argument);
    CHECK_THROWS_AS(vnni::window_core(vnni::avx, {.joined_channels = 3, .apart = true}), std::invalid_argument);
}
