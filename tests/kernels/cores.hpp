// clang-format off: schedules are read line by line, a buffer a line.
#pragma once
#include <tilewright/tilewright.hpp>
#include <vector>

/// A machine of four cores, each with a memory and a DMA engine of its own, and one memory for all; and kernels that they share.
namespace cores_of_dsp {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory l2{.name = "l2", .base = 0x1000'0000, .capacity = 256_KiB, .alignment = 64};
inline constexpr memory tcm{.name = "tcm",
                            .base = 0x2000'0000,
                            .capacity = 64_KiB,
                            .alignment = 16,
                            .per_core = true,
                            .core_bases = {0x2000'0000, 0x2002'0000, 0x2004'0000, 0x2006'0000}};
inline constexpr engine dma{.name = "cores_dma", .per_core = true}, l2_dma{.name = "cores_l2", .channels = 8};
inline constexpr auto load =
    transfer("cores_load", dram, tcm).on(dma).asynchronous().dimensions(2).cost({.latency = 20, .bytes_per_cycle = 8});
inline constexpr auto store =
    transfer("cores_store", tcm, dram).on(dma).asynchronous().dimensions(2).cost({.latency = 20, .bytes_per_cycle = 8});
inline constexpr auto fetch =
    transfer("cores_fetch", dram, l2).on(l2_dma).asynchronous().dimensions(2).cost({.latency = 50, .bytes_per_cycle = 16});
inline constexpr auto down =
    transfer("cores_down", l2, tcm).on(dma).asynchronous().dimensions(2).cost({.latency = 5, .bytes_per_cycle = 16});
inline constexpr auto up = transfer("cores_up", l2, dram).on(l2_dma).dimensions(2).cost({.latency = 50, .bytes_per_cycle = 16});

constexpr machine dsp_of(core const& of) { return machine("dsp", dram, l2, tcm, dma, l2_dma, load, store, fetch, down, up, of); }
inline constexpr core dsp{.name = "dsp",
                          .count = 4,
                          .barrier_cycles = 7,
                          .barrier_call = {.symbol = "cores_barrier"},
                          .signal_cycles = 3,
                          .signal_call = {.symbol = "cores_signal"},
                          .await_call = {.symbol = "cores_await"}};
inline constexpr auto four = dsp_of(dsp);

inline constexpr axis m{"m", 24}, n{"n", 18}, k{"k", 20}, mo{"mo"}, mi{"mi"}, ko{"ko"}, ki{"ki"}, no{"no"}, ni{"ni"};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

/// Kernels in which core 0 loads for all, or stages follow each other.
inline std::vector<schedule> with_barriers() {
    static constexpr tensor<std::int32_t> T{"T"}, R{"R"};
    static constexpr axis y{"y", 22}, x{"x", 16}, yo{"yo"}, yi{"yi"};
    static constexpr tensor<std::int16_t> in{"in"};
    static constexpr axis p{"p", 24}, q{"q", 16};
    static constexpr auto blur = stages(T(p, q) = cast<std::int32_t>(in(p, q)) * 3, R(y, x) = T(y, x) + T(y + 1, x) + T(y + 2, x));
    // Sums of four parts of the products, and the sum of those.
    static constexpr axis part{"part", 4}, step{"step", 5}, all{"all", 3};
    static constexpr tensor<std::int32_t> P{"P"};
    static constexpr auto in_parts = stages(
        P(part, m, n) += cast<std::int32_t>(A(m, 5 * part + step)) * cast<std::int32_t>(B(5 * part + step, n)), C(m, n) += P(part, m, n));
    static constexpr tensor<float> F{"F"}, sums{"sums"}, total{"total"};
    static constexpr auto of_floats = stages(sums(part, all) += F(5 * part + step, all), total(all) += sums(part, all));
    return {
        // Each core adds up a part of the products. Then each adds the sums of all of them up, of rows of its own; or core 0 does.
        schedule(in_parts, four).distribute(m, dsp).stage(P).distribute(part, dsp).store_in(P, l2).cache_read(A, tcm).at(part),
        schedule(of_floats, four).stage(sums).distribute(part, dsp).store_in(sums, l2),
        schedule(of_floats, four).distribute(all, dsp).stage(sums).distribute(part, dsp).store_in(sums, l2),
        // The whole of B, once.
        schedule(matmul, four)
            .split(m, mo, mi, 3)
            .distribute(mo, dsp)
            .cache_read(B, l2)
            .cache_read(A, tcm)
            .at(mo)
            .cache_write(C, tcm)
            .at(mo),
        // Blocks of B, while all compute on the block before.
        schedule(matmul, four)
            .split(n, no, ni, 6)
            .split(m, mo, mi, 3)
            .reorder(no, mo, mi, ni, k)
            .distribute(mo, dsp)
            .cache_read(B, l2)
            .at(no)
            .buffers(2)
            .cache_read(A, tcm)
            .at(mo)
            .buffers(2)
            .cache_write(C, tcm)
            .at(mo)
            .buffers(2),
        // And from there into the memory of each core.
        schedule(matmul, four)
            .split(n, no, ni, 6)
            .split(m, mo, mi, 3)
            .split(k, ko, ki, 5)
            .reorder(no, mo, mi, ko, ni, ki)
            .distribute(mo, dsp)
            .cache_read(B, l2)
            .at(no)
            .buffers(2)
            .cache_read(B, tcm)
            .by(down)
            .at(ko)
            .buffers(2)
            .cache_write(C, tcm)
            .at(mo),
        // What all have computed, core 0 stores.
        schedule(matmul, four)
            .split(n, no, ni, 6)
            .split(m, mo, mi, 3)
            .reorder(no, mo, mi, ni, k)
            .distribute(mo, dsp)
            .cache_write(C, l2)
            .at(no),
        schedule(blur, four).stage(T).distribute(p, dsp).store_in(T, l2).stage(R).distribute(y, dsp),
        schedule(blur, four).store_in(T, l2).stage(R).split(y, yo, yi, 4).distribute(yo, dsp).cache_write(R, tcm).at(yo),
    };
}

/// Kernels whose stages run on cores of their own.
inline std::vector<schedule> with_signals() {
    static constexpr tensor<std::int32_t> T{"T"}, U{"U"}, R{"R"};
    static constexpr axis y{"y", 22}, x{"x", 16}, yo{"yo"}, yi{"yi"}, xo{"xo"}, xi{"xi"};
    static constexpr tensor<std::int16_t> in{"in"};
    static constexpr axis p{"p", 24}, q{"q", 16}, r{"r", 23}, s{"s", 16};
    static constexpr auto blur = stages(T(p, q) = cast<std::int32_t>(in(p, q)) * 3, R(y, x) = T(y, x) + T(y + 1, x) + T(y + 2, x));
    static constexpr auto three =
        stages(T(p, q) = cast<std::int32_t>(in(p, q)) * 3, U(r, s) = T(r, s) - T(r + 1, s), R(y, x) = U(y, x) + U(y + 1, x));
    static constexpr auto requantised =
        stages(C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)), R(m, n) = C(m, n) * 5 - 7);
    return {
        // Two stages, a tile after the other.
        schedule(blur, four)
            .split(y, yo, yi, 4)
            .compute_at(T, yo)
            .cache_write(R, tcm)
            .at(yo)
            .buffers(2)
            .stage(T)
            .on(dsp, 1)
            .store_in(T, l2)
            .buffers(2)
            .cache_read(in, tcm)
            .at(yo)
            .buffers(2),
        // In one version: they take turns.
        schedule(blur, four).split(y, yo, yi, 4).compute_at(T, yo).stage(T).on(dsp, 1).store_in(T, l2),
        // The reader on another core than the first, in three versions, inside of another loop.
        schedule(blur, four)
            .split(y, yo, yi, 4)
            .split(x, xo, xi, 8)
            .reorder(xo, yo, yi, xi)
            .on(dsp, 2)
            .compute_at(T, yo)
            .stage(T)
            .on(dsp, 3)
            .store_in(T, l2)
            .buffers(3),
        // Whole stages, one after the other.
        schedule(blur, four).stage(T).on(dsp, 1).store_in(T, l2),
        // Three stages on three cores.
        schedule(three, four)
            .split(y, yo, yi, 5)
            .compute_at(U, yo)
            .compute_at(T, yo)
            .stage(T)
            .on(dsp, 2)
            .store_in(T, l2)
            .buffers(2)
            .stage(U)
            .on(dsp, 1)
            .store_in(U, l2)
            .buffers(2),
        // A product on one core, what is made of it on another, each with transfers of its own.
        schedule(requantised, four)
            .split(m, mo, mi, 4)
            .compute_at(C, mo)
            .cache_write(R, tcm)
            .at(mo)
            .buffers(2)
            .cache_read(C, tcm)
            .by(down)
            .at(mo)
            .stage(C)
            .on(dsp, 1)
            .store_in(C, l2)
            .buffers(2)
            .cache_read(A, tcm)
            .at(mo)
            .buffers(2)
            .cache_read(B, tcm),
    };
}

}  // namespace cores_of_dsp
