#pragma once
#include <algorithm>
#include <tilewright/network/complete.hpp>
#include <tilewright/network/file_bytes.hpp>
#include <tilewright/network/tflite_operators.hpp>
#include <tilewright/network/tflite_tables.hpp>
#include <tilewright/network/variables.hpp>

// Reads networks of TensorFlow Lite, by the tables of their files. Needs the headers of FlatBuffers: link tilewright::network_readers.
namespace tilewright::network {

namespace detail {

/// What elements of the format's types are here.
inline element_type type_of_tflite(int type) {
    switch (type) {
        case 0: return element_type::float32;
        case 1: return element_type::float16;
        case 2: return element_type::int32;
        case 3: return element_type::uint8;
        case 4: return element_type::int64;
        case 6: return element_type::boolean;
        case 7: return element_type::int16;
        case 9: return element_type::int8;
        case 10: return element_type::float64;
        case 12: return element_type::uint64;
        case 15: return element_type::uint32;
        case 16: return element_type::uint16;
        case 18: return element_type::bfloat16;
        default: return element_type::other;
    }
}
/// The format's word for a type that is `other`; none for others.
inline std::string other_type_of_tflite(int type) {
    if (type_of_tflite(type) != element_type::other) return {};
    static constexpr std::pair<int, char const*> others[] = {
        {5, "STRING"}, {8, "COMPLEX64"}, {11, "COMPLEX128"}, {13, "RESOURCE"},      {14, "VARIANT"},
        {17, "INT4"},  {19, "INT2"},     {20, "UINT4"},      {21, "FLOAT8_E4M3FN"}, {22, "FLOAT8_E5M2"},
    };
    for (auto const& [number, name] : others) {
        if (number == type) return name;
    }
    return "type " + std::to_string(type);
}

/// Fills a graph from the tables of a file.
class tflite_reader {
  public:
    tflite_reader(std::vector<std::byte> const& bytes, std::string file)
        : bytes_(bytes),
          file_(std::move(file)),
          in_(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()),
          budget_(bytes.size(), file_) {}

    graph read() {
        if (!in_.VerifyBuffer<tflite_model>("TFL3")) {
            refuse(file_, refusal::not_a_model, {}, "no tables of TensorFlow Lite in " + std::to_string(bytes_.size()) + " bytes");
        }
        model_ = flatbuffers::GetRoot<tflite_model>(bytes_.data());
        if (model_->version() != 3)
            refuse(file_, refusal::model_version, {}, "version " + std::to_string(model_->version()) + " of the format, not 3");
        if (length_of(model_->subgraphs()) == 0) refuse(file_, refusal::not_a_model, {}, "no graph");
        if (length_of(model_->subgraphs()) > 1) {
            refuse(file_, refusal::subgraph, {}, std::to_string(length_of(model_->subgraphs())) + " graphs");
        }
        tflite_subgraph const& from = *model_->subgraphs()->Get(0);
        made_.format = "tflite";
        made_.name = copied(from.name(), "the graph");
        constants_.assign(length_of(model_->buffers()), no_constant);
        for (std::size_t at = 0; at < length_of(from.tensors()); ++at)
            add_tensor(*from.tensors()->Get(static_cast<flatbuffers::uoffset_t>(at)));
        for (std::size_t at = 0; at < length_of(from.nodes()); ++at) add_node(*from.nodes()->Get(static_cast<flatbuffers::uoffset_t>(at)));
        made_.inputs = positions(from.inputs(), false, "the inputs");
        made_.outputs = positions(from.outputs(), false, "the outputs");
        keep_variables(made_, [&](std::size_t bytes) { budget_.spend(bytes, "a variable"); });
        return complete(std::move(made_), file_);
    }

  private:
    std::string copied(flatbuffers::String const* text, std::string const& part) {
        if (text == nullptr) return {};
        budget_.spend(text->size(), part);
        return text->str();
    }
    template <class T>
    std::vector<T> copied(flatbuffers::Vector<T> const* list, std::string const& part) {
        budget_.spend(length_of(list) * sizeof(T), part);
        return numbers_of(list);
    }

    void add_tensor(tflite_tensor const& from) {
        std::string const position = "tensor " + std::to_string(made_.tensors.size());
        budget_.spend(sizeof(tensor), position);
        tensor& made = made_.tensors.emplace_back();
        made.name = copied(from.name(), position);
        std::string const part = described(made_, tensor_id(made_.tensors.size() - 1));
        made.type = type_of_tflite(from.type());
        made.type_name = other_type_of_tflite(from.type());
        made.variable = from.variable();
        if (from.sparsity() != nullptr) refuse(file_, refusal::sparse, part);
        if (from.external_buffer() != 0) refuse(file_, refusal::external_data, part, "elements in a file of their own");
        made.shape = shape_of(from, part);
        made.quantised = quantisation_of(from.quantised(), made.shape->size(), part);
        made.constant = constant_of(from.buffer(), part);
    }

