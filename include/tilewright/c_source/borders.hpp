#pragma once
#include <Halide.h>

#include <limits>
#include <map>
#include <set>
#include <string>
#include <tilewright/c_source/find_node.hpp>
#include <vector>

// Iterations that only meet the border of a padded tensor.
namespace tilewright::halide::detail {

/// Where a border adds nothing, a loop in which it does not matter where the index is inside does not run for it:
///
///     for (s…) for (ch…) sum += (inside(r) && inside(s) ? in[…] : 0) * w[…];   →   if (inside(r)) for (s…) if (inside(s)) for (ch…) …
///
/// It adds nothing if what is stored without the element is what is there.
class borders_apart : public Halide::Internal::IRMutator {
  public:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;

  protected:
    using IRMutator::visit;
    Stmt visit(Halide::Internal::For const* op) override {
        choices const found(op);
        Stmt body = op->body;
        for (Halide::Internal::Call const* const one : found.all) {
            Expr around, inside;
            for (Expr const& part : found.parts_of(one)) {
                Expr& both = found.moves(part) ? inside : around;
                both = both.defined() ? both && part : part;
            }
            if (!around.defined() && !found.innermost) continue;
            std::set<Halide::Internal::Call const*> const alike = found.like(one);
            without without_element(alike);
            without_element.mutate(op->body);
            if (!without_element.nothing_is_left()) continue;
            bool const asked_here = found.innermost && inside.defined();
            body = with_condition(alike, asked_here || !inside.defined() ? Halide::Internal::const_true() : inside).mutate(op->body);
            if (asked_here) body = behind_lets(body, inside);
            Stmt const loop = Halide::Internal::For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
            if (around.defined()) return Halide::Internal::IfThenElse::make(around, mutate(loop));
            return mutate(loop);
        }
        return trimmed(op, mutate(body));
    }

  private:
    static Stmt behind_lets(Stmt const& body, Expr const& condition) {
        auto const* const let = body.as<Halide::Internal::LetStmt>();
        if (let == nullptr) return Halide::Internal::IfThenElse::make(condition, body);
        return Halide::Internal::LetStmt::make(let->name, let->value, behind_lets(let->body, condition));
    }
    /// A loop whose iterations do nothing where a condition does not hold: it runs from the first one in which it does to the last, if that
    /// is how the condition is about the loop.
    static Stmt trimmed(Halide::Internal::For const* op, Stmt const& body) {
        using namespace Halide::Internal;
        std::vector<LetStmt const*> lets;
        Stmt inside = body;
        for (auto const* let = inside.as<LetStmt>(); let != nullptr; let = inside.as<LetStmt>()) lets.push_back(let), inside = let->body;
        auto const whole = [&](Expr const& first, Expr const& end, Stmt const& what) {
            return For::make(op->name, first, simplify(end - first), op->for_type, op->device_api, what);
        };
        auto const* const branch = inside.as<IfThenElse>();
        if (branch == nullptr || branch->else_case.defined())
            return For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
        Expr first = op->min, end = simplify(op->min + op->extent), left;
        std::vector<Expr> parts;
        split_into_ands(branch->condition, parts);
        for (Expr part : parts) {
            for (auto let = lets.rbegin(); let != lets.rend(); ++let) part = substitute((*let)->name, (*let)->value, part);
            // v + rest >= bound, or v + rest < bound
            auto const* const from = part.as<LE>();
            auto const* const to = part.as<LT>();
            Expr const moved = from != nullptr ? from->b
                               : to != nullptr ? to->a
                                               : Expr(),
                       bound = from != nullptr ? from->a
                               : to != nullptr ? to->b
                                               : Expr();
            Expr const v = Variable::make(Halide::Int(32), op->name);
            Expr const rest = moved.defined() ? simplify(moved - v) : Expr();
            bool const about = rest.defined() && !expr_uses_var(rest, op->name) && !expr_uses_var(bound, op->name);
            if (about && from != nullptr) first = simplify(Halide::max(first, bound - rest));
            else if (about) end = simplify(Halide::min(end, bound - rest));
            else left = left.defined() ? left && part : part;
        }
        Stmt what = !left.defined() ? branch->then_case : IfThenElse::make(left, branch->then_case);
        for (auto let = lets.rbegin(); let != lets.rend(); ++let) what = LetStmt::make((*let)->name, (*let)->value, what);
        return whole(first, end, what);
    }

    /// The choices between an element and a border in a loop, and what its iterations define.
    class choices : public Halide::Internal::IRVisitor {
      public:
        std::vector<Halide::Internal::Call const*> all;
        bool innermost = true;
        explicit choices(Halide::Internal::For const* loop) { loop->accept(this); }
        /// The conditions that all have to hold.
        std::vector<Expr> parts_of(Halide::Internal::Call const* choice) const {
            std::vector<Expr> parts;
            add_parts(choice->args[0], parts);
            return parts;
        }
        /// Those that have the condition of one.
        std::set<Halide::Internal::Call const*> like(Halide::Internal::Call const* one) const {
            std::set<Halide::Internal::Call const*> found;
            Expr const condition = spelled_out(one->args[0], values_);
            for (Halide::Internal::Call const* other : all) {
                if (equal(spelled_out(other->args[0], values_), condition)) found.insert(other);
            }
            return found;
        }
        bool moves(Expr const& e) const {
            return holds_node(e, [&](Expr const& part) {
                auto const* const v = part.as<Halide::Internal::Variable>();
                return part.as<Halide::Internal::Load>() != nullptr || (v != nullptr && defined_.count(v->name) != 0);
            });
        }

