#include <sys/mman.h>

#include <algorithm>
#include <matmul.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "catch.hpp"
#include "device.h"
#include "matmul_device.h"
#include "reference/fill.hpp"
#include "reference/reference.hpp"

namespace {

/// Puts memory where the device's addresses are.
bool map_device() {
    auto const map = [](std::uintptr_t base, std::size_t bytes) {
        void* const wanted = reinterpret_cast<void*>(base);
        return mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == wanted;
    };
    static bool const mapped = map(0x5000'0000, 256 * 1024) && map(0x5100'0000, 64 * 1024);
    return mapped;
}

struct operands {
    std::vector<std::int8_t> a = std::vector<std::int8_t>(512 * 512), b = a;
    std::vector<std::int32_t> c = std::vector<std::int32_t>(512 * 512, -1), expected = c;
    operands() {
        reference::fill(a.data(), a.size(), 1);
        reference::fill(b.data(), b.size(), 2);
        mvin_calls = mvout_calls = mac_calls = mul_calls = fail_at_mvout = 0;
    }
};

}  // namespace

TEST_CASE("lesson 01 in the device binding, against C functions written by hand") {
    REQUIRE(map_device());
    operands given;
    REQUIRE(tilewright::call<lesson_matmul::matmul_on_npu>(matmul_device, given.a.data(), given.b.data(), given.c.data()) == 0);
    reference::matmul_nn(512, 512, 512, given.a.data(), given.b.data(), given.expected.data());
    CHECK(given.c == given.expected);
    CHECK(mvin_calls == 1024);
    CHECK(mvout_calls == 64);
    CHECK(mul_calls == 1024);
    CHECK(mac_calls == 31744);
}

TEST_CASE("the code of a device function that fails comes back, and nothing runs after it") {
    REQUIRE(map_device());
    operands given;
    fail_at_mvout = 2;
    CHECK(tilewright::call<lesson_matmul::matmul_on_npu>(matmul_device, given.a.data(), given.b.data(), given.c.data()) == 33);
    CHECK(mvout_calls == 2);
    CHECK(mvin_calls == 2 * 16);
    // Only the first tile was stored.
    CHECK(std::count(given.c.begin(), given.c.end(), -1) >= 512 * 512 - 64 * 64);
}
