/* Whether this processor can run code that was compiled for a target of Halide's, in C99. */
#ifndef TILEWRIGHT_RUNTIME_PROCESSOR_H
#define TILEWRIGHT_RUNTIME_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

/* Instructions that a processor has or not. A bit each; processors of one kind do not have those of the other. */
#define TILEWRIGHT_SSSE3 (UINT64_C(1) << 0)
#define TILEWRIGHT_SSE41 (UINT64_C(1) << 1)
#define TILEWRIGHT_SSE42 (UINT64_C(1) << 2)
#define TILEWRIGHT_POPCNT (UINT64_C(1) << 3)
#define TILEWRIGHT_AVX (UINT64_C(1) << 4)
#define TILEWRIGHT_F16C (UINT64_C(1) << 5)
#define TILEWRIGHT_FMA (UINT64_C(1) << 6)
#define TILEWRIGHT_FMA4 (UINT64_C(1) << 7)
#define TILEWRIGHT_AVX2 (UINT64_C(1) << 8)
#define TILEWRIGHT_BMI1 (UINT64_C(1) << 9)
#define TILEWRIGHT_BMI2 (UINT64_C(1) << 10)
#define TILEWRIGHT_LZCNT (UINT64_C(1) << 11)
#define TILEWRIGHT_MOVBE (UINT64_C(1) << 12)
#define TILEWRIGHT_AVX512F (UINT64_C(1) << 13)
#define TILEWRIGHT_AVX512CD (UINT64_C(1) << 14)
#define TILEWRIGHT_AVX512BW (UINT64_C(1) << 15)
#define TILEWRIGHT_AVX512DQ (UINT64_C(1) << 16)
#define TILEWRIGHT_AVX512VL (UINT64_C(1) << 17)
#define TILEWRIGHT_AVX512ER (UINT64_C(1) << 18)
#define TILEWRIGHT_AVX512PF (UINT64_C(1) << 19)
#define TILEWRIGHT_AVX512IFMA (UINT64_C(1) << 20)
#define TILEWRIGHT_AVX512VBMI (UINT64_C(1) << 21)
#define TILEWRIGHT_AVX512VBMI2 (UINT64_C(1) << 22)
#define TILEWRIGHT_AVX512VNNI (UINT64_C(1) << 23)
#define TILEWRIGHT_AVX512BITALG (UINT64_C(1) << 24)
#define TILEWRIGHT_AVX512VPOPCNTDQ (UINT64_C(1) << 25)
#define TILEWRIGHT_AVX512BF16 (UINT64_C(1) << 26)
#define TILEWRIGHT_AVX512FP16 (UINT64_C(1) << 27)
#define TILEWRIGHT_AVXVNNI (UINT64_C(1) << 28)
#define TILEWRIGHT_GFNI (UINT64_C(1) << 29)
#define TILEWRIGHT_VAES (UINT64_C(1) << 30)
#define TILEWRIGHT_VPCLMULQDQ (UINT64_C(1) << 31)
#define TILEWRIGHT_ARM_DOTPROD (UINT64_C(1) << 32)
#define TILEWRIGHT_ARM_FP16 (UINT64_C(1) << 33)
#define TILEWRIGHT_ARM_81 (UINT64_C(1) << 34)
#define TILEWRIGHT_ARM_SVE (UINT64_C(1) << 35)
#define TILEWRIGHT_ARM_SVE2 (UINT64_C(1) << 36)
/* No processor that is asked here has it. */
#define TILEWRIGHT_NOWHERE (UINT64_C(1) << 63)

/* What a feature of a target lets the compiler use. Halide compiles for a processor that has the feature, Haswell for avx2, and the
 * compiler uses what else this processor has: bit manipulation, say. */
struct tilewright_feature {
    const char* name;
    uint64_t needs;
};

