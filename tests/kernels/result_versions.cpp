#include "catch.hpp"
#include "kernels/on_cores.hpp"
#include <tilewright/plan/plan.hpp>

// What a stage computes has versions, so that another unit reads one while the next is computed: on one core, beside other cores, and where
// a transfer brings the result to its place.

namespace result_versions {

using namespace tilewright;

constexpr memory dram{.name = "dram"}, common{.name = "common", .base = 0x40000, .capacity = 8_KiB},
    aside{.name = "aside", .base = 0x80000, .capacity = 8_KiB};
constexpr engine of_core(char const* name) { return {.name = name, .completes = completion::by_channel, .per_core = true}; }
constexpr engine adder = of_core("adder"), middle = of_core("middle"), summer = of_core("summer"), mover = of_core("mover");
constexpr core pair{.name = "pair", .count = 2, .barrier_cycles = 7, .signal_cycles = 5};
constexpr axis r{"r", 4};
constexpr tensor<std::int32_t> x{"x"}, y{"y"}, z{"z"};
constexpr auto inc = intrinsic("inc", y(r) = x(r) + 1).reads(x, dram).writes(y, common).on(adder).asynchronous().cycles(40);
constexpr auto inc_aside = intrinsic("inc_aside", y(r) = x(r) + 1).reads(x, dram).writes(y, aside).on(adder).asynchronous().cycles(40);
constexpr auto triple = intrinsic("triple", y(r) = x(r) * 3).reads(x, common).writes(y, common).on(middle).asynchronous().cycles(30);
constexpr auto twice = intrinsic("twice", z(r) = x(r) * 2).reads(x, common).writes(z, dram).on(summer).asynchronous().cycles(50);
constexpr auto add = intrinsic("add", z(r) = x(r) + y(r)).reads({x, y}, common).writes(z, dram).on(summer).asynchronous().cycles(50);
constexpr auto put = transfer("put", aside, common).on(mover).asynchronous(), get = transfer("get", dram, aside).on(mover).asynchronous();
constexpr auto two_cores =
    machine("two_cores", dram, common, aside, adder, middle, summer, mover, inc, inc_aside, triple, twice, add, put, get, pair);

constexpr axis m{"m", 12}, n{"n", 4}, mo{"mo"}, mi{"mi"};
constexpr tensor<std::int32_t> A{"A"}, S{"S"}, T{"T"}, U{"U"}, W{"W"}, C{"C"};
constexpr auto two = stages(S(m, n) = A(m, n) + 1, C(m, n) = S(m, n) * 2);
constexpr auto chain = stages(S(m, n) = A(m, n) + 1, T(m, n) = S(m, n) * 3, C(m, n) = T(m, n) * 2);
constexpr auto five =
    stages(S(m, n) = A(m, n) + 1, U(m, n) = A(m, n) + 1, T(m, n) = S(m, n) * 3, W(m, n) = T(m, n) + 1, C(m, n) = W(m, n) + U(m, n));

std::int64_t cycles_of(schedule const& of) {
    check_on_cores<two_cores>(of);
    return make_plan(of).cycles().value;
}

TEST_CASE("units in a row compute and read versions side by side") {
    auto const in_versions = [](int of_s, int of_t) {
        return schedule(chain, two_cores)
            .split(m, mo, mi, 2)
            .tensorize(n, twice)
            .compute_at(T, mo)
            .stage(T)
            .store_in(T, common)
            .buffers(of_t)
            .tensorize(n, triple)
            .compute_at(S, mo)
            .stage(S)
            .store_in(S, common)
            .buffers(of_s)
            .tensorize(n, inc);
    };
    std::int64_t const one = cycles_of(in_versions(1, 1));
    CHECK(cycles_of(in_versions(1, 2)) < one);
    // The core has waited for the unit in the middle, in order to start the last one.
    CHECK(cycles_of(in_versions(2, 1)) == one);
    CHECK(cycles_of(in_versions(3, 2)) < one);
}

TEST_CASE("a version is free when the core that reads it says so, whatever other cores have done before") {
    auto const in_versions = [](int versions) {
        return schedule(five, two_cores)
            .split(m, mo, mi, 2)
            .tensorize(n, add)
            .compute_at(W, mo)
            .stage(W)
            .store_in(W, common)
            .buffers(versions)
            .compute_at(T, mo)
            .stage(T)
            .on(pair, 1)
            .store_in(T, common)
            .compute_at(U, mo)
            .stage(U)
            .store_in(U, common)
            .buffers(versions)
            .tensorize(n, inc)
            .compute_at(S, mo)
            .stage(S)
            .store_in(S, common);
    };
    CHECK(cycles_of(in_versions(2)) < cycles_of(in_versions(1)));
    // Both stages on another core than the one whose loop they stand in.
    cycles_of(schedule(chain, two_cores)
                  .split(m, mo, mi, 2)
                  .compute_at(T, mo)
                  .stage(T)
                  .on(pair, 1)
                  .store_in(T, common)
                  .buffers(2)
                  .tensorize(n, triple)
                  .compute_at(S, mo)
                  .stage(S)
                  .on(pair, 1)
                  .store_in(S, common)
                  .buffers(2)
                  .tensorize(n, inc));
}

TEST_CASE("an instruction beside the core reads what another core computes, in one version or in several") {
    auto const in_versions = [](int versions) {
        return schedule(two, two_cores)
            .split(m, mo, mi, 2)
            .tensorize(n, twice)
            .compute_at(S, mo)
            .stage(S)
            .on(pair, 1)
            .store_in(S, common)
            .buffers(versions)
            .tensorize(n, inc);
    };
    CHECK(cycles_of(in_versions(2)) < cycles_of(in_versions(1)));
    cycles_of(in_versions(3));
}

TEST_CASE("a transfer brings a result to its place while another unit reads the version before") {
    auto const in_versions = [](int versions, int stored) {
        return schedule(two, two_cores)
            .split(m, mo, mi, 2)
            .tensorize(n, twice)
            .compute_at(S, mo)
            .stage(S)
            .store_in(S, common)
            .buffers(versions)
            .cache_write(S, aside)
            .at("m")
            .buffers(stored)
            .tensorize(n, inc_aside);
    };
    CHECK(cycles_of(in_versions(2, 1)) < cycles_of(in_versions(1, 1)));
    cycles_of(in_versions(3, 2));
}

TEST_CASE("at the end, each core waits for its own engines") {
    // The last to be heard of is the core that computes S; the one that computes C has given its unit the last job.
    for (int of_s : {1, 2}) {
        for (int of_t : {1, 2}) {
            cycles_of(schedule(chain, two_cores)
                          .split(m, mo, mi, 2)
                          .tensorize(n, twice)
                          .compute_at(T, mo)
                          .stage(T)
                          .store_in(T, common)
                          .buffers(of_t)
                          .compute_at(S, mo)
                          .stage(S)
                          .on(pair, 1)
                          .store_in(S, common)
                          .buffers(of_s)
                          .cache_read(A, aside));
        }
    }
}

}  // namespace result_versions
