#pragma once
#include <tilewright/base/advice.hpp>
#include <tilewright/base/directive_kind.hpp>
#include <tilewright/base/label.hpp>
#include <tilewright/base/rule.hpp>

// Every verdict once: its name, the sentence with its numbers, and the way out. In a sentence, $0 is a name of the verdict, #0 one of its
// facts, @ the list of parts with their bytes, ^1 and ^2 the parts of one and of two copies, % the rule that is broken; {3 …} stands only
// if name 3 is there, {#3 …} if fact 3 is. docs/diagnostics/ has a page for each.
#define TILEWRIGHT_VERDICTS(X)                                                                                                             \
    X(unknown_axis, "there is no loop `$0` in stage `$1`", TILEWRIGHT_UNKNOWN_AXIS)                                                        \
    X(unknown_tensor, "`$0`: %{1 (stage `$1`)}", TILEWRIGHT_UNKNOWN_TENSOR)                                                                \
    X(unknown_part, "`$0` is not a part of machine `$1`", TILEWRIGHT_UNKNOWN_PART)                                                         \
    X(axis_used_twice, "loop `$0` of stage `$1` is named twice", TILEWRIGHT_AXIS_USED_TWICE)                                               \
    X(loop_order, "loop `$0`: %{1 (`$1`)}", TILEWRIGHT_LOOP_ORDER)                                                                         \
    X(box_not_constant, "the box of `$0` in dimension #0 changes from one iteration of `$1` to the next", TILEWRIGHT_BOX_NOT_CONSTANT)     \
    X(run_time_box, "the box of `$0` inside `$2` is as large as `$1`, an extent left to run time, without bound", TILEWRIGHT_RUN_TIME_BOX) \
    X(run_time_domain, "`$0`: run time would have to decide where indices over `$1` begin or end", TILEWRIGHT_RUN_TIME_DOMAIN)             \
    X(memory_overflow, "memory `$0`{#3 (bank #3)} needs #0 of #1 bytes{2 in `$2`}: @{1; at most #2 versions of `$1` fit}",                 \
      TILEWRIGHT_MEMORY_OVERFLOW)                                                                                                          \
    X(register_overflow, "a tile of `$1` holds #0 of the #1 registers of `$0`: @", TILEWRIGHT_REGISTER_OVERFLOW)                           \
    X(no_memory, "`$0` has no memory that can hold it{1: `$1` has no capacity}", TILEWRIGHT_NO_MEMORY)                                     \
    X(no_transfer, "`$0`: no transfer copies from `$1` to `$2`{3 to go on with a sum}", TILEWRIGHT_NO_TRANSFER)                            \
    X(several_transfers, "`$0`: both `$1` and `$2` can move it", TILEWRIGHT_SEVERAL_TRANSFERS)                                             \
    X(transfer_region, "transfer `$0` cannot move the region of `$1`: %", TILEWRIGHT_TRANSFER_REGION)                                      \
    X(transfer_mismatch, "transfer `$0` does not do what `$1` needs: %", TILEWRIGHT_TRANSFER_MISMATCH)                                     \
    X(host_access, "`$1` is in memory `$0`, which loops that stay code cannot see", TILEWRIGHT_HOST_ACCESS)                                \
    X(missing_first_form, "`$0` accumulates into `$1`, which nothing overwrites or fills first{2 with `$2`}",                              \
      TILEWRIGHT_MISSING_FIRST_FORM)                                                                                                       \
    X(intrinsic_mismatch, "`$0` does not match stage `$1`: %", TILEWRIGHT_INTRINSIC_MISMATCH)                                              \
    X(intrinsic_operation, "`$0` does not match stage `$1`: $2 in the stage, $3 in the intrinsic", TILEWRIGHT_INTRINSIC_OPERATION)         \
    X(operand_memory, "`$1` is in memory `$2`, but `$0` takes it from `$3`", TILEWRIGHT_OPERAND_MEMORY)                                    \
    X(in_place, "`$0` computes `$1` in the place of `$2`: %", TILEWRIGHT_IN_PLACE)                                                         \
    X(partial_step, "`$0` takes #1 of `$1` at a time, up to #0: %", TILEWRIGHT_PARTIAL_STEP)                                               \
    X(no_border, "padded `$0`: %{1 (`$1`)}", TILEWRIGHT_NO_BORDER)                                                                         \
    X(capacity_of_representation, "$0{1 of `$1`}: #0, but at most #1 can be held", TILEWRIGHT_CAPACITY_OF_REPRESENTATION)                  \
    X(ill_formed, "`$0`: %{1 (`$1`)}", TILEWRIGHT_ILL_FORMED)                                                                              \
    X(invalid_part, "`$0`: %{1 (`$1`)}", TILEWRIGHT_INVALID_PART)                                                                          \
    X(invalid_number, "`$0`: $1 is #0, but must be at least #1", TILEWRIGHT_INVALID_NUMBER)                                                \
    X(not_honoured, "`$0`{2 beside `$2`} asks for $1, which plans do not do yet", TILEWRIGHT_NOT_HONOURED)                                 \
    X(conflicting_directives, "`$0` already has a directive `$1`", TILEWRIGHT_CONFLICTING_DIRECTIVES)                                      \
    X(misplaced_directive, "`$0`: %", TILEWRIGHT_MISPLACED_DIRECTIVE)                                                                      \
    X(no_constant, "the $0 has no value that the compiler knows", TILEWRIGHT_NO_CONSTANT)                                                  \
    X(temporary, "the $0 of the schedule is a temporary, which is gone before it is planned", TILEWRIGHT_TEMPORARY)                        \
    X(versions_without_use, "`$0`: %", TILEWRIGHT_VERSIONS_WITHOUT_USE)                                                                    \
    X(layout_mismatch, "the layout of `$0`: %", TILEWRIGHT_LAYOUT_MISMATCH)                                                                \
    X(bank_conflict, "bank #0 of `$0` has one port: `$1` is in flight there while `$2` is used{3 by $3}", TILEWRIGHT_BANK_CONFLICT)        \
    X(distribution, "cores share `$0`: %{1 (`$1`)}", TILEWRIGHT_DISTRIBUTION)                                                              \
    X(core_without_part, "stage `$0` runs on core #0, one of `$1`, which does not have `$2`", TILEWRIGHT_CORE_WITHOUT_PART)                \
    X(multicast, "multicast `$0` of `$1`: %", TILEWRIGHT_MULTICAST)                                                                        \
    X(race, "version #0 of `$0`: %{1 (`$1` is in flight)}{2 (`$2` meets it)}", TILEWRIGHT_RACE)                                            \
    X(deadlock, "tokens from `$1` to `$2` for `$0`: %", TILEWRIGHT_DEADLOCK)                                                               \
    X(outside_domain, "dimension #0 of `$0` is read from #1 to #2, but computed from 0 to #3", TILEWRIGHT_OUTSIDE_DOMAIN)                  \
    X(no_placement, "`$0`: `$1` has it in ^1, `$2` needs it in ^2: %", TILEWRIGHT_NO_PLACEMENT)                                            \
    X(no_producer, "`$0`: %", TILEWRIGHT_NO_PRODUCER)                                                                                      \
    X(cycle, "what kernel `$0` reads is computed from `$1`, which it writes", TILEWRIGHT_CYCLE)                                            \
    X(agent_memory, "`$0`: %", TILEWRIGHT_AGENT_MEMORY)

