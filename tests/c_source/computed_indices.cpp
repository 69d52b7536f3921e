#include "c_source/compiled.hpp"

// Padded tensors at indices that expressions give: by Halide's object, and as C by two compilers, as the oracle says.

using namespace tilewright;
using namespace c_kernels;

namespace {

constexpr memory dram{.name = "dram"}, near_by{.name = "near_by", .base = 0x2000, .capacity = 16_KiB, .alignment = 4};
constexpr auto bring = transfer("bring", dram, near_by).dimensions(3), back = transfer("back", near_by, dram).dimensions(3);
constexpr auto host = machine("index_host", dram, near_by, bring, back);

// Some of all bytes are rows of the table.
constexpr axis t{"t", 21}, d{"d", 10}, v{"v", 60}, to{"to"}, ti{"ti"}, d_o{"d_o"}, di{"di"};
constexpr tensor<std::int8_t> token{"token"}, byte{"byte"}, W{"W"};
constexpr tensor<std::int16_t> table{"table"}, out{"out"};
constexpr tensor<std::int32_t> sums{"sums"}, mid{"mid"};
constexpr auto rows = out(t, d) = padded(table(v, d), 7)(token(t), d);

void check_everywhere(schedule const& made_by, std::vector<axis_extent> const& extents = {}) {
    auto const open = std::make_unique<plan_value>(make_plan(made_by));
    INFO(to_string(open->refusal));
    REQUIRE(!open->refusal);
    auto const plan = std::make_unique<plan_value>(extents.empty() ? *open : open->at(extents));
    semantics_table none;
    set_all(none.transfers, nullptr), set_all(none.intrinsics, nullptr);
    emulator emulated(made_by.where(), none);
    kernels::compiled_kernel(*open, emulated).check(*plan);
    check_c_source(made_by, *open, *plan, emulated);
    halide::jit_kernel checked(*open, &emulated, true);
    kernels::operand_data const data = kernels::random_operands(*plan, 17);
    emulated.reset();
    emulated.check(*plan);
    CHECK(kernels::same_bits(kernels::result_of(checked, data, {}), kernels::expected_of(*plan, data, {})));
    CHECK(emulated.error() == "");
}

}  // namespace

