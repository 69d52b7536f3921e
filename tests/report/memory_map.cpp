#include <tilewright/report/memory_map.hpp>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"
#include "kernels/schedules.hpp"
#include "report/drawn.hpp"
#include "report/kept.hpp"

using namespace tilewright;
using namespace tilewright::reports;

TEST_CASE("the memory map of lesson 02 has two tiles in the scratchpad and one in the accumulator") {
    CHECK(memory_map(plan<lesson_matmul::matmul_on_npu>) == drawn(R"(
spad, 0x50000000 to 0x50040000: peak 8,192 of 262,144 bytes (3.1 %), slack 253,952 bytes (96.9 %)
  [##..............................................................]

  line        4     5        10
  0x50000000  +--------------+
              | A.spad       |
              | 4,096        |
              |              |
              |              |
  0x50001000  +-----+--------+
                    | B.spad |
                    | 4,096  |
                    |        |
                    |        |
  0x50002000        +--------+

  buffer  extents   type  bytes  offset  address                   alive                  shares bytes with
  A.spad  [64, 64]  int8  4,096       0  0x50000000 to 0x50001000  lines 4 to 9, each ko  -
  B.spad  [64, 64]  int8  4,096   4,096  0x50001000 to 0x50002000  lines 5 to 9, each ko  -

acc, 0x51000000 to 0x51010000: peak 16,384 of 65,536 bytes (25.0 %), slack 49,152 bytes (75.0 %)
  [################................................................]

  line        3        11
  0x51000000  +--------+
              | C.acc  |
              | 16,384 |
              |        |
              |        |
  0x51004000  +--------+

  buffer  extents   type    bytes  offset  address                   alive                   shares bytes with
  C.acc   [64, 64]  int32  16,384       0  0x51000000 to 0x51004000  lines 3 to 10, each no  -
)"));
}

// 26 x 34 and 24 x 32 floats, one after the other at offset 0: 3,536 bytes are enough for 6,608.
TEST_CASE("buffers that use the same bytes at different times stand beside each other") {
    std::string const text = memory_map(make_plan(kernels::blur_in_turn));
    std::string const l1 = text.substr(text.find("l1, 0x"));
    CHECK(l1 == drawn(R"(
l1, 0x10000000 to 0x10008000: peak 3,536 of 32,768 bytes (10.8 %), slack 29,232 bytes (89.2 %)
  [#######.........................................................]
  buffers of 6,608 bytes share 3,536, at different times

  line        1            4           7
  0x10000000  +------------+-----------+
              | picture.l1 | blur_y.l1 |
              | 3,536      | 3,072     |
              |            |           |
              |            |           |
              |            |           |
              |            |           |
              |            |           |
  0x10000c00  |            +-----------+
              |            |
  0x10000dd0  +------------+

  buffer      extents   type   bytes  offset  address                   alive         shares bytes with
  picture.l1  [26, 34]  float  3,536       0  0x10000000 to 0x10000dd0  lines 1 to 3  blur_y.l1
  blur_y.l1   [24, 32]  float  3,072       0  0x10000000 to 0x10000c00  lines 4 to 6  picture.l1
)"));
    CHECK(text.find("blur_x.l2  [26, 32]  float  3,328") != std::string::npos);
    CHECK(text.find("share 3,328") == std::string::npos);
}

TEST_CASE("a gap that an alignment leaves stays empty") {
    // A.l2 lies behind B.l2, whose end 0xd20 is not a multiple of 64
    std::string const text = memory_map(make_plan(kernels::matmul_nt_on_dsp));
    CHECK(text.find("\n  0x20000d20  +-----------------------+\n\n  0x20000d40        +-----------+\n") != std::string::npos);
    CHECK(text.find("A.l2    [12, 36]  int8     432   3,392  0x20000d40 to 0x20000ef0  lines 3 to 10, each mo") != std::string::npos);
}

TEST_CASE("uses of memories sum up sizes, peak and slack") {
    plan_value const plan = make_plan(kernels::blur_in_turn);
    auto const uses = memory_uses(plan);
    REQUIRE(uses.size() == 2);
    CHECK(plan.where->memories[uses[1].memory].name == label("l1"));
    CHECK(uses[1].capacity == 32768);
    CHECK(uses[1].peak == 3536);
    CHECK(uses[1].slack == 32768 - 3536);
    CHECK(uses[1].buffers == 3536 + 3072);
    REQUIRE(uses[1].planned.size() == 2);
    CHECK(plan.buffers[uses[1].planned[0].buffer].name == label("picture.l1"));  // the same offset: the earlier one first
}

namespace {
constexpr memory dram{.name = "dram"};
constexpr memory pool{.name = "pool", .capacity = 128};
constexpr tensor<std::int8_t> in{"in"}, out{"out"};
constexpr axis i{"i", 100};
constexpr auto copy = out(i) = in(i);
}  // namespace

TEST_CASE("a memory without a base shows offsets, and a full one is a full bar") {
    constexpr axis whole{"whole", 128};
    constexpr auto all = out(whole) = in(whole);
    machine const pooled("pooled", dram, pool, transfer("load", dram, pool));
    std::string const text = memory_map(make_plan(schedule(all, pooled).cache_read(in, pool)));
    CHECK(text.find("pool, +0x00000000 to +0x00000080: peak 128 of 128 bytes (100.0 %), slack 0 bytes (0.0 %)\n"
                    "  [################################################################]\n") == 0);
    CHECK(text.find("+0x00000000 to +0x00000080  lines 1 to 2  -") != std::string::npos);
}

TEST_CASE("a kernel without planned buffers and a refused one have no map") {
    CHECK(memory_map(make_plan(schedule(copy, kept(machine("host", dram))))) ==
          "no buffer is planned: the kernel works on its arguments\n");
    machine const pooled("pooled", dram, pool, transfer("load", dram, pool));
    plan_value const refused = make_plan(schedule(copy, pooled).store_in(out, memory{.name = "other"}));
    REQUIRE(refused.refusal);
    CHECK(memory_map(refused) == "refused: " + to_string(refused.refusal) + "\n");
    CHECK(memory_uses(refused).empty());
}
