#include <tilewright/c_source/binding_files.hpp>
#include <tilewright/halide/tool_subject.hpp>

int main(int argument_count, char** arguments) {
    using tilewright::halide::kernel_of_tool;
    return tilewright::halide::write_binding_files(kernel_of_tool.plan, kernel_of_tool.name, argument_count, arguments);
}
