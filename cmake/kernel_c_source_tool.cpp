#include <tilewright/c_source/kernel_source.hpp>

int main(int argument_count, char** arguments) {
    using tilewright::halide::kernel_of_tool;
    return tilewright::halide::write_c_source(kernel_of_tool.made_by, kernel_of_tool.plan, kernel_of_tool.name, argument_count, arguments);
}
