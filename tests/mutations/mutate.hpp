#pragma once
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/plan/ir/plan_value.hpp>
#include <vector>

// Plans with one mistake each in the order of their starts, waits and uses.
namespace mutations {

namespace ir = tilewright::ir;

#define TILEWRIGHT_MUTATIONS(X)                                         \
    X(wait_dropped, "a wait dropped")                                   \
    X(final_wait_dropped, "a wait behind the loops dropped")            \
    X(wait_for_step_before, "a wait for the step before")               \
    X(wait_for_step_behind, "a wait for the step behind")               \
    X(wait_for_other_ring, "a wait for another buffer")                 \
    X(waited_further_in, "a wait for the next step, one load later")    \
    X(fewer_tags, "a tag fewer than versions")                          \
    X(more_tags, "a tag more than versions")                            \
    X(fewer_versions, "a version fewer, tags as before")                \
    X(fewer_versions_and_tags, "a version and a tag fewer")             \
    X(more_versions, "a version more, tags as before")                  \
    X(started_behind, "loads started a step later")                     \
    X(started_ahead, "loads started a step earlier")                    \
    X(distance_further, "loads and what is in front a step further")    \
    X(first_loads_behind, "loads in front of the loops a step later")   \
    X(first_loads_dropped, "a load in front of the loops dropped")      \
    X(loads_dropped, "the loads in the loops dropped")                  \
    X(stored_behind, "the store of the step before")                    \
    X(stored_ahead, "the store of the step behind")                     \
    X(stores_dropped, "the stores dropped")                             \
    X(other_bank, "another bank")                                       \
    X(start_behind_wait, "a start behind the wait that follows it")     \
    X(wait_behind_start, "a wait behind the start that follows it")     \
    X(wait_behind_use, "a wait behind what computes")                   \
    X(use_behind_start, "what computes behind the start that follows")  \
    X(push_dropped, "a push, or a mark, dropped")                       \
    X(pop_dropped, "a pop, or the wait for a mark, dropped")            \
    X(push_of_step_before, "a push of the step before")                 \
    X(push_of_step_behind, "a push of the step behind")                 \
    X(pop_of_step_before, "a pop of the step before")                   \
    X(pop_of_step_behind, "a pop of the step behind")                   \
    X(other_link, "a pop of another link")                              \
    X(push_in_front_of_start, "a push in front of the start before it") \
    X(start_in_front_of_pop, "a start in front of the pop before it")   \
    X(tokens_for_all_steps, "tokens that nobody pops")                  \
    X(clip_dropped, "a clip dropped")                                   \
    X(limit_dropped, "a limit dropped")

enum class mutation : std::uint8_t {
#define TILEWRIGHT_MUTATION(name, text) name,
    TILEWRIGHT_MUTATIONS(TILEWRIGHT_MUTATION)
#undef TILEWRIGHT_MUTATION
        count
};
inline char const* text_of(mutation of) {
    constexpr char const* texts[] = {
#define TILEWRIGHT_MUTATION(name, text) text,
        TILEWRIGHT_MUTATIONS(TILEWRIGHT_MUTATION)
#undef TILEWRIGHT_MUTATION
    };
    return texts[static_cast<int>(of)];
}

struct mutant {
    mutation is;
    tilewright::plan_value plan;
    std::string where;  ///< which of those of this kind
};

class mutants_of {
  public:
    std::vector<mutant> all;

