#pragma once
#include <cmath>
#include <cstdio>
#include <cstring>
#include <tilewright/base/label_text.hpp>
#include <tilewright/import/layers.hpp>
#include <tilewright/reference/network.hpp>
#include <tilewright/report/table.hpp>

// Compares what kernels made with what a reference computes, node by node. A node's operands are what kernels made of them, where a kernel
// did: so a difference stands where it arises, and not at all that follows from it.
namespace tilewright::imported {

/// What a reference says of one result of a node.
struct checked_result {
    enum verdict_of { equals, within_a_step, nearly_equal, different, not_checked, inside_a_kernel };

    std::string node;    ///< its number and its operator
    std::string tensor;  ///< the model's name of the result
    std::string kernel;  ///< that made it, or all that made parts of it; empty where none did by itself
    verdict_of verdict = inside_a_kernel;
    std::int64_t elements = 0, apart = 0;  ///< that were compared, and that differ
    double furthest = 0;                   ///< of floats: the largest difference as a part of the largest element
    std::string why = {};                  ///< the first difference, or why it is not checked
};

namespace detail {

/// The elements of a view of a stored tensor, row by row.
inline reference::elements gathered(view const& of, std::vector<std::byte> const& from, network::element_type type) {
    reference::elements made{type, of.shape(), {}};
    std::vector<std::int64_t> const stored = reference::strides_of(of.of.extents);
    auto const along = [&](std::vector<std::int64_t> const& steps) {
        std::int64_t elements = 0;
        for (std::size_t at = 0; at < stored.size(); ++at) elements += steps[at] * stored[at];
        return elements;
    };
    std::vector<std::int64_t> extents, steps;
    for (factors const& dimension : of.dimensions) {
        for (factor const& one : dimension) extents.push_back(one.extent), steps.push_back(along(one.steps));
    }
    auto const size = static_cast<std::size_t>(bytes_of(of.type()));
    made.bytes.reserve(static_cast<std::size_t>(of.elements()) * size);
    for (auto const place : reference::walk<std::size_t>(extents, along(of.first), steps)) {
        auto const first = from.begin() + static_cast<std::ptrdiff_t>(place * size);
        made.bytes.insert(made.bytes.end(), first, first + static_cast<std::ptrdiff_t>(size));
    }
    return made;
}

inline std::string coordinates(std::size_t place, std::vector<std::int64_t> const& extents) {
    std::string text;
    for (std::size_t at = extents.size(); at-- > 0; place /= static_cast<std::size_t>(extents[at]))
        text = std::to_string(place % static_cast<std::size_t>(extents[at])) + (text.empty() ? "" : ", ") + text;
    return "[" + text + "]";
}

inline std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

/// A walk through the nodes of a network with the elements of its tensors.
class layer_checker {
  public:
    layer_checker(network::graph const& graph, layers const& network, made_tensors const& made)
        : graph_(graph), network_(network), made_(made), values_(graph.tensors.size()), rounded_(graph.tensors.size(), false) {
        for (known_tensor const& one : network.constants) constants_[one.what.name.str()] = &one;
    }
    /// @param bytes  as kernels have them: floats of 16 bits are float32
    void give_input(network::tensor_id id, std::vector<std::byte> const& bytes) {
        values_[index(id)] = reference::elements{network::computed_type(tensor(id).type), network::usual_extents(tensor(id)), bytes};
    }
    void check(std::size_t at, reference::node_reference const& reference, std::vector<checked_result>& all) {
        network::node const& node = graph_.nodes[at];
        std::vector<reference::elements> expected;
        std::string why;
        try {
            expected = reference(graph_, node, operands_of(node));
            for (reference::elements& one : expected) reference::widen(one);
        } catch (std::exception const& error) {
            why = error.what();
        }
        bool const was_rounded = rounds(node);
        for (std::size_t output = 0; output < node.outputs.size(); ++output) {
            network::tensor_id const id = node.outputs[output];
            if (id == network::no_tensor) continue;
            checked_result one{"node " + std::to_string(at) + " (" + node.operation + ")", network::printable(tensor(id).name), {}};
            bool const is_known = output < expected.size();
            std::optional<reference::elements> ours = made_of(id, is_known ? expected[output].type : tensor(id).type, one.kernel);
            if (!is_known) one.verdict = checked_result::not_checked, one.why = why.empty() ? "the reference gives no such result" : why;
            else if (ours) compare(expected[output], *ours, was_rounded, one);
            if (ours) values_[index(id)] = std::move(ours);
            else if (is_known) values_[index(id)] = std::move(expected[output]), rounded_[index(id)] = was_rounded;
            all.push_back(std::move(one));
        }
    }

