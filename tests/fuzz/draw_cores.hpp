#pragma once
#include <tilewright/base/label_text.hpp>
#include <type_traits>
#include <utility>

#include "fuzz/draw_schedule.hpp"

namespace fuzz {

/// Of every four seeds, one is of a kernel for a machine of one to four cores; none of these is a program.
constexpr std::uint64_t cores_every = 4;
constexpr bool is_for_cores(std::uint64_t seed) { return seed % cores_every == 2; }

/// Makes a kernel one for several cores: how many there are, what each has of its own, and which core does what.
///
/// The machine and the schedule are drawn already. Loops become shares, or stages run on cores of their own; then what is staged moves,
/// most often, to where the cores can have it: inside of shares to memories that are `per_core`, outside of them to others.
class cores_drawer {
  public:
    using loop = schedule_drawer::loop;

    cores_drawer(dice& random, names& named, drawn_case& into, std::map<int, std::vector<loop>> nests)
        : random_(random), names_(named), case_(into), nests_(std::move(nests)) {}

    void draw() {
        bool const by_stages = case_.stages.size() > 1 && random_.percent(50);
        draw_team(by_stages);
        if (!by_stages || random_.one_in(20)) draw_multicasts();
        if (by_stages) hand_out_stages();
        else share_loops();
        move_homes(by_stages);
        if (!by_stages) move_copies();
        forget_twins();
    }

  private:
    machine_parts& where() { return case_.where; }
    memory* find_memory(std::string const& name) {
        for (memory& m : where().memories) {
            if (m.name == ir::label(name.c_str())) return &m;
        }
        return nullptr;
    }
    bool tensorizes() const {
        return std::any_of(case_.directives.begin(), case_.directives.end(),
                           [](directive const& d) { return d.kind == directive_kind::tensorize; });
    }

    void draw_team(bool by_stages) {
        if (where().cores.empty()) where().cores.push_back({.name = ir::label(names_.take("core").c_str())});
        core& team = where().cores.front();
        team.count = 1 + random_.weighted({6, 32, 27, 35});
        if (random_.one_in(2)) team.barrier_cycles = random_.below(40);
        if (random_.one_in(2)) team.signal_cycles = random_.below(25);
        if (random_.one_in(5)) team.signal_queues = random_.below(5);
        if (random_.one_in(5)) team.signal_capacity = random_.between(1, 4);
        // Which of the memories each core has one of: mostly the smaller, and both where instructions say what lies where.
        int const own = by_stages      ? random_.weighted({50, 30, 15, 5})
                        : tensorizes() ? random_.weighted({4, 15, 6, 75})
                                       : random_.weighted({4, 58, 18, 20});
        for (int which : {1, 2}) {
            memory& m = where().memories[static_cast<std::size_t>(which)];
            m.per_core = own == 3 || (own == 1 && which == 2) || (own == 2 && which == 1);
            if (!m.per_core || !m.has_address() || m.is_numbered() || random_.one_in(2)) continue;
            for (int core = 0; core < team.count; ++core)
                m.core_bases[core] = m.bank_base(0) + static_cast<std::uint64_t>(core) * 0x100'0000;
        }
        for (engine& e : where().engines) {
            int const how = random_.weighted({62, 28, 10});
            e.per_core = how == 0;
            if (how == 1) e.channels = std::max(e.channels, team.count * random_.between(1, 2));
        }
        // Engines with several channels have no tokens.
        std::erase_if(where().tokens, [&](tilewright::tokens const& t) {
            return std::any_of(where().engines.begin(), where().engines.end(),
                               [&](engine const& e) { return e.channels > 1 && (e.name == t.from || e.name == t.to); });
        });
    }

    /// Makes some transfers again as multicasts, where the machine can have them.
    void draw_multicasts() {
        constexpr std::size_t most = 12;
        auto const is_own = [&](ir::label const& name) { return is_per_core(name.str()); };
        std::size_t const drawn = where().transfers.size();
        for (std::size_t at = 0; at < drawn && where().transfers.size() < most; ++at) {
            move again = where().transfers[at];
            transfer& t = again.what;
            if (is_own(t.source) || !is_own(t.destination) || where().cores.front().count == 1 || random_.percent(35)) continue;
            t.name = t.call.symbol = ir::label(names_.take("all").c_str());
            if (!t.core_name.empty()) t.core_name = {}, t.most_dimensions = random_.between(1, 4);
            t.multicast();
            for (memory const& m : where().memories) {
                if (m.name == t.destination) reached_.insert(m.name.str());
            }
            where().transfers.push_back(again);
        }
    }

