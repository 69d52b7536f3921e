#pragma once
#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tilewright/base/label_text.hpp>
#include <tilewright/import/layers.hpp>
#include <utility>
#include <vector>

// Tensors and layers of a network by the names that a person knows: those of the program (`t0`, `k2`) and those of the model.
namespace tilewright::imported {

namespace detail {

/// By how many letters two names differ: the least number of letters that are changed, left out or added. Capital letters count as others.
inline std::size_t letters_apart(std::string const& a, std::string const& b) {
    auto const lower = [](char letter) { return std::tolower(static_cast<unsigned char>(letter)); };
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t at = 0; at < row.size(); ++at) row[at] = at;
    for (std::size_t of_a = 1; of_a <= a.size(); ++of_a) {
        std::size_t before = std::exchange(row[0], of_a);
        for (std::size_t of_b = 1; of_b <= b.size(); ++of_b) {
            std::size_t const changed = before + (lower(a[of_a - 1]) != lower(b[of_b - 1]) ? 1 : 0);
            before = row[of_b];
            row[of_b] = std::min({changed, row[of_b] + 1, row[of_b - 1] + 1});
        }
    }
    return row[b.size()];
}
/// Whether the elements of a view are so many of its tensor, each once.
inline bool has_elements(view const& what, std::int64_t count) {
    if (what.elements() != count) return false;
    for (factors const& dimension : what.dimensions) {
        for (factor const& one : dimension) {
            bool const moves = std::any_of(one.steps.begin(), one.steps.end(), [](std::int64_t step) { return step != 0; });
            if (!moves && one.extent > 1) return false;
        }
    }
    return true;
}
inline bool is_all_of_tensor(view const& what) { return has_elements(what, count_of(what.of.extents)); }
/// Whether its elements are those of a box.
inline bool is_all_of(index_box const& box, view const& what) {
    std::int64_t count = 1;
    for (std::size_t at = 0; at < box.first.size(); ++at) count *= box.last[at] - box.first[at] + 1;
    return box == box_around(what) && has_elements(what, count);
}

}  // namespace detail

/// What a name is the name of.
struct found_name {
    std::string name = {};  ///< in the program
    std::string why = {};   ///< not empty: it is the name of nothing there, or of several things; then what is wrong and what else there is
};

/// Finds tensors and layers of a network by their names, and the names that it shows of them.
class name_finder {
  public:
    explicit name_finder(layers const& of) {
        for (auto const* const all : {&of.inputs, &of.outputs}) {
            for (stored const& one : *all) add(tensors_, one.name.str(), one.name.str());
        }
        std::map<std::string, std::vector<std::pair<std::string, index_box>>> makers;  // of tensors, and what each makes of it
        std::set<std::size_t> computed;                                                // nodes
        for (layer const& one : of.all) {
            std::string const kernel = one.known_as().str(), result = whole_result_of(one);
            add(layers_, kernel, kernel), made_for_[one.name.str()] = one.made_for;
            makers[result].emplace_back(kernel, box_made_by(one));
            if (one.nodes.back().name.str() == result) add(tensors_, result, result);
            else cut_[one.nodes.back().name.str()] = result;
            for (std::size_t const node : nodes_of_text(one.made_for)) {
                if (node >= of.names.nodes.size() || of.names.nodes[node].empty()) continue;
                add(layers_, of.names.nodes[node], kernel), computed.insert(node);
            }
        }
        for (known_tensor const& one : of.constants) add(tensors_, one.what.name.str(), one.what.name.str());
        for (std::size_t node = 0; node < of.names.nodes.size(); ++node) {
            if (!of.names.nodes[node].empty() && computed.count(node) == 0) without_kernel_.insert(of.names.nodes[node]);
        }
        for (model_names::tensor const& one : of.names.tensors) {
            auto const& what = of.tensors.at(one.at);
            if (!what) {
                elsewhere_.emplace(one.name, std::string());
                continue;
            }
            std::string const stored = what->of.name.str();
            bool const is_whole = detail::is_all_of_tensor(*what);
            if (is_whole) model_names_.emplace(stored, one.name);  // the first one stays
            if (auto const made_by = makers.find(stored); made_by != makers.end()) {
                for (auto const& [kernel, box] : made_by->second) {
                    bool const is_part = !is_whole && detail::is_all_of(box, *what);
                    if (is_part) parts_.emplace(kernel, one.name);
                    if (is_whole || is_part) add(layers_, one.name, kernel);
                }
            }
            if (tensors_.ids.count(stored) == 0) elsewhere_.emplace(one.name, std::string());
            else if (is_whole) add(tensors_, one.name, stored);
            else elsewhere_.emplace(one.name, stored);
        }
    }

