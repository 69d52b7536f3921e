// clang-format off: schedules are read line by line, a buffer a line.
#include <bit>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/features.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"
#include "kernels/six_transfers.hpp"

// What is computed at each element of a result before it is stored: functions of the language, compared with formulas of plain integers,
// and schedules that compute them where the sums are.

using namespace tilewright;

namespace {

using kernels::dsp, kernels::l1, kernels::l2;

/// value / 2^shift, rounded to the nearest, halves away from 0.
std::int64_t halves_away(std::int64_t value, int shift) {
    std::uint64_t const size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    std::uint64_t const quotient = size >> shift, rest = size - (quotient << shift);
    std::uint64_t const rounded = quotient + (shift > 0 && rest >= std::uint64_t{1} << (shift - 1) ? 1 : 0);
    return value < 0 ? -static_cast<std::int64_t>(rounded) : static_cast<std::int64_t>(rounded);
}
std::int64_t limited(std::int64_t value, std::int64_t low, std::int64_t high) { return value < low ? low : value > high ? high : value; }
constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min(), highest = std::numeric_limits<std::int32_t>::max();
std::int32_t rescaled_once(std::int64_t x, std::int64_t multiplier, int shift) {
    return static_cast<std::int32_t>(limited(halves_away(x * multiplier, 31 + shift), lowest, highest));
}
/// The upper half of the doubled product as the instruction of that name is defined: it nudges by sign and divides towards 0.
std::int32_t high_half(std::int64_t x, std::int64_t multiplier) {
    if (x == lowest && multiplier == lowest) return static_cast<std::int32_t>(highest);
    std::int64_t const product = x * multiplier, nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    return static_cast<std::int32_t>((product + nudge) / (std::int64_t{1} << 31));
}
std::int32_t rescaled_twice(std::int64_t x, std::int64_t multiplier, int shift) {
    std::int64_t const left = limited(shift < 0 ? x * (std::int64_t{1} << -shift) : x, lowest, highest);
    return static_cast<std::int32_t>(halves_away(high_half(left, multiplier), shift > 0 ? shift : 0));
}

/// Numbers at which roundings differ, and any others.
std::vector<std::int32_t> hard_numbers() {
    std::vector<std::int64_t> all;
    for (std::int64_t base :
         {std::int64_t{0}, std::int64_t{1} << 7, std::int64_t{1} << 15, std::int64_t{1} << 24, std::int64_t{1} << 30, highest, lowest}) {
        for (std::int64_t offset = -3; offset <= 3; ++offset) all.push_back(base + offset), all.push_back(-base + offset);
    }
    std::uint64_t state = 88172645463325252u;
    for (int more = 0; more < 40; ++more) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        all.push_back(static_cast<std::int32_t>(state >> (more % 30)));
    }
    std::vector<std::int32_t> kept;
    for (std::int64_t value : all) {
        if (value >= lowest && value <= highest) kept.push_back(static_cast<std::int32_t>(value));
    }
    return kept;
}

constexpr axis e{"e", 4096};
constexpr tensor<std::int32_t> X{"X"}, M{"M"}, S{"S"}, R{"R"};
constexpr tensor<float> F{"F"}, G{"G"};

