#pragma once
#include <cstdint>

// What the loop program of a plan is made of.
namespace tilewright::ir {

enum class step_kind : std::uint8_t { loop, end, start, wait, push, pop, fence, compute, barrier, configure };

/// A step of the loop program. `loop` opens a nest that its `end` closes.
struct step {
    step_kind kind = step_kind::end;
    std::int16_t what = -1;   ///< loop: variable; start: movement; wait, push, pop: wait; compute: body; fence: buffer; configure: setting
    std::int16_t tally = -1;  ///< with partial tiles: its counts, which the loops around do not tell; -1: none
};

/// What core 0 does alone, outside of distributed loops. Settings and fences are every core's own.
constexpr bool is_led(step const& s) {
    return s.kind == step_kind::start || s.kind == step_kind::wait || s.kind == step_kind::push || s.kind == step_kind::pop ||
           s.kind == step_kind::compute;
}

}  // namespace tilewright::ir
