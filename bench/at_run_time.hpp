#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <tilewright/runtime/call.hpp>
#include <tilewright/runtime/processor_caches.hpp>
#include <tilewright/targets/x86_avx2.hpp>
#include <tilewright/targets/x86_avx512.hpp>
#include <tilewright/tune/native_kernel.hpp>
#include <tilewright/tune/turns.hpp>
#include <utility>
#include <vector>

#include "comparison.hpp"

/// Kernels of shapes that no list names: the likeliest tiles are compiled here, and measured.
namespace peers {

/// A kernel of this processor, compiled now, as a function of pointers.
class compiled_kernel {
  public:
    /// @param pool  the memory that it packs into
    compiled_kernel(tilewright::plan_value const& plan, void* pool, Halide::Target const& target)
        : code_(plan, std::vector<void*>(static_cast<std::size_t>(tilewright::ir::arguments_of(plan).pool_count), pool), target) {
        tilewright::ir::argument_list const list = tilewright::ir::arguments_of(plan);
        first_ = plan.buffers[list.tensors[0]].tensor.str();
        for (int at = 0; at < list.tensor_count; ++at)
            arguments_.push_back(std::make_unique<tilewright::detail::tensor_argument>(plan.buffers[list.tensors[at]], nullptr));
    }

    /// Whether the first argument is this tensor.
    bool reads_first(char const* tensor) const { return first_ == tensor; }

    /// @param tensors  in the order of the plan's arguments, which is the order that the computation names them in; the result is the last
    void operator()(std::vector<void const*> const& tensors) const {
        std::vector<halide_buffer_t*> pointers;
        for (std::size_t at = 0; at < tensors.size(); ++at) {
            arguments_[at]->whole.host = static_cast<std::uint8_t*>(const_cast<void*>(tensors[at]));
            pointers.push_back(&arguments_[at]->whole);
        }
        code_(pointers);
    }

  private:
    std::string first_;
    tilewright::tune::native_kernel code_;
    std::vector<std::unique_ptr<tilewright::detail::tensor_argument>> arguments_;
};

/// Of candidates, the few that cost least are compiled and measured, in turns; the fastest is left.
/// @param scheduled  the schedule with a tile
/// @param run        calls a kernel with operands
template <class Candidates, class Scheduled, class Cost>
std::unique_ptr<compiled_kernel> fastest_of(Candidates const& candidates, Scheduled const& scheduled, Cost const& cost, void* pool,
                                            Halide::Target const& target, std::function<void(compiled_kernel const&)> const& run) {
    constexpr std::size_t most = 5;
    std::vector<std::pair<double, std::unique_ptr<tilewright::plan_value>>> plans;
    for (auto const& tile : candidates) {
        auto plan = std::make_unique<tilewright::plan_value>(tilewright::make_plan(scheduled(tile)));
        if (!plan->refusal) plans.emplace_back(cost(*plan), std::move(plan));
    }
    if (plans.empty()) throw std::runtime_error("no tile has a plan");
    std::stable_sort(plans.begin(), plans.end(), [](auto const& one, auto const& other) { return one.first < other.first; });
    plans.resize(std::min(plans.size(), most));
    std::vector<std::unique_ptr<compiled_kernel>> kernels;
    for (auto const& [cycles, plan] : plans) kernels.push_back(std::make_unique<compiled_kernel>(*plan, pool, target));
    std::vector<std::function<void()>> turns;
    for (auto const& one : kernels) turns.push_back([&run, &one] { run(*one); });
    std::vector<double> least;
    for (auto const& seconds : tilewright::tune::take_turns(turns, 12, 0, 1))
        least.push_back(*std::min_element(seconds.begin(), seconds.end()));
    return std::move(kernels[static_cast<std::size_t>(std::min_element(least.begin(), least.end()) - least.begin())]);
}

/// What ours are compiled for: AVX2, or the best target of this processor, which runs at their best where it has AVX-512 alone.
/// With the caches of this processor.
inline tilewright::targets::vector_core const& core_of(level at) {
    namespace targets = tilewright::targets;
    static tilewright::machine const narrow = with_caches(targets::avx2::host, tilewright::caches_of_this_processor(targets::avx2::caches)),
                                     wide =
                                         with_caches(targets::avx512::host, tilewright::caches_of_this_processor(targets::avx512::caches));
    static targets::vector_core const of_narrow(narrow, targets::avx2::l2, targets::avx2::ymm),
        of_wide(wide, targets::avx512::l2, targets::avx512::zmm);
    return at == level::at_their_best ? of_wide : of_narrow;
}
inline char const* own_instructions(level at) { return at == level::at_their_best ? "AVX-512" : "AVX2"; }
inline Halide::Target halide_target_of(level at) {
    return Halide::Target(at == level::at_their_best ? "x86-64-linux-sse41-avx-avx2-f16c-fma-avx512-avx512_skylake"
                                                     : "x86-64-linux-sse41-avx-avx2-f16c-fma");
}

}  // namespace peers
