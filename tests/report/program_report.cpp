#include <tilewright/report/program_report.hpp>

#include "catch.hpp"
#include "program/chip.hpp"
#include "report/two_layers.hpp"

using namespace chip;
using two_layers_program::two_layers;

TEST_CASE("the memory report shows layers with copies, peaks with their bound, offsets over time") {
    CHECK(memory_report(program_plan<two_layers>) ==
          R"(program two_layers: 3 layers, 2,400 cycles; bytes alive in each memory while a layer runs
  steps  layer   on    l2  act  npu.spad  cycles  bytes moved  by
      0  k0      cpu  800    0         0     900            0  -
      1  t0.act  cpu  400  400         0     400          400  fetch
      2  k1      npu    0  400        80   1,100          800  mvin, mvout

l2: peak 800 of 16,384 bytes, lower bound 800, no offsets have a smaller peak; slack 15,584
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

act: peak 400 of 1,000 bytes, lower bound 400, no offsets have a smaller peak; slack 600
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

npu.spad: peak 80 of 1,024 bytes, lower bound 80, no offsets have a smaller peak; slack 944
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
namespace {

// Of a kernel in two stages, what is loaded is gone before what is stored begins.
constexpr tensor<std::int32_t> mid{"mid"};
constexpr auto in_turn = stages(mid(i, j) = x(i, j) + 1, r(i, j) = mid(i, j) * 2);
constexpr memory near{.name = "near", .capacity = 4_KiB, .banks = 2};
constexpr auto bring = transfer("bring", l2, near), take = transfer("take", near, l2);
constexpr auto near_machine = machine("near_machine", l2, near, bring, take);
constexpr agent by_near("by_near", near_machine);
constexpr auto turn_in_near = schedule(in_turn, near_machine)
                                  .writes(r, l2)
                                  .cache_write(r, near)
                                  .in_bank(1)
                                  .store_in(mid, near)
                                  .in_bank(0)
                                  .stage(mid)
                                  .reads(x, l2)
                                  .cache_read(x, near)
                                  .in_bank(1);
constexpr auto one_layer = program("one_layer").input(in, l2).run("k0", by_near, turn_in_near).bind(x, in).bind(r, out).output(out, l2);

}  // namespace

TEST_CASE("a kernel's own buffers are drawn over the points of its step, bank by bank, and listed with the lines that they are alive in") {
    CHECK_THAT(memory_report(program_plan<one_layer>),
               Catch::Contains(R"(near: peak 400 of 2,048 bytes, lower bound 400, no offsets have a smaller peak; slack 1,648
  bank 0
  step         0             1
  +0x00000000  +-------------+
               | k0.mid.near |
               | 400         |
               |             |
               |             |
  +0x00000190  +-------------+
  bank 1
  step         0           0.1         1
  +0x00000800  +-----------+-----------+
               | k0.x.near | k0.r.near |
               | 400       | 400       |
               |           |           |
               |           |           |
  +0x00000990  +-----------+-----------+
  tensor or buffer  kind    bytes  offset  steps
  k0.mid.near       buffer    400       0  0 to 0  bank 0, lines 3 to 5
  k0.r.near         buffer    400       0  0 to 0  bank 1, lines 4 to 6
  k0.x.near         buffer    400       0  0 to 0  bank 1, lines 1 to 3
)"));
    CHECK_THAT(
        to_json(program_plan<one_layer>),
        Catch::Contains(
            R"("kind":"buffer","memory":"near","type":"int32","extents":[10,10],"bank":1,"offset":0,"bytes":400,"versions":1,"first_step":0,)"
            R"("last_step":0,"first_line":4,"last_line":6)"));
}
TEST_CASE("cycles of a program that are not resolved are reported with what they are at least") {
    program_plan_value plan = program_plan<two_layers>;
    plan.total_known = false;
    CHECK_THAT(memory_report(plan), Catch::StartsWith("program two_layers: 3 layers, cycles unresolved, at least 2,400; bytes alive"));
    CHECK_THAT(to_json(plan), Catch::EndsWith(R"("cycles":null,"bound":2400})"));
    CHECK_FALSE(plan.cycles_resolved());
    CHECK_THROWS_AS(plan.cycles() == 2400, bad_query);
    CHECK(tilewright::reports::cycles_text(std::nullopt, 1200) == "unresolved, at least 1,200");
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
    CHECK_THAT(
        text,
        Catch::Contains(
            R"({"name":"l2","capacity":16384,"peak":800,"lower_bound":800,"proven":true,"slack":15584,"constants":0,"as_planned":[]})"));
    CHECK_THAT(text, Catch::Contains(R"("in_place_of":"t0.act")"));
    CHECK_THAT(text,
               Catch::Contains(
                   R"("kind":"buffer","memory":"npu.spad","type":"int32","extents":[1,10],"bank":0,"offset":0,"bytes":40,"versions":1)"));
}