    /// The directives that are spoken of a stage: [begin, end).
    struct section {
        std::size_t begin = 0, end = 0;
    };
    section section_of(std::size_t stage_at) const {
        section found{0, case_.directives.size()};
        bool inside = stage_at + 1 == case_.stages.size();
        for (std::size_t at = 0; at < case_.directives.size(); ++at) {
            directive const& d = case_.directives[at];
            if (d.kind != directive_kind::stage) continue;
            if (inside) return {found.begin, at};
            inside = d.tensor == case_.stages[stage_at].output;
            if (inside) found.begin = at + 1;
        }
        return inside ? found : section{case_.directives.size(), case_.directives.size()};
    }
    static bool changes_loops(directive_kind is) {
        using enum directive_kind;
        return is == split || is == fuse || is == reorder || is == unroll || is == vectorize || is == parallel;
    }
    /// Behind the directives that make the loops of a stage; sometimes before some of them.
    void add_to_nest(std::size_t stage_at, directive d) {
        section const own = section_of(stage_at);
        std::size_t place = own.begin;
        for (std::size_t at = own.begin; at < own.end; ++at) {
            if (changes_loops(case_.directives[at].kind)) place = at + 1;
        }
        if (place > own.begin && random_.one_in(10)) --place;
        case_.directives.insert(case_.directives.begin() + static_cast<std::ptrdiff_t>(place), std::move(d));
    }
    bool is_marked(std::string const& name) const {
        return std::any_of(case_.directives.begin(), case_.directives.end(), [&](directive const& d) {
            bool const marks =
                d.kind == directive_kind::unroll || d.kind == directive_kind::vectorize || d.kind == directive_kind::parallel;
            return marks && d.names.at(0) == name;
        });
    }
    /// Where a stage is computed: the name of a loop of a later stage; empty: as a whole.
    std::string level_of(int output) const {
        for (directive const& d : case_.directives) {
            if (d.kind == directive_kind::compute_at && d.tensor == output) return d.names.at(0);
        }
        return {};
    }

    void share_loops() {
        std::string const team = where().cores.front().name.str();
        int const all = where().cores.front().count, some = random_.one_in(4) ? random_.between(1, all) : all;
        for (std::size_t at = case_.stages.size(); at-- > 0;) {
            std::vector<loop> const& nest = nests_[case_.stages[at].output];
            std::string const level = level_of(case_.stages[at].output);
            if (shares_.count(level) > 0) {
                for (loop const& l : nest) shares_.insert(l.name);
                if (!random_.one_in(30)) continue;
            }
            if (at + 1 < case_.stages.size() && random_.percent(35)) continue;
            std::vector<std::size_t> able;
            for (std::size_t position = 0; position < nest.size(); ++position) {
                loop const& l = nest[position];
                bool const fits = !l.reduced && !l.open && !is_marked(l.name);
                if ((fits && (l.extent > 1 || random_.one_in(6))) || random_.one_in(60)) able.push_back(position);
            }
            if (able.empty()) continue;
            std::size_t const chosen = random_.percent(60) ? able.front() : random_.any_of(able);
            std::string const& name = nest[chosen].name;
            directive d{.kind = directive_kind::distribute, .names = {name, team}};
            if (some != all || random_.one_in(6)) d.numbers = {random_.one_in(40) ? random_.between(1, all + 1) : some};
            add_to_nest(at, d);
            for (std::size_t inside = chosen; inside < nest.size(); ++inside) shares_.insert(nest[inside].name);
            entries_[at] = random_.one_in(2) ? name : name + ".core";
            shares_.insert(name + ".core");
        }
    }
    void hand_out_stages() {
        int const count = where().cores.front().count;
        std::vector<int> numbers(case_.stages.size());
        for (int& number : numbers) number = random_.below(count);
        bool const alike = std::all_of(numbers.begin(), numbers.end(), [&](int number) { return number == numbers.front(); });
        if (alike && !random_.one_in(15)) numbers.front() = (numbers.front() + 1) % count;
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            int const number = random_.one_in(60) ? count : numbers[at];
            directive d{.kind = directive_kind::on, .names = {where().cores.front().name.str()}, .numbers = {number}};
            if (number != 0 || random_.one_in(4)) add_to_nest(at, d);
            bool handed_over = false;
            for (std::size_t reader = at + 1; reader < numbers.size(); ++reader) {
                bool reads = false;
                each_value_of(case_.stages[reader],
                              [&](value const& v) { reads |= v.op == operation::access && v.which == case_.stages[at].output; });
                handed_over |= reads && numbers[reader] != numbers[at];
            }
            if (handed_over && !level_of(case_.stages[at].output).empty() && random_.percent(65)) add_versions(case_.stages[at].output);
        }
    }
    void add_versions(int output) {
        for (std::size_t at = 0; at < case_.directives.size(); ++at) {
            if (case_.directives[at].kind != directive_kind::store_in || case_.directives[at].tensor != output) continue;
            case_.directives.insert(case_.directives.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                    {.kind = directive_kind::buffers, .numbers = {random_.between(2, 4)}});
            return;
        }
    }

