#include <map>

#include "catch.hpp"
#include "program/program_text.hpp"
#include "program/random_program.hpp"

using namespace tilewright;

TEST_CASE("a thousand drawn programs: nothing that is alive shares bytes, constraints hold, peaks are not below what is alive") {
    std::map<std::string, int> refused;
    int planned = 0, copies = 0, in_place = 0, spilled = 0, aside = 0, copying = 0, shared = 0, better = 0, only_single = 0, proven = 0,
        pools = 0;
    for (std::uint32_t seed = 1; planned < 1000; ++seed) {
        auto const drawn = programs::drawer(seed).draw();
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 20'000));
        INFO("seed " << seed << "\n" << programs::cpp_of(drawn->from) << (plan->refusal ? to_string(plan->refusal) : ""));
        if (plan->refusal) {
            ++refused[name_of(plan->refusal.kind)];
            // No transfer: of a tensor that may spill, where none leads.
            using enum verdict_kind;
            REQUIRE((plan->refusal.kind == memory_overflow || plan->refusal.kind == no_placement || plan->refusal.kind == no_transfer));
            REQUIRE(seed < 4000);
            continue;
        }
        REQUIRE(programs::fault_of(*plan) == "");
        // Without steps to search with, buffers of a kernel stay as its own plan has them: never better.
        auto const blocks = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 0));
        if (!blocks->refusal) REQUIRE(programs::fault_of(*blocks) == "");
        bool const alike = !blocks->refusal && blocks->kernels.size() == plan->kernels.size();
        for (std::size_t m = 0; m < static_cast<std::size_t>(plan->memories.size()) && alike; ++m) {
            REQUIRE(plan->pools[m].peak <= blocks->pools[m].peak);
            better += plan->pools[m].peak < blocks->pools[m].peak ? 1 : 0;
        }
        only_single += blocks->refusal ? 1 : 0;
        ++planned;
        copies += plan->copies() > 0 ? 1 : 0;
        for (int at = 0; at < plan->tensors.size(); ++at) in_place += plan->tensor_at(at).in_place_of >= 0 ? 1 : 0;
        for (int at = 0; at < plan->kernels.size(); ++at) spilled += plan->kernel_at(at).early ? 1 : 0;
        for (int at = 0; at < plan->steps.size(); ++at) {
            ir::program_step const& s = plan->steps[at];
            if (s.kind != ir::program_step_kind::join) continue;
            ir::program_kernel const& k = plan->kernel_at(s.kernel);
            if (plan->agent_of(k).is_aside()) ++aside;
            else copying += k.last_step > k.first_step + 1 ? 1 : 0;
        }
        for (int at = 0; at < plan->scratch.size(); ++at) {
            // Buffers of one kernel at one offset, one after the other.
            for (int other = 0; other < at; ++other) {
                ir::program_scratch const &a = plan->scratch_at(at), &b = plan->scratch_at(other);
                bool const overlap = a.offset < b.offset + b.bytes_in_bank && b.offset < a.offset + a.bytes_in_bank && a.bank == b.bank;
                shared += a.kernel == b.kernel && a.memory == b.memory && overlap ? 1 : 0;
            }
        }
        for (ir::pool_use const& pool : plan->pools) pools += pool.used ? 1 : 0, proven += pool.used && pool.proven ? 1 : 0;
    }
    // The walk meets what it is for.
    CHECK(copies > 100);
    CHECK(in_place > 50);
    CHECK(spilled > 0);
    CHECK(aside > 100);
    CHECK(copying > 500);  // engines, while something else is run or started
    CHECK(refused[name_of(verdict_kind::memory_overflow)] > 100);
    CHECK(refused[name_of(verdict_kind::no_placement)] > 100);
    CHECK(shared > 100);
    CHECK(better > 100);
    CHECK(only_single > 0);
    WARN(planned << " planned, " << copies << " with copies, " << in_place << " in place, " << spilled << " spilled, " << copying
                 << " copies by engines beside others, " << shared << " pairs of buffers of a kernel at one place, " << better
                 << " peaks smaller and " << only_single << " programs fit that do not with blocks, " << proven << " of " << pools
                 << " peaks proven");
}
