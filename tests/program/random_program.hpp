#pragma once
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tilewright/program/kernel_plans.hpp>

#include "oracle/oracle.hpp"
#include "scratch_check.hpp"

/// Programs that are drawn, with what the oracle says that they compute, and a check of their plans that shares nothing with the planner.
namespace programs {

using namespace tilewright;
using element = std::uint32_t;

/// A kernel, r of x and perhaps y.
struct drawn_kernel {
    enum class kind : std::uint8_t { scaled, added, turned, product, slice, twice, copied } is{};
    int first = -1, second = -1;  ///< tensors that it reads
    int result = -1;
    computation_view what{};
};
struct drawn_tensor {
    std::string name;
    int rows = 1, columns = 1;
    bool given = false;  ///< input or constant
    std::vector<element> values{};
};

/// A program, everything that it points at, and the values of its tensors.
struct drawn_program {
    std::deque<machine> machines;
    std::deque<std::vector<node>> computations;
    std::deque<schedule> schedules;
    std::deque<std::array<element, 144>> constants;
    std::vector<drawn_tensor> tensors;
    std::vector<drawn_kernel> kernels;
    program what{label("drawn")};
    std::string text;

    /// What the oracle says that kernels give, one after the other.
    void compute() {
        for (drawn_kernel const& k : kernels) {
            std::vector<oracle::operand> operands;
            auto const read = [&](label const& name, int which) {
                drawn_tensor const& t = tensors[static_cast<std::size_t>(which)];
                operands.emplace_back(oracle::tensor_box{name, scalar_type_of<element>(), 2, {}, {t.rows, t.columns}}, t.values.data());
            };
            read("x", k.first);
            if (k.second >= 0) read("y", k.second);
            oracle::result const made = oracle::evaluate(k.what, operands);
            tensors[static_cast<std::size_t>(k.result)].values.assign(made.as<element>(), made.as<element>() + made.box.elements());
        }
    }
};

class drawer {
  public:
    explicit drawer(std::uint32_t seed) : random_(seed) {}

    std::unique_ptr<drawn_program> draw() {
        auto made = std::make_unique<drawn_program>();
        d_ = made.get();
        draw_machines();
        int const inputs = 1 + below(2);
        for (int at = 0; at < inputs; ++at) {
            add_tensor("in" + std::to_string(at), 3 + below(10), 4 + below(9), true);
            memory const where = below(3) == 0 ? act_ : l2_;
            d_->what.input(last(), where);
            write("input in l2 or act");
        }
        int const kernels = 2 + below(10);
        for (int at = 0; at < kernels; ++at) draw_kernel(at);
        // What nobody reads is an output.
        std::vector<bool> read(d_->tensors.size());
        for (drawn_kernel const& k : d_->kernels) {
            read[static_cast<std::size_t>(k.first)] = true;
            if (k.second >= 0) read[static_cast<std::size_t>(k.second)] = true;
        }
        for (std::size_t at = 0; at < d_->tensors.size(); ++at) {
            drawn_tensor const& t = d_->tensors[at];
            any_tensor const named{label(t.name.c_str()), scalar_type_of<element>()};
            if (!t.given && (!read[at] || below(8) == 0)) d_->what.output(named, below(3) == 0 ? act_ : l2_);
            else if (!t.given && below(8) == 0) d_->what.pin(named, below(2) == 0 ? act_ : l2_);
            else if (!t.given) d_->what.may_spill(named, l2_);
            if (t.given && !read[at]) return draw();  // an input that no kernel has is refused
        }
        if (below(12) == 0) d_->what.without_copies();
        d_->compute();
        return made;
    }

  private:
    int below(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }
    void write(std::string const& more) { d_->text += more + "\n"; }

