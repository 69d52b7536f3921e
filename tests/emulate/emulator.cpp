#include <tilewright/emulate/emulator.hpp>

#include "catch.hpp"

using namespace tilewright;

namespace {

constexpr axis i{"i", 4}, j{"j", 3}, l{"l", 5}, z{"z", 1};
constexpr tensor<std::int16_t> a{"a"}, b{"b"};
constexpr tensor<std::int32_t> c{"c"};
constexpr memory host{.name = "host"}, near{.name = "near", .base = 0x4000, .capacity = 8_KiB, .alignment = 32};
constexpr auto in = transfer("in", host, near).dimensions(3).cost({.latency = 7, .setup = 2, .bytes_per_cycle = 16});
constexpr auto twice = transfer("twice", host, near, c(z) = cast<std::int32_t>(a(z)) * 2);
constexpr auto dots = intrinsic("dots", c(i, j) += cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(j, l)))
                          .reads(a, near)
                          .reads(b, near)
                          .updates(c, near)
                          .cycles(11);
constexpr auto highest = intrinsic("highest", c(i) = maximum(l, cast<std::int32_t>(a(i, l)) - 1)).reads(a, near).writes(c, near);
constexpr engine unit{"unit"};
constexpr auto scale = intrinsic("scale", c(i, j) = cast<std::int32_t>(a(i, j)) * 3)
                           .reads(a, near)
                           .writes(c, near)
                           .up_to(i, j)
                           .on(unit)
                           .cycles(6, 2 * per(i), per(i) * per(j).in_units_of(2));
constexpr auto all_of = cast<std::int32_t>(a(l)) * cast<std::int32_t>(b(l));
constexpr auto one_on = intrinsic("one_on", c() += all_of).reads(a, near).reads(b, near).updates(c, near).up_to(l);
constexpr tensor<std::int16_t> begin{"begin"};
constexpr auto one_from = intrinsic("one_from", c() = cast<std::int32_t>(begin()) + sum(l, all_of))
                              .reads(a, near)
                              .reads(b, near)
                              .reads(begin, near)
                              .writes(c, near);
constexpr auto small = machine("small", host, near, unit, in, twice, dots, highest, scale, one_on, one_from);

// Remainders are not negative, and a shift by less than nothing goes the other way.
static_assert(detail::divide(7, 2) == 3 && detail::divide(-7, 2) == -4 && detail::divide(7, -2) == -3 && detail::divide(-7, -2) == 4);
static_assert(detail::modulo(-7, 2) == 1 && detail::modulo(7, -2) == 1 && detail::modulo(-7, -2) == 1 && detail::modulo(-6, 3) == 0);
static_assert(detail::divide(-7, 0) == 0 && detail::modulo(-7, 0) == 0);
static_assert(detail::shift(3, 2, true) == 12 && detail::shift(12, -2, true) == 3);
static_assert(detail::shift(-12, 2, false) == -3 && detail::shift(-3, -2, false) == -12);

}  // namespace

