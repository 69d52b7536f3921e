#include <tilewright/c_source/program_source.hpp>

int main(int argument_count, char** arguments) {
    using tilewright::halide::program_of_tool;
    return tilewright::halide::write_program(program_of_tool.plan, program_of_tool.name, argument_count, arguments);
}
