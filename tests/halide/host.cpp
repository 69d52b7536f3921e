#include <cmath>
#include <cstdlib>
#include <sstream>
#include <tilewright/halide/jit.hpp>
#include <tilewright/kernels/avx2/cycles.hpp>
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/kernels/avx2/gemm_bytes.hpp>
#include <tilewright/plan/best_tile.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "reference/fill.hpp"

// Kernels of this processor: the core copies, tiles are held in registers, memories are where the caller says.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, l2{.name = "l2", .capacity = 64_KiB, .alignment = 64};
constexpr memory vectors = register_file("vectors", 16, 32);
constexpr core plain{.name = "plain"}, fusing{.name = "fusing", .fused_multiply_add = true};

machine host_of(core const& c) {
    machine made("host", dram, l2, vectors, c);
    for (auto const& [from, to, name] : {std::tuple{&dram, &l2, "in"},
                                         {&l2, &dram, "out"},
                                         {&dram, &vectors, "load"},
                                         {&vectors, &dram, "store"},
                                         {&l2, &vectors, "take"}})
        made.add(transfer(name, *from, *to).on(c));
    return made;
}
machine const host = host_of(plain), fused = host_of(fusing);

/// Runs a schedule on this processor, on operands and in memories between pages that cannot be touched: it makes what the oracle says.
template <class Out, class... In>
void run(schedule const& of, std::vector<Out>& out, std::vector<int> const& shape,
         std::pair<std::vector<In>*, std::vector<int>> const&... in) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    static guarded::side pools_at = guarded::side::end;
    pools_at = pools_at == guarded::side::end ? guarded::side::beginning : guarded::side::end;
    auto const list = arguments_of(*plan);
    std::vector<std::unique_ptr<guarded::block>> blocks;
    std::vector<void*> pools;
    for (int at = 0; at < list.pool_count; ++at) {
        memory const& pool = plan->where->memories[list.pools[at]];
        blocks.push_back(std::make_unique<guarded::block>(static_cast<std::size_t>(static_cast<double>(plan->peak(pool))),
                                                          static_cast<std::size_t>(pool.alignment), pools_at));
        pools.push_back(blocks.back()->begin());
    }
    halide::jit_kernel kernel(*plan, pools);
    for (guarded::side at : guarded::both_sides) {
        kernels::operand_data data;
        data.side = at;
        auto const take = [&](auto const& values, std::vector<int> extents, std::int64_t alignment) {
            std::reverse(extents.begin(), extents.end());
            kernels::guarded_buffer const made =
                kernels::make_guarded(Halide::type_of<std::decay_t<decltype(values[0])>>(), extents, alignment, at);
            std::memcpy(made.elements.data(), values.data(), made.elements.size_in_bytes());
            data.memory.push_back(made.memory);
            return made.elements;
        };
        int position = 0;
        auto const alignment_of_next = [&] { return plan->buffers[list.tensors[position++]].alignment; };
        (data.inputs.push_back(take(*in.first, in.second, alignment_of_next())), ...);
        data.output_alignment = alignment_of_next();
        data.output = take(out, shape, data.output_alignment);
        Halide::Buffer<> const result = kernels::result_of(kernel, data, {});
        CHECK(kernels::same_bits(result, kernels::expected_of(*plan, data)));
        for (auto const& pool : blocks) CHECK(pool->is_intact());
        if (at == guarded::side::end) std::memcpy(out.data(), result.data(), result.size_in_bytes());
    }
}

constexpr axis m{"m"}, n{"n"}, k{"k"}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, nv{"nv"}, nl{"nl"}, ko{"ko"}, ki{"ki"};
constexpr tensor<float> A{"A"}, B{"B"}, C{"C"};

