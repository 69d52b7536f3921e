#pragma once
#include <tilewright/tilewright.hpp>

/// What the examples of docs/reference/directives.md are about, as it stands there.
namespace reference_examples {

using namespace tilewright;

constexpr memory dram{.name = "dram"};
constexpr memory tcm{.name = "tcm", .capacity = 64_KiB};
constexpr memory l1{.name = "l1", .capacity = 16_KiB};
constexpr auto load = transfer("load", dram, tcm).dimensions(2);
constexpr auto save = transfer("save", tcm, dram).dimensions(2);
constexpr auto fetch = transfer("fetch", tcm, l1).dimensions(2);
constexpr auto store = transfer("store", l1, tcm).dimensions(2);

constexpr axis i{"i", 4}, j{"j", 4}, l{"l", 2}, r{"r", 1}, s{"s", 1};
constexpr tensor<float> a{"a"}, b{"b"}, c{"c"}, d{"d"};
constexpr auto turn = transfer("turn", dram, tcm, c(r, s) = a(s, r)).dimensions(3);
constexpr auto product = a(i, l) * b(l, j);
constexpr auto mac = intrinsic("mac", c(i, j) += product).reads(a, tcm).reads(b, tcm).updates(c, tcm);
constexpr auto mul = intrinsic("mul", c(i, j) = sum(l, product)).reads(a, tcm).reads(b, tcm).writes(c, tcm);
constexpr auto from = intrinsic("from", c(i, j) = d(j) + sum(l, product)).reads(a, tcm).reads(b, tcm).reads(d, tcm).writes(c, tcm);
constexpr auto dsp = machine("dsp", dram, tcm, l1, load, save, fetch, store, turn, mac, mul, from);

constexpr memory vtcm{.name = "vtcm", .capacity = 64_KiB, .banks = 2, .ports = 1};
constexpr engine in_dma{"in_dma"}, out_dma{"out_dma"};
constexpr auto get = transfer("get", dram, tcm).on(in_dma).asynchronous().dimensions(2);
constexpr auto put = transfer("put", tcm, dram).on(out_dma).asynchronous().dimensions(2);
constexpr auto fill = transfer("fill", dram, vtcm).on(in_dma).asynchronous().dimensions(2);
constexpr auto streamer = machine("streamer", dram, tcm, vtcm, in_dma, out_dma, get, put, fill);

constexpr memory near{.name = "near", .capacity = 64_KiB};
constexpr core cpu{.name = "cpu"};
constexpr auto copy = transfer("copy", dram, near).on(cpu);
constexpr auto host = machine("host", dram, near, cpu, copy);

constexpr memory own{.name = "own", .capacity = 16_KiB, .per_core = true}, common{.name = "common", .capacity = 64_KiB};
constexpr engine own_dma{.name = "own_dma", .per_core = true}, wide_dma{.name = "wide_dma", .channels = 4};
constexpr auto bring = transfer("bring", dram, own).on(own_dma).asynchronous().dimensions(2);
constexpr auto share = transfer("share", dram, common).on(wide_dma).asynchronous().dimensions(2);
constexpr auto to_all = transfer("to_all", dram, own).on(wide_dma).asynchronous().dimensions(2).multicast();
constexpr core dsps = cores("dsps", 4);
constexpr auto team = machine("team", dram, own, common, own_dma, wide_dma, bring, share, to_all, dsps);

constexpr memory acc{.name = "acc", .capacity = 16_KiB};
constexpr engine array{.name = "array", .completes = completion::by_channel};
constexpr engine vectors{.name = "vectors", .completes = completion::by_channel};
constexpr axis deep{"deep", 6};
constexpr auto multiply =
    intrinsic("multiply", c(i, j) = sum(deep, a(i, deep) * b(deep, j))).reads({a, b}, dram).writes(c, acc).on(array).asynchronous();
constexpr auto rectify = intrinsic("rectify", d(i, j) = max(c(i, j), 0)).reads(c, acc).writes(d, dram).on(vectors).asynchronous();
constexpr auto units = machine("units", dram, acc, array, vectors, multiply, rectify);

constexpr axis m{"m", 8}, n{"n", 12}, k{"k", 6};
constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, f{"f"};
constexpr tensor<float> A{"A"}, B{"B"}, C{"C"}, bias{"bias"};
constexpr auto matmul = C(m, n) += A(m, k) * B(k, n);
constexpr auto biased = C(m, n) = bias(n) + sum(k, A(m, k) * B(k, n));
constexpr tensor<float> P{"P"};
constexpr auto rectified = stages(P(m, n) = sum(k, A(m, k) * B(k, n)), C(m, n) = max(P(m, n), 0));
constexpr axis part{"part", 3}, kp{"kp", 2};
constexpr tensor<float> sums{"sums"};
constexpr auto in_parts = stages(sums(part, m, n) += A(m, 2 * part + kp) * B(2 * part + kp, n), C(m, n) += sums(part, m, n));

constexpr axis y{"y", 16}, x{"x", 32}, hy{"hy", 18}, hx{"hx", 32}, yo{"yo"}, yi{"yi"};
constexpr tensor<float> in{"in"}, rows{"rows"}, out{"out"};
constexpr auto blur = stages(rows(hy, hx) = in(hy, hx) + in(hy, hx + 1), out(y, x) = rows(y, x) + rows(y + 2, x));
constexpr auto brought = out(y, x) = in(y, x);

constexpr axis t{"t", 3}, xo{"xo"}, xi{"xi"};
constexpr tensor<float> row{"row"}, sharp{"sharp"};
constexpr auto spread = sharp(x) += padded(row(hx), 0)(x + t - 1);

constexpr tensor<float> turned{"turned"};
constexpr auto transposed = stages(turned(m, k) = A(k, m), C(m, n) += turned(m, k) * B(k, n));

}  // namespace reference_examples
