#include <bit>
#include <tilewright/report/loop_program.hpp>
#include <type_traits>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"
#include "kernels/features.hpp"
#include "kernels/schedules.hpp"
#include "report/drawn.hpp"

using namespace tilewright;
using namespace tilewright::reports;

namespace {

bool has_line(std::string const& text, std::string const& line) { return ("\n" + text).find("\n" + line + "\n") != std::string::npos; }
/// Whether some line ends like that.
bool has(std::string const& text, std::string const& end) { return text.find(end + "\n") != std::string::npos; }

constexpr memory dram{.name = "dram"};
constexpr memory tcm{.name = "tcm", .capacity = 64_KiB};
constexpr tensor<std::int32_t> in{"in"}, out{"out"};
constexpr axis i{"i", 6}, j{"j", 4};

}  // namespace

TEST_CASE("the loop program of lesson 02 is its loops, transfers and instructions") {
    CHECK(loop_program(plan<lesson_matmul::matmul_on_npu>) == drawn(R"(
line   times   bytes  cycles
   1                          for mo in 0..8
   2                            for no in 0..8
   3                              for ko in 0..8
   4     512   4,096     320        mvin  A[64 mo, 64 ko] (64 x 64) -> A.spad
   5     512   4,096     320        mvin  B[64 ko, 64 no] (64 x 64) -> B.spad
   6                                for mi in 0..4
   7                                  for ni in 0..4
   8                                    for ki in 0..4
   9  32,768              16              mul16 if ko == 0 and ki == 0 else mac16 (A.spad[16 mi, 16 ki], B.spad[16 ki, 16 ni], C.acc[16 mi, 16 ni])
  10      64  16,384   1,088      mvout  C.acc (64 x 64) -> C[64 mo, 64 no]
)"));
}

TEST_CASE("tile bodies show their loops, their marks and what they compute") {
    // 8 x 8 x 12 products, each of 3 loads (2), 2 conversions (1), a product (3), a sum (1) and a store (2): 14 * 768 cycles
    std::string const matmul = loop_program(make_plan(kernels::matmul_nn_on_dsp));
    CHECK(has(matmul, "compute C: for mi in 0..8, ni in 0..8 vectorized"));
    CHECK(has(matmul, "C.l1[mi, ni] = 0"));
    CHECK(has_line(matmul, "   7     45         10,752        compute C: for mi in 0..8, ki in 0..12, ni in 0..8 vectorized"));
    CHECK(has(matmul, "C.l1[mi, ni] += int32(A.l1[mi, ki]) * int32(B.l1[ki, ni])"));

    CHECK(has(loop_program(make_plan(kernels::matmul_tt_on_dsp)),
              "C[m, 8 no + ni] = sum(k.outer, k.copies, A[4 k.outer + k.copies, m] * B[8 no + ni, 4 k.outer + k.copies])"));
    CHECK(has(loop_program(make_plan(kernels::matmul_nt_on_dsp)), "ki.outer in 0..3, ki.copies in 0..3 unrolled"));
    std::string const highest = loop_program(make_plan(kernels::row_max_on_dsp));
    CHECK(has(highest, "highest.l1[rowi] = -infinity"));
    CHECK(has(highest, "highest.l1[rowi] = max(highest.l1[rowi], table.l1[rowi, columni])"));
    CHECK(has(loop_program(make_plan(kernels::row_min_on_dsp)), "lowest[5 rowo + rowi] = minimum(column, numbers.l1[rowi, column])"));
}

TEST_CASE("parts of a fused loop are divisions and remainders of it") {
    CHECK(has(loop_program(make_plan(kernels::matmul_tn_on_dsp)), "C.l1[((8 mo + mi) / 40), ((8 mo + mi) % 40)] = 0"));
}

TEST_CASE("regions say where they begin, how they lie and what fills them") {
    // the halo of conv1d: 16 results need 22 inputs
    CHECK(has(loop_program(make_plan(kernels::conv1d_on_dsp)), "dram_l1  in[16 oo] (22) -> in.l1"));
    // of a 2-dimensional transfer, rows; the third dimension is a loop of the program
    std::string const widened = loop_program(make_plan(features::widened_by_dma));
    CHECK(has(widened, "for wide in 0..4"));
    CHECK(has(widened, "widen  bytes[4 ho + wide + 1, 1] (10 in steps of 2) -> wide.tcm[wide, 0]"));
    CHECK(has(loop_program(make_plan(features::transposed_by_dma)),
              "turn  words[0, 3 ho] (3 of dimension 1 x 10 of dimension 0) -> turned.tcm"));
    CHECK(has(loop_program(make_plan(features::constant_by_dma)), "clear_tcm  5 (12 x 10) -> filled.tcm"));
    // lowest index of the argument: -1
    CHECK(has(loop_program(make_plan(features::neighbours_on_core)), "in_tcm  X[20 eo - 1] (22) -> X.tcm"));
    CHECK(has(loop_program(make_plan(schedule(features::neighbours, features::core_with_tcm).cache_read(features::X, features::tcm))),
              "in_tcm  X (62) -> X.tcm"));
    // a scalar has no indices
    CHECK(has(loop_program(make_plan(features::sum_all_on_core)), "total.tcm += longs.tcm[0, w]"));

    // A row of 32 elements is twice as long as a call can move: two rows of 16 without a gap, not steps.
    constexpr axis p{"p", 32};
    constexpr auto copy = out(p) = in(p);
    machine const cutting("cutting", dram, tcm, transfer("cut", dram, tcm).dimensions(2).row_limit(64));
    CHECK(has(loop_program(make_plan(schedule(copy, cutting).cache_read(in, tcm))), "cut  in (2 x 16) -> in.tcm"));
}

TEST_CASE("instructions of different cost show both, and a fence shows its buffer") {
    std::string const dots = loop_program(make_plan(features::matmul_by_dots));
    CHECK(has_line(
        dots,
        "   8    120         3 or 4            first_dots if k == 0 else dots (A.spad[8 mi, 4 k], B.spad[4 ni, 4 k], C.acc[8 mi, 4 ni])"));
    CHECK(has(loop_program(make_plan(features::matmul_by_mac)), "for ko in 0..5 unrolled"));
    CHECK(has(loop_program(make_plan(kernels::blur_in_turn)), "fence blur_y.l1"));
}

TEST_CASE("values keep the parentheses that they need and no others") {
    machine const host("host", dram);
    auto const shown = [&](auto const& what) {
        std::string const text = loop_program(make_plan(schedule(what, host)));
        std::size_t const at = text.find("out[i, j] = ");
        return at == std::string::npos ? text : text.substr(at + 12, text.size() - at - 13);
    };
    auto const a = in(i, j), b = in(i, j);
    CHECK(shown(out(i, j) = a - (b - a)) == "in[i, j] - (in[i, j] - in[i, j])");
    CHECK(shown(out(i, j) = (a - b) - a) == "in[i, j] - in[i, j] - in[i, j]");
    CHECK(shown(out(i, j) = (a + b) * 2 % 5) == "(in[i, j] + in[i, j]) * 2 % 5");
    CHECK(shown(out(i, j) = a * (b % 5)) == "in[i, j] * (in[i, j] % 5)");
    CHECK(shown(out(i, j) = (a << 2) + (b >> 1)) == "(in[i, j] << 2) + (in[i, j] >> 1)");
    CHECK(shown(out(i, j) = select(!(a < b) && a != 3, min(a, b), cast<std::int32_t>(i + 2 * j))) ==
          "select(!(in[i, j] < in[i, j]) && in[i, j] != 3, min(in[i, j], in[i, j]), int32(i + 2 * j))");
    CHECK(shown(out(i, j) = a * cast<std::int32_t>(j)) == "in[i, j] * int32(j)");
}

TEST_CASE("constants are the shortest texts that mean the same") {
    auto const text = [](scalar_type type, auto value) {
        if constexpr (std::is_floating_point_v<decltype(value)>)
            return constant_text({.type = type, .value = std::bit_cast<std::int64_t>(value)});
        else return constant_text({.type = type, .value = value});
    };
    CHECK(text(scalar_type::float32, 3.0) == "3.0");
    CHECK(text(scalar_type::float32, static_cast<double>(0.1f)) == "0.1");
    CHECK(text(scalar_type::float64, static_cast<double>(0.1f)) == "0.10000000149011612");
    CHECK(text(scalar_type::float64, -1e300) == "-1e+300");
    CHECK(text(scalar_type::boolean, std::int64_t{1}) == "true");
    CHECK(text(scalar_type::int64, std::int64_t{-5}) == "-5");
    CHECK(text(scalar_type::uint64, std::int64_t{-1}) == "18446744073709551615");
}

TEST_CASE("lines count the steps but not the ends of loops") {
    auto const& of = plan<lesson_matmul::matmul_on_npu>;
    // mo, no, ko, A, B, mi, ni, ki, compute, four ends, mvout, two ends
    REQUIRE(of.steps.size() == 16);
    CHECK(line_number(of, 0) == 1);
    CHECK(line_number(of, 8) == 9);
    CHECK(line_number(of, 13) == 10);
    CHECK(line_number(of, 16) == 11);
}

TEST_CASE("nested loops of one name are told apart") {
    axis const h{"h", 8};
    tensor<std::int32_t> const mid{"mid"};
    auto const both = stages(mid(h) = in(h)*2, out(h) = mid(h) + 1);
    machine const one("one", dram, tcm, transfer("load", dram, tcm));
    plan_value const nested = make_plan(schedule(both, one).compute_at(mid, h).store_in(mid, tcm).stage(mid).cache_read(in, tcm).at(h));
    CHECK(loop_program(nested) == drawn(R"(
line  times  bytes  cycles
   1                        for h in 0..8
   2                          for h' in 0..1
   3      8      4       4      load  in[h + h'] (1) -> in.tcm
   4      8              3      compute mid
                                    mid.tcm[h'] = in.tcm[0] * 2
   5      8              3    compute out
                                  out[h] = mid.tcm[0] + 1
)"));
    // one after the other they are not nested
    plan_value const in_turn = make_plan(schedule(both, one).store_in(mid, tcm));
    CHECK(loop_program(in_turn).find('\'') == std::string::npos);
}

TEST_CASE("at some extents, the loop program has their numbers and no trace of their axes") {
    using namespace lesson_matmul;
    axis const open{"open", dynamic};
    auto const doubled = C(open, n) = cast<std::int32_t>(A(open, n)) * 2;
    plan_value const any = make_plan(schedule(doubled, npu).split(open, mo, mi, 64).split(n, no, ni, 32).reorder(mo, no, mi, ni));
    REQUIRE(!any.refusal);
    std::string const text = loop_program(any.at({{open, 200}}));
    INFO(text);
    CHECK(text.find("64 mo + mi < 200") != std::string::npos);
    CHECK(text.find("open") == std::string::npos);
}

TEST_CASE("a refused plan shows its verdict instead") {
    plan_value const refused = make_plan(schedule(lesson_matmul::matmul, lesson_matmul::npu).reorder("x"));
    REQUIRE(refused.refusal);
    CHECK(loop_program(refused) == "refused: " + to_string(refused.refusal) + "\n");
    CHECK(lines_of(refused).empty());
}
