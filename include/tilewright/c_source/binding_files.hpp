#pragma once
#include <tilewright/c_source/binding_entry.hpp>
#include <tilewright/c_source/file_tool.hpp>

// The files between a caller and the generated object: header, entry with its checks, binding to the emulator. Does not need Halide.
namespace tilewright::halide {
namespace detail {

inline std::string binding_text(plan_value const& plan, std::string const& name, std::string const& header, std::string const& schedule) {
    std::ostringstream text;
    text << "// Runs kernel " << name << " on the emulated machine " << plan.where->name.str() << ". Written by its binding tool.\n"
         << "#include \"" << header << "\"\n#include <tilewright/emulate/" << (plan.cores > 1 ? "core_team" : "calls") << ".hpp>\n\n";
    std::string const machine = "tilewright::emulated<(" + schedule + ".where())>()";
    text << "extern \"C\" void* " << name << "_machine() { return &"
         << (plan.cores > 1 ? "tilewright::running_core(" + machine + ")" : machine) << "; }\n";
    if (buffer const* kept = kept_result(plan)) {
        text << "extern \"C\" void* " << name << "_result() { return tilewright::emulated<(" << schedule << ".where())>().base("
             << kept->memory << ") + " << kept->offset << "; }\n";
    }
    return text.str();
}

}  // namespace detail

/// The program of a kernel's binding tool: `tool emulated|device DIRECTORY HEADER SCHEDULE` writes NAME.h, NAME_entry.c and, for the
/// emulated binding, NAME_binding.cpp.
/// @return 0, or 1 after a message
inline int write_binding_files(plan_value const& plan, std::string const& name, int count, char** arguments) {
    return detail::run_file_tool(name, count, arguments, "SCHEDULE", false, [&](detail::file_request const& asked) {
        detail::check_kernel_name(*plan.where, name);
        file_list files{{name + ".h", detail::header_text(plan, name, asked.device)},
                        {name + "_entry.c", detail::entry_text(plan, name, asked.device)}};
        if (!asked.device) files.emplace_back(name + "_binding.cpp", detail::binding_text(plan, name, asked.header, asked.subject));
        return files;
    });
}

}  // namespace tilewright::halide
