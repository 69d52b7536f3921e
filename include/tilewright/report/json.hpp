#pragma once
#include <cstdio>
#include <optional>
#include <string_view>
#include <tilewright/base/label_text.hpp>
#include <tilewright/report/print.hpp>
#include <type_traits>

namespace tilewright {

namespace detail {

/// Bytes of the UTF-8 character that `text` begins with; 0 when it begins with none.
inline std::size_t utf8_length(std::string_view text) {
    auto const byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    unsigned const first = byte(0);
    std::size_t const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length > text.size()) return 0;
    for (std::size_t at = 1; at < length; ++at) {
        // The second byte rules out forms that are too long, surrogates, and what lies above U+10FFFF.
        unsigned const low = at > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        unsigned const high = at > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (byte(at) < low || byte(at) > high) return 0;
    }
    return length;
}

/// A JSON string. What is not UTF-8 becomes U+FFFD: a name that was cut may end inside a character.
inline void quote(std::string& into, std::string_view text) {
    into += '"';
    while (!text.empty()) {
        std::size_t const length = utf8_length(text);
        if (length == 0) into += "\\ufffd";
        else if (text[0] == '"' || text[0] == '\\') (into += '\\') += text[0];
        else if (static_cast<unsigned char>(text[0]) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(text[0]));
            into += escape;
        } else into += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    into += '"';
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
void write_json(std::string& into, T const& value) {
    if constexpr (reflected<T>) {
        char between = '{';
        each_member(value, [&](char const* name, auto const& member) {
            into += between;
            between = ',';
            quote(into, name);
            into += ':';
            write_json(into, member);
        });
        into += '}';
    } else if constexpr (is_optional<T>) {
        if (value) write_json(into, *value);
        else into += "null";
    } else if constexpr (std::is_same_v<T, label>) {
        quote(into, value.str());
    } else if constexpr (std::is_same_v<T, device_address>) {
        if (value.value == no_address) into += "null";
        else quote(into, reports::hexadecimal(value.value));
    } else if constexpr (std::is_convertible_v<T const&, std::string_view>) {
        quote(into, value);
    } else if constexpr (range_of_parts<T>) {
        into += '[';
        bool first = true;
        for (auto const& part : value) {
            if (!first) into += ',';
            first = false;
            write_json(into, part);
        }
        into += ']';
    } else if constexpr (std::is_same_v<T, bool>) {
        into += value ? "true" : "false";
    } else if constexpr (has_name_of<T>) {
        quote(into, name_of(value));
    } else {
        into += std::to_string(value);
    }
}

}  // namespace detail

/// A description as one line of JSON (RFC 8259): members by name, lists as arrays, enumerators and addresses as strings, no address as
/// null.
template <reflected T>
std::string to_json(T const& description) {
    std::string text;
    detail::write_json(text, description);
    return text;
}

}  // namespace tilewright
