#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <tilewright/import/attributes.hpp>
#include <tilewright/import/operator_entry.hpp>
#include <type_traits>
#include <utility>
#include <vector>

// The form in which exporters write quantised networks: an operator of floats between DequantizeLinear and QuantizeLinear. Such a group is
// rewritten to one operator of integers.
namespace tilewright::imported {

namespace detail {

/// Groups of a graph, and what becomes of them. Nodes keep their positions: one that others have replaced has no operation.
class quantised_pairs {
  public:
    /// @param is_known  whether a node is one that is imported, with its opset and its attributes: others stay as they are
    quantised_pairs(network::graph const& graph, std::vector<bool> is_known)
        : made_(graph), is_known_(std::move(is_known)), source_(graph.tensors.size(), -1), uses_(graph.tensors.size()) {
        for (std::size_t at = 0; at < made_.nodes.size(); ++at) {
            for (network::tensor_id const one : made_.nodes[at].outputs) {
                if (one != network::no_tensor) source_[index(one)] = static_cast<int>(at);
            }
            for (network::tensor_id const one : made_.nodes[at].inputs) {
                if (one != network::no_tensor) ++uses_[index(one)];
            }
        }
        for (network::tensor_id const one : made_.outputs) ++uses_[index(one)];
    }

    network::graph rewritten() {
        for (std::size_t at = 0; at < made_.nodes.size(); ++at) {
            if (is(made_.nodes[at], "QuantizeLinear")) rewrite(at);
        }
        leave_out_unused();
        return std::move(made_);
    }

  private:
    /// Scales and zero points that are constants: one, or one for each index along `axis`.
    struct levels {
        network::tensor_id integers = network::no_tensor;
        network::element_type type = network::element_type::unknown;
        std::vector<float> scales = {};
        std::vector<std::int64_t> zeros = {};  ///< as many
        std::int64_t axis = 0;
        std::vector<network::node*> moved = {};  ///< from the operand back to the integers: what moves elements between them

        bool is_one() const { return scales.size() == 1; }
    };
    using bytes = std::vector<std::byte>;
    struct known {
        network::element_type type = network::element_type::unknown;
        std::vector<std::int64_t> extents = {};
        bytes const* elements = nullptr;
    };