struct tile {
    int rows, vectors, depth;
    bool packs;
};
void check_matmul(int rows, int columns, int depth, tile const& t, bool fuses) {
    INFO(rows << " x " << columns << " x " << depth << " in tiles of " << t.rows << " x " << t.vectors << " vectors x " << t.depth);
    axis const i{"m", rows}, j{"n", columns}, l{"k", depth};
    auto const matmul = C(i, j) += A(i, l) * B(l, j);
    schedule s(matmul, fuses ? fused : host);
    s.split(m, mo, mi, t.rows).split(n, no, ni, 8 * t.vectors).split(ni, nv, nl, 8).split(k, ko, ki, t.depth);
    s.reorder(ko, no, mo, ki, mi, nv, nl).unroll(mi).unroll(nv).vectorize(nl);
    if (t.packs) {
        s.cache_read(B, l2).at(ko);
        if (t.vectors == 1) s.layout([](auto y, auto x) { return index_map(x / 8, y, x % 8); });
        else s.layout([](auto y, auto x) { return index_map(x / 16, y, x % 16); });
    }
    s.cache_write(C, vectors).at(mo);
    auto const at = [](int row, int width, int column) {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(column);
    };
    std::vector<float> a(at(rows, depth, 0)), b(at(depth, columns, 0)), c(at(rows, columns, 0), -1);
    reference::fill(a.data(), a.size(), 1), reference::fill(b.data(), b.size(), 2);
    run(s, c, {rows, columns}, std::pair{&a, std::vector{rows, depth}}, std::pair{&b, std::vector{depth, columns}});
    int wrong = 0;
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns; ++x) {
            float sum = 0;
            for (int z = 0; z < depth; ++z) {
                float const left = a[at(y, depth, z)], right = b[at(z, columns, x)];
                if (fuses) sum = std::fma(left, right, sum);
                else {
                    float const product = left * right;
                    sum = sum + product;
                }
            }
            wrong += c[at(y, columns, x)] != sum;
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("a tile in registers gives the bits of plain loops, at every rest of rows, columns and depth", "[long]") {
    for (bool fuses : {false, true}) {
        for (int rows : {1, 4, 9, 12}) {
            for (int columns : {1, 8, 12, 16, 19, 32, 45}) check_matmul(rows, columns, 10, {4, 2, 4, false}, fuses);
        }
        check_matmul(7, 21, 9, {6, 2, 9, true}, fuses);
        check_matmul(13, 50, 30, {6, 2, 7, true}, fuses);
        check_matmul(13, 50, 30, {3, 1, 30, true}, fuses);
    }
}
TEST_CASE("a core that fuses rounds a product and its sum once") {
    // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24; the last bit is lost unless the product is added as it is.
    axis const i{"m", 1}, j{"n", 8}, l{"k", 2};
    auto const matmul = C(i, j) += A(i, l) * B(l, j);
    float const x = 1 + 0x1p-12f;
    std::vector<float> a{-1, x}, b(16, x * x), with(8), without(8);
    std::fill(b.begin() + 8, b.end(), x);
    for (machine const* where : {&host, &fused}) {
        schedule s(matmul, *where);
        s.reorder(k, m, n).vectorize(n).cache_write(C, vectors);
        run(s, where == &fused ? with : without, {1, 8}, std::pair{&a, std::vector{1, 2}}, std::pair{&b, std::vector{2, 8}});
    }
    CHECK(without[0] == 0);
    CHECK(with[0] == 0x1p-24f);
}
TEST_CASE("a core copies regions of any rank into any layout and back, partial ones too", "[long]") {
    axis const z{"z", 5}, y{"y", 11}, x{"x", 37};
    axis const yo{"yo"}, yi{"yi"}, zo{"zo"}, zi{"zi"};
    tensor<std::int16_t> const in{"in"}, out{"out"};
    auto const transposed = out(z, x, y) = in(z, y, x) + 1;
    auto const laid_out = [](int which, schedule& s) {
        if (which == 1) s.layout([](auto a, auto b, auto c) { return index_map(b / 4, a, c, b % 4); });
        if (which == 2) s.layout([](auto a, auto b, auto c) { return index_map(c / 8, b, a, c % 8); });
        if (which == 3) s.layout([](auto a, auto b, auto c) { return index_map(c, a, b); });
    };
    for (int loaded = 0; loaded <= 3; ++loaded) {
        for (int stored = 0; stored <= 3; ++stored) {
            INFO("layouts " << loaded << " and " << stored);
            schedule s(transposed, host);
            s.split(z, zo, zi, 2).split(y, yo, yi, 4).reorder(zo, yo, zi, x, yi);
            s.cache_read(in, l2).at(zo);
            laid_out(loaded, s);
            s.cache_write(out, l2).at(yo);
            laid_out(stored, s);
            std::vector<std::int16_t> from(5 * 11 * 37), to(from.size(), -1);
            reference::fill_between(from.data(), from.size(), 3, -3000, 3000);
            run(s, to, {5, 37, 11}, std::pair{&from, std::vector{5, 11, 37}});
            int wrong = 0;
            for (std::size_t c = 0; c < 5; ++c) {
                for (std::size_t b = 0; b < 11; ++b) {
                    for (std::size_t a = 0; a < 37; ++a) wrong += to[(c * 37 + a) * 11 + b] != from[(c * 11 + b) * 37 + a] + 1;
                }
            }
            CHECK(wrong == 0);
        }
    }
}
TEST_CASE("a buffer in two versions of registers, or between memories and registers, is what the loops see") {
    axis const i{"m", 12}, j{"n", 16};
    tensor<std::int32_t> const in{"in"}, out{"out"};
    auto const twice = out(i, j) = in(i, j) * 2;
    schedule s(twice, host);
    s.split(m, mo, mi, 3).split(n, nv, nl, 8).reorder(mo, mi, nv, nl).unroll(mi).unroll(nv).vectorize(nl);
    s.cache_read(in, l2).cache_read(in, vectors).at(mo).cache_write(out, vectors).at(mo);
    std::vector<std::int32_t> from(12 * 16), to(from.size(), -1);
    reference::fill_between(from.data(), from.size(), 5, -100000, 100000);
    run(s, to, {12, 16}, std::pair{&from, std::vector{12, 16}});
    for (std::size_t at = 0; at < from.size(); ++at) CHECK(to[at] == 2 * from[at]);
}
TEST_CASE("lanes past an end are computed with those before it where they have room, and nowhere else") {
    constexpr int rows = 9, columns = 20, depth = 12;
    axis const i{"m", rows}, j{"n", columns}, l{"k", depth};
    tensor<std::int32_t> const a{"a"}, b{"b"}, c{"c"};
    auto const product = c(i, j) += a(i, l) * b(l, j);
    // Tiles of 3 x 8 sums: of the last one, four columns are there.
    auto const tiled = [&] {
        schedule s(product, host);
        s.split(i, mo, mi, 3).split(j, no, nl, 8).reorder(no, mo, l, mi, nl).unroll(mi).vectorize(nl);
        return s.cache_write(c, vectors).at(mo);
    };
    schedule panels = tiled(), in_steps = tiled(), whole_rows = tiled(), in_place = tiled(), in_memory(product, host);
    panels.cache_read(b, l2).layout([](auto of_depth, auto column) { return index_map(column / 8, of_depth, column % 8); });
    // The last two of twelve steps are written out apart.
    axis const steps{"steps"}, step{"step"};
    in_steps.split(l, steps, step, 5).reorder(no, mo, steps, step, mi, nl).unroll(step);
    in_steps.cache_read(b, l2).layout([](auto of_depth, auto column) { return index_map(column / 8, of_depth, column % 8); });
    whole_rows.cache_read(b, l2);
    in_memory.split(j, no, nl, 8).reorder(i, l, no, nl).vectorize(nl).cache_read(b, l2).layout([](auto of_depth, auto column) {
        return index_map(column / 8, of_depth, column % 8);
    });
    in_memory.cache_write(c, l2).at(i);
    for (auto const& [s, fills] :
         {std::pair{&panels, true}, {&in_steps, true}, {&whole_rows, false}, {&in_place, false}, {&in_memory, false}}) {
        auto const plan = std::make_unique<plan_value>(make_plan(*s));
        REQUIRE(!plan->refusal);
        std::istringstream lines(halide::jit_kernel(*plan, std::vector<void*>(1)).statement());
        int fours = 0;
        for (std::string line; std::getline(lines, line);) fours += line.find("*x4(") != std::string::npos;
        CHECK((fours == 0) == fills);
        std::vector<std::int32_t> left(rows * depth), right(depth * columns), out(rows * columns, -1);
        reference::fill_between(left.data(), left.size(), 3, -1000, 1000);
        reference::fill_between(right.data(), right.size(), 4, -1000, 1000);
        run(*s, out, {rows, columns}, std::pair{&left, std::vector{rows, depth}}, std::pair{&right, std::vector{depth, columns}});
    }
}
TEST_CASE("the loops of a tile are written out in the order that holds the fewest registers") {
    axis const i{"m", 60}, j{"n", 64}, l{"k", 32};
    auto const matmul = C(i, j) += A(i, l) * B(l, j);
    auto const tiled = [&](int rows, int columns, bool rows_first, core const& on) {
        static machine where;
        where = host_of(on);
        schedule s(matmul, where);
        s.split(m, mo, mi, rows).split(n, no, ni, 8 * columns).split(ni, nv, nl, 8);
        rows_first ? s.reorder(mo, no, k, mi, nv, nl) : s.reorder(mo, no, k, nv, mi, nl);
        s.unroll(mi).unroll(nv).vectorize(nl).cache_write(C, vectors).at(no);
        return make_plan(s);
    };
    // 6 x 2 vectors are 12; two of B are kept over the rows, one of A is streamed: 15. The other way round it would be 12 + 6 + 1.
    for (bool rows_first : {true, false}) {
        plan_value const plan = tiled(6, 2, rows_first, fusing);
        REQUIRE(!plan.refusal);
        ir::body const& b = plan.bodies[0];
        CHECK(plan.variables[b.loops[1]].name == mi.name);
        CHECK(plan.peak(vectors) == 12 * 32);
    }
    CHECK(!tiled(4, 3, true, fusing).refusal);  // 12 + 3 + 1
    // A product in a register of its own is one more.
    for (auto const& [refused, need] : {std::pair{tiled(4, 3, true, plain), 17}, {tiled(7, 2, true, fusing), 14 + 2 + 1}}) {
        CHECK(refused.refusal.kind == verdict_kind::register_overflow);
        CHECK(refused.refusal.facts[0].value == need);
        CHECK(refused.refusal.facts[1].value == 16);
    }
}

TEST_CASE("a product with both operands packed gives the bits of plain loops, in either order of blocks and at every rest", "[long]") {
    auto const check = [](int rows, int columns, int depth, kernel::gemm_tile const& tile) {
        INFO(rows << " x " << columns << " x " << depth << (tile.rows_outside ? ", rows outside" : ""));
        kernel::gemm<float> const problem(kernel::gemm_shape{rows, columns, depth});
        auto const at = [](int row, int width, int column) { return static_cast<std::size_t>(row * width + column); };
        std::vector<float> a(at(rows, depth, 0)), b(at(depth, columns, 0)), c(at(rows, columns, 0), -1);
        reference::fill(a.data(), a.size(), 1), reference::fill(b.data(), b.size(), 2);
        run(kernel::tiled_gemm(problem, tile), c, {rows, columns}, std::pair{&a, std::vector{rows, depth}},
            std::pair{&b, std::vector{depth, columns}});
        int wrong = 0;
        for (int y = 0; y < rows; ++y) {
            for (int x = 0; x < columns; ++x) {
                float sum = 0;
                for (int z = 0; z < depth; ++z) sum = std::fma(a[at(y, depth, z)], b[at(z, columns, x)], sum);
                wrong += c[at(y, columns, x)] != sum;
            }
        }
        CHECK(wrong == 0);
    };
    for (bool outside : {false, true}) {
        for (bool ahead : {false, true}) {
            check(13, 40, 21, {6, 2, 12, 16, 8, true, false, 1, 4, true, outside, ahead});
            check(12, 32, 16, {6, 2, 12, 16, 16, true, false, 1, 8, true, outside, ahead});
        }
        check(7, 21, 30, {4, 3, 8, 48, 8, true, true, 1, 8, true, outside, true});
        check(9, 64, 5, {4, 2, 4, 32, 8, true, false, 2, 4, true, outside, true});
        check(5, 19, 9, {4, 2, 4, 16, 4, false, true, 1, 4, true, outside});
    }
}
namespace {

/// A product of bytes on this processor is that of plain loops. @tparam BFirst  the kernel takes the right operand in front of the left one
template <bool BFirst, class Left>
void check_bytes(auto const& scheduled, std::vector<Left> a, std::vector<std::int8_t> b, int rows, int columns, int depth) {
    INFO(rows << " x " << columns << " x " << depth);
    auto const at = [](int row, int width, int column) { return static_cast<std::size_t>(row * width + column); };
    std::vector<std::int32_t> c(at(rows, columns, 0), -1);
    std::pair const left{&a, std::vector{rows, depth}};
    std::pair const right{&b, std::vector{depth, columns}};
    if constexpr (BFirst) run(scheduled, c, {rows, columns}, right, left);
    else run(scheduled, c, {rows, columns}, left, right);
    int wrong = 0;
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns; ++x) {
            int sum = 0;
            for (int z = 0; z < depth; ++z) sum += a[at(y, depth, z)] * b[at(z, columns, x)];
            wrong += c[at(y, columns, x)] != sum;
        }
    }
    CHECK(wrong == 0);
}
/// Many are as large as can be: two products of them leave 16 bits.
template <class Left>
std::vector<Left> left_bytes(int rows, int depth) {
    std::vector<Left> a(static_cast<std::size_t>(rows * depth));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<Left>(i % 3 == 0 ? 0x80 : i % 3 == 1 ? 0xff : i * 7);
    return a;
}
std::vector<std::int8_t> right_bytes(int depth, int columns, int least, int most) {
    std::vector<std::int8_t> b(static_cast<std::size_t>(depth * columns));
    for (std::size_t i = 0; i < b.size(); ++i)
        b[i] = static_cast<std::int8_t>(i % 4 == 0   ? least
                                        : i % 4 == 1 ? most
                                                     : std::clamp(static_cast<int>(i * 5 % 256) - 128, least, most));
    return b;
}

}  // namespace

