#include <cstdlib>
#include <limits>
#include <sstream>
#include <tilewright/halide/jit.hpp>
#include <tilewright/kernels/avx2/cycles.hpp>
#include <tilewright/kernels/avx2/tiled_conv2d_bytes.hpp>
#include <tilewright/plan/best_tile.hpp>

#include "catch.hpp"
#include "reference/fill.hpp"

// Convolutions in tiles of registers on this processor give the bits of plain loops. Floats are small integers: sums are exact in any
// order.

using namespace tilewright;

namespace {

constexpr auto at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Images [batch][y][x][channels], weights [filters][r][s][channels of a group], in plain loops.
template <class Sum, class Element, class Weight>
std::vector<Sum> convolved(kernel::conv2d_shape const& of, std::vector<Element> const& in, std::vector<Weight> const& weights) {
    std::int64_t const channels = of.channels / of.groups, filters = of.filters / of.groups;
    std::vector<Sum> out;
    for (std::int64_t b = 0; b < of.batch; ++b) {
        for (std::int64_t y = 0; y < of.y.positions(); ++y) {
            for (std::int64_t x = 0; x < of.x.positions(); ++x) {
                for (std::int64_t f = 0; f < of.filters; ++f) {
                    Sum sum = 0;
                    for (std::int64_t r = 0; r < of.y.taps; ++r) {
                        for (std::int64_t s = 0; s < of.x.taps; ++s) {
                            std::int64_t const from_y = y * of.y.stride + r * of.y.dilation - of.y.before;
                            std::int64_t const from_x = x * of.x.stride + s * of.x.dilation - of.x.before;
                            if (from_y < 0 || from_x < 0 || from_y >= of.y.extent || from_x >= of.x.extent) continue;
                            for (std::int64_t c = 0; c < channels; ++c)
                                sum +=
                                    in[at(((b * of.y.extent + from_y) * of.x.extent + from_x) * of.channels + f / filters * channels + c)] *
                                    weights[at(((f * of.y.taps + r) * of.x.taps + s) * channels + c)];
                        }
                    }
                    out.push_back(sum);
                }
            }
        }
    }
    return out;
}

template <class Element, class Weight, class Sum>
void run(schedule const& of, std::vector<Element>& in, std::vector<Weight>& weights, std::vector<Sum>& out) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    std::vector<void*> pools;
    for (int pool = 0; pool < ir::arguments_of(*plan).pool_count; ++pool)
        pools.push_back(std::aligned_alloc(64, at(targets::avx2::l2.capacity)));
    halide::jit_kernel compiled(*plan, pools);
    auto const whole = [&]<class T>(std::vector<T>& data, char const* name) {
        std::vector<int> extents;
        for (int b = 0; b < plan->buffers.size(); ++b) {
            ir::buffer const& one = plan->buffers[at(b)];
            if (one.kind != ir::buffer_kind::argument || one.tensor.str() != name) continue;
            for (int d = one.rank - 1; d >= 0; --d) extents.push_back(static_cast<int>(one.extents[at(d)]));
        }
        return Halide::Buffer<>(Halide::type_of<T>(), data.data(), extents);
    };
    // In the order in which the computation reads them.
    std::vector<Halide::Buffer<>> operands{whole(in, "in"), whole(weights, "weights")};
    if (plan->buffers[0].tensor == "weights") std::swap(operands[0], operands[1]);
    compiled.run(operands, whole(out, "out"));
    for (void* pool : pools) std::free(pool);
}

/// @tparam Element, Weight, Sum  of the image, of weights as they are, of the result
template <class Element, class Weight, class Sum>
struct images {
    std::vector<Element> in;
    std::vector<Weight> weights;
    std::vector<Sum> out, expected;

