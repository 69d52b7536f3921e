#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tilewright/plan/check/prediction.hpp>
#include <utility>
#include <vector>

// What the clocks of a prediction do: where cycles go, and the timeline of cores and engines.
namespace tilewright::reports {

using namespace ir;

/// What a core spends cycles on. The position says on which of them.
enum class spent_on : std::uint8_t {
    code,         ///< loops that stay code, or an intrinsic without an engine: of a body
    computing,    ///< it waits until an engine has carried out what is not asynchronous: of a body
    asking,       ///< it waits for room in the queue of an engine: of a body
    fill,         ///< a border, by loops of the core: of a movement
    copying,      ///< a transfer without an engine, or one that is not asynchronous: of a movement
    asking_copy,  ///< it waits for room in the queue of an engine: of a movement
    waiting,      ///< for an asynchronous transfer: of a wait
    joining,      ///< for what an engine computes: of a pop
    caches,       ///< of a step
    meeting,      ///< other cores, at barriers
    listening,    ///< for another core's signal: of a message
    ending,       ///< all is started: of the channel that is ready last
    // What holds a channel back that was asked:
    token,  ///< another engine has not said that it may begin: of a pop
    place,  ///< another channel uses what it touches: of that channel, or -1
    room    ///< the jobs in its queue are not complete
};
struct spent {
    spent_on on = spent_on::code;
    int position = 0;
    bool first = false;  ///< of a wait for a transfer: nothing was waited for there before
    auto operator<=>(spent const&) const = default;
};
using spent_cycles = std::map<spent, std::int64_t>;
inline std::int64_t sum_of(spent_cycles const& all) {
    std::int64_t sum = 0;
    for (auto const& [what, cycles] : all) sum += cycles;
    return sum;
}

/// What a channel of an engine does.
struct channel_account {
    std::int64_t busy = 0;
    spent_cycles instead{};       ///< the core had not asked for the next job yet: what it spent these cycles on
    spent_cycles held_by{};       ///< it was asked, and waited: what held it back in these cycles
    std::int64_t after = 0;       ///< its last job
    std::int64_t idle_since = 0;  ///< the cycle in which the last job left it
    spent_cycles idle{};          ///< what the core has spent since then

    std::int64_t not_asked() const { return sum_of(instead); }
    std::int64_t held_back() const { return sum_of(held_by); }
};
/// One core, and the channels as far as that core asks for their jobs. The cycles of a core add up to `cycles`; so do those of a channel.
struct core_account {
    spent_cycles core{};
    std::vector<channel_account> channels{};
};

/// A stretch of time of a core or of a channel.
struct noted_time {
    enum class kind : std::uint8_t {
        spent,      ///< by a core
        job,        ///< of a channel
        held_back,  ///< of a channel: it was asked for a job, and waits
    };
    kind is = kind::spent;
    bool begins = false;  ///< of a body: its reduction begins here
    std::int16_t core = 0;
    std::int16_t lane = -1;  ///< -1: the core itself
    std::int64_t begin = 0, end = 0;
    std::int64_t cycle = 0;  ///< in which it begins, with those that are left out
    spent what{};            ///< what the core spends it on, or asks for; or what holds the channel back
};
/// Iterations that repeat those before them are left out of a timeline.
struct left_out {
    std::int64_t at = 0;      ///< the time of the timeline at which they would begin
    std::int64_t cycles = 0;  ///< of all of them
    std::int64_t times = 0;   ///< how often what stands before it happens again
};
/// What cores and channels do when. Times are cycles without those that are left out.
struct noted_timeline {
    std::vector<noted_time> all{};
    std::vector<left_out> breaks{};  ///< by time
    std::int64_t end = 0;            ///< of what is drawn
    bool complete = true;            ///< otherwise it stops at `end`, for there is too much to draw

    /// The cycle of the kernel at a time of the timeline; where cycles are left out, the one before them.
    std::int64_t cycle_at(std::int64_t time) const {
        std::int64_t cycle = time;
        for (left_out const& one : breaks) cycle += one.at < time ? one.cycles : 0;
        return cycle;
    }
};
struct cycle_accounts {
    std::int64_t cycles = 0;
    bool resolved = false;
    std::vector<core_account> cores{};
    noted_timeline timeline{};  ///< if it was asked for
};

/// The clocks of a core, which note what moves them on.
class noted_clocks {
  public:
    using run = tilewright::detail::program_position;
    static constexpr int most_visits = tilewright::detail::clocks::most_visits;

