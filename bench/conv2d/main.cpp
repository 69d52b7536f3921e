#include <cstdio>
#include <tilewright/runtime/call.hpp>

#include "conv2d_kernels.h"
#include "peer.hpp"
#include "peers.hpp"
#include "shapes.hpp"

// Layers of networks on one core against oneDNN, which runs with AVX2 as well. Each side has images, weights and results in the layout that
// it likes best: putting them there is no part of the time. With AVX2, oneDNN adds two products of bytes in 16 bits, which saturates when
// weights have 8 bits; the last column says in how many elements its result is not the convolution. With 7 bits both are exact.

namespace {

using tilewright::kernel::conv2d_shape;

constexpr std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
constexpr std::int64_t taps(conv2d_shape const& of) { return of.y.taps * of.x.taps; }
constexpr std::int64_t pixels_in(conv2d_shape const& of) { return of.batch * of.y.extent * of.x.extent; }
constexpr std::int64_t pixels_out(conv2d_shape const& of) { return of.batch * of.y.positions() * of.x.positions(); }

/// Images [batch][y][x][channels], weights [filters][channels of a group][r][s].
template <class Element, class Weight, class Sum>
struct layer_data {
    std::vector<Element> in;
    std::vector<Weight> weights;
    std::vector<Sum> expected;

    /// @param bits  of weights that are no floats
    layer_data(conv2d_shape const& of, int bits)
        : in(size(pixels_in(of) * of.channels)),
          weights(size(of.filters * of.channels / of.groups * taps(of))),
          expected(size(pixels_out(of) * of.filters), 0) {
        if constexpr (std::is_same_v<Element, float>) peers::fill(in.data(), in.size(), 1), peers::fill(weights.data(), weights.size(), 2);
        else peers::fill(in.data(), in.size(), 1, 0, 256), peers::fill(weights.data(), weights.size(), 2, -(1 << (bits - 1)), 1 << bits);
        convolve(of);
    }