    images(kernel::conv2d_shape const& of, int least, int most, int least_weight, int most_weight)
        : in(at(of.batch * of.y.extent * of.x.extent * of.channels)),
          weights(at(of.filters * of.y.taps * of.x.taps * of.channels / of.groups)),
          out(at(of.batch * of.y.positions() * of.x.positions() * of.filters), -1) {
        fill(in, 1, least, most), fill(weights, 2, least_weight, most_weight);
        expected = convolved<Sum>(of, in, weights);
    }
    template <class T>
    static void fill(std::vector<T>& data, std::uint64_t seed, int least, int most) {
        std::vector<int> numbers(data.size());
        reference::fill_between(numbers.data(), numbers.size(), seed, least, most);
        std::transform(numbers.begin(), numbers.end(), data.begin(), [](int number) { return static_cast<T>(number); });
    }
    /// The weights where a problem expects them, and nothing elsewhere.
    template <class Packed>
    std::vector<Packed> packed_for(auto const& problem) const {
        kernel::conv2d_shape const& of = problem.shape;
        std::vector<Packed> packed(at(problem.weight_count()));
        std::int64_t const channels = of.channels / of.groups;
        for (std::int64_t f = 0; f < of.filters; ++f) {
            for (std::int64_t r = 0; r < of.y.taps; ++r) {
                for (std::int64_t s = 0; s < of.x.taps; ++s) {
                    for (std::int64_t c = 0; c < channels; ++c)
                        packed[at(problem.place_of(f, c, r, s))] = weights[at(((f * of.y.taps + r) * of.x.taps + s) * channels + c)];
                }
            }
        }
        return packed;
    }
    int wrong() const {
        int count = 0;
        for (std::size_t index = 0; index < out.size(); ++index) count += out[index] != expected[index];
        return count;
    }
};
using float_images = images<float, float, float>;

void check(kernel::conv2d_shape const& of, kernel::conv2d_packing const& packing, kernel::conv2d_tile const& tile) {
    INFO(of.channels << " channels, " << of.filters << " filters, " << of.groups << " groups, " << of.y.extent << " x " << of.x.extent);
    float_images data(of, -4, 4, -4, 4);
    kernel::packed_conv2d<float, float> const problem(of, packing);
    auto packed = data.packed_for<float>(problem);
    run(kernel::tiled_conv2d(problem, tile), data.in, packed, data.out);
    CHECK(data.wrong() == 0);
}
/// Bytes, as large as they can be. @tparam Packed  weights as the problem has them
template <class Packed, class Element>
void check_bytes(images<Element, std::int8_t, std::int32_t> data, auto const& problem, kernel::conv2d_tile const& tile) {
    kernel::conv2d_shape const& of = problem.shape;
    INFO(of.channels << " channels, " << of.filters << " filters, " << of.groups << " groups, " << of.y.extent << " x " << of.x.extent);
    auto packed = data.template packed_for<Packed>(problem);
    run(kernel::tiled_conv2d(problem, tile), data.in, packed, data.out);
    CHECK(data.wrong() == 0);
}
template <class Element>
void check_wide(kernel::conv2d_shape const& of, kernel::conv2d_packing const& packing, kernel::conv2d_tile const& tile) {
    images<Element, std::int8_t, std::int32_t> const data(of, std::numeric_limits<Element>::min(), std::numeric_limits<Element>::max(),
                                                          -128, 127);
    check_bytes<std::int16_t>(data, kernel::packed_conv2d_bytes<Element>(of, packing), tile);
}
void check_reduced(kernel::conv2d_shape const& of, kernel::conv2d_packing const& packing, kernel::conv2d_tile const& tile) {
    kernel::packed_conv2d_reduced_bytes const problem(of, packing);
    check_bytes<std::int8_t>(images<std::uint8_t, std::int8_t, std::int32_t>(of, 0, 255, -64, 64), problem, tile);
    // The largest sums that there are.
    check_bytes<std::int8_t>(images<std::uint8_t, std::int8_t, std::int32_t>(of, 255, 255, 64, 64), problem, tile);
    check_bytes<std::int8_t>(images<std::uint8_t, std::int8_t, std::int32_t>(of, 255, 255, -64, -64), problem, tile);
}
void check_depthwise(kernel::conv2d_shape const& of, kernel::conv2d_tile const& tile) {
    INFO(of.channels << " channels, " << of.y.extent << " x " << of.x.extent);
    float_images data(of, -4, 4, -4, 4);
    kernel::depthwise_conv2d<float, float> const problem(of);
    auto packed = data.packed_for<float>(problem);
    run(kernel::tiled_conv2d(problem, tile), data.in, packed, data.out);
    CHECK(data.wrong() == 0);
}

constexpr kernel::window same(std::int64_t extent) { return {.extent = extent, .taps = 3, .before = 1, .after = 1}; }

}  // namespace

