#pragma once
#include <tilewright/base/positions.hpp>
#include <tilewright/plan/ir/linear.hpp>

// Where tiles end early.
namespace tilewright::ir {

/// An iteration that a tile of constant extents has and its axis has not: there is nothing to do from where `form` reaches `bound`.
struct limit {
    affine form;
    std::int64_t bound;
    stage_id stage;
    variable_id loop;  ///< of the program, whose iterations it skips: the form is over it and the loops around it; -1: of tile bodies
    bool reduction;    ///< of an axis that the stage reduces
};

enum class clip_kind : std::uint8_t {
    end,           // element i of the dimension is moved where form + i < bound
    begin,         // … where form + i >= bound
    only,          // the call is made where form < bound
    beyond,        // the call is made where form >= bound, for one of the clips of this kind
    border_end,    // element i is read where form + i < bound; elsewhere the call writes the border of the movement
    border_begin,  // … where form + i >= bound
};

/// Whether a call moves less of a dimension.
constexpr bool shortens(clip_kind is) { return is == clip_kind::end || is == clip_kind::begin; }
/// Whether a call reads less of a dimension and writes a border instead.
constexpr bool pads(clip_kind is) { return is == clip_kind::border_end || is == clip_kind::border_begin; }

/// How the call of a movement shrinks where a tile is partial. Several clips of one dimension hold together.
struct clip {
    affine form;
    std::int64_t bound;
    std::int8_t dimension;  ///< of the movement; -1: the row; without meaning for `only` and `beyond`
    clip_kind is;
};

/// How far one dimension of an argument reaches, if that follows from extents that are left to run time. If there are several for one
/// dimension, the furthest holds.
struct shape {
    buffer_id buffer;
    std::int16_t dimension;
    affine end;  ///< one past the last index
    bool plain;  ///< indexed by the axis alone: the argument has its extent, no more and no less
};

/// How much of an axis one step of an intrinsic covers: `most` or, if `weight` is given, at most (bound - form) / weight, rounded up. If
/// there are several for one axis, the least holds.
struct step_extent {
    std::int16_t axis = 0;  ///< of the intrinsic
    std::int64_t most = 1;
    std::int64_t weight = 0;
    affine form{};
    std::int64_t bound = 0;
};

/// What a step does in one run of the kernel, if its loops alone do not tell.
struct tally {
    std::int64_t times;        ///< executions
    std::int64_t first_times;  ///< of them, with all `first_loops` at 0
    std::int64_t bytes;
    std::int64_t cycles;
    std::int64_t first_cycles;  ///< of them, of an intrinsic's first form
};

}  // namespace tilewright::ir