    tensor_shape shape_of(tflite_tensor const& from, std::string const& part) {
        std::vector<std::int32_t> const extents = copied(from.shape(), part);
        std::vector<std::int32_t> const signature = copied(from.shape_signature(), part);
        budget_.spend(extents.size() * sizeof(dimension), part);
        tensor_shape shape;
        for (std::int32_t const extent : extents) shape.push_back({extent, {}});
        if (signature.empty()) return shape;
        bool agree = signature.size() == extents.size();
        for (std::size_t at = 0; agree && at < signature.size(); ++at) {
            if (signature[at] == -1) {
                shape[at].usual = extents[at];
                shape[at].extent.reset();
            } else {
                agree = signature[at] == extents[at];
            }
        }
        if (!agree) refuse(file_, refusal::contradiction, part, "its shape and the signature of its shape");
        return shape;
    }

    std::optional<quantisation> quantisation_of(tflite_quantisation const* from, std::size_t rank, std::string const& part) {
        if (from == nullptr) return std::nullopt;
        if (from->details() != 0) refuse(file_, refusal::quantisation, part, "details of kind " + std::to_string(from->details()));
        if (length_of(from->scales()) == 0) return std::nullopt;  // the range of values alone, from training
        quantisation how{copied(from->scales(), part), copied(from->zero_points(), part), std::nullopt};
        // Some converters give a bias the axis of its weights. A list has one dimension.
        if (how.scales.size() > 1) how.axis = rank == 1 ? 0 : from->axis();
        return how;
    }

    /// The elements in a buffer. Tensors that share a buffer share the constant.
    constant_id constant_of(std::uint32_t buffer, std::string const& part) {
        if (buffer >= constants_.size()) {
            if (buffer == 0) return no_constant;
            refuse(file_, refusal::no_such_position, part, "buffer " + std::to_string(buffer) + " of " + std::to_string(constants_.size()));
        }
        if (constants_[buffer] != no_constant) return constants_[buffer];
        tflite_buffer const& from = *model_->buffers()->Get(buffer);
        std::byte const* first = nullptr;
        std::uint64_t count = 0;
        if (from.offset() > 1) {
            if (from.offset() > bytes_.size() || from.size() > bytes_.size() - from.offset()) {
                refuse(file_, refusal::no_such_position, part,
                       std::to_string(from.size()) + " bytes from " + std::to_string(from.offset()) + " on, of " +
                           std::to_string(bytes_.size()));
            }
            if (length_of(from.data()) > 0) refuse(file_, refusal::contradiction, part, "elements inside and outside of the tables");
            first = bytes_.data() + from.offset();
            count = from.size();
        } else if (length_of(from.data()) > 0) {
            first = reinterpret_cast<std::byte const*>(from.data()->Data());
            count = from.data()->size();
        }
        if (count == 0) return no_constant;
        budget_.spend(count, part);
        made_.constants.emplace_back(first, first + count);
        return constants_[buffer] = constant_id(made_.constants.size() - 1);
    }

    std::vector<tensor_id> positions(flatbuffers::Vector<std::int32_t> const* list, bool optional, std::string const& part) {
        std::vector<tensor_id> made;
        for (std::int32_t const one : copied(list, part)) {
            bool const left_out = optional && one == -1;
            if (!left_out && (one < 0 || static_cast<std::size_t>(one) >= made_.tensors.size())) {
                refuse(file_, refusal::no_such_position, part,
                       "tensor " + std::to_string(one) + " of " + std::to_string(made_.tensors.size()));
            }
            made.push_back(tensor_id(one));
        }
        return made;
    }

    void add_node(tflite_node const& from) {
        std::size_t const position = made_.nodes.size();
        budget_.spend(sizeof(node), "node " + std::to_string(position));
        if (from.opcode() >= length_of(model_->operator_codes())) {
            refuse(file_, refusal::no_such_position, "node " + std::to_string(position),
                   "operator " + std::to_string(from.opcode()) + " of " + std::to_string(length_of(model_->operator_codes())));
        }
        tflite_operator_code const& code = *model_->operator_codes()->Get(from.opcode());
        constexpr int custom = 32;
        if (code.code() < 0)
            refuse(file_, refusal::no_such_position, "node " + std::to_string(position), "operator number " + std::to_string(code.code()));
        node made;
        made.operation = name_of_tflite_operator(code.code());
        if (code.code() == custom) {
            made.operation = copied(code.custom_name(), "node " + std::to_string(position));
            made.domain = "custom";
        }
        made.version = code.version();
        std::string const part = described(made, position);
        made.inputs = positions(from.inputs(), true, part);
        made.outputs = positions(from.outputs(), false, part);
        if (tflite_operator const* known = find_tflite_operator(code.code())) {
            made.attributes = options_of(from, *known, part);
        } else {
            made.attributes_known = false;
        }
        made_.nodes.push_back(std::move(made));
    }

