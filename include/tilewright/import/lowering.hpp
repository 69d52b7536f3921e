#pragma once
#include <tilewright/import/loops.hpp>
#include <tilewright/import/rows.hpp>

namespace tilewright::imported {

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
        known_tensor made(type_of(one.type), {}, from.constants[static_cast<std::size_t>(one.constant)]);
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
