#pragma once
#include <map>
#include <string>
#include <tilewright/halide/held.hpp>
#include <utility>

// A lowered tile body becomes a part of the program: it speaks of the plan's buffers and loops.
namespace tilewright::halide::detail {

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

}  // namespace tilewright::halide::detail
