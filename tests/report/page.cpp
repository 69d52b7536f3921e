#include <tilewright/report/page.hpp>
#include <tilewright/report/program_page.hpp>

#include <regex>

#include "02_instruction/matmul.hpp"
#include "04_two_blocks/two_blocks.hpp"
#include "07_run_time/run_time.hpp"
#include "catch.hpp"
#include "count_of.hpp"
#include "folder.hpp"
#include "kernels/caches.hpp"
#include "kernels/cores.hpp"
#include "kernels/features.hpp"
#include "kernels/multicast.hpp"
#include "kernels/schedules.hpp"
#include "kernels/unlike_cores.hpp"
#include "program/core_program.hpp"
#include "program/engine_program.hpp"
#include "report/kept.hpp"
#include "report/two_layers.hpp"

using namespace tilewright;
using namespace tilewright::reports;

namespace {

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

struct drawn_box {
    std::string says, row;
    int buffer = -1;
    double x = 0, y = 0, width = 0, height = 0;
};
/// The boxes of a page, read from its text.
std::vector<drawn_box> boxes_of(std::string const& page) {
    static std::regex const one(
        "<g class=\"box\"[^>]* aria-label=\"([^\"]*)\" data-row=\"([^\"]*)\" data-buffers=\"(\\d+)\">"
        "<rect class=\"hue\\d\" x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" height=\"([0-9.]+)\">");
    std::vector<drawn_box> all;
    for (std::sregex_iterator at(page.begin(), page.end(), one), end; at != end; ++at) {
        auto const& m = *at;
        all.push_back({m[1], m[2], std::stoi(m[3]), std::stod(m[4]), std::stod(m[5]), std::stod(m[6]), std::stod(m[7])});
    }
    return all;
}
std::vector<schedule> some_kernels() {
    std::vector<schedule> all{lesson_matmul::matmul_on_npu,
                              lesson_two_blocks::in_two_blocks,
                              lesson_two_blocks::across_two_blocks,
                              kernels::matmul_nt_on_dsp,
                              kernels::blur_in_turn,
                              kernels::blur_on_dsp,
                              kernels::row_max_on_dsp,
                              kernels::conv2d_on_dsp,
                              features::matmul_by_dots,
                              features::widened_by_dma,
                              features::matmul_by_mac,
                              features::matmul_by_fma};
    for (auto const& more : {cached_cores::with_caches(), cores_of_dsp::with_barriers(), cores_of_dsp::with_signals(),
                             cores_of_dsp::with_multicasts(), unlike_cores::by_stages()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

// Ten lines share 656 units from 96 on. The scratchpad is 96 high for 8,192 bytes, and 8 lie above it: A is below, since addresses go up.
TEST_CASE("the boxes of lesson 02 stand where their lines and addresses are") {
    std::vector<drawn_box> const boxes = boxes_of(report_page(plan<lesson_matmul::matmul_on_npu>));
    REQUIRE(boxes.size() == 3);
    auto const at = [](drawn_box const& b) { return std::vector<double>{b.x, b.y, b.width, b.height}; };
    CHECK(at(boxes[0]) == std::vector{292.8, 56.0, 393.6, 48.0});  // lines 4 to 9, bytes 0 to 4,096
    CHECK(at(boxes[1]) == std::vector{358.4, 8.0, 328.0, 48.0});   // lines 5 to 9, the bytes above
    CHECK(at(boxes[2]) == std::vector{227.2, 8.0, 524.8, 96.0});   // lines 3 to 10, all that is used
    CHECK(boxes[0].says == "A.spad: [64, 64] int8, 4,096 bytes at 0x50000000, lines 4 to 9, each ko");
}

TEST_CASE("every version and block of a planned buffer has a box to scale, and a row") {
    for (schedule const& of : some_kernels()) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        std::string const page = report_page(*plan);
        std::vector<drawn_box> const boxes = boxes_of(page);
        auto const line_at = [&](int step) {
            int number = 1;
            for (int at = 0; at < step; ++at) number += plan->steps[at].kind == step_kind::end ? 0 : 1;
            return number;
        };
        double const line = 656.0 / static_cast<double>(line_at(plan->steps.size()) - 1);
        std::size_t expected = 0;
        for (int b = 0; b < plan->buffers.size(); ++b) {
            buffer const& one = plan->buffers[b];
            if (one.kind == buffer_kind::argument) continue;
            int const banks = plan->where->memories[one.memory].banks;
            for (int part = 0; part < one.parts(); ++part, ++expected) {
                std::string const row = "part-" + std::to_string(b) + "-" + std::to_string(part);
                CAPTURE(one.name.str(), row);
                auto const found = std::find_if(boxes.begin(), boxes.end(), [&](drawn_box const& d) { return d.row == row; });
                REQUIRE(found != boxes.end());
                CHECK(found->buffer == b);
                CHECK(std::abs(found->x - (96 + line * static_cast<double>(line_at(one.born) - 1))) < 0.02);
                CHECK(std::abs(found->width - line * static_cast<double>(line_at(one.dead) - line_at(one.born))) < 0.02);
                // Bytes of one picture have one scale, and offset 0 is at the bottom.
                double const scale = found->height / static_cast<double>(one.part_bytes());
                std::int64_t const peak = plan->peak_bytes(one.memory, one.bank_of(part, banks));
                double const bottom = 8 + static_cast<double>(peak) * scale;
                CHECK(std::abs(found->y + found->height - (bottom - static_cast<double>(one.offset_of(part, banks)) * scale)) < 0.6);
                CHECK(has(page, "<tr id=\"" + row + "\""));
            }
        }
        CHECK(boxes.size() == expected);
    }
}

TEST_CASE("a row says what asked for its buffer if the schedule is given, and the number of the directive otherwise") {
    std::string const page = report_page(lesson_two_blocks::across_two_blocks, plan<lesson_two_blocks::across_two_blocks>);
    int line = 0;
    schedule const& of = lesson_two_blocks::across_two_blocks;
    for (int at = 0; at < of.directive_count(); ++at) {
        if (one_directive_text(of, at) == "cache_read(A, vtcm)") line = of.directive_at(at).line;
    }
    REQUIRE(line > 0);
    std::string const row =
        page.substr(page.find("<tr id=\"part-3-0\""), page.find("<tr id=\"part-3-1\"") - page.find("<tr id=\"part-3-0\""));
    CHECK(has(row, "<td>cache_read(A, vtcm).at("));
    CHECK(has(row, "<td class=\"number\">" + std::to_string(line) + "</td>"));
    CHECK(has(row, "<td>(i, j) at [j / 64][i, j % 64]</td>"));
    std::string const unknown = report_page(plan<lesson_two_blocks::across_two_blocks>);
    CHECK(has(unknown, "<td>directive 4</td>"));
    CHECK(!has(unknown, "source line"));
}

TEST_CASE("a line of the program touches the planned buffers that it names") {
    for (schedule const& of : some_kernels()) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        for (int at = 0; at < plan->steps.size(); ++at) {
            step const& s = plan->steps[at];
            if (s.kind == step_kind::end) continue;
            program_line const line = line_of(*plan, s);
            std::set<int> const touched = touched_buffers(*plan, s);
            for (int b = 0; b < plan->buffers.size(); ++b) {
                if (plan->buffers[b].kind == buffer_kind::argument) continue;
                CAPTURE(line.text, line.value, plan->buffers[b].name.str());
                CHECK(has(line.text + line.value, plan->buffers[b].name.str()) == (touched.count(b) == 1));
            }
        }
    }
}

TEST_CASE("the program has a row for each line, with counts, bytes and cycles") {
    std::string const page = report_page(plan<lesson_matmul::matmul_on_npu>);
    CHECK(count_of(page, "<tr class=\"line\"") == 10);
    CHECK(has(page,
              "data-buffers=\"0 3\"><th class=\"number\" scope=\"row\">4</th><td class=\"number\">512</td><td class=\"number\">4,096</td>"
              "<td class=\"number\">320</td><td><code style=\"--depth:3\">mvin  A[64 mo, 64 ko] (64 x 64) -&gt; A.spad</code></td></tr>"));
}

TEST_CASE("the bars of cores and channels are as long as all cycles, the largest share first") {
    std::vector<schedule> of = cores_of_dsp::with_barriers();
    of.push_back(lesson_matmul::matmul_on_npu);
    of.push_back(lesson_two_blocks::in_two_blocks);
    for (schedule const& one : of) {
        auto const plan = std::make_unique<plan_value>(make_plan(one));
        cycle_accounts const all = accounts_of(*plan);
        std::vector<cycle_row> const bars = rows_of(*plan, all);
        REQUIRE(bars.size() >= static_cast<std::size_t>(plan->cores));
        std::string const page = report_page(*plan);
        CHECK(count_of(page, "<g class=\"bar\"") == bars.size());
        for (cycle_row const& bar : bars) {
            std::int64_t sum = 0, last = all.cycles;
            for (cycle_share const& s : bar.shares) {
                CHECK(s.cycles <= last);
                sum += last = s.cycles;
                CHECK(has(page, "<td>" + escaped(s.what) + "</td>"));
            }
            CHECK(sum == all.cycles);
        }
    }
    // 524,288 of 921,600 cycles, of 616 units
    std::string const page = report_page(plan<lesson_matmul::matmul_on_npu>);
    CHECK(has(page,
              "<rect class=\"engine\" x=\"140\" y=\"2\" width=\"350.44\" height=\"20\"><title>waits until array has done mac16: 524,288 "
              "cycles, 56.9 %</title>"));
    CHECK(has(page, "<td>asynchronous(), if the hardware goes on by itself</td>"));
}

// The host waits for 320 cycles each time that mvin fills A.spad: 256 that it moves, and its latency. Then B.spad, then 1,024 of products.
TEST_CASE("the timeline of lesson 02 begins with its transfers, and draws what repeats once") {
    plan_value const& plan = tilewright::plan<lesson_matmul::matmul_on_npu>;
    planned_timeline const planned(plan);
    noted_timeline const& of = planned.timeline();
    auto const rows = planned.rows("");
    REQUIRE(rows.size() == 4);
    CHECK((rows[0].drawn.name == "host" && rows[1].drawn.name == "loader" && rows[2].drawn.name == "storer" &&
           rows[3].drawn.name == "array"));
    auto const begins = [](planned_timeline::row const& row) {
        std::vector<std::pair<std::int64_t, std::int64_t>> made;
        for (time_stretch const& s : row.drawn.all) made.emplace_back(s.begin, s.end);
        made.resize(4);
        return made;
    };
    using list = std::vector<std::pair<std::int64_t, std::int64_t>>;
    CHECK(begins(rows[0]) == list{{0, 320}, {320, 640}, {640, 1664}, {1664, 1984}});
    CHECK(begins(rows[1]) == list{{0, 256}, {320, 576}, {1664, 1920}, {1984, 2240}});
    CHECK(begins(rows[3]) == list{{640, 1664}, {2304, 3328}, {3968, 4992}, {6720, 7744}});
    CHECK(rows[0].drawn.all[0].says ==
          "waits until mvin has filled A.spad\ncycles 0 to 320 (320)\nwhat would help: asynchronous() and buffers(2), if the hardware goes "
          "on by "
          "itself");
    CHECK(rows[1].drawn.all[1].says == "mvin B.spad\ncycles 320 to 576 (256)");
    CHECK(rows[1].drawn.all[1].buffers == "4");
    CHECK(rows[3].drawn.all[0].says == "mul16, mac16\ncycles 640 to 1,664 (1,024)");
    // Of eight steps of ko, three are followed. The second break of all leaves out five again.
    REQUIRE(!of.breaks.empty());
    CHECK((of.breaks[0].times == 5 && of.breaks[0].cycles == 5 * 1664));
    CHECK(of.complete);
    std::int64_t left = of.end;
    for (left_out const& one : of.breaks) left += one.cycles;
    CHECK(left == 921'600);
    // What ends last is the last store: 1,024 cycles that move it and 64 until it is there.
    CHECK(rows[2].drawn.all.back().says == "mvout C.acc\ncycles 920,512 to 921,536 (1,024)");
    std::string const page = report_page(plan);
    CHECK(has(page, "<title>mvin A.spad\ncycles 0 to 256 (256)</title>"));
    CHECK(count_of(page, "<g class=\"break\"") == of.breaks.size());
    CHECK(has(page, "For 56.9 % of the cycles, host waits until array has done mac16; what would help: asynchronous(), if"));
}
TEST_CASE("cuts that would leave out less than half of the cycles are drawn, where there is room") {
    plan_value const& plan = tilewright::plan<kernels::blur_on_dsp>;
    cycle_accounts const cut = accounts_of(plan, planned_timeline::most_noted);
    REQUIRE(!cut.timeline.breaks.empty());
    noted_timeline const drawn = planned_timeline(plan).timeline();
    CHECK((drawn.breaks.empty() && drawn.complete && drawn.end == cut.cycles));
    // Room for what is drawn with cuts, and no more.
    CHECK(planned_timeline(plan, cut.timeline.all.size()).timeline().breaks.size() == cut.timeline.breaks.size());
}
TEST_CASE("stretches of every row follow each other, and the jobs of a channel are its work where nothing is left out") {
    for (schedule const& of : some_kernels()) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        planned_timeline const planned(*plan);
        for (auto const& row : planned.rows("")) {
            CAPTURE(plan->where->name.str(), row.drawn.name);
            std::int64_t last = 0, busy = 0;
            for (time_stretch const& s : row.drawn.all) {
                CHECK(s.begin >= last);
                CHECK(s.end > s.begin);
                CHECK(s.end <= planned.timeline().end);
                CHECK(!s.says.empty());
                CHECK(!s.colour.empty());
                last = s.end;
                busy += s.is_open || row.lane < 0 ? 0 : s.end - s.begin;
            }
            if (row.lane < 0 || !planned.timeline().breaks.empty() || !planned.timeline().complete) continue;
            CHECK(busy == planned.accounts().cores[static_cast<std::size_t>(row.core)].channels[static_cast<std::size_t>(row.lane)].busy);
        }
    }
}
TEST_CASE("a timeline that would be too long stops, and says where") {
    plan_value const& plan = tilewright::plan<lesson_matmul::matmul_on_npu>;
    cycle_accounts const all = accounts_of(plan, 20);
    CHECK(!all.timeline.complete);
    CHECK(all.timeline.all.size() == 20);
    CHECK(all.timeline.end == 6080);  // three tiles, each in three stretches of the host and three jobs, and the store of their sums
    CHECK(all.cycles == 921'600);
    CHECK(has(drawn_text(all), "The first "));
}
// 40 cycles, then three times 10 that are left out, then 20.
TEST_CASE("what was executed stands at the times of the plan, and not where cycles are left out") {
    noted_timeline const of{{}, {{40, 30, 3}}, 60, true};
    auto const at = [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::pair<std::int64_t, std::int64_t>> made;
        for (time_stretch const& s : drawn_of(of, {begin, end, "", "", "", ""})) made.emplace_back(s.begin, s.end);
        return made;
    };
    using list = std::vector<std::pair<std::int64_t, std::int64_t>>;
    CHECK(at(0, 5) == list{{0, 5}});
    CHECK(at(35, 45) == list{{35, 40}});
    CHECK(at(45, 60) == list{});
    CHECK(at(65, 75) == list{{40, 45}});
    CHECK(at(30, 80) == list{{30, 50}});
    CHECK(at(80, 200) == list{{50, 60}});
    CHECK(of.cycle_at(40) == 40);
    CHECK(of.cycle_at(41) == 71);
}
TEST_CASE("pictures are documents of their own, with colours in them") {
    folder const at;
    std::vector<std::string> const paths = write_pictures(plan<lesson_matmul::matmul_on_npu>, at.name());
    CHECK(paths == std::vector<std::string>{at / "memory_spad.svg", at / "memory_acc.svg", at / "timeline.svg", at / "cycles.svg",
                                            at / "roofline.svg"});
    for (std::string const& path : paths) {
        std::string const text = at.read(std::filesystem::path(path).filename());
        CHECK(text.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\" class=", 0) == 0);
        CHECK(has(text, ".hue0 { fill: #2a78d6; stroke: #2a78d6; }"));
        CHECK(!has(text, "var("));
    }
    CHECK_THROWS_AS(write_pictures(plan<lesson_matmul::matmul_on_npu>, at / "missing"), std::runtime_error);
    CHECK(write_pictures(make_plan(schedule(lesson_matmul::matmul, lesson_matmul::npu).split(lesson_matmul::m, "a", "b", 0)), at.name())
              .empty());
    CHECK(write_svg({{"a b", "<svg>1</svg>"}, {"a_b", "<svg>2</svg>"}}, at.name()).back() == at / "a_b_.svg");
}

TEST_CASE("traffic and figures are those of the text reports") {
    std::string const page = report_page(plan<lesson_matmul::matmul_on_npu>);
    CHECK(has(page, "<dt>predicted</dt><dd>921,600 <small>cycles</small></dd>"));
    CHECK(has(page, "<dt>predicted / bound</dt><dd>1.76 <small>times</small></dd>"));
    CHECK(has(page, "<dt>acc</dt><dd>25.0 % <small>16,384 of 65,536 bytes</small></dd>"));
    CHECK(has(
        page,
        "<th scope=\"row\">mvin</th><td>transfer</td><td>loader</td><td class=\"number\">1,024</td><td class=\"number\">4,194,304</td>"));
}

// 512 x 512 x 512 products and sums. The array computes for 524,288 cycles; the loader moves 4,194,304 bytes, 16 a cycle.
TEST_CASE("the roofline of lesson 02 has the roofs of the array and of the loader") {
    std::optional<roofline> const of = roofline_of(plan<lesson_matmul::matmul_on_npu>);
    REQUIRE(of);
    CHECK(of->operations == 2 * 512 * 512 * 512);
    CHECK(of->bytes == 5'242'880);
    CHECK((of->computes.engine == "array" && of->computes.cycles == 524'288));
    CHECK((of->moves.engine == "loader" && of->moves.cycles == 262'144));
    CHECK(of->flat() == 512);
    CHECK(of->slope() == 20);  // what the storer moves meanwhile counts, too
    // The point is where the kernel is, with all latencies and waits.
    CHECK(of->cycles == 921'600);
    CHECK(of->operations_per_cycle() == 2.0 * 512 * 512 * 512 / 921'600);
}
TEST_CASE("no plan lies above its roofs") {
    int found = 0;
    for (schedule const& of : some_kernels()) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE(!plan->refusal);
        std::optional<roofline> const drawn = roofline_of(*plan);
        if (!drawn) continue;
        ++found;
        CAPTURE(plan->where->name.str(), drawn->operations);
        CHECK(drawn->operations_per_cycle() <= drawn->flat() * 1.000001);
        CHECK(drawn->operations_per_cycle() <= drawn->slope() * drawn->operations_per_byte() * 1.000001);
    }
    CHECK(found >= 5);
}
TEST_CASE("operations are counted in values, not in indices or conversions") {
    static constexpr axis x{"x", 10}, t{"t", 3};
    static constexpr tensor<float> in{"in"}, out{"out"}, bias{"bias"};
    static constexpr memory dram{.name = "dram"};
    machine const& host = kept(machine("host", dram));
    // 30 products, 30 sums, 10 sums of the bias with 1
    computation const filtered = out(x) = (bias(x) + 1.0f) + sum(t, in(x + 2 * t) * in(t));
    CHECK(operations_of(make_plan(schedule(filtered, host))) == 30 + 30 + 10);
    computation const copied = out(x) = in(x + 1);
    plan_value const copy = make_plan(schedule(copied, host));
    CHECK(operations_of(copy) == 0);
    CHECK(!roofline_of(copy));
    CHECK(!has(report_page(copy), "Roofline"));
    CHECK(has(report_page(copy), "No buffer is planned"));
}

TEST_CASE("names are escaped, those that a verdict speaks of, too") {
    static constexpr memory dram{.name = "dram"}, odd{.name = "<i>&'\"\x01\xff", .capacity = 128};
    static constexpr tensor<std::int8_t> in{"in"}, out{"out"}, wrong{"</script><u>"};
    static constexpr axis i{"i", 100};
    machine const& of = kept(machine("a <b> & c", dram, odd, transfer("get", dram, odd)));
    static constexpr auto copied = out(i) = in(i);
    std::string const page = report_page(make_plan(schedule(copied, of).cache_read(in, odd)));
    CHECK(has(page, "<h3>&lt;i&gt;&amp;&#39;&quot;\xef\xbf\xbd\xef\xbf\xbd</h3>"));
    CHECK(has(page, "aria-label=\"in.&lt;i&gt;&amp;&#39;&quot;\xef\xbf\xbd\xef\xbf\xbd: [100] int8"));
    CHECK(has(page, "<title>out on a &lt;b&gt; &amp; c</title>"));
    for (char const* raw : {"<i>", "<b>", "\x01", "\xff"}) CHECK(!has(page, raw));

    static constexpr auto refused = wrong(i) = in(i);
    std::string const verdict = report_page(make_plan(schedule(refused, of)));
    CHECK(has(verdict, "refused: `&lt;/script&gt;&lt;u&gt;`: a name is not an identifier"));
    CHECK(!has(verdict, "<u>"));
    CHECK(count_of(verdict, "</script>") == 1);
}

TEST_CASE("a page needs nothing but itself") {
    std::string const page = report_page(lesson_matmul::matmul_on_npu, plan<lesson_matmul::matmul_on_npu>);
    for (char const* part : {"https:", "src=", "href=", "url(", "@import", "fetch("}) CHECK(!has(page, part));
}
TEST_CASE("the page of a refused plan is its verdict") {
    schedule const wrong = schedule(lesson_matmul::matmul, lesson_matmul::npu).split(lesson_matmul::m, "a", "b", 0);
    std::string const page = report_page(wrong, make_plan(wrong));
    CHECK(has(page, "role=\"alert\">refused: `m`: factor is 0, but must be at least 1"));
    CHECK(!has(page, "<h2>"));
}
TEST_CASE("a page asks for extents that are left to run time") {
    CHECK_THROWS_AS(report_page(plan<lesson_run_time::any_rows>), bad_query);
    std::string const page = report_page(make_plan(lesson_run_time::any_rows).at({{lesson_run_time::m, 100}}));
    CHECK(has(page, "class=\"box\""));
    CHECK(has(page, "The kernel does 3,276,800 operations"));  // 2 x 100 x 128 x 128
}
// k0 takes the cpu 900 cycles, its result is copied for 400, and k1 takes the npu 1,100 then.
TEST_CASE("the page of a program has its layers over time, its memories over all steps, and each layer") {
    program_plan_value const& plan = program_plan<two_layers_program::two_layers>;
    std::string const page = report_page(plan);
    CHECK(has(page, "<title>Program two_layers</title>"));
    CHECK(has(page, "<title>k0\nkernel, steps 0\ncycles 0 to 900 (900)</title>"));
    CHECK(has(page, "<title>t0.act\ncopy, steps 1\ncycles 900 to 1,300 (400)</title>"));
    CHECK(has(page, "<title>k1\nkernel, steps 2\ncycles 1,300 to 2,400 (1,100)</title>"));
    CHECK(has(page, "data-buffers=\"t0.act out k1.x.spad k1.r.spad\""));
    // Three steps share 656 units from 96 on; l2 is 96 high for 800 bytes, and t0 lies below `in`.
    CHECK(has(
        page,
        "aria-label=\"t0: 400 bytes at +0x00000000, steps 0 to 2\" data-row=\"place-t0\" data-buffers=\"t0\"><rect class=\"hue1\" x=\"96\" "
        "y=\"56\" width=\"437.33\" height=\"48\">"));
    for (char const* row : {"place-in", "place-t0", "place-t0.act", "place-out", "place-k1.x.spad", "place-k1.r.spad"})
        CHECK(has(page, "<tr id=\"" + std::string(row) + "\""));
    CHECK(has(page, "<details class=\"layer\" id=\"layer-k1\"><summary>k1 on npu: 1,100 cycles</summary>"));
    CHECK(has(page, "data-row=\"k1-part-2-0\" data-buffers=\"k1-2\""));
    CHECK(has(page, "<td class=\"number\">45.8 %</td>"));
    folder const at;
    write_report(plan, at / "program.html");
    CHECK(at.read("program.html") == page);
    CHECK(write_pictures(plan, at.name()) ==
          std::vector<std::string>{at / "timeline.svg", at / "memory_l2.svg", at / "memory_act.svg", at / "memory_npu.spad.svg"});
    CHECK(write_pictures(plan, "k1", at.name()) ==
          std::vector<std::string>{at / "k1_memory_spad.svg", at / "k1_timeline.svg", at / "k1_cycles.svg", at / "k1_roofline.svg"});
    CHECK(has(at.read("k1_memory_spad.svg"), "aria-label=\"x.spad: "));
    CHECK_THROWS_WITH(write_pictures(plan, "k9", at.name()), "the program `two_layers` has no layer `k9`");
    CHECK_THROWS_AS(write_report(plan, at / "missing/page.html"), std::runtime_error);
}
TEST_CASE("layers end when the program does, with engines that copy beside and cores that share") {
    std::vector<program_plan_value const*> const plans{&program_plan<two_layers_program::two_layers>,
                                                       &program_plan<engine_programs::copying>,
                                                       &program_plan<core_programs::shared_by_four>};
    for (program_plan_value const* plan : plans) {
        REQUIRE(!plan->refusal);
        std::vector<layer_time> const times = layer_times(*plan);
        std::int64_t last = 0;
        for (int k = 0; k < plan->kernels.size(); ++k) {
            layer_time const& time = times[static_cast<std::size_t>(k)];
            CHECK(time.end - time.begin == plan->kernel_at(k).cycles);
            last = std::max(last, time.end);
            // A kernel begins when what it reads is there.
            for (int at = 0; at < plan->uses.size(); ++at) {
                ir::program_use const& u = plan->uses[at];
                int const producer = plan->tensor_at(u.tensor).producer;
                if (u.kernel == k && !u.written && producer >= 0) CHECK(times[static_cast<std::size_t>(producer)].end <= time.begin);
            }
        }
        CHECK(last == plan->total_cycles);
        CHECK(count_of(report_page(*plan), "<details class=\"layer\"") == static_cast<std::size_t>(plan->kernels.size()));
    }
}
TEST_CASE("the page of a refused program is its verdict") {
    static constexpr auto missing = program("missing").run("k0", chip::cpu, chip::double_on_cpu);
    std::string const page = report_page(make_program_plan(missing));
    CHECK(has(page, "role=\"alert\">refused: "));
    CHECK(!has(page, "<h2>"));
    CHECK(write_pictures(make_program_plan(missing), "/nowhere").empty());
}

TEST_CASE("a report is written to a file, and a path that cannot be written is named") {
    folder const at;
    write_report(lesson_matmul::matmul_on_npu, plan<lesson_matmul::matmul_on_npu>, at / "with.html");
    CHECK(at.read("with.html") == report_page(lesson_matmul::matmul_on_npu, plan<lesson_matmul::matmul_on_npu>));
    write_report(plan<lesson_matmul::matmul_on_npu>, at / "without.html");
    CHECK(at.read("without.html") == report_page(plan<lesson_matmul::matmul_on_npu>));
    std::string const nowhere = at / "missing/page.html";
    CHECK_THROWS_AS(write_report(plan<lesson_matmul::matmul_on_npu>, nowhere), std::runtime_error);
    CHECK_THROWS_WITH(write_report(plan<lesson_matmul::matmul_on_npu>, nowhere), Catch::Matchers::Contains(nowhere));
}
