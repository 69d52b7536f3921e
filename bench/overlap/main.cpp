#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/planner.hpp>

// How close emulated kernels come to what their busiest engine needs, and to what was predicted: four computations on three machines, with
// one, two and three versions of every staged operand.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr memory l2{.name = "l2", .base = 0x4000'0000, .capacity = 1_MiB, .alignment = 64, .host_visible = false};
constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 256_KiB, .alignment = 64, .host_visible = false};
constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 256_KiB, .alignment = 64, .host_visible = false};
constexpr engine loader{"loader"}, storer{"storer"}, copier{"copier"}, array{"array"};

// The instruction: 8 x 16 x 16 elements.
constexpr axis i{"i", 8}, j{"j", 16}, l{"l", 16};
constexpr tensor<std::int8_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"};
constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));

/// One loader, one storer and a matrix unit; `BytesPerCycle` of each channel and `Cycles` of an instruction say which of them is busiest.
template <int BytesPerCycle, int Cycles>
struct npu {
    static constexpr transfer_cost cost{.latency = 64, .setup = 8, .bytes_per_cycle = BytesPerCycle};
    static constexpr auto mvin = transfer("mvin", dram, spad).on(loader).asynchronous().dimensions(4).cost(cost);
    static constexpr auto mvout = transfer("mvout", acc, dram).on(storer).asynchronous().dimensions(4).cost(cost);
    static constexpr auto mac = intrinsic("mac", c(i, j) += product).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(Cycles);
    static constexpr auto mul =
        intrinsic("mul", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(Cycles);
    // through a scratchpad further out
    static constexpr auto fetch = transfer("fetch", dram, l2).on(loader).asynchronous().dimensions(4).cost(cost);
    static constexpr auto feed = transfer("feed", l2, spad).on(copier).asynchronous().dimensions(4).cost(cost);
    static constexpr auto levels = machine("levels", dram, l2, spad, acc, loader, copier, storer, array, fetch, feed, mvout, mac, mul);
    static constexpr auto where = machine("npu", dram, spad, acc, loader, storer, array, mvin, mvout, mac, mul);
};

constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};

template <int M, int N, int K>
struct matmul {
    static constexpr axis m{"m", M}, n{"n", N}, k{"k", K};
    static constexpr auto work = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
};
using square = matmul<512, 512, 512>;
using flat = matmul<16, 512, 4096>;

struct convolution {
    static constexpr axis y{"y", 56}, x{"x", 56}, f{"f", 64}, p{"p", 3}, q{"q", 3}, d{"d", 64};
    static constexpr auto work = C(y, x, f) = sum(p, q, d, cast<std::int32_t>(A(y + p, x + q, d)) * cast<std::int32_t>(B(p, q, d, f)));
};

schedule square_on(machine const& where, intrinsic_description const& mac, int versions) {
    return schedule(square::work, where)
        .tile("m", "n", "mo", "no", "mi", "ni", 64, 64)
        .split("k", "ko", "ki", 64)
        .reorder("mo", "no", "ko", "mi", "ni", "ki")
        .cache_read(A, spad)
        .at("ko")
        .buffers(versions)
        .cache_read(B, spad)
        .at("ko")
        .buffers(versions)
        .cache_write(C, acc)
        .at("no")
        .buffers(versions)
        .tensorize("mi", "ni", "ki", mac);
}
schedule flat_on(machine const& where, intrinsic_description const& mac, int versions) {
    return schedule(flat::work, where)
        .split("n", "no", "ni", 64)
        .split("k", "ko", "ki", 128)
        .reorder("no", "ko", "m", "ni", "ki")
        .cache_read(A, spad)
        .at("ko")
        .buffers(versions)
        .cache_read(B, spad)
        .at("ko")
        .buffers(versions)
        .cache_write(C, acc)
        .at("no")
        .buffers(versions)
        .tensorize("m", "ni", "ki", mac);
}
/// A and B through l2, in blocks of 8 tiles of the scratchpad each.
schedule levels_on(machine const& where, intrinsic_description const& mac, int versions) {
    return schedule(square::work, where)
        .tile("m", "n", "mo", "no", "mi", "ni", 64, 64)
        .split("k", "kb", "kr", 256)
        .split("kr", "ko", "ki", 32)
        .reorder("mo", "no", "kb", "ko", "mi", "ni", "ki")
        .cache_read(A, l2)
        .at("kb")
        .buffers(versions)
        .cache_read(A, spad)
        .at("ko")
        .buffers(versions)
        .cache_read(B, l2)
        .at("kb")
        .buffers(versions)
        .cache_read(B, spad)
        .at("ko")
        .buffers(versions)
        .cache_write(C, acc)
        .at("no")
        .buffers(versions)
        .tensorize("mi", "ni", "ki", mac);
}
schedule convolution_on(machine const& where, intrinsic_description const& mac, int versions) {
    return schedule(convolution::work, where)
        .split("f", "fo", "fi", 16)
        .split("y", "yo", "yi", 4)
        .reorder("fo", "yo", "yi", "p", "q", "x", "fi", "d")
        .cache_read(A, spad)
        .at("yo")
        .buffers(versions)
        .cache_read(B, spad)
        .at("fo")
        .buffers(versions)
        .cache_write(C, acc)
        .at("yo")
        .buffers(versions)
        .tensorize("x", "fi", "d", mac);
}