/* The features of targets for x86 and aarch64 that are known here; a feature that changes no instructions needs none. */
static inline const struct tilewright_feature* tilewright_features(size_t* count) {
#define TILEWRIGHT_OF_AVX (TILEWRIGHT_SSSE3 | TILEWRIGHT_SSE41 | TILEWRIGHT_SSE42 | TILEWRIGHT_POPCNT | TILEWRIGHT_AVX)
#define TILEWRIGHT_OF_AVX2                                                                                                           \
    (TILEWRIGHT_OF_AVX | TILEWRIGHT_F16C | TILEWRIGHT_FMA | TILEWRIGHT_AVX2 | TILEWRIGHT_BMI1 | TILEWRIGHT_BMI2 | TILEWRIGHT_LZCNT | \
     TILEWRIGHT_MOVBE)
#define TILEWRIGHT_OF_AVX512 (TILEWRIGHT_OF_AVX2 | TILEWRIGHT_AVX512F | TILEWRIGHT_AVX512CD)
#define TILEWRIGHT_OF_SKYLAKE (TILEWRIGHT_OF_AVX512 | TILEWRIGHT_AVX512BW | TILEWRIGHT_AVX512DQ | TILEWRIGHT_AVX512VL)
#define TILEWRIGHT_OF_CANNONLAKE (TILEWRIGHT_OF_SKYLAKE | TILEWRIGHT_AVX512IFMA | TILEWRIGHT_AVX512VBMI)
    static const struct tilewright_feature all[] = {
        {"sse41", TILEWRIGHT_SSSE3 | TILEWRIGHT_SSE41},
        {"avx", TILEWRIGHT_OF_AVX},
        {"f16c", TILEWRIGHT_OF_AVX | TILEWRIGHT_F16C},
        {"fma", TILEWRIGHT_OF_AVX | TILEWRIGHT_FMA},
        {"fma4", TILEWRIGHT_OF_AVX | TILEWRIGHT_FMA4},
        {"avx2", TILEWRIGHT_OF_AVX2},
        {"avx512", TILEWRIGHT_OF_AVX512},
        {"avx512_knl", TILEWRIGHT_OF_AVX512 | TILEWRIGHT_AVX512ER | TILEWRIGHT_AVX512PF},
        {"avx512_skylake", TILEWRIGHT_OF_SKYLAKE},
        {"avx512_cannonlake", TILEWRIGHT_OF_CANNONLAKE},
        {"avx512_sapphirerapids", TILEWRIGHT_OF_CANNONLAKE | TILEWRIGHT_AVX512VBMI2 | TILEWRIGHT_AVX512VNNI | TILEWRIGHT_AVX512BITALG |
                                      TILEWRIGHT_AVX512VPOPCNTDQ | TILEWRIGHT_AVX512BF16 | TILEWRIGHT_AVX512FP16 | TILEWRIGHT_AVXVNNI |
                                      TILEWRIGHT_GFNI | TILEWRIGHT_VAES | TILEWRIGHT_VPCLMULQDQ},
        /* No features of Halide's: machines name them, see `core::instructions`. */
        {"avx512_vnni", TILEWRIGHT_OF_AVX2 | TILEWRIGHT_AVX512F | TILEWRIGHT_AVX512BW | TILEWRIGHT_AVX512VL | TILEWRIGHT_AVX512VNNI},
        {"avx_vnni", TILEWRIGHT_OF_AVX2 | TILEWRIGHT_AVXVNNI},
        {"arm_dot_prod", TILEWRIGHT_ARM_DOTPROD},
        {"arm_fp16", TILEWRIGHT_ARM_FP16},
        {"armv81a", TILEWRIGHT_ARM_81},
        {"sve", TILEWRIGHT_ARM_SVE},
        {"sve2", TILEWRIGHT_ARM_SVE | TILEWRIGHT_ARM_SVE2},
        {"asan", 0},
        {"c_plus_plus_name_mangling", 0},
        {"check_unsafe_promises", 0},
        {"debug", 0},
        {"disable_llvm_loop_opt", 0},
        {"embed_bitcode", 0},
        {"enable_llvm_loop_opt", 0},
        {"fuzz_float_stores", 0},
        {"large_buffers", 0},
        {"llvm_large_code_model", 0},
        {"msan", 0},
        {"no_asserts", 0},
        {"no_bounds_query", 0},
        {"no_runtime", 0},
        {"profile", 0},
        {"profile_by_timer", 0},
        {"sanitizer_coverage", 0},
        {"strict_float", 0},
        {"trace_loads", 0},
        {"trace_pipeline", 0},
        {"trace_realizations", 0},
        {"trace_stores", 0},
        {"tsan", 0},
        {"user_context", 0},
    };
    *count = sizeof all / sizeof all[0];
    return all;
}

