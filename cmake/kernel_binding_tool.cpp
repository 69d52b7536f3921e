#include <tilewright/c_source/binding_files.hpp>
#include <tilewright/halide/tool_subject.hpp>

int main(int argument_count, char** arguments) {
    return tilewright::halide::write_binding_files(tilewright::halide::kernels_of_tool, argument_count, arguments);
}
