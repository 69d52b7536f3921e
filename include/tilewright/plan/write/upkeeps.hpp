#pragma once
#include <tilewright/machine/call_limits.hpp>
#include <tilewright/plan/write/region.hpp>

// When cores clean and invalidate their caches. Engines see the memory itself, and so do other cores: each has a cache of its own.
namespace tilewright::detail {

/// How a step of the program touches a buffer: an engine does, or else a core by its loads and stores.
struct buffer_access {
    buffer_id buffer = no_buffer;
    bool by_engine = false, reads = false, writes = false;
    bool continues = false;  ///< goes on from what is there: the step's own program has put it there, or loaded it
};

/// Whether a body reads the sums that it writes.
constexpr bool reads_result(plan_value const& plan, body const& b) {
    stage const& st = plan.stages[b.stage];
    return b.kind == body_kind::update || (b.kind == body_kind::reduction && st.continues) ||
           (b.kind == body_kind::intrinsic && st.reduces());
}

/// Whether an engine carries a body out.
constexpr bool is_on_engine(plan_value const& plan, body const& b) {
    return b.kind == body_kind::intrinsic && !plan.where->intrinsics[b.intrinsic].engine_name.empty();
}

/// Those of one step: of each use of a body, and of each buffer that has elements passed by value.
using buffer_accesses = part_pool<buffer_access, plan_value::most_uses + plan_value::most_buffers>;

/// What a step does. A wait touches nothing. What a multicast writes comes to other cores past their caches, so none goes through that of
/// the core which calls it.
constexpr buffer_accesses accesses_of(plan_value const& plan, step const& s) {
    buffer_accesses all;
    if (s.kind == step_kind::start) {
        movement const& m = plan.movements[s.what];
        bool const by_engine = plan.engine_of(m) >= 0 || plan.is_multicast(m);
        if (m.source >= 0) all.push({m.source, by_engine, true, false});
        all.push({m.destination, by_engine, false, true});
    }
    if (s.kind != step_kind::compute) return all;
    body const& b = plan.bodies[s.what];
    bool const by_engine = is_on_engine(plan, b);
    bool const continues = reads_result(plan, b), reads_first = continues && plan.stages[b.stage].continues;
    plan.each_use(b, [&](use const& u, bool reads, bool writes) {
        all.push({u.buffer, by_engine, reads || (writes && reads_first), writes, writes && continues});
    });
    // An element that is passed by value is read by the core.
    int const of_uses = all.count;
    auto const pass = [&](buffer_id passed) {
        for (int at = of_uses; at < all.count; ++at) {
            if (all[at].buffer == passed) return;
        }
        all.push({passed, false, true, false});
    };
    for (int form : {b.intrinsic, b.first_intrinsic}) {
        if (!by_engine || form < 0) continue;
        int const operands = form == b.intrinsic ? b.operands : b.first_operands;
        each_value(*plan.where, plan.where->intrinsics[form], [&](call_argument const& a) {
            if (a.is == role::value) pass(plan.operands[operands + a.operand].buffer);
        });
    }
    return all;
}

/// Who touches a buffer. Of cores, a bit for each.
struct buffer_users {
    unsigned touching = 0, writing = 0;  ///< cores, by loads and stores
    bool engine_writes = false;

