#pragma once
#include <Halide.h>

#include <string>

namespace tilewright::halide {

/// Tells Halide that a buffer begins at a multiple of its elements, and at no more.
///
/// When Halide 14 makes code, it simplifies some expressions once more, such as divisions. Their loads then get the alignment of their
/// index. Halide takes a buffer without a parameter for an allocation of its own, which begins at a multiple of a vector. The memories of a
/// plan and the arguments of a caller may begin anywhere, so an aligned load there is a fault of the processor. So each load and store gets
/// a parameter that states the alignment. Its name, that of the result, keeps it out of the arguments.
class element_alignment : public Halide::Internal::IRMutator {
  public:
    /// @param result  how Halide calls the result of the kernel
    explicit element_alignment(std::string const& result) : name_(result + ".elements") {}

  protected:
    using IRMutator::visit;
    Halide::Expr visit(Halide::Internal::Load const* op) override {
        return Halide::Internal::Load::make(op->type, op->name, mutate(op->index), op->image, by_element(op->type), mutate(op->predicate),
                                            op->alignment);
    }
    Halide::Internal::Stmt visit(Halide::Internal::Store const* op) override {
        return Halide::Internal::Store::make(op->name, mutate(op->value), mutate(op->index), by_element(op->value.type()),
                                             mutate(op->predicate), op->alignment);
    }

  private:
    Halide::Internal::Parameter by_element(Halide::Type const& type) const { return {type.element_of(), true, 1, name_}; }

    std::string name_;
};

}  // namespace tilewright::halide
