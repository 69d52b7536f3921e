#pragma once
#include <initializer_list>
#include <stdexcept>
#include <tilewright/compute/stage.hpp>
#include <tilewright/base/verdict.hpp>
#include <tilewright/machine/clock.hpp>
#include <tilewright/plan/ir/linear.hpp>
#include <tilewright/base/part_pool.hpp>
#include <tilewright/schedule/schedule.hpp>

// What a plan is made of stands in a namespace of its own: its words (buffer, step, body, …) are left to users.
namespace tilewright::ir {

/// A number that a plan was asked for.
///
/// After a refusal it compares true with everything, so that the verdict stays the only error. A number that was not found has no value:
/// whoever compares or converts it is told so, by an error in the compiler and by std::invalid_argument at run time.
struct quantity {
    double value = 0;  ///< not resolved: it is at least so much
    bool known = true;
    bool resolved = true;  ///< otherwise too little repeats for the compiler to follow it

    constexpr quantity(double number, bool is_known) : value(number), known(is_known) {}
    template <class Number>
        requires std::is_arithmetic_v<Number>
    constexpr quantity(Number number) : value(static_cast<double>(number)) {}
    /// What is not resolved, and is at least `bound`.
    static constexpr quantity at_least(quantity bound) { return {bound.value, false, false}; }
    constexpr explicit operator double() const { return number(); }

    friend constexpr quantity operator+(quantity a, quantity b) { return {a.value + b.value, a, b}; }
    friend constexpr quantity operator-(quantity a, quantity b) { return {b.known ? a.value - b.value : 0, a, b}; }
    friend constexpr quantity operator*(quantity a, quantity b) { return {a.value * b.value, a, b}; }
    friend constexpr quantity operator/(quantity a, quantity b) { return {b.known ? a.value / b.value : 0, a, b}; }
    friend constexpr bool operator==(quantity a, quantity b) { return either_refused(a, b) || a.number() == b.number(); }
    friend constexpr bool operator!=(quantity a, quantity b) { return either_refused(a, b) || a.number() != b.number(); }
    friend constexpr bool operator<(quantity a, quantity b) { return either_refused(a, b) || a.number() < b.number(); }
    friend constexpr bool operator<=(quantity a, quantity b) { return either_refused(a, b) || a.number() <= b.number(); }
    friend constexpr bool operator>(quantity a, quantity b) { return b < a; }
    friend constexpr bool operator>=(quantity a, quantity b) { return b <= a; }