TEST_CASE("a transfer moves the rows that its shape says, and is counted") {
    emulator on(small, semantics_of<small>);
    std::vector<std::uint8_t> source(100);
    for (std::size_t at = 0; at < source.size(); ++at) source[at] = static_cast<std::uint8_t>(at);
    // two rows of three bytes: 10 apart in the source, 4 apart in the destination
    std::int64_t const shape[] = {3, 1, 1, 1, -1, -1, -1, 2, 10, 4};
    CHECK(on.transfer(0, source.data() + 5, on.base(near) + 64, shape) == 0);
    CHECK(std::memcmp(on.base(near) + 64, "\5\6\7\0\17\20\21", 7) == 0);
    CHECK(on.counted(in).calls == 1);
    CHECK(on.counted(in).bytes == 6);
    CHECK(on.counted(in).cycles == 7 + 2 + 1);
    CHECK(on.cycles() == 10);
}
TEST_CASE("behind the last row of a plane comes the first one of the next, on both sides") {
    emulator on(small, semantics_of<small>);
    std::vector<std::uint8_t> source(100);
    for (std::size_t at = 0; at < source.size(); ++at) source[at] = static_cast<std::uint8_t>(at);
    // two planes of two rows of two bytes: planes 50 and 8 apart, rows 10 and 3 apart
    std::int64_t const shape[] = {2, 1, 1, 2, -1, -1, -1, 2, 50, 8, 2, 10, 3};
    CHECK(on.transfer(0, source.data(), on.base(near), shape) == 0);
    std::uint8_t const expected[] = {0, 1, 0, 10, 11, 0, 0, 0, 50, 51, 0, 60, 61};
    CHECK(std::memcmp(on.base(near), expected, sizeof expected) == 0);
}
TEST_CASE("a transfer does what its semantics declare to every element") {
    emulator on(small, semantics_of<small>);
    std::int16_t const source[] = {5, -6, 30000};
    std::int64_t const shape[] = {3, 4, 2, 0, -1, -1, -1};
    CHECK(on.transfer(1, source, on.base(near), shape) == 0);
    std::int32_t const expected[] = {10, -12, 60000};
    CHECK(std::memcmp(on.base(near), expected, sizeof expected) == 0);
    CHECK(on.counted(twice).bytes == 12);
}
TEST_CASE("an intrinsic computes its semantics on strided operands") {
    emulator on(small, semantics_of<small>);
    auto* const first = reinterpret_cast<std::int16_t*>(on.base(near));          // [4][5], rows 6 apart
    auto* const second = reinterpret_cast<std::int16_t*>(on.base(near) + 1024);  // [3][5], rows 9 apart
    auto* const sums = reinterpret_cast<std::int32_t*>(on.base(near) + 2048);    // [4][3], rows 4 apart
    for (int at = 0; at < 24; ++at) first[at] = static_cast<std::int16_t>(at * 37 % 101 - 50);
    for (int at = 0; at < 27; ++at) second[at] = static_cast<std::int16_t>(at * 53 % 97 - 40);
    for (int at = 0; at < 16; ++at) sums[at] = at;
    auto const bits = [](auto* address) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)); };
    std::int64_t const operands[] = {bits(first), -1, 6, 1, 0, 0, 0, 0, bits(second), -1, 9, 1, 0, 0, 0, 0,
                                     bits(sums),  -1, 4, 1, 0, 0, 0, 0};
    CHECK(on.intrinsic(0, operands) == 0);
    for (int row = 0; row < 4; ++row) {
        for (int column = 0; column < 4; ++column) {
            std::int32_t expected = row * 4 + column;
            for (int inner = 0; inner < 5 && column < 3; ++inner) expected += first[row * 6 + inner] * second[column * 9 + inner];
            CHECK(sums[row * 4 + column] == expected);
        }
    }
    CHECK(on.counted(dots).cycles == 11);

    std::int64_t const reduced[] = {bits(first), -1, 6, 1, 0, 0, 0, 0, bits(sums), -1, 1, 0, 0, 0, 0, 0};
    CHECK(on.intrinsic(1, reduced) == 0);
    for (int row = 0; row < 4; ++row) CHECK(sums[row] == *std::max_element(first + row * 6, first + row * 6 + 5) - 1);
}
TEST_CASE("an intrinsic with one result sums up from what was there, or from a start") {
    emulator on(small, semantics_of<small>);
    auto* const first = reinterpret_cast<std::int16_t*>(on.base(near));
    auto* const second = reinterpret_cast<std::int16_t*>(on.base(near) + 1024);
    auto* const sum = reinterpret_cast<std::int32_t*>(on.base(near) + 2048);
    for (int at = 0; at < 5; ++at) first[at] = static_cast<std::int16_t>(at + 2), second[at] = static_cast<std::int16_t>(3 * at - 4);
    *sum = 100;
    auto const bits = [](auto* address) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)); };
    std::int64_t operands[] = {bits(first), -1, 1, 0, 0, 0, 0, 0, bits(second), -1, 1, 0, 0, 0, 0, 0, bits(sum), -1, 0, 0, 0, 0, 0, 0, 3};
    CHECK(on.intrinsic(3, operands) == 0);  // 3 of 5 elements
    CHECK(*sum == 100 - 2 * 4 - 3 * 1 + 4 * 2);
    operands[24] = 5;
    CHECK(on.intrinsic(3, operands) == 0);
    CHECK(*sum == 97 - 2 * 4 - 3 * 1 + 4 * 2 + 5 * 5 + 6 * 8);
    std::int64_t const started[] = {bits(first), -1, 1, 0, 0, 0, 0, 0, bits(second), -1, 1, 0, 0, 0, 0, 0,
                                    bits(first), -1, 0, 0, 0, 0, 0, 0, bits(sum),    -1, 0, 0, 0, 0, 0, 0};
    CHECK(on.intrinsic(4, started) == 0);
    CHECK(*sum == 2 - 2 * 4 - 3 * 1 + 4 * 2 + 5 * 5 + 6 * 8);
}
TEST_CASE("a call costs what it covers") {
    emulator on(small, semantics_of<small>);
    on.record();
    auto const bits = [](std::byte* address) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)); };
    std::int64_t operands[] = {bits(on.base(near)), -1, 4, 1, 0, 0, 0, 0, bits(on.base(near) + 1024), -1, 4, 1, 0, 0, 0, 0, 4, 3};
    auto const covers = [&](std::int64_t rows, std::int64_t columns) {
        operands[16] = rows, operands[17] = columns;
        std::int64_t const before = on.cycles();
        CHECK(on.intrinsic(2, operands) == 0);
        return on.cycles() - before;
    };
    CHECK(covers(4, 3) == 6 + 2 * 4 + 4 * 2);
    CHECK(covers(3, 2) == 6 + 2 * 3 + 3 * 1);
    CHECK(covers(1, 1) == 6 + 2 + 1);
    CHECK(on.counted(scale).cycles == 22 + 15 + 9);
    CHECK(on.busy(unit) == 22 + 15 + 9);
    CHECK(on.serial_cycles() == 22 + 15 + 9);
    CHECK(on.recorded().size() == 3);
    CHECK(on.recorded()[1].begin == 22);
    CHECK(on.recorded()[1].end == 37);
}
TEST_CASE("accesses outside a memory are refused and touch nothing") {
    emulator on(small, semantics_of<small>);
    std::vector<std::uint8_t> source(16, 9);
    std::int64_t const shape[] = {16, 1, 1, 0, -1, -1, -1};
    CHECK(on.transfer(0, source.data(), on.base(near) + 8192 - 15, shape) == emulation_bad_address);
    CHECK(on.error().find("in: 16 bytes") != std::string::npos);
    CHECK(on.error().find("near 0x5ff1: the destination lies outside of near") != std::string::npos);
    CHECK(on.transfer(0, source.data(), source.data(), shape) == emulation_bad_address);
    CHECK(on.transfer(9, source.data(), on.base(near), shape) == emulation_unknown_part);
    CHECK(on.intrinsic(9, shape) == emulation_unknown_part);
    CHECK(on.cycles() == 0);
    on.reset();
    CHECK(on.error().empty());
    CHECK(std::all_of(on.base(near), on.base(near) + 8192, [](std::byte at) { return at == std::byte{0}; }));
}
TEST_CASE("a call beyond what a transfer declares is refused") {
    constexpr auto narrow =
        machine("narrow", host, near, transfer("in", host, near).dimensions(2).alignment(8).row_limit(32).extent_limit(4).granularity(8));
    emulator on(narrow, {});
    alignas(8) std::array<std::uint8_t, 256> source{};
    auto const code = [&](std::initializer_list<std::int64_t> shape, int shift = 0) {
        std::vector<std::int64_t> whole(shape);
        whole.insert(whole.begin() + 4, {-1, -1, -1});
        return on.transfer(0, source.data() + shift, on.base(near), whole.data());
    };
    CHECK(code({32, 1, 1, 1, 4, 40, 32}) == 0);
    CHECK(code({32, 1, 1, 2, 2, 64, 64, 2, 32, 32}) == emulation_illegal_transfer);
    CHECK(code({40, 1, 1, 0}) == emulation_illegal_transfer);
    CHECK(code({20, 1, 1, 0}) == emulation_illegal_transfer);
    CHECK(code({8, 1, 1, 1, 5, 8, 8}) == emulation_illegal_transfer);
    CHECK(code({8, 1, 1, 1, 4, 12, 8}) == emulation_illegal_transfer);
    CHECK(code({8, 1, 1, 1, 4, 8, 12}) == emulation_illegal_transfer);
    CHECK(code({8, 1, 1, 0}, 4) == emulation_illegal_transfer);
    CHECK(code({0, 1, 1, 0}) == emulation_illegal_transfer);
    CHECK(code({8, 1, 1, 1, 0, 8, 8}) == emulation_illegal_transfer);
}
TEST_CASE("a queue of tokens holds as many as it says, and gives no more than it was given") {
    constexpr engine first{"first"}, second{"second"};
    constexpr auto ordered = machine("ordered", host, near, first, second, tokens(first, second).queues(2).holds(3));
    emulator on(ordered, {});
    CHECK(on.pop(0, 0) == emulation_no_token);
    on.reset();
    for (int at = 0; at < 3; ++at) CHECK(on.push(0, 0) == 0);
    CHECK(on.push(0, 1) == 0);
    CHECK(on.push(0, 0) == emulation_no_token);
    on.reset();
    for (int at = 0; at < 3; ++at) CHECK(on.push(0, 0) == 0);
    CHECK(on.pop(0, 0) == 0);
    CHECK(on.push(0, 0) == 0);
    CHECK(on.push(0, 2) == emulation_unknown_part);
}
TEST_CASE("addresses are reported as the device has them") {
    emulator on(small, semantics_of<small>);
    CHECK(on.device_address(on.base(near) + 0x20) == "near 0x4020");
    CHECK(on.device_address(&on) == "host");
    CHECK_THROWS_AS(on.base(host), std::invalid_argument);
}
TEST_CASE("every bank is a region of its own and has its device address") {
    constexpr memory in_row{.name = "in_row", .base = 0x1000, .capacity = 8_KiB, .banks = 2};
    constexpr memory apart{.name = "apart", .capacity = 8_KiB, .banks = 2, .bank_bases = {0x10'0000, 0x20'0000}};
    constexpr memory pool{.name = "pool", .capacity = 8_KiB, .banks = 2};
    constexpr auto banked = machine("banked", host, in_row, apart, pool, transfer("in", host, in_row));
    emulator on(banked, {});
    CHECK(on.device_address(on.base(in_row, 1) + 4) == "in_row 0x2004");
    CHECK(on.device_address(on.base(apart, 1) + 4) == "apart 0x200004");
    CHECK(on.device_address(on.base(pool, 1) + 4) == "pool +0x1004");
    CHECK_THROWS_AS(on.base(in_row, 2), std::invalid_argument);
    // a transfer does not run on from one bank into the next
    std::vector<std::uint8_t> const source(16);
    std::int64_t const shape[] = {16, 1, 1, 0, -1, -1, -1};
    CHECK(on.transfer(0, source.data(), on.base(in_row, 0) + 4096 - 16, shape) == 0);
    CHECK(on.transfer(0, source.data(), on.base(in_row, 0) + 4096 - 8, shape) == emulation_bad_address);
}
TEST_CASE("behind the last row of a bank, numbers go on in the next one") {
    constexpr memory rows{.name = "rows", .capacity = 256, .banks = 2, .address_unit = 64};
    constexpr auto numbered = machine("numbered", host, rows, transfer("in", host, rows));
    emulator on(numbered, {});
    std::uint8_t const source[] = {7, 8};
    std::int64_t const shape[] = {2, 1, 1, 0, -1, -1, -1};
    auto const code = [&](std::uintptr_t row) { return on.transfer(0, source, reinterpret_cast<void*>(row), shape); };
    CHECK(code(1) == 0);
    CHECK(std::memcmp(on.base(rows, 0) + 64, source, 2) == 0);
    CHECK(code(2) == 0);
    CHECK(std::memcmp(on.base(rows, 1), source, 2) == 0);
    CHECK(code(3) == 0);
    CHECK(std::memcmp(on.base(rows, 1) + 64, source, 2) == 0);
    CHECK(code(4) == emulation_bad_address);
}
TEST_CASE("two emulators of one machine do not share memory") {
    emulator one(small, semantics_of<small>), other(small, semantics_of<small>);
    *one.base(near) = std::byte{1};
    CHECK(*other.base(near) == std::byte{0});
    CHECK(&emulated<small>() == &emulated<small>());
}
TEST_CASE("two machines of one name are told apart") {
    static constexpr auto other = machine("small", host, near);
    emulated<small>();
    CHECK_THROWS_WITH(emulated<other>(), Catch::Contains("two different machines are called `small`"));
}

