#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "device_net.h"
#include "guarded.hpp"
#include "program/device_program.hpp"

using namespace device_programs;

namespace {

/// What the device was asked, in order; and the kernel that its agent runs when it is joined.
std::vector<std::string> asked;
int (*given)(void*) = nullptr;
void* given_arguments = nullptr;
int start_code = 0, kernel_code = 0;

}  // namespace

extern "C" int npu0_start(int (*kernel)(void*), void* arguments) {
    asked.push_back("start");
    given = kernel, given_arguments = arguments;
    return start_code;
}
extern "C" int npu0_join(void) {
    asked.push_back("join");
    int const code = given != nullptr ? given(given_arguments) : 0;
    given = nullptr;
    return kernel_code != 0 ? kernel_code : code;
}

namespace {

struct pools {
    // Between pages that cannot be touched, no larger than the header says.
    guarded::array<unsigned char> l2_bytes, act_bytes, wei_bytes;
    guarded::array<std::int32_t> in_elements, out_elements;
    unsigned char *l2 = l2_bytes.data(), *act = act_bytes.data(), *wei = wei_bytes.data();
    std::int32_t *in = in_elements.data(), *out = out_elements.data();

    explicit pools(guarded::side at = guarded::side::end)
        : l2_bytes(TILEWRIGHT_device_net_l2_BYTES, at, 4),
          act_bytes(TILEWRIGHT_device_net_act_BYTES, at, 4),
          wei_bytes(TILEWRIGHT_device_net_wei_BYTES, at, 4),
          in_elements(100, at),
          out_elements(100, at) {
        asked.clear();
        start_code = kernel_code = 0;
        auto* const extra_at = reinterpret_cast<std::int32_t*>(l2 + TILEWRIGHT_device_net_extra_OFFSET);
        for (int element = 0; element < 100; ++element)
            in[element] = element * 7 - 50, extra_at[element] = 1000 - element, out[element] = -1;
        std::memcpy(wei, device_net_wei_image, TILEWRIGHT_device_net_wei_IMAGE_BYTES);
    }
    device_net_memories memories() { return {.l2 = l2, .act = act, .wei = wei}; }
    int run() {
        device_net_memories const given = memories();
        return device_net(in, out, &given);
    }
    /// The code for memories of which one is another.
    template <class Address>
    int run_with(Address device_net_memories::*which, std::type_identity_t<Address> other) {
        device_net_memories given = memories();
        given.*which = other;
        return device_net(in, out, &given);
    }
    bool is_intact() const {
        return l2_bytes.is_intact() && act_bytes.is_intact() && wei_bytes.is_intact() && in_elements.is_intact() &&
               out_elements.is_intact();
    }
};

}  // namespace

TEST_CASE("a program in C on pools that the caller gives: an agent works beside the caller, results are those of plain loops") {
    for (guarded::side at : guarded::both_sides) {
        pools p(at);
        REQUIRE(p.run() == 0);
        CHECK(p.is_intact());
        for (int i = 0; i < 10; ++i) {
            for (int j = 0; j < 10; ++j) {
                int const turned_in = (j * 10 + i) * 7 - 50, turned_extra = 1000 - (j * 10 + i);
                REQUIRE(p.out[i * 10 + j] == 2 * turned_in + 1 + numbers[i * 10 + j] + turned_extra + 1);
            }
        }
        // While the agent turns, the caller's core does.
        CHECK(asked == std::vector<std::string>{"start", "join", "start", "join"});
    }
    ir::program_kernel const& beside = program_plan<on_device>.kernel_at(program_plan<on_device>.find_kernel("other"));
    ir::program_kernel const& turn = program_plan<on_device>.kernel_at(program_plan<on_device>.find_kernel("turn"));
    CHECK(turn.first_step < beside.first_step);
    CHECK(beside.last_step < turn.last_step);
}
TEST_CASE("a pool that is null or misaligned is an error code before anything runs") {
    pools p;
    device_net_memories const good = p.memories();
    CHECK(device_net(nullptr, p.out, &good) == -2200);
    CHECK(device_net(p.in, nullptr, &good) == -2201);
    CHECK(device_net(p.in, p.out, nullptr) == -2202);
    CHECK(p.run_with(&device_net_memories::l2, nullptr) == -2202);
    CHECK(p.run_with(&device_net_memories::act, nullptr) == -2203);
    CHECK(p.run_with(&device_net_memories::wei, nullptr) == -2204);
    CHECK(p.run_with(&device_net_memories::act, p.act + 2) == -2703);
    CHECK(device_net(p.in, reinterpret_cast<std::int32_t*>(reinterpret_cast<unsigned char*>(p.out) + 1), &good) == -2701);
    CHECK(asked.empty());
    for (std::int32_t one : p.out_elements) CHECK(one == -1);
}
TEST_CASE("a failure comes back as its code, with nothing under way") {
    pools p;
    start_code = 17;
    CHECK(p.run() == 17);
    CHECK(asked == std::vector<std::string>{"start"});
    pools again;
    kernel_code = -5;
    CHECK(again.run() == -5);
    CHECK(asked == std::vector<std::string>{"start", "join"});
    for (std::int32_t one : again.out_elements) CHECK(one == -1);
}
TEST_CASE("the image of the constants is a file, too") {
    std::ifstream file(std::string(DEVICE_NET_FILES) + "/device_net_wei.bin", std::ios::binary);
    std::vector<char> const bytes{std::istreambuf_iterator<char>(file), {}};
    REQUIRE(bytes.size() == TILEWRIGHT_device_net_wei_IMAGE_BYTES);
    CHECK(std::memcmp(bytes.data(), device_net_wei_image, bytes.size()) == 0);
    CHECK(std::memcmp(bytes.data() + TILEWRIGHT_device_net_w_OFFSET, numbers.data(), sizeof numbers) == 0);
}
TEST_CASE("a memory that holds constants and nothing else is one of constants, which may stay where the linker puts them") {
    static_assert(std::is_same_v<decltype(device_net_memories::wei), void const*>);
    static_assert(std::is_same_v<decltype(device_net_memories::act), void*>);
    pools copied, p;
    REQUIRE(copied.run() == 0);
    device_net_memories const in_place{.l2 = p.l2, .act = p.act, .wei = device_net_wei_image};
    REQUIRE(device_net(p.in, p.out, &in_place) == 0);
    CHECK(std::memcmp(p.out, copied.out, 100 * sizeof *p.out) == 0);
}
