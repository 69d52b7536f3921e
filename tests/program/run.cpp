#include <cstring>
#include <tilewright/halide/jit_program.hpp>

#include "catch.hpp"
#include "program/random_program.hpp"

using namespace tilewright;

TEST_CASE(
    "drawn programs, generated and run: bit-equal to plain loops, whenever data moves and kernels run, in the cycles that were planned") {
    int run = 0;
    for (std::uint32_t seed = 9000; run < 60; ++seed) {
        auto const drawn = programs::drawer(seed).draw();
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 20'000));
        if (plan->refusal) continue;
        INFO("seed " << seed << "\n" << drawn->text);
        program_emulator on(*plan, std::vector<semantics_table>(static_cast<std::size_t>(drawn->what.agent_count)));
        halide::jit_program compiled(on);
        // One in four a second time, with every access checked.
        std::unique_ptr<halide::jit_program> checked;
        if (run % 4 == 0) checked = std::make_unique<halide::jit_program>(on, true);
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            on.use(how, seed);
            on.fill_memories(0xa5);
            on.reset();
            for (int at = 0; at < plan->tensors.size(); ++at) {
                if (plan->tensor_at(at).kind != ir::tensor_kind::input) continue;
                for (programs::drawn_tensor const& t : drawn->tensors) {
                    if (label(t.name.c_str()) == plan->tensor_at(at).name)
                        std::memcpy(on.address(at), t.values.data(), t.values.size() * sizeof(programs::element));
                }
            }
            INFO(name_of(how));
            REQUIRE((checked != nullptr && how == progress::latest ? *checked : compiled).run() == 0);
            REQUIRE(on.error() == "");
            CHECK(static_cast<double>(on.cycles()) == static_cast<double>(plan->cycles()));
            for (int at = 0; at < plan->tensors.size(); ++at) {
                if (plan->tensor_at(at).kind != ir::tensor_kind::output) continue;
                for (programs::drawn_tensor const& t : drawn->tensors) {
                    if (label(t.name.c_str()) != plan->tensor_at(at).name) continue;
                    INFO("output " << t.name);
                    REQUIRE(std::memcmp(on.address(at), t.values.data(), t.values.size() * sizeof(programs::element)) == 0);
                }
            }
        }
        ++run;
    }
}