  private:
    constexpr quantity(double number, bool is_known, bool is_resolved) : value(number), known(is_known), resolved(is_resolved) {}
    constexpr quantity(double number, quantity a, quantity b)
        : value(number), known(a.known && b.known), resolved(either_refused(a, b) || (a.resolved && b.resolved)) {}
    constexpr bool is_refused() const { return !known && resolved; }
    static constexpr bool either_refused(quantity a, quantity b) { return a.is_refused() || b.is_refused(); }
    constexpr double number() const {
        if (!resolved) throw std::invalid_argument("the number is not resolved: ask cycles_resolved() before it is used");
        return value;
    }
};

enum class variable_kind : std::uint8_t {
    loop,       // a loop of the program or of a tile body
    component,  // (fused / divisor) % modulus of a fused loop
    lane,       // the part of a tensorized loop that one step of the intrinsic covers
    extent,     // of an axis, which run time decides; `extent` is the most that it can be
    count,      // of tiles, fused / divisor, which follows from such an extent; likewise
};

/// Something that indices are linear in.
struct variable {
    label name{};
    std::int64_t extent = 1;
    variable_kind kind = variable_kind::loop;
    bool reduction = false;
    bool unrolled = false;
    bool vectorized = false;
    bool parallel = false;       ///< its iterations run on several threads
    std::int16_t trips = -1;     ///< loop: the extent or count that it runs over at run time, `extent` being the most; -1: always `extent`
    std::int16_t first_of = -1;  ///< loop: the ring whose first steps it counts, of which there may be fewer at run time
    affine fused{};  ///< component: the value of the fused loop; count: what tiles are counted of, with all but one element of a tile
    std::int64_t divisor = 1;
    std::int64_t modulus = 0;  ///< 0: none
};

enum class buffer_kind : std::uint8_t {
    argument,  // passed by the caller, in the machine's first memory
    staged,    // the plan gives it an address
    result,    // likewise, and it is what the kernel computes
};

/// Where the elements of a box are, when that is not row-major over its own dimensions.
struct buffer_layout {
    /// A dimension of the buffer: (coordinate of the box / divisor) % modulus.
    struct coordinate {
        std::int8_t dimension = -1;  ///< of the box
        std::int64_t divisor = 1;
        std::int64_t modulus = 0;  ///< 0: none
    };
    std::int16_t rank = 0;  ///< of the box
    fixed_array<std::int64_t, max_rank> extents{};
    fixed_array<coordinate, max_rank> coordinates{};  ///< for each dimension of the buffer
};

/// A tensor's place: an argument, or a box of it that the plan puts at an address, row-major and dense. Its dimensions are those of the
/// box, or what a layout makes of them; then coordinates that lie beyond the box are padding.
struct buffer {
    label name{};  ///< unique in the plan: the tensor's, or tensor.memory
    label tensor{};
    buffer_kind kind = buffer_kind::argument;
    bool written = false;     ///< argument: the kernel writes it
    std::int16_t memory = 0;  ///< position in the machine
    scalar_type type = scalar_type::literal;
    std::int16_t rank = 0;
    fixed_array<std::int64_t, max_rank> minimum{};  ///< argument: the lowest index used
    fixed_array<std::int64_t, max_rank> extents{};
    std::int64_t bytes = 0;            ///< of a version
    std::int64_t alignment = 1;        ///< bytes; argument: of the host pointer
    std::int64_t offset = 0;           ///< bytes from the base of the memory, or of every bank that it lies in
    std::int16_t layout = -1;          ///< position in the plan; -1: its dimensions are those of the box
    std::int16_t blocks = 1;           ///< parts of a version; part `version * blocks + block` lies in bank (bank + part) % banks
    std::int8_t block_dimensions = 0;  ///< the outermost dimensions, which say in which block an element is
    std::int16_t versions = 1;         ///< copies of the box
    std::int16_t bank = -1;            ///< of part 0; -1: not placed yet
    bool any_bank = false;             ///< it has one part, and no bank was asked for, or matters
    std::int64_t part_stride = 0;      ///< bytes from a part to the next one in the same bank
    std::int16_t ring = -1;            ///< whose step tells which version is meant; -1: there is just one, or a loop tells
    std::int16_t by_loop = -1;         ///< the parallel loop that has a version for each of its iterations
    std::int16_t born = -1;            ///< first step of its lifetime
    std::int16_t dead = -1;            ///< the step behind its lifetime
    std::int16_t ordinal = 0;          ///< the directive that made it
    bool code_access = false;          ///< loops that stay code touch it
    std::uint8_t dense_from = 0;       ///< argument: dimensions from here on must follow each other without gaps
    /// Argument: elements; what the stride of each dimension must be a multiple of. 0: anything will do.
    fixed_array<std::int64_t, max_rank> stride_multiples{};
    fixed_array<std::int64_t, max_rank> longest_strides{};  ///< likewise, what it must not be above; 0: any

    constexpr int parts() const { return versions * blocks; }
    constexpr std::int64_t part_bytes() const { return bytes / blocks; }
    constexpr int bank_of(int part, int banks) const { return (bank + part) % banks; }
    /// A bit for each bank that a version lies in.
    constexpr unsigned banks_of(int version, int banks) const {
        unsigned bits = 0;
        for (int part = version * blocks; part < (version + 1) * blocks; ++part) bits |= 1u << bank_of(part, banks);
        return bits;
    }
    /// Whether a part of the buffer lies in a bank of its memory, which has so many.
    constexpr bool lies_in(int of_bank, int banks) const { return (of_bank - bank + banks) % banks < parts(); }
    /// Where a part begins, in bytes from the base of its bank.
    constexpr std::int64_t offset_of(int part, int banks) const { return offset + part / banks * part_stride; }
    /// Parts that the fullest of its banks holds.
    constexpr int parts_in_bank(int banks) const { return (parts() + banks - 1) / banks; }
    /// Bytes from the first part in a bank to behind the last.
    constexpr std::int64_t bytes_in_bank(int banks) const { return (parts_in_bank(banks) - 1) * part_stride + part_bytes(); }
    /// Elements between neighbours along `dimension` of a dense box.
    constexpr std::int64_t stride(int dimension) const {
        std::int64_t elements = 1;
        for (int inner = rank - 1; inner > dimension; --inner) elements *= extents[inner];
        return elements;
    }
};

/// Most versions of a buffer.
inline constexpr int most_versions = 16;

/// The transfers that fill a staged buffer, or empty it, one at each step of the loops around it.
///
/// Version `step % versions` of the buffer is the one of a step. Steps are counted over the loops between the buffer's level and the
/// level where the transfers start anew, so they run on from one iteration of the outer of these loops to the next.
struct ring {
    static constexpr int most_loops = 18;

