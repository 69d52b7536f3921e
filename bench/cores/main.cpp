#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/planner.hpp>

// How kernels that several cores share come to what the busiest core or engine needs, and to what was predicted: on one, two, four and
// eight emulated cores, each with a matrix unit, memories and DMA engines of its own.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .base = 0x4000'0000, .capacity = 512_KiB, .alignment = 64, .host_visible = false};
constexpr memory shared_by_code{.name = "tables", .base = 0x4100'0000, .capacity = 64_KiB};
constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 128_KiB, .alignment = 64, .host_visible = false, .per_core = true};
constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 64_KiB, .alignment = 64, .host_visible = false, .per_core = true};
constexpr engine loader{.name = "loader", .per_core = true}, copier{.name = "copier", .per_core = true},
    storer{.name = "storer", .per_core = true}, array{.name = "array", .per_core = true};
constexpr engine l2_dma{"l2_dma"};

// The instruction: 16 x 16 x 16 elements.
constexpr axis i{"i", 16}, j{"j", 16}, l{"l", 16};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"};
constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));

constexpr auto mvin =
    transfer("mvin", dram, spad).on(loader).asynchronous().dimensions(4).cost({.latency = 64, .setup = 8, .bytes_per_cycle = 16});
constexpr auto mvout =
    transfer("mvout", acc, dram).on(storer).asynchronous().dimensions(4).cost({.latency = 64, .setup = 8, .bytes_per_cycle = 16});
constexpr auto fetch =
    transfer("fetch", dram, l2).on(l2_dma).asynchronous().dimensions(4).cost({.latency = 64, .setup = 8, .bytes_per_cycle = 64});
constexpr auto feed =
    transfer("feed", l2, spad).on(copier).asynchronous().dimensions(4).cost({.latency = 16, .setup = 8, .bytes_per_cycle = 32});
constexpr auto spread = transfer("spread", dram, spad)
                            .multicast()
                            .on(l2_dma)
                            .asynchronous()
                            .dimensions(4)
                            .cost({.latency = 64, .setup = 8, .bytes_per_cycle = 64});