    static std::size_t index(network::tensor_id id) { return static_cast<std::size_t>(id); }
    bool is(network::node const& one, std::string_view operation) const {
        return one.domain.empty() && one.operation == operation && is_known_[static_cast<std::size_t>(&one - made_.nodes.data())];
    }
    static bool is_byte(network::element_type type) { return type == network::element_type::int8 || type == network::element_type::uint8; }
    static bool has(network::node const& of, std::size_t operand) {
        return operand < of.inputs.size() && of.inputs[operand] != network::no_tensor;
    }
    /// The only result of a node.
    static network::tensor_id result_of(network::node const& of) {
        for (std::size_t at = 1; at < of.outputs.size(); ++at) {
            if (of.outputs[at] != network::no_tensor) return network::no_tensor;
        }
        return of.outputs.empty() ? network::no_tensor : of.outputs[0];
    }
    network::node* source(network::tensor_id id) {
        return id == network::no_tensor || source_[index(id)] < 0 ? nullptr : &made_.nodes[static_cast<std::size_t>(source_[index(id)])];
    }
    std::optional<known> known_of(network::tensor_id id) {
        network::tensor const& one = made_.tensors[index(id)];
        if (one.constant != network::no_constant) {
            known made{one.type, {}, &made_.constants[static_cast<std::size_t>(one.constant)]};
            for (network::dimension const& extent : *one.shape) made.extents.push_back(*extent.extent);
            return made;
        }
        network::node const* const from = source(id);
        auto const found = from != nullptr && is(*from, "Constant") ? setting<network::literal>(*from, "value") : std::nullopt;
        if (!found || found->constant == network::no_constant) return std::nullopt;
        return known{found->type, found->extents, &made_.constants[static_cast<std::size_t>(found->constant)]};
    }
    static std::optional<std::vector<std::int64_t>> integers_of(known const& of) {
        if (!is_byte(of.type) && of.type != network::element_type::int32) return std::nullopt;
        return lowering::integers_of(type_of(of.type), *of.elements);
    }
    /// What a QuantizeLinear or a DequantizeLinear says of its integers.
    std::optional<levels> levels_of(network::node const& of) {
        if (!has(of, 0) || !has(of, 1) || integer(of, "block_size", 0) != 0 || integer(of, "output_dtype", 0) != 0) return std::nullopt;
        bool const makes_floats = is(of, "DequantizeLinear");
        levels made{.integers = makes_floats ? of.inputs[0] : result_of(of), .axis = integer(of, "axis", 1)};
        auto const scales = known_of(of.inputs[1]);
        if (made.integers == network::no_tensor || !scales || scales->type != network::element_type::float32 || scales->extents.size() > 1)
            return std::nullopt;
        made.scales = network::values_of<float>(*scales->elements);
        if (made.scales.empty()) return std::nullopt;
        for (float const one : made.scales) {
            if (!std::isnormal(one) || one < 0) return std::nullopt;
        }
        network::element_type const said = made_.tensors[index(made.integers)].type;
        if (has(of, 2)) {
            auto const zeros = known_of(of.inputs[2]);
            auto const values = zeros ? integers_of(*zeros) : std::nullopt;
            if (!values || zeros->extents.size() > 1 || values->size() != made.scales.size()) return std::nullopt;
            made.type = zeros->type, made.zeros = *values;
            if (said != network::element_type::unknown && said != made.type) return std::nullopt;
        } else {
            made.type = makes_floats ? said : network::element_type::uint8;
            made.zeros.assign(made.scales.size(), 0);
        }
        return made;
    }
    /// The integers that a tensor of floats stands for.
    std::optional<levels> integers_behind(network::tensor_id floats) {
        network::node const* const from = source(floats);
        return from != nullptr && is(*from, "DequantizeLinear") ? levels_of(*from) : std::nullopt;
    }
    /// Likewise for an operand of a group, where operators that move elements may stand between. Then these become operators of integers as
    /// soon as the group is one: `add_operands` does that. What they would make of floats is what these integers stand for, bit by bit,
    /// since integers and what they stand for have the same order.
    std::optional<levels> integers_of_operand(network::tensor_id floats) {
        std::vector<network::node*> moved;
        for (network::node* one = inner_source(floats); one != nullptr && moves(*one); one = inner_source(floats)) {
            if (!reads_elements_everywhere(*one)) return std::nullopt;
            moved.push_back(one);
            floats = one->inputs[0];
        }
        auto made = integers_behind(floats);
        if (!made || moved.empty()) return made;
        if (!made->is_one() || !is_byte(made->type) || !std::isfinite(made->scales[0] * 256.0F)) return std::nullopt;
        made->moved = std::move(moved);
        return made;
    }
    /// Operators whose results are elements that they are given.
    bool moves(network::node const& one) const {
        static constexpr std::string_view all[] = {"DepthToSpace", "Expand",    "Flatten",  "GlobalMaxPool", "Identity",
                                                   "MaxPool",      "Reshape",   "Slice",    "SpaceToDepth",  "Squeeze",
                                                   "Tile",         "Transpose", "Unsqueeze"};
        return has(one, 0) && std::any_of(std::begin(all), std::end(all), [&](std::string_view name) { return is(one, name); });
    }
    /// Whether each window of a pool has an element in it. One without gives less than all floats, and of integers the lowest.
    bool reads_elements_everywhere(network::node const& one) const {
        if (!is(one, "MaxPool")) return true;
        auto const is_not = [](std::vector<std::int64_t> const& all, std::int64_t usual) {
            return std::any_of(all.begin(), all.end(), [&](std::int64_t given) { return given != usual; });
        };
        auto const kernel = setting<shape>(one, "kernel_shape").value_or(shape{}), pads = setting<shape>(one, "pads").value_or(shape{});
        bool const by_extents = setting<std::string>(one, "auto_pad").value_or("NOTSET").starts_with("SAME");
        if (!by_extents && integer(one, "ceil_mode", 0) == 0 && !is_not(pads, 0)) return true;
        if (kernel.empty() || is_not(setting<shape>(one, "dilations").value_or(shape{}), 1)) return false;
        for (std::size_t at = 0; at < pads.size(); ++at) {
            if (pads[at] >= kernel[at % kernel.size()]) return false;
        }
        return true;
    }
    /// The node that makes a tensor that one other node alone reads, and that is no output of the network.
    network::node* inner_source(network::tensor_id id) {
        if (id == network::no_tensor || uses_[index(id)] != 1) return nullptr;
        network::node* const from = source(id);
        return from != nullptr && result_of(*from) == id ? from : nullptr;
    }

