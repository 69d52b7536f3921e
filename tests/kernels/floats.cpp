// clang-format off: schedules are read line by line, a buffer a line.
#include <bit>
#include <cmath>
#include <limits>
#include <tilewright/compute/exponential.hpp>
#include <tilewright/compute/functions.hpp>
#include <tilewright/plan/planner.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Floating point at the values where processors differ: zeros of two signs, infinities, what is no number. One answer in generated code, in
// lanes, without a plan, and by an emulated instruction.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, near{.name = "near", .base = 0x2000'0000, .capacity = 64_KiB, .alignment = 64};
constexpr auto in = transfer("in", dram, near), out = transfer("out", near, dram);
constexpr axis i{"i", 8}, j{"j", 4}, x{"x", 64}, xo{"xo"}, xi{"xi"}, k{"k", 4};
constexpr tensor<float> a{"a"}, b{"b"}, c{"c"}, t{"t"}, A{"A"}, B{"B"}, C{"C"}, T{"T"};
constexpr tensor<bool> D{"D"};
constexpr tensor<std::int8_t> E{"E"};

constexpr auto vmin = intrinsic("vmin", c(i) = min(a(i), b(i))).reads(a, near).reads(b, near).writes(c, near);
constexpr auto vmax = intrinsic("vmax", c(i) = max(a(i), b(i))).reads(a, near).reads(b, near).writes(c, near);
constexpr auto vrelu = intrinsic("vrelu", c(i) = relu(a(i))).reads(a, near).writes(c, near);
constexpr auto rmax = intrinsic("rmax", c(i) = maximum(j, t(j, i))).reads(t, near).writes(c, near);
constexpr auto rmin = intrinsic("rmin", c(i) = minimum(j, t(j, i))).reads(t, near).writes(c, near);
constexpr auto unit = machine("unit", dram, near, in, out, vmin, vmax, vrelu, rmax, rmin);

constexpr float none = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
constexpr float values[8] = {-0.0f, 0.0f, none, -1.5f, 2.5f, infinite, -infinite, 1e-40f};

bool same(float one, float other) {
    return (std::isnan(one) && std::isnan(other)) || std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(other);
}
template <class T>
bool same(T one, T other) {
    return one == other;
}

/// Every pair of values.
Halide::Buffer<float> firsts() {
    Halide::Buffer<float> made(64);
    for (int at = 0; at < 64; ++at) made(at) = values[at / 8];
    return made;
}
Halide::Buffer<float> seconds() {
    Halide::Buffer<float> made(64);
    for (int at = 0; at < 64; ++at) made(at) = values[at % 8];
    return made;
}

template <class T, class Expected>
void check_run(schedule const& s, std::vector<Halide::Buffer<>> const& inputs, Expected const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    for (bool planned : {true, false}) {
        halide::jit_kernel kernel(*plan, planned ? &emulated<unit>() : nullptr);
        Halide::Buffer<T> made(64);
        emulated<unit>().reset();
        kernel.run(inputs, made);
        CHECK((!planned || emulated<unit>().error() == ""));
        for (int at = 0; at < 64; ++at) {
            INFO((planned ? "planned, " : "without a plan, ") << at << ": " << made(at) << ", not " << expected(at));
            CHECK(same(static_cast<T>(made(at)), static_cast<T>(expected(at))));
        }
    }
}
/// As code, in lanes, and by an intrinsic where there is one.
template <class T, class Expected>
void check_everywhere(computation_view what, std::vector<Halide::Buffer<>> const& inputs, Expected const& expected,
                      schedule const* by_unit = nullptr) {
    check_run<T>(schedule(what, unit), inputs, expected);
    check_run<T>(schedule(what, unit).split(x, xo, xi, 8).vectorize(xi), inputs, expected);
    if (by_unit != nullptr) check_run<T>(*by_unit, inputs, expected);
}
schedule on_unit(computation_view what, std::initializer_list<ir::label> read, intrinsic_description const& by) {
    schedule s = schedule(what, unit).split(x, xo, xi, 8);
    for (ir::label const& one : read) s.cache_read(any_tensor{one, scalar_type::float32}, near).at(xo);
    return s.cache_write(C, near).at(xo).tensorize(xi, by);
}

}  // namespace