TEST_CASE("tiles that divide neither rows nor columns nor filters give what plain loops give") {
    check({.channels = 16, .filters = 40, .y = same(7), .x = same(13)}, {8, 16}, {.rows = 2, .columns = 3, .block_rows = 4});
    check({.channels = 16, .filters = 40, .y = same(7), .x = same(13)}, {8, 16},
          {.rows = 1, .columns = 4, .vectors = 3, .block_rows = 7, .filters_inside = true});
    check({.channels = 16, .filters = 16, .y = same(9), .x = same(17)}, {8, 16},
          {.rows = 3, .columns = 2, .block_rows = 6, .block_columns = 8, .steps = 7});
}
TEST_CASE("a sum over the channels in several passes continues from the result") {
    check({.batch = 2, .channels = 24, .filters = 16, .y = same(6), .x = same(8)}, {8, 8}, {.columns = 4});
    check({.batch = 2, .channels = 24, .filters = 16, .y = same(6), .x = same(8)}, {16, 4}, {.columns = 5, .vectors = 1, .steps = 2});
}
TEST_CASE("strides, dilations and borders of one side") {
    check({.channels = 3,
           .filters = 32,
           .y = {.extent = 30, .taps = 7, .stride = 2, .before = 3, .after = 3},
           .x = {.extent = 30, .taps = 7, .stride = 2, .before = 3, .after = 3}},
          {8, 3}, {.steps = 3});
    check({.channels = 8,
           .filters = 8,
           .y = {.extent = 15, .taps = 3, .dilation = 2, .before = 2, .after = 2},
           .x = {.extent = 17, .taps = 2, .stride = 3, .dilation = 2, .before = 0, .after = 1}},
          {8, 8}, {.columns = 3, .vectors = 1});
    check({.channels = 4, .filters = 8, .y = {.extent = 12, .taps = 1, .stride = 2}, .x = {.extent = 9, .taps = 4, .before = 3}}, {4, 4},
          {.columns = 4, .vectors = 2});
}
TEST_CASE("one tap, read where it is") {
    check({.channels = 32, .filters = 24, .y = {.extent = 5}, .x = {.extent = 11}}, {8, 32}, {.vectors = 2, .stages = false});
    check({.channels = 32, .filters = 24, .y = {.extent = 1}, .x = {.extent = 55}}, {8, 16},
          {.columns = 4, .vectors = 3, .stages = false, .filters_inside = true});
}
TEST_CASE("a border that is chosen where it is read, without a copy") {
    check({.channels = 8, .filters = 16, .y = same(6), .x = same(7)}, {8, 8}, {.columns = 3, .stages = false});
    check_depthwise({.channels = 16, .filters = 16, .groups = 16, .y = same(6), .x = same(7)}, {.columns = 3, .stages = false});
    check_depthwise({.batch = 2, .channels = 16, .filters = 16, .groups = 16, .y = same(9), .x = same(13)},
                    {.rows = 2, .columns = 4, .vectors = 1, .block_rows = 9, .steps = 9, .stages = false, .filters_inside = true});
    check_depthwise({.channels = 8,
                     .filters = 8,
                     .groups = 8,
                     .y = {.extent = 13, .taps = 3, .stride = 2, .before = 1, .after = 1},
                     .x = {.extent = 19, .taps = 5, .dilation = 2, .before = 4, .after = 4}},
                    {.rows = 2, .columns = 2, .vectors = 1, .block_rows = 4, .steps = 15, .stages = false});
}
TEST_CASE("tiles that meet no border do not look for it") {
    auto const sums = [](std::int64_t extent, bool choosing) {
        kernel::depthwise_conv2d<float, float> const problem(
            {.channels = 8, .filters = 8, .groups = 8, .y = same(extent), .x = same(extent)});
        kernel::conv2d_tile const tile{.rows = 2, .columns = 4, .vectors = 1, .block_rows = 12, .steps = 9, .stages = false};
        auto const plan = std::make_unique<plan_value>(make_plan(kernel::tiled_conv2d(problem, tile)));
        REQUIRE(!plan->refusal);
        std::istringstream lines(halide::jit_kernel(*plan, std::vector<void*>()).statement());
        int count = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line.find("llvm.fma") != std::string::npos) count += (line.find("select") != std::string::npos) == choosing ? 1 : 0;
        }
        return count;
    };
    // 2 x 4 sums of 9 products each
    CHECK(sums(12, true) == 72);
    CHECK(sums(12, false) == 72);
    // In an image of 4 columns, every tile meets one.
    CHECK(sums(4, true) == 72);
    CHECK(sums(4, false) == 0);
}
TEST_CASE("sums of bytes are formed in vectors, whatever is left of terms, rows, columns and filters") {
    auto const scalar_sums = [](schedule const& of) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        std::istringstream lines(halide::jit_kernel(*plan, std::vector<void*>(1)).statement());
        int in_lanes = 0, alone = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line.find("_out.ymm[") == std::string::npos) continue;
            in_lanes += line.find("vector_reduce") != std::string::npos;
            alone += line.find("*int32(") != std::string::npos;
        }
        CHECK(in_lanes > 0);
        return alone;
    };
    // Nine terms of two in a row of taps, or five of four: two at a time, one is left. Seven positions, two at a time, and three filters.
    kernel::conv2d_shape const of{.channels = 6, .filters = 24, .y = same(7), .x = same(7)};
    for (kernel::conv2d_tile const& tile : {kernel::conv2d_tile{.columns = 4, .block_rows = 7, .steps = 2},
                                            {.rows = 2, .columns = 2, .block_rows = 8, .steps = 2, .filters_inside = true}}) {
        CHECK(scalar_sums(kernel::tiled_conv2d(kernel::packed_conv2d_bytes<std::uint8_t>(of, {8, 6}), tile)) == 0);
        CHECK(scalar_sums(kernel::tiled_conv2d(kernel::packed_conv2d_reduced_bytes(of, {8, 6}), tile)) == 0);
        check_wide<std::uint8_t>(of, {8, 6}, tile);
        check_reduced(of, {8, 6}, tile);
    }
}
TEST_CASE("groups see their own channels") {
    check({.channels = 16, .filters = 32, .groups = 2, .y = same(6), .x = same(9)}, {8, 8}, {.columns = 4});
    check({.channels = 24, .filters = 12, .groups = 3, .y = same(5), .x = same(5)}, {4, 4}, {.columns = 5, .vectors = 1});
}
TEST_CASE("depthwise, by vectors of channels") {
    check_depthwise({.channels = 32, .filters = 32, .groups = 32, .y = same(9), .x = same(10)}, {.columns = 4, .filters_inside = true});
    check_depthwise({.batch = 2, .channels = 20, .filters = 20, .groups = 20, .y = same(5), .x = same(6)},
                    {.rows = 2, .columns = 3, .vectors = 1, .block_rows = 4, .block_columns = 3});
    check_depthwise({.channels = 8,
                     .filters = 8,
                     .groups = 8,
                     .y = {.extent = 11, .taps = 3, .stride = 2, .before = 1, .after = 1},
                     .x = {.extent = 14, .taps = 5, .dilation = 2, .before = 4, .after = 4}},
                    {.columns = 4, .vectors = 1});
}
TEST_CASE("depthwise, of bytes") {
    kernel::conv2d_shape const of{.channels = 20, .filters = 20, .groups = 20, .y = same(7), .x = same(10)};
    images<std::uint8_t, std::int8_t, std::int32_t> data(of, 0, 255, -128, 127);
    kernel::depthwise_conv2d<std::uint8_t, std::int32_t, std::int32_t> const problem(of);
    auto packed = data.packed_for<std::int32_t>(problem);
    run(kernel::tiled_conv2d(problem, {.columns = 3, .vectors = 2}), data.in, packed, data.out);
    CHECK(data.wrong() == 0);
}
TEST_CASE("bytes, in pairs of terms: even and odd numbers of them, strides, dilations, borders, passes, groups") {
    check_wide<std::uint8_t>({.channels = 16, .filters = 40, .y = same(7), .x = same(13)}, {8, 16}, {.columns = 3, .block_rows = 4});
    check_wide<std::int8_t>({.batch = 2, .channels = 24, .filters = 16, .y = same(6), .x = same(8)}, {8, 8},
                            {.rows = 2, .columns = 3, .vectors = 1, .block_rows = 4});
    check_wide<std::uint8_t>({.channels = 3,
                              .filters = 16,
                              .y = {.extent = 30, .taps = 7, .stride = 2, .before = 3, .after = 3},
                              .x = {.extent = 30, .taps = 7, .stride = 2, .before = 3, .after = 3}},
                             {8, 3}, {.steps = 1});
    check_wide<std::uint8_t>({.channels = 6,
                              .filters = 16,
                              .groups = 2,
                              .y = {.extent = 15, .taps = 3, .dilation = 2, .before = 2, .after = 2},
                              .x = {.extent = 17, .taps = 2, .stride = 3, .dilation = 2, .before = 0, .after = 1}},
                             {8, 3}, {.columns = 3, .vectors = 1, .steps = 2, .filters_inside = true});
    check_wide<std::int8_t>({.channels = 32, .filters = 24, .y = {.extent = 5}, .x = {.extent = 11}}, {8, 16},
                            {.columns = 4, .vectors = 2, .stages = false});
}

