#include <tilewright/report/program_report.hpp>

#include "catch.hpp"
#include "program/chip.hpp"

using namespace chip;

namespace {

constexpr auto two_layers = program("two_layers")
                                .input(in, l2)
                                .run("k0", cpu, double_on_cpu)
                                .bind(x, in)
                                .bind(r, t0)
                                .pin(t0, l2)
                                .run("k1", npu, staged_on_npu)
                                .bind(x, t0)
                                .bind(r, out)
                                .output(out, act);

}  // namespace

TEST_CASE("the memory report shows layers with copies, peaks with their bound, offsets over time") {
    CHECK(memory_report(program_plan<two_layers>) ==
          R"(program two_layers: 3 layers, 2,400 cycles; bytes alive in each memory while a layer runs
  steps  layer   on    l2  act  npu.spad  cycles  bytes moved  by
      0  k0      cpu  800    0         0     900            0  -
      1  t0.act  cpu  400  400         0     400          400  fetch
      2  k1      npu    0  400        80   1,100          800  mvin, mvout

l2: peak 800 of 16,384 bytes, lower bound 800, no smaller peak is possible; slack 15,584
  step         0     1     2
  +0x00000000  +-----------+
               | t0        |
               | 400       |
               |           |
               |           |
  +0x00000190  +-----+-----+
               | in  |
               | 400 |
               |     |
               |     |
  +0x00000320  +-----+
  tensor or buffer  kind     bytes  offset  steps
  in                input      400     400  0 to 0
  t0                between    400       0  0 to 1

act: peak 400 of 1,000 bytes, lower bound 400, no smaller peak is possible; slack 600
  step         1        3
  +0x00000000  +--------+
               | t0.act |
               | 400    |
               |        |
               |        |
  +0x00000190  +--------+
  tensor or buffer  kind     bytes  offset  steps
  out               output     400       0  2 to 2  in place of t0.act
  t0.act            between    400       0  1 to 2  copy of t0

npu.spad: peak 80 of 1,024 bytes, lower bound 80, no smaller peak is possible; slack 944
  step         2           3
  +0x00000000  +-----------+
               | k1.x.spad |
               | 40        |
               |           |
               |           |
  +0x00000028  +-----------+
               | k1.r.spad |
               | 40        |
               |           |
               |           |
  +0x00000050  +-----------+
  tensor or buffer  kind    bytes  offset  steps
  k1.x.spad         buffer     40       0  2 to 2  lines 2 to 3
  k1.r.spad         buffer     40      40  2 to 2  lines 3 to 4
)");
}
TEST_CASE("a program that is refused is reported as its verdict") {
    program alone("alone");
    alone.run("k0", cpu, turn_on_cpu).bind(x, t0).bind(r, out).output(out, l2);
    program_plan_value const plan = make_program_plan(alone);
    CHECK(memory_report(plan).rfind("`t0`: kernel `k0` reads it, but nothing writes it", 0) == 0);
    CHECK(to_json(plan).rfind(R"({"program":"alone","refusal":{"verdict":"no_producer",)", 0) == 0);
}
TEST_CASE("the JSON of a program has its layers, memories and places") {
    std::string const text = to_json(program_plan<two_layers>);
    CHECK_THAT(text, Catch::Contains(R"({"name":"t0.act","agent":"cpu","kind":"copy","first_step":1,"last_step":1,"cycles":400)"));
    CHECK_THAT(text,
               Catch::Contains(R"({"name":"l2","capacity":16384,"peak":800,"lower_bound":800,"proven":true,"slack":15584,"constants":0})"));
    CHECK_THAT(text, Catch::Contains(R"("in_place_of":"t0.act")"));
    CHECK_THAT(text, Catch::Contains(R"("kind":"buffer","memory":"npu.spad","bank":0,"offset":0,"bytes":40,"versions":1)"));
}
