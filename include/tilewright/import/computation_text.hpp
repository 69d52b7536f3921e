#pragma once
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <tilewright/c_source/names.hpp>
#include <tilewright/report/formula.hpp>

// A computation as C++ of the compute language.
namespace tilewright::imported {

/// A scalar type as C++ writes it: "std::int8_t".
inline std::string type_text(scalar_type type) {
    switch (type) {
        case scalar_type::boolean: return "bool";
        case scalar_type::float32: return "float";
        case scalar_type::float64: return "double";
        case scalar_type::float16:
        case scalar_type::bfloat16: return name_of(type);
        default: return "std::" + std::string(name_of(type)) + "_t";
    }
}
/// A constant as a literal of C++ that becomes the same constant beside an operand of its type.
/// @return nothing where no literal does
inline std::string literal_text(ir::node const& n) {
    if (n.type == scalar_type::float32 || n.type == scalar_type::float64) {
        double const value = std::bit_cast<double>(n.value);
        bool const single = n.type == scalar_type::float32;
        if (value != 0 && value + value == value)
            return (value < 0 ? "-std::numeric_limits<" : "std::numeric_limits<") + type_text(n.type) + ">::infinity()";
        // What is no number has no literal, nor has a number that a float does not have.
        if (value != value || (single && static_cast<double>(static_cast<float>(value)) != value)) return {};
        return reports::constant_text(n) + (single ? "f" : "");
    }
    bool const has_literal = n.type != scalar_type::literal && !is_half(n.type) && n.value != std::numeric_limits<std::int64_t>::min() &&
                             (n.type != scalar_type::uint64 || n.value >= 0);
    return has_literal ? reports::constant_text(n) : std::string();
}
/// Likewise, with its type, wherever it stands: `typed_constant<std::int32_t>(3)`, of its bits.
inline std::string typed_text(ir::node const& n) {
    std::string const bits =
        n.value == std::numeric_limits<std::int64_t>::min() ? "std::numeric_limits<std::int64_t>::min()" : std::to_string(n.value);
    return "imported::typed_constant<" + type_text(n.type) + ">(" + bits + ")";
}

/// Writes a computation in the compute language: its axes and tensors, then its stages, a line each. What stands once in it and is used
/// several times stands once in the text, too.
class computation_writer {
  public:
    explicit computation_writer(computation_view of) : of_(of) {
        // Words of the language.
        for (char const* word : {"axis", "tensor", "padded", "stages", "cast", "reinterpret", "sum", "maximum", "minimum", "min", "max",
                                 "select", "std", "imported", "tilewright"})
            names_.reserve(word);
        for (int at = 0; at < of.count; ++at) {
            ir::node const& one = of[at];
            if (one.op == operation::parameter) throw std::invalid_argument("a scalar parameter `" + one.name.str() + "` has no text here");
            if (one.op == operation::access) declare(one);
            if (one.op == operation::axis_value) declare_axis(one);
        }
        for (int at = 0; at < of.count; ++at) {
            if (of[at].op == operation::store) find_named(at);
        }
    }

    /// `constexpr axis …;`, `constexpr tensor<T> …;` and `return …;`, each line after `indent`.
    std::string text(std::string const& indent) {
        std::string stages;
        int count = 0;
        for (int at = 0; at < of_.count; ++at) {
            if (of_[at].op != operation::store) continue;
            int const target = of_[at].argument(0), value = of_[at].argument(1);
            std::string const text = bound(value, indent + "        ");
            stages += (count++ == 0 ? "" : ",\n" + indent + "       ") + element_text(target) + (text[0] == '\n' ? " =" : " = ") + text;
        }
        std::string lines;
        list(lines, indent, "axis", axes_);
        for (auto const& [type, all] : tensors_) list(lines, indent, "tensor<" + type_text(type) + ">", all);
        return lines + indent + "return stages(" + stages + ");\n";
    }

