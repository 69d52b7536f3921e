#pragma once
#include <tilewright/c_source/kernel_source.hpp>
#include <tilewright/program/kernel_plans.hpp>

namespace tilewright::halide {

/// The files of a program, by name.
using file_list = std::vector<std::pair<std::string, std::string>>;

namespace detail {

/// A program as one C file: its kernels, and the function that runs them on the memories that it is given.
class c_program_writer {
  public:
    c_program_writer(program_plan_value const& plan, c_source_options const& options) : plan_(plan), options_(options) {}

    file_list write() {
        if (plan_.refusal) throw std::invalid_argument(to_string(plan_.refusal));
        for (int at = 0; at < plan_.kernels.size(); ++at) builds_.push_back(build_kernel(plan_, at));
        take_words();
        for (int at = 0; at < plan_.kernels.size(); ++at) write_kernel(at);
        file_list files{{options_.name + ".h", header()}, {options_.name + ".c", source()}};
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (pool_at(at).constants > 0) files.emplace_back(image_name(at) + ".bin", image(at));
        }
        return files;
    }
    /// What C++ adds for the emulated binding.
    std::string binding(std::string const& header, std::string const& program) const {
        std::string const on = "tilewright::emulated_program<" + program + ">()";
        std::string text = "// Runs program " + options_.name +
                           " on the emulated machines of its agents. Written by its tool.\n#include \"" + header +
                           "\"\n#include <tilewright/emulate/program_emulator.hpp>\n\nextern \"C\" void* " + options_.name +
                           "_program() { return &" + on + "; }\n";
        for (int at = 0; at < plan_.kernels.size(); ++at)
            text += "extern \"C\" void* " + kernel_name(at) + "_machine() { return &" + on + ".on(" +
                    std::to_string(plan_.kernel_at(at).agent) + "); }\n";
        return text;
    }

  private:
    static constexpr char const* no_places = "    int nothing;\n";

    bool on_device() const { return options_.to == binding::device; }
    ir::program_memory const& memory_at(int at) const { return plan_.memories[at]; }
    ir::pool_use const& pool_at(int at) const { return plan_.pools[at]; }
    /// Bytes that a program needs of a memory, from its first one; where banks have addresses of their own, of the fullest.
    std::int64_t bytes_of_memory(int memory) const {
        memory_value const& m = memory_at(memory).what;
        std::int64_t bytes = pool_at(memory).peak;
        if (m.has_address()) return bytes;
        for (int at = 0; at < plan_.tensors.size(); ++at) {
            ir::program_tensor const& t = plan_.tensor_at(at);
            if (t.memory == memory && !t.passed) bytes = std::max(bytes, t.bank * m.bank_capacity() + t.offset + t.bytes);
        }
        for (int at = 0; at < plan_.scratch.size(); ++at) {
            ir::program_scratch const& s = plan_.scratch_at(at);
            for (int n = 0; n < s.bank_count && s.memory == memory; ++n)
                bytes = std::max(bytes, (s.bank + n) % m.banks * m.bank_capacity() + s.offset + s.bytes_in_bank);
        }
        return bytes;
    }
    /// Of a tensor, from the first byte of its memory.
    std::int64_t offset_of(ir::program_tensor const& t) const {
        memory_value const& m = memory_at(t.memory).what;
        return static_cast<std::int64_t>(m.position(t.bank, t.offset) - m.position(0, 0));
    }
    std::string const& word_of_memory(int at) const { return memory_words_[at]; }
    std::string const& word_of_tensor(int at) const { return tensor_words_[at]; }
    static std::string as_word(label const& name) {
        std::string word = name.str();
        std::replace(word.begin(), word.end(), '.', '_');
        return word;
    }
    std::string const& kernel_name(int at) const { return kernel_words_[at]; }
    std::string image_name(int memory) const { return options_.name + "_" + word_of_memory(memory); }
    /// Gives every word of the file to one thing: users' tensors and memories first.
    void take_words() {
        check_function_name(options_.name);
        for (char const* made : {"", "_program", "_places", "_memories"}) words_.reserve(options_.name + made);
        auto const reserve = [&](label const& symbol) {
            if (symbol.str() == options_.name)
                throw std::invalid_argument("`" + options_.name + "` is a function of a machine: name the program otherwise");
            words_.reserve(symbol.str());
        };
        for (kernel_build const& made : builds_)
            each_function(*made.plan.where, [&](device_call const& call, bool) { reserve(call.symbol); });
        for (int a = 0; a < plan_.of->agent_count; ++a) {
            agent const& one = plan_.of->agents[a];
            if (one.is_aside()) reserve(one.start), reserve(one.join);
        }
        for (int at = 0; at < plan_.memories.size(); ++at)
            memory_words_.push_back(words_.take(as_word(memory_at(at).name), {"_BYTES", "_IMAGE_BYTES"}));
        for (int at = 0; at < plan_.tensors.size(); ++at) tensor_words_.push_back(words_.take(as_word(plan_.tensor_at(at).name)));
        for (int at = 0; at < plan_.memories.size(); ++at) words_.reserve(image_name(at) + "_image");
        for (int at = 0; at < plan_.kernels.size(); ++at)
            kernel_words_.push_back(words_.take(options_.name + "_" + as_word(plan_.kernel_at(at).name),
                                                {"_steps", "_complete", "_here", "_complete_here", "_machine"}));
        at_ = words_.take("at"), status_ = words_.take("status"), memories_ = words_.take("memories");
    }
    /// Whether the caller gives the address of a memory, and the program uses it.
    bool is_given(int memory) const { return on_device() && pool_at(memory).used && memory_at(memory).what.is_pool(); }
    /// Whether the program has to know where a memory is: tensors lie there, or kernels are told.
    bool is_addressed(int memory) const {
        bool found = is_given(memory);
        for (int at = 0; at < plan_.tensors.size(); ++at) found |= plan_.tensor_at(at).memory == memory && !plan_.tensor_at(at).passed;
        return found;
    }

