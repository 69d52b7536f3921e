#include "catch.hpp"
#include "kernels/schedules.hpp"

// Boxes, offsets, lifetimes, traffic and cycles of plans, worked out by hand.

using namespace kernels;
using namespace tilewright::ir;

namespace {

constexpr buffer const& find(plan_value const& of, label const& name) {
    int at = 0;
    while (of.buffers[static_cast<std::size_t>(at)].name != name) ++at;
    return of.buffers[static_cast<std::size_t>(at)];
}
template <class... Extents>
constexpr bool has_box(plan_value const& of, label const& name, Extents... extents) {
    buffer const& b = find(of, name);
    fixed_array<std::int64_t, max_rank> const wanted{extents...};
    return b.rank == sizeof...(extents) && b.extents == wanted;
}

// matmul in tiles of 8 x 8 x 12
static_assert(has_box(plan<matmul_nn_on_dsp>, "A.l1", 8, 12));
static_assert(has_box(plan<matmul_nn_on_dsp>, "B.l1", 12, 8));
static_assert(has_box(plan<matmul_nn_on_dsp>, "C.l1", 8, 8));
static_assert(find(plan<matmul_nn_on_dsp>, "C.l1").bytes == 8 * 8 * 4);

// B whole in l2: it has no loop; A's block of rows at mo; tiles of both in l1
static_assert(has_box(plan<matmul_nt_on_dsp>, "A.l2", 12, 36));
static_assert(has_box(plan<matmul_nt_on_dsp>, "B.l2", 40, 36));
static_assert(has_box(plan<matmul_nt_on_dsp>, "A.l1", 12, 9));
static_assert(has_box(plan<matmul_nt_on_dsp>, "B.l1", 20, 9));
static_assert(has_box(plan<matmul_nt_on_dsp>, "C.l2", 12, 40));
static_assert(has_box(plan<matmul_nt_on_dsp>, "C.l1", 12, 20));

// 16 outputs and 7 taps touch 16 + 7 - 1 inputs
static_assert(has_box(plan<conv1d_on_dsp>, "in.l1", 22));
static_assert(has_box(plan<conv1d_on_dsp>, "weights.l1", 7));
static_assert(has_box(plan<conv1d_on_dsp>, "in", 102));

// 2 x 4 outputs with stride 2 and three taps at dilation 2: 2 * (2 - 1) + 2 * (3 - 1) + 1 = 7 rows, 2 * (4 - 1) + 4 + 1 = 11 columns
static_assert(has_box(plan<conv2d_on_dsp>, "image.l1", 7, 11, 8));
static_assert(has_box(plan<conv2d_on_dsp>, "filters.l1", 3, 3, 8, 8));
static_assert(has_box(plan<conv2d_on_dsp>, "features.l1", 2, 4, 8));
// the whole image: 2 * 7 + 2 * 2 + 1 by 2 * 11 + 2 * 2 + 1
static_assert(has_box(plan<conv2d_on_dsp>, "image", 19, 27, 8));

// 6 rows of the result need 8 rows of the first stage, and those 2 more columns of the picture
static_assert(has_box(plan<blur_on_dsp>, "blur_x.l1", 8, 16));
static_assert(has_box(plan<blur_on_dsp>, "picture.l1", 8, 18));
static_assert(has_box(plan<blur_on_dsp>, "blur_y.l1", 6, 16));
static_assert(has_box(plan<blur_on_dsp>, "picture", 26, 34));

// a reduction staged in parts, and dimensions that a loop pins to one element
static_assert(has_box(plan<row_max_on_dsp>, "table.l1", 10, 25));
static_assert(has_box(plan<row_max_on_dsp>, "highest.l1", 10));
static_assert(has_box(plan<contraction_on_dsp>, "left.l1", 2, 5, 1, 8));
static_assert(has_box(plan<contraction_on_dsp>, "right.l1", 4, 10, 1));
static_assert(has_box(plan<contraction_on_dsp>, "contracted.l1", 2, 1, 10));

// One stage after the other: the picture in l1 is dead when the result's buffer is born, so both are at offset 0.
constexpr auto const& in_turn = plan<blur_in_turn>;
static_assert(find(in_turn, "picture.l1").bytes == 26 * 34 * 4 && find(in_turn, "blur_y.l1").bytes == 24 * 32 * 4);
static_assert(in_turn.peak(l1) == 26 * 34 * 4);
static_assert(find(in_turn, "picture.l1").dead <= find(in_turn, "blur_y.l1").born);

// Traffic: 3 x 5 tiles of C, 3 steps of k each. A moves 8 x 12 bytes and B 12 x 8 at each step, C 8 x 8 x 4 at each tile.
static_assert(plan<matmul_nn_on_dsp>.calls(dram_l1) == 3 * 5 * 3 * 2);
static_assert(plan<matmul_nn_on_dsp>.bytes(dram_l1) == 3 * 5 * 3 * (8 * 12 + 12 * 8));
static_assert(plan<matmul_nn_on_dsp>.calls(l1_dram) == 3 * 5);
static_assert(plan<matmul_nn_on_dsp>.bytes(l1_dram) == 24 * 40 * 4);

// Cycles: a load of 96 bytes takes 48 + 96 / 8, a store of 256 takes 48 + 256 / 8. Each of the 24 * 40 * 36 steps loads three values (2
// each), converts two (1), multiplies (3), adds (1) and stores (2); the identity is stored 24 * 40 times (2).
static_assert(plan<matmul_nn_on_dsp>.cycles() ==
              3 * 5 * 3 * 2 * (48 + 12) + 3 * 5 * (48 + 32) + 24 * 40 * 36 * (3 * 2 + 2 + 3 + 1 + 2) + 24 * 40 * 2);

}  // namespace