TEST_CASE("rows of a table by their numbers") {
    check_everywhere(schedule(rows, host));
    check_everywhere(schedule(rows, host).reorder(d, t));
    check_everywhere(schedule(rows, host).vectorize(d, 4));
    check_everywhere(schedule(rows, host).reorder(d, t).vectorize(t, 8));
    check_everywhere(schedule(rows, host).split(t, to, ti, 8).unroll(ti));
}
TEST_CASE("indices of 32 bits") {
    constexpr axis u{"u", 500};
    constexpr tensor<std::int32_t> number{"number"};
    constexpr auto far = out(t, d) = padded(table(u, d), 7)(number(t) - 100, d);
    check_everywhere(schedule(far, host));
    check_everywhere(schedule(far, host).vectorize(d, 4));
    check_everywhere(schedule(far, host).reorder(d, t).vectorize(t, 8));
    check_everywhere(schedule(far, host)
                         .split(t, to, ti, 8)
                         .reorder(to, d, ti)
                         .vectorize(ti)
                         .cache_read(table, near_by)
                         .cache_write(out, near_by)
                         .at(to));
}
TEST_CASE("rows of a table that is near by, or of which some columns are", "[long]") {
    check_everywhere(schedule(rows, host).cache_read(table, near_by));
    check_everywhere(schedule(rows, host).cache_read(table, near_by).cache_read(token, near_by).cache_write(out, near_by));
    check_everywhere(schedule(rows, host).split(t, to, ti, 4).cache_read(token, near_by).at(to).cache_write(out, near_by).at(to));
    check_everywhere(schedule(rows, host).split(d, d_o, di, 4).reorder(d_o, t, di).cache_read(table, near_by).at(d_o));
    auto const panels = [](auto row, auto column) { return index_map(row / 8, column, row % 8); };
    check_everywhere(schedule(rows, host).cache_read(table, near_by).layout(panels));
}
TEST_CASE("a table with an element for each byte needs no border") {
    constexpr axis all{"all", 256};
    constexpr auto mapped = out(t) = padded(table(all), 0)(cast<std::int32_t>(byte(t)) + 128);
    for (schedule const& of :
         {schedule(mapped, host), schedule(mapped, host).vectorize(t, 8), schedule(mapped, host).cache_read(table, near_by)}) {
        CHECK(make_plan(of).paddings.size() == 0);
        check_everywhere(of);
    }
    // One fewer, and the last byte has none.
    constexpr axis most{"most", 255};
    constexpr auto fewer = out(t) = padded(table(most), 3)(cast<std::int32_t>(byte(t)) + 128);
    CHECK(make_plan(schedule(fewer, host)).paddings.size() == 1);
    check_everywhere(schedule(fewer, host));
}
TEST_CASE("sums of what indices pick, from a bias that one picks", "[long]") {
    constexpr axis k{"k", 9}, b{"b", 100};
    constexpr tensor<std::int8_t> which{"which"};
    constexpr auto picked = sums(t) += cast<std::int32_t>(W(t, k)) * cast<std::int32_t>(padded(table(b), 0)(which(t, k)));
    for (schedule const& of :
         {schedule(picked, host), schedule(picked, host).reorder(k, t), schedule(picked, host).reorder(k, t).vectorize(t, 8),
          schedule(picked, host).split(t, to, ti, 8).cache_read(which, near_by).at(to).cache_write(sums, near_by).at(to)})
        check_everywhere(of);
    constexpr auto started = sums(t) = cast<std::int32_t>(padded(table(b), -5)(token(t))) + sum(k, cast<std::int32_t>(W(t, k)));
    check_everywhere(schedule(started, host));
    constexpr auto most = out(t) = maximum(k, padded(table(b), -32768)(which(t, k)));
    check_everywhere(schedule(most, host));
}
TEST_CASE("several indices are computed, beside one with a border", "[long]") {
    constexpr axis a{"a", 50}, b{"b", 70}, c{"c", 10};
    constexpr tensor<std::int8_t> first{"first"}, second{"second"};
    constexpr auto two = out(t, d) = padded(table(a, c, b), -1)(first(t), d - 2, cast<std::int32_t>(second(d)) * 2 - t);
    check_everywhere(schedule(two, host));
    check_everywhere(schedule(two, host).vectorize(d, 4));
    check_everywhere(schedule(two, host).split(d, d_o, di, 3).reorder(d_o, t, di).cache_read(first, near_by).at(d_o));
    // One element twice, at indices of both kinds.
    constexpr auto both = out(t) = padded(table(v), 1)(t - 3) + padded(table(v), 1)(token(t)) + padded(table(v), 1)(byte(t));
    check_everywhere(schedule(both, host));
    check_everywhere(schedule(both, host).cache_read(table, near_by));
}
TEST_CASE("an index is computed from what an index picks") {
    constexpr axis a{"a", 100};
    constexpr tensor<std::int8_t> next{"next"};
    constexpr auto chain = out(t) = padded(table(v), 2)(padded(next(a), -1)(token(t)));
    check_everywhere(schedule(chain, host));
    check_everywhere(schedule(chain, host).cache_read(next, near_by).cache_read(table, near_by));
}
TEST_CASE("indices that are not affine in the axes") {
    constexpr axis a{"a", 40};
    constexpr auto squares = out(t) = padded(table(a), 4)(t * t / 3 - 5);
    constexpr auto chosen = out(t, d) = padded(table(a), 4)(select(t < d, t * 2, d / 2 + 10));
    constexpr auto halves = out(t) = padded(table(a), 4)(t / 2);
    check_everywhere(schedule(squares, host));
    check_everywhere(schedule(chosen, host));
    check_everywhere(schedule(halves, host).vectorize(t, 8));
}
TEST_CASE("what a stage computes is picked by a later one") {
    constexpr auto doubled = stages(mid(v) = cast<std::int32_t>(table(v)) * 2, sums(t, d) = padded(mid(v), 9)(token(t)) + d);
    check_everywhere(schedule(doubled, host).store_in(mid, near_by));
    check_everywhere(schedule(doubled, host).compute_at(mid, t).store_in(mid, near_by));
    constexpr auto numbered = stages(mid(t) = cast<std::int32_t>(token(t)) + 3, out(t, d) = padded(table(v, d), 0)(mid(t), d));
    check_everywhere(schedule(numbered, host).store_in(mid, near_by));
    check_everywhere(schedule(numbered, host).compute_at(mid, t).store_in(mid, near_by));
}
TEST_CASE("extents of indices that run time decides") {
    constexpr axis many{"many", dynamic}, mo{"mo"}, mi{"mi"};
    constexpr auto some = out(many, d) = padded(table(v, d), 7)(token(many), d);
    for (std::int64_t const extent : {1, 5, 16}) {
        check_everywhere(schedule(some, host), {{many, extent}});
        check_everywhere(schedule(some, host).split(many, mo, mi, 8).cache_read(token, near_by).at(mo).cache_write(out, near_by).at(mo),
                         {{many, extent}});
    }
}
TEST_CASE("an instruction or a transfer takes no element at a computed index") {
    constexpr axis i{"i", 10};
    constexpr tensor<std::int16_t> a{"a"}, c{"c"};
    constexpr auto copy = intrinsic("copy", c(i) = a(i)).reads(a, near_by).writes(c, near_by);
    constexpr auto chip = machine("index_chip", dram, near_by, bring, back, copy);
    plan_value const by_steps = make_plan(schedule(rows, chip).cache_read(table, near_by).cache_write(out, near_by).tensorize(d, copy));
    CHECK(by_steps.refusal.kind == verdict_kind::intrinsic_mismatch);
    CHECK(by_steps.refusal.broken == ir::rule::instruction_at_computed_index);
    CHECK(to_string(by_steps.refusal)
              .rfind("`copy` does not match stage `out`: an instruction or transfer takes no element at a computed index", 0) == 0);
    // A stage that is one transfer, where the index is affine.
    constexpr tensor<std::int16_t> copied{"copied"};
    constexpr auto moved = stages(copied(t, d) = padded(table(v, d), 0)(token(t), d), out(t, d) = copied(t, d) * std::int16_t{2});
    CHECK(make_plan(schedule(moved, host).store_in(copied, near_by).by(bring)).refusal.kind == verdict_kind::transfer_mismatch);
}
TEST_CASE("indices of other types are refused") {
    auto const rule_of = [](auto const& what) { return make_plan(schedule(what, host)).refusal.broken; };
    constexpr tensor<std::int64_t> wide{"wide"};
    constexpr tensor<float> real{"real"};
    CHECK(rule_of(out(t) = padded(table(v), 0)(wide(t))) == ir::rule::index_of_another_type);
    CHECK(rule_of(out(t) = padded(table(v), 0)(real(t))) == ir::rule::index_of_another_type);
    CHECK(rule_of(out(t) = padded(table(v), 0)(t < 3)) == ir::rule::index_of_another_type);
    CHECK(rule_of(out(t) = table(token(t))) == ir::rule::index_not_affine);
    CHECK(rule_of(out(t) = padded(table(v), 0)(cast<std::int32_t>(wide(t)))) == ir::rule::none);
}
