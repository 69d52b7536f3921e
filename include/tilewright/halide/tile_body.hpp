#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/halide/adopt_names.hpp>
#include <tilewright/halide/border.hpp>
#include <tilewright/halide/find_production.hpp>
#include <tilewright/halide/fused_sum.hpp>
#include <tilewright/halide/names.hpp>
#include <tilewright/halide/partial_tile.hpp>
#include <tilewright/plan/place/registers.hpp>

// Tile bodies: the code inside the innermost loops of the program, lowered by Halide and taken over as a statement.
namespace tilewright::halide {

/// The program that tile bodies are lowered for.
struct surroundings {
    plan_value const& plan;
    code_names const& names;
    Halide::Target const& target;
    bool reported = false;  ///< accesses will be reported: see `padded_call`
    /// A value that is chosen is all that is computed: an element behind a condition needs no address where it is not. It is so in C.
    bool chooses = false;
};

namespace detail {

/// The range of a form, over all iterations of its loops.
inline std::pair<std::int64_t, std::int64_t> reach_of(plan_value const& plan, linear const& form) {
    std::int64_t low = form.constant, high = form.constant;
    for (int t = 0; t < form.count; ++t) {
        term const& part = form.terms[t];
        std::int64_t const furthest = part.coefficient * (plan.variables[part.variable].extent - 1);
        (furthest < 0 ? low : high) += furthest;
    }
    return {low, high};
}

/// The index of a use along a dimension of its buffer. If it may leave the tensor, it is the nearest one inside.
inline Halide::Expr place_of(plan_value const& plan, use const& u, int dimension, std::function<Halide::Expr(int)> const& loop) {
    using Halide::Expr;
    affine const& at = u.at[dimension];
    Expr place = form_value(plan, at, loop);
    plan.each_padding(u.node, [&](padding const& one) {
        if (!one.guarded || one.computed || one.dimension != dimension) return;
        Expr const index = form_value(plan, one.index, loop);
        place = move_inside(index, one.extent) + Halide::Internal::simplify(place - index);
        // A box can be outside as a whole: then it has an address, but no element.
        buffer const& b = plan.buffers[u.buffer];
        linear begin = tilewright::detail::form_of(plan, one.index);
        begin.add(tilewright::detail::form_of(plan, at), -1);
        auto const [low, high] = reach_of(plan, begin);
        std::int64_t const size = b.extents[dimension];
        if (b.kind != buffer_kind::argument && (low + size <= 0 || high >= one.extent))
            place = Halide::clamp(place, 0, static_cast<int>(size - 1));
    });
    return place;
}

/// A tile body as a small pipeline. Its Func has an update that begins reductions, and one for the tile.
class tile_pipeline {
  public:
    tile_pipeline(surroundings const& around, body const& b, tile_part const& part)
        : around_(around), plan_(around.plan), body_(b), part_(part), stage_(plan_.stages[b.stage]) {
        produced_(Halide::Var("element")) = Halide::undef(type_of(stage_.type));
        if (b.kind == body_kind::identity || (b.kind == body_kind::reduction && !part.goes_on)) define(true);
        if (b.kind != body_kind::identity) define(false);
    }

    /// The lowered pipeline, as a part of the program.
    Halide::Internal::Stmt lowered() {
        for (auto& [at, image] : loaded_) image.dim(0).set_min(0);
        produced_.output_buffer().dim(0).set_min(0);
        using Halide::Target;
        Target const bare =
            around_.target.with_feature(Target::NoAsserts).with_feature(Target::NoBoundsQuery).with_feature(Target::NoRuntime);
        Halide::Module const module =
            Halide::Pipeline(produced_).compile_to_module(Halide::Pipeline(produced_).infer_arguments(), "tile_body", bare);
        find_production found;
        found.name = produced_.name();
        module.functions().back().body.accept(&found);
        if (!found.body.defined()) return Halide::Internal::Evaluate::make(0);  // no iteration is left: the tile lies outside as a whole
        adopt_.adds_pairs_in_16_bits = around_.target.has_feature(Target::AVX2) && tilewright::detail::adds_bytes_by_fours(plan_, body_);
        adopt_.produced = produced_.name();
        adopt_.buffers[produced_.name()] = around_.names.buffers[target().buffer];
        Stmt const whole = adopt_.mutate(found.whole());
        check_names(whole);
        return whole;
    }

