#include <tilewright/plan/write/fills.hpp>

#include <bit>

#include "plan/passes.hpp"

// Constants that transfers write.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis z{"z", 1}, x{"x", 10};
constexpr memory blind{.name = "blind", .base = 0x8000, .capacity = 1_KiB, .host_visible = false};
constexpr tensor<std::int32_t> d{"d"}, s{"s"};
constexpr auto seven = transfer("seven", dram, spad, d(z) = 7).dimensions(2);
constexpr auto doubled = transfer("doubled", dram, spad, d(z) = s(z) * 2).dimensions(2);
constexpr auto bordering = transfer("bordering", dram, spad).dimensions(2).fills_border(7);
constexpr auto any_border = transfer("any_border", dram, spad).dimensions(2).fills_border();
constexpr auto to_blind = transfer("to_blind", dram, blind).dimensions(2);
constexpr auto seven_blind = transfer("seven_blind", dram, blind, d(z) = 7).dimensions(2);
constexpr auto with_fill = machine("with_fill", dram, spad, get, seven, doubled);
constexpr auto without_sight = machine("without_sight", dram, blind, to_blind);
constexpr auto filled_blind = machine("filled_blind", dram, blind, to_blind, seven_blind);

template <int Border>
constexpr auto shifted = C(x) = padded(A(x), Border)(x - 1);
/// What the first staging has come to, behind the choice of transfers.
staging staging_of(schedule const& of) {
    planned_to const t(pass::rings, of);
    REQUIRE_FALSE(t.p.refused());
    return t.p.staging_at(0);
}

}  // namespace

TEST_CASE("a transfer fills when it writes a constant of that type, to that memory") {
    blank t(with_fill);
    CHECK((filled_value(t.p, 1, 1, scalar_type::int32).is && filled_value(t.p, 1, 1, scalar_type::int32).value == 7));
    CHECK_FALSE(filled_value(t.p, 1, 1, scalar_type::int8).is);
    CHECK_FALSE(filled_value(t.p, 1, 0, scalar_type::int32).is);
    CHECK_FALSE(filled_value(t.p, 0, 1, scalar_type::int32).is);
    CHECK_FALSE(filled_value(t.p, 2, 1, scalar_type::int32).is);
}
TEST_CASE("a load writes borders of its own value, or of any") {
    node const number{.type = scalar_type::int32, .value = 7}, other{.type = scalar_type::int32, .value = 8},
        seven_as_float{.type = scalar_type::float32, .value = std::bit_cast<std::int64_t>(7.0)};
    CHECK((writes_border(bordering, number) && !writes_border(bordering, other) && writes_border(bordering, seven_as_float)));
    CHECK((writes_border(any_border, other) && !writes_border(get, number)));
}
TEST_CASE("a border is written by the load, by another transfer, or else by the core") {
    static constexpr auto with_border = machine("with_border", dram, spad, bordering);
    staging const by_load = staging_of(schedule(shifted<7>, with_border).cache_read(A, spad)),
                  by_core_there = staging_of(schedule(shifted<8>, with_border).cache_read(A, spad)),
                  by_fill = staging_of(schedule(shifted<7>, with_fill).cache_read(A, spad)),
                  other_value = staging_of(schedule(shifted<8>, with_fill).cache_read(A, spad));
    CHECK((by_load.pads && by_load.fill == staging::no_fill));
    CHECK((!by_core_there.pads && by_core_there.fill == staging::filled_by_core));
    CHECK(by_fill.fill == 1);
    CHECK(other_value.fill == staging::filled_by_core);
    planned_to const by_code(pass::rings, schedule(shifted<8>, with_fill).cache_read(A, spad));
    CHECK(by_code.p.plan.buffers[by_code.buffer("A.spad")].code_access);
    CHECK(is_filled_by_core(by_code.p, other_value));
    CHECK(is_filled_by_core(by_code.p, by_fill));  // which the core waits for
    CHECK_FALSE(is_filled_by_core(by_code.p, by_load));
}
TEST_CASE("what the core does not see, something else must fill") {
    verdict const v = planned_to(pass::rings, schedule(shifted<7>, without_sight).cache_read(A, blind)).refusal();
    CHECK((v.kind == verdict_kind::no_border && v.broken == rule::border_without_fill));
    CHECK(staging_of(schedule(shifted<7>, filled_blind).cache_read(A, blind)).fill == 1);
}