  private:
    struct declared {
        std::string identifier, initializer;
    };
    static void list(std::string& lines, std::string const& indent, std::string const& type, std::vector<declared> const& all) {
        for (std::size_t at = 0; at < all.size(); ++at)
            lines += (at == 0 ? indent + "constexpr " + type + " " : ", ") + all[at].identifier + all[at].initializer;
        if (!all.empty()) lines += ";\n";
    }
    static std::string in_quotes(ir::label const& name) { return "\"" + name.str() + "\""; }
    void declare(ir::node const& one) {
        if (!tensor_names_.emplace(one.name.str(), "").second) return;
        std::string const name = tensor_names_[one.name.str()] = names_.take(one.name.str());
        tensors_[one.type].push_back({name, "{" + in_quotes(one.name) + "}"});
    }
    void declare_axis(ir::node const& one) {
        auto const [at, is_new] = axis_names_.emplace(std::pair{one.name.str(), one.value}, "");
        if (!is_new) return;
        at->second = names_.take(one.name.str());
        axes_.push_back({at->second, "{" + in_quotes(one.name) + ", " + std::to_string(one.value) + "}"});
    }

    template <class Visit>
    void each_argument(int at, Visit const& visit) const {
        ir::node const& one = of_[at];
        for (int argument = 0; one.op != operation::constant && argument < one.argument_count; ++argument)
            visit(int{one.argument(argument)});
    }
    /// The nodes that a node is made of, and itself.
    std::set<int> parts_of(int root) const {
        std::set<int> made{root};
        std::vector<int> left{root};
        while (!left.empty()) {
            int const next = left.back();
            left.pop_back();
            each_argument(next, [&](int part) {
                if (made.insert(part).second) left.push_back(part);
            });
        }
        return made;
    }
    /// Finds what is named in a stage: values that several nodes use, around all of the stage, or around what it reduces.
    ///
    /// A kernel takes its tensors in the order in which they are met. What is named comes before what is not: so the first elements of
    /// tensors that came before it are named as well.
    void find_named(int store) {
        int const value = of_[store].argument(1);
        std::set<int> const all = parts_of(value);
        int body = value;
        for (int const at : all) body = is_reduction(of_[at].op) ? int{of_[at].argument(0)} : body;
        std::set<int> const in_body = parts_of(body);
        std::map<int, int> users;
        std::set<int> indices;
        for (auto at = all.rbegin(); at != all.rend(); ++at) {
            bool const is_index = of_[*at].op == operation::access || indices.count(*at) != 0;
            each_argument(*at, [&](int part) {
                ++users[part];
                // What indices are made of costs nothing, and is written where it stands.
                if (is_index) indices.insert(part);
            });
        }
        std::set<int> named, first;
        for (int const at : all) {
            operation const op = of_[at].op;
            bool const is_leaf = op == operation::constant || op == operation::axis_value;
            if (!is_leaf && indices.count(at) == 0 && users[at] > 1) named.insert(at);
            if (op == operation::access && met_.insert(of_[at].name.str()).second) first.insert(at);
        }
        for (std::size_t before = 0; before != named.size();) {
            before = named.size();
            for (int const one : std::set<int>(named)) {
                std::set<int> const inside = parts_of(one);
                for (int const at : first) {
                    if (at < one && inside.count(at) == 0) named.insert(at);
                }
            }
        }
        for (int const one : named) named_in_[in_body.count(one) != 0 ? body : value].push_back(one);
    }