    std::size_t end_of_block(std::size_t begin) const {
        std::size_t end = begin + 1;
        while (end < case_.directives.size() && description_of(case_.directives[end].kind).refines()) ++end;
        return end;
    }
    /// Puts what a directive places into the other memory, if that is one of the kind that is wanted. @return whether it is
    bool move_to_kind(std::size_t at, bool per_core) {
        memory const* const now = find_memory(case_.directives[at].names.at(0));
        memory const& other = where().memories[now == &where().memories[1] ? 2 : 1];
        if (now == nullptr || other.per_core != per_core) return false;
        case_.directives[at].names[0] = other.name.str();
        for (std::size_t refining = end_of_block(at); --refining > at;) {
            directive const& d = case_.directives[refining];
            if (d.kind == directive_kind::in_bank || (d.kind == directive_kind::layout && d.separates))
                case_.directives.erase(case_.directives.begin() + static_cast<std::ptrdiff_t>(refining));
        }
        return true;
    }
    bool is_per_core(std::string const& name) {
        memory const* const found = find_memory(name);
        return found != nullptr && found->per_core;
    }
    bool is_tensorized(std::size_t stage_at) const {
        section const own = section_of(stage_at);
        return std::any_of(case_.directives.begin() + static_cast<std::ptrdiff_t>(own.begin),
                           case_.directives.begin() + static_cast<std::ptrdiff_t>(own.end),
                           [](directive const& d) { return d.kind == directive_kind::tensorize; });
    }
    void move_homes(bool by_stages) {
        for (std::size_t at = 0; at < case_.directives.size(); ++at) {
            directive const& d = case_.directives[at];
            if (d.kind != directive_kind::store_in || random_.one_in(25)) continue;
            bool const wanted = !by_stages && shares_.count(level_of(d.tensor)) > 0;
            if (is_per_core(d.names.at(0)) != wanted) move_to_kind(at, wanted);
        }
    }
    void move_copies() {
        for (std::size_t stage_at = 0; stage_at < case_.stages.size(); ++stage_at) {
            bool const fixed = is_tensorized(stage_at);
            for (std::size_t at = section_of(stage_at).begin; at < section_of(stage_at).end; ++at) {
                directive const& d = case_.directives[at];
                if ((d.kind != directive_kind::cache_read && d.kind != directive_kind::cache_write) || random_.one_in(20)) continue;
                std::size_t level = at;
                for (std::size_t refining = at + 1; refining < end_of_block(at); ++refining) {
                    if (case_.directives[refining].kind == directive_kind::at) level = refining;
                }
                bool const inside = level > at && shares_.count(case_.directives[level].names.at(0)) > 0;
                // A multicast brings what stands outside to all cores.
                bool const to_all = !inside && d.kind == directive_kind::cache_read && entries_.count(stage_at) > 0 && !reached_.empty();
                if (to_all && !fixed && !is_per_core(d.names.at(0)) && random_.one_in(3)) move_to_kind(at, true);
                if (to_all && reached_.count(d.names.at(0)) > 0 && !random_.one_in(4)) continue;
                if (is_per_core(d.names.at(0)) == inside) continue;
                std::string const entry = entries_.count(stage_at) > 0 ? entries_.at(stage_at) : level_of(case_.stages[stage_at].output);
                if (inside) {
                    if (!fixed && move_to_kind(at, true)) continue;
                    case_.directives.erase(case_.directives.begin() + static_cast<std::ptrdiff_t>(level));
                } else if (shares_.count(entry) > 0 && (fixed || random_.percent(60))) {
                    if (level > at) case_.directives[level].names[0] = entry;
                    else
                        case_.directives.insert(case_.directives.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                                {.kind = directive_kind::at, .names = {entry}});
                } else if (!fixed) {
                    move_to_kind(at, false);
                }
            }
        }
    }
    /// What is in one memory twice now.
    void forget_twins() {
        for (std::size_t stage_at = 0; stage_at < case_.stages.size(); ++stage_at) {
            std::set<std::pair<int, std::string>> there;
            for (directive const& d : case_.directives) {
                if (d.kind == directive_kind::store_in) there.insert({d.tensor, d.names.at(0)});
            }
            for (std::size_t at = section_of(stage_at).begin; at < section_of(stage_at).end; ++at) {
                directive const& d = case_.directives[at];
                bool const copies = d.kind == directive_kind::cache_read || d.kind == directive_kind::cache_write;
                if (!copies || there.insert({d.tensor, d.names.at(0)}).second || random_.one_in(20)) continue;
                case_.directives.erase(case_.directives.begin() + static_cast<std::ptrdiff_t>(at),
                                       case_.directives.begin() + static_cast<std::ptrdiff_t>(end_of_block(at)));
                --at;
            }
        }
    }

    dice& random_;
    names& names_;
    drawn_case& case_;
    std::map<int, std::vector<loop>> nests_;        ///< of the stage that computes a tensor
    std::set<std::string> shares_{};                ///< loops inside of which each core runs its share
    std::set<std::string> reached_{};               ///< memories that multicasts write to
    std::map<std::size_t, std::string> entries_{};  ///< of a stage, the loop that its shares begin at
};

}  // namespace fuzz