  private:
    static std::size_t index(network::tensor_id id) { return static_cast<std::size_t>(id); }
    network::tensor const& tensor(network::tensor_id id) const { return graph_.tensors[index(id)]; }

    /// @throws reference::not_covered  where one is not known
    reference::operands operands_of(network::node const& node) {
        reference::operands made;
        for (network::tensor_id const id : node.inputs) {
            if (id == network::no_tensor) {
                made.push_back(nullptr);
                continue;
            }
            if (!values_[index(id)] && tensor(id).constant != network::no_constant)
                values_[index(id)] =
                    reference::elements{tensor(id).type, network::usual_extents(tensor(id)), graph_.at(tensor(id).constant)};
            // Kernels have floats of 16 bits as float32. What becomes one is judged as it is.
            if (values_[index(id)] && node.operation != "Cast") reference::widen(*values_[index(id)]);
            if (!values_[index(id)]) throw reference::not_covered("its operand " + std::to_string(made.size()) + " is not known");
            made.push_back(&*values_[index(id)]);
        }
        return made;
    }
    /// Whether a node of ONNX makes integers of reals, which may lie in the middle between two; or moves such, which no kernel has made.
    bool rounds(network::node const& node) const {
        bool made = false;
        for (network::tensor_id const id : node.inputs) made = made || (id != network::no_tensor && rounded_[index(id)]);
        bool const quantises = node.operation.find("QuantizeLinear") != std::string::npos || node.operation.starts_with("QLinear") ||
                               node.operation == "QGemm";
        return made || (graph_.format == "onnx" && quantises && node.operation != "DequantizeLinear");
    }
    /// The kernels that made something of a view.
    std::string makers_of(view const& of) const {
        std::vector<std::string> makers;
        for (layer const& one : network_.all) {
            if (one.nodes.back().name == of.of.name && box_made_by(one).meets(box_around(of))) makers.push_back(one.name.str());
        }
        std::string text = makers.empty() ? of.of.name.str() : makers[0];
        if (makers.size() > 3) return text + " and " + std::to_string(makers.size() - 1) + " others";
        for (std::size_t at = 1; at < makers.size(); ++at) text += ", " + makers[at];
        return text;
    }
    /// What a kernel made of a tensor, or what the importer knew of it.
    std::optional<reference::elements> made_of(network::tensor_id id, network::element_type type, std::string& kernel) const {
        if (index(id) >= network_.tensors.size() || !network_.tensors[index(id)]) return std::nullopt;
        view const& where = *network_.tensors[index(id)];
        std::string const name = where.of.name.str();
        type = network::computed_type(type);
        // Where neither the model nor the reference says it, a byte is no truth.
        for (int at = 1; type == network::element_type::unknown && at < static_cast<int>(network::element_type::boolean); ++at) {
            if (type_of(network::element_type(at)) == where.type()) type = network::element_type(at);
        }
        if (type_of(type) != where.type()) return std::nullopt;
        if (auto const found = made_.find(name); found != made_.end()) {
            kernel = makers_of(where);
            return gathered(where, found->second, type);
        }
        if (auto const found = constants_.find(name); found != constants_.end()) {
            if (found->second->what.extents != where.of.extents) return std::nullopt;  // kernels read a part of it
            kernel = "constant";
            return gathered(where, found->second->bytes, type);
        }
        return std::nullopt;
    }
    static void compare(reference::elements const& expected, reference::elements const& got, bool rounded, checked_result& into) {
        into.elements = reference::count_of(expected.extents);
        if (expected.extents != got.extents) {
            into.verdict = checked_result::different;
            into.why = "expected the shape " + text_of(expected.extents) + ", got " + text_of(got.extents);
            return;
        }
        using network::element_type;
        bool const floats = expected.type == element_type::float32 || expected.type == element_type::float64;
        auto const size = static_cast<std::size_t>(network::bytes_of(expected.type));
        bool const steps = rounded && !floats && size <= 2;
        std::vector<double> const should = reference::reals_of(expected), is = reference::reals_of(got);
        double largest = 0;
        for (double const one : should) largest = std::isfinite(one) ? std::max(largest, std::abs(one)) : largest;
        into.verdict = checked_result::equals;
        for (std::size_t at = 0; at < should.size(); ++at) {
            bool const same_number = floats && (should[at] == is[at] || (std::isnan(should[at]) && std::isnan(is[at])));
            if (same_number || std::memcmp(&expected.bytes[at * size], &got.bytes[at * size], size) == 0) continue;
            ++into.apart;
            double const apart = std::abs(should[at] - is[at]);
            bool const near = floats ? apart <= 1e-4 * std::abs(should[at]) + 1e-5 * largest : steps && apart <= 1;
            if (floats && std::isfinite(apart)) into.furthest = std::max(into.furthest, apart / std::max(largest, 1e-300));
            if (near && into.verdict == checked_result::equals)
                into.verdict = floats ? checked_result::nearly_equal : checked_result::within_a_step;
            if (near || into.verdict == checked_result::different) continue;
            into.verdict = checked_result::different;
            into.why = "at " + coordinates(at, expected.extents) + " expected " + number_text(should[at]) + ", got " + number_text(is[at]);
        }
    }