TEST_CASE("the channels of an engine work beside each other, and each is waited for by itself") {
    // 4 bytes a cycle and 10 cycles on the way.
    constexpr memory host{.name = "host"}, near{.name = "near", .capacity = 256};
    constexpr engine first{"first"}, dma{.name = "dma", .depth = 1, .channels = 3, .completes = completion::by_engine};
    constexpr auto get = transfer("get", host, near).on(dma).asynchronous().cost({.latency = 10, .bytes_per_cycle = 4});
    static constexpr auto where = machine("where", host, near, first, dma, get);
    emulator on(where, semantics_of<where>);
    on.use(progress::latest);
    std::vector<std::uint8_t> from(64, 7);
    auto const start = [&](std::int64_t channel, std::int64_t offset) {
        std::int64_t shape[] = {40, 1, 1, 0, offset, -1, -1, channel};
        return on.transfer(0, from.data(), on.base(near) + offset, shape);
    };
    auto const is_there = [&](std::int64_t offset) { return on.base(near)[offset] == std::byte{7}; };
    CHECK(start(0, 0) == 0);
    CHECK(start(2, 100) == 0);
    CHECK(on.in_flight() == 2);
    // Lane 0 is the other engine; the last channel of this one is lane 3.
    CHECK(on.wait(3, 0) == 0);
    CHECK(is_there(100));
    CHECK(!is_there(0));
    CHECK(on.in_flight() == 1);
    CHECK(on.cycles() == 20);
    // The first channel takes one job at a time: the core is held up until its own is complete, at 20.
    CHECK(start(0, 200) == 0);
    CHECK(on.busy(dma) == 30);
    CHECK(on.wait(1, 0) == 0);
    CHECK(is_there(0));
    CHECK(is_there(200));
    CHECK(on.cycles() == 40);
    CHECK(start(3, 0) == emulation_unknown_part);
    CHECK(on.error() == "get: channel 3 of dma, which has 3");
    CHECK(on.wait(4, 0) == emulation_unknown_part);
    on.reset();
    CHECK(start(1, 0) == 0);
    CHECK(on.end() == emulation_not_waited);
    CHECK(on.error() == "the kernel ended without waiting for jobs: 1 of dma.1, the last get, tag 0");
}