/* What the feature whose name is these characters needs; TILEWRIGHT_NOWHERE of a name that is not known. */
static inline uint64_t tilewright_feature_needs(const char* name, size_t length) {
    size_t count, at;
    const struct tilewright_feature* const all = tilewright_features(&count);
    for (at = 0; at < count; ++at) {
        if (strlen(all[at].name) == length && strncmp(all[at].name, name, length) == 0) return all[at].needs;
    }
    return TILEWRIGHT_NOWHERE;
}

/* What features need that are joined by "-": "avx2-avx_vnni". */
static inline uint64_t tilewright_features_need(const char* features) {
    uint64_t needs = 0;
    while (*features != '\0') {
        const size_t length = strcspn(features, "-");
        needs |= tilewright_feature_needs(features, length);
        features += length;
        if (*features == '-') ++features;
    }
    return needs;
}

/* What code for a target needs: "x86-64-linux-sse41-avx", architecture, bits and system first. */
static inline uint64_t tilewright_target_needs(const char* target) {
    int part;
    for (part = 0; part < 3; ++part) {
        const size_t length = strcspn(target, "-");
        if (length == 0) return TILEWRIGHT_NOWHERE;
        target += length;
        if (*target == '-') ++target;
    }
    return tilewright_features_need(target);
}

#if defined(__x86_64__) || defined(__i386__)
static inline uint64_t tilewright_bit(uint32_t word, int bit, uint64_t has) { return (word >> bit & 1) != 0 ? has : 0; }

/* Instructions on registers of vectors need an operating system that keeps these registers when it changes tasks: it says in XCR0 which
 * ones it keeps. */
