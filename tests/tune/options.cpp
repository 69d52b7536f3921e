#include <tilewright/tune/options.hpp>
#include <tilewright/tune/progress.hpp>

#include "catch.hpp"

using namespace tilewright;
using Catch::Matchers::Contains;

TEST_CASE("the options of a tuner") {
    tune::options const none = tune::options_of({});
    CHECK(none.measure == "processor");
    CHECK(none.part.of == 1);
    CHECK(none.limit == 0);
    tune::options const all = tune::options_of(
        {"--log",   "a.jsonl",        "--shard", "2/3",        "--limit", "10",          "--measure", "./board --fast", "--seed",
         "7",       "--timeout",      "5",       "--rounds",   "3",       "--processor", "m33",       "--compiler",     "gcc",
         "--retry", "--write-header", "w.hpp",   "--write-t4", "t4.json"});
    CHECK(all.log == "a.jsonl");
    CHECK(all.part.part == 2);
    CHECK(all.limit == 10);
    CHECK(all.measure == "./board --fast");
    CHECK(all.seed == 7);
    CHECK(all.timeout == 5);
    CHECK(all.rounds == 3);
    CHECK(all.processor == "m33");
    CHECK(all.compiler == "gcc");
    CHECK(all.retry);
    CHECK(all.write_header == "w.hpp");
    CHECK(all.write_t4 == "t4.json");
    tune::options const merging = tune::options_of({"--merge", "a", "b", "--log", "c"});
    CHECK(merging.merge == std::vector<std::string>{"a", "b"});
    CHECK(merging.log == "c");
}

TEST_CASE("wrong options are refused by name") {
    auto const wrong = [](std::vector<std::string> const& arguments, std::string const& why) {
        CHECK_THROWS_WITH(tune::options_of(arguments), Contains(why));
    };
    wrong({"--lgo", "a"}, "unknown option --lgo");
    wrong({"--log"}, "--log takes a value");
    wrong({"--limit", "ten"}, "--limit takes a number from 0");
    wrong({"--limit", "-1"}, "\"-1\" is none");
    wrong({"--rounds", "0"}, "--rounds takes a number from 1 to 10000");
    wrong({"--timeout", "1s"}, "--timeout takes a number");
    wrong({"--shard", "4/3"}, "a shard is I/N");
    wrong({"--measure", ""}, "a command");
    wrong({"--merge"}, "--merge takes files");
    wrong({"--merge", "a"}, "where to?");
}

TEST_CASE("durations for people") {
    CHECK(tune::duration_text(0.4) == "0:00");
    CHECK(tune::duration_text(65) == "1:05");
    CHECK(tune::duration_text(7390) == "2:03:10");
}
