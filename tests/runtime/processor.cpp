#include <string>
#include <tilewright/runtime/processor.h>

#include "catch.hpp"

// What code for a target needs; what this processor has is compared with what the compiler's own functions say.

TEST_CASE("what a target needs is what its features let the compiler use") {
    CHECK(tilewright_target_needs("x86-64-linux") == 0);
    CHECK(tilewright_target_needs("x86-64-linux-no_runtime-strict_float") == 0);
    CHECK(tilewright_target_needs("x86-64-linux-sse41") == (TILEWRIGHT_SSSE3 | TILEWRIGHT_SSE41));
    std::uint64_t const avx2 = tilewright_target_needs("x86-64-linux-avx2");
    for (std::uint64_t one : {TILEWRIGHT_FMA, TILEWRIGHT_F16C, TILEWRIGHT_BMI1, TILEWRIGHT_BMI2, TILEWRIGHT_LZCNT, TILEWRIGHT_MOVBE})
        CHECK((avx2 & one) != 0);
    CHECK((avx2 & TILEWRIGHT_AVX512F) == 0);
    std::uint64_t const skylake = tilewright_target_needs("x86-64-linux-avx512_skylake");
    CHECK((skylake & avx2) == avx2);
    CHECK((skylake & TILEWRIGHT_AVX512VL) != 0);
    CHECK((tilewright_target_needs("x86-64-linux-avx512_sapphirerapids") & TILEWRIGHT_AVX512FP16) != 0);
    CHECK(tilewright_target_needs("arm-64-linux-arm_dot_prod") == TILEWRIGHT_ARM_DOTPROD);
    CHECK(tilewright_features_need("avx512_vnni-sse41") == tilewright_features_need("avx512_vnni"));
    CHECK((tilewright_features_need("avx512_vnni") & (TILEWRIGHT_AVX512VNNI | TILEWRIGHT_AVX512BW | TILEWRIGHT_AVX512VL)) ==
          (TILEWRIGHT_AVX512VNNI | TILEWRIGHT_AVX512BW | TILEWRIGHT_AVX512VL));
    CHECK(tilewright_features_need("avx2-avx_vnni") == (avx2 | TILEWRIGHT_AVXVNNI));
}
TEST_CASE("what is no target, or has a feature that is not known, can be run by no processor") {
    for (char const* target : {"", "host", "x86-64", "avx2-fma", "x86-64-linux-avx3", "x86-64-linux-cuda"})
        CHECK((tilewright_target_needs(target) & TILEWRIGHT_NOWHERE) != 0);
#if defined(__x86_64__)
    CHECK(tilewright_can_run("x86-64-linux-avx3") == 0);
    CHECK(tilewright_can_run("arm-64-linux") == 0);
    CHECK(tilewright_has("avx3") == 0);
    CHECK(tilewright_has("arm_dot_prod") == 0);
    CHECK(tilewright_has("") == 1);
#endif
}
#if defined(__x86_64__)
TEST_CASE("this processor has what the compiler says") {
    std::uint64_t const has = tilewright_processor_has();
    __builtin_cpu_init();
#define SAME(name, bit) CHECK(((has & (bit)) != 0) == (__builtin_cpu_supports(name) != 0))
    SAME("ssse3", TILEWRIGHT_SSSE3);
    SAME("sse4.1", TILEWRIGHT_SSE41);
    SAME("sse4.2", TILEWRIGHT_SSE42);
    SAME("popcnt", TILEWRIGHT_POPCNT);
    SAME("avx", TILEWRIGHT_AVX);
    SAME("fma", TILEWRIGHT_FMA);
    SAME("fma4", TILEWRIGHT_FMA4);
    SAME("avx2", TILEWRIGHT_AVX2);
    SAME("bmi", TILEWRIGHT_BMI1);
    SAME("bmi2", TILEWRIGHT_BMI2);
    SAME("avx512f", TILEWRIGHT_AVX512F);
    SAME("avx512cd", TILEWRIGHT_AVX512CD);
    SAME("avx512bw", TILEWRIGHT_AVX512BW);
    SAME("avx512dq", TILEWRIGHT_AVX512DQ);
    SAME("avx512vl", TILEWRIGHT_AVX512VL);
    SAME("avx512ifma", TILEWRIGHT_AVX512IFMA);
    SAME("avx512vbmi", TILEWRIGHT_AVX512VBMI);
    SAME("avx512vbmi2", TILEWRIGHT_AVX512VBMI2);
    SAME("avx512vnni", TILEWRIGHT_AVX512VNNI);
    SAME("avx512bitalg", TILEWRIGHT_AVX512BITALG);
    SAME("avx512vpopcntdq", TILEWRIGHT_AVX512VPOPCNTDQ);
    SAME("gfni", TILEWRIGHT_GFNI);
    SAME("vpclmulqdq", TILEWRIGHT_VPCLMULQDQ);
}
#endif
