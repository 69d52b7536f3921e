// What tilewright_add_network_tool() compiles: prints trained networks, as the library reads them, and writes them as C.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>
#include <tilewright/network/write.hpp>
#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
#include <tilewright/c_source/names.hpp>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/c_source/write_files.hpp>
#include <tilewright/import/network.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/program/program_plan.hpp>
#include <tilewright/report/program_page.hpp>
#endif

namespace {

using namespace tilewright;

network::graph read(std::filesystem::path const& model) {
    if (model.extension() == ".onnx") return network::read_onnx(model);
    if (model.extension() == ".tflite") return network::read_tflite(model);
    network::refuse(model.string(), network::refusal::not_a_model, {}, "its name ends neither in .onnx nor in .tflite");
}

#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
/// Writes `name`.h, `name`.c, `name`.html, a page that shows the plan, `name`_weights.c and, where the network has constants,
/// `name`_weights.bin, which that file takes in. @return whether it is imported and planned
bool write_c(std::filesystem::path const& model, std::filesystem::path const& folder, std::string const& name) {
    halide::detail::check_function_name(name);
    if (name.size() > ir::label::longest) throw std::invalid_argument("the name `" + name + "` has more than 23 letters");
    imported::layers made = imported::layers_of(read(model));
    for (std::string const& one : made.refused) std::cerr << model.string() << ": " << one << '\n';
    if (!made.refused.empty()) return false;
    imported::network_program const whole(std::move(made), ir::label(name.c_str()));
    program_plan_value const plan = make_program_plan(whole.get());
    if (plan.refusal) {
        std::cerr << model.string() << ": " << to_string(plan.refusal) << '\n';
        return false;
    }
    std::filesystem::create_directories(folder);
    halide::file_list files = halide::c_program(plan, {.name = name, .constants = halide::constants_in::file});
    // A build knows the names of its files before it knows the network.
    std::string const weights = name + "_weights.c";
    if (std::none_of(files.begin(), files.end(), [&](auto const& one) { return one.first == weights; }))
        files.emplace_back(weights, "/* The network has no constants. */\n#include \"" + name + ".h\"\n");
    files.emplace_back(name + ".html", report_page(plan));
    if (halide::detail::write_files(folder, files) != 0) return false;
    for (auto const& [file, text] : files) std::cout << (folder / file).string() << ": " << text.size() << " bytes\n";
    std::cout << "kernels " << plan.kernels.size() << ", arena " << static_cast<std::int64_t>(plan.peak(whole.arena()).value) << " bytes"
              << (plan.proven(whole.arena()) ? ", the fewest that this order of kernels needs" : ", not proven to be the fewest")
              << ", weights " << static_cast<std::int64_t>(plan.constant_bytes(whole.weights()).value) << " bytes\n";
    return true;
}
#endif

/// One line with the file. @return 1, as an exit code and as a count
int failed(char const* model, std::exception const& error) {
    bool const names_it = dynamic_cast<network::model_error const*>(&error) != nullptr;
    std::string line = (names_it ? "" : model + std::string(": ")) + error.what();
    for (char& letter : line) letter = static_cast<unsigned char>(letter) < 0x20 ? '?' : letter;
    std::cerr << line << '\n';
    return 1;
}

int usage(char const* tool) {
    std::cerr << "usage: " << tool << " --print model.onnx|model.tflite ...\n"
#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
              << "       " << tool << " --c FOLDER NAME model.onnx|model.tflite\n"
#endif
        ;
    return 2;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return usage(arguments[0]);
    try {
#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
        if (std::strcmp(arguments[1], "--c") == 0) {
            return count == 5 ? (write_c(arguments[4], arguments[2], arguments[3]) ? 0 : 1) : usage(arguments[0]);
        }
#endif
        if (std::strcmp(arguments[1], "--print") != 0) return usage(arguments[0]);
    } catch (std::exception const& error) {
        return failed(arguments[count - 1], error);
    }
    int refused = 0;
    for (int at = 2; at < count; ++at) {
        try {
            std::cout << write(read(arguments[at]));
        } catch (std::exception const& error) {
            refused += failed(arguments[at], error);
        }
    }
    return refused > 0 ? 1 : 0;
}
