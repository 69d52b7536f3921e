#pragma once
#include <Halide.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tilewright/halide/border.hpp>
#include <utility>
#include <vector>

// Tile bodies that tell the emulator what they are going to touch.
namespace tilewright::halide {

/// A buffer of the plan as lowered code knows it.
struct checked_buffer {
    int position = -1;       ///< in the plan
    Halide::Expr address{};  ///< of the element with index 0, as a UInt(64)
};

namespace detail {

/// A load or store of a vector, or of one element.
struct access {
    std::string name;
    int bytes = 0;  ///< of one element
    Halide::Expr index, predicate;
    std::set<int> unused{};  ///< lanes whose values nothing uses
};

/// The loads of an expression.
class find_loads : public Halide::Internal::IRVisitor {
  public:
    std::vector<access> loads;

  protected:
    using IRVisitor::visit;
    void visit(Halide::Internal::Let const* op) override {
        op->value.accept(this);
        lets_.emplace_back(op->name, op->value);
        op->body.accept(this);
        lets_.pop_back();
    }
    void visit(Halide::Internal::Load const* op) override {
        IRVisitor::visit(op);  // an index may load too
        Halide::Expr made = op->predicate;
        for (Halide::Expr const& guard : guards_) made = made && guard_of(guard, op->type.lanes());
        loads.push_back({op->name, op->type.element_of().bytes(), with_lets(op->index), with_lets(made)});
    }
    void visit(Halide::Internal::Shuffle const* op) override {
        int begin = 0;
        for (Halide::Expr const& part : op->vectors) {
            part.accept(this);
            int const lanes = part.type().lanes();
            for (int lane = 0; lane < lanes && part.as<Halide::Internal::Load>() != nullptr; ++lane) {
                if (std::find(op->indices.begin(), op->indices.end(), begin + lane) == op->indices.end()) loads.back().unused.insert(lane);
            }
            begin += lanes;
        }
    }
    void visit(Halide::Internal::Call const* op) override {
        if (op->name != padded_call) return IRVisitor::visit(op);
        op->args[0].accept(this);
        guards_.push_back(op->args[0]);
        op->args[1].accept(this);
        guards_.pop_back();
        op->args[2].accept(this);
    }

  private:
    /// Leaves out variables that only the expression around defines.
    Halide::Expr with_lets(Halide::Expr value) const {
        for (auto let = lets_.rbegin(); let != lets_.rend(); ++let) value = Halide::Internal::substitute(let->first, let->second, value);
        return value;
    }
    /// One load for all lanes is carried out if any lane is.
    static Halide::Expr guard_of(Halide::Expr const& guard, int lanes) {
        if (guard.type().lanes() == lanes) return guard;
        Halide::Expr any = Halide::Internal::const_false();
        for (int lane = 0; lane < guard.type().lanes(); ++lane)
            any = any || (guard.type().is_scalar() ? guard : Halide::Internal::Shuffle::make_extract_element(guard, lane));
        return lanes == 1 ? any : Halide::Internal::Broadcast::make(any, lanes);
    }
    std::vector<std::pair<std::string, Halide::Expr>> lets_;
    std::vector<Halide::Expr> guards_;
};

class report_accesses : public Halide::Internal::IRMutator {
  public:
    report_accesses(Halide::Expr machine, int stage, std::map<std::string, checked_buffer> const& buffers, bool fills)
        : machine_(std::move(machine)), stage_(stage), buffers_(buffers), fills_(fills) {}

  protected:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;
    using IRMutator::visit;

    Stmt visit(Halide::Internal::Store const* op) override {
        std::vector<Stmt> reports;
        for (Expr const& part : {op->index, op->predicate, op->value}) report_loads(part, reports);
        report({op->name, op->value.type().element_of().bytes(), op->index, op->predicate}, true, reports);
        return in_front(reports, op);
    }
    Stmt visit(Halide::Internal::LetStmt const* op) override { return in_front_of(op->value, IRMutator::visit(op)); }
    Stmt visit(Halide::Internal::Evaluate const* op) override { return in_front_of(op->value, op); }
    Stmt visit(Halide::Internal::IfThenElse const* op) override { return in_front_of(op->condition, IRMutator::visit(op)); }
    Stmt visit(Halide::Internal::AssertStmt const* op) override { return in_front_of(op->condition, op); }
    Stmt visit(Halide::Internal::For const* op) override {
        std::vector<Stmt> reports;
        for (Expr const& part : {op->min, op->extent}) report_loads(part, reports);
        return in_front(reports, IRMutator::visit(op));
    }
    Stmt visit(Halide::Internal::Allocate const* op) override {
        own_.insert(op->name);
        Stmt const inside = IRMutator::visit(op);
        own_.erase(op->name);
        return inside;
    }

