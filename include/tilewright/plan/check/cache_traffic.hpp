#pragma once
#include <tilewright/plan/check/cached_accesses.hpp>

namespace tilewright {

/// What crosses the border between a cache and what stands after it: the next level, or the memory. In bytes, whole lines.
struct level_traffic {
    double in = 0;   ///< lines that come because they are read or written
    double out = 0;  ///< lines that have been written and go, those that are left at the end among them
};

/// For each level of the caches of a core, the nearest first.
struct cache_traffic {
    fixed_array<level_traffic, max_cache_levels> levels{};
    int count = 0;
    bool known = true;  ///< otherwise the plan has more accesses than are followed, or buffers of several versions
};

namespace detail {

/// Lines of a cache that the accesses of a plan need, and how often these come into it, by the reuse of loops.
///
/// A loop nest touches the same lines again after it has touched others: as many as its inner loops touch between. The line is still
/// there if the cache has room for all of them. So each loop asks how far apart its iterations meet the same lines, in lines, and
/// multiplies what comes where that is too far. See M. Wolf and M. Lam, "A data locality optimizing algorithm", PLDI 1991, for reuse of
/// loops; lines that crowd into few sets count as all the sets that they could have had.
class level_reuse {
  public:
    constexpr level_reuse(cached_accesses const& of, cache_level const& level) : of_(of), level_(level) {
        for (int at = 0; at < of.accesses.size(); ++at) {
            for (int depth = 0; depth <= of.accesses[at].loop_count; ++depth) lines_[at][depth] = lines_inside(of.accesses[at], depth);
        }
        room_ = static_cast<double>(level.bytes / level.line);
    }
    constexpr level_traffic traffic() {
        level_traffic all;
        for (int place = 0; place < of_.places; ++place) {
            all.in += misses(place, false);
            all.out += misses(place, true);
        }
        double const line = static_cast<double>(level_.line);
        return {all.in * line, all.out * line};
    }
    /// Lines that an access touches while its loops from `depth` on run, those outside standing still.
    constexpr double lines(int access, int depth) const { return lines_[access][depth].count; }
    /// Lines of all buffers that a node touches as a whole.
    constexpr double lines_of(int node) const {
        footprint all;
        add(all, node, of_.nodes[node].depth - 1);
        return total(all);
    }

  private:
    struct line_set {
        double count = 0;    ///< lines
        double crowded = 0;  ///< lines that would fill all sets as much as these fill theirs
    };
    struct footprint {
        line_set of[cached_accesses::most_places]{};
    };
    /// Part of the program that touches all that it touches of a buffer: a node at some depth of its loops.
    struct sweep {
        int node = -1, depth = 0;
    };

    cached_accesses const& of_;
    cache_level const& level_;
    line_set lines_[cached_accesses::most_accesses][cached_access::most_loops + 1]{};
    double room_ = 0;

    static constexpr std::int64_t common_divisor(std::int64_t a, std::int64_t b) {
        while (b != 0) {
            std::int64_t const rest = a % b;
            a = b, b = rest;
        }
        return a < 0 ? -a : a;
    }
    /// Lines that a run of bytes touches, on average over where it can begin: at `constant`, and multiples of `step` from there.
    constexpr double lines_of_run(double bytes, std::int64_t step, std::int64_t constant) const {
        std::int64_t const line = level_.line, divisor = common_divisor(step, line);
        std::int64_t const first = ((constant % divisor) + divisor) % divisor;
        // A run of b bytes from offset o touches (o + b - 1) / line + 1 lines; offsets are first, first + divisor, …
        std::int64_t const begins = line / divisor, last = static_cast<std::int64_t>(bytes) - 1;
        std::int64_t sum = 0;
        for (std::int64_t at = 0; at < begins; ++at) sum += (first + at * divisor + last) / line + 1;
        return static_cast<double>(sum) / static_cast<double>(begins);
    }
    constexpr line_set lines_inside(cached_access const& a, int depth) const {
        std::int64_t const line = level_.line, all_sets = level_.sets() * line;
        double run = static_cast<double>(a.element_bytes), rows = 1, covered = 0, last_count = 1;
        std::int64_t last_stride = 0, step = 0;
        for (int at = 0; at < a.moving; ++at) {
            int const loop = a.by_stride[at];
            std::int64_t const stride = a.strides[loop];
            double const length = static_cast<double>(stride), iterations = a.iterations[loop];
            if (loop < depth) {
                step = common_divisor(step, stride);
                continue;
            }
            // Gaps are shorter than a line: every line between is touched.
            if (last_stride == 0 && length - run < static_cast<double>(line)) {
                run += (iterations - 1) * length;
                continue;
            }
            step = common_divisor(step, stride);
            if (last_stride > 0 && stride % last_stride == 0 && length <= last_count * static_cast<double>(last_stride)) {
                // Windows that overlap: what comes anew.
                double const more = (iterations - 1) * length / static_cast<double>(last_stride);
                rows *= (last_count + more) / last_count;
                covered = cover(covered, last_stride, (last_count + more) / last_count, all_sets);
                last_count += more;
                continue;
            }
            if (covered == 0) covered = run < static_cast<double>(line) ? static_cast<double>(line) : run;
            rows *= iterations, last_stride = stride, last_count = iterations;
            covered = cover(covered, stride, iterations, all_sets);
        }
        double const count = rows * lines_of_run(run, step == 0 ? line : step, a.constant);
        if (covered == 0 || covered >= static_cast<double>(all_sets)) return {count, count};
        double const crowded = count * static_cast<double>(all_sets) / covered;
        return {count, crowded > count ? crowded : count};
    }
    /// Bytes of a way that are taken when what takes so many is repeated at a stride.
    static constexpr double cover(double covered, std::int64_t stride, double times, std::int64_t way) {
        std::int64_t const apart = common_divisor(stride, way);
        double const places = static_cast<double>(way / apart), most = static_cast<double>(way);
        double const taken = covered * (times < places ? times : places);
        return taken < most ? taken : most;
    }

