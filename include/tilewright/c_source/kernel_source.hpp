#pragma once
#include <tilewright/c_source/binding_files.hpp>
#include <tilewright/c_source/entry.hpp>
#include <tilewright/c_source/ground.hpp>
#include <tilewright/c_source/statement.hpp>
#include <tilewright/halide/emit.hpp>
#include <tilewright/halide/inject.hpp>
#include <tilewright/plan/check/specialise.hpp>
#include <tilewright/report/directive_text.hpp>
#include <tilewright/report/loop_program.hpp>

namespace tilewright::halide {

/// How the C source of a kernel is written.
struct c_source_options {
    std::string name{};  ///< of the C function, and of the files
    binding to = binding::device;
    std::vector<std::string> includes{};  ///< headers of the user's, in front of everything: they may define the machine's functions inline
};

/// NAME.h and NAME.c.
struct c_source_text {
    std::string header, source;
};

namespace detail {

/// A kernel as C, in the parts that files are made of.
struct c_kernel_code {
    std::string name, machine;
    std::string directives;            ///< of its schedule, as lines of a comment
    std::vector<std::string> regions;  ///< of its tensors: what it touches, and where pointers point
    c_signature signature;
    std::string parameters;
    std::vector<pool> pools;
    std::string kept_result;
    std::vector<std::string> device;              ///< prototypes of the machine's functions
    std::map<std::string, std::string> emulator;  ///< prototypes, by symbol
    c_helpers helpers;
    std::string functions;
    bool floating_point = false, fences = false, overlaps = false;
};

class c_kernel_writer {
  public:
    c_kernel_writer(schedule const& made_by, plan_value const& plan, c_source_options const& options)
        : schedule_(made_by), plan_(plan), options_(options) {}

    /// @param linkage  in front of the kernel's function: nothing, or "static "
    /// @param in_two  its function only begins it, and `static int NAME_complete(void)` waits: a plan that first only starts transfers
    c_kernel_code write(std::string const& linkage, bool in_two = false) {
        if (plan_.refusal) throw std::invalid_argument(to_string(plan_.refusal));
        if (tilewright::detail::hazard const found = tilewright::detail::find_hazard_at_any(plan_))
            throw std::runtime_error("the plan has a hazard: " + std::string(text_of(found.broken)));
        check_kernel_name(*plan_.where, options_.name);
        reserve_names();
        declare_registers();
        signature_ = c_signature_of(plan_, code_.values.names, on_device());
        bind_arguments();
        std::string const body = code_.function_body(program(in_two ? plan_part::begin : plan_part::whole));
        c_kernel_code made;
        made.name = options_.name;
        made.machine = plan_.where->name.str();
        made.directives = schedule_comment();
        for (c_argument const& a : signature_.tensors) made.regions.push_back(region_text(plan_, a));
        made.signature = signature_;
        made.parameters = signature_.parameters(plan_);
        made.pools = pools_of(plan_, on_device());
        made.kept_result = kept_result_text(plan_);
        if (on_device()) made.device = device_prototype_list(plan_, true);
        else made.emulator = {code_.values.prototypes.begin(), code_.values.prototypes.end()};
        made.helpers = code_.values.helpers;
        made.floating_point = uses_floating_point();
        made.fences = code_.uses_fences();
        c_checks checks(plan_, signature_);
        std::string const checked = checks.text();
        made.overlaps = checks.overlaps();
        auto const [parameters, given] = own_parameters();
        made.functions = "static int " + options_.name + "_steps(" + parameters + ") {\n" + body + "}\n\n" + linkage + "int " +
                         options_.name + "(" + made.parameters + ") {\n" + checked + unused_parameters() + "    return " + options_.name +
                         "_steps(" + given + ");\n}\n";
        if (in_two) c_kernel_writer(schedule_, plan_, options_).write_completion(made);
        return made;
    }

  private:
    bool on_device() const { return options_.to == binding::device; }

    /// Adds the function that waits to what another writer has made.
    void write_completion(c_kernel_code& to) {
        reserve_names();
        signature_ = c_signature_of(plan_, code_.values.names, on_device());
        bind_arguments();
        std::string const body = code_.function_body(program(plan_part::complete));
        if (own_parameters().first != "void") throw std::logic_error("a wait that needs what the kernel was given");
        to.functions += "\nstatic int " + options_.name + "_complete(void) {\n" + body + "}\n";
        to.fences |= code_.uses_fences();
        to.helpers.add(code_.values.helpers);
        if (!on_device()) to.emulator.insert(code_.values.prototypes.begin(), code_.values.prototypes.end());
    }

