#pragma once
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>
#include <map>
#include <tilewright/network/onnx_constant.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

// Reads networks of ONNX, by the library's own classes. Needs libonnx and libprotobuf: link tilewright::network_readers.
namespace tilewright::network {

namespace detail {

/// Fills a graph from a model of ONNX.
class onnx_reader {
  public:
    explicit onnx_reader(std::filesystem::path const& model) : file_(model.string()), constants_(model) {}

    graph read(onnx::ModelProto const& model) {
        if (!model.has_graph()) refuse(file_, refusal::not_a_model, {}, "no graph");
        if (!model.has_ir_version() || model.ir_version() < 3) {
            refuse(file_, refusal::model_version, {}, "version " + std::to_string(model.ir_version()) + " of the format; 3 is the first");
        }
        for (auto const& one : model.functions()) functions_[{domain_of(one.domain()), one.name()}] = &one;
        if (model.training_info_size() > 0) refuse(file_, refusal::training, {});
        for (auto const& set : model.opset_import()) {
            auto const [at, added] = versions_.emplace(domain_of(set.domain()), set.version());
            if (!added && at->second != set.version()) {
                refuse(file_, refusal::operator_set, {},
                       "versions " + std::to_string(at->second) + " and " + std::to_string(set.version()));
            }
        }
        onnx::GraphProto const& from = model.graph();
        made_.format = "onnx";
        made_.name = from.name();
        if (from.sparse_initializer_size() > 0)
            refuse(file_, refusal::sparse, "a constant", shown(from.sparse_initializer(0).values().name()));
        if (from.quantization_annotation_size() > 0) {
            refuse(file_, refusal::quantisation, "tensor " + shown(from.quantization_annotation(0).tensor_name()),
                   "an annotation; export QuantizeLinear");
        }
        for (auto const& one : from.initializer()) define(one.name(), one, "constant " + shown(one.name()));
        for (auto const& one : from.input()) add_input(one);
        for (auto const& one : from.value_info()) declare(one);
        for (int at = 0; at < from.node_size(); ++at) add_node(from.node(at), at);
        for (auto const& one : from.output()) made_.outputs.push_back(declare(one));
        return complete(std::move(made_), file_);
    }

  private:
    static std::string domain_of(std::string const& domain) { return domain == "ai.onnx" ? "" : domain; }

    tensor_id id_of(std::string const& name) {
        auto const [at, added] = ids_.emplace(name, tensor_id(made_.tensors.size()));
        if (added) made_.tensors.emplace_back().name = name;
        return at->second;
    }

    /// What the model says of a tensor; it may say so several times.
    void say(tensor_id id, element_type type, std::string const& type_name, std::optional<tensor_shape> const& shape) {
        tensor& one = made_.at(id);
        if (one.type == element_type::unknown) one.type = type, one.type_name = type_name;
        if (type != element_type::unknown && (one.type != type || one.type_name != type_name)) {
            refuse(file_, refusal::contradiction, described(made_, id),
                   type_text(one.type, one.type_name) + " and " + type_text(type, type_name));
        }
        if (!shape) return;
        if (!one.shape) {
            one.shape = shape;
            return;
        }
        bool agree = one.shape->size() == shape->size();
        for (std::size_t at = 0; agree && at < shape->size(); ++at) {
            dimension& known = (*one.shape)[at];
            dimension const& said = (*shape)[at];
            if (!known.extent && said.extent) known = said;
            agree = !said.extent || known.extent == said.extent;
        }
        if (!agree) refuse(file_, refusal::contradiction, described(made_, id), as_text(*one.shape) + " and " + as_text(*shape));
    }

    /// The tensor of a declaration.
    tensor_id declare(onnx::ValueInfoProto const& from) {
        std::string const part = "tensor " + shown(from.name());
        if (from.name().empty()) refuse(file_, refusal::no_such_position, part, "a tensor without a name");
        tensor_id const id = id_of(from.name());
        if (!from.has_type()) return id;
        switch (from.type().value_case()) {
            case onnx::TypeProto::kTensorType: break;
            case onnx::TypeProto::kSequenceType: refuse(file_, refusal::not_a_tensor, part, "a sequence");
            case onnx::TypeProto::kMapType: refuse(file_, refusal::not_a_tensor, part, "a map");
            case onnx::TypeProto::kOptionalType: refuse(file_, refusal::not_a_tensor, part, "an optional");
            case onnx::TypeProto::kSparseTensorType: refuse(file_, refusal::sparse, part);
            default: refuse(file_, refusal::not_a_tensor, part, "a value of unknown kind");
        }
        auto const& type = from.type().tensor_type();
        std::optional<tensor_shape> shape;
        if (type.has_shape()) {
            shape.emplace();
            for (auto const& along : type.shape().dim()) {
                dimension& added = shape->emplace_back();
                if (along.has_dim_value() && along.dim_value() != -1) added.extent = along.dim_value();  // -1: run time decides it
                if (along.has_dim_param()) added.symbol = along.dim_param();
            }
        }
        say(id, type_of_onnx(type.elem_type()), other_type_of_onnx(type.elem_type()), shape);
        return id;
    }

