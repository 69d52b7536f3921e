#pragma once
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tilewright/network/complete.hpp>
#include <tilewright/network/file_bytes.hpp>

// Tensors with elements, as ONNX writes them: in three ways.
namespace tilewright::network::detail {

/// What elements of ONNX's types are here.
inline element_type type_of_onnx(int type) {
    switch (type) {
        case onnx::TensorProto::FLOAT: return element_type::float32;
        case onnx::TensorProto::DOUBLE: return element_type::float64;
        case onnx::TensorProto::INT8: return element_type::int8;
        case onnx::TensorProto::INT16: return element_type::int16;
        case onnx::TensorProto::INT32: return element_type::int32;
        case onnx::TensorProto::INT64: return element_type::int64;
        case onnx::TensorProto::UINT8: return element_type::uint8;
        case onnx::TensorProto::UINT16: return element_type::uint16;
        case onnx::TensorProto::UINT32: return element_type::uint32;
        case onnx::TensorProto::UINT64: return element_type::uint64;
        case onnx::TensorProto::BOOL: return element_type::boolean;
        case onnx::TensorProto::FLOAT16: return element_type::float16;
        case onnx::TensorProto::BFLOAT16: return element_type::bfloat16;
        case onnx::TensorProto::UNDEFINED: return element_type::unknown;
        default: return element_type::other;
    }
}
/// ONNX's word for a type that is `other`; none for others.
inline std::string other_type_of_onnx(int type) {
    if (type_of_onnx(type) != element_type::other) return {};
    bool const known = onnx::TensorProto::DataType_IsValid(type);
    return known ? onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(type)) : "type " + std::to_string(type);
}

/// A tensor with its elements; none of a type that is `other`.
struct onnx_constant {
    element_type type = element_type::unknown;
    std::vector<std::int64_t> extents = {};
    std::vector<std::byte> bytes = {};
    std::string type_name = {};
};

/// Reads tensors with elements of one model.
class onnx_constants {
  public:
    /// @param model  the path of the model: its folder is where files with constants may lie
    explicit onnx_constants(std::filesystem::path const& model) : file_(model.string()), folder_(model.parent_path()) {}

    /// @param part  the node or tensor, for errors
    onnx_constant read(onnx::TensorProto const& from, std::string const& part) {
        onnx_constant made{type_of_onnx(from.data_type()), {from.dims().begin(), from.dims().end()}};
        if (made.type == element_type::unknown) refuse(file_, refusal::element_type, part, "UNDEFINED");
        made.type_name = other_type_of_onnx(from.data_type());
        if (made.type == element_type::other) return made;
        if (from.has_segment()) refuse(file_, refusal::external_data, part, "segments of tensors");
        std::int64_t const bytes = bytes_needed(made, part);
        if (from.data_location() == onnx::TensorProto::EXTERNAL) {
            made.bytes = external(from, bytes, part);
        } else if (from.has_raw_data()) {
            if (listed(from) > 0) refuse(file_, refusal::contradiction, part, "raw_data and a list of elements");
            auto const* first = reinterpret_cast<std::byte const*>(from.raw_data().data());
            made.bytes.assign(first, first + from.raw_data().size());
        } else {
            made.bytes = from_list(from, made.type, part);
        }
        return made;
    }

  private:
    std::int64_t bytes_needed(onnx_constant const& one, std::string const& part) const {
        tensor_shape shape;
        for (std::int64_t const extent : one.extents) shape.push_back({extent, {}});
        auto const elements = elements_of(shape);
        std::int64_t bytes = 0;
        if (!elements || __builtin_mul_overflow(*elements, bytes_of(one.type), &bytes)) refuse(file_, refusal::shape, part, as_text(shape));
        return bytes;
    }

    static int listed(onnx::TensorProto const& from) {
        return std::max({from.float_data_size(), from.int32_data_size(), from.int64_data_size(), from.double_data_size(),
                         from.uint64_data_size(), from.string_data_size()});
    }

