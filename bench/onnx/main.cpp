// The tests of the ONNX project, for nodes and small networks: each model that is imported becomes C, is compiled and run on the inputs
// that the project gives, and must give its outputs. What is not imported must be refused by name. `onnx FOLDER [PART]`: only tests whose
// name has PART; then each line is shown.
#include <dlfcn.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>
#include <tilewright/c_source/program_source.hpp>
#include <tilewright/c_source/write_files.hpp>
#include <tilewright/import/network_program.hpp>
#include <tilewright/import/onnx.hpp>
#include <tilewright/network/onnx.hpp>
#include <tilewright/program/program_plan.hpp>

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

/// Room for one argument of the compiled function, with bytes after it that must stay.
struct argument_room {
    static constexpr std::size_t guard = 64;
    explicit argument_room(std::size_t bytes) : size(bytes), room(bytes + guard + 64) { std::memset(room.data(), 0xa5, room.size()); }
    std::byte* data() {
        auto const at = reinterpret_cast<std::uintptr_t>(room.data());
        return room.data() + (64 - at % 64) % 64;
    }
    bool kept() {
        for (std::size_t at = 0; at < guard; ++at) {
            if (data()[size + at] != std::byte{0xa5}) return false;
        }
        return true;
    }
    std::size_t size;
    std::vector<std::byte> room;
};

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

/// C that takes pointers in lists, so that one call serves all networks.
std::string caller_of(imported::layers const& of, program_plan_value const& plan, imported::network_program const& from) {
    std::string text = "#include \"net.h\"\n#include <stddef.h>\n#include <string.h>\n";
    bool const pool = plan.peak(from.arena()).value > 0,
               constants = std::any_of(of.constants.begin(), of.constants.end(),
                                       [&](imported::known_tensor const&one) { return of.is_read(one.what); });
    if (pool) text += "static _Alignas(64) unsigned char arena[TILEWRIGHT_net_arena_BYTES];\n";
    text += "int call(void *const *in, void *const *out) {\n    (void)in; (void)out;\n";
    if (pool || constants) text += "    struct net_memories memories = {0};\n";
    if (pool) text += "    memories.arena = arena;\n";
    if (constants) text += "    memories.weights = (void *)net_weights_image;\n";
    text += "    return net(";
    bool first = true;
    auto const add = [&](std::string const& one) { text += (first ? "" : ", ") + one, first = false; };
    for (std::size_t at = 0; at < of.inputs.size(); ++at) {
        if (of.is_read(of.inputs[at])) add("in[" + std::to_string(at) + "]");
    }
    for (std::size_t at = 0; at < of.outputs.size(); ++at) add("out[" + std::to_string(at) + "]");
    if (pool || constants) add("&memories");
    return text + ");\n}\n";
}

outcome run(fs::path const& test, fs::path const& folder) {
    network::graph graph;
    try {
        graph = network::read_onnx(test / "model.onnx");
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
    imported::layers made = imported::layers_of(graph);
    // Shapes, axes and limits are inputs of these models, where networks have constants: then they are made constants.
    for (std::size_t at = 0; at < graph.inputs.size() && !made.refused.empty();) {
        auto const id = graph.inputs[at];
        network::tensor& one = graph.tensors[static_cast<std::size_t>(id)];
        std::string const wanted = network::shown(one.name) + ", has to be a constant";
        if (made.refused[0].find(wanted) == std::string::npos) {
            ++at;
            continue;
        }
        one.constant = network::constant_id(graph.constants.size());
        graph.constants.push_back(inputs[at].bytes);
        graph.inputs.erase(graph.inputs.begin() + static_cast<std::ptrdiff_t>(at));
        inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(at));
        made = imported::layers_of(graph);
        at = 0;
    }
    if (!made.refused.empty()) return {outcome::refused, made.refused[0]};
    imported::network_program const whole(std::move(made), "net");
    program_plan_value const plan = make_program_plan(whole.get());
    if (plan.refusal) return {outcome::failed, to_string(plan.refusal)};
    try {
        if (halide::detail::write_files(folder, halide::c_program(plan, {.name = "net"})) != 0) return {};
    } catch (std::exception const& error) {
        return {outcome::failed, error.what()};
    }
    std::ofstream(folder / "call.c") << caller_of(whole.network(), plan, whole);
    std::string const in = folder.string() + "/";
    std::string const command = "gcc -std=c11 -O1 -fPIC -shared -o " + in + "net.so " + in + "net.c " + in + "call.c -lm 2> " + in + "said";
    if (std::system(command.c_str()) != 0) {
        std::ifstream said(folder / "said");
        return {outcome::failed, std::string(std::istreambuf_iterator<char>(said), {}).substr(0, 600)};
    }
    void* const library = dlopen((in + "net.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {outcome::failed, dlerror()};
    auto const call = reinterpret_cast<int (*)(void* const*, void* const*)>(dlsym(library, "call"));
    std::deque<argument_room> rooms;
    std::vector<void*> in_pointers, out_pointers;
    for (given_tensor const& one : inputs) {
        std::memcpy(rooms.emplace_back(one.bytes.size()).data(), one.bytes.data(), one.bytes.size());
        in_pointers.push_back(rooms.back().data());
    }
    for (given_tensor const& one : outputs) out_pointers.push_back(rooms.emplace_back(one.bytes.size()).data());
    outcome result{outcome::passed};
    if (int const code = call(in_pointers.data(), out_pointers.data()); code != 0)
        result = {outcome::failed, "code " + std::to_string(code)};
    for (std::size_t at = 0; at < outputs.size() && result.kind == outcome::passed; ++at) {
        std::string const different = compare(outputs[at].type, static_cast<std::byte*>(out_pointers[at]), outputs[at].bytes);
        if (!different.empty()) result = {outcome::failed, "output " + std::to_string(at) + ", " + different};
    }
    for (argument_room& one : rooms) {
        if (!one.kept()) result = {outcome::failed, "bytes after an argument were written"};
    }
    dlclose(library);
    return result;
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
