#include <tilewright/plan/planner.hpp>

#include "c_source/compiled.hpp"
#include "fuzz/drawing.hpp"
#include "kernels/accelerator.hpp"

// Loads, instructions and stores that run aside of the core: waits, marks, tokens and the way out of an error in C source. Sizes, tiles,
// levels and versions are drawn.

using namespace tilewright;
using namespace accelerators;

namespace {

constexpr array_shape small{4, 4, 4};
constexpr machine by_tokens = accelerator(ordered::by_tokens, 16, true, small),
                  own_tokens = accelerator(ordered::by_more_tokens, 3, true, small),
                  one_way = accelerator(ordered::by_tokens_one_way, 4, true, small),
                  counted = accelerator(ordered::by_core, 5, true, small),
                  interlocked = accelerator(ordered::by_interlocks, 2, true, small),
                  filled_tokens = accelerator(ordered::by_tokens, 4, false, small);

struct subject {
    machine const* where;
    semantics_table const* semantics;
};
constexpr subject subjects[] = {{&by_tokens, &semantics_of<by_tokens>},     {&own_tokens, &semantics_of<own_tokens>},
                                {&one_way, &semantics_of<one_way>},         {&counted, &semantics_of<counted>},
                                {&interlocked, &semantics_of<interlocked>}, {&filled_tokens, &semantics_of<filled_tokens>}};

constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};

}  // namespace

TEST_CASE("drawn multiplications by an instruction that runs aside of the core, in C") {
    std::map<machine const*, int> run;
    std::uint32_t seed = 1;
    for (int count = 0; count < 12;) {
        drawing draw(seed++);
        subject const& on_what = draw.any_of(subjects);
        machine const& where = *on_what.where;
        axis const m{"m", draw.between(1, 60)}, n{"n", draw.between(1, 30)}, k{"k", 4 * draw.between(1, 8)};
        bool const continued = draw.below(3) == 0;
        auto const product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        auto const from_zero = C(m, n) += product;
        auto const more = C(m, n) = C(m, n) + sum(k, product);
        schedule made(continued ? more.view() : from_zero.view(), where);
        made.tile(m, n, mo, no, mi, ni, 4 * draw.between(1, 4), 4 * draw.between(1, 3)).split(k, ko, ki, 4 * draw.between(1, 3));
        made.reorder(mo, no, ko, mi, ni, ki);
        axis const* const levels[] = {&mo, &no, &ko};
        auto const stage_in = [&](bool writes, any_tensor const& what, memory const& in, int deepest) {
            axis const& level = *levels[draw.below(deepest)];
            (writes ? made.cache_write(what, in) : made.cache_read(what, in)).at(level);
            if (int const versions = draw.between(1, 4); versions > 1) made.buffers(versions);
        };
        stage_in(false, A, inputs, 3);
        stage_in(false, B, weights, 3);
        stage_in(true, C, sums, 2);
        made.tensorize(mi, ni, ki, where.intrinsics[0]);
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        if (plan->refusal) continue;
        INFO("seed " << seed - 1);
        emulator on(where, *on_what.semantics);
        c_kernels::check_c_source(made, *plan, *plan, on);
        ++run[&where], ++count;
    }
    CHECK(run.size() >= 5);
}
