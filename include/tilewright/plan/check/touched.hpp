#pragma once
#include <tilewright/plan/ir/program_run.hpp>
#include <tilewright/plan/ir/step_cycles.hpp>

// Which elements of staged buffers a job touches. Interlocked engines hold each other back by these.
namespace tilewright::detail {

/// Indices of one dimension from `low` to `high`: `low`, plus any number of each of some steps.
struct touched_side {
    static constexpr int most_parts = 3;
    struct progression {
        std::int64_t step = 0, extent = 1;
    };

    std::int64_t low = 0, high = 0;
    fixed_array<progression, most_parts> parts{};  ///< by step, the shortest first; none: all from `low` to `high`
    int count = 0;

    constexpr void add(std::int64_t step, std::int64_t extent) {
        if (step == 0 || extent < 2) return;
        std::int64_t const far = step * (extent - 1);
        (step < 0 ? low : high) += far;
        if (count < 0 || count == most_parts) return void(count = -1);
        int at = count++;
        for (; at > 0 && parts[at - 1].step > (step < 0 ? -step : step); --at) parts[at] = parts[at - 1];
        parts[at] = {step < 0 ? -step : step, extent};
    }
    /// Forgets steps that leave no gaps.
    constexpr void join() {
        std::int64_t reach = 0;
        bool gaps = false;
        for (int at = 0; at < count; ++at) {
            progression const& p = parts[at];
            gaps |= p.step > reach + 1;
            reach += p.step * (p.extent - 1);
        }
        if (!gaps) count = 0;
    }
    constexpr void shift(std::int64_t by) { low += by, high += by; }
    /// Whether the steps of parts below `part` touch an index from `first` to `last`, when the other parts have come to `from`.
    constexpr bool any(std::int64_t first, std::int64_t last, std::int64_t from, int part) const {
        if (count <= 0) return low <= last && first <= high;
        std::int64_t reach = 0;
        for (int at = 0; at < part; ++at) reach += parts[at].step * (parts[at].extent - 1);
        if (from > last || from + reach < first) return false;
        if (part == 0) return true;
        progression const& p = parts[part - 1];
        for (std::int64_t i = 0; i < p.extent; ++i) {
            if (any(first, last, from + i * p.step, part - 1)) return true;
        }
        return false;
    }
    constexpr bool meets(touched_side const& other, std::int64_t from, int part) const {
        if (part == 0) return other.any(from, from, other.low, other.count);
        progression const& p = parts[part - 1];
        for (std::int64_t i = 0; i < p.extent; ++i) {
            if (meets(other, from + i * p.step, part - 1)) return true;
        }
        return false;
    }
    constexpr bool meets(touched_side const& other) const {
        if (low > other.high || other.low > high) return false;
        if (count <= 0) return other.any(low, high, other.low, other.count);
        if (other.count <= 0) return any(other.low, other.high, low, count);
        return meets(other, low, count);
    }
};

/// A part of a version of a staged buffer, in the buffer's own dimensions.
struct touched_part {
    buffer_id buffer = no_buffer;
    std::int16_t version = 0;
    bool writes = false;
    fixed_array<touched_side, max_rank> sides{};

