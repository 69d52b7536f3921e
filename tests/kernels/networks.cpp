// clang-format off: schedules are read line by line, a buffer a line.
#include <cmath>
#include <tilewright/kernels/convolution.hpp>
#include <tilewright/kernels/fully_connected.hpp>
#include <tilewright/kernels/pooling.hpp>
#include <tilewright/kernels/softmax.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"
#include "reference/networks.hpp"

// The computations of include/tilewright/kernels, with schedules that any machine can run, compared with plain loops.

using namespace tilewright;

namespace {

using kernels::dsp, kernels::l1, kernels::l2;
constexpr kernel::window tall{13, 3, 2, 1, 1, 2}, wide{11, 2, 1, 3, 2, 1};
constexpr reference::window by_hand(kernel::window const& of) {
    return {static_cast<int>(of.extent), static_cast<int>(of.positions()), static_cast<int>(of.taps),
            static_cast<int>(of.stride), static_cast<int>(of.dilation),    static_cast<int>(of.before)};
}
static_assert(tall.positions() == 7 && wide.positions() == 11);

template <class Reference>
void check(schedule const& of, Reference const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    kernels::check_kernel(*plan, emulated<dsp>(), expected);
}
template <kernel::conv2d_shape Shape>
void check_conv() {
    using conv = kernel::conv2d<Shape, std::int8_t, std::int32_t>;
    reference::padded_conv2d_shape const shape{static_cast<int>(Shape.batch),
                                               static_cast<int>(Shape.channels),
                                               static_cast<int>(Shape.filters),
                                               static_cast<int>(Shape.groups),
                                               by_hand(Shape.y),
                                               by_hand(Shape.x)};
    auto const expected = [&](kernels::operand_data const& d) {
        reference::padded_conv2d(shape, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    };
    check(schedule(conv::what, dsp), expected);
    check(schedule(conv::what, dsp)
              .split(conv::y, "yo", "yi", 3)
              .cache_read(conv::in, l2)
              .at("yo")
              .by(kernels::dram_l2)
              .cache_write(conv::out, l2)
              .at("yo")
              .by(kernels::l2_dram),
          expected);
}
/// One pass over the windows of a pooling: `visit(position in out, element)` for what is inside, then `done(position, count)`.
template <class Visit, class Done>
void each_window(kernel::pool2d_shape const& of, Visit const& visit, Done const& done) {
    reference::window const y = by_hand(of.y), x = by_hand(of.x);
    int const channels = static_cast<int>(of.channels);
    for (int b = 0; b < of.batch; ++b)
        for (int p = 0; p < y.out; ++p)
            for (int q = 0; q < x.out; ++q)
                for (int c = 0; c < channels; ++c) {
                    int const at = ((b * y.out + p) * x.out + q) * channels + c;
                    int count = 0;
                    for (int r = 0; r < y.taps; ++r)
                        for (int s = 0; s < x.taps; ++s) {
                            bool const inside = y.holds(p, r) && x.holds(q, s);
                            count += inside ? 1 : 0;
                            visit(at, inside ? ((b * y.in + y.at(p, r)) * x.in + x.at(q, s)) * channels + c : -1);
                        }
                    done(at, count);
                }
}
constexpr kernel::pool2d_shape pools{2, 5, tall, wide};

template <kernel::border Border>
void check_average() {
    using pool = kernel::average_pool2d<pools, float, Border>;
    auto const expected = [&](kernels::operand_data const& d) {
        for (std::size_t at = 0; at < d.output.number_of_elements(); ++at) d.out<float>()[at] = 0;
        each_window(
            pools, [&](int at, int from) { d.out<float>()[at] += from < 0 ? 0.0f : d.in<float>(0)[from]; },
            [&](int at, int count) {
                d.out<float>()[at] /= static_cast<float>(Border == kernel::border::counts ? 6 : count > 0 ? count : 1);
            });
    };
    check(schedule(pool::what, dsp).compute_at(pool::sums, pool::y).store_in(pool::sums, l1), expected);
    check(schedule(pool::what, dsp).split(pool::channel, "co", "ci", 4).compute_at(pool::sums, pool::x).store_in(pool::sums, l1), expected);
}

}  // namespace

TEST_CASE("convolutions: strides, dilations, borders, groups, depthwise", "[long]") {
    check_conv<kernel::conv2d_shape{2, 5, 7, 1, tall, wide}>();
    check_conv<kernel::conv2d_shape{1, 6, 9, 3, wide, tall}>();
    check_conv<kernel::conv2d_shape{1, 5, 5, 5, tall, tall}>();
    check_conv<kernel::conv2d_shape{1, 4, 3, 1, {5}, {6}}>();
}
TEST_CASE("max pooling: the border is never the largest") {
    using pool = kernel::max_pool2d<pools, std::int8_t>;
    auto const expected = [](kernels::operand_data const& d) {
        for (std::size_t at = 0; at < d.output.number_of_elements(); ++at) d.out<std::int8_t>()[at] = -128;
        each_window(
            pools,
            [&](int at, int from) {
                if (from >= 0) d.out<std::int8_t>()[at] = std::max(d.out<std::int8_t>()[at], d.in<std::int8_t>(0)[from]);
            },
            [](int, int) {});
    };
    check(schedule(pool::what, dsp), expected);
    check(schedule(pool::what, dsp).split(pool::y, "yo", "yi", 3).cache_read(pool::in, l1).at("yo").by(kernels::dram_l1), expected);
}
TEST_CASE("average pooling: the border counts, or it does not") {
    check_average<kernel::border::counts>();
    check_average<kernel::border::does_not_count>();
}
TEST_CASE("softmax of rows") {
    using soft = kernel::softmax<7, 33>;
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(soft::what, dsp)
                                                                 .compute_at(soft::largest, soft::row)
                                                                 .store_in(soft::largest, l1)
                                                                 .compute_at(soft::powers, soft::row)
                                                                 .store_in(soft::powers, l1)
                                                                 .compute_at(soft::total, soft::row)
                                                                 .store_in(soft::total, l1)));
    kernels::operand_data const made = kernels::check_kernel(*plan, emulated<dsp>());
    for (int row = 0; row < 7; ++row) {
        double total = 0;
        float const* const in = made.in<float>(0) + 33 * row;
        for (int column = 0; column < 33; ++column) total += std::exp(static_cast<double>(in[column]));
        for (int column = 0; column < 33; ++column) {
            double const exact = std::exp(static_cast<double>(in[column])) / total;
            CHECK(std::abs(made.out<float>()[33 * row + column] - exact) < 4e-6 * exact);
        }
    }
}
TEST_CASE("fully connected layers of bytes and of floats") {
    using layer = kernel::fully_connected<kernel::fully_connected_shape{3, 17, 9}, float>;
    check(schedule(layer::what, dsp).compute_at(layer::sums, layer::batch).store_in(layer::sums, l1), [](kernels::operand_data const& d) {
        for (int b = 0; b < 3; ++b)
            for (int o = 0; o < 9; ++o) {
                float sum = 0;
                for (int i = 0; i < 17; ++i) sum += d.in<float>(0)[b * 17 + i] * d.in<float>(1)[o * 17 + i];
                d.out<float>()[b * 9 + o] = sum + d.in<float>(2)[o];
            }
    });
    using bytes = kernel::fully_connected<kernel::fully_connected_shape{3, 17, 9}>;
    auto const plan =
        std::make_unique<plan_value>(make_plan(schedule(bytes::what, dsp).compute_at(bytes::sums, bytes::batch).store_in(bytes::sums, l1)));
    REQUIRE(!plan->refusal);
    halide::jit_kernel kernel(*plan, &emulated<dsp>());
    kernels::operand_data d = kernels::random_operands(*plan, 3);
    auto* const multiplier = static_cast<std::int32_t*>(d.inputs[3].data());
    auto* const shift = static_cast<std::int32_t*>(d.inputs[4].data());
    for (int o = 0; o < 9; ++o) multiplier[o] = 1400000000 + 7919 * o, shift[o] = 4 + o % 5;
    Halide::Buffer<> const result = kernels::result_of(kernel, d, {});
    for (int at = 0; at < 27; ++at) {
        std::int64_t sum = d.in<std::int32_t>(2)[at % 9];
        for (int i = 0; i < 17; ++i) sum += d.in<std::int8_t>(0)[at / 9 * 17 + i] * d.in<std::int8_t>(1)[at % 9 * 17 + i];
        std::int64_t const product = sum * multiplier[at % 9], unit = std::int64_t{1} << (31 + shift[at % 9]);
        std::int64_t const rounded = product < 0 ? -((unit / 2 - product) / unit) : (product + unit / 2) / unit;
        CHECK(static_cast<std::int8_t const*>(result.data())[at] == std::clamp<std::int64_t>(rounded, -128, 127));
    }
}