    /// What all cores of a run have in common.
    struct notes {
        /// @param most  stretches that a core may add to the timeline, with those of its channels
        notes(plan_value const& of, std::size_t most)
            : plan(of),
              times(static_cast<std::size_t>(of.cores)),
              now(times.size()),
              room(times.size(), most),
              until(times.size(), INT64_MAX),
              waited(times.size()),
              lanes(of.where->lane_count()) {
            for (core_account& one : now) one.channels.resize(static_cast<std::size_t>(lanes));
        }
        struct snapshot {
            std::int64_t at = 0;  ///< the cycle
            std::vector<core_account> accounts{};
            std::size_t noted = 0;  ///< stretches in the timeline
        };
        plan_value const& plan;
        std::vector<tilewright::detail::clocks> times;
        std::vector<core_account> now;
        std::vector<std::size_t> room;
        std::vector<std::int64_t> until;    ///< where a core's timeline stops
        std::vector<std::set<int>> waited;  ///< the waits for transfers that a core has come to
        int lanes;
        std::int64_t skipped = 0;  ///< cycles that the timeline leaves out
        noted_timeline timeline{};
        tilewright::detail::sent_signals signals{};
        /// What was there at the ends of the last iterations, for each depth of loops. A run compares with no more than 12 of a loop.
        std::vector<std::deque<snapshot>> earlier{};
    };

    noted_clocks(notes& all, noted_clocks* team, int core) : all_(&all), team_(team), core_(core) {}
    noted_clocks* of_core(int core) { return team_ + core; }

    void start(run const& in, int at) {
        movement const& m = in.movement_at(at);
        spent_on const on = m.transfer < 0 ? spent_on::fill : all_->plan.is_asynchronous(m) ? spent_on::asking_copy : spent_on::copying;
        note({on, at}, false, [&](auto& times) { times.start(in, at); });
    }
    void wait(run const& in, int at) {
        bool const first = all_->waited[static_cast<std::size_t>(core_)].insert(at).second;
        note({spent_on::waiting, at, first}, false, [&](auto& times) { times.wait(in, at); });
    }
    void push(run const& in, int at) { mine().push(in, at); }
    void pop(run const& in, int at) {
        note({spent_on::joining, at}, false, [&](auto& times) { times.pop(in, at); });
    }
    void compute(run const& in, int at, std::int64_t often) {
        body const& b = all_->plan.bodies[at];
        machine const& where = *all_->plan.where;
        bool const on_engine = b.kind == body_kind::intrinsic && where.engines.find(where.intrinsics[b.intrinsic].engine_name) >= 0;
        spent_on const on = !on_engine                                      ? spent_on::code
                            : where.intrinsics[b.intrinsic].is_asynchronous ? spent_on::asking
                                                                            : spent_on::computing;
        note({on, at}, b.first_intrinsic >= 0 && in.begins(b), [&](auto& times) { times.compute(in, at, often); });
    }
    void keep_up(run const& in, int step) {
        note({spent_on::caches, step}, false, [&](auto& times) { times.keep_up(in, step); });
    }
    void meet(run const& in) {
        std::vector<std::int64_t> before;
        for (auto const& times : all_->times) before.push_back(times.now);
        all_->times[0].meet(in);
        for (std::size_t core = 0; core < before.size(); ++core) spend(static_cast<int>(core), {spent_on::meeting, 0}, before[core]);
    }
    void signal(run const& in, int at) { mine().signal(in, at); }
    void await(run const& in, int at) {
        note({spent_on::listening, at}, false, [&](auto& times) { times.await(in, at); });
    }
    void sign(run const& in, tilewright::detail::run_signature& into) const {
        constexpr std::size_t most_compared = 12;
        mine().sign(in, into);
        auto& kept = earlier_of(in);
        if (kept.size() == most_compared) kept.pop_front();
        kept.push_back({into.now, all_->now, all_->timeline.all.size()});
    }
    /// What was noted in a period happens `often` times more.
    void skip(run const& in, std::int64_t often, tilewright::detail::run_signature const& later,
              tilewright::detail::run_signature const& earlier) {
        std::int64_t const period = later.now - earlier.now;
        auto const& kept = earlier_of(in);
        auto const found = std::find_if(kept.rbegin(), kept.rend(), [&](auto const& one) { return one.at == earlier.now; });
        // In a core's share, nothing was noted of the others.
        for (std::size_t core = 0; core < all_->now.size(); ++core) {
            repeat(all_->now[core], found->accounts[core], often, period);
        }
        if (!in.is_shared()) {
            if (period > 0) all_->timeline.breaks.push_back({later.now - all_->skipped, often * period, often});
            all_->skipped += often * period;
        } else {
            // Other cores do not skip these cycles, so they are drawn.
            std::size_t const end = all_->timeline.all.size();
            bool kept_all = true;
            for (std::int64_t time = 1; time <= often && kept_all; ++time) {
                for (std::size_t at = found->noted; at < end && kept_all; ++at) {
                    noted_time again = all_->timeline.all[at];
                    again.begin += time * period, again.end += time * period, again.cycle += time * period;
                    kept_all = keep(again);
                }
            }
        }
        mine().skip(in, often, later, earlier);
    }

