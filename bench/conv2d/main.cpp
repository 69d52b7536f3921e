#include <cstdio>
#include <tilewright/kernels/avx2/cycles.hpp>
#include <tilewright/kernels/vnni/depthwise_conv2d.hpp>
#include <tilewright/plan/best_tile.hpp>
#include <tilewright/runtime/call.hpp>
#include <type_traits>

#include "at_run_time.hpp"
#include "conv2d_kernels.h"
#include "layers.hpp"
#include "onednn.hpp"
#include "peer.hpp"
#include "peers.hpp"
#include "shapes.hpp"

// Layers of networks on one core against oneDNN. Each side has images, weights and results in the layout that it likes best: putting them
// there is no part of the time. With AVX2, oneDNN adds two products of bytes in 16 bits, which saturates when weights have 8 bits; a column
// says in how many elements its result is not the convolution. With 7 bits both are exact.
//
//     conv2d [--seed=N] [--core=N] [c3x3s2_CHANNELS_FILTERS_EXTENT… dw3x3_CHANNELS_EXTENT…]

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

/// How ours takes a layer.
struct own_layout {
    std::int64_t filters, weight_count;  ///< filters of the result, of which the last ones can be further ones
    std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> place_of;

    explicit own_layout(auto const& problem)
        : filters(problem.shape.filters),
          weight_count(problem.weight_count()),
          place_of([&problem](auto... of_weight) { return problem.place_of(of_weight...); }) {}
};
/// Weights where ours expects them.
template <class Packed>
std::vector<Packed> pack(conv2d_shape const& of, own_layout const& layout, auto const& weights) {
    std::int64_t const channels = of.channels / of.groups;
    std::vector<Packed> packed(size(layout.weight_count));
    std::size_t at = 0;
    for (std::int64_t f = 0; f < of.filters; ++f) {
        for (std::int64_t c = 0; c < channels; ++c) {
            for (std::int64_t r = 0; r < of.y.taps; ++r) {
                for (std::int64_t s = 0; s < of.x.taps; ++s) packed[size(layout.place_of(f, c, r, s))] = weights[at++];
            }
        }
    }
    return packed;
}

/// What is measured, beside the types of its operands.
struct measured_layer {
    char const* name;
    int bits;  ///< of weights that are no floats
    conv2d_shape shape;
};

/// Finds what convolves image and weights into a result, by trying it where there is a choice.
template <class Element, class Packed, class Sum>
using search = std::function<std::function<void()>(Element const*, Packed const*, Sum*)>;

