#pragma once
#include <string>
#include <tilewright/base/label.hpp>

namespace tilewright::ir {

inline auto label::str() const {
    std::string text;
    for (int position = 0; position < size(); ++position) text += (*this)[position];
    return text;
}

}  // namespace tilewright::ir
