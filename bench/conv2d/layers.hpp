#pragma once
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "comparison.hpp"
#include "shapes.hpp"

/// Layers that no list names.
namespace conv2d_bench {

using named_layer = std::pair<std::string, conv2d_shape>;

/// A layer by its name, as the table has it: c3x3s2_64_128_56 has 3 x 3 taps at strides of 2, 64 channels, 128 filters and an image of
/// 56 x 56; without stride, c3x3_64_128_56; dw3x3_64_56 is depthwise.
/// @throws std::runtime_error when a text names no layer
inline named_layer layer_of(std::string const& text) {
    int taps = 0, also_taps = 0, stride = 1, channels = 0, filters = 0, extent = 0, end = 0;
    bool const depthwise = text.rfind("dw", 0) == 0;
    char const* from = text.c_str() + (depthwise ? 2 : 1);
    bool good = depthwise || text.rfind("c", 0) == 0;
    good = good && std::sscanf(from, "%dx%d%n", &taps, &also_taps, &end) == 2 && taps == also_taps;
    if (good) from += end;
    if (good && *from == 's' && (good = std::sscanf(from, "s%d%n", &stride, &end) == 1)) from += end;
    if (depthwise) good = good && std::sscanf(from, "_%d_%d%n", &channels, &extent, &end) == 2, filters = channels;
    else good = good && std::sscanf(from, "_%d_%d_%d%n", &channels, &filters, &extent, &end) == 3;
    if (!good || from[end] != '\0' || taps < 1 || stride < 1 || channels < 1 || filters < 1 || extent < taps)
        throw std::runtime_error("`" + text + "` is no layer: write c3x3s2_CHANNELS_FILTERS_EXTENT or dw3x3_CHANNELS_EXTENT");
    return {text, layer(channels, filters, extent, taps, stride, depthwise ? channels : 1)};
}

/// What a run is asked for; or else ten random layers, whose seed it prints: any size is as likely as its double.
inline std::vector<named_layer> other_layers(peers::request const& asked) {
    std::vector<named_layer> made;
    for (std::string const& one : asked.shapes) made.push_back(layer_of(one));
    if (!made.empty()) return made;
    std::printf("random, --seed=%u\n", asked.seed);
    std::mt19937 bits(asked.seed);
    auto const size = [&](int least, int most) {
        return std::to_string(std::lround(least * std::pow(static_cast<double>(most) / least, static_cast<double>(bits()) / 4294967296.0)));
    };
    while (made.size() < 10) {
        constexpr char const* taps_of[] = {"1x1", "3x3", "3x3", "3x3s2", "5x5", "7x7s2"};
        bool const depthwise = bits() % 5 == 0;
        std::string name = std::string(depthwise ? "dw" : "c") + taps_of[bits() % 6] + "_" + size(3, 512) + "_";
        if (!depthwise) name += size(8, 512) + "_";
        named_layer const one = layer_of(name + size(7, 112));
        conv2d_shape const& of = one.second;
        double const operations = 2.0 * static_cast<double>(of.y.positions() * of.x.positions() * of.filters * of.channels / of.groups) *
                                  static_cast<double>(of.y.taps * of.x.taps);
        if (operations > (depthwise ? 1e6 : 8e6) && operations < 5e8) made.push_back(one);
    }
    return made;
}

/// The layer with as many filters as whole vectors have: the further ones have weights of 0, and nobody looks at their results. Without
/// taps beside each other, all of an image is one row.
inline conv2d_shape as_computed(conv2d_shape of, std::int64_t lanes) {
    if (of.groups == 1) of.filters = (of.filters + lanes - 1) / lanes * lanes;
    bool const plain = of.y.taps == 1 && of.x.taps == 1 && of.y.stride == 1 && of.x.stride == 1;
    return plain && of.groups == 1 ? in_one_row(of) : of;
}
/// Channels that are summed up before a result is stored: a divisor of all.
inline std::int64_t depth_of(std::int64_t channels, std::int64_t most) {
    for (std::int64_t depth = most; depth >= 32; --depth) {
        if (depth <= channels && channels % depth == 0) return depth;
    }
    return channels;
}

/// Tiles for floats. Of a sum whose terms the written-out steps do not divide, what is left would be looked for in every step.
/// @param terms  of the sum that are neighbours in memory
inline tile_list<conv2d_tile> float_tiles_for(conv2d_shape const& of, std::int64_t terms, tilewright::targets::vector_core const& on) {
    tile_list<conv2d_tile> made;
    std::int64_t steps = 1;
    for (std::int64_t const one : {4, 6, 5, 8, 7, 3, 2}) {
        if (steps == 1 && terms % one == 0) steps = one;
    }
    for (conv2d_tile tile : tiles_for(of, tile_list<conv2d_tile>::most, on)) tile.steps = steps, made.add(tile);
    return made;
}
/// Tiles for products of bytes: two vectors of filters at four positions, with the blocks that suit floats.
inline tile_list<conv2d_tile> byte_tiles_for(conv2d_shape const& of) {
    tile_list<conv2d_tile> made;
    for (conv2d_tile tile : tiles_for(of, 2)) {
        for (bool inside : {false, true}) {
            for (std::int64_t rows : {1, 2}) {
                for (std::int64_t steps : {1, 2}) {
                    tile.filters_inside = inside, tile.rows = rows, tile.columns = 4 / rows, tile.vectors = 2, tile.steps = steps;
                    tile.block_rows = (tile.block_rows + rows - 1) / rows * rows;
                    made.add(tile);
                }
            }
        }
    }
    return made;
}
/// Tiles for depthwise convolutions. Small windows read little for what a copy costs. Large ones meet the border often, and need a copy of
/// blocks that are not much smaller than what they read. One tap is a stream along the channels.
inline tile_list<conv2d_tile> depthwise_tiles_for(conv2d_shape const& of, bool bytes) {
    tile_list<conv2d_tile> made;
    std::int64_t const taps = of.y.taps * of.x.taps;
    if (!bytes && taps == 1) made.add({1, 1, 8, of.y.positions(), 0, 1, false, true});
    for (std::int64_t rows : {1, 2}) {
        for (std::int64_t columns : {4, 8}) {
            for (std::int64_t vectors : {1, 2}) {
                if (rows * columns * vectors > 12) continue;
                if (!bytes && taps <= 9) made.add({rows, columns, vectors, of.y.positions(), 0, taps, false, true});
                made.add({rows, columns, vectors, 6, 8, 1, true, true});
                if (taps > 9) made.add({rows, columns, vectors, 12, 16, 1, true, true});
            }
        }
    }
    return made;
}

}  // namespace conv2d_bench