  private:
    static Stmt in_front(std::vector<Stmt> reports, Stmt const& what) {
        if (reports.empty()) return what;
        reports.push_back(what);
        return Halide::Internal::Block::make(reports);
    }
    Stmt in_front_of(Expr const& part, Stmt const& what) {
        std::vector<Stmt> reports;
        report_loads(part, reports);
        return in_front(reports, what);
    }
    void report_loads(Expr const& part, std::vector<Stmt>& into) {
        find_loads found;
        part.accept(&found);
        for (access const& load : found.loads) report(load, false, into);
    }
    void report(access const& what, bool writes, std::vector<Stmt>& into) {
        using namespace Halide::Internal;
        if (own_.count(what.name) != 0) return;
        auto const known = buffers_.find(what.name);
        if (known == buffers_.end()) throw std::logic_error("a tile body touches `" + what.name + "`, which is no buffer of the plan");
        bool const always = is_const_one(what.predicate), whole = always && what.unused.empty();
        Ramp const* const ramp = what.index.as<Ramp>();
        if (whole && what.index.type().is_scalar()) {
            into.push_back(call(known->second, what.index, what.bytes, 1, writes));
        } else if (whole && ramp != nullptr && ramp->base.type().is_scalar() && is_const_one(ramp->stride)) {
            into.push_back(call(known->second, ramp->base, what.bytes, ramp->lanes, writes));
        } else {
            for (int lane = 0; lane < what.index.type().lanes(); ++lane) {
                if (what.unused.count(lane) != 0) continue;
                Stmt const one = call(known->second, lane_of(what.index, lane), what.bytes, 1, writes);
                into.push_back(always ? one : IfThenElse::make(lane_of(what.predicate, lane), one));
            }
        }
    }
    static Expr lane_of(Expr const& vector, int lane) {
        using namespace Halide::Internal;
        if (vector.type().is_scalar()) return vector;
        if (auto const* same = vector.as<Broadcast>(); same != nullptr && same->value.type().is_scalar()) return same->value;
        if (auto const* ramp = vector.as<Ramp>(); ramp != nullptr && ramp->base.type().is_scalar())
            return simplify(ramp->base + make_const(ramp->base.type(), lane) * ramp->stride);
        return simplify(Shuffle::make_extract_element(vector, lane));
    }
    /// A code other than 0 ends the kernel, which returns it.
    Stmt call(checked_buffer const& buffer, Expr const& index, int element_bytes, int elements, bool writes) const {
        using namespace Halide::Internal;
        auto const wide = [](std::int64_t value) { return make_const(Halide::Int(64), value); };
        Expr const offset = Halide::cast<std::uint64_t>(Halide::cast<std::int64_t>(index) * wide(element_bytes));
        Expr const code =
            Call::make(Halide::Int(32), "tilewright_emulate_access",
                       {machine_, stage_, buffer.position, simplify(buffer.address + offset), wide(std::int64_t{element_bytes} * elements),
                        !writes  ? 0
                        : fills_ ? 2
                                 : 1},
                       Call::Extern);
        Expr const status = Variable::make(Halide::Int(32), "status");
        return LetStmt::make("status", code, AssertStmt::make(status == 0, status));
    }

    Expr machine_;
    int stage_;
    std::map<std::string, checked_buffer> const& buffers_;
    bool fills_;
    std::set<std::string> own_;  // allocations inside the body
};

}  // namespace detail

/// A lowered tile body that tells the emulator what it touches: in front of every statement that loads or stores stands a call
///
///     tilewright_emulate_access(machine, stage, buffer, address, bytes, writes)
///
/// for each load and for the store, the loads first. A dense vector is one call for all lanes, any other vector one call for each lane.
/// There is no call for lanes that a predicate leaves out, and for lanes of a load whose values nothing uses. A code other than 0 ends the
/// kernel, which returns it, before the access happens.
///
/// @param body     as `lower_tile_body` returns it
/// @param machine  the emulator, as a value of type handle
/// @param stage    position of the body's stage in the plan
/// @param buffers  by the names that the body loads from and stores to; allocations of its own are left alone
/// @param fills    its stores fill a buffer in front of a transfer
/// @throws std::logic_error when the body touches anything else
inline Halide::Internal::Stmt report_accesses(Halide::Internal::Stmt const& body, Halide::Expr const& machine, int stage,
                                              std::map<std::string, checked_buffer> const& buffers, bool fills = false) {
    return detail::choose_borders().mutate(detail::report_accesses(machine, stage, buffers, fills).mutate(body));
}

}  // namespace tilewright::halide
