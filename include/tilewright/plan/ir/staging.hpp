#pragma once
#include <tilewright/base/positions.hpp>
#include <tilewright/plan/ir/plan_value.hpp>

// What directives say of stages and of staged buffers, and where planning puts them.
namespace tilewright::detail {

using namespace ir;

/// What directives say of one stage besides its loops.
struct stage_placement {
    std::int16_t store_memory = -1;  ///< position in the machine
    std::int16_t store_ordinal = 0;
    std::int16_t store_bank = -1;
    std::int16_t store_bank_ordinal = 0;
    std::int16_t store_layout = -1;  ///< position in the schedule
    std::int16_t store_layout_ordinal = 0;
    std::int16_t store_versions = 1;  ///< for a reader on another core, or on an engine that the core does not wait for
    std::int16_t store_versions_ordinal = 0;
    std::int16_t ring = -1;  ///< whose steps say which of these versions is meant, where all stages run on one core
    std::int16_t core = 0;   ///< that it runs on
    std::int16_t core_ordinal = 0;
    std::int16_t transfer = -1;  ///< carries the whole stage out
    std::int16_t transfer_ordinal = 0;
    label at_loop{};  ///< compute_at
    std::int16_t at_ordinal = 0;
    stage_id at_stage = no_stage;                          ///< the stage in whose nest it stands; -1: root
    variable_id level = no_variable;                       ///< the variable of the loop it stands in; -1: root
    buffer_id home = no_buffer;                            ///< the buffer that its output lives in
    fixed_array<linear, stage::most_axes> axis_values{};   ///< of each axis, over variables
    fixed_array<std::int64_t, stage::most_axes> lowest{};  ///< of each axis, over all that the kernel computes of it
    fixed_array<affine, stage::most_axes> highest{};       ///< likewise, over extents that are left to run time
    fixed_array<variable_id, 24> path{};                   ///< variables of the loops around and in it, outermost first
    int outer_depth = 0;                                   ///< how many of them stand around it
    int path_length = 0;
    int owned = 0;  ///< how many of its own loops the program holds; the others are its tile body
};

/// One cache_read or cache_write.
struct staging {
    stage_id stage{};
    bool writes = false;
    label tensor{};
    std::int16_t memory = -1;
    std::int16_t ordinal = 0;
    label loop{};
    std::int16_t loop_ordinal = 0;
    std::int16_t transfer = -1;
    std::int16_t transfer_ordinal = 0;
    variable_id level = no_variable;  ///< of the loop; -1: root
    std::int16_t depth = 0;           ///< position on the stage's path, after that loop
    buffer_id buffer = no_buffer;
    buffer_id outward = no_buffer;  ///< the buffer on the other side of its transfer
    static constexpr std::int16_t no_fill = -1, filled_by_core = -2;
    std::int16_t fill = no_fill;  ///< the transfer that writes what a load leaves out: a border, and zeros for partial steps of a reduction
    node_id border = no_node;     ///< a padded access whose border its box can hold, when it is not loaded with the rest; -1: none
    bool pads = false;            ///< the load writes that border itself
    std::int16_t versions = 1;
    std::int16_t versions_ordinal = 0;
    std::int16_t distance = -1;  ///< of prefetch; -1: not said
    std::int16_t distance_ordinal = 0;
    label asking{};                             ///< of prefetch: the loop whose iterations ask; empty: not said
    variable_id asking_variable = no_variable;  ///< likewise
    std::int16_t bank = -1;                     ///< -1: any
    std::int16_t bank_ordinal = 0;
    std::int16_t layout = -1;  ///< position in the schedule; -1: none
    std::int16_t layout_ordinal = 0;
    std::int16_t scope = 0;    ///< position on the stage's path where its steps are counted from
    std::int16_t around = -1;  ///< the staging further out over whose steps its own steps run on
    std::int16_t mover = -1;   ///< the transfer into the buffer, or out of it for a cache_write
    std::int16_t loader = -1;  ///< a cache_write that continues: the transfer into it
    std::int16_t ring = -1;    ///< of `mover`
    std::int16_t loader_ring = -1;
    bool partial_sums = false;  ///< a cache_write inside a reduction: what it has stored is loaded again
    bool core_waits = true;     ///< the core waits where the buffer is used, because links alone do not order the accesses

    /// The directive that says how the buffer is moved, for verdicts about that.
    constexpr int moved_by() const { return transfer >= 0 ? transfer_ordinal : ordinal; }
};

/// What orders the transfers of a staged buffer and an engine that uses it; or what computes the result of a stage and what reads it.
enum class link_role : std::uint8_t {
    load_to_user,    // what is loaded is there
    user_to_load,    // a version may be loaded anew
    user_to_store,   // what is computed is there
    store_to_user,   // a version may be written anew
    reader_to_stage  // a version may be computed anew
};
struct staged_link {
    std::int16_t staging = -1;
    link_role is{};
    std::int16_t link = -1;
    stage_id stage = no_stage;  ///< of reader_to_stage
};

}  // namespace tilewright::detail
