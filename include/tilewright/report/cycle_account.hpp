#pragma once
#include <map>
#include <tilewright/machine/lane_name.hpp>
#include <tilewright/plan/check/prediction.hpp>
#include <tilewright/report/refused.hpp>
#include <tilewright/report/table.hpp>

// Where the cycles of a plan go: what its cores do and wait for, and why its engines stand still.
namespace tilewright {
namespace reports {

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
    ending        ///< all is started: of the channel that is ready last
};
struct spent {
    spent_on on = spent_on::code;
    int position = 0;
    auto operator<=>(spent const&) const = default;
};

/// What a channel of an engine does.
struct channel_account {
    std::int64_t busy = 0;
    std::int64_t not_asked = 0;  ///< the core had not asked for the next job yet
    std::int64_t held_back = 0;  ///< it was asked, and waited: for another engine, a place that one uses, or the latency of its queue
    std::int64_t after = 0;      ///< its last job
};
/// One core, and the channels as far as that core asks for their jobs. The cycles of a core add up to `cycles`; so do those of a channel.
struct core_account {
    std::map<spent, std::int64_t> core{};
    std::vector<channel_account> channels{};
};
struct cycle_accounts {
    std::int64_t cycles = 0;
    bool resolved = false;
    std::vector<core_account> cores{};
};

/// The clocks of a core, which note what moves them on.
class noted_clocks {
  public:
    using run = tilewright::detail::program_position;
    static constexpr int most_visits = tilewright::detail::clocks::most_visits;

    /// What all cores of a run have in common.
    struct notes {
        explicit notes(plan_value const& of)
            : plan(of), times(static_cast<std::size_t>(of.cores)), accounts(times.size()), lanes(of.where->lane_count()) {
            for (core_account& one : accounts) one.channels.resize(static_cast<std::size_t>(lanes));
        }
        plan_value const& plan;
        std::vector<tilewright::detail::clocks> times;
        std::vector<core_account> accounts;
        int lanes;
        tilewright::detail::sent_signals signals{};
        std::map<std::int64_t, std::vector<core_account>> earlier{};  ///< by the cycle at which core 0 was looked at
    };

    noted_clocks(notes& all, noted_clocks* team, int core) : all_(&all), team_(team), core_(core) {}
    noted_clocks* of_core(int core) { return team_ + core; }

    void start(run const& in, int at) {
        movement const& m = in.movement_at(at);
        spent_on const on = m.transfer < 0 ? spent_on::fill : all_->plan.is_asynchronous(m) ? spent_on::asking_copy : spent_on::copying;
        note({on, at}, [&](auto& times) { times.start(in, at); });
    }
    void wait(run const& in, int at) {
        note({spent_on::waiting, at}, [&](auto& times) { times.wait(in, at); });
    }
    void push(run const& in, int at) { mine().push(in, at); }
    void pop(run const& in, int at) {
        note({spent_on::joining, at}, [&](auto& times) { times.pop(in, at); });
    }
    void compute(run const& in, int at, std::int64_t often) {
        body const& b = all_->plan.bodies[at];
        machine const& where = *all_->plan.where;
        bool const on_engine = b.kind == body_kind::intrinsic && where.engines.find(where.intrinsics[b.intrinsic].engine_name) >= 0;
        spent_on const on = !on_engine                                      ? spent_on::code
                            : where.intrinsics[b.intrinsic].is_asynchronous ? spent_on::asking
                                                                            : spent_on::computing;
        note({on, at}, [&](auto& times) { times.compute(in, at, often); });
    }
    void keep_up(run const& in, int step) {
        note({spent_on::caches, step}, [&](auto& times) { times.keep_up(in, step); });
    }
    void meet(run const& in) {
        std::vector<std::int64_t> before;
        for (auto const& times : all_->times) before.push_back(times.now);
        all_->times[0].meet(in);
        for (std::size_t core = 0; core < before.size(); ++core)
            all_->accounts[core].core[{spent_on::meeting, 0}] += all_->times[core].now - before[core];
    }
    void signal(run const& in, int at) { mine().signal(in, at); }
    void await(run const& in, int at) {
        note({spent_on::listening, at}, [&](auto& times) { times.await(in, at); });
    }
    void sign(run const& in, tilewright::detail::run_signature& into) const {
        mine().sign(in, into);
        all_->earlier[into.now] = all_->accounts;
    }
    /// What was noted in a period happens `often` times more.
    void skip(run const& in, std::int64_t often, tilewright::detail::run_signature const& later,
              tilewright::detail::run_signature const& earlier) {
        std::vector<core_account> const& before = all_->earlier.at(earlier.now);
        for (std::size_t core = 0; core < before.size(); ++core) {
            if (in.is_shared() && static_cast<int>(core) != core_) continue;
            core_account& now = all_->accounts[core];
            for (auto& [what, cycles] : now.core) {
                auto const found = before[core].core.find(what);
                cycles += often * (cycles - (found == before[core].core.end() ? 0 : found->second));
            }
            for (std::size_t lane = 0; lane < now.channels.size(); ++lane) {
                channel_account& c = now.channels[lane];
                channel_account const& was = before[core].channels[lane];
                c.busy += often * (c.busy - was.busy);
                c.not_asked += often * (c.not_asked - was.not_asked);
                c.held_back += often * (c.held_back - was.held_back);
            }
        }
        mine().skip(in, often, later, earlier);
    }

