#include <tilewright/bring_up/trace_tool.hpp>

int main(int argument_count, char** arguments) {
    using tilewright::bring_up::kernel_of_trace;
    return tilewright::bring_up::run_trace_tool(kernel_of_trace.plan, kernel_of_trace.semantics, argument_count, arguments);
}
