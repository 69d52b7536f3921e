#pragma once
#include <algorithm>
#include <set>
#include <string>
#include <tilewright/c_source/device_parameters.hpp>

// A header of C that records the calls of a machine's functions. It needs nothing of the code that calls them: each function becomes a
// macro for one that records, as C_INCLUDES allows for any function of a machine.
namespace tilewright::bring_up {

/// Calls `visit(call, parameters)` for every C function of a machine, but for those that take or return registers by value: these are
/// instructions of the core. `parameters`: the type and name of each.
template <class Visit>
void each_device_function(machine const& where, Visit const& visit) {
    using namespace halide::detail;
    auto const one = [&](device_call const& call, auto const& parameter) { visit(call, parameters_of_call(call, parameter)); };
    auto const valued = [&](device_call const& call, char const* name) {
        one(call, [name](call_argument const& a, int position) { return value_parameter(a, position, name); });
    };
    for (int at = 0; at < where.transfers.size(); ++at) {
        transfer_description const& t = where.transfers[at];
        if (!t.core_name.empty() || passes_values(where, t)) continue;
        each_call(where, t, [&](device_call const& call) {
            one(call, [&](call_argument const& a, int position) { return transfer_parameter(where, t, a, position); });
        });
    }
    for (int at = 0; at < where.engines.size(); ++at)
        valued(wait_call_of(where.engines[at]), where.engines[at].completes == completion::by_transfer ? "tag" : "pending");
    for (int at = 0; at < where.tokens.size(); ++at)
        valued(push_call_of(where.tokens[at]), "queue"), valued(pop_call_of(where.tokens[at]), "queue");
    for (int at = 0; at < where.configurations.size(); ++at) one(set_call_of(where.configurations[at]), setting_parameter);
    for (int at = 0; at < where.intrinsics.size(); ++at) {
        intrinsic_description const& i = where.intrinsics[at];
        if (passes_values(where, i)) continue;
        each_call(where, i, [&](device_call const& call) {
            one(call, [&](call_argument const& a, int position) { return intrinsic_parameter(where, i, a, position); });
        });
    }
    for (int kind = 0; kind < std::max(where.cores.size(), 1); ++kind) {
        core const& of = where.core_of_kind(kind);
        auto const talked = [](call_argument const& a, int position) -> std::string {
            return a.is == role::core     ? "int64_t core"
                   : a.is == role::peer   ? "int64_t peer"
                   : a.is == role::queue  ? "int64_t queue"
                   : a.is == role::status ? "int64_t status"
                                          : literal_parameter(position);
        };
        if (where.core_count() > 1) one(barrier_call_of(of), talked), one(signal_call_of(of), talked), one(await_call_of(of), talked);
        if (where.has_caches()) one(clean_call_of(of), upkeep_parameter), one(invalidate_call_of(of), upkeep_parameter);
    }
}

/// The text of NAME.h.
inline std::string trace_header(machine const& where, std::string const& name) {
    halide::detail::check_function_name(name);
    std::string guard;
    for (char letter : name) guard += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    guard += "_H";
    std::string text = "/* With TILEWRIGHT_TRACE defined, calls of the functions of `" + where.name.str() +
                       "` are recorded. Without it, this header says nothing.\n * Functions that are defined inline stand in a header in "
                       "front of this one. */\n#ifndef " +
                       guard + "\n#define " + guard +
                       "\n#ifdef TILEWRIGHT_TRACE\n#include <tilewright/runtime/trace.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    std::string macros;
    std::set<std::string> known;
    each_device_function(where, [&](device_call const& call, std::vector<std::string> const& parameters) {
        std::string const symbol = call.symbol.str();
        if (!known.insert(symbol).second) return;
        std::string given, kept, signature = halide::detail::signature_text(symbol, parameters);
        for (std::string const& one : parameters) {
            std::string const argument = one.substr(one.find_last_of(" *") + 1);
            given += (given.empty() ? "" : ", ") + argument;
            kept += (kept.empty() ? "" : ", ") + (one.find('*') == std::string::npos ? argument : "(int64_t)(intptr_t)" + argument);
        }
        text += "\n#ifndef " + symbol + "\n" + signature + ";\n#endif\n";
        signature.replace(4, symbol.size(), name + "_" + symbol);
        std::string const count = std::to_string(parameters.size());
        text += "static inline " + signature + " {\n" + (kept.empty() ? "" : "    const int64_t tilewright_kept[] = {" + kept + "};\n") +
                "    struct tilewright_trace_record *const tilewright_record = tilewright_trace_begin(\"" + symbol + "\", " + count + ", " +
                (kept.empty() ? "NULL" : "tilewright_kept") + ");\n    const int tilewright_code = " + symbol + "(" + given +
                ");\n    tilewright_trace_end(tilewright_record, tilewright_code);\n    return tilewright_code;\n}\n";
        macros += "#undef " + symbol + "\n#define " + symbol + " " + name + "_" + symbol + "\n";
    });
    return text + "\n#ifdef __cplusplus\n}\n#endif\n\n" + macros + "#endif\n#endif\n";
}

}  // namespace tilewright::bring_up
