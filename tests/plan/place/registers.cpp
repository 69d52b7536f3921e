#include <tilewright/plan/place/registers.hpp>

#include <tilewright/base/label_text.hpp>

#include "plan/passes.hpp"

// What a tile body holds in registers at one time.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// Twelve registers of 16 bytes, four floats each, that a core loads and stores.
constexpr memory file{.name = "file", .capacity = 12 * 16, .registers = 12};
constexpr core host{.name = "host"}, fusing{.name = "host", .fused_multiply_add = true};
constexpr auto load = transfer("load", dram, file).on(host);
constexpr auto store = transfer("store", file, dram).on(host);
constexpr auto plain = machine("plain", dram, file, host, load, store), fused = machine("fused", dram, file, fusing, load, store);

constexpr axis i{"i", 3}, j{"j", 8}, l{"l", 5}, jo{"jo"}, ji{"ji"};
constexpr tensor<float> x{"x"}, y{"y"}, z{"z"};
constexpr auto products = z(i, j) = sum(l, x(i, l) * y(l, j));

/// 3 rows of two vectors, for each l: a scalar of x for a row, two vectors of y.
schedule in_registers(machine const& on) {
    return schedule(products, on).split(j, jo, ji, 4).reorder(l, i, jo, ji).vectorize(ji).unroll(i).unroll(jo).cache_write(z, file);
}
verdict checked(schedule const& of) {
    plan_value const plan = make_plan(of);
    return plan.refusal;
}

}  // namespace

TEST_CASE("a row takes whole registers") {
    CHECK(registers_of_row(4, scalar_type::float32, 16) == 1);
    CHECK(registers_of_row(5, scalar_type::float32, 16) == 2);
    CHECK(registers_of_row(16, scalar_type::int8, 16) == 1);
    CHECK(registers_of_row(1, scalar_type::int8, 16) == 1);
    buffer const b{.type = scalar_type::float32, .rank = 2, .extents = {3, 6}};
    CHECK(bytes_in_registers(b, file) == 3 * 2 * 16);
    CHECK(bytes_in_registers({.type = scalar_type::float32}, file) == 16);
}
TEST_CASE("an operand that loops around do not move is kept over all that move it") {
    planned_to t(pass::program, in_registers(plain));
    REQUIRE_FALSE(t.p.refused());
    int at = 0;
    while (t.p.plan.bodies[at].kind == body_kind::identity) ++at;
    body b = t.p.plan.bodies[at];
    auto const loop = [&](label const& name) { return t.variable(name); };
    register_count count(t.p.plan, b, 1);
    auto const held = [&](std::initializer_list<label> order) {
        fixed_array<variable_id, body::most_loops> loops{};
        int next = 0;
        for (label const& name : order) loops[next++] = loop(name);
        b.loops = loops, b.loop_count = static_cast<std::int16_t>(next);
        return count(loops);
    };
    // Rows around vectors: one scalar of x at a time, both vectors of y kept, and a product.
    CHECK(held({"i", "jo", "ji"}) == 1 + 2 + 1);
    CHECK((count.operand_count == 2 && count.operands[0].tensor == "x" && count.operands[0].registers == 1));
    CHECK((count.operands[1].tensor == "y" && count.operands[1].registers == 2));
    // The other way round: three scalars are kept, vectors stream.
    CHECK(held({"jo", "i", "ji"}) == 3 + 1 + 1);
}
TEST_CASE("a core that fuses needs no register for the product") {
    planned_to t(pass::program, in_registers(fused));
    int at = 0;
    while (t.p.plan.bodies[at].kind == body_kind::identity) ++at;
    body const& b = t.p.plan.bodies[at];
    register_count count(t.p.plan, b, 1);
    CHECK(count(b.loops) == 1 + 2);
}
TEST_CASE("loops are written out in the order that holds the fewest, and in that of the schedule where they are equal") {
    planned_to t(pass::program, in_registers(plain).reorder(jo, i));
    REQUIRE_FALSE(t.p.refused());
    int at = 0;
    while (t.p.plan.bodies[at].kind == body_kind::identity) ++at;
    body& b = t.p.plan.bodies[at];
    register_count count(t.p.plan, b, 1);
    CHECK(order_for_registers(t.p.plan, b, count) == 4);
    std::string order;
    for (int loop = 0; loop < b.loop_count; ++loop) order += t.p.var(b.loops[loop]).name.str() + " ";
    CHECK(order.find("i jo") != std::string::npos);
}
TEST_CASE("what is held is what fits, or the tile is refused with what it holds") {
    // 3 x 2 vectors of sums, and four.
    CHECK_FALSE(checked(in_registers(plain)));
    static constexpr memory nine{.name = "file", .capacity = 9 * 16, .registers = 9};
    static constexpr auto from_nine = transfer("load", dram, nine).on(host), to_dram = transfer("store", nine, dram).on(host);
    static constexpr auto smaller = machine("smaller", dram, nine, host, from_nine, to_dram);
    verdict const v = checked(in_registers(smaller));
    REQUIRE(v.kind == verdict_kind::register_overflow);
    CHECK((v.facts[0].value == 10 && v.facts[1].value == 9));
    CHECK((v.shares[0].name == "z" && v.shares[0].copies == 6));
}
TEST_CASE("registers have no addresses: what moves an index is written out") {
    verdict const v =
        checked(schedule(products, plain).split(j, jo, ji, 4).reorder(l, i, jo, ji).vectorize(ji).unroll(jo).cache_write(z, file));
    CHECK(v.broken == rule::registers_without_address);
    CHECK((v.names[0] == "i" && v.names[1] == "z"));
}
TEST_CASE("a partial tile in registers always has as much") {
    constexpr axis rows{"i", 10}, io{"io"}, ii{"ii"};
    auto const wide = z(rows, j) = sum(l, x(rows, l) * y(l, j));
    auto const tiles = [&](schedule of) {
        return of.split(rows, io, ii, 4)
            .split(j, jo, ji, 4)
            .reorder(io, jo, l, ii, ji)
            .vectorize(ji)
            .unroll(ii)
            .cache_write(z, file)
            .at(jo);
    };
    CHECK(checked(tiles(schedule(wide, plain))).broken == rule::none);  // two of four, in each column of tiles
}
TEST_CASE("bytes are added up by fours where lanes of a reduction are") {
    constexpr axis four{"l", 4};
    constexpr tensor<std::int8_t> bytes{"bytes"};
    constexpr tensor<std::uint8_t> levels{"levels"};
    constexpr tensor<std::int32_t> sums{"sums"};
    // 2 * 100 * 128 fits 16 bits, 2 * 255 * 128 does not.
    auto const small = sums(i) = sum(four, cast<std::int32_t>(min(levels(i, four), 100)) * cast<std::int32_t>(bytes(i, four)));
    auto const large = sums(i) = sum(four, cast<std::int32_t>(levels(i, four)) * cast<std::int32_t>(bytes(i, four)));
    planned_to fits(pass::program, schedule(small, plain).vectorize(four)),
        saturates(pass::program, schedule(large, plain).vectorize(four));
    REQUIRE_FALSE((fits.p.refused() || saturates.p.refused()));
    body b = fits.p.plan.bodies[0];
    CHECK(adds_bytes_by_fours(fits.p.plan, b));
    CHECK_FALSE(adds_bytes_by_fours(saturates.p.plan, saturates.p.plan.bodies[0]));
    b.loop_count = 1;  // the loop over i alone
    CHECK_FALSE(adds_bytes_by_fours(fits.p.plan, b));
}
