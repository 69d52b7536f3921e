#include "cache_simulator.hpp"

namespace {
[[gnu::used]] cache_simulator::run* run_of(tilewright::ir::plan_value const& plan) { return new cache_simulator::run(plan); }
}  // namespace
