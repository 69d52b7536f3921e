#pragma once
#include <filesystem>
#include <fstream>
#include <iostream>
#include <tilewright/c_source/binding_entry.hpp>

// The files between a caller and the generated object: header, entry with its checks, binding to the emulator. Does not need Halide.
namespace tilewright::halide {
namespace detail {

inline std::string binding_text(plan_value const& plan, std::string const& name, std::string const& header, std::string const& schedule) {
    std::ostringstream text;
    text << "// Runs kernel " << name << " on the emulated machine " << plan.where->name.str() << ". Written by its binding tool.\n"
         << "#include \"" << header << "\"\n#include <tilewright/emulate/calls.hpp>\n\n"
         << "extern \"C\" void* " << name << "_machine() { return &tilewright::emulated<(" << schedule << ".where())>(); }\n";
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
inline int write_binding_files(plan_value const& plan, std::string const& name, int count, char** arguments) try {
    std::vector<std::string> const given(arguments + 1, arguments + count);
    if (given.size() != 4 || (given[0] != "emulated" && given[0] != "device")) {
        std::cerr << "usage: " << arguments[0] << " emulated|device DIRECTORY HEADER SCHEDULE\n";
        return 1;
    }
    bool const device = given[0] == "device";
    detail::check_kernel_name(*plan.where, name);
    std::filesystem::path const directory = given[1];
    auto const write = [&](std::string const& file, std::string const& text) {
        std::ofstream out(directory / file);
        out << text;
        if (!out.flush()) std::cerr << "cannot write " << directory / file << "\n";
        return static_cast<bool>(out);
    };
    bool good =
        write(name + ".h", detail::header_text(plan, name, device)) && write(name + "_entry.c", detail::entry_text(plan, name, device));
    if (good && !device) good = write(name + "_binding.cpp", detail::binding_text(plan, name, given[2], given[3]));
    return good ? 0 : 1;
} catch (std::exception const& wrong) {
    std::cerr << name << ": " << wrong.what() << "\n";
    return 1;
}

}  // namespace tilewright::halide
