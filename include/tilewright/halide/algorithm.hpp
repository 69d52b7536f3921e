#pragma once
#include <algorithm>
#include <map>
#include <tilewright/base/label_text.hpp>
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

namespace detail {

/// A stage as a Func over its axes.
class stage_algorithm {
  public:
    /// @param known  with the results of the stages in front of this one among its tensors
    stage_algorithm(plan_value const& plan, stage const& s, algorithm_inputs const& known) : what_(plan.what), stage_(s), known_(known) {
        for (int axis = 0; axis < s.axis_count; ++axis) {
            stage_axis const& a = s.axes[axis];
            if (a.reduction) continue;
            arguments_.insert(arguments_.begin(), Halide::Var(code_name('a', axis, a.name.str())));
            axes_[a.name.str()] = arguments_.front();
        }
        enter_reductions();
    }

    void define(Halide::Func& f) {
        if (!stage_.reduces()) {
            f(arguments_) = strict(value_of(stage_.body, {}));
            return;
        }
        if (stage_.start >= 0) f(arguments_) = strict(value_of(stage_.start, {}));
        else f(arguments_) = stage_.continues ? Halide::undef(type_of(stage_.type)) : identity(stage_.reduction, stage_.type);
        std::vector<Expr> const at(arguments_.begin(), arguments_.end());
        std::vector<Expr> steps;
        for (int axis = stage_.rank; axis < stage_.axis_count; ++axis) steps.push_back(axes_.at(stage_.axes[axis].name.str()));
        f(at) = strict(reduce(stage_.reduction, f(at), value_of(stage_.body, steps)));
    }

  private:
    using Expr = Halide::Expr;

    void enter_reductions() {
        Halide::Region ranges;
        for (int axis = 0; axis < stage_.axis_count; ++axis) {
            stage_axis const& a = stage_.axes[axis];
            if (a.reduction) ranges.emplace_back(0, a.run_time ? known_.extents.at(a.name.str()) : Expr(static_cast<int>(a.extent)));
        }
        if (ranges.empty()) return;
        // The axis that appears last runs innermost, which is first in an RDom.
        std::reverse(ranges.begin(), ranges.end());
        Halide::RDom const domain(ranges);
        int from_inside = static_cast<int>(ranges.size()) - 1;
        for (int axis = stage_.rank; axis < stage_.axis_count; ++axis) axes_[stage_.axes[axis].name.str()] = domain[from_inside--];
    }

    Expr leaf(int at) {
        node const& n = what_[at];
        if (n.op == operation::axis_value) return axes_.at(n.name.str());
        if (n.op == operation::parameter) return known_.parameters.at(n.name.str());
        std::vector<Expr> indices;
        bool const padded = is_padded(what_, at);
        Expr inside = Halide::Internal::const_true();
        for (int dimension = 0; dimension < n.argument_count; ++dimension) {
            stage_index const index = index_of(what_, stage_, at, dimension);
            Expr form =
                index.computed >= 0 ? computed_index(what_, index.computed, [this](int part) { return leaf(part); }) : form_of(index);
            if (padded) {
                std::int64_t const extent = padded_extent(what_, at, dimension);
                inside = inside && is_inside(form, extent);
                form = Halide::clamp(form, 0, static_cast<int>(extent - 1));
            }
            indices.insert(indices.begin(), form);
        }
        Expr const element = known_.tensors.at(n.name.str())(indices);
        read_.push_back(element);
        return padded ? Halide::select(inside, element, border_of(what_, at)) : element;
    }
    Expr form_of(stage_index const& index) const {
        Expr form = static_cast<int>(index.constant);
        for (int axis = 0; axis < stage_.axis_count; ++axis) {
            std::int64_t const coefficient = index.coefficients[axis];
            if (coefficient != 0) form = form + static_cast<int>(coefficient) * axes_.at(stage_.axes[axis].name.str());
        }
        return Halide::Internal::simplify(form);
    }
    /// Makes every step count and every element needed, whether the value depends on it or not.
    Expr value_of(int node_at, std::vector<Expr> const& steps) {
        read_ = steps;
        Expr const value = build_value(what_, node_at, [this](int at) { return leaf(at); });
        return held(value, read_);
    }

    computation_view what_;
    stage const& stage_;
    algorithm_inputs const& known_;
    std::vector<Halide::Var> arguments_;
    std::map<std::string, Expr> axes_;
    std::vector<Expr> read_;  ///< steps and elements that the value at hand needs
};

}  // namespace detail

/// The computation as plain Halide, without schedule or plan.
///
/// Halide derives the checks of the arguments from it. Run by itself, with its values released, it is the reference for the plan's code.
inline Halide::Func build_algorithm(plan_value const& plan, algorithm_inputs const& inputs, std::string const& output_name) {
    algorithm_inputs known = inputs;
    Halide::Func result;
    std::vector<Halide::Func> intermediates;
    for (int position = 0; position < plan.stages.size(); ++position) {
        stage const& s = plan.stages[position];
        bool const last = position + 1 == plan.stages.size();
        Halide::Func f(last ? output_name : code_name('s', position, s.output.str()));
        detail::stage_algorithm(plan, s, known).define(f);
        known.tensors[s.output.str()] = f;
        if (last) result = f;
        else intermediates.push_back(f);
    }
    // Everything stands inside the production of the result, where the plan's nest replaces it.
    for (Halide::Func& f : intermediates) f.compute_at(result, Halide::Var::outermost());
    return result;
}

}  // namespace tilewright::halide