    std::int16_t buffer = -1;
    bool stores = false;
    std::int16_t engine = -1;        ///< of its transfer; -1: none is named
    std::int16_t versions = 1;       ///< of the buffer
    std::int16_t distance = 0;       ///< steps that a load is started ahead of its use
    std::int16_t first_tag = 0;      ///< version v is waited for by first_tag + v
    std::int16_t first_channel = 0;  ///< of an engine of several: version v is moved by channel (first_channel + v) % channels
    std::int64_t steps = 1;
    affine step{};                                  ///< the number of a step, over the loops
    fixed_array<std::int16_t, most_loops> loops{};  ///< variables, outermost first
    std::int16_t loop_count = 0;
    bool run_time = false;  ///< extents of its loops are left to run time, and so are `steps` and the coefficients of `step`
};

/// A transfer of a ring at a step, and which: where that is outside [0, steps - fewer), there is nothing to do.
struct ring_step {
    std::int16_t ring = -1;
    affine step{};
    std::int16_t ahead = 0;        ///< of the step that the loops around stand at; behind it when negative
    std::int16_t only_where = -1;  ///< of a wait in loops further in: a variable that must be at 0; -1: everywhere
    std::int16_t link = -1;        ///< push, pop: between whom
    std::int16_t fewer = 0;
};

/// How one engine, or the core, learns at every step of a ring that another engine has come so far.
///
/// A push stands behind the jobs of `from` that must be complete, the pop of the same step in front of what `to` does then. To the core,
/// a push is a mark in the count of jobs that `from` was given, and the pop a wait for all up to there.
struct link {
    std::int16_t from = -1;        ///< engine
    std::int16_t to = -1;          ///< engine; -1: the core
    std::int16_t tokens = -1;      ///< of the machine; -1: to the core
    std::int16_t queue = 0;        ///< of these tokens
    bool shared = false;           ///< with other links: then a pop takes as many tokens as were pushed up to its own
    std::int16_t ring = -1;        ///< whose steps are counted; -1: a push and its pop stand side by side
    std::int16_t first_count = 0;  ///< step s is kept in count first_count + s % versions of the ring
};

/// One dimension of a movement besides the row.
struct movement_dimension {
    std::int64_t extent = 1;
    std::int8_t source_dimension = -1;
    std::int8_t destination_dimension = -1;
    std::int64_t source_factor = 1;  ///< step along the source's dimension
    std::int64_t destination_factor = 1;
};

/// An iteration that a tile of constant extents has, and its axis has not: where `form` reaches `bound`, there is nothing to do.
struct limit {
    affine form;
    std::int64_t bound;
    std::int16_t stage;
    std::int16_t loop;  ///< of the program, whose iterations it skips: the form is over it and the loops around it; -1: of tile bodies
    bool reduction;     ///< of an axis that the stage reduces
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

/// How far one dimension of an argument reaches where that follows from extents that are left to run time. Of several for one dimension,
/// the furthest holds.
struct shape {
    std::int16_t buffer;
    std::int16_t dimension;
    affine end;  ///< behind the last index
    bool plain;  ///< indexed by the axis alone: the argument has its extent, no more and no less
};

/// What a step does in one run of the kernel, where its loops are not all there is to know.
struct tally {
    std::int64_t times;        ///< executions
    std::int64_t first_times;  ///< of them, with all `first_loops` at 0
    std::int64_t bytes;
    std::int64_t cycles;
    std::int64_t first_cycles;  ///< of them, of an intrinsic's first form
};

/// What one call of a transfer moves: a row of `row_elements`, repeated along `dimensions`, outermost first.
struct movement {
    std::int16_t transfer = -1;  ///< -1: a fill by loops of the core
    std::int16_t source = -1;    ///< buffer; -1: a fill
    std::int16_t destination = -1;
    std::int16_t border = -1;  ///< of a fill by the core, or a load that writes borders: the padded access whose border it writes
    std::int64_t row_elements = 1;
    fixed_array<movement_dimension, max_rank> dimensions{};
    std::int16_t dimension_count = 0;
    std::uint8_t source_joined = 0;  ///< bit d: steps along the buffer's dimension d + 1 go on into dimension d
    std::uint8_t destination_joined = 0;
    fixed_array<affine, max_rank> source_at{};  ///< index of the first element, per dimension of the buffer
    fixed_array<affine, max_rank> destination_at{};
    std::int16_t first_clip = 0;
    std::int16_t clip_count = 0;
    std::uint8_t sets = 0;  ///< a bit for each setting that its transfer uses and that every call sets for itself
    std::int8_t piece = 0;  ///< of the movements that together move one region
    std::int8_t pieces = 1;
    std::int64_t bytes = 0;       ///< at the destination (at the source, when types differ, is in proportion), of a whole tile
    std::int64_t cycles = 0;      ///< setup, occupation and latency of one call, likewise
    ring_step at{};               ///< where it belongs to a ring: its loops' values follow from the step, not from the loops around
    std::int16_t hint_loop = -1;  ///< a copy by the core: it asks the caches for what it reads where this loop stands `hint` further
    std::int16_t hint = 0;
    std::int16_t hint_in = -1;  ///< the loop whose iterations ask, each for a share; -1: the copy asks for all of it
};

/// The use of a buffer at one access of the computation, or as one operand of an intrinsic.
struct use {
    std::int16_t node = -1;  ///< the access in the computation
    std::int16_t buffer = -1;
    fixed_array<affine, max_rank> at{};  ///< index into the buffer's box, per dimension
};

/// A dimension of a padded access in which its index may leave the tensor.
struct padding {
    std::int16_t node = -1;  ///< the access in the computation
    std::int8_t dimension = 0;
    bool guarded = false;  ///< the buffer holds no border: what is outside is not read, and chosen instead
    affine index{};        ///< in the tensor
    std::int64_t extent = 0;
};

struct operand_use {
    std::int16_t buffer = -1;
    fixed_array<affine, max_rank> at{};              ///< of the operand's first element
    fixed_array<std::int8_t, max_rank> dimension{};  ///< of the buffer, for each dimension of the operand; -1: none
    fixed_array<std::int64_t, max_rank> factor{};    ///< step along it
};

enum class body_kind : std::uint8_t {
    value,      // a stage without reduction
    reduction,  // what it starts from, then the whole reduction
    identity,   // only what it starts from, the identity or a value: the reduction's loops stand further in
    update,     // continues a reduction
    intrinsic,  // one step of an intrinsic
};

/// Operations of one iteration of a tile body that stays code.
struct operation_counts {
    std::int32_t load = 0, store = 0, arithmetic = 0, multiply = 0, divide = 0, convert = 0;
    std::int32_t wait = 0;  ///< cycles that the memories of its loads and stores add
};

constexpr std::int64_t cycles_of(operation_counts const& counts, operation_costs const& cost) {
    return counts.load * cost.load + counts.store * cost.store + counts.arithmetic * cost.arithmetic + counts.multiply * cost.multiply +
           counts.divide * cost.divide + counts.convert * cost.convert + counts.wait;
}

/// What a `compute` step does: a nest of loops that Halide lowers, or a call of an intrinsic.
struct body {
    static constexpr int most_loops = 18;

