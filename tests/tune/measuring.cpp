#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <tilewright/tune/log.hpp>
#include <tilewright/tune/operands.hpp>
#include <tilewright/tune/plan_hash.hpp>
#include <tilewright/tune/tune.hpp>

#include "catch.hpp"
#include "folder.hpp"
#include "halide/copying_host.hpp"

using namespace tilewright;
using Catch::Matchers::Contains;

// A machine with a scratchpad and two engines, and one whose core copies by itself, so that this processor can be it.
namespace {

constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x1000, .capacity = 1_KiB};
constexpr engine loader{"loader"}, storer{"storer"};
constexpr auto get = transfer("get", dram, spad).on(loader).asynchronous().cost({.latency = 20, .bytes_per_cycle = 8});
constexpr auto put = transfer("put", spad, dram).on(storer).asynchronous().cost({.latency = 20, .bytes_per_cycle = 8});
constexpr auto dsp = machine("tuned_dsp", dram, spad, loader, storer, get, put);

constexpr axis i{"i", 512}, any{"any", dynamic}, o{"o"}, n{"n"};
constexpr tensor<std::int32_t> in{"in"}, out{"out"};
constexpr parameter<std::int32_t> factor{"factor"};
constexpr auto triple = out(i) = in(i)*3 + 1;
constexpr auto scaled = out(any) = in(any)*factor;

/// Tiles of so many elements, of which the scratchpad holds so many versions.
constexpr schedule tiled(computation_view what, axis const& along, tune::configuration const& c) {
    return schedule(what, dsp)
        .split(along, o, n, c["tile"])
        .cache_read(in, spad)
        .at(o)
        .by(get)
        .buffers(static_cast<int>(c["versions"]))
        .cache_write(out, spad)
        .at(o)
        .by(put)
        .buffers(static_cast<int>(c["versions"]));
}
tune::problem on_dsp() {
    return {.name = "triple",
            .shape = {512},
            .configurations = {{{"tile", {8, 16, 32, 64, 128}}, {"versions", {1, 2}}}},
            .scheduled = [](tune::configuration const& c) { return tiled(triple.view(), i, c); },
            .semantics = &semantics_of<dsp>};
}
tune::problem on_this_processor() {
    return {.name = "triple", .shape = {512}, .configurations = {{{"tile", {8, 16, 0}}}}, .scheduled = [](tune::configuration const& c) {
                return schedule(triple, copying::host).split(i, o, n, c["tile"]).cache_read(in, copying::near).at(o);
            }};
}
tune::log_contents read(std::string const& file) {
    tune::log_contents all;
    tune::read_log(file, all, true);
    return all;
}
std::map<std::string, std::string> invalidities(std::string const& log) {
    std::map<std::string, std::string> all;
    for (tune::record const& one : read(log).results) all[tune::text_of(one.what)] = tune::name_of(one.is);
    return all;
}
/// What a tuner says on stderr.
class heard {
  public:
    heard() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
    ~heard() { std::cerr.rdbuf(before_); }
    std::string text() const { return text_.str(); }

  private:
    std::ostringstream text_;
    std::streambuf* before_;
};

}  // namespace

TEST_CASE("the emulator measures the cycles of the plan, and the least ones win") {
    folder const in_folder;
    tune::problem const of = on_dsp();
    std::string const log = in_folder / "log.jsonl";
    tune::findings const found = tune::run(of, {.log = log, .measure = "emulator"});
    double least = 1e9;
    std::size_t planned = 0;
    for (int at = 0; at < of.configurations.size(); ++at) {
        plan_value const plan = make_plan(of.scheduled(of.configurations.at(at)));
        if (plan.refusal) continue;
        ++planned;
        least = std::min(least, static_cast<double>(plan.cycles()));
    }
    CHECK(planned == 9);  // two versions of 128 elements, twice, are 2 KiB
    CHECK(found.combinations == 10);
    CHECK(found.refused == 1);
    CHECK(found.measured == 9);
    REQUIRE(found.best() != nullptr);
    CHECK(found.best()->value() == least);
    CHECK(found.best()->unit() == "cycles");
    for (tune::record const& one : found.results) {
        plan_value const plan = make_plan(of.scheduled(one.what));
        CHECK((one.is == tune::invalidity::correct) == !plan.refusal);
        if (!plan.refusal) CHECK(one.value() == static_cast<double>(plan.cycles()));
        else CHECK_THAT(one.reason, Contains("memory overflow"));
    }

    // A second run measures nothing, and finds the same.
    tune::findings const again = tune::run(of, {.log = log, .measure = "emulator"});
    CHECK(again.measured == 0);
    CHECK(again.known == 9);
    CHECK(again.best()->what == found.best()->what);
    CHECK(read(log).results.size() == 10);
}

