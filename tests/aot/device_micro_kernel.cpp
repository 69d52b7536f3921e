#include <sys/mman.h>

#include <tilewright/runtime/call.hpp>
#include <vector>

#include "blocked_device.h"
#include "catch.hpp"
#include "kernels/micro_kernel.hpp"
#include "reference/fill.hpp"
#include "whole_reductions_device.h"

TEST_CASE("a micro kernel in C on the caller's matrices, with panels at an address") {
    void* const panels = reinterpret_cast<void*>(micro_kernel::panels.base);
    REQUIRE(mmap(panels, 64 * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == panels);
    std::vector<float> a(75 * 85), b(85 * 53), expected(75 * 53);
    reference::fill(a.data(), a.size(), 1);
    reference::fill(b.data(), b.size(), 2);
    for (std::size_t i = 0; i < 75; ++i) {
        for (std::size_t j = 0; j < 53; ++j) {
            float sum = 0;
            for (std::size_t l = 0; l < 85; ++l) {
                float volatile const product = a[i * 85 + l] * b[l * 53 + j];
                sum += product;
            }
            expected[i * 53 + j] = sum;
        }
    }
    std::vector<float> c(75 * 53, -1);
    REQUIRE(tilewright::call<micro_kernel::whole_reductions>(whole_reductions_device, a.data(), b.data(), c.data()) == 0);
    CHECK(c == expected);
    c.assign(75 * 53, -1);
    REQUIRE(tilewright::call<micro_kernel::blocked>(blocked_device, a.data(), b.data(), c.data()) == 0);
    CHECK(c == expected);
}
