#pragma once
#include <cstring>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/emulator_include.hpp>
#include <tilewright/c_source/kernel_source.hpp>
#include <tilewright/c_source/program_entry.hpp>
#include <tilewright/diagnostics/text.hpp>

// A program as C11: one file with its kernels and the function that runs them on the memories that it is given.
namespace tilewright::halide {

namespace detail {

class c_program_writer : c_program_entry {
  public:
    c_program_writer(program_plan_value const& plan, c_source_options const& options) : c_program_entry(plan, options) {}

    file_list write() {
        if (plan_.refusal) throw std::invalid_argument(to_string(plan_.refusal));
        write_kernels();
        file_list files{{options_.name + ".h", header()}, {options_.name + ".c", source()}};
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (pool_at(at).constants == 0) continue;
            files.emplace_back(image_name(at) + ".bin", image(at));
            if (options_.constants == constants_in::file) files.emplace_back(image_name(at) + ".c", image_from_file(at));
        }
        return files;
    }
    /// What C++ adds for the emulated binding.
    std::string binding(std::string const& header, std::string const& program) const {
        std::string tables;
        for (int agent = 0; agent < plan_.of->agent_count; ++agent)
            tables += (agent > 0 ? ", " : "") + ("&tilewright::semantics_of<*" + program) + ".agents[" + std::to_string(agent) + "].where>";
        std::string text = "// Runs program " + options_.name +
                           " on the emulated machines of its agents. Written by its tool.\n#include \"" + header + "\"\n" +
                           emulator_include_text("program_emulator") +
                           "#include <tilewright/program/program_plan.hpp>\n\n"
                           "extern \"C\" void* " +
                           options_.name + "_program() {\n    static tilewright::semantics_table const* const semantics[] = {" + tables +
                           "};\n    return tilewright_emulated_program(&tilewright::program_plan<" + program + ">, semantics);\n}\n";
        for (int at = 0; at < plan_.kernels.size(); ++at) {
            if (first_alike(at) != at) continue;
            text += "extern \"C\" void* " + kernel_name(at) + "_machine() { return tilewright_emulated_agent(" + options_.name +
                    "_program(), " + std::to_string(plan_.kernel_at(at).agent) + "); }\n";
        }
        return text;
    }