  private:
    tilewright::detail::clocks& mine() const { return all_->times[static_cast<std::size_t>(core_)]; }
    template <class Move>
    void note(spent const& what, Move const& move) {
        tilewright::detail::clocks& times = mine();
        core_account& account = all_->accounts[static_cast<std::size_t>(core_)];
        std::int64_t const before = times.now;
        auto const lanes = times.lanes;
        move(times);
        if (times.now != before) account.core[what] += times.now - before;
        for (int lane = 0; lane < all_->lanes; ++lane) {
            tilewright::engine_clock const &was = lanes[lane], &is = times.lanes[lane];
            if (is.free == was.free) continue;
            channel_account& c = account.channels[static_cast<std::size_t>(lane)];
            std::int64_t const busy = is.busy - was.busy, idle = is.free - was.free - busy;
            std::int64_t const late = busy > 0 ? std::clamp<std::int64_t>(before - was.free, 0, idle) : 0;
            c.busy += busy, c.not_asked += late, c.held_back += idle - late;
        }
    }

    notes* all_;
    noted_clocks* team_;
    int core_;
};

/// @return not `resolved` where the prediction is not, or extents are left to run time
inline cycle_accounts accounts_of(plan_value const& plan) {
    cycle_accounts made;
    if (plan.refusal) return made;
    plan.need_extents();
    noted_clocks::notes all(plan);
    std::vector<noted_clocks> team;
    team.reserve(all.times.size());
    for (int core = 0; core < plan.cores; ++core) {
        team.emplace_back(all, team.data(), core);
        tilewright::detail::clocks& times = all.times[static_cast<std::size_t>(core)];
        if (plan.cores > 1) times.team = all.times.data(), times.cores = plan.cores, times.signals = &all.signals, times.core = core;
    }
    if (!tilewright::detail::program_run<noted_clocks>(plan, team[0], visiting::periods).run()) return made;
    for (tilewright::detail::clocks const& times : all.times) {
        if (times.overflown) return made;
        made.cycles = std::max(made.cycles, times.complete());
    }
    made.resolved = true;
    made.cores = std::move(all.accounts);
    for (std::size_t core = 0; core < made.cores.size(); ++core) {
        tilewright::detail::clocks const& times = all.times[core];
        int last = -1;
        for (int lane = 0; lane < all.lanes; ++lane) {
            if (times.lanes[lane].complete > times.now && (last < 0 || times.lanes[lane].complete > times.lanes[last].complete))
                last = lane;
            channel_account& c = made.cores[core].channels[static_cast<std::size_t>(lane)];
            c.after = made.cycles - c.busy - c.not_asked - c.held_back;
        }
        if (made.cycles > times.now) made.cores[core].core[{spent_on::ending, last}] += made.cycles - times.now;
    }
    return made;
}

/// What a core does, and what would help; empty: nothing that a schedule says.
struct spent_text {
    std::string what, help;
};
inline spent_text text_of(plan_value const& plan, spent const& one) {
    machine const& where = *plan.where;
    auto const at = one.position;
    auto const buffer_name = [&](int b) { return plan.buffers[b].name.str(); };
    auto const intrinsic = [&]() -> intrinsic_description const& { return where.intrinsics[plan.bodies[at].intrinsic]; };
    auto const moved = [&]() -> movement const& { return plan.movements[at]; };
    auto const queue = [&](std::string const& engine) {
        return spent_text{"waits for room in the queue of " + engine, "a deeper queue, if the hardware has one"};
    };
    switch (one.on) {
        case spent_on::code:
            if (plan.bodies[at].kind == body_kind::intrinsic) return {"calls " + intrinsic().name.str(), ""};
            return {"runs the loops of " + plan.stages[plan.bodies[at].stage].output.str(), "vectorize or tensorize them"};
        case spent_on::computing:
            return {"waits until " + intrinsic().engine_name.str() + " has done " + intrinsic().name.str(),
                    "asynchronous(), if the hardware goes on by itself"};
        case spent_on::asking: return queue(intrinsic().engine_name.str());
        case spent_on::fill: return {"fills the border of " + buffer_name(moved().destination), ""};
        case spent_on::copying: {
            transfer_description const& by = where.transfers[moved().transfer];
            std::string const to = buffer_name(moved().destination);
            if (by.engine_name.empty() || where.engines.find(by.engine_name) < 0) return {"copies to " + to + " by " + by.name.str(), ""};
            return {"waits until " + by.name.str() + " has filled " + to,
                    "asynchronous() and buffers(2), if the hardware goes on by itself"};
        }
        case spent_on::asking_copy: return queue(where.transfers[moved().transfer].engine_name.str());
        case spent_on::waiting: {
            ring const& r = plan.rings[plan.waits[at].ring];
            std::string const name = buffer_name(r.buffer);
            if (r.stores) return {"waits until " + name + " is stored", r.versions == 1 ? "buffers(2)" : "more versions"};
            return {"waits for " + name, r.versions == 1 ? "buffers(2)" : "a longer prefetch, with more versions"};
        }
        case spent_on::joining: {
            link const& l = plan.links[plan.waits[at].link];
            return {"waits for " + where.engines[l.from].name.str(), ""};
        }
        case spent_on::caches: return {"cleans or invalidates its cache", ""};
        case spent_on::meeting: return {"waits for other cores at barriers", "shares of equal size"};
        case spent_on::listening: return {"waits for core " + std::to_string(plan.messages[at].from), "more versions of what it computes"};
        case spent_on::ending: break;
    }
    return {at < 0 ? "has done its share" : "waits at the end for " + lane_name(where, at), ""};
}

}  // namespace reports

