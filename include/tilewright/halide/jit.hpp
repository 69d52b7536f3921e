#pragma once
#include <sstream>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/emulate/core_team.hpp>
#include <tilewright/halide/inject.hpp>
#include <tilewright/halide/target.hpp>

namespace tilewright::halide {

/// The C functions that kernels of the emulated binding call, by name.
inline std::map<std::string, Halide::JITExtern> emulator_functions() {
    return {{"tilewright_this_core", Halide::JITExtern(tilewright_this_core)},
            {"tilewright_emulated_base", Halide::JITExtern(tilewright_emulated_base)},
            {"tilewright_emulate_transfer", Halide::JITExtern(tilewright_emulate_transfer)},
            {"tilewright_emulate_intrinsic", Halide::JITExtern(tilewright_emulate_intrinsic)},
            {"tilewright_emulate_configure", Halide::JITExtern(tilewright_emulate_configure)},
            {"tilewright_emulate_wait", Halide::JITExtern(tilewright_emulate_wait)},
            {"tilewright_emulate_push", Halide::JITExtern(tilewright_emulate_push)},
            {"tilewright_emulate_pop", Halide::JITExtern(tilewright_emulate_pop)},
            {"tilewright_emulated_core", Halide::JITExtern(tilewright_emulated_core)},
            {"tilewright_emulate_barrier", Halide::JITExtern(tilewright_emulate_barrier)},
            {"tilewright_emulate_clean", Halide::JITExtern(tilewright_emulate_clean)},
            {"tilewright_emulate_invalidate", Halide::JITExtern(tilewright_emulate_invalidate)},
            {"tilewright_emulate_signal", Halide::JITExtern(tilewright_emulate_signal)},
            {"tilewright_emulate_await", Halide::JITExtern(tilewright_emulate_await)},
            {"tilewright_emulate_end", Halide::JITExtern(tilewright_emulate_end)},
            {"tilewright_emulate_access", Halide::JITExtern(tilewright_emulate_access)},
            {"tilewright_emulate_argument", Halide::JITExtern(tilewright_emulate_argument)},
            {"tilewright_count_iterations", Halide::JITExtern(tilewright_count_iterations)},
            {"tilewright_emulate_code", Halide::JITExtern(tilewright_emulate_code)},
            {"tilewright_fence", Halide::JITExtern(tilewright_fence)}};
}

/// A kernel compiled at run time, on an emulated machine or on this processor; and the same algorithm without the plan, as a reference.
///
/// @throws std::invalid_argument when the plan was refused, with its verdict
class jit_kernel {
  public:
    explicit jit_kernel(plan_value const& plan, emulator* on, bool checked = false, Halide::Target const& target = jit_target())
        : jit_kernel(plan, target) {
        if (on == nullptr) return;
        inject({binding::emulated, pointer(on), target_, checked});
        link_emulator();
    }
    /// A kernel for several cores.
    jit_kernel(plan_value const& plan, core_team const&, bool checked = false, Halide::Target const& target = jit_target())
        : jit_kernel(plan, target) {
        inject({binding::emulated, this_core(), target_, checked});
        link_emulator();
    }
    /// A kernel of a program, which passes it arguments that the plan made: they are not checked.
    ///
    /// @param on    null: several cores
    /// @param part  of a plan that first only starts transfers and then only waits for them: each is a kernel of its own
    jit_kernel(plan_value const& plan, emulator* on, bool checked, plan_part part) : jit_kernel(plan, jit_target()) {
        emission how{binding::emulated, on == nullptr ? this_core() : pointer(on), target_, checked};
        how.part = part;
        inject(how, false);
        link_emulator();
    }
    /// A kernel of this very processor: its machine is a core that copies by itself, with memories that have no addresses of their own.
    ///
    /// @param pools  where these memories are, in the order of the machine: `peak` bytes of each that the plan uses, aligned as it says
    jit_kernel(plan_value const& plan, std::vector<void*> const& pools, Halide::Target const& target = jit_target())
        : jit_kernel(plan, target) {
        if (plan.cores > 1) throw std::invalid_argument("a kernel for several cores runs on an emulated machine, or as C source");
        argument_list const list = arguments_of(plan_);
        emission how{binding::device, {}, target_};
        for (int at = 0; at < list.pool_count; ++at)
            how.pools[list.pools[at]] =
                Halide::Internal::make_const(Halide::UInt(64), reinterpret_cast<std::uintptr_t>(pools.at(static_cast<std::size_t>(at))));
        inject(how);
        pipeline_.set_jit_externs({{"tilewright_fence", Halide::JITExtern(tilewright_fence)}});
    }

