#pragma once
#include <algorithm>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/alike.hpp>
#include <tilewright/c_source/borders.hpp>
#include <tilewright/c_source/common_addresses.hpp>
#include <tilewright/c_source/device_functions.hpp>
#include <tilewright/c_source/entry.hpp>
#include <tilewright/c_source/first_steps.hpp>
#include <tilewright/c_source/opaque_addresses.hpp>
#include <tilewright/c_source/remarks.hpp>
#include <tilewright/c_source/statement.hpp>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/halide/emit.hpp>
#include <tilewright/halide/inject.hpp>
#include <tilewright/plan/check/specialise.hpp>

// The functions of a kernel in C, and all that the files around them need.
namespace tilewright::halide {

/// Where the constants of a program stand.
enum class constants_in {
    source,  ///< an array in NAME.c, for any compiler of C
    file,    ///< NAME_MEMORY.bin; NAME_MEMORY.c takes it in by the assembler's `.incbin`. For assemblers of GNU and LLVM that write ELF
};

/// How the C source of a kernel or a program is written.
struct c_source_options {
    std::string name{};  ///< of the C function, and of the files
    binding to = binding::device;
    std::vector<std::string> includes{};  ///< headers of the user's, in front of everything: they may define the machine's functions inline
    constants_in constants = constants_in::source;  ///< of a program
};

namespace detail {

/// A kernel as C, in the parts that files are made of.
struct c_kernel_code {
    std::string name, machine;
    std::vector<std::string> directives;  ///< of its schedule
    std::vector<std::string> regions;     ///< of its tensors: what it touches, and where pointers point
    c_signature signature;
    std::string parameters;
    std::vector<pool> pools;
    std::string kept_result;
    int cores = 1;
    std::vector<std::string> device;              ///< prototypes of the machine's functions
    std::map<std::string, std::string> emulator;  ///< prototypes, by symbol
    c_helpers helpers;
    std::string functions;
    std::vector<std::string> steps_take;  ///< what `NAME_steps` is given, in the words of the signature
    c_own_words own;                      ///< of `directives` and `functions`
    bool floating_point = false, fences = false, overlaps = false, on_registers = false;
    bool alone = false;  ///< callers must not take in its steps
};

/// A call of the barrier of several cores. @param core, status  in C
inline std::string barrier_text(core const& of, std::string const& core, std::string const& status) {
    device_call const call = barrier_call_of(of);
    std::string given;
    for (int at = 0; at < call.count; ++at) {
        call_argument const& a = call.arguments[at];
        given += (at > 0 ? ", " : "") + (a.is == role::core ? core : a.is == role::status ? status : c_integer(a.value, 64));
    }
    return call.symbol.str() + "(" + given + ")";
}

/// Likewise on one of the first cores of a machine: of a core of its kind, where kinds have other functions.
inline std::string barrier_text(machine const& where, int cores, std::string const& core, std::string const& status) {
    std::string chosen, next;
    for (int kind = where.kind_of(cores - 1); kind >= 0; --kind) {
        std::string const own = barrier_text(where.core_of_kind(kind), core, status);
        if (chosen.empty()) chosen = own;
        else if (own != next) chosen = "(" + core + " < " + std::to_string(where.first_core(kind + 1)) + " ? " + own + " : " + chosen + ")";
        next = own;
    }
    return chosen;
}

/// Whose kernel it is, and so what its function can rely on.
enum class called_by {
    anybody,
    program,  ///< the address of each memory that it is given is that of `pool::first` there
    plan,     ///< likewise, and all arguments are as the plan says: nothing checks them, and `NAME_steps` is all there is
};

class c_kernel_writer {
  public:
    c_kernel_writer(schedule const& made_by, plan_value const& plan, c_source_options const& options, called_by caller = called_by::anybody)
        : schedule_(made_by), plan_(plan), options_(options), caller_(caller) {}

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
        made.directives = c_remarks::directives_of(schedule_);
        for (c_argument const& a : signature_.tensors) made.regions.push_back(region_text(plan_, a));
        made.signature = signature_;
        made.parameters = signature_.parameters(plan_);
        made.pools = pools_of(plan_, on_device());
        made.cores = plan_.cores;
        made.kept_result = kept_result_text(plan_);
        if (on_device()) made.device = device_prototype_list(plan_, true);
        else made.emulator = {code_.values.prototypes.begin(), code_.values.prototypes.end()};
        made.helpers = code_.values.helpers;
        made.floating_point = uses_floating_point();
        made.fences = code_.uses_fences();
        made.on_registers = !registers_.empty();
        // A processor's loops are for vectors, which gcc gives up in what a program's function takes in.
        made.alone = made.on_registers || (caller_ == called_by::plan && copies_by_loops());
        std::vector<own_parameter> const taken = own_parameters(body);
        for (own_parameter const& one : taken) made.steps_take.push_back(one.word);
        made.functions = std::string(made.alone ? "TILEWRIGHT_ALONE " : "") + "static int " + options_.name + "_steps(" +
                         list_of(taken, true) + ") {\n" + body + "}\n";
        if (caller_ != called_by::plan) add_checked_function(made, linkage, list_of(taken, false));
        add_own_words(made.own);
        if (in_two) c_kernel_writer(schedule_, plan_, options_, caller_).write_completion(made);
        return made;
    }

