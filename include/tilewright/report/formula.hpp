#pragma once
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/plan/ir/plan_value.hpp>
#include <vector>

// Indices and values of a plan as people write them.
namespace tilewright::reports {

using namespace ir;

std::string index_text(plan_value const& plan, affine const& form);
std::string value_text(plan_value const& plan, int at);

/// A loop's name, with a prime for every loop of that name around it: stages that are nested may use one name twice.
inline std::string loop_name(plan_value const& plan, int at) {
    label const& name = plan.variables[at].name;
    std::vector<int> around;
    auto const primed = [&] {
        return name.str() + std::string(static_cast<std::size_t>(std::count_if(
                                            around.begin(), around.end(), [&](int other) { return plan.variables[other].name == name; })),
                                        '\'');
    };
    for (int position = 0; position < plan.steps.size(); ++position) {
        step const& s = plan.steps[position];
        if (s.kind == step_kind::loop && s.what == at) return primed();
        if (s.kind == step_kind::loop) around.push_back(s.what);
        if (s.kind == step_kind::end) around.pop_back();
        if (s.kind != step_kind::compute) continue;
        std::size_t const depth = around.size();
        body const& b = plan.bodies[s.what];
        for (int loop = 0; loop < b.loop_count; ++loop) {
            int const inner = b.loops[loop];
            if (inner == at) return primed();
            around.push_back(inner);
        }
        around.resize(depth);
    }
    return name.str();
}

/// A loop's name, or what stands for a part of a fused loop: "(f / 16)", "(f / 4 % 16)".
inline std::string variable_text(plan_value const& plan, int at) {
    variable const& v = plan.variables[at];
    if (v.kind == variable_kind::element) return value_text(plan, v.value);
    if (v.kind != variable_kind::component) return loop_name(plan, at);
    std::string whole = index_text(plan, v.fused);
    if (v.fused.count > 1 || v.fused.constant != 0 || (v.fused.count == 1 && plan.term_at(v.fused, 0).coefficient != 1))
        whole = "(" + whole + ")";
    if (v.divisor != 1) whole += " / " + std::to_string(v.divisor);
    if (v.modulus != 0) whole += " % " + std::to_string(v.modulus);
    return "(" + whole + ")";
}

/// "A.spad[16 mi, 16 ki]"; a scalar's name alone.
inline std::string element_text(plan_value const& plan, int buffer_at, fixed_array<affine, max_rank> const& at) {
    buffer const& b = plan.buffers[buffer_at];
    std::string indices;
    for (int dimension = 0; dimension < b.rank; ++dimension) {
        indices += (dimension == 0 ? "" : ", ") + index_text(plan, at[dimension]);
    }
    return b.name.str() + (b.rank == 0 ? "" : "[" + indices + "]");
}

/// Likewise where a region begins: the name alone when that is the first element of the buffer.
inline std::string corner_text(plan_value const& plan, int buffer_at, fixed_array<affine, max_rank> const& at) {
    buffer const& b = plan.buffers[buffer_at];
    for (int dimension = 0; dimension < b.rank; ++dimension) {
        affine const& index = at[dimension];
        if (index.count != 0 || index.constant != b.minimum[dimension]) return element_text(plan, buffer_at, at);
    }
    return b.name.str();
}

/// A constant; of floating point the shortest text that reads back as the same value.
inline std::string constant_text(node const& n) {
    if (n.type == scalar_type::boolean) return n.value != 0 ? "true" : "false";
    if (n.type == scalar_type::uint64) return std::to_string(static_cast<std::uint64_t>(n.value));
    if (!is_float(n.type) && !is_half(n.type)) return std::to_string(n.value);
    bool const single = n.type != scalar_type::float64;
    double const value = is_half(n.type) ? value_of_half(n.type, static_cast<std::uint16_t>(n.value)) : std::bit_cast<double>(n.value);
    char text[32]{};
    for (int digits = 1; digits <= (single ? 9 : 17); ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, value);
        double const back = std::strtod(text, nullptr);
        if (single ? static_cast<float>(back) == static_cast<float>(value) : back == value) break;
    }
    std::string const shortest = text;
    return shortest.find_first_not_of("-0123456789") == std::string::npos ? shortest + ".0" : shortest;
}

/// How tightly C++ binds an operation; what stands between parentheses or commas binds tightest.
constexpr int precedence_of(operation op) {
    using enum operation;
    switch (op) {
        case logical_or: return 1;
        case logical_and: return 2;
        case equal:
        case not_equal: return 3;
        case less:
        case less_equal: return 4;
        case shift_left:
        case shift_right: return 5;
        case add:
        case subtract: return 6;
        case multiply:
        case divide:
        case modulo: return 7;
        case logical_not: return 8;
        default: return 9;
    }
}

