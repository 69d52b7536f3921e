#include "device.h"

#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "double_buffered_c.h"
#include "guarded.hpp"
#include "matmul_c.h"
#include "matmul_inline.h"
#include "reference/fill.hpp"
#include "reference/reference.hpp"

// C source for a device: its functions are written by hand, in a file of their own or in a header.

namespace {

/// Puts memory where the devices' addresses are.
bool map_devices() {
    auto const map = [](std::uintptr_t base, std::size_t bytes) {
        void* const wanted = reinterpret_cast<void*>(base);
        return mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == wanted;
    };
    static bool const mapped = map(0x5000'0000, 256 * 1024) && map(0x5100'0000, 64 * 1024) && map(0x4000'0000, 4096);
    return mapped;
}

/// Between pages that cannot be touched, with a gap after each row but the last.
struct operands {
    guarded::array<std::int8_t> a, b;
    guarded::array<std::int32_t> c;
    std::vector<std::int32_t> expected;
    explicit operands(guarded::side at)
        : a(511 * 520 + 512, at, 64), b(512 * 512, at, 64), c(511 * 515 + 512, at, 64), expected(c.size(), -1) {
        reference::fill(a.data(), a.size(), 1);
        reference::fill(b.data(), b.size(), 2);
        std::fill(c.begin(), c.end(), -1);
        moves = multiplications = fail_at_move = 0;
    }
    bool is_product() {
        std::vector<std::int8_t> dense;
        for (int row = 0; row < 512; ++row) dense.insert(dense.end(), a.begin() + row * 520, a.begin() + row * 520 + 512);
        std::vector<std::int32_t> all(512 * 512);
        reference::matmul_nn(512, 512, 512, dense.data(), b.data(), all.data());
        for (int row = 0; row < 512; ++row) std::copy_n(all.begin() + row * 512, 512, expected.begin() + row * 515);
        return std::equal(c.begin(), c.end(), expected.begin()) && a.is_intact() && b.is_intact() && c.is_intact();
    }
};

}  // namespace

TEST_CASE("lesson 02 in C, with rows that have gaps behind them") {
    REQUIRE(map_devices());
    operands given(guarded::side::end);
    REQUIRE(matmul_c(given.a.data(), 520, given.b.data(), 512, given.c.data(), 515) == 0);
    CHECK(given.is_product());
    CHECK(moves == 1024 + 64);
    CHECK(multiplications == 1024 + 31744);
}
TEST_CASE("lesson 02 in C, with the machine's functions in a header") {
    REQUIRE(map_devices());
    operands given(guarded::side::beginning);
    REQUIRE(matmul_inline(given.a.data(), 520, given.b.data(), 512, given.c.data(), 515) == 0);
    CHECK(given.is_product());
    CHECK(moves == 0);
}
TEST_CASE("the code of a function that fails comes back from C") {
    REQUIRE(map_devices());
    operands given(guarded::side::end);
    fail_at_move = 7;
    CHECK(matmul_c(given.a.data(), 520, given.b.data(), 512, given.c.data(), 515) == 33);
    CHECK(moves == 7);
}
TEST_CASE("transfers that do nothing before they are waited for, partial tile included") {
    REQUIRE(map_devices());
    for (guarded::side at : guarded::both_sides) {
        guarded::array<float> const x(1000, at), y(1000, at);
        reference::fill(x.data(), x.size(), 3);
        fail_at_load = 0;
        REQUIRE(double_buffered_c(x.data(), 1.7f, y.data()) == 0);
        for (std::size_t element = 0; element < x.size(); ++element) {
            // As it is written, rounded twice.
            volatile float const product = x[element] * 1.7f;
            REQUIRE(y[element] == (x[element] < 0 ? product + 0.5f : x[element] / 3.0f));
        }
        CHECK((x.is_intact() && y.is_intact()));
    }
    CHECK(pending_loads == 0);
    CHECK(pending_stores == 0);
}
TEST_CASE("nothing is in flight when a code comes back") {
    REQUIRE(map_devices());
    std::vector<float> x(1000, 1), y(1000);
    for (int which : {1, 2, 3, 10}) {
        fail_at_load = which;
        CHECK(double_buffered_c(x.data(), 2, y.data()) == 44);
        CHECK(pending_loads == 0);
        CHECK(pending_stores == 0);
    }
    fail_at_load = 0;
}
