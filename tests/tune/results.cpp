#include <algorithm>
#include <fstream>
#include <iterator>
#include <tilewright/tune/log.hpp>
#include <tilewright/tune/merge.hpp>
#include <tilewright/tune/winner_header.hpp>

#include "catch.hpp"
#include "folder.hpp"

using namespace tilewright;
using Catch::Matchers::Contains;

namespace {

tune::record result(std::int64_t rows, double milliseconds, std::string const& timestamp = "2026-11-24T10:00:00Z") {
    tune::record made;
    made.from = {"gemm", {8, 9}, "npu", "0123456789abcdef", "zen4", "a model", "a compiler", "processor", "Linux"};
    made.what = {{"rows", rows}, {"vectors", 2}};
    made.plan_hash = "00000000000000" + std::to_string(10 + rows);
    made.timestamp = timestamp;
    made.compilation_time = 12.5;
    made.runtimes = {milliseconds + 1, milliseconds};
    made.measurements = {{"time", milliseconds, "ms"}, {"plan_cost", 1000, ""}};
    made.objective = "time";
    return made;
}
tune::record failure(std::int64_t rows, tune::invalidity why) {
    tune::record made = result(rows, 0);
    made.is = why;
    made.reason = "it \"failed\"\n";
    made.correctness = 0;
    made.measurements.clear();
    made.runtimes.clear();
    return made;
}
std::string contents(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void write(std::string const& file, std::string const& text) { std::ofstream(file, std::ios::binary) << text; }

}  // namespace

TEST_CASE("a result is a line in the words of T4") {
    CHECK(
        tune::to_line(result(6, 0.5)) ==
        R"({"timestamp":"2026-11-24T10:00:00Z","configuration":{"rows":6,"vectors":2},)"
        R"("times":{"compilation_time":12.5,"runtimes":[1.5,0.5],"framework":0.0,"search_algorithm":0.0,"validation":0.0},)"
        R"("invalidity":"correct","correctness":1.0,)"
        R"("measurements":[{"name":"time","value":0.5,"unit":"ms"},{"name":"plan_cost","value":1000.0,"unit":""}],)"
        R"("objectives":["time"],"reason":"","problem":"gemm","shape":[8,9],"plan_hash":"0000000000000016",)"
        R"("hardware":{"machine":"npu","machine_hash":"0123456789abcdef","processor":"zen4","model":"a model","operating_system":"Linux"},)"
        R"("environment":{"measured_by":"processor","compiler":"a compiler"},"schema_version":"1.0.0"})");
    auto const document = nlohmann::json::parse(tune::to_t4({result(6, 0.5), failure(4, tune::invalidity::timeout)}));
    CHECK(document["schema_version"] == "1.0.0");
    CHECK(document["results"].size() == 2);
    CHECK(document["results"][1]["invalidity"] == "timeout");
}

TEST_CASE("a line says the result again") {
    for (tune::record one : {result(6, 0.1), failure(4, tune::invalidity::constraints), failure(5, tune::invalidity::correctness)}) {
        std::string const line = tune::to_line(one);
        CHECK(line.find('\n') == std::string::npos);
        CHECK(tune::to_line(tune::from_line(line)) == line);
    }
    CHECK(tune::from_line(tune::to_line(result(6, 0.1))).value() == 0.1);
    tune::record odd = result(6, 0.1);
    odd.from.model = "caf\xe9";  // no UTF-8
    CHECK(tune::from_line(tune::to_line(odd)).from.model == "caf\xef\xbf\xbd");
}

TEST_CASE("a line that is cut anywhere, or says something else, is no result") {
    std::string const line = tune::to_line(result(6, 0.5));
    for (std::size_t length = 0; length < line.size(); ++length)
        CHECK_THROWS_AS(tune::from_line(line.substr(0, length)), std::invalid_argument);
    auto const with = [&](std::string const& from, std::string const& to) {
        std::string changed = line;
        changed.replace(changed.find(from), from.size(), to);
        return changed;
    };
    for (auto const& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"\"rows\":6", "\"rows\":\"six\""},
                                                          {"\"rows\":6", "\"rows\":6.5"},
                                                          {"\"correct\"", "\"corect\""},
                                                          {"\"value\":0.5", "\"value\":null"},
                                                          {"\"value\":0.5", "\"value\":1e999"},
                                                          {"\"objectives\":[\"time\"]", "\"objectives\":[\"energy\"]"},
                                                          {"\"objectives\":[\"time\"]", "\"objectives\":[]"},
                                                          {"1.0.0", "2.0.0"},
                                                          {"\"shape\":[8,9]", "\"shape\":8.5"},
                                                          {"\"plan_hash\"", "\"plan\""}})
        CHECK_THROWS_AS(tune::from_line(with(from, to)), std::invalid_argument);
}

