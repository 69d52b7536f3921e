#pragma once
#include <tilewright/machine/lane_name.hpp>
#include <tilewright/report/noted_clocks.hpp>
#include <tilewright/report/refused.hpp>
#include <tilewright/report/table.hpp>

// Where the cycles of a plan go: what its cores do and wait for, and why its engines stand still.
namespace tilewright {
namespace reports {

/// What a core does, and what would help; empty: nothing that a schedule says.
struct spent_text {
    std::string what, help;
};
/// The buffer that an engine still reads when the core waits for it in order to compute that buffer anew; -1: the core waits for something
/// else.
inline int still_read(plan_value const& plan, int engine_at, int wait_at) {
    machine const& where = *plan.where;
    int next = 0;  // what is computed after that wait
    while (next < plan.steps.size() && (plan.steps[next].kind != ir::step_kind::pop || plan.steps[next].what != wait_at)) ++next;
    while (next < plan.steps.size() && plan.steps[next].kind != ir::step_kind::compute) ++next;
    int found = -1;
    if (next == plan.steps.size()) return found;
    plan.each_use(plan.bodies[plan.steps[next].what], [&](ir::use const& written, bool, bool writes) {
        for (int at = 0; at < plan.bodies.size() && writes; ++at) {
            ir::body const& other = plan.bodies[at];
            if (!plan.is_aside(other) || where.engines.find(where.intrinsics[other.intrinsic].engine_name) != engine_at) continue;
            plan.each_use(other, [&](ir::use const& read, bool reads, bool) {
                found = reads && read.buffer == written.buffer ? read.buffer : found;
            });
        }
    });
    return found;
}
/// Whether a transfer puts into the buffer what a reduction starts from. The core waits for that at once, whatever versions there are.
inline bool is_begun(plan_value const& plan, int buffer) {
    bool found = false;
    for (int at = 0; at < plan.bodies.size(); ++at) {
        if (!plan.bodies[at].begun) continue;
        plan.each_use(plan.bodies[at], [&](ir::use const& written, bool, bool writes) { found |= writes && written.buffer == buffer; });
    }
    return found;
}
/// Whether a step stands inside of a loop.
inline bool is_in_loop(plan_value const& plan, ir::step_kind kind, int what) {
    int depth = 0;
    for (int at = 0; at < plan.steps.size(); ++at) {
        ir::step const& s = plan.steps[at];
        if (s.kind == kind && s.what == what) return depth > 0;
        depth += s.kind == ir::step_kind::loop ? 1 : s.kind == ir::step_kind::end ? -1 : 0;
    }
    return false;
}
inline spent_text text_of(plan_value const& plan, spent const& one) {
    machine const& where = *plan.where;
    auto const at = one.position;
    auto const buffer_name = [&](int b) { return plan.buffers[b].name.str(); };
    auto const intrinsic = [&]() -> intrinsic_description const& { return where.intrinsics[plan.bodies[at].intrinsic]; };
    auto const moved = [&]() -> movement const& { return plan.movements[at]; };
    auto const begun = [&](std::string const& does) {
        return spent_text{does + ", where a sum starts", "an intrinsic that starts it, if the hardware has one"};
    };
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
            if (is_begun(plan, moved().destination)) return begun("waits until " + by.name.str() + " has filled " + to);
            return {"waits until " + by.name.str() + " has filled " + to,
                    "asynchronous() and buffers(2), if the hardware goes on by itself"};
        }
        case spent_on::asking_copy: return queue(where.transfers[moved().transfer].engine_name.str());
        case spent_on::waiting: {
            ring const& r = plan.rings[plan.waits[at].ring];
            std::string const name = buffer_name(r.buffer);
            // Versions help neither what is stored last nor what has to be loaded first.
            if (r.stores && !is_in_loop(plan, ir::step_kind::wait, at)) return {"waits until " + name + " is stored", ""};
            if (r.stores) return {"waits until " + name + " is stored", r.versions == 1 ? "buffers(2)" : "more versions"};
            if (is_begun(plan, r.buffer)) return begun("waits for " + name);
            if (one.first) return {"waits for the first load of " + name, ""};
            return {"waits for " + name, r.versions == 1 ? "buffers(2)" : "a longer prefetch, with more versions"};
        }
        case spent_on::joining: {
            link const& l = plan.links[plan.waits[at].link];
            std::string const engine = where.engines[l.from].name.str();
            bool const of_versions = l.ring >= 0 && !plan.rings[l.ring].is_moved();
            int const read = of_versions ? plan.rings[l.ring].buffer : still_read(plan, l.from, at);
            if (read < 0) return {"waits for " + engine, ""};
            std::string const help = of_versions ? "more versions" : plan.buffers[read].versions == 1 ? "buffers(2)" : "";
            return {"waits until " + engine + " has read " + buffer_name(read), help};
        }
        case spent_on::caches: return {"cleans or invalidates its cache", ""};
        case spent_on::meeting: return {"waits for other cores at barriers", "shares of equal size"};
        case spent_on::listening: return {"waits for core " + std::to_string(plan.messages[at].from), "more versions of what it computes"};
        case spent_on::token: {
            link const& l = plan.links[plan.waits[at].link];
            std::string const engine = where.engines[l.from].name.str();
            if (l.ring < 0) return {"held back by a token of " + engine, ""};
            buffer const& b = plan.buffers[plan.rings[l.ring].buffer];
            ring const& r = plan.rings[l.ring];
            bool const brings = r.is_moved() && !r.stores && where.engine_of_lane(plan.lane_of(r, 0)) == l.from;  // what is waited for
            std::string const help = b.versions == 1 ? "buffers(2)" : brings ? "" : "more versions";
            return {"held back until " + engine + " is done with " + b.name.str(), help};
        }
        case spent_on::place:
            return {"held back by " + (at < 0 ? "another engine" : lane_name(where, at)) + ", which uses what it touches", ""};
        case spent_on::room: return {"held back by jobs in its queue that are not complete", "a deeper queue, if the hardware has one"};
        case spent_on::ending: break;
    }
    return {at < 0 ? "has done its share" : "waits at the end for " + lane_name(where, at), ""};
}

