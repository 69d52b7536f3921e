#pragma once
#include <string>

/// A raw string without the newline that it begins with, so that its first line can stand below the parenthesis.
inline std::string drawn(char const* text) { return text + 1; }
