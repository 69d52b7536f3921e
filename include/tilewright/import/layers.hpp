#pragma once
#include <functional>
#include <map>
#include <stdexcept>
#include <tilewright/import/view.hpp>
#include <tilewright/network/graph.hpp>
#include <tilewright/network/model_error.hpp>

// A network as kernels: what operators make, and what a program is made of.
namespace tilewright::imported {

/// One kernel of one stage. Its tensors have the names that they have in the program.
struct layer {
    ir::label name;
    std::string node = {};  ///< of the model: "node 3 (`Conv`)"
    std::vector<ir::node> nodes = {};
};

/// A tensor whose elements are known, row by row, each little-endian.
struct known_tensor {
    stored what;
    std::vector<std::byte> bytes = {};
};

/// A network that can be planned.
struct layers {
    std::vector<layer> all = {};
    std::vector<known_tensor> constants = {};
    std::vector<stored> inputs = {}, outputs = {};  ///< in the order of the model's, named in0, in1, …, out0, …
    std::vector<std::string> refused = {};          ///< the operators that are not imported, a line each; then the rest is not to be used

    /// Whether a kernel reads a tensor.
    bool is_read(stored const& tensor) const {
        for (layer const& one : all) {
            for (ir::node const& node : one.nodes) {
                if (node.op == operation::access && node.name == tensor.name) return true;
            }
        }
        return false;
    }
};

/// Why one node cannot be imported; `what()` is the reason alone.
struct not_imported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The type of elements in the compute language. A boolean is a byte of 0 or 1.
inline scalar_type type_of(network::element_type type) {
    using from = network::element_type;
    switch (type) {
        case from::float32: return scalar_type::float32;
        case from::float64: return scalar_type::float64;
        case from::int8: return scalar_type::int8;
        case from::int16: return scalar_type::int16;
        case from::int32: return scalar_type::int32;
        case from::int64: return scalar_type::int64;
        case from::uint16: return scalar_type::uint16;
        case from::uint32: return scalar_type::uint32;
        case from::uint64: return scalar_type::uint64;
        case from::uint8:
        case from::boolean: return scalar_type::uint8;
        case from::unknown: break;
    }
    throw not_imported("the model does not say what the elements are");
}

/// The loops of a kernel: for each dimension of the result, an axis for each of its factors.
struct space {
    std::vector<std::vector<std::int64_t>> extents = {};
    std::vector<std::vector<value>> axes = {};

    /// The index along a dimension.
    value index(int dimension) const {
        auto const at = static_cast<std::size_t>(dimension);
        if (axes[at].empty()) return number(std::int64_t{0}, scalar_type::int32);
        value whole = axes[at][0];
        for (std::size_t part = 1; part < axes[at].size(); ++part) {
            whole = whole * number(extents[at][part], scalar_type::int32) + axes[at][part];
        }
        return whole;
    }
};

namespace detail {

inline value times(value const& index, std::int64_t by) { return by == 1 ? index : index * number(by, scalar_type::int32); }

/// A sum of indices that are not 0.
inline value total(std::vector<value> const& parts, std::int64_t constant) {
    std::optional<value> whole;
    for (value const& one : parts) whole = whole ? *whole + one : one;
    if (!whole) return number(constant, scalar_type::int32);
    return constant == 0 ? *whole : *whole + number(constant, scalar_type::int32);
}

}  // namespace detail

/// Loops over a shape whose dimensions have the factors of all of these views, which have that shape.
inline space loops_over(std::vector<view> const& all, std::vector<std::int64_t> const& shape) {
    space made;
    int axis = 0;
    for (std::size_t dimension = 0; dimension < shape.size(); ++dimension) {
        std::vector<std::int64_t> ends{1, shape[dimension]};
        for (view const& one : all) {
            std::int64_t inner = 1;
            auto const& parts = one.dimensions[dimension];
            for (std::size_t at = parts.size(); at-- > 0;) ends.push_back(inner *= parts[at].extent);
        }
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        std::vector<std::int64_t> extents;
        for (std::size_t at = ends.size(); at-- > 1;) {
            if (ends[at] % ends[at - 1] != 0) throw not_imported("operands that are reshaped in ways which do not fit each other");
            extents.push_back(ends[at] / ends[at - 1]);
        }
        std::vector<value> axes;
        for (std::int64_t const extent : extents) axes.push_back(along(ir::label(("i" + std::to_string(axis++)).c_str()), extent));
        made.extents.push_back(extents);
        made.axes.push_back(axes);
    }
    return made;
}
/// Loops over a shape, an axis for each dimension that is more than 1.
inline space loops_over(std::vector<std::int64_t> const& shape) { return loops_over({}, shape); }

/// The element of a view where these loops are; the view has their shape.
inline value at(view of, space const& loops) {
    std::vector<std::vector<value>> parts(of.first.size());
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        factors& cut_here = of.dimensions[dimension];
        std::int64_t inner = 1;
        for (std::size_t axis = loops.axes[dimension].size(); axis-- > 0;) {
            cut(cut_here, inner *= loops.extents[dimension][axis]);
        }
        // Factors of a view may be fewer than axes only where it is repeated or of extent 1.
        std::size_t const missing = loops.axes[dimension].size() - cut_here.size();
        for (std::size_t axis = 0; axis < cut_here.size(); ++axis) {
            for (std::size_t stored = 0; stored < parts.size(); ++stored) {
                std::int64_t const step = cut_here[axis].steps[stored];
                if (step != 0) parts[stored].push_back(detail::times(loops.axes[dimension][axis + missing], step));
            }
        }
    }
    std::vector<value> indices;
    for (std::size_t stored = 0; stored < parts.size(); ++stored) indices.push_back(detail::total(parts[stored], of.first[stored]));
    return element(of.of.name, of.of.type, indices);
}

