#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <tilewright/base/label_text.hpp>

#include "fuzz/draw_instruction.hpp"
#include "fuzz/names.hpp"
#include "fuzz/recipe.hpp"

namespace fuzz {

/// Draws how a case runs: loops of each stage, where stages are computed, and what is staged where.
class schedule_drawer {
  public:
    schedule_drawer(dice& random, names& named, drawn_case& into) : random_(random), names_(named), case_(into) {}

    struct loop {
        std::string name;
        std::int64_t extent = 1;
        bool reduced = false;
        bool open = false;  ///< how often it runs is left to run time
    };
    /// What became of the one stage that instructions may compute.
    struct tensorized {
        int stage = -1;  ///< -1: none
        instruction_drawer::made steps{};
        std::map<int, std::vector<loop>> nests{};  ///< the loops of the stage that computes a tensor
    };

    /// @param wanted  the stage that instructions shall compute, where they can; -1: as it is drawn
    tensorized draw(int wanted = -1) {
        tensorized by;
        std::vector<std::vector<loop>> nests(case_.stages.size());
        for (std::size_t at = case_.stages.size(); at-- > 0;) {
            stage const& s = case_.stages[at];
            bool const last = at + 1 == case_.stages.size();
            std::vector<loop> around;  // of consumers, where this stage is computed inside of them
            if (!last) {
                std::vector<loop> const& consumer = nests[at + 1];
                if (!consumer.empty() && random_.percent(readers_of(s.output) > 1 ? 8 : 60)) {
                    std::size_t const level = static_cast<std::size_t>(random_.below(static_cast<int>(consumer.size())));
                    push({.kind = directive_kind::compute_at, .names = {consumer[level].name}, .tensor = s.output});
                    around.assign(consumer.begin(), consumer.begin() + static_cast<std::ptrdiff_t>(level) + 1);
                }
                memory const& home = case_.where.memories[random_.between(1, 2)];
                push({.kind = directive_kind::store_in, .names = {home.name.str()}, .tensor = s.output});
                if (random_.one_in(4)) refine_place(s.output, home);
                // Mostly where an instruction reads it that the core does not wait for.
                if (!around.empty() && (is_aside(by.steps) ? !random_.one_in(3) : random_.one_in(60)))
                    push({.kind = directive_kind::buffers, .numbers = {random_.between(1, 4)}});
                push({.kind = directive_kind::stage, .tensor = s.output});
            }
            bool const may =
                wanted >= 0 ? static_cast<int>(at) == wanted
                            : case_.where.instructions.empty() && around.empty() && random_.percent(case_.stages.size() == 1 ? 35 : 15);
            if (may) {
                instruction_drawer::made const steps = instruction_drawer(random_, names_, case_).draw(s);
                if (!steps.name.empty()) {
                    nests[at] = draw_tensorized(s, last, steps);
                    by.stage = static_cast<int>(at), by.steps = steps;
                    continue;
                }
            }
            nests[at] = draw_stage(s, last, around);
        }
        for (std::size_t at = 0; at < nests.size(); ++at) by.nests[case_.stages[at].output] = nests[at];
        return by;
    }

  private:
    void push(directive d) { case_.directives.push_back(std::move(d)); }
    std::string fresh(std::string const& of, char const* suffix) { return names_.take(of.substr(0, 12) + suffix); }