    /// What a node touches with its loops from a depth on.
    constexpr void add(footprint& into, int node, int depth) const {
        int const end = of_.nodes[node].end;
        for (int at = 0; at < of_.accesses.size(); ++at) {
            cached_access const& a = of_.accesses[at];
            if (a.node < node || a.node >= end) continue;
            line_set const& here = lines_[at][depth < 0 ? 0 : depth];
            if (here.count > into.of[a.place].count) into.of[a.place] = here;
        }
    }
    static constexpr double total(footprint const& of) {
        double all = 0;
        for (line_set const& one : of.of) all += one.count;
        return all;
    }
    /// The whole of a node: its own loop is at position depth - 1 among the loops around its accesses.
    constexpr int whole(int node) const { return of_.nodes[node].depth > 0 ? of_.nodes[node].depth - 1 : 0; }

    constexpr bool touches(int node, int place, bool writes) const {
        for (int at = 0; at < of_.accesses.size(); ++at) {
            cached_access const& a = of_.accesses[at];
            if (a.place == place && a.node >= node && a.node < of_.nodes[node].end && (!writes || a.writes)) return true;
        }
        return false;
    }
    /// Lines of a buffer that a node touches with its loops from a depth on.
    constexpr double lines_of(int node, int depth, int place, bool writes) const {
        double most = 0;
        for (int at = 0; at < of_.accesses.size(); ++at) {
            cached_access const& a = of_.accesses[at];
            if (a.place != place || a.node < node || a.node >= of_.nodes[node].end || (writes && !a.writes)) continue;
            if (lines_[at][depth].count * a.share > most) most = lines_[at][depth].count * a.share;
        }
        return most;
    }
    /// The innermost loops of a node that touch all that it touches of a buffer.
    constexpr sweep sweep_of(int node, int place, bool writes) const {
        int widest = -1, const_depth = whole(node);
        for (int at = 0; at < of_.accesses.size(); ++at) {
            cached_access const& a = of_.accesses[at];
            if (a.place != place || a.node < node || a.node >= of_.nodes[node].end || (writes && !a.writes)) continue;
            if (widest < 0 || lines_[at][const_depth].count > lines_[widest][const_depth].count) widest = at;
        }
        cached_access const& a = of_.accesses[widest];
        int depth = const_depth;
        while (depth < a.loop_count && lines_[widest][depth + 1].count > 0.999 * lines_[widest][const_depth].count) ++depth;
        // Inside the loop at position depth - 1 stands what runs with the loops from `depth` on.
        return {depth == const_depth ? node : a.loops[depth - 1], depth};
    }
    /// The part of a buffer's lines that are still there when the second of two sweeps meets them, with other nodes between.
    constexpr double kept(int place, sweep const& first, sweep const& second, footprint const& between) const {
        footprint after = between, before = between;
        add(after, first.node, first.depth), add(before, second.node, second.depth);
        double nearest = total(after), furthest = total(before);
        nearest += after.of[place].crowded - after.of[place].count, furthest += before.of[place].crowded - before.of[place].count;
        // The few other buffers that crowd most: a line meets each of them in as many sets as that one takes.
        constexpr int most = 3;
        int crowd[most]{}, count = 0;
        auto const excess = [&](int at) { return after.of[at].crowded - after.of[at].count + before.of[at].crowded - before.of[at].count; };
        for (int at = 0; at < of_.places; ++at) {
            if (at == place || excess(at) < 1) continue;
            int to = count < most ? count++ : excess(at) > excess(crowd[most - 1]) ? most - 1 : most;
            for (; to < most && to > 0 && excess(crowd[to - 1]) < excess(at); --to) crowd[to] = crowd[to - 1];
            if (to < most) crowd[to] = at;
        }
        double sum = 0;
        for (int meets = 0; meets < 1 << count; ++meets) {
            double share = 1, near = nearest, far = furthest;
            for (int at = 0; at < count; ++at) {
                line_set const &one = after.of[crowd[at]], &other = before.of[crowd[at]];
                double const taken = one.count + other.count > 0 ? (one.count + other.count) / (one.crowded + other.crowded) : 1;
                bool const met = (meets >> at & 1) != 0;
                share *= met ? taken : 1 - taken;
                near += met ? one.crowded - one.count : -one.count, far += met ? other.crowded - other.count : -other.count;
            }
            if (share > 0) sum += share * part_within(near, far);
        }
        return sum;
    }
    /// Of lines that have from `nearest` to `furthest` others between, the part for which there is room.
    constexpr double part_within(double nearest, double furthest) const {
        if (nearest <= room_ && furthest <= room_) return 1;
        if (nearest > room_ && furthest > room_) return 0;
        double const part = (room_ - nearest) / (furthest - nearest);
        return nearest <= room_ ? part : 1 - part;
    }