  private:
    tilewright::detail::clocks& mine() const { return all_->times[static_cast<std::size_t>(core_)]; }
    std::deque<notes::snapshot>& earlier_of(run const& in) const {
        std::size_t depth = 0;
        for (int v = 0; v < all_->plan.variables.size(); ++v) depth += in.is_open(v) ? 1u : 0u;
        if (all_->earlier.size() <= depth) all_->earlier.resize(depth + 1);
        return all_->earlier[depth];
    }
    /// What is spent when that happens again: no wait is the first one then.
    static spent_cycles again(spent_cycles const& all) {
        spent_cycles made;
        for (auto const& [what, cycles] : all) made[{what.on, what.position}] += cycles;
        return made;
    }
    /// A period took `now` less `before`; `often` more follow.
    static void repeat(spent_cycles& now, spent_cycles const& before, std::int64_t often) {
        now = sum(now, again(sum(now, before, -1)), often);
    }
    static void repeat(core_account& now, core_account const& before, std::int64_t often, std::int64_t period) {
        repeat(now.core, before.core, often);
        for (std::size_t lane = 0; lane < now.channels.size(); ++lane) {
            channel_account& c = now.channels[lane];
            channel_account const& was = before.channels[lane];
            if (c.idle_since == was.idle_since) {
                repeat(c.idle, was.idle, often);
                continue;
            }
            repeat(c.held_by, was.held_by, often);
            c.busy += often * (c.busy - was.busy), c.idle_since += often * period;
            // The first job of each period ends what the one before has left idle; that of this one may have ended more, or less.
            spent_cycles made = sum(c.instead, c.idle, 1);
            spent_cycles const once = sum(made, sum(was.instead, was.idle, 1), -1);
            c.instead = sum(c.instead, again(once), often);
        }
    }
    static spent_cycles sum(spent_cycles all, spent_cycles const& more, std::int64_t often) {
        for (auto const& [what, cycles] : more) {
            if (cycles != 0) all[what] += often * cycles;
        }
        return all;
    }
    /// @return whether there is room for more
    bool keep(noted_time const& one) {
        auto const core = static_cast<std::size_t>(one.core);
        std::int64_t& until = all_->until[core];
        if (one.begin >= one.end || one.begin >= until) return until == INT64_MAX;
        if (all_->room[core] == 0) until = one.begin;
        else --all_->room[core], all_->timeline.all.push_back(one);
        return until == INT64_MAX;
    }
    noted_time stretch(noted_time::kind is, bool begins, int core, int lane, std::int64_t from, std::int64_t to, spent const& what) const {
        return {is,   begins, static_cast<std::int16_t>(core), static_cast<std::int16_t>(lane), from - all_->skipped, to - all_->skipped,
                from, what};
    }
    /// A core has come from `before` to where its clock stands now.
    void spend(int core, spent const& what, std::int64_t before) {
        core_account& account = all_->now[static_cast<std::size_t>(core)];
        std::int64_t const now = all_->times[static_cast<std::size_t>(core)].now;
        if (now == before) return;
        account.core[what] += now - before;
        for (channel_account& c : account.channels) {
            if (std::int64_t const idle = now - std::max(before, c.idle_since); idle > 0) c.idle[what] += idle;
        }
        keep(stretch(noted_time::kind::spent, false, core, -1, before, now, what));
    }
    /// Why a channel that was asked begins no earlier than it does.
    spent held_by(tilewright::detail::clocks const& times, spent const& asked, int lane, std::int64_t begin) const {
        if (asked.on == spent_on::joining) return {spent_on::token, asked.position};
        auto const interlocked = [&](int one) { return all_->plan.where->engine_at_lane(one).interlocked; };
        int by = -1;
        for (int other = 0; other < all_->lanes && interlocked(lane); ++other) {
            tilewright::engine_clock const& of = times.lanes[other];
            std::int64_t const first = std::max<std::int64_t>(0, of.jobs - tilewright::engine_clock::most_depth);
            for (std::int64_t job = of.jobs - 1; other != lane && interlocked(other) && job >= first; --job) {
                if (of.completion_of(job) == begin) by = other;
            }
        }
        if (by < 0 && (begin <= times.now || !interlocked(lane))) return {spent_on::room, 0};
        return {spent_on::place, by};
    }
    template <class Move>
    void note(spent const& what, bool begins, Move const& move) {
        tilewright::detail::clocks& times = mine();
        core_account& account = all_->now[static_cast<std::size_t>(core_)];
        std::int64_t const before = times.now;
        auto const lanes = times.lanes;
        move(times);
        for (int lane = 0; lane < all_->lanes; ++lane) {
            tilewright::engine_clock const &was = lanes[lane], &is = times.lanes[lane];
            std::int64_t const busy = is.busy - was.busy, begin = is.free - busy;
            // A token that was there before the core came to it holds nothing back.
            if (is.free == was.free || (busy == 0 && is.free <= before)) continue;
            channel_account& c = account.channels[static_cast<std::size_t>(lane)];
            std::int64_t const asked = std::max(before, c.idle_since), held = std::max<std::int64_t>(0, begin - asked);
            for (auto const& [instead, cycles] : c.idle) c.instead[instead] += cycles;
            c.idle.clear();
            c.busy += busy, c.idle_since = is.free;
            spent const by = held > 0 ? held_by(times, what, lane, begin) : spent{};
            if (held > 0) c.held_by[by] += held;
            keep(stretch(noted_time::kind::held_back, false, core_, lane, asked, begin, by));
            keep(stretch(noted_time::kind::job, begins, core_, lane, begin, is.free, what));
        }
        spend(core_, what, before);
    }

