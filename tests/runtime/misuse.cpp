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

constexpr parameter<std::int32_t> scale{"scale"};
constexpr auto scaled = out(m) = in(m)*scale;
constexpr auto scaled_on_host = schedule(scaled, host);

constexpr memory tcm{.name = "tcm", .capacity = 1_KiB, .alignment = 4};
constexpr core dsp{.name = "dsp"};
constexpr auto load = transfer("load", dram, tcm).on(dsp);
constexpr auto with_tcm = machine("with_tcm", dram, tcm, dsp, load);
constexpr auto doubled = out(m) = in(m) + in(m);
constexpr auto doubled_in_tcm = schedule(doubled, with_tcm).cache_read(in, tcm);

/// A view as std::mdspan is one, of 2 x 8 elements.
struct grid {
    std::int32_t* first = nullptr;

    static constexpr std::size_t rank() { return 2; }
    std::int32_t* data_handle() const { return first; }
    int extent(std::size_t dimension) const { return dimension == 0 ? 2 : 8; }
    int stride(std::size_t dimension) const { return dimension == 0 ? 8 : 1; }
};

int npu_smooth(halide_buffer_t*, halide_buffer_t*);
int npu_scaled(halide_buffer_t*, std::int32_t, halide_buffer_t*);
int npu_doubled(halide_buffer_t*, void*, halide_buffer_t*);

int misused(std::int32_t* given, [[maybe_unused]] std::int16_t* narrow, [[maybe_unused]] std::int32_t const* constant) {
#if defined(PLAIN_POINTER)
    return call<smooth_on_host>(npu_smooth, given, given);
#elif defined(OTHER_TYPE)
    return call<smooth_on_host>(npu_smooth, points_to(narrow, 0), given);
#elif defined(WRITTEN)
    return call<smooth_on_host>(npu_smooth, points_to(given, 0), constant);
#elif defined(NO_TENSOR)
    return call<smooth_on_host>(npu_smooth, 5, given);
#elif defined(OTHER_RANK)
    return call<smooth_on_host>(npu_smooth, points_to(given, 0), grid{given});
#elif defined(FEW)
    return call<smooth_on_host>(npu_smooth, points_to(given, 0));
#elif defined(OTHER_SCALAR)
    return call<scaled_on_host>(npu_scaled, given, 2.0, given);
#elif defined(NO_ADDRESS)
    return call<doubled_in_tcm>(npu_doubled, given, 7, given);
#else
    return call<smooth_on_host>(npu_smooth, points_to(given, 0), given) + call<scaled_on_host>(npu_scaled, given, 2, given) +
           call<doubled_in_tcm>(npu_doubled, given, given, given);
#endif
}