    explicit mutants_of(tilewright::plan_value const& good) : good_(good) {
        for (int at = 0; at < good_.steps.size(); ++at) {
            ir::step const& s = step_at(at);
            if (s.kind == ir::step_kind::wait) change_wait(at);
            if (s.kind == ir::step_kind::push || s.kind == ir::step_kind::pop) change_token(at);
            if (s.kind == ir::step_kind::start && !blocks(at)) change_start(at);
            if (at + 1 < good_.steps.size()) swap(at);
        }
        for (int at = 0; at < good_.rings.size(); ++at) change_ring(at);
        for (int at = 0; at < good_.buffers.size(); ++at) change_bank(at);
        // One that always holds is none.
        constexpr std::int64_t never = std::int64_t{1} << 30;
        for (int at = 0; at < good_.clips.size(); ++at) {
            bool const ends = good_.clips[at].is != ir::clip_kind::begin;
            add(mutation::clip_dropped, "clip " + std::to_string(at),
                [&](plan_value& plan) { plan.clips[at].bound = ends ? never : -never; });
        }
        for (int at = 0; at < good_.limits.size(); ++at) {
            add(mutation::limit_dropped, "limit " + std::to_string(at), [&](plan_value& plan) { plan.limits[at].bound = never; });
        }
    }

  private:
    using plan_value = tilewright::plan_value;

    ir::step const& step_at(int at) const { return good_.steps[at]; }
    ir::movement const& movement_of(ir::step const& s) const { return good_.movements[s.what]; }
    ir::ring const& ring_of(ir::ring_step const& when) const { return good_.rings[when.ring]; }
    static ir::movement& movement_in(plan_value& plan, int step) { return plan.movements[plan.steps[step].what]; }

    template <class Change>
    void add(mutation is, std::string where, Change const& change) {
        mutant& made = all.emplace_back(mutant{is, good_, std::move(where)});
        change(made.plan);
    }
    static void erase_steps(plan_value& plan, int first, int count) {
        plan_value const before = plan;
        plan.steps = {};
        for (int at = 0; at < before.steps.size(); ++at) {
            if (at < first || at >= first + count) plan.steps.push(before.steps[at]);
        }
    }
    /// The step of another iteration, or of none.
    static void move_step(ir::ring_step& when, int by) {
        when.step.constant += by;
        when.ahead = static_cast<std::int16_t>(when.ahead + by);
    }
    std::string name_of(int step) const {
        ir::step const& s = step_at(step);
        ir::ring_step const& when = s.kind == ir::step_kind::wait ? good_.waits[s.what] : movement_of(s).at;
        ir::ring const& r = ring_of(when);
        return good_.buffers[r.buffer].name.str() + (r.stores ? ", stored" : "") + ", step " + std::to_string(step);
    }
    bool stands_in_a_loop_of(int step, ir::ring const& r) const {
        bool inside = false;
        for (int at = 0; at < step; ++at) {
            for (int loop = 0; loop < r.loop_count; ++loop) {
                if (step_at(at).what != r.loops[loop]) continue;
                if (step_at(at).kind == ir::step_kind::loop) inside = true;
                if (step_at(at).kind == ir::step_kind::end && loop == 0) inside = false;
            }
        }
        return inside;
    }
    /// The loop over the steps that a start in front of the loops loads; -1: it loads one.
    int loop_of_steps(ir::ring_step const& when) const { return when.step.count == 0 ? -1 : good_.terms[when.step.first].variable; }
    /// Whether a transfer is made piece by piece, in loops of its own.
    bool in_pieces(int step) const {
        ir::ring_step const& when = movement_of(step_at(step)).at;
        return step > 0 && step_at(step - 1).kind == ir::step_kind::loop && step_at(step + 1).kind == ir::step_kind::end &&
               step_at(step - 1).what != loop_of_steps(when);
    }

    bool blocks(int step) const {
        ir::step const& s = step_at(step);
        return s.kind == ir::step_kind::start && !good_.where->transfers[movement_of(s).transfer].is_asynchronous;
    }

