#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tilewright::tune {

/// The part of the work that a process does: part 1 of 64 is `1/64`, the last one `64/64`. Parts share out what stands in one order: each
/// thing belongs to exactly one of them.
struct shard {
    std::int64_t part = 1, of = 1;

    bool has(std::int64_t ordinal) const { return ordinal % of == part - 1; }
};

/// @throws std::invalid_argument when the text is not I/N with 1 <= I <= N
inline shard shard_of(std::string const& text) {
    shard made{0, 0};
    std::size_t const slash = text.find('/');
    char const *const begin = text.data(), *const end = begin + text.size();
    if (slash != std::string::npos) {
        auto const first = std::from_chars(begin, begin + slash, made.part);
        auto const second = std::from_chars(begin + slash + 1, end, made.of);
        bool const whole = first.ec == std::errc() && second.ec == std::errc() && first.ptr == begin + slash && second.ptr == end;
        if (whole && made.part >= 1 && made.part <= made.of) return made;
    }
    throw std::invalid_argument("a shard is I/N, from 1/N to N/N; \"" + text + "\" is none");
}

}  // namespace tilewright::tune
