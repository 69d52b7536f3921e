#pragma once
#include <cstring>
#include <sstream>
#include <tilewright/import/computation_text.hpp>
#include <tilewright/import/network_program.hpp>

// A placed network as C++ that a person takes over: its kernels, its program, and its chip.
namespace tilewright::imported {

namespace detail {

inline std::string quoted(ir::label const& name) { return "\"" + name.str() + "\""; }
/// A name of the model as a text of C++.
inline std::string quoted(std::string const& name) {
    std::string text = "\"";
    for (char const letter : name) {
        auto const byte = static_cast<unsigned char>(letter);
        if (byte < 0x20 || byte == 0x7f) {
            for (char const digit :
                 {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8), static_cast<char>('0' + byte % 8)})
                text += digit;
            continue;
        }
        if (letter == '"' || letter == '\\') text += '\\';
        text += letter;
    }
    return text + "\"";
}

/// A directive as a call; nothing where it has no text.
inline std::string call_text(schedule const& of, directive const& d) {
    std::vector<std::string> operands, memories;
    int name = 0, number = 0;
    for (char const* kind = description_of(d.kind).operands; *kind != 0; ++kind) {
        switch (*kind) {
            case 'd': return {};
            case 'n':
            case 'N':
                if (*kind == 'n' || d.factors[number] != schedule::whole_loop) operands.push_back(std::to_string(d.factors[number]));
                ++number;
                continue;
            case 't': operands.push_back("of.tensor(" + quoted(of.name_at(d, name++)) + ")"); continue;
            case 'x': operands.push_back("of.transfer_named(" + quoted(of.name_at(d, name++)) + ")"); continue;
            case 'c': operands.push_back("of.core_named(" + quoted(of.name_at(d, name++)) + ")"); continue;
            case 'm': memories.push_back("of.memory_named(" + quoted(of.name_at(d, name++)) + ")"); continue;
            case '?':
            case '*': break;
            default: operands.push_back(quoted(of.name_at(d, name++))); continue;
        }
        // The rest of the names: what the operand before them is, and last the intrinsic of a tensorize.
        for (; name < d.name_count; ++name) {
            bool const is_intrinsic = d.kind == directive_kind::tensorize && name + 1 == d.name_count;
            std::string const text = quoted(of.name_at(d, name));
            if (!memories.empty()) memories.push_back("of.memory_named(" + text + ")");
            else
                operands.push_back(is_intrinsic                           ? "of.intrinsic_named(" + text + ")"
                                   : d.kind == directive_kind::distribute ? "of.core_named(" + text + ")"
                                                                          : text);
        }
    }
    auto const list = [](std::vector<std::string> const& all) {
        std::string text;
        for (std::string const& one : all) text += (text.empty() ? "" : ", ") + one;
        return text;
    };
    if (!memories.empty()) operands.push_back(memories.size() == 1 ? memories[0] : "any_of(" + list(memories) + ")");
    return std::string(name_of(d.kind)) + "(" + list(operands) + ")";
}
/// A schedule after `of.plain()`, a line for each directive; nothing where one has no text.
inline std::optional<std::string> schedule_text(schedule const& of, std::string const& indent) {
    std::string text;
    for (int at = 0; at < of.directive_count(); ++at) {
        directive const& d = of.directive_at(at);
        std::string const call = call_text(of, d);
        if (call.empty()) return {};
        text += (description_of(d.kind).refines() ? "." : "\n" + indent + ".") + call;
    }
    return text;
}

/// "int8 8 x 8 x 16"
inline std::string shape_text(scalar_type type, std::vector<std::int64_t> const& extents) {
    std::string text = name_of(type);
    for (std::size_t at = 0; at < extents.size(); ++at) text += (at == 0 ? " " : " x ") + std::to_string(extents[at]);
    return text;
}

/// Where the constants of a program lie in the file of its weights.
class weights_layout {
  public:
    explicit weights_layout(program const& of) {
        for (int at = 0; at < of.statements_size(); ++at) {
            program::statement const& one = of.statement_at(at);
            if (one.kind != program::statement_kind::constant) continue;
            size_ = (size_ + alignment - 1) / alignment * alignment;
            offsets_[one.tensor.str()] = size_;
            size_ += static_cast<std::size_t>(one.count * bytes_of(one.type));
        }
    }
    std::size_t offset(ir::label const& tensor) const { return offsets_.at(tensor.str()); }
    std::size_t size() const { return size_; }