  private:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;

    use const& target() const { return *plan_.use_at(stage_.target); }

    /// Adds an update: what reductions begin with, or the tile.
    void define(bool identities) {
        enter_loops(identities);
        limits_ = part_.guarded ? limits_of(plan_, body_, identities) : std::vector<limit>();
        for (limit const& l : limits_) domain_.where(form_value(plan_, l.form, loop_) < static_cast<int>(l.bound));
        Expr const where = flat(target());
        if (identities && stage_.start >= 0) produced_(where) = strict(build_value(plan_.what, stage_.start, leaf_));
        else if (identities) produced_(where) = identity(stage_.reduction, stage_.type);
        else produced_(where) = tile_value(where);
        direct_loops(produced_.update(updates_++));
    }

    /// The loops of an update, from the inside out.
    void enter_loops(bool identities) {
        loops_.clear();
        for (int position = body_.loop_count - 1; position >= 0; --position) {
            int const v = body_.loops[position];
            if (!identities || !plan_.variables[v].reduction) loops_.push_back(v);
        }
        // Halide adds up lanes that lie beside each other.
        std::stable_partition(loops_.begin(), loops_.end(), [&](int v) {
            variable const& loop = plan_.variables[v];
            return loop.vectorized && loop.reduction;
        });
        domain_ = Halide::RDom();
        if (loops_.empty()) return;
        Halide::Region ranges;
        for (int v : loops_) {
            tile_part::range const here = part_.of(v, plan_.variables[v]);
            ranges.emplace_back(here.first, here.count);
        }
        domain_ = Halide::RDom(ranges, identities ? "identity" : "tile");
    }
    Expr loop_value(int v) {
        variable const& of = plan_.variables[v];
        if (of.kind == variable_kind::element)
            return Halide::clamp(computed_index(plan_.what, of.value, leaf_), 0, static_cast<int>(of.extent - 1));
        for (std::size_t position = 0; position < loops_.size(); ++position) {
            if (loops_[position] == v) return domain_[static_cast<int>(position)];
        }
        auto const made = outer_.try_emplace(v, "outer" + std::to_string(v));
        adopt_.values[made.first->second.name()] = Halide::Internal::Variable::make(Halide::Int(32), around_.names.variables[v]);
        return made.first->second;
    }

    /// The element of a use, counted from the first one of its buffer.
    Expr flat(use const& u) {
        buffer const& at = plan_.buffers[u.buffer];
        std::string const& name = around_.names.buffers[u.buffer];
        Expr index = 0;
        for (int dimension = 0; dimension < at.rank; ++dimension) {
            Expr stride = stride_of(at, name, dimension), low = minimum_of(at, name, dimension);
            for (Expr* part : {&stride, &low}) {
                if (Halide::Internal::is_const(*part)) continue;
                std::string const key = name + (part == &stride ? ".stride" : ".min") + std::to_string(dimension);
                auto const made = layout_.try_emplace(key, key);
                adopt_.values[made.first->second.name()] = *part;
                *part = made.first->second;
            }
            Expr const place = part_.inside        ? form_value(plan_, u.at[dimension], loop_)
                               : is_chosen(u.node) ? form_value(plan_, u.at[dimension], known_inside_)
                                                   : place_of(plan_, u, dimension, loop_);
            index = index + (place - low) * stride;
        }
        return Halide::Internal::simplify(index);
    }
    Expr leaf_value(int at) {
        node const& n = plan_.what[at];
        if (n.op == operation::parameter) {
            Halide::Internal::Parameter const& parameter =
                parameters_.try_emplace(n.name.str(), type_of(n.type), false, 0, "parameter." + n.name.str()).first->second;
            adopt_.values[parameter.name()] = around_.names.parameters.at(n.name.str());
            return Halide::Internal::Variable::make(parameter.type(), parameter.name(), parameter);
        }
        use const& u = *plan_.use_at(at);
        if (n.op == operation::axis_value) return form_value(plan_, u.at[0], loop_);
        auto const made = loaded_.try_emplace(u.buffer, type_of(n.type), 1, "buffer" + std::to_string(u.buffer));
        adopt_.buffers[made.first->second.name()] = around_.names.buffers[u.buffer];
        Expr const element = made.first->second(flat(u));
        if (!plan_.is_guarded(at) || part_.inside) return element;
        Expr inside = Halide::Internal::const_true();
        plan_.each_padding(at, [&](padding const& one) {
            inside = inside && is_inside(form_value(plan_, one.index, one.computed ? as_computed_ : loop_), one.extent);
        });
        Expr const border = border_of(plan_.what, at);
        if (is_chosen(at))
            return Halide::Internal::Call::make(element.type(), Halide::Internal::Call::if_then_else, {inside, element, border},
                                                Halide::Internal::Call::PureIntrinsic);
        if (!around_.reported) return choose(inside, element, border);
        return Halide::Internal::Call::make(element.type(), padded_call, {inside, element, border}, Halide::Internal::Call::PureExtern);
    }

