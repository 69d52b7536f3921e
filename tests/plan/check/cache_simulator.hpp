#pragma once
#include <cstdint>
#include <map>
#include <tilewright/plan/planner.hpp>
#include <vector>

/// Follows a plan access by access, through caches that forget the line of a set that was used least recently.
namespace cache_simulator {

using namespace tilewright;

class cache {
  public:
    cache(cache_level const& level, cache* next)
        : line_(level.line), sets_(static_cast<std::size_t>(level.bytes / level.line / level.ways)), ways_(level.ways), next_(next) {}

    void touch(std::int64_t address, bool writes) {
        std::int64_t const line = address / line_;
        auto& set = sets_[static_cast<std::size_t>(line) % sets_.size()];
        for (std::size_t at = 0; at < set.size(); ++at) {
            if (set[at].line != line) continue;
            entry found = set[at];
            found.dirty |= writes;
            set.erase(set.begin() + static_cast<std::ptrdiff_t>(at)), set.push_back(found);
            return;
        }
        in += line_;
        if (next_ != nullptr) next_->touch(address, false);
        if (static_cast<std::int64_t>(set.size()) == ways_) give_up(set.front()), set.erase(set.begin());
        set.push_back({line, writes});
    }
    void end() {
        for (auto& set : sets_) {
            for (entry const& one : set) give_up(one);
            set.clear();
        }
    }
    std::int64_t in = 0, out = 0;

  private:
    struct entry {
        std::int64_t line;
        bool dirty;
    };
    void give_up(entry const& one) {
        if (!one.dirty) return;
        out += line_;
        if (next_ != nullptr) next_->touch(one.line * line_, true);
    }
    std::int64_t line_;
    std::vector<std::vector<entry>> sets_;
    std::int64_t ways_;
    cache* next_;
};

/// Runs the loop program: indices, where tiles end early and what calls move, evaluated anew for every access.
class run {
  public:
    explicit run(plan_value const& plan) : plan_(plan), values_(static_cast<std::size_t>(plan.variables.size())) {
        core const& on = plan.where->core_at(0);
        for (int at = on.cache_levels() - 1; at >= 0; --at)
            levels_.emplace(at, cache(on.caches[at], at + 1 < on.cache_levels() ? &levels_.at(at + 1) : nullptr));
        std::int64_t next = 0;
        for (int at = 0; at < plan.buffers.size(); ++at) {
            begins_.push_back(next);
            next += (plan.buffers[at].bytes + 63) / 64 * 64;
        }
        steps(0, plan.steps.size());
        for (auto& [at, one] : levels_) one.end();
    }
    cache const& level(int at) const { return levels_.at(at); }

  private:
    plan_value const& plan_;
    std::vector<std::int64_t> values_, begins_;
    std::map<int, cache> levels_;

