#pragma once
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tilewright/program/kernel_plans.hpp>

#include "program_recipe.hpp"
#include "scratch_check.hpp"

/// Programs that are drawn, and a check of their plans that shares nothing with the planner.
namespace programs {

using namespace tilewright;

class drawer {
  public:
    explicit drawer(std::uint32_t seed) : random_(seed) {}

    std::unique_ptr<drawn_program> draw() { return build(draw_recipe()); }
    recipe draw_recipe() {
        d_ = {};
        draw_machines();
        int const inputs = 1 + below(2);
        for (int at = 0; at < inputs; ++at) {
            int const columns = 4 + below(9), rows = 3 + below(10);
            pass_over(rows * columns);
            add_tensor("in" + std::to_string(at), rows, columns, drawn_tensor::kind::input, below(3) == 0 ? "act" : "l2");
        }
        int const kernels = 2 + below(10);
        for (int at = 0; at < kernels; ++at) draw_kernel(at);
        // What nobody reads is an output.
        std::vector<bool> read(d_.tensors.size());
        for (drawn_kernel const& k : d_.kernels) {
            read[k.first] = true;
            if (k.second >= 0) read[k.second] = true;
        }
        for (std::size_t at = 0; at < d_.tensors.size(); ++at) {
            drawn_tensor& t = d_.tensors[at];
            if (t.given() && !read[at]) return draw_recipe();  // an input that no kernel has is refused
            if (t.given()) continue;
            if (!read[at] || below(8) == 0) t.is = drawn_tensor::kind::output, t.where = below(3) == 0 ? "act" : "l2";
            else if (below(8) == 0) t.is = drawn_tensor::kind::pinned, t.where = below(2) == 0 ? "act" : "l2";
            else t.is = drawn_tensor::kind::spills, t.where = "l2";
        }
        d_.copies = below(12) != 0;
        return d_;
    }

  private:
    int below(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }
    /// Elements were drawn once, too: the programs of seeds stay what they were.
    void pass_over(int elements) { random_.discard(static_cast<unsigned long long>(elements)); }

