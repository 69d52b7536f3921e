#pragma once
#include <cstdio>
#include <string>

/// A document of JSON on a line of its own: after the name of its schema and the name of a file to keep it in, or none.
inline void print_document(char const* schema, std::string document, char const* file = "") {
    while (document.ends_with('\n')) document.pop_back();
    std::printf("%s\t%s\t%s\n", schema, file, document.c_str());
}
