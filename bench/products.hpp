#pragma once
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "comparison.hpp"

/// Shapes of products that no list names.
namespace peers {

struct product_shape {
    int rows, columns, depth;  ///< of the result, of the result, of the sum
};
inline std::string text_of(product_shape const& of) {
    return std::to_string(of.rows) + "x" + std::to_string(of.columns) + "x" + std::to_string(of.depth);
}
/// @throws std::runtime_error when a text is no MxNxK
inline product_shape product_of(std::string const& text) {
    product_shape made{};
    int end = 0;
    if (std::sscanf(text.c_str(), "%dx%dx%d%n", &made.rows, &made.columns, &made.depth, &end) != 3 ||
        end != static_cast<int>(text.size()) || made.rows < 1 || made.columns < 1 || made.depth < 1)
        throw std::runtime_error("`" + text + "` is no shape of a product: write rows x columns x depth as 37x61x113");
    return made;
}

/// What a run is asked for; or else ten random shapes, whose seed it prints: any size is as likely as its double, and products take from
/// about 0.1 to 20 ms.
inline std::vector<product_shape> other_products(request const& asked) {
    std::vector<product_shape> made;
    for (std::string const& one : asked.shapes) made.push_back(product_of(one));
    if (!made.empty()) return made;
    std::printf("random, --seed=%u\n", asked.seed);
    std::mt19937 bits(asked.seed);
    auto const size = [&] { return static_cast<int>(std::lround(32 * std::pow(64.0, static_cast<double>(bits()) / 4294967296.0))); };
    while (made.size() < 10) {
        int const rows = size(), columns = size(), depth = size();
        double const operations = 2.0 * rows * columns * depth;
        if (operations > 8e6 && operations < 2e9) made.push_back({rows, columns, depth});
    }
    return made;
}

}  // namespace peers