/// Runs a kernel of elements on all pairs of hard numbers with these shifts, some thousand at a time, as scalars and in lanes.
template <class Expected>
void check_all(computation_view what, std::vector<int> const& shifts, Expected const& expected) {
    schedule const in_lanes = schedule(what, dsp).vectorize(e, 8), plain = schedule(what, dsp);
    plan_value const plan = make_plan(plain);
    halide::jit_kernel lanes(make_plan(in_lanes), &emulated<dsp>()), scalars(plan, &emulated<dsp>());
    std::vector<std::array<std::int32_t, 3>> cases;
    for (std::int32_t x : hard_numbers()) {
        for (std::int32_t m : hard_numbers()) {
            for (int shift : shifts) cases.push_back({x, m, shift});
        }
    }
    REQUIRE(cases.size() > 4096);
    int wrong = 0;
    for (std::size_t first = 0; first + 4096 <= cases.size(); first += 4096) {
        Halide::Buffer<std::int32_t> x(4096), m(4096), s(4096), r(4096), again(4096);
        for (int at = 0; at < 4096; ++at) x(at) = cases[first + at][0], m(at) = cases[first + at][1], s(at) = cases[first + at][2];
        std::vector<Halide::Buffer<>> inputs;
        for (int at = 0; at + 1 < plan.buffers.size(); ++at) {
            ir::label const& name = plan.buffers[at].tensor;
            inputs.push_back(name == ir::label("X") ? x : name == ir::label("M") ? m : s);
        }
        lanes.run(inputs, r);
        scalars.run(inputs, again);
        for (int at = 0; at < 4096; ++at) {
            std::int32_t const wanted = expected(x(at), m(at), s(at));
            if (r(at) == wanted && again(at) == wanted) continue;
            if (++wrong < 5)
                UNSCOPED_INFO(x(at) << " * " << m(at) << " by " << s(at) << ": " << r(at) << ", " << again(at) << ", not " << wanted);
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("rescale rounds once, halves away from 0, and saturates") {
    constexpr auto what = R(e) = rescale(X(e), M(e), S(e));
    check_all(what.view(), {-31, -30, -8, -1, 0, 1, 2, 7, 15, 30, 31}, rescaled_once);
}
TEST_CASE("rescale rounds twice as TensorFlow Lite does") {
    constexpr auto what = R(e) = rescale<rounding::doubling_high>(X(e), M(e), S(e));
    check_all(what.view(), {-31, -30, -8, -1, 0, 1, 2, 7, 15, 30, 31}, rescaled_twice);
    // A kernel takes its arguments as for any rescale.
    plan_value const plan = make_plan(schedule(what, dsp));
    CHECK(plan.buffers[0].tensor == X.name);
    CHECK(plan.buffers[1].tensor == M.name);
    CHECK(plan.buffers[2].tensor == S.name);
}
TEST_CASE("shifts and high halves by themselves") {
    constexpr auto high = R(e) = rounding_doubling_high_multiply(X(e), M(e));
    check_all(high.view(), {0}, [](std::int32_t x, std::int32_t m, int) { return high_half(x, m); });
    constexpr auto by_three = R(e) = rounding_shift_right(X(e) >> 1, 3) + M(e) * 0;
    check_all(by_three.view(), {0}, [](std::int32_t x, std::int32_t, int) { return static_cast<std::int32_t>(halves_away(x >> 1, 3)); });
    constexpr auto by_none = R(e) = rounding_shift_right(X(e), 0) + M(e) * 0;
    check_all(by_none.view(), {0}, [](std::int32_t x, std::int32_t, int) { return x; });
}
TEST_CASE("rounding shifts are exact up to the ends of their types, by every amount") {
    constexpr auto words = R(e) = rounding_shift_right(X(e), S(e)) + M(e) * 0;
    check_all(words.view(), {0, 1, 2, 7, 15, 29, 30, 31},
              [](std::int32_t x, std::int32_t, int s) { return static_cast<std::int32_t>(halves_away(x, s)); });
    // All bytes by all amounts; and the ends of 64 bits.
    static constexpr tensor<std::int8_t> bytes{"bytes"}, amounts{"amounts"}, made{"made"};
    static constexpr tensor<std::int64_t> wide{"wide"}, by{"by"}, result{"result"};
    constexpr auto of_bytes = made(e) = rounding_shift_right(bytes(e), amounts(e));
    constexpr auto of_wide = result(e) = rounding_shift_right(wide(e), by(e));
    for (bool in_lanes : {false, true}) {
        auto const planned = [&](auto const& what) {
            schedule s(what, dsp);
            if (in_lanes) s.vectorize(e, 8);
            return make_plan(s);
        };
        Halide::Buffer<std::int8_t> x(4096), a(4096), r(4096);
        for (int at = 0; at < 4096; ++at) x(at) = static_cast<std::int8_t>(at), a(at) = static_cast<std::int8_t>(at / 256 % 8);
        halide::jit_kernel(planned(of_bytes), &emulated<dsp>()).run({x, a}, r);
        Halide::Buffer<std::int64_t> w(4096), b(4096), q(4096);
        for (int at = 0; at < 4096; ++at) {
            std::uint64_t const bit = std::uint64_t{1} << (at / 64 % 64);
            b(at) = at % 64;
            w(at) = static_cast<std::int64_t>(at % 3 == 0 ? bit : at % 3 == 1 ? bit - 1 : 0 - bit);
        }
        halide::jit_kernel(planned(of_wide), &emulated<dsp>()).run({w, b}, q);
        int wrong = 0;
        for (int at = 0; at < 4096; ++at)
            wrong += r(at) != halves_away(x(at), a(at)) || q(at) != halves_away(w(at), static_cast<int>(b(at)));
        CHECK(wrong == 0);
    }
}
TEST_CASE("requantize adds the zero point and saturates") {
    constexpr auto bytes = R(e) = cast<std::int32_t>(requantize<std::int8_t>(X(e), M(e), S(e), -5));
    check_all(bytes.view(), {-1, 0, 7, 20}, [](std::int32_t x, std::int32_t m, int s) {
        return static_cast<std::int32_t>(limited(std::int64_t{rescaled_once(x, m, s)} - 5, -128, 127));
    });
    constexpr auto unsigned_bytes = R(e) = cast<std::int32_t>(requantize<std::uint8_t, rounding::doubling_high>(X(e), M(e), 6, 128));
    check_all(unsigned_bytes.view(), {6}, [](std::int32_t x, std::int32_t m, int s) {
        return static_cast<std::int32_t>(limited(std::int64_t{rescaled_twice(x, m, s)} + 128, 0, 255));
    });
    constexpr auto kept = R(e) =
        cast<std::int32_t>(saturating_cast<std::int16_t>(X(e))) + cast<std::int32_t>(saturating_cast<std::uint8_t>(relu(M(e))));
    check_all(kept.view(), {0}, [](std::int32_t x, std::int32_t m, int) {
        return static_cast<std::int32_t>(limited(x, -32768, 32767) + limited(m, 0, 255));
    });
}
TEST_CASE("exp is near the real one, and has the same bits wherever it is computed") {
    constexpr auto what = G(e) = exp(F(e));
    schedule const in_lanes = schedule(what, dsp).vectorize(e, 8), plain = schedule(what, dsp);
    halide::jit_kernel lanes(make_plan(in_lanes), &emulated<dsp>()), scalars(make_plan(plain), nullptr);
    Halide::Buffer<float> x(4096), y(4096), again(4096);
    for (int from = 0; from < 8; ++from) {
        for (int at = 0; at < 4096; ++at) x(at) = -110.0f + 0.0061f * static_cast<float>(8 * at + from);
        lanes.run({x}, y);
        scalars.run({x}, again);
        double furthest = 0;
        int different = 0;
        for (int at = 0; at < 4096; ++at) {
            double const exact = std::exp(static_cast<double>(x(at)));
            different += std::bit_cast<std::uint32_t>(y(at)) != std::bit_cast<std::uint32_t>(again(at)) ? 1 : 0;
            if (exact > 3.4e38) different += std::isinf(y(at)) || y(at) > 3.39e38f ? 0 : 1;
            else if (exact > 1.2e-38) furthest = std::max(furthest, std::abs(y(at) - exact) / std::ldexp(1.0, std::ilogb(exact) - 23));
            else different += std::abs(y(at) - exact) <= 1.5e-45 ? 0 : 1;
        }
        CHECK(different == 0);
        CHECK(furthest < 2);
    }
}

namespace {
constexpr axis m{"m", 24}, n{"n", 40}, k{"k", 16}, p{"p", 24}, q{"q", 40};
constexpr axis po{"po"}, pi{"pi"}, qo{"qo"}, qi{"qi"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"}, D{"D"}, old{"old"};
constexpr tensor<std::int32_t> C{"C"}, bias{"bias"}, scale{"scale"}, by{"by"};
constexpr auto product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
// What random operands have in `scale` is small: a left shift makes it a fraction that matters.
constexpr auto fused =
    stages(C(m, n) += product, D(p, q) = requantize<std::int8_t>(C(p, q) + bias(q), (scale(q) << 20) + 12345, by(q) % 5 - 1, 3));
constexpr auto residual = stages(
    C(m, n) += product,
    D(p, q) = saturating_cast<std::int8_t>(relu(rescale<rounding::doubling_high>(C(p, q) + bias(q), (scale(q) << 20) + 12345, by(q) % 5)) +
                                           cast<std::int32_t>(old(p, q))));

void sums(kernels::operand_data const& d, std::vector<std::int64_t>& into) {
    auto const *const a = d.in<std::int8_t>(0), *const b = d.in<std::int8_t>(1);
    for (int i = 0; i < 24; ++i)
        for (int j = 0; j < 40; ++j) {
            std::int64_t sum = d.in<std::int32_t>(2)[j];
            for (int l = 0; l < 16; ++l) sum += a[i * 16 + l] * b[l * 40 + j];
            into.push_back(sum);
        }
}
void fused_by_hand(kernels::operand_data const& d) {
    std::vector<std::int64_t> all;
    sums(d, all);
    for (int at = 0; at < 24 * 40; ++at) {
        std::int64_t const factor = d.in<std::int32_t>(3)[at % 40] * (std::int64_t{1} << 20) + 12345;
        std::int64_t const scaled = rescaled_once(all[at], factor, d.in<std::int32_t>(4)[at % 40] % 5 - 1);
        d.out<std::int8_t>()[at] = static_cast<std::int8_t>(limited(scaled + 3, -128, 127));
    }
}
void residual_by_hand(kernels::operand_data const& d) {
    std::vector<std::int64_t> all;
    sums(d, all);
    for (int at = 0; at < 24 * 40; ++at) {
        std::int64_t const factor = d.in<std::int32_t>(3)[at % 40] * (std::int64_t{1} << 20) + 12345;
        std::int64_t const scaled = rescaled_twice(all[at], factor, d.in<std::int32_t>(4)[at % 40] % 5);
        d.out<std::int8_t>()[at] = static_cast<std::int8_t>(limited((scaled < 0 ? 0 : scaled) + d.in<std::int8_t>(5)[at], -128, 127));
    }
}
template <class Reference>
void check(schedule const& of, emulator& on, Reference const& expected) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    kernels::check_kernel(*plan, on, expected);
}

// A unit for vectors that requantises 8 x 8 sums.
constexpr axis u8{"u8", 8}, v8{"v8", 8};
constexpr tensor<std::int32_t> from{"from"}, offset{"offset"}, factor{"factor"}, amount{"amount"};
constexpr tensor<std::int8_t> to{"to"};
constexpr machine with_requantize() {
    using namespace accelerators;
    machine made = accelerator(ordered::by_tokens, 4);
    made.add(intrinsic("requant",
                       to(u8, v8) = requantize<std::int8_t>(from(u8, v8) + offset(v8), (factor(v8) << 20) + 12345, amount(v8) % 5 - 1, 3))
                 .reads(from, accelerators::sums)
                 .reads(offset, accelerators::sums)
                 .reads(factor, accelerators::sums)
                 .reads(amount, accelerators::sums)
                 .writes(to, accelerators::sums)
                 .on(engine{"vectors"})
                 .asynchronous()
                 .cycles(11));
    return made;
}
constexpr machine by_units = with_requantize();
}  // namespace

TEST_CASE("an epilogue runs at the tile, in the memory of the sums") {
    for (auto const& [what, expected] : {std::pair{fused.view(), &fused_by_hand}, std::pair{residual.view(), &residual_by_hand}}) {
        check(schedule(what, dsp)
                  .split(p, po, pi, 8)
                  .split(q, qo, qi, 12)
                  .reorder(po, qo, pi, qi)
                  .vectorize(qi, 4)
                  .compute_at(C, qo)
                  .store_in(C, l1)
                  .cache_read(bias, l1)
                  .at(qo)
                  .by(kernels::dram_l1)
                  .cache_read(scale, l1)
                  .by(kernels::dram_l1)
                  .cache_write(D, l1)
                  .at(qo)
                  .by(kernels::l1_dram)
                  .stage(C)
                  .vectorize(n, 4),
              emulated<dsp>(), *expected);
        check(schedule(what, dsp).split(p, po, pi, 7).split(q, qo, qi, 9).reorder(po, qo, pi, qi).compute_at(C, qo).store_in(C, l1),
              emulated<dsp>(), *expected);
    }
}
TEST_CASE("an epilogue overlaps with loads and stores") {
    using namespace six_transfers;
    constexpr memory far{.name = "l2", .base = 0x2000'0000, .capacity = 256_KiB, .alignment = 64};
    constexpr memory near{.name = "l1", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 16};
    for (machine const& where : {machine_with(loader, storer, copier, far, near), machine_with(channel, channel, channel, far, near)}) {
        emulator on(where, semantics_table{});
        check(schedule(fused, where)
                  .split(p, po, pi, 7)
                  .split(q, qo, qi, 12)
                  .reorder(po, qo, pi, qi)
                  .compute_at(C, qo)
                  .store_in(C, near)
                  .cache_read(bias, near)
                  .at(qo)
                  .buffers(2)
                  .cache_read(scale, near)
                  .at(qo)
                  .buffers(3)
                  .cache_write(D, near)
                  .at(qo)
                  .buffers(2)
                  .stage(C)
                  .cache_read(A, near)
                  .at(m)
                  .buffers(2),
              on, fused_by_hand);
    }
}
TEST_CASE("an epilogue follows sums that instructions make") {
    using namespace accelerators;
    emulator on(by_units, semantics_of<by_units>);
    auto const tiles = schedule(fused, by_units)
                           .split(p, po, pi, 8)
                           .split(q, qo, qi, 8)
                           .reorder(po, qo, pi, qi)
                           .compute_at(C, qo)
                           .store_in(C, accelerators::sums);
    check(schedule(tiles)
              .cache_read(bias, accelerators::sums)
              .at(qo)
              .cache_write(D, accelerators::sums)
              .at(qo)
              .buffers(2)
              .stage(C)
              .cache_read(A, inputs)
              .at(qo)
              .buffers(2)
              .cache_read(B, weights)
              .at(qo)
              .buffers(2)
              .tensorize(m, n, k, by_units.intrinsics[0]),
          on, fused_by_hand);
    // The epilogue is an instruction, too.
    check(schedule(tiles)
              .cache_read(bias, accelerators::sums)
              .at(qo)
              .buffers(2)
              .cache_read(scale, accelerators::sums)
              .at(qo)
              .buffers(2)
              .cache_read(by, accelerators::sums)
              .at(qo)
              .buffers(2)
              .cache_write(D, accelerators::sums)
              .at(qo)
              .buffers(2)
              .tensorize(pi, qi, by_units.intrinsics[by_units.intrinsics.size() - 1])
              .stage(C)
              .cache_read(A, inputs)
              .at(qo)
              .buffers(2)
              .cache_read(B, weights)
              .at(qo)
              .buffers(2)
              .tensorize(m, n, k, by_units.intrinsics[0]),
          on, fused_by_hand);
}
