#pragma once
#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <tilewright/network/complete.hpp>
#include <vector>

// Extents that a model leaves to run time, often that of images in a batch. What is planned has numbers.
namespace tilewright::network {

/// A name and numbers: those of an extent, of which the name is the model's, or all of an input.
struct given_extents {
    std::string name = {};
    std::vector<std::int64_t> extents = {};
};

namespace detail {

/// The inputs with their shapes, in which extents that are open have their names.
inline std::string inputs_of(graph const& of) {
    std::string text;
    for (tensor_id const id : of.inputs) {
        tensor const& one = of.at(id);
        text += (text.empty() ? "" : ", ") + shown(one.name) + (one.shape ? " " + as_text(*one.shape) : "");
    }
    return text;
}

/// Gives a number to the extents of a name. @return how many there are
inline int give_to_symbol(graph& of, std::string const& symbol, std::int64_t extent) {
    int given = 0;
    for (tensor& one : of.tensors) {
        if (!one.shape || symbol.empty()) continue;
        for (dimension& along : *one.shape) {
            if (along.extent || along.symbol != symbol) continue;
            ++given;
            along = {extent, {}};
        }
    }
    return given;
}

inline void give_to_input(graph& of, tensor_id id, given_extents const& given) {
    tensor const& one = of.at(id);
    tensor_shape const said = one.shape.value_or(tensor_shape(given.extents.size()));
    bool fits = said.size() == given.extents.size();
    for (std::size_t at = 0; fits && at < said.size(); ++at) fits = !said[at].extent || *said[at].extent == given.extents[at];
    if (!fits) {
        tensor_shape shape;
        for (std::int64_t const extent : given.extents) shape.push_back({extent, {}});
        throw std::invalid_argument("input " + shown(one.name) + " is " + as_text(said) + ", and " + as_text(shape) + " is given");
    }
    for (std::size_t at = 0; at < said.size(); ++at) {
        if (!said[at].extent) give_to_symbol(of, said[at].symbol, given.extents[at]);
    }
    tensor_shape& made = of.at(id).shape.emplace(said);
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = {given.extents[at], {}};
}

}  // namespace detail

/// Gives numbers to extents that a graph leaves to run time. An extent of an input that has a name is one of that name everywhere.
///
/// @throws std::invalid_argument  where a name is neither that of an extent nor of an input, with those that there are; where the input has
///                                other extents; where an extent is below 1
inline void give_extents(graph& of, std::span<given_extents const> all) {
    for (given_extents const& one : all) {
        bool const counts = std::all_of(one.extents.begin(), one.extents.end(), [](std::int64_t extent) { return extent >= 1; });
        if (!counts) throw std::invalid_argument("an extent of " + shown(one.name) + " is below 1");
        if (one.extents.size() == 1 && detail::give_to_symbol(of, one.name, one.extents[0]) > 0) continue;
        auto const input = std::find_if(of.inputs.begin(), of.inputs.end(), [&](tensor_id id) { return of.at(id).name == one.name; });
        if (input == of.inputs.end())
            throw std::invalid_argument("no extent and no input is called " + shown(one.name) + "; there is " + detail::inputs_of(of));
        detail::give_to_input(of, *input, one);
    }
}

/// What to say where shapes of inputs are not all numbers: which these are, and how they are given. Empty where all are.
inline std::string way_to_give_extents(graph const& of) {
    std::string inputs, in_tool, in_cmake;
    std::vector<std::string> names;
    auto const add = [&](std::string const& name, std::string const& numbers) {
        if (std::find(names.begin(), names.end(), name) != names.end()) return;
        names.push_back(name);
        in_tool += " --extent " + printable(name) + "=" + numbers, in_cmake += " " + printable(name) + "=" + numbers;
    };
    for (tensor_id const id : of.inputs) {
        tensor const& one = of.at(id);
        auto const is_open = [](dimension const& along) { return !along.extent && along.usual == 0; };
        if (one.shape && std::none_of(one.shape->begin(), one.shape->end(), is_open)) continue;
        inputs += (inputs.empty() ? "" : ", ") + shown(one.name) + " " + (one.shape ? detail::as_text(*one.shape) : "of any shape");
        std::string numbers;
        bool all_named = one.shape.has_value();
        for (dimension const& along : one.shape.value_or(tensor_shape{})) {
            all_named = all_named && (!is_open(along) || !along.symbol.empty());
            numbers += (numbers.empty() ? "" : ",") + std::to_string(along.extent.value_or(1));
        }
        if (!all_named) add(one.name, one.shape ? numbers : "1,…");
        for (dimension const& along : one.shape.value_or(tensor_shape{})) {
            if (all_named && is_open(along)) add(along.symbol, "1");
        }
    }
    if (inputs.empty()) return {};
    return "extents are left to run time, of inputs " + inputs + "; numbers are given by" + in_tool + " of the tool, EXTENTS" + in_cmake +
           " in CMake, or network::give_extents";
}

}  // namespace tilewright::network