    notes* all_;
    noted_clocks* team_;
    int core_;
};

/// Follows a plan by the clocks of its prediction.
///
/// @param most_noted  stretches of time that the timeline of a core may have, with those of its channels; 0: no timeline
/// @return not `resolved` where the prediction is not
/// @throws bad_query when extents are left to run time
inline cycle_accounts accounts_of(plan_value const& plan, std::size_t most_noted = 0, visiting how = visiting::periods) {
    cycle_accounts made;
    if (plan.refusal) return made;
    plan.need_extents();
    noted_clocks::notes all(plan, most_noted);
    std::vector<noted_clocks> team;
    team.reserve(all.times.size());
    for (int core = 0; core < plan.cores; ++core) {
        team.emplace_back(all, team.data(), core);
        tilewright::detail::clocks& times = all.times[static_cast<std::size_t>(core)];
        if (plan.cores > 1) times.team = all.times.data(), times.cores = plan.cores, times.signals = &all.signals, times.core = core;
    }
    if (!tilewright::detail::program_run<noted_clocks>(plan, team[0], how).run()) return made;
    for (tilewright::detail::clocks const& times : all.times) {
        if (times.overflown) return made;
        made.cycles = std::max(made.cycles, times.complete());
    }
    made.resolved = true;
    made.cores = std::move(all.now);
    for (std::size_t core = 0; core < made.cores.size(); ++core) {
        tilewright::detail::clocks const& times = all.times[core];
        int last = -1;
        for (int lane = 0; lane < all.lanes; ++lane) {
            if (times.lanes[lane].complete > times.now && (last < 0 || times.lanes[lane].complete > times.lanes[last].complete))
                last = lane;
            channel_account& c = made.cores[core].channels[static_cast<std::size_t>(lane)];
            c.after = made.cycles - c.busy - c.not_asked() - c.held_back();
        }
        if (made.cycles == times.now) continue;
        made.cores[core].core[{spent_on::ending, last}] += made.cycles - times.now;
        all.timeline.all.push_back({noted_time::kind::spent,
                                    false,
                                    static_cast<std::int16_t>(core),
                                    -1,
                                    times.now - all.skipped,
                                    made.cycles - all.skipped,
                                    times.now,
                                    {spent_on::ending, last}});
    }
    made.timeline = std::move(all.timeline);
    made.timeline.end = made.cycles - all.skipped;
    for (std::int64_t const until : all.until) {
        if (most_noted > 0 && until < made.timeline.end) made.timeline.end = until, made.timeline.complete = false;
    }
    std::int64_t const end = made.timeline.end;
    std::erase_if(made.timeline.all, [&](noted_time const& one) { return one.begin >= end; });
    for (noted_time& one : made.timeline.all) one.end = std::min(one.end, end);
    std::erase_if(made.timeline.breaks, [&](left_out const& one) { return one.at >= end; });
    return made;
}

}  // namespace tilewright::reports
