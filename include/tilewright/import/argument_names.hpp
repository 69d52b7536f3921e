#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <tilewright/base/label.hpp>
#include <tilewright/c_source/names.hpp>
#include <tilewright/network/graph.hpp>

// What the inputs and outputs of a network are called in C.
namespace tilewright::imported {

struct names_of_arguments {
    std::vector<std::string> inputs = {}, outputs = {};
};

namespace detail {

/// Whether kernels have such a name for themselves, or a memory has it.
inline bool is_internal(std::string const& name) {
    static constexpr std::string_view words[] = {"arena", "weights", "memories", "dram",    "processor", "cpu",
                                                 "row",   "group",   "member",   "channel", "tap",       "step",
                                                 "phase", "pick",    "other",    "from",    "update",    "beside"},
                                      numbered[] = {"c", "i", "in", "k", "once", "out", "r", "t", "w"};
    std::string const stem = name.substr(0, name.find_last_not_of("0123456789") + 1);
    bool const has_number = stem.size() < name.size();
    return std::find(std::begin(words), std::end(words), stem) != std::end(words) ||
           (has_number && std::find(std::begin(numbered), std::end(numbered), stem) != std::end(numbered));
}
/// A name of the model as an identifier of C, or nothing where it can be none.
inline std::string as_identifier(std::string name) {
    for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
    // Names that begin with an underscore are the compiler's.
    bool const begins = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
    bool const fits = begins && name.size() <= static_cast<std::size_t>(ir::label::longest);
    return fits && !halide::detail::is_reserved(name) && !is_internal(name) ? name : std::string();
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

}  // namespace tilewright::imported
