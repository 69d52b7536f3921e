#include <tilewright/plan/check/stale_settings.hpp>

#include "plan/small_kernels.hpp"

// Whether every call finds its configurations set to what it needs, on every path.

using namespace small_kernels;
using tilewright::detail::find_stale_setting;

namespace {

constexpr configuration mode{"mode"};
constexpr auto load = transfer("load", dram, spad).uses(mode, argument::literal(3));
constexpr auto store = transfer("store", spad, dram).uses(mode, argument::literal(4));
constexpr auto where = machine("where", dram, spad, mode, load, store);

/// Movements: load 0, store 1. Settings: that of the load 0, of the store 1.
struct calls {
    plan_value plan = empty_plan(where, copy.view());
    variable_id o = add_loop(plan, "o", 5);
    calls() {
        plan.buffers.push({.type = scalar_type::int32});
        for (std::int16_t at : {std::int16_t{0}, std::int16_t{1}}) {
            plan.movements.push({.transfer = at, .source = 0_buffer, .destination = 0_buffer});
            setting made{.configuration = 0};
            made.values[0].number = 3 + at;
            plan.settings.push(made);
        }
    }
    /// The step that finds something else; -1: none does.
    int stale_in(std::initializer_list<step> steps) {
        plan.steps = {};
        add_steps(plan, steps);
        return find_stale_setting(plan).step;
    }
};
constexpr step load_it{step_kind::start, 0}, store_it{step_kind::start, 1}, set_load{step_kind::configure, 0},
    set_store{step_kind::configure, 1};

}  // namespace

TEST_CASE("a call needs its setting, and nothing else in between") {
    calls t;
    CHECK(t.stale_in({set_load, load_it, load_it, set_store, store_it}) == -1);
    CHECK(t.stale_in({load_it}) == 0);
    CHECK(t.stale_in({set_store, load_it}) == 1);
    CHECK(t.stale_in({set_load, load_it, store_it}) == 2);
}
TEST_CASE("what a loop changes is lost for its next iteration, and behind it, for it may not run") {
    calls t;
    step const begin{step_kind::loop, t.o}, end{step_kind::end, t.o};
    CHECK(t.stale_in({set_load, begin, load_it, end, load_it}) == -1);
    CHECK(t.stale_in({set_load, begin, load_it, set_store, store_it, end}) == 2);
    CHECK(t.stale_in({set_load, begin, load_it, set_store, store_it, set_load, end, load_it}) == -1);
    CHECK(t.stale_in({set_load, begin, set_store, store_it, end, store_it}) == 5);
    CHECK(t.stale_in({set_load, begin, set_load, load_it, set_store, store_it, end}) == -1);
}
TEST_CASE("a call that sets its own needs nothing, and of what it leaves nobody knows") {
    calls t;
    t.plan.movements[0].sets = 1;
    CHECK(t.stale_in({load_it}) == -1);
    CHECK(t.stale_in({set_store, load_it, store_it}) == 2);
}
TEST_CASE("a value that varies has to be set by the call itself") {
    static constexpr auto by_bytes = transfer("by_bytes", dram, spad).uses(mode, argument::bytes);
    static constexpr auto varying = machine("varying", dram, spad, mode, by_bytes);
    calls t;
    t.plan.where = &varying;
    t.plan.movements[0].bytes = 3;
    CHECK(t.stale_in({set_load, load_it}) == -1);
    t.plan.clips.push({keep(t.plan, 0), 1, -1, clip_kind::end});
    t.plan.movements[0].clip_count = 1;
    CHECK(t.stale_in({set_load, load_it}) == 1);
    t.plan.movements[0].sets = 1;
    CHECK(t.stale_in({load_it}) == -1);
}