    std::string tensor_type(ir::program_tensor const& t) const { return c_type(t.type); }
    /// "float[8][500]"
    std::string shape_text(ir::program_tensor const& t) const {
        std::string text = tensor_type(t);
        for (int d = 0; d < t.rank; ++d) text += "[" + std::to_string(t.extents[d]) + "]";
        return text;
    }
    template <class Visit>
    void each_passed(ir::tensor_kind kind, Visit const& visit) const {
        for (int s = 0; s < plan_.of->statements_size(); ++s) {
            for (int at = 0; at < plan_.tensors.size(); ++at) {
                ir::program_tensor const& t = plan_.tensor_at(at);
                if (t.kind == kind && t.statement == s && t.passed) visit(at, t);
            }
        }
    }
    /// "const float *image", inputs in front of outputs.
    std::vector<std::string> passed_declarations() const {
        std::vector<std::string> all;
        each_passed(ir::tensor_kind::input,
                    [&](int at, ir::program_tensor const& t) { all.push_back("const " + tensor_type(t) + " *" + word_of_tensor(at)); });
        each_passed(ir::tensor_kind::output,
                    [&](int at, ir::program_tensor const& t) { all.push_back(tensor_type(t) + " *" + word_of_tensor(at)); });
        return all;
    }
    bool is_any_given() const {
        bool any = false;
        for (int at = 0; at < plan_.memories.size(); ++at) any |= is_given(at);
        return any;
    }
    /// Inputs, outputs, and all memories together.
    std::string parameters() const {
        std::string text;
        auto const add = [&](std::string const& one) { text += (text.empty() ? "" : ", ") + one; };
        for (std::string const& one : passed_declarations()) add(one);
        if (is_any_given()) add("const struct " + options_.name + "_memories *" + memories_);
        return text.empty() ? "void" : text;
    }
    /// Where memories are, by name: their order says nothing to the caller, and a pointer cannot be taken for another one.
    std::string memories_text() const {
        std::size_t position = passed_declarations().size();
        std::string text;
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (!is_given(at)) continue;
            ir::pool_use const& one = pool_at(at);
            text += "    void *" + word_of_memory(at) + "; /* " +
                    pool_text({memory_at(at).name.str(), bytes_of_memory(at), one.alignment}) + "; in codes, position " +
                    std::to_string(position++) + " */\n";
        }
        return text.empty()
                   ? ""
                   : "/* Where the program finds the memories that it uses. */\nstruct " + options_.name + "_memories {\n" + text + "};\n";
    }

    void write_kernel(int at) {
        kernel_build const& made = builds_[at];
        c_source_options const how{kernel_name(at), options_.to, options_.includes};
        codes_.push_back(c_kernel_writer(*made.what, made.plan, how).write("static ", copies(at)));
    }
    /// Whether it is a copy by an engine, which one function begins and another completes.
    bool copies(int kernel_at) const { return plan_.agent_of(plan_.kernel_at(kernel_at)).is_engine(); }

