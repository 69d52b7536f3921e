#pragma once
#include <concepts>
#include <tilewright/base/label_text.hpp>
#include <tilewright/machine/structural.hpp>
#include <tilewright/report/table.hpp>
#include <type_traits>

namespace tilewright {

namespace detail {

template <class T>
void print(std::string& into, T const& value) {
    if constexpr (reflected<T>) {
        into += '{';
        bool first = true;
        boost::hana::unpack(members_of<T>(), [&](auto const&... members) {
            auto const one = [&](auto const& name, auto const& member) {
                auto const shown = member(value);
                if constexpr (std::default_initializable<T>) {
                    if (tilewright::equal(shown, member(T{}))) return;
                }
                into += first ? "." : ", .";
                first = false;
                into += name.c_str();
                into += " = ";
                print(into, shown);
            };
            (one(boost::hana::first(members), boost::hana::second(members)), ...);
        });
        into += '}';
    } else if constexpr (std::is_same_v<T, label>) {
        into += '"' + value.str() + '"';
    } else if constexpr (std::is_same_v<T, device_address>) {
        into += value.value == no_address ? "no_address" : reports::hexadecimal(value.value);
    } else if constexpr (range_of_parts<T>) {
        into += '{';
        bool first = true;
        for (auto const& part : value) {
            if (!first) into += ", ";
            first = false;
            print(into, part);
        }
        into += '}';
    } else if constexpr (std::is_same_v<T, bool>) {
        into += value ? "true" : "false";
    } else if constexpr (has_name_of<T>) {
        into += name_of(value);
    } else {
        into += std::to_string(value);
    }
}

}  // namespace detail

/// A description as its designated initialisers: `{.name = "spad", .base = 0x50000000, .capacity = 262144}`. Members that have their
/// default are left out, where the description has one.
template <reflected T>
std::string to_string(T const& description) {
    std::string text;
    detail::print(text, description);
    return text;
}

}  // namespace tilewright
