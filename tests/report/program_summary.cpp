#include <tilewright/report/program_summary.hpp>

#include <sstream>

#include "catch.hpp"
#include "program/chip.hpp"
#include "report/two_layers.hpp"

using namespace chip;
using two_layers_program::two_layers;

TEST_CASE("a program prints its cycles, its memories, and the layers that take longest") {
    std::ostringstream printed;
    printed << program_plan<two_layers>;
    CHECK(printed.str() == R"(two_layers: 2,400 cycles, 3 layers

l2        800 of 16,384  bytes   4.9 %  |##                              |
act        400 of 1,000  bytes  40.0 %  |#############                   |
npu.spad    80 of 1,024  bytes   7.8 %  |###                             |

k1      npu  1,100  cycles  45.8 %  36.4 % copies to x.spad by mvin
k0      cpu    900  cycles  37.5 %  100.0 % runs the loops of r: vectorize or tensorize them
t0.act  cpu    400  cycles  16.7 %  100.0 % copies to to by fetch
)");
    CHECK(summary(program_plan<two_layers>, true).rfind("\033[1mtwo_layers: 2,400 cycles, 3 layers\033[0m\n", 0) == 0);
}
TEST_CASE("the summary of a program that is refused is its verdict") {
    program const refused = program("refused").run("k0", cpu, double_on_cpu).bind(x, in).bind(r, out);
    std::ostringstream printed;
    printed << make_program_plan(refused);
    CHECK(printed.str().rfind("refused: ", 0) == 0);
}