/// What a core or a channel does with a part of the cycles.
struct cycle_share {
    std::int64_t cycles = 0;
    bool of_core = false;
    spent_on on = spent_on::code;  ///< of a core, or what the core does instead of asking a channel
    int position = 0;
    enum class kind : std::uint8_t { spent, busy, not_asked, held_back, after } is = kind::spent;
    std::string what, help;
};
/// A core, or a channel that works: its shares add up to all cycles, the largest first.
struct cycle_row {
    std::string name;
    std::vector<cycle_share> shares;
};
/// Every core of a plan, and after each its channels. Things of one text are one share.
inline std::vector<cycle_row> rows_of(plan_value const& plan, cycle_accounts const& all) {
    machine const& where = *plan.where;
    std::vector<cycle_row> rows;
    auto const add = [&](std::string const& name, std::vector<cycle_share> const& shares) {
        cycle_row row{name, {}};
        for (cycle_share const& s : shares) {
            if (s.cycles <= 0) continue;
            auto const found = std::find_if(row.shares.begin(), row.shares.end(),
                                            [&](cycle_share const& other) { return other.what == s.what && other.help == s.help; });
            if (found == row.shares.end()) row.shares.push_back(s);
            else found->cycles += s.cycles;
        }
        std::stable_sort(row.shares.begin(), row.shares.end(),
                         [](cycle_share const& a, cycle_share const& b) { return a.cycles > b.cycles; });
        rows.push_back(std::move(row));
    };
    for (std::size_t core = 0; core < all.cores.size(); ++core) {
        std::string const number = all.cores.size() > 1 ? "core " + std::to_string(core) + ", " : "";
        std::string const called = where.core_at(static_cast<int>(core)).name.str();
        std::vector<cycle_share> shares;
        for (auto const& [what, cycles] : all.cores[core].core) {
            spent_text const text = text_of(plan, what);
            shares.push_back({cycles, true, what.on, what.position, cycle_share::kind::spent, text.what, text.help});
        }
        add(number + called, shares);
        for (std::size_t lane = 0; lane < all.cores[core].channels.size(); ++lane) {
            channel_account const& c = all.cores[core].channels[lane];
            if (c.busy == 0) continue;
            shares = {{.cycles = c.busy, .is = cycle_share::kind::busy, .what = "busy", .help = ""},
                      {.cycles = c.after, .is = cycle_share::kind::after, .what = "after its last job", .help = ""}};
            for (auto const& [what, cycles] : c.held_by) {
                spent_text const text = text_of(plan, what);
                shares.push_back({cycles, false, what.on, what.position, cycle_share::kind::held_back, text.what, text.help});
            }
            for (auto const& [what, cycles] : c.instead) {
                spent_text const text = text_of(plan, what);
                shares.push_back({cycles, false, what.on, what.position, cycle_share::kind::not_asked,
                                  "not asked, while " + called + " " + text.what, text.help});
            }
            add(number + lane_name(where, static_cast<int>(lane)), shares);
        }
    }
    return rows;
}

