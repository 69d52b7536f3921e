#pragma once
#include <tilewright/c_source/binding_entry.hpp>
#include <tilewright/c_source/emulator_include.hpp>
#include <tilewright/c_source/file_tool.hpp>

// The files between a caller and the generated object: header, entry with its checks, binding to the emulator. Does not need Halide.
namespace tilewright::halide {
namespace detail {

/// @param suffix  of the functions' names
inline std::string machine_text(plan_value const& plan, std::string const& name, std::string const& schedule,
                                std::string const& suffix = {}) {
    std::ostringstream text;
    std::string const where = "(" + schedule + ".where())",
                      machine = "tilewright_emulated_machine(&" + where + ", &tilewright::semantics_of<" + where + ">)";
    text << "extern \"C\" void* " << name << "_machine" << suffix << "() { return "
         << (plan.cores > 1 ? "tilewright_running_core(" + machine + ")" : machine) << "; }\n";
    if (buffer const* kept = kept_result(plan)) {
        text << "extern \"C\" void* " << name << "_result() { return reinterpret_cast<void*>(tilewright_emulated_base(" << machine << ", "
             << kept->memory << ", 0) + " << kept->offset << "); }\n";
    }
    return text.str();
}
inline std::string binding_head_text(plan_value const& plan, std::string const& name, std::string const& header) {
    return "// Runs kernel " + name + " on the emulated machine " + plan.where->name.str() + ". Written by its binding tool.\n#include \"" +
           header + "\"\n" + emulator_include_text(plan.cores > 1 ? "core_team" : "calls") + "\n";
}
inline std::string binding_text(plan_value const& plan, std::string const& name, std::string const& header, std::string const& schedule) {
    return binding_head_text(plan, name, header) + machine_text(plan, name, schedule);
}
/// Of several schedules, each with the emulator of its own machine.
inline std::string binding_text(std::span<tool_kernel const> schedules, std::string const& header) {
    if (schedules.size() == 1) return binding_text(schedules[0].plan, schedules[0].name, header, schedules[0].schedule_name);
    std::string text = binding_head_text(schedules[0].plan, schedules[0].name, header);
    for (std::size_t at = 0; at < schedules.size(); ++at)
        text += machine_text(schedules[at].plan, schedules[at].name, schedules[at].schedule_name, "_" + std::to_string(at));
    return text;
}

}  // namespace detail

/// The program of a kernel's binding tool: `tool emulated|device DIRECTORY HEADER SCHEDULE [TARGET…]` writes NAME.h, NAME_entry.c and, for
/// the emulated binding, NAME_binding.cpp.
///
/// The targets are what Halide compiles for, in the order in which a processor is asked: one for each schedule, or any number for the only
/// one. Without any, the code is C++, and no processor is asked.
/// @return 0, or 1 after a message
inline int write_binding_files(std::span<tool_kernel const> schedules, int count, char** arguments) {
    std::string const name = schedules[0].name;
    return detail::run_file_tool(name, count, arguments, "SCHEDULE", "TARGET", [&](detail::file_request const& asked) {
        detail::kernel_variants const kernel = detail::variants_of(schedules, asked.rest, asked.device);
        for (tool_kernel const& one : schedules) detail::check_kernel_name(*one.plan.where, name);
        file_list files{{name + ".h", detail::header_text(kernel)}, {name + "_entry.c", detail::entry_text(kernel)}};
        if (!asked.device) files.emplace_back(name + "_binding.cpp", detail::binding_text(schedules, asked.header));
        return files;
    });
}

}  // namespace tilewright::halide