    /// "(const float *)(at->act_mem + 4096)"
    std::string address_of(ir::program_use const& u, std::int64_t first) const {
        ir::program_tensor const& t = plan_.tensor_at(u.tensor);
        std::string const element = (u.written ? "" : "const ") + tensor_type(t) + " *";
        if (t.passed)
            return (t.kind == ir::tensor_kind::input ? "" : "(" + element + ")") + ("at->" + word_of_tensor(u.tensor)) +
                   (first == 0 ? "" : " + " + std::to_string(first));
        std::int64_t const offset = t.offset + first * bytes_of(t.type);
        return "(" + element + ")(at->" + word_of_memory(t.memory) + bank_text(t) + " + " + std::to_string(offset) + ")";
    }
    std::string bank_text(ir::program_tensor const& t) const {
        return memory_at(t.memory).what.banks > 1 ? "[" + std::to_string(t.bank) + "]" : "";
    }
    /// A call of a kernel with the arguments that the plan gives it.
    std::string call_text(int kernel_at) const {
        kernel_build const& made = builds_[kernel_at];
        c_signature const& signature = codes_[kernel_at].signature;
        std::string inputs, result;
        for (c_argument const& a : signature.tensors) {
            buffer const& b = made.plan.buffers[a.at];
            ir::program_use const& u = use_of(plan_, kernel_at, made.plan, a.at);
            ir::program_tensor const& t = plan_.tensor_at(u.tensor);
            std::string text = address_of(u, t.first_element(b));
            for (int d = 0; d + 1 < b.rank; ++d) text += ", " + std::to_string(t.stride(d));
            (b.written ? result : inputs) += (b.written || inputs.empty() ? "" : ", ") + text;
        }
        for (auto const& [memory, word] : signature.pools) {
            int const here = plan_.memory_of(plan_.kernel_at(kernel_at).agent, made.plan.where->memories[memory].name);
            inputs += (inputs.empty() ? "" : ", ") + ("at->" + word_of_memory(here)) + (memory_at(here).what.banks > 1 ? "[0]" : "");
        }
        return kernel_name(kernel_at) + "(" + inputs + (inputs.empty() || result.empty() ? "" : ", ") + result + ")";
    }

