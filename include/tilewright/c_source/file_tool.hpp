#pragma once
#include <tilewright/c_source/write_files.hpp>
#include <tilewright/halide/tool_subject.hpp>

// The programs that write the files of a kernel or a network while a project is built.
namespace tilewright::halide::detail {

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
    file_request const asked{given[0] == "device", given[2], given[3], {given.begin() + 4, given.end()}};
    return write_files(given[1], files_of(asked));
} catch (std::exception const& wrong) {
    std::cerr << name << ": " << wrong.what() << "\n";
    return 1;
}

}  // namespace tilewright::halide::detail