    /// The elements out of the list that ONNX keeps those of this type in.
    std::vector<std::byte> from_list(onnx::TensorProto const& from, element_type type, std::string const& part) const {
        std::vector<std::byte> bytes;
        int taken = 0;
        auto const integers = [&](auto const& list) {
            taken = list.size();
            for (auto const value : list) {
                // The bits of a float stand in the lower half of an int32, which some writers extend by its sign.
                bool const is_pattern = !is_half(type) || std::in_range<std::int16_t>(value) || std::in_range<std::uint16_t>(value);
                bool const fits = type == element_type::uint64 ||
                                  (std::in_range<std::int64_t>(value) && can_hold(type, static_cast<std::int64_t>(value)) && is_pattern);
                if (!fits) refuse(file_, refusal::constant_value, part, std::to_string(value) + " in " + std::string(name_of(type)));
                append_bytes(bytes, static_cast<std::uint64_t>(value), bytes_of(type));
            }
        };
        switch (type) {
            case element_type::float32:
                taken = from.float_data_size();
                for (float const value : from.float_data()) append_bytes(bytes, std::bit_cast<std::uint32_t>(value), 4);
                break;
            case element_type::float64:
                taken = from.double_data_size();
                for (double const value : from.double_data()) append_bytes(bytes, std::bit_cast<std::uint64_t>(value), 8);
                break;
            case element_type::int64: integers(from.int64_data()); break;
            case element_type::uint32:
            case element_type::uint64: integers(from.uint64_data()); break;
            default: integers(from.int32_data()); break;
        }
        if (taken != listed(from))
            refuse(file_, refusal::contradiction, part, "elements in a list of another type than " + std::string(name_of(type)));
        return bytes;
    }

    /// A number of an entry of external_data.
    std::uintmax_t number(std::string const& text, std::string const& part) const {
        std::uintmax_t value = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size()) {
            refuse(file_, refusal::external_data, part, shown(text) + " is no number of bytes");
        }
        return value;
    }

    /// The file of a location, inside the folder of the model, wherever links in it lead.
    std::filesystem::path inside(std::string const& location, std::string const& part) const {
        namespace fs = std::filesystem;
        fs::path const relative = fs::path(location).lexically_normal();
        if (location.empty() || location.find('\0') != std::string::npos) refuse(file_, refusal::external_data, part, "no location");
        if (relative.is_absolute() || *relative.begin() == "..") refuse(file_, refusal::path_leaves_folder, part, shown(location));
        std::error_code error;
        fs::path const folder = fs::canonical(folder_.empty() ? "." : folder_, error);
        if (error) refuse(file_, refusal::missing_file, part, shown(location));
        fs::path const found = fs::canonical(folder / relative, error);
        if (error) refuse(file_, refusal::missing_file, part, shown(location));
        if (std::mismatch(folder.begin(), folder.end(), found.begin(), found.end()).first != folder.end()) {
            refuse(file_, refusal::path_leaves_folder, part, shown(location) + " is a link");
        }
        if (!fs::is_regular_file(found, error)) refuse(file_, refusal::external_data, part, shown(location) + " is no file");
        return found;
    }

    std::vector<std::byte> external(onnx::TensorProto const& from, std::int64_t bytes, std::string const& part) {
        if (from.has_raw_data() || listed(from) > 0)
            refuse(file_, refusal::contradiction, part, "elements inside and outside of the model");
        std::string location;
        std::uintmax_t offset = 0;
        std::optional<std::uintmax_t> length;
        for (auto const& entry : from.external_data()) {
            if (entry.key() == "location") {
                location = entry.value();
            } else if (entry.key() == "offset") {
                offset = number(entry.value(), part);
            } else if (entry.key() == "length") {
                length = number(entry.value(), part);
            } else if (entry.key() != "checksum") {
                refuse(file_, refusal::external_data, part, "an entry " + shown(entry.key()));
            }
        }
        std::filesystem::path const path = inside(location, part);
        std::error_code error;
        std::uintmax_t const size = std::filesystem::file_size(path, error);
        if (error || offset > size || length.value_or(0) > size - offset) {
            refuse(file_, refusal::external_data, part,
                   shown(location) + " has " + std::to_string(size) + " bytes; from " + std::to_string(offset) + " on, " +
                       std::to_string(length.value_or(static_cast<std::uintmax_t>(bytes))) + " are wanted");
        }
        std::uintmax_t const count = length.value_or(size - offset);
        if (count != static_cast<std::uintmax_t>(bytes)) {
            refuse(file_, refusal::constant_size, part,
                   std::to_string(count) + " bytes of " + shown(location) + ", and the shape needs " + std::to_string(bytes));
        }
        if (count > largest_file) refuse(file_, refusal::too_large, part, std::to_string(count) + " bytes of " + shown(location));
        budgets_.try_emplace(path, size, file_).first->second.spend(count, part);
        return read_bytes(path, offset, count, file_);
    }

    std::string file_;
    std::filesystem::path folder_;
    std::map<std::filesystem::path, copy_budget> budgets_;
};

}  // namespace tilewright::network::detail
