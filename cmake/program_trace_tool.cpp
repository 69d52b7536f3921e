#include <tilewright/bring_up/program_trace.hpp>

int main(int argument_count, char** arguments) {
    using tilewright::bring_up::program_of_trace;
    std::vector<tilewright::semantics_table> semantics;
    for (tilewright::semantics_table const* const one : program_of_trace.semantics) semantics.push_back(*one);
    return tilewright::bring_up::run_trace_tool(program_of_trace.plan, semantics, argument_count, arguments);
}
