#pragma once
#include <tilewright/machine/engine.hpp>

namespace tilewright {

/// Tokens that one engine gives to another: `tokens(loader, array)`.
///
/// A push takes its place in the queue of `from`, after the jobs that were started before. A pop takes its place in the queue of `to`,
/// whose later jobs do not begin before a token has come. Code only hands them out and waits for neither. If engines depend on each other
/// in both directions, declare tokens for both.
struct tokens {
    ir::label name;           ///< FROM_to_TO, unless another one is given
    ir::label from{};         ///< the engine that gives them
    ir::label to{};           ///< the engine that waits for them
    int queue_count = 1;      ///< independent ones between the two engines; tokens of one queue are popped in the order of their pushes
    int capacity = 256;       ///< tokens of one queue that are pushed and not popped yet
    device_call push_call{};  ///< without a symbol: `int NAME_push(int64_t queue)`
    device_call pop_call{};   ///< likewise `int NAME_pop(int64_t queue)`

    constexpr tokens() = default;
    /// Tokens that `giver` gives to `taker`, called GIVER_to_TAKER.
    constexpr tokens(engine const& giver, engine const& taker)
        : name(joined(joined(giver.name, "_to_"), taker.name)), from(giver.name), to(taker.name) {}

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("queues", queue_count, 1);
        visit("capacity", capacity, 1);
    }
    /// Another name, where FROM_to_TO is too long or taken. Its C functions are called after it.
    constexpr tokens& named(ir::label other) {
        name = other;
        return *this;
    }
    /// How many independent queues there are between the two engines, such as numbered events; at least 1.
    constexpr tokens& queues(int count) {
        queue_count = count;
        return *this;
    }
    /// How many tokens of one queue may be pushed and not popped yet, at least 1. A kernel that would need more is refused (deadlock).
    constexpr tokens& holds(int most) {
        capacity = most;
        return *this;
    }
    /// The C function that pushes a token, and its arguments in order: `argument::queue` and literals.
    template <class... Arguments>
    constexpr tokens& pushed_by(ir::label symbol, Arguments const&... arguments) {
        push_call = {.symbol = symbol};
        (push_call.push(arguments), ...);
        return *this;
    }
    /// The C function that pops a token, and its arguments in order: `argument::queue` and literals.
    template <class... Arguments>
    constexpr tokens& popped_by(ir::label symbol, Arguments const&... arguments) {
        pop_call = {.symbol = symbol};
        (pop_call.push(arguments), ...);
        return *this;
    }

    friend constexpr bool operator==(tokens const&, tokens const&) = default;
};

constexpr device_call push_call_of(tokens const& t) {
    device_call call = t.push_call;
    if (call.symbol.empty()) call = {.symbol = joined(t.name, "_push")}, call.push(argument::queue);
    return call;
}
constexpr device_call pop_call_of(tokens const& t) {
    device_call call = t.pop_call;
    if (call.symbol.empty()) call = {.symbol = joined(t.name, "_pop")}, call.push(argument::queue);
    return call;
}

}  // namespace tilewright
