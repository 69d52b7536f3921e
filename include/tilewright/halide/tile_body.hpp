#pragma once
#include <algorithm>
#include <set>
#include <tilewright/halide/border.hpp>
#include <tilewright/halide/held.hpp>
#include <tilewright/plan/check/partial_counts.hpp>
#include <tilewright/plan/place/registers.hpp>
#include <utility>

// Tile bodies: what stands inside the innermost loops of the program, lowered by Halide and taken over as a statement.
namespace tilewright::halide {

/// How buffers and variables of a plan are called in the generated code.
struct code_names {
    std::vector<std::string> buffers;
    std::vector<std::string> variables;
    std::map<std::string, Halide::Expr> parameters;
};

/// Elements from one index to the next along `dimension`, and the index at which the buffer begins.
inline Halide::Expr stride_of(buffer const& b, std::string const& name, int dimension) {
    if (b.kind != buffer_kind::argument) return static_cast<int>(b.stride(dimension));
    if (dimension == b.rank - 1) return 1;
    Halide::Expr const handle = Halide::Internal::Variable::make(Halide::type_of<halide_buffer_t*>(), name + ".buffer");
    return Halide::Internal::Call::make(Halide::Int(32), Halide::Internal::Call::buffer_get_stride, {handle, b.rank - 1 - dimension},
                                        Halide::Internal::Call::Extern);
}
inline Halide::Expr extent_of(buffer const& b, std::string const& name, int dimension) {
    Halide::Expr const handle = Halide::Internal::Variable::make(Halide::type_of<halide_buffer_t*>(), name + ".buffer");
    return Halide::Internal::Call::make(Halide::Int(32), Halide::Internal::Call::buffer_get_extent, {handle, b.rank - 1 - dimension},
                                        Halide::Internal::Call::Extern);
}
inline Halide::Expr minimum_of(buffer const& b, std::string const& name, int dimension) {
    if (b.kind != buffer_kind::argument) return 0;
    Halide::Expr const handle = Halide::Internal::Variable::make(Halide::type_of<halide_buffer_t*>(), name + ".buffer");
    return Halide::Internal::Call::make(Halide::Int(32), Halide::Internal::Call::buffer_get_min, {handle, b.rank - 1 - dimension},
                                        Halide::Internal::Call::Extern);
}

inline Halide::Expr variable_value(plan_value const& plan, int at, std::function<Halide::Expr(int)> const& loop);

/// An index form over loops; `loop(variable)` gives a loop's value.
inline Halide::Expr form_value(plan_value const& plan, affine const& form, std::function<Halide::Expr(int)> const& loop) {
    Halide::Expr value = static_cast<int>(form.constant);
    for (int t = 0; t < form.count; ++t) {
        term const& part = plan.term_at(form, t);
        Halide::Expr const moved = variable_value(plan, part.variable, loop);
        value = part.coefficient == 1 ? value + moved : value + static_cast<int>(part.coefficient) * moved;
    }
    return value;
}
inline Halide::Expr variable_value(plan_value const& plan, int at, std::function<Halide::Expr(int)> const& loop) {
    variable const& v = plan.variables[at];
    if (v.kind != variable_kind::component) return loop(at);
    Halide::Expr value = form_value(plan, v.fused, loop) / static_cast<int>(v.divisor);
    return v.modulus == 0 ? value : value % static_cast<int>(v.modulus);
}

/// The ends that the loops of a tile body can run past.
inline std::vector<limit> limits_of(plan_value const& plan, body const& b, bool pure_only) {
    std::vector<limit> found;
    for (int at = 0; at < plan.limits.size(); ++at) {
        limit const& l = plan.limits[at];
        if (tilewright::detail::limits_body(plan, l, b, pure_only || b.kind == body_kind::identity)) found.push_back(l);
    }
    return found;
}

/// Whether all that the loops of a tile body reach of one axis is there, over the loops around it.
inline Halide::Expr is_whole(plan_value const& plan, limit const& l, body const& b, std::function<Halide::Expr(int)> const& loop) {
    Halide::Expr furthest = static_cast<int>(l.form.constant);
    for (int t = 0; t < l.form.count; ++t) {
        term const& part = plan.term_at(l.form, t);
        linear one;
        one.add(1, part.variable);
        bool inside = false;
        for (int at = 0; at < b.loop_count; ++at) inside |= tilewright::detail::moves_with(plan, one, b.loops[at]);
        std::int64_t const most = plan.variables[part.variable].extent - 1;
        if (!inside) furthest = furthest + static_cast<int>(part.coefficient) * variable_value(plan, part.variable, loop);
        else if (part.coefficient > 0) furthest = furthest + static_cast<int>(part.coefficient * most);
    }
    return Halide::Internal::simplify(furthest < static_cast<int>(l.bound));
}
/// Likewise of all axes.
inline Halide::Expr is_whole(plan_value const& plan, body const& b, std::function<Halide::Expr(int)> const& loop) {
    Halide::Expr whole = Halide::Internal::const_true();
    for (limit const& l : limits_of(plan, b, false)) whole = whole && is_whole(plan, l, b, loop);
    return Halide::Internal::simplify(whole);
}
/// Whether all that a tile body reads of padded tensors lies inside of them, over the loops around it; false where that is not known.
inline Halide::Expr is_all_inside(plan_value const& plan, body const& b, std::function<Halide::Expr(int)> const& loop) {
    using Halide::Expr;
    Expr inside = Halide::Internal::const_true();
    plan.each_use(b, [&](use const& u, bool, bool) {
        plan.each_padding(u.node, [&](padding const& one) {
            if (!one.guarded) return;
            Expr low = static_cast<int>(one.index.constant), high = low;
            for (int t = 0; t < one.index.count; ++t) {
                term const& part = plan.term_at(one.index, t);
                variable const& v = plan.variables[part.variable];
                if (v.kind == variable_kind::component) inside = Halide::Internal::const_false();
                bool within = false;
                for (int at = 0; at < b.loop_count; ++at) within |= b.loops[at] == part.variable;
                Expr const step = static_cast<int>(part.coefficient);
                Expr const first = within ? Expr(0) : loop(part.variable), last = within ? Expr(static_cast<int>(v.extent - 1)) : first;
                low = low + step * (part.coefficient < 0 ? last : first);
                high = high + step * (part.coefficient < 0 ? first : last);
            }
            inside = inside && low >= 0 && high < static_cast<int>(one.extent);
        });
    });
    return Halide::Internal::simplify(inside);
}

/// The iterations of a tile body that a piece of code carries out.
struct tile_part {
    struct range {
        int first = 0, count = 0;
    };
    std::map<int, range> ranges;  ///< of loops that do not run in full
    bool guarded = false;         ///< every iteration asks whether it is there; then what ends is not vectorised or unrolled
    bool goes_on = false;         ///< another piece has begun the reduction
    bool inside = false;          ///< what it reads of padded tensors is all inside of them

