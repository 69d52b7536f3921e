#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/plan/loops/nest.hpp>

#include "plan/small_kernels.hpp"

namespace small_kernels {

/// The loops of a schedule of one stage as its directives make them; positions of the path's loops by name.
struct built : blank {
    explicit built(schedule const& what) : blank(what) {
        detail::add_extents(p);
        p.placed(0).highest[0].constant = 0;
        stage const& st = p.stage_at(0);
        fixed_array<std::int64_t, stage::most_axes> extents{};
        for (int axis = 0; axis < st.axis_count; ++axis) {
            extents[axis] = st.axes[axis].extent;
            p.placed(0).highest[axis].constant = st.axes[axis].extent - 1;
        }
        detail::build_loops(p, 0_stage, extents, false);
        if (p.refused()) return;
        detail::finish_loops(p, 0_stage);
        for (int axis = 0; axis < st.axis_count; ++axis) p.placed(0).axis_values[axis] = detail::value_of(p, 0_stage, axis);
    }
    /// The variable of a loop.
    variable_id loop(ir::label const& name) const {
        nest const& n = p.nest_at(0);
        return n.axis_of_loop(n.position_of(name)).variable;
    }
    /// An axis of the nest: a loop, or what was made of one.
    int axis_at(ir::label const& name) const {
        int found = -1;
        for (int at = 0; at < p.nest_at(0).axes.size(); ++at) {
            if (p.nest_at(0).axes[at].name == name) found = at;
        }
        return found;
    }
    /// The loops, outermost first.
    std::string order() const {
        std::string names;
        for (int at = 0; at < p.nest_at(0).depth; ++at) names += (at > 0 ? " " : "") + p.nest_at(0).axis_of_loop(at).name.str();
        return names;
    }
    /// The n-th access to a tensor.
    node_id access(ir::label const& name, int number = 0) const {
        for (node_id at{}; at < p.plan.what.count; ++at) {
            if (p.plan.what[at].op == operation::access && p.plan.what[at].name == name && number-- == 0) return at;
        }
        return no_node;
    }
    using nest = detail::nest;
};

}  // namespace small_kernels