  private:
    bool on_device() const { return options_.to == binding::device; }
    /// Whether nothing but the core copies, if anything does.
    bool copies_by_loops() const {
        auto const& all = plan_.where->transfers;
        return std::all_of(begin(all.parts), begin(all.parts) + all.size(), [](auto const& one) { return !one.core_name.empty(); });
    }

    /// Adds the function that checks what it is given.
    void add_checked_function(c_kernel_code& to, std::string const& linkage, std::string const& given) const {
        c_checks checks(plan_, signature_);
        std::string const checked = checks.text();
        to.overlaps = checks.overlaps();
        std::string const own = options_.name + (plan_.cores > 1 ? "_share" : "");
        to.functions += "\n" + (plan_.cores > 1 ? "static " : linkage) + "int " + own + "(" + to.parameters + ") {\n" + checked +
                        unused_parameters() + "    return " + options_.name + "_steps(" + given + ");\n}\n";
        if (plan_.cores > 1) to.functions += "\n" + linkage + function_of_cores(to.parameters);
    }
    /// Adds the function that waits to what another writer has made.
    void write_completion(c_kernel_code& to) {
        reserve_names();
        signature_ = c_signature_of(plan_, code_.values.names, on_device());
        bind_arguments();
        std::string const body = code_.function_body(program(plan_part::complete));
        if (!own_parameters(body).empty()) throw std::logic_error("a wait that needs what the kernel was given");
        to.functions += "\nstatic int " + options_.name + "_complete(void) {\n" + body + "}\n";
        to.fences |= code_.uses_fences();
        to.helpers.add(code_.values.helpers);
        if (!on_device()) to.emulator.insert(code_.values.prototypes.begin(), code_.values.prototypes.end());
        add_own_words(to.own);
    }
    /// Not what people know parts of the machine by: remarks name those that the kernel uses.
    void add_own_words(c_own_words& to) const {
        std::set<std::string> foreign;
        auto const add_names = [&](auto const& parts) {
            for (int at = 0; at < parts.size(); ++at) foreign.insert(parts[at].name.str());
        };
        add_names(plan_.where->memories), add_names(plan_.where->transfers), add_names(plan_.where->intrinsics);
        auto const add = [&](std::set<std::string>& words, std::string const& word) {
            if (foreign.count(word) == 0) words.insert(word);
        };
        for (std::string const& word : code_.values.names.made()) add(to.in_code, word);
        for (char const* end : {"", "_steps", "_share", "_complete", "_machine"}) add(to.in_code, options_.name + end);
        for (std::string const& word : to.in_code) add(to.in_remarks, word);
        for (int at = 0; at < plan_.buffers.size(); ++at) add(to.in_remarks, plan_.buffers[at].tensor.str());
        for (int at = 0; at < plan_.variables.size(); ++at) add(to.in_remarks, plan_.variables[at].name.str());
    }

    /// The kernel as each core calls it. The others are told of a core that fails, so none of them waits for it.
    std::string function_of_cores(std::string const& parameters) const {
        std::string const& core = signature_.core;
        std::string text = "int " + options_.name + "(" + parameters + ") {\n";
        text += "    if (" + core + " < 0 || " + core + " >= " + std::to_string(plan_.cores) + ") return " +
                std::to_string(TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_CORE, 0)) + "; /* no such core */\n";
        std::string given;
        for (std::string const& word : signature_.parameter_words(plan_)) given += (given.empty() ? "" : ", ") + word;
        std::string const call = options_.name + "_share(" + given + ")";
        if (!on_device() || !talks(plan_)) return text + "    return " + call + ";\n}\n";
        return text + "    int const failed = " + call + ";\n    if (failed != 0) (void)" +
               barrier_text(*plan_.where, plan_.cores, core, "failed") + "; /* the other cores stop, too */\n    return failed;\n}\n";
    }