    /// Lines of a buffer that come while the program runs once; with `writes`, those that are written.
    constexpr double misses(int place, bool writes) const {
        double of_node[cached_accesses::most_nodes]{};
        for (int node = of_.node_count - 1; node >= 0; --node) {
            if (touches(node, place, writes)) of_node[node] = misses_of(node, place, writes, of_node);
        }
        return of_node[0];
    }
    constexpr double misses_of(int node, int place, bool writes, double const* of_node) const {
        traversal_node const& loop = of_.nodes[node];
        double sum = 0;
        int first = -1, last = -1;
        footprint since{}, ahead{};  // of the nodes after the last that touches the buffer, and in front of the first
        for (int at = 0; at < of_.accesses.size(); ++at) {
            cached_access const& a = of_.accesses[at];
            if (a.node == node && a.place == place && (!writes || a.writes) && lines_[at][a.loop_count].count * a.share > sum)
                sum = lines_[at][a.loop_count].count * a.share;
        }
        bool const innermost = sum > 0;
        for (int inside = node + 1; inside < loop.end && !innermost; inside = of_.nodes[inside].end) {
            if (!touches(inside, place, writes)) {
                add(first < 0 ? ahead : since, inside, whole(inside));
                continue;
            }
            sum += of_node[inside];
            if (last >= 0) {
                double const now = lines_of(inside, whole(inside), place, writes), then = lines_of(last, whole(last), place, writes);
                sum -= (now < then ? now : then) * kept(place, sweep_of(last, place, writes), sweep_of(inside, place, writes), since);
            }
            if (first < 0) first = inside;
            last = inside, since = footprint{};
        }
        double const iterations = loop.iterations;
        if (iterations <= 1 || node == 0) return sum;
        // From one iteration to the next.
        int const depth = loop.depth - 1;
        double const one = lines_of(node, depth + 1, place, writes), all = lines_of(node, depth, place, writes);
        double const again = one - (all - one) / (iterations - 1);
        if (again <= 0) return iterations * sum;
        double stays = 1;
        if (!innermost) {
            for (int at = 0; at < of_.places; ++at) {
                if (ahead.of[at].count > since.of[at].count) since.of[at] = ahead.of[at];
            }
            stays = kept(place, sweep_of(last, place, writes), sweep_of(first, place, writes), since);
        }
        double const left = iterations * sum - (iterations - 1) * again * stays;
        return left > 0 ? left : 0;
    }
};

}  // namespace detail

/// Bytes that cross the border of each cache of a kernel's core while it runs, from an empty cache on. All loops count as if one core ran
/// them one after the other.
///
/// Computed from the loops, not access by access: a line that is used again is still there if what is touched between fits the cache.
/// Buffers begin at a line. Exact where each loop's part of a buffer clearly fits or clearly does not; else it can be half.
/// @throws bad_query while extents are left to run time
constexpr cache_traffic traffic_of_caches(plan_value const& plan) {
    cache_traffic made;
    core const& on = plan.where->core_at(0);
    made.count = on.cache_levels();
    if (made.count == 0 || plan.refusal) return made;
    detail::cached_accesses accesses;
    detail::access_reader(plan, accesses).read();
    made.known = accesses.complete;
    if (!made.known) return made;
    for (int at = 0; at < made.count; ++at) made.levels[at] = detail::level_reuse(accesses, on.caches[at]).traffic();
    return made;
}

}  // namespace tilewright