    /// An input with a constant of its name is that constant: a default that nobody replaces.
    void add_input(onnx::ValueInfoProto const& from) {
        tensor_id const id = declare(from);
        if (made_.at(id).constant == no_constant) made_.inputs.push_back(id);
    }

    constant_id keep(std::vector<std::byte> bytes) {
        made_.constants.push_back(std::move(bytes));
        return constant_id(made_.constants.size() - 1);
    }

    void define(std::string const& name, onnx_constant constant, std::string const& part) {
        if (name.empty()) refuse(file_, refusal::no_such_position, part, "a constant without a name");
        tensor_id const id = id_of(name);
        if (made_.at(id).constant != no_constant) refuse(file_, refusal::two_sources, part);
        tensor_shape shape;
        for (std::int64_t const extent : constant.extents) shape.push_back({extent, {}});
        say(id, constant.type, constant.type_name, shape);
        made_.at(id).constant = keep(std::move(constant.bytes));
    }
    void define(std::string const& name, onnx::TensorProto const& from, std::string const& part) {
        define(name, constants_.read(from, part), part);
    }

    /// What a name means where the reader is: names of a branch or of a function are apart from those outside.
    std::string resolved(std::string const& name) const {
        for (std::size_t at = scopes_.size(); at-- > 0;) {
            if (auto const found = scopes_[at].find(name); found != scopes_[at].end()) return found->second;
            if (scope_is_function_[at]) break;
        }
        return name;
    }
    /// Names that nodes of a branch or of a function give.
    std::unordered_map<std::string, std::string> names_inside(google::protobuf::RepeatedPtrField<onnx::NodeProto> const& nodes) {
        std::string const prefix = "inside" + std::to_string(++insides_) + "/";
        std::unordered_map<std::string, std::string> made;
        for (auto const& one : nodes) {
            for (auto const& name : one.output()) {
                if (!name.empty()) made[name] = prefix + name;
            }
        }
        return made;
    }
    /// Nodes of a branch or of a function.
    template <class Inside>
    void add_inside(std::unordered_map<std::string, std::string> names, bool is_function, std::string const& part, Inside const& inside) {
        constexpr std::size_t deepest = 32;
        if (scopes_.size() == deepest) refuse(file_, refusal::too_large, part, "functions and branches inside of each other");
        scopes_.push_back(std::move(names)), scope_is_function_.push_back(is_function);
        inside();
        scopes_.pop_back(), scope_is_function_.pop_back();
    }

    /// A branch of `If`. Both branches become nodes of the graph, which change nothing: @return what the branch gives
    std::vector<tensor_id> add_branch(onnx::NodeProto const& from, char const* name, int position, std::string const& part) {
        auto const found = std::find_if(from.attribute().begin(), from.attribute().end(),
                                        [&](auto const& one) { return one.name() == name && one.type() == onnx::AttributeProto::GRAPH; });
        if (found == from.attribute().end()) refuse(file_, refusal::attribute, part, std::string("no ") + name);
        onnx::GraphProto const& branch = found->g();
        if (branch.input_size() > 0 || branch.sparse_initializer_size() > 0 || branch.output_size() != from.output_size())
            refuse(file_, refusal::subgraph, part + ", attribute " + shown(name));
        auto names = names_inside(branch.node());
        for (auto const& one : branch.initializer()) names[one.name()] = "inside" + std::to_string(insides_) + "/" + one.name();
        std::vector<tensor_id> made;
        add_inside(std::move(names), false, part, [&] {
            for (auto const& one : branch.initializer()) define(resolved(one.name()), one, "constant " + shown(one.name()));
            for (auto const& one : branch.node()) add_node(one, position);
            for (auto const& one : branch.output()) made.push_back(id_of(resolved(one.name())));
        });
        return made;
    }
    static bool is_branch(std::string const& name) { return name == "then_branch" || name == "else_branch"; }
    /// The operands of `If` are its condition, then what the first branch gives, then what the other one does.
    void add_choice(onnx::NodeProto const& from, node made, int position, std::string const& part) {
        for (char const* name : {"then_branch", "else_branch"}) {
            std::vector<tensor_id> const given = add_branch(from, name, position, part);
            made.inputs.insert(made.inputs.end(), given.begin(), given.end());
        }
        made_.nodes.push_back(std::move(made));
    }

