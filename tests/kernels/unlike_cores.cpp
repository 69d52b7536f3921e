// clang-format off: schedules are read line by line, a buffer a line.
#include "kernels/unlike_cores.hpp"
#include "kernels/on_cores.hpp"
#include <tilewright/plan/plan.hpp>

// Kernels for a machine with cores of two kinds: each kind has its own cycles, and its own instructions.

using namespace tilewright;
using namespace unlike_cores;

TEST_CASE("cores of two kinds share a kernel, each in its own time") {
    for (schedule const& of : in_shares()) check_on_cores<mixed>(of);
}

TEST_CASE("stages run on cores of different kinds, and tell each other") {
    for (schedule const& of : by_stages()) check_on_cores<mixed>(of);
}

TEST_CASE("a core of the wrong kind that is given an instruction fails") {
    core_team team(mixed, semantics_of<mixed>);
    CHECK(team.size() == 3);
    std::int64_t const nothing[64] = {};
    int const of_vector = mixed.intrinsics.find("wide_mac");
    CHECK(team.run([&](int core) { return core == 0 ? team.on(0).intrinsic(of_vector, nothing) : 0; }) == emulation_unknown_part);
    CHECK(team.error() == "core 0: core 0 has no `wide_mac` of `vector`");
}