    body_kind kind = body_kind::value;
    std::int16_t stage = 0;
    fixed_array<std::int16_t, most_loops> loops{};  ///< variables, outermost first
    std::int16_t loop_count = 0;
    operation_counts counts{};                  ///< of one iteration of all loops; what a reduction starts from is not in it
    operation_counts start_counts{.store = 1};  ///< of a reduction: of one iteration of the loops that write what it starts from
    std::int64_t cycles = 0;                    ///< of one execution; of an intrinsic, of one that covers a whole step
    std::int16_t intrinsic = -1;
    std::int16_t first_intrinsic = -1;  ///< used instead where all `first_loops` are at 0
    std::int64_t first_cycles = 0;
    /// Of an identity: it is only written where all of these are at 0.
    fixed_array<std::int16_t, most_loops> first_loops{};
    std::int16_t first_loop_count = 0;
    std::int16_t operands = -1;  ///< first of its `operand_use`s, in the order of the intrinsic's declaration
    std::int16_t first_operands = -1;
    std::uint8_t sets = 0;  ///< a bit for each setting that its intrinsic uses and that every call sets for itself
    std::uint8_t first_sets = 0;
    bool begun = false;        ///< of an intrinsic: a transfer has put there what the reduction starts from
    std::int16_t extents = 0;  ///< first of its `step_extent`s, where its intrinsic covers up to so many elements of an axis
    std::int16_t extent_count = 0;
    std::int16_t first_extents = 0;
    std::int16_t first_extent_count = 0;
};

/// How much of an axis one step of an intrinsic covers: `most`, but where `weight` is given, at most (bound - form) / weight, rounded up.
/// Of several for one axis, the least.
struct step_extent {
    std::int16_t axis = 0;  ///< of the intrinsic
    std::int64_t most = 1;
    std::int64_t weight = 0;
    affine form{};
    std::int64_t bound = 0;
};

/// One value that a configuration is set to: a number, or so many times a stride of an argument.
struct setting_value {
    std::int64_t number = 0;
    std::int64_t unit = 1;     ///< what the product is counted in
    std::int16_t buffer = -1;  ///< the argument; -1: just the number
    std::int16_t dimension = 0;

    friend constexpr bool operator==(setting_value const&, setting_value const&) = default;
};
struct setting {
    std::int16_t configuration = -1;
    fixed_array<setting_value, tilewright::configuration::most_values> values{};