TEST_CASE("bytes with weights of 7 bits, in fours: all rests of four, strides, dilations, borders, passes, groups", "[long]") {
    check_reduced({.channels = 16, .filters = 40, .y = same(7), .x = same(13)}, {8, 16}, {.columns = 3, .block_rows = 4, .steps = 2});
    check_reduced({.batch = 2, .channels = 24, .filters = 16, .y = same(6), .x = same(8)}, {8, 8},
                  {.rows = 2, .columns = 3, .vectors = 1, .block_rows = 4, .steps = 1, .filters_inside = true});
    check_reduced({.channels = 3,
                   .filters = 16,
                   .y = {.extent = 30, .taps = 7, .stride = 2, .before = 3, .after = 3},
                   .x = {.extent = 30, .taps = 7, .stride = 2, .before = 3, .after = 3}},
                  {8, 3}, {.columns = 4, .steps = 1});
    check_reduced({.channels = 6,
                   .filters = 16,
                   .groups = 2,
                   .y = {.extent = 15, .taps = 3, .dilation = 2, .before = 2, .after = 2},
                   .x = {.extent = 17, .taps = 2, .stride = 3, .dilation = 2, .before = 0, .after = 1}},
                  {8, 3}, {.columns = 3, .vectors = 1, .steps = 1});
    check_reduced({.channels = 32, .filters = 24, .y = {.extent = 5}, .x = {.extent = 11}}, {8, 16},
                  {.columns = 4, .vectors = 2, .steps = 2, .stages = false});
}
TEST_CASE("weights that have more than 7 bits are moved into the range") {
    kernel::conv2d_shape const of{.channels = 8, .filters = 8, .y = same(5), .x = same(5)};
    images<std::uint8_t, std::int8_t, std::int32_t> data(of, 0, 255, -128, 127), moved = data;
    for (std::int8_t& weight : moved.weights) weight = std::clamp<std::int8_t>(weight, -64, 64);
    moved.expected = convolved<std::int32_t>(of, moved.in, moved.weights);
    data.expected = moved.expected;
    check_bytes<std::int8_t>(data, kernel::packed_conv2d_reduced_bytes(of, {8, 8}), {.columns = 5, .vectors = 1, .steps = 1});
}
TEST_CASE("the tile of least cost among those to try is one that computes the convolution, and no other one costs less", "[long]") {
    targets::avx2::cycles const cost;
    kernel::window const strided{.extent = 15, .taps = 3, .stride = 2, .before = 1, .after = 1};
    for (kernel::conv2d_shape const& of : {kernel::conv2d_shape{.channels = 16, .filters = 24, .y = same(14), .x = same(14)},
                                           {.channels = 8, .filters = 16, .y = strided, .x = strided},
                                           {.channels = 32, .filters = 16, .y = {.extent = 1}, .x = {.extent = 49}}}) {
        kernel::conv2d_packing const packing{8, of.channels};
        kernel::packed_conv2d<float, float> const floats(of, packing);
        kernel::packed_conv2d_reduced_bytes const bytes(of, packing);
        auto const of_floats = [&](kernel::conv2d_tile const& tile) { return kernel::tiled_conv2d(floats, tile); };
        auto const of_bytes = [&](kernel::conv2d_tile const& tile) { return kernel::tiled_conv2d(bytes, tile); };
        auto const candidates = kernel::tiles_for(of);
        kernel::conv2d_tile const best = best_tile(candidates, of_floats, cost);
        check(of, packing, best);
        check_reduced(of, packing, best_tile(candidates, of_bytes, cost));
        int planned = 0;
        for (kernel::conv2d_tile const& tile : candidates) {
            plan_value const plan = make_plan(of_floats(tile));
            planned += plan.refusal ? 0 : 1;
            if (!plan.refusal) CHECK(cost(make_plan(of_floats(best))) <= cost(plan));
        }
        CHECK(planned >= 10);
        CHECK(kernel::tiles_for(of, 3).count == 3);
    }
}