    void split(std::vector<loop>& loops, std::size_t at, std::int64_t factor) {
        loop const parent = loops[at];
        loop const outer{fresh(parent.name, "o"), (parent.extent + factor - 1) / factor, parent.reduced, parent.open},
            inner{fresh(parent.name, "i"), std::min(factor, parent.extent), parent.reduced};
        push({.kind = directive_kind::split, .names = {parent.name, outer.name, inner.name}, .numbers = {factor}});
        loops[at] = outer;
        name_of_inner_[parent.name] = inner.name;
        loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(at) + 1, inner);
    }
    void fuse(std::vector<loop>& loops, std::size_t at) {
        loop const fused{names_.take("fused"), loops[at].extent * loops[at + 1].extent, loops[at].reduced,
                         loops[at].open || loops[at + 1].open};
        push({.kind = directive_kind::fuse, .names = {loops[at].name, loops[at + 1].name, fused.name}});
        loops[at] = fused;
        loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    std::int64_t any_factor(std::int64_t extent) {
        if (random_.one_in(3)) {
            std::vector<std::int64_t> divisors;
            for (std::int64_t d = 1; d <= extent; ++d) {
                if (extent % d == 0) divisors.push_back(d);
            }
            return random_.any_of(divisors);
        }
        return random_.between(1, static_cast<int>(std::min<std::int64_t>(extent + 1, 24)));
    }

    /// Its loops afterwards. @param around  loops of the stage that it is computed in
    std::vector<loop> draw_stage(stage const& s, bool last, std::vector<loop> const& around) {
        std::vector<loop> loops;
        for (int at = 0; at < static_cast<int>(s.axes.size()); ++at) {
            axis const& a = s.axes[at];
            loops.push_back({a.name, a.extent, at >= s.rank, a.open});
        }
        bool const open = std::any_of(s.axes.begin(), s.axes.end(), [](axis const& a) { return a.open; });
        int const way = random_.weighted({45, 40, 15});
        if (way == 0) tile(loops, open);
        if (way == 1) change_at_random(loops);
        if (random_.one_in(40)) mark(loops, directive_kind::parallel, 16);
        else if (random_.percent(33)) mark(loops, directive_kind::vectorize, 32);
        else if (random_.percent(30)) mark(loops, directive_kind::unroll, 12);
        bool const staged = random_.percent(78);
        if (staged) draw_staging(s, last, loops, around);
        return loops;
    }
    /// Tiles of whole steps, or not, with their operands where the instruction takes them.
    std::vector<loop> draw_tensorized(stage const& s, bool last, instruction_drawer::made const& steps) {
        std::vector<loop> outer, inner;
        std::string rows;
        for (int at = 0; at < static_cast<int>(s.axes.size()); ++at) {
            axis const& a = s.axes[at];
            loop const whole{a.name, a.extent, at >= s.rank, a.open};
            if (at == steps.rows) {
                std::vector<loop> both{whole, {s.axes[at + 1].name, s.axes[at + 1].extent, at >= s.rank}};
                fuse(both, 0);
                rows = both[0].name;
                inner.push_back(both[0]);
                ++at;
                continue;
            }
            auto const found = std::find(steps.axes.begin(), steps.axes.end(), at);
            if (found == steps.axes.end()) {
                outer.push_back(whole);
                continue;
            }
            std::int64_t const step = steps.extents[found - steps.axes.begin()];
            std::vector<loop> both{whole};
            if (!a.open && random_.one_in(3)) inner.push_back(whole);
            else {
                split(both, 0, random_.one_in(4) ? random_.between(1, 14) : step * random_.between(1, 4));
                outer.push_back(both[0]), inner.push_back(both[1]);
            }
        }
        if (random_.one_in(3)) random_.shuffle(outer);
        // The loops of the steps stand innermost, in the order in which they are named.
        std::vector<loop> ordered;
        directive by{.kind = directive_kind::tensorize, .names = {steps.name}};
        for (int at : steps.axes) {
            std::string const& name = at == steps.rows ? rows : s.axes[at].name;
            for (loop const& l : inner) {
                if (l.name == name || l.name == name_of_inner_[name]) ordered.push_back(l), by.names.push_back(l.name);
            }
        }
        std::vector<loop> loops = outer;
        loops.insert(loops.end(), ordered.begin(), ordered.end());
        if (loops.size() >= 2) {
            directive order{.kind = directive_kind::reorder};
            for (loop const& l : loops) order.names.push_back(l.name);
            push(order);
        }
        std::vector<int> staged;
        int finished = 0;
        while (finished < static_cast<int>(outer.size()) && !outer[finished].reduced) ++finished;
        auto const stage_operand = [&](bool write, int which, int highest) {
            if (std::find(staged.begin(), staged.end(), which) != staged.end()) return;
            staged.push_back(which);
            if (random_.one_in(30)) return;
            std::string const& name = steps.memories[which];
            memory const& where = case_.where.memories[case_.where.memories[1].name == ir::label(name.c_str()) ? 1 : 2];
            if (case_.computes(which) && !write) return;
            stage_in(write, which, where, case_.where.memories[0], loops, random_.between(0, highest));
        };
        each_value_of(s, [&](value const& v) {
            if (v.op == operation::access) stage_operand(false, v.which, static_cast<int>(outer.size()));
        });
        if (last) stage_operand(true, s.output, finished);
        push(by);
        return outer;
    }
    /// Outer loops around inner ones, the outer ones in another order.
    void tile(std::vector<loop>& loops, bool open) {
        std::vector<loop> outer, inner;
        std::vector<loop> const before = loops;
        for (loop const& l : before) {
            if (before.size() > 4 && random_.one_in(3)) {
                (random_.one_in(2) ? outer : inner).push_back(l);
                continue;
            }
            std::vector<loop> both{l};
            split(both, 0, open ? random_.between(1, 12) : any_factor(l.extent));
            outer.push_back(both[0]), inner.push_back(both[1]);
        }
        std::size_t const reduced =
            static_cast<std::size_t>(std::count_if(outer.begin(), outer.end(), [](loop const& l) { return l.reduced; }));
        // Most often loops of the result stand outside, so that there is a place to store from.
        if (random_.one_in(3)) random_.shuffle(outer);
        else if (outer.size() > reduced) {
            std::stable_partition(outer.begin(), outer.end(), [](loop const& l) { return !l.reduced; });
            std::vector<loop> first(outer.begin(), outer.end() - static_cast<std::ptrdiff_t>(reduced));
            random_.shuffle(first);
            std::copy(first.begin(), first.end(), outer.begin());
        }
        if (random_.one_in(4)) random_.shuffle(inner);
        loops = outer;
        loops.insert(loops.end(), inner.begin(), inner.end());
        if (loops.size() >= 2) {
            directive order{.kind = directive_kind::reorder};
            for (loop const& l : loops) order.names.push_back(l.name);
            push(order);
        }
        if (outer.size() >= 2 && random_.one_in(4)) {
            std::size_t const at = static_cast<std::size_t>(random_.below(static_cast<int>(outer.size()) - 1));
            if (loops[at].reduced == loops[at + 1].reduced) {
                fuse(loops, at);
                if (random_.one_in(2)) split(loops, at, random_.between(1, 9));
            }
        }
    }
    void change_at_random(std::vector<loop>& loops) {
        for (int times = random_.below(5); times > 0 && !loops.empty(); --times) {
            std::size_t const at = static_cast<std::size_t>(random_.below(static_cast<int>(loops.size())));
            if (random_.one_in(4) && at + 1 < loops.size()) {
                if (loops[at].reduced == loops[at + 1].reduced || random_.one_in(8)) fuse(loops, at);
            } else if (loops.size() < 8) {
                split(loops, at, any_factor(loops[at].extent));
            }
        }
        for (int times = random_.below(3); times > 0 && loops.size() > 1; --times) {
            int const count = static_cast<int>(loops.size());
            std::size_t a = static_cast<std::size_t>(random_.below(count)), b = static_cast<std::size_t>(random_.below(count));
            if (a == b) continue;
            std::swap(loops[a], loops[b]);
            if (a > b) std::swap(a, b);
            push({.kind = directive_kind::reorder, .names = {loops[a].name, loops[b].name}});
        }
    }
    /// How a loop further in is written out; of many iterations, a part of it.
    void mark(std::vector<loop>& loops, directive_kind how, std::int64_t most) {
        if (loops.empty()) return;
        std::size_t at = how == directive_kind::parallel ? 0 : loops.size() - 1;
        if (random_.one_in(5)) at = static_cast<std::size_t>(random_.below(static_cast<int>(loops.size())));
        if (how == directive_kind::vectorize && loops[at].reduced && !random_.one_in(4)) {
            for (std::size_t other = loops.size(); other-- > 0;) {
                if (loops[other].reduced) continue;
                at = other;
                break;
            }
        }
        directive d{.kind = how, .names = {loops[at].name}};
        if (loops[at].extent > most || (how != directive_kind::parallel && random_.one_in(4))) {
            if (how == directive_kind::parallel) return;
            std::int64_t const factor = random_.between(2, 8);
            d.numbers = {factor};
            // The loop is gone, but for parts whose names hold a dot.
            loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(at));
        }
        push(d);
    }

