// clang-format off: schedules are read line by line, a buffer a line.
#pragma once
#include "kernels/cores.hpp"

/// A machine of one slow core and two fast ones; each kind has an instruction of its own, and one that only the fast ones have.
namespace unlike_cores {

using namespace cores_of_dsp;

inline constexpr core control{.name = "control",
                              .costs = {.load = 4, .store = 3, .arithmetic = 2, .multiply = 9, .divide = 30, .convert = 1},
                              .barrier_cycles = 11,
                              .barrier_call = {.symbol = "cores_barrier"},
                              .signal_cycles = 6,
                              .signal_call = {.symbol = "control_signal"},
                              .await_call = {.symbol = "control_await"}};
inline constexpr core vector{.name = "vector",
                             .costs = {.load = 1, .store = 2, .multiply = 1},
                             .count = 2,
                             .barrier_cycles = 5,
                             .barrier_call = {.symbol = "cores_vectors_meet"},
                             .signal_cycles = 2,
                             .signal_call = {.symbol = "cores_signal"},
                             .await_call = {.symbol = "cores_await"}};

/// Products of up to 3 rows, 3 x 5 by 5 x 6: a sum goes on, or begins.
namespace of_mac {
inline constexpr axis i{"i", 3}, j{"j", 6}, r{"r", 5};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"};
inline constexpr tensor<std::int32_t> c{"c"};
inline constexpr auto begins = c(i, j) = sum(r, cast<std::int32_t>(a(i, r)) * cast<std::int32_t>(b(r, j)));
inline constexpr auto goes_on = c(i, j) += cast<std::int32_t>(a(i, r)) * cast<std::int32_t>(b(r, j));
constexpr intrinsic told(intrinsic what, core const& of, ir::label symbol) {
    return what.on(of).up_to(i).calls(symbol, argument::address(a), argument::stride(a, 0), argument::address(b), argument::stride(b, 0),
                                      argument::address(c), argument::stride(c, 0), argument::extent(i));
}
constexpr intrinsic mac(ir::label name, core const& of, ir::label symbol) {
    return told(intrinsic(name, goes_on).reads(a, tcm).reads(b, tcm).updates(c, tcm), of, symbol);
}
constexpr intrinsic mul(core const& of, ir::label symbol) {
    return told(intrinsic("mixed_mul", begins).reads(a, tcm).reads(b, tcm).writes(c, tcm), of, symbol);
}
}  // namespace of_mac
inline constexpr auto mac = of_mac::mac("mixed_mac", control, "control_mac").cycles(31, 7 * per(of_mac::i)),
                      mac_of_vector = of_mac::mac("mixed_mac", vector, "vector_mac").cycles(4, per(of_mac::i)),
                      mul = of_mac::mul(control, "control_mul").cycles(28, 6 * per(of_mac::i)),
                      mul_of_vector = of_mac::mul(vector, "vector_mul").cycles(3),
                      wide_mac = of_mac::mac("wide_mac", vector, "vector_mac").cycles(2);
inline constexpr auto back = transfer("cores_back", tcm, l2).on(dma).dimensions(2).cost({.bytes_per_cycle = 16});

inline constexpr auto mixed = machine("mixed", dram, l2, tcm, dma, l2_dma, load, store, fetch, down, up, back, control, vector, mac,
                                      mac_of_vector, mul, mul_of_vector, wide_mac);

/// Kernels in which both kinds, or one of them, share loops.
inline std::vector<schedule> in_shares() {
    static constexpr axis y{"y", 20}, x{"x", 16}, yo{"yo"}, yi{"yi"};
    static constexpr tensor<std::int16_t> in{"in"};
    static constexpr tensor<std::int32_t> T{"T"}, R{"R"};
    static constexpr axis p{"p", 24}, q{"q", 16};
    static constexpr auto blur = stages(T(p, q) = cast<std::int32_t>(in(p, q)) * 3, R(y, x) = T(y, x) + T(y + 1, x) + T(y + 2, x));
    static constexpr axis h{"h", 20}, w{"w", 16};
    static constexpr auto image = padded(in(h, w), 0);
    static constexpr auto bordered = R(y, x) = cast<std::int32_t>(image(y - 1, x)) + cast<std::int32_t>(image(y + 1, x + 1));
    return {
        schedule(matmul, mixed).distribute(m, control, vector),
        // 5 tiles: 2 for the slow core, 2 and 1 for the others; the last one has 4 rows.
        schedule(matmul, mixed)
            .split(m, mo, mi, 5)
            .distribute(mo, control, vector)
            .cache_read(A, tcm)
            .at(mo)
            .buffers(2)
            .cache_read(B, tcm)
            .at("mo.core")
            .cache_write(C, tcm)
            .at(mo)
            .buffers(2),
        // The slow core loads for the fast ones, which compute.
        schedule(matmul, mixed)
            .split(n, no, ni, 6)
            .split(m, mo, mi, 3)
            .reorder(no, mo, mi, ni, k)
            .distribute(mo, vector)
            .cache_read(B, l2)
            .at(no)
            .buffers(2)
            .cache_read(A, tcm)
            .at(mo)
            .buffers(2)
            .cache_write(C, tcm)
            .at(mo)
            .buffers(2),
        // 5 tiles on the fast cores: 3 and 2, the last one partial.
        schedule(matmul, mixed).split(m, mo, mi, 5).distribute(mo, vector).cache_read(A, tcm).at(mo).cache_write(C, tcm).at(mo),
        // One fast core has it all; and the slow core stores what both have computed.
        schedule(matmul, mixed).split(m, mo, mi, 4).distribute(mo, vector, 1).cache_read(A, tcm).at(mo),
        schedule(matmul, mixed)
            .split(n, no, ni, 6)
            .split(m, mo, mi, 3)
            .reorder(no, mo, mi, ni, k)
            .distribute(mo, control, vector)
            .cache_write(C, l2)
            .at(no),
        schedule(blur, mixed).stage(T).distribute(p, control, vector).store_in(T, l2).stage(R).distribute(y, control, vector),
        schedule(blur, mixed).stage(T).distribute(p, vector).store_in(T, l2).stage(R).distribute(y, vector),
        // Borders, which the cores write.
        schedule(bordered, mixed).split(y, yo, yi, 4).distribute(yo, control, vector).cache_read(in, tcm).at(yo),
        // Each kind by its own instruction; the last tile has 2 of 3 rows.
        schedule(matmul, mixed)
            .split(m, mo, mi, 8)
            .distribute(mo, control, vector)
            .cache_read(A, tcm)
            .at(mo)
            .cache_read(B, tcm)
            .at("mo.core")
            .cache_write(C, tcm)
            .at(mo)
            .tensorize(mi, n, k, mac),
        // What only the fast ones have.
        schedule(matmul, mixed)
            .split(m, mo, mi, 8)
            .distribute(mo, vector)
            .cache_read(A, tcm)
            .at(mo)
            .cache_read(B, tcm)
            .at("mo.core")
            .cache_write(C, tcm)
            .at(mo)
            .tensorize(mi, n, k, wide_mac),
    };
}

/// Kernels whose stages run on cores of their own.
inline std::vector<schedule> by_stages() {
    static constexpr axis y{"y", 20}, x{"x", 16}, yo{"yo"}, yi{"yi"};
    static constexpr tensor<std::int16_t> in{"in"};
    static constexpr tensor<std::int32_t> T{"T"}, R{"R"};
    static constexpr axis p{"p", 22}, q{"q", 16};
    static constexpr auto blur = stages(T(p, q) = cast<std::int32_t>(in(p, q)) * 3, R(y, x) = T(y, x) + T(y + 1, x) + T(y + 2, x));
    static constexpr auto requantised =
        stages(C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)), R(m, n) = C(m, n) * 5 - 7);
    return {
        schedule(blur, mixed).split(y, yo, yi, 4).compute_at(T, yo).stage(T).on(vector, 0).store_in(T, l2).buffers(2),
        schedule(blur, mixed).split(y, yo, yi, 4).on(vector, 1).compute_at(T, yo).stage(T).on(control, 0).store_in(T, l2).buffers(3),
        schedule(requantised, mixed)
            .split(m, mo, mi, 4)
            .compute_at(C, mo)
            .cache_write(R, tcm)
            .at(mo)
            .buffers(2)
            .stage(C)
            .on(vector, 1)
            .store_in(C, l2)
            .buffers(2)
            .cache_read(A, tcm)
            .at(mo)
            .buffers(2)
            .cache_read(B, tcm)
            .cache_write(C, tcm)
            .at(mo)
            .tensorize(m, n, k, mac),
    };
}

}  // namespace unlike_cores
