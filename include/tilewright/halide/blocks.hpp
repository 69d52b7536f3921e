#pragma once
#include <Halide.h>

#include <cstdint>
#include <functional>
#include <string>

// Tile bodies on buffers that lie in several blocks of a memory.
namespace tilewright::halide {
namespace detail {

class in_blocks : public Halide::Internal::IRMutator {
  public:
    using Expr = Halide::Expr;
    in_blocks(std::string const& buffer, int elements, std::function<Expr(Expr const&)> const& first_of)
        : buffer_(buffer), elements_(elements), first_of_(first_of) {}

  protected:
    using IRMutator::visit;
    Expr visit(Halide::Internal::Load const* op) override {
        if (op->name != buffer_) return IRMutator::visit(op);
        return Halide::Internal::Load::make(op->type, op->name, place_of(mutate(op->index)), Halide::Buffer<>(),
                                            Halide::Internal::Parameter(), mutate(op->predicate), Halide::Internal::ModulusRemainder());
    }
    Halide::Internal::Stmt visit(Halide::Internal::Store const* op) override {
        if (op->name != buffer_) return IRMutator::visit(op);
        return Halide::Internal::Store::make(op->name, mutate(op->value), place_of(mutate(op->index)), Halide::Internal::Parameter(),
                                             mutate(op->predicate), Halide::Internal::ModulusRemainder());
    }

  private:
    /// All lanes are in the block of the first one.
    Expr place_of(Expr const& index) const {
        using namespace Halide::Internal;
        int const lanes = index.type().lanes();
        Expr first = index;
        if (auto const* ramp = index.as<Ramp>(); ramp != nullptr && ramp->base.type().is_scalar()) first = ramp->base;
        else if (lanes > 1) first = Shuffle::make_extract_element(index, 0);
        Expr const block = simplify(first / elements_);
        Expr const behind = simplify(first_of_(block) - Halide::cast<std::int64_t>(block * elements_));
        if (auto const* ramp = index.as<Ramp>(); ramp != nullptr && ramp->base.type().is_scalar())
            return Ramp::make(Halide::cast<std::int64_t>(ramp->base) + behind, Halide::cast<std::int64_t>(ramp->stride), lanes);
        Expr const wide = Halide::cast(Halide::Int(64, lanes), index);
        return lanes == 1 ? wide + behind : wide + Broadcast::make(behind, lanes);
    }

    std::string const& buffer_;
    int elements_;
    std::function<Expr(Expr const&)> const& first_of_;
};

}  // namespace detail

/// Changes the indices of `buffer` in a lowered tile body. Before, its blocks of `elements` each follow each other. Afterwards, a block
/// lies where it is: `first_of(block)` says how many elements after the first one it begins.
///
/// The indices then have 64 bits, because blocks may lie anywhere. The buffer keeps its one name, so that the compiler knows that two
/// accesses to it may meet.
inline Halide::Internal::Stmt in_blocks(Halide::Internal::Stmt const& body, std::string const& buffer, int elements,
                                        std::function<Halide::Expr(Halide::Expr const&)> const& first_of) {
    return detail::in_blocks(buffer, elements, first_of).mutate(body);
}

}  // namespace tilewright::halide