static inline uint64_t tilewright_processor_has(void) {
    const uint64_t on_ymm = TILEWRIGHT_AVX | TILEWRIGHT_F16C | TILEWRIGHT_FMA | TILEWRIGHT_FMA4 | TILEWRIGHT_AVX2 | TILEWRIGHT_AVXVNNI |
                            TILEWRIGHT_VAES | TILEWRIGHT_VPCLMULQDQ;
    const uint64_t on_zmm = TILEWRIGHT_AVX512F | TILEWRIGHT_AVX512CD | TILEWRIGHT_AVX512BW | TILEWRIGHT_AVX512DQ | TILEWRIGHT_AVX512VL |
                            TILEWRIGHT_AVX512ER | TILEWRIGHT_AVX512PF | TILEWRIGHT_AVX512IFMA | TILEWRIGHT_AVX512VBMI |
                            TILEWRIGHT_AVX512VBMI2 | TILEWRIGHT_AVX512VNNI | TILEWRIGHT_AVX512BITALG | TILEWRIGHT_AVX512VPOPCNTDQ |
                            TILEWRIGHT_AVX512BF16 | TILEWRIGHT_AVX512FP16;
    uint32_t a, b, c, d, kept = 0;
    uint64_t has = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    has |= tilewright_bit(c, 9, TILEWRIGHT_SSSE3) | tilewright_bit(c, 19, TILEWRIGHT_SSE41) | tilewright_bit(c, 20, TILEWRIGHT_SSE42);
    has |= tilewright_bit(c, 23, TILEWRIGHT_POPCNT) | tilewright_bit(c, 22, TILEWRIGHT_MOVBE) | tilewright_bit(c, 28, TILEWRIGHT_AVX);
    has |= tilewright_bit(c, 29, TILEWRIGHT_F16C) | tilewright_bit(c, 12, TILEWRIGHT_FMA);
    if ((c >> 27 & 1) != 0) __asm__ volatile("xgetbv" : "=a"(kept), "=d"(d) : "c"(0));
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) has |= tilewright_bit(c, 5, TILEWRIGHT_LZCNT) | tilewright_bit(c, 16, TILEWRIGHT_FMA4);
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        const uint32_t subleaves = a;
        has |= tilewright_bit(b, 3, TILEWRIGHT_BMI1) | tilewright_bit(b, 5, TILEWRIGHT_AVX2) | tilewright_bit(b, 8, TILEWRIGHT_BMI2);
        has |= tilewright_bit(b, 16, TILEWRIGHT_AVX512F) | tilewright_bit(b, 17, TILEWRIGHT_AVX512DQ);
        has |= tilewright_bit(b, 21, TILEWRIGHT_AVX512IFMA) | tilewright_bit(b, 26, TILEWRIGHT_AVX512PF);
        has |= tilewright_bit(b, 27, TILEWRIGHT_AVX512ER) | tilewright_bit(b, 28, TILEWRIGHT_AVX512CD);
        has |= tilewright_bit(b, 30, TILEWRIGHT_AVX512BW) | tilewright_bit(b, 31, TILEWRIGHT_AVX512VL);
        has |= tilewright_bit(c, 1, TILEWRIGHT_AVX512VBMI) | tilewright_bit(c, 6, TILEWRIGHT_AVX512VBMI2);
        has |= tilewright_bit(c, 8, TILEWRIGHT_GFNI) | tilewright_bit(c, 9, TILEWRIGHT_VAES) | tilewright_bit(c, 10, TILEWRIGHT_VPCLMULQDQ);
        has |= tilewright_bit(c, 11, TILEWRIGHT_AVX512VNNI) | tilewright_bit(c, 12, TILEWRIGHT_AVX512BITALG);
        has |= tilewright_bit(c, 14, TILEWRIGHT_AVX512VPOPCNTDQ) | tilewright_bit(d, 23, TILEWRIGHT_AVX512FP16);
        if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
            has |= tilewright_bit(a, 4, TILEWRIGHT_AVXVNNI) | tilewright_bit(a, 5, TILEWRIGHT_AVX512BF16);
    }
    if ((kept & 0x06) != 0x06) has &= ~(on_ymm | on_zmm); /* xmm and ymm */
    if ((kept & 0xe6) != 0xe6) has &= ~on_zmm;            /* and masks, zmm, the upper 16 of them */
    return has;
}
#elif defined(__aarch64__) && defined(__linux__)
static inline uint64_t tilewright_processor_has(void) {
    const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
    uint64_t has = 0;
    if ((first >> 20 & 1) != 0) has |= TILEWRIGHT_ARM_DOTPROD;
    if ((first >> 9 & 3) == 3) has |= TILEWRIGHT_ARM_FP16;
    if ((first >> 7 & 3) == 3 && (first >> 12 & 1) != 0) has |= TILEWRIGHT_ARM_81; /* sums of bits, atomics, rounding products */
    if ((first >> 22 & 1) != 0) has |= TILEWRIGHT_ARM_SVE;
    if ((second >> 1 & 1) != 0) has |= TILEWRIGHT_ARM_SVE2;
    return has;
}
#endif

/* 1 if this processor, and its operating system, have all that features joined by "-" let a compiler use: "avx2-avx_vnni"; else 0. A
 * feature that is not known here, or is of another architecture, gives 0. Of processors that are neither x86 nor, with Linux, aarch64,
 * nothing can be asked: 1. */
static inline int tilewright_has(const char* features) {
#if defined(__x86_64__) || defined(__i386__) || (defined(__aarch64__) && defined(__linux__))
    return (tilewright_features_need(features) & ~tilewright_processor_has()) == 0;
#else
    (void)features;
    return 1;
#endif
}

/* The same of all that code for a target may use. A target of another architecture gives 0. */
static inline int tilewright_can_run(const char* target) {
#if defined(__x86_64__) || defined(__i386__)
    if (strncmp(target, "x86-", 4) != 0) return 0;
    return (tilewright_target_needs(target) & ~tilewright_processor_has()) == 0;
#elif defined(__aarch64__) && defined(__linux__)
    if (strncmp(target, "arm-64-", 7) != 0) return 0;
    return (tilewright_target_needs(target) & ~tilewright_processor_has()) == 0;
#else
    (void)target;
    return 1;
#endif
}

#endif