  private:
    /// The addresses of memories, by name: so their order does not matter, and the caller cannot exchange two pointers.
    std::string memories_text() const {
        std::size_t position = passed_declarations().size();
        std::string text;
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (!is_given(at)) continue;
            ir::pool_use const& one = pool_at(at);
            text += "    " + const_text(at) + "void *" + word_of_memory(at) + "; /* " +
                    pool_text({memory_at(at).name.str(), bytes_of_memory(at), one.alignment}) + "; in codes, position " +
                    std::to_string(position++) + " */\n";
        }
        return text.empty()
                   ? ""
                   : "/* Where the program finds the memories that it uses. */\nstruct " + options_.name + "_memories {\n" + text + "};\n";
    }
    /// What each core has of its own among the memories that the caller gives.
    std::string own_memories_text() const {
        std::string text;
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (is_given(at) && memory_at(at).what.per_core) text += (text.empty() ? ", but an own " : " and ") + memory_at(at).name.str();
        }
        return text;
    }
    std::string header() const {
        std::ostringstream text;
        text << memories_text()
             << "/* Returns 0; or the code of a function of a machine that failed; or, before anything runs, -(2000 + 100 * kind + "
                "position) of\n"
             << " * a parameter that the program cannot run on. Kinds: 2 null, 7 alignment. Tensors are whole: pointers are to their "
                "element 0."
             << (plan_.cores > 1 ? "\n * Every one of the " + std::to_string(plan_.cores) +
                                       " cores calls it, with its number and the same other arguments" + own_memories_text() + "."
                                 : "")
             << " */\n"
             << "int " << options_.name << "(" << parameters() << ");\n\n";
        for (int const at : arguments_first()) {
            ir::program_tensor const& t = plan_.tensor_at(at);
            char const* const kind = is_state(at)                        ? "state"
                                     : t.kind == ir::tensor_kind::input  ? "input"
                                     : t.kind == ir::tensor_kind::output ? "output"
                                                                         : "constant";
            text << "/* " << kind << " " << word_of_tensor(at) << ": " << shape_text(t);
            if (t.passed) {
                text << " */\n";
                continue;
            }
            text << " in " << memory_at(t.memory).name.str()
                 << (memory_at(t.memory).what.banks > 1 ? ", bank " + std::to_string(t.bank) : "") << " */\n#define TILEWRIGHT_"
                 << options_.name << "_" << word_of_tensor(at) << "_OFFSET " << offset_of(t) << "\n";
        }
        for (int at = 0; at < plan_.memories.size(); ++at) {
            ir::pool_use const& one = pool_at(at);
            if (!one.used) continue;
            std::string const macro = "TILEWRIGHT_" + options_.name + "_" + word_of_memory(at);
            text << "/* memory " << pool_text({memory_at(at).name.str(), bytes_of_memory(at), one.alignment}) << " */\n#define " << macro
                 << "_BYTES " << bytes_of_memory(at) << "\n";
            if (one.constants == 0) continue;
            text << "/* Its constants, for its first bytes; " << image_name(at) << ".bin holds the same. */\n#define " << macro
                 << "_IMAGE_BYTES " << one.constants << "\nextern const unsigned char " << image_name(at) << "_image[" << one.constants
                 << "];\n";
        }
        if (on_device()) {
            std::string agents;
            for (int a = 0; a < plan_.of->agent_count; ++a) {
                agent const& one = plan_.of->agents[a];
                if (!one.is_aside() || !runs_kernels(a)) continue;
                agents += "/* begins a kernel on agent " + one.name.str() + ", beside the caller */\n" +
                          prototype(one.start, "(int (*kernel)(void *), void *arguments);\n") +
                          "/* returns what that kernel returned, when it is complete */\n" + prototype(one.join, "(void);\n");
            }
            text << c_device(codes_, agents);
        }
        return c_headed("/* Program " + options_.name + ", as C. */\n", "TILEWRIGHT_PROGRAM_" + options_.name, text.str());
    }
    /// Whether a tensor is what one run leaves for the next one.
    bool is_state(int tensor) const {
        bool found = plan_.tensor_at(tensor).state_of >= 0;
        for (int at = 0; at < plan_.tensors.size(); ++at) found |= plan_.tensor_at(at).state_of == tensor;
        return found;
    }
    /// The tensors that the caller knows: those that are passed, in the order of the parameters, and then the others.
    std::vector<int> arguments_first() const {
        std::vector<int> made;
        for (auto const kind : {ir::tensor_kind::input, ir::tensor_kind::output})
            each_passed(kind, [&](int at, auto const&) { made.push_back(at); });
        for (int at = 0; at < plan_.tensors.size(); ++at) {
            bool const is_known = plan_.tensor_at(at).kind != ir::tensor_kind::between;
            if (is_known && std::find(made.begin(), made.end(), at) == made.end()) made.push_back(at);
        }
        return made;
    }
    /// Not of what a header of the device has as a macro.
    static std::string prototype(label const& symbol, std::string const& rest) {
        return "#ifndef " + symbol.str() + "\nint " + symbol.str() + rest + "#endif\n";
    }
    bool runs_kernels(int agent_at) const {
        bool found = false;
        for (int at = 0; at < plan_.kernels.size(); ++at) found |= plan_.kernel_at(at).agent == agent_at;
        return found;
    }
    std::string image(int memory) const {
        std::string bytes(static_cast<std::size_t>(pool_at(memory).constants), '\0');
        for (int at = 0; at < plan_.tensors.size(); ++at) {
            ir::program_tensor const& t = plan_.tensor_at(at);
            if (t.kind == ir::tensor_kind::constant && t.memory == memory)
                std::memcpy(bytes.data() + t.offset, plan_.of->statement_at(t.statement).data, static_cast<std::size_t>(t.bytes));
        }
        return bytes;
    }
    std::string image_text(int memory) const {
        std::string const bytes = image(memory);
        std::string text = "const unsigned char " + image_name(memory) + "_image[" + std::to_string(bytes.size()) + "] = {";
        for (std::size_t at = 0; at < bytes.size(); ++at)
            text += (at % 24 == 0 ? "\n    " : " ") + std::to_string(static_cast<unsigned char>(bytes[at])) + ",";
        return "_Alignas(" + std::to_string(pool_at(memory).alignment) + ") " + text + "\n};\n";
    }

    /// C that makes the bytes of the file with an image a part of the object.
    std::string image_from_file(int memory) const {
        std::string const name = image_name(memory), symbol = name + "_image";
        std::string text = "/* The constants of " + options_.name + " in " + memory_at(memory).name.str() + ": the bytes of " + name +
                           ".bin, which the assembler looks for beside this file when the\n * compiler is given -I with its folder. The " +
                           "assemblers of GNU and LLVM take it, for objects of ELF. For others, give\n * the linker these bytes as " +
                           symbol + ". */\n#include \"" + options_.name + ".h\"\n\n__asm__(";
        for (std::string const& line :
             {std::string(".pushsection .rodata"), ".globl " + symbol, ".balign " + std::to_string(pool_at(memory).alignment),
              ".type " + symbol + ", %object", symbol + ":", ".incbin \\\"" + name + ".bin\\\"", ".size " + symbol + ", . - " + symbol,
              std::string(".popsection")})
            text += (text.back() == '(' ? "\"" : "\n        \"") + line + "\\n\"";
        return text + ");\n";
    }

    /// The beginning of the comment on the functions of a kernel, and of those that are alike.
    std::string remark_on(int kernel_at) const {
        ir::program_kernel const& kernel = plan_.kernel_at(kernel_at);
        std::vector<std::string> names;
        for (int at = kernel_at; at < plan_.kernels.size(); ++at) {
            if (first_alike(at) == kernel_at) names.push_back(plan_.kernel_at(at).name.str());
        }
        bool const several = names.size() > 1;
        std::string line = several ? "/* Kernels" : "/* Kernel", text;
        for (std::size_t at = 0; at < names.size(); ++at) {
            std::string const one = (at == 0 ? " " : at + 1 == names.size() ? " and " : ", ") + names[at];
            bool const full = line.size() + one.size() > 110;
            if (full) text += line + (one[0] == ',' ? ",\n *" : "\n *"), line.clear();
            line += full ? one.substr(one[0] == ',' ? 1 : 0) : one;
        }
        return text + line + " on " + plan_.agent_of(kernel).name.str() + (kernel.is_copy() ? ", a copy between two memories" : "") +
               (copies(kernel_at) ? ", begun by one function and completed by another" : "") +
               (several ? "; the names are those of " + names[0] : "") + ":\n *\n";
    }
    /// Where everything is, and a function of that for each kernel.
    std::string places_and_calls_text() const {
        std::string const places = "struct " + options_.name + "_places";
        std::string text = "\n/* Where everything is. */\n" + places + " {\n" + places_text() + "};\n";
        for (int at = 0; at < plan_.kernels.size(); ++at)
            text += "static int " + kernel_name(at) + "_here(void *places) {\n    const " + places + " *const at = (const " + places +
                    " *)places;\n    " + unused_text(at) + "return " + call_text(at) + ";\n}\n";
        return text;
    }
    std::string source() const {
        std::ostringstream text;
        text << "/* Program " << options_.name << ": its kernels, each written from its schedule, and the function that runs them. */\n";
        for (std::string const& include : options_.includes) text << "#include \"" << include << "\"\n";
        bool fences = false;
        for (int at = 0; at < plan_.steps.size(); ++at) fences |= is_fenced(plan_.steps[at]);
        text << "#include \"" << options_.name << ".h\"\n\n" << c_beginning(codes_, fences);
        if (!on_device()) {
            text << "void *tilewright_program_memory(void *, int32_t, int32_t);\n";
            for (char const* name : {"run", "start"})
                text << "int32_t tilewright_program_" << name << "(void *, int32_t, int (*)(void *), void *);\n";
            text << "int32_t tilewright_program_begin(void *, int32_t, int (*)(void *), int (*)(void *), void *);\n";
            if (plan_.cores > 1) text << "int32_t tilewright_program_barrier(void *);\n";
            text << "int32_t tilewright_program_join(void *, int32_t);\nvoid *" << options_.name << "_program(void);\n";
        }
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (pool_at(at).constants > 0 && options_.constants == constants_in::source) text << "\n" << image_text(at);
        }
        for (int at = 0; at < plan_.kernels.size(); ++at) {
            if (first_alike(at) == at) text << "\n" << remark_on(at) << chained(code_at(at).directives) << " */\n" << code_at(at).functions;
        }
        if (has_places()) text << places_and_calls_text();
        for (int at = 0; at < plan_.kernels.size() && !on_device(); ++at) {
            if (copies(at))
                text << "static int " << kernel_name(at) << "_complete_here(void *places) {\n    (void)places;\n    return "
                     << function_name(at) << "_complete();\n}\n";
        }
        std::string const failing = failing_text();
        text << (failing.empty() ? "" : "\n") << failing << "\nint " << options_.name << "(" << parameters() << ") {\n"
             << entry_text() << "}\n";
        return text.str();
    }
};

}  // namespace detail

/// A program as C11: NAME.h, NAME.c with all kernels and one entry, and for every memory with constants its image, NAME_MEMORY.bin. Where
/// constants are in files, NAME_MEMORY.c makes the image a part of the object.
/// Freestanding, without allocation or library.
///
/// @throws as `c_source`
inline file_list c_program(program_plan_value const& plan, c_source_options const& options) {
    return detail::c_program_writer(plan, options).write();
}

/// The tool of a program: `tool emulated|device DIRECTORY HEADER PROGRAM [INCLUDE…]` writes its files, and for the emulated binding
/// NAME_binding.cpp.
/// @return 0, or 1 after a message
inline int write_program(program_plan_value const& plan, std::string const& name, int count, char** arguments) {
    return detail::run_file_tool(name, count, arguments, "PROGRAM", "INCLUDE", [&](detail::file_request const& asked) {
        detail::c_program_writer writer(plan, {name, asked.to(), asked.rest});
        file_list files = writer.write();
        if (!asked.device) files.emplace_back(name + "_binding.cpp", writer.binding(asked.header, asked.subject));
        return files;
    });
}

}  // namespace tilewright::halide
