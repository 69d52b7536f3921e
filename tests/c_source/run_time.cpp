#include <tilewright/plan/planner.hpp>

#include "c_source/compiled.hpp"
#include "fuzz/drawing.hpp"

// Partial tiles and extents that are left to run time, in C source: one source, called with arguments of many shapes.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, l1{.name = "l1", .base = 0x1000'0000, .capacity = 64_KiB, .alignment = 16};
constexpr engine loader{"loader"}, storer{.name = "storer", .completes = completion::by_channel};
constexpr transfer_cost cost{.latency = 30, .bytes_per_cycle = 8};
constexpr auto in_l1 = transfer("in_l1", dram, l1).on(loader).asynchronous().dimensions(2).cost(cost);
constexpr auto out_l1 = transfer("out_l1", l1, dram).on(storer).asynchronous().dimensions(2).cost(cost);
constexpr auto dsp = machine("dsp", dram, l1, loader, storer, in_l1, out_l1);

constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, f{"f"}, fo{"fo"}, fi{"fi"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};
constexpr tensor<float> P{"P"}, Q{"Q"};

}  // namespace

TEST_CASE("drawn products with partial tiles and open extents, in C", "[long]") {
    std::uint32_t seed = 1;
    int open_ones = 0;
    for (int count = 0; count < 8;) {
        drawing draw(seed++);
        axis const m = draw.extent("m", 40), n = draw.extent("n", 40), k = draw.extent("k", 30);
        auto const product = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        schedule made(product, dsp);
        made.tile(m, n, mo, no, mi, ni, draw.between(1, 12), 1 << draw.below(5)).split(k, ko, ki, draw.between(1, 9));
        made.reorder(mo, no, ko, mi, ki, ni).vectorize(ni);
        made.cache_read(A, l1).at(ko).buffers(draw.between(1, 3));
        if (draw.below(2) == 0) made.cache_read(B, l1).at(ko).buffers(draw.between(1, 3));
        if (draw.below(2) == 0) made.cache_write(C, l1).at(no).buffers(draw.between(1, 3));
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        INFO("seed " << seed - 1 << "\n" << draw.text());
        if (plan->refusal) continue;
        emulator on(dsp, semantics_of<dsp>);
        for (int shapes = 0; shapes < (plan->run_time_extents > 0 ? 3 : 1); ++shapes) {
            std::vector<axis_extent> extents;
            for (axis const* one : {&m, &n, &k}) {
                for (int at = 0; at < plan->run_time_extents; ++at) {
                    if (plan->variables[at].name == one->name) extents.push_back({*one, draw.between(1, draw.most(one->name))});
                }
            }
            auto const at = std::make_unique<plan_value>(extents.empty() ? *plan : plan->at(extents));
            c_kernels::check_c_source(made, *plan, *at, on);
        }
        open_ones += plan->run_time_extents > 0;
        ++count;
    }
    CHECK(open_ones >= 4);
}
TEST_CASE("borders in the whole tiles of an open axis and in its last one, in C") {
    axis const m{"m", dynamic.up_to(4)}, h{"h", 8}, c{"c", dynamic.up_to(17)}, co{"co"}, ci{"ci"}, one{"one", 1}, seven{"seven", 7};
    tensor<std::int64_t> const in{"in"};
    tensor<std::uint64_t> const out{"out"};
    emulator on(dsp, semantics_of<dsp>);
    for (int border : {0, 6}) {
        auto const work = out(m, h, c) = cast<std::uint64_t>(padded(in(one, seven, one), border)(0, h, m));
        auto const summed = out(m, h, c) += cast<std::uint64_t>(padded(in(one, seven, one), border)(0, h, m));
        for (auto const& made :
             {schedule(work, dsp).split(m, mo, mi, 1).split(c, co, ci, 2), schedule(work, dsp).split(c, co, ci, 12).unroll(ci),
              schedule(summed, dsp).split(m, mo, mi, 3).split(c, co, ci, 2)}) {
            auto const plan = std::make_unique<plan_value>(make_plan(made));
            INFO(to_string(plan->refusal));
            REQUIRE(!plan->refusal);
            for (int extent : {1, 3, 4}) {
                auto const at = std::make_unique<plan_value>(plan->at({{m, extent}, {c, 4 * extent + 1}}));
                c_kernels::check_c_source(made, *plan, *at, on);
            }
        }
    }
}
TEST_CASE("a fused loop that ends inside a tile, and lanes behind the end, in C") {
    axis const m{"m", 13}, n{"n", 11};
    auto const pointwise = Q(m, n) = P(m, n) * 3.0f - cast<float>(cast<std::int32_t>(m) - cast<std::int32_t>(n));
    schedule made(pointwise, dsp);
    made.fuse(m, n, f).split(f, fo, fi, 16).vectorize(fi, 8);
    auto const plan = std::make_unique<plan_value>(make_plan(made));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    emulator on(dsp, semantics_of<dsp>);
    c_kernels::check_c_source(made, *plan, *plan, on);
}