    void reserve_names() {
        for (std::string const& word : {options_.name, options_.name + "_steps", options_.name + "_complete", options_.name + "_machine",
                                        std::string("tilewright_overlap")})
            code_.values.names.reserve(word);
        each_function(*plan_.where, [&](device_call const& call, bool aside) {
            code_.values.names.reserve(call.symbol.str());
            if (aside && on_device() && !options_.includes.empty()) code_.fenced.insert(call.symbol.str());
        });
    }

    /// Registers that functions take by value are variables of a type of the user's.
    void declare_registers() {
        if (!on_device()) return;
        value_buffers const values = value_buffers_of(plan_, true);
        for (int at : values.all) {
            buffer const& b = plan_.buffers[at];
            memory const& file = plan_.where->memories[b.memory];
            if (options_.includes.empty())
                throw std::invalid_argument("registers of `" + file.name.str() + "` are of the C type `" + file.c_type.str() +
                                            "`, which a header of the user's must define: name it");
            code_.values.names.reserve(file.c_type.str());
            registers_.emplace(
                at, register_variables{file.c_type.str(), static_cast<int>(b.bytes / file.register_bytes()), values.begun.count(at) != 0});
        }
    }

    /// The function's parameters are known to the program by the names that it has for them.
    void bind_arguments() {
        names_ = name_everything(plan_);
        for (int at = 0; at < plan_.buffers.size(); ++at) code_.element_types[names_.buffers[at]] = c_type(plan_.buffers[at].type);
        for (int at = 0; at < plan_.buffers.size(); ++at) {
            for (int position = 0; position < intrinsic_description::most_operands; ++position)
                code_.element_types[names_.buffers[at] + value_suffix + std::to_string(position)] = c_type(plan_.buffers[at].type);
        }
        for (auto const& [at, variables] : registers_) code_.registers[names_.buffers[at]] = variables;
        for (c_argument const& a : signature_.tensors) {
            buffer const& b = plan_.buffers[a.at];
            code_.values.bind(names_.buffers[a.at], {a.word, c_variable::kind::elements, false, !b.written});
        }
        for (auto const& [at, word] : signature_.extents) code_.values.bind(names_.variables[at], {word, c_variable::kind::value, true});
        std::vector<scalar_parameter> const parameters = parameters_of(plan_);
        for (std::size_t at = 0; at < parameters.size(); ++at) {
            scalar_parameter const& one = parameters[at];
            names_.parameters[one.name] = Halide::Internal::Variable::make(type_of(one.type), one.code);
            code_.values.bind(one.code, {signature_.words.parameters[at]});
        }
        for (auto const& [at, word] : signature_.pools) code_.values.bind(pool_name(plan_, at), {word, c_variable::kind::address});
        code_.values.field_of = [this](std::string const& handle, std::string const& field, int dimension) {
            return field_of(handle, field, dimension);
        };
    }
    std::string field_of(std::string const& handle, std::string const& field, int dimension) {
        using Halide::Internal::Call;
        for (c_argument const& a : signature_.tensors) {
            buffer const& b = plan_.buffers[a.at];
            if (names_.buffers[a.at] + ".buffer" != handle) continue;
            int const d = b.rank - 1 - dimension;
            if (field == Call::buffer_get_min) return c_integer(b.minimum[d], 32);
            if (field == Call::buffer_get_stride) return strides_.insert(a.strides[d]), a.strides[d];
        }
        throw unsupported_in_c("`" + field + "` of `" + handle + "`");
    }

    Halide::Internal::Stmt program(plan_part part) {
        Halide::Expr const machine =
            Halide::Internal::Call::make(Halide::Handle(), options_.name + "_machine", {}, Halide::Internal::Call::Extern);
        // The same code for every machine that it is written on: Halide only lowers here, for no processor in particular.
        emission how{options_.to, machine, Halide::Target(Halide::Target::Linux, Halide::Target::X86, 64)};
        how.plain_arguments = true;
        for (auto const& [at, word] : signature_.pools)
            how.pools[at] = Halide::Internal::Variable::make(Halide::UInt(64), pool_name(plan_, at));
        how.passes_values = true;
        how.part = part;
        how.remark = [this](int step_at) { return remark(step_at); };
        return emitter(plan_, names_, how).program();
    }

