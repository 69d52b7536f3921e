#include <tilewright/report/summary.hpp>

#include <pty.h>
#include <sys/wait.h>

#include <cstdlib>
#include <memory>
#include <sstream>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"
#include "kernels/cores.hpp"
#include "report/drawn.hpp"
#include "report/kept.hpp"

using namespace tilewright;

// The numbers are those of traffic.cpp. 4 and 64 KiB of 256 and 128 hold the tiles; bars have 32 columns, of which each begun one is drawn.
TEST_CASE("the summary of lesson 02 has cycles, memories, engines and what they do most") {
    std::string const text = summary(plan<lesson_matmul::matmul_on_npu>);
    CHECK(text.substr(0, text.find('\n')) == "npu: 921,600 cycles, 1.76 times the bound of 524,288 (array)");
    CHECK(text.find("loader  262,144 of 921,600  cycles  28.4 %  |##########                      |\n") != std::string::npos);
    CHECK(text.find("host          0 of 921,600  cycles   0.0 %  |                                |\n") != std::string::npos);
    CHECK(text.substr(text.rfind("\n\n")) ==
          "\n\nof all work: mac16 55.1 %, mvin 35.6 %, mvout 7.6 %, mul16 1.8 %\n"
          "for 56.9 % of the cycles, host waits until array has done mac16; what would help: asynchronous(), if the hardware goes on by "
          "itself\n");
}
TEST_CASE("a plan prints its summary, and a string is no terminal") {
    std::ostringstream printed;
    printed << plan<lesson_matmul::matmul_on_npu>;
    CHECK(printed.str() == summary(plan<lesson_matmul::matmul_on_npu>));
}
TEST_CASE("colours: a bold first line, memories that fill up, and units that work all the time") {
    std::string const text = summary(plan<lesson_matmul::matmul_on_npu>, true);
    CHECK(text.rfind("\033[1mnpu: ", 0) == 0);
    CHECK(text.find("(array)\033[0m\n") != std::string::npos);
    CHECK(text.find("mloader") == std::string::npos);
    // A copy of so many bytes in a memory of 100, by a unit that does nothing else.
    static constexpr tensor<std::int8_t> in{"in"}, out{"out"};
    static constexpr memory dram{.name = "dram"}, near{.name = "near", .capacity = 100};
    machine const& host = kept(machine("host", dram, near, transfer("get", dram, near)));
    struct shown_as {
        int bytes;
        char const* escape;
    };
    for (auto const& [bytes, escape] : {shown_as{74, "\n"}, {75, "\033[1;33m"}, {89, "\033[1;33m"}, {90, "\033[1;31m"}}) {
        axis const i{"i", bytes};
        computation const copied = out(i) = in(i);
        std::string const shown = summary(make_plan(schedule(copied, host).cache_read(in, near)), true);
        CAPTURE(shown);
        CHECK(shown.find(escape + std::string("near")) != std::string::npos);
        CHECK(shown.find(std::to_string(bytes) + " of 100  bytes") != std::string::npos);
        CHECK(shown.find("\033[1;32mhost") != std::string::npos);
    }
}
TEST_CASE("a plan on a terminal has colours, unless NO_COLOR or TERM says otherwise") {
    // In a process of its own, whose standard output is a terminal.
    auto const printed = [](char const* unwanted, char const* kind) {
        int terminal = -1;
        pid_t const child = forkpty(&terminal, nullptr, nullptr, nullptr);
        if (child == 0) {
            unwanted == nullptr ? unsetenv("NO_COLOR") : setenv("NO_COLOR", unwanted, 1);
            kind == nullptr ? unsetenv("TERM") : setenv("TERM", kind, 1);
            std::cout << plan<lesson_matmul::matmul_on_npu> << std::flush;
            _exit(0);
        }
        std::string text;
        char some[4096];
        for (ssize_t count = 0; (count = read(terminal, some, sizeof some)) > 0;) text.append(some, static_cast<std::size_t>(count));
        waitpid(child, nullptr, 0);
        close(terminal);
        CHECK(text.find("npu: 921,600 cycles") != std::string::npos);
        return text.find('\033') != std::string::npos;
    };
    CHECK(printed(nullptr, "xterm"));
    CHECK(printed("", "xterm"));
    CHECK(!printed("1", "xterm"));
    CHECK(!printed(nullptr, "dumb"));
    CHECK(!printed(nullptr, nullptr));
    CHECK(!reports::shows_colours(std::ostringstream()));
}
// Two channels of one engine carry what one would carry in twice the time.
TEST_CASE("an engine with several channels is full when all of them are") {
    schedule const of = cores_of_dsp::with_barriers()[4];
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    std::string const text = summary(*plan);
    CAPTURE(text);
    bool found = false;
    for (reports::occupation const& one : reports::occupations_of(*plan)) {
        if (one.channels == 1 || one.busy == 0) continue;
        std::string const whole = reports::grouped(*reports::predicted_cycles(*plan) * one.channels);
        CHECK(text.find(reports::grouped(one.busy) + " of " + whole + "  cycles") != std::string::npos);
        found = true;
    }
    CHECK(found);
}
TEST_CASE("the summary of a refused plan is its verdict") {
    schedule const wrong = schedule(lesson_matmul::matmul, lesson_matmul::npu).split(lesson_matmul::m, "a", "b", 0);
    CHECK(summary(make_plan(wrong)).rfind("refused: `", 0) == 0);
}
TEST_CASE("numbers of plans print") {
    std::ostringstream printed;
    printed << plan<lesson_matmul::matmul_on_npu>.cycles() << ' ' << make_plan(lesson_matmul::matmul_on_npu).cycles() << ' '
            << ir::quantity(2.5) << ' ' << ir::quantity::at_least(12000) << ' ' << plan_value::unknown;
    CHECK(printed.str() == "921600 921600 2.5 at least 12000 unknown");
    // All digits of a peak, in the compiler's plan as in one that is made at run time.
    static constexpr tensor<std::int8_t> in{"in"}, out{"out"};
    static constexpr memory dram{.name = "dram"}, large{.name = "large", .capacity = 2_MiB};
    static constexpr axis i{"i", 1'500'000};
    static constexpr auto host = machine("host", dram, large, transfer("get", dram, large));
    static constexpr auto copied = out(i) = in(i);
    static constexpr auto staged = schedule(copied, host).cache_read(in, large);
    std::ostringstream peaks;
    peaks << plan<staged>.peak(large) << ' ' << make_plan(staged).peak(large);
    CHECK(peaks.str() == "1500000 1500000");
}