      protected:
        using IRVisitor::visit;
        void visit(Halide::Internal::For const* op) override {
            innermost &= defined_.empty();
            defined_.insert(op->name), IRVisitor::visit(op);
        }
        void visit(Halide::Internal::LetStmt const* op) override {
            defined_.insert(op->name), values_[op->name] = op->value;
            IRVisitor::visit(op);
        }
        void visit(Halide::Internal::Let const* op) override {
            defined_.insert(op->name), values_[op->name] = op->value;
            IRVisitor::visit(op);
        }
        void visit(Halide::Internal::Call const* op) override {
            if (op->is_intrinsic(Halide::Internal::Call::if_then_else) && op->args.size() == 3 && Halide::Internal::is_const(op->args[2]))
                all.push_back(op);
            IRVisitor::visit(op);
        }

      private:
        void add_parts(Expr const& condition, std::vector<Expr>& parts) const {
            using namespace Halide::Internal;
            if (auto const* const op = condition.as<And>()) return add_parts(op->a, parts), add_parts(op->b, parts);
            Expr const whole = spelled_out(condition, values_);
            if (whole.as<And>() != nullptr) return add_parts(whole, parts);
            parts.push_back(whole);
        }
        std::set<std::string> defined_;
        std::map<std::string, Expr> values_;
    };
    /// No float is less than -infinity, and none is greater than infinity: a reduction passes over what it starts from. Halide leaves
    /// that, since the comparison is strict.
    class with_infinities : public IRMutator {
      protected:
        using IRMutator::visit;
        Expr visit(Halide::Internal::LT const* op) override {
            Expr const a = mutate(op->a), b = mutate(op->b);
            return is_infinity(a, 1) || is_infinity(b, -1) ? Halide::Internal::const_false(op->type.lanes())
                                                           : Halide::Internal::LT::make(a, b);
        }
        Expr visit(Halide::Internal::Select const* op) override {
            Expr const condition = mutate(op->condition);
            if (Halide::Internal::is_const_zero(condition)) return mutate(op->false_value);
            return Halide::Internal::Select::make(condition, mutate(op->true_value), mutate(op->false_value));
        }
        /// An element and a constant are what they are, strict or not.
        Expr visit(Halide::Internal::Call const* op) override {
            if (!op->is_intrinsic(Halide::Internal::Call::strict_float)) return IRMutator::visit(op);
            Expr const of = mutate(op->args[0]);
            bool const is_one = of.as<Halide::Internal::Load>() != nullptr || of.as<Halide::Internal::FloatImm>() != nullptr;
            return is_one ? of : Halide::strict_float(of);
        }

      private:
        static bool is_infinity(Expr const& of, int sign) {
            auto const* const number = of.as<Halide::Internal::FloatImm>();
            return number != nullptr && number->value == sign * std::numeric_limits<double>::infinity();
        }
    };
    /// What is stored where there is no element: is it what is there?
    class without : public IRMutator {
      public:
        explicit without(std::set<Halide::Internal::Call const*> const& choices) : choices_(choices) {}
        bool nothing_is_left() const { return same_ && stores_; }

      protected:
        using IRMutator::visit;
        Expr visit(Halide::Internal::Call const* op) override { return choices_.count(op) != 0 ? op->args[2] : IRMutator::visit(op); }
        Stmt visit(Halide::Internal::LetStmt const* op) override {
            values_[op->name] = mutate(op->value);
            return IRMutator::visit(op);
        }
        Stmt visit(Halide::Internal::Store const* op) override {
            using namespace Halide::Internal;
            auto const whole = [&](Expr const& of) { return simplify(spelled_out(of, values_)); };
            Expr const value = simplify(with_infinities().mutate(whole(mutate(op->value))));
            auto const* const there = value.as<Load>();
            same_ &= there != nullptr && there->name == op->name && equal(there->index, whole(op->index)) && is_const_one(op->predicate);
            stores_ = true;
            forget([&](Load const* one) { return one->name == op->name; });
            return op;
        }
        /// What was read before the loop may be something else in a later iteration.
        Stmt visit(Halide::Internal::For const* op) override {
            forget([](Halide::Internal::Load const*) { return true; });
            return IRMutator::visit(op);
        }
        Stmt visit(Halide::Internal::Evaluate const* op) override { return same_ &= Halide::Internal::is_const(op->value), op; }
        Stmt visit(Halide::Internal::AssertStmt const* op) override { return same_ = false, op; }

      private:
        /// Names whose values are such loads, or hold them, stay names.
        template <class Which>
        void forget(Which is_one) {
            std::erase_if(values_, [&](auto const& value) {
                return holds_node(value.second, [&](Expr const& part) {
                    auto const* const load = part.as<Halide::Internal::Load>();
                    return load != nullptr && is_one(load);
                });
            });
        }
        std::set<Halide::Internal::Call const*> const& choices_;
        std::map<std::string, Expr> values_ = {};
        bool same_ = true, stores_ = false;
    };
    class with_condition : public IRMutator {
      public:
        with_condition(std::set<Halide::Internal::Call const*> const& choices, Expr const& condition)
            : choices_(choices), condition_(condition) {}

      protected:
        using IRMutator::visit;
        Expr visit(Halide::Internal::Call const* op) override {
            if (choices_.count(op) == 0) return IRMutator::visit(op);
            if (Halide::Internal::is_const_one(condition_)) return op->args[1];
            return Halide::Internal::Call::make(op->type, op->name, {condition_, op->args[1], op->args[2]}, op->call_type);
        }

      private:
        std::set<Halide::Internal::Call const*> const& choices_;
        Expr condition_;
    };
};

}  // namespace tilewright::halide::detail