    /// The injected statement, as Halide prints it.
    std::string statement() const {
        std::ostringstream text;
        text << program_;
        return text.str();
    }
    Halide::Pipeline& pipeline() { return pipeline_; }

    /// Runs the kernel. @param inputs in the order of the plan's arguments @param values of the scalar parameters, in order of appearance
    void run(std::vector<Halide::Buffer<>> const& inputs, Halide::Buffer<> output, std::vector<double> const& values = {}) {
        bind(inputs, values);
        pipeline_.realize(output, target_);
    }
    /// Likewise on all cores of a team. @return 0, or the code of the first core that failed: `core_team::error` says why
    std::int32_t run(core_team& on, std::vector<Halide::Buffer<>> const& inputs, Halide::Buffer<> output,
                     std::vector<double> const& values = {}) {
        bind(inputs, values);
        pipeline_.compile_jit(target_);
        return on.run([&](int core) {
            if (core >= plan_.cores) return std::int32_t{0};
            try {
                Halide::Buffer<> same = output;
                pipeline_.realize(same, target_);
            } catch (Halide::RuntimeError const&) {
                if (on.on(core).error_code() == 0 && on.failure() == 0) throw;
                return on.on(core).error_code();
            }
            return std::int32_t{0};
        });
    }

  private:
    void bind(std::vector<Halide::Buffer<>> const& inputs, std::vector<double> const& values) {
        for (std::size_t at = 0; at < images_.size(); ++at) images_[at].set(inputs.at(at));
        for (std::size_t at = 0; at < parameters_.size(); ++at) {
            Halide::Internal::Parameter& p = parameters_[at];
            visit_type(p.type(), [&]<class T>(T) { p.set_scalar<T>(static_cast<T>(values.at(at))); });
        }
    }
    jit_kernel(plan_value const& plan, Halide::Target const& target) : plan_(plan), target_(target) {
        if (plan_.refusal) throw std::invalid_argument(to_string(plan_.refusal));
        std::map<std::string, Halide::ImageParam> given;
        for (int at = 0; at < plan_.buffers.size(); ++at) {
            buffer const& b = plan_.buffers[at];
            if (b.kind != buffer_kind::argument || b.written) continue;
            Halide::ImageParam& image = images_.emplace_back(type_of(b.type), b.rank, buffer_name(plan_, at));
            names_[b.tensor.str()] = image.name();
            inputs_.tensors[b.tensor.str()] = given[b.tensor.str()] = image;
        }
        for (scalar_parameter const& one : parameters_of(plan_)) {
            Halide::Internal::Parameter& p = parameters_.emplace_back(type_of(one.type), false, 0, one.code);
            inputs_.parameters[one.name] = Halide::Internal::Variable::make(p.type(), p.name(), p);
        }
        each_reduced_extent(plan_, [&](std::string const& axis, std::string const& tensor, int dimension) {
            inputs_.extents[axis] = given.at(tensor).dim(dimension).extent();
        });
        result_ = build_algorithm(plan_, inputs_, result_name(plan_));
        pipeline_ = Halide::Pipeline(result_);
        pipeline_.add_custom_lowering_pass(new release_values);
    }
    void link_emulator() { pipeline_.set_jit_externs(emulator_functions()); }
    static Halide::Expr pointer(void const* to) {
        return Halide::reinterpret(Halide::Handle(), Halide::Internal::make_const(Halide::UInt(64), reinterpret_cast<std::uintptr_t>(to)));
    }
    static Halide::Expr this_core() {
        return Halide::Internal::Call::make(Halide::Handle(), "tilewright_this_core", {}, Halide::Internal::Call::Extern);
    }
    void inject(emission const& how, bool checks_arguments = true) {
        code_names code = name_everything(plan_, names_, result_.name());
        code.parameters = inputs_.parameters;
        emitter emit(plan_, code, how);
        program_ = emit.program();
        pipeline_.add_custom_lowering_pass(new inject_program(result_.name(), program_, target_, checks_arguments));
    }
    template <class Visit>
    static void visit_type(Halide::Type const& type, Visit&& visit) {
        for (int candidate = static_cast<int>(scalar_type::boolean); candidate <= static_cast<int>(scalar_type::float64); ++candidate) {
            if (type_of(static_cast<scalar_type>(candidate)) == type) return visit_scalar(static_cast<scalar_type>(candidate), visit);
        }
    }

    plan_value plan_;
    Halide::Target target_;
    std::map<std::string, std::string> names_;
    algorithm_inputs inputs_;
    std::vector<Halide::ImageParam> images_;
    std::vector<Halide::Internal::Parameter> parameters_;
    Halide::Func result_;
    Halide::Pipeline pipeline_;
    Halide::Internal::Stmt program_;
};

}  // namespace tilewright::halide