    std::string header() const {
        std::ostringstream text;
        text << memories_text()
             << "/* Returns 0; or the code of a function of a machine that failed; or, before anything runs, -(2000 + 100 * kind + "
                "position) of\n"
             << " * a parameter that the program cannot run on. Kinds: 2 null, 7 alignment. Tensors are whole: pointers are to their "
                "element 0. */\n"
             << "int " << options_.name << "(" << parameters() << ");\n\n";
        for (int at = 0; at < plan_.tensors.size(); ++at) {
            ir::program_tensor const& t = plan_.tensor_at(at);
            if (t.kind == ir::tensor_kind::between) continue;
            char const* const kind = t.kind == ir::tensor_kind::input ? "input" : t.kind == ir::tensor_kind::output ? "output" : "constant";
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
            text << c_device(codes_);
            for (int a = 0; a < plan_.of->agent_count; ++a) {
                agent const& one = plan_.of->agents[a];
                if (!one.is_aside() || !runs_kernels(a)) continue;
                text << "/* begins a kernel on agent " << one.name.str() << ", beside the caller */\n"
                     << prototype(one.start, "(int (*kernel)(void *), void *arguments);\n")
                     << "/* returns what that kernel returned, when it is complete */\n"
                     << prototype(one.join, "(void);\n");
            }
        }
        return c_headed("/* Program " + options_.name + ", as C. */\n", "TILEWRIGHT_PROGRAM_" + options_.name, text.str());
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
            text << "int32_t tilewright_program_join(void *, int32_t);\nvoid *" << options_.name << "_program(void);\n";
        }
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (pool_at(at).constants > 0) text << "\n" << image_text(at);
        }
        for (int at = 0; at < plan_.kernels.size(); ++at) {
            c_kernel_code const& k = codes_[at];
            ir::program_kernel const& kernel = plan_.kernel_at(at);
            text << "\n/* Kernel " << kernel.name.str() << " on " << plan_.agent_of(kernel).name.str()
                 << (kernel.is_copy() ? ", a copy between two memories" : "")
                 << (copies(at) ? ", begun by one function and completed by another" : "") << ":\n *\n"
                 << k.directives << " */\n"
                 << k.functions;
        }
        text << "\n/* Where everything is. */\nstruct " << options_.name << "_places {\n" << places_text() << "};\n";
        for (int at = 0; at < plan_.kernels.size(); ++at)
            text << "static int " << kernel_name(at) << "_here(void *places) {\n    const struct " << options_.name
                 << "_places *const at = (const struct " << options_.name << "_places *)places;\n    " << unused_text(at) << "return "
                 << call_text(at) << ";\n}\n";
        for (int at = 0; at < plan_.kernels.size() && !on_device(); ++at) {
            if (copies(at))
                text << "static int " << kernel_name(at) << "_complete_here(void *places) {\n    (void)places;\n    return "
                     << kernel_name(at) << "_complete();\n}\n";
        }
        text << "\nint " << options_.name << "(" << parameters() << ") {\n" << entry_text() << "}\n";
        return text.str();
    }
    std::string unused_text(int kernel_at) const { return call_text(kernel_at).find("at->") == std::string::npos ? "(void)at;\n    " : ""; }
    std::string places_text() const {
        std::string text;
        for (std::string const& one : passed_declarations()) text += "    " + one + ";\n";
        for (int at = 0; at < plan_.memories.size(); ++at) {
            int const banks = memory_at(at).what.banks;
            if (is_addressed(at))
                text += "    unsigned char *" + word_of_memory(at) + (banks > 1 ? "[" + std::to_string(banks) + "]" : "") + ";\n";
        }
        return text.empty() ? no_places : text;
    }
    std::string address_of_bank(int memory, int bank) const {
        memory_value const& m = memory_at(memory).what;
        if (!on_device())
            return "(unsigned char *)tilewright_program_memory(" + options_.name + "_program(), " + std::to_string(memory) + ", " +
                   std::to_string(bank) + ")";
        if (m.is_pool())
            return "(unsigned char *)" + memories_ + "->" + word_of_memory(memory) +
                   (bank == 0 ? "" : " + " + std::to_string(bank * m.bank_capacity()));
        std::ostringstream text;
        text << "(unsigned char *)(uintptr_t)0x" << std::hex << m.bank_base(bank) << "u";
        return text.str();
    }
    std::string entry_text() const {
        std::ostringstream text;
        int position = 0;
        auto const check = [&](std::string const& word, std::int64_t alignment, char const* what) {
            text << "    if (" << word << " == NULL) return " << TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_HOST, position) << "; /* no "
                 << what << " */\n";
            if (alignment > 1)
                text << "    if ((uintptr_t)" << word << " % " << alignment << " != 0) return "
                     << TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_MISALIGNED, position) << "; /* not aligned */\n";
            ++position;
        };
        auto const check_tensor = [&](int at, ir::program_tensor const& t) { check(word_of_tensor(at), t.alignment, "data"); };
        each_passed(ir::tensor_kind::input, check_tensor);
        each_passed(ir::tensor_kind::output, check_tensor);
        if (is_any_given())
            text << "    if (" << memories_ << " == NULL) return " << TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_HOST, position)
                 << "; /* no memories */\n";
        for (int at = 0; at < plan_.memories.size(); ++at) {
            if (is_given(at)) check(memories_ + "->" + word_of_memory(at), pool_at(at).alignment, "memory");
        }
        text << "    struct " << options_.name << "_places " << at_ << ";\n"
             << (places_text() == no_places ? "    " + at_ + ".nothing = 0;\n" : "");
        auto const place = [&](int at, ir::program_tensor const&) {
            text << "    " << at_ << "." << word_of_tensor(at) << " = " << word_of_tensor(at) << ";\n";
        };
        each_passed(ir::tensor_kind::input, place);
        each_passed(ir::tensor_kind::output, place);
        for (int at = 0; at < plan_.memories.size(); ++at) {
            int const banks = memory_at(at).what.banks;
            for (int bank = 0; bank < banks && is_addressed(at); ++bank)
                text << "    " << at_ << "." << word_of_memory(at) << (banks > 1 ? "[" + std::to_string(bank) + "]" : "") << " = "
                     << address_of_bank(at, bank) << ";\n";
        }
        text << "    int " << status_ << " = 0;\n";
        std::map<int, std::int16_t> running;  // of each agent, the kernel
        for (int at = 0; at < plan_.steps.size(); ++at) {
            ir::program_step const& s = plan_.steps[at];
            ir::program_kernel const& k = plan_.kernel_at(s.kernel);
            agent const& on = plan_.agent_of(k);
            if (s.kind == ir::program_step_kind::join) running.erase(k.agent);
            constexpr char const* steps[] = {"", "start ", "join "};
            text << "    /* " << steps[static_cast<int>(s.kind)] << k.name.str() << " on " << on.name.str() << " */\n"
                 << fenced("    ", status_ + " = ", s);
            if (running.empty()) {
                text << "    if (" << status_ << " != 0) return " << status_ << ";\n";
            } else {
                // Nothing is under way when the caller has the code.
                text << "    if (" << status_ << " != 0) {\n";
                for (auto const& [agent, kernel] : running) text << fenced("        ", "(void)", {ir::program_step_kind::join, kernel});
                text << "        return " << status_ << ";\n    }\n";
            }
            if (s.kind == ir::program_step_kind::start) running[k.agent] = s.kernel;
        }
        text << "    return 0;\n";
        return text.str();
    }

    /// Where functions of the device may be inline: no access to memory moves across one that begins or joins a kernel on an agent.
    bool is_fenced(ir::program_step const& s) const {
        bool const beside = s.kind != ir::program_step_kind::run && plan_.agent_of(plan_.kernel_at(s.kernel)).is_aside();
        return on_device() && !options_.includes.empty() && beside;
    }
    std::string fenced(std::string const& indent, std::string const& head, ir::program_step const& s) const {
        std::string const fence = is_fenced(s) ? indent + "TILEWRIGHT_FENCE();\n" : "";
        return fence + indent + head + step_text(s) + ";\n" + fence;
    }
    /// The call that carries out a step.
    std::string step_text(ir::program_step const& s) const {
        using enum ir::program_step_kind;
        agent const& on = plan_.agent_of(plan_.kernel_at(s.kernel));
        std::string const name = kernel_name(s.kernel), kernel = name + "_here";
        if (on_device() && s.kind == join) return on.is_engine() ? name + "_complete()" : on.join.str() + "()";
        if (on_device())
            return s.kind == start && on.is_aside() ? on.start.str() + "(" + kernel + ", &" + at_ + ")" : kernel + "(&" + at_ + ")";
        std::string const agent = "(" + options_.name + "_program(), " + std::to_string(plan_.kernel_at(s.kernel).agent);
        if (s.kind == join) return "tilewright_program_join" + agent + ")";
        if (s.kind == start && on.is_engine())
            return "tilewright_program_begin" + agent + ", " + kernel + ", " + name + "_complete_here, &" + at_ + ")";
        return (s.kind == run ? "tilewright_program_run" : "tilewright_program_start") + agent + ", " + kernel + ", &" + at_ + ")";
    }

    using memory_value = tilewright::memory;

    program_plan_value const& plan_;
    c_source_options options_;
    c_names words_;
    std::vector<std::string> memory_words_, tensor_words_, kernel_words_;
    std::string at_, status_, memories_;  ///< of the entry
    std::vector<kernel_build> builds_;
    std::vector<c_kernel_code> codes_;
};

}  // namespace detail

