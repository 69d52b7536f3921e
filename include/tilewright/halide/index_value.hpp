#pragma once
#include <functional>
#include <string>
#include <tilewright/halide/expression.hpp>
#include <tilewright/plan/ir/plan_value.hpp>

// Indices of a plan as values: forms over loops, and how buffers lie.
namespace tilewright::halide {

/// Elements from one index to the next along `dimension`, and the index at which the buffer begins.
inline Halide::Expr stride_of(buffer const& b, std::string const& name, int dimension) {
    if (b.kind != buffer_kind::argument) return static_cast<int>(b.stride(dimension));
    if (dimension == b.rank - 1) return 1;
    Halide::Expr const handle = Halide::Internal::Variable::make(Halide::type_of<halide_buffer_t*>(), name + ".buffer");
    return Halide::Internal::Call::make(Halide::Int(32), Halide::Internal::Call::buffer_get_stride, {handle, b.rank - 1 - dimension},
                                        Halide::Internal::Call::Extern);
}
inline Halide::Expr extent_of(buffer const& b, std::string const& name, int dimension) {
    Halide::Expr const handle = Halide::Internal::Variable::make(Halide::type_of<halide_buffer_t*>(), name + ".buffer");
    return Halide::Internal::Call::make(Halide::Int(32), Halide::Internal::Call::buffer_get_extent, {handle, b.rank - 1 - dimension},
                                        Halide::Internal::Call::Extern);
}
inline Halide::Expr minimum_of(buffer const& b, std::string const& name, int dimension) {
    if (b.kind != buffer_kind::argument) return 0;
    Halide::Expr const handle = Halide::Internal::Variable::make(Halide::type_of<halide_buffer_t*>(), name + ".buffer");
    return Halide::Internal::Call::make(Halide::Int(32), Halide::Internal::Call::buffer_get_min, {handle, b.rank - 1 - dimension},
                                        Halide::Internal::Call::Extern);
}

inline Halide::Expr variable_value(plan_value const& plan, int at, std::function<Halide::Expr(int)> const& loop);

/// An index form over loops; `loop(variable)` gives a loop's value.
inline Halide::Expr form_value(plan_value const& plan, affine const& form, std::function<Halide::Expr(int)> const& loop) {
    Halide::Expr value = static_cast<int>(form.constant);
    for (int t = 0; t < form.count; ++t) {
        term const& part = plan.term_at(form, t);
        Halide::Expr const moved = variable_value(plan, part.variable, loop);
        value = part.coefficient == 1 ? value + moved : value + static_cast<int>(part.coefficient) * moved;
    }
    return value;
}
inline Halide::Expr variable_value(plan_value const& plan, int at, std::function<Halide::Expr(int)> const& loop) {
    variable const& v = plan.variables[at];
    if (v.kind != variable_kind::component) return loop(at);
    Halide::Expr value = form_value(plan, v.fused, loop) / static_cast<int>(v.divisor);
    return v.modulus == 0 ? value : value % static_cast<int>(v.modulus);
}

}  // namespace tilewright::halide