TEST_CASE("a log keeps what is written to it, and passes over lines that are none") {
    folder const in;
    std::string const file = in / "log.jsonl";
    {
        tune::log_writer out(file);
        out.add(result(4, 0.4));
        out.add(result(6, 0.6));
    }
    std::string const whole = contents(file);
    CHECK(whole == tune::to_line(result(4, 0.4)) + "\n" + tune::to_line(result(6, 0.6)) + "\n");

    SECTION("the process was killed while it wrote: the next one begins a line") {
        write(file, whole.substr(0, whole.size() - 30));
        tune::log_writer(file).add(result(8, 0.8));
        tune::log_contents read;
        tune::read_log(file, read);
        REQUIRE(read.results.size() == 2);
        CHECK(read.results[0].what["rows"] == 4);
        CHECK(read.results[1].what["rows"] == 8);
        REQUIRE(read.broken.size() == 1);
        CHECK(read.broken[0].number == 2);
    }
    SECTION("something else stands between") {
        write(file, "hello\n\n" + whole + std::string("\0\1\2", 3) + "\n[1]\n{}\n");
        tune::log_contents read;
        tune::read_log(file, read);
        CHECK(read.results.size() == 2);
        CHECK(read.broken.size() == 4);
        CHECK(read.broken[0].why == "no JSON");
    }
    SECTION("no file") {
        tune::log_contents read;
        tune::read_log(in / "none", read);
        CHECK(read.results.empty());
        CHECK_THROWS_WITH(tune::read_log(in / "none", read, true), Contains("cannot read the log"));
        CHECK_THROWS_WITH(tune::read_log(in.name(), read), Contains("cannot read the log"));
        CHECK_THROWS_WITH(tune::log_writer(in / "no/such/folder"), Contains("cannot open the log"));
    }
}

TEST_CASE("of several results of one configuration the least counts, a wrong one before all, in whatever order they are read") {
    auto const wrong = failure(6, tune::invalidity::correctness);
    std::vector<tune::record> results{result(6, 0.6), result(4, 0.4), result(6, 0.5), failure(4, tune::invalidity::timeout),
                                      failure(8, tune::invalidity::runtime)};
    auto const order = [](tune::record const& a, tune::record const& b) { return tune::to_line(a) < tune::to_line(b); };
    std::sort(results.begin(), results.end(), order);
    do {
        std::vector<tune::record> const all = tune::merged(results);
        REQUIRE(all.size() == 3);
        CHECK(all[0].value() == 0.4);
        CHECK(all[1].value() == 0.5);
        CHECK(all[2].is == tune::invalidity::runtime);
    } while (std::next_permutation(results.begin(), results.end(), order));
    results.push_back(wrong);
    CHECK(tune::merged(results)[1].is == tune::invalidity::correctness);
    CHECK(tune::winners_of(results).winners.at(0).what["rows"] == 4);
}

TEST_CASE("results of other origins and plans are kept apart, and the latest ones choose the winner") {
    tune::record old = result(4, 0.1, "2026-11-24T09:00:00Z"), other_plan = result(6, 0.1, "2026-11-24T09:30:00Z"),
                 another_shape = result(4, 0.9);
    old.from.compiler = "an older compiler";
    other_plan.plan_hash = "f00000000000000f";
    another_shape.from.shape = {8, 10};
    std::vector<tune::record> const results{old, result(4, 0.4), other_plan, result(6, 0.6), another_shape};
    CHECK(tune::merged(results).size() == 5);
    tune::winner_list const found = tune::winners_of(results);
    CHECK(found.outdated == 2);
    REQUIRE(found.winners.size() == 2);
    CHECK(found.winners[0].value() == 0.4);
    CHECK(found.winners[1].value() == 0.9);
}

TEST_CASE("winners become a header, the same bytes from the same results") {
    tune::record quoted = result(4, 0.4);
    quoted.from.processor = "a \"fast\"\\ one\xe9";
    std::vector<tune::record> const winners = tune::winners_of({result(6, 0.6), quoted, result(4, 0.5)}).winners;
    std::string const header = tune::header_of(winners, "mine");
    CHECK(header == tune::header_of(tune::winners_of({result(4, 0.5), result(6, 0.6), quoted}).winners, "mine"));
    CHECK_THAT(header, Contains("namespace mine {") && Contains(R"({"gemm", {8, 9}, "a \"fast\"\\ one\351",)") &&
                           Contains(R"({{"rows", 4}, {"vectors", 2}}})") && Contains("// time 0.5 ms\n    {\"gemm\", {8, 9}, \"zen4\""));
    CHECK(tune::detail::namespace_of("/a/b/gemm-tiles.hpp") == "gemm_tiles");
    CHECK(tune::detail::namespace_of("7.hpp") == "tuned_7");
    CHECK_THROWS_WITH(tune::header_of({}, "mine"), Contains("no winner"));
}

TEST_CASE("a file is replaced as a whole, and left alone where it says the same") {
    folder const in;
    std::string const file = in / "w.hpp";
    tune::replace_file(file, "one");
    auto const before = std::filesystem::last_write_time(file) - std::chrono::hours(1);
    std::filesystem::last_write_time(file, before);
    tune::replace_file(file, "one");
    CHECK(std::filesystem::last_write_time(file) == before);
    tune::replace_file(file, "two");
    CHECK(contents(file) == "two");
    CHECK_THROWS_WITH(tune::replace_file(in / "no/w.hpp", "one"), Contains("cannot write"));
}
