// Prints what the readers make of files, a line of JSON for each, for tests that read the same files in another way.
#include <iostream>
#include <nlohmann/json.hpp>
#include <tilewright/network/onnx.hpp>
#include <tilewright/network/tflite.hpp>
#include <tilewright/network/write.hpp>

namespace {

using namespace tilewright::network;
using nlohmann::json;

std::string hexadecimal(std::vector<std::byte> const& bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::byte const one : bytes) {
        text += digits[std::to_integer<int>(one) / 16];
        text += digits[std::to_integer<int>(one) % 16];
    }
    return text;
}

json json_of(dimension const& one) {
    if (one.extent) return *one.extent;
    return one.symbol.empty() ? json() : json(one.symbol);
}

json json_of(graph const& network, tensor const& one) {
    json shape, quantised, elements;
    if (one.shape) {
        shape = json::array();
        for (dimension const& along : *one.shape) shape.push_back(json_of(along));
    }
    if (one.quantised) {
        quantised = {{"scales", one.quantised->scales}, {"zero_points", one.quantised->zero_points}, {"axis", json()}};
        if (one.quantised->axis) quantised["axis"] = *one.quantised->axis;
    }
    if (one.constant != no_constant) elements = hexadecimal(network.constants[one.constant]);
    return {{"name", one.name},     {"type", type_text(one.type, one.type_name)},
            {"shape", shape},       {"quantised", quantised},
            {"elements", elements}, {"variable", one.variable}};
}

json json_of(graph const& network, attribute_value const& value) {
    return std::visit(
        [&]<class T>(T const& held) -> json {
            if constexpr (std::is_same_v<T, literal>) {
                return {{"type", type_text(held.type, held.type_name)},
                        {"extents", held.extents},
                        {"elements", hexadecimal(network.constants[held.constant])}};
            } else {
                return held;
            }
        },
        value);
}

json json_of(graph const& network) {
    json made = {{"name", network.name},     {"format", network.format},   {"constants", network.constants.size()},
                 {"inputs", network.inputs}, {"outputs", network.outputs}, {"tensors", json::array()},
                 {"nodes", json::array()}};
    for (kept_tensor const& one : network.kept) made["kept"].push_back({one.before, one.after});
    for (tensor const& one : network.tensors) made["tensors"].push_back(json_of(network, one));
    for (node const& one : network.nodes) {
        json attributes = json::object();
        for (attribute const& setting : one.attributes) attributes[setting.name] = json_of(network, setting.value);
        made["nodes"].push_back({{"name", one.name},
                                 {"operation", one.operation},
                                 {"domain", one.domain},
                                 {"version", one.version},
                                 {"inputs", one.inputs},
                                 {"outputs", one.outputs},
                                 {"attributes", attributes},
                                 {"attributes_known", one.attributes_known}});
    }
    return made;
}

}  // namespace

/// Names of files, a line each, from standard input.
int main() {
    for (std::string file; std::getline(std::cin, file);) {
        json line;
        try {
            graph const network = file.ends_with(".onnx") ? read_onnx(file) : read_tflite(file);
            line = json_of(network);
            line["text"] = write(network);
        } catch (model_error const& error) {
            line = {{"refused", name_of(error.reason)}, {"what", error.what()}};
        }
        std::cout << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
    }
}
