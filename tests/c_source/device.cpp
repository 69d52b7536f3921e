#include "device.h"

#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "double_buffered_c.h"
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

struct operands {
    // Rows with a gap behind them.
    std::vector<std::int8_t> a = std::vector<std::int8_t>(512 * 520), b = std::vector<std::int8_t>(512 * 512);
    std::vector<std::int32_t> c = std::vector<std::int32_t>(512 * 515, -1), expected = c;
    operands() {
        reference::fill(a.data(), a.size(), 1);
        reference::fill(b.data(), b.size(), 2);
        moves = multiplications = fail_at_move = 0;
    }
    void multiply() {
        std::vector<std::int8_t> dense;
        for (int row = 0; row < 512; ++row) dense.insert(dense.end(), a.begin() + row * 520, a.begin() + row * 520 + 512);
        std::vector<std::int32_t> all(512 * 512);
        reference::matmul_nn(512, 512, 512, dense.data(), b.data(), all.data());
        for (int row = 0; row < 512; ++row) std::copy_n(all.begin() + row * 512, 512, expected.begin() + row * 515);
    }
};

}  // namespace

TEST_CASE("lesson 01 in C, with rows that have gaps behind them") {
    REQUIRE(map_devices());
    operands given;
    given.multiply();
    REQUIRE(matmul_c(given.a.data(), 520, given.b.data(), 512, given.c.data(), 515) == 0);
    CHECK(given.c == given.expected);
    CHECK(moves == 1024 + 64);
    CHECK(multiplications == 1024 + 31744);
}
TEST_CASE("lesson 01 in C, with the machine's functions in a header") {
    REQUIRE(map_devices());
    operands given;
    given.multiply();
    REQUIRE(matmul_inline(given.a.data(), 520, given.b.data(), 512, given.c.data(), 515) == 0);
    CHECK(given.c == given.expected);
    CHECK(moves == 0);
}
TEST_CASE("the code of a function that fails comes back from C") {
    REQUIRE(map_devices());
    operands given;
    fail_at_move = 7;
    CHECK(matmul_c(given.a.data(), 520, given.b.data(), 512, given.c.data(), 515) == 33);
    CHECK(moves == 7);
}
TEST_CASE("transfers that do nothing before they are waited for, partial tile included") {
    REQUIRE(map_devices());
    std::vector<float> x(1000), y(1001, -7), expected(1001, -7);
    reference::fill(x.data(), x.size(), 3);
    for (std::size_t at = 0; at < x.size(); ++at) {
        // As it is written, rounded twice.
        volatile float const product = x[at] * 1.7f;
        expected[at] = x[at] < 0 ? product + 0.5f : x[at] / 3.0f;
    }
    fail_at_load = 0;
    REQUIRE(double_buffered_c(x.data(), 1.7f, y.data()) == 0);
    CHECK(y == expected);
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