TEST_CASE("the smaller and the larger of two floats: the first, unless the second is") {
    auto const first = firsts(), second = seconds();
    constexpr auto least = C(x) = min(A(x), B(x));
    constexpr auto most = C(x) = max(A(x), B(x));
    constexpr auto positive = C(x) = relu(A(x));
    schedule const by_vmin = on_unit(least.view(), {A.name, B.name}, vmin), by_vmax = on_unit(most.view(), {A.name, B.name}, vmax),
                   by_vrelu = on_unit(positive.view(), {A.name}, vrelu);
    check_everywhere<float>(
        least.view(), {first, second}, [&](int at) { return second(at) < first(at) ? second(at) : first(at); }, &by_vmin);
    check_everywhere<float>(
        most.view(), {first, second}, [&](int at) { return first(at) < second(at) ? second(at) : first(at); }, &by_vmax);
    check_everywhere<float>(
        positive.view(), {first}, [&](int at) { return first(at) < 0.0f ? 0.0f : first(at); }, &by_vrelu);
    // Not the other way round: an instruction is what it says.
    constexpr auto turned = C(x) = max(0.0f, A(x));
    CHECK(make_plan(on_unit(turned.view(), {A.name}, vrelu)).refusal.kind == verdict_kind::intrinsic_operation);
}
TEST_CASE("zeros of both signs in one expression stay what they are") {
    auto const first = firsts(), second = seconds();
    constexpr auto both = C(x) = max(A(x) - -0.0f, 0.0f);
    check_everywhere<float>(both.view(), {first}, [&](int at) {
        float const a = first(at) - -0.0f;
        return a < 0.0f ? 0.0f : a;
    });
    constexpr auto chosen = C(x) = select(A(x) < B(x), -0.0f, cast<float>(0.0f)) / (A(x) / -0.0f);
    check_everywhere<float>(chosen.view(), {first, second}, [&](int at) {
        float const zero = -0.0f;
        return (first(at) < second(at) ? zero : 0.0f) / (first(at) / zero);
    });
}
TEST_CASE("reductions of floats pass over what is no number, and keep the first of equal values") {
    Halide::Buffer<float> table(64, 4);
    for (int at = 0; at < 64; ++at)
        for (int row = 0; row < 4; ++row) table(at, row) = values[(at / (row + 1) + 3 * row + at) % 8];
    auto const reduced = [&](int at, bool largest) {
        float all = largest ? -infinite : infinite;
        for (int row = 0; row < 4; ++row) {
            float const next = table(at, row);
            if (largest ? all < next : next < all) all = next;
        }
        return all;
    };
    constexpr auto most = C(x) = maximum(k, T(k, x)), least = C(x) = minimum(k, T(k, x));
    for (bool largest : {true, false}) {
        computation_view const what = largest ? most.view() : least.view();
        auto const expected = [&](int at) { return reduced(at, largest); };
        check_everywhere<float>(what, {table}, expected);
        check_run<float>(schedule(what, unit).split(x, xo, xi, 8).reorder(xo, k, xi).vectorize(xi), {table}, expected);
        check_run<float>(schedule(what, unit)
                             .split(x, xo, xi, 8)
                             .reorder(xo, xi, k)
                             .cache_read(T, near)
                             .at(xo)
                             .cache_write(C, near)
                             .at(xo)
                             .tensorize(xi, k, largest ? rmax : rmin),
                         {table}, expected);
    }
}
TEST_CASE("comparisons of floats with what is no number") {
    auto const first = firsts(), second = seconds();
    std::vector<Halide::Buffer<>> const pair{first, second};
    constexpr auto equal = D(x) = A(x) == B(x);
    constexpr auto different = D(x) = A(x) != B(x);
    constexpr auto less = D(x) = A(x) < B(x);
    constexpr auto not_more = D(x) = A(x) <= B(x);
    constexpr auto not_less = D(x) = !(A(x) < B(x));
    constexpr auto chosen = C(x) = select(A(x) != B(x), A(x), 7.0f);
    check_everywhere<bool>(equal.view(), pair, [&](int at) { return first(at) == second(at); });
    check_everywhere<bool>(different.view(), pair, [&](int at) { return first(at) != second(at); });
    check_everywhere<bool>(less.view(), pair, [&](int at) { return first(at) < second(at); });
    check_everywhere<bool>(not_more.view(), pair, [&](int at) { return first(at) <= second(at); });
    check_everywhere<bool>(not_less.view(), pair, [&](int at) { return !(first(at) < second(at)); });
    check_everywhere<float>(chosen.view(), pair, [&](int at) { return first(at) != second(at) ? first(at) : 7.0f; });
}
TEST_CASE("exp of infinities, of what is no number, and at its limits") {
    Halide::Buffer<float> given(64);
    for (int at = 0; at < 64; ++at) given(at) = values[at % 8];
    given(8) = 89.0f, given(9) = 1e30f, given(10) = -104.0f, given(11) = -1e30f, given(12) = 88.0f, given(13) = -87.0f;
    constexpr auto power = C(x) = exp(A(x));
    // What is exact; elsewhere, near the real one is tested with other functions.
    auto const expected = [&](Halide::Buffer<float> const& made, int at) {
        float const v = given(at);
        if (std::isnan(v)) return std::isnan(made(at));
        if (v >= 89.0f) return made(at) == infinite;
        if (v <= -104.0f) return same(made(at), 0.0f);
        if (v == 0.0f || v == 1e-40f) return made(at) == 1.0f;
        return std::abs(made(at) - std::exp(static_cast<double>(v))) < 3e-7 * std::exp(static_cast<double>(v));
    };
    std::vector<Halide::Buffer<float>> all;
    for (schedule const& s : {schedule(power, unit), schedule(power, unit).vectorize(x, 8)}) {
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
        REQUIRE(!plan->refusal);
        for (emulator* on : {&emulated<unit>(), static_cast<emulator*>(nullptr)}) {
            halide::jit_kernel kernel(*plan, on);
            Halide::Buffer<float> made(64);
            kernel.run({given}, made);
            for (int at = 0; at < 64; ++at) {
                INFO("exp(" << given(at) << "): " << made(at));
                CHECK(expected(made, at));
            }
            all.push_back(made);
        }
    }
    for (Halide::Buffer<float> const& one : all) CHECK(kernels::same_bits(one, all.front()));
}
TEST_CASE("what is no number saturates at the lowest") {
    auto const first = firsts();
    constexpr auto bytes = E(x) = saturating_cast<std::int8_t>(A(x));
    check_everywhere<std::int8_t>(bytes.view(), {first}, [&](int at) -> std::int8_t {
        float const v = first(at);
        return static_cast<std::int8_t>(std::isnan(v) || v < -128 ? -128 : v > 127 ? 127 : static_cast<int>(v));
    });
}
TEST_CASE("a division by a zero that is known is one") {
    static constexpr auto greatest = C(x) = maximum(k, A(x) / -0.0f);
    static constexpr auto least = C(x) = minimum(k, A(x) / cast<float>(0));
    static constexpr auto plain = C(x) = A(x) / 0.0f;
    for (computation_view const what : {greatest.view(), least.view(), plain.view()})
        kernels::check_kernel(*std::make_unique<plan_value>(make_plan(schedule(what, unit))), emulated<unit>());
}
TEST_CASE("an integer that a float was converted to is converted again as an integer") {
    auto const made = [](int at) { return static_cast<std::int32_t>(static_cast<float>(at - 32) * 33.5f); };
    constexpr auto q = cast<float>(x - 32) * 33.5f;
    constexpr tensor<std::uint8_t> bytes{"bytes"};
    constexpr tensor<std::uint32_t> words{"words"};
    constexpr auto narrow = bytes(x) = cast<std::uint8_t>(cast<std::int32_t>(q));
    check_everywhere<std::uint8_t>(narrow.view(), {}, made);
    constexpr auto low = E(x) = cast<std::int8_t>(cast<std::int32_t>(cast<std::int16_t>(q)));
    check_everywhere<std::int8_t>(low.view(), {}, made);
    constexpr auto wrapped = words(x) = cast<std::uint32_t>(cast<std::int16_t>(q));
    check_everywhere<std::uint32_t>(wrapped.view(), {}, made);
    constexpr auto positive = E(x) = cast<std::int8_t>(cast<std::uint16_t>(q + 2000.0f));
    check_everywhere<std::int8_t>(positive.view(), {},
                                  [](int at) { return static_cast<int>(static_cast<float>(at - 32) * 33.5f + 2000.0f); });
}
