#pragma once
#include <functional>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/program_emulator.hpp>
#include <tilewright/halide/jit.hpp>
#include <tilewright/program/kernel_plans.hpp>

namespace tilewright::halide {

/// What is told of a program while it runs.
struct program_watch {
    std::map<std::string, Halide::JITExtern> functions{};  ///< what its kernels call, in place of the emulator's functions
    std::function<void(int kernel_at)> works{};            ///< before a kernel runs, begins, or is completed; -1: before cores meet
    std::function<void(emulator& core)> meets{};           ///< before a core goes to a barrier of the program
};

/// A program compiled at run time, on the emulated machines of its agents.
///
/// @throws std::invalid_argument when the program was refused, with its verdict
class jit_program {
  public:
    explicit jit_program(program_emulator& on, bool checked = false) : on_(on), checked_(checked) {
        for (int at = 0; at < plan().kernels.size(); ++at) {
            kernel& made = kernels_.emplace_back();
            made.build = build_kernel(plan(), at);
            if (plan().cores > 1 && checked)
                throw std::invalid_argument("a program for several cores runs unchecked: its team can watch instead");
            auto const part = [&](emulator* by, plan_part which) {
                return std::make_unique<jit_kernel>(made.build.plan, by, checked, which);
            };
            if (plan().is_of_cores(plan().kernel_at(at).agent)) {
                made.code = part(nullptr, plan_part::whole);
                continue;
            }
            emulator* const by = &on.on(plan().kernel_at(at).agent);
            bool const copies = plan().agent_of(plan().kernel_at(at)).is_engine();
            made.code = part(by, copies ? plan_part::begin : plan_part::whole);
            if (copies) made.completes = part(by, plan_part::complete);
        }
    }

    void watch(program_watch const& by) {
        watch_ = by;
        for (kernel& k : kernels_) {
            k.code->pipeline().set_jit_externs(by.functions);
            if (k.completes) k.completes->pipeline().set_jit_externs(by.functions);
        }
    }

    /// Runs the program as its plan says. Tensors without a pointer are at their addresses: see `program_emulator::address`.
    ///
    /// @param passed    where the caller has the tensors of memories without a capacity, by name
    /// @param complete  is called with the position of each kernel when its result is there
    /// @return 0, or the code of the first kernel that failed; then nothing is under way
    int run(std::map<std::string, void*> const& passed = {}, std::function<void(int)> const& complete = nullptr) {
        int code = 0;
        auto const tell = [&](int which) {
            if (code == 0 && complete) complete(which);
        };
        for (int at = 0; at < plan().steps.size() && code == 0; ++at) {
            ir::program_step const& s = plan().steps[at];
            if (watch_.works) watch_.works(s.kind == ir::program_step_kind::barrier ? -1 : s.kernel);
            if (s.kind == ir::program_step_kind::barrier || plan().is_of_cores(plan().kernel_at(s.kernel).agent)) {
                code = step_of_cores(s, passed);
                if (s.kind != ir::program_step_kind::barrier) tell(s.kernel);
                continue;
            }
            int const agent = plan().kernel_at(s.kernel).agent;
            auto const work = [this, &passed, at = s.kernel] { return call(at, passed); };
            if (s.kind == ir::program_step_kind::join) code = on_.join(agent);
            else if (s.kind == ir::program_step_kind::run) code = on_.run(agent, work);
            else if (!kernel_of(s.kernel).completes) code = on_.start(agent, work);
            else code = on_.begin(agent, work, [this, &passed, at = s.kernel] { return call(at, passed, true); });
            if (s.kind == ir::program_step_kind::run || s.kind == ir::program_step_kind::join) tell(s.kernel);
        }
        for (int a = 0; a < plan().of->agent_count; ++a) {
            int const joined = on_.join(a);
            if (code == 0) code = joined;
        }
        return code;
    }

  private:
    struct kernel {
        kernel_build build;
        std::unique_ptr<jit_kernel> code, completes;  ///< what completes it: of a copy by an engine, which the other only begins
    };

    program_plan_value const& plan() const { return on_.plan(); }
    kernel& kernel_of(int kernel_at) { return kernels_[static_cast<std::size_t>(kernel_at)]; }

    /// All cores meet, or run a kernel; core 0 alone runs what they do not share.
    int step_of_cores(ir::program_step const& s, std::map<std::string, void*> const& passed) {
        core_team& team = on_.cores();
        if (s.kind == ir::program_step_kind::barrier) {
            return team.run([&](int core) {
                if (watch_.meets) watch_.meets(team.on(core));
                return on_.meet();
            });
        }
        auto [inputs, output] = arguments(s.kernel, passed);
        return on_.run_on_cores(s.kernel, [&, this, in = inputs, out = output] { return kernel_of(s.kernel).code->run(team, in, out); });
    }
    std::pair<std::vector<Halide::Buffer<>>, Halide::Buffer<>> arguments(int kernel_at, std::map<std::string, void*> const& passed) {
        kernel& k = kernel_of(kernel_at);
        std::vector<Halide::Buffer<>> inputs;
        Halide::Buffer<> output;
        argument_list const list = arguments_of(k.build.plan);
        for (int argument = 0; argument < list.tensor_count; ++argument) {
            int const at = list.tensors[argument];
            buffer const& b = k.build.plan.buffers[at];
            (b.written ? output : inputs.emplace_back()) = argument_at(use_of(plan(), kernel_at, k.build.plan, at), b, passed);
        }
        return {inputs, output};
    }
    int call(int kernel_at, std::map<std::string, void*> const& passed, bool completes = false) {
        kernel& k = kernel_of(kernel_at);
        emulator& on = on_.on(plan().kernel_at(kernel_at).agent);
        auto [inputs, output] = arguments(kernel_at, passed);
        int code = 0;
        Halide::JITHandlers keeping;
        thread_local int* said = nullptr;
        said = &code;
        keeping.custom_error = [](Halide::JITUserContext*, char const*) { *said = -1; };
        jit_kernel& called = completes ? *k.completes : *k.code;
        called.pipeline().jit_handlers() = keeping;
        if (checked_ && !completes) on.check(k.build.plan);
        called.run(inputs, output);
        if (checked_ && (completes || !k.completes)) on.stop_checking();
        return on.error_code() != 0 ? on.error_code() : code;
    }
    /// The part of a tensor that a kernel uses, where the tensor is.
    Halide::Buffer<> argument_at(ir::program_use const& u, buffer const& b, std::map<std::string, void*> const& passed) const {
        ir::program_tensor const& t = plan().tensor_at(u.tensor);
        std::byte* const base = t.passed ? static_cast<std::byte*>(passed.at(t.name.str())) : on_.address(u.tensor);
        std::vector<halide_dimension_t> dimensions;
        for (int d = b.rank - 1; d >= 0; --d) {
            dimensions.emplace_back(static_cast<int>(b.minimum[d]), static_cast<int>(b.extents[d]),
                                    static_cast<int>(ir::stride_of(t, u, b, d)));
        }
        void* const first = base + ir::first_element(t, u, b) * bytes_of(t.type);
        return Halide::Buffer<>(Halide::Runtime::Buffer<>(type_of(b.type), first, b.rank, dimensions.data()));
    }

    program_emulator& on_;
    bool checked_;
    std::deque<kernel> kernels_;
    program_watch watch_;
};

}  // namespace tilewright::halide
