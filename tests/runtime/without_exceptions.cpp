#include <array>
#include <cstdio>
#include <span>
#include <tilewright/runtime/call.hpp>
#include <tilewright/tilewright.hpp>

// What a program that is compiled without exceptions is told of a call with a mistake: a code, and words. Nothing runs, nothing ends.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"};
constexpr auto host = machine("host", dram);
constexpr axis m{"m", 16}, open{"open", dynamic};
constexpr tensor<std::int32_t> in{"in"}, out{"out"};
constexpr auto copied = out(m) = in(m);
constexpr auto copied_on_host = schedule(copied, host);
constexpr auto open_copy = out(open) = in(open);
constexpr auto open_on_host = schedule(open_copy, host);

int calls = 0;
int count_calls(halide_buffer_t*, halide_buffer_t*) {
    ++calls;
    return 0;
}
bool is(call_result const& given, int code, char const* message) {
    if (given == code && given.message == message) return true;
    std::printf("%d, not %d: %s\n", given.code, code, given.message.c_str());
    return false;
}

}  // namespace

int main() {
    std::array<std::int32_t, 16> a{}, d{};
    bool right = is(call<copied_on_host>(count_calls, a, std::span(d).first(15)), TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_EXTENT, 1),
                    "`out` is used from out[0] to out[15], 16 elements, but 15 are given");
    right &= is(call<open_on_host>(count_calls, {}, a, d), TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_RUN_TIME_EXTENT, 1),
                "extent `open` is missing, or 0; the kernel takes 1 to 1073741824");
    right &= is(call<open_on_host>(count_calls, {{m, 16}}, a, d), TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_UNKNOWN_EXTENT, 0),
                "the kernel leaves no extent `m` to run time");
    right &= calls == 0;
    right &= is(call<open_on_host>(count_calls, {{open, 16}}, a, d), 0, "");
    return right && calls == 1 ? 0 : 1;
}