    friend constexpr bool operator==(setting const&, setting const&) = default;
};

enum class step_kind : std::uint8_t { loop, end, start, wait, push, pop, fence, compute, barrier, configure };

/// A step of the loop program. `loop` opens a nest that its `end` closes.
struct step {
    step_kind kind = step_kind::end;
    std::int16_t what = -1;   ///< loop: variable; start: movement; wait, push, pop: wait; compute: body; fence: buffer; configure: setting
    std::int16_t tally = -1;  ///< where partial tiles make the loops around it tell too little
};

/// The plan of a kernel: where every buffer is, and the program of loops, transfers and tile bodies. Back ends walk it.
struct plan_value {
    static constexpr int most_stages = 8, most_variables = 64, most_terms = 512, most_buffers = 24, most_movements = 32, most_uses = 40,
                         most_operands = 32, most_bodies = 16, most_steps = 128, most_rings = 16, most_waits = 64, most_links = 24,
                         most_limits = 48, most_clips = 64, most_tallies = 96, most_layouts = schedule::most_layouts, most_shapes = 32,
                         most_paddings = 24, most_settings = 24, most_step_extents = 32;
    static constexpr std::int64_t most_iterations = std::int64_t{1} << 40, most_bytes = std::int64_t{1} << 40,
                                  most_total = std::int64_t{1} << 53;

    verdict refusal{};
    machine const* where = nullptr;
    computation_view what{};
    part_pool<stage, most_stages> stages{};
    part_pool<variable, most_variables> variables{};
    part_pool<term, most_terms> terms{};
    part_pool<buffer, most_buffers> buffers{};  ///< arguments first, in the order of their first use; the result last among them
    part_pool<buffer_layout, most_layouts> layouts{};
    part_pool<movement, most_movements> movements{};
    part_pool<ring, most_rings> rings{};
    part_pool<ring_step, most_waits> waits{};  ///< until the transfer of that step is complete, or what is pushed and popped
    part_pool<link, most_links> links{};
    part_pool<use, most_uses> uses{};
    part_pool<padding, most_paddings> paddings{};
    part_pool<operand_use, most_operands> operands{};
    part_pool<body, most_bodies> bodies{};
    part_pool<step, most_steps> steps{};
    part_pool<limit, most_limits> limits{};
    part_pool<clip, most_clips> clips{};
    part_pool<tally, most_tallies> tallies{};
    part_pool<shape, most_shapes> shapes{};
    part_pool<setting, most_settings> settings{};
    part_pool<step_extent, most_step_extents> step_extents{};
    int run_time_extents = 0;  ///< so many of the first variables are extents that are still open: see `at`
    std::int64_t total_cycles = 0;

    static constexpr quantity unknown{0, false};
    constexpr term const& term_at(affine const& form, int position) const { return terms[form.first + position]; }
    constexpr use const* use_at(int node) const {
        for (int position = 0; position < uses.size(); ++position) {
            if (uses[position].node == node) return &uses[position];
        }
        return nullptr;
    }

    /// Calls `visit(padding)` for the dimensions in which the access at a node may leave its tensor.
    template <class Visit>
    constexpr void each_padding(int node, Visit&& visit) const {
        for (int at = 0; at < paddings.size(); ++at) {
            padding const& one = paddings[at];
            if (one.node == node) visit(one);
        }
    }
    /// Whether what an access reads is chosen at each element: the tensor's or the border.
    constexpr bool is_guarded(int node) const {
        bool guarded = false;
        each_padding(node, [&](padding const& one) { guarded |= one.guarded; });
        return guarded;
    }

    /// Whether the core goes on while a movement is carried out.
    constexpr bool is_asynchronous(movement const& m) const { return m.transfer >= 0 && where->transfers[m.transfer].is_asynchronous; }
    /// What carries a movement out; -1: the core.
    constexpr int engine_of(movement const& m) const {
        return m.transfer < 0 ? -1 : where->engines.find(where->transfers[m.transfer].engine_name);
    }

    /// The channel of its engine that moves a version of a ring.
    constexpr int channel_of(ring const& r, std::int64_t version) const {
        return static_cast<int>((r.first_channel + version) % where->channels_of(r.engine));
    }
    /// Which of all channels of the machine carries a movement out at step `number` of its ring; -1: the core. What blocks is for the first
    /// channel of its engine.
    constexpr int lane_of(movement const& m, std::int64_t number) const {
        int const on = engine_of(m);
        if (on < 0) return -1;
        return m.at.ring < 0 || !is_asynchronous(m) ? where->first_lane(on) : lane_of(rings[m.at.ring], number);
    }
    constexpr int lane_of(ring const& r, std::int64_t number) const {
        return where->first_lane(r.engine) + channel_of(r, number % r.versions);
    }
    /// Calls `visit(lane)` for those channels of an engine whose jobs the core does not wait for at once.
    template <class Visit>
    constexpr void each_busy_lane(int engine_at, Visit&& visit) const {
        int const first = where->first_lane(engine_at);
        for (int lane = first; lane < first + where->channels_of(engine_at); ++lane) {
            bool busy = !where->engines[engine_at].has_channels() && is_busy_aside(engine_at);
            for (int at = 0; at < rings.size(); ++at) {
                ring const& r = rings[at];
                for (int version = 0; r.engine == engine_at && version < r.versions; ++version) busy |= lane_of(r, version) == lane;
            }
            if (busy) visit(lane);
        }
    }

