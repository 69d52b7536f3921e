// The emulator that kernels and programs of the emulated binding run on, compiled once for all of them.
#include <tilewright/emulate/program_emulator.hpp>
