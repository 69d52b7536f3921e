#pragma once
#include <algorithm>
#include <array>
#include <tilewright/network/file_bytes.hpp>
#include <tilewright/network/graph.hpp>

// Inputs of networks as people keep them: arrays of NumPy, or bare bytes.
namespace tilewright::network {

/// What NumPy calls elements of a type that are little-endian: `<f4`, `|i1`.
inline std::string_view numpy_name_of(element_type type) {
    constexpr std::array<std::string_view, 15> names = {"?",   "<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1",
                                                        "<u2", "<u4", "<u8", "|b1", "<f2", "?",   "?"};
    return names[static_cast<std::size_t>(type)];
}

namespace detail {

/// A value of the dictionary that is the header of an array: what follows `'key':`, up to `end`.
inline std::string_view numpy_value(std::string_view header, std::string_view key, char end) {
    std::string const quoted = "'" + std::string(key) + "':";
    std::size_t const at = header.find(quoted);
    if (at == std::string_view::npos) return {};
    std::string_view value = header.substr(at + quoted.size());
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    std::size_t const stop = value.find(end);
    return stop == std::string_view::npos ? std::string_view() : value.substr(0, stop);
}

}  // namespace detail

/// The elements of an input, row by row, out of a file: an array of NumPy (`.npy`) of this type and shape, in C order, or, by any other
/// name, the bytes themselves, little-endian.
///
/// @throw model_error  `unreadable`, or `input_elements` where the file has other elements than are wanted, with both
inline std::vector<std::byte> read_input(std::filesystem::path const& path, element_type type, std::vector<std::int64_t> const& extents) {
    std::vector<std::byte> bytes = read_bytes(path);
    std::int64_t count = bytes_of(type);
    std::string shape;
    for (std::int64_t const one : extents) count *= one, shape += (shape.empty() ? "" : ", ") + std::to_string(one);
    std::string const wanted = std::string(name_of(type)) + " [" + shape + "], " + std::to_string(count) + " bytes";
    auto const other = [&](std::string const& has) { refuse(path.string(), refusal::input_elements, {}, has + "; wanted: " + wanted); };
    if (path.extension() == ".npy") {
        constexpr std::size_t before = 10;  // magic, version, length of the header
        auto const number = [&](std::size_t at) { return at < bytes.size() ? std::to_integer<std::size_t>(bytes[at]) : 0; };
        std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
        std::size_t const end = before + number(8) + (number(9) << 8);
        if (!text.starts_with("\x93NUMPY\x01") || end > bytes.size()) other("no array of NumPy of version 1");
        std::string_view const header = text.substr(before, end - before);
        std::string_view const elements = detail::numpy_value(header, "descr", ','),
                               order = detail::numpy_value(header, "fortran_order", ','), has = detail::numpy_value(header, "shape", ')');
        std::string plain;
        for (char const letter : has) {
            if (letter != '(' && letter != ' ') plain += letter;
        }
        if (plain.ends_with(',')) plain.pop_back();
        std::string listed;
        for (std::int64_t const one : extents) listed += (listed.empty() ? "" : ",") + std::to_string(one);
        bool const same_type = elements == "'" + std::string(numpy_name_of(type)) + "'";
        if (!same_type || order != "False" || plain != listed)
            other(printable(elements) + " [" + printable(plain) + "]" + (order == "False" ? "" : " in the order of Fortran"));
        bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(end));
    }
    if (bytes.size() != static_cast<std::size_t>(count)) other(std::to_string(bytes.size()) + " bytes");
    return bytes;
}

}  // namespace tilewright::network