    /// An operator that the model defines: its nodes.
    void add_call(onnx::NodeProto const& from, onnx::FunctionProto const& function, int position, std::string const& part) {
        if (from.input_size() > function.input_size() || from.output_size() > function.output_size())
            refuse(file_, refusal::function, part, "more operands or results than it has");
        for (auto const& one : from.attribute()) {
            if (!has_attribute(function, one.name()))
                refuse(file_, refusal::attribute, part, shown(one.name()) + " is not one of this operator's");
        }
        auto names = names_inside(function.node());
        for (int at = 0; at < function.input_size(); ++at)
            names[function.input(at)] = at < from.input_size() ? resolved(from.input(at)) : "";
        for (int at = 0; at < from.output_size(); ++at) {
            if (!from.output(at).empty()) names[function.output(at)] = resolved(from.output(at));
        }
        auto versions = versions_;
        for (auto const& set : function.opset_import()) versions[domain_of(set.domain())] = set.version();
        std::swap(versions, versions_);
        add_inside(std::move(names), true, part, [&] {
            for (onnx::NodeProto one : function.node()) {
                constexpr int most = 100'000;
                if (++inlined_ > most) refuse(file_, refusal::too_large, part, "more nodes than " + std::to_string(most) + " of functions");
                give_attributes(one, from);
                add_node(one, position);
            }
        });
        std::swap(versions, versions_);
    }
    static bool has_attribute(onnx::FunctionProto const& of, std::string const& name) {
        auto const refers = [&](onnx::NodeProto const& node) {
            return std::any_of(node.attribute().begin(), node.attribute().end(),
                               [&](auto const& one) { return one.ref_attr_name() == name; });
        };
        return std::find(of.attribute().begin(), of.attribute().end(), name) != of.attribute().end() ||
               std::any_of(of.node().begin(), of.node().end(), refers);
    }
    /// Attributes of a function's node that refer to those of the call; what the call leaves out is left out.
    static void give_attributes(onnx::NodeProto& to, onnx::NodeProto const& call) {
        google::protobuf::RepeatedPtrField<onnx::AttributeProto> given;
        for (auto const& one : to.attribute()) {
            if (one.ref_attr_name().empty()) {
                *given.Add() = one;
                continue;
            }
            for (auto const& passed : call.attribute()) {
                if (passed.name() != one.ref_attr_name()) continue;
                *given.Add() = passed;
                given.rbegin()->set_name(one.name());
            }
        }
        to.mutable_attribute()->Swap(&given);
    }

    /// A node without operands that gives what its one attribute says.
    void define(onnx::NodeProto const& from, std::string const& part) {
        if (from.input_size() != 0 || from.output_size() != 1 || from.attribute_size() != 1) {
            refuse(file_, refusal::attribute, part, "a constant has one attribute and one result");
        }
        auto const& value = from.attribute(0);
        onnx::TensorProto list;
        if (value.name() == "value" && value.type() == onnx::AttributeProto::TENSOR)
            return define(resolved(from.output(0)), value.t(), part);
        if (value.name() == "sparse_value") refuse(file_, refusal::sparse, part);
        if (value.name() == "value_string" && value.type() == onnx::AttributeProto::STRING) {
            list.set_data_type(onnx::TensorProto::STRING);
        } else if (value.name() == "value_strings" && value.type() == onnx::AttributeProto::STRINGS) {
            list.add_dims(value.strings_size());
            list.set_data_type(onnx::TensorProto::STRING);
        } else if (value.name() == "value_float" && value.type() == onnx::AttributeProto::FLOAT) {
            list.add_float_data(value.f());
            list.set_data_type(onnx::TensorProto::FLOAT);
        } else if (value.name() == "value_floats" && value.type() == onnx::AttributeProto::FLOATS) {
            *list.mutable_float_data() = value.floats();
            list.add_dims(value.floats_size());
            list.set_data_type(onnx::TensorProto::FLOAT);
        } else if (value.name() == "value_int" && value.type() == onnx::AttributeProto::INT) {
            list.add_int64_data(value.i());
            list.set_data_type(onnx::TensorProto::INT64);
        } else if (value.name() == "value_ints" && value.type() == onnx::AttributeProto::INTS) {
            *list.mutable_int64_data() = value.ints();
            list.add_dims(value.ints_size());
            list.set_data_type(onnx::TensorProto::INT64);
        } else {
            refuse(file_, refusal::attribute, part, shown(value.name()));
        }
        define(resolved(from.output(0)), list, part);
    }