/// What costs a core most besides work; empty: nothing that something would help.
inline std::string worst_wait(plan_value const& plan, cycle_accounts const& all) {
    cycle_share worst;
    std::string who;
    for (cycle_row const& row : all.resolved ? rows_of(plan, all) : std::vector<cycle_row>()) {
        for (cycle_share const& s : row.shares) {
            if (s.of_core && s.on != spent_on::code && !s.help.empty() && s.cycles > worst.cycles) worst = s, who = row.name;
        }
    }
    if (worst.cycles == 0) return "";
    return "for " + percent(worst.cycles, all.cycles) + " of the cycles, " + who + " " + worst.what + "; what would help: " + worst.help;
}

/// What a core does for most of its cycles, and what would help.
inline std::string costliest(plan_value const& plan, cycle_accounts const& all) {
    cycle_share most;
    for (cycle_row const& row : all.resolved ? rows_of(plan, all) : std::vector<cycle_row>()) {
        for (cycle_share const& s : row.shares) {
            if (s.of_core && s.cycles > most.cycles) most = s;
        }
    }
    if (most.cycles == 0) return "";
    return percent(most.cycles, all.cycles) + " " + most.what + (most.help.empty() ? "" : ": " + most.help);
}

}  // namespace reports

/// Where the predicted cycles go: what each core does and waits for, and why each channel of an engine stands still, largest first; then
/// what would help. The cycles of a core, and of a channel, add up to all. A plan that was refused is its verdict.
///
/// ```
/// host    4,096  47.6 %  waits until array has done mac16: asynchronous(), if the hardware goes on by itself
/// host    1,664  19.3 %  waits for A.spad: buffers(2)
/// loader  4,096  47.6 %  not asked, while host waits until array has done mac16: asynchronous(), if the hardware goes on by itself
/// loader  2,048  23.8 %  busy
/// ```
/// @throws bad_query when extents are left to run time
inline std::string cycle_account(plan_value const& plan) {
    using namespace reports;
    if (plan.refusal) return refused_text(plan);
    cycle_accounts const all = accounts_of(plan);
    if (!all.resolved) return "the cycles of this plan are not resolved\n";
    using enum table::side;
    table text({left, right, right, left});
    for (cycle_row const& row : rows_of(plan, all)) {
        for (cycle_share const& s : row.shares)
            text.add({row.name, grouped(s.cycles), percent(s.cycles, all.cycles), s.help.empty() ? s.what : s.what + ": " + s.help});
    }
    return grouped(all.cycles) + " cycles\n" + text.str();
}

}  // namespace tilewright