/// The element of a view at an index for each dimension, where no dimension has several factors.
inline value at(view const& of, std::vector<value> const& index) {
    std::vector<std::vector<value>> parts(of.first.size());
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        if (of.dimensions[dimension].size() > 1) throw not_imported("a dimension that a reshape joined would have to be copied");
        for (factor const& one : of.dimensions[dimension]) {
            for (std::size_t stored = 0; stored < parts.size(); ++stored) {
                if (one.steps[stored] != 0) parts[stored].push_back(detail::times(index[dimension], one.steps[stored]));
            }
        }
    }
    std::vector<value> indices;
    for (std::size_t stored = 0; stored < parts.size(); ++stored) indices.push_back(detail::total(parts[stored], of.first[stored]));
    return element(of.of.name, of.of.type, indices);
}

/// Whether each dimension of a view that is more than 1 is a whole dimension of the stored tensor.
inline bool is_plain(view const& of) {
    std::size_t seen = 0;
    for (factors const& one : of.dimensions) {
        if (one.size() > 1) return false;
        if (one.empty()) continue;
        std::size_t const at = static_cast<std::size_t>(std::find(one[0].steps.begin(), one[0].steps.end(), 1) - one[0].steps.begin());
        if (at == of.first.size() || of.first[at] != 0 || of.of.extents[at] != one[0].extent) return false;
        if (std::count(one[0].steps.begin(), one[0].steps.end(), 0) + 1 != static_cast<std::ptrdiff_t>(of.first.size())) return false;
        ++seen;
    }
    std::size_t more = 0;
    for (std::int64_t const extent : of.of.extents) more += extent > 1 ? 1 : 0;
    return more == seen;
}

/// The element of a plain view at an index for each dimension; outside its extents, the border. A dimension of extent 1 has a border, too.
inline value padded_at(view const& of, std::vector<value> const& index, value const& border) {
    if (!is_plain(of)) throw not_imported("what is padded is not a whole tensor and would have to be copied");
    std::vector<std::optional<value>> stored_index(of.first.size());
    std::vector<value> outside;  // dimensions that are not stored: conditions that their index is 0
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        if (of.dimensions[dimension].empty()) {
            bool const is_zero = index[dimension].nodes.size() == 1 && index[dimension].root().op == operation::constant;
            if (!is_zero) outside.push_back(index[dimension]);
            continue;
        }
        auto const& steps = of.dimensions[dimension][0].steps;
        stored_index[static_cast<std::size_t>(std::find(steps.begin(), steps.end(), 1) - steps.begin())] = index[dimension];
    }
    std::vector<value> indices;
    for (std::size_t stored = 0; stored < stored_index.size(); ++stored) {
        value const inner = stored_index[stored] ? *stored_index[stored] : number(std::int64_t{0}, scalar_type::int32);
        indices.push_back(within(inner, ir::label(("w" + std::to_string(stored)).c_str()), of.of.extents[stored]));
    }
    value read = padded_element(of.of.name, of.of.type, indices, border.root().value);
    for (value const& one : outside) read = choose(equal(one, number(std::int64_t{0}, scalar_type::int32)), read, border);
    return read;
}

