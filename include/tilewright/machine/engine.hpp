#pragma once
#include <tilewright/machine/call.hpp>

namespace tilewright {

/// How code learns that a job of an engine is complete.
enum class completion : std::uint8_t {
    by_transfer,  // wait(tag): the last job that was started with this tag is complete
    by_channel,   // wait(pending): at most `pending` of the jobs of an engine, or of one of its channels, are not complete
    by_engine,    // wait(): all of them are complete
};

constexpr char const* name_of(completion how) {
    constexpr char const* names[] = {"by_transfer", "by_channel", "by_engine"};
    return names[static_cast<int>(how)];
}

/// A unit that carries out jobs in order, beside the core and the other engines: a DMA channel, a matrix unit.
///
/// Jobs begin and complete in the order in which they are started. `engine{"dma"}`, or with more to say
/// `engine{.name = "dma", .depth = 4, .completes = completion::by_channel}.waits("dma_wait", argument::pending)`.
///
/// Several `channels` are as many equal units, called by their number: each is in order by itself, beside the others. The plan deals
/// transfers out to them. `engine{.name = "dma", .channels = 4}`.
struct engine {
    static constexpr int most_depth = 64;  ///< jobs

    ir::label name;                                  ///< of which that of its default C function is made, `NAME_wait`
    int depth = 16;                                  ///< jobs of a channel that are not complete; starting one more holds the core up
    int channels = 1;                                ///< equal units, which are called and waited for by their number
    completion completes = completion::by_transfer;  ///< how the core learns that a job is complete
    /// The hardware holds a job back until those that were started earlier on other interlocked engines, and touch the same bytes, are
    /// complete.
    bool interlocked = false;
    /// In a program: every agent that works aside has one of its own. Without, an engine of one name, or with one call that waits, is one.
    bool per_agent = false;
    /// Every core has one of its own. Without, cores can share one only if it has channels enough: each core gets as many of them.
    bool per_core = false;
    device_call wait_call{};  ///< without a symbol: see `wait_call_of`

    /// Whether calls say which of its channels they are for.
    constexpr bool has_channels() const { return channels > 1; }
    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("depth", depth, 1, most_depth);
        visit("channels", channels, 1);
    }
    /// The C function that waits, and its arguments in order.
    template <class... Arguments>
    constexpr engine waits(ir::label symbol, Arguments const&... arguments) const {
        engine changed = *this;
        changed.wait_call = {.symbol = symbol};
        (changed.wait_call.push(arguments), ...);
        return changed;
    }

    friend constexpr bool operator==(engine const&, engine const&) = default;
};

/// The call that waits for jobs of `e`: by default `int NAME_wait(int64_t tag)`, `(int64_t pending)` of a channel, or `(void)` where it
/// waits for all. Of several channels, the number of one comes first.
constexpr device_call wait_call_of(engine const& e) {
    device_call call = e.wait_call;
    if (call.symbol.empty()) call.symbol = joined(e.name, "_wait");
    if (call.count > 0) return call;
    if (e.has_channels()) call.push(argument::channel);
    if (e.completes != completion::by_engine) call.push(e.completes == completion::by_transfer ? argument::tag : argument::pending);
    return call;
}

/// Whether code cannot tell two engines apart: they have one name, or are waited for by the same call.
constexpr bool is_same_engine(engine const& a, engine const& b) {
    return a.name == b.name || is_same_call(wait_call_of(a), wait_call_of(b));
}

}  // namespace tilewright
