#pragma once
#include <tilewright/tune/computer.hpp>
#include <tilewright/tune/native_kernel.hpp>
#include <tilewright/tune/operands.hpp>
#include <tilewright/tune/turns.hpp>

namespace tilewright::tune {

/// Measures seconds on this very processor. Candidates take turns, eight at a time.
class on_processor final : public measurer {
  public:
    on_processor(problem const& of, std::uint64_t seed, int rounds)
        : of_(of),
          seed_(seed),
          rounds_(rounds),
          target_(of.target.empty() ? halide::jit_target() : Halide::Target(of.target)),
          judge_(of, seed) {}

    std::string name() const override { return "processor"; }
    std::string processor() const override { return processor_model(); }
    std::string model() const override { return processor_model(); }
    std::string compiler() const override { return "Halide " + std::to_string(TILEWRIGHT_HALIDE_VERSION) + " " + target_.to_string(); }
    std::string objective() const override { return "time"; }
    std::size_t together() const override { return 8; }

    std::vector<outcome> measure(std::vector<candidate> const& candidates, std::function<bool()> const& stop) override {
        std::vector<outcome> outcomes;
        std::vector<std::unique_ptr<prepared>> ready;
        std::vector<std::size_t> places;
        for (candidate const& one : candidates) {
            if (stop()) return {};
            outcomes.emplace_back();
            refuse_functions_of_a_device(one.plan);
            if (auto made = prepare(one, outcomes.back())) {
                ready.push_back(std::move(made));
                places.push_back(outcomes.size() - 1);
            }
        }
        std::vector<std::function<void()>> runs;
        for (auto const& one : ready) runs.push_back([this, &one] { (*one->kernel)(one->given, of_.scalars); });
        auto const seconds = take_turns(runs, rounds_, shortest_turn, seed_, stop);
        for (std::size_t at = 0; at < ready.size(); ++at) {
            outcome& into = outcomes[places[at]];
            for (double one : seconds[at]) into.runtimes.push_back(one * 1e3);
            if (into.runtimes.empty()) return {};
            into.measurements.push_back({"time", *std::min_element(into.runtimes.begin(), into.runtimes.end()), "ms"});
        }
        return outcomes;
    }

  private:
    static constexpr double shortest_turn = 1e-3;  // seconds: long against what a clock costs

    struct prepared {
        std::vector<detail::memory_block> pools;
        std::unique_ptr<operands> on;
        std::vector<halide_buffer_t*> given;
        std::unique_ptr<native_kernel> kernel;
    };

    /// Compiles a candidate, and looks at its result. @return null when it is not to be measured: `into` says why
    std::unique_ptr<prepared> prepare(candidate const& one, outcome& into) {
        auto made = std::make_unique<prepared>();
        try {
            detail::expect_scalars(of_, one.plan);
            ir::argument_list const list = ir::arguments_of(one.plan);
            std::vector<void*> pools;
            for (int at = 0; at < list.pool_count; ++at) {
                memory const& m = one.plan.where->memories[list.pools[at]];
                made->pools.push_back(detail::allocate(static_cast<std::int64_t>(static_cast<double>(one.sized.peak(m))), m.alignment));
                pools.push_back(made->pools.back().get());
            }
            detail::stopwatch const compiling;
            made->kernel = std::make_unique<native_kernel>(one.plan, pools, target_);
            into.compilation_time = compiling.milliseconds();
            made->on = std::make_unique<operands>(of_, one.sized, seed_);
            made->given = made->on->arguments();
        } catch (std::exception const& wrong) {
            into = outcome::failed(invalidity::compile, wrong.what());
            return nullptr;
        }
        try {
            detail::stopwatch const validating;
            (*made->kernel)(made->given, of_.scalars);
            double const share = judge_.share_right(one, *made->on);
            into.validation = validating.milliseconds();
            if (share == 1) return made;
            into = detail::wrong_result(share);
        } catch (std::exception const& wrong) {
            into = outcome::failed(invalidity::runtime, wrong.what());
        }
        return nullptr;
    }
    /// @throws std::invalid_argument when the kernel calls functions that this process does not have
    static void refuse_functions_of_a_device(plan_value const& plan) {
        auto const refuse = [&](ir::label const& function) {
            throw std::invalid_argument("machine `" + plan.where->name.str() + "` is not this processor: kernels call its `" +
                                        function.str() + "`; measure on the emulator, or by a command");
        };
        for (int at = 0; at < plan.movements.size(); ++at) {
            ir::movement const& m = plan.movements[at];
            if (m.transfer >= 0 && plan.where->transfers[m.transfer].core_name.empty()) refuse(plan.where->transfers[m.transfer].name);
        }
        for (int at = 0; at < plan.bodies.size(); ++at) {
            ir::body const& b = plan.bodies[at];
            if (b.kind == ir::body_kind::intrinsic) refuse(plan.where->intrinsics[b.intrinsic].name);
        }
    }

    problem const& of_;
    std::uint64_t seed_;
    int rounds_;
    Halide::Target target_;
    referee judge_;
};

}  // namespace tilewright::tune
