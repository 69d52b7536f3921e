#include <sys/mman.h>

#include <cstring>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "blocks.hpp"
#include "blocks_c_backend.h"
#include "blocks_device.h"
#include "catch.hpp"
#include "guarded_operands.hpp"

namespace {

/// What the device was asked to load.
struct loaded {
    std::uintptr_t to;
    std::int64_t row_bytes, rows, source_stride, destination_stride;
};
std::vector<loaded> loads;

bool map_block(std::uintptr_t base) {
    void* const wanted = reinterpret_cast<void*>(base);
    return mmap(wanted, 32 * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == wanted;
}

}  // namespace

extern "C" std::int32_t load_block(void const* source, void* destination, std::int64_t row_bytes, std::int64_t rows,
                                   std::int64_t source_stride, std::int64_t destination_stride) {
    loads.push_back({reinterpret_cast<std::uintptr_t>(destination), row_bytes, rows, source_stride, destination_stride});
    for (std::int64_t row = 0; row < rows; ++row)
        std::memcpy(static_cast<char*>(destination) + row * destination_stride, static_cast<char const*>(source) + row * source_stride,
                    static_cast<std::size_t>(row_bytes));
    return 0;
}

TEST_CASE("[2][4096] in the device binding is two blocks at two addresses") {
    REQUIRE(map_block(0xd800'0000));
    REQUIRE(map_block(0xda00'0000));
    guarded_operands const given(tilewright::plan<blocks::in_two_blocks>, guarded::side::end);
    REQUIRE(tilewright::call<blocks::in_two_blocks>(blocks_device, given.at<float>(0), given.at<float>(1)) == 0);
    given.check();
    REQUIRE(loads.size() == 4);
    for (std::size_t at = 0; at < loads.size(); ++at) {
        CHECK(loads[at].to == (at % 2 == 0 ? 0xd800'0000u : 0xda00'0000u));
        CHECK(loads[at].row_bytes == 32 * 4);
        CHECK(loads[at].rows == 128);
        CHECK(loads[at].source_stride == 2 * 32 * 4);
        CHECK(loads[at].destination_stride == 32 * 4);
    }
    // The last 256 rows of x, in turn.
    for (int row = 0; row < 256; ++row) {
        auto const* const block = reinterpret_cast<float const*>(std::uintptr_t{row % 2 == 0 ? 0xd800'0000u : 0xda00'0000u});
        REQUIRE(std::memcmp(block + row / 2 * 32, given.at<float>(0) + (256 + row) * 32, 32 * 4) == 0);
    }
}
TEST_CASE("C++ source of code on two blocks") {
    tilewright::emulator& on = tilewright::emulated<blocks::dsp>();
    for (guarded::side at : guarded::both_sides) {
        guarded_operands const given(tilewright::plan<blocks::in_two_blocks>, at);
        REQUIRE(tilewright::call<blocks::in_two_blocks>(blocks_c_backend, given.at<float>(0), given.at<float>(1)) == 0);
        CHECK(on.error().empty());
        given.check();
    }
}
