#pragma once
#include <memory>
#include <stdexcept>
#include <tilewright/halide/jit.hpp>
#include <vector>

namespace tilewright::tune {

/// A kernel of this processor, compiled now, as a function. Running a pipeline prepares its arguments each time, which takes longer than a
/// small kernel: what that would call is called directly.
class native_kernel {
  public:
    /// @param pools  where memories without an address are: see `halide::jit_kernel`
    /// @throws std::exception when the plan is none for this processor, or cannot be compiled
    native_kernel(plan_value const& plan, std::vector<void*> const& pools, Halide::Target const& target) {
        ir::argument_list const list = ir::arguments_of(plan);
        halide::jit_kernel kernel(plan, pools, target);
        Halide::Target const all = target.with_feature(Halide::Target::JIT).with_feature(Halide::Target::NoRuntime);
        std::vector<Halide::Argument> const arguments = kernel.pipeline().infer_arguments();
        Halide::Module const module = kernel.pipeline().compile_to_module(arguments, "native_kernel", all);
        code_ = Halide::Internal::JITModule(module, module.get_function_by_name("native_kernel"),
                                            Halide::Internal::JITSharedRuntime::get(nullptr, target.with_feature(Halide::Target::JIT)));
        // Halide sorts arguments by name. The last one is the result.
        for (Halide::Argument const& one : arguments) order_.push_back(position_of(plan, list, one.name));
        order_.push_back(list.tensor_count - 1);
        tensors_ = list.tensor_count;
        for (int at = 0; at < list.parameter_count; ++at) types_.push_back(plan.what[list.parameters[at]].type);
    }

    /// @param tensors  in the order of the plan's arguments, the result last. @param scalars  its parameters, in their order
    /// @throws std::runtime_error when the kernel fails
    void operator()(std::vector<halide_buffer_t*> const& tensors, std::vector<double> const& scalars = {}) const {
        constexpr std::size_t most = 64;
        void const* pointers[most];
        std::uint64_t values[most];
        for (std::size_t at = 0; at < types_.size() && at < most; ++at) {
            visit_scalar(types_[at], [&]<class T>(T) {
                T const value = static_cast<T>(scalars.at(at));
                std::memcpy(&values[at], &value, sizeof value);
            });
        }
        for (std::size_t at = 0; at < order_.size() && at < most; ++at) {
            int const which = order_[at];
            pointers[at] =
                which < tensors_ ? static_cast<void const*>(tensors.at(static_cast<std::size_t>(which))) : &values[which - tensors_];
        }
        if (code_.argv_function()(pointers) != 0) throw std::runtime_error("the kernel fails");
    }

  private:
    /// Of an argument in the plan's order: tensors, then scalar parameters.
    static int position_of(plan_value const& plan, ir::argument_list const& list, std::string const& name) {
        for (int at = 0; at < list.tensor_count; ++at) {
            if (halide::buffer_name(plan, list.tensors[at]) == name) return at;
        }
        std::vector<halide::scalar_parameter> const parameters = halide::parameters_of(plan);
        for (std::size_t at = 0; at < parameters.size(); ++at) {
            if (parameters[at].code == name) return list.tensor_count + static_cast<int>(at);
        }
        throw std::logic_error("a kernel with an argument that its plan does not have: " + name);
    }

    Halide::Internal::JITModule code_;
    std::vector<int> order_;
    std::vector<scalar_type> types_;
    int tensors_ = 0;
};

}  // namespace tilewright::tune
