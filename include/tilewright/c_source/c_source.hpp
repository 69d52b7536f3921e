#pragma once
#include <tilewright/c_source/kernel_source.hpp>
#include <tilewright/c_source/program_source.hpp>

// The entry of this room: kernels and programs as C11.