    void reserve_names() {
        for (std::string const& word : {options_.name, options_.name + "_steps", options_.name + "_share", std::string("failed"),
                                        options_.name + "_complete", options_.name + "_machine", std::string("tilewright_overlap")})
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
            registers_.emplace(at, register_variables{file.c_type.str(), static_cast<int>(b.bytes / file.register_bytes())});
        }
    }

    /// Binds the program's names for its parameters to the parameters of the function.
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
        if (!signature_.core.empty()) code_.values.bind(emitter::core_name, {signature_.core, c_variable::kind::value, true});
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
            if (field == Call::buffer_get_stride) return a.strides[static_cast<std::size_t>(d)];
        }
        throw unsupported_in_c("`" + field + "` of `" + handle + "`");
    }

    Halide::Internal::Stmt program(plan_part part) {
        Halide::Expr const machine =
            Halide::Internal::Call::make(Halide::Handle(), options_.name + "_machine", {}, Halide::Internal::Call::Extern);
        // The code is the same on every machine that writes it: Halide only lowers here, for no processor in particular.
        emission how{options_.to, machine, Halide::Target(Halide::Target::Linux, Halide::Target::X86, 64)};
        how.plain_arguments = true;
        std::vector<pool> const pools = pools_of(plan_, on_device());
        for (std::size_t which = 0; which < pools.size(); ++which) {
            int const at = signature_.pools[which].first;
            how.pools[at] = Halide::Internal::Variable::make(Halide::UInt(64), pool_name(plan_, at));
            if (caller_ != called_by::anybody) how.first_bytes[at] = pools[which].first;
        }
        how.passes_values = true;
        how.part = part;
        c_remarks const remarks(schedule_, plan_);
        how.remark = [&remarks](int step_at) { return remarks.of_step(step_at); };
        Halide::Internal::Stmt const program = values_apart().mutate(numbers_in_place().mutate(emitter(plan_, names_, how).program()));
        Halide::Internal::Stmt const asked = asked_once().mutate(program);
        Halide::Internal::Stmt const apart = registers_.empty() ? asked : first_steps().mutate(asked);
        Halide::Internal::Stmt const written = without_idle_values().mutate(borders_apart().mutate(sums_in_variables().mutate(apart)));
        return single_iterations().mutate(registers_.empty() ? written : opaque_addresses().mutate(common_addresses().mutate(written)));
    }

    bool uses_floating_point() const {
        for (int at = 0; at < plan_.what.count; ++at) {
            if (is_float(plan_.what[at].type)) return true;
        }
        return false;
    }
    bool is_used(std::string const& name) const { return code_.values.used.count(name) != 0; }
    /// A statement for each scalar on which no code depends.
    std::string unused_parameters() const {
        std::string text;
        std::vector<scalar_parameter> const scalars = parameters_of(plan_);
        if (!signature_.core.empty() && !is_used(emitter::core_name)) text += "    (void)" + signature_.core + ";\n";
        for (std::size_t at = 0; at < scalars.size(); ++at) {
            if (!is_used(scalars[at].code)) text += "    (void)" + signature_.words.parameters[at] + ";\n";
        }
        return text;
    }
    /// Whether nothing that the code writes by another argument, or reads if it writes this one, is an element of it: the checks have seen
    /// to it, unless an input may be the result.
    bool is_apart(int buffer_at) const {
        // Other cores write it, too.
        if (plan_.cores > 1 && plan_.buffers[buffer_at].written) return false;
        if (!plan_.buffers[buffer_at].written) return !tilewright::detail::may_be_result(plan_, buffer_at);
        return std::none_of(signature_.tensors.begin(), signature_.tensors.end(),
                            [&](c_argument const& a) { return a.at != buffer_at && tilewright::detail::may_be_result(plan_, a.at); });
    }
    /// A parameter of the function of the steps. Strides and extents have 32 bits from there on.
    struct own_parameter {
        std::string type, word;
        bool is_narrowed = false;
    };
    /// The arguments that the program uses.
    /// @param code  that it is
    std::vector<own_parameter> own_parameters(std::string const& code) const {
        std::vector<own_parameter> all;
        if (!signature_.core.empty() && is_used(emitter::core_name)) all.push_back({"int32_t ", signature_.core});
        for (c_argument const& a : signature_.tensors) {
            buffer const& b = plan_.buffers[a.at];
            if (is_used(names_.buffers[a.at]))
                all.push_back({(b.written ? "" : "const ") + c_type(b.type) + (is_apart(a.at) ? " *restrict " : " *"), a.word});
            for (std::string const& stride : a.strides) {
                if (has_word(code, stride)) all.push_back({"int32_t ", stride, true});
            }
        }
        std::vector<scalar_parameter> const scalars = parameters_of(plan_);
        for (std::size_t at = 0; at < scalars.size(); ++at) {
            std::string const& word = signature_.words.parameters[at];
            if (is_used(scalars[at].code)) all.push_back({c_type(type_of(scalars[at].type)) + " ", word});
        }
        for (auto const& [at, word] : signature_.pools) {
            if (is_used(pool_name(plan_, at))) all.push_back({"unsigned char *", word});
        }
        for (auto const& [at, word] : signature_.extents) {
            if (is_used(names_.variables[at])) all.push_back({"int32_t ", word, true});
        }
        return all;
    }
    /// The parameters as they are declared, or as the function with the checks passes them on.
    static std::string list_of(std::vector<own_parameter> const& all, bool declared) {
        std::string text;
        for (own_parameter const& one : all)
            text += (text.empty() ? "" : ", ") + (declared ? one.type : std::string(one.is_narrowed ? "(int32_t)" : "")) + one.word;
        return text.empty() && declared ? "void" : text;
    }

    schedule const& schedule_;
    plan_value const& plan_;
    c_source_options options_;
    called_by caller_;
    c_signature signature_;
    code_names names_;
    c_statements code_;
    std::map<int, register_variables> registers_;
};

}  // namespace detail
}  // namespace tilewright::halide