constexpr auto mac = intrinsic("mac", c(i, j) += product).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(16);
constexpr auto mul = intrinsic("mul", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(16);

template <int Count>
struct dsps {
    static constexpr core dsp{.name = "dsp", .count = Count, .barrier_cycles = 16, .signal_cycles = 16};
    static constexpr auto where = machine("dsps", dram, l2, shared_by_code, spad, acc, loader, copier, storer, array, l2_dma, mvin, mvout,
                                          fetch, feed, mac, mul, dsp);
    /// Likewise, with one call for all cores, and room for two blocks in the memory of each.
    static constexpr memory wide_spad{
        .name = "spad", .base = 0x5000'0000, .capacity = 256_KiB, .alignment = 64, .host_visible = false, .per_core = true};
    static constexpr auto at_once = machine("dsps_at_once", dram, l2, shared_by_code, wide_spad, acc, loader, copier, storer, array, l2_dma,
                                            mvin, mvout, spread, mac, mul, dsp);
};

constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};

namespace matmul {
constexpr axis m{"m", 512}, n{"n", 512}, k{"k", 512};
constexpr auto work = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
}  // namespace matmul

namespace convolution {
constexpr axis y{"y", 56}, x{"x", 56}, f{"f", 64}, p{"p", 3}, q{"q", 3}, d{"d", 64};
constexpr auto work = C(y, x, f) = sum(p, q, d, cast<std::int32_t>(A(y + p, x + q, d)) * cast<std::int32_t>(B(p, q, d, f)));
}  // namespace convolution

/// Every core loads its tiles of A and of B.
schedule private_tiles(machine const& where, core const& dsp) {
    return schedule(matmul::work, where)
        .tile("m", "n", "mo", "no", "mi", "ni", 64, 64)
        .split("k", "ko", "ki", 64)
        .reorder("mo", "no", "ko", "mi", "ni", "ki")
        .distribute("mo", dsp)
        .cache_read(A, spad)
        .at("ko")
        .buffers(2)
        .cache_read(B, spad)
        .by(mvin)
        .at("ko")
        .buffers(2)
        .cache_write(C, acc)
        .at("no")
        .buffers(2)
        .tensorize("mi", "ni", "ki", mac);
}
/// Core 0 loads blocks of B for all, while they compute on the block before.
schedule shared_tiles(machine const& where, core const& dsp) {
    return schedule(matmul::work, where)
        .split("n", "nb", "nr", 128)
        .tile("m", "nr", "mo", "no", "mi", "ni", 16, 64)
        .split("k", "ko", "ki", 32)
        .reorder("nb", "mo", "no", "ko", "mi", "ni", "ki")
        .distribute("mo", dsp)
        .cache_read(B, l2)
        .at("nb")
        .buffers(2)
        .cache_read(A, spad)
        .at("ko")
        .buffers(2)
        .cache_read(B, spad)
        .by(feed)
        .at("ko")
        .buffers(2)
        .cache_write(C, acc)
        .at("no")
        .buffers(2)
        .tensorize("mi", "ni", "ki", mac);
}
/// One call brings each block of B to all cores, while they compute on the block before.
schedule multicast_tiles(machine const& where, core const& dsp) {
    return schedule(matmul::work, where)
        .split("n", "nb", "nr", 128)
        .tile("m", "nr", "mo", "no", "mi", "ni", 16, 64)
        .split("k", "ko", "ki", 64)
        .reorder("nb", "mo", "no", "ko", "mi", "ni", "ki")
        .distribute("mo", dsp)
        .cache_read(B, spad)
        .at("nb")
        .buffers(2)
        .cache_read(A, spad)
        .at("ko")
        .buffers(2)
        .cache_write(C, acc)
        .at("no")
        .buffers(2)
        .tensorize("mi", "ni", "ki", mac);
}
schedule rows_of_a_picture(machine const& where, core const& dsp) {
    return schedule(convolution::work, where)
        .split("f", "fo", "fi", 16)
        .reorder("y", "fo", "p", "q", "x", "fi", "d")
        .distribute("y", dsp)
        .cache_read(A, spad)
        .at("y")
        .buffers(2)
        .cache_read(B, spad)
        .by(mvin)
        .at("fo")
        .buffers(2)
        .cache_write(C, acc)
        .at("fo")
        .buffers(2)
        .tensorize("x", "fi", "d", mac);
}

/// Sums on one core, what is made of them on another: each has half of the work.
namespace pipeline {
constexpr axis m{"m", 4096}, n{"n", 64};
constexpr tensor<std::int32_t> X{"X"}, S{"S"}, R{"R"};
constexpr auto work = stages(S(m, n) = X(m, n) * 3 + 1, R(m, n) = S(m, n) * 5 - 7);
}  // namespace pipeline
schedule two_stages(machine const& where, core const& dsp) {
    schedule s(pipeline::work, where);
    s.split("m", "mo", "mi", 16).compute_at(pipeline::S, "mo").stage(pipeline::S).on(dsp, dsp.count > 1 ? 1 : 0);
    s.store_in(pipeline::S, shared_by_code);
    return dsp.count > 1 ? s.buffers(2) : s;
}

/// What a kernel is given, and what it must give.
struct problem {
    std::vector<Halide::Buffer<>> inputs{};
    Halide::Buffer<std::int32_t> wanted{};
};
Halide::Buffer<std::int8_t> drawn(std::vector<int> const& extents, std::uint32_t random) {
    Halide::Buffer<std::int8_t> made(extents);
    for (std::size_t at = 0; at < made.number_of_elements(); ++at)
        made.data()[at] = static_cast<std::int8_t>((random = random * 1664525u + 1013904223u) >> 24);
    return made;
}
problem products() {
    constexpr int size = 512;
    Halide::Buffer<std::int8_t> const left = drawn({size, size}, 1), right = drawn({size, size}, 2);
    problem made{{left, right}, Halide::Buffer<std::int32_t>(size, size)};
    made.wanted.fill(0);
    for (int row = 0; row < size; ++row) {
        for (int inner = 0; inner < size; ++inner) {
            std::int32_t const factor = left(inner, row);
            std::int8_t const* const from = right.data() + inner * size;
            std::int32_t* const into = made.wanted.data() + row * size;
            for (int column = 0; column < size; ++column) into[column] += factor * from[column];
        }
    }
    return made;
}
problem picture() {
    Halide::Buffer<std::int8_t> const in = drawn({64, 58, 58}, 3), weights = drawn({64, 64, 3, 3}, 4);
    problem made{{in, weights}, Halide::Buffer<std::int32_t>(64, 56, 56)};
    made.wanted.fill(0);
    for (int row = 0; row < 56; ++row) {
        for (int column = 0; column < 56; ++column) {
            for (int tap = 0; tap < 9 * 64; ++tap) {
                std::int32_t const factor = in(tap % 64, column + tap / 64 % 3, row + tap / 64 / 3);
                for (int feature = 0; feature < 64; ++feature)
                    made.wanted(feature, column, row) += factor * weights(feature, tap % 64, tap / 64 % 3, tap / 64 / 3);
            }
        }
    }
    return made;
}

problem rows() {
    Halide::Buffer<std::int32_t> in(64, 4096);
    problem made{{in}, Halide::Buffer<std::int32_t>(64, 4096)};
    for (int at = 0; at < 64 * 4096; ++at) in.data()[at] = at % 1009 - 500, made.wanted.data()[at] = (in.data()[at] * 3 + 1) * 5 - 7;
    return made;
}

struct seen {
    double of_bound = 0, speedup4 = 1e9, error = 0;
    std::map<std::string, double> of_one{};  ///< cycles of one core
} all;

/// Emulates one kernel; its result must be the algorithm's.
void measure(char const* computation, schedule const& how, core_team& on, problem const& with) {
    auto const plan = std::make_unique<plan_value>(make_plan(how));
    if (plan->refusal) throw std::runtime_error(to_string(plan->refusal));
    halide::jit_kernel kernel(*plan, on);
    Halide::Buffer<std::int32_t> made = with.wanted.copy();
    made.fill(-1);
    on.reset();
    if (kernel.run(on, with.inputs, made) != 0) throw std::runtime_error(on.error());
    if (std::memcmp(made.data(), with.wanted.data(), made.size_in_bytes()) != 0)
        throw std::runtime_error(std::string(computation) + " on " + std::to_string(on.size()) + " cores is wrong");
    double const bound = plan->bound().value, predicted = plan->cycles().value, emulated = static_cast<double>(on.cycles());
    if (on.size() == 1) all.of_one[computation] = emulated;
    double const speedup = all.of_one[computation] / emulated;
    std::printf("%-24s %6d %12.0f %12.0f %12.0f %9.3f %9.2f\n", computation, on.size(), bound, predicted, emulated, emulated / bound,
                speedup);
    std::fflush(stdout);
    all.of_bound = std::max(all.of_bound, emulated / bound);
    if (on.size() == 4) all.speedup4 = std::min(all.speedup4, speedup);
    all.error = std::max(all.error, std::abs(predicted - emulated) / emulated);
}

template <int Count>
void measure_all(problem const& product, problem const& convolved, problem const& staged) {
    core_team team(dsps<Count>::where, semantics_of<dsps<Count>::where>);
    measure("matmul, private tiles", private_tiles(dsps<Count>::where, dsps<Count>::dsp), team, product);
    measure("matmul, shared tiles", shared_tiles(dsps<Count>::where, dsps<Count>::dsp), team, product);
    if constexpr (Count > 1) {
        core_team at_once(dsps<Count>::at_once, semantics_of<dsps<Count>::at_once>);
        all.of_one["matmul, multicast tiles"] = all.of_one["matmul, shared tiles"];
        measure("matmul, multicast tiles", multicast_tiles(dsps<Count>::at_once, dsps<Count>::dsp), at_once, product);
    }
    measure("conv2d 3x3, 56x56x64", rows_of_a_picture(dsps<Count>::where, dsps<Count>::dsp), team, convolved);
    if (Count <= 2) measure("two stages", two_stages(dsps<Count>::where, dsps<Count>::dsp), team, staged);
}

}  // namespace

int main() try {
    std::printf("%-24s %6s %12s %12s %12s %9s %9s\n", "computation", "cores", "bound", "predicted", "emulated", "of bound", "speed-up");
    problem const product = products(), convolved = picture(), staged = rows();
    measure_all<1>(product, convolved, staged);
    measure_all<2>(product, convolved, staged);
    measure_all<4>(product, convolved, staged);
    measure_all<8>(product, convolved, staged);
    std::printf("\nbars: emulated cycles at most 1.05 times the bound; four cores at least 3.8 times as fast as one; prediction exact\n");
    std::printf("cores: of_bound=%.3f speedup4=%.2f prediction_error=%g\n", all.of_bound, all.speedup4, all.error);
    return all.of_bound <= 1.05 && all.speedup4 >= 3.8 && all.error == 0 ? 0 : 1;
} catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
