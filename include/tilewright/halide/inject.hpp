#pragma once
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/halide/algorithm.hpp>
#include <tilewright/halide/element_alignment.hpp>
#include <tilewright/halide/emit.hpp>
#include <tilewright/halide/names.hpp>
#include <tilewright/halide/strided_vectors.hpp>
#include <tilewright/plan/ir/arguments.hpp>

namespace tilewright::halide {

/// Reads the strides, minima and extents of arguments once, before a program. After a store, the compiler does not know that they are
/// unchanged. It would read them, and compute an address, for every vector.
class read_shapes_once : public Halide::Internal::IRMutator {
  public:
    Halide::Internal::Stmt in_front_of(Halide::Internal::Stmt const& program) {
        Halide::Internal::Stmt whole = mutate(program);
        for (auto const& [name, field] : fields_) whole = Halide::Internal::LetStmt::make(name, field, whole);
        return whole;
    }

  protected:
    using IRMutator::visit;
    Halide::Expr visit(Halide::Internal::Call const* op) override {
        using namespace Halide::Internal;
        auto const reads = [&](char const* field) { return op->name == field; };
        if (!reads(Call::buffer_get_stride) && !reads(Call::buffer_get_min) && !reads(Call::buffer_get_extent)) return IRMutator::visit(op);
        auto const* from = op->args[0].as<Variable>();
        auto const* dimension = op->args[1].as<IntImm>();
        if (from == nullptr || dimension == nullptr) return IRMutator::visit(op);
        std::string const name = op->name.substr(1) + "." + from->name + "." + std::to_string(dimension->value);
        fields_.try_emplace(name, op);
        return Variable::make(op->type, name);
    }

  private:
    std::map<std::string, Halide::Expr> fields_;
};

/// A lowering pass that puts the plan's program in the place of the loops that Halide made for the result.
///
/// Halide keeps what it derived from the algorithm around it: the checks of the arguments, the header, the metadata.
class inject_program : public Halide::Internal::IRMutator {
  public:
    /// @param checks_arguments  keeps what Halide asks of arguments around the program: half of the time that a small kernel compiles
    inject_program(std::string output, Halide::Internal::Stmt const& program, Halide::Target const& target, bool checks_arguments = true)
        : output_(std::move(output)),
          program_(element_alignment(output_).mutate(strided_vectors(target).mutate(read_shapes_once().in_front_of(program)))),
          checks_arguments_(checks_arguments) {}

    using IRMutator::mutate;
    Halide::Internal::Stmt mutate(Halide::Internal::Stmt const& whole) override {
        if (running_) return IRMutator::mutate(whole);
        running_ = true;
        injections_ = 0;
        Halide::Internal::Stmt const changed = IRMutator::mutate(whole);
        running_ = false;
        if (injections_ != 1)
            throw std::runtime_error("the production of `" + output_ + "` was found " + std::to_string(injections_) +
                                     " times in the lowered code, not once");
        return changed;
    }

  protected:
    using IRMutator::visit;
    Halide::Internal::Stmt visit(Halide::Internal::ProducerConsumer const* op) override {
        if (!op->is_producer || op->name != output_) return IRMutator::visit(op);
        ++injections_;
        return Halide::Internal::ProducerConsumer::make(op->name, true, program_);
    }

    // Halide makes room for the stages before the last one, around the production that is gone now.
    Halide::Internal::Stmt visit(Halide::Internal::Allocate const* op) override {
        int const before = injections_;
        Halide::Internal::Stmt const changed = IRMutator::visit(op);
        return injections_ == before ? changed : changed.as<Halide::Internal::Allocate>()->body;
    }
    Halide::Internal::Stmt visit(Halide::Internal::Free const*) override { return Halide::Internal::Evaluate::make(0); }
    Halide::Internal::Stmt visit(Halide::Internal::AssertStmt const* op) override {
        return checks_arguments_ ? IRMutator::visit(op) : Halide::Internal::Evaluate::make(0);
    }

  private:
    std::string output_;
    Halide::Internal::Stmt program_;
    bool checks_arguments_;
    int injections_ = 0;
    bool running_ = false;
};

/// A scalar parameter of a plan's computation.
struct scalar_parameter {
    std::string name, code;  ///< the user's name, and that in the generated code
    scalar_type type = scalar_type::literal;
};
/// In order of appearance.
inline std::vector<scalar_parameter> parameters_of(plan_value const& plan) {
    argument_list const list = arguments_of(plan);
    std::vector<scalar_parameter> found;
    for (int at = 0; at < list.parameter_count; ++at) {
        node const& n = plan.what[list.parameters[at]];
        found.push_back({n.name.str(), code_name('p', at, n.name.str()), n.type});
    }
    return found;
}
/// What the generated code calls a buffer, by position in the plan.
inline std::string buffer_name(plan_value const& plan, int at) { return code_name('b', at, plan.buffers[at].name.str()); }
/// Likewise the result.
inline std::string result_name(plan_value const& plan) { return code_name('r', 0, plan.stages[plan.stages.size() - 1].output.str()); }
/// Likewise the address of a memory that has none of its own.
inline std::string pool_name(plan_value const& plan, int memory_at) {
    return code_name('m', memory_at, plan.where->memories[memory_at].name.str());
}

/// The names of a plan in the generated code.
/// @param arguments  how Halide calls the arguments, by tensor; @param output  how it calls the result; where nothing is said, both are
///                   called as the rest is
inline code_names name_everything(plan_value const& plan, std::map<std::string, std::string> const& arguments = {},
                                  std::string const& output = {}) {
    code_names names;
    for (int at = 0; at < plan.buffers.size(); ++at) {
        buffer const& b = plan.buffers[at];
        std::string name = buffer_name(plan, at);
        if (b.kind == buffer_kind::argument && b.written && !output.empty()) name = output;
        if (b.kind == buffer_kind::argument && !b.written && !arguments.empty()) name = arguments.at(b.tensor.str());
        names.buffers.push_back(name);
    }
    for (int at = 0; at < plan.variables.size(); ++at) names.variables.push_back(code_name('v', at, plan.variables[at].name.str()));
    return names;
}

}  // namespace tilewright::halide
