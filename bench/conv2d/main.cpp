#include <cstdio>
#include <tilewright/runtime/call.hpp>

#include "conv2d_c1x1_1024_256_14.h"
#include "conv2d_c1x1_64_256_56.h"
#include "conv2d_c3x3_128_128_28.h"
#include "conv2d_c3x3_256_256_14.h"
#include "conv2d_c3x3_512_512_7.h"
#include "conv2d_c3x3_64_64_56.h"
#include "conv2d_c3x3s2_128_128_56.h"
#include "conv2d_c7x7s2_3_64_224.h"
#include "conv2d_dw3x3_128_56.h"
#include "conv2d_dw3x3_64_112.h"
#include "peer.hpp"
#include "peers.hpp"
#include "shapes.hpp"

// Layers of networks on one core against oneDNN, which runs with AVX2 as well. Each side has images, weights and results in the layout that
// it likes best: putting them there is no part of the time.

namespace {

using tilewright::kernel::conv2d_shape;

constexpr std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
constexpr std::int64_t taps(conv2d_shape const& of) { return of.y.taps * of.x.taps; }
constexpr std::int64_t pixels_in(conv2d_shape const& of) { return of.batch * of.y.extent * of.x.extent; }
constexpr std::int64_t pixels_out(conv2d_shape const& of) { return of.batch * of.y.positions() * of.x.positions(); }

/// Images [batch][y][x][channels], weights [filters][channels of a group][r][s].
struct layer_data {
    std::vector<float> in, weights, expected;

    explicit layer_data(conv2d_shape const& of)
        : in(size(pixels_in(of) * of.channels)),
          weights(size(of.filters * of.channels / of.groups * taps(of))),
          expected(size(pixels_out(of) * of.filters), 0) {
        peers::fill(in.data(), in.size(), 1), peers::fill(weights.data(), weights.size(), 2);
        convolve(of);
    }