TEST_CASE("candidates take turns on this processor, and their results are compared with those without a schedule") {
    tune::findings const found = tune::run(on_this_processor(), {.rounds = 3});
    CHECK(found.measured == 2);
    CHECK(found.refused == 1);
    REQUIRE(found.best() != nullptr);
    for (tune::record const& one : found.results) {
        if (one.is != tune::invalidity::correct) continue;
        CHECK(one.runtimes.size() == 3);
        CHECK(one.value() == *std::min_element(one.runtimes.begin(), one.runtimes.end()));
        CHECK(one.value() > 0);
        CHECK(one.compilation_time > 0);
    }
    CHECK_THROWS_WITH(tune::run(on_dsp(), {}), Contains("machine `tuned_dsp` is not this processor: kernels call its `get`"));
    tune::problem silent = on_dsp();
    silent.semantics = nullptr;
    CHECK_THROWS_WITH(tune::run(silent, {.measure = "emulator"}), Contains("semantics_of"));
}

TEST_CASE("a wrong result is recorded and never wins") {
    folder const in_folder;
    tune::problem of = on_dsp();
    of.check = [calls = 0](std::vector<tune::operand_view> const& all) mutable {
        REQUIRE(all.size() == 2);
        CHECK(all[1].is_result);
        CHECK_THROWS_AS(all[1].as<float>(), std::invalid_argument);
        for (int at = 0; at < 512; ++at) CHECK(all[1].as<std::int32_t>()[at] == 3 * all[0].as<std::int32_t>()[at] + 1);
        return ++calls != 1;  // the first candidate, which costs least, is said to be wrong
    };
    tune::findings const found = tune::run(of, {.log = in_folder / "log", .measure = "emulator"});
    CHECK(found.measured == 9);
    std::size_t wrong = 0;
    for (tune::record const& one : found.results) wrong += one.is == tune::invalidity::correctness;
    CHECK(wrong == 1);
    CHECK(read(in_folder / "log").results[1].is == tune::invalidity::correctness);
    CHECK_FALSE(found.best()->what == read(in_folder / "log").results[1].what);

    // The referee itself, with operands that are right, then in one element of 512 not.
    tune::problem const plain = on_dsp();
    schedule const how = plain.scheduled({{"tile", 8}, {"versions", 1}});
    plan_value const plan = make_plan(how);
    tune::operands after(plain, plan, 1);
    auto* const result = after.result().as<std::int32_t>();
    for (int at = 0; at < 512; ++at) result[at] = 3 * after.views()[0].as<std::int32_t>()[at] + 1;
    tune::referee judge(plain, 1);
    CHECK(judge.share_right({{}, how, plan, plan, ""}, after) == 1);
    result[100] += 1;
    CHECK(judge.share_right({{}, how, plan, plan, ""}, after) == 511.0 / 512);
}

TEST_CASE("extents that are left to run time, and scalar parameters, are numbers of the problem") {
    tune::problem of = on_dsp();
    of.scheduled = [](tune::configuration const& c) { return tiled(scaled.view(), any, c); };
    CHECK_THROWS_WITH(tune::run(of, {.measure = "emulator"}), Contains("extent"));
    of.extents = {{any, 100}};
    tune::findings const none = tune::run(of, {.limit = 1, .measure = "emulator"});
    CHECK(none.best() == nullptr);
    CHECK_THAT(none.results.front().reason, Contains("takes 1 scalar parameters, and `scalars` has 0"));
    of.scalars = {7};
    tune::findings const found = tune::run(of, {.limit = 3, .measure = "emulator"});
    REQUIRE(found.best() != nullptr);
    plan_value const plan = make_plan(of.scheduled(found.best()->what));
    CHECK(found.best()->value() == static_cast<double>(plan.at(of.extents).cycles()));

    of.scheduled = [](tune::configuration const& c) {
        return schedule(scaled, copying::host).split(any, o, n, c["tile"]).cache_read(in, copying::near).at(o);
    };
    CHECK(tune::run(of, {.limit = 2, .rounds = 1}).best() != nullptr);
}

