#pragma once
#include <tilewright/base/positions.hpp>
#include <tilewright/plan/ir/buffer.hpp>

// Buffers that asynchronous transfers fill and empty, step by step, and how engines learn of each other's progress.
namespace tilewright::ir {

/// The transfers that fill a staged buffer, or empty it, one at each step of the loops around it. Or the steps at which a stage computes a
/// result that engines read beside the core: such a ring has no transfers, so its engine is -1, and its tags and channels mean nothing.
///
/// A step uses version `step % versions` of the buffer. Steps are counted over the loops between the buffer's level and the level where the
/// transfers start anew, so they run on from one iteration of the outer of these loops to the next.
struct ring {
    static constexpr int most_loops = 18;

    buffer_id buffer = no_buffer;
    bool stores = false;
    std::int16_t engine = -1;        ///< of its transfer; -1: none is named
    std::int16_t versions = 1;       ///< of the buffer
    std::int16_t distance = 0;       ///< steps that a load is started ahead of its use
    std::int16_t first_tag = 0;      ///< version v is waited for by first_tag + v
    std::int16_t first_channel = 0;  ///< of an engine of several: version v is moved by channel (first_channel + v) % channels
    std::int64_t steps = 1;
    affine step{};                                 ///< the number of a step, over the loops
    fixed_array<variable_id, most_loops> loops{};  ///< variables, outermost first
    std::int16_t loop_count = 0;
    bool run_time = false;  ///< extents of its loops are left to run time, and so are `steps` and the coefficients of `step`

    /// Whether transfers fill or empty the buffer.
    constexpr bool is_moved() const { return engine >= 0; }
};

/// A transfer of a ring at a step, and which: where that is outside [0, steps - fewer), there is nothing to do.
struct ring_step {
    std::int16_t ring = -1;
    affine step{};
    std::int16_t ahead = 0;                ///< of the step that the loops around stand at; before that step when negative
    variable_id only_where = no_variable;  ///< of a wait in loops further in: a variable that must be at 0; -1: everywhere
    std::int16_t link = -1;                ///< push, pop: between whom
    std::int16_t fewer = 0;
};

/// How one engine, or the core, learns at every step of a ring how far another engine has come.
///
/// A push comes after the jobs of `from` that must be complete. The pop of the same step comes before what `to` does then. To the core, a
/// push is a mark in the count of jobs that `from` was given, and a pop is a wait for all jobs up to there.
struct link {
    std::int16_t from = -1;        ///< engine
    std::int16_t to = -1;          ///< engine; -1: the core
    std::int16_t tokens = -1;      ///< of the machine; -1: to the core
    std::int16_t queue = 0;        ///< of these tokens
    bool shared = false;           ///< with other links: then a pop takes as many tokens as were pushed up to its own
    std::int16_t ring = -1;        ///< whose steps are counted; -1: a push and its pop stand side by side
    std::int16_t first_count = 0;  ///< step s is kept in count first_count + s % versions of the ring
};

}  // namespace tilewright::ir
