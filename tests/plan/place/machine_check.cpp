#include <tilewright/plan/place/machine_check.hpp>

#include "plan/small_kernels.hpp"

// Whether the description of a machine makes sense by itself.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

template <class... Parts>
verdict refusal_of(Parts const&... parts) {
    return read_machine(machine("on", dram, parts...)).refusal;
}
template <class... Parts>
rule broken_by(Parts const&... parts) {
    return refusal_of(parts...).broken;
}
constexpr axis r{"r", 4}, c{"c", 6};
constexpr tensor<std::int32_t> from{"from"}, other{"other"}, to{"to"};
constexpr auto stepping = to(r) = from(r) + 1;
intrinsic one_step() { return intrinsic("step", stepping).reads(from, spad).writes(to, spad); }

}  // namespace

TEST_CASE("a machine has a memory, and its parts have names of their own") {
    CHECK(read_machine(machine("empty")).refusal.broken == rule::machine_without_memory);
    CHECK(broken_by(spad, memory{.name = "spad", .base = 0x8000, .capacity = 64}) == rule::two_parts_of_one_name);
    CHECK(broken_by(memory{.name = "", .capacity = 64}) == rule::part_without_name);
    verdict const good = refusal_of(spad, get, put);
    CHECK_FALSE(good);
}
TEST_CASE("banks share a capacity evenly and begin where they may") {
    memory m{.name = "m", .base = 0x1000, .capacity = 96, .alignment = 16, .banks = 3};
    CHECK_FALSE(refusal_of(m));
    m.capacity = 100;
    CHECK(broken_by(m) == rule::banks_of_unequal_size);
    m.capacity = 72;  // banks of 24
    CHECK(broken_by(m) == rule::base_not_aligned);
    m.capacity = 96, m.base = 0x1008;
    CHECK(broken_by(m) == rule::base_not_aligned);
    m.banks = max_banks + 1, m.capacity = 0;
    CHECK(refusal_of(m).kind == verdict_kind::capacity_of_representation);
    for (auto const& wrong : {memory{.name = "m", .capacity = -1}, memory{.name = "m", .alignment = 0}, memory{.name = "m", .banks = 0},
                              memory{.name = "m", .ports = 0}, memory{.name = "m", .registers = -1}})
        CHECK(refusal_of(wrong).kind == verdict_kind::invalid_number);
}
TEST_CASE("no two memories have one address") {
    memory const first{.name = "first", .base = 0x1000, .capacity = 0x100};
    CHECK_FALSE(refusal_of(first, memory{.name = "second", .base = 0x1100, .capacity = 0x100}));
    CHECK(broken_by(first, memory{.name = "second", .base = 0x10ff, .capacity = 0x100}) == rule::memories_overlap);
    CHECK(broken_by(first, memory{.name = "second", .base = 0xf01, .capacity = 0x100}) == rule::memories_overlap);
    CHECK_FALSE(refusal_of(first, memory{.name = "second", .base = 0xf00, .capacity = 0x100}));
    memory banks{.name = "banks", .capacity = 0x200, .banks = 2};
    banks.bank_bases = {0x1000, 0x10f0};
    CHECK(broken_by(banks) == rule::memories_overlap);  // with itself
}
TEST_CASE("caches grow from the nearest on in whole sets, and memories are behind those that are there") {
    using levels = fixed_array<cache_level, max_cache_levels>;
    auto const with = [](levels const& caches) { return core{.name = "cpu", .caches = caches}; };
    memory const behind{.name = "behind", .capacity = 64, .behind_caches = true};
    CHECK_FALSE(refusal_of(behind, with({{{.bytes = 4096}, {.bytes = 8192, .line = 128, .ways = 1}}})));
    CHECK(broken_by(behind) == rule::behind_no_caches);
    CHECK(broken_by(behind, core{.name = "cpu"}) == rule::behind_no_caches);
    memory registers = register_file("file", 4, 16);
    CHECK_FALSE(refusal_of(registers, with({{{.bytes = 4096}}})));
    registers.behind_caches = true;
    CHECK(broken_by(registers, with({{{.bytes = 4096}}})) == rule::behind_no_caches);
    for (levels const& wrong : {levels{{{.bytes = 4096}, {.bytes = 4096}}}, levels{{{.bytes = 4096 + 64}}},
                                levels{{{.bytes = 96 * 8, .line = 96}}}, levels{{{}, {.bytes = 4096}}}})
        CHECK(broken_by(with(wrong)) == rule::caches_of_another_kind);
    for (levels const& wrong : {levels{{{.bytes = -1}}}, levels{{{.bytes = 64, .line = 0}}}, levels{{{.bytes = 64, .ways = 0}}},
                                levels{{{.bytes = 512, .bytes_per_cycle = 0}}}})
        CHECK(refusal_of(with(wrong)).kind == verdict_kind::invalid_number);
}
TEST_CASE("registers are equal parts of a capacity without an address") {
    CHECK_FALSE(refusal_of(memory{.name = "file", .capacity = 64, .registers = 4}));
    for (auto const& wrong :
         {memory{.name = "file", .capacity = 66, .registers = 4}, memory{.name = "file", .base = 0, .capacity = 64, .registers = 4},
          memory{.name = "file", .capacity = 64, .banks = 2, .registers = 4},
          memory{.name = "file", .capacity = 64, .host_visible = false, .registers = 4},
          memory{.name = "file", .capacity = 64, .c_type = "vec"}})
        CHECK(broken_by(wrong) == rule::registers_of_another_kind);
}
TEST_CASE("rows that are numbered leave flags their bits") {
    memory rows{.name = "rows", .capacity = 64 * 16, .host_visible = false, .address_unit = 16, .address_flags = 0x100};
    CHECK_FALSE(refusal_of(rows));
    rows.address_flags = 0x20;  // rows from 0 to 63
    CHECK(broken_by(rows) == rule::flags_in_the_number);
    rows.address_flags = 0, rows.capacity = 1000;
    CHECK(broken_by(rows) == rule::bank_of_broken_rows);
    rows.capacity = 1024, rows.host_visible = true;
    CHECK(broken_by(rows) == rule::numbers_are_no_pointers);
}
TEST_CASE("a view shows another memory, and says nothing of its size") {
    memory view{.name = "view", .base = 0x9000, .view_of = "spad"};
    CHECK_FALSE(refusal_of(spad, view));
    view.capacity = 64;
    CHECK(broken_by(spad, view) == rule::view_of_another_kind);
    CHECK(refusal_of(spad, memory{.name = "view", .base = 0x9000, .view_of = "none"}).kind == verdict_kind::unknown_part);
}
TEST_CASE("engines and tokens: depths, channels and ends") {
    CHECK(refusal_of(engine{.name = "e", .depth = 0}).kind == verdict_kind::invalid_number);
    CHECK(refusal_of(engine{.name = "e", .depth = 65}).kind == verdict_kind::capacity_of_representation);
    CHECK(refusal_of(engine{.name = "e", .channels = 17}).kind == verdict_kind::capacity_of_representation);
    CHECK_FALSE(refusal_of(engine{.name = "e", .depth = 64, .channels = 16}));
    CHECK(broken_by(loader, tokens(loader, loader)) == rule::tokens_to_itself);
    CHECK(refusal_of(loader, tokens(loader, storer)).kind == verdict_kind::unknown_part);
    engine const channels{.name = "channels", .channels = 2};
    CHECK(broken_by(loader, channels, tokens(loader, channels)) == rule::tokens_of_channels);
    CHECK(refusal_of(loader, storer, tokens(loader, storer).holds(0)).kind == verdict_kind::invalid_number);
    CHECK_FALSE(refusal_of(loader, storer, tokens(loader, storer)));
}
TEST_CASE("transfers lead from a memory to another, in numbers that they can have") {
    CHECK(refusal_of(get).kind == verdict_kind::unknown_part);
    CHECK(broken_by(spad, transfer("t", dram, spad).asynchronous()) == rule::asynchronous_without_engine);
    CHECK(refusal_of(spad, transfer("t", dram, spad).dimensions(0)).kind == verdict_kind::invalid_number);
    CHECK(refusal_of(spad, transfer("t", dram, spad).dimensions(8)).kind == verdict_kind::capacity_of_representation);
    CHECK(refusal_of(spad, transfer("t", dram, spad).cost({.bytes_per_cycle = 0})).kind == verdict_kind::invalid_number);
    CHECK(refusal_of(spad, transfer("t", dram, spad).granularity(0)).kind == verdict_kind::invalid_number);
    CHECK(broken_by(spad, transfer("t", dram, spad).extent_limit(1, 4)) == rule::limit_of_no_dimension);
    CHECK_FALSE(refusal_of(spad, transfer("t", dram, spad).dimensions(2).extent_limit(1, 4)));
    CHECK(
        broken_by(spad, loader, transfer("t", dram, spad).on(loader).asynchronous().calls("t", argument::source, argument::destination)) ==
        rule::call_without_tag);
    CHECK(broken_by(spad, transfer("t", dram, spad).calls("t", argument::source, argument::tag)) == rule::tag_without_wait);
    CHECK(broken_by(spad, transfer("t", dram, spad).calls("no name", argument::source)) == rule::no_identifier);
}
TEST_CASE("what a transfer does is a value of one source, where it lies") {
    auto const does = [](auto const& what) { return broken_by(spad, transfer("t", dram, spad, what)); };
    auto const doubles = to(r, c) = from(r, c) * 2;
    auto const turns = to(r, c) = from(c, r);
    auto const sums = to(r) = sum(c, from(r, c));
    CHECK(does(doubles) == rule::none);
    CHECK(does(turns) == rule::none);
    CHECK(does(sums) == rule::a_reduction);
    auto const two = to(r) = from(r) + other(r);
    auto const moved = to(r) = from(r + 1);
    CHECK(does(two) == rule::transfer_with_two_sources);
    CHECK(does(moved) == rule::transfer_that_rearranges);
}
TEST_CASE("operands of an intrinsic are declared once, with a memory and a direction that they can have") {
    CHECK_FALSE(refusal_of(spad, one_step()));
    CHECK(broken_by(spad, intrinsic("step", stepping).writes(to, spad)) == rule::operand_without_memory);
    CHECK(broken_by(spad, intrinsic("step", stepping).reads(from, spad).reads(to, spad)) == rule::result_only_read);
    CHECK(broken_by(spad, intrinsic("step", stepping).writes(from, spad).writes(to, spad)) == rule::input_written);
    CHECK(broken_by(spad, intrinsic("step", stepping).reads(from, spad).updates(to, spad)) == rule::update_without_reduction);
    auto const adding = to(r) = to(r) + sum(c, from(r, c));
    CHECK(broken_by(spad, intrinsic("step", adding).reads(from, spad).writes(to, spad)) == rule::result_not_updated);
    CHECK_FALSE(refusal_of(spad, intrinsic("step", adding).reads(from, spad).updates(to, spad)));
    CHECK(broken_by(spad, one_step().asynchronous()) == rule::asynchronous_without_engine);
    CHECK(broken_by(spad, loader, one_step().on(loader).asynchronous()) == rule::intrinsic_waited_for_by_transfer);
    CHECK(broken_by(spad, one_step().in_place(to)) == rule::operand_not_in_place);
    CHECK_FALSE(refusal_of(spad, one_step().in_place(from)));
}
TEST_CASE("cycles of an intrinsic can be counted, whatever it covers") {
    CHECK(refusal_of(spad, one_step().cycles(-1)).kind == verdict_kind::invalid_number);
    CHECK(refusal_of(spad, one_step().cycles(1, 2 * per(c))).broken == rule::cycles_of_a_wrong_axis);
    CHECK_FALSE(refusal_of(spad, one_step().cycles(std::int64_t{1} << 53)));
    CHECK(refusal_of(spad, one_step().cycles((std::int64_t{1} << 53) + 2)).kind == verdict_kind::capacity_of_representation);
    CHECK(refusal_of(spad, one_step().cycles(1, (std::int64_t{1} << 52) * per(r))).kind == verdict_kind::capacity_of_representation);
}
TEST_CASE("one C function has one signature") {
    auto const by = [](label const& name, bool swapped) {
        transfer made("t", dram, spad);
        made.name = name;
        return swapped ? made.calls("move", argument::row_bytes, argument::source, argument::destination)
                       : made.calls("move", argument::source, argument::destination, argument::row_bytes);
    };
    CHECK_FALSE(refusal_of(spad, by("a", false), by("b", false)));
    CHECK(broken_by(spad, by("a", false), by("b", true)) == rule::symbol_of_two_signatures);
}
TEST_CASE("a configuration is set to each of its values once, and used with all of them") {
    configuration two("two", 2);
    CHECK_FALSE(refusal_of(spad, two, transfer("t", dram, spad).uses(two, argument::literal(1), argument::row_bytes)));
    CHECK(broken_by(spad, two, transfer("t", dram, spad).uses(two, argument::literal(1))) == rule::other_number_of_settings);
    CHECK(broken_by(spad, two, transfer("t", dram, spad).uses(two, argument::literal(1), argument::source)) ==
          rule::argument_of_no_transfer);
    CHECK(refusal_of(configuration("c", 0)).kind == verdict_kind::invalid_number);
    CHECK(refusal_of(configuration("c", 5)).kind == verdict_kind::capacity_of_representation);
    CHECK(broken_by(configuration("c", 2).calls("set", argument::setting(0), argument::setting(0))) == rule::set_call_of_another_kind);
}

