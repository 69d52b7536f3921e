#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/targets/vector_cycles.hpp>

#include "at_run_time.hpp"
#include "conv2d/layers.hpp"
#include "peers.hpp"
#include "products.hpp"

// How well the cost of plans ranks tiles: all tiles to try of the products of bench/gemm and the layers of bench/conv2d are compiled and
// measured, in turns and in another order in every round. Figures are the loss of the fastest of the five that cost least.
//
//     tiles [--core=N] [--avx2 | --avx512] [MxNxK | layer…]
//
// Seconds are those of this thread on the processor, so that other programs take no part in them.

namespace {

using namespace tilewright;

std::string text_of(kernel::gemm_tile const& t) {
    std::string text = std::to_string(t.rows) + " x " + std::to_string(t.vectors) + " in " + std::to_string(t.block_rows) + " x " +
                       std::to_string(t.block_columns) + " x " + std::to_string(t.block_depth) + " by " + std::to_string(t.unrolled);
    text += t.packs ? t.packs_rows ? ", packs both" : ", packs B" : "";
    return text + (t.rows_outside ? ", rows outside" : t.columns_inside ? "" : ", rows inside");
}
std::string text_of(kernel::conv2d_tile const& t) {
    std::string text = std::to_string(t.rows) + " x " + std::to_string(t.columns) + " x " + std::to_string(t.vectors) + " in " +
                       std::to_string(t.block_rows) + " rows by " + std::to_string(t.steps);
    return text + (t.stages ? ", copied" : "") + (t.filters_inside ? ", filters inside" : "");
}

struct candidate {
    std::string tile;
    double cost;
    std::unique_ptr<peers::compiled_kernel> kernel;
    double seconds = 1e9;  ///< the least of all rounds
};
double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
void measure(std::vector<candidate>& all, double operations, std::function<void(peers::compiled_kernel const&)> const& run) {
    int const repeats = std::max(1, static_cast<int>(4e7 / operations));
    double const round = operations * repeats * static_cast<double>(all.size()) / 1e11;
    int const rounds = std::clamp(static_cast<int>(10 / round), 6, 40);
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 bits(1);
    for (int at = 0; at < rounds; ++at) {
        std::shuffle(order.begin(), order.end(), bits);
        for (std::size_t which : order) {
            double const begin = now();
            for (int again = 0; again < repeats; ++again) run(*all[which].kernel);
            all[which].seconds = std::min(all[which].seconds, (now() - begin) / repeats);
        }
    }
}

/// What a run adds up.
struct figures {
    double worst_of_five = 0, product = 1, worst_of_one = 0;
    int count = 0;
};

class shape_run {
  public:
    shape_run(figures& into, peers::level at) : into_(into), at_(at) {}

    void product(std::string const& name) const {
        auto const [rows, columns, depth] = peers::product_of(name);
        kernel::gemm_shape const of{rows, columns, depth};
        kernel::gemm<float> const problem(of);
        auto const a = data(of.rows * of.depth), b = data(of.depth * of.columns), c = data(of.rows * of.columns);
        run(name, kernel::tiles_for(of, kernel::tile_list<kernel::gemm_tile>::most, on()),
            [&](kernel::gemm_tile const& tile) { return kernel::tiled_gemm(problem, tile, on()); }, 2.0 * rows * columns * depth,
            {a.get(), b.get(), c.get()});
    }
    void layer(std::string const& name) const {
        using namespace conv2d_bench;
        conv2d_shape const of = layer_of(name).second;
        std::int64_t const lanes = on().lanes_of<float>(), taps = of.y.taps * of.x.taps, positions = of.y.positions() * of.x.positions();
        conv2d_shape const made = as_computed(of, lanes);
        auto const in = data(of.y.extent * of.x.extent * of.channels), weights = data(made.filters * of.channels * taps),
                   out = data(positions * made.filters);
        double const operations = 2.0 * static_cast<double>(positions * of.filters * of.channels / of.groups * taps);
        auto const with = [&](auto const& problem, auto const& tiles) {
            run(name, tiles, [&](conv2d_tile const& tile) { return tiled_conv2d(problem, tile, on()); }, operations,
                {in.get(), weights.get(), out.get()});
        };
        if (of.groups > 1) return with(depthwise_conv2d<float, float>(made), depthwise_tiles_for(made, false));
        packed_conv2d<float, float> const problem(made, {.lanes = lanes, .depth = depth_of(of.channels, 256)});
        with(problem, float_tiles_for(made, problem.term.extent, on()));
    }