    template <class T>
    network::tensor_id constant(network::element_type type, std::vector<T> const& values, bool is_list) {
        bytes stored;
        for (T const one : values) {
            std::uint64_t word = 0;
            if constexpr (std::is_same_v<T, float>) word = std::bit_cast<std::uint32_t>(one);
            else word = static_cast<std::uint64_t>(one);
            network::append_bytes(stored, word, network::bytes_of(type));
        }
        network::tensor made{.type = type, .shape = network::tensor_shape{}};
        if (is_list) made.shape->push_back({static_cast<std::int64_t>(values.size())});
        made.constant = network::constant_id(made_.constants.size());
        made_.constants.push_back(std::move(stored));
        made_.tensors.push_back(std::move(made));
        source_.push_back(-1), uses_.push_back(0);
        return network::tensor_id(made_.tensors.size() - 1);
    }
    void add_operands(std::vector<network::tensor_id>& to, levels const& of, bool with_integers = true) {
        if (with_integers) to.push_back(of.moved.empty() ? of.integers : of.moved[0]->outputs[0]);
        if (with_integers && !of.moved.empty()) {
            auto operands = of.moved.back()->inputs;
            operands[0] = of.integers;
            set_operands(*of.moved.back(), operands, of.moved.back()->outputs[0]);
            for (network::node const* one : of.moved) made_.tensors[index(one->outputs[0])].type = of.type;
        }
        to.push_back(constant(network::element_type::float32, of.scales, !of.is_one()));
        to.push_back(constant(of.type, of.zeros, !of.is_one()));
    }
    void set_operands(network::node& of, std::vector<network::tensor_id> const& inputs, network::tensor_id output) {
        for (network::tensor_id const one : of.inputs) {
            if (one != network::no_tensor) --uses_[index(one)];
        }
        for (network::tensor_id const one : inputs) ++uses_[index(one)];
        of.inputs = inputs, of.outputs = {output};
        source_[index(output)] = static_cast<int>(&of - made_.nodes.data());
    }
    void remove(network::node& of) {
        for (network::tensor_id const one : of.inputs) {
            if (one != network::no_tensor) --uses_[index(one)];
        }
        of.operation.clear(), of.inputs.clear(), of.outputs.clear();
    }

