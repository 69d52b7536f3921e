#include "reference.hpp"

#include <algorithm>
#include <cstddef>

namespace lesson_network {
namespace {

constexpr int taps = 3;

static_assert(conv1_weights.size() == taps * taps * conv1_filters);
static_assert(conv1_bias.size() == conv1_filters && conv1_multiplier.size() == conv1_filters && conv1_shift.size() == conv1_filters);
static_assert(conv2_weights.size() == taps * taps * conv1_filters * conv2_filters);
static_assert(conv2_bias.size() == conv2_filters && conv2_multiplier.size() == conv2_filters && conv2_shift.size() == conv2_filters);
static_assert(dense_weights.size() == pool2_side * pool2_side * conv2_filters * classes && dense_bias.size() == classes);

struct convolution {
    int side, channels, filters;
    std::int8_t const* weights;  // [row][column][channel][filter]
    std::int32_t const *bias, *multiplier, *shift;
};

void convolve(convolution const& of, std::int8_t const* in, std::int8_t* out) {
    auto const inside = [&](int at) { return at >= 0 && at < of.side; };
    for (int y = 0; y < of.side; ++y)
        for (int x = 0; x < of.side; ++x)
            for (int filter = 0; filter < of.filters; ++filter) {
                std::int32_t sum = of.bias[filter];
                for (int r = 0; r < taps; ++r)
                    for (int s = 0; s < taps; ++s) {
                        int const in_y = y + r - 1, in_x = x + s - 1;
                        if (!inside(in_y) || !inside(in_x)) continue;
                        for (int channel = 0; channel < of.channels; ++channel)
                            sum += in[(in_y * of.side + in_x) * of.channels + channel] *
                                   of.weights[((r * taps + s) * of.channels + channel) * of.filters + filter];
                    }
                out[(y * of.side + x) * of.filters + filter] = requantise_and_relu(sum, of.multiplier[filter], of.shift[filter]);
            }
}

/// The largest of each 2 x 2 pixels.
void max_pool(int side, int channels, std::int8_t const* in, std::int8_t* out) {
    for (int y = 0; y < side / 2; ++y)
        for (int x = 0; x < side / 2; ++x)
            for (int channel = 0; channel < channels; ++channel) {
                auto const at = [&](int r, int s) { return in[((2 * y + r) * side + 2 * x + s) * channels + channel]; };
                out[(y * (side / 2) + x) * channels + channel] = std::max({at(0, 0), at(0, 1), at(1, 0), at(1, 1)});
            }
}

}  // namespace

std::int8_t requantise_and_relu(std::int32_t sum, std::int32_t multiplier, std::int32_t shift) {
    std::int64_t const product = std::int64_t{sum} * multiplier;
    if (product <= 0) return 0;
    std::int64_t const half = std::int64_t{1} << (30 + shift);
    return static_cast<std::int8_t>(std::min<std::int64_t>((product + half) >> (31 + shift), 127));
}

activations run_network(std::int8_t const* image) {
    activations of;
    convolve({image_side, 1, conv1_filters, conv1_weights.data(), conv1_bias.data(), conv1_multiplier.data(), conv1_shift.data()}, image,
             of.conv1.data());
    max_pool(image_side, conv1_filters, of.conv1.data(), of.pool1.data());
    convolve(
        {pool1_side, conv1_filters, conv2_filters, conv2_weights.data(), conv2_bias.data(), conv2_multiplier.data(), conv2_shift.data()},
        of.pool1.data(), of.conv2.data());
    max_pool(pool1_side, conv2_filters, of.conv2.data(), of.pool2.data());
    for (std::size_t label = 0; label < of.scores.size(); ++label) {
        of.scores[label] = dense_bias[label];
        for (std::size_t input = 0; input < of.pool2.size(); ++input)
            of.scores[label] += of.pool2[input] * dense_weights[input * of.scores.size() + label];
    }
    return of;
}

int guess(activations const& of) { return static_cast<int>(std::max_element(of.scores.begin(), of.scores.end()) - of.scores.begin()); }

}  // namespace lesson_network
