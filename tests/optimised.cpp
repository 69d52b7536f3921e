// What takes long where tests run, and what they leave to the library: the emulated machine, as kernels call it, and the prediction of what
// they cost. Linkers take the first of the same functions, so this object stands in front of those of the tests.
#include <tilewright/emulate/calls.hpp>
#include <tilewright/plan/check/prediction.hpp>

namespace {
[[gnu::used]] constexpr auto predicted = &tilewright::ir::predict;
}
