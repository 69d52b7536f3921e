#pragma once
#include <sstream>
#include <tilewright/import/network_program.hpp>
#include <tilewright/report/directive_text.hpp>
#include <tilewright/report/table.hpp>

// What the placer found, as C++ that a person takes over.
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
inline std::string schedule_text(schedule const& of, std::string const& indent) {
    std::string text;
    for (int at = 0; at < of.directive_count(); ++at) {
        directive const& d = of.directive_at(at);
        std::string const call = call_text(of, d);
        if (call.empty()) return {};
        text += (description_of(d.kind).refines() ? "." : "\n" + indent + ".") + call;
    }
    return text;
}

}  // namespace detail

/// A header with a chip that gives each layer of a network where it went: schedules that were found are functions, a directive a line. It
/// is for one network, and for a person to change.
///
/// @throws std::invalid_argument  where a layer has no name that the chip takes: the model has given its kernel's name to something else
/// @param name      a namespace, in which the chip is called `chip`
/// @param header    defines the chip that the network was placed on
/// @param variable  that chip
inline std::string eject(network_program const& of, std::string const& name, std::string const& header, std::string const& variable) {
    std::ostringstream functions, chip;
    name_finder const names(of.network());
    for (layer_placer::placed const& one : of.placed_layers()) {
        placement const& report = one.report;
        std::string const layer = names.name_for_layer(report.kernel);
        if (layer.empty())
            throw std::invalid_argument(report.kernel + ", " + report.made_for + ": `" + report.kernel +
                                        "` is also a name of the model, and the layer has no other one: rename that in the model");
        std::string const schedule = report.choice == "loops" ? "" : detail::schedule_text(one.how, "                 ");
        if (schedule.empty()) {
            chip << "\n        .layer(" << detail::quoted(layer) << ", \"" << report.choice << "\", \"" << report.agent << "\")  // "
                 << report.made_for;
            continue;
        }
        chip << "\n        .layer(" << detail::quoted(layer) << ", \"" << report.agent << "\", " << report.kernel << ")  // "
             << report.made_for;
        functions << "// " << report.made_for << "\ninline imported::candidates " << report.kernel << "(imported::placed_layer& of) {\n";
        for (std::string const& change : one.layer->of.changes()) functions << "    of.of." << change << ";\n";
        functions << "    return {{of.plain()" << schedule << "}};\n}\n\n";
    }
    return "// Layers as they were placed on " + variable +
           ", each with the schedule that was found. Change what you like: what is wrong is refused.\n"
           "#pragma once\n#include \"" +
           header + "\"\n\n#include <tilewright/import/chip.hpp>\n\nnamespace " + name + " {\n\nusing namespace tilewright;\n\n" +
           functions.str() + "inline imported::chip const chip =\n    imported::chip(" + variable + ")" + chip.str() +
           "\n    ;\n\n}  // namespace " + name + "\n";
}

}  // namespace tilewright::imported