TEST_CASE("products of bytes are exact, at extremes and at every rest of pairs, rows and columns", "[long]") {
    auto const check = []<class Left>(Left, int rows, int columns, int depth, kernel::gemm_bytes_tile const& tile) {
        kernel::gemm_bytes<Left, std::int8_t> const problem(kernel::gemm_shape{rows, columns, depth});
        check_bytes<false>(kernel::tiled_gemm(problem, tile), left_bytes<Left>(rows, depth), right_bytes(depth, columns, -128, 127), rows,
                           columns, depth);
    };
    for (int depth : {1, 2, 3, 21, 64}) check(std::uint8_t(), 7, 20, depth, {4, 2, 8, 16, 16});
    for (int columns : {1, 8, 15, 33}) check(std::int8_t(), 13, columns, 30, {6, 2, 12, 32, 12, true, 3});
    check(std::uint8_t(), 1, 100, 50, {1, 4, 1, 64, 16});
}
TEST_CASE("products with a right operand of 7 bits are exact, at extremes and at every rest of four, rows and columns", "[long]") {
    auto const check = [](int rows, int columns, int depth, kernel::gemm_bytes_tile const& tile) {
        kernel::gemm_reduced_bytes const problem(kernel::gemm_shape{rows, columns, depth});
        schedule const scheduled = kernel::tiled_gemm(problem, tile);
        std::vector<std::uint8_t> const largest(static_cast<std::size_t>(rows * depth), 255);
        check_bytes<true>(scheduled, left_bytes<std::uint8_t>(rows, depth), right_bytes(depth, columns, -64, 64), rows, columns, depth);
        for (int all : {-64, 64}) check_bytes<true>(scheduled, largest, right_bytes(depth, columns, all, all), rows, columns, depth);
    };
    for (int depth : {1, 2, 3, 4, 21, 64}) check(7, 20, depth, {4, 2, 8, 16, 16});
    for (int columns : {1, 8, 15, 33}) check(13, columns, 30, {4, 2, 12, 32, 12, true, 3});
    // 6 x 2 sums, a value of A, two vectors of B, the product and the ones.
    kernel::gemm_reduced_bytes const problem(kernel::gemm_shape{48, 64, 64});
    plan_value const refused = make_plan(kernel::tiled_gemm(problem, {6, 2, 48, 64, 64}));
    CHECK(refused.refusal.kind == verdict_kind::register_overflow);
    CHECK(refused.refusal.facts[0].value == 17);
}
TEST_CASE("sums of products of bytes are formed in vectors, whatever is left of depth, rows and columns") {
    auto const check = [](schedule const& of, std::string const& instruction) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        std::istringstream lines(halide::jit_kernel(*plan, std::vector<void*>(1)).statement());
        int in_lanes = 0, alone = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line.find("_C.vectors[") == std::string::npos && line.find("_C.ymm[") == std::string::npos) continue;
            in_lanes += line.find(instruction) != std::string::npos;
            alone += line.find("*int32(") != std::string::npos;
        }
        CHECK(in_lanes > 0);
        CHECK(alone == 0);
    };
    for (int depth : {3, 4, 64, 66, 67, 68, 69, 72, 77}) {
        for (auto const& [rows, columns] : {std::pair{7, 20}, {12, 49}, {4, 16}}) {
            INFO(rows << " x " << columns << " x " << depth);
            kernel::gemm_shape const of{rows, columns, depth};
            // Blocks of the depth: all of it, and some.
            for (int block : {80, 32}) {
                check(kernel::tiled_gemm(kernel::gemm_bytes<std::uint8_t, std::int8_t>(of), {6, 2, 12, 32, block}), "int16x16");
                check(kernel::tiled_gemm(kernel::gemm_reduced_bytes(of), {4, 2, 8, 32, block}), "int16x32");
            }
        }
    }
}
TEST_CASE("tiles to try for products of bytes are all planned, and the one of least cost is exact") {
    targets::avx2::cycles const cost;
    for (auto const& [rows, columns, depth] : {std::tuple{64, 72, 96}, {1, 100, 50}, {5, 49, 30}, {270, 24, 1027}}) {
        kernel::gemm_shape const of{rows, columns, depth};
        kernel::gemm_bytes<std::uint8_t, std::int8_t> const wide(of);
        kernel::gemm_reduced_bytes const reduced(of);
        auto const of_wide = [&](kernel::gemm_bytes_tile const& tile) { return kernel::tiled_gemm(wide, tile); };
        auto const of_reduced = [&](kernel::gemm_bytes_tile const& tile) { return kernel::tiled_gemm(reduced, tile); };
        for (kernel::gemm_bytes_tile const& tile : kernel::bytes_tiles_for(of, 2)) CHECK(!make_plan(of_wide(tile)).refusal);
        for (kernel::gemm_bytes_tile const& tile : kernel::bytes_tiles_for(of, 4)) CHECK(!make_plan(of_reduced(tile)).refusal);
        check_bytes<false>(of_wide(best_tile(kernel::bytes_tiles_for(of, 2), of_wide, cost)), left_bytes<std::uint8_t>(rows, depth),
                           right_bytes(depth, columns, -128, 127), rows, columns, depth);
        check_bytes<true>(of_reduced(best_tile(kernel::bytes_tiles_for(of, 4), of_reduced, cost)), left_bytes<std::uint8_t>(rows, depth),
                          right_bytes(depth, columns, -64, 64), rows, columns, depth);
    }
}
TEST_CASE("four bytes in a lane whose products do not fit 16 bits are added up without saturation") {
    constexpr int rows = 5, columns = 16, depth = 24;
    axis const i{"m", rows}, j{"n", columns}, l{"k", depth}, terms{"terms"}, one{"one"};
    constexpr tensor<std::uint8_t> left{"A"};
    constexpr tensor<std::int8_t> right{"B"};
    constexpr tensor<std::int32_t> out{"C"};
    auto const product = out(i, j) += cast<std::int32_t>(left(i, l)) * cast<std::int32_t>(right(l, j));
    schedule s(product, host);
    s.split(n, nv, nl, 8).split(k, terms, one, 4).reorder(nv, m, terms, nl, one).vectorize(nl).vectorize(one);
    s.cache_read(right, l2).at(m).layout([](auto y, auto x) { return index_map(y / 4, x, y % 4); }).cache_write(out, vectors).at(m);
    check_bytes<false>(s, std::vector<std::uint8_t>(rows * depth, 255), right_bytes(depth, columns, -128, 127), rows, columns, depth);
    check_bytes<false>(s, left_bytes<std::uint8_t>(rows, depth), right_bytes(depth, columns, -128, -128), rows, columns, depth);
}
TEST_CASE("threads that share a loop have buffers of their own, and give the bits of one thread", "[long]") {
    for (int columns : {64, 96, 100}) {
        axis const i{"m", 33}, j{"n", columns}, l{"k", 20}, part{"part"}, inside{"inside"};
        auto const matmul = C(i, j) += A(i, l) * B(l, j);
        auto const tiled = [&](bool parallel) {
            schedule s(matmul, fused);
            s.split(n, part, inside, 24)
                .split(inside, no, ni, 8)
                .split(k, ko, ki, 8)
                .split(m, mo, mi, 4)
                .reorder(part, ko, no, mo, ki, mi, ni);
            if (parallel) s.parallel(part);
            s.unroll(mi).vectorize(ni).cache_read(B, l2).at(ko).cache_write(C, vectors).at(mo);
            return s;
        };
        plan_value const one = make_plan(tiled(false)), several = make_plan(tiled(true));
        INFO((several.refusal ? to_string(several.refusal) : std::string()));
        REQUIRE(!several.refusal);
        int const parts = (columns + 23) / 24;
        CHECK(one.peak(l2) == 8 * 24 * 4);
        CHECK(several.peak(l2) == parts * 8 * 24 * 4);
        std::size_t const width = static_cast<std::size_t>(columns);
        std::vector<float> a(33 * 20), b(20 * width), alone(33 * width, -1), together(33 * width, -2);
        reference::fill(a.data(), a.size(), 1), reference::fill(b.data(), b.size(), 2);
        run(tiled(false), alone, {33, columns}, std::pair{&a, std::vector{33, 20}}, std::pair{&b, std::vector{20, columns}});
        for (int again = 0; again < 20; ++again) {
            run(tiled(true), together, {33, columns}, std::pair{&a, std::vector{33, 20}}, std::pair{&b, std::vector{20, columns}});
            CHECK(alone == together);
        }
    }
}
TEST_CASE("on an emulated machine registers are a memory, the core copies by its transfers, and threads take turns") {
    axis const i{"m", 21}, j{"n", 40}, l{"k", 10}, part{"part"}, inside{"inside"};
    auto const matmul = C(i, j) += A(i, l) * B(l, j);
    schedule s(matmul, host);
    s.split(n, part, inside, 16).split(inside, no, ni, 8).split(k, ko, ki, 4).split(m, mo, mi, 4).reorder(part, ko, no, mo, ki, mi, ni);
    s.parallel(part).unroll(mi).vectorize(ni).cache_read(B, l2).at(ko).layout([](auto y, auto x) { return index_map(x / 8, y, x % 8); });
    s.cache_write(C, vectors).at(mo).prefetch(1);
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    emulator on(host, {});
    kernels::check_kernel(*plan, on);
}