    network::graph const& graph_;
    layers const& network_;
    made_tensors const& made_;
    std::vector<std::optional<reference::elements>> values_;
    std::vector<bool> rounded_;
    std::map<std::string, known_tensor const*> constants_ = {};
};

}  // namespace detail

/// Compares each result of a network with a reference, in the order of its nodes. Integers are equal, or, where ONNX makes them of reals,
/// one step apart. Floats differ by at most 1e-4 of themselves and 1e-5 of the largest one.
///
/// @param graph    the network as its file has it
/// @param network  what was made of it: `layers_of(graph)`
/// @param inputs   the bytes of its inputs, row by row, as the network has them, and what kernels made of them: see `emulated_network`
inline std::vector<checked_result> check_layers(network::graph const& graph, layers const& network,
                                                std::vector<std::vector<std::byte>> const& inputs, made_tensors const& made,
                                                reference::node_reference const& reference = reference::results_of) {
    network::graph const read = network::without_unread_results(graph);
    detail::layer_checker walk(read, network, made);
    for (std::size_t at = 0; at < read.inputs.size(); ++at) walk.give_input(read.inputs[at], inputs.at(at));
    std::vector<checked_result> all;
    for (std::size_t at = 0; at < read.nodes.size(); ++at) walk.check(at, reference, all);
    return all;
}

inline bool all_agree(std::vector<checked_result> const& all) {
    return std::none_of(all.begin(), all.end(), [](checked_result const& one) { return one.verdict == checked_result::different; });
}

/// A line for each result, and a sentence: how much was compared, and the first difference.
inline std::string check_table(std::vector<checked_result> const& all) {
    using enum reports::table::side;
    reports::table rows({left, left, left, right, left});
    rows.add({"kernel", "node", "result", "elements", "reference"});
    std::int64_t compared = 0, inside = 0, unknown = 0;
    checked_result const* first = nullptr;
    for (checked_result const& one : all) {
        std::string said;
        switch (one.verdict) {
            case checked_result::equals: said = "equal"; break;
            case checked_result::within_a_step: said = reports::percent(one.apart, one.elements) + " are one step apart"; break;
            case checked_result::nearly_equal:
                said = "nearly equal, within " + detail::number_text(one.furthest) + " of the largest";
                break;
            case checked_result::different:
                said = "DIFFERENT " + one.why + (one.apart > 1 ? "; " + reports::grouped(one.apart) + " differ" : "");
                if (first == nullptr) first = &one;
                break;
            case checked_result::not_checked: said = "not checked: " + one.why; break;
            case checked_result::inside_a_kernel: said = "a part of another kernel"; break;
        }
        ++(one.verdict == checked_result::not_checked ? unknown : one.verdict == checked_result::inside_a_kernel ? inside : compared);
        rows.add(
            {one.kernel.empty() ? "-" : one.kernel, one.node, one.tensor, one.elements > 0 ? reports::grouped(one.elements) : "-", said});
    }
    std::string text = rows.str() + std::to_string(compared) + " of " + std::to_string(all.size()) + " results compared, " +
                       std::to_string(inside) + " are parts of other kernels, " + std::to_string(unknown) + " not checked: ";
    if (first == nullptr) return text + "no difference\n";
    return text + "the first difference is in " + first->kernel + ", " + first->node + ", `" + first->tensor + "`, " + first->why + "\n";
}

}  // namespace tilewright::imported
