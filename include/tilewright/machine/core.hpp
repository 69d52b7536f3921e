#pragma once
#include <tilewright/machine/cache_level.hpp>
#include <tilewright/machine/call.hpp>
#include <tilewright/machine/memory.hpp>

namespace tilewright {

/// Cycles of each operation in loops that stay code.
struct operation_costs {
    std::int64_t load = 1;        ///< cycles of a load of an element, or of a vector
    std::int64_t store = 1;       ///< cycles of a store, likewise
    std::int64_t arithmetic = 1;  ///< add, subtract, minimum, maximum, compare, logic, shift, select
    std::int64_t multiply = 1;    ///< cycles of a multiplication
    std::int64_t divide = 1;      ///< divide, modulo
    std::int64_t convert = 1;     ///< cycles of a conversion between types

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        for (std::int64_t cost : {load, store, arithmetic, multiply, divide, convert}) visit("cost of an operation", cost, 0);
    }
    friend constexpr bool operator==(operation_costs const&, operation_costs const&) = default;
};

/// A kind of core, which runs the loops that stay code. Core numbers run over the kinds of a machine in their order. A machine without any
/// has a core "host" of one cycle an operation.
struct core {
    ir::label name;           ///< of the kind, of which those of its default C functions are made
    operation_costs costs{};  ///< cycles of operations in loops that stay code
    int count = 1;            ///< of this kind: see `schedule::distribute`
    /// A sum of products in floating point is carried out by fused multiply-adds: `s + a * b` is rounded once.
    bool fused_multiply_add = false;
    /// What the C functions of its machine need of a processor, beside the target that a kernel is compiled for: features as
    /// `runtime/processor.h` names them, such as "avx512_vnni". A kernel of the device binding asks, and returns a code without them.
    ir::label instructions{};
    std::int64_t barrier_cycles = 0;  ///< from the arrival of the last core at a barrier until all go on
    device_call barrier_call{};       ///< without a symbol: see `barrier_call_of`
    int signal_queues = 16;           ///< from a core to another one; the signals of a queue are taken in their order
    int signal_capacity = 16;         ///< signals of a queue that are sent and not taken yet
    std::int64_t signal_cycles = 0;   ///< from the sending of a signal until the other core can go on
    device_call signal_call{};        ///< without a symbol: see `signal_call_of`
    device_call await_call{};         ///< likewise: see `await_call_of`
    device_call clean_call{};         ///< likewise: see `clean_call_of`
    device_call invalidate_call{};    ///< likewise: see `invalidate_call_of`
    /// Its caches, the nearest first, through which it sees the memories that are `behind_caches`.
    fixed_array<cache_level, max_cache_levels> caches{};

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("count", count, 1, max_cores);
        visit("barrier_cycles", barrier_cycles, 0, most_wait_cycles);
        visit("signal_queues", signal_queues, 0);
        visit("signal_capacity", signal_capacity, 1);
        visit("signal_cycles", signal_cycles, 0, most_wait_cycles);
        costs.each_number(visit);
        for (cache_level const& level : caches.elements) level.each_number(visit);
    }
    /// How many caches it has.
    constexpr int cache_levels() const {
        int levels = 0;
        while (levels < max_cache_levels && caches[levels].bytes > 0) ++levels;
        return levels;
    }
    /// The C functions that send a signal to another core, and wait for one, and their arguments in order.
    template <class... Arguments>
    constexpr core signals(ir::label symbol, Arguments const&... arguments) const {
        return with(&core::signal_call, symbol, arguments...);
    }
    /// The C function that takes a signal of another core, and its arguments in order: see `await_call_of`.
    template <class... Arguments>
    constexpr core awaits(ir::label symbol, Arguments const&... arguments) const {
        return with(&core::await_call, symbol, arguments...);
    }
    /// The C function at which all cores wait for each other, and its arguments in order.
    template <class... Arguments>
    constexpr core barrier(ir::label symbol, Arguments const&... arguments) const {
        return with(&core::barrier_call, symbol, arguments...);
    }
    /// The C functions that clean lines of the core's cache, and clean and forget them, and their arguments in order: see
    /// `memory::cache_line`.
    template <class... Arguments>
    constexpr core cleans(ir::label symbol, Arguments const&... arguments) const {
        return with(&core::clean_call, symbol, arguments...);
    }
    /// The C function that cleans lines of the cache and forgets them, and its arguments in order: see `invalidate_call_of`.
    template <class... Arguments>
    constexpr core invalidates(ir::label symbol, Arguments const&... arguments) const {
        return with(&core::invalidate_call, symbol, arguments...);
    }
    friend constexpr bool operator==(core const&, core const&) = default;

  private:
    template <class... Arguments>
    constexpr core with(device_call core::*call, ir::label symbol, Arguments const&... arguments) const {
        core changed = *this;
        changed.*call = {.symbol = symbol};
        ((changed.*call).push(arguments), ...);
        return changed;
    }
};

/// Of a machine that names none.
inline constexpr core host_by_default{.name = "host"};

/// Several cores that are alike: `cores("dsp", 4)`.
constexpr core cores(ir::label name, int count, operation_costs const& costs = {}) {
    return {.name = name, .costs = costs, .count = count};
}

/// The call at which the cores wait for each other: by default `int NAME_barrier(int64_t core, int64_t status)`.
///
/// With a status of 0 it returns when every core has come: 0, or the status of a core that has failed. A core that fails calls it a last
/// time with its code, which is not 0, and does not wait: the others then get this code, there or at their next barrier.
constexpr device_call barrier_call_of(core const& of) {
    device_call call = of.barrier_call;
    if (call.symbol.empty()) call.symbol = joined(of.name, "_barrier");
    if (call.count == 0) call.push(argument::core), call.push(argument::status);
    return call;
}

/// The call that sends a signal to another core, by default `int NAME_signal(int64_t core, int64_t peer, int64_t queue)`, and returns at
/// once. What the core has written before, the other sees when it has taken the signal.
constexpr device_call signal_call_of(core const& of) {
    device_call call = of.signal_call;
    if (call.symbol.empty()) call.symbol = joined(of.name, "_signal");
    if (call.count == 0) call.push(argument::core), call.push(argument::peer), call.push(argument::queue);
    return call;
}
/// The call that takes the oldest signal of another core, by default `int NAME_await(int64_t core, int64_t peer, int64_t queue)`. It
/// returns 0 when there is one, or the status with which a core has failed: see `barrier_call_of`.
constexpr device_call await_call_of(core const& of) {
    device_call call = of.await_call;
    if (call.symbol.empty()) call.symbol = joined(of.name, "_await");
    if (call.count == 0) call.push(argument::core), call.push(argument::peer), call.push(argument::queue);
    return call;
}

/// The call that writes lines of the core's cache back into their memory, by default `int NAME_clean(const void *address, int64_t bytes)`:
/// those of so many bytes from an address on. The lines may stay in the cache.
constexpr device_call clean_call_of(core const& of) {
    device_call call = of.clean_call;
    if (call.symbol.empty()) call.symbol = joined(of.name, "_clean");
    if (call.count == 0) call.push(argument::source), call.push(argument::bytes);
    return call;
}
/// The call after which the core reads anew what the memory has, by default `int NAME_invalidate(const void *address, int64_t bytes)`: it
/// writes lines back that the core has written, and then forgets them.
constexpr device_call invalidate_call_of(core const& of) {
    device_call call = of.invalidate_call;
    if (call.symbol.empty()) call.symbol = joined(of.name, "_invalidate");
    if (call.count == 0) call.push(argument::source), call.push(argument::bytes);
    return call;
}

}  // namespace tilewright
