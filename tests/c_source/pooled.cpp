#include "pooled.hpp"
#include <algorithm>
#include <tilewright/plan/check/may_be_result.hpp>
#include <tilewright/runtime/argument_error.h>
#include <vector>

#include "catch.hpp"
#include "guarded.hpp"
#include "in_second_c.h"
#include "mirror_c.h"
#include "raise_c.h"

// A memory whose address the caller gives, and a result that takes the place of an input.

using namespace tilewright;

namespace {

constexpr int code_of(int kind, int position) { return TILEWRIGHT_ARGUMENT_ERROR(kind, position); }

constexpr int row = 33;  // one element more than the kernels use
struct arguments {
    std::vector<std::int32_t> x, shift, y;
    alignas(64) unsigned char act_mem[128 + 64] = {};

    arguments() : x(8 * row + 1), shift(32), y(8 * row, -7) {
        for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<std::int32_t>(at);
        for (std::size_t at = 0; at < shift.size(); ++at) shift[at] = static_cast<std::int32_t>(1000 * at);
        std::fill(std::begin(act_mem), std::end(act_mem), static_cast<unsigned char>(0xee));
    }
    static std::int32_t raised(int p, int q) { return row * p + q + 1000 * q + 5; }
};

}  // namespace

TEST_CASE("a memory is given by its address, and no more of it is used than the header says") {
    static_assert(plan<pooled::raise>.peak(pooled::act_mem) == 128);
    arguments given;
    REQUIRE(raise_c(given.x.data(), row, given.shift.data(), 5, given.act_mem, given.y.data(), row) == 0);
    for (int p = 0; p < 8; ++p) {
        for (int q = 0; q < 32; ++q) CHECK(given.y[row * p + q] == arguments::raised(p, q));
        CHECK(given.y[row * p + 32] == -7);
    }
    // The last row of x was copied there.
    CHECK(std::equal(given.act_mem, given.act_mem + 128, reinterpret_cast<unsigned char const*>(&given.x[7 * row])));
    CHECK(std::all_of(given.act_mem + 128, std::end(given.act_mem), [](unsigned char byte) { return byte == 0xee; }));
}
TEST_CASE("of a memory of banks, a kernel uses what the header says: all to the end of what the last bank holds") {
    guarded::array<unsigned char> banked(2048 + 128, guarded::side::end, 64);
    arguments given;
    REQUIRE(in_second_c(given.x.data(), row, given.shift.data(), 5, banked.data(), given.y.data(), row) == 0);
    CHECK(banked.is_intact());
    for (int p = 0; p < 8; ++p) {
        for (int q = 0; q < 32; ++q) CHECK(given.y[row * p + q] == arguments::raised(p, q));
    }
}
TEST_CASE("a memory that is null or not aligned is refused behind the tensors") {
    arguments given;
    auto const code = [&](void* act_mem) { return raise_c(given.x.data(), row, given.shift.data(), 5, act_mem, given.y.data(), row); };
    CHECK(code(nullptr) == code_of(TILEWRIGHT_NULL_HOST, 3));
    CHECK(code(given.act_mem + 32) == code_of(TILEWRIGHT_MISALIGNED, 3));
    CHECK(code(given.act_mem + 1) == code_of(TILEWRIGHT_MISALIGNED, 3));
    CHECK(std::count(given.y.begin(), given.y.end(), -7) == 8 * row);
}
TEST_CASE("a result takes the place of an input element by element, and shares bytes in no other way") {
    static_assert(detail::may_be_result(plan<pooled::raise>, 0));
    static_assert(!detail::may_be_result(plan<pooled::raise>, 1));
    arguments given;
    std::vector<std::int32_t> const before = given.x;
    auto const raise = [&](std::int32_t* result, std::int64_t stride) {
        return raise_c(given.x.data(), row, given.shift.data(), 5, given.act_mem, result, stride);
    };
    CHECK(raise(given.x.data() + 1, row) == code_of(TILEWRIGHT_OVERLAP, 0));
    CHECK(raise(given.x.data(), 32) == code_of(TILEWRIGHT_OVERLAP, 0));
    CHECK(raise_c(given.x.data(), row, given.x.data(), 5, given.act_mem, given.x.data(), row) == code_of(TILEWRIGHT_OVERLAP, 1));
    CHECK(given.x == before);
    REQUIRE(raise(given.x.data(), row) == 0);
    for (int p = 0; p < 8; ++p) {
        for (int q = 0; q < 32; ++q) CHECK(given.x[row * p + q] == arguments::raised(p, q));
        CHECK(given.x[row * p + 32] == before[row * p + 32]);
    }
}
TEST_CASE("where an element is read after another one was written, the result is no input") {
    static_assert(!detail::may_be_result(plan<pooled::mirror>, 0));
    arguments given;
    CHECK(mirror_c(given.x.data(), row, given.x.data(), row) == code_of(TILEWRIGHT_OVERLAP, 0));
    REQUIRE(mirror_c(given.x.data(), row, given.y.data(), row) == 0);
    CHECK(given.y[0] == 31);
}
