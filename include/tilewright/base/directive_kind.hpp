#pragma once
#include <cstdint>

// Every directive once: its name, and its operands in the order of the call. `t`: a tensor; `l`: a loop that is there, `L`: one that it
// makes; `m`: a memory; `x`: a transfer; `c`: a core; `n`: a number, `N`: one that may be left out; `*`: any number of names more, `?`: one
// that may be left out; `d`: an index map. Last, what it speaks of. The planner has a function for each: those of loops are read in
// plan/loops/nest.hpp, the others in plan/place/reading.hpp.
#define TILEWRIGHT_DIRECTIVES(X)        \
    X(stage, "t", stages)               \
    X(split, "lLLn", loops)             \
    X(tile, "llLLLLnn", loops)          \
    X(fuse, "llL", loops)               \
    X(reorder, "l*", loops)             \
    X(unroll, "lN", loops)              \
    X(vectorize, "lN", loops)           \
    X(parallel, "l", loops)             \
    X(distribute, "lc*N", loops)        \
    X(compute_at, "tl", stages)         \
    X(on, "cn", stages)                 \
    X(store_in, "tm", stages)           \
    X(reads, "tm*", stages)             \
    X(writes, "tm*", stages)            \
    X(cache_read, "tm", stages)         \
    X(cache_write, "tm", stages)        \
    X(at, "l", directive_before)        \
    X(by, "x", directive_before)        \
    X(buffers, "n", directive_before)   \
    X(prefetch, "n?", directive_before) \
    X(in_bank, "n", directive_before)   \
    X(layout, "d", directive_before)    \
    X(tensorize, "l*", loops)

namespace tilewright {

enum class directive_kind : std::uint8_t {
#define TILEWRIGHT_DIRECTIVE(name, operands, about) name,
    TILEWRIGHT_DIRECTIVES(TILEWRIGHT_DIRECTIVE)
#undef TILEWRIGHT_DIRECTIVE
};

struct directive_description {
    enum class subject : std::uint8_t { stages, loops, directive_before };

    char const* name;
    char const* operands;  ///< see the table
    subject about;

    /// Whether it says more about the directive before it.
    constexpr bool refines() const { return about == subject::directive_before; }
    constexpr bool makes_loops() const {
        bool found = false;
        for (char const* at = operands; *at != 0; ++at) found |= *at == 'L';
        return found;
    }
};

namespace detail {
inline constexpr directive_description directive_descriptions[] = {
#define TILEWRIGHT_DIRECTIVE(name, operands, about) {#name, operands, directive_description::subject::about},
    TILEWRIGHT_DIRECTIVES(TILEWRIGHT_DIRECTIVE)
#undef TILEWRIGHT_DIRECTIVE
};
}  // namespace detail

constexpr directive_description const& description_of(directive_kind kind) {
    return detail::directive_descriptions[static_cast<int>(kind)];
}
constexpr char const* name_of(directive_kind kind) { return description_of(kind).name; }

}  // namespace tilewright
