#pragma once
#include <tilewright/c_source/ground.hpp>
#include <tilewright/c_source/kernel_code.hpp>

// Parts of the C files of kernels and programs.
namespace tilewright::halide::detail {

/// What stands in front of the functions of kernels in a C file. @param fences  whether code around the kernels has fences
inline std::string c_beginning(std::vector<c_kernel_code> const& kernels, bool fences = false) {
    bool floating_point = false, overlaps = false, on_registers = false, alone = false;
    std::map<std::string, std::string> emulator;
    c_helpers helpers;
    for (c_kernel_code const& k : kernels) {
        floating_point |= k.floating_point, fences |= k.fences, overlaps |= k.overlaps, on_registers |= k.on_registers;
        alone |= k.alone;
        emulator.insert(k.emulator.begin(), k.emulator.end());
        helpers.add(k.helpers);
    }
    std::string text = "#include <stddef.h>\n\n" + c_ground(floating_point);
    if (fences) text += "\n" + c_fence();
    if (alone) text += "\n" + c_alone();
    if (on_registers) text += "\n" + c_on_registers();
    if (!emulator.empty()) text += "\n/* The emulator. */\n";
    for (auto const& [symbol, prototype] : emulator) text += prototype + "\n";
    std::string const own = helpers.text();
    if (!own.empty()) text += "\n" + own;
    return text + (overlaps ? "\n" + c_overlap() : "");
}
inline std::string c_headed(std::string const& comment, std::string const& guard, std::string const& inside) {
    return comment + "#ifndef " + guard + "\n#define " + guard +
           "\n\n#include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" + inside +
           "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}
/// Every declaration once, and further ones. What the device provides, if anything.
inline std::string c_device(std::vector<c_kernel_code> const& kernels, std::string const& further = {}) {
    std::set<std::string> written;
    std::string text;
    for (c_kernel_code const& k : kernels) {
        for (std::string const& one : k.device) text += written.insert(one).second ? one : "";
    }
    text += further;
    return text.empty() ? "" : "\n/* What the device provides. Each returns 0, or a code that ends the kernel. */\n" + text;
}

}  // namespace tilewright::halide::detail
