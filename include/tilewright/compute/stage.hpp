#pragma once
#include <tilewright/compute/tensor.hpp>

namespace tilewright {

/// A loop of a stage before any directive.
struct stage_axis {
    label name{};
    std::int64_t extent = 0;
    bool reduction = false;
};

/// What is wrong with a stage, in words of the language; `about` names the axis or tensor.
struct stage_mistake {
    char const* rule = nullptr;
    label about{};
};

/// One stage in normal form: `output(axes…) = reduction over the other axes of body`, read from the nodes [first, store].
struct stage {
    static constexpr int most_axes = 12;

    int first = 0;
    int store = 0;
    int target = 0;                              ///< the access that is written
    int body = 0;                                ///< the value, or what is reduced
    operation reduction = operation::constant;   ///< `constant`: none
    bool continues = false;                      ///< the reduction starts from the target's contents
    label output{};
    scalar_type type = scalar_type::literal;
    int rank = 0;
    std::array<stage_axis, most_axes> axes{};    ///< the target's in its order, then the reduction's in order of appearance
    int axis_count = 0;

    constexpr bool reduces() const { return reduction != operation::constant; }
    constexpr int find(label const& name) const {
        for (int position = 0; position < axis_count; ++position) {
            if (axes[static_cast<std::size_t>(position)].name == name) return position;
        }
        return -1;
    }
};

/// An affine index over the axes of one stage: `constant + sum of coefficient * axis`.
struct stage_index {
    std::int64_t constant = 0;
    std::array<std::int64_t, stage::most_axes> coefficients{};
    bool affine = true;
};

namespace detail {

constexpr void accumulate_index(computation_view nodes, stage const& of, int at, std::int64_t scale, stage_index& into) {
    node const& n = nodes[at];
    switch (n.op) {
        case operation::axis_value: into.coefficients[static_cast<std::size_t>(of.find(n.name))] += scale; return;
        case operation::constant: into.constant += scale * n.value; return;
        case operation::add:
        case operation::subtract:
            accumulate_index(nodes, of, n.argument(0), scale, into);
            accumulate_index(nodes, of, n.argument(1), n.op == operation::add ? scale : -scale, into);
            return;
        case operation::multiply: {
            node const& left = nodes[n.argument(0)];
            node const& right = nodes[n.argument(1)];
            if (left.op == operation::constant) accumulate_index(nodes, of, n.argument(1), scale * left.value, into);
            else if (right.op == operation::constant) accumulate_index(nodes, of, n.argument(0), scale * right.value, into);
            else into.affine = false;
            return;
        }
        default: into.affine = false; return;
    }
}

/// Whether two subtrees of one computation are the same expression.
constexpr bool same_tree(computation_view nodes, int left, int right) {
    node a = nodes[left], b = nodes[right];
    auto const a_arguments = a.arguments, b_arguments = b.arguments;
    a.arguments = b.arguments = {};
    if (!(a == b)) return false;
    for (int argument = 0; argument < a.argument_count; ++argument) {
        auto const position = static_cast<std::size_t>(argument);
        if (!same_tree(nodes, a_arguments[position], b_arguments[position])) return false;
    }
    return true;
}

}  // namespace detail

/// The affine form of dimension `dimension` of the access at node `at`.
constexpr stage_index index_of(computation_view nodes, stage const& of, int at, int dimension) {
    stage_index index;
    detail::accumulate_index(nodes, of, nodes[at].argument(dimension), 1, index);
    return index;
}

/// Reads the stage whose first node is `first` into normal form.
/// @return the rule that it breaks, or none
constexpr stage_mistake read_stage(computation_view nodes, int first, stage& s) {
    s.first = s.store = first;
    while (nodes[s.store].op != operation::store && nodes[s.store].op != operation::invalid) ++s.store;
    for (int at = first; at <= s.store; ++at) {
        if (nodes[at].op != operation::invalid) continue;
        constexpr char const* rules[] = {"", "operands have different types: write a cast", "a literal does not fit the type of the other operand",
                                         "the condition of select is not a bool", "a reduction is not the whole right-hand side"};
        return {rules[nodes[at].value], nodes[at].name};
    }
    node const& root = nodes[s.store];
    s.target = root.argument(0);
    s.body = root.argument(1);
    s.output = root.name;
    s.type = nodes[s.target].type;
    s.rank = nodes[s.target].argument_count;

    // C = C + sum(…) and C = C + x continue from the contents of C.
    auto const is_target = [&](int at) { return nodes[at].op == operation::access && detail::same_tree(nodes, at, s.target); };
    if (nodes[s.body].op == operation::add) {
        int const left = nodes[s.body].argument(0), right = nodes[s.body].argument(1);
        if (is_target(left) || is_target(right)) {
            s.continues = true;
            s.body = is_target(left) ? right : left;
            s.reduction = operation::reduce_sum;
            if (is_reduction(nodes[s.body].op) && nodes[s.body].op != operation::reduce_sum) {
                return {"only a sum can continue from the contents of its target", s.output};
            }
        }
    }
    int named_axes = -1;
    int const reduce_at = s.body;
    if (is_reduction(nodes[s.body].op)) {
        node const& reduce = nodes[s.body];
        s.reduction = reduce.op;
        s.body = reduce.argument(0);
        named_axes = reduce.argument_count - 1;
    }
    if (nodes[s.body].type != s.type) return {"the value has another type than the tensor: write a cast", s.output};

    for (int at = first; at < s.store; ++at) {
        node const& n = nodes[at];
        if (is_reduction(n.op) && n.argument(0) != s.body) return {"a reduction is not the whole right-hand side: make it a stage", s.output};
        if (n.op == operation::access && at != s.target && n.name == s.output && !(s.continues && is_target(at))) {
            return {"a stage reads the tensor that it computes", s.output};
        }
        if (n.op != operation::axis_value) continue;
        int const known = s.find(n.name);
        if (known >= 0) {
            if (s.axes[static_cast<std::size_t>(known)].extent != n.value) return {"one axis has two extents", n.name};
            continue;
        }
        if (n.value < 1) return {"an axis has no extent", n.name};
        if (s.axis_count == stage::most_axes) return {"a stage has more than 12 axes", n.name};
        s.axes[static_cast<std::size_t>(s.axis_count++)] = {n.name, n.value, at > s.target};
    }
    for (int dimension = 0; dimension < s.rank; ++dimension) {
        node const& plain = nodes[nodes[s.target].argument(dimension)];
        if (plain.op != operation::axis_value || s.find(plain.name) != dimension) {
            return {"the target is indexed by plain, different axes", s.output};
        }
    }
    for (int position = s.rank; position < s.axis_count; ++position) {
        label const& name = s.axes[static_cast<std::size_t>(position)].name;
        if (!s.reduces()) return {"an axis is on the right-hand side only: reduce over it", name};
        bool named = named_axes <= 0;
        for (int argument = 1; argument <= named_axes; ++argument) named |= nodes[nodes[reduce_at].argument(argument)].name == name;
        if (!named) return {"an axis is neither in the target nor named by the reduction", name};
    }
    for (int at = first; at < s.store; ++at) {
        if (nodes[at].op != operation::access) continue;
        for (int dimension = 0; dimension < nodes[at].argument_count; ++dimension) {
            if (!index_of(nodes, s, at, dimension).affine) return {"an index is not affine in the axes", nodes[at].name};
        }
    }
    return {};
}

}  // namespace tilewright