/// Where the predicted cycles go: what each core does and waits for, and each channel of an engine, largest first; then what would help.
/// The cycles of a core, and of a channel, add up to all. A plan that was refused is its verdict.
///
/// ```
/// host    4,096  47.6 %  waits until array has done mac16: asynchronous(), if the hardware goes on by itself
/// host    1,664  19.3 %  waits for A.spad: buffers(2)
/// loader  6,412  74.5 %  not asked for anything yet
/// loader  2,048  23.8 %  busy
/// ```
/// @throws bad_query when extents are left to run time
inline std::string cycle_account(plan_value const& plan) {
    using namespace reports;
    if (plan.refusal) return refused_text(plan);
    cycle_accounts const all = accounts_of(plan);
    if (!all.resolved) return "the cycles of this plan are not resolved\n";
    using enum table::side;
    table rows({left, right, right, left});
    auto const add = [&](std::string const& who, std::vector<std::pair<std::int64_t, std::string>> lines) {
        std::stable_sort(lines.begin(), lines.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
        for (auto const& [cycles, text] : lines) {
            if (cycles > 0) rows.add({who, grouped(cycles), percent(cycles, all.cycles), text});
        }
    };
    machine const& where = *plan.where;
    for (std::size_t core = 0; core < all.cores.size(); ++core) {
        std::string const number = all.cores.size() > 1 ? "core " + std::to_string(core) + ", " : "";
        std::map<std::string, std::int64_t> sums;
        for (auto const& [what, cycles] : all.cores[core].core) {
            spent_text const text = text_of(plan, what);
            sums[text.help.empty() ? text.what : text.what + ": " + text.help] += cycles;
        }
        std::vector<std::pair<std::int64_t, std::string>> lines;
        for (auto const& [text, cycles] : sums) lines.emplace_back(cycles, text);
        add(number + where.core_at(static_cast<int>(core)).name.str(), lines);
        for (std::size_t lane = 0; lane < all.cores[core].channels.size(); ++lane) {
            channel_account const& c = all.cores[core].channels[lane];
            if (c.busy == 0) continue;
            add(number + lane_name(where, static_cast<int>(lane)), {{c.busy, "busy"},
                                                                    {c.not_asked, "not asked for anything yet"},
                                                                    {c.held_back, "held back by other engines, or by its queue"},
                                                                    {c.after, "after its last job"}});
        }
    }
    return grouped(all.cycles) + " cycles\n" + rows.str();
}

}  // namespace tilewright