namespace detail {

/// The largest value of an affine index.
inline std::int64_t highest_of_index(std::vector<ir::node> const& nodes, int at, bool highest = true) {
    ir::node const& one = nodes[static_cast<std::size_t>(at)];
    auto const of = [&](int argument, bool up) { return highest_of_index(nodes, one.argument(argument), up); };
    switch (one.op) {
        case operation::constant: return one.value;
        case operation::axis_value: return highest ? one.value - 1 : 0;
        case operation::add: return of(0, highest) + of(1, highest);
        case operation::subtract: return of(0, highest) - of(1, !highest);
        case operation::multiply: {
            // One of the two is a constant.
            std::int64_t const left = of(0, true), right = of(1, true);
            bool const by_right = nodes[static_cast<std::size_t>(one.argument(1))].op == operation::constant;
            std::int64_t const by = by_right ? right : left;
            return by * (by_right ? of(0, highest == (by >= 0)) : of(1, highest == (by >= 0)));
        }
        default: return 0;
    }
}

/// Reads a tensor by one index for all of its dimensions.
inline void read_flat(std::vector<ir::node>& nodes, stored const& tensor) {
    std::vector<ir::node> made;
    std::vector<std::int16_t> moved;
    auto const put = [&](ir::node const& one) { return made.push_back(one), static_cast<std::int16_t>(made.size() - 1); };
    for (ir::node one : nodes) {
        for (int at = 0; one.op != operation::constant && at < one.argument_count; ++at)
            one.arguments[at] = moved[static_cast<std::size_t>(one.arguments[at])];
        if (one.op == operation::access && one.name == tensor.name) {
            std::int64_t stride = 1;
            std::int16_t whole = -1;
            for (int at = one.argument_count; at-- > 0; stride *= tensor.extents[static_cast<std::size_t>(at)]) {
                std::int16_t const by = put(number(stride, scalar_type::int32).nodes[0]);
                std::int16_t const part =
                    put({.op = operation::multiply, .type = scalar_type::int32, .argument_count = 2, .arguments = {one.arguments[at], by}});
                whole = whole < 0
                            ? part
                            : put({.op = operation::add, .type = scalar_type::int32, .argument_count = 2, .arguments = {part, whole}});
            }
            one.arguments = {whole};
            one.argument_count = 1;
        }
        moved.push_back(put(one));
    }
    nodes = made;
}

/// A program takes the extents of what the caller gives, and of constants, from what kernels read. Where no kernel reads to the end of a
/// dimension, rows would be too short. Then all kernels read that tensor by one index.
inline void keep_rows(layers& of, stored& tensor) {
    std::vector<std::int64_t> reached(tensor.extents.size(), 0);
    for (layer const& one : of.all) {
        for (std::size_t at = 0; at < one.nodes.size(); ++at) {
            ir::node const& node = one.nodes[at];
            if (node.op != operation::access || node.name != tensor.name) continue;
            if (is_padded({one.nodes.data(), static_cast<int>(one.nodes.size())}, static_cast<int>(at))) return;
            for (int dimension = 0; dimension < node.argument_count; ++dimension) {
                std::int64_t& most = reached[static_cast<std::size_t>(dimension)];
                most = std::max(most, highest_of_index(one.nodes, node.argument(dimension)) + 1);
            }
        }
    }
    if (reached.size() < 2 || std::equal(reached.begin() + 1, reached.end(), tensor.extents.begin() + 1)) return;
    for (layer& one : of.all) read_flat(one.nodes, tensor);
    std::int64_t count = 1;
    for (std::int64_t const extent : tensor.extents) count *= extent;
    tensor.extents = {count};
}

}  // namespace detail

/// What an operator is given: the node, its operands, and the kernels so far.
class lowering {
  public:
    explicit lowering(network::graph const& graph) : from(graph), views_(graph.tensors.size()) {
        for (std::size_t at = 0; at < from.inputs.size(); ++at) {
            auto const id = from.inputs[at];
            network::tensor const& one = from.tensors[static_cast<std::size_t>(id)];
            stored made{ir::label(("in" + std::to_string(at)).c_str()), type_of(one.type), {}};
            if (!one.shape) throw not_imported("input " + network::shown(one.name) + " has no shape");
            std::vector<std::int64_t> shape;
            for (network::dimension const& extent : *one.shape) {
                if (!extent.extent) throw not_imported("input " + network::shown(one.name) + " has an extent that is left to run time");
                shape.push_back(*extent.extent);
            }
            view const all = keep(std::move(made), shape);
            views_[static_cast<std::size_t>(id)] = all;
            result.inputs.push_back(all.of);
        }
    }

