#include <fstream>
#include <tilewright/report/page.hpp>
#include <tilewright/report/step_directives.hpp>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"
#include "count_of.hpp"
#include "emulate/page.hpp"
#include "kernels/cores.hpp"
#include "report/drawn.hpp"

using namespace tilewright;
using namespace tilewright::reports;

namespace {

constexpr memory dram{.name = "dram"}, near_core{.name = "near_core", .base = 0x1000, .capacity = 4_KiB};
constexpr engine one_way{"one_way"};
constexpr auto fetch = transfer("fetch", dram, near_core).on(one_way).asynchronous().cost({.bytes_per_cycle = 4});
constexpr auto bring = transfer("bring", near_core, dram);
constexpr machine host("host", dram, near_core, one_way, fetch, bring);
constexpr axis x{"x", 64}, xo{"xo"}, xi{"xi"};
constexpr tensor<std::int32_t> in{"in"}, twice{"twice"}, out{"out"};

/// The directives of the lines of a schedule's program, with the kind of each line.
std::vector<std::pair<std::string, std::string>> directives_of(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    INFO(to_string(plan->refusal));
    REQUIRE(!plan->refusal);
    std::vector<std::string> const all = step_directives(of, *plan).of_lines();
    std::vector<std::pair<std::string, std::string>> found;
    auto const add = [&](auto const& self, std::vector<program_line> const& lines) -> void {
        for (program_line const& line : lines) {
            found.emplace_back(line.kind, all.at(found.size()));
            self(self, line.inside);
        }
    };
    add(add, lines_of(*plan));
    CHECK(found.size() == all.size());
    return found;
}

}  // namespace