    /// Whether a padded access asks where it is, and has an address only if it is inside. Where its border adds nothing, loops run over
    /// what is inside; else the question stands outside of the innermost loop. If that one crosses a border that counts, it gets a part of
    /// its own without the question: see `move_inside`.
    bool is_chosen(int node) const {
        if (!around_.chooses || around_.reported || !plan_.is_guarded(node) || body_.loop_count == 0 || has_another_border(node))
            return false;
        for (int at = 0; at < body_.loop_count; ++at) {
            if (plan_.variables[body_.loops[at]].vectorized) return false;
        }
        bool outside = true;
        plan_.each_padding(node, [&](padding const& one) {
            outside &=
                !tilewright::detail::moves_with(plan_, tilewright::detail::form_of(plan_, one.index), body_.loops[body_.loop_count - 1]);
        });
        return outside || adds_nothing(stage_.body, node);
    }
    /// Whether a tensor is read with another border, too. Halide loads an element that two choices have in common before it chooses, so the
    /// element has an address wherever it is.
    bool has_another_border(int node) const {
        ir::buffer_id const read = plan_.use_at(node)->buffer;
        for (int at = 0; at < plan_.uses.size(); ++at) {
            use const& other = plan_.uses[at];
            if (other.buffer == read && plan_.is_guarded(other.node) && plan_.what[other.node].value != plan_.what[node].value) return true;
        }
        return false;
    }
    /// Whether a reduction of the value `of` is the same with and without the border of a padded access: a factor 0, or the least of all
    /// that a maximum is taken of. A sum of floats is another one with 0: -0.0 becomes 0.0.
    bool adds_nothing(int of, int node) const {
        if (!stage_.reduces()) return false;
        tilewright::ir::node const& n = plan_.what[of];
        bool const sums = stage_.reduction == operation::reduce_sum;
        if (is_float(stage_.type)) {
            double const least = (stage_.reduction == operation::reduce_maximum ? -1 : 1) * std::numeric_limits<double>::infinity();
            return !sums && of == node && std::bit_cast<double>(n.value) == least;
        }
        if (of == node) return n.value == (sums ? 0 : least_of(stage_.reduction, n.type)) && (sums || n.type == stage_.type);
        // A factor 0 of a real number may be no number.
        if (sums && n.op == operation::multiply && !is_float(n.type))
            return adds_nothing(n.argument(0), node) || adds_nothing(n.argument(1), node);
        return sums && n.op == operation::cast && adds_nothing(n.argument(0), node);
    }
    static std::int64_t least_of(operation reduction, scalar_type type) {
        Halide::Expr const value = Halide::Internal::simplify(identity(reduction, type));
        auto const* const known = Halide::Internal::as_const_int(value);
        auto const* const natural = Halide::Internal::as_const_uint(value);
        return known != nullptr ? *known : natural != nullptr ? static_cast<std::int64_t>(*natural) : 0;
    }

    /// What an iteration of the tile stores at `where`.
    Expr tile_value(Expr const& where) {
        std::vector<Expr> axes;
        bool adds_lanes = false;
        for (std::size_t position = 0; position < loops_.size(); ++position) {
            variable const& v = plan_.variables[loops_[position]];
            axes.push_back(domain_[static_cast<int>(position)]);
            adds_lanes |= v.vectorized && v.reduction;
        }
        if (is_fused(plan_, stage_)) return fused_sum(plan_, stage_, produced_(where), axes, leaf_);
        Expr value = build_value(plan_.what, stage_.body, leaf_);
        if (!stage_.reduces()) return strict(value);
        if (adds_lanes) value = hold_divided().mutate(value);
        return strict(reduce(stage_.reduction, produced_(where), held(value, axes)));
    }