// What a number in a verdict says.
#define TILEWRIGHT_FACTS(X) \
    X(need) X(have) X(extent) X(factor) X(dimension) X(limit) X(bank) X(version) X(from) X(to) X(in_stage) X(in_intrinsic)

namespace tilewright {

enum class verdict_kind : std::uint8_t {
    none,
#define TILEWRIGHT_KIND(name, sentence, advice) name,
    TILEWRIGHT_VERDICTS(TILEWRIGHT_KIND)
#undef TILEWRIGHT_KIND
        count,  ///< how many there are
    reported    ///< the compiler has said already what is wrong
};

namespace ir {

enum class fact_kind : std::uint8_t {
    none,
#define TILEWRIGHT_KIND(name) name,
    TILEWRIGHT_FACTS(TILEWRIGHT_KIND)
#undef TILEWRIGHT_KIND
};

struct fact {
    fact_kind what = fact_kind::none;
    std::int64_t value = 0;
};

/// One part of a breakdown in bytes.
struct share {
    label name{};
    std::int64_t bytes = 0;
    int copies = 1;  ///< versions, of so many bytes each
};

}  // namespace ir

/// A refusal: what is wrong, with its names and numbers, and the directive that asked for it.
struct verdict {
    verdict_kind kind = verdict_kind::none;
    ir::rule broken = ir::rule::none;
    directive_kind directive{};
    std::int16_t ordinal = 0;  ///< which directive of the schedule, from 1; 0: the computation or the machine itself
    int line = 0;              ///< of the directive, on g++; clang gives the line of the chain's beginning for some
    fixed_array<ir::label, 4> names{};
    fixed_array<ir::fact, 4> facts{};
    fixed_array<ir::share, 5> shares{};
    int share_count = 0;

    constexpr explicit operator bool() const { return kind != verdict_kind::none; }
    // Which of several ways out helps.
    /// Whether a memory is too small for the tensors of a program. Smaller tiles do not help then.
    constexpr bool is_program_overflow() const { return kind == verdict_kind::memory_overflow && !names[2].empty(); }
    /// Whether a sum would have to come back into its buffer.
    constexpr bool is_of_sum() const { return kind == verdict_kind::no_transfer && !names[3].empty(); }
    /// Whether a transfer is between other memories.
    constexpr bool is_elsewhere() const { return kind == verdict_kind::transfer_mismatch && broken == ir::rule::other_memories; }
    /// Whether operands move otherwise than the intrinsic declares, as they do where loops change places.
    constexpr bool is_of_indices() const {
        return kind == verdict_kind::intrinsic_mismatch && (broken == ir::rule::other_index || broken == ir::rule::dimensions_in_one);
    }
};

}  // namespace tilewright