    void refine_place(int tensor_at, memory const& where) {
        int const rank = rank_of(tensor_at);
        if (where.banks > 1 && random_.one_in(2)) push({.kind = directive_kind::in_bank, .numbers = {random_.below(where.banks)}});
        else if (rank > 0 && layouts_ < schedule::most_layouts) draw_layout(tensor_at, rank, where.banks);
    }
    bool is_aside(instruction_drawer::made const& steps) const {
        return std::any_of(case_.where.instructions.begin(), case_.where.instructions.end(),
                           [&](instruction const& one) { return one.name == steps.name && one.asynchronous; });
    }
    int readers_of(int tensor_at) const {
        int count = 0;
        for (stage const& s : case_.stages) {
            bool reads = false;
            each_value_of(s, [&](value const& v) { reads |= v.op == operation::access && v.which == tensor_at; });
            count += reads ? 1 : 0;
        }
        return count;
    }
    int rank_of(int tensor_at) const {
        for (stage const& s : case_.stages) {
            if (s.output == tensor_at) return s.rank;
        }
        int rank = 0;
        for (stage const& s : case_.stages) {
            each_value_of(s, [&](value const& v) {
                if (v.op == operation::access && v.which == tensor_at) rank = static_cast<int>(v.at.size());
            });
        }
        return rank;
    }
    /// Splits some dimensions of the box, puts the parts in another order, and perhaps one of them in front of a separator.
    void draw_layout(int, int rank, int banks) {
        directive d{.kind = directive_kind::layout, .coordinates = rank};
        int most_parts = max_rank - rank;
        for (int dimension = 0; dimension < rank; ++dimension) {
            std::int64_t step = 1;
            for (int splits = random_.below(3); splits > 0 && most_parts > 0; --splits, --most_parts) {
                std::int64_t const factor = random_.between(1, 7);
                d.layout.push_back({dimension, step * factor, step});
                step *= factor;
            }
            d.layout.push_back({dimension, 0, step});
        }
        if (!random_.one_in(4)) random_.shuffle(d.layout);
        auto const block =
            std::find_if(d.layout.begin(), d.layout.end(), [&](layout_part const& p) { return p.below > 0 && p.below / p.step <= banks; });
        if (block != d.layout.end() && random_.one_in(2)) {
            std::iter_swap(d.layout.begin(), block);
            d.separates = true;
        }
        ++layouts_;
        push(d);
    }