    network::graph const& from;
    network::node const* node = nullptr;
    layers result = {};

    bool has(std::size_t operand) const { return operand < node->inputs.size() && node->inputs[operand] != network::no_tensor; }
    bool is_known(std::size_t operand) const {
        return has(operand) && (known_.count(node->inputs[operand]) != 0 ||
                                from.tensors[static_cast<std::size_t>(node->inputs[operand])].constant != network::no_constant);
    }
    /// An operand, as kernels read it.
    view operand(std::size_t at) {
        if (!has(at)) throw not_imported("operand " + std::to_string(at) + " is missing");
        auto const id = static_cast<std::size_t>(node->inputs[at]);
        if (!views_[id]) {
            known_tensor const constant = known(at);
            std::vector<std::int64_t> const shape = constant.what.extents;
            stored what{ir::label(("c" + std::to_string(result.constants.size())).c_str()), constant.what.type, {}};
            views_[id] = keep(what, shape);
            result.constants.push_back({views_[id]->of, constant.bytes});
        }
        return *views_[id];
    }
    /// An operand whose elements must be known, with its shape.
    known_tensor known(std::size_t at) const {
        auto const id = node->inputs.at(at);
        if (auto const found = known_.find(id); found != known_.end()) return found->second;
        network::tensor const& one = from.tensors[static_cast<std::size_t>(id)];
        if (one.constant == network::no_constant) {
            throw not_imported("operand " + std::to_string(at) + ", " + network::shown(one.name) + ", has to be a constant");
        }
        known_tensor made{{{}, type_of(one.type), {}}, from.constants[static_cast<std::size_t>(one.constant)]};
        for (network::dimension const& extent : *one.shape) made.what.extents.push_back(*extent.extent);
        return made;
    }
    /// The elements of such an operand, as integers or as floats.
    std::vector<std::int64_t> known_integers(std::size_t at) const { return integers_of(known(at)); }
    static std::vector<std::int64_t> integers_of(known_tensor const& of) {
        auto const all = [&](auto one) {
            auto const values = network::values_of<decltype(one)>(of.bytes);
            return std::vector<std::int64_t>(values.begin(), values.end());
        };
        switch (of.what.type) {
            case scalar_type::int64: return all(std::int64_t{});
            case scalar_type::int32: return all(std::int32_t{});
            case scalar_type::uint8: return all(std::uint8_t{});
            case scalar_type::int8: return all(std::int8_t{});
            default: throw not_imported("a constant that is no list of integers");
        }
    }
    std::vector<double> known_numbers(std::size_t at) const {
        known_tensor const of = known(at);
        std::vector<double> made;
        if (of.what.type == scalar_type::float32) {
            for (float const one : network::values_of<float>(of.bytes)) made.push_back(static_cast<double>(one));
        } else if (of.what.type == scalar_type::float64) {
            made = network::values_of<double>(of.bytes);
        } else {
            for (std::int64_t const one : integers_of(of)) made.push_back(static_cast<double>(one));
        }
        return made;
    }

    /// A result that is another way to read an operand.
    void give(std::size_t output, view what) {
        if (output < node->outputs.size() && node->outputs[output] != network::no_tensor) {
            views_[static_cast<std::size_t>(node->outputs[output])] = std::move(what);
        }
    }
    /// A result that is known.
    void give_known(std::size_t output, known_tensor what) { known_[node->outputs.at(output)] = std::move(what); }