    void draw_machines() {
        std::int64_t const act_bytes = 512 + 64 * below(24);
        int const banks = below(4) == 0 ? 2 : 1;
        act_ = {.name = "act", .capacity = act_bytes, .alignment = 16, .banks = below(6) == 0 ? 2 : 1, .wait_cycles = below(3)};
        l2_ = {.name = "l2", .capacity = 16_KiB, .alignment = 4, .wait_cycles = below(3)};
        spad_ = {.name = "spad", .base = 0x5000'0000, .capacity = 4_KiB, .alignment = 8, .banks = banks, .per_agent = below(2) == 0};
        wei_ = {.name = "wei", .capacity = 8_KiB};
        tcm_ = {.name = "tcm", .capacity = 4_KiB, .alignment = 4, .banks = banks};
        write("act of " + std::to_string(act_bytes) + " bytes in " + std::to_string(act_.banks) + " banks, spad " +
              (spad_.per_agent ? "of each" : "shared") + ", " + std::to_string(banks) + " banks");
        int const channels = static_cast<int>(act_bytes / 64);  // without drawing anew: cases stay what they were
        engine const dma{.name = "dma", .depth = 3, .channels = 1 + channels % 3},
            storer{.name = "storer", .channels = 1 + channels / 2 % 3, .per_agent = true};
        engine const loader{.name = "loader", .channels = 1 + channels % 4, .per_agent = below(2) == 0};
        engine const channel{.name = "channel", .depth = 2, .channels = 1 + channels % 2, .completes = completion::by_channel};
        machine& cpu = d_->machines.emplace_back(label("cpu"), l2_, act_, wei_, tcm_, dma, channel);
        // Blocking, and beside the core: by one engine in, by another out, and in several calls or one.
        fetch_.emplace("fetch", l2_, act_);
        cpu.add(fetch_->on(dma).dimensions(2).row_limit(64));
        bring_.emplace("bring", l2_, act_);
        cpu.add(
            bring_->on(dma).asynchronous().dimensions(1 + below(2)).row_limit(64).cost({.latency = 7, .setup = 2, .bytes_per_cycle = 2}));
        drains_ = below(3) != 0;
        drain_.emplace("drain", act_, l2_);
        carry_.emplace("carry", act_, l2_);
        if (drains_) cpu.add(drain_->on(dma).cost({.latency = 10, .bytes_per_cycle = 2}));
        if (drains_)
            cpu.add(carry_->on(channel).asynchronous().dimensions(1 + below(2)).row_limit(48).cost({.latency = 5, .bytes_per_cycle = 4}));
        cpu.add(transfer("get", l2_, tcm_).on(dma).dimensions(2));
        cpu.add(transfer("get_act", act_, tcm_).dimensions(2));
        cpu.add(transfer("put", tcm_, l2_).dimensions(2));
        cpu.add(transfer("put_act", tcm_, act_).dimensions(2));
        machine& npu = d_->machines.emplace_back(label("npu"), act_, wei_, spad_, loader, storer);
        npu.add(transfer("mvin", act_, spad_).on(loader).asynchronous().dimensions(2).cost({.latency = 6, .bytes_per_cycle = 4}));
        npu.add(transfer("mvout", spad_, act_).on(storer).asynchronous().dimensions(2).cost({.latency = 9, .bytes_per_cycle = 4}));
        agents_ = {agent("cpu", cpu), agent("npu", npu)};
        if (below(2) == 0) agents_[1] = agents_[1].aside("npu_start", "npu_join");
        if (below(2) == 0) agents_.push_back(agent("npu2", npu).aside("npu2_start", "npu2_join"));
        if (below(2) == 0) agents_.push_back(agent("bringer", cpu).copies_on(dma));
        if (drains_ && below(2) == 0) agents_.push_back(agent("carrier", cpu).copies_on(channel));
        // One that shares its engine.
        if (below(4) == 0) agents_.push_back(agent("bringer2", cpu).copies_on(dma));
        for (agent const& a : agents_) {
            if (a.is_engine() && below(3) != 0) d_->what.with(a);
        }
    }

    any_tensor last() const { return {label(d_->tensors.back().name.c_str()), scalar_type_of<element>()}; }
    int add_tensor(std::string const& name, int rows, int columns, bool given) {
        drawn_tensor& made = d_->tensors.emplace_back(drawn_tensor{name, rows, columns, given});
        for (int at = 0; given && at < rows * columns; ++at) made.values.push_back(static_cast<element>(random_()));
        return static_cast<int>(d_->tensors.size()) - 1;
    }
    int add_constant(int rows, int columns, memory const& where) {
        int const at = add_tensor("w" + std::to_string(d_->tensors.size()), rows, columns, true);
        auto& data = d_->constants.emplace_back();
        std::copy(d_->tensors.back().values.begin(), d_->tensors.back().values.end(), data.begin());
        d_->what.constant(last(), where, data.data(), rows * columns);
        return at;
    }
    template <int Count>
    computation_view keep(computation<Count> const& what) {
        auto& nodes = d_->computations.emplace_back(what.nodes.begin(), what.nodes.end());
        return {nodes.data(), Count};
    }

    void draw_kernel(int at) {
        drawn_kernel k;
        int const known = static_cast<int>(d_->tensors.size());
        k.first = below(known);
        // Chains are more common than one tensor that all read.
        if (below(2) != 0) k.first = known - 1;
        drawn_tensor const a = d_->tensors[static_cast<std::size_t>(k.first)];
        int rows = a.rows, columns = a.columns;
        using enum drawn_kernel::kind;
        constexpr drawn_kernel::kind kinds[] = {scaled, scaled, added, turned, product, slice, twice, twice};
        k.is = kinds[below(8)];
        if (k.is == slice && (rows < 3 || columns < 4)) k.is = scaled;
        agent const& on = agents_[static_cast<std::size_t>(at == 0 ? 0 : below(static_cast<int>(agents_.size())))];
        bool const by_npu = on.name == label("npu") || on.name == label("npu2");
        if (on.is_engine()) k.is = copied;
        if (k.is == turned) std::swap(rows, columns);
        if (k.is == slice) rows -= 1, columns -= 2;
        if (k.is == added) {
            for (int other = 0; other < known; ++other) {
                drawn_tensor const& b = d_->tensors[static_cast<std::size_t>(other)];
                if (other != k.first && b.rows == rows && b.columns == columns) k.second = other;
            }
            if (k.second < 0) k.second = add_constant(rows, columns, below(4) == 0 ? act_ : wei_);
        }
        if (k.is == product) {
            columns = 2 + below(8);
            k.second = add_constant(a.columns, columns, below(4) == 0 ? act_ : wei_);
        }
        axis const i{"i", rows}, j{"j", columns}, m{"m", a.columns};
        tensor<element> const x{"x"}, y{"y"}, r{"r"}, mid{"mid"};
        computation_view const what = k.is == scaled    ? keep(r(i, j) = x(i, j) * 3u + 7u)
                                      : k.is == added   ? keep(r(i, j) = x(i, j) + y(i, j) * 5u)
                                      : k.is == turned  ? keep(r(i, j) = x(j, i))
                                      : k.is == twice   ? keep(stages(mid(i, j) = x(i, j) * 3u + 7u, r(i, j) = mid(i, j) * 5u + 1u))
                                      : k.is == product ? keep(r(i, j) += x(i, m) * y(m, j))
                                      : k.is == copied  ? keep(r(i, j) = x(i, j))
                                                        : keep(r(i, j) = x(i + 1, j + 2));
        k.what = what;
        schedule& s = d_->schedules.emplace_back(what, *on.where);
        memory const near = by_npu ? spad_ : tcm_;
        // Of two stages, each works on copies of its own, one after the other; or a copy lives among the tensors.
        bool const staged = k.is == twice || below(2) == 0, rowwise = below(2) == 0 && k.is != turned;
        if (k.is == copied) {
            bool const in = on.engine_name == label("dma");
            s.reads(x, in ? l2_ : act_).writes(r, in ? act_ : l2_).by(in ? *bring_ : *carry_);
        } else if (k.is == twice) {
            bool const named = !by_npu || below(4) != 0, among_tensors = !by_npu && below(2) == 0;
            memory const home = among_tensors ? act_ : near, arguments = among_tensors ? l2_ : act_;
            if (named) s.writes(r, arguments);
            s.store_in(mid, below(2) == 0 ? home : by_npu ? act_ : tcm_);
            bool const written = !among_tensors || drains_;
            if (written) s.cache_write(r, home);
            if (written && among_tensors) s.by(below(2) == 0 ? *drain_ : *carry_);
            if (written && rowwise) s.at(i).buffers(by_npu ? 1 + below(3) : 1);
            s.stage(mid);
            if (named) s.reads(x, arguments);
            s.cache_read(x, home);
            if (among_tensors) s.by(below(2) == 0 ? *fetch_ : *bring_);
            if (rowwise) s.at(i).buffers(by_npu ? 1 + below(3) : 1);
        } else if (!by_npu && staged) {
            // Transfers say where the operands are.
            bool const from_act = below(2) == 0, to_act = below(2) == 0;
            s.reads(x, from_act ? act_ : l2_).writes(r, to_act ? act_ : l2_);
            s.cache_read(x, near);
            if (rowwise) s.at(i);
            s.cache_write(r, near);
            if (rowwise) s.at(i);
        } else if (!by_npu && below(3) == 0) {
            s.writes(r, below(2) == 0 ? any_of(l2_, act_) : any_of(act_));
        } else if (by_npu && staged) {
            s.cache_read(x, near);
            if (rowwise) s.at(i).buffers(1 + below(3));
            s.cache_write(r, near);
            if (rowwise) s.at(i).buffers(1 + below(2));
        }
        if (by_npu && k.is != twice && below(4) != 0) s.reads(x, act_).writes(r, act_);
        k.result = add_tensor("t" + std::to_string(at), rows, columns, false);
        std::string const name = "k" + std::to_string(at);
        d_->what.run(label(name.c_str()), on, s);
        auto const named = [&](int which) {
            return any_tensor{label(d_->tensors[static_cast<std::size_t>(which)].name.c_str()), scalar_type_of<element>()};
        };
        d_->what.bind(x, named(k.first)).bind(r, named(k.result));
        if (k.second >= 0) d_->what.bind(y, named(k.second));
        write(name + " on " + on.name.str() + ": kind " + std::to_string(static_cast<int>(k.is)) + " of " + a.name +
              (staged ? ", staged" : "") + (rowwise ? " by rows" : ""));
        d_->kernels.push_back(k);
    }

    std::mt19937 random_;
    drawn_program* d_ = nullptr;
    memory act_, l2_, wei_, spad_, tcm_;
    std::optional<transfer> fetch_, bring_, drain_, carry_;
    bool drains_ = false;  ///< what is in act can be copied to l2
    std::vector<agent> agents_;
};

/// What is given to someone while another kernel under way has an engine that it uses, too; empty: nothing.
inline std::string shared_engine(program_plan_value const& plan) {
    std::map<int, std::set<std::string>> under_way;  // engines that copy, by kernel
    for (int at = 0; at < plan.steps.size(); ++at) {
        ir::program_step const& s = plan.steps[static_cast<std::size_t>(at)];
        ir::program_kernel const& k = plan.kernel_at(s.kernel);
        if (s.kind == ir::program_step_kind::join) under_way.erase(s.kernel);
        if (s.kind == ir::program_step_kind::join) continue;
        plan_value const made = build_kernel(plan, s.kernel).plan;
        std::set<std::string> used;
        for (int m = 0; m < made.movements.size(); ++m) {
            label const& name = made.where->transfers[made.movements[static_cast<std::size_t>(m)].transfer].engine_name;
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
        ir::program_step const& s = plan.steps[static_cast<std::size_t>(at)];
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
        memory const& m = plan.memories[static_cast<std::size_t>(t.memory)].what;
        std::vector<bool> alive(static_cast<std::size_t>(steps));
        int from = t.producer < 0 ? 0 : first[static_cast<std::size_t>(t.producer)], to = from;
        for (int u = 0; u < plan.uses.size(); ++u) {
            ir::program_use const& use = plan.uses[static_cast<std::size_t>(u)];
            if (use.tensor != at) continue;
            auto const k = static_cast<std::size_t>(use.kernel);
            to = std::max(to, last[k]);
            if (!use.written && t.producer >= 0 && first[k] <= last[static_cast<std::size_t>(t.producer)])
                return t.name.str() + " is read before it is complete";
            if (use.allowed != 0 && (use.allowed >> t.memory & 1) == 0) return t.name.str() + " is where a kernel cannot have it";
            if ((plan.memories[static_cast<std::size_t>(t.memory)].agents >> plan.kernel_at(use.kernel).agent & 1) == 0)
                return t.name.str() + " is where its agent does not see it";
        }
        if (t.kind == ir::tensor_kind::output || t.kind == ir::tensor_kind::constant) to = steps - 1;
        if (t.kind == ir::tensor_kind::constant) from = 0;
        for (int s = from; s <= to; ++s) alive[static_cast<std::size_t>(s)] = true;
        if (t.offset < 0 || t.offset + t.bytes > m.bank_capacity()) return t.name.str() + " leaves its memory";
        if (t.offset % t.alignment != 0 || t.offset % m.alignment != 0) return t.name.str() + " is not aligned";
        // Who takes over the bytes of another tensor is written by its last reader, when all others are done.
        for (int u = 0; u < plan.uses.size() && t.in_place_of >= 0; ++u) {
            ir::program_use const& use = plan.uses[static_cast<std::size_t>(u)];
            if (use.tensor == t.in_place_of && use.kernel != t.producer &&
                last[static_cast<std::size_t>(use.kernel)] >= first[static_cast<std::size_t>(t.producer)])
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
        for (int s = first[static_cast<std::size_t>(at)]; s <= last[static_cast<std::size_t>(at)]; ++s)
            alive[static_cast<std::size_t>(s)] = true;
        for (int b = 0; b < made.buffers.size(); ++b) {
            ir::buffer const& held = made.buffers[static_cast<std::size_t>(b)];
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
        ir::pool_use const& pool = plan.pools[static_cast<std::size_t>(m)];
        std::int64_t peak = 0, bound = 0;
        for (int s = 0; s < steps; ++s) {
            std::map<int, std::int64_t> live;
            for (placed const& p : all) {
                if (p.memory != m || !p.alive[static_cast<std::size_t>(s)]) continue;
                peak = std::max(peak, p.end);
                live[p.group] = std::max(live[p.group], p.end - p.begin);
            }
            bound = std::max(
                bound, std::accumulate(live.begin(), live.end(), std::int64_t{0}, [](auto sum, auto const& l) { return sum + l.second; }));
        }
        if (pool.used && pool.peak != peak) return "the peak is said to be " + std::to_string(pool.peak) + ", not " + std::to_string(peak);
        std::int64_t const banks = plan.memories[static_cast<std::size_t>(m)].what.banks;
        if (peak * banks < bound || pool.lower_bound > pool.peak) return "a peak below what is alive";
        if (pool.proven != (pool.lower_bound == pool.peak)) return "a proof that is none";
        for (int s = 0; s < steps; ++s) {
            if (plan.live_bytes(m, s) > banks * peak) return "more is said to be alive than there is";
        }
    }
    return {};
}

}  // namespace programs