    void draw_staging(stage const& s, bool last, std::vector<loop> const& loops, std::vector<loop> const& around) {
        std::vector<int> read;
        each_value_of(s, [&](value const& v) {
            bool const new_one = v.op == operation::access && std::find(read.begin(), read.end(), v.which) == read.end();
            if (new_one && (!case_.computes(v.which) || random_.one_in(4))) read.push_back(v.which);
        });
        std::vector<loop> levels = around;
        levels.insert(levels.end(), loops.begin(), loops.end());
        std::size_t const begins = around.size();
        memory const &l2 = case_.where.memories[1], &l1 = case_.where.memories[2];
        // Nothing is staged inside of lanes.
        int const deepest = random_.one_in(12) ? static_cast<int>(levels.size()) : static_cast<int>(begins + outside_of_lanes(loops));
        // Mostly at the loops further out.
        auto const any_level = [&](int lowest, int highest) {
            int const usual = std::min(highest, static_cast<int>(begins + loops.size() / 2) + 1);
            return random_.between(std::min(lowest, highest), random_.one_in(4) ? highest : std::max(usual, std::min(lowest, highest)));
        };
        for (int which : read) {
            int const choice = random_.weighted({25, 15, 40, 20});
            int level = 0;
            memory home = case_.where.memories[0];
            for (directive const& d : case_.directives) {
                if (d.kind != directive_kind::store_in || d.tensor != which) continue;
                home = ir::label(d.names[0].c_str()) == l2.name ? l2 : l1;
            }
            bool const in_l2 = (choice == 1 || choice == 3) && !(home.name == l2.name && !random_.one_in(10));
            if (in_l2) level = stage_in(false, which, l2, home, levels, any_level(0, deepest));
            if (choice >= 2 && !(home.name == l1.name && !in_l2))
                stage_in(false, which, l1, in_l2 ? l2 : home, levels, any_level(level, deepest));
        }
        if (!last && !random_.one_in(5)) return;
        int finished = static_cast<int>(begins);  // loops outside of which nothing is reduced
        while (finished < deepest && !levels[finished].reduced) ++finished;
        int const furthest = random_.one_in(6) ? deepest : finished;
        int const choice = random_.weighted({30, 15, 40, 15});
        int level = 0;
        bool const in_l2 = choice == 1 || choice == 3;
        if (in_l2) level = stage_in(true, s.output, l2, case_.where.memories[0], levels, any_level(0, furthest));
        if (choice >= 2) stage_in(true, s.output, l1, in_l2 ? l2 : case_.where.memories[0], levels, any_level(level, furthest));
    }
    std::size_t outside_of_lanes(std::vector<loop> const& loops) const {
        std::size_t count = loops.size();
        for (directive const& d : case_.directives) {
            for (std::size_t at = 0; at < loops.size() && d.kind == directive_kind::vectorize; ++at) {
                if (loops[at].name == d.names[0]) count = std::min(count, at);
            }
        }
        return count;
    }
    /// @param beyond  where it comes from, or goes to
    int stage_in(bool write, int which, memory const& where, memory const& beyond, std::vector<loop> const& levels, int level) {
        push({.kind = write ? directive_kind::cache_write : directive_kind::cache_read, .names = {where.name.str()}, .tensor = which});
        if (level > 0) push({.kind = directive_kind::at, .names = {levels[level - 1].name}});
        bool const overlaps = std::any_of(case_.where.transfers.begin(), case_.where.transfers.end(), [&](move const& m) {
            bool const mine = write ? m.what.source == where.name && m.what.destination == beyond.name
                                    : m.what.destination == where.name && m.what.source == beyond.name;
            return mine && (m.what.is_asynchronous || random_.one_in(20));
        });
        int const versions = overlaps && level > 0 && !random_.one_in(4) ? random_.between(1, 4) : 1;
        if (versions > 1) push({.kind = directive_kind::buffers, .numbers = {versions}});
        if (!write && versions > 1 && random_.one_in(3)) push({.kind = directive_kind::prefetch, .numbers = {random_.below(versions)}});
        if (where.banks > 1 && random_.one_in(5)) push({.kind = directive_kind::in_bank, .numbers = {random_.below(where.banks)}});
        int const rank = rank_of(which);
        if (rank > 0 && layouts_ < schedule::most_layouts && random_.percent(30)) draw_layout(which, rank, where.banks);
        return level;
    }

    dice& random_;
    names& names_;
    drawn_case& case_;
    int layouts_ = 0;
    std::map<std::string, std::string> name_of_inner_{};  ///< of a loop that was split
};

}  // namespace fuzz
