#include <tilewright/halide/generator.hpp>

using tilewright::halide::kernel_generator;

HALIDE_REGISTER_GENERATOR(kernel_generator, tilewright_kernel)