  private:
    void convolve(conv2d_shape const& of) {
        std::int64_t const channels = of.channels / of.groups, filters = of.filters / of.groups;
        // Filters beside each other, so that plain loops take seconds and not minutes.
        std::vector<float> turned(weights.size());
        for (std::int64_t f = 0; f < of.filters; ++f) {
            for (std::int64_t at = 0; at < channels * taps(of); ++at)
                turned[size(at * of.filters + f)] = weights[size(f * channels * taps(of) + at)];
        }
        for (std::int64_t b = 0; b < of.batch; ++b) {
            for (std::int64_t y = 0; y < of.y.positions(); ++y) {
                for (std::int64_t x = 0; x < of.x.positions(); ++x) {
                    float* const sums = &expected[size(((b * of.y.positions() + y) * of.x.positions() + x) * of.filters)];
                    for (std::int64_t r = 0; r < of.y.taps; ++r) {
                        for (std::int64_t s = 0; s < of.x.taps; ++s) {
                            std::int64_t const from_y = y * of.y.stride + r * of.y.dilation - of.y.before;
                            std::int64_t const from_x = x * of.x.stride + s * of.x.dilation - of.x.before;
                            if (from_y < 0 || from_x < 0 || from_y >= of.y.extent || from_x >= of.x.extent) continue;
                            float const* const pixel = &in[size(((b * of.y.extent + from_y) * of.x.extent + from_x) * of.channels)];
                            for (std::int64_t c = 0; c < channels; ++c) {
                                float const* const row = &turned[size(((c * of.y.taps + r) * of.x.taps + s) * of.filters)];
                                for (std::int64_t f = 0; f < of.filters; ++f) sums[f] += pixel[f / filters * channels + c] * row[f];
                            }
                        }
                    }
                }
            }
        }
    }
};

std::vector<float> pack(tilewright::kernel::packed_conv2d<float, float> const& problem, std::vector<float> const& weights) {
    conv2d_shape const& of = problem.shape;
    std::int64_t const channels = problem.group_channels();
    std::vector<float> packed(weights.size());
    std::size_t at = 0;
    for (std::int64_t f = 0; f < of.filters; ++f) {
        for (std::int64_t c = 0; c < channels; ++c) {
            for (std::int64_t r = 0; r < of.y.taps; ++r) {
                for (std::int64_t s = 0; s < of.x.taps; ++s) packed[size(problem.place_of(f, c, r, s))] = weights[at++];
            }
        }
    }
    return packed;
}
/// [r][s][channels]
std::vector<float> pack(tilewright::kernel::depthwise_conv2d<float, float> const& problem, std::vector<float> const& weights) {
    std::vector<float> packed(weights.size());
    std::int64_t const each = taps(problem.shape);
    for (std::int64_t at = 0; at < problem.shape.channels * each; ++at)
        packed[size(at % each * problem.shape.channels + at / each)] = weights[size(at)];
    return packed;
}

/// Checks and measures one layer. @param ours  takes image, weights and result
void run(peers::summary& into, char const* name, conv2d_shape const& of, auto const& problem, auto const& ours) {
    layer_data const data(of);
    std::vector<float> const packed = pack(problem, data.weights);
    auto const in = peers::aligned<float>(data.in.size()), weights = peers::aligned<float>(packed.size()),
               out = peers::aligned<float>(data.expected.size());
    std::copy(data.in.begin(), data.in.end(), in.get()), std::copy(packed.begin(), packed.end(), weights.get());
    std::fill_n(out.get(), data.expected.size(), -1.0f);
    auto const check = [&](char const* whose) {
        if (std::equal(data.expected.begin(), data.expected.end(), out.get())) return;
        std::printf("%s of %s is wrong\n", name, whose);
        std::exit(EXIT_FAILURE);
    };
    ours(in.get(), weights.get(), out.get());
    check("tilewright");
    onednn_convolution const theirs(of, dnnl_f32, dnnl_f32);
    theirs.put(DNNL_ARG_SRC, data.in.data()), theirs.put(DNNL_ARG_WEIGHTS, data.weights.data());
    theirs.run(), theirs.take(out.get());
    check("oneDNN");

    double const operations = 2.0 * static_cast<double>(pixels_out(of) * of.filters * of.channels / of.groups * taps(of));
    peers::rounds const measured({[&] { ours(in.get(), weights.get(), out.get()); }, [&] { theirs.run(); }}, 41,
                                 std::max(1, static_cast<int>(4e8 / operations)));
    double const ratio = measured.ratio_to(1);
    std::printf("%-18s%12.1f%12.1f%12.3f\n", name, operations / measured.seconds(0) * 1e-9, operations / measured.seconds(1) * 1e-9, ratio);
    std::fflush(stdout);
    into.add(ratio);
}

}  // namespace

int main(int count, char** arguments) try {
    peers::start_again_with({{"DNNL_MAX_CPU_ISA", "AVX2"}, {"OMP_NUM_THREADS", "1"}}, arguments);
    peers::pin(count, arguments);
    using namespace conv2d_bench;
    auto const pool = peers::aligned<char>(size(tilewright::targets::avx2::l2.capacity));
    peers::summary f32_layers;
    std::printf("%-18s%12s%12s%12s\n", "GFLOP/s", "tilewright", "oneDNN", "ratio");
#define CONV2D(layer)                                                                                        \
    run(f32_layers, #layer, layer, of_##layer, [&](float const* in, float const* weights, float* out) {      \
        if constexpr (tilewright::ir::arguments_of(tilewright::plan<f32_##layer>).pool_count > 0)            \
            tilewright::call<f32_##layer>(conv2d_##layer, in, weights, static_cast<void*>(pool.get()), out); \
        else tilewright::call<f32_##layer>(conv2d_##layer, in, weights, out);                                \
    })
    CONV2D(c7x7s2_3_64_224);
    CONV2D(c3x3_64_64_56);
    CONV2D(c3x3_128_128_28);
    CONV2D(c3x3_256_256_14);
    CONV2D(c3x3_512_512_7);
    CONV2D(c1x1_64_256_56);
    CONV2D(c1x1_1024_256_14);
    CONV2D(c3x3s2_128_128_56);
    CONV2D(dw3x3_64_112);
    CONV2D(dw3x3_128_56);
    std::printf("conv2d: f32_geomean=%.3f min=%.3f\n", f32_layers.geometric_mean(), f32_layers.least);
    return EXIT_SUCCESS;
} catch (std::exception const& wrong) {
    std::fprintf(stderr, "conv2d: %s\n", wrong.what());
    return EXIT_FAILURE;
}