  private:
    static constexpr std::size_t alignment = 16;  ///< more than any element needs
    std::map<std::string, std::size_t> offsets_ = {};
    std::size_t size_ = 0;
};

/// Writes a placed network as C++.
class ejector {
  public:
    ejector(network_program const& of, std::string chip_name, std::string weights)
        : of_(of), chip_(std::move(chip_name)), weights_(std::move(weights)), layout_(of.get()), shapes_(shapes_of(of.network())) {
        for (known_tensor const& one : of.network().constants) shapes_[one.what.name.str()] = one.what.extents;
        names_.reserve("chip"), names_.reserve("network"), names_.reserve("weights"), names_.reserve("imported"), names_.reserve("std");
        for (layer_placer::placed const& one : of.placed_layers()) {
            std::string const kernel = one.report.kernel;
            for (char const* ending : {"", "_computes", "_schedule", "_layer"}) names_.reserve(kernel + ending);
            if (!schedule_text(one.how, ""))
                why_no_program_ = kernel + ", " + one.report.made_for + ", has a schedule with an index map (`layout`), which has no text";
        }
        for (int at = 0; at < of.get().agent_count; ++at) agents_.push_back(names_.take(of.get().agents[at].name.str()));
        for (int at = 0; at < of.get().statements_size(); ++at) {
            any_of const& where = of.get().statement_at(at).where;
            for (int which = 0; which < where.size(); ++which) {
                std::string& variable = memories_[where.names[which].str()];
                if (variable.empty()) variable = names_.take(where.names[which].str());
            }
        }
    }

    bool has_strips() const {
        auto const& all = of_.network().all;
        return std::any_of(all.begin(), all.end(), [](layer const& one) { return !one.strip_of.empty(); });
    }
    /// The agents, and the memories that the program names, as variables.
    std::string agents() const {
        std::string text;
        for (std::size_t at = 0; at < agents_.size(); ++at)
            text += "inline agent const " + agents_[at] + " = imported::agent_named(" + chip_ + ", " +
                    quoted(of_.get().agents[static_cast<int>(at)].name) + ");\n";
        for (auto const& [memory, variable] : memories_)
            text += "inline memory const& " + variable + " = imported::memory_named(" + chip_ + ", \"" + memory + "\");\n";
        return text + "\n";
    }
    /// Why there is no program; empty: there is one.
    std::string const& why_no_program() const { return why_no_program_; }
    /// What each kernel computes, and its directives.
    std::string kernels() const {
        std::string text;
        for (layer_placer::placed const& one : of_.placed_layers()) {
            std::string const& kernel = one.report.kernel;
            auto const directives = schedule_text(one.how, "        ");
            if (!directives) continue;
            text += "// " + one.report.made_for + "\n";
            if (why_no_program_.empty())
                text += "inline constexpr auto " + kernel + "_computes = [] {\n" + computation_writer(one.layer->of.nodes()).text("    ") +
                        "}();\n";
            text += "inline schedule " + kernel + "_schedule(imported::placed_layer const& of) {\n    return of.plain()" + *directives +
                    ";\n}\n";
            if (why_no_program_.empty())
                text += "inline imported::written_kernel const " + kernel + "(" + kernel + "_computes, " + agent_of(kernel) + ", " +
                        kernel + "_schedule);\n";
            text += "\n";
        }
        return text;
    }
    /// The program, a line for each thing that it is given, runs and gives.
    std::string program_text() const {
        program const& made = of_.get();
        if (!why_no_program_.empty()) return "// There is no program here: " + why_no_program_ + ".\n\n";
        std::string text = "/// The program. Its constants are read when it is asked for first.\ninline program const& network() {\n";
        if (layout_.size() > 0)
            text += "    static imported::weights_file const weights(" + quoted(weights_) + ", " + std::to_string(layout_.size()) + ");\n";
        text += "    static program const made =\n        program(" + quoted(made.name) + ")";
        line(text, agent_list());
        std::string given, rest;
        std::map<int, std::string> of_kernels;
        for (int at = 0; at < made.statements_size(); ++at) {
            program::statement const& one = made.statement_at(at);
            if (one.kernel >= 0) line(of_kernels[one.kernel], "    " + of_kernel(one));
            // What a state is has two statements before its own.
            else if (at + 2 < made.statements_size() && made.statement_at(at + 2).kind == program::statement_kind::state)
                line(given, state(made.statement_at(at), made.statement_at(at + 1))), at += 2;
            else line(is_given(one.kind) ? given : rest, of_tensor(one));
        }
        text += given;
        for (int at = 0; at < made.size(); ++at) {
            layer_placer::placed const& one = of_.placed_layers()[static_cast<std::size_t>(at)];
            std::string const& kernel = one.report.kernel;
            line(text, ".run(" + quoted(kernel) + ", " + agents_[static_cast<std::size_t>(made.kernel_at(at).agent)] + ", " + kernel +
                           ".how)  // " + what_runs(one));
            if (auto const found = of_kernels.find(at); found != of_kernels.end()) text += found->second;
        }
        return text + rest + "\n        ;\n    return made;\n}\n\n";
    }
    /// The functions that the chip of the network names, and the chip.
    std::string chip_text(std::string const& variable) const {
        std::string functions, chip;
        name_finder const names(of_.network());
        for (layer_placer::placed const& one : of_.placed_layers()) {
            placement const& report = one.report;
            std::string const layer = names.name_for_layer(report.kernel);
            if (layer.empty())
                throw std::invalid_argument(report.kernel + ", " + report.made_for + ": `" + report.kernel +
                                            "` is also a name of the model, and the layer has no other one: rename that in the model");
            bool const is_own = report.choice != "loops" && schedule_text(one.how, "");
            chip +=
                "\n        .layer(" + quoted(layer) + ", " +
                (is_own ? quoted(report.agent) + ", " + report.kernel + "_layer" : quoted(report.choice) + ", " + quoted(report.agent)) +
                ")  // " + report.made_for;
            if (!is_own) continue;
            functions +=
                "// " + report.made_for + "\ninline imported::candidates " + report.kernel + "_layer(imported::placed_layer& of) {\n";
            for (std::string const& change : one.layer->of.changes()) functions += "    of.of." + change + ";\n";
            functions += "    return {{" + report.kernel + "_schedule(of)}};\n}\n";
        }
        return functions + (functions.empty() ? "" : "\n") +
               "/// The chip that gives each layer of the model where it went, with these schedules.\n"
               "inline imported::chip const chip =\n    imported::chip(" +
               variable + ")" + chip + "\n    ;\n";
    }

