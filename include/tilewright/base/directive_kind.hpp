#pragma once
#include <cstdint>

#define TILEWRIGHT_DIRECTIVES(X) \
    X(stage)                     \
    X(split)                     \
    X(tile)                      \
    X(fuse)                      \
    X(reorder)                   \
    X(unroll)                    \
    X(vectorize)                 \
    X(parallel)                  \
    X(compute_at)                \
    X(store_in)                  \
    X(reads)                     \
    X(writes)                    \
    X(cache_read)                \
    X(cache_write)               \
    X(at)                        \
    X(by)                        \
    X(buffers)                   \
    X(prefetch)                  \
    X(in_bank)                   \
    X(layout)                    \
    X(tensorize)

namespace tilewright {

enum class directive_kind : std::uint8_t {
#define TILEWRIGHT_DIRECTIVE(name) name,
    TILEWRIGHT_DIRECTIVES(TILEWRIGHT_DIRECTIVE)
#undef TILEWRIGHT_DIRECTIVE
};

constexpr char const* name_of(directive_kind kind) {
    constexpr char const* names[] = {
#define TILEWRIGHT_DIRECTIVE(name) #name,
        TILEWRIGHT_DIRECTIVES(TILEWRIGHT_DIRECTIVE)
#undef TILEWRIGHT_DIRECTIVE
    };
    return names[static_cast<int>(kind)];
}

}  // namespace tilewright
