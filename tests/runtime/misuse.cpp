#include <tilewright/runtime/call.hpp>
#include <tilewright/tilewright.hpp>

// What `call` does not take. The compilers say it.

using namespace tilewright;

constexpr memory dram{.name = "dram"};
constexpr auto host = machine("host", dram);
constexpr axis m{"m", 16};
constexpr tensor<std::int32_t> in{"in"}, out{"out"};
constexpr auto smooth = out(m) = in(m - 1) + in(m + 1);
constexpr auto smooth_on_host = schedule(smooth, host);

int npu_smooth(halide_buffer_t*, halide_buffer_t*);

int misused(std::int32_t* given, [[maybe_unused]] std::int16_t* narrow, [[maybe_unused]] std::int32_t const* constant) {
#if defined(PLAIN_POINTER)
    return call<smooth_on_host>(npu_smooth, given, given);
#elif defined(OTHER_TYPE)
    return call<smooth_on_host>(npu_smooth, points_to(narrow, 0), given);
#elif defined(WRITTEN)
    return call<smooth_on_host>(npu_smooth, points_to(given, 0), constant);
#elif defined(NO_TENSOR)
    return call<smooth_on_host>(npu_smooth, 5, given);
#else
    return call<smooth_on_host>(npu_smooth, points_to(given, 0), given);
#endif
}