  private:
    static void line(std::string& to, std::string const& call) { to += "\n            " + call; }
    static bool is_given(program::statement_kind kind) {
        using enum program::statement_kind;
        return kind == input || kind == constant || kind == state;
    }
    /// The variable of a kernel's agent.
    std::string agent_of(std::string const& kernel) const {
        program const& made = of_.get();
        int at = 0;
        while (made.kernel_at(at).name.str() != kernel) ++at;
        return agents_[static_cast<std::size_t>(made.kernel_at(at).agent)];
    }
    std::string agent_list() const {
        std::string text;
        for (std::string const& one : agents_) text += ".with(" + one + ")";
        return text;
    }
    std::string memory_list(any_of const& of) const {
        std::string text;
        for (int at = 0; at < of.size(); ++at) text += (at == 0 ? "" : ", ") + memories_.at(of.names[at].str());
        return of.size() == 1 ? text : "any_of(" + text + ")";
    }
    static std::string with_type(program::statement const& of) { return "tensor<" + type_text(of.type) + ">{" + quoted(of.tensor) + "}"; }
    static std::string numbers(program::statement const& of) {
        std::string text;
        for (int at = 0; at < static_cast<int>(of.count) && at < max_rank; ++at)
            text += (at == 0 ? "" : ", ") + std::to_string(of.begin[at]);
        return "{" + text + "}";
    }
    std::string shape_of(ir::label const& tensor, scalar_type type) const {
        auto const found = shapes_.find(tensor.str());
        return found == shapes_.end() ? std::string(name_of(type)) : shape_text(type, found->second);
    }
    std::string state(program::statement const& before, program::statement const& after) const {
        return ".state(" + with_type(before) + ", " + with_type(after) + ", " + memory_list(before.where) + ")  // " +
               shape_of(before.tensor, before.type);
    }
    /// A statement of the kernel before it.
    std::string of_kernel(program::statement const& one) const {
        using enum program::statement_kind;
        std::string const tensor = "{" + quoted(one.tensor) + "}";
        switch (one.kind) {
            case bind: return ".bind(" + tensor + ", {" + quoted(one.other) + "})";
            case reshapes: return ".reshapes(" + tensor + ")";
            case part: return ".part(" + tensor + ", " + numbers(one) + ")";
            case reads: return ".reads(" + tensor + ", " + memory_list(one.where) + ")";
            default: return ".writes(" + tensor + ", " + memory_list(one.where) + ")";
        }
    }
    std::string of_tensor(program::statement const& one) const {
        using enum program::statement_kind;
        std::string const tensor = "{" + quoted(one.tensor) + "}", after = "  // " + shape_of(one.tensor, one.type);
        switch (one.kind) {
            case input: return ".input(" + with_type(one) + ", " + memory_list(one.where) + ")" + after;
            case output: return ".output(" + with_type(one) + ", " + memory_list(one.where) + ")" + after;
            case constant:
                return ".constant(" + with_type(one) + ", " + memory_list(one.where) + ", weights.at<" + type_text(one.type) + ">(" +
                       std::to_string(layout_.offset(one.tensor)) + "), " + std::to_string(one.count) + ")" + after;
            case pin: return ".pin(" + tensor + ", " + memory_list(one.where) + ")";
            case at_offset: return ".at_offset(" + tensor + ", " + std::to_string(one.count) + ")";
            case in_bank: return ".in_bank(" + tensor + ", " + std::to_string(one.count) + ")";
            case may_spill: return ".may_spill(" + tensor + ", " + memory_list(one.where) + ")";
            default: return ".shape(" + tensor + ", " + numbers(one) + ")";
        }
    }
    /// "node 4 (`CONV_2D`): t3 int8 8 x 8 x 16 of t2, c4"
    std::string what_runs(layer_placer::placed const& one) const {
        layer const& what = one.layer->of.what();
        ir::node const& made = what.nodes.back();
        std::string text = one.report.made_for + ": " + made.name.str() + " " + shape_of(made.name, made.type), read;
        if (!what.strip_of.empty()) text += ", rows for a strip of " + what.strip_of.str();
        for (ir::label const& tensor : arguments_of(what)) read += (read.empty() ? " of " : ", ") + tensor.str();
        return text + "," + read;
    }

