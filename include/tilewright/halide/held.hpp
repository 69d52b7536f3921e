#pragma once
#include <tilewright/halide/expression.hpp>
#include <vector>

// Values that are hidden from Halide until a pipeline has been lowered.
//
// Halide 14 looks into the value of a reduction in three ways that are wrong here. It trims the loop of a minimum or maximum by a bound
// that it reads from the accumulator once, before the loop changes it. It drops loops over axes that the value does not move with. And it
// forgets an argument whose elements a value does not depend on. A call of an unknown function stands for the value: Halide widens it and
// moves its arguments along, but draws no conclusion from it.
namespace tilewright::halide {

/// What that call is named: (value, everything that it is to depend on…).
inline constexpr char const* held_call = "tilewright_held";

/// A value that also depends on `all`, until `release_values` runs.
inline Halide::Expr held(Halide::Expr const& value, std::vector<Halide::Expr> const& all) {
    std::vector<Halide::Expr> arguments{value};
    arguments.insert(arguments.end(), all.begin(), all.end());
    return Halide::Internal::Call::make(value.type(), held_call, arguments, Halide::Internal::Call::PureExtern);
}

/// Holds the dividends in a value whose lanes are added up. Halide 14 takes lanes apart if a ramp is divided by 2, 3 or 4. But it does so
/// to the whole value that is stored, which then has fewer lanes, or one.
class hold_divided : public Halide::Internal::IRMutator {
  protected:
    using IRMutator::visit;
    Halide::Expr visit(Halide::Internal::Div const* op) override { return divided(op); }
    Halide::Expr visit(Halide::Internal::Mod const* op) override { return divided(op); }
    /// Lanes of a load are taken apart by themselves.
    Halide::Expr visit(Halide::Internal::Call const* op) override {
        bool const loads = op->call_type == Halide::Internal::Call::Halide || op->call_type == Halide::Internal::Call::Image;
        return loads ? op : IRMutator::visit(op);
    }

  private:
    template <class Division>
    Halide::Expr divided(Division const* op) {
        Halide::Expr const value = mutate(op->a);
        return Division::make(Halide::Internal::is_const(value) ? value : held(value, {}), mutate(op->b));
    }
};

/// A lowering pass that puts held values in the place of their calls.
class release_values : public Halide::Internal::IRMutator {
  protected:
    using IRMutator::visit;
    Halide::Expr visit(Halide::Internal::Call const* op) override {
        return op->name == held_call ? mutate(op->args[0]) : IRMutator::visit(op);
    }
};

}  // namespace tilewright::halide