    void draw_machines() {
        std::int64_t const act_bytes = 512 + 64 * below(24);
        int const banks = below(4) == 0 ? 2 : 1;
        memory const act{.name = "act", .capacity = act_bytes, .alignment = 16, .banks = below(6) == 0 ? 2 : 1, .wait_cycles = below(3)};
        memory const l2{.name = "l2", .capacity = 16_KiB, .alignment = 4, .wait_cycles = below(3)};
        memory const spad{
            .name = "spad", .base = 0x5000'0000, .capacity = 4_KiB, .alignment = 8, .banks = banks, .per_agent = below(2) == 0};
        memory const wei{.name = "wei", .capacity = 8_KiB};
        memory const tcm{.name = "tcm", .capacity = 4_KiB, .alignment = 4, .banks = banks};
        d_.memories = {l2, act, wei, tcm, spad};
        int const channels = static_cast<int>(act_bytes / 64);  // without drawing anew: cases stay what they were
        engine const dma{.name = "dma", .depth = 3, .channels = 1 + channels % 3},
            storer{.name = "storer", .channels = 1 + channels / 2 % 3, .per_agent = true};
        engine const loader{.name = "loader", .channels = 1 + channels % 4, .per_agent = below(2) == 0};
        engine const channel{.name = "channel", .depth = 2, .channels = 1 + channels % 2, .completes = completion::by_channel};
        d_.engines = {dma, channel, loader, storer};
        drawn_machine cpu{"cpu", {"l2", "act", "wei", "tcm"}, {"dma", "channel"}}, npu{"npu", {"act", "wei", "spad"}, {"loader", "storer"}};
        // Blocking, and beside the core: by one engine in, by another out, and in several calls or one.
        cpu.transfers.push_back(transfer("fetch", l2, act).on(dma).dimensions(2).row_limit(64));
        cpu.transfers.push_back(transfer("bring", l2, act)
                                    .on(dma)
                                    .asynchronous()
                                    .dimensions(1 + below(2))
                                    .row_limit(64)
                                    .cost({.latency = 7, .setup = 2, .bytes_per_cycle = 2}));
        drains_ = below(3) != 0;
        if (drains_) cpu.transfers.push_back(transfer("drain", act, l2).on(dma).cost({.latency = 10, .bytes_per_cycle = 2}));
        if (drains_)
            cpu.transfers.push_back(transfer("carry", act, l2)
                                        .on(channel)
                                        .asynchronous()
                                        .dimensions(1 + below(2))
                                        .row_limit(48)
                                        .cost({.latency = 5, .bytes_per_cycle = 4}));
        cpu.transfers.push_back(transfer("get", l2, tcm).on(dma).dimensions(2));
        cpu.transfers.push_back(transfer("get_act", act, tcm).dimensions(2));
        cpu.transfers.push_back(transfer("put", tcm, l2).dimensions(2));
        cpu.transfers.push_back(transfer("put_act", tcm, act).dimensions(2));
        npu.transfers.push_back(
            transfer("mvin", act, spad).on(loader).asynchronous().dimensions(2).cost({.latency = 6, .bytes_per_cycle = 4}));
        npu.transfers.push_back(
            transfer("mvout", spad, act).on(storer).asynchronous().dimensions(2).cost({.latency = 9, .bytes_per_cycle = 4}));
        d_.machines = {cpu, npu};
        d_.agents = {{.name = "cpu"}, {.name = "npu", .on = 1}};
        if (below(2) == 0) d_.agents[1].aside = true;
        if (below(2) == 0) d_.agents.push_back({.name = "npu2", .on = 1, .aside = true});
        if (below(2) == 0) d_.agents.push_back({.name = "bringer", .engine = "dma"});
        if (drains_ && below(2) == 0) d_.agents.push_back({.name = "carrier", .engine = "channel"});
        // One that shares its engine.
        if (below(4) == 0) d_.agents.push_back({.name = "bringer2", .engine = "dma"});
        for (drawn_agent& a : d_.agents) a.only_with = !a.engine.empty() && below(3) != 0;
    }

    int add_tensor(std::string const& name, int rows, int columns, drawn_tensor::kind is, std::string const& where) {
        d_.tensors.push_back({name, rows, columns, is, where});
        return static_cast<int>(d_.tensors.size()) - 1;
    }
    int add_constant(int rows, int columns) {
        std::string const where = below(4) == 0 ? "act" : "wei";
        pass_over(rows * columns);
        return add_tensor("w" + std::to_string(d_.tensors.size()), rows, columns, drawn_tensor::kind::constant, where);
    }

    void draw_kernel(int number) {
        drawn_kernel k{.name = "k" + std::to_string(number)};
        int const known = static_cast<int>(d_.tensors.size());
        k.first = below(known);
        // Chains are more common than one tensor that all read.
        if (below(2) != 0) k.first = known - 1;
        drawn_tensor const a = d_.tensor_at(k.first);
        int rows = a.rows, columns = a.columns;
        using enum drawn_kernel::kind;
        constexpr drawn_kernel::kind kinds[] = {scaled, scaled, added, turned, product, slice, twice, twice};
        k.is = kinds[below(8)];
        if (k.is == slice && (rows < 3 || columns < 4)) k.is = scaled;
        k.by = number == 0 ? 0 : below(static_cast<int>(d_.agents.size()));
        drawn_agent const& agent = d_.agents[k.by];
        bool const by_npu = agent.on == 1;
        if (!agent.engine.empty()) k.is = copied;
        if (k.is == turned) std::swap(rows, columns);
        if (k.is == slice) rows -= 1, columns -= 2;
        if (k.is == added) {
            for (int other = 0; other < known; ++other) {
                drawn_tensor const& b = d_.tensor_at(other);
                if (other != k.first && b.rows == rows && b.columns == columns) k.second = other;
            }
            if (k.second < 0) k.second = add_constant(rows, columns);
        }
        if (k.is == product) {
            columns = 2 + below(8);
            k.second = add_constant(a.columns, columns);
        }
        using enum directive_kind;
        auto const say = [&](directive_kind is, std::string const& what, std::vector<std::string> const& memories = {}, int count = 0) {
            k.directives.push_back({is, what, memories, count});
        };
        std::string const near = by_npu ? "spad" : "tcm";
        // Of two stages, each works on copies of its own, one after the other; or a copy lives among the tensors.
        bool const staged = k.is == twice || below(2) == 0, rowwise = below(2) == 0 && k.is != turned;
        if (k.is == copied) {
            bool const in = agent.engine == "dma";
            say(reads, "x", {in ? "l2" : "act"}), say(writes, "r", {in ? "act" : "l2"}), say(by, in ? "bring" : "carry");
        } else if (k.is == twice) {
            bool const named = !by_npu || below(4) != 0, among_tensors = !by_npu && below(2) == 0;
            std::string const home = among_tensors ? "act" : near, arguments = among_tensors ? "l2" : "act";
            if (named) say(writes, "r", {arguments});
            say(store_in, "mid", {below(2) == 0 ? home : by_npu ? "act" : "tcm"});
            bool const written = !among_tensors || drains_;
            if (written) say(cache_write, "r", {home});
            if (written && among_tensors) say(by, below(2) == 0 ? "drain" : "carry");
            if (written && rowwise) say(at, "i"), say(buffers, "", {}, by_npu ? 1 + below(3) : 1);
            say(stage, "mid");
            if (named) say(reads, "x", {arguments});
            say(cache_read, "x", {home});
            if (among_tensors) say(by, below(2) == 0 ? "fetch" : "bring");
            if (rowwise) say(at, "i"), say(buffers, "", {}, by_npu ? 1 + below(3) : 1);
        } else if (!by_npu && staged) {
            // Transfers say where the operands are.
            bool const from_act = below(2) == 0, to_act = below(2) == 0;
            say(reads, "x", {from_act ? "act" : "l2"}), say(writes, "r", {to_act ? "act" : "l2"});
            say(cache_read, "x", {near});
            if (rowwise) say(at, "i");
            say(cache_write, "r", {near});
            if (rowwise) say(at, "i");
        } else if (!by_npu && below(3) == 0) {
            if (below(2) == 0) say(writes, "r", {"l2", "act"});
            else say(writes, "r", {"act"});
        } else if (by_npu && staged) {
            say(cache_read, "x", {near});
            if (rowwise) say(at, "i"), say(buffers, "", {}, 1 + below(3));
            say(cache_write, "r", {near});
            if (rowwise) say(at, "i"), say(buffers, "", {}, 1 + below(2));
        }
        if (by_npu && k.is != twice && below(4) != 0) say(reads, "x", {"act"}), say(writes, "r", {"act"});
        k.result = add_tensor("t" + std::to_string(number), rows, columns, drawn_tensor::kind::between, "");
        d_.kernels.push_back(k);
    }

    std::mt19937 random_;
    recipe d_;
    bool drains_ = false;  ///< what is in act can be copied to l2
};

/// Gives the caller's machine several cores, of one kind or two, which share most of its kernels.
inline recipe among_cores(recipe of, std::uint32_t seed) {
    std::mt19937 random(seed);
    auto const below = [&](int count) { return static_cast<int>(random() % static_cast<std::uint32_t>(count)); };
    std::vector<core>& kinds = of.machines.at(0).cores;
    constexpr char const* names[] = {"control", "dsp"};
    for (int kind = 0, all = 1 + below(2); kind < all; ++kind) {
        kinds.push_back({.name = names[kind],
                         .costs = {.load = 1 + below(3), .arithmetic = 1 + below(2)},
                         .count = 1 + below(3),
                         .barrier_cycles = below(12)});
    }
    for (memory& m : of.memories) m.per_core = m.name == "tcm" && below(4) != 0;
    for (engine& e : of.engines) e.per_core = (e.name == "dma" || e.name == "channel") && below(2) == 0;
    for (drawn_kernel& k : of.kernels) {
        drawn_agent const& by = of.agents.at(static_cast<std::size_t>(k.by));
        if (by.on != 0 || !by.engine.empty() || below(4) == 0) continue;
        drawn_directive share{.is = directive_kind::distribute, .what = "i"};
        int const only = kinds.size() > 1 ? below(3) : 0;
        if (only < 2) share.cores = {kinds.at(static_cast<std::size_t>(only)).name.str()};
        else share.cores = {"control", "dsp"};
        if (only < 2 && below(3) == 0) share.number = 1 + below(kinds.at(static_cast<std::size_t>(only)).count);
        // The first stage, and the one that is written after it.
        auto const stage =
            std::find_if(k.directives.begin(), k.directives.end(), [](drawn_directive const& d) { return d.is == directive_kind::stage; });
        if (stage != k.directives.end() && below(4) != 0) k.directives.insert(stage + 1, share);
        k.directives.insert(k.directives.begin(), share);
    }
    return of;
}

/// Lets two kernels make what one has made, each a part, where the result has two rows or more.
inline recipe in_parts(recipe of, std::uint32_t seed) {
    std::mt19937 random(seed);
    for (drawn_kernel& k : of.kernels) {
        auto const rows = static_cast<std::uint32_t>(of.tensor_at(k.result).rows), drawn = static_cast<std::uint32_t>(random());
        if (rows > 1 && drawn % 3 != 0) k.cut = 1 + static_cast<int>(drawn / 3 % (rows - 1));
    }
    return of;
}

/// The elements of a tensor that a kernel reads or writes.
inline std::set<std::int64_t> elements_of(program_plan_value const& plan, ir::program_use const& use) {
    ir::program_tensor const& t = plan.tensor_at(use.tensor);
    std::set<std::int64_t> all;
    bool const whole = use.reshaped || plan.kernel_at(use.kernel).is_copy();
    plan_value const made = whole ? plan_value{} : build_kernel(plan, use.kernel).plan;
    std::int64_t count = 1;
    for (int d = 0; d < t.rank; ++d) count *= whole ? t.extents[d] : made.buffers[use.buffer].extents[d];
    for (std::int64_t one = 0; one < count; ++one) {
        std::int64_t left = one, at = 0, step = 1;
        for (int d = t.rank; d-- > 0;) {
            std::int64_t const extent = whole ? t.extents[d] : made.buffers[use.buffer].extents[d];
            std::int64_t const first = whole ? 0 : use.begin[d] + made.buffers[use.buffer].minimum[d];
            at += (first + left % extent) * step;
            left /= extent, step *= t.extents[d];
        }
        all.insert(at);
    }
    return all;
}

/// What is given to someone while another kernel under way has an engine that it uses, too; empty: nothing.
inline std::string shared_engine(program_plan_value const& plan) {
    std::map<int, std::set<std::string>> under_way;  // engines that copy, by kernel
    for (int at = 0; at < plan.steps.size(); ++at) {
        ir::program_step const& s = plan.steps[at];
        if (s.kind == ir::program_step_kind::barrier) continue;
        ir::program_kernel const& k = plan.kernel_at(s.kernel);
        if (s.kind == ir::program_step_kind::join) under_way.erase(s.kernel);
        if (s.kind == ir::program_step_kind::join) continue;
        plan_value const made = build_kernel(plan, s.kernel).plan;
        std::set<std::string> used;
        for (int m = 0; m < made.movements.size(); ++m) {
            ir::label const& name = made.where->transfers[made.movements[m].transfer].engine_name;
            bool const own = !name.empty() && made.where->engines[made.where->engines.find(name)].per_agent && plan.agent_of(k).is_aside();
            used.insert((own ? plan.agent_of(k).name.str() + "." : "") + name.str());
        }
        for (auto const& [other, engines] : under_way) {
            for (std::string const& name : engines) {
                if (used.count(name) != 0) return k.name.str() + " and " + plan.kernel_at(other).name.str() + " use " + name + " at a time";
            }
        }
        used.erase("");
        if (s.kind == ir::program_step_kind::start) under_way[s.kernel] = used;
    }
    return {};
}

/// What is wrong with a plan; empty: nothing. Lifetimes are worked out anew, from the steps.
inline std::string fault_of(program_plan_value const& plan) {
    int const steps = plan.steps.size();
    std::vector<int> first(static_cast<std::size_t>(plan.kernels.size()), -1), last = first;
    for (int at = 0; at < steps; ++at) {
        ir::program_step const& s = plan.steps[at];
        if (s.kind == ir::program_step_kind::barrier) continue;
        auto const k = static_cast<std::size_t>(s.kernel);
        if (s.kind != ir::program_step_kind::join) {
            if (first[k] >= 0) return "kernel " + plan.kernel_at(s.kernel).name.str() + " runs twice";
            first[k] = at;
        }
        if (s.kind != ir::program_step_kind::start) last[k] = at;
    }
    struct placed {
        std::string name;
        int memory, bank, group;
        std::int64_t begin, end;
        std::vector<bool> alive;
    };
    std::vector<placed> all;
    for (int at = 0; at < plan.kernels.size(); ++at) {
        auto const k = static_cast<std::size_t>(at);
        if (first[k] < 0 || last[k] < first[k]) return "kernel " + plan.kernel_at(at).name.str() + " does not run";
    }
    if (std::string const shared = shared_engine(plan); !shared.empty()) return shared;
    for (int at = 0; at < plan.tensors.size(); ++at) {
        ir::program_tensor const& t = plan.tensor_at(at);
        memory const& m = plan.memories[t.memory].what;
        std::vector<bool> alive(static_cast<std::size_t>(steps));
        int from = t.producer < 0 ? 0 : first[t.producer], to = from;
        std::set<std::int64_t> complete;  // elements that kernels write
        for (int u = 0; u < plan.uses.size(); ++u) {
            ir::program_use const& use = plan.uses[u];
            if (use.tensor != at || !use.written) continue;
            from = std::min(from, first[use.kernel]);
            if (!t.in_parts) continue;
            for (std::int64_t const one : elements_of(plan, use)) {
                if (!complete.insert(one).second) return t.name.str() + " is written twice";
            }
        }
        if (t.in_parts && complete.size() != static_cast<std::size_t>(t.bytes / bytes_of(t.type))) return t.name.str() + " has gaps";
        for (int u = 0; u < plan.uses.size(); ++u) {
            ir::program_use const& use = plan.uses[u];
            if (use.tensor != at) continue;
            auto const k = static_cast<std::size_t>(use.kernel);
            to = std::max(to, last[k]);
            if (!use.written && t.producer >= 0 && !t.in_parts && first[k] <= last[t.producer])
                return t.name.str() + " is read before it is complete";
            for (int w = 0; w < plan.uses.size() && !use.written && t.in_parts; ++w) {
                ir::program_use const& writer = plan.uses[w];
                if (writer.tensor != at || !writer.written || first[k] > last[writer.kernel]) continue;
                std::set<std::int64_t> const read = elements_of(plan, use);
                for (std::int64_t const one : elements_of(plan, writer)) {
                    if (read.count(one) != 0) return "a part of " + t.name.str() + " is read before it is complete";
                }
            }
            if (use.allowed != 0 && (use.allowed >> t.memory & 1) == 0) return t.name.str() + " is where a kernel cannot have it";
            if ((plan.memories[t.memory].agents >> plan.kernel_at(use.kernel).agent & 1) == 0)
                return t.name.str() + " is where its agent does not see it";
        }
        if (t.kind == ir::tensor_kind::output || t.kind == ir::tensor_kind::constant) to = steps - 1;
        if (t.kind == ir::tensor_kind::constant) from = 0;
        // What the next run reads is where this one has it, and nothing else is ever there.
        for (int after = 0; after < plan.tensors.size(); ++after) {
            ir::program_tensor const& left = plan.tensor_at(after);
            if (left.state_of != at) continue;
            to = steps - 1;
            if (left.memory != t.memory || left.bank != t.bank || left.offset != t.offset)
                return left.name.str() + " is not where " + t.name.str() + " is";
        }
        for (int s = from; s <= to; ++s) alive[s] = true;
        if (t.offset < 0 || t.offset + t.bytes > m.bank_capacity()) return t.name.str() + " leaves its memory";
        if (t.offset % t.alignment != 0 || t.offset % m.alignment != 0) return t.name.str() + " is not aligned";
        // Who takes over the bytes of another tensor is written by its last reader, when all others are done.
        for (int u = 0; u < plan.uses.size() && t.in_place_of >= 0; ++u) {
            ir::program_use const& use = plan.uses[u];
            if (use.tensor == t.in_place_of && use.kernel != t.producer && last[use.kernel] >= first[t.producer])
                return t.name.str() + " takes over bytes that are read later";
        }
        int root = at;
        while (plan.tensor_at(root).in_place_of >= 0) root = plan.tensor_at(root).in_place_of;
        all.push_back({t.name.str(), t.memory, t.bank, root, t.offset, t.offset + t.bytes, alive});
    }
    // Buffers of kernels are in the way of everything else as long as their kernel runs.
    for (int at = 0; at < plan.kernels.size(); ++at) {
        plan_value const made = build_kernel(plan, at).plan;
        std::vector<bool> alive(static_cast<std::size_t>(steps));
        for (int s = first[at]; s <= last[at]; ++s) alive[s] = true;
        for (int b = 0; b < made.buffers.size(); ++b) {
            ir::buffer const& held = made.buffers[b];
            memory const& m = made.where->memories[held.memory];
            if (held.kind == ir::buffer_kind::argument) continue;
            std::string const name = plan.kernel_at(at).name.str() + "'s " + held.name.str();
            if (held.offset % held.alignment != 0 || held.offset % m.alignment != 0) return name + " is not aligned";
            for (int part = 0; part < held.parts(); ++part) {
                part_bytes const taken = bytes_of_part(made, held, part);
                if (taken.begin < 0 || taken.end > m.capacity / m.banks) return name + " leaves its memory";
                all.push_back({name, plan.memory_of(plan.kernel_at(at).agent, m.name), taken.bank, -1 - at, taken.begin, taken.end, alive});
            }
        }
        std::string const within = scratch_fault(made);
        if (!within.empty()) return plan.kernel_at(at).name.str() + ": " + within;
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            if (all[a].memory != all[b].memory || all[a].bank != all[b].bank || all[a].group == all[b].group) continue;
            if (all[a].begin >= all[b].end || all[b].begin >= all[a].end) continue;
            for (std::size_t s = 0; s < all[a].alive.size(); ++s) {
                if (all[a].alive[s] && all[b].alive[s])
                    return all[a].name + " and " + all[b].name + " share bytes at step " + std::to_string(s);
            }
        }
    }
    for (int m = 0; m < plan.memories.size(); ++m) {
        ir::pool_use const& pool = plan.pools[m];
        std::int64_t peak = 0, bound = 0;
        for (int s = 0; s < steps; ++s) {
            std::map<int, std::int64_t> live;
            for (placed const& p : all) {
                if (p.memory != m || !p.alive[s]) continue;
                peak = std::max(peak, p.end);
                live[p.group] = std::max(live[p.group], p.end - p.begin);
            }
            bound = std::max(
                bound, std::accumulate(live.begin(), live.end(), std::int64_t{0}, [](auto sum, auto const& l) { return sum + l.second; }));
        }
        if (pool.used && pool.peak != peak) return "the peak is said to be " + std::to_string(pool.peak) + ", not " + std::to_string(peak);
        std::int64_t const banks = plan.memories[m].what.banks;
        if (peak * banks < bound || pool.lower_bound > pool.peak) return "a peak below what is alive";
        if (pool.proven != (pool.lower_bound == pool.peak)) return "a proof that is none";
        for (int s = 0; s < steps; ++s) {
            if (plan.live_bytes(m, s) > banks * peak) return "more is said to be alive than there is";
        }
    }
    return {};
}

/// Why a program is refused, as a sentence.
inline std::string verdict_of(program const& of) { return to_string(make_program_plan(of).refusal); }

}  // namespace programs
