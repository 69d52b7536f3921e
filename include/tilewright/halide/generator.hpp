#pragma once
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/halide/inject.hpp>
#include <tilewright/halide/target_claims.hpp>
#include <tilewright/halide/tool_subject.hpp>
#include <tilewright/plan/check/specialise.hpp>

namespace tilewright::halide {

/// An ordinary Halide generator for the kernel of a tool: one of `kernels_of_tool`, which another source of the same program defines.
///
/// Its inputs are the tensors that the computation reads, in the order in which it names them, then its scalar parameters; its output is
/// the result; in the device binding, a pointer to each memory without an address comes in front of that. The function must be called
/// through the entry that `write_binding_files` makes, which checks the arguments.
class kernel_generator : public Halide::Generator<kernel_generator> {
  public:
    /// Emulated: the C function that gives the emulator to run on. `tilewright_add_kernel` sets it.
    Halide::GeneratorParam<std::string> machine_function{"machine_function", "tilewright_machine"};
    /// Which of `kernels_of_tool`.
    Halide::GeneratorParam<int> schedule_number{"schedule_number", 0};

    void configure() {
        plan_value const& kernel = plan();
        for (int at = 0; at < kernel.buffers.size(); ++at) {
            buffer const& b = kernel.buffers[at];
            if (b.kind == buffer_kind::argument && !b.written) {
                inputs_[b.tensor.str()] = add_input<Halide::Buffer<>>(buffer_name(kernel, at), type_of(b.type), b.rank);
            }
        }
        for (scalar_parameter const& one : parameters_of(kernel)) {
            visit_scalar(one.type, [&]<class T>(T) {
                auto* const input = add_input<T>(one.code);
                parameters_.emplace_back(one.name, [input] { return Halide::Expr(*input); });
            });
        }
        for (int memory_at : pools()) pools_[memory_at] = add_input<std::uint64_t>(pool_name(kernel, memory_at));
        output_ = add_output<Halide::Buffer<>>(result_name(kernel), type_of(result().type), result().rank);
    }
    void generate() {
        if (std::string const missing = missing_in_target(*plan().where, get_target()); !missing.empty())
            throw std::runtime_error(std::string(subject().name) + ": " + missing);
        plan_value const& kernel = plan();
        for (auto const& [tensor, input] : inputs_) arguments_.tensors[tensor] = *input;
        for (auto const& [name, value] : parameters_) arguments_.parameters[name] = value();
        each_reduced_extent(kernel, [&](std::string const& axis, std::string const& tensor, int dimension) {
            arguments_.extents[axis] = inputs_.at(tensor)->dim(dimension).extent();
        });
        *output_ = build_algorithm(kernel, arguments_, result_name(kernel));
    }
    void schedule() {
        plan_value const& kernel = plan();
        // The compiler may have stopped looking; here nothing does.
        if (tilewright::detail::hazard const found = tilewright::detail::find_hazard_at_any(kernel))
            throw std::runtime_error("the plan has a hazard: " + std::string(text_of(found.broken)));
        std::map<std::string, std::string> names;
        for (auto const& [tensor, input] : inputs_) names[tensor] = Halide::ImageParam(*input).name();
        Halide::Func const made = *output_;
        code_names code = name_everything(kernel, names, made.name());
        code.parameters = arguments_.parameters;
        Halide::Expr const machine =
            Halide::Internal::Call::make(Halide::Handle(), machine_function.value(), {}, Halide::Internal::Call::Extern);
        emission how{subject().to, machine, get_target()};
        for (auto const& [memory_at, pointer] : pools_) how.pools[memory_at] = *pointer;
        emitter emit(kernel, code, how);
        get_pipeline().add_custom_lowering_pass(new inject_program(made.name(), emit.program(), get_target()));
    }

  private:
    tool_kernel const& subject() const { return kernels_of_tool[static_cast<std::size_t>(schedule_number.value())]; }
    plan_value const& plan() const { return subject().plan; }
    /// The memories whose addresses the function is given.
    std::vector<int> pools() const {
        argument_list const list = arguments_of(plan());
        return {begin(list.pools), begin(list.pools) + (subject().to == binding::device ? list.pool_count : 0)};
    }
    stage const& result() const { return plan().stages[plan().stages.size() - 1]; }

    std::map<std::string, Halide::GeneratorInput<Halide::Buffer<>>*> inputs_;
    std::vector<std::pair<std::string, std::function<Halide::Expr()>>> parameters_;
    std::map<int, Halide::GeneratorInput<std::uint64_t>*> pools_;  ///< generators take no pointers
    Halide::GeneratorOutput<Halide::Buffer<>>* output_ = nullptr;
    algorithm_inputs arguments_;
};

}  // namespace tilewright::halide
