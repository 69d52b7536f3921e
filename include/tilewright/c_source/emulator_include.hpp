#pragma once
#include <string>

// How NAME_binding.cpp reaches the emulator.
namespace tilewright::halide::detail {

/// The includes of a binding: what it calls in the emulator, where a build compiles that once; or the emulator itself, in this header.
inline std::string emulator_include_text(std::string const& header) {
    return "#ifdef TILEWRIGHT_EMULATOR_APART\n#include <tilewright/emulate/binding.hpp>\n#else\n#include <tilewright/emulate/" + header +
           ".hpp>\n#endif\n";
}

}  // namespace tilewright::halide::detail