    constexpr touched_side& operator[](int dimension) { return sides[dimension]; }
    constexpr touched_side const& operator[](int dimension) const { return sides[dimension]; }
    constexpr bool same(plan_value const& plan, touched_part const& other) const {
        bool all = buffer == other.buffer && version == other.version && writes == other.writes;
        for (int d = 0; all && d < plan.buffers[buffer].rank; ++d) {
            touched_side const &a = (*this)[d], &b = other[d];
            all = a.low == b.low && a.high == b.high && a.count == b.count;
            for (int at = 0; all && at < a.count; ++at) all = a.parts[at].step == b.parts[at].step;
        }
        return all;
    }
    /// Bytes from the beginning of the version to the first one, and to the end of the last.
    struct byte_hull {
        std::int64_t begin = 0, end = 0;
    };
    constexpr byte_hull hull(ir::buffer const& b) const {
        byte_hull found{0, 1};
        std::int64_t stride = 1;
        for (int d = b.rank - 1; d >= 0; --d) {
            found.begin += (*this)[d].low * stride, found.end += (*this)[d].high * stride;
            stride *= b.extents[d];
        }
        return {found.begin * bytes_of(b.type), found.end * bytes_of(b.type)};
    }
};

/// Whether two jobs that touch these parts must come one after the other. If two buffers share bytes, a part counts from its first to its
/// last byte.
constexpr bool conflict(plan_value const& plan, touched_part const& a, touched_part const& b) {
    if (!a.writes && !b.writes) return false;
    if (!versions_overlap(plan, a.buffer, a.version, b.buffer, b.version)) return false;
    buffer const &of_a = plan.buffers[a.buffer], &of_b = plan.buffers[b.buffer];
    if (a.buffer == b.buffer) {
        for (int d = 0; d < of_a.rank; ++d) {
            if (!a[d].meets(b[d])) return false;
        }
        return true;
    }
    if (of_a.blocks > 1 || of_b.blocks > 1) return true;
    int const banks = plan.where->memories[of_a.memory].banks;
    touched_part::byte_hull const first = a.hull(of_a), second = b.hull(of_b);
    std::int64_t const apart = of_b.offset_of(b.version, banks) - of_a.offset_of(a.version, banks);
    return first.begin < apart + second.end && apart + second.begin < first.end;
}

/// What the calls of an intrinsic touch of its operands, by the axes of its semantics.
struct operand_shapes {
    static constexpr int most_accesses = intrinsic_description::most_operands;
    struct access {
        std::int16_t operand = -1;
        bool writes = false;
        std::int8_t rank = 0;
        fixed_array<stage_index, max_rank> indices{};
    };

    std::int16_t intrinsic = -1;
    fixed_array<access, most_accesses> accesses{};
    int count = 0;
    bool overflown = false;
    int axis_count = 0;
    fixed_array<std::int64_t, stage::most_axes> extents{};

    constexpr void read(machine const& where, int intrinsic_at) {
        intrinsic = static_cast<std::int16_t>(intrinsic_at);
        intrinsic_description const& what = where.intrinsics[intrinsic_at];
        computation_view const view = where.view(what.semantics);
        stage s;
        read_stage(view, 0, s);
        axis_count = s.axis_count;
        for (int axis = 0; axis < axis_count; ++axis) extents[axis] = s.axes[axis].extent;
        for (int at = 0; at < view.count; ++at) {
            if (view[at].op != operation::access) continue;
            access made{.rank = view[at].argument_count};
            for (int o = 0; o < what.operand_count; ++o) {
                if (what.operands[o].tensor == view[at].name) made.operand = static_cast<std::int16_t>(o);
            }
            if (made.operand < 0) continue;
            made.writes = what.operands[made.operand].is != direction::reads;
            for (int d = 0; d < made.rank; ++d) made.indices[d] = index_of(view, s, at, d);
            bool known = false;  // the target of an update stands there twice
            for (int other = 0; other < count; ++other) known |= same(accesses[other], made);
            if (known) continue;
            overflown |= count == most_accesses;
            if (!overflown) accesses[count++] = made;
        }
    }

  private:
    constexpr bool same(access const& a, access const& b) const {
        bool all = a.operand == b.operand && a.rank == b.rank;
        for (int d = 0; all && d < a.rank; ++d) {
            stage_index const &left = a.indices[d], &right = b.indices[d];
            all = left.constant == right.constant;
            for (int axis = 0; axis < axis_count; ++axis) all = all && left.coefficients[axis] == right.coefficients[axis];
        }
        return all;
    }
};

/// The parts of staged buffers that one job touches.
struct touched_list {
    static constexpr int most = operand_shapes::most_accesses;
    fixed_array<touched_part, most> items{};
    fixed_array<std::int16_t, most> operands{};  ///< in the plan, of steps of an intrinsic
    int count = 0;

