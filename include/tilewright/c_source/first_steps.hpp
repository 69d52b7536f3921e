#pragma once
#include <Halide.h>

#include <algorithm>
#include <set>
#include <string>
#include <tilewright/halide/places.hpp>
#include <vector>

// First steps of reductions, in front of the loops of the others.
namespace tilewright::halide::detail {

/// Code on registers that are passed by value is the compiler's to arrange, and a test between two such calls keeps it from doing so. Where
/// a reduction begins by another function than the one that continues it, the program asks in every iteration whether it is the first. Here
/// the first iteration of such a loop comes before the loop, which then asks no more:
///
///     for (k…) { if (k == 0) c = start(a, b); else c = go_on(a, b, c); }   →   c = start(a, b); for (k from 1…) c = go_on(a, b, c);
///
/// Other calls are left alone: the calls themselves cost more than the test. So are loops whose number of iterations is not known.
class first_steps : public Halide::Internal::IRMutator {
  public:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;
    using IRMutator::mutate;

    Stmt mutate(Stmt const& s) override {
        if (!s.defined() || !only_registers(s)) return IRMutator::mutate(s);
        return decided_around(s);
    }

  private:
    /// Whether a statement is made of functions on registers, and holds a branch of them.
    static bool only_registers(Stmt const& s) {
        struct look_around : Halide::Internal::IRGraphVisitor {
            using IRGraphVisitor::visit;
            bool branches = false, other = false;
            void visit(Halide::Internal::IfThenElse const* op) override { branches = true, IRGraphVisitor::visit(op); }
            void visit(Halide::Internal::Store const*) override { other = true; }
            void visit(Halide::Internal::AssertStmt const*) override { other = true; }
            void visit(Halide::Internal::Evaluate const* op) override {
                auto const* const call = op->value.as<Halide::Internal::Call>();
                other |=
                    call == nullptr ? !Halide::Internal::is_const(op->value) : call->name != value_call_name && call->name != remark_name;
            }
        } found;
        s.accept(&found);
        return found.branches && !found.other;
    }

    /// The variables that a branch asks for their first value: of `a == 0 && b == 0`, a and b. None if it asks for anything else.
    static std::vector<std::string> asked(Expr const& condition) {
        using namespace Halide::Internal;
        if (auto const* const both = condition.as<And>()) {
            std::vector<std::string> all = asked(both->a), more = asked(both->b);
            if (all.empty() || more.empty()) return {};
            all.insert(all.end(), more.begin(), more.end());
            return all;
        }
        auto const* const is = condition.as<EQ>();
        auto const* const what = is != nullptr ? is->a.as<Variable>() : nullptr;
        return what != nullptr && is_const_zero(is->b) ? std::vector<std::string>{what->name} : std::vector<std::string>{};
    }
    /// What all branches ask for, and the loops of a statement.
    struct inventory : Halide::Internal::IRGraphVisitor {
        using IRGraphVisitor::visit;
        std::vector<std::vector<std::string>> all;
        std::set<std::string> loops;
        explicit inventory(Stmt const& s) { s.accept(this); }
        void visit(Halide::Internal::IfThenElse const* op) override { all.push_back(asked(op->condition)), IRGraphVisitor::visit(op); }
        void visit(Halide::Internal::For const* op) override { loops.insert(op->name), IRGraphVisitor::visit(op); }
        bool asks_for(std::string const& loop) const {
            return std::any_of(all.begin(), all.end(), [&](auto const& one) { return std::count(one.begin(), one.end(), loop) != 0; });
        }
    };
    /// A statement where some loops stand at their first iterations.
    class at_first : public IRMutator {
      public:
        explicit at_first(std::set<std::string> const& loops) : loops_(loops) {}

      protected:
        using IRMutator::visit;
        Expr visit(Halide::Internal::Variable const* op) override { return loops_.count(op->name) != 0 ? Expr(0) : Expr(op); }
        Stmt visit(Halide::Internal::IfThenElse const* op) override {
            Expr const condition = Halide::Internal::simplify(mutate(op->condition));
            if (Halide::Internal::is_const_one(condition)) return mutate(op->then_case);
            return Halide::Internal::IfThenElse::make(condition, mutate(op->then_case), mutate(op->else_case));
        }

      private:
        std::set<std::string> const& loops_;
    };
    /// A statement where not all of them do.
    class after_first : public IRMutator {
      public:
        explicit after_first(std::set<std::string> const& loops) : loops_(loops) {}

      protected:
        using IRMutator::visit;
        Stmt visit(Halide::Internal::IfThenElse const* op) override {
            std::vector<std::string> const names = asked(op->condition);
            std::set<std::string> left = loops_;
            for (std::string const& one : names) left.erase(one);
            if (!left.empty()) return IRMutator::visit(op);
            return op->else_case.defined() ? mutate(op->else_case) : Halide::Internal::Evaluate::make(0);
        }

      private:
        std::set<std::string> const& loops_;
    };

    /// What the loops around decide is asked once, in front of the loops inside.
    static Stmt decided_around(Stmt const& whole) {
        inventory const found(whole);
        for (std::vector<std::string> const& names : found.all) {
            std::set<std::string> around;
            for (std::string const& one : names) {
                if (found.loops.count(one) == 0) around.insert(one);
            }
            if (around.empty()) continue;
            Expr first;
            for (std::string const& one : around) {
                Expr const begins = Halide::Internal::Variable::make(Halide::Int(32), one) == 0;
                first = first.defined() ? first && begins : begins;
            }
            Stmt const others = after_first(around).mutate(whole);
            return Halide::Internal::IfThenElse::make(first, decided_around(at_first(around).mutate(whole)), decided_around(others));
        }
        return apart(whole);
    }

    static Stmt apart(Stmt const& whole) {
        struct apart_in_loops : IRMutator {
            using IRMutator::visit;
            Stmt visit(Halide::Internal::For const* op) override {
                using namespace Halide::Internal;
                auto const* const count = as_const_int(op->extent);
                if (count == nullptr || !is_const_zero(op->min) || *count < 1 || !inventory(op->body).asks_for(op->name))
                    return IRMutator::visit(op);
                std::set<std::string> const self{op->name};
                Stmt const first = mutate(at_first(self).mutate(op->body));
                if (*count == 1) return first;
                Stmt const others = mutate(after_first(self).mutate(op->body));
                return Block::make(first, For::make(op->name, 1, static_cast<int>(*count - 1), op->for_type, op->device_api, others));
            }
        };
        return apart_in_loops().mutate(whole);
    }
};

}  // namespace tilewright::halide::detail
