#include <tilewright/report/json.hpp>
#include <vector>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"

using namespace tilewright;

namespace {

constexpr machine const& npu = lesson_matmul::npu;

/// `npu` with one change.
template <class Change>
constexpr machine changed(Change&& change) {
    machine copy = npu;
    change(copy);
    return copy;
}
#define CHANGED(what) changed([](machine& m) { what; })

// Every kind of member: of the machine, of a part, of a part's part, of semantics.
constexpr machine variants[] = {
    npu,
    CHANGED(m.name = "npu2"),
    CHANGED(m.memories.parts[1].base += 64),
    CHANGED(m.memories.parts[0].base = 0),
    CHANGED(m.memories.parts[1].capacity -= 1),
    CHANGED(m.memories.parts[1].alignment = 32),
    CHANGED(m.memories.parts[1].banks = 2),
    CHANGED(m.memories.parts[1].ports = 1),
    CHANGED((m.memories.parts[1].banks = 2, m.memories.parts[1].bank_bases = {0x5000'0000, 0x6000'0000})),
    CHANGED(m.engines.parts[0].depth = 4),
    CHANGED(m.engines.parts[0].channels = 4),
    CHANGED(m.engines.parts[0].completes = completion::by_channel),
    CHANGED(m.engines.parts[0].per_agent = true),
    CHANGED(m.engines.parts[0] = m.engines.parts[0].waits("drain")),
    CHANGED(m.transfers.parts[0].is_asynchronous = true),
    CHANGED(m.transfers.parts[0].is_multicast = true),
    CHANGED(m.memories.parts[2].host_visible = true),
    CHANGED(m.engines.parts[2].name = "arrays"),
    CHANGED(m.add(engine{"fourth"})),
    CHANGED(m.add(core{.name = "host"})),
    CHANGED((m.add(core{.name = "host", .costs = {.divide = 2}}))),
    CHANGED(m.transfers.parts[0].costs.latency += 1),
    CHANGED(m.transfers.parts[0].most_dimensions = 3),
    CHANGED(m.transfers.parts[0].largest_extents[1] = 3),
    CHANGED(m.transfers.parts[0].source_strides[0].most = 3),
    CHANGED(m.transfers.parts[0].destination_strides[0].none = true),
    CHANGED(m.transfers.parts[0].call.push(argument::source)),
    CHANGED(m.transfers.parts[0].call.push(argument::destination)),
    CHANGED(m.transfers.parts[1].call.push(argument::source)),
    CHANGED(m.intrinsics.parts[0].costs.cycles = 17),
    CHANGED(m.intrinsics.parts[0].operands[1].is = ir::direction::updates),
    CHANGED(m.intrinsics.parts[1].stride_alignment = 16),
    CHANGED(m.semantics[3].type = scalar_type::uint8),
    CHANGED(m.memories.parts[1].address_unit = 16),
    CHANGED(m.memories.parts[1].address_flags = 16),
    CHANGED(m.memories.parts[1].c_type = "v8f"),
    CHANGED(m.memories.parts[1].view_of = "dram"),
    CHANGED(m.memories.parts[1].per_agent = true),
    CHANGED(m.memories.parts[1].wait_cycles = 3),
    CHANGED(m.memories.parts[1].behind_caches = true),
    CHANGED((m.add(core{.name = "host", .caches = {{{.bytes = 4096}}}}))),
    CHANGED((m.add(core{.name = "host", .caches = {{{.bytes = 4096, .line = 32}}}}))),
    CHANGED((m.add(core{.name = "host", .caches = {{{.bytes = 4096, .ways = 4}}}}))),
    CHANGED((m.add(core{.name = "host", .caches = {{{.bytes = 4096, .bytes_per_cycle = 4}}}}))),
    CHANGED((m.add(core{.name = "host", .caches = {{{.bytes = 4096}, {.bytes = 8192}}}}))),
    CHANGED(m.intrinsics.parts[0].flexible_axes = 1),
    CHANGED(m.intrinsics.parts[0].operands[0].alignment = 2),
    CHANGED(m.intrinsics.parts[0].operands[0].longest_stride = 2),
    CHANGED(m.intrinsics.parts[0].operands[0].in_place = true),
    CHANGED(m.intrinsics.parts[0].operands[0].stride_multiple = 2),
    CHANGED(m.add(configuration("scale"))),
    CHANGED(m.add(configuration("scale", 2))),
    CHANGED(m.add(configuration("scale").of_each_agent())),
    CHANGED(m.more_calls.push({.symbol = "then"})),
    CHANGED(m.settings.push({.configuration_name = "scale"})),
    CHANGED(std::swap(m.transfers.parts[0], m.transfers.parts[1])),
};

/// Numbers among the named members of a `T` itself. Bits, positions of members and addresses have other types.
template <class T>
int numbers_of(T const& description) {
    int count = 0;
    detail::each_member(description, [&]<class Member>(char const*, Member const&) {
        count += std::is_same_v<Member, int> || std::is_same_v<Member, std::int64_t> ? 1 : 0;
    });
    return count;
}
/// Numbers of which it is said what they may be.
template <class T>
int limited_numbers_of(T const& description) {
    int count = 0;
    description.each_number([&](char const*, std::int64_t, std::int64_t, auto...) { ++count; });
    return count;
}

}  // namespace