    bool runs_past_an_end(int v) const {
        return std::any_of(limits_.begin(), limits_.end(), [&](limit const& l) {
            return tilewright::detail::moves_with(plan_, tilewright::detail::form_of(plan_, l.form), v);
        });
    }
    void direct_loops(Halide::Stage update) {
        update.unscheduled();  // on purpose, where nothing is vectorised or unrolled
        for (std::size_t position = 0; position < loops_.size(); ++position) {
            variable const& v = plan_.variables[loops_[position]];
            Halide::RVar const here = domain_[static_cast<int>(position)];
            adopt_.loops[here.name()] = around_.names.variables[loops_[position]];
            if (part_.of(loops_[position], v).count == 1 || runs_past_an_end(loops_[position]))
                continue;  // no loop is left to direct, or none that can be
            // The target's elements differ from lane to lane, so there is no race. Otherwise lanes are added up.
            if (v.vectorized) (v.reduction ? update.atomic(true) : update.allow_race_conditions()).vectorize(here);
            if (v.unrolled) update.unroll(here);
        }
    }

    /// @throws std::runtime_error when a name is left that the program around it does not define
    void check_names(Stmt const& whole) const {
        code_names const& names = around_.names;
        free_names check;
        whole.accept(&check);
        std::set<std::string> allowed(names.variables.begin(), names.variables.end());
        for (std::string const& name : names.buffers) allowed.insert(name + ".buffer");
        for (auto const& [name, value] : names.parameters) {
            if (auto const* const variable = value.as<Halide::Internal::Variable>()) allowed.insert(variable->name);
        }
        for (std::string const& name : check.used) {
            if (check.defined.count(name) == 0 && allowed.count(name) == 0)
                throw std::runtime_error("a tile body of stage " + stage_.output.str() + " uses `" + name +
                                         "`, which the program does not define");
        }
    }

    surroundings const& around_;
    plan_value const& plan_;
    body const& body_;
    tile_part const& part_;
    stage const& stage_;
    adopt_names adopt_;
    std::map<int, Halide::Param<int>> outer_;           ///< loops of the program that indices use
    std::map<std::string, Halide::Param<int>> layout_;  ///< strides and minima of arguments
    std::map<std::string, Halide::Internal::Parameter> parameters_;
    std::map<int, Halide::ImageParam> loaded_;
    Halide::Func produced_{Halide::Internal::Function("body")};  ///< a name of its own, without a number
    int updates_ = 0;

    // Of the update that is added:
    std::vector<int> loops_;
    Halide::RDom domain_;
    std::vector<limit> limits_;
    std::function<Expr(int)> const loop_ = [this](int v) { return loop_value(v); };
    /// Likewise, but an index that is computed may leave its tensor.
    std::function<Expr(int)> const as_computed_ = [this](int v) {
        variable const& of = plan_.variables[v];
        return of.kind == variable_kind::element ? computed_index(plan_.what, of.value, leaf_) : loop_value(v);
    };
    /// Likewise where all that uses it has asked whether it is inside. Halide takes our word for it: it bounds every access.
    std::function<Expr(int)> const known_inside_ = [this](int v) {
        variable const& of = plan_.variables[v];
        Expr const value = as_computed_(v);
        return of.kind == variable_kind::element ? Halide::unsafe_promise_clamped(value, 0, static_cast<int>(of.extent - 1)) : value;
    };
    std::function<Expr(int)> const leaf_ = [this](int at) { return leaf_value(at); };
};

}  // namespace detail

/// Lowers one tile body: a small pipeline whose loops have constant extents, and whose loads and stores are then those of the plan's
/// buffers.
///
/// @param part  the iterations that are carried out
/// @throws std::runtime_error when a name is left that the program around it does not define
inline Halide::Internal::Stmt lower_tile_body(surroundings const& around, body const& b, tile_part const& part = {}) {
    return detail::tile_pipeline(around, b, part).lowered();
}

}  // namespace tilewright::halide
