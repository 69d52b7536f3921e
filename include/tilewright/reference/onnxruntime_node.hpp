#pragma once
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <tilewright/network/model_error.hpp>
#include <tilewright/reference/onnx_call.hpp>
#include <tilewright/reference/onnxruntime.hpp>
#include <variant>
#include <vector>

namespace tilewright::reference {

/// ONNX Runtime as a reference for nodes of one model of ONNX: each node becomes a model of its own, which is run as it is written.
class onnxruntime_nodes {
  public:
    /// @param library  the shared library, `libonnxruntime.so`
    /// @throws std::runtime_error  where one of the two cannot be used
    onnxruntime_nodes(std::filesystem::path const& library, std::filesystem::path const& model) : runtime_(library) {
        std::ifstream in(model, std::ios::binary);
        if (!model_.ParseFromIstream(&in)) throw std::runtime_error(model.string() + " is no model of ONNX");
        for (onnx::NodeProto const& one : model_.graph().node()) {
            for (std::string const& result : one.output()) {
                if (!result.empty()) made_by_[result] = &one;
            }
        }
    }
    std::string const& version() const { return runtime_.version(); }

    /// What a node computes. @throws not_covered  where ONNX Runtime does not take it, with what it says
    std::vector<elements> operator()(network::graph const& graph, network::node const& node, operands const& given) const {
        onnx::ModelProto alone;
        alone.set_ir_version(model_.ir_version());
        *alone.mutable_opset_import() = model_.opset_import();
        for (auto& set : *alone.mutable_opset_import()) {
            if ((set.domain() == "ai.onnx" ? "" : set.domain()) == node.domain) set.set_version(node.version);
        }
        onnx::GraphProto& of = *alone.mutable_graph();
        of.set_name("node");
        *of.add_node() = from_model(graph, node);
        onnx::NodeProto& changed = *of.mutable_node(0);
        std::vector<std::vector<std::byte>> inputs;
        for (std::size_t at = 0; at < given.size(); ++at) {
            if (given[at] == nullptr) continue;
            std::string const name = "operand" + std::to_string(at);
            changed.set_input(static_cast<int>(at), name);
            declare(*of.add_input(), name, *given[at]);
            inputs.push_back(given[at]->bytes);
        }
        for (std::string const& name : changed.output()) {
            if (!name.empty()) of.add_output()->set_name(name);
        }
        std::string const text = alone.SerializeAsString();
        auto const* const first = reinterpret_cast<std::byte const*>(text.data());
        try {
            onnxruntime::session run(runtime_, std::vector<std::byte>(first, first + text.size()), onnxruntime::mode::as_written);
            run.give(std::move(inputs));
            run.run();
            std::vector<elements> made(node.outputs.size());
            for (std::size_t at = 0, taken = 0; at < made.size(); ++at) {
                if (static_cast<int>(at) >= changed.output_size() || changed.output(static_cast<int>(at)).empty()) continue;
                onnxruntime::tensor one = run.output(taken++);
                made[at] = {of_onnx::type_of(one.type), std::move(one.extents), std::move(one.bytes)};
            }
            return made;
        } catch (std::runtime_error const& error) {
            throw not_covered(error.what());
        }
    }

  private:
    /// The node as the file has it: it is found by the name of a result. A node of a branch, or of an operator that the model defines, is
    /// written anew.
    onnx::NodeProto from_model(network::graph const& graph, network::node const& node) const {
        for (network::tensor_id const id : node.outputs) {
            if (id == network::no_tensor) continue;
            auto const found = made_by_.find(graph.tensors[static_cast<std::size_t>(id)].name);
            if (found != made_by_.end() && found->second->op_type() == node.operation && found->second->domain() == node.domain &&
                node.operation != "If")
                return *found->second;
        }
        if (node.operation == "If" && node.domain.empty()) throw not_covered("a choice between branches is no node by itself");
        return written(graph, node);
    }
    static onnx::NodeProto written(network::graph const& graph, network::node const& node) {
        onnx::NodeProto made;
        made.set_op_type(node.operation), made.set_domain(node.domain);
        for (network::tensor_id const id : node.inputs)
            made.add_input(id == network::no_tensor ? "" : graph.tensors[static_cast<std::size_t>(id)].name);
        for (network::tensor_id const id : node.outputs)
            made.add_output(id == network::no_tensor ? "" : graph.tensors[static_cast<std::size_t>(id)].name);
        for (network::attribute const& from : node.attributes) {
            onnx::AttributeProto& to = *made.add_attribute();
            to.set_name(from.name);
            std::visit([&](auto const& value) { write(to, graph, value); }, from.value);
        }
        return made;
    }
    using setting = onnx::AttributeProto;
    static void write(setting& to, network::graph const&, std::int64_t value) { to.set_type(setting::INT), to.set_i(value); }
    static void write(setting& to, network::graph const&, float value) { to.set_type(setting::FLOAT), to.set_f(value); }
    static void write(setting& to, network::graph const&, std::string const& value) { to.set_type(setting::STRING), to.set_s(value); }
    static void write(setting& to, network::graph const&, std::vector<std::int64_t> const& values) {
        to.set_type(setting::INTS);
        for (std::int64_t const one : values) to.add_ints(one);
    }
    static void write(setting& to, network::graph const&, std::vector<float> const& values) {
        to.set_type(setting::FLOATS);
        for (float const one : values) to.add_floats(one);
    }
    static void write(setting& to, network::graph const&, std::vector<std::string> const& values) {
        to.set_type(setting::STRINGS);
        for (std::string const& one : values) to.add_strings(one);
    }
    static void write(setting& to, network::graph const& graph, network::literal const& value) {
        to.set_type(setting::TENSOR);
        onnx::TensorProto& tensor = *to.mutable_t();
        tensor.set_data_type(of_onnx::number_of(value.type));
        for (std::int64_t const extent : value.extents) tensor.add_dims(extent);
        std::vector<std::byte> const& bytes = graph.constants[static_cast<std::size_t>(value.constant)];
        tensor.set_raw_data(bytes.data(), bytes.size());
    }
    static void declare(onnx::ValueInfoProto& into, std::string const& name, elements const& what) {
        into.set_name(name);
        auto& tensor = *into.mutable_type()->mutable_tensor_type();
        tensor.set_elem_type(of_onnx::number_of(what.type));
        for (std::int64_t const extent : what.extents) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
        tensor.mutable_shape();
    }

    onnx::ModelProto model_ = {};
    std::map<std::string, onnx::NodeProto const*> made_by_ = {};
    onnxruntime::runtime runtime_;
};

}  // namespace tilewright::reference
