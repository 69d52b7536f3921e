#pragma once
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::halide {

/// Names of files, and what stands in them.
using file_list = std::vector<std::pair<std::string, std::string>>;

namespace detail {

/// Writes files into a folder. @return 0, or 1 after a message
inline int write_files(std::filesystem::path const& folder, file_list const& files) {
    for (auto const& [file, text] : files) {
        std::filesystem::path const path = folder / file;
        std::ofstream out(path, std::ios::binary);
        out << text;
        if (!out.flush()) {
            std::cerr << "cannot write " << path << "\n";
            return 1;
        }
    }
    return 0;
}

}  // namespace detail
}  // namespace tilewright::halide