    std::int64_t value(int variable) const {
        ir::variable const& v = plan_.variables[variable];
        if (v.kind != ir::variable_kind::component) return values_[static_cast<std::size_t>(variable)];
        std::int64_t const part = value(v.fused) / v.divisor;
        return v.modulus > 0 ? part % v.modulus : part;
    }
    std::int64_t value(ir::affine const& form) const {
        std::int64_t sum = form.constant;
        for (int t = 0; t < form.count; ++t) sum += plan_.term_at(form, t).coefficient * value(plan_.term_at(form, t).variable);
        return sum;
    }
    void touch(int buffer, std::vector<std::int64_t> const& index, bool writes) {
        ir::buffer const& b = plan_.buffers[buffer];
        if (!plan_.where->memories[b.memory].behind_caches) return;
        std::int64_t element = 0;
        for (int d = 0; d < b.rank; ++d) element = element * b.extents[d] + index[static_cast<std::size_t>(d)];
        levels_.at(0).touch(begins_[static_cast<std::size_t>(buffer)] + element * bytes_of(b.type), writes);
    }
    template <class Positions>
    std::vector<std::int64_t> index_of(int buffer, Positions const& at) const {
        std::vector<std::int64_t> index;
        for (int d = 0; d < plan_.buffers[buffer].rank; ++d) index.push_back(value(at[d]));
        return index;
    }
    void steps(int from, int to) {
        for (int at = from; at < to; ++at) {
            ir::step const& s = plan_.steps[at];
            if (s.kind == ir::step_kind::loop) {
                int const end = plan_.end_of_loop(at);
                for (std::int64_t i = 0; i < plan_.variables[s.what].extent; ++i) {
                    values_[static_cast<std::size_t>(s.what)] = i;
                    if (is_within(s.what)) steps(at + 1, end);
                }
                values_[static_cast<std::size_t>(s.what)] = 0;
                at = end;
            } else if (s.kind == ir::step_kind::compute) {
                ir::body const& b = plan_.bodies[s.what];
                bool first = true;
                for (int loop = 0; loop < b.first_loop_count; ++loop)
                    first &= values_[static_cast<std::size_t>(int(b.first_loops[loop]))] == 0;
                if (b.kind != ir::body_kind::identity || first) body_loops(b, 0);
            } else if (s.kind == ir::step_kind::start) {
                ir::movement const& m = plan_.movements[s.what];
                if (m.at.only_where >= 0 && values_[static_cast<std::size_t>(int(m.at.only_where))] != 0) continue;
                if (m.at.ring >= 0 && !has_step(m)) continue;
                move(m, 0, {});
            }
        }
    }
    bool has_step(ir::movement const& m) const {
        ir::ring const& r = plan_.rings[m.at.ring];
        std::int64_t step = 0;
        for (int at = 0; at < r.loop_count; ++at) step = step * plan_.variables[r.loops[at]].extent + value(int(r.loops[at]));
        return step + m.at.ahead >= 0 && step + m.at.ahead < plan_.end_of(m.at);
    }
    bool is_within(int loop) const {
        for (int at = 0; at < plan_.limits.size(); ++at) {
            if (plan_.limits[at].loop == loop && value(plan_.limits[at].form) >= plan_.limits[at].bound) return false;
        }
        return true;
    }
    void body_loops(ir::body const& b, int loop) {
        if (loop < b.loop_count) {
            for (std::int64_t i = 0; i < plan_.variables[b.loops[loop]].extent; ++i) {
                values_[static_cast<std::size_t>(int(b.loops[loop]))] = i;
                body_loops(b, loop + 1);
            }
            values_[static_cast<std::size_t>(int(b.loops[loop]))] = 0;
            return;
        }
        for (int at = 0; at < plan_.limits.size(); ++at) {
            if (plan_.limits[at].loop < 0 && plan_.limits[at].stage == b.stage && value(plan_.limits[at].form) >= plan_.limits[at].bound)
                return;
        }
        for (bool write : {false, true}) {
            plan_.each_use(b, [&](ir::use const& u, bool reads, bool writes) {
                if (write ? writes : reads) touch(u.buffer, index_of(u.buffer, u.at), write);
            });
        }
    }
    void move(ir::movement const& m, int dimension, std::vector<std::int64_t> const& at) {
        if (dimension <= m.dimension_count) {
            bool const row = dimension == m.dimension_count;
            std::int64_t first = 0, end = row ? m.row_elements : m.dimensions[dimension].extent;
            for (int c = m.first_clip; c < m.first_clip + m.clip_count; ++c) {
                ir::clip const& one = plan_.clips[c];
                std::int64_t const left = one.bound - value(one.form);
                if (one.is == ir::clip_kind::only && left <= 0) return;
                if (one.dimension != (row ? -1 : dimension)) continue;
                if (one.is == ir::clip_kind::end) end = std::min(end, left);
                if (one.is == ir::clip_kind::begin) first = std::max(first, left);
            }
            for (std::int64_t i = first; i < end; ++i) {
                std::vector<std::int64_t> further = at;
                further.push_back(i);
                move(m, dimension + 1, further);
            }
            return;
        }
        for (bool write : {false, true}) {
            int const buffer = write ? m.destination : m.source;
            if (buffer < 0) continue;
            std::vector<std::int64_t> index = index_of(buffer, write ? m.destination_at : m.source_at);
            bool inside = true;
            for (int d = 0; d < m.dimension_count; ++d) {
                int const to = write ? m.dimensions[d].destination_dimension : m.dimensions[d].source_dimension;
                if (to >= 0)
                    index[static_cast<std::size_t>(to)] +=
                        at[static_cast<std::size_t>(d)] * (write ? m.dimensions[d].destination_factor : m.dimensions[d].source_factor);
            }
            index.back() += at.back();
            for (int c = m.first_clip; c < m.first_clip + m.clip_count && !write; ++c) {
                ir::clip const& one = plan_.clips[c];
                std::int64_t const left = one.bound - value(one.form),
                                   i = at[static_cast<std::size_t>(one.dimension < 0 ? m.dimension_count : one.dimension)];
                if (one.is == ir::clip_kind::border_end) inside &= i < left;
                if (one.is == ir::clip_kind::border_begin) inside &= i >= left;
            }
            if (inside) touch(buffer, index, write);
        }
    }
};

}  // namespace cache_simulator
