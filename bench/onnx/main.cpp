// The tests of the ONNX project, for nodes and small networks: each model that is imported becomes C, is compiled and run on the inputs
// that the project gives, and must give its outputs. What is not imported must be refused by name. Networks that quantised_networks.py has
// drawn are compared with ONNX Runtime.
//
//     onnx [--drawn LIBRARY FOLDER] [FOLDER [PART]]     only tests whose name has PART
#include <onnx/onnx_pb.h>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <optional>
#include <span>
#include <sstream>

#include "drawn_networks.hpp"
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
    double relative = 1e-5;  ///< how far a float may be off
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
/// @param relative  how far a float may be off
std::string compare(int elements, std::byte const* got, std::vector<std::byte> const& expected, double relative) {
    // The project's own limits are 1e-3 and 1e-7.
    switch (elements) {
        case onnx::TensorProto::FLOAT: return first_difference<float>(got, expected, relative, 1e-6);
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

/// One test: a model, and what it has to give.
struct test_of_model {
    fs::path from = {};
    outcome ends = {};
    network::graph graph = {};
    std::vector<given_tensor> inputs = {}, outputs = {};

    explicit test_of_model(fs::path folder) : from(std::move(folder)) {}
    void refuse(std::string const& why) { ends = {outcome::refused, why}; }
    void fail(std::string const& why) { ends = {outcome::failed, why}; }

    /// @return whether it has been read
    bool read() {
        try {
            graph = networks::read_network(from / "model.onnx");
        } catch (network::model_error const& error) {
            return refuse(error.what()), false;
        }
        fs::path const data = from / "test_data_set_0";
        for (auto const& [ids, tensors, name] : {std::tuple{&graph.inputs, &inputs, "input_"}, {&graph.outputs, &outputs, "output_"}}) {
            for (std::size_t at = 0; at < ids->size(); ++at) {
                auto one = read_tensor(data / (name + std::to_string(at) + ".pb"));
                if (!one) return refuse(std::string(name) + std::to_string(at) + " of the test is no tensor with raw bytes"), false;
                // Some files call the bits of a bfloat16 a uint16: the model says what they are.
                if (auto const type = graph.at((*ids)[at]).type; network::is_half(type)) {
                    one->bytes = network::as_float32(type, one->bytes);
                    one->type = onnx::TensorProto::FLOAT;
                    one->relative = type == network::element_type::bfloat16 ? 0x1p-7 : 1e-3;  // the project cuts to bfloat16
                }
                tensors->push_back(std::move(*one));
            }
        }
        return true;
    }
    imported::layers import() {
        imported::layers made = networks::layers_of(graph);
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
            one.type = network::computed_type(one.type);
            graph.constants.push_back(inputs[at].bytes);
            graph.inputs.erase(graph.inputs.begin() + static_cast<std::ptrdiff_t>(at));
            inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(at));
            made = networks::layers_of(graph);
            at = 0;
        }
        return made;
    }
    /// Writes it as C, where it is imported.
    std::optional<networks::written_network> write(fs::path const& folder, std::string const& name) try {
        if (!read()) return {};
        imported::layers made = import();
        if (made.refused.empty()) return networks::write_network(std::move(made), folder, name);
        return refuse(made.refused[0]), std::nullopt;
    } catch (std::exception const& error) {
        return fail(error.what()), std::nullopt;
    }
    void run(networks::library::function call) {
        std::vector<std::vector<std::byte>> given;
        std::vector<std::size_t> sizes;
        for (given_tensor const& one : inputs) given.push_back(one.bytes);
        for (given_tensor const& one : outputs) sizes.push_back(one.bytes.size());
        networks::call_arguments arguments(given, sizes);
        if (int const code = arguments(call); code != 0) return fail("code " + std::to_string(code));
        // What stands beside windows of cosines was computed with 3.1415: the project's limit is wide enough for that.
        bool const has_window = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](network::node const& one) {
            return one.operation == "HannWindow" || one.operation == "HammingWindow" || one.operation == "BlackmanWindow";
        });
        for (std::size_t at = 0; at < outputs.size(); ++at) {
            std::string const different =
                compare(outputs[at].type, arguments.output(at), outputs[at].bytes, has_window ? 1e-3 : outputs[at].relative);
            if (!different.empty()) return fail("output " + std::to_string(at) + ", " + different);
        }
        if (!arguments.kept()) return fail("an input, or bytes beside an argument, were written");
        ends = {outcome::passed};
    }
};