    /// The group that ends with a QuantizeLinear, if it is one.
    void rewrite(std::size_t at) {
        network::node& last = made_.nodes[at];
        auto const result = levels_of(last);
        if (!result || !result->is_one() || !is_byte(result->type)) return;
        network::node* before = inner_source(last.inputs[0]);
        network::node* const relu = before != nullptr && is(*before, "Relu") ? before : nullptr;
        if (relu != nullptr) before = has(*relu, 0) ? inner_source(relu->inputs[0]) : nullptr;
        if (before == nullptr) return;
        bool const done = is(*before, "Conv") || is(*before, "Gemm") || is(*before, "MatMul") ? rewrite_product(*before, relu, *result)
                          : is(*before, "Add")                                                ? rewrite_sum(*before, relu, *result)
                                               : relu == nullptr && rewrite_moved(*before, *result);
        if (!done) return;
        remove(last);
        if (relu != nullptr) remove(*relu);
    }
    bool rewrite_product(network::node& product, network::node const* relu, levels const& result) {
        if (!has(product, 0) || !has(product, 1)) return false;
        bool const convolution = is(product, "Conv"), gemm = is(product, "Gemm"), turned = gemm && integer(product, "transB", 0) != 0;
        if (gemm &&
            (integer(product, "transA", 0) != 0 || real(product, "alpha", 1) != 1 || (has(product, 2) && real(product, "beta", 1) != 1)))
            return false;
        auto const x = integers_of_operand(product.inputs[0]), weights = integers_behind(product.inputs[1]);
        if (!x || !x->is_one() || !is_byte(x->type) || !weights || !is_byte(weights->type)) return false;
        auto const elements = known_of(weights->integers);
        if (!elements || elements->type != weights->type) return false;
        auto const rank = static_cast<std::int64_t>(elements->extents.size());
        if (convolution ? rank < 3 : rank != 2) return false;
        std::int64_t const axis = convolution || turned ? 0 : 1;
        std::int64_t const channels = elements->extents[static_cast<std::size_t>(axis)];
        if (!weights->is_one()) {
            if ((weights->axis + (weights->axis < 0 ? rank : 0)) != axis || static_cast<std::int64_t>(weights->scales.size()) != channels)
                return false;
            for (std::int64_t const one : weights->zeros) {
                if (one != 0) return false;
            }
        }
        for (float const one : weights->scales) {
            float const product_of_scales = x->scales[0] * one;
            if (!std::isnormal(product_of_scales) || !std::isnormal(product_of_scales / result.scales[0])) return false;
        }
        std::optional<levels> bias;
        std::vector<std::int64_t> biases(static_cast<std::size_t>(channels), 0);
        if (has(product, 2)) {
            bias = integers_behind(product.inputs[2]);
            auto const of_bias = bias ? known_of(bias->integers) : std::nullopt;
            if (!of_bias || of_bias->type != network::element_type::int32 || of_bias->extents != std::vector<std::int64_t>{channels} ||
                !has_scales_of_products(*bias, *x, *weights))
                return false;
            biases = *integers_of(*of_bias);
        }
        if (!fits_int32(*x, *weights, *elements, axis, biases)) return false;

        std::vector<network::tensor_id> operands;
        add_operands(operands, *x);
        // A list of zero points has zeros alone, and one of them says so.
        operands.push_back(weights->integers);
        operands.push_back(constant(network::element_type::float32, weights->scales, !weights->is_one()));
        operands.push_back(constant(weights->type, std::vector<std::int64_t>{weights->zeros[0]}, false));
        add_operands(operands, result, false);
        if (bias) operands.push_back(bias->integers);
        product.operation = convolution ? "QLinearConv" : "QLinearMatMul", product.domain = rewritten_domain;
        if (relu != nullptr) product.attributes.push_back({"relu", std::int64_t{1}});
        set_operands(product, operands, result.integers);
        return true;
    }
    /// Whether a bias counts in products of x and weights. Exporters compute its scale in float or in double.
    static bool has_scales_of_products(levels const& bias, levels const& x, levels const& weights) {
        std::size_t const count = std::max(bias.scales.size(), weights.scales.size());
        for (std::size_t at = 0; at < count; ++at) {
            double const wanted = static_cast<double>(x.scales[0]) * static_cast<double>(weights.scales[weights.is_one() ? 0 : at]);
            std::size_t const own = bias.is_one() ? 0 : at;
            if (std::abs(static_cast<double>(bias.scales[own]) - wanted) > 3e-7 * wanted || bias.zeros[own] != 0) return false;
        }
        return true;
    }
    static bool fits_int32(levels const& x, levels const& weights, known const& elements, std::int64_t axis,
                           std::vector<std::int64_t> const& biases) {
        std::int64_t const lowest = x.type == network::element_type::int8 ? -128 : 0;
        std::int64_t const most = std::max(lowest + 255 - x.zeros[0], x.zeros[0] - lowest);
        std::vector<std::int64_t> reach;
        for (std::int64_t const one : biases) reach.push_back(std::abs(one));
        each_along(elements.extents, static_cast<std::size_t>(axis), *integers_of(elements),
                   [&](std::size_t channel, std::int64_t weight) { reach[channel] += most * std::abs(weight - weights.zeros[0]); });
        return std::all_of(reach.begin(), reach.end(), [](std::int64_t one) { return one <= INT32_MAX; });
    }
    bool rewrite_sum(network::node& sum, network::node const* relu, levels const& result) {
        if (sum.version < 7 || !has(sum, 0) || !has(sum, 1)) return false;
        auto const a = integers_of_operand(sum.inputs[0]), b = integers_of_operand(sum.inputs[1]);
        if (!a || !b || !a->is_one() || !b->is_one() || !is_byte(a->type) || !is_byte(b->type)) return false;
        std::vector<network::tensor_id> operands;
        add_operands(operands, *a), add_operands(operands, *b), add_operands(operands, result, false);
        sum.operation = "QLinearAdd", sum.domain = rewritten_domain;
        if (relu != nullptr) sum.attributes.push_back({"relu", std::int64_t{1}});
        set_operands(sum, operands, result.integers);
        return true;
    }
    /// Operators that take elements as they are, where scale and zero point stay the same.
    bool rewrite_moved(network::node& last, levels const& result) {
        network::node* first = &last;
        if (!moves(last)) return false;
        while (network::node* const before = inner_source(first->inputs[0])) {
            if (!moves(*before)) break;
            first = before;
        }
        auto const x = integers_behind(first->inputs[0]);
        if (!x || x->type != result.type || x->scales != result.scales || x->zeros != result.zeros) return false;
        if (!std::isfinite(result.scales[0] * 256.0F)) return false;
        auto operands = first->inputs;
        operands[0] = x->integers;
        if (first == &last) return set_operands(last, operands, result.integers), true;
        set_operands(*first, operands, first->outputs[0]);
        set_operands(last, std::vector<network::tensor_id>(last.inputs), result.integers);
        return true;
    }
    /// Leaves out DequantizeLinear where groups alone have read it.
    void leave_out_unused() {
        for (std::size_t at = made_.nodes.size(); at-- > 0;) {
            network::node& one = made_.nodes[at];
            if (!is(one, "DequantizeLinear")) continue;
            auto const id = result_of(one);
            if (id != network::no_tensor && uses_[index(id)] == 0) remove(one);
        }
    }

