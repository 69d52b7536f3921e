#pragma once
#include <tilewright/bring_up/bring_up_subject.hpp>
#include <tilewright/bring_up/self_test.hpp>
#include <tilewright/bring_up/trace_header.hpp>
#include <tilewright/c_source/write_files.hpp>

namespace tilewright::bring_up {

/// `tool self_test DIRECTORY LARGEST_WINDOW [INCLUDE…]` writes NAME.c and NAME.h; `tool trace DIRECTORY` writes NAME.h.
/// @return 0, or 1 after a message
inline int write_bring_up(machine const& where, std::string const& name, int count, char** arguments) try {
    std::vector<std::string> const given(arguments + 1, arguments + count);
    bool const tests = given.size() >= 3 && given[0] == "self_test", traces = given.size() == 2 && given[0] == "trace";
    if (!tests && !traces) {
        std::cerr << "usage: " << arguments[0] << " self_test DIRECTORY LARGEST_WINDOW [INCLUDE...] | trace DIRECTORY\n";
        return 1;
    }
    halide::file_list files;
    if (tests) {
        self_test_text const made = self_test(where, {name, {given.begin() + 3, given.end()}, std::stoll(given[2])});
        files = {{name + ".c", made.source}, {name + ".h", made.header}};
    } else {
        files = {{name + ".h", trace_header(where, name)}};
    }
    return halide::detail::write_files(given[1], files);
} catch (std::exception const& wrong) {
    std::cerr << name << ": " << wrong.what() << "\n";
    return 1;
}

}  // namespace tilewright::bring_up
