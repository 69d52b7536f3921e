#pragma once
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <tilewright/halide/tool_subject.hpp>
#include <utility>
#include <vector>

// The programs that write the files of a kernel or a network while a project is built.
namespace tilewright::halide {

/// Names of files, and what stands in them.
using file_list = std::vector<std::pair<std::string, std::string>>;

namespace detail {

/// What such a program is asked for.
struct file_request {
    bool device = false;
    std::string header, subject;      ///< that a file of the emulated binding names
    std::vector<std::string> rest{};  ///< what follows

    binding to() const { return device ? binding::device : binding::emulated; }
};

/// `tool emulated|device DIRECTORY HEADER SUBJECT [REST…]` writes the files that `files_of(request)` gives.
/// @param subject, rest  what SUBJECT and REST are called in the usage
/// @return 0, or 1 after a message
template <class FilesOf>
int run_file_tool(std::string const& name, int count, char** arguments, std::string const& subject, std::string const& rest,
                  FilesOf const& files_of) try {
    std::vector<std::string> const given(arguments + 1, arguments + count);
    if (given.size() < 4 || (given[0] != "emulated" && given[0] != "device")) {
        std::cerr << "usage: " << arguments[0] << " emulated|device DIRECTORY HEADER " << subject << " [" << rest << "...]\n";
        return 1;
    }
    for (auto const& [file, text] : files_of(file_request{given[0] == "device", given[2], given[3], {given.begin() + 4, given.end()}})) {
        std::filesystem::path const path = std::filesystem::path(given[1]) / file;
        std::ofstream out(path, std::ios::binary);
        out << text;
        if (!out.flush()) {
            std::cerr << "cannot write " << path << "\n";
            return 1;
        }
    }
    return 0;
} catch (std::exception const& wrong) {
    std::cerr << name << ": " << wrong.what() << "\n";
    return 1;
}

}  // namespace detail
}  // namespace tilewright::halide
