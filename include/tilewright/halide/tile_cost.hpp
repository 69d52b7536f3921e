#pragma once
#include <tilewright/halide/checked.hpp>
#include <tilewright/halide/intrinsic_call.hpp>
#include <tilewright/halide/partial_tile.hpp>

// What tile bodies that stay code cost on the emulated machine.
namespace tilewright::halide {

class code_costs : public code_intrinsics {
  protected:
    using code_intrinsics::code_intrinsics;

    /// Tells the emulator what a tile body that stays code is going to do.
    Stmt code_cost(body const& b, bool whole) const {
        auto const count = [&](bool pure_only, operation_counts const& c) {
            return Halide::Internal::Evaluate::make(code_call(iterations_of(b, pure_only, whole), c));
        };
        Stmt counted = count(false, b.counts);
        if (b.kind == body_kind::reduction) counted = Halide::Internal::Block::make(count(true, b.start_counts), counted);
        return counted;
    }

  private:
    /// How many iterations of a tile body's loops there are. Those of a partial tile are counted when it is run: see
    /// `tilewright_count_iterations`.
    Expr iterations_of(body const& b, bool pure_only, bool whole) const {
        std::vector<limit> const limits = whole ? std::vector<limit>() : limits_of(plan_, b, pure_only);
        std::map<int, int> values;  // of the loops and of parts of fused ones -> their place among the values that are counted over
        std::int64_t free = 1;      // iterations of loops that no limit speaks of
        std::vector<Expr> loops, parts, ends;
        for (int position = 0; position < b.loop_count; ++position) {
            int const loop = b.loops[position];
            variable const& v = plan_.variables[loop];
            if (pure_only && v.reduction) continue;
            bool limited = false;
            for (limit const& l : limits) limited |= moves(l.form, loop);
            if (!limited) free *= v.extent;
            else {
                values.emplace(loop, static_cast<int>(values.size()));
                loops.push_back(wide(v.extent));
            }
        }
        if (values.empty()) return wide(free);
        auto const add_form = [&](auto const& self, std::vector<Expr>& into, affine const& form) -> void {
            Expr outside = wide(form.constant);
            std::vector<Expr> inside;
            for (int t = 0; t < form.count; ++t) {
                term const& part = plan_.term_at(form, t);
                variable const& v = plan_.variables[part.variable];
                if (values.count(part.variable) == 0 && v.kind == variable_kind::component) {
                    bool counted = false;
                    for (auto const& [loop, place] : values) counted |= moves(v.fused, loop);
                    if (counted) {
                        self(self, parts, v.fused);
                        parts.push_back(wide(v.divisor));
                        parts.push_back(wide(v.modulus));
                        values.emplace(part.variable, static_cast<int>(values.size()));
                    }
                }
                auto const found = values.find(part.variable);
                if (found == values.end()) {
                    outside =
                        outside + wide(part.coefficient) * Halide::cast<std::int64_t>(variable_value(plan_, part.variable, loop_values()));
                } else {
                    inside.push_back(wide(found->second));
                    inside.push_back(wide(part.coefficient));
                }
            }
            into.push_back(Halide::Internal::simplify(outside));
            into.push_back(wide(static_cast<std::int64_t>(inside.size() / 2)));
            into.insert(into.end(), inside.begin(), inside.end());
        };
        for (limit const& l : limits) {
            add_form(add_form, ends, l.form);
            ends.push_back(wide(l.bound));
        }
        std::vector<Expr> all{wide(static_cast<std::int64_t>(loops.size())), wide(static_cast<std::int64_t>(values.size() - loops.size())),
                              wide(static_cast<std::int64_t>(limits.size()))};
        for (std::vector<Expr> const* list : {&loops, &parts, &ends}) all.insert(all.end(), list->begin(), list->end());
        return wide(free) * call(Halide::Int(64), "tilewright_count_iterations", {structure(all)});
    }
    bool moves(affine const& form, int loop) const {
        linear whole;
        for (int t = 0; t < form.count; ++t) whole.add(1, plan_.term_at(form, t).variable);
        return tilewright::detail::moves_with(plan_, whole, loop);
    }
};

}  // namespace tilewright::halide
