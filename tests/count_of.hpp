#pragma once
#include <cstddef>
#include <string>

/// How often a part stands in a text.
inline std::size_t count_of(std::string const& text, std::string const& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}
