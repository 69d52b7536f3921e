// The tests of the ONNX project, for nodes and small networks: each model that is imported becomes C, is compiled and run on the inputs
// that the project gives, and must give its outputs. What is not imported must be refused by name. `onnx FOLDER [PART]`: only tests whose
// name has PART; then each line is shown.
#include <onnx/onnx_pb.h>

#include <atomic>
#include <cmath>
#include <iostream>
#include <thread>

#include "run_network.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tilewright;

struct outcome {
    enum { passed, refused, failed } kind = failed;
    std::string why = {};
};

/// The bytes of a tensor that a file of the tests has. They are read by ONNX's own class alone.
struct given_tensor {
    int type = 0;
    std::vector<std::int64_t> extents = {};
    std::vector<std::byte> bytes = {};
};
std::optional<given_tensor> read_tensor(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    onnx::TensorProto from;
    if (!from.ParseFromIstream(&in) || !from.has_raw_data()) return std::nullopt;
    given_tensor made{from.data_type(), {from.dims().begin(), from.dims().end()}, {}};
    auto const* first = reinterpret_cast<std::byte const*>(from.raw_data().data());
    made.bytes.assign(first, first + from.raw_data().size());
    return made;
}

template <class T>
std::string first_difference(std::byte const* got, std::vector<std::byte> const& expected, double relative, double absolute) {
    for (std::size_t at = 0; at * sizeof(T) < expected.size(); ++at) {
        T is{}, should{};
        std::memcpy(&is, got + at * sizeof(T), sizeof(T));
        std::memcpy(&should, expected.data() + at * sizeof(T), sizeof(T));
        bool same = is == should;
        if constexpr (std::is_floating_point_v<T>) {
            same = same || (std::isnan(is) && std::isnan(should)) ||
                   std::abs(static_cast<double>(is) - static_cast<double>(should)) <=
                       absolute + relative * std::abs(static_cast<double>(should));
        }
        if (!same) return "element " + std::to_string(at) + ": expected " + std::to_string(should) + ", got " + std::to_string(is);
    }
    return {};
}

/// @param elements  the number of ONNX's element type
std::string compare(int elements, std::byte const* got, std::vector<std::byte> const& expected) {
    // The project's own limits are 1e-3 and 1e-7.
    switch (elements) {
        case onnx::TensorProto::FLOAT: return first_difference<float>(got, expected, 1e-5, 1e-6);
        case onnx::TensorProto::DOUBLE: return first_difference<double>(got, expected, 1e-9, 1e-12);
        case onnx::TensorProto::INT8: return first_difference<std::int8_t>(got, expected, 0, 0);
        case onnx::TensorProto::INT16: return first_difference<std::int16_t>(got, expected, 0, 0);
        case onnx::TensorProto::INT32: return first_difference<std::int32_t>(got, expected, 0, 0);
        case onnx::TensorProto::INT64: return first_difference<std::int64_t>(got, expected, 0, 0);
        case onnx::TensorProto::UINT16: return first_difference<std::uint16_t>(got, expected, 0, 0);
        case onnx::TensorProto::UINT32: return first_difference<std::uint32_t>(got, expected, 0, 0);
        case onnx::TensorProto::UINT64: return first_difference<std::uint64_t>(got, expected, 0, 0);
        default: return first_difference<std::uint8_t>(got, expected, 0, 0);
    }
}