TEST_CASE("of every number in a description it is said what it may be") {
    CHECK(limited_numbers_of(memory{}) == numbers_of(memory{}));
    CHECK(limited_numbers_of(engine{}) == numbers_of(engine{}));
    CHECK(limited_numbers_of(tokens{}) == numbers_of(tokens{}));
    CHECK(limited_numbers_of(configuration{}) == numbers_of(configuration{}));
    CHECK(limited_numbers_of(operation_costs{}) == numbers_of(operation_costs{}));
    CHECK(limited_numbers_of(cache_level{}) == numbers_of(cache_level{}));
    CHECK(limited_numbers_of(core{}) == numbers_of(core{}) + numbers_of(operation_costs{}) + max_cache_levels * numbers_of(cache_level{}));
    CHECK(limited_numbers_of(transfer_cost{}) == numbers_of(transfer_cost{}));
    CHECK(limited_numbers_of(stride_limits{}) == numbers_of(stride_limits{}));
    // The border's value may be any.
    CHECK(limited_numbers_of(border_writing{}) == numbers_of(border_writing{}) - 1);
    // Of each dimension: a largest extent, and strides at either side.
    CHECK(limited_numbers_of(transfer_description{}) == numbers_of(transfer_description{}) +
                                                            max_rank * (1 + 2 * limited_numbers_of(stride_limits{})) +
                                                            limited_numbers_of(border_writing{}));
    CHECK(limited_numbers_of(operand_constraint{}) == numbers_of(operand_constraint{}));
    // Three counts are left out of what is named.
    intrinsic_description counted{.costs = {.terms = {cycle_term{.factor_count = 1}}, .term_count = 1}};
    CHECK(limited_numbers_of(counted) ==
          numbers_of(counted) + numbers_of(intrinsic_cost{}) + numbers_of(cycle_term{}) + numbers_of(cycle_factor{}) + 3);
}

TEST_CASE("machines are equal when every member of every part is, in the compiler too") {
    static_assert(equal(npu, npu));
    static_assert(!equal(npu, variants[1]));
    static_assert(hash_of(npu) == hash_of(machine(npu)));
    static_assert(hash_of(npu) != hash_of(variants[1]));
    int at = 0;
    for (machine const& left : variants) {
        int other = 0;
        for (machine const& right : variants) {
            INFO(at << " and " << other);
            CHECK(equal(left, right) == (at == other));
            CHECK((hash_of(left) == hash_of(right)) == (at == other));
            ++other;
        }
        ++at;
    }
}

TEST_CASE("what lies behind the parts in use does not count") {
    machine machine = npu;
    machine.memories.parts[5].capacity = 99;
    machine.semantics[machine::most_nodes - 1].value = 99;
    CHECK(equal(npu, machine));
    CHECK(hash_of(npu) == hash_of(machine));
}