    std::vector<attribute> options_of(tflite_node const& from, tflite_operator const& known, std::string const& part) {
        if (from.further_options_kind() != 0 || (from.options_kind() != 0 && from.options_kind() != known.table)) {
            refuse(file_, refusal::attribute, part, "options of another operator");
        }
        budget_.spend(known.options.size() * sizeof(attribute), part);
        std::vector<attribute> made;
        for (tflite_option const& one : known.options) {
            if (auto value = value_of(from.options_kind() == 0 ? nullptr : from.options(), one, part)) {
                made.push_back({std::string(one.name), std::move(*value)});
            }
        }
        return made;
    }

    /// An option out of its table, or what the format takes where it is not written; nothing where the option says nothing.
    std::optional<attribute_value> value_of(tflite_options_table const* table, tflite_option const& one, std::string const& part) {
        using kind = tflite_option_kind;
        static constexpr char const* paddings[] = {"SAME", "VALID"};
        static constexpr char const* activations[] = {"NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"};
        auto const number = [&]<class T>(T) -> std::int64_t {
            if (table == nullptr) return one.absent;
            if (!table->has_number<T>(in_, one.field))
                refuse(file_, refusal::not_a_model, part, "the place of option " + std::string(one.name));
            return table->number<T>(one.field, static_cast<T>(one.absent));
        };
        auto const refuse_number = [&](std::int64_t value) {
            refuse(file_, refusal::attribute, part, std::string(one.name) + " is " + std::to_string(value));
        };
        auto const word = [&](auto const& words) -> std::string {
            std::int64_t const value = number(std::int8_t{});
            if (value < 0 || value >= static_cast<std::int64_t>(std::size(words))) refuse_number(value);
            return words[value];
        };
        switch (one.kind) {
            case kind::padding: return word(paddings);
            case kind::activation: return word(activations);
            case kind::format:
                if (std::int64_t const value = number(std::int8_t{}); value != 0) refuse_number(value);
                return std::nullopt;
            case kind::type: {
                std::int64_t const value = number(std::int8_t{});
                if (value == 0) return std::nullopt;
                return type_text(type_of_tflite(static_cast<int>(value)), other_type_of_tflite(static_cast<int>(value)));
            }
            case kind::count: {
                std::int64_t const value = number(std::int32_t{});
                if (value < 1) refuse_number(value);
                return value;
            }
            case kind::integer: return number(std::int32_t{});
            case kind::truth: return std::int64_t{number(std::uint8_t{}) != 0};
            case kind::real:
                if (table == nullptr) return static_cast<float>(one.absent);
                if (!table->has_number<float>(in_, one.field))
                    refuse(file_, refusal::not_a_model, part, "the place of option " + std::string(one.name));
                return table->number<float>(one.field, static_cast<float>(one.absent));
            case kind::integers: break;
        }
        if (table == nullptr) return std::vector<std::int64_t>();
        if (!table->has_list<std::int32_t>(in_, one.field))
            refuse(file_, refusal::not_a_model, part, "the place of option " + std::string(one.name));
        std::vector<std::int32_t> const numbers = copied(table->list<std::int32_t>(one.field), part);
        budget_.spend(numbers.size() * sizeof(std::int64_t), part);
        return std::vector<std::int64_t>(numbers.begin(), numbers.end());
    }

    std::vector<std::byte> const& bytes_;
    std::string file_;
    flatbuffers::Verifier in_;
    copy_budget budget_;
    tflite_model const* model_ = nullptr;
    std::vector<constant_id> constants_;  ///< of each buffer, once a tensor has asked for it
    graph made_;
};

}  // namespace detail

/// The network of a .tflite file that is in memory.
///
/// @param file  how errors call it
inline graph tflite_graph(std::vector<std::byte> const& bytes, std::string const& file) {
    if (bytes.size() > largest_file) refuse(file, refusal::too_large, {}, std::to_string(bytes.size()) + " bytes");
    if (bytes.size() < 8) refuse(file, refusal::not_a_model, {}, std::to_string(bytes.size()) + " bytes");
    return detail::tflite_reader(bytes, file).read();
}

/// The network of a .tflite file. A node whose operator is not known here keeps its name, or its number, and has no attributes.
///
/// @throw model_error  one line: the file, the node or tensor, the reason. Refused are several graphs, sparse tensors, constants
///                     in files of their own, and what contradicts itself
inline graph read_tflite(std::filesystem::path const& model) { return tflite_graph(read_bytes(model), model.string()); }

}  // namespace tilewright::network
