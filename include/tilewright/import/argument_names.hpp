#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/names.hpp>
#include <tilewright/import/layers.hpp>
#include <utility>

// What the inputs and outputs of a network are called in C.
namespace tilewright::imported {

struct names_of_arguments {
    std::vector<std::string> inputs = {}, outputs = {};
};

namespace detail {

/// A name of the model as an identifier of C, or nothing where it can be none.
inline std::string as_identifier(std::string name) {
    for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
    // Names that begin with an underscore are the compiler's.
    bool const begins = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
    bool const fits = begins && name.size() <= static_cast<std::size_t>(ir::label::longest);
    return fits && !halide::detail::is_reserved(name) ? name : std::string();
}

}  // namespace detail

/// The model's own names, other characters as `_`, where these are identifiers of at most 23 letters that nothing else has; or else `in0`,
/// `out0`, … by their position.
inline names_of_arguments argument_names(network::graph const& of) {
    std::map<std::string, int> times;
    auto const own = [&](network::tensor_id id) { return detail::as_identifier(of.tensors[static_cast<std::size_t>(id)].name); };
    for (auto const* all : {&of.inputs, &of.outputs}) {
        for (network::tensor_id const one : *all) ++times[own(one)];
    }
    auto const named = [&](std::vector<network::tensor_id> const& all, char const* otherwise) {
        std::vector<std::string> made;
        for (network::tensor_id const one : all) {
            std::string const name = own(one);
            made.push_back(!name.empty() && times[name] == 1 ? name : otherwise + std::to_string(made.size()));
        }
        return made;
    };
    return {named(of.inputs, "in"), named(of.outputs, "out")};
}

/// Gives arguments these names, but for those that something in the kernels or in the program has.
inline void name_arguments(layers& of, names_of_arguments const& names) {
    std::set<std::string> taken{"arena", "weights", "element", "memories", "dram", "processor", "cpu"};
    for (layer const& one : of.all) {
        taken.insert(one.name.str());
        for (ir::node const& node : one.nodes) taken.insert(node.name.str());
    }
    for (known_tensor const& one : of.constants) taken.insert(one.what.name.str());
    std::map<std::string, ir::label> renamed;
    auto const rename = [&](std::vector<stored>& all, std::vector<std::string> const& to) {
        for (std::size_t at = 0; at < all.size(); ++at) {
            if (taken.count(to[at]) != 0) continue;
            ir::label const name(to[at].c_str());
            renamed.emplace(std::exchange(all[at].name, name).str(), name);
        }
    };
    rename(of.inputs, names.inputs), rename(of.outputs, names.outputs);
    for (std::optional<view>& one : of.tensors) {
        if (!one) continue;
        if (auto const found = renamed.find(one->of.name.str()); found != renamed.end()) one->of.name = found->second;
    }
    for (layer& one : of.all) {
        for (ir::node& node : one.nodes) {
            if (node.op != operation::access && node.op != operation::store) continue;
            if (auto const found = renamed.find(node.name.str()); found != renamed.end()) node.name = found->second;
        }
    }
}

}  // namespace tilewright::imported
