// The reference of ONNX's operators beside the tests of the ONNX project: each model whose operators have a reference is run on the inputs
// that the project gives, and must give its outputs. Then nodes that are worked out by hand. `reference_onnx FOLDER LEAST [PART]`: as many
// as LEAST have to pass; with PART, only tests whose name has it.
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
/// Tensors as the reference takes and gives them: floats of 16 bits are float32. The project's files call bfloat16 uint16; the model knows.
std::vector<elements> read_tensors(fs::path const& folder, std::string const& name, network::graph const& graph,
                                   std::vector<network::tensor_id> const& all) {
    std::vector<elements> made;
    for (std::size_t at = 0; at < all.size(); ++at) {
        elements one = read_tensor(folder / (name + std::to_string(at) + ".pb"));
        if (network::is_half(graph.at(all[at]).type)) one.type = graph.at(all[at]).type;
        reference::widen(one);
        made.push_back(std::move(one));
    }
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
        elements& constant = known[network::tensor_id(at)];
        constant = {one.type, extents, graph.constants[static_cast<std::size_t>(one.constant)]};
        reference::widen(constant);
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
    auto const inputs = read_tensors(data, "input_", graph, graph.inputs), outputs = read_tensors(data, "output_", graph, graph.outputs);
    auto const made = run(graph, inputs);
    // What stands beside windows of cosines was computed with 3.1415; ONNX's own limit is wide enough for that.
    double const relative = test.filename().string().find("window") != std::string::npos ? 1e-3 : 1e-5;
    for (std::size_t at = 0; at < outputs.size(); ++at) {
        // The project cuts floats to bfloat16.
        bool const cut = graph.at(graph.outputs[at]).type == network::element_type::bfloat16;
        std::string const found = difference(made[at], outputs[at], cut ? 0x1p-7 : relative);
        if (!found.empty()) return "output " + std::to_string(at) + ", " + found;
    }
    return {};
}

/// A node whose results are worked out by hand: of operators and versions that the project's tests do not have.
struct small_case {
    std::string operation = {};
    std::int64_t version = 21;
    std::vector<network::attribute> attributes = {};
    std::vector<elements> given = {}, expected = {};
};
using numbers = std::vector<double>;
using integers = std::vector<std::int64_t>;

std::vector<small_case> small_cases() {
    using of = network::element_type;
    auto const floats = [](integers const& extents, numbers const& values) { return reference::of_reals(of::float32, extents, values); };
    auto const indices = [](integers const& values) {
        return reference::of_integers(of::int64, {static_cast<std::int64_t>(values.size())}, values);
    };
    auto const bytes = [](of type, integers const& extents, integers const& values) {
        return reference::of_integers(type, extents, values);
    };
    elements const one = floats({1}, {1});
    return {
        {"Gelu", 20, {}, {one}, {floats({1}, {0.8413447461})}},  // the normal distribution at 1
        {"Gelu", 20, {{"approximate", "tanh"}}, {one}, {floats({1}, {0.8411919906})}},
        {"Mish", 18, {}, {one}, {floats({1}, {0.8650983883})}},
        {"Swish", 24, {}, {one}, {floats({1}, {0.7310585786})}},
        {"LpPool", 18, {{"kernel_shape", integers{2}}}, {floats({1, 1, 3}, {3, -4, 0})}, {floats({1, 1, 2}, {5, 4})}},
        {"GlobalLpPool", 2, {{"p", std::int64_t{1}}}, {floats({1, 1, 4}, {-1, 2, 3, -4})}, {floats({1, 1, 1}, {10})}},
        {"GroupNormalization",
         21,
         {{"num_groups", std::int64_t{2}}, {"epsilon", 0.0f}},
         {floats({1, 2, 2}, {1, 3, 10, 14}), floats({2}, {2, 3}), floats({2}, {0, 1})},
         {floats({1, 2, 2}, {-2, 2, -2, 4})}},
        {"Split", 18, {{"num_outputs", std::int64_t{2}}}, {indices({1, 2, 3, 4, 5})}, {indices({1, 2, 3}), indices({4, 5})}},
        {"ReduceMax", 18, {{"keepdims", std::int64_t{0}}}, {floats({2, 2}, {1, 5, 7, 2}), indices({1})}, {floats({2}, {5, 7})}},
        {"Pad", 19, {{"mode", "wrap"}}, {indices({1, 2, 3}), indices({1, 2})}, {indices({3, 1, 2, 3, 1, 2})}},
        // The last window has one element, one of the padding, and reaches behind it.
        {"AveragePool",
         19,
         {{"kernel_shape", integers{3}},
          {"strides", integers{2}},
          {"pads", integers{1, 1}},
          {"ceil_mode", std::int64_t{1}},
          {"count_include_pad", std::int64_t{1}}},
         {floats({1, 1, 4}, {1, 2, 3, 4})},
         {floats({1, 1, 3}, {1, 3, 2})}},
        {"Resize",
         19,
         {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel_symmetric"}},
         {floats({4}, {1, 2, 3, 4}), floats({0}, {}), floats({1}, {0.6})},
         {floats({2}, {5.0 / 3, 10.0 / 3})}},
        {"QuantizeLinear",
         13,
         {},
         {floats({6}, {0.5, 1.5, 2.5, -0.5, 300, -300}), one, bytes(of::int8, {1}, {0})},
         {bytes(of::int8, {6}, {0, 2, 2, 0, 127, -128})}},
        // Sums of 10 * 2 + 4 and 10 * -4; multipliers of 0.5 and 1.
        {"QLinearConv",
         13,
         {},
         {bytes(of::uint8, {1, 1, 1}, {13}), floats({}, {0.5}), bytes(of::uint8, {}, {3}), bytes(of::int8, {2, 1, 1}, {2, -4}),
          floats({2}, {0.25, 0.5}), bytes(of::int8, {2}, {0, 0}), floats({}, {0.25}), bytes(of::int8, {}, {1}),
          bytes(of::int32, {2}, {4, 0})},
         {bytes(of::int8, {1, 2, 1}, {13, -39})}},
    };
}

/// What is wrong, or nothing.
std::string judge(small_case const& of) {
    network::graph graph;
    network::node node{.operation = of.operation, .version = of.version, .attributes = of.attributes};
    reference::operands operands;
    for (elements const& one : of.given) operands.push_back(&one);
    for (std::size_t at = 0; at < of.expected.size(); ++at) node.outputs.push_back(network::tensor_id(at));
    auto const made = function_of(node)(graph, node, operands);
    for (std::size_t at = 0; at < made.size(); ++at) {
        std::string const found = difference(made[at], of.expected[at], 1e-6);
        if (!found.empty()) return "output " + std::to_string(at) + ", " + found;
    }
    return {};
}

/// What became of all tests.
struct counts {
    int passed = 0, uncovered = 0, failed = 0;

    /// @param judged  gives what is wrong, or nothing
    template <class Judge>
    void add(std::string const& name, Judge const& judged) {
        try {
            std::string const wrong = judged();
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
};

}  // namespace

int main(int count, char** arguments) {
    std::string const folder = count > 1 ? arguments[1] : "/usr/share/libonnx-testdata/data";
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
    counts of;
    for (fs::path const& test : tests) of.add(test.filename().string(), [&] { return judge(test); });
    if (part.empty()) {
        for (small_case const& one : small_cases()) of.add(one.operation + " by hand", [&] { return judge(one); });
    }
    std::cout << "reference: passed=" << of.passed << " not_covered=" << of.uncovered << " failed=" << of.failed << '\n';
    return of.failed > 0 || of.passed < least ? 1 : 0;
}
