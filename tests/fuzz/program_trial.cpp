#include "fuzz/program_trial.hpp"

#include <cstring>
#include <tilewright/halide/jit_program.hpp>

#include "fuzz/trial.hpp"
#include "program/random_program.hpp"

namespace fuzz {

using namespace tilewright;

namespace {

outcome failed(std::string const& text) { return {outcome::kind::failed, "program: " + text}; }

/// One run. @return what is wrong; empty: nothing
std::string check_run(programs::drawn_program const& drawn, program_emulator& on, halide::jit_program& code,
                      program_plan_value const& plan) {
    on.fill_memories(0xa5);
    on.reset();
    auto const values_of = [&](int at) -> std::vector<programs::element> const& {
        static std::vector<programs::element> const none;
        for (programs::drawn_tensor const& t : drawn.tensors) {
            if (label(t.name.c_str()) == plan.tensor_at(at).name) return t.values;
        }
        return none;
    };
    for (int at = 0; at < plan.tensors.size(); ++at) {
        if (plan.tensor_at(at).kind != ir::tensor_kind::input) continue;
        std::memcpy(on.address(at), values_of(at).data(), values_of(at).size() * sizeof(programs::element));
    }
    if (int const said = code.run(); said != 0 || !on.error().empty()) return "it returns " + std::to_string(said) + " " + on.error();
    if (plan.total_known && static_cast<double>(on.cycles()) != static_cast<double>(plan.cycles()))
        return std::to_string(on.cycles()) + " cycles executed, " + std::to_string(static_cast<double>(plan.cycles())) + " predicted";
    for (int at = 0; at < plan.tensors.size(); ++at) {
        if (plan.tensor_at(at).kind != ir::tensor_kind::output) continue;
        if (std::memcmp(on.address(at), values_of(at).data(), values_of(at).size() * sizeof(programs::element)) != 0)
            return "output " + plan.tensor_at(at).name.str() + " differs";
    }
    return {};
}

}  // namespace

std::string program_text(std::uint64_t seed) {
    std::string const number = std::to_string(static_cast<std::uint32_t>(seed));
    return "// auto const drawn = programs::drawer(" + number + ").draw();  of tests/program/random_program.hpp\n/*\n" +
           programs::drawer(static_cast<std::uint32_t>(seed)).draw()->text + "*/\n";
}

outcome try_program(std::uint64_t seed) try {
    auto const drawn = programs::drawer(static_cast<std::uint32_t>(seed)).draw();
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 20'000));
    if (plan->refusal)
        return {outcome::kind::refused, "program_" + std::string(name_of(plan->refusal.kind)) + ": " + to_string(plan->refusal)};
    if (std::string const fault = programs::fault_of(*plan); !fault.empty()) return failed(fault);
    program_emulator on(*plan, std::vector<semantics_table>(static_cast<std::size_t>(drawn->what.agent_count)));
    halide::jit_program compiled(on);
    for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
        on.use(how, seed);
        std::string const wrong = check_run(*drawn, on, compiled, *plan);
        if (!wrong.empty()) return failed(wrong + " (engines " + name_of(how) + ")");
    }
    // Calls of transfers fail in turn, on one agent after the other; then the program runs as if nothing had been.
    for (int agent = 0; agent < drawn->what.agent_count; ++agent) {
        for (progress how : {progress::earliest, progress::latest}) {
            on.use(how, seed);
            std::string wrong = check_run(*drawn, on, compiled, *plan);
            if (!wrong.empty()) return failed(wrong + " (after a failure)");
            std::int64_t calls = 0;
            for (int at = 0; at < on.on(agent).what().transfers.size(); ++at) calls += on.on(agent).transfers(at).calls;
            for (std::int64_t which : failing_calls(calls)) {
                on.reset();
                on.on(agent).fail_transfer(which, -9);
                int const said = compiled.run();
                if (said != -9)
                    return failed("call " + std::to_string(which) + " of agent " + std::to_string(agent) + " failed, it returns " +
                                  std::to_string(said));
                for (int other = 0; other < drawn->what.agent_count; ++other) {
                    if (on.on(other).in_flight() != 0) return failed("jobs are left in flight after a failure");
                }
            }
        }
    }
    on.use(progress::random, seed + 1);
    std::string wrong = check_run(*drawn, on, compiled, *plan);
    if (!wrong.empty()) return failed(wrong + " (after failures)");
    halide::jit_program checked(on, true);
    on.use(progress::latest);
    wrong = check_run(*drawn, on, checked, *plan);
    if (!wrong.empty()) return failed(wrong + " (every access checked)");
    return {};
} catch (std::exception const& wrong) {
    return failed(std::string("it throws ") + wrong.what());
}

}  // namespace fuzz