  private:
    figures& into_;
    peers::level at_;

    targets::vector_core const& on() const { return peers::core_of(at_); }
    static peers::aligned_array<float> data(std::int64_t elements) {
        auto made = peers::aligned<float>(static_cast<std::size_t>(elements));
        std::fill_n(made.get(), elements, 1.f);
        return made;
    }
    template <class Tiles, class Scheduled>
    void run(std::string const& name, Tiles const& tiles, Scheduled const& scheduled, double operations,
             std::vector<void const*> const& tensors) const {
        auto const pool = peers::aligned<char>(static_cast<std::size_t>(on().blocks().capacity));
        std::vector<candidate> all;
        for (auto const& tile : tiles) {
            auto const plan = std::make_unique<plan_value>(make_plan(scheduled(tile)));
            if (plan->refusal) continue;
            all.push_back({text_of(tile), targets::vector_cycles{}(*plan),
                           std::make_unique<peers::compiled_kernel>(*plan, pool.get(), peers::halide_target_of(at_))});
        }
        std::stable_sort(all.begin(), all.end(), [](candidate const& one, candidate const& other) { return one.cost < other.cost; });
        measure(all, operations, [&](peers::compiled_kernel const& kernel) { kernel(tensors); });
        auto const faster = [](candidate const& one, candidate const& other) { return one.seconds < other.seconds; };
        double const best = std::min_element(all.begin(), all.end(), faster)->seconds;
        double const of_five = std::min_element(all.begin(), all.begin() + std::min<std::ptrdiff_t>(5, std::ssize(all)), faster)->seconds;
        std::printf("\n%s %s: best of five loses %.1f %%, the first %.1f %%\n", peers::own_instructions(at_), name.c_str(),
                    100 * (of_five / best - 1), 100 * (all[0].seconds / best - 1));
        for (std::size_t at = 0; at < all.size(); ++at)
            std::printf("%6zu%14.0f%10.1f%8.3f  %s\n", at + 1, all[at].cost, operations / all[at].seconds * 1e-9, best / all[at].seconds,
                        all[at].tile.c_str());
        std::fflush(stdout);
        into_.worst_of_five = std::max(into_.worst_of_five, of_five / best - 1);
        into_.worst_of_one = std::max(into_.worst_of_one, all[0].seconds / best - 1);
        into_.product *= best / of_five, ++into_.count;
    }
};

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> shapes;
    bool narrow = true, wide = peers::has_avx512();
    for (int at = 1; at < count; ++at) {
        std::string const one = arguments[at];
        if (one.rfind("--core=", 0) == 0) {
            cpu_set_t core;
            CPU_ZERO(&core);
            CPU_SET(std::atoi(one.c_str() + 7), &core);
            sched_setaffinity(0, sizeof core, &core);
        } else if (one == "--avx2") wide = false;
        else if (one == "--avx512") narrow = false;
        else shapes.push_back(one);
    }
    if (shapes.empty())
        shapes = {"64x64x64",        "256x256x256",      "512x512x512",       "1024x1024x1024",  "2048x2048x2048",
                  "64x3136x576",     "256x3136x64",      "256x196x2304",      "512x49x4608",     "1x1024x1024",
                  "c7x7s2_3_64_224", "c3x3_64_64_56",    "c3x3_128_128_28",   "c3x3_256_256_14", "c3x3_512_512_7",
                  "c1x1_64_256_56",  "c1x1_1024_256_14", "c3x3s2_128_128_56", "dw3x3_64_112",    "dw3x3_128_56"};
    try {
        figures all;
        std::printf("%6s%14s%10s%8s  tile\n", "rank", "cost", "GFLOP/s", "to best");
        for (peers::level at : {peers::level::same_instructions, peers::level::at_their_best}) {
            if (at == peers::level::at_their_best ? !wide : !narrow) continue;
            for (std::string const& one : shapes) {
                bool const is_product = one[0] >= '0' && one[0] <= '9';
                is_product ? shape_run(all, at).product(one) : shape_run(all, at).layer(one);
            }
        }
        std::printf("\ntiles: worst_of_five=%.3f worst_of_one=%.3f geomean=%.3f\n", 1 - all.worst_of_five, 1 - all.worst_of_one,
                    std::pow(all.product, 1.0 / all.count));
    } catch (std::exception const& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