/// Checks and measures one layer. @tparam Packed  weights as ours are
template <class Element, class Weight, class Sum, class Packed>
void run(peers::summary& into, peers::level at, measured_layer const& what, own_layout const& layout,
         search<Element, Packed, Sum> const& find) {
    constexpr bool bytes = !std::is_same_v<Element, float>;
    conv2d_shape const& of = what.shape;
    layer_data<Element, Weight, Sum> const data(of, what.bits);
    std::vector<Packed> const packed = pack<Packed>(of, layout, data.weights);
    std::int64_t const filters = layout.filters;
    auto const in = peers::aligned<Element>(data.in.size());
    auto const weights = peers::aligned<Packed>(packed.size());
    auto const out = peers::aligned<Sum>(size(pixels_out(of) * filters));
    std::copy(data.in.begin(), data.in.end(), in.get()), std::copy(packed.begin(), packed.end(), weights.get());
    auto const differing = [&](std::int64_t filters_of_out) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < data.expected.size(); ++i) {
            std::size_t const pixel = i / size(of.filters), filter = i % size(of.filters);
            count += out[pixel * size(filters_of_out) + filter] != data.expected[i] ? 1 : 0;
        }
        return count;
    };
    auto const ours = find(in.get(), weights.get(), out.get());
    std::fill_n(out.get(), size(pixels_out(of) * filters), Sum(-1));
    ours();
    std::size_t const wrong = differing(filters);
    onednn_convolution const theirs(of, bytes ? dnnl_u8 : dnnl_f32, bytes ? dnnl_s8 : dnnl_f32, bytes ? dnnl_s32 : dnnl_f32);
    theirs.put(DNNL_ARG_SRC, data.in.data()), theirs.put(DNNL_ARG_WEIGHTS, data.weights.data());
    theirs.run(), theirs.take(out.get());
    std::size_t const saturated = differing(of.filters);
    if (wrong > 0 || (what.bits != 8 && saturated > 0))
        throw std::runtime_error(std::string(what.name) + " is wrong: ours in " + std::to_string(wrong) + ", oneDNN's in " +
                                 std::to_string(saturated) + " of " + std::to_string(data.expected.size()) + " elements");
    std::string const runs = theirs.implementation();
    if (at == peers::level::same_instructions && runs.find("avx512") != runs.npos) peers::expect("oneDNN", "AVX2", runs);

    double const operations = 2.0 * static_cast<double>(pixels_out(of) * of.filters * of.channels / of.groups * taps(of));
    peers::rounds const measured({ours, [&] { theirs.run(); }}, 41, std::max(1, static_cast<int>(4e8 / operations)));
    peers::expect_one_thread();
    double const ratio = measured.ratio_to(1);
    std::printf("%-12s %-22s%12.1f%12.1f%12.3f",
                what.bits == 7   ? "u8 x 7 bits"
                : what.bits == 8 ? "u8 x 8 bits"
                                 : "f32",
                what.name, operations / measured.seconds(0) * 1e-9, operations / measured.seconds(1) * 1e-9, ratio);
    if (bytes) std::printf("%14.1f %%", 100.0 * static_cast<double>(saturated) / static_cast<double>(data.expected.size()));
    else std::printf("%16s", "");
    std::printf("  %s\n", runs.c_str());
    std::fflush(stdout);
    into.add(ratio);
}

/// What a run adds up.
struct summaries {
    peers::summary f32, int8, full;
};

/// A layer that has no kernel yet: the fastest of some tiles, compiled here.
/// @param scheduled  the schedule with a tile
template <class Element, class Weight, class Sum, class Packed, class Tile, class Cost = tilewright::targets::avx2::cycles>
void compile_and_run(peers::summary& into, peers::level at, peers::level compiled_for, measured_layer const& what, own_layout const& layout,
                     std::function<tilewright::schedule(Tile const&)> const& scheduled, tilewright::kernel::tile_list<Tile> const& tiles,
                     void* pool, Cost const& cost = {}) {
    run<Element, Weight, Sum, Packed>(into, at, what, layout, [&](Element const* in, Packed const* weights, Sum* out) {
        auto const call = [=](peers::compiled_kernel const& one) {
            one.reads_first("weights") ? one({weights, in, out}) : one({in, weights, out});
        };
        std::shared_ptr<peers::compiled_kernel const> const found =
            peers::fastest_of(tiles, scheduled, cost, pool, peers::halide_target_of(compiled_for), call);
        return [=] { call(*found); };
    });
}

