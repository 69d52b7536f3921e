#pragma once
#include <map>
#include <tilewright/halide/border.hpp>
#include <tilewright/halide/held.hpp>
#include <tilewright/halide/names.hpp>
#include <tilewright/plan/ir/arguments.hpp>

namespace tilewright::halide {

/// The arguments of a kernel as Halide sees them. A tensor T(a, b) is a Func of (b, a): Halide's first dimension is the contiguous one.
struct algorithm_inputs {
    std::map<std::string, Halide::Func> tensors;
    std::map<std::string, Halide::Expr> parameters;
    std::map<std::string, Halide::Expr> extents;  ///< of reduced axes that are left to run time
};

/// Calls `visit(axis, tensor, dimension of Halide's)` for every reduced axis whose extent is that of an input.
template <class Visit>
void each_reduced_extent(plan_value const& plan, Visit&& visit) {
    for (int s = 0; s < plan.stages.size(); ++s) {
        stage const& of = plan.stages[s];
        for (int at = of.rank; at < of.axis_count; ++at) {
            stage_axis const& a = of.axes[at];
            for (int extent = 0; extent < plan.run_time_extents && a.run_time; ++extent) {
                if (plan.variables[extent].name != a.name) continue;
                shape const& from = shape_of_extent(plan, extent, false);
                buffer const& b = plan.buffers[from.buffer];
                visit(a.name.str(), b.tensor.str(), b.rank - 1 - from.dimension);
            }
        }
    }
}

/// The computation as plain Halide, without schedule or plan.
///
/// Halide derives the checks of the arguments from it; and run as it is, with its values released, it is something to compare the plan's
/// code with.
inline Halide::Func build_algorithm(plan_value const& plan, algorithm_inputs const& inputs, std::string const& output_name) {
    using Halide::Expr;
    std::map<std::string, Halide::Func> tensors = inputs.tensors;
    Halide::Func result;
    std::vector<Halide::Func> intermediates;
    for (int position = 0; position < plan.stages.size(); ++position) {
        stage const& s = plan.stages[position];
        bool const last = position + 1 == plan.stages.size();
        Halide::Func f(last ? output_name : code_name('s', position, s.output.str()));
        std::map<std::string, Expr> axes;
        std::vector<Halide::Var> arguments;
        std::vector<std::pair<Expr, Expr>> reduction;
        for (int axis = 0; axis < s.axis_count; ++axis) {
            stage_axis const& a = s.axes[axis];
            if (a.reduction) {
                reduction.emplace_back(0, a.run_time ? inputs.extents.at(a.name.str()) : Expr(static_cast<int>(a.extent)));
            } else {
                arguments.insert(arguments.begin(), Halide::Var(code_name('a', axis, a.name.str())));
                axes[a.name.str()] = arguments.front();
            }
        }
        // The axis that appears last runs innermost, which is first in an RDom.
        std::reverse(reduction.begin(), reduction.end());
        Halide::RDom domain;
        if (!reduction.empty()) {
            domain = Halide::RDom(Halide::Region{[&] {
                Halide::Region ranges;
                for (auto const& [low, extent] : reduction) ranges.emplace_back(low, extent);
                return ranges;
            }()});
            int from_inside = static_cast<int>(reduction.size()) - 1;
            for (int axis = s.rank; axis < s.axis_count; ++axis) axes[s.axes[axis].name.str()] = domain[from_inside--];
        }
        std::vector<Expr> read;
        std::function<Expr(int)> const leaf = [&](int at) -> Expr {
            node const& n = plan.what[at];
            if (n.op == operation::axis_value) return axes.at(n.name.str());
            if (n.op == operation::parameter) return inputs.parameters.at(n.name.str());
            std::vector<Expr> indices;
            bool const padded = is_padded(plan.what, at);
            Expr inside = Halide::Internal::const_true();
            for (int dimension = 0; dimension < n.argument_count; ++dimension) {
                stage_index const index = index_of(plan.what, s, at, dimension);
                Expr form = static_cast<int>(index.constant);
                for (int axis = 0; axis < s.axis_count; ++axis) {
                    std::int64_t const coefficient = index.coefficients[axis];
                    if (coefficient != 0) form = form + static_cast<int>(coefficient) * axes.at(s.axes[axis].name.str());
                }
                form = Halide::Internal::simplify(form);
                if (padded) {
                    std::int64_t const extent = padded_extent(plan.what, at, dimension);
                    inside = inside && is_inside(form, extent);
                    form = Halide::clamp(form, 0, static_cast<int>(extent - 1));
                }
                indices.insert(indices.begin(), form);
            }
            Expr const element = tensors.at(n.name.str())(indices);
            read.push_back(element);
            return padded ? Halide::select(inside, element, border_of(plan.what, at)) : element;
        };
        // Every step is one, and every element is needed, whether the value depends on it or not.
        auto const value_of = [&](int node, std::vector<Expr> const& steps) {
            read = steps;
            Expr const value = build_value(plan.what, node, leaf);
            return held(value, read);
        };
        if (!s.reduces()) {
            f(arguments) = strict(value_of(s.body, {}));
        } else {
            if (s.start >= 0) f(arguments) = strict(value_of(s.start, {}));
            else f(arguments) = s.continues ? Halide::undef(type_of(s.type)) : identity(s.reduction, s.type);
            std::vector<Expr> const at(arguments.begin(), arguments.end());
            std::vector<Expr> steps;
            for (int axis = s.rank; axis < s.axis_count; ++axis) steps.push_back(axes.at(s.axes[axis].name.str()));
            f(at) = strict(reduce(s.reduction, f(at), value_of(s.body, steps)));
        }
        tensors[s.output.str()] = f;
        if (last) result = f;
        else intermediates.push_back(f);
    }
    // Everything stands inside the production of the result, where the plan's nest replaces it.
    for (Halide::Func& f : intermediates) f.compute_at(result, Halide::Var::outermost());
    return result;
}

}  // namespace tilewright::halide
