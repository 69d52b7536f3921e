#pragma once
#include <Halide.h>

#include <algorithm>
#include <map>
#include <string>
#include <tilewright/halide/names.hpp>
#include <utility>
#include <vector>

// Something that is looked for in an expression, and what names in it stand for.
namespace tilewright::halide::detail {

/// Looks for something in an expression.
template <class Test>
class find_node : public Halide::Internal::IRGraphVisitor {
  public:
    explicit find_node(Test const& test) : test_(test) {}
    bool found = false;
    void include(Halide::Expr const& e) override {
        found = found || test_(e);
        if (!found) IRGraphVisitor::include(e);
    }

  protected:
    using IRGraphVisitor::include;

  private:
    Test const& test_;
};
template <class Test>
bool holds_node(Halide::Expr const& e, Test const& test) {
    find_node<Test> visitor(test);
    visitor.include(e);
    return visitor.found;
}

/// A statement whose numbered values have names of their own: tile bodies number theirs alike, and then a name says which value is meant
/// only where it stands.
///
///     if (whole) { let value.0 = a … } else { let value.0 = b … }   →   … else { let value.0@1 = b … }
class values_apart : public Halide::Internal::IRMutator {
  protected:
    using IRMutator::visit;
    Halide::Expr visit(Halide::Internal::Variable const* op) override {
        auto const found = here_.find(op->name);
        if (found == here_.end() || found->second == op->name) return op;
        return Halide::Internal::Variable::make(op->type, found->second);
    }
    Halide::Expr visit(Halide::Internal::Let const* op) override { return renamed<Halide::Expr>(op); }
    Halide::Internal::Stmt visit(Halide::Internal::LetStmt const* op) override { return renamed<Halide::Internal::Stmt>(op); }

  private:
    template <class Made, class Node>
    Made renamed(Node const* op) {
        Halide::Expr const value = mutate(op->value);
        std::string const name = value.type().is_handle() ? op->name : own_name(op->name);
        std::string const outer = std::exchange(here_[op->name], name);
        Made const node = Node::make(name, value, mutate(op->body));
        if (outer.empty()) here_.erase(op->name);
        else here_[op->name] = outer;
        return node;
    }
    std::string own_name(std::string const& name) {
        std::size_t const point = name.rfind('.');
        bool const numbered = point != std::string::npos && name.find_first_not_of("0123456789", point + 1) == std::string::npos;
        int const before = numbered ? defined_[name]++ : 0;
        return before == 0 ? name : name + number_apart + std::to_string(before);
    }
    std::map<std::string, std::string> here_;  ///< where the mutator is: the names of values, and their new ones
    std::map<std::string, int> defined_;
};

/// Whether a statement has a variable, or loads from or stores to a buffer, of this name.
class find_name : public Halide::Internal::IRGraphVisitor {
  public:
    explicit find_name(std::string const& name) : name_(name) {}
    bool found = false;

  protected:
    using IRGraphVisitor::visit;
    void visit(Halide::Internal::Variable const* op) override { found |= op->name == name_; }
    void visit(Halide::Internal::Load const* op) override { found |= op->name == name_, IRGraphVisitor::visit(op); }
    void visit(Halide::Internal::Store const* op) override { found |= op->name == name_, IRGraphVisitor::visit(op); }

  private:
    std::string const& name_;
};

/// Whether a statement asks what to do.
inline bool has_branches(Halide::Internal::Stmt const& s) {
    struct look_for : Halide::Internal::IRGraphVisitor {
        using IRGraphVisitor::visit;
        bool found = false;
        void visit(Halide::Internal::IfThenElse const*) override { found = true; }
    } look;
    s.accept(&look);
    return look.found;
}

/// An expression with values in the place of names.
inline Halide::Expr spelled_out(Halide::Expr const& e, std::map<std::string, Halide::Expr> const& values) {
    struct spell : Halide::Internal::IRMutator {
        using IRMutator::visit;
        std::map<std::string, Halide::Expr> const* values = nullptr;
        Halide::Expr visit(Halide::Internal::Variable const* op) override {
            auto const value = values->find(op->name);
            return value == values->end() ? Halide::Expr(op) : mutate(value->second);
        }
    } inside;
    inside.values = &values;
    return inside.mutate(e);
}

/// Loops that are written out: their values are numbers, and so is what asks for them.
class numbers_in_place : public Halide::Internal::IRMutator {
  protected:
    using IRMutator::visit;
    Halide::Internal::Stmt visit(Halide::Internal::LetStmt const* op) override {
        if (op->value.type() != Halide::Int(32) || Halide::Internal::as_const_int(op->value) == nullptr) return IRMutator::visit(op);
        return mutate(Halide::Internal::substitute(op->name, op->value, op->body));
    }
    Halide::Internal::Stmt visit(Halide::Internal::IfThenElse const* op) override {
        using namespace Halide::Internal;
        Halide::Expr const condition = simplify(op->condition);
        if (is_const_one(condition)) return mutate(op->then_case);
        if (is_const_zero(condition)) return op->else_case.defined() ? mutate(op->else_case) : Evaluate::make(0);
        return IfThenElse::make(undecided(op->condition), mutate(op->then_case), mutate(op->else_case));
    }

