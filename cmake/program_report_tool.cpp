#include <cstdio>
#include <tilewright/halide/tool_subject.hpp>
#include <tilewright/report/program_page.hpp>

/// Writes the page of a program: `tool FILE`. @return 0, or 1 after a message
int main(int argument_count, char** arguments) {
    using tilewright::halide::program_of_tool;
    try {
        if (argument_count > 1) tilewright::write_report(program_of_tool.plan, arguments[1]);
    } catch (std::exception const& problem) {
        std::fprintf(stderr, "%s: %s\n", program_of_tool.name, problem.what());
        return 1;
    }
    return 0;
}