    static std::string as_comment(std::string text) {
        for (std::size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/")) text.replace(at, 2, "* /");
        return text;
    }
    std::string directive_at(int ordinal) const {
        return ordinal < 1 || ordinal > schedule_.directive_count() ? "" : reports::directive_text(schedule_, ordinal - 1);
    }
    /// The one directive that `is_it(directive, its stage)` says yes to; empty where there are several that differ, or none.
    template <class Test>
    std::string directive_where(Test const& is_it) const {
        std::string found;
        label stage_of = plan_.stages[plan_.stages.size() - 1].output;
        for (int at = 0; at < schedule_.directive_count(); ++at) {
            directive const& d = schedule_.directive_at(at);
            if (d.kind == directive_kind::stage) stage_of = schedule_.name_at(d, 0);
            if (!is_it(d, stage_of)) continue;
            std::string const text = reports::one_directive_text(schedule_, at);
            if (!found.empty() && found != text) return "";
            found = text;
        }
        return found;
    }
    /// What made a loop.
    std::string maker_of(label const& loop) const {
        return directive_where([&](directive const& d, label const&) {
            using enum directive_kind;
            int const first = d.kind == split ? 1 : d.kind == tile || d.kind == fuse ? 2 : d.name_count;
            for (int name = first; name < d.name_count; ++name) {
                if (schedule_.name_at(d, name) == loop) return true;
            }
            return false;
        });
    }
    std::string tensorized_by(body const& b) const {
        if (b.kind != body_kind::intrinsic) return "";
        return directive_where([&](directive const& d, label const& stage_of) {
            return d.kind == directive_kind::tensorize && stage_of == plan_.stages[b.stage].output;
        });
    }
    std::string remark(int step_at) const {
        step const& s = plan_.steps[step_at];
        if (s.kind == step_kind::end) return "";
        int const what = s.what;
        auto const of_buffer = [&](int at) { return at < 0 ? std::string() : directive_at(plan_.buffers[at].ordinal); };
        std::string directive;
        switch (s.kind) {
            case step_kind::loop: directive = maker_of(plan_.variables[what].name); break;
            case step_kind::start: {
                movement const& m = plan_.movements[what];
                bool const arrives = plan_.buffers[m.destination].kind != buffer_kind::argument;
                directive = of_buffer(arrives ? m.destination : m.source);
                break;
            }
            case step_kind::wait:
            case step_kind::push:
            case step_kind::pop: {
                ring_step const& at = plan_.waits[what];
                if (at.ring >= 0) directive = of_buffer(plan_.rings[at.ring].buffer);
                break;
            }
            case step_kind::compute: directive = tensorized_by(plan_.bodies[what]); break;
            default: break;
        }
        if (s.kind == step_kind::loop) return as_comment(directive);
        reports::program_line const line = reports::line_of(plan_, s);
        return as_comment(line.text + (line.value.empty() ? "" : ": " + line.value) + (directive.empty() ? "" : "  [" + directive + "]"));
    }

    std::string schedule_comment() const {
        std::string text;
        for (int at = 0; at < schedule_.directive_count(); ++at) {
            if (!reports::refines(schedule_.directive_at(at)))
                text += " *     ." + as_comment(reports::directive_text(schedule_, at)) + "\n";
        }
        return text;
    }

    bool uses_floating_point() const {
        for (int at = 0; at < plan_.what.count; ++at) {
            if (is_float(plan_.what[at].type)) return true;
        }
        return false;
    }
    bool is_used(std::string const& name) const { return code_.values.used.count(name) != 0; }
    /// A statement for each scalar that nothing of the code depends on.
    std::string unused_parameters() const {
        std::string text;
        std::vector<scalar_parameter> const scalars = parameters_of(plan_);
        for (std::size_t at = 0; at < scalars.size(); ++at) {
            if (!is_used(scalars[at].code)) text += "    (void)" + signature_.words.parameters[at] + ";\n";
        }
        return text;
    }
    /// What the program uses of what the function is given: strides and extents have 32 bits from here on.
    std::pair<std::string, std::string> own_parameters() const {
        std::string parameters, given;
        auto const add = [&](std::string const& type, std::string const& word, std::string const& value) {
            parameters += (parameters.empty() ? "" : ", ") + type + word;
            given += (given.empty() ? "" : ", ") + value;
        };
        for (c_argument const& a : signature_.tensors) {
            buffer const& b = plan_.buffers[a.at];
            if (is_used(names_.buffers[a.at])) add((b.written ? "" : "const ") + c_type(b.type) + " *", a.word, a.word);
            for (std::string const& stride : a.strides) {
                if (strides_.count(stride) != 0) add("int32_t ", stride, "(int32_t)" + stride);
            }
        }
        std::vector<scalar_parameter> const scalars = parameters_of(plan_);
        for (std::size_t at = 0; at < scalars.size(); ++at) {
            std::string const& word = signature_.words.parameters[at];
            if (is_used(scalars[at].code)) add(c_type(type_of(scalars[at].type)) + " ", word, word);
        }
        for (auto const& [at, word] : signature_.pools) {
            if (is_used(pool_name(plan_, at))) add("unsigned char *", word, word);
        }
        for (auto const& [at, word] : signature_.extents) {
            if (is_used(names_.variables[at])) add("int32_t ", word, "(int32_t)" + word);
        }
        return {parameters.empty() ? "void" : parameters, given};
    }

    schedule const& schedule_;
    plan_value const& plan_;
    c_source_options options_;
    c_signature signature_;
    code_names names_;
    c_statements code_;
    std::set<std::string> strides_;
    std::map<int, register_variables> registers_;
};

/// What stands in front of the functions of kernels in a C file. @param fences  whether code around the kernels has fences
inline std::string c_beginning(std::vector<c_kernel_code> const& kernels, bool fences = false) {
    bool floating_point = false, overlaps = false;
    std::map<std::string, std::string> emulator;
    c_helpers helpers;
    for (c_kernel_code const& k : kernels) {
        floating_point |= k.floating_point, fences |= k.fences, overlaps |= k.overlaps;
        emulator.insert(k.emulator.begin(), k.emulator.end());
        helpers.add(k.helpers);
    }
    std::string text = "#include <stddef.h>\n\n" + c_ground(floating_point);
    if (fences) text += "\n" + c_fence();
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
/// Every declaration once. What the device provides, if anything.
inline std::string c_device(std::vector<c_kernel_code> const& kernels) {
    std::set<std::string> written;
    std::string text;
    for (c_kernel_code const& k : kernels) {
        for (std::string const& one : k.device) text += written.insert(one).second ? one : "";
    }
    return "\n/* What the device provides. Each returns 0, or a code that ends the kernel. */\n" + text;
}

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
         << " * with the result, 9 extent that is left to run time. */\n"
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
         << k.directives << " *\n * In front of every step stands what it is, and the directive that asked for it. */\n";
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
inline int write_c_source(schedule const& made_by, plan_value const& plan, std::string const& name, int count, char** arguments) try {
    std::vector<std::string> const given(arguments + 1, arguments + count);
    if (given.size() < 4 || (given[0] != "emulated" && given[0] != "device")) {
        std::cerr << "usage: " << arguments[0] << " emulated|device DIRECTORY HEADER SCHEDULE [INCLUDE...]\n";
        return 1;
    }
    bool const device = given[0] == "device";
    c_source_text const text =
        c_source(made_by, plan, {name, device ? binding::device : binding::emulated, {given.begin() + 4, given.end()}});
    auto const write = [&](std::string const& file, std::string const& what) {
        std::ofstream out(std::filesystem::path(given[1]) / file);
        out << what;
        if (!out.flush()) std::cerr << "cannot write " << file << "\n";
        return static_cast<bool>(out);
    };
    bool good = write(name + ".h", text.header) && write(name + ".c", text.source);
    if (good && !device) good = write(name + "_binding.cpp", detail::binding_text(plan, name, given[2], given[3]));
    return good ? 0 : 1;
} catch (std::exception const& wrong) {
    std::cerr << name << ": " << wrong.what() << "\n";
    return 1;
}

}  // namespace tilewright::halide
