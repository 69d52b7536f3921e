// The reference of ONNX's operators beside the tests of the ONNX project: each model whose operators have a reference is run on the inputs
// that the project gives, and must give its outputs. `reference_onnx FOLDER LEAST [PART]`: as many as LEAST have to pass; with PART, only
// tests whose name has it.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <tilewright/network/onnx.hpp>
#include <tilewright/reference/onnx.hpp>

namespace {

namespace fs = std::filesystem;
using namespace tilewright;
using reference::elements;
using reference::not_covered;

/// A tensor of a file of the tests.
elements read_tensor(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    onnx::TensorProto from;
    if (!from.ParseFromIstream(&in)) throw not_covered(file.filename().string() + " of the test is no tensor");
    network::detail::onnx_constants reader(file);
    auto read = reader.read(from, "tensor");
    return {read.type, std::move(read.extents), std::move(read.bytes)};
}
std::vector<elements> read_tensors(fs::path const& folder, std::string const& name, std::size_t count) {
    std::vector<elements> made;
    for (std::size_t at = 0; at < count; ++at) made.push_back(read_tensor(folder / (name + std::to_string(at) + ".pb")));
    return made;
}

reference::operator_function function_of(network::node const& node) {
    auto const table = reference::onnx_operators();
    auto const found = std::lower_bound(table.begin(), table.end(), node.operation,
                                        [](auto const& one, std::string const& name) { return one.name < name; });
    if (!node.domain.empty() || found == table.end() || found->name != node.operation)
        throw not_covered(node.domain + (node.domain.empty() ? "" : ".") + node.operation);
    return found->compute;
}

/// The outputs of a graph. @param inputs  one for each of its own
std::vector<elements> run(network::graph const& graph, std::vector<elements> const& inputs) {
    std::map<network::tensor_id, elements> known;
    for (std::size_t at = 0; at < graph.tensors.size(); ++at) {
        network::tensor const& one = graph.tensors[at];
        if (one.constant == network::no_constant) continue;
        std::vector<std::int64_t> extents;
        for (network::dimension const& along : *one.shape) extents.push_back(*along.extent);
        known[network::tensor_id(at)] = {one.type, extents, graph.constants[static_cast<std::size_t>(one.constant)]};
    }
    for (std::size_t at = 0; at < inputs.size(); ++at) known[graph.inputs[at]] = inputs[at];
    for (network::node const& node : graph.nodes) {
        reference::operands operands;
        for (network::tensor_id const id : node.inputs) operands.push_back(id == network::no_tensor ? nullptr : &known.at(id));
        auto const function = function_of(node);
        try {
            auto results = function(graph, node, operands);
            for (std::size_t at = 0; at < results.size(); ++at) known[node.outputs[at]] = std::move(results[at]);
        } catch (not_covered const& error) {
            throw not_covered(node.operation + ": " + error.what());
        }
    }
    std::vector<elements> made;
    for (network::tensor_id const id : graph.outputs) made.push_back(known.at(id));
    return made;
}

/// What is different, or nothing. @param relative  how far a float may be off
std::string difference(elements const& got, elements const& expected, double relative) {
    if (got.type != expected.type)
        return "elements are " + std::string(network::name_of(got.type)) + ", not " + std::string(network::name_of(expected.type));
    if (got.extents != expected.extents) return "other extents";
    if (got.bytes.size() != expected.bytes.size()) return "other bytes than the extents need";
    bool const exact = expected.type != network::element_type::float32 && expected.type != network::element_type::float64;
    auto const is = reference::reals_of(got), should = reference::reals_of(expected);
    auto const width = static_cast<std::size_t>(network::bytes_of(got.type));
    for (std::size_t at = 0; at < is.size(); ++at) {
        auto const byte = got.bytes.begin() + static_cast<std::ptrdiff_t>(at * width);
        bool same = std::equal(byte, byte + static_cast<std::ptrdiff_t>(width), expected.bytes.begin() + (byte - got.bytes.begin()));
        if (!exact) {
            same = same || is[at] == should[at] || (std::isnan(is[at]) && std::isnan(should[at])) ||
                   std::abs(is[at] - should[at]) <= 1e-6 + relative * std::abs(should[at]);
        }
        if (!same) return "element " + std::to_string(at) + ": expected " + std::to_string(should[at]) + ", got " + std::to_string(is[at]);
    }
    return {};
}

/// What is wrong, or nothing. @throws not_covered, model_error
std::string judge(fs::path const& test) {
    auto const graph = network::read_onnx(test / "model.onnx");
    for (network::node const& node : graph.nodes) function_of(node);
    fs::path const data = test / "test_data_set_0";
    auto const inputs = read_tensors(data, "input_", graph.inputs.size()), outputs = read_tensors(data, "output_", graph.outputs.size());
    auto const made = run(graph, inputs);
    // What stands beside windows of cosines was computed with 3.1415; ONNX's own limit is wide enough for that.
    double const relative = test.filename().string().find("window") != std::string::npos ? 1e-3 : 1e-5;
    for (std::size_t at = 0; at < outputs.size(); ++at) {
        std::string const found = difference(made[at], outputs[at], relative);
        if (!found.empty()) return "output " + std::to_string(at) + ", " + found;
    }
    return {};
}

}  // namespace

int main(int count, char** arguments) {
    std::string const folder = count > 1 ? arguments[1] : "/usr/share/libonnx-testdata/data/node";
    int const least = count > 2 ? std::atoi(arguments[2]) : 1;
    std::string const part = count > 3 ? arguments[3] : "";
    auto const table = reference::onnx_operators();
    auto const before = [](auto const& a, auto const& b) { return a.name < b.name; };
    if (!std::is_sorted(table.begin(), table.end(), before)) {
        std::cout << "the table is not sorted by name\n";
        return 1;
    }
    std::vector<fs::path> tests;
    for (auto const& one : fs::recursive_directory_iterator(folder)) {
        if (one.path().filename().string().find(part) != std::string::npos && fs::exists(one.path() / "test_data_set_0"))
            tests.push_back(one.path());
    }
    std::sort(tests.begin(), tests.end());
    int passed = 0, uncovered = 0, failed = 0;
    for (fs::path const& test : tests) {
        std::string const name = test.filename().string();
        try {
            std::string const wrong = judge(test);
            ++(wrong.empty() ? passed : failed);
            if (!wrong.empty()) std::cout << "FAILED " << name << ": " << wrong << '\n';
        } catch (not_covered const& error) {
            ++uncovered;
            std::cout << "not covered " << name << ": " << error.what() << '\n';
        } catch (network::model_error const& error) {
            ++uncovered;
            std::cout << "not read " << name << ": " << error.what() << '\n';
        } catch (std::exception const& error) {
            ++failed;
            std::cout << "FAILED " << name << ": " << error.what() << '\n';
        }
    }
    std::cout << "reference: passed=" << passed << " not_covered=" << uncovered << " failed=" << failed << '\n';
    return failed > 0 || passed < least ? 1 : 0;
}