/// A program as C11: NAME.h, NAME.c with all kernels and one entry, and for every memory with constants its image, NAME_MEMORY.bin.
/// Freestanding, without allocation or library.
///
/// @throws as `c_source`
inline file_list c_program(program_plan_value const& plan, c_source_options const& options) {
    return detail::c_program_writer(plan, options).write();
}

/// The tool of a program: `tool emulated|device DIRECTORY HEADER PROGRAM [INCLUDE…]` writes its files, and for the emulated binding
/// NAME_binding.cpp.
/// @return 0, or 1 after a message
inline int write_program(program_plan_value const& plan, std::string const& name, int count, char** arguments) try {
    std::vector<std::string> const given(arguments + 1, arguments + count);
    if (given.size() < 4 || (given[0] != "emulated" && given[0] != "device")) {
        std::cerr << "usage: " << arguments[0] << " emulated|device DIRECTORY HEADER PROGRAM [INCLUDE...]\n";
        return 1;
    }
    bool const device = given[0] == "device";
    detail::c_program_writer writer(plan, {name, device ? binding::device : binding::emulated, {given.begin() + 4, given.end()}});
    file_list files = writer.write();
    if (!device) files.emplace_back(name + "_binding.cpp", writer.binding(given[2], given[3]));
    for (auto const& [file, text] : files) {
        std::ofstream out(std::filesystem::path(given[1]) / file, std::ios::binary);
        out << text;
        if (!out.flush()) {
            std::cerr << "cannot write " << file << "\n";
            return 1;
        }
    }
    return 0;
} catch (std::exception const& wrong) {
    std::cerr << name << ": " << wrong.what() << "\n";
    return 1;
}

}  // namespace tilewright::halide
