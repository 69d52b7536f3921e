#include <map>
#include <memory>
#include <tilewright/plan/planner.hpp>
#include <tilewright/report/text.hpp>

#include "catch.hpp"
#include "fuzz/drawing.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/run_kernel.hpp"

// Matrix multiplications by an instruction that runs aside of the core, of sizes, tiles, levels and versions drawn at random, on machines
// that order their engines in different ways. What the planner takes runs bit-equal to the algorithm without the plan in every order in
// which engines can get on, at the predicted cost, every access checked. A failure prints what was drawn as C++.

using namespace tilewright;
using namespace accelerators;

namespace {

constexpr array_shape small{4, 4, 4};
constexpr machine tokens_deep = accelerator(ordered::by_tokens, 16, true, small),
                  tokens_flat = accelerator(ordered::by_tokens, 1, true, small),
                  own_tokens = accelerator(ordered::by_more_tokens, 3, true, small),
                  one_way = accelerator(ordered::by_tokens_one_way, 4, true, small),
                  counted = accelerator(ordered::by_core, 5, true, small),
                  interlocked = accelerator(ordered::by_interlocks, 2, true, small),
                  filled_tokens = accelerator(ordered::by_tokens, 4, false, small),
                  filled_counts = accelerator(ordered::by_core, 2, false, small),
                  filled_interlocks = accelerator(ordered::by_interlocks, 7, false, small);

struct subject {
    machine const* where;
    semantics_table const* semantics;
    char const* text;
};
constexpr subject subjects[] = {{&tokens_deep, &semantics_of<tokens_deep>, "ordered::by_tokens, 16"},
                                {&tokens_flat, &semantics_of<tokens_flat>, "ordered::by_tokens, 1"},
                                {&own_tokens, &semantics_of<own_tokens>, "ordered::by_more_tokens, 3"},
                                {&one_way, &semantics_of<one_way>, "ordered::by_tokens_one_way, 4"},
                                {&counted, &semantics_of<counted>, "ordered::by_core, 5"},
                                {&interlocked, &semantics_of<interlocked>, "ordered::by_interlocks, 2"},
                                {&filled_tokens, &semantics_of<filled_tokens>, "ordered::by_tokens, 4, false"},
                                {&filled_counts, &semantics_of<filled_counts>, "ordered::by_core, 2, false"},
                                {&filled_interlocks, &semantics_of<filled_interlocks>, "ordered::by_interlocks, 7, false"}};

constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"};

}  // namespace

TEST_CASE("random multiplications by an instruction that runs aside of the core") {
    std::map<std::string, int> refused;
    std::map<std::string, int> run;
    std::uint32_t seed = 1;
    for (int count = 0; count < 45;) {
        drawing draw(seed++);
        subject const& on_what = draw.any_of(subjects);
        machine const& where = *on_what.where;
        // A reduction of whole steps; the other axes end anywhere.
        axis const m{"m", draw.between(1, 130)}, n{"n", draw.between(1, 40)}, k{"k", 4 * draw.between(1, 14)};
        bool const continued = draw.below(3) == 0;
        auto const product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
        auto const from_zero = C(m, n) += product;
        auto const more = C(m, n) = C(m, n) + sum(k, product);
        draw.write("machine where = accelerator(" + std::string(on_what.text) + ", {4, 4, 4}); m " + std::to_string(m.extent) + ", n " +
                   std::to_string(n.extent) + ", k " + std::to_string(k.extent) + (continued ? ", C continues\n" : "\n"));
        schedule made(continued ? more.view() : from_zero.view(), where);
        int const rows = 4 * draw.between(1, 4), columns = 4 * draw.between(1, 3), depth = 4 * draw.between(1, 3);
        made.tile(m, n, mo, no, mi, ni, rows, columns).split(k, ko, ki, depth);
        bool const turned = draw.below(2) == 0;
        if (turned) made.reorder(no, mo, ko, mi, ni, ki);
        else made.reorder(mo, no, ko, mi, ni, ki);
        draw.write(".tile(m, n, mo, no, mi, ni, " + std::to_string(rows) + ", " + std::to_string(columns) + ").split(k, ko, ki, " +
                   std::to_string(depth) + ").reorder(" + (turned ? "no, mo" : "mo, no") + ", ko, mi, ni, ki)\n");
        axis const* const levels[] = {turned ? &no : &mo, turned ? &mo : &no, &ko};
        auto const stage_in = [&](bool writes, any_tensor const& what, memory const& in, int deepest) {
            axis const& level = *levels[draw.below(deepest)];
            int const versions = draw.between(1, 4);
            writes ? made.cache_write(what, in).at(level) : made.cache_read(what, in).at(level);
            draw.write(std::string(writes ? ".cache_write(" : ".cache_read(") + what.name.str() + ", " + in.name.str() + ").at(" +
                       level.name.str() + ")");
            if (versions > 1) made.buffers(versions), draw.write(".buffers(" + std::to_string(versions) + ")");
            if (!writes && draw.below(3) == 0) {
                int const ahead = draw.below(versions);
                made.prefetch(ahead), draw.write(".prefetch(" + std::to_string(ahead) + ")");
            }
            draw.write("\n");
        };
        stage_in(false, A, inputs, 3);
        stage_in(false, B, weights, 3);
        stage_in(true, C, sums, 2);
        made.tensorize(mi, ni, ki, where.intrinsics[0]);
        draw.write(".tensorize(mi, ni, ki, where.intrinsics[0])\n");
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        INFO("seed " << seed - 1 << ":\n" << draw.text());
        if (plan->refusal) {
            ++refused[name_of(plan->refusal.kind)];
            continue;
        }
        CHECK(ir::predict(*plan).cycles == ir::predict(*plan, ir::visiting::everything).cycles);
        CHECK(!detail::find_hazard(*plan, ir::visiting::everything));
        emulator on(where, *on_what.semantics);
        kernels::check_kernel(*plan, on);
        ++run[on_what.text], ++count;
    }
    CHECK(run.size() == std::size(subjects));
    // What a schedule of these parts can run into, and nothing else.
    for (auto const& [name, times] : refused) {
        INFO(name << ": " << times);
        CHECK((name == "memory_overflow" || name == "versions_without_use" || name == "partial_step"));
    }
}