    range of(int loop, variable const& v) const {
        auto const found = ranges.find(loop);
        return found == ranges.end() ? range{0, static_cast<int>(v.extent)} : found->second;
    }
};

/// Whether a core carries out a stage by fused multiply-adds.
inline bool is_fused(plan_value const& plan, stage const& s) {
    return plan.where->host().fused_multiply_add && s.reduction == operation::reduce_sum && is_float(s.type) &&
           plan.what[s.body].op == operation::multiply;
}
/// The sum that such a stage continues. LLVM knows the function by its name, and the calls of all lanes become one instruction.
inline Halide::Expr fused_sum(plan_value const& plan, stage const& s, Halide::Expr const& sum, std::vector<Halide::Expr> const& axes,
                              std::function<Halide::Expr(int)> const& leaf) {
    node const& product = plan.what[s.body];
    Halide::Type const type = type_of(s.type);
    return Halide::Internal::Call::make(type, type.bits() == 32 ? "llvm.fma.f32" : "llvm.fma.f64",
                                        {held(strict(build_value(plan.what, product.argument(0), leaf)), axes),
                                         strict(build_value(plan.what, product.argument(1), leaf)), sum},
                                        Halide::Internal::Call::PureExtern);
}

namespace detail {

/// From where to where a form goes, whatever its loops are.
inline std::pair<std::int64_t, std::int64_t> reach_of(plan_value const& plan, linear const& form) {
    std::int64_t low = form.constant, high = form.constant;
    for (int t = 0; t < form.count; ++t) {
        term const& part = form.terms[t];
        std::int64_t const furthest = part.coefficient * (plan.variables[part.variable].extent - 1);
        (furthest < 0 ? low : high) += furthest;
    }
    return {low, high};
}

/// The index of a use along a dimension of its buffer, inside of the tensor where it is one that may leave it.
inline Halide::Expr place_of(plan_value const& plan, use const& u, int dimension, std::function<Halide::Expr(int)> const& loop) {
    using Halide::Expr;
    affine const& at = u.at[dimension];
    Expr place = form_value(plan, at, loop);
    plan.each_padding(u.node, [&](padding const& one) {
        if (!one.guarded || one.dimension != dimension) return;
        Expr const index = form_value(plan, one.index, loop);
        place = move_inside(index, one.extent) + Halide::Internal::simplify(place - index);
        // A box can be outside as a whole: then there is nothing in it, but an address.
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

/// Renames what a lowered body loads, stores and loops over to the plan's names, and releases its values.
class adopt_names : public release_values {
  public:
    std::map<std::string, std::string> buffers, variables;
    std::map<std::string, Halide::Expr> values;
    std::map<std::string, std::string> loops;  // name of a reduction variable -> name of the plan's loop
    std::string produced;                      // the Func that the body produces
    bool adds_pairs_in_16_bits = false;        // of products of bytes, where that is exact

  protected:
    using release_values::visit;
    static std::string renamed(std::map<std::string, std::string> const& names, std::string const& name) {
        auto const found = names.find(name);
        return found == names.end() ? name : found->second;
    }
    /// Halide numbers its names through the whole process: here they are numbered through the body.
    /// @param inside  makes the node of a variable, whose new name it is given
    template <class Inside>
    auto define(std::string const& name, Inside const& inside) {
        std::string const outer = std::exchange(defined_[name], new_name(name));
        auto const node = inside(std::string(defined_[name]));
        if (outer.empty()) defined_.erase(name);
        else defined_[name] = outer;
        return node;
    }
    /// A loop of the plan's keeps its name, and what Halide makes of its bounds is called after it.
    std::string new_name(std::string const& name) {
        for (auto const& [old_name, loop] : loops) {
            std::size_t const at = name.find("." + old_name);
            if (at == std::string::npos) continue;
            bool const ends = at + old_name.size() + 1 == name.size();
            bool const begins = name.compare(0, produced.size() + 2, produced + ".s") == 0 &&
                                name.find_first_not_of("0123456789", produced.size() + 2) == at;
            return begins && ends ? loop : loop + "." + std::to_string(made_++);
        }
        return "value." + std::to_string(made_++);
    }
    Halide::Expr visit(Halide::Internal::Load const* op) override {
        return Halide::Internal::Load::make(op->type, renamed(buffers, op->name), mutate(op->index), Halide::Buffer<>(),
                                            Halide::Internal::Parameter(), mutate(op->predicate), Halide::Internal::ModulusRemainder());
    }
    Halide::Internal::Stmt visit(Halide::Internal::Store const* op) override {
        return Halide::Internal::Store::make(renamed(buffers, op->name), mutate(op->value), mutate(op->index),
                                             Halide::Internal::Parameter(), mutate(op->predicate), Halide::Internal::ModulusRemainder());
    }
    Halide::Expr visit(Halide::Internal::Variable const* op) override {
        auto const found = values.find(op->name);
        if (found != values.end()) return found->second;
        return Halide::Internal::Variable::make(op->type, renamed(defined_, op->name));
    }
    Halide::Expr visit(Halide::Internal::Let const* op) override {
        Halide::Expr const value = mutate(op->value);
        return define(op->name, [&](std::string const& name) { return Halide::Internal::Let::make(name, value, mutate(op->body)); });
    }
    Halide::Internal::Stmt visit(Halide::Internal::LetStmt const* op) override {
        Halide::Expr const value = mutate(op->value);
        return define(op->name, [&](std::string const& name) { return Halide::Internal::LetStmt::make(name, value, mutate(op->body)); });
    }
    Halide::Internal::Stmt visit(Halide::Internal::For const* op) override {
        Halide::Expr const first = mutate(op->min), extent = mutate(op->extent);
        return define(op->name, [&](std::string const& name) {
            return Halide::Internal::For::make(name, first, extent, op->for_type, op->device_api, mutate(op->body));
        });
    }
    // Lanes that are added up: four products of bytes, in pairs by the instruction that would saturate if they did not fit.
    Halide::Expr visit(Halide::Internal::VectorReduce const* op) override {
        using namespace Halide::Internal;
        Halide::Expr const value = mutate(op->value);
        int const lanes = value.type().lanes();
        Halide::Expr left, right;
        if (adds_pairs_in_16_bits && op->op == VectorReduce::Add && op->type.element_of() == Halide::Int(32) &&
            lanes / op->type.lanes() % 4 == 0)
            find_bytes(value, left, right);
        if (!left.defined()) return VectorReduce::make(op->op, value, op->type.lanes());
        if (left.type().is_int()) std::swap(left, right);
        Halide::Expr const products = Call::make(Halide::Int(16, lanes), Call::widening_mul, {left, right}, Call::PureIntrinsic);
        Halide::Expr const pairs = VectorReduce::make(VectorReduce::SaturatingAdd, products, lanes / 2);
        Halide::Expr const wide =
            Call::make(Halide::Int(32, lanes / 2), Call::widening_mul, {pairs, make_one(pairs.type())}, Call::PureIntrinsic);
        Halide::Expr const fours = VectorReduce::make(VectorReduce::Add, wide, lanes / 4);
        return fours.type() == op->type ? fours : VectorReduce::make(VectorReduce::Add, fours, op->type.lanes());
    }

  private:
    std::map<std::string, std::string> defined_;  // Halide's names of the variables around -> their new ones
    int made_ = 0;

    /// The factors of a product of bytes, whichever way Halide writes it.
    static void find_bytes(Halide::Expr const& product, Halide::Expr& left, Halide::Expr& right) {
        using namespace Halide::Internal;
        auto const inner = [](Halide::Expr const& value) {
            Cast const* const widened = value.as<Cast>();
            return widened != nullptr ? widened->value : value;
        };
        Halide::Expr const whole = inner(product);
        Halide::Expr a, b;
        if (Call const* const wide = Call::as_intrinsic(whole, {Call::widening_mul})) a = wide->args[0], b = wide->args[1];
        else if (Mul const* const multiplied = whole.as<Mul>()) a = inner(multiplied->a), b = inner(multiplied->b);
        else return;
        if (a.type().bits() == 8 && b.type().bits() == 8) left = a, right = b;
    }
};

/// The variables of a statement that nothing in it defines.
class free_names : public Halide::Internal::IRGraphVisitor {
  public:
    std::set<std::string> used, defined;

  protected:
    using IRGraphVisitor::visit;
    void visit(Halide::Internal::Variable const* op) override { used.insert(op->name); }
    void visit(Halide::Internal::Let const* op) override { defined.insert(op->name), IRGraphVisitor::visit(op); }
    void visit(Halide::Internal::LetStmt const* op) override { defined.insert(op->name), IRGraphVisitor::visit(op); }
    void visit(Halide::Internal::For const* op) override { defined.insert(op->name), IRGraphVisitor::visit(op); }
};

/// Finds the statement that produces a Func, with the lets and conditions around it.
class find_production : public Halide::Internal::IRVisitor {
  public:
    std::string name;
    Halide::Internal::Stmt body;

    /// The body, inside of the conditions and of those lets around that it uses.
    Halide::Internal::Stmt whole() const {
        Halide::Internal::Stmt found = body;
        for (auto outer = around.rbegin(); outer != around.rend(); ++outer) {
            free_names inside;
            found.accept(&inside);
            if (outer->first.empty()) found = Halide::Internal::IfThenElse::make(outer->second, found);
            else if (inside.used.count(outer->first) != 0) found = Halide::Internal::LetStmt::make(outer->first, outer->second, found);
        }
        return found;
    }

  protected:
    using IRVisitor::visit;
    void visit(Halide::Internal::ProducerConsumer const* op) override {
        if (op->is_producer && op->name == name) {
            body = op->body;
        } else IRVisitor::visit(op);
    }
    void visit(Halide::Internal::LetStmt const* op) override { inside(op->name, op->value, op->body); }
    void visit(Halide::Internal::IfThenElse const* op) override {
        inside("", op->condition, op->then_case);
        if (op->else_case.defined()) inside("", !op->condition, op->else_case);
    }

  private:
    std::vector<std::pair<std::string, Halide::Expr>> around;  ///< a condition has no name

    void inside(std::string const& name, Halide::Expr const& value, Halide::Internal::Stmt const& rest) {
        if (body.defined()) return;
        around.emplace_back(name, value);
        rest.accept(this);
        if (!body.defined()) around.pop_back();
    }
};

}  // namespace detail

/// Lowers one tile body: a small pipeline whose loops have constant extents, and whose loads and stores are then those of the plan's
/// buffers.
///
/// @param reported  its accesses will be reported: see `padded_call`
/// @throws std::runtime_error when a name is left that the program around it does not define
inline Halide::Internal::Stmt lower_tile_body(plan_value const& plan, body const& b, code_names const& names, Halide::Target const& target,
                                              tile_part const& part = {}, bool reported = false) {
    using namespace Halide;
    stage const& s = plan.stages[b.stage];
    detail::adopt_names adopt;
    std::map<int, Param<int>> outer;           // loops of the program that indices use
    std::map<std::string, Param<int>> layout;  // strides and minima of arguments
    std::map<std::string, Internal::Parameter> parameters;
    std::map<int, ImageParam> loaded;

    auto const loop_names = [&](bool pure_only) {
        std::vector<int> loops;
        for (int position = b.loop_count - 1; position >= 0; --position) {
            int const v = b.loops[position];
            if (!pure_only || !plan.variables[v].reduction) loops.push_back(v);
        }
        // Halide adds up lanes that lie beside each other.
        std::stable_partition(loops.begin(), loops.end(), [&](int v) {
            variable const& loop = plan.variables[v];
            return loop.vectorized && loop.reduction;
        });
        return loops;
    };
    Func produced{Internal::Function("body")};  // a name of its own, without a number
    Var element("element");
    produced(element) = undef(type_of(s.type));

    int updates = 0;
    auto const define = [&](bool only_identity) {
        std::vector<int> const loops = loop_names(only_identity);
        RDom domain;
        if (!loops.empty()) {
            Region ranges;
            for (int v : loops) {
                tile_part::range const here = part.of(v, plan.variables[v]);
                ranges.emplace_back(here.first, here.count);
            }
            domain = RDom(ranges, only_identity ? "identity" : "tile");
        }
        std::function<Expr(int)> const loop = [&](int v) -> Expr {
            for (std::size_t position = 0; position < loops.size(); ++position) {
                if (loops[position] == v) return domain[static_cast<int>(position)];
            }
            auto const made = outer.try_emplace(v, "outer" + std::to_string(v));
            adopt.values[made.first->second.name()] = Internal::Variable::make(Int(32), names.variables[v]);
            return made.first->second;
        };
        auto const flat = [&](use const& u) {
            buffer const& at = plan.buffers[u.buffer];
            std::string const& name = names.buffers[u.buffer];
            Expr index = 0;
            for (int dimension = 0; dimension < at.rank; ++dimension) {
                Expr stride = stride_of(at, name, dimension), low = minimum_of(at, name, dimension);
                for (Expr* part : {&stride, &low}) {
                    if (Internal::is_const(*part)) continue;
                    std::string const key = name + (part == &stride ? ".stride" : ".min") + std::to_string(dimension);
                    auto const made = layout.try_emplace(key, key);
                    adopt.values[made.first->second.name()] = *part;
                    *part = made.first->second;
                }
                Expr const place = part.inside ? form_value(plan, u.at[dimension], loop)  //
                                               : detail::place_of(plan, u, dimension, loop);
                index = index + (place - low) * stride;
            }
            return Internal::simplify(index);
        };
        std::vector<limit> const limits = part.guarded ? limits_of(plan, b, only_identity) : std::vector<limit>();
        for (limit const& l : limits) domain.where(form_value(plan, l.form, loop) < static_cast<int>(l.bound));
        auto const runs_past = [&](int v) {
            return std::any_of(limits.begin(), limits.end(), [&](limit const& l) {
                return tilewright::detail::moves_with(plan, tilewright::detail::form_of(plan, l.form), v);
            });
        };
        std::function<Expr(int)> const leaf = [&](int at) -> Expr {
            node const& n = plan.what[at];
            if (n.op == operation::parameter) {
                Internal::Parameter const& parameter =
                    parameters.try_emplace(n.name.str(), type_of(n.type), false, 0, "parameter." + n.name.str()).first->second;
                adopt.values[parameter.name()] = names.parameters.at(n.name.str());
                return Internal::Variable::make(parameter.type(), parameter.name(), parameter);
            }
            use const& u = *plan.use_at(at);
            if (n.op == operation::axis_value) return form_value(plan, u.at[0], loop);
            auto const made = loaded.try_emplace(u.buffer, type_of(n.type), 1, "buffer" + std::to_string(u.buffer));
            adopt.buffers[made.first->second.name()] = names.buffers[u.buffer];
            Expr const element = made.first->second(flat(u));
            if (!plan.is_guarded(at) || part.inside) return element;
            Expr inside = Internal::const_true();
            plan.each_padding(at, [&](padding const& one) { inside = inside && is_inside(form_value(plan, one.index, loop), one.extent); });
            Expr const border = border_of(plan.what, at);
            if (!reported) return choose(inside, element, border);
            return Internal::Call::make(element.type(), padded_call, {inside, element, border}, Internal::Call::PureExtern);
        };
        Expr const where = flat(*plan.use_at(s.target));
        if (only_identity && s.start >= 0) produced(where) = strict(build_value(plan.what, s.start, leaf));
        else if (only_identity) produced(where) = identity(s.reduction, s.type);
        else {
            std::vector<Expr> axes;
            bool adds_lanes = false;
            for (std::size_t position = 0; position < loops.size(); ++position) {
                variable const& v = plan.variables[loops[position]];
                axes.push_back(domain[static_cast<int>(position)]);
                adds_lanes |= v.vectorized && v.reduction;
            }
            if (is_fused(plan, s)) produced(where) = fused_sum(plan, s, produced(where), axes, leaf);
            else if (Expr value = build_value(plan.what, s.body, leaf); !s.reduces()) produced(where) = strict(value);
            else {
                if (adds_lanes) value = hold_divided().mutate(value);
                produced(where) = strict(reduce(s.reduction, produced(where), held(value, axes)));
            }
        }
        Stage update = produced.update(updates++);
        update.unscheduled();  // on purpose, where nothing is vectorised or unrolled
        for (std::size_t position = 0; position < loops.size(); ++position) {
            variable const& v = plan.variables[loops[position]];
            RVar const here = domain[static_cast<int>(position)];
            adopt.loops[here.name()] = names.variables[loops[position]];
            if (part.of(loops[position], v).count == 1 || runs_past(loops[position]))
                continue;  // no loop is left to direct, or none that can be
            // The target's elements differ from lane to lane, so there is no race to fear; or else lanes are added up.
            if (v.vectorized) (v.reduction ? update.atomic(true) : update.allow_race_conditions()).vectorize(here);
            if (v.unrolled) update.unroll(here);
        }
    };
    if (b.kind == body_kind::identity || (b.kind == body_kind::reduction && !part.goes_on)) define(true);
    if (b.kind != body_kind::identity) define(false);

    for (auto& [at, image] : loaded) image.dim(0).set_min(0);
    produced.output_buffer().dim(0).set_min(0);
    Target bare = target.with_feature(Target::NoAsserts).with_feature(Target::NoBoundsQuery).with_feature(Target::NoRuntime);
    Module const module = Pipeline(produced).compile_to_module(Pipeline(produced).infer_arguments(), "tile_body", bare);
    detail::find_production found;
    found.name = produced.name();
    module.functions().back().body.accept(&found);
    if (!found.body.defined()) return Internal::Evaluate::make(0);  // no iteration is left: of a tile that lies outside as a whole
    Internal::Stmt whole = found.whole();
    adopt.adds_pairs_in_16_bits = target.has_feature(Target::AVX2) && tilewright::detail::adds_bytes_by_fours(plan, b);
    adopt.produced = produced.name();
    adopt.buffers[produced.name()] = names.buffers[plan.use_at(s.target)->buffer];
    whole = adopt.mutate(whole);

    detail::free_names check;
    whole.accept(&check);
    std::set<std::string> allowed(names.variables.begin(), names.variables.end());
    for (std::string const& name : names.buffers) allowed.insert(name + ".buffer");
    for (auto const& [name, value] : names.parameters) {
        if (auto const* const variable = value.as<Internal::Variable>()) allowed.insert(variable->name);
    }
    for (std::string const& name : check.used) {
        if (check.defined.count(name) == 0 && allowed.count(name) == 0)
            throw std::runtime_error("a tile body of stage " + s.output.str() + " uses `" + name + "`, which the program does not define");
    }
    return whole;
}

}  // namespace tilewright::halide