    /// The stage that a node stands in.
    constexpr int stage_of(int node) const {
        int found = 0;
        while (stages[found].store < node) ++found;
        return found;
    }

    /// Whether a body is an asynchronous intrinsic: the core goes on while an engine does it.
    constexpr bool is_aside(body const& b) const {
        return b.kind == body_kind::intrinsic && where->intrinsics[b.intrinsic].is_asynchronous;
    }

    /// Whether a transfer of a ring is started or waited for, or tokens are passed, inside the loop that begins at a step. Past the end of
    /// an axis, such loops go on.
    constexpr bool holds_ring_steps(int loop_step) const {
        int depth = 0;
        for (int at = loop_step; at < steps.size(); ++at) {
            step const& s = steps[at];
            depth += s.kind == step_kind::loop ? 1 : s.kind == step_kind::end ? -1 : 0;
            if (depth == 0) return false;
            if (s.kind == step_kind::wait || s.kind == step_kind::push || s.kind == step_kind::pop) return true;
            if (s.kind == step_kind::start && movements[s.what].at.ring >= 0) return true;
        }
        return false;
    }

    /// Whether an engine is given jobs that the core does not wait for at once.
    constexpr bool is_busy_aside(int engine_at) const {
        for (int at = 0; at < rings.size(); ++at) {
            if (rings[at].engine == engine_at) return true;
        }
        for (int at = 0; at < bodies.size(); ++at) {
            body const& b = bodies[at];
            if (is_aside(b) && where->engines.find(where->intrinsics[b.intrinsic].engine_name) == engine_at) return true;
        }
        return false;
    }

    /// Calls `visit(use, reads, writes)` for every buffer that a body touches.
    /// @param begins  of an intrinsic: in a step that may be the first of a reduction, which alone reads what it starts from
    template <class Visit>
    constexpr void each_use(body const& b, Visit&& visit, bool begins = true) const {
        stage const& st = stages[b.stage];
        for (int position = 0; position < uses.size(); ++position) {
            use const& u = uses[position];
            bool const writes = u.node == st.target;
            bool const starts = st.is_in_start(u.node);
            bool const mine = starts ? b.kind != body_kind::update && !b.begun && begins : b.kind != body_kind::identity;
            bool const reads = mine && u.node > st.target && u.node < st.store;
            if (u.buffer >= 0 && (reads || writes)) visit(u, reads, writes);
        }
    }

    /// Calls `visit(step, times, first_times)` for every step: how often it runs, and how often with all its `first_loops` at 0.
    /// @throws std::invalid_argument while extents are left to run time
    template <class Visit>
    constexpr void walk(Visit&& visit) const {
        need_extents();
        fixed_array<std::int16_t, 32> open{};
        int depth = 0;
        std::int64_t times = 1;
        for (int position = 0; position < steps.size(); ++position) {
            step const& s = steps[position];
            std::int64_t first_times = times;
            if (s.kind == step_kind::compute) {
                body const& b = bodies[s.what];
                for (int loop = 0; loop < b.first_loop_count; ++loop) {
                    first_times /= variables[b.first_loops[loop]].extent;
                }
            }
            // Where a step of a ring lies ahead of the loops around, or behind, some of their iterations have none.
            std::int64_t all = times;
            if (s.kind == step_kind::compute && bodies[s.what].kind == body_kind::identity) all = first_times;
            if (s.kind == step_kind::start) all = with_step(times, movements[s.what].at);
            if (s.kind == step_kind::wait || s.kind == step_kind::push || s.kind == step_kind::pop) all = with_step(times, waits[s.what]);
            if (s.kind == step_kind::end) {
                times /= variables[open[--depth]].extent;
            }
            if (s.tally >= 0) visit(s, tallies[s.tally].times, tallies[s.tally].first_times);
            else visit(s, s.kind == step_kind::end ? times : all, first_times);
            if (s.kind == step_kind::loop) {
                open[depth++] = s.what;
                times *= variables[s.what].extent;
            }
        }
    }

