#pragma once
#include <tilewright/compute/label.hpp>

// Every verdict once: its name, the sentence with its numbers, and the way out. In a sentence, $0 is a name of the verdict, #0 one of
// its facts, @ the list of parts with their bytes, % the rule that is broken. docs/diagnostics/ has a page for each.
#define TILEWRIGHT_VERDICTS(X)                                                                                                              \
    X(unknown_axis, "there is no loop `$0` in stage `$1`",                                                                                  \
      "unknown axis: name a loop of the current stage; a loop that was split, tiled or fused is gone")                                      \
    X(unknown_tensor, "the computation has no such use of tensor `$0`",                                                                     \
      "unknown tensor: name a tensor that the current stage reads (cache_read) or computes (cache_write, store_in, compute_at)")            \
    X(unknown_part, "`$0` is not a part of machine `$1`", "unknown part: list it in machine(...)")                                          \
    X(axis_used_twice, "loop `$0` of stage `$1` is named twice", "axis used twice: give every loop of a stage a name of its own")           \
    X(loop_order, "loop `$0` cannot stand where it does relative to `$1`", "loop order impossible: reorder the loops of the stage")         \
    X(box_not_constant, "the box of `$0` in dimension #0 changes from one iteration of `$1` to the next",                                   \
      "box not constant: stage it at another loop, so that every iteration needs a box of one size")                                        \
    X(memory_overflow, "memory `$0` needs #0 of #1 bytes: @", "memory overflow: shrink a tile, or stage a buffer at an inner loop")         \
    X(no_memory, "`$0` has no memory that can hold it (`$1`)",                                                                              \
      "no memory: store_in a memory of the machine that has a capacity")                                                                    \
    X(no_transfer, "`$0`: no transfer from `$1` to `$2`", "no transfer between these memories: declare one, or stage through another memory") \
    X(transfer_region, "transfer `$0` cannot express the region of `$1`: $2 is #0, limit #1",                                               \
      "region that the transfer cannot express: choose a tile that it can, or another transfer")                                            \
    X(transfer_mismatch, "transfer `$0` does not do what `$1` needs: $2",                                                                   \
      "transfer does not match: its declared semantics must be what the stage computes")                                                    \
    X(host_access, "`$1` is in memory `$0`, which loops that stay code cannot see",                                                         \
      "host access to a memory it cannot see: tensorize the loops, or stage the tensor in a memory that is host_visible")                   \
    X(missing_first_form, "`$0` accumulates into `$1`: nothing overwrites or fills it first",                                               \
      "missing overwriting form or fill: declare the intrinsic that writes instead of updates, or a fill of that memory")                   \
    X(intrinsic_mismatch, "`$0` does not match stage `$1`: $2 of `$3` is #0 in the stage, #1 in the intrinsic",                             \
      "intrinsic does not match: the loops must compute exactly what it declares")                                                          \
    X(intrinsic_operation, "`$0` has `$3` where stage `$1` has `$2`",                                                                       \
      "intrinsic does not match: the loops must compute exactly what it declares, in the same types")                                       \
    X(operand_memory, "operand `$1` of `$0` is in memory `$2`, the intrinsic takes it from `$3`",                                           \
      "operand in the wrong memory: stage it in the memory that the intrinsic names")                                                       \
    X(tile_does_not_divide, "`$0` has extent #0, which #1 does not divide", "tile does not divide: choose a factor of the extent")          \
    X(capacity_of_representation, "more $0 than a value can hold: #0 of #1", "capacity of the representation exceeded: simplify, or split the kernel") \
    X(ill_formed, "stage `$0`: % (`$1`)", "the computation is not well formed: see the rule that is named")                                \
    X(not_honoured, "`$0` asks for $1, which plans do not do yet", "not honoured yet: take it out of the description")                      \
    X(conflicting_directives, "`$0` already has a directive `$1`", "conflicting directives: say it once")                                   \
    X(outside_domain, "dimension #0 of `$0` is read from #1 to #2, but computed from 0 to #3",                                              \
      "read outside what the producer computes: extend the producer's axis")

namespace tilewright {

enum class verdict_kind : std::uint8_t {
    none,
#define TILEWRIGHT_KIND(name, sentence, advice) name,
    TILEWRIGHT_VERDICTS(TILEWRIGHT_KIND)
#undef TILEWRIGHT_KIND
};

/// What a number in a verdict says.
enum fact_kind : std::uint8_t { no_fact, need, have, extent, factor, dimension, limit, from, to, in_stage, in_intrinsic };

struct fact {
    fact_kind what = no_fact;
    std::int64_t value = 0;
};

/// One part of a breakdown in bytes.
struct share {
    label name{};
    std::int64_t bytes = 0;
};

/// A refusal: what is wrong, with its names and numbers, and the directive that asked for it.
struct verdict {
    verdict_kind kind = verdict_kind::none;
    std::int16_t ordinal = 0;  ///< which directive of the schedule, from 1; 0: the computation or the machine itself
    int line = 0;              ///< of the directive; clang gives the line of the chain's first directive
    label directive{};
    std::array<label, 4> names{};
    std::array<fact, 4> facts{};
    std::array<share, 6> shares{};
    int share_count = 0;
    char const* rule = nullptr;

    constexpr explicit operator bool() const { return kind != verdict_kind::none; }
};

}  // namespace tilewright
