// Schedules for gdb to show: tests/editor/gdb_test.py prints them.
#include <tilewright/schedule/schedule.hpp>

#include "02_instruction/matmul.hpp"  // docs/installing.md shows its schedule

namespace shown {
using namespace tilewright;

constexpr memory dram{.name = "dram"};
constexpr memory tcm{.name = "tcm", .capacity = 64_KiB, .banks = 2};
constexpr engine dma{"dma"};
constexpr auto load = transfer("load", dram, tcm).on(dma).asynchronous().dimensions(2);
constexpr auto save = transfer("save", tcm, dram).on(dma).dimensions(2);
constexpr axis i{"i", 4}, j{"j", 4}, l{"l", 2};
constexpr tensor<float> a{"a"}, b{"b"}, c{"c"};
constexpr auto mac = intrinsic("mac", c(i, j) += a(i, l) * b(l, j)).reads(a, tcm).reads(b, tcm).updates(c, tcm);
constexpr core dsps{.name = "dsps", .count = 4};
constexpr auto dsp = machine("dsp", dram, tcm, dma, dsps, load, save, mac);

constexpr axis m{"m", 24}, n{"n", 40}, k{"k", 32}, rows{"rows", dynamic.up_to(100)};
constexpr tensor<float> A{"A"}, B{"B"}, S{"S"}, C{"C"};
constexpr auto matmul = C(m, n) += A(m, k) * B(k, n);
constexpr auto scaled = C(m, n) = A(m, n) * 2.0f;
constexpr axis r{"r", 3}, x{"x", 22};
constexpr auto blurred = stages(S(m, n) = A(m, n) * 2.0f, C(x, n) = sum(r, S(x + r, n)));
constexpr auto any_rows = C(rows, n) = A(rows, n) + 1.0f;

constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, f{"f"};
// clang-format off
schedule const tiled = schedule(matmul, dsp)
    .tile(m, n, mo, no, mi, ni, 8, 16).split(k, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki)
    .cache_read(A, tcm).at(ko).by(load).buffers(2).prefetch(1).in_bank(1)
    .cache_read(B, tcm).by(load)
    .cache_write(C, tcm).at(no).by(save)
    .tensorize(mi, ni, ki, mac);
schedule const fused = schedule(scaled, dsp).split(n, no, ni, 12).fuse(m, no, f).parallel(f).vectorize(ni, 4);
schedule const computed_at = schedule(blurred, dsp).split(n, no, ni, 8).reorder(no, x, ni, r).compute_at(S, no).store_in(S, tcm).stage(S).unroll(m);
schedule const shared = schedule(matmul, dsp).distribute(m, dsps).cache_read(A, tcm).at(m);
schedule const run_time = schedule(any_rows, dsp).split(rows, mo, mi, 8);
// clang-format on
}  // namespace shown

int main() {
    using namespace shown;
    int used = 0;  // gdb knows the constants that a program uses
    for (schedule const* one : {&tiled, &fused, &computed_at, &shared, &run_time, &lesson_matmul::matmul_on_npu})
        used += one->directive_count();
    return used > 0 ? 0 : 1;
}
