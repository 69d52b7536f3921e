#pragma once
#include <cstdint>

// What the loop program of a plan is made of.
namespace tilewright::ir {

enum class step_kind : std::uint8_t {
    loop,
    end,
    start,
    wait,
    push,
    pop,
    fence,
    compute,
    barrier,
    configure,
    signal,
    await,
    clean,
    invalidate,
};
constexpr bool is_upkeep(step_kind is) { return is == step_kind::clean || is == step_kind::invalidate; }

/// A step of the loop program. `loop` opens a nest that its `end` closes.
struct step {
    step_kind kind = step_kind::end;
    /// loop: variable; start: movement; wait, push, pop: wait; compute: body; fence: buffer; configure: setting; signal, await: message;
    /// clean, invalidate: upkeep
    std::int16_t what = -1;
    std::int16_t tally = -1;  ///< with partial tiles: its counts, which the loops around do not tell; -1: none
    std::int16_t core = 0;    ///< that runs it, if it stands in no distributed loop; -1: each core does
};

/// What a core tells another one: data is there, or its place is free.
struct message {
    std::int16_t from = 0, to = 0;  ///< cores
    std::int16_t queue = 0;
    std::int16_t buffer = -1;  ///< what it is about
    std::int16_t stage = -1;   ///< whose result lies there
    bool frees = false;        ///< the place is free; otherwise, the result is there
    std::int16_t loop = -1;    ///< variable of a loop around: only from its iteration `first` on
    std::int16_t first = 0;
};

/// What one core does alone, outside of distributed loops. Settings and fences are every core's own.
constexpr bool is_led(step const& s) {
    return s.kind == step_kind::start || s.kind == step_kind::wait || s.kind == step_kind::push || s.kind == step_kind::pop ||
           s.kind == step_kind::compute || s.kind == step_kind::signal || s.kind == step_kind::await || (is_upkeep(s.kind) && s.core >= 0);
}

}  // namespace tilewright::ir
