#include <tilewright/report/summary.hpp>

#include <cstdlib>
#include <sstream>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"
#include "report/drawn.hpp"

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
TEST_CASE("colours are bold escapes around lines; NO_COLOR takes them away") {
    std::string const text = summary(plan<lesson_matmul::matmul_on_npu>, true);
    CHECK(text.rfind("\033[1mnpu: ", 0) == 0);
    CHECK(text.find("(array)\033[0m\n") != std::string::npos);
    CHECK(text.find("\033[1mloader") == std::string::npos);
    setenv("NO_COLOR", "1", 1);
    CHECK(!reports::shows_colours(std::cout));
    unsetenv("NO_COLOR");
    CHECK(!reports::shows_colours(std::ostringstream()));
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
}
