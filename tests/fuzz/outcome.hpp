#pragma once
#include <cstdint>
#include <string>

namespace fuzz {

/// What became of a case.
struct outcome {
    enum class kind : std::uint8_t { agreed, refused, undefined, failed } is = kind::agreed;
    std::string what{};  ///< refused: the verdict's kind; failed: "category: text", the category in one word
    bool in_c = false;   ///< the C source ran, too
    int cores = 1;       ///< that the kernel runs on
    bool multicasts = false;

    std::string category() const { return what.substr(0, what.find(':')); }
};

}  // namespace fuzz