TEST_CASE("each kind of core has an intrinsic of its own by one name, and all say the same") {
    constexpr core one{.name = "one", .count = 2}, two{.name = "two"};
    auto const of = [](core const& kind) { return one_step().on(kind); };
    CHECK_FALSE(refusal_of(spad, one, two, of(one), of(two).cycles(9).calls("other_step")));
    CHECK(broken_by(spad, one, two, one_step(), one_step()) == rule::two_parts_of_one_name);
    CHECK(broken_by(spad, one, two, of(one), one_step()) == rule::intrinsics_of_one_name);
    CHECK(broken_by(spad, one, two, of(one), of(one)) == rule::intrinsics_of_one_name);
    CHECK(broken_by(spad, one, two, of(one), of(two), of(two)) == rule::intrinsics_of_one_name);
    constexpr auto by_two = to(r) = from(r) + 2;
    CHECK(broken_by(spad, one, two, of(one), intrinsic("step", by_two).reads(from, spad).writes(to, spad).on(two)) ==
          rule::intrinsics_of_one_name);
    CHECK(broken_by(spad, one, two, of(one), of(two).alignment(8)) == rule::intrinsics_of_one_name);
    CHECK(broken_by(spad, one, two, of(one), of(two).alignment(from, 8)) == rule::intrinsics_of_one_name);
    CHECK(broken_by(spad, one, two, of(one), of(two).then("more")) == rule::intrinsics_of_one_name);
    CHECK(broken_by(spad, one, two, of(one), of(two).calls("step", argument::address(from), argument::address(to))) ==
          rule::intrinsics_of_one_name);
    CHECK(refusal_of(spad, one, of(two)).kind == verdict_kind::unknown_part);
}
TEST_CASE("kinds of cores are at most eight cores together, and round sums alike") {
    constexpr core four{.name = "four", .count = 4};
    CHECK_FALSE(refusal_of(four, core{.name = "others", .count = 4}));
    verdict const many = refusal_of(four, core{.name = "others", .count = 5});
    CHECK((many.kind == verdict_kind::capacity_of_representation && many.facts[0].value == 9 && many.facts[1].value == 8));
    CHECK(refusal_of(four, core{.name = "fused", .fused_multiply_add = true}).kind == verdict_kind::not_honoured);
    // Two kinds of one core each talk, too.
    core silent{.name = "silent"};
    silent.barrier_call = {.symbol = "meet"};
    silent.barrier_call.push(argument::core);
    CHECK_FALSE(refusal_of(silent));
    CHECK(broken_by(core{.name = "other"}, silent) == rule::barrier_of_another_kind);
}