    /// Whether a step, wherever the loops around stand, may lie before the first of its ring, or at `end_of` and beyond.
    static constexpr bool may_precede(ring_step const& at) { return at.ring >= 0 && at.ahead < 0; }
    static constexpr bool may_exceed(ring_step const& at) { return at.ring >= 0 && at.ahead + at.fewer > 0; }
    constexpr std::int64_t end_of(ring_step const& at) const { return rings[at.ring].steps - at.fewer; }
    /// Iterations of a ring's loops at which there is no such step.
    static constexpr std::int64_t missing_steps(ring_step const& at) {
        return (may_precede(at) ? -at.ahead : 0) + (may_exceed(at) ? at.ahead + at.fewer : 0);
    }
    constexpr std::int64_t with_step(std::int64_t times, ring_step const& at) const {
        if (at.only_where >= 0) times /= variables[at.only_where].extent;
        std::int64_t const missing = missing_steps(at);
        if (missing == 0) return times;
        std::int64_t const steps = rings[at.ring].steps;
        return missing < steps ? times / steps * (steps - missing) : 0;
    }
    /// What a step does in one run, given what `walk` says of it.
    constexpr tally total_of(step const& s, std::int64_t times, std::int64_t first_times) const {
        if (s.tally >= 0) return tallies[s.tally];
        if (s.kind == step_kind::start) {
            movement const& m = movements[s.what];
            return {times, times, times * m.bytes, times * m.cycles, 0};
        }
        if (s.kind != step_kind::compute) return {times, first_times, 0, 0, 0};
        body const& b = bodies[s.what];
        std::int64_t const first = b.first_intrinsic >= 0 ? first_times : 0;
        std::int64_t const first_cycles = first * b.first_cycles;
        return {times, first_times, 0, (times - first) * b.cycles + first_cycles, first_cycles};
    }

    /// Position of a part of the machine. @throws std::invalid_argument when the machine has none of that name: no number would be right
    template <class List>
    static constexpr int position_in(List const& parts, label const& name) {
        int const position = parts.find(name);
        if (position < 0) throw std::invalid_argument("`" + name.str() + "` is not a part of the plan's machine");
        return position;
    }
    /// Bytes of `of` that the kernel needs at most at one time, from the base of the memory; of all its banks.
    constexpr quantity peak(memory const& of) const {
        if (refusal) return unknown;
        int const position = position_in(where->memories, of.name);
        std::int64_t all = 0;
        for (int bank = 0; bank < where->memories[position].banks; ++bank) all += peak_bytes(position, bank);
        return all;
    }
    /// Likewise of one bank.
    constexpr quantity peak(memory const& of, int bank) const {
        return refusal ? unknown : quantity(peak_bytes(position_in(where->memories, of.name), bank));
    }
    constexpr std::int64_t peak_bytes(int memory_position, int bank) const {
        std::int64_t most = 0;
        int const banks = where->memories[memory_position].banks;
        for (int position = 0; position < buffers.size(); ++position) {
            buffer const& b = buffers[position];
            if (b.kind == buffer_kind::argument || b.memory != memory_position || !b.lies_in(bank, banks)) continue;
            most = most < b.offset + b.bytes_in_bank(banks) ? b.offset + b.bytes_in_bank(banks) : most;
        }
        return most;
    }
    /// The plan at extents that are left to run time, in any order: `at({{m, 100}, {k, 64}})`. What is counted, drawn or checked of a plan
    /// with such extents is asked of it at some of them.
    /// @throws std::invalid_argument when one is missing, less than 1, or beyond its upper bound
    /// `plan/check/specialise.hpp` defines it.
    constexpr plan_value at(std::initializer_list<axis_extent> extents) const;
    template <class List>
    constexpr plan_value at(List const& extents) const;
    /// @throws std::invalid_argument while extents are left to run time: no number would be right
    constexpr void need_extents() const {
        if (run_time_extents > 0) throw std::invalid_argument("extents are left to run time: ask plan.at({{axis, extent}}) instead");
    }
    /// Calls of a transfer, and the bytes that they move.
    constexpr quantity calls(transfer_description const& of) const {
        return refusal ? unknown : quantity(traffic_of(position_in(where->transfers, of.name)).calls);
    }
    constexpr quantity bytes(transfer_description const& of) const {
        return refusal ? unknown : quantity(traffic_of(position_in(where->transfers, of.name)).bytes);
    }
    /// How often a configuration is set.
    constexpr quantity calls(configuration const& of) const {
        return refusal ? unknown : quantity(settings_of(position_in(where->configurations, of.name)));
    }
    /// Executions of an intrinsic.
    constexpr quantity calls(intrinsic_description const& of) const {
        return refusal ? unknown : quantity(executions_of(position_in(where->intrinsics, of.name)));
    }
    /// Cycles of the kernel, its engines working side by side. Not resolved where the compiler did not find what repeats: see
    /// `cycles_resolved`. Counted when it is asked for: `plan/check/prediction.hpp` defines it.
    constexpr quantity cycles() const;
    /// Whether `cycles` is known. After a refusal it is true, so that the verdict stays the only error.
    constexpr bool cycles_resolved() const;
    /// Cycles when every transfer is waited for and nothing overlaps.
    constexpr quantity serial_cycles() const { return refusal ? unknown : (need_extents(), quantity(total_cycles)); }
    /// Cycles that an engine works, all its channels together; of the core, for engine -1, those of loops that stay code.
    constexpr quantity busy(engine const& on) const {
        return refusal ? unknown : quantity(busy_cycles(position_in(where->engines, on.name)));
    }
    constexpr std::int64_t busy_cycles(int engine_at) const {
        std::int64_t total = 0;
        auto const is_on = [&](label const& engine_name) {
            return engine_name.empty() ? engine_at < 0 : where->engines.find(engine_name) == engine_at;
        };
        walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
            if (s.kind == step_kind::start) {
                movement const& m = movements[s.what];
                std::int64_t const latency = m.transfer < 0 ? 0 : where->transfers[m.transfer].costs.latency;
                if (engine_of(m) == engine_at) total += total_of(s, times, first_times).cycles - times * latency;
            }
            if (s.kind != step_kind::compute) return;
            body const& b = bodies[s.what];
            tally const all = total_of(s, times, first_times);
            if (b.kind != body_kind::intrinsic) {
                if (engine_at < 0) total += all.cycles;
                return;
            }
            if (is_on(where->intrinsics[b.intrinsic].engine_name)) total += all.cycles - all.first_cycles;
            if (b.first_intrinsic >= 0 && is_on(where->intrinsics[b.first_intrinsic].engine_name)) total += all.first_cycles;
        });
        return total;
    }
    /// Cycles that an engine's work takes at least: its channels share it.
    constexpr std::int64_t shared_cycles(int engine_at) const {
        std::int64_t const channels = engine_at < 0 ? 1 : where->channels_of(engine_at);
        return (busy_cycles(engine_at) + channels - 1) / channels;
    }
    /// What the kernel cannot be faster than: the cycles of the busiest engine, its channels sharing them, or of the core.
    constexpr quantity bound() const {
        if (refusal) return unknown;
        std::int64_t most = 0;
        for (int at = -1; at < where->engines.size(); ++at) most = most < shared_cycles(at) ? shared_cycles(at) : most;
        return most;
    }

