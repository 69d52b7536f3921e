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

TEST_CASE("C source gives every token back when a push or a pop fails, and runs again") {
    axis const m{"m", 40}, n{"n", 20}, k{"k", 16};
    auto const product = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    schedule made(product, own_tokens);
    made.tile(m, n, mo, no, mi, ni, 8, 8).split(k, ko, ki, 4).reorder(mo, no, ko, mi, ni, ki);
    made.cache_read(A, inputs).at(mo).buffers(2).cache_read(B, weights).at(ko).buffers(3);
    made.cache_write(C, sums).at(no).buffers(2).tensorize(mi, ni, ki, own_tokens.intrinsics[0]);
    auto const plan = std::make_unique<plan_value>(make_plan(made));
    REQUIRE(!plan->refusal);
    emulator on(own_tokens, semantics_of<own_tokens>);
    c_kernels::c_kernel const kernel(made, *plan, on, c_kernels::compilers[0]);
    kernels::operand_data const data = kernels::random_operands(*plan, 5);
    Halide::Buffer<> wanted = data.output.copy(), result = data.output.copy();
    REQUIRE(kernel.run(*plan, data, wanted, {}) == 0);
    for (int failing = 1; failing < 60; ++failing) {
        INFO("push or pop " << failing);
        on.reset();
        on.fail_token(failing, 77);
        CHECK(kernel.run(*plan, data, result, {}) == 77);
        CHECK(on.in_flight() == 0);
        for (int at = 0; at < own_tokens.tokens.size(); ++at) {
            for (int queue = 0; queue < own_tokens.tokens[at].queue_count; ++queue) CHECK(on.pop(at, queue) == emulation_no_token);
        }
    }
    CHECK(kernel.run(*plan, data, result, {}) == 0);
    CHECK(kernels::same_bits(result, wanted));
}
TEST_CASE("drawn multiplications by an instruction that runs aside of the core, in C", "[long]") {
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
