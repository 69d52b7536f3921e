#pragma once
#include <tilewright/tilewright.hpp>

/// Lesson 15: a cube unit, which multiplies fractals of 16 x 16 numbers of 16 bits, on the way through two levels of scratchpads.
namespace lesson_cube {

using namespace tilewright;

// clang-format off
// ddr -> l1 -> l0a and l0b -> cube -> l0c -> ddr. l0a and l0b are two blocks each: ping and pong.
inline constexpr memory ddr{.name = "ddr"};
inline constexpr memory l1{.name = "l1", .base = 0x1000'0000, .capacity = 128_KiB, .alignment = 512, .host_visible = false};
inline constexpr memory l0a{.name = "l0a", .base = 0x2000'0000, .capacity = 32_KiB, .alignment = 512, .banks = 2, .ports = 1, .host_visible = false};
inline constexpr memory l0b{.name = "l0b", .base = 0x3000'0000, .capacity = 32_KiB, .alignment = 512, .banks = 2, .ports = 1, .host_visible = false};
inline constexpr memory l0c{.name = "l0c", .base = 0x4000'0000, .capacity = 64_KiB, .alignment = 512, .host_visible = false};
// Four engines take jobs from queues. Tokens, or flags, let one wait for another without the core.
constexpr engine queued(char const* name) { return {.name = name, .depth = 16, .completes = completion::by_channel}; }
inline constexpr engine mte2 = queued("mte2"), mte1 = queued("mte1"), cube = queued("cube"), fixpipe = queued("fixpipe");
inline constexpr auto nd2nz = transfer("nd2nz", ddr, l1).on(mte2).asynchronous().dimensions(4).cost({.latency = 40, .bytes_per_cycle = 128});
inline constexpr tensor<float16> a{"a"}, b{"b"}, d{"d"};
inline constexpr tensor<float> c{"c"};
inline constexpr axis e{"e", 1};
inline constexpr auto zero = transfer("zero", ddr, l1, d(e) = 0).on(mte2).asynchronous().dimensions(4).cost({.latency = 40, .bytes_per_cycle = 256});
inline constexpr auto load_a = transfer("load_a", l1, l0a).on(mte1).asynchronous().dimensions(4).cost({.latency = 8, .bytes_per_cycle = 256});
inline constexpr auto load_b = transfer("load_b", l1, l0b).on(mte1).asynchronous().dimensions(4).cost({.latency = 8, .bytes_per_cycle = 256});

// mmad takes up to 4 x 4 x 4 fractals: those of a row by row, those of b and c column by column. Sums are floats.
inline constexpr axis i1{"i1", 4}, j1{"j1", 4}, k1{"k1", 4}, i0{"i0", 16}, j0{"j0", 16}, k0{"k0", 16};
inline constexpr auto product = cast<float>(a(i1, k1, i0, k0)) * cast<float>(b(k1, j1, j0, k0));
inline constexpr auto mmad = intrinsic("mmad", c(j1, i1, i0, j0) += product)
    .reads(a, l0a).reads(b, l0b).updates(c, l0c).up_to(i1, j1, k1).on(cube).asynchronous().cycles(8, per(i1, j1, k1));
inline constexpr auto mmul = intrinsic("mmul", c(j1, i1, i0, j0) = sum(k1, k0, product))
    .reads(a, l0a).reads(b, l0b).writes(c, l0c).up_to(i1, j1, k1).on(cube).asynchronous().cycles(8, per(i1, j1, k1));
// fix rounds sums to 16 bits and stores them row by row.
inline constexpr auto fix = intrinsic("fix", d(i1, i0, j1, j0) = cast<float16>(c(j1, i1, i0, j0)))
    .reads(c, l0c).writes(d, ddr).up_to(i1, j1).on(fixpipe).asynchronous().cycles(20, 4 * per(i1, j1));
inline constexpr auto npu = machine("cube_npu", ddr, l1, l0a, l0b, l0c, mte2, mte1, cube, fixpipe, nd2nz, zero, load_a, load_b, mmad, mmul, fix,
    tokens(mte2, mte1), tokens(mte1, mte2), tokens(mte1, cube), tokens(cube, mte1), tokens(cube, fixpipe), tokens(fixpipe, cube));

// out = A x B, with B by columns. Loops and result have whole fractals; beyond A and B is 0.
inline constexpr axis rows{"rows", 300}, columns{"columns", 250}, depth{"depth", 200};
inline constexpr axis m1{"m1", 19}, m0{"m0", 16}, n1{"n1", 16}, n0{"n0", 16}, l1_{"l1", 13}, l0{"l0", 16};
inline constexpr tensor<float16> A{"A"}, B{"B"}, out{"out"};
inline constexpr tensor<float> C{"C"};
inline constexpr auto left = padded(A(rows, depth), 0)(16 * m1 + m0, 16 * l1_ + l0);
inline constexpr auto right = padded(B(columns, depth), 0)(16 * n1 + n0, 16 * l1_ + l0);
inline constexpr auto matmul = stages(
    C(n1, m1, m0, n0) = sum(l1_, l0, cast<float>(left) * cast<float>(right)),
    out(m1, m0, n1, n0) = cast<float16>(C(n1, m1, m0, n0)));

// Where the element of row i and column l of a tile is: columns of fractals one after the other, or rows of them.
inline constexpr auto nz = [](auto i, auto l) { return index_map(l / 16, i, l % 16); };
inline constexpr auto zz = [](auto i, auto l) { return index_map(i / 16, l / 16, i % 16, l % 16); };

inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, kx{"kx"}, kb{"kb"}, ki{"ki"};
inline constexpr auto on_cube = schedule(matmul, npu)
    .split(m1, mo, mi, 4).split(n1, no, ni, 4).reorder(mo, no, mi, m0, ni, n0)
    .tensorize(mi, m0, ni, n0, fix)
    .compute_at(C, no).store_in(C, l0c).buffers(2)
    .stage(C).split(l1_, ko, kx, 8).split(kx, kb, ki, 4).reorder(ko, kb, m1, n1, ki, m0, n0, l0)
    .cache_read(A, l1).at(ko).by(nd2nz).layout(nz).buffers(2)
    .cache_read(B, l1).at(ko).by(nd2nz).layout(nz).buffers(2)
    .cache_read(A, l0a).at(kb).by(load_a).layout(zz).buffers(2)
    .cache_read(B, l0b).at(kb).by(load_b).layout(nz).buffers(2)
    .tensorize(m1, n1, ki, m0, n0, l0, mmad);
// clang-format on

}  // namespace lesson_cube
