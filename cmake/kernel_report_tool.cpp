#include <cstdio>
#include <tilewright/halide/tool_subject.hpp>
#include <tilewright/report/page.hpp>

/// Writes the pages of a kernel: `tool FILE…`, one for each schedule, in their order. @return 0, or 1 after a message
int main(int argument_count, char** arguments) {
    int at = 1;
    try {
        for (tilewright::halide::tool_kernel const& kernel : tilewright::halide::kernels_of_tool) {
            if (at < argument_count) tilewright::write_report(kernel.made_by, kernel.plan, arguments[at++]);
        }
    } catch (std::exception const& problem) {
        std::fprintf(stderr, "%s: %s\n", tilewright::halide::kernels_of_tool[0].name, problem.what());
        return 1;
    }
    return 0;
}