    constexpr touched_part const& operator[](int at) const { return items[at]; }
};

/// Steps along one of a buffer's dimensions that may go on into the one around it, where elements follow each other without gaps.
constexpr void add_along(buffer const& b, int dimension, std::int64_t step, std::int64_t extent, touched_part& part) {
    std::int64_t const first = part[dimension].low, size = b.extents[dimension];
    if (dimension == 0 || (first + step * (extent - 1) < size && first < size)) return part[dimension].add(step, extent);
    if (step == 1 && first % size == 0 && extent % size == 0) {
        part[dimension].shift(-first);
        part[dimension].add(1, size);
        part[dimension - 1].shift(first / size);
        return add_along(b, dimension - 1, 1, extent / size, part);
    }
    // It begins or ends inside of a row: take these rows as a whole.
    std::int64_t const last = (first + step * (extent - 1)) / size;
    part[dimension].low = 0, part[dimension].high = size - 1, part[dimension].count = -1;
    part[dimension - 1].shift(first / size);
    add_along(b, dimension - 1, 1, last - first / size + 1, part);
}

/// What one call of a movement touches.
template <class Run>
constexpr touched_list touched_by(Run const& in, movement const& m) {
    touched_list all;
    plan_value const& plan = in.plan();
    std::int64_t const number = in.number_of(m);
    for (int side = 0; side < 2; ++side) {
        bool const source = side == 0;
        buffer_id const moved = source ? m.source : m.destination;
        if (moved < 0 || plan.buffers[moved].kind == buffer_kind::argument) continue;
        buffer const& b = plan.buffers[moved];
        touched_part part{
            .buffer = moved, .version = static_cast<std::int16_t>(in.version_of(moved, m.at.ring, number)), .writes = !source};
        for (int d = 0; d < b.rank; ++d) {
            affine const& at = (source ? m.source_at : m.destination_at)[d];
            part[d].low = part[d].high = in.value_of(at, m.at.ring, number);
        }
        for (int position = -1; position < m.dimension_count; ++position) {
            movement_dimension const along = position < 0 ? movement_dimension{} : m.dimensions[position];
            std::int64_t low = 0, high = position < 0 ? m.row_elements : along.extent;
            for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
                clip const& c = plan.clips[at];
                if (c.dimension != position || !(shortens(c.is) || (source && pads(c.is)))) continue;
                std::int64_t const room = c.bound - in.value_of(c.form, m.at.ring, number);
                bool const ends = c.is == clip_kind::end || c.is == clip_kind::border_end;
                if (ends && room < high) high = room;
                if (!ends && room > low) low = room;
            }
            int const d = position < 0 ? b.rank - 1 : source ? along.source_dimension : along.destination_dimension;
            std::int64_t const step = position < 0 ? 1 : source ? along.source_factor : along.destination_factor;
            if (d < 0 || high <= low) continue;
            part[d].shift(low * step);
            add_along(b, d, step, high - low, part);
        }
        for (int d = 0; d < b.rank; ++d) part[d].join();
        all.items[all.count++] = part;
    }
    return all;
}

/// What a step of an intrinsic touches when the loops that are run as one are at 0.
/// @param operands  first in the plan
template <class Run>
constexpr touched_list touched_by(Run const& in, operand_shapes const& shapes, int operands,
                                  fixed_array<std::int64_t, stage::most_axes> const& extents) {
    touched_list all;
    plan_value const& plan = in.plan();
    for (int which = 0; which < shapes.count; ++which) {
        operand_shapes::access const& a = shapes.accesses[which];
        operand_use const& o = plan.operands[operands + a.operand];
        buffer const& b = plan.buffers[o.buffer];
        if (b.kind == buffer_kind::argument) continue;
        touched_part part{.buffer = o.buffer, .version = static_cast<std::int16_t>(in.version_of(o.buffer, -1, 0)), .writes = a.writes};
        for (int d = 0; d < b.rank; ++d) part[d].low = part[d].high = in.value_of_first(o.at[d]);
        for (int dimension = 0; dimension < a.rank; ++dimension) {
            int const d = o.dimension[dimension];
            if (d < 0) continue;
            std::int64_t const factor = o.factor[dimension];
            stage_index const& index = a.indices[dimension];
            part[d].shift(factor * index.constant);
            for (int axis = 0; axis < shapes.axis_count; ++axis) {
                std::int64_t const step = factor * index.coefficients[axis];
                if (o.joined == dimension && step == 1) add_along(b, d, step, extents[axis], part);
                else part[d].add(step, extents[axis]);
            }
        }
        for (int d = 0; d < b.rank; ++d) part[d].join();
        all.operands[all.count] = static_cast<std::int16_t>(operands + a.operand);
        all.items[all.count++] = part;
    }
    return all;
}