    static constexpr bool are_several(unsigned cores) { return (cores & (cores - 1)) != 0; }
    /// Whether another core writes what one of some cores is going to touch.
    constexpr bool written_by_others(unsigned cores, bool reads) const {
        return are_several(writing) || (reads && writing != 0 && (are_several(cores) || writing != cores));
    }
};
using all_buffer_users = fixed_array<buffer_users, plan_value::most_buffers>;

/// Whether a core's cache may have something else than what others have put where a step touches a buffer. @param cores  that run the step
constexpr bool may_be_old(plan_value const& plan, buffer_access const& a, buffer_users const& by, unsigned cores) {
    buffer const& b = plan.buffers[a.buffer];
    if (by.written_by_others(plan.is_one_for_all(b) ? cores : 1u, a.reads)) return true;
    return (a.reads && b.kind == buffer_kind::argument) || ((a.reads || a.continues) && by.engine_writes);
}

/// The cores that run the steps of a program, one after the other: a bit for each.
class cores_of_steps {
  public:
    constexpr explicit cores_of_steps(plan_value const& plan) : plan_(plan) {}
    constexpr unsigned of_next(step const& s) {
        if (s.kind == step_kind::loop && plan_.variables[s.what].distributed && shared_ < 0) shared_ = depth_;
        depth_ += s.kind == step_kind::loop ? 1 : s.kind == step_kind::end ? -1 : 0;
        if (s.kind == step_kind::end && depth_ == shared_) shared_ = -1;
        if (shared_ >= 0) return ((1u << plan_.end_core) - 1) & ~((1u << plan_.first_core) - 1);
        return s.core < 0 ? (1u << plan_.cores) - 1 : 1u << s.core;
    }

  private:
    plan_value const& plan_;
    int depth_ = 0, shared_ = -1;  ///< shared: how deep the distributed loop around is
};

constexpr all_buffer_users users_of(plan_value const& plan) {
    all_buffer_users all{};
    cores_of_steps cores(plan);
    for (int at = 0; at < plan.steps.count; ++at) {
        unsigned const here = cores.of_next(plan.steps[at]);
        buffer_accesses const accesses = accesses_of(plan, plan.steps[at]);
        for (int which = 0; which < accesses.count; ++which) {
            buffer_access const& a = accesses[which];
            buffer_users& of = all[a.buffer];
            unsigned const own = a.by_engine ? 0 : plan.is_one_for_all(plan.buffers[a.buffer]) ? here : 1u;
            of.touching |= own;
            if (a.writes) of.writing |= own;
            of.engine_writes |= a.by_engine && a.writes;
        }
    }
    return all;
}

/// Puts steps that clean after what the core writes, and steps that invalidate before it reads what others have written: as far out in the
/// loops as nobody else touches the buffer in between.
class upkeep_placer {
  public:
    constexpr explicit upkeep_placer(writing& planned) : p(planned) {}

    constexpr void run() {
        for (buffer_id at{}; at < p.plan.buffers.count; ++at) {
            if (is_cached(at) && p.plan.buffers[at].kind == buffer_kind::argument) check_argument(at);
        }
        find();
        // From the last to the first, so that the positions of the others stay.
        for (int at = p.plan.steps.count; at >= 0 && !p.refused(); --at) {
            step_kind const kinds[] = {step_kind::invalidate, step_kind::clean};
            for (step_kind kind : kinds) {
                for (int which = asked_.size() - 1; which >= 0; --which) {
                    if (asked_[which].before == at && asked_[which].kind == kind) insert(asked_[which]);
                }
            }
        }
    }

  private:
    /// A step that is to stand before another one.
    struct asked {
        step_kind kind = step_kind::clean;
        int before = 0;
        upkeep what{};
        std::int16_t core = -1;
    };

