#pragma once
#include <Halide.h>

#include <algorithm>
#include <cstdint>
#include <tilewright/base/list.hpp>

// Vectors whose elements do not lie side by side.
namespace tilewright::halide {

/// Writes loads and stores of vectors with constant strides so that they touch only their elements, and LLVM knows which.
///
/// With a stride from 2 to 4, a load becomes loads of dense vectors, from its first element to its last, and a shuffle. Halide 14 would do
/// the same, but from a multiple of the stride to another one: it takes a buffer without a parameter for an allocation of its own, with
/// room around it. The memories of a plan and the arguments of a caller have no such room. Here the first dense vector begins at the first
/// element. The last one ends at the last element and overlaps the one before it, so no load is added.
///
/// Negative strides become positive ones, and the lanes are reversed. Halide 14 would tell LLVM a wrong place of a vector with a negative
/// stride at a constant index, and loads would move before the stores whose data they read.
class strided_vectors : public Halide::Internal::IRMutator {
  public:
    explicit strided_vectors(Halide::Target const& target) : target_(target) {}

  protected:
    using IRMutator::visit;
    Halide::Expr visit(Halide::Internal::Load const* op) override {
        using namespace Halide::Internal;
        std::int64_t const stride = is_const_one(op->predicate) ? stride_of(op->index) : 0;
        if (stride < 0) {
            Halide::Expr const forwards =
                Load::make(op->type, op->name, forwards_of(op->index), op->image, op->param, op->predicate, ModulusRemainder());
            return reversed(mutate(forwards));
        }
        if (stride < 2 || stride > 4) return IRMutator::visit(op);
        auto const* const ramp = op->index.as<Ramp>();
        Halide::Expr const base = mutate(ramp->base);
        int const step = static_cast<int>(stride), most = std::max(1, target_.natural_vector_size(op->type.element_of()));
        std::vector<Halide::Expr> slices;
        for (int first = 0; first < ramp->lanes; first += most)
            slices.push_back(slice(op, offset(base, first * step), step, std::min(most, ramp->lanes - first), most));
        return slices.size() == 1 ? slices[0] : Shuffle::make_concat(slices);
    }
    Halide::Internal::Stmt visit(Halide::Internal::Store const* op) override {
        using namespace Halide::Internal;
        if (!is_const_one(op->predicate) || stride_of(op->index) >= 0) return IRMutator::visit(op);
        return Store::make(op->name, reversed(mutate(op->value)), mutate(forwards_of(op->index)), op->param, op->predicate,
                           ModulusRemainder());
    }

  private:
    /// The constant stride of a vector; 0 where it has none.
    static std::int64_t stride_of(Halide::Expr const& index) {
        auto const* const ramp = index.as<Halide::Internal::Ramp>();
        auto const* const stride = ramp == nullptr ? nullptr : Halide::Internal::as_const_int(ramp->stride);
        return stride == nullptr || !ramp->base.type().is_scalar() ? 0 : *stride;
    }
    static Halide::Expr offset(Halide::Expr const& base, std::int64_t by) {
        return Halide::Internal::simplify(base + Halide::Internal::make_const(base.type(), by));
    }
    static Halide::Expr forwards_of(Halide::Expr const& index) {
        auto const* const ramp = index.as<Halide::Internal::Ramp>();
        std::int64_t const stride = stride_of(index);
        return Halide::Internal::Ramp::make(offset(ramp->base, stride * (ramp->lanes - 1)),
                                            Halide::Internal::make_const(ramp->stride.type(), -stride), ramp->lanes);
    }
    static Halide::Expr reversed(Halide::Expr const& vector) {
        std::vector<int> lanes;
        for (int lane = vector.type().lanes(); lane-- > 0;) lanes.push_back(lane);
        return Halide::Internal::Shuffle::make({vector}, lanes);
    }
    /// `lanes` elements from `base` on, by dense vectors of at most `most` lanes.
    static Halide::Expr slice(Halide::Internal::Load const* op, Halide::Expr const& base, int step, int lanes, int most) {
        using namespace Halide::Internal;
        int const reach = (lanes - 1) * step + 1;
        int dense = 1;
        while (2 * dense <= std::min(most, reach)) dense *= 2;
        std::vector<Halide::Expr> vectors;
        ir::list<int> begins;
        for (int at = 0; begins.empty() || begins.back() + dense < reach; at += dense) {
            begins.push_back(std::min(at, reach - dense));
            Halide::Expr const from = offset(base, begins.back());
            vectors.push_back(Load::make(op->type.with_lanes(dense), op->name,
                                         dense == 1 ? from : Ramp::make(from, make_one(from.type()), dense), op->image, op->param,
                                         const_true(dense), ModulusRemainder()));
        }
        std::vector<int> taken;
        for (int lane = 0; lane < lanes; ++lane) {
            int const at = lane * step, vector = std::min(at / dense, static_cast<int>(begins.size()) - 1);
            taken.push_back(vector * dense + at - begins[vector]);
        }
        return Shuffle::make(vectors, taken);
    }

    Halide::Target target_;
};

}  // namespace tilewright::halide