void run_any_floats(summaries& into, peers::level at, conv2d_bench::named_layer const& one, void* pool) {
    using namespace conv2d_bench;
    std::string const& name = one.first;  // structured bindings are not captured by clang 14
    conv2d_shape const& of = one.second;
    tilewright::targets::vector_core const& on = peers::core_of(at);
    std::int64_t const lanes = on.lanes_of<float>();
    conv2d_shape const made = as_computed(of, lanes);
    auto const compile = [&](auto const& problem, auto const& tiles) {
        compile_and_run<float, float, float, float, conv2d_tile>(
            into.f32, at, at, {name.c_str(), 32, of}, own_layout(problem),
            [&](conv2d_tile const& tile) { return tiled_conv2d(problem, tile, on); }, tiles, pool);
    };
    if (of.groups > 1) return compile(depthwise_conv2d<float, float>(made), depthwise_tiles_for(made, false));
    packed_conv2d<float, float> const problem(made, {.lanes = lanes, .depth = depth_of(of.channels, 256)});
    compile(problem, float_tiles_for(made, problem.term.extent, on));
}
/// Bytes with VNNI: weights have all their 8 bits.
void run_any_vnni(summaries& into, peers::level at, conv2d_bench::named_layer const& one, void* pool) {
    using namespace conv2d_bench;
    std::string const& name = one.first;
    conv2d_shape const& of = one.second;
    std::int64_t const lanes = filters_beside(of);
    conv2d_shape const made = as_computed(of, lanes);
    tilewright::targets::vnni::window_core const on(tilewright::targets::vnni::avx512, steps_of(made));
    auto const compile = [&](auto const& problem) {
        compile_and_run<std::uint8_t, std::int8_t, std::int32_t, std::int8_t, vnni_conv2d_tile>(
            into.int8, at, peers::level::same_instructions, {name.c_str(), 8, of}, own_layout(problem),
            [&](vnni_conv2d_tile const& tile) { return tiled_conv2d(problem, tile, on); }, vnni_tiles_for(made), pool,
            tilewright::by_cycles{});
    };
    bool const bordered = has_border(made), joined = joins_taps(made);
    if (made.groups > 1) return bordered ? compile(vnni_depthwise_conv2d<true>(made)) : compile(vnni_depthwise_conv2d<false>(made));
    if (bordered && joined) compile(vnni_conv2d<true, true>(made, lanes));
    else if (joined) compile(vnni_conv2d<false, true>(made, lanes));
    else if (bordered) compile(vnni_conv2d<true>(made, lanes));
    else compile(vnni_conv2d<false>(made, lanes));
}
/// Bytes with AVX2, or with VNNI where that is the best.
void run_any_bytes(summaries& into, peers::level at, conv2d_bench::named_layer const& one, bool all_types, void* pool) {
    using namespace conv2d_bench;
    using byte = std::uint8_t;
    std::string const& name = one.first;
    conv2d_shape const& of = one.second;
    // Of one row of taps, three quarters of a group of four would be empty.
    if (peers::runs_vnni(at) && (of.groups == 1 || of.y.taps > 1)) return run_any_vnni(into, at, one, pool);
    constexpr std::int64_t lanes = 8;
    conv2d_shape const made = as_computed(of, lanes);
    auto const compile = [&]<class Packed>(Packed, peers::summary& sums, int bits, auto const& problem, auto const& tiles) {
        compile_and_run<byte, std::int8_t, std::int32_t, Packed, conv2d_tile>(
            sums, at, peers::level::same_instructions, {name.c_str(), bits, of}, own_layout(problem),
            [&](conv2d_tile const& tile) { return tiled_conv2d(problem, tile); }, tiles, pool);
    };
    if (of.groups > 1)
        return compile(std::int32_t(), into.int8, 7, depthwise_conv2d<byte, std::int32_t, std::int32_t>(made),
                       depthwise_tiles_for(made, true));
    auto const packing = [&](std::int64_t most) { return conv2d_packing{.lanes = lanes, .depth = depth_of(of.channels, most)}; };
    compile(std::int8_t(), into.int8, 7, packed_conv2d_reduced_bytes(made, packing(256)), byte_tiles_for(made));
    if (all_types) compile(std::int16_t(), into.full, 8, packed_conv2d_bytes<byte>(made, packing(128)), byte_tiles_for(made));
}

