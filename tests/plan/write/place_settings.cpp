#include <tilewright/plan/write/place_settings.hpp>

#include <string>

#include "plan/small_kernels.hpp"

// Sets configurations where what they must be changes, as far out as that holds.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr configuration mode{"mode"};
constexpr auto load = transfer("load", dram, spad).uses(mode, argument::literal(3));
constexpr auto store = transfer("store", spad, dram).uses(mode, argument::literal(4));
constexpr auto plain = transfer("plain", dram, spad);
constexpr auto where = machine("where", dram, spad, mode, load, store, plain);

/// Movements: load 0, store 1, plain 2.
struct calls : blank {
    std::int16_t o = add_loop(p.plan, "o", 5);
    calls() : blank(where) {
        p.add(buffer{.type = scalar_type::int32});
        for (std::int16_t at : {std::int16_t{0}, std::int16_t{1}, std::int16_t{2}})
            p.add(movement{.transfer = at, .source = 0_buffer, .destination = 0_buffer, .bytes = 4});
    }
    /// The program with its settings: 3 and 4 are set, l and s load and store, p needs nothing; [ ] is a loop.
    std::string placed(std::string const& program) {
        for (char const c : program) {
            if (c == '[') p.add(step_kind::loop, o);
            else if (c == ']') p.add(step_kind::end, o);
            else p.add(step_kind::start, c == 'l' ? 0 : c == 's' ? 1 : 2);
        }
        place_settings(p);
        std::string text;
        for (int at = 0; at < p.plan.steps.size(); ++at) {
            step const& s = p.plan.steps[at];
            if (s.kind == step_kind::configure) text += static_cast<char>('0' + p.plan.settings[s.what].values[0].number);
            else text += s.kind == step_kind::loop ? '[' : s.kind == step_kind::end ? ']' : "lsp"[s.what];
        }
        return text;
    }
};
std::string placed(std::string const& program) { return calls().placed(program); }

}  // namespace

TEST_CASE("a setting stands where it changes, in front of what needs it") {
    CHECK(placed("lls") == "3ll4s");
    CHECK(placed("plpl") == "p3lpl");
    CHECK(placed("lsls") == "3l4s3l4s");
    CHECK(placed("ppp") == "ppp");
}
TEST_CASE("a loop that needs one setting has it in front, and one that has it already needs none") {
    CHECK(placed("[l]") == "3[l]");
    CHECK(placed("[p[l]]l") == "3[p[l]]l");
    CHECK(placed("s[l]s") == "4s3[l]4s");
}
TEST_CASE("a loop that changes its setting begins with it and ends with it, when that holds for all iterations") {
    CHECK(placed("[ls]") == "[3l4s]");
    CHECK(placed("[lsl]") == "3[l4s3l]");
    CHECK(placed("l[sl]l") == "3l[4s3l]l");
    CHECK(placed("[[l][s]]") == "[3[l]4[s]]");
    CHECK(placed("[ls]s") == "[3l4s]4s");  // it may not have run
}
TEST_CASE("a value that varies is set by each call itself, and what it leaves is not known") {
    calls t;
    static constexpr auto by_bytes = transfer("load", dram, spad).uses(mode, argument::bytes);
    static constexpr auto varying = machine("where", dram, spad, mode, by_bytes, store, plain);
    t.of = schedule(copy, varying);
    t.p.plan.where = &varying;
    t.p.plan.clips.push({keep(t.p.plan, 0), 1, -1, clip_kind::end});
    t.p.plan.movements[0].clip_count = 1;
    CHECK(t.placed("sls") == "4sl4s");
    CHECK(t.p.plan.movements[0].sets == 1);
    CHECK(t.p.plan.movements[1].sets == 0);
}
TEST_CASE("a program that has no room for a setting is refused") {
    calls t;
    while (t.p.plan.steps.size() < plan_value::most_steps - 1) t.p.add(step_kind::start, 2);
    t.placed("l");
    CHECK(t.p.first_verdict().names[0] == "steps");
}