TEST_CASE("plans at run time are those of the compiler") {
    plan_value const again = make_plan(matmul_nt_on_dsp);
    CHECK(again.total_cycles == plan<matmul_nt_on_dsp>.total_cycles);
    CHECK(again.steps.size() == plan<matmul_nt_on_dsp>.steps.size());
    CHECK(again.peak(l1) == plan<matmul_nt_on_dsp>.peak(l1));
    for (int at = 0; at < again.buffers.size(); ++at) {
        auto const position = static_cast<std::size_t>(at);
        CHECK(again.buffers[position].offset == plan<matmul_nt_on_dsp>.buffers[position].offset);
    }
}

TEST_CASE("buffers that live at one time never share bytes") {
    for (plan_value const* of :
         std::initializer_list<plan_value const*>{&plan<matmul_nn_on_dsp>, &plan<matmul_nt_on_dsp>, &plan<conv2d_on_dsp>,
                                                  &plan<blur_on_dsp>, &plan<blur_in_turn>, &plan<contraction_on_dsp>}) {
        for (int at = 0; at < of->buffers.size(); ++at) {
            buffer const& a = of->buffers[static_cast<std::size_t>(at)];
            if (a.kind == buffer_kind::argument) continue;
            CHECK(a.offset % of->where->memories[a.memory].alignment == 0);
            CHECK(a.offset + a.bytes <= of->where->memories[a.memory].capacity);
            for (int other = 0; other < at; ++other) {
                buffer const& b = of->buffers[static_cast<std::size_t>(other)];
                if (b.kind == buffer_kind::argument || b.memory != a.memory) continue;
                bool const at_one_time = a.born < b.dead && b.born < a.dead;
                bool const apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
                CHECK((apart || !at_one_time));
            }
        }
    }
}

TEST_CASE("a tile of outputs with gaps is not stored, for the gaps hold what other iterations computed") {
    // At ei, one iteration computes 5 elements that are 24 apart: the box of 97 is mostly gaps.
    auto const strided = schedule(select_difference, dsp).split(e, eo, ei, 24).reorder(ei, eo).cache_write(selected, l1).at(ei);
    verdict const refusal = make_plan(strided).refusal;
    CHECK(refusal.kind == verdict_kind::loop_order);
    CHECK(refusal.broken == rule::gaps_between_outputs);
    CHECK(refusal.facts[0].value == 5);
    CHECK(refusal.facts[1].value == 97);
    // Staging the input of the same loops is no harm.
    CHECK(!make_plan(schedule(select_difference, dsp).split(e, eo, ei, 24).reorder(ei, eo).cache_read(p, l1).at(ei)).refusal);
}