  private:
    /// What numbers leave to ask: of `r == 0 && 0 == 0`, the first.
    static Halide::Expr undecided(Halide::Expr const& condition) {
        std::vector<Halide::Expr> parts;
        Halide::Internal::split_into_ands(condition, parts);
        Halide::Expr left;
        for (Halide::Expr const& part : parts) {
            if (!Halide::Internal::is_const_one(Halide::Internal::simplify(part))) left = left.defined() ? left && part : part;
        }
        return left;
    }
};

/// Code without loops of one iteration, nor values that have another name: what asks for them has the number, or that name, in its place.
class single_iterations : public Halide::Internal::IRMutator {
  public:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;

    using IRMutator::mutate;
    /// An index, or a condition, in which something was replaced is simplified. What computes elements stays as it was written.
    Expr mutate(Expr const& e) override {
        bool const is_index = e.type() == Halide::Int(32) || e.type() == Halide::Int(64) || e.type() == Halide::Bool();
        if (inside_ || !is_index) return IRMutator::mutate(e);
        inside_ = true, replaced_ = false;
        Expr const made = IRMutator::mutate(e);
        inside_ = false;
        return replaced_ ? Halide::Internal::simplify(made) : made;
    }

  protected:
    using IRMutator::visit;
    Expr visit(Halide::Internal::Variable const* op) override {
        auto const known = known_.find(op->name);
        if (known == known_.end()) return op;
        replaced_ = true;
        return known->second;
    }
    Stmt visit(Halide::Internal::For const* op) override {
        using namespace Halide::Internal;
        if (op->for_type != ForType::Serial || !is_const_one(op->extent) || as_const_int(op->min) == nullptr) return IRMutator::visit(op);
        return with(op->name, op->min, op->body);
    }
    Stmt visit(Halide::Internal::LetStmt const* op) override {
        using namespace Halide::Internal;
        Expr const value = mutate(op->value);
        if (op->value.type() == Halide::Int(32) && (as_const_int(value) != nullptr || value.as<Variable>() != nullptr))
            return with(op->name, value, op->body);
        Stmt const body = mutate(op->body);
        return value.same_as(op->value) && body.same_as(op->body) ? Stmt(op) : LetStmt::make(op->name, value, body);
    }
    Stmt visit(Halide::Internal::IfThenElse const* op) override {
        using namespace Halide::Internal;
        Expr const condition = mutate(op->condition);
        if (is_const_one(condition)) return mutate(op->then_case);
        if (is_const_zero(condition)) return op->else_case.defined() ? mutate(op->else_case) : Evaluate::make(0);
        return IfThenElse::make(condition, mutate(op->then_case), mutate(op->else_case));
    }

  private:
    Stmt with(std::string const& name, Expr const& value, Stmt const& body) {
        auto const before = known_.find(name);
        Expr const outer = before == known_.end() ? Expr() : before->second;
        known_[name] = value;
        Stmt const made = mutate(body);
        if (outer.defined()) known_[name] = outer;
        else known_.erase(name);
        return made;
    }
    std::map<std::string, Expr> known_;
    bool inside_ = false, replaced_ = false;
};

/// A statement that does not ask again what a branch around it has asked.
class asked_once : public Halide::Internal::IRMutator {
  protected:
    using IRMutator::visit;
    Halide::Internal::Stmt visit(Halide::Internal::IfThenElse const* op) override {
        using namespace Halide::Internal;
        std::vector<Halide::Expr> parts;
        split_into_ands(op->condition, parts);
        Halide::Expr left;
        std::size_t const before = known_.size();
        for (Halide::Expr const& part : parts) {
            bool const is_known = std::any_of(known_.begin(), known_.end(), [&](Halide::Expr const& one) { return equal(one, part); });
            if (is_known) continue;
            left = left.defined() ? left && part : part;
            // What is in memory may change.
            if (!holds_node(part, [](Halide::Expr const& e) { return e.as<Load>() != nullptr || e.as<Call>() != nullptr; }))
                known_.push_back(part);
        }
        Stmt const then_case = mutate(op->then_case);
        known_.resize(before);
        if (!left.defined()) return then_case;
        return IfThenElse::make(left, then_case, mutate(op->else_case));
    }

  private:
    std::vector<Halide::Expr> known_;
};

/// A statement without values that it does not use.
class without_idle_values : public Halide::Internal::IRMutator {
  protected:
    using IRMutator::visit;
    Halide::Internal::Stmt visit(Halide::Internal::LetStmt const* op) override {
        Halide::Internal::Stmt const body = mutate(op->body);
        if (!acts(op->value) && !Halide::Internal::stmt_uses_var(body, op->name)) return body;
        return Halide::Internal::LetStmt::make(op->name, mutate(op->value), body);
    }
    Halide::Expr visit(Halide::Internal::Let const* op) override {
        Halide::Expr const body = mutate(op->body);
        if (!acts(op->value) && !Halide::Internal::expr_uses_var(body, op->name)) return body;
        return Halide::Internal::Let::make(op->name, mutate(op->value), body);
    }

  private:
    static bool acts(Halide::Expr const& value) {
        return holds_node(value, [](Halide::Expr const& part) {
            auto const* const call = part.as<Halide::Internal::Call>();
            return call != nullptr && !call->is_pure() && call->name.rfind("_halide_buffer_get_", 0) != 0;
        });
    }
};

}  // namespace tilewright::halide::detail
