#include "09_network/reference.hpp"

#include "catch.hpp"
#include "digits/digits.hpp"
#include "reference/networks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

using namespace lesson_network;

TEST_CASE("the network of lesson 09 reads as many of the test digits as its weights promise") {
    auto const digits = handwritten::load_digits(DIGITS_FILE);
    auto const test = std::span(digits).last(handwritten::test_digits);
    auto const right =
        std::count_if(test.begin(), test.end(), [](auto const& digit) { return guess(run_network(digit.image.data())) == digit.label; });
    CHECK(right == test_digits_read);
    CHECK(right >= 0.96 * handwritten::test_digits);
}

TEST_CASE("requantisation of lesson 09 rounds once, halves away from 0, and ends at 0 and 127") {
    constexpr std::int32_t half = 1 << 30;  // multiplier / 2^31 is 1/2
    CHECK(requantise_and_relu(0, half, 0) == 0);
    CHECK(requantise_and_relu(1, half, 0) == 1);
    CHECK(requantise_and_relu(2, half, 0) == 1);
    CHECK(requantise_and_relu(3, half, 0) == 2);
    CHECK(requantise_and_relu(5, half, 1) == 1);
    CHECK(requantise_and_relu(6, half, 1) == 2);
    CHECK(requantise_and_relu(5, half - 1, 0) == 2);  // a little less than 2.5
    CHECK(requantise_and_relu(1, half, 1) == 0);      // 0.25: rounding twice could have made it 1
    CHECK(requantise_and_relu(253, half, 0) == 127);
    CHECK(requantise_and_relu(255, half, 0) == 127);
    CHECK(requantise_and_relu(2147483647, 2147483647, -30) == 127);
    CHECK(requantise_and_relu(2147483647, 2147483647, 31) == 1);  // just below 1
    CHECK(requantise_and_relu(-1, half, 0) == 0);
    CHECK(requantise_and_relu(-2147483647 - 1, 2147483647, -30) == 0);
}

TEST_CASE("the layers of lesson 09 are what plain loops of other code compute") {
    auto const digits = handwritten::load_digits(DIGITS_FILE);
    constexpr reference::window large{.in = image_side, .out = image_side, .taps = 3, .before = 1};
    constexpr reference::window small{.in = pool1_side, .out = pool1_side, .taps = 3, .before = 1};
    constexpr reference::padded_conv2d_shape first{.channels = 1, .filters = conv1_filters, .y = large, .x = large};
    constexpr reference::padded_conv2d_shape second{.channels = conv1_filters, .filters = conv2_filters, .y = small, .x = small};

    auto const& image = digits.front().image;
    activations const of = run_network(image.data());
    auto const as_convolved = [](auto const& shape, auto const* in, auto const& weights, auto const& bias, auto const& multiplier,
                                 auto const& shift, auto const& result) {
        std::vector<std::int32_t> sums(result.size());
        reference::padded_conv2d(shape, in, weights.data(), sums.data());
        for (std::size_t at = 0; at < sums.size(); ++at) {
            std::size_t const filter = at % bias.size();
            INFO("element " << at);
            REQUIRE(result[at] == requantise_and_relu(sums[at] + bias[filter], multiplier[filter], shift[filter]));
        }
    };
    as_convolved(first, image.data(), conv1_weights, conv1_bias, conv1_multiplier, conv1_shift, of.conv1);
    as_convolved(second, of.pool1.data(), conv2_weights, conv2_bias, conv2_multiplier, conv2_shift, of.conv2);

    // Pooled pixels are in the order of their positions: the last one of each image comes from its last four.
    for (std::size_t channel = 0; channel < conv2_filters; ++channel) {
        auto const at = [&](std::size_t y, std::size_t x) { return of.conv2[(y * pool1_side + x) * conv2_filters + channel]; };
        CHECK(of.pool2[channel] == std::max({at(0, 0), at(0, 1), at(1, 0), at(1, 1)}));
        CHECK(of.pool2[2 * conv2_filters + channel] == std::max({at(2, 0), at(2, 1), at(3, 0), at(3, 1)}));
        CHECK(of.pool2[3 * conv2_filters + channel] == std::max({at(2, 2), at(2, 3), at(3, 2), at(3, 3)}));
    }
}
