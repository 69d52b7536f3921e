#pragma once
#include <string>

// What the C source of a kernel asks of its compiler.
namespace tilewright::halide::detail {

// What C leaves open is refused by the compiler where it is otherwise.
inline constexpr char const* integer_ground =
    "_Static_assert((int8_t)200 == -56 && -1 >> 1 == -1 && sizeof(bool) == 1, \"integers wrap, and bool is a byte\");\n";
inline constexpr char const* floating_point_ground = R"(#include <float.h>
_Static_assert(sizeof(float) == 4 && sizeof(double) == 8 && (FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16),
               "floating point has the precision of its types");
#if defined(__FAST_MATH__)
#error "floating point is to be rounded as it is written: compile without -ffast-math"
#endif
/* No multiplication is merged into an addition. gcc does so unless it is told by -std=c11, or here. */
#if !defined(__GNUC__) || defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif !defined(__STRICT_ANSI__)
#pragma GCC optimize("fp-contract=off")
#endif
)";

inline std::string c_ground(bool floating_point) {
    return std::string("/* What C leaves to compilers, and the code relies on. */\n") + integer_ground +
           (floating_point ? floating_point_ground : "");
}
inline std::string c_fence() {
    return "/* Here the compiler mixes no accesses to memory. */\n#ifndef TILEWRIGHT_FENCE\n#if defined(__GNUC__)\n"
           "#define TILEWRIGHT_FENCE() __asm__ __volatile__(\"\" ::: \"memory\")\n#else\n"
           "#error \"define TILEWRIGHT_FENCE() as what this compiler has to keep memory accesses in order\"\n#endif\n#endif\n";
}
/// What steps of a kernel ask of compilers that know GNU's extensions, where callers must not take them in.
inline std::string c_alone() {
    return "/* Functions of their own. What a caller takes in shares registers with it, and gcc gives up vectors of its loops. */\n"
           "#if defined(__clang__)\n"
           "#define TILEWRIGHT_ALONE __attribute__((noinline))\n"
           "#elif defined(__GNUC__)\n"
           "#define TILEWRIGHT_ALONE __attribute__((noinline, noclone))\n"
           "#else\n"
           "#define TILEWRIGHT_ALONE\n#endif\n";
}
/// Likewise what code on registers asks.
inline std::string c_on_registers() {
    return "/* An address that is opaque is not named by another one. */\n"
           "#if defined(__GNUC__)\n"
           "#define TILEWRIGHT_OPAQUE(address, alignment) \\\n"
           "    do { __asm__(\"\" : \"+r\"(address)); address = __builtin_assume_aligned(address, alignment); } while (0)\n"
           "#else\n"
           "#define TILEWRIGHT_OPAQUE(address, alignment) ((void)0)\n#endif\n";
}

inline std::string c_overlap() {
    return "/* Whether two pieces of memory, of so many bytes, share some. */\n"
           "static inline bool tilewright_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {\n"
           "    const uint64_t first = (uint64_t)(uintptr_t)a, second = (uint64_t)(uintptr_t)b;\n"
           "    return first < second + (uint64_t)b_bytes && second < first + (uint64_t)a_bytes;\n"
           "}\n";
}

}  // namespace tilewright::halide::detail