    attribute_value value_of(onnx::AttributeProto const& from, std::string const& part) {
        std::string const setting = part + ", attribute " + shown(from.name());
        if (!from.ref_attr_name().empty()) refuse(file_, refusal::attribute, setting, "it refers to a function's");
        switch (from.type()) {
            case onnx::AttributeProto::INT: return std::int64_t{from.i()};
            case onnx::AttributeProto::FLOAT: return from.f();
            case onnx::AttributeProto::STRING: return from.s();
            case onnx::AttributeProto::INTS: return std::vector<std::int64_t>(from.ints().begin(), from.ints().end());
            case onnx::AttributeProto::FLOATS: return std::vector<float>(from.floats().begin(), from.floats().end());
            case onnx::AttributeProto::STRINGS: return std::vector<std::string>(from.strings().begin(), from.strings().end());
            case onnx::AttributeProto::TENSOR: {
                onnx_constant constant = constants_.read(from.t(), setting);
                return literal{constant.type, std::move(constant.extents), keep(std::move(constant.bytes)), std::move(constant.type_name)};
            }
            case onnx::AttributeProto::GRAPH:
            case onnx::AttributeProto::GRAPHS: refuse(file_, refusal::subgraph, setting);
            case onnx::AttributeProto::SPARSE_TENSOR:
            case onnx::AttributeProto::SPARSE_TENSORS: refuse(file_, refusal::sparse, setting);
            default: refuse(file_, refusal::attribute, setting, "its kind is " + onnx::AttributeProto::AttributeType_Name(from.type()));
        }
    }

    void add_node(onnx::NodeProto const& from, int position) {
        node made;
        made.name = from.name();
        made.operation = from.op_type();
        made.domain = domain_of(from.domain());
        std::string const part = described(made, static_cast<std::size_t>(position));
        if (auto const function = functions_.find({made.domain, made.operation}); function != functions_.end())
            return add_call(from, *function->second, position, part);
        auto const version = versions_.find(made.domain);
        if (version == versions_.end()) {
            refuse(file_, refusal::operator_set, part, made.domain.empty() ? "that of ONNX" : "that of " + shown(made.domain));
        }
        made.version = version->second;
        if (made.operation == "Constant" && made.domain.empty()) return define(from, part);
        auto const id_inside = [&](std::string const& name) {
            std::string const whole = name.empty() ? name : resolved(name);
            return whole.empty() ? no_tensor : id_of(whole);
        };
        for (auto const& name : from.input()) made.inputs.push_back(id_inside(name));
        for (auto const& name : from.output()) made.outputs.push_back(id_inside(name));
        bool const chooses = made.operation == "If" && made.domain.empty();
        std::unordered_set<std::string> settings;
        for (auto const& setting : from.attribute()) {
            if (chooses && setting.type() == onnx::AttributeProto::GRAPH && is_branch(setting.name())) continue;
            if (!settings.insert(setting.name()).second) refuse(file_, refusal::attribute, part, shown(setting.name()) + " stands twice");
            made.attributes.push_back({setting.name(), value_of(setting, part)});
        }
        if (chooses) return add_choice(from, std::move(made), position, part);
        made_.nodes.push_back(std::move(made));
    }

    std::string file_;
    onnx_constants constants_;
    graph made_;
    std::unordered_map<std::string, tensor_id> ids_;
    std::unordered_map<std::string, std::int64_t> versions_;
    std::map<std::pair<std::string, std::string>, onnx::FunctionProto const*> functions_;  // by domain and name
    std::vector<std::unordered_map<std::string, std::string>> scopes_;                     // names inside, and what they are outside
    std::vector<bool> scope_is_function_;                                                  // which sees nothing outside
    int insides_ = 0, inlined_ = 0;
};

}  // namespace detail

/// The network of a model of ONNX that is in memory.
///
/// @param model  where it lies: what errors call it, and the folder of its files with constants
inline graph onnx_graph(std::span<std::byte const> bytes, std::filesystem::path const& model) {
    onnx::ModelProto parsed;
    if (bytes.size() > largest_file) refuse(model.string(), refusal::too_large, {}, std::to_string(bytes.size()) + " bytes");
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    if (bytes.empty() || !parsed.ParseFromZeroCopyStream(&stream)) {
        refuse(model.string(), refusal::not_a_model, {}, "no message of ONNX in " + std::to_string(bytes.size()) + " bytes");
    }
    return detail::onnx_reader(model).read(parsed);
}

/// The network of an .onnx file. Nodes `Constant` become constants, and so do initializers, those of inputs too. Both branches of `If` are
/// nodes of the graph, and so are those of operators that the model defines.
///
/// @throw model_error  one line: the file, the node or tensor, the reason. Refused are other subgraphs, values that are no tensors,
///                     constants outside of the model's folder, and what contradicts itself
inline graph read_onnx(std::filesystem::path const& model) { return onnx_graph(read_bytes(model), model); }

}  // namespace tilewright::network
