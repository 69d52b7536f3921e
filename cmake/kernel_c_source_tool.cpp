#include <tilewright/c_source/kernel_source.hpp>

int main(int argument_count, char** arguments) {
    tilewright::halide::tool_kernel const& kernel = tilewright::halide::kernels_of_tool[0];
    return tilewright::halide::write_c_source(kernel.made_by, kernel.plan, kernel.name, argument_count, arguments);
}