TEST_CASE("each line of lesson 02 has the directive that asked for it") {
    CHECK(loop_program(lesson_matmul::matmul_on_npu, plan<lesson_matmul::matmul_on_npu>) == drawn(R"(
line   times   bytes  cycles
   1                          for mo in 0..8  [tile(m, n, mo, no, mi, ni, 64, 64)]
   2                            for no in 0..8  [tile(m, n, mo, no, mi, ni, 64, 64)]
   3                              for ko in 0..8  [split(k, ko, ki, 64)]
   4     512   4,096     320        mvin  A[64 mo, 64 ko] (64 x 64) -> A.spad  [cache_read(A, spad).at(ko).by(mvin)]
   5     512   4,096     320        mvin  B[64 ko, 64 no] (64 x 64) -> B.spad  [cache_read(B, spad).at(ko).by(mvin)]
   6                                for mi in 0..4  [tile(m, n, mo, no, mi, ni, 64, 64)]
   7                                  for ni in 0..4  [tile(m, n, mo, no, mi, ni, 64, 64)]
   8                                    for ki in 0..4  [split(k, ko, ki, 64)]
   9  32,768              16              mul16 if ko == 0 and ki == 0 else mac16 (A.spad[16 mi, 16 ki], B.spad[16 ki, 16 ni], C.acc[16 mi, 16 ni])  [tensorize(mi, ni, ki, mac16)]
  10      64  16,384   1,088      mvout  C.acc (64 x 64) -> C[64 mo, 64 no]  [cache_write(C, acc).at(no).by(mvout)]
)"));
}

TEST_CASE("a wait belongs to the buffer that it waits for, a loop that no directive made to none") {
    static constexpr auto copied = out(x) = in(x) + 1;
    using list = std::vector<std::pair<std::string, std::string>>;
    CHECK(directives_of(schedule(copied, host).split(x, xo, xi, 16).cache_read(in, near_core).at(xo).buffers(2)) ==
          list{{"transfer", "cache_read(in, near_core).at(xo).buffers(2)"},
               {"loop", "split(x, xo, xi, 16)"},
               {"transfer", "cache_read(in, near_core).at(xo).buffers(2)"},
               {"wait", "cache_read(in, near_core).at(xo).buffers(2)"},
               {"code", ""}});
    static constexpr axis y{"y", 8};
    static constexpr auto square = out(y, x) = in(y, x) + 1;
    CHECK(directives_of(schedule(square, host).cache_read(in, near_core).at(y)) ==
          list{{"loop", ""}, {"transfer", "cache_read(in, near_core).at(y)"}, {"wait", "cache_read(in, near_core).at(y)"}, {"code", ""}});
}

TEST_CASE("an axis that is called as a loop of another stage has none") {
    static constexpr axis along{"xo", 16};
    static constexpr tensor<std::int32_t> first{"first"};
    static constexpr auto both = stages(first(along) = in(along)*2, out(x) = first(0) + twice(x));
    auto const found =
        directives_of(schedule(both, host).store_in(first, near_core).split(x, xo, xi, 16).cache_read(twice, near_core).at(xo));
    for (auto const& [kind, directive] : found) CHECK((kind != "loop" || directive.empty()));
    auto const alone = out(x) = twice(x) + 1;
    CHECK(directives_of(schedule(alone, host).split(x, xo, xi, 16).cache_read(twice, near_core).at(xo)).at(0).second ==
          "split(x, xo, xi, 16)");
}

// Both stages have loops x, xo and xi. The one that made an xo is not told by its name, unless both were written alike.
TEST_CASE("a loop whose name several directives make, each otherwise, has none") {
    static constexpr auto both = stages(twice(x) = in(x)*2, out(x) = twice(x) + 1);
    auto const made = [&](int inner) {
        return schedule(both, host)
            .cache_write(out, near_core)
            .at(xo)
            .split(x, xo, xi, 16)
            .stage(twice)
            .store_in(twice, near_core)
            .split(x, xo, xi, inner)
            .cache_read(in, near_core)
            .at(xo);
    };
    for (int const inner : {16, 8}) {
        int loops = 0;
        for (auto const& [kind, directive] : directives_of(made(inner))) {
            if (kind != "loop") continue;
            ++loops;
            CHECK(directive == (inner == 16 ? "split(x, xo, xi, 16)" : ""));
        }
        CHECK(loops == 2);
    }
}

TEST_CASE("a loop that cores share has the directive that shared it, and a signal that of its buffer") {
    std::size_t shared = 0, signals = 0;
    for (auto const& list : {cores_of_dsp::with_barriers(), cores_of_dsp::with_signals()}) {
        for (schedule const& of : list) {
            auto const plan = std::make_unique<plan_value>(make_plan(of));
            REQUIRE(!plan->refusal);
            step_directives const directives(of, *plan);
            for (int at = 0; at < plan->steps.size(); ++at) {
                step const& s = plan->steps[at];
                std::string const text = directives.of_step(at);
                if (s.kind == step_kind::loop && plan->variables[s.what].distributed) {
                    ++shared;
                    CAPTURE(plan->variables[s.what].name.str());
                    CHECK(text.starts_with("distribute("));
                }
                if (s.kind == step_kind::signal) {
                    ++signals;
                    CHECK(text.find("(" + line_of(*plan, s).name + ", ") != std::string::npos);
                }
                if (s.kind == step_kind::end) CHECK(text.empty());
            }
        }
    }
    CHECK(shared > 0);
    CHECK(signals > 0);
}

TEST_CASE("the page shows the directive of each line if the schedule is given, and no column without") {
    std::string const with = report_page(lesson_matmul::matmul_on_npu, plan<lesson_matmul::matmul_on_npu>);
    CHECK(count_of(with, "<td>tile(m, n, mo, no, mi, ni, 64, 64)</td></tr>") == 4);
    CHECK(count_of(with, "<td>split(k, ko, ki, 64)</td></tr>") == 2);
    CHECK(count_of(with, "-&gt; A.spad</code></td><td>cache_read(A, spad).at(ko).by(mvin)</td></tr>") == 1);
    CHECK(count_of(with, "<td>tensorize(mi, ni, ki, mac16)</td></tr>") == 1);
    std::string const without = report_page(plan<lesson_matmul::matmul_on_npu>);
    std::string const program = without.substr(without.find("<caption>Loop program"));
    CHECK(program.substr(0, program.find("</table>")).find("asked for by") == std::string::npos);
}

TEST_CASE("the reference shows lines that come out") {
    std::ifstream file(TILEWRIGHT_REFERENCE "/reports.md");
    std::string const page{std::istreambuf_iterator<char>(file), {}};
    std::string const text = loop_program(emulator_page::matmul_on_npu, plan<emulator_page::matmul_on_npu>);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) lines.push_back(text.substr(at, text.find('\n', at) + 1 - at));
    REQUIRE(lines.size() == 17);  // a head, and 16 lines
    CHECK(page.find("```\n" + lines[7] + lines[9] + lines[11] + "```\n") != std::string::npos);
}

TEST_CASE("the loop program of a refused plan is its verdict, with directives, too") {
    schedule const wrong = schedule(lesson_matmul::matmul, lesson_matmul::npu).split(lesson_matmul::m, "a", "b", 0);
    CHECK(loop_program(wrong, make_plan(wrong)) == loop_program(make_plan(wrong)));
}
