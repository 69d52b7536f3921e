#include "run_network.hpp"

#include <tilewright/c_source/program_source.hpp>
#include <tilewright/c_source/write_files.hpp>
#include <tilewright/import/network.hpp>
#include <tilewright/import/planned_network.hpp>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>

namespace networks {

namespace {

/// C that takes pointers in lists, so that one call serves all networks.
std::string caller_of(std::string const& name, tw::imported::layers const& of, tw::program_plan_value const& plan, arena_check check) {
    std::string text = "#include \"" + name + ".h\"\n#include <stddef.h>\n#include <string.h>\n";
    bool const pool = plan.peak(tw::imported::this_processor().arena).value > 0,
               constants = std::any_of(of.constants.begin(), of.constants.end(), [&](auto const&one) { return of.is_read(one.what); });
    // What is kept from run to run stands in the arena, and begins as 0.
    bool const checks = pool && check == arena_check::each_call && of.states.empty();
    std::string const arena = "arena_of_" + name, size = "TILEWRIGHT_" + name + "_arena_BYTES";
    if (pool) text += "static _Alignas(64) unsigned char " + arena + "[" + size + " + 64];\n";
    text += "int call_" + name + "(void *const *in, void *const *out) {\n    (void)in; (void)out;\n";
    if (pool || constants) text += "    struct " + name + "_memories memories = {0};\n";
    if (checks) text += "    memset(" + arena + ", 0xa5, sizeof " + arena + ");\n";
    if (pool) text += "    memories.arena = " + arena + ";\n";
    if (constants) text += "    memories.weights = (void *)" + name + "_weights_image;\n";
    text += "    const int code = " + name + "(";
    bool first = true;
    auto const add = [&](std::string const& one) { text += (first ? "" : ", ") + one, first = false; };
    for (std::size_t at = 0; at < of.inputs.size(); ++at) {
        if (of.is_read(of.inputs[at]) && !of.is_kept(&tw::imported::state::input, at)) add("in[" + std::to_string(at) + "]");
    }
    for (std::size_t at = 0; at < of.outputs.size(); ++at) {
        if (!of.is_kept(&tw::imported::state::output, at)) add("out[" + std::to_string(at) + "]");
    }
    if (pool || constants) add("&memories");
    text += ");\n";
    if (checks) text += "    for (size_t at = " + size + "; at < " + size + " + 64; ++at) if (" + arena + "[at] != 0xa5) return -1;\n";
    return text + "    return code;\n}\n";
}

std::vector<std::string> names_of(std::span<tw::imported::operator_entry const> operators) {
    std::vector<std::string> made;
    for (tw::imported::operator_entry const& one : operators) {
        if (one.domain != tw::imported::rewritten_domain) made.emplace_back(one.name);
    }
    return made;
}

}  // namespace

tw::network::graph read_network(fs::path const& file) {
    return file.extension() == ".tflite" ? tw::network::read_tflite(file) : tw::network::read_onnx(file);
}

tw::imported::layers layers_of(tw::network::graph const& graph) { return tw::imported::layers_of(graph); }

std::vector<std::string> imported_onnx_operators() { return names_of(tw::imported::onnx_operators()); }
std::vector<std::string> imported_microsoft_operators() { return names_of(tw::imported::microsoft_operators()); }
std::vector<std::string> imported_tflite_operators() { return names_of(tw::imported::tflite_operators()); }

written_network write_network(tw::imported::layers made, fs::path const& folder, std::string const& name, arena_check check) {
    written_network result;
    auto begin = std::chrono::steady_clock::now();
    tw::imported::planned_network const planned(std::move(made), tw::ir::label(name.c_str()), tw::imported::this_processor().as_chip);
    tw::imported::network_program const& whole = planned.program();
    tw::program_plan_value const& plan = planned.plan();
    result.seconds_to_plan = detail::seconds_since(begin);
    if (plan.refusal) throw std::runtime_error(to_string(plan.refusal));
    begin = std::chrono::steady_clock::now();
    auto const files =
        tw::halide::c_program(plan, {.name = name, .includes = whole.c_includes(), .constants = tw::halide::constants_in::file});
    fs::create_directories(folder);
    if (tw::halide::detail::write_files(folder, files) != 0) throw std::runtime_error("files cannot be written to " + folder.string());
    result.seconds_to_c = detail::seconds_since(begin);
    for (auto const& [file, text] : files) {
        if (fs::path(file).extension() != ".c") continue;
        bool const is_code = file == name + ".c";
        result.sources.insert(is_code ? result.sources.begin() : result.sources.end(), folder / file);
        if (is_code) result.bytes_of_c = text.size();
    }
    result.sources.push_back(folder / ("call_" + name + ".c"));
    std::ofstream(result.sources.back()) << caller_of(name, whole.network(), plan, check);
    result.whole = folder / ("all_" + name + ".c");
    std::ofstream whole_file(result.whole);
    for (fs::path const& one : result.sources) whole_file << "#include \"" << one.filename().string() << "\"\n";
    tw::imported::processor const& on = tw::imported::this_processor();
    result.weights = plan.constant_bytes(on.weights).value;
    result.arena = plan.peak(on.arena).value;
    result.proven = plan.proven(on.arena);
    result.kernels = plan.kernels.size();
    return result;
}

}  // namespace networks