/// Steps that are run as one, in the order of their loops: which of them touch a part.
class step_search {
  public:
    /// @param body_at   -1: of a step that is alone
    /// @param from, to  the steps that are meant
    template <class Run>
    constexpr step_search(Run const& in, int body_at, std::int64_t from, std::int64_t to) : plan_(in.plan()), from_(from), to_(to) {
        if (body_at >= 0) count_ = in.alone_loops(body_at, loops_);
        std::int64_t inside = 1;
        for (int at = count_ - 1; at >= 0; --at) {
            inside_[at] = inside;
            inside *= extent(at);
        }
    }
    /// The first of the steps, or the last, that conflicts with `other`; -1: none.
    /// @param operand  in the plan: what touches `part` when all loops stand at 0
    constexpr std::int64_t find(touched_part const& part, int operand, touched_part const& other, bool last) {
        return search(part, operand, other, last, 0, 0);
    }

  private:
    constexpr std::int64_t extent(int at) const { return plan_.variables[loops_[at]].extent; }
    constexpr int level_of(int variable_at) const {
        for (int at = 0; at < count_; ++at) {
            if (loops_[at] == variable_at) return at;
        }
        return -1;
    }
    struct range {
        std::int64_t low = 0, high = 0;
    };
    /// How far a form moves from its value with all loops at 0, when the loops before `level` stand where they do.
    constexpr range moved(affine const& form, int level) const {
        range all;
        for (int t = 0; t < form.count; ++t) {
            term const& part = plan_.term_at(form, t);
            variable const& v = plan_.variables[part.variable];
            range one;
            if (v.kind == variable_kind::component) {
                range const whole = moved(v.fused, level);
                bool const wraps = v.modulus != 0 && whole.low / v.divisor / v.modulus != whole.high / v.divisor / v.modulus;
                std::int64_t const low = whole.low / v.divisor, high = whole.high / v.divisor;
                if (wraps) one = {0, v.modulus - 1};
                else one = {v.modulus == 0 ? low : low % v.modulus, v.modulus == 0 ? high : high % v.modulus};
            } else if (int const at = level_of(part.variable); at >= 0) {
                if (at < level) one = {point_[at], point_[at]};
                else one = {0, extent(at) - 1};
            }
            all.low += part.coefficient * (part.coefficient > 0 ? one.low : one.high);
            all.high += part.coefficient * (part.coefficient > 0 ? one.high : one.low);
        }
        return all;
    }
    /// A step along `dimension` that begins later in a row than the first one does may end a row later: both rows count as a whole.
    constexpr void go_on_to_next_row(touched_part& here, int dimension) const {
        std::int64_t const row = plan_.buffers[here.buffer].extents[dimension];
        if (here[dimension].high < row) return;
        here[dimension].low = 0, here[dimension].high = row - 1, here[dimension].count = -1;
        ++here[dimension - 1].high, here[dimension - 1].count = -1;
    }
    constexpr std::int64_t search(touched_part const& part, int operand, touched_part const& other, bool last, int level,
                                  std::int64_t step) {
        std::int64_t const behind = level == 0 ? to_ : step + inside_[level - 1];
        if (step >= to_ || behind <= from_) return -1;
        touched_part here = part;
        operand_use const* const o = operand < 0 ? nullptr : &plan_.operands[operand];
        for (int d = 0; o != nullptr && d < plan_.buffers[part.buffer].rank; ++d) {
            range const by = moved(o->at[d], level);
            here[d].low += by.low, here[d].high += by.high;
            if (by.low != by.high) here[d].count = -1;
        }
        if (o != nullptr && o->joined >= 0) go_on_to_next_row(here, o->dimension[o->joined]);
        if (!conflict(plan_, here, other)) return -1;
        if (level == count_ || o == nullptr) return level == count_ ? step : last ? to_ - 1 : from_;
        for (std::int64_t i = 0; i < extent(level); ++i) {
            point_[level] = last ? extent(level) - 1 - i : i;
            std::int64_t const found = search(part, operand, other, last, level + 1, step + point_[level] * inside_[level]);
            if (found >= 0) return found;
        }
        return -1;
    }

    plan_value const& plan_;
    std::int64_t const from_, to_;
    fixed_array<variable_id, body::most_loops> loops_{};
    int count_ = 0;
    fixed_array<std::int64_t, body::most_loops> inside_{}, point_{};
};

}  // namespace tilewright::detail