TEST_CASE("a command measures: its failures are results too") {
    folder const in_folder;
    std::string const log = in_folder / "log", board = in_folder / "board.sh";
    std::ofstream(board) << "set -e\n"
                            "case $TILEWRIGHT_TILE in\n"
                            "  8) echo 'no such board' >&2; exit 3 ;;\n"
                            "  16) echo 12 cycles ;;\n"
                            "  32) sleep 300; echo 1 ;;\n"
                            "  64) [ \"$TILEWRIGHT_VERSIONS\" = 2 ] || kill -9 $$\n"
                            "      [ \"$*\" = 'tile=64 versions=2' ]\n"
                            "      [ \"$TILEWRIGHT_PROBLEM $TILEWRIGHT_SHAPE\" = 'triple 512' ]\n"
                            "      grep -q 'TILEWRIGHT_TILE 64' \"$TILEWRIGHT_CONFIGURATION\"\n"
                            "      gcc -std=c11 -Wall -c \"$TILEWRIGHT_SOURCE\" -o \"$TILEWRIGHT_FOLDER/kernel.o\"\n"
                            "      nm \"$TILEWRIGHT_FOLDER/kernel.o\" | grep -q 'T triple'\n"
                            "      echo 40.5 ;;\n"
                            "  128) echo 41 ;;\n"
                            "esac\n";
    tune::options how{.log = log, .measure = "exec sh " + board, .processor = "board", .timeout = 6};
    tune::findings const found = tune::run(on_dsp(), how);
    REQUIRE(found.best() != nullptr);
    CHECK(found.best()->value() == 40.5);
    CHECK(found.measured == 9);
    std::map<std::string, std::string> const expected{{"tile=8 versions=1", "runtime"},   {"tile=8 versions=2", "runtime"},
                                                      {"tile=16 versions=1", "runtime"},  {"tile=16 versions=2", "runtime"},
                                                      {"tile=32 versions=1", "timeout"},  {"tile=32 versions=2", "timeout"},
                                                      {"tile=64 versions=1", "runtime"},  {"tile=64 versions=2", "correct"},
                                                      {"tile=128 versions=1", "correct"}, {"tile=128 versions=2", "constraints"}};
    CHECK(invalidities(log) == expected);
    std::set<std::string> reasons;
    for (tune::record const& one : read(log).results) reasons.insert(one.reason.substr(0, 32));
    CHECK(reasons.count("the command ended with code 3 an") == 1);
    CHECK(reasons.count("the command printed no number, b") == 1);
    CHECK(reasons.count("no answer in 6.000000 s") == 1);
    CHECK(reasons.count("signal 9 ended the command") == 1);

    // What failed is measured again only where that is asked for.
    CHECK(tune::run(on_dsp(), how).measured == 0);
    how.retry = true;
    CHECK(tune::run(on_dsp(), how).measured == 7);

    // A problem can keep the C source to itself.
    tune::problem without = on_dsp();
    without.c_source = false;
    tune::findings const bare = tune::run(without, {.limit = 1, .measure = "[ -z \"$TILEWRIGHT_SOURCE\" ] && echo 3 #"});
    REQUIRE(bare.best() != nullptr);
    CHECK(bare.best()->value() == 3);

    // Another command is another compiler and another processor: nothing of the log is used, and it says so.
    heard const on_stderr;
    how.measure = "echo 5 #";
    CHECK(tune::run(on_dsp(), how).measured == 9);
    CHECK_THAT(on_stderr.text(), Contains("17 results not used: compiled by `exec sh " + board + "`"));
}

TEST_CASE("SIGINT in the middle keeps what is measured, and the next run goes on") {
    folder const in_folder;
    std::string const log = in_folder / "log", header = in_folder / "w.hpp";
    // The third command that runs interrupts this process, and does not end by itself.
    folder const counts;
    tune::options how{.log = log};
    how.measure =
        "n=$(ls " + counts.name() + " | wc -l); touch " + counts.name() + "/$n; [ $n != 2 ] || { kill -INT $PPID; sleep 9; }; echo 7 #";
    how.compiler = "none";
    how.write_header = header;
    tune::findings const found = tune::run(on_dsp(), how);
    CHECK(found.signal == SIGINT);
    CHECK(found.measured == 2);  // the third one ran when the signal came
    REQUIRE(found.best() != nullptr);
    CHECK(read(log).results.size() == 3);  // with the one that the planner refuses
    CHECK(std::filesystem::exists(header));
    tune::findings const rest = tune::run(on_dsp(), how);
    CHECK(rest.signal == 0);
    CHECK(rest.known == 2);
    CHECK(rest.measured == 7);
}