TEST_CASE("a part that still carries its semantics is compared with them") {
    using namespace lesson_matmul;
    constexpr auto other = intrinsic("mac16", c(i, j) += cast<std::int32_t>(a(i, l)) + cast<std::int32_t>(b(l, j)));
    constexpr auto same = intrinsic("mac16", c(i, j) += product);
    CHECK(equal(same, intrinsic("mac16", c(i, j) += product)));
    CHECK(!equal(same, other));
    CHECK(hash_of(same) != hash_of(other));
    CHECK(!equal(transfer("t", dram, spad), transfer("t", dram, spad, c(i) = 0)));
}

TEST_CASE("texts move into the hash letter by letter") {
    CHECK(hash_of(engine{"ab"}) != hash_of(engine{"ba"}));
    CHECK(hash_of(engine{"aaaaaaaabbbbbbbb"}) != hash_of(engine{"bbbbbbbbaaaaaaaa"}));
    // where one list ends and the next begins
    using lists = std::vector<std::vector<int>>;
    CHECK(detail::hash_on(0, lists{{1}, {}}) != detail::hash_on(0, lists{{}, {1}}));
    CHECK(hash_of(operation_costs{.load = 2, .store = 3}) != hash_of(operation_costs{.load = 3, .store = 2}));
}

TEST_CASE("descriptions print as the initialisers that make them") {
    using lesson_matmul::spad, lesson_matmul::dram, lesson_matmul::A, lesson_matmul::m;
    CHECK(to_string(spad) == R"({.name = "spad", .base = 0x50000000, .capacity = 262144, .alignment = 64, .host_visible = false})");
    CHECK(to_string(dram) == R"({.name = "dram"})");
    CHECK(to_string(memory{}) == "{}");
    CHECK(to_string(core{.name = "scalar", .costs = {.load = 2, .divide = 12}}) ==
          R"({.name = "scalar", .costs = {.load = 2, .divide = 12}})");
    CHECK(to_string(core{.name = "cpu", .caches = {{{.bytes = 4096}, {.bytes = 8192, .ways = 16, .bytes_per_cycle = 4}}}}) ==
          R"({.name = "cpu", .caches = {{.bytes = 4096}, {.bytes = 8192, .ways = 16, .bytes_per_cycle = 4}}})");
    CHECK(to_string(npu.transfers[1]) ==
          R"({.name = "mvout", .source = "acc", .destination = "dram", .engine_name = "storer", .most_dimensions = 2, )"
          R"(.costs = {.latency = 64, .bytes_per_cycle = 16}, .call = {.symbol = "mvout"}})");
    // The bases of banks are shown where there are banks, also those that follow from the base.
    CHECK(to_string(memory{.name = "vtcm", .base = 0x1000, .capacity = 0x2000, .banks = 2, .ports = 1}) ==
          R"({.name = "vtcm", .base = 0x00001000, .capacity = 8192, .banks = 2, .ports = 1, .bank_bases = {0x00001000, 0x00002000}})");
    CHECK(to_string(engine{"dma"}) == R"({.name = "dma"})");
    CHECK(to_string(engine{.name = "dma", .depth = 4, .completes = completion::by_channel}.waits("drain", argument::pending)) ==
          R"({.name = "dma", .depth = 4, .completes = by_channel, .wait_call = {.symbol = "drain", .arguments = {{.is = pending}}}})");
    // The first operands are read, which is the default.
    CHECK(to_string(npu.intrinsics[0]) ==
          R"({.name = "mac16", .engine_name = "array", .operands = {{.tensor = "a", .memory_name = "spad"}, )"
          R"({.tensor = "b", .memory_name = "spad"}, {.tensor = "c", .memory_name = "acc", .is = updates}}, )"
          R"(.costs = {.cycles = 16}, .call = {.symbol = "mac16"}, .semantics = {.count = 11}})");
    CHECK(to_string(A) == R"({.name = "A", .type = int8})");
    CHECK(to_string(m) == R"({.name = "m", .extent = 512})");
    device_call call{.symbol = "copy"};
    call.push(argument::row_bytes);
    call.push(argument::source_stride(1));
    call.push(argument::literal(-3));
    CHECK(to_string(call) ==
          R"({.symbol = "copy", .arguments = {{.is = row_bytes}, {.is = source_stride, .dimension = 1}, {.value = -3}}})");
}