    /// A kernel for a result: `what` at each point of the loops.
    view compute(space const& loops, value const& what, std::optional<std::size_t> output = {}) {
        stored made{ir::label(("t" + std::to_string(result.all.size())).c_str()), what.type(), {}};
        if (output) {
            auto const id = node->outputs.at(*output);
            for (std::size_t at = 0; at < from.outputs.size(); ++at) {
                if (from.outputs[at] == id) made.name = ir::label(("out" + std::to_string(at)).c_str());
            }
        }
        std::vector<int> parts;
        std::vector<value> indices;
        for (std::size_t dimension = 0; dimension < loops.axes.size(); ++dimension) {
            parts.push_back(static_cast<int>(loops.axes[dimension].size()));
            for (std::size_t axis = 0; axis < loops.axes[dimension].size(); ++axis) {
                indices.push_back(loops.axes[dimension][axis]);
                made.extents.push_back(loops.extents[dimension][axis]);
            }
        }
        if (made.extents.empty()) {
            made.extents.push_back(1);
            indices.push_back(along("only", 1));
            parts.insert(parts.begin(), 1);
        }
        if (made.extents.size() > max_rank) {
            throw not_imported("the result has " + std::to_string(made.extents.size()) + " dimensions; " + std::to_string(max_rank) +
                               " are the most");
        }
        auto nodes = stage_of(element(made.name, made.type, indices), what);
        if (nodes.size() > 30000) throw not_imported("its expression is too long");
        result.all.push_back({ir::label(("k" + std::to_string(result.all.size())).c_str()), where(), std::move(nodes)});
        view all = whole_of(made, parts);
        if (parts.size() > loops.axes.size()) all.dimensions.erase(all.dimensions.begin());
        if (output) give(*output, all);
        return all;
    }

    /// The view of a node's result, if it has one.
    std::optional<view> const& view_of(network::tensor_id id) const { return views_[static_cast<std::size_t>(id)]; }
    bool is_available(network::tensor_id id) const {
        return id == network::no_tensor || view_of(id) || known_.count(id) != 0 ||
               from.tensors[static_cast<std::size_t>(id)].constant != network::no_constant;
    }

    /// "node 3 (`Conv`)"
    std::string where() const {
        if (node == nullptr) return "the results";
        return "node " + std::to_string(node - from.nodes.data()) + " (" + network::shown(node->operation) + ")";
    }

    /// Copies results that no kernel wrote where the caller finds them, and settles how kernels read what they are given.
    void finish() {
        copy_results();
        for (stored& one : result.inputs) detail::keep_rows(result, one);
        for (known_tensor& one : result.constants) detail::keep_rows(result, one.what);
    }

  private:
    void copy_results() {
        network::node ends{.name = "results", .operation = "results"};
        for (std::size_t at = 0; at < from.outputs.size(); ++at) {
            network::tensor_id const id = from.outputs[at];
            ends.inputs = {id}, ends.outputs = {id};
            node = &ends;
            view of = operand(0);
            if (of.of.name == ir::label(("out" + std::to_string(at)).c_str()) && is_plain_order(of)) {
                result.outputs.push_back(of.of);
                node = nullptr;
                continue;
            }
            node = nullptr;
            space const loops = loops_over({of}, of.shape());
            value const copy = imported::at(of, loops);
            ends.inputs.clear();
            node = &ends;
            std::string const label_text = "out" + std::to_string(at);
            view const made = compute_named(loops, copy, label_text);
            result.outputs.push_back(made.of);
            node = nullptr;
        }
    }

    /// Whether a view reads its tensor row by row from the first element to the last.
    static bool is_plain_order(view const& of) {
        auto const flat = reshaped(whole_of(of.of), of.shape());
        return flat && flat->dimensions == of.dimensions && flat->first == of.first;
    }
    view compute_named(space const& loops, value const& what, std::string const& name) {
        node = nullptr;
        view made = compute(loops, what);
        // The kernel's target, and what it stores, have the name of the output.
        layer& last = result.all.back();
        for (ir::node& one : last.nodes) {
            if (one.name == made.of.name && (one.op == operation::access || one.op == operation::store)) one.name = ir::label(name.c_str());
        }
        made.of.name = ir::label(name.c_str());
        return made;
    }
    /// A stored tensor of this shape, as a view: dimensions of extent 1 are not stored.
    static view keep(stored what, std::vector<std::int64_t> const& shape) {
        std::vector<int> parts;
        for (std::int64_t const extent : shape) {
            if (extent < 1) throw not_imported("a tensor without elements");
            parts.push_back(extent > 1 ? 1 : 0);
            if (extent > 1) what.extents.push_back(extent);
        }
        bool const scalar = what.extents.empty();
        if (scalar) what.extents.push_back(1), parts.insert(parts.begin(), 1);
        if (what.extents.size() > max_rank) throw not_imported("a tensor of more than " + std::to_string(max_rank) + " dimensions");
        view made = whole_of(what, parts);
        if (scalar) made.dimensions.erase(made.dimensions.begin());
        return made;
    }

    std::vector<std::optional<view>> views_;
    std::map<network::tensor_id, known_tensor> known_ = {};
};

}  // namespace tilewright::imported
