#pragma once
#include <Halide.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

// What Halide lowered a Func to.
namespace tilewright::halide::detail {

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

    void inside(std::string const& let, Halide::Expr const& value, Halide::Internal::Stmt const& rest) {
        if (body.defined()) return;
        around.emplace_back(let, value);
        rest.accept(this);
        if (!body.defined()) around.pop_back();
    }
};

}  // namespace tilewright::halide::detail