void run_listed(summaries& into, peers::level at, void* pool) {
    using namespace conv2d_bench;
    // A kernel takes what its computation reads first in front of the rest.
    auto const call = []<auto const & Schedule, class In, class Weights>(auto* kernel, In in, Weights weights, void* l2, auto* out) {
        auto const with_pool = [&](auto first, auto second) {
            if constexpr (tilewright::ir::arguments_of(tilewright::plan<Schedule>).pool_count > 0)
                peers::expect_run(tilewright::call<Schedule>(kernel, first, second, l2, out));
            else peers::expect_run(tilewright::call<Schedule>(kernel, first, second, out));
        };
        if constexpr (tilewright::plan<Schedule>.buffers[0].tensor == "weights") with_pool(weights, in);
        else with_pool(in, weights);
    };
#define CONV2D_OF(type, bits, layer, element, weight, sum, packed)                                                                       \
    run<element, weight, sum, packed>(                                                                                                   \
        into.type, at, {#layer, bits, layer}, own_layout(of_##type##_##layer), [&](element const* in, packed const* weights, sum* out) { \
            return [=] { call.template operator()<type##_##layer>(conv2d_##type##_##layer, in, weights, pool, out); };                   \
        })
        // At their best, kernels have the target of this processor, and are compiled here.
#define FLOATS(layer)                                                                        \
    if (at == peers::level::at_their_best) run_any_floats(into, at, layer_of(#layer), pool); \
    else CONV2D_OF(f32, 32, layer, float, float, float, float)
#define CONV2D(layer)                                                                     \
    FLOATS(layer);                                                                        \
    if (peers::runs_vnni(at)) run_any_vnni(into, at, layer_of(#layer), pool);             \
    else {                                                                                \
        CONV2D_OF(int8, 7, layer, std::uint8_t, std::int8_t, std::int32_t, std::int8_t);  \
        CONV2D_OF(full, 8, layer, std::uint8_t, std::int8_t, std::int32_t, std::int16_t); \
    }
#define DEPTHWISE(layer)                                                      \
    FLOATS(layer);                                                            \
    if (peers::runs_vnni(at)) run_any_vnni(into, at, layer_of(#layer), pool); \
    else CONV2D_OF(int8, 7, layer, std::uint8_t, std::int8_t, std::int32_t, std::int32_t)
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
#undef DEPTHWISE
#undef CONV2D
#undef FLOATS
#undef CONV2D_OF
}

peers::named_figures run_all(peers::request const& asked) {
    auto const pool = peers::aligned<char>(size(tilewright::targets::avx2::l2.capacity));
    std::printf("tilewright: floats %s, bytes %s\n%s\n\n", peers::own_instructions(asked.instructions),
                peers::runs_vnni(asked.instructions) ? "AVX-512 VNNI" : "AVX2", peers::onednn_runs(asked.instructions).c_str());
    std::printf("%-35s%12s%12s%12s%16s  %s\n", "Gop/s", "tilewright", "oneDNN", "ratio", "oneDNN differs", "oneDNN runs");
    bool const lists = asked.shapes.empty();
    summaries listed, random;
    if (lists) run_listed(listed, asked.instructions, pool.get());
    for (conv2d_bench::named_layer const& one : conv2d_bench::other_layers(asked)) {
        run_any_floats(lists ? random : listed, asked.instructions, one, pool.get());
        run_any_bytes(lists ? random : listed, asked.instructions, one, !lists, pool.get());
    }
    if (listed.full.count > 0)
        std::printf("exact with weights of 8 bits: geometric mean %.3f, least %.3f\n", listed.full.geometric_mean(), listed.full.least);
    peers::named_figures figures{{"f32_geomean", listed.f32.geometric_mean()},
                                 {"int8_geomean", listed.int8.geometric_mean()},
                                 {"min", std::min(listed.f32.least, listed.int8.least)}};
    if (lists) {
        figures.emplace_back("random_f32_geomean", random.f32.geometric_mean());
        figures.emplace_back("random_int8_geomean", random.int8.geometric_mean());
    }
    return figures;
}

}  // namespace

int main(int count, char** arguments) { return peers::compare({"conv2d", peers::onednn_asks, run_all}, count, arguments); }