    void change_wait(int at) {
        ir::ring_step const& until = good_.waits[step_at(at).what];
        bool const last = !stands_in_a_loop_of(at, ring_of(until));
        add(last ? mutation::final_wait_dropped : mutation::wait_dropped, name_of(at), [&](plan_value& plan) { erase_steps(plan, at, 1); });
        auto const wait_in = [&](plan_value& plan) -> ir::ring_step& { return plan.waits[step_at(at).what]; };
        add(mutation::wait_for_step_before, name_of(at), [&](plan_value& plan) { move_step(wait_in(plan), -1); });
        add(mutation::wait_for_step_behind, name_of(at), [&](plan_value& plan) { move_step(wait_in(plan), 1); });
        if (until.only_where >= 0) {
            add(mutation::waited_further_in, name_of(at), [&](plan_value& plan) { plan.variables[until.only_where].fused.constant -= 1; });
        }
        int const other = (until.ring + 1) % good_.rings.size();
        if (other != until.ring)
            add(mutation::wait_for_other_ring, name_of(at),
                [&](plan_value& plan) { wait_in(plan).ring = static_cast<std::int16_t>(other); });
    }
    void change_token(int at) {
        bool const pushes = step_at(at).kind == ir::step_kind::push;
        ir::ring_step const& passed = good_.waits[step_at(at).what];
        std::string const name = "step " + std::to_string(at);
        auto const token_in = [&](plan_value& plan) -> ir::ring_step& { return plan.waits[step_at(at).what]; };
        add(pushes ? mutation::push_dropped : mutation::pop_dropped, name, [&](plan_value& plan) { erase_steps(plan, at, 1); });
        for (int other = 0; other < good_.links.size() && !pushes; ++other) {
            ir::link const& l = good_.links[other];
            bool const alike = other != passed.link && l.to == good_.links[passed.link].to;
            if (alike) add(mutation::other_link, name, [&](plan_value& plan) { token_in(plan).link = static_cast<std::int16_t>(other); });
        }
        if (passed.ring < 0) return;
        add(pushes ? mutation::push_of_step_before : mutation::pop_of_step_before, name,
            [&](plan_value& plan) { move_step(token_in(plan), -1); });
        add(pushes ? mutation::push_of_step_behind : mutation::pop_of_step_behind, name,
            [&](plan_value& plan) { move_step(token_in(plan), 1); });
        if (passed.fewer > 0 && pushes) add(mutation::tokens_for_all_steps, name, [&](plan_value& plan) { token_in(plan).fewer = 0; });
    }
    void change_start(int at) {
        ir::movement const& m = movement_of(step_at(at));
        ir::ring const& r = ring_of(m.at);
        if (r.stores) {
            add(mutation::stored_behind, name_of(at), [&](plan_value& plan) { move_step(movement_in(plan, at).at, -1); });
            add(mutation::stored_ahead, name_of(at), [&](plan_value& plan) { move_step(movement_in(plan, at).at, 1); });
            add(mutation::stores_dropped, name_of(at), [&](plan_value& plan) { erase_steps(plan, at, 1); });
            return;
        }
        if (stands_in_a_loop_of(at, r)) {
            add(mutation::started_behind, name_of(at), [&](plan_value& plan) { move_step(movement_in(plan, at).at, -1); });
            add(mutation::started_ahead, name_of(at), [&](plan_value& plan) { move_step(movement_in(plan, at).at, 1); });
            add(mutation::loads_dropped, name_of(at), [&](plan_value& plan) { erase_steps(plan, at, 1); });
            if (!in_pieces(at)) add(mutation::distance_further, name_of(at), [&](plan_value& plan) { move_further(plan, at); });
            return;
        }
        // In front of the loops: one step, or a loop over some. What is behind the first step has nothing in front of it.
        add(mutation::first_loads_behind, name_of(at), [&](plan_value& plan) { movement_in(plan, at).at.step.constant += 1; });
        int const loop = loop_of_steps(m.at);
        add(mutation::first_loads_dropped, name_of(at), [&](plan_value& plan) {
            if (loop < 0) erase_steps(plan, at, 1);
            else plan.variables[loop].extent -= 1;
        });
    }
    /// The start at `at` reaches one step further ahead, and a start in front of the loops loads what it no longer does.
    void move_further(plan_value& plan, int at) const {
        ir::movement missing = movement_of(step_at(at));
        missing.at.step = {.constant = missing.at.ahead, .first = 0, .count = 0};
        missing.at.ahead = 0;
        move_step(movement_in(plan, at).at, 1);
        int outermost = 0;
        while (step_at(outermost).kind != ir::step_kind::loop || step_at(outermost).what != ring_of(missing.at).loops[0]) ++outermost;
        int const made = plan.movements.push(missing);
        plan.steps.insert(outermost, {ir::step_kind::start, static_cast<std::int16_t>(made)});
    }
    void swap(int at) {
        using enum ir::step_kind;
        auto const a = step_at(at).kind, b = step_at(at + 1).kind;
        struct pair {
            ir::step_kind first, second;
            mutation is;
        };
        constexpr pair pairs[] = {{start, wait, mutation::start_behind_wait},      {wait, start, mutation::wait_behind_start},
                                  {wait, compute, mutation::wait_behind_use},      {compute, start, mutation::use_behind_start},
                                  {start, push, mutation::push_in_front_of_start}, {pop, start, mutation::start_in_front_of_pop}};
        for (pair const& p : pairs) {
            if (a != p.first || b != p.second || blocks(at) || blocks(at + 1)) continue;
            add(p.is, "step " + std::to_string(at), [&](plan_value& plan) {
                plan.steps[at] = step_at(at + 1);
                plan.steps[at + 1] = step_at(at);
            });
        }
    }
    /// Puts a buffer behind all others of its memory, where no address that it had before is shared.
    static void move_behind_all(plan_value& plan, ir::buffer& b) {
        std::int64_t behind = 0;
        for (int bank = 0; bank < plan.where->memories[b.memory].banks; ++bank) behind = std::max(behind, plan.peak_bytes(b.memory, bank));
        b.offset = (behind + b.alignment - 1) / b.alignment * b.alignment;
    }
    void change_ring(int ring_at) {
        ir::ring const& r = good_.rings[ring_at];
        std::string const name = good_.buffers[r.buffer].name.str() + (r.stores ? ", stored" : "");
        auto const tags = [&](plan_value& plan, int by) {
            plan.rings[ring_at].versions = static_cast<std::int16_t>(r.versions + by);
            // Every ring has tags of its own.
            for (int behind = ring_at + 1; behind < plan.rings.size(); ++behind)
                plan.rings[behind].first_tag = static_cast<std::int16_t>(plan.rings[behind].first_tag + by);
        };
        auto const versions = [&](plan_value& plan, int by) {
            ir::buffer& b = plan.buffers[r.buffer];
            if (by > 0) move_behind_all(plan, b);
            b.versions = static_cast<std::int16_t>(b.versions + by);
        };
        add(mutation::more_tags, name, [&](plan_value& plan) { tags(plan, 1); });
        add(mutation::more_versions, name, [&](plan_value& plan) { versions(plan, 1); });
        if (r.versions < 2) return;
        add(mutation::fewer_tags, name, [&](plan_value& plan) { tags(plan, -1); });
        add(mutation::fewer_versions, name, [&](plan_value& plan) { versions(plan, -1); });
        add(mutation::fewer_versions_and_tags, name, [&](plan_value& plan) { tags(plan, -1), versions(plan, -1); });
    }
    void change_bank(int buffer_at) {
        ir::buffer const& b = good_.buffers[buffer_at];
        int const banks = good_.where->memories[b.memory].banks;
        if (b.kind == ir::buffer_kind::argument || banks < 2) return;
        add(mutation::other_bank, b.name.str(), [&](plan_value& plan) {
            ir::buffer& moved = plan.buffers[buffer_at];
            move_behind_all(plan, moved);
            moved.bank = static_cast<std::int16_t>((b.bank + 1) % banks);
        });
    }

    plan_value const& good_;
};

}  // namespace mutations
