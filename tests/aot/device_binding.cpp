#include <sys/mman.h>

#include <algorithm>
#include <matmul.hpp>
#include <tilewright/runtime/call.hpp>

#include "catch.hpp"
#include "device.h"
#include "guarded_operands.hpp"
#include "matmul_device.h"

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

/// @param failing  the store that fails; 0: none
void start(int failing) {
    mvin_calls = mvout_calls = mac_calls = mul_calls = 0;
    fail_at_mvout = failing;
}

}  // namespace

TEST_CASE("lesson 02 in the device binding, against C functions written by hand") {
    REQUIRE(map_device());
    guarded_operands const given(tilewright::plan<lesson_matmul::matmul_on_npu>, guarded::side::end);
    start(0);
    REQUIRE(tilewright::call<lesson_matmul::matmul_on_npu>(matmul_device, given.at<std::int8_t>(0), given.at<std::int8_t>(1),
                                                           given.at<std::int32_t>(2)) == 0);
    given.check();
    CHECK(mvin_calls == 1024);
    CHECK(mvout_calls == 64);
    CHECK(mul_calls == 1024);
    CHECK(mac_calls == 31744);
}

TEST_CASE("the code of a device function that fails comes back, and nothing runs after it") {
    REQUIRE(map_device());
    guarded::array<std::int8_t> const a(512 * 512, guarded::side::beginning), b(512 * 512, guarded::side::beginning);
    guarded::array<std::int32_t> const c(512 * 512, guarded::side::beginning);
    std::fill(c.begin(), c.end(), -1);
    start(2);
    CHECK(tilewright::call<lesson_matmul::matmul_on_npu>(matmul_device, a.data(), b.data(), c.data()) == 33);
    CHECK(mvout_calls == 2);
    CHECK(mvin_calls == 2 * 16);
    // Only the first tile was stored.
    CHECK(std::count(c.begin(), c.end(), -1) >= 512 * 512 - 64 * 64);
}
