#pragma once
#include <Halide.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tilewright/c_source/find_node.hpp>
#include <vector>

// Sums in variables, while loops add to them.
namespace tilewright::halide::detail {

/// The suffix of a buffer's name in the name of a variable that holds one of its elements.
inline constexpr char const* held_suffix = ".held.";

/// A loop that reads and writes the same element in all iterations keeps it in a variable:
///
///     for (k…) c[i] = a[k] * b[k] + c[i];   →   int32_t held = c[i]; for (k…) held = a[k] * b[k] + held; c[i] = held;
///
/// Compilers do it by themselves only if nothing else that is accessed can be that element, and they know.
///
/// So it is done where a loop holds nothing but stores, and loads of what they store at the same places. What has another name is another
/// element, or will not be written before it is read for the last time: loads of it may come before the store as well as behind it.
class sums_in_variables : public Halide::Internal::IRMutator {
  public:
    using Expr = Halide::Expr;
    using Stmt = Halide::Internal::Stmt;

  protected:
    using IRMutator::visit;
    Stmt visit(Halide::Internal::For const* op) override {
        elements found(op);
        if (!found.fit()) return IRMutator::visit(op);
        Stmt body = use_variables(found).mutate(op->body);
        body = Halide::Internal::For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
        std::vector<Stmt> steps;
        for (std::size_t at = 0; at < found.all.size(); ++at) steps.push_back(found.all[at].begin(at));
        steps.push_back(body);
        for (std::size_t at = 0; at < found.all.size(); ++at) steps.push_back(found.all[at].end(at));
        body = Halide::Internal::Block::make(steps);
        for (std::size_t at = found.all.size(); at-- > 0;)
            body = Halide::Internal::Allocate::make(found.all[at].variable(at), found.all[at].type, Halide::MemoryType::Stack, {1},
                                                    Halide::Internal::const_true(), body);
        return body;
    }

  private:
    static constexpr std::size_t most_variables = 16;

    struct element {
        std::string name;
        Expr index;
        Halide::Type type;
        std::string variable(std::size_t number) const { return name + held_suffix + std::to_string(number); }
        Stmt begin(std::size_t number) const { return store(variable(number), load(name, index), 0); }
        Stmt end(std::size_t number) const { return store(name, load(variable(number), 0), index); }

      private:
        Expr load(std::string const& from, Expr const& at) const {
            using namespace Halide::Internal;
            return Load::make(type, from, at, Halide::Buffer<>(), Parameter(), const_true(), ModulusRemainder());
        }
        static Stmt store(std::string const& into, Expr const& value, Expr const& at) {
            using namespace Halide::Internal;
            return Store::make(into, value, at, Parameter(), const_true(), ModulusRemainder());
        }
    };
    /// The elements that a loop writes, each by one statement, if no loop inside moves them.
    class elements : public Halide::Internal::IRVisitor {
      public:
        std::vector<element> all;
        explicit elements(Halide::Internal::For const* loop) { loop->accept(this); }
        bool fit() const {
            if (other_ || all.empty() || all.size() > most_variables) return false;
            for (std::size_t a = 0; a < all.size(); ++a) {
                for (std::size_t b = a + 1; b < all.size(); ++b) {
                    if (all[a].name != all[b].name) continue;
                    auto const apart = Halide::Internal::as_const_int(Halide::Internal::simplify(all[a].index - all[b].index));
                    if (apart == nullptr || *apart == 0) return false;
                }
            }
            bool read = false;
            for (Halide::Internal::Load const* const one : loads_) {
                if (!writes(one->name)) continue;
                if (!find(one->name, one->index)) return false;
                read = true;
            }
            return read;
        }
        std::optional<std::size_t> find(std::string const& name, Expr const& index) const {
            Expr const whole = spelled_out(index, values_);
            for (std::size_t at = 0; at < all.size(); ++at) {
                if (all[at].name == name && equal(all[at].index, whole)) return at;
            }
            return {};
        }

      protected:
        using IRVisitor::visit;
        void visit(Halide::Internal::For const* op) override {
            other_ |= op->for_type != Halide::Internal::ForType::Serial;
            moving_.push_back(op->name), IRVisitor::visit(op);
        }
        void visit(Halide::Internal::LetStmt const* op) override { values_[op->name] = op->value, IRVisitor::visit(op); }
        void visit(Halide::Internal::Let const* op) override { values_[op->name] = op->value, IRVisitor::visit(op); }
        void visit(Halide::Internal::Load const* op) override { loads_.push_back(op), IRVisitor::visit(op); }
        void visit(Halide::Internal::Store const* op) override {
            IRVisitor::visit(op);
            other_ |= !op->value.type().is_scalar() || op->value.type().is_bool() || !Halide::Internal::is_const_one(op->predicate);
            Expr const index = spelled_out(op->index, values_);
            for (std::string const& name : moving_) other_ |= Halide::Internal::expr_uses_var(index, name);
            other_ |= holds_load(index);
            all.push_back({op->name, index, op->value.type()});
        }
        // The element might not be there, or something else could read it.
        void visit(Halide::Internal::IfThenElse const*) override { other_ = true; }
        void visit(Halide::Internal::Allocate const*) override { other_ = true; }
        void visit(Halide::Internal::AssertStmt const*) override { other_ = true; }
        void visit(Halide::Internal::Evaluate const* op) override { other_ |= !Halide::Internal::is_const(op->value); }
        void visit(Halide::Internal::Call const* op) override {
            // What an argument is like, it stays.
            bool const of_argument = op->name.rfind("_halide_buffer_get_", 0) == 0;
            other_ |= op->call_type == Halide::Internal::Call::Extern && !of_argument;
            IRVisitor::visit(op);
        }

      private:
        bool writes(std::string const& name) const {
            return std::any_of(all.begin(), all.end(), [&](element const& one) { return one.name == name; });
        }
        static bool holds_load(Expr const& e) {
            return holds_node(e, [](Expr const& part) { return part.as<Halide::Internal::Load>() != nullptr; });
        }

        std::vector<Halide::Internal::Load const*> loads_;
        std::vector<std::string> moving_;     ///< loops
        std::map<std::string, Expr> values_;  ///< what iterations define for themselves
        bool other_ = false;
    };
    class use_variables : public IRMutator {
      public:
        explicit use_variables(elements const& of) : of_(of) {}

      protected:
        using IRMutator::visit;
        Expr visit(Halide::Internal::Load const* op) override {
            using namespace Halide::Internal;
            std::optional<std::size_t> const at = of_.find(op->name, op->index);
            if (!at) return IRMutator::visit(op);
            return Load::make(op->type, of_.all[*at].variable(*at), 0, Halide::Buffer<>(), Parameter(), const_true(), ModulusRemainder());
        }
        Stmt visit(Halide::Internal::Store const* op) override {
            using namespace Halide::Internal;
            std::size_t const at = *of_.find(op->name, op->index);
            return Store::make(of_.all[at].variable(at), mutate(op->value), 0, Parameter(), const_true(), ModulusRemainder());
        }

      private:
        elements const& of_;
    };
};

}  // namespace tilewright::halide::detail
