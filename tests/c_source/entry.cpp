#include <tilewright/emulate/emulator.hpp>
#include <tilewright/plan/check/specialise.hpp>
#include <tilewright/runtime/argument_error.h>
#include <vector>

#include "catch.hpp"
#include "open_matmul_source.h"
#include "open_rows.hpp"
#include "reference/reference.hpp"
#include "strict.hpp"
#include "strict_add_c.h"

// What the C function of a kernel says of arguments that it cannot run on: the codes of an object's entry, before anything runs.

namespace {

constexpr int code_of(int kind, int position) { return TILEWRIGHT_ARGUMENT_ERROR(kind, position); }

struct arguments {
    alignas(64) std::int16_t a[8 * 40] = {};
    alignas(64) std::int16_t b[8 * 40] = {};
    alignas(64) std::int16_t sum[8 * 40] = {};
    arguments() {
        for (int at = 0; at < 8 * 40; ++at)
            a[at] = static_cast<std::int16_t>(at), b[at] = static_cast<std::int16_t>(1000 + at), sum[at] = -7;
    }
    bool untouched() const {
        for (std::int16_t element : sum) {
            if (element != -7) return false;
        }
        return true;
    }
};

}  // namespace

TEST_CASE("right arguments run, padded rows included") {
    arguments given;
    REQUIRE(strict_add_c(given.a, 40, given.b, 32, 5, given.sum, 33) == 0);
    for (int row = 0; row < 8; ++row) {
        for (int column = 0; column < 32; ++column)
            CHECK(given.sum[row * 33 + column] == given.a[row * 40 + column] + given.b[row * 32 + column] + 5);
        if (row < 7) CHECK(given.sum[row * 33 + 32] == -7);
    }
}
TEST_CASE("arguments that a kernel cannot run on, and what it touches then") {
    arguments given;
    std::int16_t *const a = given.a, *const b = given.b, *const sum = given.sum;
    auto const code = [&](std::int16_t const* x, std::int64_t x_stride, std::int16_t const* y, std::int64_t y_stride, std::int16_t* into,
                          std::int64_t stride) {
        int const said = strict_add_c(x, x_stride, y, y_stride, 5, into, stride);
        CHECK(given.untouched());
        return said;
    };
    CHECK(code(nullptr, 40, b, 32, sum, 33) == code_of(TILEWRIGHT_NULL_HOST, 0));
    CHECK(code(a, 40, nullptr, 32, sum, 33) == code_of(TILEWRIGHT_NULL_HOST, 1));
    CHECK(code(a, 40, b, 32, nullptr, 33) == code_of(TILEWRIGHT_NULL_HOST, 2));
    CHECK(code(a, 31, b, 32, sum, 33) == code_of(TILEWRIGHT_WRONG_STRIDE, 0));  // rows overlap
    CHECK(code(a, -40, b, 32, sum, 33) == code_of(TILEWRIGHT_WRONG_STRIDE, 0));
    CHECK(code(a, 36, b, 32, sum, 33) == code_of(TILEWRIGHT_WRONG_STRIDE, 0));                     // no multiple of 16 bytes
    CHECK(code(a, 40, b, 40, sum, 33) == code_of(TILEWRIGHT_WRONG_STRIDE, 1));                     // gaps
    CHECK(code(a, 40, b, 32, sum, std::int64_t{1} << 28) == code_of(TILEWRIGHT_WRONG_EXTENT, 2));  // 2^31 elements
    CHECK(code(a, std::int64_t{1} << 40, b, 32, sum, 33) == code_of(TILEWRIGHT_WRONG_EXTENT, 0));
    CHECK(code(a + 4, 40, b, 32, sum, 33) == code_of(TILEWRIGHT_MISALIGNED, 0));
    CHECK(code(sum, 40, b, 32, sum, 33) == code_of(TILEWRIGHT_OVERLAP, 0));
    CHECK(code(a, 40, sum, 32, sum, 33) == code_of(TILEWRIGHT_OVERLAP, 1));
}
TEST_CASE("extents that are left to run time are numbers") {
    using namespace open_rows;
    for (auto const& [rows, columns, depth] : {std::array{1, 1, 1}, {8, 16, 8}, {17, 33, 9}, {5, 100, 31}}) {
        std::vector<std::int8_t> a(static_cast<std::size_t>(rows * depth)), b(static_cast<std::size_t>(depth * columns));
        for (std::size_t at = 0; at < a.size(); ++at) a[at] = static_cast<std::int8_t>(at * 37 % 251);
        for (std::size_t at = 0; at < b.size(); ++at) b[at] = static_cast<std::int8_t>(at * 29 % 241);
        std::vector<std::int32_t> c(static_cast<std::size_t>(rows * columns), -1), expected = c;
        reference::matmul_nn(rows, columns, depth, a.data(), b.data(), expected.data());
        emulator& on = emulated<streaming>();
        on.reset();
        REQUIRE(open_matmul_source(a.data(), depth, b.data(), columns, c.data(), columns, rows, columns, depth) == 0);
        CHECK(c == expected);
        CHECK(on.error() == "");
        auto const at = std::make_unique<plan_value>(plan<open_rows::open_matmul>.at({{m, rows}, {n, columns}, {k, depth}}));
        CHECK(on.cycles() == ir::predict(*at).cycles);
    }
    std::int8_t const one = 1;
    std::int32_t c = -7;
    auto const code = [&](std::int64_t rows, std::int64_t columns, std::int64_t depth) {
        return open_matmul_source(&one, depth, &one, columns, &c, columns, rows, columns, depth);
    };
    CHECK(code(1001, 1, 1) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));
    CHECK(code(0, 1, 1) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));
    CHECK(code(1, 1, -3) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 0));
    CHECK(code(1, std::int64_t{1} << 40, 1) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));
    CHECK(code(1, 1 << 29, 1 << 29) == code_of(TILEWRIGHT_RUN_TIME_EXTENT, 2));  // more steps than can be counted
    CHECK(c == -7);
}