  private:
    void convolve(conv2d_shape const& of) {
        std::int64_t const channels = of.channels / of.groups, filters = of.filters / of.groups;
        // Filters beside each other, so that plain loops take seconds and not minutes.
        std::vector<Weight> turned(weights.size());
        for (std::int64_t f = 0; f < of.filters; ++f) {
            for (std::int64_t at = 0; at < channels * taps(of); ++at)
                turned[size(at * of.filters + f)] = weights[size(f * channels * taps(of) + at)];
        }
        for (std::int64_t b = 0; b < of.batch; ++b) {
            for (std::int64_t y = 0; y < of.y.positions(); ++y) {
                for (std::int64_t x = 0; x < of.x.positions(); ++x) {
                    Sum* const sums = &expected[size(((b * of.y.positions() + y) * of.x.positions() + x) * of.filters)];
                    for (std::int64_t r = 0; r < of.y.taps; ++r) {
                        for (std::int64_t s = 0; s < of.x.taps; ++s) {
                            std::int64_t const from_y = y * of.y.stride + r * of.y.dilation - of.y.before;
                            std::int64_t const from_x = x * of.x.stride + s * of.x.dilation - of.x.before;
                            if (from_y < 0 || from_x < 0 || from_y >= of.y.extent || from_x >= of.x.extent) continue;
                            Element const* const pixel = &in[size(((b * of.y.extent + from_y) * of.x.extent + from_x) * of.channels)];
                            for (std::int64_t c = 0; c < channels; ++c) {
                                Weight const* const row = &turned[size(((c * of.y.taps + r) * of.x.taps + s) * of.filters)];
                                for (std::int64_t f = 0; f < of.filters; ++f) sums[f] += pixel[f / filters * channels + c] * row[f];
                            }
                        }
                    }
                }
            }
        }
    }
};

/// Weights where a problem expects them.
template <class Packed>
std::vector<Packed> pack(auto const& problem, auto const& weights) {
    conv2d_shape const& of = problem.shape;
    std::int64_t const channels = of.channels / of.groups;
    std::vector<Packed> packed(size(problem.weight_count()));
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

/// Checks and measures one layer. @tparam Packed  weights as ours are @param ours  takes image, weights and result
template <class Element, class Weight, class Sum, class Packed>
void run(peers::summary& into, char const* name, int bits, conv2d_shape const& of, auto const& problem, auto const& ours) {
    constexpr bool bytes = !std::is_same_v<Element, float>;
    layer_data<Element, Weight, Sum> const data(of, bits);
    std::vector<Packed> const packed = pack<Packed>(problem, data.weights);
    auto const in = peers::aligned<Element>(data.in.size());
    auto const weights = peers::aligned<Packed>(packed.size());
    auto const out = peers::aligned<Sum>(data.expected.size());
    std::copy(data.in.begin(), data.in.end(), in.get()), std::copy(packed.begin(), packed.end(), weights.get());
    auto const differing = [&] {
        std::size_t count = 0;
        for (std::size_t at = 0; at < data.expected.size(); ++at) count += out[at] != data.expected[at] ? 1 : 0;
        return count;
    };
    std::fill_n(out.get(), data.expected.size(), Sum(-1));
    ours(in.get(), weights.get(), out.get());
    std::size_t const wrong = differing();
    onednn_convolution const theirs(of, bytes ? dnnl_u8 : dnnl_f32, bytes ? dnnl_s8 : dnnl_f32, bytes ? dnnl_s32 : dnnl_f32);
    theirs.put(DNNL_ARG_SRC, data.in.data()), theirs.put(DNNL_ARG_WEIGHTS, data.weights.data());
    theirs.run(), theirs.take(out.get());
    std::size_t const saturated = differing();
    if (wrong > 0 || (bits != 8 && saturated > 0)) {
        std::printf("%s is wrong: ours in %zu, oneDNN's in %zu of %zu elements\n", name, wrong, saturated, data.expected.size());
        std::exit(EXIT_FAILURE);
    }

    double const operations = 2.0 * static_cast<double>(pixels_out(of) * of.filters * of.channels / of.groups * taps(of));
    peers::rounds const measured({[&] { ours(in.get(), weights.get(), out.get()); }, [&] { theirs.run(); }}, 41,
                                 std::max(1, static_cast<int>(4e8 / operations)));
    double const ratio = measured.ratio_to(1);
    std::printf("%-12s %-18s%12.1f%12.1f%12.3f",
                bits == 7   ? "u8 x 7 bits"
                : bits == 8 ? "u8 x 8 bits"
                            : "f32",
                name, operations / measured.seconds(0) * 1e-9, operations / measured.seconds(1) * 1e-9, ratio);
    if (bytes) std::printf("%14.1f %%", 100.0 * static_cast<double>(saturated) / static_cast<double>(data.expected.size()));
    std::printf("\n");
    std::fflush(stdout);
    into.add(ratio);
}

}  // namespace

int main(int count, char** arguments) try {
    peers::start_again_with({{"DNNL_MAX_CPU_ISA", "AVX2"}, {"OMP_NUM_THREADS", "1"}}, arguments);
    peers::pin(count, arguments);
    using namespace conv2d_bench;
    auto const pool = peers::aligned<char>(size(tilewright::targets::avx2::l2.capacity));
    peers::summary f32_layers, int8_layers, full_layers;
    std::printf("%-31s%12s%12s%12s%16s\n", "Gop/s", "tilewright", "oneDNN", "ratio", "oneDNN differs");
    // A kernel takes what its computation reads first in front of the rest.
    auto const call = []<auto const & Schedule, class In, class Weights>(auto* kernel, In in, Weights weights, void* l2, auto* out) {
        auto const with_pool = [&](auto first, auto second) {
            if constexpr (tilewright::ir::arguments_of(tilewright::plan<Schedule>).pool_count > 0)
                tilewright::call<Schedule>(kernel, first, second, l2, out);
            else tilewright::call<Schedule>(kernel, first, second, out);
        };
        if constexpr (tilewright::plan<Schedule>.buffers[0].tensor == "weights") with_pool(weights, in);
        else with_pool(in, weights);
    };
#define CONV2D_OF(type, bits, into, layer, element, weight, sum, packed)                                                                   \
    run<element, weight, sum, packed>(into, #layer, bits, layer, of_##type##_##layer,                                                      \
                                      [&](element const* in, packed const* weights, sum* out) {                                            \
                                          call.template operator()<type##_##layer>(conv2d_##type##_##layer, in, weights, pool.get(), out); \
                                      })
#define CONV2D(layer)                                                                             \
    CONV2D_OF(f32, 32, f32_layers, layer, float, float, float, float);                            \
    CONV2D_OF(int8, 7, int8_layers, layer, std::uint8_t, std::int8_t, std::int32_t, std::int8_t); \
    CONV2D_OF(full, 8, full_layers, layer, std::uint8_t, std::int8_t, std::int32_t, std::int16_t)
#define DEPTHWISE(layer)                                               \
    CONV2D_OF(f32, 32, f32_layers, layer, float, float, float, float); \
    CONV2D_OF(int8, 7, int8_layers, layer, std::uint8_t, std::int8_t, std::int32_t, std::int32_t)
    CONV2D(c7x7s2_3_64_224);
    CONV2D(c3x3_64_64_56);
    CONV2D(c3x3_128_128_28);
    CONV2D(c3x3_256_256_14);
    CONV2D(c3x3_512_512_7);
    CONV2D(c1x1_64_256_56);
    CONV2D(c1x1_1024_256_14);
    CONV2D(c3x3s2_128_128_56);
    DEPTHWISE(dw3x3_64_112);
    DEPTHWISE(dw3x3_128_56);
    std::printf("exact with weights of 8 bits, where oneDNN saturates: geometric mean %.3f, least %.3f\n", full_layers.geometric_mean(),
                full_layers.least);
    std::printf("conv2d: f32_geomean=%.3f int8_geomean=%.3f min=%.3f\n", f32_layers.geometric_mean(), int8_layers.geometric_mean(),
                std::min(f32_layers.least, int8_layers.least));
    return EXIT_SUCCESS;
} catch (std::exception const& wrong) {
    std::fprintf(stderr, "conv2d: %s\n", wrong.what());
    return EXIT_FAILURE;
}
