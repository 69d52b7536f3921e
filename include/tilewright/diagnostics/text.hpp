#pragma once
#include <string>
#include <tilewright/diagnostics/sentence.hpp>

namespace tilewright {

/// The verdict with the way out, as run-time tools print it.
inline std::string to_string(verdict const& refusal) {
    return std::string(sentence_of(refusal).letters.elements) + "; " + advice_of(refusal);
}

}  // namespace tilewright