TEST_CASE("random sums that an instruction finishes while the next are added up") {
    std::map<std::string, int> refused;
    std::map<std::string, int> run;
    int overlapping = 0;
    tensor<std::int32_t> const S{"S"}, D{"D"};
    for (std::uint32_t seed = 1, count = 0; count < 27; ++seed) {
        drawing draw(seed);
        subject const& on_what = subjects[static_cast<std::size_t>(count) % std::size(subjects)];
        machine const& where = *on_what.where;
        axis const m{"m", draw.between(1, 90)}, n{"n", draw.between(1, 40)}, k{"k", 4 * draw.between(1, 6)};
        auto const work = stages(S(m, n) = sum(k, cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n))), D(m, n) = max(S(m, n), 0));
        draw.write("machine where = accelerator(" + std::string(on_what.text) + ", {4, 4, 4}); m " + std::to_string(m.extent) + ", n " +
                   std::to_string(n.extent) + ", k " + std::to_string(k.extent) + "\n");
        int const rows = 4 * draw.between(1, 4), columns = 4 * draw.between(1, 3), depth = 4 * draw.between(1, 3);
        int const versions = draw.between(1, 4), stored = draw.between(1, 3);
        bool const outer = draw.below(4) == 0, loads_in_steps = draw.below(2) == 0;
        axis const& level = outer ? mo : no;
        schedule made(work, where);
        made.tile(m, n, mo, no, mi, ni, rows, columns)
            .tensorize(mi, ni, where.intrinsics.parts[static_cast<std::size_t>(where.intrinsics.find("relu"))]);
        made.cache_write(D, sums).at(no).buffers(stored).compute_at(S, level).stage(S).store_in(S, sums).buffers(versions);
        made.tile(m, n, mo, no, mi, ni, rows, columns).split(k, ko, ki, depth).reorder(mo, no, ko, mi, ni, ki);
        for (any_tensor const& what : {any_tensor(A), any_tensor(B)}) {
            made.cache_read(what, what.name == "A" ? inputs : weights);
            if (loads_in_steps) made.at(ko).buffers(2);
        }
        made.tensorize(mi, ni, ki, where.intrinsics[0]);
        draw.write(".tile(m, n, …, " + std::to_string(rows) + ", " + std::to_string(columns) + "), S at " + level.name.str() + " in " +
                   std::to_string(versions) + " versions, D in " + std::to_string(stored) + ", k by " + std::to_string(depth) +
                   (loads_in_steps ? ", loads in steps" : "") + "\n");
        auto const plan = std::make_unique<plan_value>(make_plan(made));
        INFO("seed " << seed << ":\n" << draw.text());
        if (plan->refusal) {
            ++refused[to_string(plan->refusal)];
            continue;
        }
        CHECK(ir::predict(*plan).cycles == ir::predict(*plan, ir::visiting::everything).cycles);
        CHECK(!detail::find_hazard(*plan, ir::visiting::everything));
        emulator on(where, *on_what.semantics);
        kernels::check_kernel(*plan, on);
        ++run[on_what.text], ++count, overlapping += versions > 1 ? 1 : 0;
    }
    for (auto const& [name, times] : refused) UNSCOPED_INFO(times << ": " << name);
    CHECK(run.size() == std::size(subjects));
    CHECK(overlapping > 12);
    CHECK(refused.empty());
}
