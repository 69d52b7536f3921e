// Runs networks of TensorFlow Lite by the reference of their operators, node by node, and compares every byte of their results.
// `reference_tflite FOLDER`: for each NAME.tflite there, NAME.in has the bytes of all inputs, of one run after the other, and NAME.out
// those of all outputs. Models with NAME.refused beside them are left out: what is refused has no results.
#include <tilewright/reference/tflite.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tilewright/network/file_bytes.hpp>
#include <tilewright/network/tflite.hpp>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace tilewright;
using reference::elements;

std::vector<std::int64_t> extents_of(network::tensor const& of) {
    std::vector<std::int64_t> made;
    for (network::dimension const& along : of.shape.value()) made.push_back(along.extent.value_or(along.usual));
    return made;
}
/// Cuts the next tensor off what a file has.
elements cut(network::tensor const& of, std::vector<std::byte> const& all, std::size_t& at) {
    elements made{of.type, extents_of(of), {}};
    auto const size = static_cast<std::size_t>(reference::count_of(made.extents) * network::bytes_of(of.type));
    if (at + size > all.size()) throw std::runtime_error("a run has too few bytes");
    made.bytes.assign(all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size;
    return made;
}

/// Integers are the same to the bit; floats are sums in any order, so that a small one may be the difference of large ones.
///
/// @throws std::runtime_error  where they differ
void compare(network::tensor const& of, elements const& got, elements const& expected) {
    if (got.type != expected.type || got.bytes.size() != expected.bytes.size())
        throw std::runtime_error(of.name + ": another type or size");
    auto const differs = [&](std::size_t at, auto is, auto should) {
        throw std::runtime_error(of.name + ", element " + std::to_string(at) + ": expected " + std::to_string(should) + ", got " +
                                 std::to_string(is));
    };
    if (of.type == network::element_type::float32) {
        std::vector<double> const is = reference::reals_of(got), should = reference::reals_of(expected);
        double largest = 0;
        for (double const one : should) largest = std::max(largest, std::abs(one));
        for (std::size_t at = 0; at < is.size(); ++at) {
            if (!(std::abs(is[at] - should[at]) <= 1e-6 + 1e-4 * largest)) differs(at, is[at], should[at]);
        }
    } else {
        std::vector<std::int64_t> const is = reference::integers_of(got), should = reference::integers_of(expected);
        for (std::size_t at = 0; at < is.size(); ++at) {
            if (is[at] != should[at]) differs(at, is[at], should[at]);
        }
    }
}

std::size_t runs = 0, nodes = 0, compared = 0;
std::map<std::string, std::size_t> covered;  ///< nodes that were computed, of each operator

reference::operator_function function_of(std::string const& operation) {
    for (reference::operator_entry const& one : reference::tflite_operators()) {
        if (one.name == operation) return one.compute;
    }
    throw reference::not_covered(operation);
}

/// Computes all nodes of a network; `values` has its inputs and constants.
void compute(network::graph const& graph, std::vector<elements>& values) {
    for (network::node const& node : graph.nodes) {
        reference::operands given;
        for (network::tensor_id const id : node.inputs)
            given.push_back(id == network::no_tensor ? nullptr : &values[static_cast<std::size_t>(id)]);
        std::vector<elements> made = function_of(node.operation)(graph, node, given);
        if (made.size() != node.outputs.size()) throw std::runtime_error(node.operation + ": another number of results");
        for (std::size_t at = 0; at < made.size(); ++at) {
            auto const id = static_cast<std::size_t>(node.outputs[at]);
            if (made[at].extents != extents_of(graph.tensors[id]) || made[at].type != graph.tensors[id].type)
                throw std::runtime_error(node.operation + ": a result of other extents, or of another type, than the model says");
            values[id] = std::move(made[at]);
        }
        ++nodes;
        ++covered[node.operation];
    }
}

/// Compares one model. @throws std::runtime_error  what is wrong
void check(fs::path const& file) {
    network::graph const graph = network::read_tflite(file);
    fs::path beside = file;
    std::vector<std::byte> const given = network::read_bytes(beside.replace_extension(".in"));
    std::vector<std::byte> const wanted = network::read_bytes(beside.replace_extension(".out"));
    std::vector<elements> values(graph.tensors.size());
    for (std::size_t at = 0; at < values.size(); ++at) {
        network::tensor const& one = graph.tensors[at];
        if (one.constant == network::no_constant) continue;
        values[at] = {one.type, extents_of(one), graph.constants[static_cast<std::size_t>(one.constant)]};
    }
    // What is kept is 0 before the first run.
    for (network::kept_tensor const& one : graph.kept) {
        network::tensor const& before = graph.tensors[static_cast<std::size_t>(one.before)];
        elements& zeros = values[static_cast<std::size_t>(one.before)] = {before.type, extents_of(before), {}};
        zeros.bytes.resize(static_cast<std::size_t>(reference::count_of(zeros.extents) * network::bytes_of(before.type)));
    }
    std::size_t in_at = 0, out_at = 0;
    while (in_at < given.size()) {
        for (network::tensor_id const id : network::passed_inputs(graph)) {
            auto const at = static_cast<std::size_t>(id);
            values[at] = cut(graph.tensors[at], given, in_at);
        }
        compute(graph, values);
        for (network::tensor_id const id : network::passed_outputs(graph)) {
            auto const at = static_cast<std::size_t>(id);
            elements const expected = cut(graph.tensors[at], wanted, out_at);
            compare(graph.tensors[at], values[at], expected);
            compared += expected.bytes.size();
        }
        for (network::kept_tensor const& one : graph.kept)
            values[static_cast<std::size_t>(one.before)] = values[static_cast<std::size_t>(one.after)];
        ++runs;
    }
    if (out_at != wanted.size() || in_at == 0) throw std::runtime_error("inputs and outputs of different numbers of runs");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return std::cerr << "usage: reference_tflite FOLDER\n", 2;
    std::set<fs::path> models;
    for (auto const& one : fs::directory_iterator(arguments[1])) {
        fs::path reasons = one.path();
        if (one.path().extension() == ".tflite" && !fs::exists(reasons.replace_extension(".refused"))) models.insert(one.path());
    }
    std::size_t failed = 0;
    auto const fail = [&](std::string const& what) {
        std::cout << "FAILED " << what << '\n';
        ++failed;
    };
    for (fs::path const& one : models) {
        try {
            check(one);
        } catch (reference::not_covered const& error) {
            fail(one.stem().string() + ": not covered: " + error.what());
        } catch (std::exception const& error) {
            fail(one.stem().string() + ": " + error.what());
        }
    }
    auto const table = reference::tflite_operators();
    if (!std::is_sorted(table.begin(), table.end(), [](auto const& a, auto const& b) { return a.name < b.name; }))
        fail("the table is not sorted");
    for (reference::operator_entry const& one : table) {
        if (!covered.contains(std::string(one.name))) fail(std::string(one.name) + " has no case");
    }
    std::cout << models.size() << " models, " << nodes << " nodes of " << covered.size() << " operators, " << runs << " runs, " << compared
              << " bytes compared, failed: " << failed << '\n';
    return failed > 0 || models.empty() ? 1 : 0;
}