    struct traffic {
        std::int64_t calls = 0, bytes = 0;
    };
    constexpr traffic traffic_of(int transfer_position) const {
        traffic total;
        walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
            if (s.kind != step_kind::start || movements[s.what].transfer != transfer_position) return;
            total.calls += times, total.bytes += total_of(s, times, first_times).bytes;
        });
        return total;
    }
    constexpr std::int64_t settings_of(int configuration_position) const {
        std::int64_t total = 0;
        auto const set_by = [&](part_range const& uses, unsigned sets) {
            bool found = false;
            for (int which = 0; which < uses.count; ++which) {
                label const& name = where->settings[uses.first + which].configuration_name;
                found |= (sets >> which & 1) != 0 && where->configurations.find(name) == configuration_position;
            }
            return found;
        };
        walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
            int const what = s.what;
            if (s.kind == step_kind::configure && settings[what].configuration == configuration_position) total += times;
            bool const moves = s.kind == step_kind::start && movements[what].transfer >= 0;
            if (moves && set_by(where->transfers[movements[what].transfer].settings, movements[what].sets)) total += times;
            if (s.kind != step_kind::compute || bodies[what].kind != body_kind::intrinsic) return;
            body const& b = bodies[what];
            bool const has_first = b.first_intrinsic >= 0;
            if (set_by(where->intrinsics[b.intrinsic].settings, b.sets)) total += has_first ? times - first_times : times;
            if (has_first && set_by(where->intrinsics[b.first_intrinsic].settings, b.first_sets)) total += first_times;
        });
        return total;
    }
    constexpr std::int64_t executions_of(int intrinsic_position) const {
        std::int64_t total = 0;
        walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
            if (s.kind != step_kind::compute) return;
            body const& b = bodies[s.what];
            if (b.kind != body_kind::intrinsic) return;
            bool const has_first = b.first_intrinsic >= 0;
            if (b.intrinsic == intrinsic_position) total += has_first ? times - first_times : times;
            if (has_first && b.first_intrinsic == intrinsic_position) total += first_times;
        });
        return total;
    }
};

}  // namespace tilewright::ir

namespace tilewright {

using ir::plan_value;
using ir::quantity;

}  // namespace tilewright