constexpr char const* sign_of(operation op) {
    using enum operation;
    switch (op) {
        case add: return "+";
        case subtract: return "-";
        case multiply: return "*";
        case divide: return "/";
        case modulo: return "%";
        case logical_and: return "&&";
        case logical_or: return "||";
        case shift_left: return "<<";
        case shift_right: return ">>";
        default: return name_of(op);
    }
}

/// The expression at node `at`; `leaf(at)` spells accesses and axes.
template <class Leaf>
std::string expression_text(computation_view nodes, int at, Leaf const& leaf) {
    node const& n = nodes[at];
    using enum operation;
    if (n.op == constant) return constant_text(n);
    if (n.op == parameter) return n.name.str();
    if (n.op == access || n.op == axis_value) return leaf(at);
    auto const inside = [&](int argument, int least) {
        std::string const text = expression_text(nodes, n.argument(argument), leaf);
        node const& part = nodes[n.argument(argument)];
        bool const index = part.op == axis_value && least > 0 && text.find(' ') != std::string::npos && text.find(')') + 1 != text.size();
        return index || precedence_of(part.op) < least ? "(" + text + ")" : text;
    };
    int const own = precedence_of(n.op);
    if (own < 8) return inside(0, own) + " " + sign_of(n.op) + " " + inside(1, own + 1);
    if (n.op == logical_not) return "!" + inside(0, own);
    std::string text = n.op == cast          ? name_of(n.type)
                       : n.op == reinterpret ? std::string("reinterpret<") + name_of(n.type) + ">"
                                             : name_of(n.op);
    for (int argument = 0; argument < n.argument_count; ++argument) text += (argument == 0 ? "(" : ", ") + inside(argument, 0);
    return text + ")";
}

/// The value of a stage over the plan's buffers.
inline std::string value_text(plan_value const& plan, int at) {
    return expression_text(plan.what, at, [&](int leaf) {
        use const& u = *plan.use_at(leaf);
        if (u.buffer >= 0 && !plan.is_guarded(leaf)) return element_text(plan, u.buffer, u.at);
        node const border{.type = plan.what[leaf].type, .value = plan.what[leaf].value};
        if (u.buffer >= 0) return "padded(" + element_text(plan, u.buffer, u.at) + ", " + constant_text(border) + ")";
        return index_text(plan, u.at[0]);
    });
}

/// An index: "64 mo + mi + 3".
inline std::string index_text(plan_value const& plan, affine const& form) {
    std::string text;
    auto const add = [&](std::int64_t scale, std::string const& name) {
        std::int64_t const size = scale < 0 ? -scale : scale;
        text += text.empty() ? (scale < 0 ? "-" : "") : (scale < 0 ? " - " : " + ");
        if (name.empty()) text += std::to_string(size);
        else text += size == 1 ? name : std::to_string(size) + " " + name;
    };
    for (int at = 0; at < form.count; ++at) {
        term const& part = plan.term_at(form, at);
        if (part.coefficient != 0) add(part.coefficient, variable_text(plan, part.variable));  // an extent that became a number leaves 0
    }
    if (form.constant != 0 || text.empty()) add(form.constant, "");
    return text;
}

/// Whether no loop moves a form.
inline bool is_number(plan_value const& plan, affine const& form) {
    for (int at = 0; at < form.count; ++at) {
        if (plan.term_at(form, at).coefficient != 0) return false;
    }
    return true;
}

/// A bound less a form: "100 - 64 mo".
inline std::string room_text(plan_value const& plan, affine const& form, std::int64_t bound) {
    std::string text = std::to_string(bound - form.constant);
    for (int at = 0; at < form.count; ++at) {
        term const& part = plan.term_at(form, at);
        if (part.coefficient == 0) continue;
        std::int64_t const size = part.coefficient < 0 ? -part.coefficient : part.coefficient;
        text += (part.coefficient < 0 ? " + " : " - ") + (size == 1 ? "" : std::to_string(size) + " ") + variable_text(plan, part.variable);
    }
    return text;
}
/// Where a form has not reached a bound: "64 mo + mi < 100".
inline std::string limit_text(plan_value const& plan, affine const& form, std::int64_t bound, char const* sign = " < ") {
    affine without = form;
    without.constant = 0;
    return index_text(plan, without) + sign + std::to_string(bound - form.constant);
}

}  // namespace tilewright::reports