TEST_CASE("shards measure together exactly what one process would, and merge to the same winner") {
    folder const in_folder;
    tune::problem const of = on_dsp();
    auto const lines = [](std::vector<tune::record> const& results) {
        std::multiset<std::string> all;
        for (tune::record const& one : results) all.insert(tune::text_of(one.what) + " " + tune::name_of(one.is));
        return all;
    };
    tune::run(of, {.log = in_folder / "whole", .limit = 6, .measure = "emulator", .write_header = in_folder / "w.hpp"});
    std::vector<std::string> files;
    std::int64_t measured = 0;
    for (int part = 1; part <= 4; ++part) {
        files.push_back(in_folder / std::to_string(part));
        measured += tune::run(of, {.log = files.back(), .part = {part, 4}, .limit = 6, .measure = "emulator"}).measured;
    }
    CHECK(measured == 6);
    heard const on_stderr;
    tune::findings const all =
        tune::run(of, {.log = in_folder / "all", .measure = "emulator", .merge = files, .write_header = in_folder / "w2.hpp"});
    CHECK_THAT(on_stderr.text(), Contains("merged 7 results into 7"));
    CHECK(all.measured == 0);
    CHECK(lines(read(in_folder / "all").results) == lines(read(in_folder / "whole").results));
    CHECK(all.winners.size() == 1);
    CHECK(all.best()->value() == tune::run(of, {.log = in_folder / "whole", .limit = 6, .measure = "emulator"}).best()->value());
}

TEST_CASE("results of another machine, processor, compiler or plan are not used, nor lines that say none, and the tuner says how many") {
    folder const in_folder;
    std::string const log = in_folder / "log";
    tune::run(on_dsp(), {.log = log, .measure = "emulator"});
    std::vector<tune::record> results = read(log).results;
    REQUIRE(results.size() == 10);
    REQUIRE(results[0].is == tune::invalidity::constraints);
    results[1].from.machine_hash = "0";
    results[2].from.machine = "npu";
    results[3].from.processor = "board";
    results[4].from.compiler = "gcc 3";
    results[5].plan_hash = "0";
    results[6].what.values[0].value = 9;
    results[7].from.problem = "another";
    results[8].from.shape = {513};
    {
        std::ofstream out(log);
        for (tune::record const& one : results) out << tune::to_line(one) << "\n";
        out << tune::to_line(results[9]).substr(0, 100);
    }
    heard const on_stderr;
    tune::findings const found = tune::run(on_dsp(), {.log = log, .measure = "emulator"});
    CHECK(found.known == 1);
    CHECK(found.measured == 8);
    for (char const* what :
         {"1 line of logs passed over: no results; the first is", "log:11: no JSON",
          "1 result not used: the description of machine `npu` was another one",
          "1 result not used: the description of machine `tuned_dsp` was another one",
          "1 result not used: measured on the processor `board`", "1 result not used: compiled by `gcc 3`",
          "1 result not used: the plan was another one", "1 result not used: the configuration is not among those that are tried now",
          "2 results are of other problems or shapes"})
        CHECK_THAT(on_stderr.text(), Contains(what));
    CHECK(found.winners.size() == 3);  // of the other problem and of the other shape, too
}

TEST_CASE("a plan hash changes with computation, directives and machine") {
    auto const hash = [](schedule const& of) { return tune::plan_hash(of, make_plan(of)); };
    tune::configuration const c{{"tile", 8}, {"versions", 1}}, other{{"tile", 8}, {"versions", 2}};
    static constexpr auto quadruple = out(i) = in(i)*4 + 1;
    std::string const one = hash(tiled(triple.view(), i, c));
    CHECK(one == hash(tiled(triple.view(), i, c)));
    CHECK(one.size() == 16);
    CHECK(one != hash(tiled(triple.view(), i, other)));
    CHECK(one != hash(tiled(quadruple.view(), i, c)));
    CHECK(hash(schedule(triple, copying::host)) != hash(schedule(triple, dsp)));
}

TEST_CASE("a problem that cannot be tuned is refused") {
    tune::problem of = on_dsp();
    of.name = "2 products";
    CHECK_THROWS_WITH(tune::run(of, {.measure = "emulator"}), Contains("identifier"));
    tune::problem machines = on_dsp();
    machines.scheduled = [](tune::configuration const& c) { return schedule(triple, c["versions"] == 1 ? dsp : copying::host); };
    CHECK_THROWS_WITH(tune::run(machines, {.measure = "emulator"}), Contains("are for one machine; `host` is another one"));
    tune::problem unknown = on_dsp();
    unknown.scheduled = [](tune::configuration const& c) { return schedule(triple, dsp).split(i, o, n, c["tiles"]); };
    CHECK_THROWS_WITH(tune::run(unknown, {.measure = "emulator"}), Contains("`tiles` is no number of this configuration"));
}