    network_program const& of_;
    std::string chip_, weights_;
    weights_layout layout_;
    tensor_shapes shapes_;
    halide::detail::c_names names_ = {};
    std::string why_no_program_ = {};
    std::vector<std::string> agents_ = {};              ///< their variables
    std::map<std::string, std::string> memories_ = {};  ///< likewise, by their names
};

}  // namespace detail

/// The constants of a program as the file that its header reads: see `eject`.
inline std::vector<std::byte> ejected_weights(program const& of) {
    detail::weights_layout const layout(of);
    std::vector<std::byte> made(layout.size());
    for (int at = 0; at < of.statements_size(); ++at) {
        program::statement const& one = of.statement_at(at);
        if (one.kind == program::statement_kind::constant)
            std::memcpy(made.data() + layout.offset(one.tensor), one.data, static_cast<std::size_t>(one.count * bytes_of(one.type)));
    }
    return made;
}

/// Why `eject` writes no program; empty where it does.
inline std::string why_no_program(network_program const& of) { return detail::ejector(of, {}, {}).why_no_program(); }

/// A header with a placed network as C++, for a person to change: what each kernel computes and its schedule, a directive a line;
/// `network()`, the program, a line a kernel; and `chip`, which gives each layer of the model where it went. A network in strips has no
/// such chip, since strips are no layers of the model.
///
/// @throws std::invalid_argument  where a schedule has no text; or a layer no name that the chip takes: the model has given its kernel's
/// name
///                                to something else
/// @param name      a namespace
/// @param header    defines the chip that the network was placed on
/// @param variable  that chip
/// @param weights   the file of `ejected_weights`
inline std::string eject(network_program const& of, std::string const& name, std::string const& header, std::string const& variable,
                         std::string const& weights = "weights.bin") {
    detail::ejector const made(of, variable, weights);
    if (made.has_strips() && !made.why_no_program().empty())
        throw std::invalid_argument("a network in strips is written as a program alone, and " + made.why_no_program());
    return "// A network on " + variable +
           ": its kernels with the schedules that were found, and its program. Change what you like: what is wrong is refused.\n"
           "// clang-format off\n#pragma once\n#include \"" +
           header + "\"\n\n#include <tilewright/import/written_program.hpp>\n#include <tilewright/program/program.hpp>\n\nnamespace " +
           name + " {\n\nusing namespace tilewright;\n\n" + made.agents() + made.kernels() + made.program_text() +
           (made.has_strips() ? "// Strips are no layers of the model: there is no chip that gives layers to them.\n"
                              : made.chip_text(variable)) +
           "\n}  // namespace " + name + "\n";
}

}  // namespace tilewright::imported