    network::graph made_;
    std::vector<bool> is_known_;  ///< of each node
    std::vector<int> source_;     ///< of each tensor: the node that makes it, or -1
    std::vector<int> uses_;       ///< of each tensor: by operands and as an output of the network
};

}  // namespace detail

/// A graph of ONNX in which an operator of floats between DequantizeLinear and QuantizeLinear is one of integers:
///
/// - Conv, Gemm or MatMul with constant weights, and a bias of int32 that counts in products, is QLinearConv or QLinearMatMul of this
///   library's own. An attribute `relu` says that the result is at least the zero point; `transB` is that of Gemm, and operand 8 a bias.
/// - MaxPool, GlobalMaxPool, Reshape, Transpose, Slice and others that move elements are of the integers where scale and zero point stay
///   the same. They are, too, where they stand between DequantizeLinear and an operator of this list, and each result is read once.
/// - Add is QLinearAdd, of this library's own.
///
/// Scales and zero points have to be constants, and nothing else may read what is between the nodes of a group. Other nodes stay as they
/// are. Nodes keep their positions; one without an operation is part of another one.
///
/// @param operators  those that are imported; a node of another opset, or with other attributes, stays as it is
inline network::graph with_quantised_pairs(network::graph const& graph, std::span<operator_entry const> operators) {
    std::vector<bool> known;
    for (network::node const& one : graph.nodes) known.push_back(detail::has_known_settings(operators, one));
    return detail::quantised_pairs(graph, std::move(known)).rewritten();
}

}  // namespace tilewright::imported
