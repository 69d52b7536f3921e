#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <tilewright/kernels/avx2/cycles.hpp>
#include <tilewright/runtime/call.hpp>
#include <tilewright/tune/tune.hpp>
#include <vector>

#include "product.hpp"
#include "tuned_gemm.h"

// Which tile is best for a product? The tuner measures; the build takes the winner from a table that an earlier run wrote.
//
//     10_tune [rows columns depth] [options of the tuner; --help]

using namespace tilewright;

namespace {

/// The product by plain loops. @return whether the operands hold it
bool is_product(kernel::gemm_shape const& of, float const* a, float const* b, float const* c) {
    std::vector<float> expected(static_cast<std::size_t>(of.rows * of.columns), 0);
    for (std::int64_t y = 0; y < of.rows; ++y) {
        for (std::int64_t z = 0; z < of.depth; ++z) {
            for (std::int64_t x = 0; x < of.columns; ++x)
                expected[static_cast<std::size_t>(y * of.columns + x)] += a[y * of.depth + z] * b[z * of.columns + x];
        }
    }
    return std::equal(expected.begin(), expected.end(), c);
}

/// Runs the kernel that the build made of the winner.
bool built_one_is_right() {
    kernel::gemm_shape const of = lesson_tune::known;
    std::vector<float> a(static_cast<std::size_t>(of.rows * of.depth)), b(static_cast<std::size_t>(of.depth * of.columns)),
        c(static_cast<std::size_t>(of.rows * of.columns));
    for (std::size_t at = 0; at < a.size(); ++at) a[at] = static_cast<float>(at % 7) - 3;
    for (std::size_t at = 0; at < b.size(); ++at) b[at] = static_cast<float>(at % 5) - 2;
    alignas(64) static char l2[TILEWRIGHT_tuned_gemm_l2_BYTES];
    return call<lesson_tune::on_avx2>(tuned_gemm, a, b, l2, c) == 0 && is_product(of, a.data(), b.data(), c.data());
}

}  // namespace

int main(int count, char** arguments) {
    kernel::gemm_shape shape = lesson_tune::known;
    bool const any_shape = count > 3 && arguments[1][0] != '-';
    if (any_shape) {
        shape = {std::max(1L, std::atol(arguments[1])), std::max(1L, std::atol(arguments[2])), std::max(1L, std::atol(arguments[3]))};
        arguments[3] = arguments[0];
        arguments += 3, count -= 3;
    }
    kernel::gemm<float> const computation(shape);

    tune::problem const gemm{
        .name = "gemm",
        .shape = {shape.rows, shape.columns, shape.depth},
        .configurations = {{{"rows", {4, 5, 6, 8}},
                            {"vectors", {2, 3}},
                            {"block_rows", {48, 96}},
                            {"block_columns", {64, 256}},
                            {"block_depth", {128, 256, 384}},
                            {"columns_inside", {0, 1}},
                            {"packs_rows", {0, 1}}},
                           [&](tune::configuration const& c) { return c["block_depth"] == 128 || c["block_depth"] < 2 * shape.depth; }},
        .scheduled = [&](tune::configuration const& c) { return lesson_tune::product(computation, c); },
        .cost = targets::avx2::cycles{},
        .check =
            [&](std::vector<tune::operand_view> const& x) {
                return is_product(shape, x[0].as<float>(), x[1].as<float>(), x[2].as<float>());
            },
        .c_source = false};  // it has vectors that C does not have

    if (count > 1 || any_shape) return tune::main(gemm, count, arguments);
    // Without arguments, only the eight that cost least; then the kernel that the build made of the winner.
    char const* few[] = {arguments[0], "--limit", "8"};
    int const code = tune::main(gemm, 3, few);
    bool const right = built_one_is_right();
    std::cout << "built: " << tune::text_of(lesson_tune::best) << (right ? ", right\n" : ", WRONG\n");
    return right ? code : EXIT_FAILURE;
}