struct worst {
    double ratio = 0, error = 0;
};

/// Emulates one kernel; its result must be the algorithm's.
void measure(char const* computation, char const* kind, schedule const& how, emulator& on, int versions, worst& seen) {
    auto const plan = std::make_unique<plan_value>(make_plan(how));
    if (plan->refusal) throw std::runtime_error(to_string(plan->refusal));
    halide::jit_kernel kernel(*plan, &on), plain(*plan, nullptr);
    std::vector<Halide::Buffer<>> inputs;
    Halide::Buffer<> result, expected;
    std::uint32_t random = 1;
    for (int at = 0; at < plan->buffers.size(); ++at) {
        ir::buffer const& b = plan->buffers[at];
        if (b.kind != ir::buffer_kind::argument) continue;
        std::vector<int> extents;
        for (int dimension = b.rank - 1; dimension >= 0; --dimension) extents.push_back(static_cast<int>(b.extents[dimension]));
        Halide::Buffer<> data(halide::type_of(b.type), extents);
        auto* const bytes = static_cast<std::uint8_t*>(data.data());
        for (std::size_t byte = 0; byte < data.size_in_bytes(); ++byte)
            bytes[byte] = static_cast<std::uint8_t>((random = random * 1664525u + 1013904223u) >> 24);
        if (b.written) result = data, expected = data.copy();
        else inputs.push_back(data);
    }
    on.reset();
    kernel.run(inputs, result);
    plain.run(inputs, expected);
    if (std::memcmp(result.data(), expected.data(), result.size_in_bytes()) != 0)
        throw std::runtime_error(std::string(computation) + " on the " + kind + " machine is wrong");
    double const bound = plan->bound().value, predicted = plan->cycles().value, emulated = static_cast<double>(on.cycles());
    std::printf("%-22s %-14s %8d %12.0f %12.0f %12.0f %8.3f\n", computation, kind, versions, bound, predicted, emulated, emulated / bound);
    std::fflush(stdout);
    if (versions >= 2) seen.ratio = std::max(seen.ratio, emulated / bound);
    seen.error = std::max(seen.error, std::abs(predicted - emulated) / emulated);
}

template <class Machine>
void measure_all(char const* kind, worst& seen) {
    emulator on(Machine::where, semantics_of<Machine::where>);
    for (int versions : {1, 2, 3})
        measure("matmul 512x512x512", kind, square_on(Machine::where, Machine::mac, versions), on, versions, seen);
    for (int versions : {1, 2, 3}) measure("matmul 16x512x4096", kind, flat_on(Machine::where, Machine::mac, versions), on, versions, seen);
    {
        emulator both(Machine::levels, semantics_of<Machine::levels>);
        for (int versions : {1, 2, 3})
            measure("matmul, two levels", kind, levels_on(Machine::levels, Machine::mac, versions), both, versions, seen);
    }
    for (int versions : {1, 2, 3})
        measure("conv2d 3x3, 56x56x64", kind, convolution_on(Machine::where, Machine::mac, versions), on, versions, seen);
}

}  // namespace

int main() try {
    std::printf("%-22s %-14s %8s %12s %12s %12s %8s\n", "computation", "machine", "versions", "bound", "predicted", "emulated", "ratio");
    worst seen;
    measure_all<npu<16, 8>>("balanced", seen);
    measure_all<npu<2, 8>>("dma-bound", seen);
    measure_all<npu<64, 16>>("compute-bound", seen);
    std::printf("\nbar: ratio of emulated cycles to the bound at most 1.05 from two versions on; prediction exact\n");
    std::printf("overlap: worst_ratio=%.3f prediction_error=%g\n", seen.ratio, seen.error);
    return seen.ratio <= 1.05 && seen.error == 0 ? 0 : 1;
} catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
