#include <tilewright/tune/by_command.hpp>

#include "catch.hpp"
#include "folder.hpp"

using namespace tilewright;
using Catch::Matchers::Contains;
using ending = tune::command_result::ending;

namespace {
tune::command_result run(std::string const& command, double timeout = 20, std::function<bool()> const& stop = {}) {
    return tune::run_command(command, {"rows=6", "a b"}, {{"OF_TEST", "x y"}}, timeout, stop);
}
}  // namespace

TEST_CASE("a command gets arguments and variables, and what it prints is kept") {
    tune::command_result const ran = run("printf '%s|' \"$OF_TEST\"; printf '%s|'");
    CHECK(ran.how == ending::exited);
    CHECK(ran.code == 0);
    CHECK(ran.output == "x y|rows=6|a b|");
    CHECK(run("cat; exit 3 #").code == 3);  // it reads nothing
    CHECK(run("yes | head -c 300000 #").output.size() <= 65536 + 4096);
}

TEST_CASE("a command that fails in any way ends") {
    CHECK(run("/no/such/command").code == 127);
    tune::command_result const killed = run("kill -9 $$ #");
    CHECK(killed.how == ending::killed);
    CHECK(killed.code == 9);
    folder const in;
    tune::command_result const late = run("sh -c 'sleep 1; touch " + in.name() + "/late' & sleep 5; echo 1 #", 0.2);
    CHECK(late.how == ending::timed_out);
    CHECK(late.milliseconds < 2000);
    tune::command_result const stopped = run("sleep 5 #", 20, [] { return true; });
    CHECK(stopped.how == ending::stopped);
    CHECK(stopped.milliseconds < 2000);
    ::usleep(1'100'000);
    CHECK_FALSE(std::filesystem::exists(in / "late"));  // what the command had started went with it
}

TEST_CASE("only a number alone is a measurement") {
    CHECK(tune::detail::number_in("12.5\n") == 12.5);
    CHECK(tune::detail::number_in(" -3e2 \n\n") == -300);
    for (char const* text : {"", "\n", "12 cycles", "1 2", "nan", "inf", "1e999", "cycles: 12", "0x"})
        CHECK(std::isnan(tune::detail::number_in(text)));
    CHECK(std::isnan(tune::detail::number_in(std::string("1\0002", 3))));
    CHECK(tune::detail::shown("a\nb\x01") == "\"a b \"");
    CHECK(tune::detail::shown(std::string(100, 'x')) == "\"" + std::string(60, 'x') + "\" and more");
}
