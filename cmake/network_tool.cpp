// What tilewright_add_network_tool() compiles: prints trained networks, as the library reads them.
#include <cstring>
#include <iostream>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>
#include <tilewright/network/write.hpp>

int main(int count, char** arguments) {
    using namespace tilewright::network;
    if (count < 3 || std::strcmp(arguments[1], "--print") != 0) {
        std::cerr << "usage: " << arguments[0] << " --print model.onnx|model.tflite ...\n";
        return 2;
    }
    int refused = 0;
    for (int at = 2; at < count; ++at) {
        std::filesystem::path const model = arguments[at];
        try {
            if (model.extension() != ".onnx" && model.extension() != ".tflite") {
                refuse(model.string(), refusal::not_a_model, {}, "its name ends neither in .onnx nor in .tflite");
            }
            std::cout << write(model.extension() == ".onnx" ? read_onnx(model) : read_tflite(model));
        } catch (model_error const& error) {
            std::cerr << error.what() << '\n';
            ++refused;
        }
    }
    return refused > 0 ? 1 : 0;
}