    /// The tensor of the program that has this name there or in the model.
    found_name tensor(std::string const& said) const {
        auto const elsewhere = elsewhere_.find(said);
        if (elsewhere == elsewhere_.end()) return find(tensors_, said, "tensor");
        if (auto const found = tensors_.by_name.find(said); found != tensors_.by_name.end())
            return several(tensors_, found->second, ", and of another tensor of the model");
        if (elsewhere->second.empty()) return {{}, "which no kernel stores: it stays in one, or is known before"};
        return {{}, "which is a part of " + shown_tensor(elsewhere->second) + ": say where all of that lies"};
    }
    /// The layer whose kernel has this name, or whose node or result has it in the model.
    found_name layer_named(std::string const& said) const {
        if (without_kernel_.count(said) == 0) return find(layers_, said, "layer");
        auto const found = layers_.by_name.find(said);
        if (found == layers_.by_name.end()) return {{}, "which is a node that no kernel computes by itself"};
        return several(layers_, found->second, ", and of a node that no kernel computes by itself");
    }
    /// A name by which `layer_named` finds this layer, its kernel's before others. Empty: each is that of another one, too.
    std::string name_for_layer(std::string const& kernel) const { return name_for(layers_, kernel); }
    /// A name by which `tensor` finds this one, the one that is shown before others.
    std::string name_for_tensor(std::string const& id) const {
        std::string const name = model_name_of(id);
        return !name.empty() && tensor(name).name == id ? name : name_for(tensors_, id);
    }
    /// The model's name of a tensor, of which this may be a strip; of several, the first that is computed. Empty: it has none.
    std::string model_name_of(std::string const& tensor) const {
        auto const whole = cut_.find(tensor);
        auto const found = model_names_.find(whole == cut_.end() ? tensor : whole->second);
        return found == model_names_.end() ? std::string() : found->second;
    }
    /// A tensor for a line: "t0 (`first`)", or "t0" where the model has no other name for it.
    std::string shown_tensor(std::string const& tensor) const {
        std::string const name = model_name_of(tensor);
        return name.empty() || name == tensor ? tensor : tensor + " (" + network::shown(name) + ")";
    }
    /// What a kernel makes, likewise; "t8 (`joined`), of it `first`" where it makes a part that has a name in the model.
    std::string shown_result(layer const& of) const {
        std::string const whole = shown_tensor(of.nodes.back().name.str());
        auto const part = parts_.find(of.name.str());
        return part == parts_.end() ? whole : whole + ", of it " + network::shown(part->second);
    }
    /// A kernel for a line: "k2, node 2 (`CONV_2D`)", or its name alone where no layer has it.
    std::string shown_kernel(std::string const& kernel) const {
        auto const found = made_for_.find(kernel);
        return found == made_for_.end() || found->second.empty() ? "`" + kernel + "`" : kernel + ", " + found->second;
    }
    bool is_tensor(std::string const& name) const { return tensors_.ids.count(name) != 0 || cut_.count(name) != 0; }
    bool is_kernel(std::string const& name) const { return made_for_.count(name) != 0; }

  private:
    /// Things of a program by their names.
    struct name_list {
        std::map<std::string, std::vector<std::string>> by_name = {};  ///< those that have a name, by their names in the program
        std::set<std::string> ids = {};                                ///< names in the program
        std::vector<std::pair<std::string, std::string>> all = {};     ///< names in the order in which they come, and what has them
    };

