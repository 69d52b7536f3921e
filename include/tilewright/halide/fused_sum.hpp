#pragma once
#include <functional>
#include <tilewright/halide/held.hpp>
#include <tilewright/plan/ir/plan_value.hpp>
#include <vector>

// Sums by fused multiply-adds.
namespace tilewright::halide {

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

}  // namespace tilewright::halide
