#include <sys/mman.h>

#include <tilewright/runtime/call.hpp>

#include "blocked_device.h"
#include "catch.hpp"
#include "guarded_operands.hpp"
#include "kernels/micro_kernel.hpp"
#include "whole_reductions_device.h"

TEST_CASE("a micro kernel in C on the caller's matrices, with panels at an address") {
    void* const panels = reinterpret_cast<void*>(micro_kernel::panels.base);
    REQUIRE(mmap(panels, 64 * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == panels);
    for (guarded::side at : guarded::both_sides) {
        guarded_operands const whole(tilewright::plan<micro_kernel::whole_reductions>, at);
        REQUIRE(tilewright::call<micro_kernel::whole_reductions>(whole_reductions_device, whole.at<float>(0), whole.at<float>(1),
                                                                 whole.at<float>(2)) == 0);
        whole.check();
        guarded_operands const parts(tilewright::plan<micro_kernel::blocked>, at);
        REQUIRE(tilewright::call<micro_kernel::blocked>(blocked_device, parts.at<float>(0), parts.at<float>(1), parts.at<float>(2)) == 0);
        parts.check();
    }
}
