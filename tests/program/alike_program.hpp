#pragma once
#include <array>
#include <tilewright/program/program_plan.hpp>
#include <tilewright/tilewright.hpp>

/// A program with kernels that differ in nothing but names and places, and others that are almost alike.
namespace alike_programs {

using namespace tilewright;

constexpr memory dram{.name = "dram"};
constexpr memory pool{.name = "pool", .capacity = 8_KiB, .alignment = 16};

constexpr axis l{"l", 10}, i{"i", 10}, j{"j", 10};
constexpr tensor<std::int32_t> u{"u"}, v{"v"}, x{"x"}, y{"y"}, r{"r"};
constexpr auto add10 = intrinsic("add10", r(l) = u(l) + v(l)).reads(u, pool).reads(v, pool).writes(r, pool);
constexpr auto sub10 = intrinsic("sub10", r(l) = u(l) - v(l)).reads(u, pool).reads(v, pool).writes(r, pool);
constexpr auto where = machine("where", dram, pool, transfer("get", dram, pool), transfer("put", pool, dram), add10, sub10);
constexpr agent cpu("cpu", where);

constexpr auto doubled = r(i, j) = x(i, j) * 2;
constexpr auto doubled_too = v(i, j) = u(i, j) * 2;
constexpr auto tripled = r(i, j) = x(i, j) * 3;
constexpr auto fewer = r(i, j) = x(i, j) - 5 * y(i, j);
constexpr auto fewer_turned = r(i, j) = y(i, j) - 5 * x(i, j);
constexpr auto scaled_first = r(i, j) = 5 * x(i, j) - y(i, j);
constexpr auto sum = r(i, j) = x(i, j) + y(i, j);
constexpr auto difference = r(i, j) = x(i, j) - y(i, j);
constexpr auto doubles = schedule(doubled, where).reads(x, dram).writes(r, pool).cache_read(x, pool);
constexpr auto doubles_too = schedule(doubled_too, where).reads(u, dram).writes(v, pool).cache_read(u, pool);
constexpr auto triples = schedule(tripled, where).reads(x, dram).writes(r, pool).cache_read(x, pool);
constexpr auto in_pool = [](auto const& what) { return schedule(what, where).reads(x, pool).reads(y, pool).writes(r, pool); };
constexpr auto takes = in_pool(fewer), takes_turned = in_pool(fewer_turned), takes_scaled = in_pool(scaled_first);
constexpr auto adds = in_pool(sum).tensorize(j, add10), subtracts = in_pool(difference).tensorize(j, sub10);
constexpr auto carries = schedule(doubled, where).reads(x, pool).writes(r, dram);

constexpr tensor<std::int32_t> a{"a"}, b{"b"}, a2{"a2"}, b2{"b2"}, a3{"a3"}, less{"less"}, turned{"turned"}, swapped{"swapped"},
    scaled{"scaled"}, first{"first"}, second{"second"}, third{"third"}, out_less{"out_less"}, out_turned{"out_turned"},
    out_swapped{"out_swapped"}, out_scaled{"out_scaled"}, out_third{"out_third"};

/// a2 = 2 a, b2 = 2 b, a3 = 3 a; each output is twice less = a2 - 5 b2, turned = a2 - 5 b2, swapped = b2 - 5 a2, scaled = 5 a2 - b2, and
/// third = (a2 + b2) + (a3 - b2)
// clang-format off
constexpr auto kinds = program("kinds")
    .input(a, dram).input(b, dram)
    .run("double_a", cpu, doubles).bind(x, a).bind(r, a2)
    .run("double_b", cpu, doubles_too).bind(u, b).bind(v, b2)
    .run("triple_a", cpu, triples).bind(x, a).bind(r, a3)
    .run("take", cpu, takes).bind(x, a2).bind(y, b2).bind(r, less)
    .run("take_turned", cpu, takes_turned).bind(y, a2).bind(x, b2).bind(r, turned)
    .run("take_swapped", cpu, takes).bind(x, b2).bind(y, a2).bind(r, swapped)
    .run("take_scaled", cpu, takes_scaled).bind(x, a2).bind(y, b2).bind(r, scaled)
    .run("add", cpu, adds).bind(x, a2).bind(y, b2).bind(r, first)
    .run("subtract", cpu, subtracts).bind(x, a3).bind(y, b2).bind(r, second)
    .run("add_again", cpu, adds).bind(x, first).bind(y, second).bind(r, third)
    .run("carry_less", cpu, carries).bind(x, less).bind(r, out_less)
    .run("carry_turned", cpu, carries).bind(x, turned).bind(r, out_turned)
    .run("carry_swapped", cpu, carries).bind(x, swapped).bind(r, out_swapped)
    .run("carry_scaled", cpu, carries).bind(x, scaled).bind(r, out_scaled)
    .run("carry_third", cpu, carries).bind(x, third).bind(r, out_third)
    .output(out_less, dram).output(out_turned, dram).output(out_swapped, dram).output(out_scaled, dram).output(out_third, dram);
// clang-format on

/// What the outputs are, by hand.
struct numbers {
    std::array<std::int32_t, 100> a{}, b{}, less{}, turned{}, swapped{}, scaled{}, third{};

    numbers() {
        for (std::int32_t at = 0; at < 100; ++at) {
            auto const e = static_cast<std::size_t>(at);
            a[e] = at * 7 - 50, b[e] = 1000 - at * at;
        }
    }
    /// How many elements of the outputs are wrong.
    int wrong() const {
        int count = 0;
        for (std::size_t at = 0; at < 100; ++at) {
            std::int32_t const p = a[at], q = b[at];
            count += (less[at] != 4 * p - 20 * q) + (turned[at] != 4 * p - 20 * q) + (swapped[at] != 4 * q - 20 * p);
            count += (scaled[at] != 20 * p - 4 * q) + (third[at] != 10 * p);
        }
        return count;
    }
};

}  // namespace alike_programs
