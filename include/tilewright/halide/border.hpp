#pragma once
#include <tilewright/halide/expression.hpp>

// Elements of padded tensors. Code never reads outside: the address is that of an element inside, and the border is chosen.
namespace tilewright::halide {

/// In code that reports its accesses, a call that stands for the choice until they are reported: (inside, element, border).
inline constexpr char const* padded_call = "tilewright_padded";

/// The border of the padded access at a node.
inline Halide::Expr border_of(computation_view nodes, int at) { return constant(nodes[at].type, nodes[at].value); }
/// The number that the expression of an index gives.
template <class Leaf>
Halide::Expr computed_index(computation_view nodes, int value, Leaf const& leaf) {
    return convert(Halide::Int(32), build_value(nodes, value, leaf));
}
inline Halide::Expr is_inside(Halide::Expr const& index, std::int64_t extent) { return index >= 0 && index < static_cast<int>(extent); }
/// The nearest index inside a tensor. Loops get a part of their own for iterations in which the index is inside anyway.
inline Halide::Expr move_inside(Halide::Expr const& index, std::int64_t extent) {
    return Halide::max(Halide::min(Halide::likely(index), static_cast<int>(extent - 1)), 0);
}
inline Halide::Expr choose(Halide::Expr const& inside, Halide::Expr const& element, Halide::Expr const& border) {
    return Halide::select(Halide::likely(inside), element, border);
}

namespace detail {

/// Puts the choices of padded accesses in the place of their calls.
class choose_borders : public Halide::Internal::IRMutator {
  protected:
    using IRMutator::visit;
    Halide::Expr visit(Halide::Internal::Call const* op) override {
        if (op->name != padded_call) return IRMutator::visit(op);
        return Halide::Internal::Select::make(mutate(op->args[0]), mutate(op->args[1]), mutate(op->args[2]));
    }
};

}  // namespace detail

}  // namespace tilewright::halide