    constexpr bool is_cached(buffer_id at) const { return p.plan.where->memories[p.plan.buffers[at].memory].is_cached(); }
    /// What the caller passes has lines of its own, and no gaps where several cores write.
    constexpr void check_argument(buffer_id at) {
        buffer& b = p.buffer_at(at);
        memory const& m = p.plan.where->memories[b.memory];
        buffer_users const& by = users_[at];
        if (by.touching != 0) b.alignment = p.common_multiple(b.alignment, m.cache_line, b.tensor);
        if (buffer_users::are_several(by.writing)) rely_on_dense(p, at, 0);
        if (by.writing != 0 && by.engine_writes)
            p.refuse(verdict_kind::not_honoured).names = {b.tensor, "stores of the core and of an engine through caches", m.name};
    }
    /// Whether somebody else may touch a buffer in a loop, or the core learns there of what others did.
    constexpr bool is_touched_in(int loop_step, buffer_id buffer_at) const {
        bool found = false;
        for (int at = loop_step, end = p.plan.end_of_loop(loop_step); at < end; ++at) {
            step const& s = p.plan.steps[at];
            buffer_accesses const accesses = accesses_of(p.plan, s);
            for (int which = 0; which < accesses.count; ++which) found |= accesses[which].by_engine && accesses[which].buffer == buffer_at;
            if (s.kind == step_kind::wait || s.kind == step_kind::pop) found |= users_[buffer_at].engine_writes;
            bool const meets = s.kind == step_kind::barrier || s.kind == step_kind::signal || s.kind == step_kind::await;
            found |= meets && buffer_users::are_several(users_[buffer_at].touching);
        }
        return found;
    }
    /// Whether the version of a buffer is that of an iteration of the loops around a place, the outermost so many of those that are open.
    constexpr bool is_of_version(buffer const& b, int depth) const {
        if (b.versions == 1 || b.ring < 0) return false;
        ring const& r = p.plan.rings[b.ring];
        bool all = true;
        for (int at = 0; at < r.loop_count; ++at) {
            bool around = false;
            for (int open = 0; open < depth; ++open) around |= p.plan.steps[open_[open]].what == r.loops[at];
            all &= around;
        }
        return all;
    }
    constexpr void find() {
        int depth = 0;
        cores_of_steps cores(p.plan);
        for (int at = 0; at < p.plan.steps.count; ++at) {
            step const& s = p.plan.steps[at];
            unsigned const here = cores.of_next(s);
            if (s.kind == step_kind::loop) open_[depth++] = at;
            if (s.kind == step_kind::end) --depth;
            buffer_accesses const accesses = accesses_of(p.plan, s);
            for (int which = 0; which < accesses.count; ++which) {
                buffer_access const& a = accesses[which];
                if (a.by_engine || !is_cached(a.buffer)) continue;
                if (may_be_old(p.plan, a, users_[a.buffer], here)) ask(step_kind::invalidate, at, depth, a.buffer);
                if (a.writes) ask(step_kind::clean, at, depth, a.buffer);
            }
        }
    }
    constexpr void ask(step_kind kind, int at, int depth, buffer_id buffer_at) {
        bool was_shared = false, is_shared = false;
        int outside = depth, place = at;
        for (; outside > 0 && !is_touched_in(open_[outside - 1], buffer_at); --outside) {
            place = open_[outside - 1];
            was_shared |= p.var(p.plan.steps[place].what).distributed;
        }
        for (int open = 0; open < outside; ++open) is_shared |= p.var(p.plan.steps[open_[open]].what).distributed;
        bool const in_loops = place != at;
        asked next{kind,
                   kind == step_kind::invalidate ? place : (in_loops ? p.plan.end_of_loop(place) : at) + 1,
                   {buffer_at, is_of_version(p.plan.buffers[buffer_at], outside)}};
        next.core = was_shared ? std::int16_t{-1} : is_shared ? std::int16_t{0} : p.plan.steps[at].core;
        for (int other = 0; other < asked_.size(); ++other) {
            asked const& o = asked_[other];
            if (o.kind == kind && o.before == next.before && o.what.buffer == buffer_at && o.core == next.core) return;
        }
        if (asked_.full()) return p.refuse_capacity("upkeeps of caches", asked_.most + 1, asked_.most);
        asked_.push(next);
    }
    constexpr void insert(asked const& one) {
        if (p.plan.steps.full()) return p.refuse_capacity("steps", p.plan.steps.most + 1, p.plan.steps.most);
        auto const what = static_cast<std::int16_t>(p.plan.upkeeps.push(one.what));
        p.plan.steps.insert(one.before, {.kind = one.kind, .what = what, .core = one.core});
    }

    writing& p;
    all_buffer_users users_ = users_of(p.plan);
    fixed_array<int, 32> open_{};  ///< the steps of the loops around
    part_pool<asked, plan_value::most_upkeeps> asked_{};
};

constexpr void place_upkeeps(writing& p) { upkeep_placer(p).run(); }

}  // namespace tilewright::detail