outcome run(fs::path const& test, fs::path const& folder) {
    network::graph graph;
    try {
        graph = networks::read_network(test / "model.onnx");
    } catch (network::model_error const& error) {
        return {outcome::refused, error.what()};
    }
    fs::path const data = test / "test_data_set_0";
    std::vector<given_tensor> inputs, outputs;
    for (auto const& [count, tensors, name] :
         {std::tuple{graph.inputs.size(), &inputs, "input_"}, {graph.outputs.size(), &outputs, "output_"}}) {
        for (std::size_t at = 0; at < count; ++at) {
            auto one = read_tensor(data / (name + std::to_string(at) + ".pb"));
            if (!one) return {outcome::refused, std::string(name) + std::to_string(at) + " of the test is no tensor with raw bytes"};
            tensors->push_back(std::move(*one));
        }
    }
    imported::layers made = networks::layers_of(graph);
    // Shapes, axes and limits are inputs of these models, where networks have constants: then they are made constants.
    for (std::size_t at = 1; at < graph.inputs.size() && !made.refused.empty(); ++at) {
        auto const id = graph.inputs[at];
        network::tensor& one = graph.tensors[static_cast<std::size_t>(id)];
        std::string const wanted = network::shown(one.name) + ", has to be a constant";
        if (made.refused[0].find(wanted) == std::string::npos) continue;
        one.constant = network::constant_id(graph.constants.size());
        graph.constants.push_back(inputs[at].bytes);
        graph.inputs.erase(graph.inputs.begin() + static_cast<std::ptrdiff_t>(at));
        inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(at));
        made = networks::layers_of(graph);
        at = 0;
    }
    if (!made.refused.empty()) return {outcome::refused, made.refused[0]};
    networks::written_network const written = networks::write_network(std::move(made), folder, "net");
    networks::compile(written.sources, folder / "net.so", "-O1 -Wall -Wextra -Werror -shared");
    networks::library const compiled(folder / "net.so");
    std::vector<std::vector<std::byte>> given;
    std::vector<std::size_t> sizes;
    for (given_tensor const& one : inputs) given.push_back(one.bytes);
    for (given_tensor const& one : outputs) sizes.push_back(one.bytes.size());
    networks::call_arguments arguments(given, sizes);
    if (int const code = arguments(compiled.caller("net")); code != 0) return {outcome::failed, "code " + std::to_string(code)};
    for (std::size_t at = 0; at < outputs.size(); ++at) {
        std::string const different = compare(outputs[at].type, arguments.output(at), outputs[at].bytes);
        if (!different.empty()) return {outcome::failed, "output " + std::to_string(at) + ", " + different};
    }
    if (!arguments.kept()) return {outcome::failed, "an input, or bytes beside an argument, were written"};
    return {outcome::passed};
}

}  // namespace

int main(int count, char** arguments) {
    std::string const folder = count > 1 ? arguments[1] : "/usr/share/libonnx-testdata/data";
    std::string const part = count > 2 ? arguments[2] : "";
    std::vector<fs::path> tests;
    for (auto const& one : fs::recursive_directory_iterator(folder)) {
        if (one.path().filename().string().find(part) != std::string::npos && fs::exists(one.path() / "model.onnx") &&
            fs::exists(one.path() / "test_data_set_0"))
            tests.push_back(one);
    }
    std::sort(tests.begin(), tests.end());
    std::vector<outcome> outcomes(tests.size());
    std::atomic<std::size_t> next = 0;
    std::string pattern = (fs::temp_directory_path() / "tilewright_onnx_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return 2;
    auto const work = [&] {
        for (std::size_t at = next++; at < tests.size(); at = next++) {
            fs::path const own = fs::path(pattern) / std::to_string(at);
            fs::create_directory(own);
            try {
                outcomes[at] = run(tests[at], own);
            } catch (std::exception const& error) {
                outcomes[at] = {outcome::failed, error.what()};
            }
            if (part.empty()) fs::remove_all(own);
            if (at % 50 == 0) std::cerr << "\r" << at << " of " << tests.size() << std::flush;
        }
    };
    std::vector<std::thread> workers;
    for (unsigned at = 0; at < std::max(1u, std::thread::hardware_concurrency()); ++at) workers.emplace_back(work);
    for (std::thread& one : workers) one.join();
    if (part.empty()) fs::remove_all(pattern);
    std::cerr << "\r";
    int counts[3] = {};
    for (std::size_t at = 0; at < tests.size(); ++at) {
        ++counts[outcomes[at].kind];
        static char const* const words[] = {"passed ", "refused", "FAILED "};
        std::cout << words[outcomes[at].kind] << ' ' << fs::relative(tests[at], folder).string();
        if (!outcomes[at].why.empty()) std::cout << ": " << outcomes[at].why;
        std::cout << '\n';
    }
    std::cout << "onnx: passed=" << counts[outcome::passed] << " refused=" << counts[outcome::refused]
              << " failed=" << counts[outcome::failed] << '\n';
    return counts[outcome::failed] > 0 || tests.empty() ? 1 : 0;
}