    static void add(name_list& to, std::string const& name, std::string const& id) {
        std::vector<std::string>& known = to.by_name[name];
        if (name == id) to.ids.insert(id);
        if (std::find(known.begin(), known.end(), id) != known.end()) return;
        known.push_back(id), to.all.emplace_back(name, id);
    }
    /// The tensor that a layer makes, or of which a strip of it makes one.
    static std::string whole_result_of(layer const& of) {
        std::string result = of.nodes.back().name.str();
        if (of.strip_of.empty()) return result;
        std::string const ending = of.name.str().substr(of.strip_of.str().size());
        if (result.ends_with(ending) && result.size() > ending.size()) result.resize(result.size() - ending.size());
        return result;
    }
    /// The numbers of nodes in "node 3 (`Conv`), node 4 (`Relu`)".
    static std::vector<std::size_t> nodes_of_text(std::string const& made_for) {
        constexpr std::string_view word = "node ";
        std::vector<std::size_t> made;
        for (std::size_t at = made_for.find(word); at != std::string::npos; at = made_for.find(word, at + 1)) {
            char const *const begin = made_for.data() + at + word.size(), *const end = made_for.data() + made_for.size();
            std::size_t number = 0;
            if (std::from_chars(begin, end, number).ec == std::errc()) made.push_back(number);
        }
        return made;
    }
    static std::string listed(std::vector<std::string> const& all, std::size_t most, char const* last) {
        std::string text;
        std::size_t const shown = all.size() <= most + 1 ? all.size() : most, left = all.size() - shown;
        for (std::size_t at = 0; at < shown; ++at) text += (at == 0 ? "" : left == 0 && at + 1 == shown ? last : ", ") + all[at];
        return text + (left > 0 ? " and " + std::to_string(left) + " others" : "");
    }
    std::string shown(name_list const& in, std::string const& id) const { return &in == &tensors_ ? shown_tensor(id) : id; }

    found_name find(name_list const& in, std::string const& said, char const* what) const {
        auto const found = in.by_name.find(said);
        if (found == in.by_name.end()) return {{}, std::string("and the network has no such ") + what + ": " + close_to(in, said)};
        if (found->second.size() == 1) return {found->second[0]};
        return several(in, found->second, "");
    }
    found_name several(name_list const& in, std::vector<std::string> const& all, char const* besides) const {
        std::vector<std::string> are, ways;
        for (std::string const& id : all) {
            are.push_back(shown(in, id));
            if (std::string const way = name_for(in, id); !way.empty()) ways.push_back(network::shown(way));
        }
        return {{},
                "which is the name of " + listed(are, 3, " and ") + besides +
                    (ways.empty() ? ": rename it in the model" : ": say " + listed(ways, 3, " or "))};
    }
    std::string name_for(name_list const& in, std::string const& id) const {
        std::string made;
        for (auto const& [name, of] : in.all) {
            bool const is_of_others = &in == &tensors_ ? elsewhere_.count(name) != 0 : without_kernel_.count(name) != 0;
            if (of != id || is_of_others || in.by_name.at(name).size() > 1) continue;
            if (name == id) return name;
            if (made.empty()) made = name;
        }
        return made;
    }
    /// The names that differ least from one that is not there, or else the first ones.
    std::string close_to(name_list const& in, std::string const& said) const {
        std::vector<std::pair<std::size_t, std::string>> close;
        std::vector<std::string> some;
        for (auto const& [name, id] : in.all) {
            std::string const text = name == id ? shown(in, id) : network::shown(name) + " (" + id + ")";
            bool const holds = said.size() > 2 && name.find(said) != std::string::npos;
            std::size_t const apart = holds ? 1 : detail::letters_apart(said, name);
            if (apart <= std::max<std::size_t>(1, said.size() / 3)) close.emplace_back(apart, text);
            if (name == id) some.push_back(text);
        }
        if (close.empty()) return some.empty() ? "it has none" : "it has " + listed(some, 3, " and ");
        std::stable_sort(close.begin(), close.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
        some.clear();
        for (std::size_t at = 0; at < std::min<std::size_t>(close.size(), 3); ++at) some.push_back(close[at].second);
        return "close to it " + std::string(some.size() == 1 ? "is " : "are ") + listed(some, 3, " and ");
    }

    name_list tensors_ = {}, layers_ = {};
    std::map<std::string, std::string> made_for_ = {};     ///< by kernel
    std::map<std::string, std::string> model_names_ = {};  ///< by tensor of the program: the first
    std::map<std::string, std::string> parts_ = {};        ///< by kernel: the model's name of the part that it makes of a tensor
    std::map<std::string, std::string> cut_ = {};          ///< strips, by name: the tensor that they are of
    std::map<std::string, std::string> elsewhere_ = {};    ///< names of the model: the tensor that each is a part of, or nothing
    std::set<std::string> without_kernel_ = {};            ///< names of nodes that no kernel is made for
};

}  // namespace tilewright::imported
