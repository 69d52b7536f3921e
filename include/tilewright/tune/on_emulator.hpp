#pragma once
#include <tilewright/tune/operands.hpp>

namespace tilewright::tune {

/// Measures cycles of the emulated machine: the same on every computer.
class on_emulator final : public measurer {
  public:
    /// @throws std::invalid_argument when the problem does not say the semantics of its machine
    on_emulator(problem const& of, std::uint64_t seed) : of_(of), seed_(seed), judge_(of, seed) {
        if (of.semantics == nullptr)
            throw std::invalid_argument("the emulator needs to know what the machine's parts do: .semantics = &semantics_of<machine>");
    }

    std::string name() const override { return "emulator"; }
    std::string processor() const override { return "emulator"; }
    std::string compiler() const override { return ""; }
    std::string objective() const override { return "cycles"; }

    std::vector<outcome> measure(std::vector<candidate> const& candidates, std::function<bool()> const& stop) override {
        std::vector<outcome> outcomes;
        for (candidate const& one : candidates) {
            if (stop()) return {};
            outcomes.push_back(measure_one(one));
        }
        return outcomes;
    }

  private:
    outcome measure_one(candidate const& one) {
        outcome made;
        std::unique_ptr<halide::jit_kernel> kernel;
        std::unique_ptr<core_team> team;
        std::unique_ptr<emulator> alone;
        try {
            detail::expect_scalars(of_, one.plan);
            detail::stopwatch const compiling;
            if (one.plan.cores > 1) {
                team = std::make_unique<core_team>(*one.plan.where, *of_.semantics, one.plan.cores);
                kernel = std::make_unique<halide::jit_kernel>(one.plan, *team);
            } else {
                alone = std::make_unique<emulator>(*one.plan.where, *of_.semantics);
                kernel = std::make_unique<halide::jit_kernel>(one.plan, alone.get());
            }
            kernel->pipeline().compile_jit(halide::jit_target());
            made.compilation_time = compiling.milliseconds();
        } catch (std::exception const& wrong) {
            return outcome::failed(invalidity::compile, wrong.what());
        }
        try {
            operands on(of_, one.sized, seed_);
            detail::stopwatch const running;
            std::int32_t code = 0;
            if (team) code = on.run(*kernel, *team, of_.scalars);
            else on.run(*kernel, of_.scalars);
            made.runtimes.push_back(running.milliseconds());
            std::string const error = team ? team->error() : alone->error();
            if (code != 0 || !error.empty())
                return outcome::failed(invalidity::runtime, error.empty() ? "code " + std::to_string(code) : error);
            detail::stopwatch const validating;
            double const share = judge_.share_right(one, on);
            made.validation = validating.milliseconds();
            if (share != 1) return detail::wrong_result(share);
        } catch (std::exception const& wrong) {
            return outcome::failed(invalidity::runtime, !alone || alone->error().empty() ? wrong.what() : alone->error());
        }
        made.measurements.push_back({"cycles", static_cast<double>(team ? team->cycles() : alone->cycles()), "cycles"});
        return made;
    }

    problem const& of_;
    std::uint64_t seed_;
    referee judge_;
};

}  // namespace tilewright::tune
