#include <tilewright/halide/target_claims.hpp>
#include <tilewright/targets/x86_avx2.hpp>
#include <tilewright/targets/x86_avx512.hpp>

#include "catch.hpp"

// Targets that cannot do what a machine says that it has.

using namespace tilewright;

namespace {

constexpr core asks{.name = "asks", .instructions = "avx2-avx512_vnni"}, hopes{.name = "hopes", .instructions = "avx2-avx3"};
constexpr memory ram{.name = "ram"}, many = register_file("many", 32, 16), high{.name = "high", .base = 0xffff'f000, .capacity = 8_KiB};
constexpr memory low{.name = "low", .base = 0xffff'f000, .capacity = 4_KiB};
constexpr core cpu{.name = "cpu"}, fusing{.name = "fusing", .fused_multiply_add = true};
constexpr auto plain = machine("plain", ram, cpu), fused = machine("fused", ram, fusing), of_many = machine("of_many", ram, many, cpu);
constexpr auto asking = machine("asking", ram, asks), hoping = machine("hoping", ram, hopes);
constexpr auto of_high = machine("of_high", ram, high, cpu), of_low = machine("of_low", ram, low, cpu);

bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }
std::string missing(machine const& m, char const* target) { return halide::missing_in_target(m, Halide::Target(target)); }

}  // namespace

TEST_CASE("fused multiply-adds need a target that has them") {
    std::string const said = missing(fused, "x86-64-linux-sse41-avx-avx2");
    CHECK(has(said, "machine `fused` cannot be compiled for target x86-64-linux-"));
    CHECK(has(said, "core `fusing` has fused multiply-adds, and the target has none: add the feature fma"));
    CHECK(missing(fused, "x86-64-linux-sse41-avx-avx2-fma").empty());
    CHECK(missing(fused, "arm-64-linux").empty());
    CHECK(has(missing(fused, "arm-32-linux"), "fused multiply-adds"));
    CHECK(missing(plain, "x86-64-linux").empty());
}
TEST_CASE("registers need a target that has as many, as long") {
    char const* const avx2 = "x86-64-linux-sse41-avx-avx2-f16c-fma";
    CHECK(missing(targets::avx2::host, avx2).empty());
    CHECK(missing(targets::avx512::host, "x86-64-linux-sse41-avx-avx2-f16c-fma-avx512-avx512_skylake").empty());
    CHECK(has(missing(targets::avx512::host, avx2), "the registers of `zmm` have 64 bytes, those of the target 32"));
    CHECK(has(missing(targets::avx2::host, "x86-64-linux-fma"), "the registers of `ymm` have 32 bytes, those of the target 16"));
    CHECK(has(missing(of_many, avx2), "`many` has 32 registers, the target 16"));
    CHECK(missing(of_many, "x86-64-linux-avx512_skylake").empty());
    CHECK(missing(of_many, "arm-64-linux").empty());
    CHECK(has(missing(targets::avx2::host, "arm-64-linux"), "those of the target 16"));
}
TEST_CASE("addresses need as many bits as the target has") {
    CHECK(has(missing(of_high, "arm-32-linux"), "memory `high` reaches beyond the 32 bits"));
    CHECK(missing(of_low, "arm-32-linux").empty());
    CHECK(missing(of_high, "arm-64-linux").empty());
    CHECK(missing(plain, "arm-32-linux").empty());
}
TEST_CASE("a feature that the entry cannot ask a processor for is refused") {
    CHECK(has(missing(plain, "x86-64-linux-cuda"), "whether a processor has feature `cuda` is not asked here"));
    // Every feature of instructions of x86 is known; other architectures are not asked.
    for (char const* feature : {"sse41", "avx", "f16c", "fma", "fma4", "avx2", "avx512", "avx512_knl", "avx512_skylake",
                                "avx512_cannonlake", "avx512_sapphirerapids", "profile", "no_runtime", "strict_float", "user_context"})
        CHECK(missing(plain, (std::string("x86-64-linux-") + feature).c_str()).empty());
    CHECK(missing(plain, "arm-64-linux-sve2-arm_dot_prod-arm_fp16-armv81a").empty());
    CHECK(missing(plain, "hexagon-32-noos-hvx_128").empty());
}
TEST_CASE("instructions of a core that no processor can be asked for are refused") {
    CHECK(missing(asking, "x86-64-linux").empty());
    CHECK(has(missing(hoping, "x86-64-linux"), "core `hopes` needs instructions `avx2-avx3`, which no processor is asked for"));
}