    /// The value at a node, in calls that name the values which are named around it, from the first on.
    std::string bound(int at, std::string const& indent) {
        auto const found = named_in_.find(at);
        if (found == named_in_.end()) return plain(at, indent);
        std::string before, after;
        for (int const one : found->second) {
            if (one == at) continue;
            std::string const number = std::to_string(value_names_.size()), text = plain(one, indent);
            value_names_[one] = names_.take("v" + number);
            before += "\n" + indent + (before.empty() ? "" : "return ") + "imported::once(" + text + ", [&](auto const& " +
                      value_names_[one] + ") {";
            after = "; }, " + number + ")" + after;
        }
        return before + (before.empty() ? "" : "\n" + indent + "return ") + plain(at, indent) + after;
    }
    std::string argument(int of, int position, int least, std::string const& indent, bool takes_literal = true) {
        int const at = of_[of].argument(position);
        ir::node const& one = of_[at];
        if (one.op == operation::constant) {
            std::string const literal = takes_literal ? literal_text(one) : std::string();
            return literal.empty() ? typed_text(one) : literal;
        }
        if (auto const known = value_names_.find(at); known != value_names_.end()) return known->second;
        std::string const text = bound(at, indent);
        bool const is_call = named_in_.count(at) != 0;
        // Compilers ask for parentheses where few people know who binds tighter.
        operation const around = of_[of].op;
        bool const is_unclear =
            ((around == operation::shift_left || around == operation::shift_right) && reports::precedence_of(one.op) < 9) ||
            (around == operation::logical_or && one.op == operation::logical_and);
        return !is_call && (is_unclear || reports::precedence_of(one.op) < least) ? "(" + text + ")" : text;
    }
    std::string element_text(int at) {
        ir::node const& one = of_[at];
        std::string const& name = tensor_names_.at(one.name.str());
        std::string extents, indices;
        for (int dimension = 0; dimension < one.argument_count; ++dimension) {
            std::string const comma = dimension == 0 ? "" : ", ";
            ir::node const& index = of_[one.argument(dimension)];
            if (index.op != operation::within) {
                indices += comma + argument(at, dimension, 0, "");
                continue;
            }
            extents += comma + "axis{" + in_quotes(index.name) + ", " + std::to_string(index.value) + "}";
            indices += comma + argument(one.argument(dimension), 0, 0, "");
        }
        if (extents.empty()) return name + "(" + indices + ")";
        std::string const border = literal_text({.op = operation::constant, .type = one.type, .value = one.value});
        if (border.empty()) throw std::invalid_argument("the border of `" + one.name.str() + "` has no literal");
        return "padded(" + name + "(" + extents + "), " + border + ")(" + indices + ")";
    }
    std::string plain(int at, std::string const& indent) {
        using enum operation;
        ir::node const& one = of_[at];
        if (one.op == constant) return literal_text(one).empty() ? typed_text(one) : literal_text(one);
        if (one.op == axis_value) return axis_names_.at({one.name.str(), one.value});
        if (one.op == access) return element_text(at);
        auto const is_number = [&](int position) { return of_[one.argument(position)].op == constant; };
        int const own = reports::precedence_of(one.op);
        if (own < 8) {
            return argument(at, 0, own, indent, !is_number(1)) + " " + reports::sign_of(one.op) + " " +
                   argument(at, 1, own + 1, indent, !is_number(0));
        }
        if (one.op == logical_not) return "!" + argument(at, 0, own, indent, false);
        std::string const type = one.op == cast || one.op == reinterpret ? "<" + type_text(one.type) + ">" : "";
        if (is_reduction(one.op)) {
            std::string text = std::string(name_of(one.op)) + "(";
            for (int axis = 1; axis < one.argument_count; ++axis) text += argument(at, axis, 0, indent) + ", ";
            return text + argument(at, 0, 0, indent, false) + ")";
        }
        bool const is_pair = one.op == minimum || one.op == maximum;
        std::string text = name_of(one.op) + type + "(";
        for (int position = 0; position < one.argument_count; ++position) {
            bool const is_value = one.op == select && position > 0;
            bool const takes_literal = (is_pair || is_value) && !is_number(is_pair ? 1 - position : 3 - position);
            text += (position == 0 ? "" : ", ") + argument(at, position, 0, indent, takes_literal);
        }
        return text + ")";
    }

    computation_view of_;
    halide::detail::c_names names_ = {};
    std::map<std::string, std::string> tensor_names_ = {};
    std::map<std::pair<std::string, std::int64_t>, std::string> axis_names_ = {};
    std::vector<declared> axes_ = {};
    std::map<scalar_type, std::vector<declared>> tensors_ = {};
    std::map<int, std::vector<int>> named_in_ = {};  ///< values with names, by the node that they are named around
    std::set<std::string> met_ = {};                 ///< tensors
    std::map<int, std::string> value_names_ = {};
};

}  // namespace tilewright::imported
