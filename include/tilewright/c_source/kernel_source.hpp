#pragma once
#include <tilewright/c_source/binding_files.hpp>
#include <tilewright/c_source/file_parts.hpp>

// A kernel as C11: its header and its source.
namespace tilewright::halide {

/// NAME.h and NAME.c.
struct c_source_text {
    std::string header, source;
};

namespace detail {

inline std::string c_header(c_kernel_code const& k, bool on_device) {
    std::ostringstream text;
    text << "/* Strides count elements from one index of a dimension to the next. Pointers are to the element of the lowest index that is "
            "used:\n"
         << " * element 0, where nothing else stands here.\n";
    for (std::string const& region : k.regions) text << " *   " << region << "\n";
    text << " * Returns 0; or the code of a function of the machine that failed; or, before anything runs, -(2000 + 100 * kind + "
            "position) of\n"
         << " * the first tensor that the kernel cannot run on. Kinds: 2 no data, 5 too many elements, 6 stride, 7 alignment, 8 shares "
            "bytes\n"
         << " * with the result, 9 extent that is left to run time."
         << (k.cores > 1 ? "\n * Every one of the " + std::to_string(k.cores) +
                               " cores calls it, with its number and the same other arguments. */\n"
                         : " */\n")
         << "int " << k.name << "(" << k.parameters << ");\n";
    std::size_t position = k.regions.size();
    for (pool const& one : k.pools)
        text << "/* " << pool_text(one) << ", for this call alone; in codes, position " << position++ << ". */\n";
    if (!k.kept_result.empty()) text << "/* " << k.kept_result << " */\n";
    if (on_device) text << c_device({k});
    return c_headed("/* Kernel " + k.name + " for machine " + k.machine + ", as C. */\n", "TILEWRIGHT_KERNEL_" + k.name, text.str());
}
inline std::string c_file(c_kernel_code const& k, std::vector<std::string> const& includes) {
    std::ostringstream text;
    text << "/* Kernel " << k.name << " for machine " << k.machine << ", written from its schedule:\n *\n"
         << chained(k.directives) << " *\n * In front of every step stands what it is, and the directive that asked for it. */\n";
    for (std::string const& include : includes) text << "#include \"" << include << "\"\n";
    text << "#include \"" << k.name << ".h\"\n\n" << c_beginning({k}) << "\n" << k.functions;
    return text.str();
}

}  // namespace detail

/// A kernel as C11: freestanding, without allocation, library or halide_buffer_t.
///
/// @param made_by  what the plan was made of: remarks in the source name its directives
/// @throws std::invalid_argument when the plan was refused
/// @throws unsupported_in_c when the kernel holds an operation that C does not have, with its name
inline c_source_text c_source(schedule const& made_by, plan_value const& plan, c_source_options const& options) {
    detail::c_kernel_code const code = detail::c_kernel_writer(made_by, plan, options).write("");
    return {detail::c_header(code, options.to == binding::device), detail::c_file(code, options.includes)};
}

/// The program of a kernel's C source tool: `tool emulated|device DIRECTORY HEADER SCHEDULE [INCLUDE…]` writes NAME.h and NAME.c, and for
/// the emulated binding NAME_binding.cpp.
/// @return 0, or 1 after a message
inline int write_c_source(schedule const& made_by, plan_value const& plan, std::string const& name, int count, char** arguments) {
    return detail::run_file_tool(name, count, arguments, "SCHEDULE", "INCLUDE", [&](detail::file_request const& asked) {
        c_source_text const text = c_source(made_by, plan, {name, asked.to(), asked.rest});
        file_list files{{name + ".h", text.header}, {name + ".c", text.source}};
        if (!asked.device) files.emplace_back(name + "_binding.cpp", detail::binding_text(plan, name, asked.header, asked.subject));
        return files;
    });
}

}  // namespace tilewright::halide
