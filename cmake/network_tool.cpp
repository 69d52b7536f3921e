// What tilewright_add_network_tool() compiles: prints trained networks, as the library reads them, and writes them as C.
#include <cstring>
#include <iostream>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>
#include <tilewright/network/write.hpp>
#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/c_source/write_files.hpp>
#include <tilewright/import/network.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/program/program_plan.hpp>
#endif

namespace {

using namespace tilewright;

network::graph read(std::filesystem::path const& model) {
    if (model.extension() == ".onnx") return network::read_onnx(model);
    if (model.extension() == ".tflite") return network::read_tflite(model);
    network::refuse(model.string(), network::refusal::not_a_model, {}, "its name ends neither in .onnx nor in .tflite");
}

#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
/// Writes `name`.h, `name`.c and, where the network has constants, `name`_weights.bin with `name`_weights.c, which takes it in. @return
/// whether it is imported and planned
bool write_c(std::filesystem::path const& model, std::filesystem::path const& folder, std::string const& name) {
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
    auto const files = halide::c_program(plan, {.name = name, .constants = halide::constants_in::file});
    if (halide::detail::write_files(folder, files) != 0) return false;
    for (auto const& [file, text] : files) std::cout << (folder / file).string() << ": " << text.size() << " bytes\n";
    std::cout << "kernels " << plan.kernels.size() << ", arena " << static_cast<std::int64_t>(plan.peak(whole.arena()).value) << " bytes"
              << (plan.proven(whole.arena()) ? ", the fewest that this order of kernels needs" : ", not proven to be the fewest")
              << ", weights " << static_cast<std::int64_t>(plan.constant_bytes(whole.weights()).value) << " bytes\n";
    return true;
}
#endif

int usage(char const* tool) {
    std::cerr << "usage: " << tool << " --print model.onnx|model.tflite ...\n"
#ifdef TILEWRIGHT_NETWORK_TOOL_WRITES_C
              << "       " << tool << " --c FOLDER NAME model.onnx\n"
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
    } catch (network::model_error const& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    int refused = 0;
    for (int at = 2; at < count; ++at) {
        try {
            std::cout << write(read(arguments[at]));
        } catch (network::model_error const& error) {
            std::cerr << error.what() << '\n';
            ++refused;
        }
    }
    return refused > 0 ? 1 : 0;
}
