// The parts of the library in which tests spend most of their time: the emulated machine, as kernels call it, and the prediction of cycles.
// They are compiled once here, and optimised. A linker takes the first copy of an inline function, and this object stands in front of those
// of the tests.
#include <tilewright/emulate/calls.hpp>
#include <tilewright/emulate/core_team.hpp>
#include <tilewright/plan/check/prediction.hpp>

namespace {
[[gnu::used]] constexpr auto predicted = &tilewright::ir::predict;
// Its virtual functions follow each byte that several cores touch.
[[gnu::used]] tilewright::core_team* team_of(tilewright::machine const& what, tilewright::semantics_table const& semantics) {
    return new tilewright::core_team(what, semantics);
}
}  // namespace