/// Runs tests, whose C is compiled by one call of the compiler.
void run_together(std::span<test_of_model> tests, fs::path const& folder) {
    std::vector<networks::written_network> written;
    std::vector<std::pair<test_of_model*, std::string>> names;
    for (std::size_t at = 0; at < tests.size(); ++at) {
        std::string const name = "net" + std::to_string(at);
        auto one = tests[at].write(folder, name);
        if (!one) continue;
        written.push_back(std::move(*one));
        names.emplace_back(&tests[at], name);
    }
    auto const compiled = networks::compile_together(written, folder, "-O1 -Wall -Wextra -Werror -shared");
    for (std::size_t at = 0; at < compiled.size(); ++at) {
        auto& [test, name] = names[at];
        if (compiled[at].in) test->run(compiled[at].in->caller(name));
        else test->fail(compiled[at].why_not);
    }
}

}  // namespace

int main(int count, char** arguments) try {
    std::string drawn_library, drawn_folder;
    if (count > 3 && std::string(arguments[1]) == "--drawn") {
        drawn_library = arguments[2], drawn_folder = arguments[3];
        count -= 3, arguments += 3;
    }
    std::string const folder = count > 1 ? arguments[1] : "/usr/share/libonnx-testdata/data";
    std::string const part = count > 2 ? arguments[2] : "";
    std::vector<test_of_model> tests;
    for (auto const& one : fs::recursive_directory_iterator(folder)) {
        if (one.path().filename().string().find(part) != std::string::npos && fs::exists(one.path() / "model.onnx") &&
            fs::exists(one.path() / "test_data_set_0"))
            tests.emplace_back(one.path());
    }
    std::sort(tests.begin(), tests.end(), [](auto const& a, auto const& b) { return a.from < b.from; });
    networks::in_parts(tests.size(), 20, !part.empty(), [&](std::size_t first, std::size_t count_of_part, fs::path const& own) {
        run_together(std::span(tests).subspan(first, count_of_part), own);
        std::cerr << "\r" << first << " of " << tests.size() << std::flush;
    });
    std::cerr << "\r";
    int counts[3] = {};
    for (test_of_model const& one : tests) {
        ++counts[one.ends.kind];
        static char const* const words[] = {"passed ", "refused", "FAILED "};
        std::cout << words[one.ends.kind] << ' ' << fs::relative(one.from, folder).string();
        if (!one.ends.why.empty()) std::cout << ": " << one.ends.why;
        std::cout << '\n';
    }
    std::ostringstream ends;
    ends << "onnx: passed=" << counts[outcome::passed] << " refused=" << counts[outcome::refused] << " failed=" << counts[outcome::failed];
    bool is_good = counts[outcome::failed] == 0 && !tests.empty();
    if (!drawn_library.empty()) {
        networks::drawn_outcome const drawn = networks::compare_drawn(drawn_library, drawn_folder);
        ends << " drawn=" << drawn.networks << " drawn_refused=" << drawn.refused << " drawn_failed=" << drawn.failed
             << " drawn_different=" << std::fixed << std::setprecision(3) << drawn.percent_different()
             << "% drawn_largest_error=" << drawn.largest_error;
        is_good = is_good && drawn.passed() == drawn.networks && drawn.networks > 0;
    }
    std::cout << ends.str() << '\n';
    return is_good ? 0 : 1;
} catch (std::exception const& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
