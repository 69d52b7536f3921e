#pragma once
#include <string>
#include <tilewright/base/label.hpp>

namespace tilewright::ir {

inline auto label::str() const {
    std::string text(static_cast<std::size_t>(size()), ' ');
    int position = 0;
    for (char& letter : text) letter = (*this)[position++];
    return text;
}

}  // namespace tilewright::ir
